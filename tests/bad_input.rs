//! Wrong command lines, arguments, variables, files and configurations: each ends with the code
//! that is documented for it, prints nothing on standard output, and names what is at fault.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::process::Command;

use support::{Scratch, closed_url, demo, run, run_with_input};

/// Runs a command that must fail with a code and name a thing on standard error.
#[track_caller]
fn check_command(command: &mut Command, code: i32, named: &str) {
    let outcome = run(command);
    let words: Vec<_> = command.get_args().collect();
    assert_eq!(outcome.code, code, "{words:?}: {}", outcome.err);
    assert_eq!(outcome.out, "", "{words:?}");
    assert!(outcome.err.contains(named), "{words:?} does not name {named:?}: {}", outcome.err);
    assert!(!outcome.err.contains("panicked"), "{words:?}: {}", outcome.err);
}

/// A wrong command line.
#[track_caller]
fn check(words: &[&str], named: &str) {
    check_command(&mut Scratch::new().mcpmini(words), 2, named);
}

/// A right call with a wrong option.
#[track_caller]
fn check_option(option: &[&str], named: &str) {
    check(&[&["call", "server", "tool"], option].concat(), named);
}

#[test]
fn commands_and_their_words() {
    check(&[], "command");
    check(&["frobnicate"], "frobnicate");
    check(&["cal", "server", "tool"], "call");
    check(&["https://mcp.example.com/mcp"], "https://mcp.example.com/mcp");
    check(&["call"], "SERVER");
    check(&["call", "server"], "TOOL");
    check(&["tools"], "SERVER");
    check(&["schema", "server"], "TOOL");
    check(&["rpc", "server"], "METHOD");
    check(&["info", "server", "extra"], "extra");
    check(&["tools", "server", "pattern", "extra"], "extra");
    check(&["help", "frobnicate"], "frobnicate");
}

#[test]
fn options_that_are_none() {
    check(&["-X"], "-X");
    check_option(&["--bogus"], "--bogus");
    check_option(&["--tiemout", "3"], "--timeout");
    check_option(&["--timeout"], "--timeout");
    check_option(&["--timeout", "--json"], "--timeout");
    check_option(&["--json=yes"], "--json");
    check_option(&["--envelope"], "--envelope");
    check(&["rpc", "server", "ping", "--no-schema"], "--no-schema");
}

#[test]
fn durations_sizes_and_counts() {
    check_option(&["--timeout", "soon"], "soon");
    check_option(&["--timeout=-1"], "-1");
    check_option(&["--timeout", "9000000h"], "9000000h");
    check_option(&["--max-time", "1d"], "1d");
    check_option(&["--start-timeout", ""], "--start-timeout");
    check_option(&["--shutdown-timeout", "1.2.3"], "1.2.3");
    check_option(&["--max-message", "0"], "--max-message");
    check_option(&["--max-message", "1TB"], "1TB");
    check_option(&["--max-depth", "none"], "none");
}

#[test]
fn choices() {
    check_option(&["--output", "yaml"], "yaml");
    check(&["tools", "server", "--output", "raw"], "raw");
    check_option(&["--transport", "nope"], "nope");
    check_option(&["--protocol", "2020-01-01"], "2020-01-01");
    check_option(&["--id-format", "uuid"], "uuid");
    check_option(&["--http", "3"], "\"3\"");
    check_option(&["--color", "sometimes"], "sometimes");
    check_option(&["--elicit", "maybe"], "maybe");
    check_option(&["--elicit", "answers:"], "answers:");
    check_option(&["--stderr", "inherti"], "inherit");
}

#[test]
fn headers_variables_and_assignments() {
    check_option(&["-H", "no colon"], "--header");
    check_option(&["-H", "Accept: text/html"], "Accept");
    check_option(&["-H", "Mcp-Session-Id: x"], "Mcp-Session-Id");
    check_option(&["-H", "a b: c"], "--header");
    check_option(&["-H", "X: \u{e4}"], "--header");
    check_option(&["--env", "NAME"], "--env");
    check_option(&["--env", "=value"], "--env");
    check_option(&["--resolve", "host:port"], "--resolve");
    check_option(&["--meta", "key"], "--meta");
    check_option(&["--meta", "key:={"], "key");
    check_option(&["--answer", "name"], "--answer");
    check_option(&["--bearer-file", "fd:x"], "fd:");
    check_option(&["--out", ""], "--out");
    check_option(&["--out", "f", "-o", "events"], "--out");
    check_option(&["--cwd", ""], "--cwd");
    check_option(&["--config", ""], "--config");
}

