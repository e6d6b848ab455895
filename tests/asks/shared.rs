//! The same through a session that many calls share.

use super::support::{HttpDemo, Scratch, demo, run};

/// Runs a script in a session with the demo server, in each era over stdio and HTTP.
#[track_caller]
fn check(flags: &[&str], script: &str, out: &str, err: &str) {
    for era in ["legacy", "modern"] {
        let http = HttpDemo::start(&[&["--era", era][..], flags].concat());
        for server in [demo(&format!("--era {era} {}", flags.join(" "))), http.url.clone()] {
            let scratch = Scratch::new();
            let mut command = scratch.mcpmini(["session", &server, "--", "sh", "-c", script]);
            command.env("mcpmini", env!("CARGO_BIN_EXE_mcpmini")).env("server", &server);
            let outcome = run(&mut command);
            let what = (outcome.code, outcome.out.as_str(), outcome.err.replace(&server, "S"));
            assert_eq!(what, (0, out, err.to_owned()), "{server}");
        }
    }
}

#[test]
fn questions_go_to_the_caller() {
    let script = r#"
        "$mcpmini" call "$server" form --answer name=Ada --answer age=36
        "$mcpmini" call "$server" sample --sample "cmd:echo Oslo" | grep -o '"text":"[^"]*"'
        "$mcpmini" call "$server" connect --elicit cancel
        "$mcpmini" call "$server" roots --root / | grep -o 'file:[^"]*'
    "#;
    let out = "{\"form\":{\"action\":\"accept\",\"content\":{\"name\":\"Ada\",\"age\":36}}}\n\
               \"text\":\"Oslo\"\n{\"connect\":{\"action\":\"cancel\"}}\nfile:///\n";
    check(&[], script, out, "");
}

#[test]
fn progress_and_log_messages_come_through() {
    let script = r#"
        "$mcpmini" call "$server" slow steps=1 pause_ms=1 --progress json
        "$mcpmini" call "$server" levels --log-level emergency
    "#;
    let err = "{\"progress\":1,\"total\":1,\"message\":\"step 1\"}\n\
               mcpmini: S: emergency demo: this is emergency\n";
    check(&[], script, "1 steps done\n1 messages\n", err);
}

#[test]
fn changes_come_to_who_watches() {
    let script = r#"
        "$mcpmini" watch "$server" --count 2 --tools | grep -o 'tools/list_changed' &
        "$mcpmini" watch "$server" --count 1 a:1 | grep -o 'a:1' >one
        wait
        cat one
    "#;
    let out = "tools/list_changed\ntools/list_changed\na:1\n";
    check(&["--tick", "50"], script, out, "");
}
