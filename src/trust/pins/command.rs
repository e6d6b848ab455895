//! The hash of a command: all that decides what runs.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use crate::config::program::{follows_directory, is_interpreter, naming_code};
use crate::config::steering::chooses_code;
use crate::config::{Digest, Origin, Overrides, Resolved, StdioTarget, file_variables, meaning};
use crate::env::{Env, Secret};
use crate::protocol::json;
use crate::protocol::params::Members;
use crate::protocol::sorting::sort;

/// The hash of a command: the program, its arguments, its directory, and where its variables are
/// from. Of variables that choose code the values count too. `place` is the directory that decides
/// what is meant by a relative path in it; see [`place`].
pub(super) fn command(target: &StdioTarget, overrides: &Overrides, place: Option<&str>) -> Digest {
    let given = overrides.env.iter().filter(|(name, _)| {
        // One that is given twice is one.
        !target.env.iter().any(|(other, _)| other == name)
    });
    let mut names: Vec<&str> =
        target.env.iter().chain(given).map(|(name, _)| name.as_str()).collect();
    sort(&mut names);
    names.dedup();
    let text =
        |text: &Option<String>| text.as_ref().map_or("null".into(), |text| json::string(text));
    // By their names, as a canonical text has them (RFC 8785).
    let mut members = Members::new();
    members.push("args", &json::strings(target.args.iter().chain(&overrides.args)));
    members.push("command", &json::string(&target.command));
    members.push("cwd", &text(&target.cwd));
    members.push("env", &json::strings(names));
    members.push("envFile", &text(&target.env_file));
    members.push("inheritEnv", if target.inherit_env { "true" } else { "false" });
    if let Some(place) = place {
        members.push("place", &json::string(place));
    }
    let values = target.env.iter().chain(&overrides.env);
    let mut steering: Vec<String> = values
        .filter(|(name, _)| chooses_code(name))
        .map(|(name, value)| format!("{name}={}", value.expose()))
        .collect();
    sort(&mut steering);
    if !steering.is_empty() {
        members.push("steering", &json::strings(&steering));
    }
    Digest::of(members.finish().as_bytes())
}

/// A command as its definition means it at this time: which program is run, its script, and the values
/// of variables that choose code, whatever references or files they are written with. What its other arguments
/// refer to may be secret, and stays a reference. Its directory counts where it decides what runs.
pub(super) fn meant<'t>(
    resolved: &Resolved,
    target: &'t StdioTarget,
    env: &Env,
) -> Cow<'t, StdioTarget> {
    let refers = |text: &String| text.contains("${");
    let is_plain = target.env_file.is_none()
        && !refers(&target.command)
        && !target.args.iter().any(refers)
        && !target.cwd.as_ref().is_some_and(refers)
        && !target
            .env
            .iter()
            .any(|(name, value)| chooses_code(name) && value.expose().contains("${"));
    if is_plain {
        return Cow::Borrowed(target);
    }
    let follow = |text: &mut String| *text = meaning(resolved, env, text).into_owned();
    let mut meant = target.clone();
    follow(&mut meant.command);
    let words: Vec<String> = std::iter::once(&meant.command)
        .chain(&meant.args)
        .map(|word| meaning(resolved, env, word).into_owned())
        .collect();
    let directory = target.cwd.as_ref().map(|cwd| meaning(resolved, env, cwd).into_owned());
    let directory = directory.map_or_else(PathBuf::new, PathBuf::from);
    let is_file = |word: &str| env.absolute(&directory.join(word)).is_file();
    let count = naming_code(&words, &is_file).saturating_sub(1);
    meant.args.iter_mut().take(count).filter(|word| !is_assignment(word)).for_each(follow);
    if let Some(cwd) = &mut meant.cwd
        && (is_relative(&meant.command) || follows_directory(&words))
    {
        follow(cwd);
    }
    for (name, value) in &mut meant.env {
        // What a command prints is not known before it runs.
        if chooses_code(name) && !value.expose().starts_with('!') {
            *value = Secret::new(meaning(resolved, env, value.expose()).into_owned());
        }
    }
    // Those of a definition count before those of its file.
    let file = target.env_file.as_ref().map(|file| file_variables(resolved, env, file));
    let is_new = |name: &String| !target.env.iter().any(|(other, _)| other == name);
    let steering =
        file.into_iter().flatten().filter(|(name, _)| chooses_code(name) && is_new(name));
    meant.env.extend(steering);
    Cow::Owned(meant)
}

