//! The command line as a table: words on the left, what they mean on the right.

use std::ffi::OsString;
use std::path::PathBuf;

use argh::{ArgsInfo, FromArgs};

use super::commands::{ALIASES, WITH_TAIL};
use super::doctor_command::Doctor;
use super::globals::{SHORTHANDS, SPELLINGS};
use super::primitives::{Complete, Watch};
use super::table::{HELP, Table};
use super::values::Expectation;
use super::*;
use crate::cli::exit::Exit;
use crate::cli::terminal::{ColorRule, Stream};
use crate::protocol::pointer::Pointer;

/// Splits a line into words as a shell does with single quotes.
fn words(line: &str) -> Vec<OsString> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '\'' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            ' ' if !quoted => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words.into_iter().map(OsString::from).collect()
}

/// The fields of a struct that differ from those of another, as `name: value`.
fn differences(value: &impl std::fmt::Debug, from: &impl std::fmt::Debug) -> Vec<String> {
    let fields = |text: String| -> Vec<String> {
        let body = text.split_once(" { ").map_or("", |(_, body)| body);
        let mut fields = vec![String::new()];
        let (mut depth, mut quoted) = (0, false);
        for c in body.strip_suffix(" }").unwrap_or(body).chars() {
            quoted ^= c == '"';
            depth += i32::from(!quoted && "([{".contains(c));
            depth -= i32::from(!quoted && ")]}".contains(c));
            let last = fields.last_mut().unwrap();
            match c {
                ',' if depth == 0 && !quoted => fields.push(String::new()),
                c if !(last.is_empty() && c == ' ') => last.push(c),
                _ => {}
            }
        }
        fields
    };
    let (value, from) = (fields(format!("{value:?}")), fields(format!("{from:?}")));
    value.into_iter().filter(|field| !from.contains(field)).collect()
}

/// What a command line means: the command, its words, its options, then what is set otherwise.
fn meaning(line: &str) -> String {
    let invocation = match parse(words(line)) {
        Ok(invocation) => invocation,
        Err(Stop { why: Why::Help(page), .. }) => return format!("help: {page:?}"),
        Err(Stop { why: Why::Version, output, .. }) => return format!("version: {output:?}"),
        Err(Stop { why: Why::Usage(mistake), .. }) => return format!("error: {mistake}"),
    };
    let Invocation { globals, access, command, tail } = &invocation;
    let mut out = command.name().to_owned();
    let mut add = |text: String| out.push_str(&format!(" {text}"));
    let mut switch = |on: bool, name: &str| on.then(|| name.to_owned()).map_or((), &mut add);
    match command {
        Command::Call(call) => {
            switch(call.no_schema, "--no-schema");
            switch(call.no_check, "--no-check");
            switch(call.dry_run, "--dry-run");
            switch(call.check_output, "--check-output");
            switch(call.task, "--task");
            switch(call.wait, "--wait");
            demands(&call.select, &call.expect, call.save.as_ref()).for_each(&mut add);
            add(format!("{} {} {:?}", call.server, call.tool, call.args));
        }
        Command::Tools(tools) => {
            tools.grep.iter().for_each(|grep| add(format!("--grep {grep}")));
            add(format!("{} {:?}", tools.server().unwrap_or("--all"), tools.pattern()));
        }
        Command::Schema(schema) => {
            switch(schema.output_schema, "--output-schema");
            switch(schema.example, "--example");
            add(format!("{} {}", schema.server, schema.tool));
        }
        Command::Info(info) => add(info.server.clone()),
        Command::Ping(ping) => add(ping.server.clone()),
        Command::Rpc(rpc) => {
            switch(rpc.envelope, "--envelope");
            switch(rpc.dry_run, "--dry-run");
            demands(&rpc.select, &rpc.expect, None).for_each(&mut add);
            add(format!("{} {} {:?}", rpc.server, rpc.method, rpc.params));
        }
        other => many(other).unwrap_or_else(|| primitive(other)).into_iter().for_each(&mut add),
    }
    if !tail.is_empty() {
        add(format!("-- {tail:?}"));
    }
    let mut set = differences(globals, &Globals::from_args(&["mcpmini"], &[]).unwrap());
    set.extend(differences(access, &Access::default()));
    if !set.is_empty() {
        add(format!("| {}", set.join(", ")));
    }
    out
}

/// The options and words of the commands about servers as such, and for the shell.
fn configuration(command: &Command) -> Vec<String> {
    let switched = |switches: &[(bool, &str)], words: String| {
        let switches = switches.iter().filter(|(on, _)| *on).map(|(_, name)| (*name).to_owned());
        switches.chain([words]).collect()
    };
    match command {
        Command::Add(add) => {
            let switches = [(add.project, "--project"), (add.force, "--force")];
            switched(&switches, format!("{:?}", add.words(false)))
        }
        Command::Remove(remove) => switched(&[(remove.project, "--project")], remove.name.clone()),
        Command::Config(config) => {
            let words = format!("{} {:?} {:?}", config.action.word(), config.from, config.names);
            switched(&[(config.copy, "--copy"), (config.force, "--force")], words)
        }
        Command::Discover(wanted) => {
            let switches = [
                (wanted.standard, "--standard"),
                (wanted.html, "--html"),
                (wanted.probe, "--probe"),
                (wanted.allow_http, "--allow-http"),
                (wanted.offline, "--offline"),
            ];
            switched(&switches, format!("{:?} {}", wanted.max_card_bytes, wanted.place))
        }
        Command::Card(card) => {
            let switches = [
                (card.connect, "--connect"),
                (card.standard, "--standard"),
                (card.allow_http, "--allow-http"),
                (card.offline, "--offline"),
            ];
            let (action, entry) = (card.action().word(), &card.entry);
            switched(&switches, format!("{action} {entry:?} {:?} {}", card.var, card.place()))
        }
        Command::Approve(approve) => vec![format!("{:?} {:?}", approve.name, approve.accept)],
        Command::Login(login) => {
            let switches = [(login.no_browser, "--no-browser"), (login.device, "--device")];
            switched(&switches, login.server.clone())
        }
        Command::Logout(logout) => vec![logout.server.clone()],
        Command::Token(token) => vec![token.server.clone()],
        Command::Replay(replay) => vec![format!("{:?} {:?}", replay.file, replay.name)],
        Command::Completions(completions) => vec![completions.shell.word().to_owned()],
        other => panic!("{} is no command of these", other.name()),
    }
}

