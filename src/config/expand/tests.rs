//! Definitions made into servers that can be contacted.

use super::*;
use crate::config::{Binding, resolve};
use crate::store::scratch::Scratch;

const PROJECT: &str = "p/.mcp.json";
const USER: &str = "h/.config/mcpmini/config.json";

/// A world with the project `p`, the home directory `h`, and a few variables.
struct World(Scratch);

impl World {
    fn new() -> World {
        let scratch = Scratch::new();
        scratch.write("p/file", "");
        World(scratch)
    }

    fn env(&self) -> Env {
        Env {
            cwd: Some(self.0.path("p")),
            variables: [
                ("HOME", self.0.path("h").to_str().unwrap()),
                ("PATH", std::env::var("PATH").unwrap().as_str()),
                ("TOKEN", "hunter2"),
                ("MCPMINI_TOKEN", "hunter3"),
                ("EMPTY", ""),
                ("REF", "${TOKEN}"),
                ("LINES", "hunter2\nX-Evil: 1"),
                ("SPACED", "hunter2 hunter3"),
            ]
            .into(),
            user: rustix::process::geteuid().as_raw(),
            ..Env::default()
        }
    }

    /// The server `s` of a file, or what is wrong with it, without the scratch directory.
    fn server(
        &self,
        file: &str,
        definition: &str,
        overrides: &Overrides,
    ) -> Result<Server, String> {
        self.0.write(file, &format!("{{\"mcpServers\": {{\"s\": {definition}}}}}"));
        let word = if file == USER { "user:s" } else { "project:s" };
        let resolved = resolve(word, &self.env(), overrides).unwrap();
        let expanded = expand(&resolved, overrides, &self.env());
        expanded.map_err(|error| {
            let told = error.to_string();
            // Whatever goes wrong, nobody gets to see a value.
            assert!(!told.contains("hunter2") && !format!("{error:?}").contains("hunter2"));
            told.replace(&format!("{}/", self.0.path("").display()), "")
        })
    }

    fn stdio(&self, definition: &str, overrides: &Overrides) -> StdioEndpoint {
        match self.server(USER, definition, overrides).unwrap().endpoint {
            Endpoint::Stdio(endpoint) => endpoint,
            Endpoint::Http(_) => panic!("{definition}"),
        }
    }

    fn http(&self, definition: &str, overrides: &Overrides) -> HttpEndpoint {
        match self.server(USER, definition, overrides).unwrap().endpoint {
            Endpoint::Http(endpoint) => endpoint,
            Endpoint::Stdio(_) => panic!("{definition}"),
        }
    }
}

fn own(endpoint: &StdioEndpoint) -> Vec<String> {
    let own = endpoint.environment.own();
    own.map(|(name, value)| format!("{}={}", name.display(), value.display())).collect()
}

fn headers(endpoint: &HttpEndpoint) -> Vec<String> {
    let headers = endpoint.headers.iter();
    headers.map(|(name, value)| format!("{name}: {}", value.expose())).collect()
}

#[test]
fn references_are_followed_once() {
    let world = World::new();
    world.0.write("h/.config/mcpmini/token", "from file\n\n");
    let check = |value: &str, expected: &str| {
        let definition = format!("{{\"command\": \"x\", \"env\": {{\"V\": {value:?}}}}}");
        let found = world.stdio(&definition, &Overrides::default());
        assert_eq!(own(&found), [format!("V={expected}")], "{value}");
    };
    check("plain $TOKEN", "plain $TOKEN");
    check("a ${TOKEN} b", "a hunter2 b");
    check("${env:TOKEN}", "hunter2");
    check("${REF}", "${TOKEN}");
    check("${UNSET:-d}${EMPTY:-e}${TOKEN:-f}", "dehunter2");
    check("${EMPTY}", "");
    check("$${TOKEN}", "${TOKEN}");
    check("${file:token}", "from file\n");
    check("!echo $TOKEN", "hunter2");
    check("${UNSET:-!echo x}", "!echo x");
}

