//! Policies about versions of packages, and about what the variables of a command say.

use serde_json::json;

use super::policies::{check, home};
use super::support::run;

/// A version is meant in every spelling, and with it whatever may come out as that version.
#[test]
fn a_denied_version_is_denied_in_every_spelling() {
    check(
        r#"["npx", "evil@1.3.0", "*"]"#,
        &[
            "npx evil@1.3.0",
            "npx evil@v1.3.0",
            "npx evil@=1.3.0",
            "npx evil@^1.2.3",
            "npx 'evil@1 || 2'",
            "npx evil@latest",
            "npx -y evil",
            "npx --package=evil@1 run",
            "sh -c 'npx evil@1.x'",
            "python3 -c 'import os; os.execvp(\"npx\",[\"npx\",\"evil@v1.3.0\"])'",
        ],
        &[
            "npx -y evil@1.3.1",
            "npx evil@2",
            "npx -p evil@1.3.1 evil",
            "sh -c 'npx \"evil@2.0.0\", x'",
            "uvx evil",
        ],
    );
    check(
        r#"["uvx", "evil==1.0", "*"]"#,
        &[
            "uvx evil==1",
            "uvx evil@1.0.0",
            "uvx evil==v1.0",
            "uvx 'evil == 1.0'",
            "uvx evil~=1.0",
            "uvx evil[x]==1.0",
            "uvx --from evil==1.0.0 run",
            "uvx evil",
        ],
        &[
            "uvx evil==1.0.1",
            "uvx evil[x]@2",
            "uvx --from evil==2.0 evil",
            "uvx --from=evil==2.0 evil",
        ],
    );
    check(
        r#"["docker", "run", "evil/img:latest", "*"]"#,
        &[
            "docker run evil/img",
            "podman run registry-1.docker.io/evil/img",
            "docker run evil/img:latest",
        ],
        &["docker run evil/img:1.3.0", "docker run evil/img@sha256:00"],
    );
    check(
        r#"["docker", "run", "evil/img:1", "*"]"#,
        &[
            "docker run docker.io:443/evil/img:1",
            "docker run evil/img",
            "docker run evil/img@sha256:00",
        ],
        &["docker run evil/img:2", "docker run ghcr.io/evil/img:1"],
    );
}

/// Where a command is told to go to may stand in a variable.
#[test]
fn a_denied_host_is_denied_in_a_variable() {
    let scratch = home("[[deny]]\nhost = \"evil.example\"\n");
    let check = |variable: &str| {
        let words = ["policy", "check", "exec:fine", "--env", variable];
        run(&mut scratch.mcpmini(words)).code
    };
    assert_eq!(check("URL=https://evil.example/mcp"), 8);
    assert_eq!(check("URLS=https://fine.example,https://EVIL.example:8443"), 8);
    assert_eq!(check("URL=https://fine.example/evil.example"), 0);
    let server = json!({ "command": "bin/fine", "env": { "URL": "${WHERE}" } });
    scratch.write("p/.mcp.json", json!({ "mcpServers": { "s": server } }).to_string());
    let defined = |place: &str| {
        let mut command = scratch.mcpmini(["policy", "check", "s"]);
        run(command.env("WHERE", place).current_dir(scratch.path("p"))).code
    };
    assert_eq!((defined("https://evil.example/"), defined("https://fine.example/")), (8, 0));
}