/// The options and words of the commands for many requests and many servers.
fn many(command: &Command) -> Option<Vec<String>> {
    let switch = |on: bool, name: &str| on.then(|| name.to_owned());
    let (switches, words) = match command {
        Command::Batch(batch) => {
            let switches =
                [switch(batch.ordered, "--ordered"), switch(batch.keep_going, "--keep-going")];
            (switches, format!("{:?} {} {}", batch.jobs, batch.server, batch.input))
        }
        Command::Bench(bench) => {
            let (calls, jobs) = (bench.calls, bench.jobs);
            let words =
                format!("{calls:?} {jobs:?} {} {} {:?}", bench.server, bench.tool, bench.args);
            ([switch(bench.keep_going, "--keep-going"), None], words)
        }
        Command::Session(session) => ([None, None], format!("{:?}", session.servers)),
        Command::Servers(servers) => {
            ([switch(servers.check, "--check"), None], format!("{:?}", servers.names))
        }
        Command::Doctor(doctor) => {
            let Doctor { fail_on, only, require_auth, sticky, server } = doctor;
            let fail_on = fail_on.map(|it| format!("--fail-on {}", it.word()));
            let words = format!("{only:?} {sticky:?} {server}");
            ([fail_on, switch(*require_auth, "--require-auth")], words)
        }
        Command::Cache(cache) => ([None, None], format!("{:?} {:?}", cache.action, cache.server)),
        _ => return None,
    };
    Some(switches.into_iter().flatten().chain([words]).collect())
}

/// The options and words of the commands beside tools.
fn primitive(command: &Command) -> Vec<String> {
    match command {
        Command::Find(find) => {
            let switches = [(find.regex, "-E"), (find.ignore_case, "-i")].into_iter();
            let switches = switches.filter(|(on, _)| *on).map(|(_, name)| name.to_owned());
            switches.chain([format!("{} {:?}", find.pattern, find.servers)]).collect()
        }
        Command::Resources(resources) => vec![resources.server.clone()],
        Command::Templates(templates) => vec![templates.server.clone()],
        Command::Read(read) => {
            let demands = demands(&read.select, &read.expect, read.save.as_ref());
            demands.chain([format!("{} {} {:?}", read.server, read.uri, read.more)]).collect()
        }
        Command::Prompts(prompts) => vec![prompts.server.clone()],
        Command::Prompt(prompt) => {
            let demands = demands(&prompt.select, &prompt.expect, prompt.save.as_ref());
            let words = format!("{} {} {:?}", prompt.server, prompt.name, prompt.args);
            demands.chain([words]).collect()
        }
        Command::Complete(complete) => {
            let Complete { context, server, reference, argument, prefix } = complete;
            let context = context.iter().map(|known| format!("--context {}", known.key));
            context.chain([format!("{server} {reference} {argument} {prefix:?}")]).collect()
        }
        Command::Skills(skills) => vec![skills.server.clone()],
        Command::Skill(skill) => {
            let all = skill.with_files.then(|| "--with-files".to_owned());
            let install = skill.install.as_ref().map(|dir| format!("--install {}", dir.display()));
            let words = format!("{} {} {:?}", skill.server, skill.skill, skill.file);
            all.into_iter().chain(install).chain([words]).collect()
        }
        Command::Task(task) => {
            let demands = demands(&task.select, &task.expect, task.save.as_ref());
            let words =
                format!("{} {} {} {:?}", task.action.word(), task.server, task.id, task.args);
            demands.chain([words]).collect()
        }
        Command::Watch(watch) => {
            let Watch { tools, prompts, resource_list, resources, count, server, uris } = watch;
            let lists = [(tools, "--tools"), (prompts, "--prompts"), (resource_list, "--lists")];
            let lists = lists.into_iter().filter(|(on, _)| **on).map(|(_, name)| name.to_owned());
            lists.chain([format!("{server} {resources:?} {uris:?} {count:?}")]).collect()
        }
        other => configuration(other),
    }
}

/// What is wanted of an answer, option by option.
fn demands(
    select: &[Pointer],
    expect: &[Expectation],
    save: Option<&PathBuf>,
) -> impl Iterator<Item = String> {
    let select = select.iter().map(|pointer| format!("--select {pointer}"));
    let expect =
        expect.iter().map(|Expectation { pointer, value }| format!("--expect {pointer}={value}"));
    let save = save.map(|directory| format!("--save {}", directory.display()));
    select.chain(expect).chain(save).collect::<Vec<_>>().into_iter()
}

#[track_caller]
fn check(line: &str, expected: &str) {
    assert_eq!(meaning(line), expected, "{line}");
}

#[test]
fn servers_are_found_shown_checked_and_added() {
    check("discover h.example", "discover None h.example");
    check(
        "discover --html h --standard --probe --offline --allow-http --max-card-bytes 2MiB",
        "discover --standard --html --probe --allow-http --offline Some(2097152) h",
    );
    check("discover h --max-card-bytes 9MiB", "error: --max-card-bytes: at most 8MiB");
    check("discover a b", "error: discover does not take so many words: \"b\"");
    check("card h", "card show None [] h");
    check("card show h --entry=e", "card show Some(\"e\") [] h");
    check("card check ./check", "card check None [] ./check");
    check("card", "error: card needs URL|FILE");
    check("card check", "error: card needs URL|FILE");
    check("card h x", "error: card does not take so many words: \"x\"");
    check("card check h --connect", "error: --connect needs the action show");
    check("card h --var a=b", "error: --var needs --connect");
    check("card h --var a", "error: --var: a variable is written NAME=value");
    check("card h --connect --offline", "error: --offline and --connect exclude each other");
    check("add h.example", "add (None, Some(\"h.example\"))");
    check("add n h.example --force", "add --force (Some(\"n\"), Some(\"h.example\"))");
    check("add a b c", "error: add does not take so many words: \"c\"");
    check("add", "error: add needs SERVER");
}

