//! Every kind, by a file and what comes of it (`tests/import`).

use super::*;
use crate::store::scratch::Scratch;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/import");

fn world(scratch: &Scratch) -> Env {
    scratch.write("p/.git/HEAD", "");
    scratch.write("p/sub/file", "");
    Env {
        cwd: Some(scratch.path("p/sub")),
        variables: [("HOME", scratch.path("h").to_str().unwrap())].into(),
        user: rustix::process::geteuid().as_raw(),
        ..Env::default()
    }
}

/// A server as a line: its name, the entry or `!` and why there is none, and the notes.
fn line(server: &Imported) -> String {
    let said = match &server.entry {
        Ok(entry) => serde_json::to_string(entry).unwrap(),
        Err(refusal) => format!("! {refusal}"),
    };
    let notes = server.notes.iter().map(|note| format!(" | {note}"));
    format!("{} {said}{}", server.name, notes.collect::<String>())
}

/// Imports a file of `tests/import` from where its program keeps it.
#[track_caller]
fn check(kind: &str, file: &str, place: &str) {
    let scratch = Scratch::new();
    let env = world(&scratch);
    let (home, directory) = (scratch.path("h"), scratch.path(place));
    let text = std::fs::read_to_string(format!("{FOLDER}/{file}")).unwrap();
    let project = scratch.path("p");
    scratch.write(place, &text.replace("DIRECTORY", project.to_str().unwrap()));
    let found = import(Kind::named(kind).unwrap(), None, &env);
    assert!(found.faults.is_empty(), "{:?}", found.faults);
    let shown = found.servers.iter().map(|server| {
        let directory = directory.parent().unwrap().to_str().unwrap();
        line(server)
            .replace(&format!("{directory}/"), "DIRECTORY/")
            .replace(home.to_str().unwrap(), "HOME")
    });
    let (stem, _) = file.split_once('.').unwrap();
    let expected = std::fs::read_to_string(format!("{FOLDER}/{stem}.expected")).unwrap();
    assert_eq!(shown.collect::<Vec<_>>(), expected.lines().collect::<Vec<_>>());
}

#[test]
fn claude_code() {
    check("claude-code", "claude-code.json", "h/.claude.json");
}

#[test]
fn claude_desktop() {
    check("claude-desktop", "claude-desktop.json", "h/.config/Claude/claude_desktop_config.json");
}

#[cfg(feature = "import-codex")]
#[test]
fn codex() {
    check("codex", "codex.toml", "h/.codex/config.toml");
}

#[test]
fn cursor() {
    check("cursor", "cursor.json", "h/.cursor/mcp.json");
}

#[test]
fn gemini() {
    check("gemini", "gemini.json", "h/.gemini/settings.json");
}

#[test]
fn opencode() {
    check("opencode", "opencode.json", "h/.config/opencode/opencode.json");
    check("opencode", "opencode-2.json", "h/.config/opencode/opencode.jsonc");
}

#[test]
fn vscode() {
    check("vscode", "vscode.json", "h/.config/Code/User/mcp.json");
}

#[test]
fn windsurf() {
    check("windsurf", "windsurf.json", "h/.codeium/windsurf/mcp_config.json");
}

#[test]
fn zed() {
    check("zed", "zed.json", "h/.config/zed/settings.json");
}

#[test]
fn a_file_of_a_project_is_read_when_it_is_named() {
    let scratch = Scratch::new();
    let env = world(&scratch);
    scratch.write(
        "p/.cursor/mcp.json",
        r#"{"mcpServers": {"a": {"command": "./srv", "args": ["${workspaceFolder}/x"]}}}"#,
    );
    let shown = |found: Found| {
        let lines: Vec<_> = found.servers.iter().map(line).collect();
        lines.join("\n").replace(scratch.path("p").to_str().unwrap(), "P")
    };
    assert_eq!(shown(import(Kind::Cursor, None, &env)), "", "others may have written it");
    let from = scratch.path("p/.cursor/mcp.json");
    let found = import(Kind::Cursor, Some(&from), &env);
    assert_eq!(shown(found), r#"a {"command":"P/./srv","args":["P/x"]}"#);
}

#[test]
fn what_is_wrong_with_a_file_is_told() {
    let scratch = Scratch::new();
    let env = world(&scratch);
    let check = |kind: &str, text: &str, expected: &str| {
        let file = scratch.write("f", text);
        let found = import(Kind::named(kind).unwrap(), Some(&file), &env);
        let told: Vec<_> = found.faults.iter().map(ToString::to_string).collect();
        let told = told.join("\n").replace(file.to_str().unwrap(), "F");
        assert_eq!((told.as_str(), found.servers.len()), (expected, 0), "{text}");
    };
    check("cursor", "", "");
    check("cursor", "{}", "");
    check("cursor", "{\"mcpServers\": [1], \"x\": {\"command\": \"y\"}}", "");
    check("cursor", "{\"mcpServers\": {\"a\": 1}}", "");
    check("cursor", "[]", "F:1:1: a configuration must be an object, and is an array");
    check("cursor", "{\n ]", "F:2:2: not JSON: unexpected token in object");
    #[cfg(feature = "import-codex")]
    check("codex", "a = 1\nb = = 2", "F:2:5: not TOML: extra `=`, expected nothing");
    let missing = import(Kind::Zed, Some(&scratch.path("none")), &env);
    assert!(matches!(missing.faults[..], [ConfigError::NoSuchFile(_)]));
    assert_eq!(import(Kind::Windsurf, None, &env).missing.len(), 2);
}

#[test]
fn names_become_usable() {
    let check = |name: &str, expected: &str| assert_eq!(usable(name), expected);
    check("files", "files");
    check("@scope/my server", "scope-my-server");
    check("größe", "gr--e");
    check("///", "server");
    check("", "server");
    check(&"x".repeat(70), &"x".repeat(64));
}
