//! Which files define servers, and in which order they count.
//!
//! The first file that defines a name wins: a file named on the command line, which then is the
//! only one; or else the project's, the user's and the administrator's, in this order.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::env::Env;
use crate::store::{self, Fault, Guard};

/// Where a definition comes from, and so how far it is believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layer {
    /// A file the user named for this run, which is consent to what it says.
    Named,
    /// The project the user is in. Somebody else may have written it.
    Project,
    /// The user's own file.
    User,
    /// The administrator's file.
    System,
}

/// A configuration file that was read.
#[derive(Debug)]
pub(super) struct File {
    /// Which one it is.
    pub(super) layer: Layer,
    /// Its path, absolute.
    pub(super) path: PathBuf,
    /// What is in it, without a byte order mark.
    pub(super) text: String,
}

/// The longest configuration file, in bytes.
const LIMIT: u64 = 1 << 20;
/// Some editors put it before a text.
pub(super) const BYTE_ORDER_MARK: char = '\u{feff}';
/// The names of a project's file, best first.
const PROJECT_FILES: [&str; 2] = [".mcpmini.json", ".mcp.json"];
/// What the top directory of a project contains.
const PROJECT_MARKS: [&str; 4] = [".git", ".hg", ".jj", ".svn"];

impl Layer {
    /// The layer that `word:NAME` means. A named file needs no word: it is the only one.
    pub fn named(word: &str) -> Option<Layer> {
        match word {
            "project" => Some(Layer::Project),
            "user" => Some(Layer::User),
            "system" => Some(Layer::System),
            _ => None,
        }
    }

    /// Whether what the file says was written by the user, or by somebody believed anyway.
    pub fn is_own(self) -> bool {
        self != Layer::Project
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Layer::Named => "named",
            Layer::Project => "project",
            Layer::User => "user",
            Layer::System => "system",
        })
    }
}

impl File {
    fn read(layer: Layer, path: &Path, guard: Guard) -> Result<Option<File>, Fault> {
        let Some(mut text) = store::read_text(path, LIMIT, guard)? else { return Ok(None) };
        if text.starts_with(BYTE_ORDER_MARK) {
            text.drain(..BYTE_ORDER_MARK.len_utf8());
        }
        Ok(Some(File { layer, path: path.to_owned(), text }))
    }
}

/// The layers of this run, in the order in which they count.
pub(super) fn layers(env: &Env, named: Option<&Path>) -> &'static [Layer] {
    if named_file(env, named).is_some() {
        return &[Layer::Named];
    }
    if env.setting("MCPMINI_NO_PROJECT").is_some_and(|value| value != "0") {
        return &[Layer::User, Layer::System];
    }
    &[Layer::Project, Layer::User, Layer::System]
}

/// Reads the file of a layer; `None` when it is not there. `missed` gets the paths that were tried.
pub(super) fn load(
    layer: Layer,
    env: &Env,
    named: Option<&Path>,
    missed: &mut Vec<PathBuf>,
) -> Result<Option<File>, Fault> {
    let strangers = Guard::Strangers { user: env.user };
    let (path, guard) = match layer {
        Layer::Named => (named_file(env, named), Guard::Named { until: env.deadline() }),
        Layer::Project => return project(env, missed),
        Layer::User => (env.config_dir().map(|dir| dir.join("config.json")), strangers),
        Layer::System => (env.system_dir.as_ref().map(|dir| dir.join("config.json")), strangers),
    };
    let Some(path) = path else { return Ok(None) };
    let file = File::read(layer, &path, guard)?;
    if file.is_none() {
        missed.push(path);
    }
    Ok(file)
}

/// The file that `--config` or `MCPMINI_CONFIG` names.
fn named_file(env: &Env, named: Option<&Path>) -> Option<PathBuf> {
    let path = named.map(Path::to_owned).or_else(|| env.setting("MCPMINI_CONFIG").map(Into::into));
    path.map(|path| env.absolute(&path))
}

/// The file that a server is added to, which need not be there: the one that is named, or else the
/// project's or the user's. `None` when there is no place for it.
pub(super) fn to_change(
    project: bool,
    env: &Env,
    named: Option<&Path>,
) -> Result<Option<(Layer, PathBuf)>, Fault> {
    if let Some(path) = named_file(env, named) {
        return Ok(Some((Layer::Named, path)));
    }
    if !project {
        return Ok(env.config_dir().map(|dir| (Layer::User, dir.join("config.json"))));
    }
    if let Some(file) = self::project(env, &mut Vec::new())? {
        return Ok(Some((Layer::Project, file.path)));
    }
    // Where everybody who works on the project finds it, and other programs look.
    let directories = env.cwd.as_deref().map(|cwd| project_directories(cwd, env.home()));
    let top = directories.and_then(|directories| directories.last().copied());
    Ok(top.map(|top| (Layer::Project, top.join(PROJECT_FILES[1]))))
}

/// Reads a file that is to be changed; nothing when it is not there yet.
pub(super) fn read_to_change(layer: Layer, path: &Path, env: &Env) -> Result<String, Fault> {
    let guard = match layer {
        Layer::Named => Guard::Named { until: env.deadline() },
        _ => Guard::Strangers { user: env.user },
    };
    Ok(store::read_text(path, LIMIT, guard)?.unwrap_or_default())
}

