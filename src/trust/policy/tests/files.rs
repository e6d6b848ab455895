//! Files of policies: what they can say, and what is no policy.

use super::*;

/// What the parser says that it knows where it meets what it does not: the names in its words.
fn expected_at(mistake: &str) -> Vec<String> {
    let (_, names) = mistake.split_once("expected ").unwrap();
    names.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The example in the help texts is a policy, and it leaves out nothing that one can say.
#[test]
fn the_example_says_what_the_parser_knows() {
    assert_eq!(document::parse(EXAMPLE).map(drop), Ok(()));
    assert_eq!(revocation::read(EXAMPLE_LIST.as_bytes()).map(|list| list.entries.len()), Ok(2));
    let is_name = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    let said: Vec<&str> = EXAMPLE.split(|c| !is_name(c)).collect();
    let check = |policy: &str, at_least: usize| {
        let (_, mistake) = document::parse(policy).unwrap_err();
        let names = expected_at(&mistake);
        assert!(at_least <= names.len(), "{mistake}");
        for name in &names {
            assert!(said.contains(&name.as_str()), "{name} is not in the example: {mistake}");
        }
        names
    };
    check("x = 1", 8);
    check("mode = \"x\"", 3);
    check("cross_domain = \"x\"", 3);
    check("[[deny]]\nx = 1", 10);
    check("[revocation]\nx = 1", 7);
    let kinds = check("[[allow]]\nkind = \"x\"", 7);
    let (_, without) = document::parse("[[allow]]\nx = 1").unwrap_err();
    let (_, told) = without.split_once("one of ").unwrap();
    assert_eq!(told, kinds.iter().map(|kind| format!("`{kind}`")).collect::<Vec<_>>().join(", "));
    for kind in kinds {
        check(&format!("[[allow]]\nkind = \"{kind}\"\nx = 1"), 1);
        assert!(EXAMPLE.contains(&format!("\nkind = \"{kind}\"\n")), "{kind}");
    }
    let mistake = revocation::read(b"{\"x\":1}").unwrap_err();
    for name in expected_at(&mistake) {
        assert!(EXAMPLE_LIST.contains(&format!("\"{name}\":")), "{name}");
    }
}

#[test]
fn a_policy_that_is_not_understood_admits_nothing() {
    let check = |policy: &str, expected: &str| {
        let told = World::new().user(policy).told(SIGNED);
        assert!(told.starts_with("error: ") && told.contains(expected), "{policy}: {told}");
    };
    check("mode = \"lax\"", "policy.toml:1: unknown variant `lax`");
    check("require_signatures = true", "unknown field `require_signatures`");
    check("\n\n[[deny]]\nhots = \"x\"", "unknown field `hots`");
    check("[[deny]]\n", "policy.toml:1: deny: it says nothing");
    check("[[deny]]\nhost = \"a b\"", "\"a b\" is no host");
    check("[[deny]]\nhost = \"*\"", "\"*\" is no host");
    check("[[deny]]\nhost = \"a.*.b\"", "is no host");
    check("[[deny]]\ncard_sha256 = \"xyz\"", "card_sha256 \"xyz\" is not hexadecimal");
    check("[[deny]]\ncommand = []", "command has no words");
    // What could never match would be no rule.
    check("[[deny]]\nhost = \"a.example:8443\"", "\"a.example:8443\" is no host");
    check("[[deny]]\nhost = \"[::1]:80\"", "is no host");
    check("[[allow]]\nkind = \"host\"\nhosts = [\"a.example:8443\"]", "is no host");
    check("[[deny]]\ncommand = [\"*\"]", "command names no program");
    check("[[deny]]\ncommand = [\"npx\", \"*\", \"x\"]", "\"*\" is only the last word");
    check("[[allow]]\nkind = \"command\"\ncommand = [\"a\", \"*\", \"x\"]", "is only the last");
    for name in [
        "",
        "*",
        "sr*",
        " srv",
        "srv ",
        "@1.2.0",
        "a/b/c",
        "/srv",
        "srv/",
        "a b",
        "gr\u{f6}\u{df}e",
    ] {
        let told =
            format!("policy.toml:3: deny: no server is called \"{name}\": a name has letters");
        check(&format!("\n\n[[deny]]\nname = \"{name}\""), &told);
    }
    for name in ["srv@", "srv@*", "srv@^1", "srv@ 1", "srv@1@2"] {
        let told = format!("policy.toml:1: deny: name \"{name}\" has no version after the @");
        check(&format!("[[deny]]\nname = \"{name}\""), &told);
    }
    check("[[deny]]\nsan = \"\"", "deny: san is empty");
    check("[[deny]]\nissuer = \" x\"", "deny: issuer is empty, or begins or ends with a blank");
    check("[[deny]]\ndid = \"example.com\"", "did \"example.com\" does not begin with did:web:");
    check("[[deny]]\ncommand = [\"\"]", "command names no program");
    check("[[deny]]\ncard_sha256 = \"00\"", "card_sha256 has not 64 digits");
    check("[[deny]]\nspki_sha256 = \"00\"", "spki_sha256 has not 64 digits");
    check("cross_domain = \"maybe\"", "unknown variant `maybe`");
    check(
        "[[allow]]\nhosts = [\"x\"]",
        "policy.toml:1: missing field `kind`, one of `sigstore`, `did-web`, `key`, `host`, ",
    );
    check("[[allow]]\nkind = \"registries\"", "unknown variant `registries`");
    check("[[allow]]\nkind = \"registry\"", "missing field `namespaces`");
    check("[[allow]]\nkind = \"registry\"\nnamespaces = []", "it has no namespaces");
    check("[[allow]]\nkind = \"registry\"\nnamespaces = [\"*\"]", "\"*\" is not com.example/*");
    check("[[allow]]\nkind = \"registry\"\nnamespaces = [\"com.*/x\"]", "is not com.example/*");
    check("[[allow]]\nkind = \"host\"\nhosts = []", "it names no hosts");
    check("[[allow]]\nkind = \"host\"", "missing field `hosts`");
    check("[[allow]]\nkind = \"socket\"\npath = \"run/s\"", "\"run/s\" is no absolute path");
    check("[[allow]]\nkind = \"command\"\ncommand = [\"*\"]", "command names no program");
    check(
        "[[allow]]\nkind = \"command\"\ncommand = [\"x\"]\ncwd = \"y\"",
        "cwd \"y\" is no absolute path",
    );
    check("[[allow]]\nkind = \"key\"\nspki_sha256 = \"00\"", "has not 64 digits");
    check("[[allow]]\nkind = \"sigstore\"\nsan = \"x\"", "missing field `issuer`");
    check("[[allow]]\nkind = \"sigstore\"\nissuer = \"x\"", "it needs san or san_prefix");
    check(
        "[[allow]]\nkind = \"sigstore\"\nissuer = \"x\"\nsan_prefix = \"https://github.com/acme\"",
        "san_prefix must end with / or @",
    );
    check("[revocation]\n", "revocation: it names no list");
    check("[revocation]\nurls = [\"https://l.example/\"]", "need a signer");
    check("[revocation]\nfiles = [\"x\"]\nsan = \"x\"", "the signer of the lists is");
    check("[revocation]\nurls = [\"http://l.example/\"]\npublic_key = \"k\"", "is not https");
    check("[revocation]\nfiles = [\"x\"]\nmax_age = \"soon\"", "\"soon\" is no duration");
    check("mode = ", "policy.toml:1: ");
    let missing = format!("trusted_root = \"gone.json\"\n{}", "require_signature = true");
    let told = World::new().keeping("card.json").user(&missing).told(SIGNED);
    assert!(told.contains("gone.json, which") && told.ends_with("it is not there"), "{told}");
}

#[test]
fn a_policy_that_is_named_must_be_there() {
    let world = World::new().user("mode = \"strict\"").with("p.toml", "mode = \"off\"");
    let mut env = world.env();
    let home = world.scratch.path("h");
    let named = |file: &str| {
        let path = world.scratch.path(file);
        [
            ("HOME", home.to_str().unwrap().to_owned()),
            ("MCPMINI_POLICY", path.display().to_string()),
        ]
    };
    let pairs = named("p.toml");
    env.variables = [("HOME", pairs[0].1.as_str()), ("MCPMINI_POLICY", pairs[1].1.as_str())].into();
    assert_eq!(Policies::load(&env).unwrap().mode(), Mode::Off);
    let pairs = named("gone.toml");
    env.variables = [("HOME", pairs[0].1.as_str()), ("MCPMINI_POLICY", pairs[1].1.as_str())].into();
    assert!(matches!(Policies::load(&env), Err(PolicyError::NoSuchFile(_))));
}
