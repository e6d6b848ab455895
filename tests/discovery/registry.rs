//! Servers of a registry: how it is asked, and the command that a package becomes.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::{env, fs};

use crate::server::Server;
use crate::site::{INFO, Page, Site};
use crate::support::{Outcome, Scratch, demo_path, run};

const LATEST: &str = "/v0.1/servers/com.example%2Fweather/versions/latest";

/// A registry with one server, whose document has these members.
fn registry(members: &str) -> Site {
    let document = format!(
        r#"{{"server":{{"name":"com.example/weather","version":"1.2.0","description":"d",{members}}},"_meta":{{"io.modelcontextprotocol.registry/official":{{"status":"active"}}}}}}"#
    );
    Site::new(&[(LATEST, Page::json(&document))])
}

/// A directory in which these programs are installed: each writes its words into `argv` and is an
/// MCP server.
fn world(programs: &[&str]) -> Scratch {
    let scratch = Scratch::new();
    fs::create_dir(scratch.path("bin")).unwrap();
    for program in programs {
        let script = format!(
            "#!/bin/sh\nfor word in \"$0\" \"$@\"; do printf '%s\\n' \"${{word##*/bin/}}\"; done > \"$HOME/argv\"\n\
             printf '%s' \"$API_KEY\" > \"$HOME/key\"\nexec '{}'\n",
            demo_path()
        );
        let path = scratch.write(&format!("bin/{program}"), script);
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    scratch
}

fn mcpmini(scratch: &Scratch, site: &Site, words: &[&str]) -> Outcome {
    let path = format!("{}:{}", scratch.path("bin").display(), env::var("PATH").unwrap());
    let mut command = scratch.mcpmini(words);
    command.env("MCPMINI_REGISTRY", &site.server.origin).env("PATH", path);
    run(command.env("API_KEY", "hunter2"))
}

/// Adds the server after accepting it, calls it, and tells the words it was started with.
#[track_caller]
fn argv(scratch: &Scratch, site: &Site, more: &[&str]) -> Vec<String> {
    let add = [&["add", "registry:com.example/weather"], more].concat();
    let refused = mcpmini(scratch, site, &add);
    assert_eq!((refused.code, refused.out.as_str()), (8, ""), "{refused:?}");
    assert!(!scratch.path("argv").exists(), "nothing runs before it is accepted");
    let digest = refused.err.split("--accept ").nth(1).unwrap().split_whitespace().next().unwrap();
    let added = mcpmini(scratch, site, &[&add[..], &["--accept", digest]].concat());
    assert_eq!(added.code, 0, "{added:?}");
    assert!(!scratch.path("argv").exists(), "nor by being added");
    let before = site.asked().len();
    let called =
        mcpmini(scratch, site, &["call", "registry:com.example/weather", "echo", "text=hi"]);
    assert_eq!(called.out, "hi\n", "{called:?}");
    assert_eq!(site.asked().len(), before, "the registry is not asked again");
    scratch.lines("argv")
}

#[track_caller]
fn check(package: &str, more: &[&str], expected: &[&str]) {
    let scratch = world(&["npx", "bunx", "uvx", "docker", "podman", "dnx"]);
    let site = registry(&format!("\"packages\":[{package}]"));
    assert_eq!(argv(&scratch, &site, more), expected, "{package}");
}

#[test]
fn packages_become_the_words_of_a_command() {
    let stdio = r#""transport":{"type":"stdio"}"#;
    let npm = format!(
        r#""registryType":"npm","identifier":"@example/weather","version":"1.2.0",{stdio}"#
    );
    check(&format!("{{{npm}}}"), &[], &["npx", "-y", "@example/weather@1.2.0"]);
    check(&format!(r#"{{{npm},"runtimeHint":"bunx"}}"#), &[], &["bunx", "@example/weather@1.2.0"]);
    check(
        &format!(
            r#"{{{npm},"runtimeArguments":[{{"type":"named","name":"--yes"}}],"packageArguments":[
            {{"type":"positional","value":"$(touch pwned); `x`"}},
            {{"type":"named","name":"--port","default":"8080"}},
            {{"type":"named","name":"--dir=","value":"{{home}}/x","variables":{{"home":{{"default":"/h"}}}}}},
            {{"type":"positional","valueHint":"path","isRepeated":true}}]}}"#
        ),
        &["--var", "path=a b", "--var", "path=c", "--var", "port=1"],
        &[
            "npx",
            "--yes",
            "@example/weather@1.2.0",
            "$(touch pwned); `x`",
            "--port",
            "1",
            "--dir=/h/x",
            "a b",
            "c",
        ],
    );
    check(
        &format!(
            r#"{{"registryType":"pypi","identifier":"weather","version":"0.5.0","runtimeHint":"uvx",{stdio}}}"#
        ),
        &[],
        &["uvx", "weather@0.5.0"],
    );
    check(
        r#"{"registryType":"pypi","identifier":"weather","version":"0.5.0","runtimeArguments":[
        {"type":"named","name":"--python","value":"3.12"}]}"#,
        &[],
        &["uvx", "--python", "3.12", "weather@0.5.0"],
    );
}

