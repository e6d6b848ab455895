//! `https://example.com`, which publishes documents, as a proxy shows it.

#![allow(dead_code, reason = "each test program uses a part of it")]

use std::collections::HashMap;
use std::io::{Result, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;

use rustls::ServerConfig;

use crate::encrypted::{self, Authority, Times};
use crate::support::{LIMIT, Outcome, Scratch, answer, run};

/// What is answered at each path, as it goes over the wire.
type Pages = Arc<Mutex<HashMap<String, String>>>;

/// A domain, and who asks it. It lives as long as the test program.
pub(crate) struct Domain {
    /// Where the program runs.
    pub(crate) scratch: Scratch,
    /// The proxy that is every host of the world, and shows the certificate of `example.com`.
    proxy: String,
    pages: Pages,
}

impl Domain {
    pub(crate) fn start() -> Domain {
        let (scratch, authority) = (Scratch::new(), Authority::new());
        authority.file(&scratch);
        let config = authority.certify("example.com", Times::Days(2)).config();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let proxy = format!("http://{}", listener.local_addr().unwrap());
        let pages = Pages::default();
        let shown = pages.clone();
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let (config, shown) = (config.clone(), shown.clone());
                // A client that hangs up is no event.
                thread::spawn(move || drop(serve(client, config, &shown)));
            }
        });
        Domain { scratch, proxy, pages }
    }

    /// Publishes a document.
    pub(crate) fn publish(&self, path: &str, status: &str, text: &str) {
        self.pages.lock().unwrap().insert(path.to_owned(), answer(status, text));
    }

    /// Lets a command see it beside what listens on this machine.
    pub(crate) fn show_to<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command.env("HTTPS_PROXY", &self.proxy).env("NO_PROXY", "127.0.0.1");
        command.env("SSL_CERT_FILE", self.scratch.path(encrypted::FILE))
    }

    /// Runs the program, which keeps nothing that it has fetched.
    #[track_caller]
    pub(crate) fn run(&self, words: &[&str]) -> Outcome {
        let mut command = self.scratch.mcpmini(words);
        run(self.show_to(&mut command).env("MCPMINI_CACHE", "off"))
    }
}

/// One request through the proxy, whatever host it is for.
fn serve(mut client: TcpStream, config: Arc<ServerConfig>, pages: &Pages) -> Result<()> {
    client.set_read_timeout(Some(LIMIT))?;
    encrypted::read_head(&mut client)?;
    client.write_all(b"HTTP/1.1 200 -\r\n\r\n")?;
    encrypted::answer_once(client, config, |head| {
        let path = head.split(' ').nth(1).unwrap_or_default();
        let page = pages.lock().unwrap().get(path).cloned();
        page.unwrap_or_else(|| answer("404 Not Found", "{}"))
    })
}
