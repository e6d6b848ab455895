//! Where other programs keep the configuration of their user.
//!
//! Files of projects are not among them: somebody else may have written those, and what is copied
//! into the user's own file counts as the user's. They can be named (`--from`).

use std::path::{Path, PathBuf};

use super::Kind;
use crate::env::Env;

/// The files that a program may read for this user, best first. Most of them are not there.
pub(super) fn files(kind: Kind, env: &Env) -> Vec<PathBuf> {
    let home = env.home();
    let below_home = |path: &str| home.as_ref().map(|home| home.join(path));
    let directory = |variable: &str, otherwise: &str| {
        let set = env.setting(variable).map(PathBuf::from).filter(|path| path.is_absolute());
        set.or_else(|| below_home(otherwise))
    };
    let in_config = |path: &str| Some(directory("XDG_CONFIG_HOME", ".config")?.join(path));
    let in_library = |path: &str| below_home(&format!("Library/Application Support/{path}"));
    let files = match kind {
        Kind::ClaudeDesktop => vec![
            in_config("Claude/claude_desktop_config.json"),
            in_library("Claude/claude_desktop_config.json"),
        ],
        Kind::ClaudeCode => {
            let set = env.setting("CLAUDE_CONFIG_DIR").map(PathBuf::from);
            vec![set.map(|set| set.join(".claude.json")), below_home(".claude.json")]
        }
        Kind::Cursor => vec![below_home(".cursor/mcp.json")],
        Kind::VsCode => vec![
            in_config("Code/User/mcp.json"),
            in_config("Code - Insiders/User/mcp.json"),
            in_library("Code/User/mcp.json"),
            in_library("Code - Insiders/User/mcp.json"),
            directory("COPILOT_HOME", ".copilot").map(|dir| dir.join("mcp-config.json")),
        ],
        Kind::Windsurf => vec![
            below_home(".codeium/windsurf/mcp_config.json"),
            below_home(".codeium/windsurf-next/mcp_config.json"),
        ],
        Kind::Codex => vec![directory("CODEX_HOME", ".codex").map(|dir| dir.join("config.toml"))],
        Kind::Gemini => {
            vec![below_home(".gemini/settings.json"), Some("/etc/gemini-cli/settings.json".into())]
        }
        Kind::Zed => vec![in_config("zed/settings.json"), below_home(".zed/settings.json")],
        Kind::OpenCode => vec![
            env.setting("OPENCODE_CONFIG").map(PathBuf::from),
            in_config("opencode/opencode.json"),
            in_config("opencode/opencode.jsonc"),
        ],
    };
    files.into_iter().flatten().map(|path| env.absolute(&path)).collect()
}

/// The file of the project around the working directory that a program would read as well, if there
/// is one.
pub(super) fn in_project(kind: Kind, env: &Env) -> Option<PathBuf> {
    let name = match kind {
        Kind::Codex => ".codex/config.toml",
        Kind::Cursor => ".cursor/mcp.json",
        Kind::Gemini => ".gemini/settings.json",
        Kind::OpenCode => "opencode.json",
        Kind::VsCode => ".vscode/mcp.json",
        Kind::Zed => ".zed/settings.json",
        // That of Claude Code is one of ours; the others have none.
        Kind::ClaudeCode | Kind::ClaudeDesktop | Kind::Windsurf => return None,
    };
    let home = env.home();
    let folders = env.cwd.as_deref()?.ancestors();
    let mut folders = folders.filter(|folder| Some(*folder) != home.as_deref());
    folders.find_map(|folder| Some(folder.join(name)).filter(|path| path.is_file()))
}

/// The folder that a file of a project is for: the one with `.cursor` or `.vscode` in it. In the home
/// directory it is that of the user.
pub(super) fn workspace(path: &Path, home: Option<&Path>) -> Option<PathBuf> {
    let directory = path.parent()?;
    let is_of_project = [".cursor", ".vscode", ".codex", ".gemini", ".zed", ".opencode"]
        .iter()
        .any(|name| directory.file_name().is_some_and(|found| found == *name));
    let folder = directory.parent().filter(|folder| is_of_project && Some(*folder) != home)?;
    Some(folder.to_owned())
}