/// The nearest file of the project.
fn project(env: &Env, missed: &mut Vec<PathBuf>) -> Result<Option<File>, Fault> {
    let Some(cwd) = &env.cwd else { return Ok(None) };
    for directory in project_directories(cwd, env.home()) {
        for path in PROJECT_FILES.map(|name| directory.join(name)) {
            let guard = Guard::Strangers { user: env.user };
            if let Some(file) = File::read(Layer::Project, &path, guard)? {
                return Ok(Some(file));
            }
            // What is missing in the working directory is worth telling; all the way up is noise.
            if directory == cwd {
                missed.push(path);
            }
        }
    }
    Ok(None)
}

/// Where a project's file may be: from the working directory up to the top of the repository it is
/// in, but not above the home directory. Outside of repositories only the working directory counts,
/// because above it anybody's file may lie (`/tmp`).
fn project_directories(cwd: &Path, home: Option<PathBuf>) -> Vec<&Path> {
    // The working directory comes without symbolic links.
    let home = home.and_then(|home| home.canonicalize().ok());
    let mut directories = Vec::new();
    for directory in cwd.ancestors() {
        directories.push(directory);
        if PROJECT_MARKS.iter().any(|mark| directory.join(mark).exists()) {
            return directories;
        }
        if Some(directory) == home.as_deref() {
            break;
        }
    }
    directories.truncate(1);
    directories
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::scratch::Scratch;

    /// What is found from `cwd`, relative to the scratch directory.
    fn project_from(scratch: &Scratch, cwd: &str, home: &str) -> Result<Option<String>, String> {
        let home = scratch.path(home);
        let env = Env {
            cwd: Some(scratch.path(cwd)),
            variables: [("HOME", home.to_str().unwrap())].into(),
            user: rustix::process::geteuid().as_raw(),
            ..Env::default()
        };
        let relative =
            |path: &Path| path.strip_prefix(scratch.path("")).unwrap().to_str().unwrap().to_owned();
        project(&env, &mut Vec::new())
            .map(|found| found.map(|file| relative(&file.path)))
            .map_err(|fault| format!("{}: {}", relative(&fault.path), fault.reason))
    }

    #[test]
    fn the_nearest_file_up_to_the_top_of_the_repository_counts() {
        let scratch = Scratch::new();
        let check = |cwd: &str, home: &str, expected: Option<&str>| {
            let found = project_from(&scratch, cwd, home);
            assert_eq!(found, Ok(expected.map(str::to_owned)), "{cwd} with home {home}");
        };
        scratch.write(".mcp.json", "");
        scratch.write("repo/.git/HEAD", "");
        scratch.write("repo/a/b/file", "");
        scratch.write("plain/a/file", "");
        check("repo/a/b", "elsewhere", None);
        check("plain/a", "elsewhere", None);

        scratch.write("repo/.mcp.json", "");
        check("repo/a/b", "elsewhere", Some("repo/.mcp.json"));
        check("repo", "elsewhere", Some("repo/.mcp.json"));
        scratch.write("repo/.mcpmini.json", "");
        check("repo/a/b", "elsewhere", Some("repo/.mcpmini.json"));
        scratch.write("repo/a/.mcp.json", "");
        check("repo/a/b", "elsewhere", Some("repo/a/.mcp.json"));

        // Outside of repositories, only the working directory.
        check("", "elsewhere", Some(".mcp.json"));
        scratch.write("plain/.mcp.json", "");
        check("plain/a", "elsewhere", None);
        check("plain", "elsewhere", Some("plain/.mcp.json"));

        // Not above the home directory, even if a repository begins there.
        scratch.write("repo/home/w/file", "");
        check("repo/home/w", "elsewhere", Some("repo/.mcpmini.json"));
        check("repo/home/w", "repo/home", None);
        scratch.write("repo/home/.mcp.json", "");
        check("repo/home", "repo/home", Some("repo/home/.mcp.json"));
        check("repo/home/w", "repo/home", None);
        scratch.write("repo/home/.jj/x", "");
        check("repo/home/w", "repo/home", Some("repo/home/.mcp.json"));
    }

    #[test]
    fn a_project_file_that_anybody_may_write_is_an_error() {
        let scratch = Scratch::new();
        scratch.write(".mcp.json", "");
        scratch.chmod(".mcp.json", 0o666);
        let told = project_from(&scratch, "", "elsewhere").unwrap_err();
        assert!(told.starts_with(".mcp.json: others may change it"), "{told}");
    }

    #[test]
    fn a_named_file_is_the_only_one() {
        let check = |named: Option<&str>, variables, expected: &[Layer]| {
            let env = Env { variables, ..Env::default() };
            assert_eq!(layers(&env, named.map(Path::new)), expected);
        };
        let all = [Layer::Project, Layer::User, Layer::System];
        check(None, [].into(), &all);
        check(Some("f"), [].into(), &[Layer::Named]);
        check(None, [("MCPMINI_CONFIG", "f")].into(), &[Layer::Named]);
        check(None, [("MCPMINI_CONFIG", "")].into(), &all);
        check(None, [("MCPMINI_NO_PROJECT", "1")].into(), &all[1..]);
        check(None, [("MCPMINI_NO_PROJECT", "0")].into(), &all);
    }
}
