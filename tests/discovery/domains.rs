//! Cards that the owner of a domain has signed in a catalog: `example.com`, as a proxy shows it.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;

use crate::site::{CATALOG, INFO, Page, Site};
use crate::support::{Outcome, Scratch, run};

fn vector(name: &str) -> String {
    fs::read_to_string(format!("tests/vectors/own/{name}")).unwrap()
}

/// `https://example.com`, which has files.
struct Domain {
    scratch: Scratch,
    /// The proxy that leads there, whatever host is asked for.
    proxy: String,
    server: Child,
}

impl Domain {
    /// `None` where there is no openssl.
    fn start() -> Option<Domain> {
        let scratch = Scratch::new();
        let openssl = |words: &str| {
            let mut command = Command::new("openssl");
            command.args(words.split(' ')).current_dir(scratch.path(""));
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
        };
        let run = |words: &str| openssl(words).ok()?.wait().ok()?.success().then_some(());
        scratch.write("names", "subjectAltName=DNS:example.com");
        let key = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes";
        run(&format!("req -x509 {key} -days 2 -subj /CN=authority -keyout ca.key -out ca.pem"))?;
        run(&format!("req {key} -subj /CN=example.com -keyout key.pem -out req.pem"))?;
        run("x509 -req -in req.pem -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 \
             -extfile names -out cert.pem")?;
        let mut server = Command::new("openssl");
        server.args("s_server -accept 127.0.0.1:0 -cert cert.pem -key key.pem -HTTP".split(' '));
        server.current_dir(scratch.path("")).stdin(Stdio::null()).stderr(Stdio::null());
        let mut server = server.stdout(Stdio::piped()).spawn().ok()?;
        let mut told = BufReader::new(server.stdout.take()?).lines().map_while(Result::ok);
        let place = told.find_map(|line| Some(line.strip_prefix("ACCEPT ")?.to_owned()))?;
        // It stops when nobody reads what it says.
        thread::spawn(move || told.for_each(drop));
        fs::create_dir(scratch.path(".well-known")).unwrap();
        Some(Domain { scratch, proxy: proxy(place), server })
    }

    /// Publishes a file, with its headers.
    fn publish(&self, path: &str, status: &str, text: &str) {
        let length = text.len();
        let head = format!(
            "HTTP/1.0 {status}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
        );
        self.scratch.write(path, head + text);
    }

    fn run(&self, words: &[&str]) -> Outcome {
        let mut command = self.scratch.mcpmini(words);
        command.env("HTTPS_PROXY", &self.proxy).env("NO_PROXY", "127.0.0.1");
        run(command.env("SSL_CERT_FILE", "ca.pem").env("MCPMINI_CACHE", "off"))
    }
}

impl Drop for Domain {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// A proxy that connects everybody to one place.
fn proxy(place: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let place = place.clone();
            thread::spawn(move || {
                let mut head = Vec::new();
                let mut byte = [0];
                let mut client = client;
                while !head.ends_with(b"\r\n\r\n") && client.read_exact(&mut byte).is_ok() {
                    head.push(byte[0]);
                }
                let mut there = TcpStream::connect(&place).unwrap();
                client.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
                let (mut back, mut forth) =
                    (there.try_clone().unwrap(), client.try_clone().unwrap());
                thread::spawn(move || {
                    let _ = std::io::copy(&mut back, &mut forth);
                    let _ = forth.shutdown(std::net::Shutdown::Both);
                });
                let _ = std::io::copy(&mut client, &mut there);
            });
        }
    });
    origin
}

#[test]
#[allow(clippy::print_stdout, reason = "a test that checks nothing says so")]
fn a_card_is_signed_when_the_keys_that_its_domain_publishes_now_say_so() {
    let Some(domain) = Domain::start() else {
        println!("skipped: there is no openssl");
        return;
    };
    let site = Site::new(&[(CATALOG, Page::json(&vector("catalog-inside.json")))]);
    let card = || domain.run(&["card", &site.host()]);
    let check = |told: &str| {
        let outcome = card();
        assert!(outcome.code == 0 && outcome.out.contains(told), "{told}: {outcome:?}");
    };
    domain.publish(".well-known/did.json", "200 OK", &vector("did.json"));
    check("signature    by did:web:example.com");
    // A key that was taken back, another one, and a domain that does not say.
    let keys = vector("did.json");
    let other = keys.replace("\"x\":\"", "\"x\":\"A");
    for changed in [keys.replace("assertionMethod", "authentication"), other] {
        domain.publish(".well-known/did.json", "200 OK", &changed);
        check("signature    DOES NOT HOLD: ");
    }
    domain.publish(".well-known/did.json", "503 Service Unavailable", "{}");
    check("signature    not checked (a trust manifest comes with it)");
    // The same for what the catalog says about a card that lies elsewhere.
    let tampered = vector("catalog-inside.json").replace("2125-06-01", "2126-06-01");
    site.put(CATALOG, Page::json(&tampered));
    domain.publish(".well-known/did.json", "200 OK", &keys);
    check("signature    DOES NOT HOLD: ");
}

