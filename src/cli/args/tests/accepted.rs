//! Command lines that mean something.

use super::*;

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
    check("import cursor --copy a", &meaning("config import cursor --copy a"));
    check("call s t --check-arguments {}", r#"call --check-arguments s t ["{}"]"#);
    check("schema s t --example", "schema --example s t");
    check("schema --output-schema s t", "schema --output-schema s t");
    check("schema s t --output", "schema --output-schema s t");
    check("schema s t --output --example", "schema --output-schema --example s t");
    check("schema s t --output json", "schema s t | output: Some(Json)");
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
    check(
        "ping s --bearer-file t --allow-private",
        r#"ping s | bearer_file: Some(Path("t")), allow_private: true"#,
    );
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
    for revision in crate::protocol::Revision::all() {
        let line = format!("ping s --protocol {}", revision.date);
        let protocol = parse(words(&line)).unwrap().globals.protocol;
        assert_eq!(protocol, Some(choices::Protocol::Only(revision)));
    }
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
