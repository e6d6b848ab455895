//! What is offered where.

use std::time::SystemTime;

use super::*;
use crate::cache::{Lists, Mode, Scope};
use crate::config::{Overrides, expand, resolve};
use crate::protocol::Revision;
use crate::protocol::revision::Era;
use crate::store::scratch::Scratch;

const CONFIG: &str = r#"{"mcpServers": {
    "files": {"command": "srv", "args": ["a b", "https://h/?token=hunter2"],
        "env": {"T": "!touch ran"}},
    "web": {"url": "https://h/mcp?token=hunter2"},
    "no name": {"command": "x"},
    "off": {"command": "x", "disabled": true}
}}"#;

const TOOLS: &str = r#"{"tools":[
    {"name":"read","description":"Reads\nmore","inputSchema":{"properties":{
        "path":{"type":"string","description":"which\tone"},
        "size":{"enum":["small","large"]},
        "a.b":{"type":"boolean"}},"required":["path"]}},
    {"name":"it's \"one\"","inputSchema":{}},
    {"name":"bad\u001bname","inputSchema":{}}
]}"#;

const PROMPTS: &str = r#"{"prompts":[{"name":"review","arguments":[
    {"name":"code","description":"What to look at","required":true},{"name":"style"}]}]}"#;

const RESOURCES: &str = r#"{"resources":[{"uri":"file:///a b","name":"a"},{"uri":"x:1"}]}"#;

const SKILLS: &str = r#"{"skills":[{"uri":"skill://pdf/SKILL.md",
    "frontmatter":{"name":"pdf","description":"Fills in"},"resources":[
    {"uri":"skill://pdf/SKILL.md","size":1,"digest":"sha256:DIGEST"},
    {"uri":"skill://pdf/a%20b","size":1,"digest":"sha256:DIGEST"}]}]}"#;

/// A world with a configuration and a stored list of tools.
fn world() -> (Scratch, Env) {
    let scratch = Scratch::new();
    scratch.write("h/.config/mcpmini/config.json", CONFIG);
    scratch.write("p/data/one.txt", "");
    scratch.write("p/data/.hidden", "");
    scratch.write("p/two.txt", "");
    let env = Env {
        cwd: Some(scratch.path("p")),
        variables: [("HOME", scratch.path("h").to_str().unwrap())].into(),
        user: rustix::process::geteuid().as_raw(),
        ..Env::default()
    };
    let overrides = Overrides { dry_run: true, ..Overrides::default() };
    let server = expand(&resolve("files", &env, &overrides).unwrap(), &overrides, &env).unwrap();
    let lists = Lists::new(&env, Mode::On);
    let methods = ["tools/list", "prompts/list", "resources/list", "skills/list"];
    let skills = SKILLS.replace("DIGEST", &"0".repeat(64));
    for (method, page) in methods.iter().zip([TOOLS, PROMPTS, RESOURCES, &skills]) {
        let key = lists.key(&server, Revision::newest(Era::Legacy), method, "{}", "");
        let pages = [page.replace('\n', " ")];
        lists.put(&key, &pages, std::time::Duration::ZERO, Scope::Private, SystemTime::UNIX_EPOCH);
    }
    (scratch, env)
}

/// What fish is told after a line, in which no word has a blank.
fn told(line: &str, env: &Env) -> Vec<String> {
    let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    text(Shell::Fish, &words, env).lines().map(str::to_owned).collect()
}

#[track_caller]
fn check(env: &Env, line: &str, expected: &[&str]) {
    let words: Vec<_> = told(line, env);
    let words: Vec<_> = words.iter().map(|line| line.split('\t').next().unwrap()).collect();
    assert_eq!(words, expected, "{line}");
}

#[test]
fn commands_for_many_requests_and_servers_have_their_words() {
    let (_scratch, env) = world();
    check(&env, "tools f", &["files"]);
    check(&env, "tools files r", &["read"]);
    check(&env, "servers --check w", &["web"]);
    check(&env, "cache c", &["clear"]);
    check(&env, "cache ls f", &["files"]);
    check(&env, "session f", &["files"]);
    check(&env, "batch web ", &["files"]);
    check(&env, "bench files re", &["read"]);
    check(&env, "doctor w", &["web"]);
    check(&env, "doctor --fail-on w", &["warn"]);
    check(&env, "doctor --only origin-n", &["origin-null", "origin-none"]);
}