#[test]
fn a_process_is_described_completely() {
    let world = World::new();
    world.0.write("h/.config/mcpmini/vars", "A=1\nB=2\nC=3\n");
    world.0.write("h/.config/mcpmini/dir/tool", "");
    world.0.write("h/.config/mcpmini/dir/my tool", "");
    world.0.write("p/sub/file", "");
    let config = world.0.path("h/.config/mcpmini");
    let found = world.stdio(
        r#"{"command": "${UNSET:-npx}", "args": ["-y", "${TOKEN}"], "envFile": "vars",
            "env": {"B": "two", "C": "three"}, "cwd": "dir"}"#,
        &Overrides {
            args: vec!["${TOKEN}".into()],
            env: vec![("C".into(), "drei".into())],
            ..Overrides::default()
        },
    );
    assert_eq!(found.program, "npx");
    assert_eq!(found.args, ["-y", "hunter2", "${TOKEN}"]);
    assert_eq!(found.cwd, Some(config.join("dir")));
    assert_eq!(own(&found), ["A=1", "B=two", "C=drei"]);
    let names: Vec<_> =
        found.environment.iter().map(|(name, _)| name.display().to_string()).collect();
    assert_eq!(names, ["A", "B", "C", "HOME", "PATH"]);
    assert!(!format!("{found:?}").contains("drei"));

    let found = world.stdio(
        r#"{"command": "./tool", "inheritEnv": true}"#,
        &Overrides { cwd: Some("sub/..".into()), ..Overrides::default() },
    );
    // `--cwd` is relative to the working directory, a command to the file that has it.
    assert_eq!(found.cwd, Some(world.0.path("p/sub/..")));
    assert_eq!(found.program, config.join("./tool").into_os_string());
    assert!(found.environment.iter().any(|(name, _)| name == "TOKEN"));
    // It is for another server.
    assert!(!found.environment.iter().any(|(name, _)| name == "MCPMINI_TOKEN"));

    let found = world.stdio(r#"{"command": "my tool", "cwd": "dir"}"#, &Overrides::default());
    assert_eq!(found.program, config.join("dir/my tool").into_os_string());
}

#[test]
fn an_endpoint_is_described_completely() {
    let world = World::new();
    let found = world.http(
        r#"{"type": "http", "url": "http://H:80/${UNSET:-mcp}#x", "bearerTokenEnv": "TOKEN",
            "headers": {"A": "1", "B": "${TOKEN}"}, "envHeaders": {"C": "TOKEN"}}"#,
        &Overrides {
            headers: vec![("b".into(), "two".into())],
            binding: Some(Binding::Sse),
            ..Overrides::default()
        },
    );
    assert_eq!(found.url, "http://h/mcp");
    assert_eq!(found.binding, Binding::Sse);
    assert_eq!(found.socket, None);
    assert_eq!(headers(&found), ["A: 1", "C: hunter2", "Authorization: Bearer hunter2", "b: two"]);

    let found = world.http(r#"{"url": "unix:run/s#/mcp"}"#, &Overrides::default());
    assert_eq!(found.url, "http://localhost/mcp");
    assert_eq!(found.socket, Some(world.0.path("h/.config/mcpmini/run/s")));
}

#[test]
fn words_of_the_command_line_are_no_templates() {
    let world = World::new();
    let server = |word: &str| {
        let resolved = resolve(word, &world.env(), &Overrides::default()).unwrap();
        expand(&resolved, &Overrides::default(), &world.env()).unwrap().endpoint
    };
    let Endpoint::Stdio(found) = server("exec:tool ${TOKEN} '!echo x'") else { panic!() };
    assert_eq!(
        (found.program, found.args),
        ("tool".into(), vec!["${TOKEN}".into(), "!echo x".into()])
    );
    assert_eq!(found.cwd, Some(world.0.path("p")));
    let Endpoint::Http(found) = server("http://h/${TOKEN}") else { panic!() };
    assert_eq!(found.url, "http://h/$%7BTOKEN%7D");
    let Endpoint::Http(found) = server("unix:s") else { panic!() };
    assert_eq!(found.socket, Some(world.0.path("p/s")));
}