#[test]
fn words_that_are_not_text() {
    let scratch = Scratch::new();
    let mut command = scratch.mcpmini(["call", "server"]);
    check_command(command.arg(OsStr::from_bytes(b"\xff\xfe")), 2, "argument 3");
}

#[test]
fn variables_of_the_environment() {
    let check = |name: &str, value: &str| {
        let scratch = Scratch::new();
        let mut command = scratch.mcpmini(["call", "server", "tool"]);
        check_command(command.env(name, value), 2, name);
    };
    check("MCPMINI_TIMEOUT", "soon");
    check("MCPMINI_MAX_TIME", "1d");
    check("MCPMINI_START_TIMEOUT", "x");
    check("MCPMINI_PROTOCOL", "2020-01-01");
    check("MCPMINI_OUTPUT", "yaml");
    check("MCPMINI_ERRORS", "xml");
}

#[test]
fn servers_that_are_none() {
    check(&["call", "", "tool"], "server");
    check(&["call", "ftp://example.com/mcp", "tool"], "scheme");
    check(&["call", "file:///etc/passwd", "tool"], "scheme");
    check(&["call", "http://", "tool"], "host");
    check(&["call", "http://exa mple.com/", "tool"], "URL");
    check(&["call", "exec:", "tool"], "empty");
    check(&["call", "exec:'open", "tool"], "not closed");
    check(&["call", "two words'", "tool"], "not closed");
}

/// A call of a tool of the demo server whose arguments do not fit.
#[track_caller]
fn check_arguments(words: &[&str], named: &str) {
    let server = demo("");
    check(&[&["call", &server], words].concat(), named);
}

#[test]
fn arguments_that_cannot_be_read() {
    check_arguments(&["echo", "text"], "text");
    check_arguments(&["echo", "=value"], "=value");
    check_arguments(&["echo", "text:={"], "text");
    check_arguments(&["echo", "{"], "JSON");
    check_arguments(&["echo", "[1]"], "object");
    check_arguments(&["echo", "{\"text\":\"a\"} x"], "JSON");
    check_arguments(&["echo", "@/no/such.json"], "/no/such.json");
    check_arguments(&["echo", "text=@/no/such.txt"], "/no/such.txt");
    check_arguments(&["echo", "-", "-"], "second");
    check_arguments(&["echo", "-", "text=@-"], "standard input");
    check_arguments(&["arguments", "options.a[=1"], "options.a[");
    check_arguments(&["echo", "--", "stray"], "stray");
    check_arguments(&["echo", "--", "--text"], "text");
    let server = demo("");
    check(&["rpc", &server, "tools/list", "{"], "parameters");
    check(&["rpc", &server, "tools/list", "[1]"], "parameters");
}

#[test]
fn an_empty_standard_input_is_no_object() {
    let scratch = Scratch::new();
    let server = demo("");
    let outcome = run_with_input(&mut scratch.mcpmini(["call", &server, "echo", "-"]), Some(b""));
    assert_eq!((outcome.code, outcome.out.as_str()), (2, ""));
    assert!(outcome.err.contains("standard input"), "{}", outcome.err);
}

#[test]
fn arguments_that_do_not_fit_the_schema() {
    check_arguments(&["add", "a:=\"1\"", "b=1"], "a");
    check_arguments(&["echo", "text=a", "txet=b"], "txet");
    check_arguments(&["add", "a=1"], "b");
    check_arguments(&["add", "a=1", "b=two"], "two");
    check_arguments(&["arguments", "id=1.5"], "id");
    check_arguments(&["arguments", "flag=maybe"], "flag");
    check_arguments(&["arguments", "size=medium"], "medium");
    check_arguments(&["arguments", "tags:=5", "pin=1"], "tags");
    check_arguments(&["arguments", "options=5"], "options");
    check_arguments(&["arguments", "--", "--nope", "1"], "nope");
}

