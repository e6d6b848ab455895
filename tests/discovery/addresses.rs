//! Documents of the world must not lead to where only we can reach: no spelling of an address, no
//! redirect and no name that changes its mind.

use std::cell::Cell;
use std::net::IpAddr;
use std::rc::Rc;
use std::time::Duration;

use mcpmini::net::{
    Address, FetchError, Fetcher, Policy, Proxy, ProxyAddress, Settings, Source, Zone,
};

use crate::server::Server;
use crate::site::{CARD, CATALOG, mcpmini};
use crate::support::{Scratch, run};

/// Addresses that are not of the world, in every spelling. Not one may be let through.
const NEAR: [&str; 58] = [
    // This machine.
    "http://127.0.0.1/",
    "http://127.1/",
    "http://127.0.1/",
    "http://127.255.255.254/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7f.1/",
    "http://0177.0.0.1/",
    "http://0177.0.0.01/",
    "http://017700000001/",
    "http://127.0.0.1./",
    "http://0.0.0.0/",
    "http://0/",
    "http://0x0/",
    "http://[::1]/",
    "http://[::]/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[2002:7f00:1::]/",
    "http://[64:ff9b::127.0.0.1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://localhost/",
    "http://LOCALHOST/",
    "http://%6c%6f%63%61%6c%68%6f%73%74/",
    "http://１２７.0.0.1/",
    "http://127。0。0。1/",
    // Networks nearby.
    "http://10.0.0.1/",
    "http://10.1/",
    "http://167772161/",
    "http://012.0.0.1/",
    "http://0xa.0.0.1/",
    "http://172.16.0.1/",
    "http://172.31.255.255/",
    "http://192.168.0.1/",
    "http://192.168.257/",
    "http://3232235521/",
    "http://0300.0250.0.1/",
    "http://169.254.1.1/",
    "http://100.64.0.1/",
    "http://100.127.255.255/",
    "http://192.0.0.1/",
    "http://198.18.0.1/",
    "http://224.0.0.1/",
    "http://255.255.255.255/",
    "http://[fc00::1]/",
    "http://[fd12:3456::1]/",
    "http://[fe80::1]/",
    "http://[ff02::1]/",
    "http://[::ffff:10.0.0.1]/",
    "http://[::ffff:c0a8:1]/",
    "http://[2002:c0a8:1::1]/",
    "http://[64:ff9b::192.168.0.1]/",
    // Where clouds keep their secrets.
    "http://169.254.169.254/latest/meta-data/",
    "http://2852039166/",
    "http://0xa9fea9fe/",
    "http://[::ffff:169.254.169.254]/",
    "http://[fd00:ec2::254]/",
];

fn fetcher(settings: &Settings) -> Fetcher {
    let nowhere = Address::parse("https://localhost/").unwrap();
    // Even where connections need not be encrypted.
    let policy = Policy { allow_private: false, allow_http: true };
    Fetcher::new(settings, &nowhere, policy).with_patience(Duration::from_secs(2))
}

#[test]
fn no_address_nearby_is_let_through() {
    let world = fetcher(&Settings::default());
    for near in NEAR {
        for url in [near.to_owned(), near.replace("http://", "https://")] {
            let refused = match Address::parse(&url) {
                Err(_) => true,
                Ok(address) => {
                    let admitted = world.admits(&address, Source::Document(Zone::Public));
                    let refusal = mcpmini::reactor::block_on(admitted);
                    matches!(refusal, Err(FetchError::Inwards { .. } | FetchError::Forbidden(_)))
                }
            };
            assert!(refused, "{url}");
        }
    }
}

/// A proxy makes any host of the world out of a server on loopback.
fn through(server: &Server) -> Settings {
    let proxy = ProxyAddress::parse(&server.origin).unwrap();
    Settings { proxy: Proxy::Explicit(proxy), ..Settings::default() }
}

#[test]
fn no_redirect_leads_nearby() {
    for near in NEAR {
        let location = near.to_owned();
        let server = Server::start(move |_, peer| {
            peer.answer("302 Found", &format!("Location: {location}\r\n"), "");
            true
        });
        let address = Address::parse("http://world.example/card.json").unwrap();
        let world = fetcher(&through(&server));
        let error =
            mcpmini::reactor::block_on(world.get(&address, Source::User, "*/*", 100)).unwrap_err();
        let refused = matches!(
            error,
            FetchError::Inwards { .. } | FetchError::Forbidden(_) | FetchError::BadRedirect { .. }
        );
        assert!(refused, "{near}: {error}");
        assert_eq!(server.requests().len(), 1, "{near}");
    }
}