#[test]
fn every_place_has_its_words() {
    let (_scratch, env) = world();
    check(&env, "cal", &["call"]);
    check(&env, "-q sch", &["schema"]);
    check(&env, "help exit", &["exit-codes"]);
    check(&env, "call ", &["files", "web"]);
    check(&env, "call ./", &["files"]);
    check(&env, "call https://", &[]);
    check(&env, "call files r", &["read"]);
    check(&env, "c -t 5s files r", &["read"]);
    check(&env, "call web ", &[]);
    check(&env, "call nobody ", &[]);
    check(&env, "schema files ", &["read", "it's \"one\""]);
    check(&env, "call files read ", &["path=", "size=", r"a\.b="]);
    check(&env, "call files read path:=1 ", &["size=", r"a\.b="]);
    check(&env, "call files read size=", &["size=small", "size=large"]);
    check(&env, r"call files read a\.b=t", &[]);
    check(&env, "call files read path=x", &[]);
    check(&env, "call files read path=@da", &["path=@data/"]);
    check(&env, "call files read path:=@data/", &["path:=@data/one.txt"]);
    check(&env, "call files read @t", &["@two.txt"]);
    check(&env, "call files read -- --", &["--path", "--size", "--a.b"]);
    check(&env, "call files read -- --size ", &["small", "large"]);
    check(&env, "call files read -- --size=s", &["--size=small"]);
    check(&env, "call files read -- --a.b --s", &["--size"]);
    check(&env, "call --no-s", &["--no-schema"]);
    check(&env, "tools --no-s", &[]);
    check(&env, "call -o ra", &["raw"]);
    check(&env, "call -qo ra", &["raw"]);
    check(&env, "call --output=ra", &["--output=raw"]);
    check(&env, "call --config ", &["files"]);
    check(&env, "call --elicit a", &["answers:"]);
    check(&env, "approve w", &["web"]);
    check(&env, "rpc files tools/l", &["tools/list"]);
    check(&env, "completions z", &["zsh"]);
    check(&env, "prompt files ", &["review"]);
    check(&env, "prompt files review ", &["code=", "style="]);
    check(&env, "prompt files review code=x st", &["style="]);
    check(&env, "prompt files other ", &[]);
    check(&env, "read files ", &["file:///a b", "x:1"]);
    check(&env, "read files x:1 f", &["file:///a b"]);
    check(&env, "skill files ", &["pdf"]);
    check(&env, "skill files pdf ", &["SKILL.md", "a b"]);
    check(&env, "skill files skill://pdf/SKILL.md a", &["a b"]);
    check(&env, "skill files other ", &[]);
    check(&env, "task c", &["cancel"]);
    check(&env, "task get f", &["files"]);
    check(&env, "config sh", &["show"]);
    check(&env, "config show f", &["files"]);
    check(&env, "config import w", &["windsurf"]);
    check(&env, "remove f", &["files"]);
    check(&env, "replay ", &["files"]);
    check(&env, "nonsense ", &["files"]);
}

#[test]
fn descriptions_are_one_line_and_show_no_secret() {
    let (scratch, env) = world();
    assert_eq!(
        told("call ", &env),
        ["files\tsrv 'a b' 'https://h/?token=***'", "web\thttps://h/mcp?token=***"]
    );
    assert_eq!(told("call files re", &env), ["read\tReads"]);
    assert_eq!(told("call files read p", &env), ["path=\trequired: which one"]);
    assert!(!scratch.path("p/ran").exists(), "no command was run");
}

#[test]
fn each_shell_gets_its_form() {
    let (_scratch, env) = world();
    let check = |shell, words: &[&str], expected: &str| {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        assert_eq!(text(shell, &words, &env), expected);
    };
    check(Shell::Bash, &["mcpmini call files it", "="], "word:it\\'s\\ \\\"one\\\" \n");
    check(Shell::Bash, &["mcpmini call files read size=s", "="], "word:small \n");
    check(Shell::Bash, &["mcpmini call files read si", "="], "word:size=\n");
    check(Shell::Bash, &["mcpmini replay ", "="], "files:\n");
    check(Shell::Bash, &["mcpmini"], "");
    check(Shell::Zsh, &["call", "files", "it"], "word\tit's \"one\"\n");
    check(Shell::Zsh, &["call", "files", "read", "si"], "part\tsize=\n");
    check(Shell::Zsh, &["replay", ""], "files\n");
    check(Shell::Fish, &["call", "files", "'it"], "it's \"one\"\n");
    check(Shell::Fish, &[], "");
}