#[test]
fn answers_are_asked_for_in_parts() {
    check("call s t --select /a/-/b --select ''", "call --select /a/-/b --select  s t []");
    check("call s t --expect /a=b=c --save=out", "call --expect /a=b=c --save out s t []");
    check("call s t --check-output", "call --check-output s t []");
    check("call s t --validate-output", "call --check-output s t []");
    check("call s t --detach", "call --task s t []");
    check("call s t --task --wait", "call --task --wait s t []");
    check("rpc s m --select /x", "rpc --select /x s m None");
    check("tools s --grep a.c", "tools --grep a.c s None");
    check(
        "call s t --select a",
        "error: --select: a JSON Pointer begins with a slash, such as /content/0/text",
    );
    check("call s t --expect /a", "error: --expect: write /pointer=value");
    check("call s t --save=", "error: --save: the file name is empty");
}

#[test]
fn parts_of_an_answer_and_its_form_exclude_each_other() {
    check("call s t --wait", "error: --wait needs --task");
    check("call s t --select /a -o raw", "error: --select and --output exclude each other");
    check("call s t --select /a -j", "call --select /a s t [] | output: Some(Json)");
    check(
        "call s t --no-schema --check-output",
        "error: --no-schema and --check-output exclude each other",
    );
    check("rpc s m --envelope --select /a", "error: --select and --envelope exclude each other");
    check("task get s 1 a=1", "error: task does not take so many words: \"a=1\"");
    check("task get s 1 --save d", "error: --save needs the action result");
    check("task get s 1 -o raw", "error: task has no output form raw, but text and json");
    check("task result s 1 -o raw", "task result s 1 [] | output: Some(Raw)");
    check("skill s x a --install d", "error: FILE and --install exclude each other");
    check("task start s 1", r#"error: ACTION: "start" is none of get, result, cancel, update"#);
}

#[test]
fn commands_take_words() {
    check("call s t", "call s t []");
    check("c s t", "call s t []");
    check("call s t a=1 b:=2", r#"call s t ["a=1", "b:=2"]"#);
    check("call s t '{\"a\": 1}' @f.json - @-", r#"call s t ["{\"a\": 1}", "@f.json", "-", "@-"]"#);
    check("call s t a=--json b=-j", r#"call s t ["a=--json", "b=-j"]"#);
    check("call s t -5 -.5 -1e3", r#"call s t ["-5", "-.5", "-1e3"]"#);
    check("call s t '' 'a b'", r#"call s t ["", "a b"]"#);
    check("call '' ''", "call   []");
    check("call 'npx -y srv /tmp' t", "call npx -y srv /tmp t []");
    check("tools s", "tools s None");
    check("tools s '*_file'", r#"tools s Some("*_file")"#);
    check("schema s t", "schema s t");
    check("find issue", "find issue []");
    check("find -Ei '^a' x y", r#"find -E -i ^a ["x", "y"]"#);
    check("resources s", "resources s");
    check("templates s", "templates s");
    check("read s a:b", "read s a:b []");
    check("read s a:b c:d e:f --save d", r#"read --save d s a:b ["c:d", "e:f"]"#);
    check("prompts s", "prompts s");
    check("prompt s p a=1 b=@f", r#"prompt s p ["a=1", "b=@f"]"#);
    check("complete s p a", "complete s p a None");
    check("complete s 'x:{y}' y v --context z=1", r#"complete --context z s x:{y} y Some("v")"#);
    check("skills s", "skills s");
    check("skill s x", "skill s x None");
    check("skill s x a/b --with-files", r#"skill --with-files s x Some("a/b")"#);
    check("skill s x --install d -o raw", "skill --install d s x None | output: Some(Raw)");
    check("task get s 1", "task get s 1 []");
    check("task update s 1 'a:={}'", r#"task update s 1 ["a:={}"]"#);
    check("info s", "info s");
    check("ping s", "ping s");
    check("rpc s tools/list", "rpc s tools/list None");
    check("raw s tools/list '{}'", r#"rpc s tools/list Some("{}")"#);
    check("rpc s m -", r#"rpc s m Some("-")"#);
    check("watch s", "watch s [] [] None");
    check(
        "watch --tools s --resources a:1 b:2 --count 3 --prompts --resource-list",
        r#"watch --tools --prompts --lists s ["a:1"] ["b:2"] Some(3)"#,
    );
    check("approve", "approve None None");
    check("approve files", r#"approve Some("files") None"#);
}

#[test]
fn any_word_can_be_a_name() {
    check("call help help help", r#"call help help ["help"]"#);
    check("tools help", "tools help None");
    check("ping call", "ping call");
    check("call call call call", r#"call call call ["call"]"#);
    check("tools -- --odd-name", "tools --odd-name None");
    check("tools -- -h", "tools -h None");
    check("ping -- --help", "ping --help");
    check("ping -", "ping -");
}

#[test]
fn options_of_a_command_stand_anywhere() {
    check("call --no-schema s t", "call --no-schema s t []");
    check("call s t a=1 --no-check b=2", r#"call --no-check s t ["a=1", "b=2"]"#);
    check("--no-check call s t", "call --no-check s t []");
    check("schema s t --example", "schema --example s t");
    check("schema --output-schema s t", "schema --output-schema s t");
    check("rpc s m --envelope {}", r#"rpc --envelope s m Some("{}")"#);
    let [one, two] = ["1", "2"].map(|digit| format!("sha256:{}", digit.repeat(64)));
    let approve = |accepted: &str| format!("approve Some(\"x\") Some({accepted:?})");
    check(&format!("approve x --accept={one}"), &approve(&one));
    check(&format!("approve x --accept {one} --accept {two}"), &approve(&two));
}

#[test]
fn options_of_every_command_stand_anywhere() {
    check("--timeout 5 call s t", "call s t [] | timeout: Some(5s)");
    check("call --timeout 5 s t", "call s t [] | timeout: Some(5s)");
    check("call s --timeout 300ms t", "call s t [] | timeout: Some(300ms)");
    check("call s t a=1 --timeout 2m", r#"call s t ["a=1"] | timeout: Some(120s)"#);
    check("call s t --timeout 0", "call s t [] | timeout: Some(no limit)");
    check(
        "ping s -T 10 --start-timeout 1h",
        "ping s | max_time: Some(10s), start_timeout: Some(3600s)",
    );
    check("ping s --shutdown-timeout 0", "ping s | shutdown_timeout: Some(0ns)");
}

#[test]
fn options_are_written_in_many_ways() {
    check("ping s --timeout=5", "ping s | timeout: Some(5s)");
    check("ping s -t5", "ping s | timeout: Some(5s)");
    check("ping s -t=5", "ping s | timeout: Some(5s)");
    check("ping s -t 5", "ping s | timeout: Some(5s)");
    check("ping s -jv", "ping s | output: Some(Json), verbose: 1");
    check("ping s -vvv", "ping s | verbose: 3");
    check("ping s -vv -v --verbose", "ping s | verbose: 4");
    check("ping s -qvt5", "ping s | quiet: true, verbose: 1, timeout: Some(5s)");
    check("-jping s", "error: no such option: -p");
    check("ping s -ojson", "ping s | output: Some(Json)");
    check("ping s --roots=/a --root /b", r#"ping s | root: ["/a", "/b"]"#);
    check("ping s --colour never", "ping s | color: Some(Never)");
    check("ping s --config=a=b", r#"ping s | config: Some("a=b")"#);
}

#[test]
fn the_last_one_counts() {
    check("ping s -t1 --timeout 2 -t=3", "ping s | timeout: Some(3s)");
    check("ping s -o json -o text", "ping s | output: Some(Text)");
    check("call s t -j -o raw", "call s t [] | output: Some(Raw)");
    check("call s t -o raw -j", "call s t [] | output: Some(Json)");
    check("ping s --decline --accept-defaults", "ping s | elicit: Some(Defaults)");
    check("ping s --accept-defaults --elicit fail", "ping s | elicit: Some(Fail)");
    check("ping s --refresh --refresh", "ping s | refresh: true");
}

#[test]
fn repeatable_options_add_up() {
    check("ping s --arg -x --arg=--json --arg ''", r#"ping s | arg: ["-x", "--json", ""]"#);
    check(
        "ping s --answer a=1 --answer b:=2",
        "ping s | answer: [Assignment { key: \"a\", value: Text(\"1\") }, \
         Assignment { key: \"b\", value: Json(\"2\") }]",
    );
    check(
        "ping s --env A=1 --env B=",
        "ping s | env: [Variable { name: \"A\", value: … }, Variable { name: \"B\", value: … }]",
    );
    check(
        "ping s -H 'A: 1' --header=B:2",
        "ping s | header: [Header { name: \"A\", value: … }, Header { name: \"B\", value: … }]",
    );
}

#[test]
fn values_are_understood() {
    check("ping s --max-message 64MiB", "ping s | max_message: Some(67108864)");
    check("ping s --max-depth 64", "ping s | max_depth: Some(64)");
    check("ping s --protocol auto", "ping s | protocol: Some(Auto)");
    check("ping s --http 1.1 --transport sse", "ping s | http: Some(One), transport: Some(Sse)");
    check("ping s --id-format string", "ping s | id_format: Some(String)");
    check("ping s --stderr=inherit", "ping s | stderr: Some(Inherit)");
    check("ping s --stderr log.txt", r#"ping s | stderr: Some(File("log.txt"))"#);
    check("ping s --elicit answers:a.json", r#"ping s | elicit: Some(Answers("a.json"))"#);
    check("ping s --elicit cmd:a", r#"ping s | elicit: Some(Program("a"))"#);
    check("ping s --elicit cancel --interactive", "ping s | elicit: Some(Ask)");
    check("ping s --sample fail", "ping s | sample: Some(Fail)");
    check("ping s --sample cmd:llm", r#"ping s | sample: Some(Program("llm"))"#);
    check("ping s --sampling-command llm", r#"ping s | sampling_command: Some("llm")"#);
    check("ping s --log-level notice", "ping s | log_level: Some(Notice)");
    check("ping s --progress jsonl", "ping s | progress: Some(Json)");
    check("ping s --bearer-file fd:3", "ping s | bearer_file: Some(Descriptor(3))");
    check("ping s --bearer-file t", r#"ping s | bearer_file: Some(Path("t"))"#);
    check("ping s --proxy http://u:p@x:1", "ping s | proxy: Some(…)");
    check("ping s --out -", r#"ping s | out: Some("-")"#);
    check("ping s --grant id-jag", "ping s | grant: Some(IdJag)");
    check("ping s --callback-port 8123", "ping s | callback_port: Some(8123)");
    check(
        "ping s --client-key k --client-key-alg ES256",
        r#"ping s | client_key: Some("k"), client_key_alg: Some(Es256)"#,
    );
    check(
        "ping s --client-key k --client-key-id k1",
        r#"ping s | client_key: Some("k"), client_key_id: Some("k1")"#,
    );
    check("--dpop login s --no-browser", "login --no-browser s | dpop: true");
    check("login s --scope 'a b' --device", r#"login --device s | scope: Some("a b")"#);
    let only = parse(words("ping s --protocol 2025-11-25")).unwrap().globals.protocol;
    let expected = crate::protocol::Revision::named("2025-11-25").map(choices::Protocol::Only);
    assert_eq!(only, expected);
}

#[test]
fn words_after_two_dashes_belong_to_the_tool() {
    check("call s t -- --city Oslo", r#"call s t [] -- ["--city", "Oslo"]"#);
    check("call s t a=1 -- --json -h --help", r#"call s t ["a=1"] -- ["--json", "-h", "--help"]"#);
    check("call s t -- a -- b", r#"call s t [] -- ["a", "--", "b"]"#);
    check("call s t --", "call s t []");
    check("call s t -j -- -j", r#"call s t [] -- ["-j"] | output: Some(Json)"#);
    check("call s -- t", "error: call needs TOOL");
    check("rpc s -- -method", "rpc s -method None");
}

#[test]
fn help_runs_nothing() {
    check("--help", "help: Overview");
    check("-h", "help: Overview");
    check("help", "help: Overview");
    check("help help", "help: Overview");
    check("help call", r#"help: Command("call")"#);
    check("help raw", r#"help: Command("rpc")"#);
    check("help exit-codes", r#"help: Topic("exit-codes")"#);
    check("call --help", r#"help: Command("call")"#);
    check("call -h", r#"help: Command("call")"#);
    check("--help call s t", r#"help: Command("call")"#);
    check("call s t --help", r#"help: Command("call")"#);
    check("call s t a=1 -jh", r#"help: Command("call")"#);
    check("c s t -- x --help", r#"call s t [] -- ["x", "--help"]"#);
    check("call --bogus --help", r#"help: Command("call")"#);
    check("call --timeout --help", r#"help: Command("call")"#);
    check("--timeout 5 call --help", r#"help: Command("call")"#);
    check("call -t -h s t", r#"help: Command("call")"#);
    check("call --timeout abc --help", r#"help: Command("call")"#);
    check("help call --help", r#"help: Command("call")"#);
    check("ping s --arg -h", r#"help: Command("ping")"#);
    check("ping s --arg=-h --arg=--help", r#"ping s | arg: ["-h", "--help"]"#);
    check("cll --help", "error: no help about \"cll\"; did you mean call?");
    check("help cll", "error: no help about \"cll\"; did you mean call?");
    check("help call tools", "error: help does not take so many words: \"tools\"");
}

#[test]
fn the_version_is_told_whatever_the_command() {
    check("--version", "version: None");
    check("-V", "version: None");
    check("--version --json", "version: Some(Json)");
    check("-jV", "version: Some(Json)");
    check("call s t --version", "version: None");
    check("call --version -j", "version: Some(Json)");
    check("-V nonsense", "error: no such command: \"nonsense\"");
    check("--version --help", "help: Overview");
}

#[test]
fn commands_that_make_no_sense_are_refused() {
    check("", "error: no command");
    check("-j", "error: no command");
    check("-- call s t", "error: no command");
    check("cll s t", "error: no such command: \"cll\"; did you mean call?");
    check("tool s", "error: no such command: \"tool\"; did you mean tools?");
    check("https://x.example/mcp", "error: no such command: \"https://x.example/mcp\"");
    check("''", "error: no such command: \"\"");
    check("'\u{1b}[2J'", "error: no such command: \"\\u{1b}[2J\"");
    check("call", "error: call needs SERVER");
    check("call s", "error: call needs TOOL");
    check("schema s", "error: schema needs TOOL");
    check("rpc s", "error: rpc needs METHOD");
    check("ping", "error: ping needs SERVER");
    check("ping a b", "error: ping does not take so many words: \"b\"");
    check("tools a b c", "error: tools does not take so many words: \"c\"");
    check("tools", "error: tools needs SERVER");
    check("tools --all", "tools --all None");
    check("tools --all a b", "error: tools does not take so many words: \"b\"");
    check("cache", "error: cache needs ls|clear");
    check("batch s", "error: batch needs FILE|-");
    check("bench s", "error: bench needs TOOL");
}

#[test]
fn options_that_make_no_sense_are_refused() {
    check("call s t --tiemout 5", "error: no such option: --tiemout; did you mean --timeout?");
    check("call s t --time 5", "error: no such option: --time; did you mean --timeout?");
    check("call s t --city Oslo", "error: no such option: --city (of call)");
    check("--bogus=hunter2 call s t", "error: no such option: --bogus (of call)");
    check("ping s --envelop", "error: no such option: --envelop (of ping)");
    check("ping s -x", "error: no such option: -x (of ping)");
    check("ping s -vx", "error: no such option: -x (of ping)");
    check("ping s --", "ping s");
    check("ping s ---json", "error: no such option: ---json; did you mean --json?");
    check("ping s -é", "error: no such option: -é (of ping)");
    check("ping s --'\u{1b}[2J'", "error: no such option: --\\u{1b}[2J (of ping)");
    check("ping s --envelope", "error: --envelope is an option of rpc, not of ping");
    check("--envelope tools s", "error: --envelope is an option of rpc, not of tools");
    check("ping s --timeout", "error: --timeout needs a value: DUR");
    check("ping s -t", "error: --timeout needs a value: DUR");
    check("call s t --timeout -- x", "error: --timeout needs a value: DUR");
    check("ping s --timeout --json", "error: --timeout needs a value, but --json follows");
    check("ping s --out --cacert=x", "error: --out needs a value, but --cacert follows");
    check("ping s --json=true", "error: --json takes no value");
    check("ping s -j=1", "error: --json takes no value");
}

#[test]
fn ways_to_answer_and_to_show_that_make_no_sense_are_refused() {
    check(
        "ping s --log-level warn",
        "error: --log-level: \"warn\" is none of debug, info, notice, warning, error, critical, \
         alert, emergency; did you mean warning?",
    );
    check("ping s --progress bar", "error: --progress: \"bar\" is none of auto, none, json");
    check("ping s --sample llm", "error: --sample: \"llm\" is none of fail, cmd:PROG");
    check(
        "ping s --sample cmd:",
        "error: --sample: \"cmd:\" is none of fail, cmd:PROG; did you mean cmd:PROG?",
    );
    check("ping s --sampling-command ''", "error: --sampling-command: the command is empty");
    check(
        "ping s --elicit answers:",
        "error: --elicit: \"answers:\" is none of decline, cancel, fail, defaults, ask, answers:FILE, cmd:PROG; \
         did you mean answers:FILE?",
    );
}

#[test]
fn values_that_make_no_sense_are_refused_and_not_repeated_if_they_may_be_secret() {
    let duration = "is no duration; write it like 300ms, 30s, 2m or 1h";
    check("ping s -t abc", &format!("error: --timeout: \"abc\" {duration}"));
    check("ping s -t -j", &format!("error: --timeout: \"-j\" {duration}"));
    check("ping s -t ''", &format!("error: --timeout: \"\" {duration}"));
    check("ping s -t -5", &format!("error: --timeout: \"-5\" {duration}"));
    check("ping s -T 1ns", &format!("error: --max-time: \"1ns\" {duration}"));
    check("ping s --shutdown-timeout x", &format!("error: --shutdown-timeout: \"x\" {duration}"));
    check(
        "ping s -o jsn",
        "error: --output: \"jsn\" is none of text, json, content, structured, raw, events; \
         did you mean json?",
    );
    check(
        "ping s --transport nope",
        "error: --transport: \"nope\" is none of auto, http, sse, stdio",
    );
    check("ping s --http 3", "error: --http: \"3\" is none of auto, 1.1, 2");
    check(
        "ping s --protocol 2025-11-26",
        "error: --protocol: \"2025-11-26\" is none of auto, 2024-11-05, 2025-03-26, 2025-06-18, \
         2025-11-25, 2026-07-28; did you mean 2025-11-25?",
    );
    check(
        "ping s --stderr inhreit",
        "error: --stderr: \"inhreit\" is none of quiet, inherit, tail, a FILE (./NAME); \
         did you mean inherit?",
    );
    check("ping s --out ''", "error: --out: the file name is empty");
    check(
        "ping s --bearer-file fd:x",
        "error: --bearer-file: fd: needs the number of a descriptor open for reading, like fd:3",
    );
    check(
        "ping s --bearer-file fd:1",
        "error: --bearer-file: fd: needs the number of a descriptor open for reading, like fd:3",
    );
    check("ping s --max-depth 0", "error: --max-depth: \"0\" is no whole number above 0");
    check("ping s -H hunter2", "error: --header: a header must be written 'Name: value'");
    check(
        "ping s -H 'Mcp-Session-Id: X'",
        "error: --header: the header \"Mcp-Session-Id\" is set by the protocol and cannot be chosen",
    );
    check("ping s --env hunter2", "error: --env: a variable is written NAME=value");
    check("ping s --answer hunter2", "error: --answer: write key=text or key:=json");
    check("ping s --resolve x", "error: --resolve: write host:port:address, the address in digits");
    check("ping s --proxy ''", "error: --proxy: the value is empty");
    check("ping s --callback-port 0", "error: --callback-port: a port is a number from 1 to 65535");
    check(
        "ping s --grant client",
        "error: --grant: \"client\" is none of authorization-code, client-credentials, jwt-bearer, \
         id-jag; did you mean client-credentials?",
    );
    check("call s t --device", "error: --device is an option of login, not of call");
    assert!(meaning("ping s --meta a:=hunter2").starts_with("error: --meta: what follows a:="));
    assert!(!meaning("ping s --meta a:=hunter2").contains("hunter2"));
}

#[test]
fn options_that_do_not_go_together_are_refused() {
    check(
        "ping s --bearer-file a --bearer-command b",
        "error: --bearer-file and --bearer-command exclude each other",
    );
    check(
        "ping s --bearer-file a -H 'authorization: b'",
        "error: --bearer-file and --header Authorization exclude each other",
    );
    check(
        "ping s --bearer-file a --grant jwt-bearer",
        "error: --bearer-file and --grant exclude each other",
    );
    check(
        "ping s --assertion-file a --assertion-command b",
        "error: --assertion-file and --assertion-command exclude each other",
    );
    check("ping s --client-key-alg ES256", "error: --client-key-alg needs --client-key");
    check("ping s --client-key-id k1", "error: --client-key-id needs --client-key");
    check("tools --all --bearer-file t", "error: --bearer-file and --all exclude each other");
    check(
        "tools --all --client-secret-file s",
        "error: --client-secret-file and --all exclude each other",
    );
    check(
        "servers --check -H Authorization:x",
        "error: --header Authorization and several servers exclude each other",
    );
    check("ping s --key k", "error: --key needs --cert");
    check("ping s --key k --cert c", r#"ping s | cert: Some("c"), key: Some("k")"#);
    check("tools s -o raw", "error: tools has no output form raw, but text and json");
    check("tools s -o raw -o json", "tools s None | output: Some(Json)");
}

#[cfg(unix)]
#[test]
fn a_word_that_is_not_utf_8_is_refused_by_its_number() {
    use std::os::unix::ffi::OsStringExt;
    let odd = || OsString::from_vec(b"a=\xff".to_vec());
    let check = |words: Vec<OsString>, position| {
        let stop = parse(words).unwrap_err();
        let shown = "a=\u{fffd}".to_owned();
        assert_eq!(stop.why, Why::Usage(UsageError::NotUtf8 { position, shown }));
    };
    check(vec!["call".into(), "s".into(), "t".into(), odd()], 4);
    check(vec![odd(), "s".into(), odd()], 1);
    check(vec!["call".into(), "s".into(), "t".into(), "--".into(), odd()], 5);
    let help = parse(vec!["call".into(), odd(), "--help".into()]).unwrap_err();
    assert_eq!(help.why, Why::Help(Page::Command("call")));
}

#[test]
fn hints_say_what_to_write() {
    let check = |line: &str, expected: Option<&str>| match parse(words(line)).unwrap_err().why {
        Why::Usage(mistake) => assert_eq!(mistake.hint().as_deref(), expected, "{line}"),
        why => panic!("{line}: {why:?}"),
    };
    check("call s", Some("mcpmini call SERVER TOOL [ARG...]"));
    check("ping a b", Some("mcpmini ping SERVER"));
    check("help a b", Some("mcpmini help [COMMAND]"));
    check("", Some("mcpmini --help"));
    check("cll", Some("mcpmini --help"));
    check("https://x.example", Some("a command comes before the server: mcpmini tools SERVER"));
    check("help x", Some("mcpmini help"));
    check("--bogus", Some("mcpmini help options"));
    check("ping s --bogus", Some("mcpmini ping --help"));
    check("tools s -o raw", Some("mcpmini tools --help"));
    check(
        "call s t --city Oslo",
        Some("options for the tool come last, after --: mcpmini call SERVER TOOL -- --KEY VALUE"),
    );
    check("ping s -t --json", Some("if that is meant to be the value, write --timeout=--json"));
    check("ping s -t x", None);
}

#[test]
fn a_stop_is_reported_as_the_words_ask() {
    let check = |line: &str, variables: &[(&str, &str)], stream: Stream, begins: &str| {
        let env = |name: &str| {
            let variable = variables.iter().find(|(other, _)| *other == name);
            variable.map(|(_, value)| (*value).to_owned())
        };
        let farewell = parse(words(line)).unwrap_err().farewell(&env, |_| true);
        assert_eq!(farewell.stream, stream, "{line}");
        assert!(farewell.text.starts_with(begins), "{line}: {}", farewell.text);
        let exit = if stream == Stream::Stdout { Exit::Ok } else { Exit::Usage };
        assert_eq!(farewell.exit, exit);
    };
    let json = "{\"error\":{\"class\":\"usage\",\"exit\":2,\"message\":";
    let plain = [("NO_COLOR", "1")];
    check("cll", &plain, Stream::Stderr, "mcpmini: no such command");
    check("cll", &[], Stream::Stderr, "\u{1b}[1;31mmcpmini:\u{1b}[0m no such command");
    check("cll --color never", &[], Stream::Stderr, "mcpmini: no such command");
    check("cll -j", &[], Stream::Stderr, json);
    check("cll --json-errors", &[], Stream::Stderr, json);
    check("--bogus cll -o json", &[], Stream::Stderr, json);
    check("cll", &[("MCPMINI_ERRORS", "json")], Stream::Stderr, json);
    check("cll", &[("MCPMINI_OUTPUT", "json")], Stream::Stderr, json);
    check("cll -o text", &[("MCPMINI_OUTPUT", "json"), plain[0]], Stream::Stderr, "mcpmini: no");
    check("cll", &[("MCPMINI_ERRORS", "yaml"), plain[0]], Stream::Stderr, "mcpmini: no");
    check("cll -- -j", &plain, Stream::Stderr, "mcpmini: no such command");
    check("--version", &[], Stream::Stdout, "mcpmini 0.");
    check("--version --json", &[], Stream::Stdout, "{\"version\":\"0.");
    check("--help", &plain, Stream::Stdout, "mcpmini - ");
}

#[test]
fn settings_take_the_flag_then_the_environment() {
    let check = |line: &str, variables: &[(&str, &str)], expected: &str| {
        let env = |name: &str| {
            let variable = variables.iter().find(|(other, _)| *other == name);
            variable.map(|(_, value)| (*value).to_owned())
        };
        let usual = parse(words("ping s")).unwrap().settings(&|_| None).unwrap();
        let settings = match parse(words(line)).unwrap().settings(&env) {
            Ok(settings) => differences(&settings, &usual).join(", "),
            Err(mistake) => format!("error: {mistake}"),
        };
        assert_eq!(settings, expected, "{line} {variables:?}");
    };
    check("ping s", &[], "");
    check("ping s -t 5", &[("MCPMINI_TIMEOUT", "7")], "timeout: Some(5s)");
    check("ping s", &[("MCPMINI_TIMEOUT", "7")], "timeout: Some(7s)");
    check("ping s", &[("MCPMINI_TIMEOUT", "")], "");
    check("ping s -t 5", &[("MCPMINI_TIMEOUT", "abc")], "timeout: Some(5s)");
    check("ping s", &[("MCPMINI_MAX_TIME", "1m")], "max_time: Some(60s)");
    check("ping s", &[("MCPMINI_START_TIMEOUT", "0")], "start_timeout: Some(no limit)");
    check("ping s", &[("MCPMINI_PROTOCOL", "auto")], "protocol: Some(Auto)");
    check("ping s", &[("MCPMINI_CONFIG", "c.json")], r#"config: Some("c.json")"#);
    check("ping s --config d", &[("MCPMINI_CONFIG", "c")], r#"config: Some("d")"#);
    check("ping s", &[("MCPMINI_CACHE", "off")], "cache: Off");
    check("ping s --refresh", &[("MCPMINI_CACHE", "off")], "cache: Refresh");
    check("ping s --refresh --no-cache", &[], "cache: Off");
    check("ping s", &[("MCPMINI_ERRORS", "json")], "json_errors: true");
    check("ping s", &[("MCPMINI_OUTPUT", "json")], "output: Json, json_errors: true");
    check("ping s -j", &[("MCPMINI_ERRORS", "text")], "output: Json, json_errors: true");
    check("ping s", &[("MCPMINI_OUTPUT", "raw")], "");
    check("call s t", &[("MCPMINI_OUTPUT", "raw")], "output: Raw");
    check("ping s", &[("NO_COLOR", "1")], "color: Never");
    check("ping s", &[("NO_COLOR", "")], "");
    check("ping s", &[("CLICOLOR_FORCE", "1")], "color: Always");
    check("ping s", &[("CLICOLOR_FORCE", "0")], "");
    check("ping s", &[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")], "color: Never");
    check("ping s --color always", &[("NO_COLOR", "1")], "color: Always");
    check(
        "ping s",
        &[("MCPMINI_TIMEOUT", "abc")],
        "error: MCPMINI_TIMEOUT: \"abc\" is no duration; write it like 300ms, 30s, 2m or 1h",
    );
    check(
        "ping s",
        &[("MCPMINI_ERRORS", "x")],
        "error: MCPMINI_ERRORS: \"x\" is none of text, json",
    );
    check("ping s", &[("MCPMINI_CACHE", "x")], "error: MCPMINI_CACHE: \"x\" is none of on, off");
    let elicitation =
        |line: &str| parse(words(line)).unwrap().settings(&|_| None).unwrap().elicitation;
    let asked = elicitation("ping s --elicit answers:a --answer k=v");
    assert_eq!((asked.file, asked.otherwise), (Some("a".into()), None));
    assert_eq!(asked.answers.len(), 1);
    let asked = elicitation("ping s --answers a --elicit fail");
    assert_eq!((asked.file, asked.otherwise), (Some("a".into()), Some(choices::Elicit::Fail)));
    assert!(
        ColorRule::OnTerminals
            == parse(words("ping s")).unwrap().settings(&|_| None).unwrap().color
    );
}

#[test]
fn every_documented_variable_is_read_and_no_other() {
    let asked = std::cell::RefCell::new(std::collections::BTreeSet::new());
    let env = |name: &str| {
        asked.borrow_mut().insert(name.to_owned());
        None
    };
    parse(words("ping s")).unwrap().settings(&env).unwrap();
    let documented = settings::VARIABLES.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(*asked.borrow(), documented);
}

#[test]
fn the_table_holds_what_it_promises() {
    let table = Table::collect();
    for flag in table.flags() {
        assert!(flag.long.starts_with("--") && flag.long.len() > 3, "{flag:?}");
        assert!(flag.description.len() > 10 && !flag.description.ends_with('.'), "{flag:?}");
        assert!(!flag.description.contains(['{', '}']), "argh doubles braces: {flag:?}");
        let same = table.flags().iter().filter(|other| other.long == flag.long);
        assert_eq!(same.count(), 1, "{flag:?}");
        if let Some(letter) = flag.short {
            assert!(letter.is_ascii_alphabetic(), "a digit would make numbers flags: {flag:?}");
            let same = table.flags().iter().filter(|other| other.short == Some(letter));
            assert_eq!(same.count(), 1, "{flag:?}");
        }
    }
    for command in &table.commands {
        assert!(command.name.len() > 2 && command.description.len() > 10);
        assert!(!command.examples.is_empty(), "{}", command.name);
        assert!(command.positionals.iter().all(|word| !word.description.is_empty()));
        assert_eq!(command.positionals.iter().filter(|word| word.hidden).count(), 0);
    }
    for (name, usual) in SPELLINGS {
        assert!(table.flags().iter().all(|flag| flag.long != *name), "{name}");
        assert!(table.flags().iter().any(|flag| flag.long == *usual), "{usual}");
    }
    for (short, long, _) in SHORTHANDS {
        assert!(table.long(short).is_some_and(|flag| flag.value.is_none()), "{short}");
        assert!(
            table.long(long).is_some_and(|flag| flag.value.is_some() && !flag.repeats),
            "{long}"
        );
    }
    for name in ALIASES.iter().map(|(_, usual)| usual).chain(WITH_TAIL) {
        assert!(table.commands.iter().any(|command| command.name == *name), "{name}");
    }
}

/// An option that several commands declare must be the same in each: the table keeps the first.
#[test]
fn an_option_means_the_same_everywhere() {
    let table = Table::collect();
    let globals = Globals::get_args_info();
    let commands: Vec<_> = Command::get_args_info().commands;
    let of_commands = commands.iter().flat_map(|command| command.command.flags);
    for info in globals.flags.iter().chain(of_commands).filter(|info| info.long != HELP) {
        let flag = table.long(info.long).unwrap();
        let takes_value = info.kind != argh::FlagInfoKind::Switch;
        assert_eq!(flag.short, info.short, "{info:?}");
        assert_eq!(flag.value.is_some(), takes_value, "{info:?}");
        assert_eq!(flag.description, info.description, "{info:?}");
    }
    for info in commands.iter().flat_map(|command| command.command.flags) {
        let is_global = globals.flags.iter().any(|global| global.long == info.long);
        assert!(!is_global || info.long == HELP, "{} is an option of every command", info.long);
    }
}

#[test]
fn options_name_the_words_they_take() {
    let check = |long: &str, words: Vec<&str>| {
        let description = Table::collect().long(long).unwrap().description;
        for word in words {
            assert!(description.contains(word), "{long} should name {word}");
        }
    };
    check("--output", Format::ALL.iter().map(|value| value.word()).collect());
    check("--http", choices::Http::ALL.iter().map(|value| value.word()).collect());
    check("--transport", choices::Transport::ALL.iter().map(|value| value.word()).collect());
    check("--id-format", choices::IdFormat::ALL.iter().map(|value| value.word()).collect());
    check("--color", choices::Color::ALL.iter().map(|value| value.word()).collect());
    let limits = crate::protocol::jsonrpc::Limits::default();
    check("--max-message", vec![&format!("{}MiB", limits.message >> 20)]);
    check("--max-depth", vec![&limits.depth.to_string()]);
    check("--timeout", vec![&format!("default {}", settings::TIMEOUT)]);
    check("--max-time", vec![&settings::MAX_TIME.to_string()]);
    check("--start-timeout", vec![&settings::START_TIMEOUT.to_string()]);
    let shutdown = crate::cli::duration::show(settings::SHUTDOWN_TIMEOUT);
    check("--shutdown-timeout", vec![&shutdown]);
}

/// The reason why argh never sees a help flag: in front of a command it hands the word `help` to
/// the command, which takes it for a word of its own and runs.
#[test]
fn argh_would_run_the_command_that_help_is_wanted_for() {
    #[derive(Debug, PartialEq, FromArgs)]
    #[argh(help_triggers("-h", "--help"))]
    /// program
    struct Program {
        #[argh(subcommand)]
        command: Ping,
    }
    #[derive(Debug, PartialEq, FromArgs)]
    #[argh(subcommand, name = "ping", help_triggers("-h", "--help"))]
    /// command
    struct Ping {
        #[argh(positional)]
        servers: Vec<String>,
    }
    let command = Ping { servers: vec!["help".into(), "s".into()] };
    let program = Program::from_args(&["program"], &["--help", "ping", "s"]);
    assert_eq!(program, Ok(Program { command }));
    check("--help ping s", r#"help: Command("ping")"#);
}

/// xorshift64*, so that a failure can be repeated.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let number = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33;
        usize::try_from(number).unwrap() % limit
    }
}

#[test]
fn no_words_make_it_panic() {
    let table = Table::collect();
    let mut pieces: Vec<String> =
        "- -- --- = --= -= -5 '' help -h --help a=1 a:={} é -é --é= \u{1b} \
        answers: fd: fd:3 0 30s 99999999999999999999h json auto x:1:::1 A: sha256: @- --roots raw c"
            .split(' ')
            .map(|piece| piece.trim_matches('\'').to_owned())
            .collect();
    pieces.extend(table.flags().iter().map(|flag| flag.long.to_owned()));
    pieces.extend(table.flags().iter().map(|flag| format!("{}=x", flag.long)));
    pieces.extend(table.flags().iter().filter_map(|flag| Some(format!("-{}", flag.short?))));
    pieces.extend(table.commands.iter().map(|command| command.name.to_owned()));
    let mut random = Random(0x6d63_706d_696e);
    for _ in 0..5_000 {
        let mut line: Vec<String> = Vec::new();
        for _ in 0..random.below(8) {
            let mut word = pieces[random.below(pieces.len())].clone();
            if random.below(4) == 0 {
                word.push_str(&pieces[random.below(pieces.len())]);
            }
            line.push(word);
        }
        let outcome = parse(line.iter().map(OsString::from).collect());
        let (before, after) = match line.iter().position(|word| word == "--") {
            Some(cut) => (&line[..cut], &line[cut + 1..]),
            None => (&line[..], &[][..]),
        };
        match outcome {
            Ok(invocation) => {
                assert!(!before.iter().any(|word| word == "-h" || word == HELP), "{line:?}");
                let is_call = matches!(invocation.command, Command::Call(_));
                assert!(!is_call || invocation.tail == after, "{line:?}");
                assert!(invocation.settings(&|_| None).is_ok(), "{line:?}");
            }
            Err(stop) => {
                let farewell = stop.farewell(&|_| None, |_| false);
                assert!(farewell.text.ends_with('\n'), "{line:?}");
                assert!(!farewell.text.contains('\u{1b}'), "{line:?}");
            }
        }
    }
}