#[test]
fn a_name_that_changes_its_mind_is_asked_once() {
    let server = Server::start(|_, peer| {
        peer.json("{}");
        true
    });
    let port: u16 = server.origin.rsplit(':').next().unwrap().parse().unwrap();
    let address = Address::parse(&format!("http://rebinding.example:{port}/")).unwrap();
    // First an address of the world that leads nowhere, then this machine.
    let get = |first: &'static str, source: Source| {
        let asked = Rc::new(Cell::new(0));
        let counter = asked.clone();
        let resolve = move |host: &str| -> Vec<IpAddr> {
            assert_eq!(host, "rebinding.example");
            counter.set(counter.get() + 1);
            let answer = if counter.get() == 1 { first } else { "127.0.0.1" };
            answer.split(' ').map(|ip| ip.parse().unwrap()).collect()
        };
        let settings =
            Settings { connect_timeout: Duration::from_millis(500), ..Settings::default() };
        let fetched = fetcher(&settings).with_resolver(resolve);
        let fetched = mcpmini::reactor::block_on(fetched.get(&address, source, "*/*", 100));
        (fetched.map(|it| it.status.as_u16()), asked.get())
    };
    let world = Source::Document(Zone::Public);
    let (fetched, asked) = get("8.8.8.8", world);
    assert!(fetched.is_err(), "{fetched:?}");
    assert_eq!((asked, server.requests().len()), (1, 0), "the second answer has no effect");
    // One address nearby among others is enough to be refused.
    for mixed in ["8.8.8.8 127.0.0.1", "127.0.0.1 8.8.8.8", "8.8.8.8 ::ffff:10.0.0.1"] {
        let (fetched, asked) = get(mixed, world);
        assert!(matches!(fetched, Err(FetchError::Inwards { .. })), "{mixed}: {fetched:?}");
        assert_eq!((asked, server.requests().len()), (1, 0), "{mixed}");
    }
    // Whoever names it may reach it, at the address that was found first.
    let (fetched, asked) = get("127.0.0.1", Source::User);
    assert_eq!((fetched.unwrap(), asked, server.requests().len()), (200, 1, 1));
}

/// The program, with a server as the world: any host that is named without encryption is asked from
/// it.
fn in_the_world(server: &Server, words: &[&str]) -> crate::support::Outcome {
    let scratch = Scratch::new();
    let mut command = scratch.mcpmini([words, &["--allow-http"]].concat());
    run(command.env("http_proxy", &server.origin))
}

#[test]
fn a_catalog_of_the_world_names_no_card_nearby() {
    let near = Server::start(|_, peer| {
        peer.json("{}");
        true
    });
    let (card, host) = (near.origin.clone(), "http://world.example");
    let catalog = format!(
        r#"{{"specVersion":"1.0","entries":[{{"identifier":"x:near","type":"application/mcp-server-card+json","url":"{card}/card"}}]}}"#
    );
    let world = Server::start(move |_, peer| {
        peer.json(&catalog);
        true
    });
    let outcome = in_the_world(&world, &["discover", "--standard", "-v", host]);
    assert!(outcome.err.contains("has the address 127.0.0.1, which is not public"), "{outcome:?}");
    assert_eq!(near.requests().len(), 0);
}

#[test]
fn a_card_of_the_world_names_no_endpoint_nearby() {
    let near = Server::start(|_, peer| {
        peer.accepted();
        true
    });
    let card = CARD.replace("$O", &near.origin);
    let world = Server::start(move |request, peer| {
        assert!(!request.path.ends_with(CATALOG));
        peer.json(&card);
        true
    });
    let url = "card:http://world.example/card.json";
    for words in [&["card", url, "--connect"][..], &["add", url]] {
        let outcome = in_the_world(&world, words);
        assert_eq!(outcome.code, 8, "{words:?}: {outcome:?}");
        assert!(outcome.err.contains("which is not public"), "{words:?}: {outcome:?}");
        assert_eq!(near.requests().len(), 0, "{words:?}");
    }
    // It can be wanted, and then it is asked for by its name.
    let outcome = in_the_world(&world, &["add", url, "--allow-private"]);
    assert_eq!(outcome.code, 8, "{outcome:?}");
    assert!(outcome.err.contains("--accept sha256:"), "{outcome:?}");
}

#[test]
fn connections_are_encrypted_beyond_this_machine() {
    let world = Server::start(|_, peer| {
        peer.json(CARD);
        true
    });
    let words = ["card", "http://world.example/mcp", "--proxy", &world.origin];
    let outcome = mcpmini(&Scratch::new(), &words);
    assert_eq!(outcome.code, 4, "{outcome:?}");
    assert!(outcome.err.contains("is not encrypted"), "{outcome:?}");
    assert_eq!(world.requests().len(), 0);
}