#[test]
#[allow(clippy::print_stdout, reason = "a test that checks nothing says so")]
fn the_domain_that_has_signed_is_remembered_when_a_server_is_added() {
    let Some(domain) = Domain::start() else {
        println!("skipped: there is no openssl");
        return;
    };
    let site = Site::new(&[(CATALOG, Page::json(&vector("catalog-anywhere.json")))]).serving(INFO);
    domain.publish("server-card", "200 OK", &vector("anywhere.json"));
    domain.publish("server-card.sigstore.json", "404 Not Found", "{}");
    domain.publish(".well-known/did.json", "200 OK", &vector("did.json"));
    let (host, base) = (site.host(), format!("base={}", site.at("")));
    let add = ["add", "weather", &host, "--var", &base, "--allow-private"];
    let refused = domain.run(&add);
    assert_eq!(refused.code, 8, "{refused:?}");
    let (_, digest) = refused.err.rsplit_once("--accept ").unwrap();
    let added = domain.run(&[&add[..], &["--accept", digest.trim()]].concat());
    assert_eq!(added.code, 0, "{added:?}");
    assert!(added.out.contains("signature    by did:web:example.com"), "{added:?}");
    let shown = domain.run(&["tools", "weather"]);
    assert_eq!(shown.code, 0, "{shown:?}");
    let shown = domain.run(&["trust", "show", "weather"]);
    assert!(shown.out.contains("publisher    did-web did:web:example.com"), "{shown:?}");
    // From then on it is missed where it is gone, by whoever looks.
    assert_eq!(domain.run(&["trust", "diff", "weather", "--allow-private"]).out, "");
    let unsigned = vector("catalog-anywhere.json").replace("trustManifests", "others");
    site.put(CATALOG, Page::json(&unsigned));
    for words in [["trust", "diff"], ["tools", ""]] {
        let words: Vec<_> = words.into_iter().filter(|word| !word.is_empty()).collect();
        let stopped = domain.run(&[&words[..], &["weather", "--allow-private"]].concat());
        let told = "it is not signed any more; it was by did:web:example.com";
        assert!(stopped.code == 8 && format!("{stopped:?}").contains(told), "{stopped:?}");
    }
}

#[test]
#[allow(clippy::print_stdout, reason = "a test that checks nothing says so")]
fn a_card_inside_of_a_catalog_that_is_not_signed_any_more_is_missed() {
    let Some(domain) = Domain::start() else {
        println!("skipped: there is no openssl");
        return;
    };
    let site = Site::new(&[(CATALOG, Page::json(&vector("catalog-inside.json")))]);
    domain.publish(".well-known/did.json", "200 OK", &vector("did.json"));
    let (catalog, entry) = (site.at(CATALOG), "urn:air:example.com:mcp:weather");
    fs::create_dir_all(domain.scratch.path(".config/mcpmini")).unwrap();
    domain.scratch.write(
        ".config/mcpmini/config.json",
        format!(
            r#"{{"mcpServers":{{"weather":{{"url":"https://example.com/mcp","card":"{catalog}","cardEntry":"{entry}"}}}}}}"#
        ),
    );
    let card = || domain.run(&["card", "weather"]);
    let shown = card();
    assert!(shown.code == 0 && shown.out.contains("by did:web:example.com"), "{shown:?}");
    let unsigned = vector("catalog-inside.json").replace("trustManifests", "others");
    site.put(CATALOG, Page::json(&unsigned));
    let stopped = card();
    let told = "it is not signed any more; it was by did:web:example.com";
    assert!(stopped.code == 8 && format!("{stopped:?}").contains(told), "{stopped:?}");
}
