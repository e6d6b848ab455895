//! Lists of what is revoked: files, and copies of what the network has.

use super::*;

#[test]
fn what_is_revoked_is_refused() {
    let list =
        |more: &str| format!("mode = \"off\"\ntrusted_root = \"root.json\"\n[revocation]\n{more}");
    let by_key = "files = [\"revoked.jsonl\"]\npublic_key = \"key.pub\"\n";
    let world = || World::new().user(&list(by_key));
    world().check("https://a.evil.example/", "refused: user revoked");
    world().check("https://fine.example/", "admitted: user mode: mode is off");
    let named = r#"{"match":{"name":"com.example/weather@1.2.0"},"since":"2026-01-01T00:00:00Z","reason":"sold"}"#;
    let unsigned = list("files = [\"mine.jsonl\"]");
    let mine = |text: &str| World::new().user(&unsigned).with("h/.config/mcpmini/mine.jsonl", text);
    mine(named)
        .keeping("card.json")
        .check(SIGNED, "revokes name com.example/weather@1.2.0, since 2026-01-01T00:00:00Z (sold)");
    mine(named).check("https://other.example/", "admitted");
    mine("{\"issued\":\"2025-05-01T00:00:00Z\"}\n\n").check(SIGNED, "admitted");
    for cut_off in ["", "\n", " \t\r\n\n"] {
        let told = "mine.jsonl: it is empty; one that revokes nothing says when it was issued";
        mine(cut_off).check(SIGNED, told);
    }
    // A list that cannot be relied on revokes everything.
    for broken in [
        "x",
        "{}",
        "{\"match\":{}}",
        "{\"match\":{\"hots\":\"x\"}}",
        "[]",
        "{\"match\":{\"host\":\"x\",\"host\":\"y\"}}",
        "{\"match\":{\"host\":\"x\"},\"since\":\"soon\"}",
        "{\"match\":{\"host\":\"x y\"}}",
        "{\"match\":{\"card_sha256\":\"no\"}}",
        "{\"issued\":\"soon\"}",
        "{\"match\":{\"host\":\"x\"}}\n{\"issued\":\"2025-05-01T00:00:00Z\"}",
        "{\"issued\":\"2025-05-01T00:00:00Z\",\"match\":{\"host\":\"x\"}}",
    ] {
        mine(broken).check(SIGNED, "refused: user revocation_list");
    }
    World::new().user(&unsigned).check(SIGNED, "mine.jsonl: it is not there");
    let optional = list("files = [\"mine.jsonl\"]\nrequired = false");
    World::new().user(&optional).check(SIGNED, "admitted");
    World::new()
        .user(&optional)
        .with("h/.config/mcpmini/mine.jsonl", "x")
        .check(SIGNED, "refused: user revocation_list");
    let tampered = String::from_utf8(vector("revoked.jsonl")).unwrap().replace("evil", "evel");
    world()
        .with("h/.config/mcpmini/revoked.jsonl", &tampered)
        .check(SIGNED, "refused: user revocation_list");
    world()
        .with("h/.config/mcpmini/revoked.jsonl.sigstore.json", "")
        .check(SIGNED, "refused: user revocation_list");
    world()
        .with("h/.config/mcpmini/key.pub", "")
        .check(SIGNED, "error: /h/.config/mcpmini/key.pub, which");
    let by_name =
        list(&format!("files = [\"revoked.jsonl\"]\nsan = \"{SAN}\"\nissuer = \"{ISSUER}\"\n"));
    World::new().user(&by_name).check(SIGNED, "refused: user revocation_list");
}

#[test]
fn copies_of_lists_are_good_for_their_time() {
    let url = "https://lists.example/revoked.jsonl";
    let policy = format!(
        "trusted_root = \"root.json\"\n[revocation]\nurls = [\"{url}\"]\npublic_key = \"key.pub\"\nmax_age = \"1h\"\n"
    );
    let mut world = World::new().user(&policy);
    world.check(SIGNED, "there is no copy of it");
    let stale = |world: &World| Policies::load(&world.env()).unwrap().stale(&world.env());
    assert_eq!(stale(&world), [url]);
    let bundle = vector("revoked.jsonl.sigstore.json");
    store_list(url, vector("revoked.jsonl"), Some(bundle.clone()), &world.env()).unwrap();
    assert!(stale(&world).is_empty());
    world.check(SIGNED, "admitted");
    world.check("https://a.evil.example/", "refused: user revoked");
    world.now += 3600;
    world.check(SIGNED, "admitted");
    world.now += 1;
    world.check(SIGNED, "the copy of it is too old");
    assert_eq!(stale(&world), [url]);
    world.now -= 3602;
    world.check(SIGNED, "the copy of it is too old");
    world.now += 1;
    store_list(url, vector("revoked.jsonl"), None, &world.env()).unwrap();
    world.check(SIGNED, "it is not signed");
    store_list(url, Vec::new(), Some(bundle), &world.env()).unwrap();
    world.check(SIGNED, "refused: user revocation_list");
    let lax = format!("{policy}required = false\n");
    World::new().user(&lax).check(SIGNED, "admitted");
}

/// Whoever answers for a host can give out a list of old, which is signed as well as the new one.
#[test]
fn a_list_from_the_network_never_gives_way_to_an_older_one() {
    let url = "https://lists.example/revoked.jsonl";
    let policy = format!(
        "trusted_root = \"root.json\"\n[revocation]\nurls = [\"{url}\"]\npublic_key = \"key.pub\"\n"
    );
    let world = World::new().user(&policy);
    let fetch = |name: &str| {
        let bundle = vector(&format!("{name}.sigstore.json"));
        store_list(url, vector(name), Some(bundle), &world.env()).unwrap();
    };
    fetch("revoked-before.jsonl");
    world.check("https://a.evil.example/", "admitted");
    fetch("revoked.jsonl");
    world.check("https://a.evil.example/", "refused: user revoked");
    fetch("revoked-before.jsonl");
    for word in ["https://a.evil.example/", SIGNED] {
        world.check(
            word,
            "it was issued at 2025-05-01T00:00:00Z, and one of 2025-06-01T12:00:00Z was used before",
        );
    }
    fetch("revoked-sometime.jsonl");
    world.check(SIGNED, "its first line does not say when it was issued");
    fetch("revoked.jsonl");
    world.check(SIGNED, "admitted");
    // What cannot be read was not written by us.
    let folder = world.scratch.path("h/.local/state/mcpmini/revocation");
    let files = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let newest = files.filter(|path| path.extension().is_some_and(|end| end == "issued"));
    newest.for_each(|path| fs::write(path, "x").unwrap());
    world.check(SIGNED, "refused: user revocation_list");
}