#[test]
fn images_and_tools_of_nuget_become_commands_too() {
    let stdio = r#""transport":{"type":"stdio"}"#;
    check(
        &format!(
            r#"{{"registryType":"nuget","identifier":"Example.Weather","version":"1.0.0-beta.1",{stdio},
            "packageArguments":[{{"type":"positional","value":"mcp"}},{{"type":"positional","value":"start"}}]}}"#
        ),
        &[],
        &["dnx", "Example.Weather@1.0.0-beta.1", "--yes", "--", "mcp", "start"],
    );
    check(
        &format!(
            r#"{{"registryType":"oci","identifier":"ghcr.io/example/weather:1.0.2",{stdio},"runtimeArguments":[
            {{"type":"named","name":"--mount","value":"type=bind,src={{source}},dst=/data","variables":{{"source":{{"isRequired":true}}}}}}],
            "environmentVariables":[{{"name":"API_KEY","isRequired":true,"isSecret":true}}]}}"#
        ),
        &["--var", "source=/srv", "--var", "API_KEY=${API_KEY}"],
        &[
            "docker",
            "run",
            "-i",
            "--rm",
            "-e",
            "API_KEY",
            "--mount",
            "type=bind,src=/srv,dst=/data",
            "ghcr.io/example/weather:1.0.2",
        ],
    );
}

#[test]
fn the_first_registry_is_understood() {
    let old = r#"{"registry_type":"npm","identifier":"weather","version":"1.0.0","package_arguments":[{"type":"positional","value_hint":"dir","is_required":true}],"environment_variables":[{"name":"API_KEY","is_secret":true}]}"#;
    check(old, &["--var", "dir=d"], &["npx", "-y", "weather@1.0.0", "d"]);
}

#[test]
fn secrets_go_by_reference_and_not_on_the_command_line() {
    let scratch = world(&["npx"]);
    let site = registry(
        r#""packages":[{"registryType":"npm","identifier":"w","version":"1.0.0","environmentVariables":[{"name":"API_KEY","isRequired":true,"isSecret":true}]}]"#,
    );
    let missing = mcpmini(&scratch, &site, &["add", "registry:com.example/weather"]);
    assert_eq!(missing.code, 9, "{missing:?}");
    assert!(missing.err.contains("--var API_KEY='${VARIABLE}'"), "{missing:?}");
    argv(&scratch, &site, &["--var", "API_KEY=${API_KEY}"]);
    assert_eq!(scratch.lines("key"), ["hunter2"]);
    let config = fs::read_to_string(scratch.path(".config/mcpmini/config.json")).unwrap();
    assert!(config.contains("${API_KEY}") && !config.contains("hunter2"), "{config}");
}

