//! A host with documents, and with an MCP server at `/mcp`.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use crate::server::{Peer, Request, Server};
use crate::support::{Outcome, Scratch, run};

/// A document of a site.
#[derive(Debug, Clone)]
pub(crate) struct Page {
    pub(crate) status: &'static str,
    /// Header fields, each with its line end.
    pub(crate) fields: String,
    pub(crate) body: String,
}

impl Page {
    /// A JSON document in which `$O` stands for the origin of the site.
    pub(crate) fn json(body: &str) -> Page {
        Page {
            status: "200 OK",
            fields: "Content-Type: application/json\r\n".to_owned(),
            body: body.to_owned(),
        }
    }

    pub(crate) fn with(mut self, field: &str) -> Page {
        self.fields += &format!("{field}\r\n");
        self
    }
}

/// What a site has, which a test may change.
#[derive(Debug, Default)]
pub(crate) struct Content {
    pub(crate) pages: HashMap<String, Page>,
    /// The `serverInfo` of the MCP server; without one there is no server.
    pub(crate) info: Option<String>,
    /// Its tools, JSON objects.
    pub(crate) tools: String,
}

pub(crate) struct Site {
    pub(crate) server: Server,
    pub(crate) content: Arc<Mutex<Content>>,
}

pub(crate) const CATALOG: &str = "/.well-known/ai-catalog.json";
pub(crate) const INFO: &str = r#"{"name":"weather","version":"1.2.0"}"#;

/// A v1 card of the server of a site.
pub(crate) const CARD: &str = r#"{"$schema":"https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json","name":"com.example/weather","version":"1.2.0","description":"Tells the weather.","remotes":[{"type":"streamable-http","url":"$O/mcp"}]}"#;

impl Site {
    /// A site with these documents.
    pub(crate) fn new(pages: &[(&str, Page)]) -> Site {
        let pages = pages.iter().map(|(path, page)| ((*path).to_owned(), page.clone())).collect();
        let content = Arc::new(Mutex::new(Content { pages, ..Content::default() }));
        let serving = content.clone();
        let server = Server::start(move |request, peer| {
            let (page, info, tools) = {
                let content = serving.lock().unwrap();
                let page = content.pages.get(&request.path).cloned();
                (page, content.info.clone(), content.tools.clone())
            };
            match (page, info) {
                (_, Some(info)) if request.method == "POST" => mcp(request, peer, &info, &tools),
                (Some(page), _) => show(request, peer, &page),
                _ => peer.answer("404 Not Found", "Content-Type: text/html\r\n", "<html>"),
            }
            true
        });
        Site { server, content }
    }

    /// With an MCP server that says this about itself.
    pub(crate) fn serving(self, info: &str) -> Site {
        self.content.lock().unwrap().info = Some(info.to_owned());
        self
    }

    /// With these tools from now on, JSON objects with commas between them.
    pub(crate) fn offer(&self, tools: &str) {
        tools.clone_into(&mut self.content.lock().unwrap().tools);
    }

    pub(crate) fn put(&self, path: &str, page: Page) {
        self.content.lock().unwrap().pages.insert(path.to_owned(), page);
    }

    /// `127.0.0.1:PORT`
    pub(crate) fn host(&self) -> String {
        self.server.origin.trim_start_matches("http://").to_owned()
    }

    /// A URL on it.
    pub(crate) fn at(&self, path: &str) -> String {
        format!("{}{path}", self.server.origin)
    }

    /// What it was asked for: `GET /path`, each time.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.requests().iter().map(|it| format!("{} {}", it.method, it.path)).collect()
    }

    /// The requests, but for those that look for the signature of a card.
    pub(crate) fn requests(&self) -> Vec<Request> {
        let mut requests = self.server.requests();
        requests.retain(|request| !request.path.ends_with(".sigstore.json"));
        requests
    }

    /// A text in which what stands for the origin and host of this site is the same each time.
    pub(crate) fn plain(&self, text: &str) -> String {
        text.replace(&self.server.origin, "$O").replace(&self.host(), "$H")
    }
}

fn show(request: &Request, peer: &mut Peer, page: &Page) {
    let body = page.body.replace("$O", &peer.origin);
    let fields = page.fields.replace("$O", &peer.origin);
    let etag = fields.lines().find_map(|line| line.strip_prefix("ETag: "));
    if etag.is_some() && request.header("if-none-match") == etag {
        return peer.answer("304 Not Modified", &fields, "");
    }
    if request.method == "HEAD" {
        let length = body.len();
        return peer.write(&format!(
            "HTTP/1.1 {}\r\n{fields}Content-Length: {length}\r\n\r\n",
            page.status
        ));
    }
    peer.answer(page.status, &fields, &body);
}

/// A server of the newest revision. Every call of a tool is answered by `sunny`.
fn mcp(request: &Request, peer: &mut Peer, info: &str, tools: &str) {
    let version = request.header("mcp-protocol-version").unwrap_or_default();
    let common = format!(
        r#""resultType":"complete","_meta":{{"io.modelcontextprotocol/serverInfo":{info}}}"#
    );
    if request.is("server/discover") {
        let result = format!(
            r#"{{{common},"supportedVersions":["{version}"],"capabilities":{{"tools":{{}}}},"ttlMs":0,"cacheScope":"private"}}"#
        );
        peer.result(request, &result);
    } else if request.is("tools/list") {
        peer.result(
            request,
            &format!(r#"{{{common},"tools":[{tools}],"ttlMs":0,"cacheScope":"private"}}"#),
        );
    } else if request.is("tools/call") {
        let result = format!(r#"{{{common},"content":[{{"type":"text","text":"sunny"}}]}}"#);
        peer.result(request, &result);
    } else {
        peer.accepted();
    }
}

/// Runs the program in a directory of its own, which keeps its cache and configuration.
#[track_caller]
pub(crate) fn mcpmini(scratch: &Scratch, words: &[&str]) -> Outcome {
    run(&mut scratch.mcpmini(words))
}

/// The lines of a list, in columns.
pub(crate) fn rows(out: &str) -> Vec<Vec<&str>> {
    out.lines().map(|line| line.split('\t').collect()).collect()
}