#[test]
fn files_that_are_not_there() {
    let check = |server: &str, option: &str, code: i32| {
        let words = ["call", server, "echo", "{\"text\":\"a\"}", option, "/no/such/file"];
        check_command(&mut Scratch::new().mcpmini(words), code, "/no/such/file");
    };
    check(&closed_url(), "--header-file", 9);
    check(&closed_url(), "--bearer-file", 9);
    check(&closed_url(), "--cacert", 9);
    check(&closed_url(), "--root", 9);
    check(&demo(""), "--answers", 9);
    check(&demo(""), "--out", 9);
    check(&demo(""), "--stderr", 9);
    check("name", "--config", 9);
}

#[test]
fn a_working_directory_that_is_not_there() {
    let scratch = Scratch::new();
    let server = demo("");
    let words = ["call", &server, "echo", "text=a", "--cwd", "/no/such/dir"];
    check_command(&mut scratch.mcpmini(words), 2, "/no/such/dir");
}

/// A configuration file that cannot be used.
#[track_caller]
fn check_config(content: &str, named: &str) {
    let scratch = Scratch::new();
    let file = scratch.write("servers.json", content);
    let words = ["call", "one", "tool", "{}", "--config", &file];
    check_command(&mut scratch.mcpmini(words), 9, named);
}

#[test]
fn configuration_files_that_are_no_json() {
    check_config("", "servers.json");
    check_config("{", "servers.json");
    check_config("[]", "servers.json");
    check_config("{\"mcpServers\":{}} x", "servers.json");
    check_config("\u{0}\u{1}\u{2}", "servers.json");
    check_config(&"[".repeat(100_000), "servers.json");
}

#[test]
fn configurations_that_do_not_name_the_server() {
    check_config("{}", "one");
    check_config(r#"{"mcpServers":{"two":{"command":"x"}}}"#, "one");
    check_config(r#"{"mcpServers":{"onne":{"command":"x"}}}"#, "onne");
}

/// A definition of a server that cannot be used.
#[track_caller]
fn check_definition(definition: &str, named: &str) {
    check_config(&format!(r#"{{"mcpServers":{{"one":{definition}}}}}"#), named);
}

#[test]
fn definitions_of_servers() {
    check_config(r#"{"mcpServers":[]}"#, "mcpServers");
    check_definition("5", "one");
    check_definition("{}", "one");
    check_definition(r#"{"command":"x","url":"http://x/"}"#, r#"both "command" and "url" are set"#);
    check_definition(r#"{"command":5}"#, "command");
    check_definition(r#"{"command":""}"#, "command");
    check_definition(r#"{"command":"x","args":"y"}"#, "args");
    check_definition(r#"{"command":"x","args":[5]}"#, "args");
    check_definition(r#"{"command":"x","env":[]}"#, "env");
    check_definition(r#"{"command":"x","env":{"A":5}}"#, "env");
    check_definition(r#"{"url":5}"#, "url");
    check_definition(r#"{"url":"not a url"}"#, "url");
    check_definition(r#"{"url":"ftp://example.com/"}"#, "scheme");
    check_definition(r#"{"url":"http://x/","headers":{"Accept":"x"}}"#, "Accept");
    check_definition(r#"{"url":"http://x/","headers":{"a b":"x"}}"#, "a b");
    check_definition(r#"{"type":"carrier-pigeon","url":"http://x/"}"#, "carrier-pigeon");
    check_definition(r#"{"type":"stdio","url":"http://x/"}"#, "command");
    check_definition(r#"{"command":"x","timeout":-1}"#, "timeout");
    check_definition(r#"{"command":"x","disabled":"yes"}"#, "disabled");
    check_definition(r#"{"command":"${NO_SUCH_VARIABLE}"}"#, "NO_SUCH_VARIABLE");
    check_definition(r#"{"command":"x","args":["${}"]}"#, "args");
    check_definition(r#"{"url":"http://x/","headers":{"X":"${NO_SUCH}"}}"#, "NO_SUCH");
}