/// Definitions, and what is said about their values.
const BAD_VALUES: &[(&str, &str)] = &[
    (
        r#"{"command": "x", "args": ["a", "${UNSET}"]}"#,
        "\"args[1]\" needs the variable UNSET, which is not set",
    ),
    (r#"{"command": "${UNSET}"}"#, "\"command\" needs the variable UNSET, which is not set"),
    (r#"{"command": "${EMPTY}"}"#, "\"command\" must not be empty"),
    (
        r#"{"command": "x", "env": {"A": "hunter2 ${UNSET}"}}"#,
        "\"env.A\" needs the variable UNSET, which is not set",
    ),
    (
        r#"{"command": "x", "env": {"A": "hunter2 ${hunter2 x}"}}"#,
        "\"env.A\" has a ${ that begins none of ${NAME}, ${NAME:-default}, ${env:NAME} and ${file:PATH}; a plain one is written $${",
    ),
    (
        r#"{"command": "x", "env": {"A": "${file:none}"}}"#,
        "\"env.A\" needs h/.config/mcpmini/none, and there is no such file",
    ),
    (
        r#"{"command": "x", "env": {"A": "${file:long}"}}"#,
        "\"env.A\" needs a file: cannot read h/.config/mcpmini/long: larger than 65536 bytes",
    ),
    (
        r#"{"command": "x", "env": {"A": "!echo hunter2; exit 4"}}"#,
        "\"env.A\" has no value: its command ended with 4",
    ),
    (
        r#"{"command": "x", "env": {"A": "hunter2\u0000"}}"#,
        "\"env.A\" must not contain a NUL character",
    ),
    (
        r#"{"command": "x", "env": {"A": "!printf 'hunter2\\000'"}}"#,
        "\"env.A\" must not contain a NUL character",
    ),
    (r#"{"command": "x", "args": ["\u0000"]}"#, "\"args[0]\" must not contain a NUL character"),
    (r#"{"command": "x", "cwd": "none"}"#, "\"cwd\" is no directory: h/.config/mcpmini/none"),
    (
        r#"{"command": "x", "envFile": "none"}"#,
        "\"envFile\" needs h/.config/mcpmini/none, and there is no such file",
    ),
    (
        r#"{"command": "x", "envFile": "bad"}"#,
        "\"envFile\" needs h/.config/mcpmini/bad:2 to be NAME=value",
    ),
    (
        r#"{"command": "npx -y ${TOKEN}"}"#,
        "\"command\" is not split at blanks, and there is no such program; write \"command\": \"npx\", \"args\": [\"-y\", \"${TOKEN}\"]",
    ),
    (r#"{"url": "${TOKEN}"}"#, "\"url\" cannot be used: relative URL without a base"),
    (
        r#"{"url": "ftp://hunter2/"}"#,
        "\"url\" cannot be used: its scheme ftp is none of http, https and unix",
    ),
    (
        r#"{"url": "http://u:${TOKEN}@h/"}"#,
        "\"url\" cannot be used: it contains a user name or a password; use a header for them",
    ),
    (
        r#"{"url": "http://h", "headers": {"A": "${LINES}"}}"#,
        "\"headers.A\" is no header: its name or its value has characters that none may have",
    ),
    (
        r#"{"url": "http://h", "headers": {"A": "hunter2 ä"}}"#,
        "\"headers.A\" is no header: its name or its value has characters that none may have",
    ),
    (
        r#"{"url": "http://h", "envHeaders": {"A": "LINES"}}"#,
        "\"envHeaders.A\" is no header: its name or its value has characters that none may have",
    ),
    (
        r#"{"url": "http://h", "envHeaders": {"A": "UNSET"}}"#,
        "\"envHeaders.A\" needs the variable UNSET, which is not set",
    ),
    (
        r#"{"url": "http://h", "bearerTokenEnv": "UNSET"}"#,
        "\"bearerTokenEnv\" needs the variable UNSET, which is not set",
    ),
];

#[test]
fn wrong_values_are_told_by_file_server_and_field_and_never_shown() {
    let world = World::new();
    world.0.write("h/.config/mcpmini/long", &"hunter2 ".repeat(10_000));
    world.0.write("h/.config/mcpmini/bad", "A=hunter2\nhunter2\n");
    for (definition, expected) in BAD_VALUES {
        let told = world.server(USER, definition, &Overrides::default()).unwrap_err();
        assert_eq!(told, format!("{USER}: Server \"s\": {expected}"), "{definition}");
    }
}

#[test]
fn a_project_must_not_read_files_or_run_commands_for_values() {
    let world = World::new();
    world.0.write("p/token", "hunter2");
    let check = |definition: &str, expected: &str| {
        let told = world.server(PROJECT, definition, &Overrides::default()).unwrap_err();
        assert_eq!(told, format!("{PROJECT}: Server \"s\": {expected}"));
    };
    check(
        r#"{"url": "http://h", "headers": {"A": "${file:token}"}}"#,
        "\"headers.A\" uses ${file:…}, which is only for files of your own",
    );
    check(
        r#"{"command": "x", "env": {"A": "!touch ran"}}"#,
        "\"env.A\" uses !command, which is only for files of your own",
    );
    assert!(!world.0.path("p/ran").exists());
    // Elsewhere an exclamation mark is an exclamation mark.
    assert!(
        world.server(PROJECT, r#"{"command": "x", "args": ["!y"]}"#, &Overrides::default()).is_ok()
    );
}

#[test]
fn flags_that_would_do_nothing_are_refused() {
    let world = World::new();
    let check = |definition: &str, overrides: Overrides, expected: &str| {
        let told = world.server(USER, definition, &overrides).unwrap_err();
        assert_eq!(told, expected);
    };
    let (stdio, http) = (r#"{"command": "x"}"#, r#"{"url": "http://h"}"#);
    let started = "does not fit s: it is for a server that is started by a command";
    let reached = "does not fit s: it is for a server that is reached by a URL";
    check(
        http,
        Overrides { args: vec!["a".into()], ..Overrides::default() },
        &format!("--arg {started}"),
    );
    check(
        http,
        Overrides { env: vec![("A".into(), "hunter2".into())], ..Overrides::default() },
        &format!("--env {started}"),
    );
    check(
        http,
        Overrides { cwd: Some("/".into()), ..Overrides::default() },
        &format!("--cwd {started}"),
    );
    check(
        http,
        Overrides { inherit_env: true, ..Overrides::default() },
        &format!("--inherit-env {started}"),
    );
    check(
        stdio,
        Overrides { headers: vec![("A".into(), "hunter2".into())], ..Overrides::default() },
        &format!("-H {reached}"),
    );
    check(
        stdio,
        Overrides { binding: Some(Binding::Http), ..Overrides::default() },
        &format!("--transport {reached}"),
    );
    check(
        http,
        Overrides { headers: vec![("A B".into(), "hunter2".into())], ..Overrides::default() },
        "Server \"s\": \"-H A B\" is no header: its name or its value has characters that none may have",
    );
    let nowhere = Overrides { cwd: Some("nowhere".into()), ..Overrides::default() };
    check(stdio, nowhere, "Server \"s\": \"--cwd\" is no directory: p/nowhere");
}

#[test]
fn the_identity_changes_with_arguments_and_not_with_secrets() {
    let world = World::new();
    let identity = |overrides: Overrides| {
        let definition = r#"{"command": "x", "env": {"A": "${TOKEN}"}}"#;
        world.server(USER, definition, &overrides).unwrap().identity
    };
    let plain = identity(Overrides::default());
    let secret = Overrides { env: vec![("A".into(), "other".into())], ..Overrides::default() };
    assert_eq!(identity(secret), plain);
    let more = |args: &[&str]| Overrides {
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        ..Overrides::default()
    };
    assert_ne!(identity(more(&["a"])), plain);
    assert_ne!(identity(more(&["a", "b"])), identity(more(&["a b"])));
    let header = |name: &str| {
        let headers = vec![(name.to_owned(), "other".into())];
        let overrides = Overrides { headers, ..Overrides::default() };
        world.server(USER, r#"{"url": "https://h/"}"#, &overrides).unwrap().identity
    };
    assert_ne!(header("HOST"), header("X-Token"));
}
