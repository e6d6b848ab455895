//! Approvals: which definitions of project files the user has agreed to.
//!
//! A project file comes with the repository, so somebody else may have written it, and it says what
//! to run and where to send which secrets. It is used only after the user approved exactly that: an
//! approval is about the hash of the definition, not about its name, so a changed definition needs
//! a new one. Nothing but the user's word approves: neither a terminal nor its absence, nor `CI`.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::unapproved::{Effect, Unapproved};
use crate::config::{self, Digest, Layer, Overrides, Resolved, quoting};
use crate::env::Env;
use crate::store::{self, Fault, Guard};

/// The file in the state directory.
const FILE: &str = "approvals.json";
/// The longest file, in bytes.
const LIMIT: u64 = 1 << 20;
/// How many approvals are kept; the oldest ones go.
const COUNT: usize = 2000;
/// How long to wait for other processes that approve something.
const PATIENCE: Duration = Duration::from_secs(5);

/// One approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    /// The name of the server, for people.
    pub name: String,
    /// The file that defines it, for people.
    pub path: String,
    /// The hash of the definition, `sha256:…`.
    pub sha256: String,
    /// When it was given, in seconds since 1970.
    pub when: u64,
}

/// What the file contains.
#[derive(Serialize, Deserialize)]
struct Document {
    version: u32,
    approvals: Vec<Approval>,
}

const VERSION: u32 = 1;

/// A server may not be used.
#[derive(Debug)]
pub enum TrustError {
    /// The definition comes from a project file, and the user has not approved it.
    Unapproved(Box<Unapproved>),
    /// The approvals cannot be read or written.
    Store(Fault),
    /// The file with the approvals contains something else.
    Garbled(PathBuf),
    /// There is no place for approvals: `HOME` is not set.
    NoPlace,
    /// Without a terminal, the hash of what is approved must be given.
    NeedsHash {
        /// The server.
        name: String,
        /// The hash of its definition.
        digest: Digest,
    },
    /// The hash that was given is not that of the definition.
    OtherHash {
        /// The server.
        name: String,
        /// The hash of its definition.
        digest: Digest,
    },
    /// What was given is no hash.
    NoHash(String),
}

/// Lets a server pass whose definition the user wrote, named or approved.
pub fn admit(resolved: &Resolved, env: &Env, overrides: &Overrides) -> Result<(), TrustError> {
    match unapproved(resolved, env, overrides)? {
        None => Ok(()),
        Some(unapproved) => Err(TrustError::Unapproved(Box::new(unapproved))),
    }
}

/// What there is to approve about a server; `None` when it may be used.
pub fn unapproved(
    resolved: &Resolved,
    env: &Env,
    overrides: &Overrides,
) -> Result<Option<Unapproved>, TrustError> {
    let Some(path) = resolved.origin.path() else { return Ok(None) };
    if resolved.origin.layer().is_none_or(Layer::is_own) {
        return Ok(None);
    }
    let digest = resolved.approval(env);
    if list(env)?.iter().any(|approval| approval.sha256 == digest.to_string()) {
        return Ok(None);
    }
    Ok(Some(Unapproved {
        name: resolved.name.clone(),
        path: path.to_owned(),
        effect: Effect::of(&resolved.definition.target),
        digest,
        hides: config::hidden_by(resolved, env, overrides),
    }))
}

/// All there is to approve in the project.
pub fn pending(env: &Env, overrides: &Overrides) -> Result<Vec<Unapproved>, TrustError> {
    let (listed, _) = config::list(env, overrides);
    let usable = listed.into_iter().filter_map(|server| server.resolved.ok());
    usable.filter_map(|resolved| unapproved(&resolved, env, overrides).transpose()).collect()
}

/// All approvals, oldest first.
pub fn list(env: &Env) -> Result<Vec<Approval>, TrustError> {
    match path(env) {
        None => Ok(Vec::new()),
        Some(path) => read(&path, env),
    }
}