#[test]
fn what_a_document_chooses_is_shown_before_it_is_accepted() {
    let scratch = world(&["npx"]);
    let endpoint = Site::new(&[]).serving(INFO);
    let shown = |members: &str, more: &[&str]| {
        let site = registry(&members.replace("$O/mcp", &endpoint.at("/mcp")));
        let add = [&["add", "registry:com.example/weather"], more].concat();
        let outcome = mcpmini(&scratch, &site, &add);
        assert_eq!(outcome.code, 8, "{outcome:?}");
        assert!(!outcome.err.contains("hunter3"), "{outcome:?}");
        let effect = outcome.err.split(": it ").nth(1).unwrap().lines().next().unwrap();
        endpoint.plain(effect)
    };
    assert_eq!(
        shown(
            r#""packages":[{"registryType":"npm","identifier":"w","version":"1.0.0","environmentVariables":[
            {"name":"BACKEND","value":"https://evil.example/x y"},{"name":"MODE","default":"all"},
            {"name":"W_TOKEN","value":"hunter3"},{"name":"API_KEY","isSecret":true}]}]"#,
            &["--var", "API_KEY=${API_KEY}"],
        ),
        "runs npx -y w@1.0.0, sets BACKEND='https://evil.example/x y' MODE=all W_TOKEN=*** \
         API_KEY='${API_KEY}', gets your variables API_KEY",
    );
    assert_eq!(
        shown(
            r#""remotes":[{"type":"streamable-http","url":"$O/mcp","headers":[
            {"name":"X-Tenant","value":"evil"},{"name":"X-Api-Key","value":"{key}","variables":{"key":{"isSecret":true,"isRequired":true}}}]}]"#,
            &["--var", "key=${API_KEY}", "-H", "X-Team: hunter3"],
        ),
        "contacts $O/mcp, sends the headers 'X-Tenant: evil' 'X-Api-Key: ${API_KEY}' \
         'X-Team: ***', sends your variables API_KEY",
    );
}

#[test]
fn a_remote_is_preferred_unless_a_package_is_wanted() {
    let scratch = world(&["npx", "uvx"]);
    let endpoint = Site::new(&[]).serving(INFO);
    let npm = r#"{"registryType":"npm","identifier":"w","version":"1.0.0"}"#;
    let pypi = r#"{"registryType":"pypi","identifier":"w","version":"2.0.0"}"#;
    let site = registry(&format!(
        r#""remotes":[{{"type":"streamable-http","url":"{}"}}],"packages":[{npm},{pypi}]"#,
        endpoint.at("/mcp")
    ));
    let effect = |more: &[&str]| {
        let outcome =
            mcpmini(&scratch, &site, &[&["add", "registry:com.example/weather"], more].concat());
        assert_eq!(outcome.code, 8, "{outcome:?}");
        let effect = outcome.err.split(": it ").nth(1).unwrap().lines().next().unwrap();
        endpoint.plain(effect)
    };
    assert_eq!(effect(&[]), "contacts $O/mcp");
    assert_eq!(effect(&["--local"]), "runs npx -y w@1.0.0");
    assert_eq!(effect(&["--package", "pypi"]), "runs uvx w@2.0.0");
    let outcome =
        mcpmini(&scratch, &site, &["add", "registry:com.example/weather", "--package", "oci"]);
    assert_eq!(outcome.code, 9, "{outcome:?}");
    assert_eq!(endpoint.asked().len(), 0);
    fs::remove_file(scratch.path("bin/npx")).unwrap();
    if !env::split_paths(&env::var_os("PATH").unwrap()).any(|dir| dir.join("npx").exists()) {
        assert_eq!(effect(&["--local"]), "runs uvx w@2.0.0");
    }
}

/// A package that is not even shown to be accepted, and what is told about it.
#[track_caller]
fn check_refused(package: &str, told: &str) {
    let scratch = world(&["npx", "uvx", "docker", "dnx"]);
    let site = registry(&format!("\"packages\":[{package}]"));
    let outcome = mcpmini(&scratch, &site, &["add", "registry:com.example/weather"]);
    assert_eq!(outcome.code, 9, "{package}: {outcome:?}");
    assert!(outcome.err.contains(told), "{package}: {outcome:?}");
    assert!(!scratch.path("pwned").exists());
}