/// Whether a word gives a variable a value, which may be a secret, as `env` takes them.
fn is_assignment(word: &str) -> bool {
    let is_name =
        |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    word.split_once('=').is_some_and(|(name, _)| is_name(name) && !chooses_code(name))
}

/// The directory that decides what a command means, if one does: that of the file, where the program
/// is named by a relative path; of a command line the working directory, also where an interpreter
/// is given a relative path. With a lock file that is asked of files, too, and the directory is told
/// as seen from there, so that a checkout may be elsewhere on another machine.
pub(super) fn place(
    resolved: &Resolved,
    target: &StdioTarget,
    overrides: &Overrides,
    env: &Env,
    lock: Option<&Path>,
) -> Option<String> {
    let working = || overrides.cwd.as_deref().or(env.cwd.as_deref());
    let is_here = |text: &String| text.contains("PWD");
    let directory = match &resolved.origin {
        Origin::File { .. } if is_here(&target.command) => working()?,
        Origin::File { path, .. } if is_relative(&target.command) => {
            match target.cwd.as_ref().is_some_and(is_here) {
                true => working()?,
                false => path.parent()?,
            }
        }
        Origin::File { .. } if lock.is_some() && target.cwd.is_none() && runs_relative(target) => {
            working()?
        }
        Origin::CommandLine if is_relative(&target.command) || runs_relative(target) => working()?,
        _ => return None,
    };
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let directory = real(&env.absolute(directory));
    let from_lock = lock.and_then(Path::parent).map(real);
    let below = from_lock.as_ref().and_then(|base| directory.strip_prefix(base).ok());
    Some(match below {
        Some(below) => Path::new(".").join(below).to_string_lossy().into_owned(),
        None => directory.to_string_lossy().into_owned(),
    })
}

/// Whether a program is named by a path that leads elsewhere from another directory.
fn is_relative(program: &str) -> bool {
    program.contains(['/', ' ']) && !program.starts_with(['/', '$'])
}