/// Approves a definition, and remembers it.
///
/// `accept` is the hash that the user gave. Without one, being at a terminal must do, where the
/// user has just seen what it is; a script must say which definition it means, or it would
/// approve whatever the file says by the time it runs.
pub fn approve(
    unapproved: &Unapproved,
    accept: Option<&str>,
    at_terminal: bool,
    env: &Env,
) -> Result<(), TrustError> {
    let Unapproved { name, digest, .. } = unapproved;
    match accept {
        None if !at_terminal => {
            return Err(TrustError::NeedsHash { name: name.clone(), digest: *digest });
        }
        None => {}
        Some(text) => match text.parse::<Digest>() {
            Err(_) => return Err(TrustError::NoHash(text.to_owned())),
            Ok(accepted) if accepted != *digest => {
                return Err(TrustError::OtherHash { name: name.clone(), digest: *digest });
            }
            Ok(_) => {}
        },
    }
    let since_1970 = env.now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let approval = Approval {
        name: name.clone(),
        path: unapproved.path.display().to_string(),
        sha256: digest.to_string(),
        when: since_1970.as_secs(),
    };
    change(env, |approvals| {
        approvals.retain(|earlier| earlier.sha256 != approval.sha256);
        approvals.push(approval);
        approvals.drain(..approvals.len().saturating_sub(COUNT));
    })
}

/// Takes back all approvals of a server of a project file.
pub fn revoke(name: &str, file: &Path, env: &Env) -> Result<(), TrustError> {
    let path = file.display().to_string();
    change(env, |approvals| {
        approvals.retain(|earlier| earlier.name != name || earlier.path != path);
    })
}

fn path(env: &Env) -> Option<PathBuf> {
    Some(env.state_dir()?.join(FILE))
}

fn read(path: &Path, env: &Env) -> Result<Vec<Approval>, TrustError> {
    let text = store::read_text(path, LIMIT, Guard::Everybody { user: env.user })?;
    let Some(text) = text else { return Ok(Vec::new()) };
    match serde_json::from_str::<Document>(&text) {
        Ok(document) if document.version == VERSION => Ok(document.approvals),
        _ => Err(TrustError::Garbled(path.to_owned())),
    }
}

/// Changes the file, with no other process in between.
fn change(env: &Env, how: impl FnOnce(&mut Vec<Approval>)) -> Result<(), TrustError> {
    let path = path(env).ok_or(TrustError::NoPlace)?;
    let _lock = store::lock(&path, PATIENCE)?;
    let mut approvals = read(&path, env)?;
    how(&mut approvals);
    let document = Document { version: VERSION, approvals };
    let text = serde_json::to_string_pretty(&document).expect("texts and numbers serialize");
    Ok(store::replace(&path, text.as_bytes())?)
}

impl From<Fault> for TrustError {
    fn from(fault: Fault) -> TrustError {
        TrustError::Store(fault)
    }
}

impl std::error::Error for TrustError {}