#[test]
fn what_stands_for_several_versions_is_refused() {
    for (kind, name, version) in [
        ("npm", "w", "latest"),
        ("npm", "w", "^1.0.0"),
        ("npm", "w", "1.x"),
        ("npm", "w", "1.0.0 --evil"),
        ("npm", "w", "1"),
        ("npm", "w", "1.2"),
        ("npm", "w", "v1"),
        ("npm", "w", "beta1"),
        ("npm", "w", "next-2"),
        ("npm", "w", "1.2.3.4"),
        ("pypi", "w", "1.*"),
        ("pypi", "w", "beta1"),
        ("nuget", "w", "1"),
        ("oci", "ghcr.io/a/b", "latest"),
        ("oci", "ghcr.io/a/b:latest", "1"),
        ("oci", "ghcr.io/a/b", "1:2"),
        ("oci", "ghcr.io/a/b@sha256:00", "1"),
    ] {
        let package =
            format!(r#"{{"registryType":"{kind}","identifier":"{name}","version":"{version}"}}"#);
        check_refused(&package, "is not one version");
    }
}

#[test]
fn what_a_package_must_not_do_is_refused() {
    let package = |members: &str| {
        format!(r#"{{"registryType":"npm","identifier":"w","version":"1.0.0",{members}}}"#)
    };
    let named = |kind: &str, name: &str, version: &str| {
        format!(r#"{{"registryType":"{kind}","identifier":"{name}","version":"{version}"}}"#)
    };
    let refused = [
        (named("npm", "-g", "1.0.0"), "no name of such a package"),
        (named("npm", "owner/repo", "1.0.0"), "no name of such a package"),
        (named("npm", "git+https://h/r", "1.0.0"), "no name of such a package"),
        (named("npm", "../evil", "1.0.0"), "no name of such a package"),
        (named("npm", "@a/b/c", "1.0.0"), "no name of such a package"),
        (named("pypi", "a b", "1.0.0"), "no name of such a package"),
        (named("oci", "--privileged", "1.0.0"), "no name of such a package"),
        (r#"{"registryType":"npm","identifier":"w"}"#.to_owned(), "does not say which version"),
        (package(r#""runtimeHint":"sh""#), "wants to be run by \"sh\""),
        (package(r#""registryBaseUrl":"https://evil.example""#), "not the usual place"),
        (
            package(r#""transport":{"type":"streamable-http","url":"http://localhost:1/"}"#),
            "over HTTP",
        ),
        (
            package(r#""environmentVariables":[{"name":"LD_PRELOAD","value":"x"}]"#),
            "must not set the variable",
        ),
        (
            package(r#""environmentVariables":[{"name":"NODE_OPTIONS","value":"x"}]"#),
            "must not set the variable",
        ),
        (
            package(r#""environmentVariables":[{"name":"MAKEFILES","value":"x"}]"#),
            "must not set the variable",
        ),
        (
            package(r#""environmentVariables":[{"name":"XDG_CACHE_HOME","value":"x"}]"#),
            "must not set the variable",
        ),
        (
            package(r#""environmentVariables":[{"name":"A=B","value":"x"}]"#),
            "must not set the variable",
        ),
        (
            package(r#""environmentVariables":[{"name":"A","value":"!touch pwned"}]"#),
            "cannot be written down safely",
        ),
        (package(r#""packageArguments":[{"type":"positional"}]"#), "must stand in the document"),
        (
            r#"{"registryType":"cargo","identifier":"w","version":"1.0.0"}"#.to_owned(),
            "no package that can be run",
        ),
    ];
    for (package, told) in refused {
        check_refused(&package, told);
    }
}

#[test]
fn a_package_cannot_make_other_code_run() {
    let check = |kind: &str, members: &str, told: &str| {
        let package =
            format!(r#"{{"registryType":"{kind}","identifier":"w","version":"1.0.0",{members}}}"#);
        check_refused(&package, told);
    };
    for name in ["HOME", "Npm_Config_registry", "node_path", "PERL5OPT", "GIT_SSH_COMMAND"] {
        let members = format!(r#""environmentVariables":[{{"name":"{name}","value":"x"}}]"#);
        check("npm", &members, &format!("must not set the variable \"{name}\""));
    }
    let arguments = [
        ("npm", r#"{"type":"positional","value":"evil"}"#, "evil"),
        ("npm", r#"{"type":"named","name":"--yes","value":"evil"}"#, "evil"),
        ("npm", r#"{"type":"named","name":"--registry","value":"https://h"}"#, "--registry"),
        ("npm", r#"{"type":"named","name":"--package=","value":"evil"}"#, "--package=evil"),
        ("pypi", r#"{"type":"named","name":"--from","value":"evil"}"#, "--from"),
        ("pypi", r#"{"type":"named","name":"--python","value":"./evil"}"#, "--python"),
        ("nuget", r#"{"type":"named","name":"--source","value":"https://h"}"#, "--source"),
        ("oci", r#"{"type":"named","name":"--init","value":"evil/image"}"#, "evil/image"),
    ];
    for (kind, argument, word) in arguments {
        let members = format!(r#""runtimeArguments":[{argument}]"#);
        check(kind, &members, &format!("argument \"{word}\" could make another package run"));
    }
}

#[test]
fn another_registry_of_packages_is_taken_on_demand() {
    let scratch = world(&["npx"]);
    let site = registry(
        r#""packages":[{"registryType":"npm","identifier":"w","version":"1.0.0","registryBaseUrl":"https://npm.example"}]"#,
    );
    let words = argv(&scratch, &site, &["--allow-registry-url"]);
    assert_eq!(words, ["npx", "-y", "--registry", "https://npm.example", "w@1.0.0"]);
    let scratch = world(&["npx"]);
    let site = registry(
        r#""packages":[{"registryType":"npm","identifier":"w","version":"1.0.0","runtimeArguments":[{"type":"named","name":"--registry","value":"https://npm.example"}]}]"#,
    );
    let words = argv(&scratch, &site, &["--allow-registry-url"]);
    assert_eq!(words, ["npx", "-y", "--registry", "https://npm.example", "w@1.0.0"]);
}

#[test]
fn a_registry_is_asked_by_its_api() {
    let scratch = world(&["npx"]);
    let packages = r#""packages":[{"registryType":"npm","identifier":"w","version":"1.0.0"}]"#;
    let server = |status: &str| {
        format!(
            r#"{{"server":{{"name":"com.example/weather","version":"1.0.0+b","description":"d",{packages}}},"_meta":{{"io.modelcontextprotocol.registry/official":{{"status":"{status}","statusMessage":"why"}}}}}}"#
        )
    };
    // A version, with what must be escaped in it.
    let site = Site::new(&[(
        "/v0.1/servers/com.example%2Fweather/versions/1.0.0%2Bb",
        Page::json(&server("deprecated")),
    )]);
    let outcome = mcpmini(&scratch, &site, &["add", "registry:com.example/weather@1.0.0+b"]);
    assert_eq!(outcome.code, 8, "{outcome:?}");
    assert!(outcome.err.contains("com.example/weather is deprecated: why"), "{outcome:?}");
    let site = Site::new(&[(LATEST, Page::json(&server("deleted")))]);
    let outcome = mcpmini(&scratch, &site, &["add", "registry:com.example/weather"]);
    assert_eq!(outcome.code, 8, "{outcome:?}");
    assert!(outcome.err.contains("was deleted from the registry: why"), "{outcome:?}");
    assert!(!outcome.err.contains("--accept"), "{outcome:?}");
    // What is not known is not what is wanted; the user decides.
    let site = Site::new(&[(LATEST, Page::json(&server("quarantined")))]);
    let outcome = mcpmini(&scratch, &site, &["add", "registry:com.example/weather"]);
    assert_eq!(outcome.code, 8, "{outcome:?}");
    let told = "the registry calls com.example/weather \"quarantined\", which is not known: why";
    assert!(outcome.err.contains(told) && outcome.err.contains("--accept"), "{outcome:?}");
    let site = Site::new(&[(LATEST, Page::json(&server("DELETED")))]);
    let outcome = mcpmini(&scratch, &site, &["add", "registry:com.example/weather"]);
    assert!(outcome.err.contains("was deleted from the registry: why"), "{outcome:?}");
    // One that knows only the first API, and one that does not know the server.
    let old = LATEST.replace("v0.1", "v0");
    let site = Site::new(&[(&old, Page::json(&server("active")))]);
    let outcome = mcpmini(&scratch, &site, &["add", "registry:com.example/weather"]);
    assert_eq!(outcome.code, 8, "{outcome:?}");
    assert_eq!(site.asked(), [format!("GET {LATEST}"), format!("GET {old}")]);
    let outcome = mcpmini(&scratch, &Site::new(&[]), &["add", "registry:com.example/weather"]);
    assert_eq!(outcome.code, 4, "{outcome:?}");
    assert!(outcome.err.contains("has no server com.example/weather"), "{outcome:?}");
}

#[test]
fn a_server_that_was_not_added_is_not_looked_up_by_a_call() {
    let scratch = world(&["npx"]);
    let site =
        registry(r#""packages":[{"registryType":"npm","identifier":"w","version":"1.0.0"}]"#);
    let outcome = mcpmini(&scratch, &site, &["call", "registry:com.example/weather", "echo"]);
    assert_eq!(outcome.code, 9, "{outcome:?}");
    assert!(outcome.err.contains("mcpmini add registry:com.example/weather"), "{outcome:?}");
    assert_eq!(site.asked().len(), 0);
}

/// A zip archive of files that are only stored: path, content, mode.
fn archive(files: &[(&str, &str, u32)]) -> Vec<u8> {
    let (mut archive, mut directory) = (Vec::new(), Vec::new());
    for (path, content, mode) in files {
        let (at, size) = (archive.len() as u32, content.len() as u32);
        // Version, flags, method, time and date; hash and sizes; lengths of name and rest.
        let mut common = vec![20, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        common.extend([0, size, size].iter().flat_map(|it| it.to_le_bytes()));
        common.extend([path.len() as u16, 0].iter().flat_map(|it| it.to_le_bytes()));
        archive.extend(*b"PK\x03\x04");
        archive.extend(&common);
        archive.extend(path.bytes().chain(content.bytes()));
        directory.extend(*b"PK\x01\x02\x14\x03");
        directory.extend(&common);
        directory.extend([0; 6]);
        directory.extend((mode << 16).to_le_bytes());
        directory.extend(at.to_le_bytes());
        directory.extend(path.bytes());
    }
    let (at, count) = (archive.len() as u32, files.len() as u16);
    archive.extend(&directory);
    archive.extend(*b"PK\x05\x06\0\0\0\0");
    archive.extend([count, count].iter().flat_map(|it| it.to_le_bytes()));
    archive.extend([directory.len() as u32, at].iter().flat_map(|it| it.to_le_bytes()));
    archive.extend([0, 0]);
    archive
}

/// A host with one file at every path.
fn download(bytes: Vec<u8>) -> Server {
    Server::start(move |_, peer| {
        let length = bytes.len();
        peer.write(&format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n"));
        let _ = peer.stream.write_all(&bytes);
        true
    })
}

#[test]
fn a_bundle_is_checked_accepted_unpacked_and_run() {
    let scratch = world(&[]);
    let script = format!(
        "#!/bin/sh\nprintf '%s\\n' \"${{0##*/}}\" \"$@\" > \"$HOME/argv\"\nexec '{}'\n",
        demo_path()
    );
    let manifest = r#"{"server":{"mcp_config":{"command":"${__dirname}/bin/server","args":["--dir","${user_config.dir}"],"env":{"API_KEY":"${user_config.key}"}}},"user_config":{"dir":{"type":"string","required":true},"key":{"type":"string","sensitive":true}}}"#;
    let bytes = archive(&[("manifest.json", manifest, 0), ("bin/server", &script, 0o100_755)]);
    let hash = mcpmini::config::Digest::of(&bytes).hex();
    let host = download(bytes);
    let package = |hash: &str| {
        let url = format!("{}/weather.mcpb", host.origin);
        format!(r#""packages":[{{"registryType":"mcpb","identifier":"{url}"{hash}}}]"#)
    };
    let site = registry(&package(&format!(r#","fileSha256":"{hash}""#)));
    let vars = ["--var", "dir=d", "--var", "key=${API_KEY}"];
    assert_eq!(argv(&scratch, &site, &vars), ["server", "--dir", "d"]);
    assert_eq!(host.requests().len(), 1, "what was checked is kept until it is accepted");
    let folder = scratch.path(".local/state/mcpmini/bundles").join(&hash);
    assert!(folder.join("bin/server").exists());
    // Without a hash, or with another one, nothing is looked into.
    let other = format!(r#","fileSha256":"{}""#, "0".repeat(64));
    for (hash, told) in [("", "is not said"), (other.as_str(), "and the registry says 000")] {
        let scratch = world(&[]);
        let site = registry(&package(hash));
        let outcome = mcpmini(&scratch, &site, &["add", "registry:com.example/weather"]);
        assert_eq!(outcome.code, 8, "{outcome:?}");
        assert!(outcome.err.contains(told) && !outcome.err.contains("--accept"), "{outcome:?}");
        assert!(!scratch.path(".local/state/mcpmini/bundles").exists());
        assert!(!scratch.path(".cache/mcpmini/bundles").exists());
    }
}

#[test]
fn a_bundle_that_leads_outside_is_refused() {
    let scratch = world(&[]);
    let manifest = r#"{"server":{"mcp_config":{"command":"x"}}}"#;
    let bytes = archive(&[("manifest.json", manifest, 0), ("../../evil", "x", 0o100_755)]);
    let hash = mcpmini::config::Digest::of(&bytes).hex();
    let host = download(bytes);
    let url = format!("{}/b", host.origin);
    let site = registry(&format!(
        r#""packages":[{{"registryType":"mcpb","identifier":"{url}","fileSha256":"{hash}"}}]"#
    ));
    let outcome = mcpmini(&scratch, &site, &["add", "registry:com.example/weather"]);
    assert_eq!(outcome.code, 6, "{outcome:?}");
    assert!(outcome.err.contains("would lie outside of its folder"), "{outcome:?}");
}

#[test]
fn a_registry_can_be_searched_page_by_page() {
    let server = |name: &str, more: &str, status: &str| {
        format!(
            r#"{{"server":{{"name":"com.example/{name}","version":"1.0.0","description":"d",{more}}},"_meta":{{"io.modelcontextprotocol.registry/official":{{"status":"{status}"}}}}}}"#
        )
    };
    let page = |servers: &[String], next: &str| {
        let servers = servers.join(",");
        Page::json(&format!(
            r#"{{"servers":[{servers}],"metadata":{{"nextCursor":{next},"count":2}}}}"#
        ))
    };
    let remote = r#""remotes":[{"type":"streamable-http","url":"https://a.example/mcp"}]"#;
    let package = r#""packages":[{"registryType":"npm","identifier":"b","version":"1.0.0"}]"#;
    let first = [server("a", remote, "quarantined"), server("gone", remote, "deleted")];
    let query = "/v0.1/servers?version=latest&limit=100&search=a%20b";
    let site = Site::new(&[
        (query, page(&first, r#""x/+=""#)),
        (&format!("{query}&cursor=x%2F%2B%3D"), page(&[server("b", package, "active")], "null")),
    ]);
    let scratch = world(&[]);
    let outcome = mcpmini(&scratch, &site, &["discover", "registry:a b"]);
    let found: Vec<_> = crate::site::rows(&outcome.out);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert_eq!(found[0][..4], ["com.example/a", "1.0.0", "https://a.example/mcp", "registry"]);
    assert_eq!((found[1][0], found[1][4]), ("com.example/b", "a package (npm)"));
    assert_eq!(found.len(), 2);
    assert!(outcome.err.contains("com.example/gone was deleted"), "{outcome:?}");
    let unknown = "the registry calls com.example/a \"quarantined\", which is not known";
    assert!(outcome.err.contains(unknown), "{outcome:?}");
    let outcome = mcpmini(&scratch, &site, &["add", "registry:a b"]);
    assert_eq!(outcome.code, 2, "{outcome:?}");
    let one = registry(package);
    let outcome = mcpmini(&scratch, &one, &["card", "registry:com.example/weather"]);
    assert!(outcome.out.contains("\npackages     npm\n"), "{outcome:?}");
}

#[test]
fn a_search_that_ends_before_its_end_says_so() {
    let server = r#"{"server":{"name":"com.example/a","version":"1.0.0","description":"d"}}"#;
    let page = format!(r#"{{"servers":[{server}],"metadata":{{"nextCursor":"more"}}}}"#);
    let query = "/v0.1/servers?version=latest&limit=100&search=a";
    // A page that always names another one, and one that names a page that is not there.
    for (second, found) in [(Page::json(&page), 12), (Page::json("<"), 1)] {
        let second = (&*format!("{query}&cursor=more"), second);
        let site = Site::new(&[(query, Page::json(&page).with("Cache-Control: no-store")), second]);
        let outcome = mcpmini(&world(&[]), &site, &["discover", "registry:a", "--no-cache"]);
        assert_eq!((outcome.code, outcome.out.lines().count()), (0, found), "{outcome:?}");
        let told = format!("{found} servers are shown, and the registry has more: ");
        assert!(outcome.err.contains(&told), "{outcome:?}");
    }
}

#[test]
fn a_registry_that_answers_about_another_server_is_not_believed() {
    let scratch = world(&["npx"]);
    let answer = |asked: &str, server: &str| {
        let version = asked.split_once('@').map_or("latest", |(_, version)| version);
        let path = format!("/v0.1/servers/com.example%2Fweather/versions/{version}");
        let packages = r#""packages":[{"registryType":"npm","identifier":"w","version":"1.0.0"}]"#;
        let document = format!(r#"{{"server":{{{server}"description":"d",{packages}}}}}"#);
        let site = Site::new(&[(&path, Page::json(&document))]);
        let place = format!("registry:com.example/{asked}");
        ["add", "discover"].map(|command| mcpmini(&scratch, &site, &[command, &place]))
    };
    for (asked, server, told) in [
        (
            "weather",
            r#""name":"com.example/evil","version":"1.2.0","#,
            "answered about \"com.example/evil\"",
        ),
        ("weather", r#""name":"com.example/Weather","version":"1","#, "com.example/Weather"),
        ("weather", r#""version":"1.2.0","#, "answered about a server without a name"),
        (
            "weather@1.2.0",
            r#""name":"com.example/weather","version":"1.1.0","#,
            "answered about version \"1.1.0\"",
        ),
        ("weather@1.2.0", r#""name":"com.example/weather","#, "without a version"),
    ] {
        for outcome in answer(asked, server) {
            assert_eq!((outcome.code, &*outcome.out), (6, ""), "{asked} {server}: {outcome:?}");
            assert!(outcome.err.contains(told), "{told}: {outcome:?}");
        }
    }
    for (asked, version) in [("weather", "3"), ("weather@latest", "3"), ("weather@3", "3")] {
        let server = format!(r#""name":"com.example/weather","version":"{version}","#);
        let [added, found] = answer(asked, &server);
        assert!(added.code == 8 && added.err.contains("it runs npx -y w@1.0.0"), "{added:?}");
        assert_eq!(found.code, 0, "{found:?}");
    }
}
