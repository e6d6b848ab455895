//! Where the browser brings the answer of a login: a port of this machine (RFC 8252, section 7.3),
//! or the terminal, where a person pastes it.

use std::cell::Cell;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use async_channel::Sender;
use futures_lite::io::BufReader;
use futures_lite::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, FutureExt, StreamExt};
use smol::net::{TcpListener, TcpStream};
use smol::{LocalExecutor, Unblock};

use super::error::AuthError;
use super::login::{Answer, Login};
use crate::env::Secret;
use crate::reactor::Timer;

/// The path that answers come to.
const PATH: &str = "/callback";

/// How long the head of a request may be, in bytes.
const LONGEST_HEAD: usize = 16 << 10;

/// How much may be pasted, in bytes.
const LONGEST_PASTE: u64 = 1 << 20;

/// How long a browser may take to say what it wants.
const PATIENCE: Duration = Duration::from_secs(10);

/// A port for the answer.
#[derive(Debug)]
pub(super) struct Callback {
    listener: TcpListener,
    redirect_uri: String,
    strangers: Cell<u32>,
}

impl Callback {
    /// Takes a port of this machine; any if it is 0.
    pub(super) async fn bind(port: u16) -> Result<Callback, AuthError> {
        let listener = match TcpListener::bind((IpAddr::from(Ipv4Addr::LOCALHOST), port)).await {
            // A machine without IPv4.
            Err(error) if error.kind() == std::io::ErrorKind::AddrNotAvailable => {
                TcpListener::bind((IpAddr::from(Ipv6Addr::LOCALHOST), port)).await
            }
            bound => bound,
        };
        let failed = |reason| AuthError::Port { port, reason };
        let listener = listener.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let redirect_uri = format!("http://{address}{PATH}");
        Ok(Callback { listener, redirect_uri, strangers: Cell::new(0) })
    }

    /// Where answers come to.
    pub(super) fn redirect_uri(&self) -> &str {
        &self.redirect_uri
    }

    /// How many answers came that belong to another login.
    pub(super) fn strangers(&self) -> u32 {
        self.strangers.get()
    }

    /// Waits for the answer to a login. Whatever else comes, such as a request for an icon or the
    /// attempt of a web page to slip its own answer in, is sent away.
    pub(super) async fn wait(&self, login: &Login) -> Result<Secret, AuthError> {
        let (sender, receiver) = async_channel::bounded(1);
        let connections = LocalExecutor::new();
        let accepting = async {
            loop {
                match self.listener.accept().await {
                    // Side by side: browsers open connections that they do not use.
                    Ok((stream, _)) => {
                        connections.spawn(self.serve(stream, login, sender.clone())).detach();
                    }
                    Err(_) => Timer::after(Duration::from_millis(100)).await,
                }
            }
        };
        let answered = async { receiver.recv().await.expect("we hold a sender") };
        connections.run(answered.or(accepting)).await
    }

    async fn serve(
        &self,
        mut stream: TcpStream,
        login: &Login,
        sender: Sender<Result<Secret, AuthError>>,
    ) {
        let reading = async { read_target(&mut stream).await };
        let too_late = async {
            Timer::after(PATIENCE).await;
            None
        };
        let Some(target) = reading.or(too_late).await else { return };
        let (path, query) = target.split_once('?').unwrap_or((&target, ""));
        if path != PATH {
            return respond(&mut stream, "404 Not Found", "There is nothing here.").await;
        }
        let answer = match login.judge(query) {
            Answer::Stranger => {
                self.strangers.set(self.strangers.get() + 1);
                let text = "This is not the answer that mcpmini waits for.";
                return respond(&mut stream, "400 Bad Request", text).await;
            }
            Answer::Code(code) => Ok(code),
            Answer::Failed(error) => Err(error),
        };
        let text = match &answer {
            Ok(_) => "mcpmini has got the answer. You can close this page.",
            Err(_) => "The login failed. mcpmini tells why. You can close this page.",
        };
        respond(&mut stream, "200 OK", text).await;
        let _ = sender.send(answer).await;
    }
}

/// The target of a GET request; `None` when it is none.
async fn read_target(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    let mut block = [0; 2048];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let length = stream.read(&mut block).await.ok().filter(|length| *length != 0)?;
        head.extend_from_slice(&block[..length]);
        if LONGEST_HEAD < head.len() {
            return None;
        }
    }
    let line = head.split(|byte| *byte == b'\r').next()?;
    let mut words = str::from_utf8(line).ok()?.split(' ');
    words.next().filter(|method| *method == "GET")?;
    words.next().map(str::to_owned)
}

/// Answers with a page. Nothing of the request is in it, and nothing in it may run or load.
async fn respond(stream: &mut TcpStream, status: &str, text: &str) {
    let page = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>mcpmini</title>\
         <p>{text}</p></html>\n"
    );
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\n\
         Content-Length: {}\r\nCache-Control: no-store\r\nReferrer-Policy: no-referrer\r\n\
         Content-Security-Policy: default-src 'none'\r\nConnection: close\r\n\r\n",
        page.len()
    );
    // A browser that has gone away does not want to know.
    let _ = stream.write_all((head + &page).as_bytes()).await;
    let _ = stream.close().await;
}

/// Waits for a person to paste the address that the browser was sent to. `wrong` is told about a
/// line that is no such thing.
pub(super) async fn pasted(login: &Login, wrong: impl Fn()) -> Result<Secret, AuthError> {
    let stdin = Unblock::new(std::io::stdin()).take(LONGEST_PASTE);
    let mut lines = BufReader::new(stdin).lines();
    while let Some(Ok(line)) = lines.next().await {
        let query = line.trim().split_once('?').map_or("", |(_, query)| query);
        match login.judge(query.split('#').next().unwrap_or_default()) {
            Answer::Code(code) => return Ok(code),
            Answer::Failed(error) => return Err(error),
            Answer::Stranger if line.trim().is_empty() => (),
            Answer::Stranger => wrong(),
        }
    }
    // Nobody can paste any more; the port is still open.
    futures_lite::future::pending().await
}