impl fmt::Display for TrustError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TrustError::Unapproved(unapproved) => unapproved.fmt(f),
            TrustError::Store(fault) => fault.fmt(f),
            TrustError::Garbled(path) => {
                write!(f, "{} does not contain approvals; remove it", path.display())
            }
            TrustError::NoPlace => f.write_str(
                "there is no place for approvals: neither MCPMINI_STATE_DIR nor XDG_STATE_HOME nor \
                 HOME is set to a directory",
            ),
            TrustError::NeedsHash { name, digest } => {
                let name = quoting::quote(name);
                write!(
                    f,
                    "without a terminal, say what you approve: mcpmini approve {name} --accept {digest}"
                )
            }
            TrustError::OtherHash { name, digest } => {
                let name = quoting::quote(name);
                write!(f, "{name} is not what you accept: its definition is {digest}")
            }
            TrustError::NoHash(text) => {
                write!(f, "{} is not sha256: and 64 hexadecimal digits", quoting::quote(text))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::thread;

    use super::*;
    use crate::config::resolve;
    use crate::env::Clock;
    use crate::store::scratch::Scratch;

    const PROJECT: &str = "p/.mcp.json";
    const USER: &str = "h/.config/mcpmini/config.json";
    const STORE: &str = "h/.local/state/mcpmini/approvals.json";

    fn world(scratch: &Scratch) -> Env {
        Env {
            cwd: Some(scratch.path("p")),
            variables: [("HOME", scratch.path("h").to_str().unwrap()), ("TOKEN", "hunter2")].into(),
            user: rustix::process::geteuid().as_raw(),
            clock: Clock::Stopped(SystemTime::UNIX_EPOCH + Duration::from_secs(1_764_488_455)),
            ..Env::default()
        }
    }

    fn define(scratch: &Scratch, file: &str, definition: &str) {
        scratch.write(file, &format!("{{\"mcpServers\": {{\"s\": {definition}}}}}"));
    }

    fn pending_one(scratch: &Scratch, word: &str) -> Option<Unapproved> {
        let (env, overrides) = (world(scratch), Overrides::default());
        unapproved(&resolve(word, &env, &overrides).unwrap(), &env, &overrides).unwrap()
    }

    /// What is said about a server, with the scratch directory and the hash cut out.
    fn told(scratch: &Scratch, word: &str) -> String {
        let (env, overrides) = (world(scratch), Overrides::default());
        let resolved = resolve(word, &env, &overrides).unwrap();
        match admit(&resolved, &env, &overrides) {
            Ok(()) => "admitted".to_owned(),
            Err(error) => {
                let text = error.to_string();
                let (text, _) = text.split_once("sha256:").unwrap_or((&text, ""));
                text.replace(&format!("{}/", scratch.path("").display()), "")
            }
        }
    }

    #[test]
    fn only_project_files_need_approval() {
        let scratch = Scratch::new();
        define(&scratch, USER, r#"{"command": "x"}"#);
        scratch.write("p/file", "");
        assert_eq!(told(&scratch, "s"), "admitted");
        assert_eq!(told(&scratch, "exec:x"), "admitted");
        assert_eq!(told(&scratch, "http://h/"), "admitted");

        define(&scratch, PROJECT, r#"{"command": "y"}"#);
        assert_ne!(told(&scratch, "s"), "admitted");
        assert_eq!(told(&scratch, "user:s"), "admitted");
        let overrides = Overrides { config: Some(scratch.path(PROJECT)), ..Overrides::default() };
        let env = world(&scratch);
        assert!(admit(&resolve("s", &env, &overrides).unwrap(), &env, &overrides).is_ok());
    }

    #[test]
    fn what_is_not_approved_is_told_completely_and_without_secrets() {
        let scratch = Scratch::new();
        let check = |definition: &str, expected: &str| {
            define(&scratch, PROJECT, definition);
            assert_eq!(
                told(&scratch, "s"),
                format!(
                    "s in {PROJECT} is not approved: it {expected}; to approve it: mcpmini approve s --accept "
                )
            );
        };
        check(
            r#"{"command": "npx", "args": ["-y", "my server", "${TOKEN}"], "cwd": "sub dir",
                "env": {"A": "${TOKEN}", "B_TOKEN": "s3cret", "HOME": "/tmp/evil", "C": "a b", "D": "!pass",
                "API_KEY": "s3cret-${KEY:-s3cret}"}, "envFile": ".env", "inheritEnv": true}"#,
            "runs npx -y 'my server' '${TOKEN}', in 'sub dir', sets A='${TOKEN}' B_TOKEN=*** HOME=/tmp/evil C='a b' D='!pass' \
             API_KEY='***${KEY:-***}', gets your variables TOKEN KEY, sets what is in .env, \
             gets all your variables",
        );
        check(r#"{"command": "x", "args": ["\u001b[2J"]}"#, r"runs x $'\u001b[2J'");
        check(
            r#"{"url": "https://h/mcp", "headers": {"X-Key": "s3cret ${KEY:-s3cret}", "X-Team": "t ${TEAM}",
                "X-Backend": "evil.example"}, "envHeaders": {"B": "C"}, "bearerTokenEnv": "TOKEN"}"#,
            "contacts https://h/mcp, sends the headers 'X-Key: ***${KEY:-***}' 'X-Team: t ${TEAM}' \
             'X-Backend: evil.example', sends your variables C TOKEN KEY TEAM",
        );
        check(
            r#"{"url": "https://h/", "headers": {"Authorization": "Basic s3cret"}}"#,
            "contacts https://h/, sends the headers 'Authorization: Basic ***'",
        );
        check(
            r#"{"url": "https://h/", "oauth": {"issuer": "https://evil.example", "clientId": "c",
                "clientSecretEnv": "TOKEN", "idpClientSecret": "s3cret ${KEY}", "scopes": ["a", "b"],
                "allowPrivate": true}}"#,
            "contacts https://h/, logs in with clientId=c issuer=https://evil.example \
             idpClientSecret='***${KEY}' scopes='a b' allowPrivate=true, sends your variables TOKEN KEY \
             to who gives out its tokens",
        );
        define(&scratch, USER, r#"{"command": "mine"}"#);
        check(r#"{"url": "https://h/"}"#, "contacts https://h/; it hides user:s");
    }

    #[test]
    fn an_approval_holds_for_exactly_one_definition() {
        let scratch = Scratch::new();
        let stdio =
            r#"{"command": "x", "args": ["a"], "env": {"A": "1"}, "cwd": ".", "envFile": ".env"}"#;
        scratch.write("p/.env", "A=1\n");
        define(&scratch, PROJECT, stdio);
        let first = pending_one(&scratch, "s").unwrap();
        approve(&first, Some(&first.digest.to_string()), false, &world(&scratch)).unwrap();
        assert_eq!(told(&scratch, "s"), "admitted");

        let changed = |definition: &str| {
            define(&scratch, PROJECT, definition);
            let pending = pending_one(&scratch, "s");
            define(&scratch, PROJECT, stdio);
            assert_eq!(pending_one(&scratch, "s"), None, "the approval still holds");
            pending.is_some()
        };
        for (from, to) in [
            ("\"x\"", "\"y\""),
            ("[\"a\"]", "[\"a\", \"b\"]"),
            ("[\"a\"]", "[]"),
            ("\"1\"", "\"2\""),
            ("\"A\"", "\"B\""),
            ("\".\"", "\"..\""),
            (".env\"", "env\""),
            ("{\"command\"", "{\"type\": \"stdio\", \"command\""),
            ("{\"command\"", "{\"inheritEnv\": true, \"command\""),
            ("{\"command\"", "{\"timeout\": 1, \"command\""),
            ("{\"command\"", "{\"startupTimeout\": 1, \"command\""),
            ("{\"command\"", "{\"protocol\": \"auto\", \"command\""),
            ("{\"command\"", "{\"enabled\": true, \"command\""),
            ("{\"command\"", "{\"headersHelper\": \"evil\", \"command\""),
        ] {
            assert!(stdio.contains(from));
            assert!(changed(&stdio.replacen(from, to, 1)), "{from} -> {to}");
        }
        assert!(!changed(&stdio.replace(": ", " /* moved */ : ")), "comments change nothing");

        scratch.write("p/.env", "A=2\n");
        assert!(pending_one(&scratch, "s").is_some(), "the file with variables counts");
        fs::remove_file(scratch.path("p/.env")).unwrap();
        assert!(pending_one(&scratch, "s").is_some());
        scratch.write("p/.env", "A=1\n");
        assert_eq!(pending_one(&scratch, "s"), None);

        // The same definition under another name, and in another file, is another one.
        scratch.write(PROJECT, &format!("{{\"mcpServers\": {{\"t\": {stdio}}}}}"));
        assert!(pending_one(&scratch, "t").is_some());
        define(&scratch, "p/.mcpmini.json", stdio);
        assert!(pending_one(&scratch, "s").is_some());
    }

    #[test]
    fn every_field_of_an_endpoint_counts() {
        let scratch = Scratch::new();
        let http = r#"{"url": "http://h", "headers": {"A": "1"}, "envHeaders": {"B": "C"}, "bearerTokenEnv": "T"}"#;
        define(&scratch, PROJECT, http);
        let first = pending_one(&scratch, "s").unwrap();
        approve(&first, None, true, &world(&scratch)).unwrap();
        for (from, to) in [
            ("http://h", "https://h"),
            ("\"A\"", "\"X\""),
            ("\"1\"", "\"${TOKEN}\""),
            ("\"C\"", "\"TOKEN\""),
            ("\"T\"", "\"TOKEN\""),
            ("{\"url\"", "{\"type\": \"sse\", \"url\""),
        ] {
            define(&scratch, PROJECT, &http.replacen(from, to, 1));
            assert!(pending_one(&scratch, "s").is_some(), "{from} -> {to}");
        }
        define(&scratch, PROJECT, http);
        assert_eq!(pending_one(&scratch, "s"), None);
    }

    #[test]
    fn a_script_must_say_what_it_approves() {
        let scratch = Scratch::new();
        define(&scratch, PROJECT, r#"{"command": "x"}"#);
        let pending = pending_one(&scratch, "s").unwrap();
        let digest = pending.digest;
        let check = |accept: Option<&str>, at_terminal, expected: &str| {
            let result = approve(&pending, accept, at_terminal, &world(&scratch));
            assert_eq!(result.map_or_else(|error| error.to_string(), |()| String::new()), expected);
        };
        let other = format!("sha256:{}", "0".repeat(64));
        let wrong = format!("s is not what you accept: its definition is {digest}");
        check(
            None,
            false,
            &format!(
                "without a terminal, say what you approve: mcpmini approve s --accept {digest}"
            ),
        );
        check(Some("yes"), true, "yes is not sha256: and 64 hexadecimal digits");
        check(Some(&other), true, &wrong);
        check(Some(&other), false, &wrong);
        assert!(!scratch.path(STORE).exists());
        check(None, true, "");
        check(Some(&digest.to_string()), false, "");
        let expected = [Approval {
            name: "s".into(),
            path: scratch.path(PROJECT).display().to_string(),
            sha256: digest.to_string(),
            when: 1_764_488_455,
        }];
        assert_eq!(list(&world(&scratch)).unwrap(), expected, "once, however often it is approved");
        assert_eq!(pending_names(&scratch), Vec::<String>::new());

        revoke("s", &scratch.path(PROJECT), &world(&scratch)).unwrap();
        assert_eq!(pending_names(&scratch), ["s"]);
    }

    fn pending_names(scratch: &Scratch) -> Vec<String> {
        let pending = pending(&world(scratch), &Overrides::default()).unwrap();
        pending.into_iter().map(|pending| pending.name).collect()
    }

    #[test]
    fn approvals_that_others_could_have_written_are_not_believed() {
        let scratch = Scratch::new();
        define(&scratch, PROJECT, r#"{"command": "x"}"#);
        approve(&pending_one(&scratch, "s").unwrap(), None, true, &world(&scratch)).unwrap();
        let mode =
            |path: &str| fs::metadata(scratch.path(path)).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(STORE), mode("h/.local/state/mcpmini")), (0o600, 0o700));

        scratch.chmod(STORE, 0o660);
        assert_eq!(
            told(&scratch, "s"),
            format!(
                "cannot read {STORE}: others may change it (to forbid that: chmod go-w {STORE})"
            )
        );
        scratch.chmod(STORE, 0o600);
        scratch.chmod("h/.local/state/mcpmini", 0o777);
        assert!(told(&scratch, "s").starts_with("cannot read "));
        scratch.chmod("h/.local/state/mcpmini", 0o700);
        assert_eq!(told(&scratch, "s"), "admitted");
        for text in ["", "{}", "[]", r#"{"version": 2, "approvals": []}"#] {
            scratch.write(STORE, text);
            assert_eq!(
                told(&scratch, "s"),
                format!("{STORE} does not contain approvals; remove it")
            );
        }
    }

    #[test]
    fn without_a_home_nothing_is_approved() {
        let scratch = Scratch::new();
        define(&scratch, PROJECT, r#"{"command": "x"}"#);
        let mut env = world(&scratch);
        env.variables = [].into();
        let pending = pending(&env, &Overrides::default()).unwrap();
        assert_eq!(pending.len(), 1);
        let error = approve(&pending[0], None, true, &env).unwrap_err();
        assert!(matches!(error, TrustError::NoPlace), "{error}");
    }

    #[test]
    fn no_approval_is_lost_between_processes() {
        let scratch = Scratch::new();
        let names: Vec<_> = (0..8).map(|number| format!("s{number}")).collect();
        let servers: Vec<_> =
            names.iter().map(|name| format!("{name:?}: {{\"command\": \"x\"}}")).collect();
        scratch.write(PROJECT, &format!("{{\"mcpServers\": {{{}}}}}", servers.join(", ")));
        let all = pending(&world(&scratch), &Overrides::default()).unwrap();
        assert_eq!(all.len(), names.len());
        thread::scope(|scope| {
            for pending in &all {
                scope.spawn(|| approve(pending, None, true, &world(&scratch)).unwrap());
            }
        });
        assert_eq!(pending_names(&scratch), Vec::<String>::new());
    }
}
