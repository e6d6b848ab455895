//! Policies about commands, and ways around them.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use serde_json::json;

use super::support::{Scratch, demo_path, run};
use super::world::CONFIG;

const POLICY: &str = ".config/mcpmini/policy.toml";

/// A home with a policy, and with a few programs in `bin`.
pub(crate) fn home(policy: &str) -> Scratch {
    let scratch = Scratch::new();
    for directory in [".config/mcpmini", "bin", "other", "many", "evil", "p/.git"] {
        fs::create_dir_all(scratch.path(directory)).unwrap();
    }
    for (number, name) in
        ["bin/evil", "bin/fine", "bin/npx", "bin/uvx", "many/busybox"].into_iter().enumerate()
    {
        scratch.write(name, format!("#!/bin/sh\n# {number}\n"));
        fs::set_permissions(scratch.path(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    symlink(scratch.path("bin/evil"), scratch.path("other/harmless")).unwrap();
    symlink(scratch.path("bin/npx"), scratch.path("other/harmless-npx")).unwrap();
    fs::hard_link(scratch.path("bin/evil"), scratch.path("other/hard")).unwrap();
    for name in ["evil2", "fine2"] {
        symlink(scratch.path("many/busybox"), scratch.path("many").join(name)).unwrap();
    }
    scratch.write(POLICY, policy);
    scratch
}

/// What `policy check` says of a command line; `DIR` stands for the home.
fn is_refused(scratch: &Scratch, line: &str) -> bool {
    let home = scratch.path("").display().to_string();
    let home = home.trim_end_matches('/');
    let word = format!("exec:{}", line.replace("DIR", home));
    let path = format!("{home}/bin:{home}/many:/usr/bin:/bin");
    let outcome = run(scratch.mcpmini(["policy", "check", &word]).env("PATH", path));
    match outcome.code {
        0 => false,
        8 => true,
        code => panic!("{line}: {code} {}", outcome.err),
    }
}

#[track_caller]
pub(crate) fn check(rule: &str, refused: &[&str], admitted: &[&str]) {
    let scratch = home("");
    let home = scratch.path("").display().to_string();
    let rule = rule.replace("DIR", home.trim_end_matches('/'));
    scratch.write(POLICY, format!("[[deny]]\ncommand = {rule}\n"));
    for line in refused {
        assert!(is_refused(&scratch, line), "{rule} lets {line} pass");
    }
    for line in admitted {
        assert!(!is_refused(&scratch, line), "{rule} refuses {line}");
    }
}

#[test]
fn a_denied_program_is_denied_under_every_path_to_it() {
    let refused = [
        "evil",
        "evil --more",
        "DIR/bin/evil",
        "DIR//bin/../bin/./evil x",
        "bin/evil",
        "./bin/evil",
        "DIR/other/harmless",
        "DIR/other/hard",
        "env evil",
        "env -i A=b DIR/other/harmless --more",
        "/usr/bin/env -S 'A=b evil --more'",
        "env '-iSDIR/other/harmless --more'",
        "env -S '\"evil\"'",
        "env -S 'nice\\_evil\\_--more'",
        "env -S 'nice\\tevil'",
        "env -C DIR/bin ./evil",
        "env PATH=DIR/other hard",
        "tini -- evil",
        "env -u A nice -n 5 timeout -k 3 10 evil",
        "nohup setsid evil",
        "sh -c 'exec evil'",
        "sh -ec 'cd /tmp; A=1 \"ev\"il --more'",
        "bash -lc 'DIR/other/harmless | cat'",
        "env sh -c 'exec evil'",
        "sh DIR/bin/evil",
        "sh -x ./bin/evil --more",
        "bash evil",
        "nice python3.12 -c 'evil'",
        "python3 -c 'import os; os.execvp(\"evil\", [\"evil\"])'",
        "busybox evil",
    ];
    let admitted = [
        "fine",
        "fine evil-2 --evil not-evil",
        "DIR/bin/fine DIR/evil DIR/bin/fine",
        "fine https://evil.example/not-evil x@evil.example",
        "env fine",
        "sh -c 'exec fine'",
        "evil2",
    ];
    check(r#"["evil", "*"]"#, &refused, &admitted);
    let scratch = home(&format!(
        "[[deny]]\ncommand = [\"{}\", \"*\"]\n",
        Scratch::new().path("bin/evil").display()
    ));
    assert!(!is_refused(&scratch, "evil"), "another path");
}

/// Which programs start others nobody can list. So a denied program is denied wherever it stands.
#[test]
fn a_denied_program_is_denied_whoever_starts_it() {
    let refused = [
        "find . -maxdepth 0 -exec evil --more ;",
        "find . -execdir DIR/other/harmless {} +",
        "awk 'BEGIN { system(\"evil --more\") }'",
        "make --eval 'x:;@evil'",
        "make --eval=x:;+evil",
        "git -c alias.x=!evil x",
        "ssh-agent evil",
        "choom -n 0 -- evil",
        "capsh --gid=0 -- -c 'exec evil'",
        "start-stop-daemon --start --exec DIR/bin/../other/harmless",
        "start-stop-daemon -Sx//DIR/bin/evil",
        "pyenv exec evil",
        "unknown-starter --program=DIR//bin/evil",
        "unknown-starter DIR/other/hard",
        "unknown-starter bin/evil",
        "unknown-starter other/../other/harmless",
        "unknown-starter -C DIR/other harmless",
        "sh -c 'cd DIR/other && ./harmless'",
        "sh -c 'cd other && ./harmless'",
        "find DIR/other -name harmless -exec {} ;",
        "env --chdir=DIR/other ./harmless",
        "env PATH=/nowhere:DIR/other harmless",
        "sh -c '~/bin/evil'",
        "xterm -e 'evil --more'",
    ];
    let admitted = ["find . -exec fine ;", "unknown-starter DIR/other DIR/bin", "git -c x=!fine x"];
    check(r#"["evil", "*"]"#, &refused, &admitted);
    check(r#"["DIR/bin/evil", "*"]"#, &refused, &admitted);
    check(r#"["DIR/bin/../other/harmless", "*"]"#, &refused[..2], &admitted);
    // What a rule says beside the program has to be there, too; where something starts it, or has
    // options of its own, not at a certain place.
    check(
        r#"["fine", "run", "evil", "*"]"#,
        &["fine run evil", "fine --fast run -i evil x", "unknown-starter fine run evil"],
        &["fine run", "fine evil", "unknown-starter run evil", "fine runs evil"],
    );
    check(
        r#"["evil", "x"]"#,
        &["evil x", "DIR/bin/evil x", "unknown-starter evil x"],
        &["evil x y", "evil", "unknown-starter evil"],
    );
    // A text that is longer than anybody reads hides nothing.
    let padding: Vec<String> = (0..5000).map(|number| format!("a{number}")).collect();
    let long = format!("sh -c 'echo {}; evil'", padding.join(" "));
    check(r#"["evil", "*"]"#, &[&long], &[]);
}

/// A variable that is set for a command is as good as a word of it.
#[test]
fn a_denied_program_is_denied_in_a_variable() {
    let scratch = home("[[deny]]\ncommand = [\"evil\", \"*\"]\n");
    let check = |variable: &str| {
        let words = ["policy", "check", "sh -c '$X'", "--env", variable];
        run(&mut scratch.mcpmini(words)).code
    };
    assert_eq!(check("X=evil --more"), 8);
    assert_eq!(check("X=fine"), 0);
}

#[test]
fn a_path_in_a_rule_is_a_file() {
    let scratch = home("");
    let evil = scratch.path("bin/evil").display().to_string();
    scratch.write(POLICY, format!("[[deny]]\ncommand = [\"{evil}\", \"*\"]\n"));
    for line in ["evil", "DIR/bin/evil x", "DIR/other/harmless", "env evil", "sh -c 'evil x'"] {
        assert!(is_refused(&scratch, line), "{line}");
    }
    assert!(!is_refused(&scratch, "fine"));
}

#[test]
fn of_a_file_that_is_many_programs_one_is_denied() {
    check(
        r#"["evil2", "*"]"#,
        &["evil2", "DIR/many/evil2", "busybox evil2"],
        &["fine2", "busybox fine2"],
    );
    check(r#"["busybox", "*"]"#, &["evil2", "fine2", "busybox x"], &["fine"]);
}

#[test]
fn a_denied_package_is_denied_in_every_spelling() {
    let spellings = [
        "npx -pevil run",
        "npx -yp evil run",
        "npm exec --package=evil -- run",
        "npm x evil@2",
        "pnpm dlx evil",
        "pnpm --package=evil dlx run",
        "yarn dlx -p evil run",
        "bunx -p evil run",
        "bun x evil",
        "deno run -A npm:evil@1/bin",
    ];
    check(r#"["npx", "-y", "evil", "*"]"#, &spellings, &["npx -pfine run", "deno run npm:fine"]);
    let spellings = [
        "uvx --from=evil==2 run",
        "uvx evil@latest",
        "uv tool run evil[cli]",
        "uvx -wevil fine",
        "pipx run --spec=evil run",
        "uvx https://files.pythonhosted.org/packages/1/evil-1.0-py3-none-any.whl",
    ];
    check(r#"["uvx", "evil", "*"]"#, &spellings, &["uvx --from=fine evil-2"]);
}

/// What is at a place may be that package, or any.
#[test]
fn what_does_not_say_which_package_it_is_may_be_a_denied_one() {
    let places = [
        "npx github:user/repository",
        "env npx -y https://host.example/server.tgz",
        "sh -c 'exec npx user/repository'",
        "DIR/other/harmless-npx ./server",
        "bunx fine@git+https://host.example/server",
        "deno run https://host.example/mod.ts",
    ];
    let others = ["npx fine https://host.example/mcp ./data", "uvx --from git+https://h/x x"];
    check(r#"["npx", "-y", "evil"]"#, &places, &others);
    check(
        r#"["uvx", "evil"]"#,
        &["uvx --from git+https://h.example/x x", "uv run --with ./x server.py"],
        &["uv run server.py", "npx ./server", "uvx fine /data"],
    );
    check(r#"["node", "evil.js"]"#, &[], &places);
    let scratch = home("[[deny]]\ncommand = [\"npx\", \"-y\", \"evil\"]\n");
    let told = run(&mut scratch.mcpmini(["policy", "check", "exec:npx github:user/server"]));
    let why = "it runs what is at github:user/server, which may be any package";
    assert!(told.code == 8 && told.out.contains(why), "{told:?}");
}

#[test]
fn a_denied_package_is_denied_whoever_runs_it() {
    let refused = [
        "npx -y evil-server",
        "npx evil-server@1.2.3 --more",
        "npx --yes --package=evil-server@latest run",
        "npx -p evil-server run",
        "DIR/bin/npx -y evil-server",
        "npm exec -- evil-server",
        "pnpm dlx evil-server",
        "bunx evil-server",
        "deno run -A npm:evil-server@1",
        "deno run -A npm:/evil-server@1",
        "npx https://registry.npmjs.org/evil-server/-/evil-server-1.3.0.tgz",
        "node /usr/lib/npm/bin/npm-cli.js exec evil-server",
        "sh -c 'npm i evil-server && npx lp'",
        "env npx evil-server",
        "sh -c 'npx --yes evil-server@2'",
        "unknown-starter npx evil-server",
        "DIR/other/harmless-npx -y evil-server",
        // What stands around the words of scripts hides none.
        "python3 -c 'import subprocess; subprocess.run([\"npx\", \"evil-server\"])'",
        "node -e 'require(\"child_process\").spawnSync(\"npx\",[\"evil-server\"],{stdio:\"inherit\"})'",
        "perl -e 'exec \"npx\",\"evil-server\"'",
        "env -Snpx evil-server",
        "env '-S npx evil-server'",
        "env -S 'npx\\_evil-server'",
        "socat - 'EXEC:npx evil-server'",
        "socat - 'EXEC:DIR/other/harmless-npx evil-server'",
    ];
    let admitted =
        ["npx -y fine-server", "npx -y evil-server-2", "uvx evil-server", "npx @x/evil-server"];
    check(r#"["npx", "-y", "evil-server"]"#, &refused, &admitted);
    check(
        r#"["uvx", "evil_server"]"#,
        &[
            "uvx evil-server",
            "uvx --from Evil.Server==1 run",
            "uv tool run evil_server[x]",
            "pipx run evil-server",
        ],
        &["npx evil_server", "uvx fine"],
    );
    check(r#"["uvx", "evil-pkg", "*"]"#, &["uv run --with=other,evil-pkg x"], &["uv run other"]);
    let refused = [
        "docker run -i evil/img:1",
        "docker run docker.io/evil/img",
        "podman run evil/img@sha256:00",
        "sh -c 'nerdctl pull evil/img && nerdctl start x'",
    ];
    let admitted = ["docker run fine/img", "docker run other.example/evil/img", "fine evil/img"];
    check(r#"["docker", "run", "evil/img", "*"]"#, &refused, &admitted);
    check(r#"["docker", "run", "x", "*"]"#, &["docker run docker.io/library/x"], &["docker run y"]);
}

/// What a rule allows is words. What decides which code they run has to be the user's own.
#[test]
fn variables_that_choose_code_do_not_go_with_an_allowed_command() {
    let scratch = home("");
    let demo = demo_path();
    let command = json!([demo, "*"]);
    scratch.write(
        POLICY,
        format!("mode = \"strict\"\n[[allow]]\nkind = \"command\"\ncommand = {command}\n"),
    );
    let define = |file: &str, env: serde_json::Value| {
        let server = json!({ "command": demo, "env": env });
        scratch.write(file, json!({ "mcpServers": { "s": server } }).to_string());
    };
    let call = |word: &str, more: &[&str]| {
        let words = [&["call", word, "echo", "text=hi"][..], more].concat();
        let mut command = scratch.mcpmini(words);
        run(command.current_dir(scratch.path("p")))
    };
    let name = format!("exec:{demo}");
    for variable in [
        "LD_PRELOAD=/x.so",
        "NODE_OPTIONS=-r /x.js",
        "PATH=/x",
        "GIT_SSH_COMMAND=x",
        "BASH_ENV=x",
        "MAKEFILES=/x.mk",
        "GNUMAKEFLAGS=--eval=x",
        "XDG_CACHE_HOME=/x",
    ] {
        let refused = call(&name, &["--env", variable]);
        assert_eq!((refused.code, &*refused.out), (8, ""), "{variable}: {}", refused.err);
        let named = variable.split('=').next().unwrap();
        let told = format!("but {named} is set for it and decides what that runs");
        assert!(refused.err.contains(&told), "{}", refused.err);
    }
    assert_eq!(call(&name, &["--env", "TOKEN=x"]).code, 0);
    // The user's own file may say so, a project's may not.
    define(".config/mcpmini/config.json", json!({ "GIT_PAGER": "cat" }));
    let own = call("s", &[]);
    assert_eq!((own.code, &*own.out), (0, "hi\n"), "{}", own.err);
    define("p/.mcp.json", json!({ "GIT_PAGER": "cat" }));
    let told = run(scratch.mcpmini(["approve", "s"]).current_dir(scratch.path("p"))).err;
    let digest = super::digest_in(&told);
    let approve = ["approve", "s", "--accept", &digest];
    assert_eq!(run(scratch.mcpmini(approve).current_dir(scratch.path("p"))).code, 0);
    assert_eq!(call("s", &[]).code, 8);
    assert_eq!(call("user:s", &[]).code, 0);
    // Without such a rule they are the user's business.
    scratch.write(POLICY, "mode = \"tofu\"\n");
    assert_eq!(call(&name, &["--env", "GIT_PAGER=cat"]).code, 0);
}

#[test]
fn an_allowed_command_is_the_same_everywhere() {
    let scratch = home("[[allow]]\nkind = \"command\"\ncommand = [\"./srv\"]\n");
    let outcome = run(&mut scratch.mcpmini(["policy", "check", "exec:./srv"]));
    assert_eq!(outcome.code, 9);
    assert!(
        outcome.err.contains("policy.toml:1: allow: command names its program by a relative"),
        "{}",
        outcome.err
    );
}

/// A file says where a server was added from. That counts where the file is believed.
#[test]
fn what_was_added_from_a_registry_can_be_allowed() {
    let check = |rule: &str, entry: serde_json::Value, word: &str, more: &[&str]| {
        let scratch = home(&format!("mode = \"strict\"\n[[allow]]\nkind = \"registry\"\n{rule}\n"));
        let mut server = json!({ "command": "bin/fine" });
        server.as_object_mut().unwrap().extend(entry.as_object().unwrap().clone());
        let file = json!({ "mcpServers": { "s": server } }).to_string();
        for name in [".config/mcpmini/config.json", "other.json", "p/.mcp.json"] {
            scratch.write(name, &file);
        }
        let words = [&["policy", "check", word][..], more].concat();
        let mut command = scratch.mcpmini(words);
        let outcome = run(command.current_dir(scratch.path("p")));
        assert!([0, 8].contains(&outcome.code), "{}", outcome.err);
        outcome.code == 0
    };
    let entry = |name: &str| json!({ "registry": name });
    let acme = "namespaces = [\"com.acme/*\"]";
    assert!(check(acme, entry("com.acme/weather@1.2.0"), "user:s", &[]));
    assert!(check(acme, entry("com.acme/weather"), "user:s", &[]));
    assert!(!check(acme, entry("com.acme.evil/weather"), "user:s", &[]));
    assert!(!check(acme, entry("com.acme/a/b"), "user:s", &[]));
    assert!(!check(acme, json!({}), "user:s", &[]));
    assert!(!check(acme, entry("com.acme/weather"), "project:s", &[]), "anybody can write that");
    assert!(!check(acme, entry("com.acme/weather"), "s", &["--config", "../other.json"]));
    assert!(!check(acme, entry("com.acme/weather"), "user:s", &["--arg", "x"]));
    assert!(!check(acme, entry("com.acme/weather"), "user:s", &["--env", "LD_PRELOAD=x"]));
    assert!(check(acme, entry("com.acme/weather"), "user:s", &["--env", "TOKEN=x"]));
    let one = "namespaces = [\"com.acme/weather\"]";
    assert!(check(one, entry("com.acme/weather@2"), "user:s", &[]));
    assert!(!check(one, entry("com.acme/weather2"), "user:s", &[]));
    let ours = "base = \"https://r.example/\"\nnamespaces = [\"com.acme/*\"]";
    let there = json!({ "registry": "com.acme/x@1", "registryUrl": "https://r.example" });
    assert!(check(ours, there.clone(), "user:s", &[]));
    assert!(!check(ours, entry("com.acme/x@1"), "user:s", &[]));
    assert!(!check(acme, there, "user:s", &[]));
}

/// What a registry calls a server can be denied, whatever the configuration calls it.
#[test]
fn what_was_added_from_a_registry_can_be_denied() {
    let check = |name: &str, entry: &str| {
        let scratch = home(&format!("[[deny]]\nname = \"{name}\"\n"));
        let server = json!({ "command": "bin/fine", "registry": entry });
        scratch.write("p/.mcp.json", json!({ "mcpServers": { "s": server } }).to_string());
        let mut command = scratch.mcpmini(["policy", "check", "s"]);
        run(command.current_dir(scratch.path("p"))).code
    };
    assert_eq!(check("com.evil/weather", "com.evil/weather@1.2.0"), 8);
    assert_eq!(check("com.evil/weather@1.2.0", "com.evil/weather@1.2.0"), 8);
    assert_eq!(check("com.evil/weather@1.2.0", "com.evil/weather@v1.2.0"), 8);
    assert_eq!(check("com.evil/weather@1.2.0", "com.evil/weather"), 8);
    assert_eq!(check("com.evil/weather@1.2.1", "com.evil/weather@1.2.0"), 0);
    assert_eq!(check("com.evil/weather", "com.good/weather@1.2.0"), 0);
}

/// Verifies the signed card of [`copy_signed_card`], and keeps who has signed it.
const REMEMBER_CARD: [&str; 10] = [
    "card",
    "verify",
    "card.json",
    "--identity",
    "https://github.com/acme/weather/.github/workflows/release.yml@refs/tags/v1.2.0",
    "--issuer",
    "https://token.actions.githubusercontent.com",
    "--remember",
    "--trusted-root",
    "root.json",
];

fn copy_signed_card(scratch: &Scratch) {
    let vectors = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/own");
    for name in ["card.json", "card.json.sigstore.json", "root.json"] {
        fs::copy(format!("{vectors}/{name}"), scratch.path(name)).unwrap();
    }
}

/// A policy verifies by its own root. Who keeps a card that does not count is told so at once.
#[test]
fn a_card_that_no_policy_will_count_is_kept_with_a_word() {
    let scratch = home("");
    copy_signed_card(&scratch);
    let remember = |policy: &str| {
        scratch.write(POLICY, policy);
        let outcome = run(&mut scratch.mcpmini(REMEMBER_CARD));
        assert_eq!(outcome.code, 0, "{}", outcome.err);
        assert!(outcome.out.contains("remembered for  https://example.com/mcp"));
        let check = ["policy", "check", "https://example.com/mcp"];
        let counts = run(&mut scratch.mcpmini(check)).code == 0;
        (counts, outcome.err)
    };
    let (counts, told) = remember("require_signature = true\n");
    assert!(!counts);
    assert!(told.contains("policy.toml does not count it: it names no trusted_root"), "{told}");
    let root = scratch.path("root.json");
    let named = format!("trusted_root = {root:?}\nrequire_signature = true\n");
    assert_eq!(remember(&named), (true, String::new()));
    let (_, told) = remember("trusted_root = \"gone.json\"\nrequire_signature = true\n");
    assert!(told.contains("gone.json"), "{told}");
    assert_eq!(remember("mode = \"tofu\"\n"), (true, String::new()));
}

/// What `python3 -m x` is, the directory decides. A rule about it has to know the directory, too.
#[test]
fn an_allowed_command_is_not_steered_by_its_directory() {
    let scratch = home("");
    let (p, other) = (scratch.path("p"), scratch.path("other"));
    let allow = |command: &str, cwd: Option<&Path>| {
        let cwd = cwd.map(|cwd| format!("cwd = {cwd:?}\n")).unwrap_or_default();
        scratch.write(
            POLICY,
            format!("mode = \"strict\"\n[[allow]]\nkind = \"command\"\ncommand = {command}\n{cwd}"),
        );
    };
    let define = |file: &str, words: &[&str], cwd: Option<&Path>| {
        let mut server = json!({ "command": words[0], "args": words[1..] });
        if let Some(cwd) = cwd {
            server["cwd"] = json!(cwd);
        }
        scratch.write(file, json!({ "mcpServers": { "s": server } }).to_string());
    };
    // `policy check` does not ask whether a project's definition was approved.
    let check = |words: &[&str]| {
        let words = [&["policy", "check"], words].concat();
        let outcome = run(scratch.mcpmini(words).current_dir(&p));
        assert!([0, 8].contains(&outcome.code), "{}", outcome.err);
        (outcome.code == 0, outcome.out)
    };
    for (rule, words) in [
        (r#"["sh", "-c", "server"]"#, &["sh", "-c", "server"][..]),
        (r#"["python3", "-m", "server", "*"]"#, &["python3", "-m", "server"]),
        (r#"["node", "server.js"]"#, &["node", "server.js"]),
        (r#"["env", "node", "server.js"]"#, &["env", "node", "server.js"]),
        (r#"["npx", "-y", "server"]"#, &["npx", "-y", "server"]),
        (r#"["env", "npx", "-y", "server"]"#, &["env", "npx", "-y", "server"]),
        (r#"["uvx", "server"]"#, &["uvx", "server"]),
        (r#"["bunx", "server"]"#, &["bunx", "server"]),
        (r#"["pipx", "run", "server"]"#, &["pipx", "run", "server"]),
        (r#"["dnx", "server"]"#, &["dnx", "server"]),
        (r#"["docker", "compose", "run", "x"]"#, &["docker", "compose", "run", "x"]),
        (r#"["make", "serve"]"#, &["make", "serve"]),
        (r#"["timeout", "5", "npm", "start"]"#, &["timeout", "5", "npm", "start"]),
    ] {
        let line = format!("exec:{}", words.join(" "));
        allow(rule, None);
        define(CONFIG, words, None);
        let (admitted, told) = check(&["user:s"]);
        assert!(!admitted && told.contains("but the directory that it runs in decides"), "{told}");
        assert!(!check(&[&line]).0 && !check(&[&line, "--cwd", "../other"]).0, "{words:?}");
        define(CONFIG, words, Some(&other));
        assert!(check(&["user:s"]).0, "{words:?}: the user has said where");
        assert!(!check(&["user:s", "--cwd", "."]).0, "{words:?}");
        define("p/.mcp.json", words, Some(&other));
        assert!(!check(&["project:s"]).0, "{words:?}: a project has said where");
        allow(rule, Some(&other));
        assert!(check(&["project:s"]).0, "{words:?}");
        assert!(check(&[&line, "--cwd", "../other"]).0, "{words:?}");
        assert!(!check(&[&line]).0, "{words:?}");
        define("p/.mcp.json", words, None);
        assert!(!check(&["project:s"]).0, "{words:?}");
    }
    // An absolute path is the same everywhere.
    allow(r#"["node", "/opt/server.js"]"#, None);
    assert!(check(&["exec:node /opt/server.js", "--cwd", "/"]).0);
}

/// To take over all variables is to take over those that choose code.
#[test]
fn variables_that_are_taken_over_do_not_go_with_an_allowed_command() {
    let scratch = home("");
    let demo = demo_path();
    scratch.write(
        POLICY,
        format!("mode = \"strict\"\n[[allow]]\nkind = \"command\"\ncommand = [{demo:?}]\n"),
    );
    let define = |file: &str| {
        let server = json!({ "command": demo, "inheritEnv": true });
        scratch.write(file, json!({ "mcpServers": { "s": server } }).to_string());
    };
    let check = |words: &[&str], variable: &str| {
        let words = [&["policy", "check"], words].concat();
        let mut command = scratch.mcpmini(words);
        let outcome = run(command.env(variable, "x").current_dir(scratch.path("p")));
        assert!([0, 8].contains(&outcome.code), "{}", outcome.err);
        outcome.code == 0
    };
    let word = format!("exec:{demo}");
    for variable in ["NODE_OPTIONS", "PYTHONPATH", "BASH_ENV"] {
        assert!(check(&[&word], variable), "{variable}: it does not get there");
        assert!(!check(&[&word, "--inherit-env"], variable), "{variable}");
        define(CONFIG);
        assert!(check(&["user:s"], variable), "{variable}: the user's own file says so");
        define("p/.mcp.json");
        assert!(!check(&["project:s"], variable), "{variable}");
    }
    assert!(check(&[&word, "--inherit-env"], "TOKEN"));
}

/// What a tag means today, the words of a rule do not say.
#[test]
fn an_image_without_its_hash_is_told() {
    let scratch = home("");
    for (name, mode, told_in_use) in [("mcp/time", "strict", true), ("mcp/time", "tofu", false)] {
        scratch.write(
            POLICY,
            format!("mode = \"{mode}\"\n[[allow]]\nkind = \"command\"\ncommand = [\"docker\", \"run\", \"*\"]\n"),
        );
        let line = format!("exec:docker run {name}");
        let check = |words: &[&str]| run(scratch.mcpmini(words).env("PATH", "/nowhere"));
        let told = |err: &str| err.contains("but its words do not say which image runs");
        let checked = check(&["policy", "check", &line, "--json"]);
        assert_eq!(checked.code, 0, "{}", checked.err);
        assert!(
            told(&checked.err) && checked.out.contains("\"caveat\":\"its words"),
            "{}",
            checked.out
        );
        assert_eq!(told(&check(&["ping", &line]).err), told_in_use);
        let pinned = check(&["policy", "check", &format!("{line}@sha256:00")]);
        assert_eq!((pinned.code, &*pinned.err), (0, ""));
    }
}

/// `policy check` contacts nobody, and says of when that is what it relies on.
#[test]
fn what_a_policy_relies_on_is_told() {
    let scratch = home("");
    copy_signed_card(&scratch);
    assert_eq!(run(&mut scratch.mcpmini(REMEMBER_CARD)).code, 0);
    let root = scratch.path("root.json");
    scratch.write(".config/mcpmini/mine.jsonl", "{\"issued\":\"2026-11-29T10:05:00Z\"}\n");
    scratch.write(
        POLICY,
        format!("trusted_root = {root:?}\nrequire_signature = true\n[revocation]\nfiles = [\"mine.jsonl\"]\n"),
    );
    let outcome =
        run(&mut scratch.mcpmini(["policy", "check", "https://example.com/mcp", "--json"]));
    let said: serde_json::Value = serde_json::from_str(&outcome.out).unwrap();
    let relied = said["decisions"][0]["reliesOn"].to_string();
    assert!(relied.contains("the card sha256:") && relied.contains("mine.jsonl"), "{relied}");
}

/// Whoever a `Host` header names answers, and not who the URL names.
#[test]
fn a_host_header_is_judged_as_the_url_is() {
    let scratch = home("");
    copy_signed_card(&scratch);
    assert_eq!(run(&mut scratch.mcpmini(REMEMBER_CARD)).code, 0);
    let root = scratch.path("root.json");
    let signed = format!("trusted_root = {root:?}\nrequire_signature = true\n");
    let check = |policy: &str, host: &str, admitted: bool| {
        scratch.write(POLICY, policy);
        let header = format!("hOst: {host}");
        let words = ["policy", "check", "https://example.com/mcp", "-H", &header];
        let outcome = run(&mut scratch.mcpmini(words));
        let code = if admitted { 0 } else { 8 };
        assert_eq!(outcome.code, code, "{policy} {host}: {} {}", outcome.out, outcome.err);
    };
    let deny = "[[deny]]\nhost = \"evil.example\"\n";
    check(deny, "evil.example", false);
    check(deny, "EVIL.example.:443", false);
    check(deny, "good.example", true);
    check("[[deny]]\nhost = \"example.com\"\n", "good.example", false);
    let allow = "mode = \"strict\"\n[[allow]]\nkind = \"host\"\nhosts = [\"example.com\", \"*.b.example\"]\n";
    check(allow, "example.com:443", true);
    check(allow, "a.b.example", true);
    check(allow, "evil.example", false);
    check(&signed, "example.com", true);
    check(&signed, "evil.example", false);
    scratch.write(POLICY, deny);
    let socket = ["policy", "check", "unix:/run/s", "-H", "Host: evil.example"];
    assert_eq!(run(&mut scratch.mcpmini(socket)).code, 8);
    // A definition can have one as well.
    scratch.write(POLICY, deny);
    let server = json!({ "url": "https://good.example/", "headers": { "Host": "${H}" } });
    scratch.write(CONFIG, json!({ "mcpServers": { "s": server } }).to_string());
    let outcome = run(scratch.mcpmini(["policy", "check", "s"]).env("H", "evil.example"));
    assert_eq!(outcome.code, 8, "{}", outcome.err);
}

/// Whoever may write what a policy relies on writes the policy; and a pipe is nothing to rely on.
#[test]
fn what_a_policy_relies_on_is_safe_from_strangers() {
    let policy = "trusted_root = \"root.json\"\n[revocation]\nfiles = [\"revoked.jsonl\"]\npublic_key = \"key.pub\"\n";
    let vectors = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/own");
    let scratch = home(policy);
    let place = |name: &str| scratch.path(".config/mcpmini").join(name);
    let restore = |name: &str| {
        let _ = fs::remove_file(place(name));
        let _ = fs::remove_dir(place(name));
        fs::copy(format!("{vectors}/{name}"), place(name)).unwrap();
    };
    let files = ["revoked.jsonl", "revoked.jsonl.sigstore.json", "key.pub", "root.json"];
    files.iter().for_each(|name| restore(name));
    let check = |what: &str, admitted: bool| {
        let begun = std::time::Instant::now();
        let outcome = run(&mut scratch.mcpmini([
            "policy",
            "check",
            "https://h.example/",
            "--max-time",
            "5s",
        ]));
        assert!(begun.elapsed().as_secs() < 4, "{what}");
        let told = format!("{what}: {} {}", outcome.out, outcome.err);
        assert_eq!(outcome.code == 0, admitted, "{told}");
        assert!(admitted || [8, 9].contains(&outcome.code), "{told}");
    };
    check("all is well", true);
    for name in files {
        fs::set_permissions(place(name), fs::Permissions::from_mode(0o666)).unwrap();
        check(&format!("anybody may write {name}"), false);
        fs::remove_file(place(name)).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(place(name)).status().unwrap().success());
        check(&format!("{name} is a pipe"), false);
        fs::remove_file(place(name)).unwrap();
        fs::create_dir(place(name)).unwrap();
        check(&format!("{name} is a directory"), false);
        restore(name);
    }
    check("all is well again", true);
    // A link that leads nowhere is a policy that cannot be read, and not none.
    fs::remove_file(place("policy.toml")).unwrap();
    check("there is none", true);
    symlink("gone", place("policy.toml")).unwrap();
    check("it is a link to nothing", false);
    fs::remove_file(place("policy.toml")).unwrap();
    let folder = scratch.path(".config/mcpmini");
    fs::remove_dir_all(&folder).unwrap();
    check("there is no folder for it", true);
    scratch.write(".config/mcpmini", "");
    check("a file is in the place of its folder", false);
    fs::remove_file(&folder).unwrap();
    symlink("gone", &folder).unwrap();
    check("its folder is a link to nothing", false);
}

#[test]
fn what_leads_a_url_elsewhere_is_judged_with_it() {
    let check = |policy: &str, words: &[&str], expected: (i32, &str)| {
        let scratch = home(policy);
        let words = [&["policy", "check", "https://h.example/mcp"], words].concat();
        let outcome = run(scratch.mcpmini(words).env("https_proxy", "http://proxy.example:1"));
        let (code, told) = expected;
        assert!(outcome.code == code && outcome.out.contains(told), "{policy}: {}", outcome.out);
    };
    let deny = |host: &str| format!("[[deny]]\nhost = \"{host}\"\n");
    let resolve = ["--resolve", "h.example:443:10.0.0.1"];
    let proxy = ["--proxy", "http://Evil.example:3128"];
    check(&deny("10.0.0.1"), &resolve, (8, "deny 1"));
    check(&deny("10.0.0.1"), &["--resolve", "*:443:10.0.0.1"], (8, "deny 1"));
    check(&deny("10.0.0.1"), &["--resolve", "h.example:80:10.0.0.1"], (0, "admitted"));
    check(&deny("evil.example"), &proxy, (8, "deny 1"));
    check(&deny("evil.example"), &[], (0, "admitted"));
    check(&deny("proxy.example"), &[], (8, "deny 1"));
    check(&deny("proxy.example"), &proxy, (0, "admitted"));
    let strict = "mode = \"strict\"\n[[allow]]\nkind = \"host\"\nhosts = [\"h.example\"]\n";
    check(strict, &[], (0, "allow 1"));
    check(strict, &resolve, (0, "allow 1"));
    check(strict, &["--insecure"], (8, "but with --insecure anybody may answer"));
    check("require_tls = true\n", &["--insecure"], (8, "require_tls"));
    check("require_tls = true\n", &[], (0, "admitted"));
    // So is a call, which goes nowhere.
    let scratch = home(&deny("10.0.0.1"));
    let words = [&["call", "https://h.example/mcp", "echo"][..], &resolve].concat();
    let outcome = run(&mut scratch.mcpmini(words));
    assert_eq!(outcome.code, 8, "{}", outcome.err);
    let scratch = home("require_tls = true\n");
    let outcome = run(&mut scratch.mcpmini(["tools", "https://h.example/mcp", "--insecure"]));
    assert_eq!(outcome.code, 8, "{}", outcome.err);
    assert!(outcome.err.contains("hint: leave --insecure out"), "{}", outcome.err);
}

#[test]
fn a_refusal_shows_the_rule_that_would_allow() {
    let scratch = home("mode = \"strict\"\n");
    let file = scratch.path(POLICY).display().to_string();
    let home = scratch.path("").display().to_string();
    let home = home.trim_end_matches('/');
    for (word, expected) in [
        (
            "exec:fine 'a \"b\"' --c",
            "kind = \"command\"\ncommand = [\"fine\",\"a \\\"b\\\"\",\"--c\"]",
        ),
        ("exec:npx p@1", &*format!("command = [\"npx\",\"p@1\"]\ncwd = \"{home}\"")),
        ("https://h.example/mcp", "kind = \"host\"\nhosts = [\"h.example\"]"),
        ("unix:/run/x.sock", "kind = \"socket\"\npath = \"/run/x.sock\""),
    ] {
        scratch.write(POLICY, "mode = \"strict\"\n");
        let policy = |words: &[&str]| {
            let path = format!("{home}/bin:/usr/bin:/bin");
            run(scratch.mcpmini(words).current_dir(home).env("PATH", path))
        };
        let call = policy(&["call", word, "echo", "--json-errors"]);
        assert_eq!(call.code, 8, "{word}: {}", call.err);
        let error: serde_json::Value = serde_json::from_str(call.err.trim()).unwrap();
        let hint = error["error"]["hint"].as_str().unwrap();
        assert!(hint.contains(&format!("to allow it, add to {file}:\n[[allow]]\n")), "{hint}");
        assert!(hint.ends_with(expected), "{word}: {hint}");
        let check = policy(&["policy", "check", word, "--json"]);
        let json: serde_json::Value = serde_json::from_str(&check.out).unwrap();
        let table = json["decisions"][0]["allow"].as_str().unwrap();
        assert!(check.err.contains("to allow it, add to "), "{}", check.err);
        // It does what it says.
        scratch.write(POLICY, format!("mode = \"strict\"\n{table}\n"));
        let check = policy(&["policy", "check", word]);
        assert_eq!(check.code, 0, "{word} {table}: {}", check.out);
    }
    scratch.write(POLICY, "mode = \"strict\"\n[[deny]]\ncommand = [\"evil\", \"*\"]\n");
    let outcome = run(&mut scratch.mcpmini(["policy", "check", "exec:evil"]));
    assert!(outcome.code == 8 && !outcome.err.contains("to allow it"), "{}", outcome.err);
}

#[test]
fn packages_without_a_version_are_told() {
    let scratch = home("");
    for (line, told) in [
        ("npx -y foo", "npx runs whatever version of foo is the newest; name one"),
        ("npx -y foo@1.2.3", ""),
        ("uvx foo", "uvx runs whatever version of foo is the newest; name one"),
        ("fine foo", ""),
    ] {
        let path = format!("{}:/usr/bin:/bin", scratch.path("bin").display());
        let word = format!("exec:{line}");
        let words = ["policy", "check", &word, "--json"];
        let outcome = run(scratch.mcpmini(words).env("PATH", path));
        let json: serde_json::Value = serde_json::from_str(&outcome.out).unwrap();
        assert_eq!(outcome.code, 0, "{line}");
        assert_eq!(json["unpinned"].as_str().unwrap_or_default(), told, "{line}");
        assert!(outcome.err.contains(told) && outcome.err.is_empty() == told.is_empty(), "{line}");
    }
}

#[test]
fn an_image_is_denied_whatever_options_the_rule_or_the_command_has() {
    let refused = [
        "docker run -i mcp/evil",
        "docker run --rm -v /a:/b -e A --name y mcp/evil:1 stdio",
        "podman run --brand-new z docker.io/mcp/evil",
    ];
    let admitted = ["docker run -i --name x mcp/fine", "docker run --brand-new x mcp/fine"];
    check(r#"["docker", "run", "-i", "--name", "x", "mcp/evil", "*"]"#, &refused, &admitted);
    // Where a rule has an option that is not known, each word may be the image.
    let rule = r#"["docker", "run", "--brand-new", "mcp/a", "mcp/evil", "*"]"#;
    check(rule, &[&refused[..], &["docker run -i mcp/a"]].concat(), &["docker run -i mcp/fine"]);
}
