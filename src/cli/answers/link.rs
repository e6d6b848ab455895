//! A URL that a server wants the user to open (`--elicit ask`; 2025-11-25 and later, URL Mode).
//!
//! It is shown in full, and opened by the user's own browser after a yes. What the page asks for is
//! between the user and the page: nothing of it comes here.

use url::{Host, Url};

use super::screen::{Gone, Screen, Talk, clean};
use super::{CANCEL, DECLINE};
use crate::auth::open_page;
use crate::protocol::jsonrpc::ErrorObject;

/// Asks the person at the terminal whether to open a URL.
pub(super) async fn ask(screen: &Screen, message: &str, url: &Url) -> Result<String, ErrorObject> {
    Ok(match converse(screen, message, url).await {
        Ok(true) => "{\"action\":\"accept\"}".to_owned(),
        Ok(false) => DECLINE.to_owned(),
        Err(Gone) => CANCEL.to_owned(),
    })
}

async fn converse(screen: &Screen, message: &str, url: &Url) -> Result<bool, Gone> {
    let mut talk = screen.begin("wants you to open a page in your browser.", message).await?;
    show(&talk, url);
    loop {
        match talk.ask("Open it? (y)es, (n)o > ").await?.trim().to_lowercase().as_str() {
            "y" | "yes" => break,
            "n" | "no" | "/decline" => return Ok(false),
            "/cancel" => return Err(Gone),
            _ => (),
        }
    }
    // The browser is the user's, and stays when we end.
    if let Err(fault) = open_page(&screen.env, url.as_str()) {
        talk.say(&format!("{fault}: please open it yourself."));
    }
    Ok(true)
}

/// Shows the whole URL, the host in it standing out, and what is odd about it.
fn show(talk: &Talk<'_>, url: &Url) {
    let text = url.as_str();
    let host = url.host_str().unwrap_or_default();
    let end = url[..url::Position::AfterHost].len();
    let begin = end - host.len();
    let bold = talk.screen.bold(host);
    talk.say(&format!("\n  {}{bold}{}\n", &text[..begin], &text[end..]));
    talk.say(&format!("Its host is {bold}."));
    for oddity in oddities(url) {
        talk.say(&talk.screen.warning(&clean(oddity)));
    }
}

/// The URL, if it can be opened in a browser. Its host is in ASCII: what looks like a letter and is
/// another one shows.
pub(super) fn readable(url: &str) -> Option<Url> {
    let url = Url::parse(url).ok()?;
    (matches!(url.scheme(), "https" | "http") && url.has_host()).then_some(url)
}

/// What people should look at twice.
fn oddities(url: &Url) -> Vec<&'static str> {
    let mut oddities = Vec::new();
    let is_local = match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    if url.scheme() == "http" && !is_local {
        oddities.push("Beware: what you type there is not encrypted.");
    }
    if url.host_str().is_some_and(|host| host.split('.').any(|part| part.starts_with("xn--"))) {
        oddities.push("Beware: the name of the host has letters that may look like others.");
    }
    if !url.username().is_empty() || url.password().is_some() {
        oddities.push("Beware: what stands before the @ is not the host.");
    }
    oddities
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_web_pages_are_opened() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(readable(text).as_ref().map(Url::as_str), expected, "{text}");
        };
        check("https://a.example/x?y=1#z", Some("https://a.example/x?y=1#z"));
        check("http://127.0.0.1:8080", Some("http://127.0.0.1:8080/"));
        check("https://a.example/\u{1b}[2J\n", Some("https://a.example/%1B[2J"));
        check("https://xn--bcher-kva.example", Some("https://xn--bcher-kva.example/"));
        for text in [
            "",
            "a.example",
            "https://bücher.example",
            "file:///etc/passwd",
            "javascript:alert(1)",
            "https://",
        ] {
            check(text, None);
        }
    }

    #[test]
    fn what_is_odd_about_a_url_is_told() {
        let check = |text: &str, expected: &[&str]| {
            let found: Vec<_> = oddities(&readable(text).unwrap())
                .iter()
                .map(|oddity| oddity.split(' ').nth(3).unwrap())
                .collect();
            assert_eq!(found, expected, "{text}");
        };
        check("https://a.example", &[]);
        check("http://localhost:1/", &[]);
        check("http://[::1]/", &[]);
        check("http://a.example", &["type"]);
        check("https://xn--pple-43d.com", &["of"]);
        check("https://bank.example@evil.example", &["before"]);
    }
}