/// Whether the directory may decide what a program runs. Which arguments are paths is not known, so
/// those of an interpreter all may be.
fn runs_relative(target: &StdioTarget) -> bool {
    let program = target.command.rsplit('/').next().unwrap_or_default();
    let takes_paths = is_interpreter(program) || matches!(program, "env" | "uv");
    let may_be_path = |word: &String| !word.is_empty() && !word.starts_with(['-', '/']);
    takes_paths && target.args.iter().any(may_be_path)
        || follows_directory(&[vec![target.command.clone()], target.args.clone()].concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::resolve;
    use crate::store::scratch::Scratch;

    #[test]
    fn a_command_is_all_that_decides_what_runs() {
        let base = StdioTarget {
            command: "npx".into(),
            args: vec!["a".into()],
            env: vec![("B".into(), Secret::from("1")), ("PYTHONPATH".into(), Secret::from("2"))],
            ..StdioTarget::default()
        };
        let none = Overrides::default();
        let is_same = |change: &dyn Fn(&mut StdioTarget, &mut Overrides)| {
            let (mut changed, mut overrides) = (base.clone(), none.clone());
            change(&mut changed, &mut overrides);
            command(&changed, &overrides, None) == command(&base, &none, None)
        };
        let given = |name: &str, value: &str| (name.to_owned(), Secret::from(value));
        assert!(is_same(&|target, _| target.env.reverse()));
        assert!(is_same(&|target, _| target.env[0].1 = Secret::from("new token")));
        assert!(is_same(&|_, flags| flags.env.push(given("B", "new token"))));
        assert!(!is_same(&|target, _| target.env[1].1 = Secret::from("elsewhere")));
        assert!(!is_same(&|target, _| target.command = "bunx".into()));
        assert!(!is_same(&|target, _| target.args.push("b".into())));
        assert!(!is_same(&|target, _| target.args = vec!["a ".into()]));
        assert!(!is_same(&|target, _| target.cwd = Some("/".into())));
        assert!(!is_same(&|target, _| target.env_file = Some(".env".into())));
        assert!(!is_same(&|target, _| target.inherit_env = true));
        assert!(!is_same(&|target, _| drop(target.env.pop())));
        assert!(!is_same(&|_, flags| flags.args.push("b".into())));
        assert!(!is_same(&|_, flags| flags.env.push(given("C", "1"))));
        assert!(!is_same(&|_, flags| flags.env.push(given("PYTHONPATH", "elsewhere"))));
        assert_ne!(command(&base, &none, Some("/a")), command(&base, &none, Some("/b")));
    }

    #[test]
    fn the_place_counts_where_something_is_relative_and_is_told_from_the_lock() {
        let scratch = Scratch::new();
        scratch.write("p/sub/file", "");
        scratch.write(
            "h/.config/mcpmini/config.json",
            r#"{"mcpServers":{"r":{"command":"./srv"},"a":{"command":"/srv"},"n":{"command":"srv"},
                "v":{"command":"${HOME}/srv"},"i":{"command":"node","args":["srv.js"]},
                "w":{"command":"${PWD}/srv"},"c":{"command":"./srv","cwd":"${PWD}"}}}"#,
        );
        let root = scratch.path("").canonicalize().unwrap();
        let env = Env {
            cwd: Some(root.join("p/sub")),
            variables: [("HOME", root.join("h").to_str().unwrap())].into(),
            user: rustix::process::geteuid().as_raw(),
            ..Env::default()
        };
        let none = Overrides::default();
        let place_of = |word: &str, lock: Option<&str>| {
            let resolved = resolve(word, &env, &none).unwrap();
            let crate::config::Target::Stdio(target) = &resolved.definition.target else {
                panic!("{word} is started")
            };
            let lock = lock.map(|lock| root.join(lock));
            let place = place(&resolved, target, &none, &env, lock.as_deref());
            place.map(|place| place.replace(root.to_str().unwrap(), "ROOT"))
        };
        let check = |word: &str, place: Option<&str>| {
            assert_eq!(place_of(word, None).as_deref(), place, "{word}");
        };
        check("r", Some("ROOT/h/.config/mcpmini"));
        ["a", "n", "v", "i"].iter().for_each(|word| check(word, None));
        ["w", "c"].iter().for_each(|word| check(word, Some("ROOT/p/sub")));
        assert_eq!(place_of("i", Some("p/lock")).as_deref(), Some("./sub"));
        check("exec:./srv", Some("ROOT/p/sub"));
        check("exec:bin/srv", Some("ROOT/p/sub"));
        check("exec:sh srv.sh", Some("ROOT/p/sub"));
        check("exec:/usr/bin/python3.12 -u srv.py", Some("ROOT/p/sub"));
        check("exec:npx -y package docs", None);
        check("exec:node /srv.js", None);
        check("exec:python3 -mserver", Some("ROOT/p/sub"));
        check("exec:python3 -m server", Some("ROOT/p/sub"));
        check("exec:timeout 9 python3 -mserver", Some("ROOT/p/sub"));
        check("exec:/srv docs", None);
        assert_eq!(place_of("exec:./srv", Some("p/lock")).as_deref(), Some("./sub"));
        assert_eq!(place_of("exec:./srv", Some("p/sub/lock")).as_deref(), Some("./"));
        assert_eq!(place_of("exec:./srv", Some("h/lock")).as_deref(), Some("ROOT/p/sub"));
    }
}
