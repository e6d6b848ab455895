//! The URL of a remote, with its variables filled in.

use super::inputs::Filler;
use super::text::Text;
use super::{Answer, Unfilled};
use crate::discovery::claim::Input;
use crate::net::{Address, InvalidAddress};

/// What a variable is a part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Scheme and host: it begins the URL.
    Base,
    /// A label of the host.
    Host,
    /// The port.
    Port,
    /// The path or the query.
    Path,
}

/// The URL as it is written down, and with something in the place of references; `None` when a value
/// is missing.
pub(super) fn url(
    template: &str,
    variables: &[(String, Input)],
    filler: &mut Filler<'_>,
) -> Result<Option<(String, Address)>, Unfilled> {
    let (mut text, mut example, mut is_whole) = (Text::default(), String::new(), true);
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        text.say(before);
        example.push_str(before);
        let Some((name, after)) = after.split_once('}') else {
            text.say("{");
            example.push('{');
            rest = after;
            continue;
        };
        match variable(name, variables, part(&example), filler)? {
            Some(Answer::Plain(plain)) => {
                // A base may end with the slash that follows it.
                let plain =
                    if after.starts_with('/') { plain.trim_end_matches('/') } else { &plain };
                text.say(plain);
                example.push_str(plain);
            }
            Some(Answer::Reference(reference) | Answer::Variable { name: reference, .. }) => {
                text.refer(&reference);
                example.push('x');
            }
            None => is_whole = false,
        }
        rest = after;
    }
    text.say(rest);
    example.push_str(rest);
    if !is_whole {
        return Ok(None);
    }
    let url = |why| Unfilled::Url { url: example.clone(), why };
    let address = Address::parse(&example).map_err(url)?;
    let text = text.finish().ok_or_else(|| Unfilled::Ambiguous { name: "the URL".to_owned() })?;
    Ok(Some((text, address)))
}

/// Which part of a URL comes after this beginning of it.
fn part(before: &str) -> Part {
    if before.is_empty() {
        return Part::Base;
    }
    let authority = before.split_once("://").map_or(before, |(_, rest)| rest);
    match authority.contains(['/', '?', '#']) {
        true => Part::Path,
        false if authority.rsplit(']').next().is_some_and(|end| end.contains(':')) => Part::Port,
        false => Part::Host,
    }
}

/// The value of a variable, if it fits where it stands.
fn variable(
    name: &str,
    variables: &[(String, Input)],
    part: Part,
    filler: &mut Filler<'_>,
) -> Result<Option<Answer>, Unfilled> {
    let known = variables.iter().find(|(known, _)| known == name);
    // A URL with a hole in it is none, whatever the document says.
    let input =
        Input { is_required: true, ..known.map(|(_, input)| input.clone()).unwrap_or_default() };
    let Some(value) = filler.input(name, &input)? else { return Ok(None) };
    let unfit = |must: &str| Unfilled::Unfit { name: name.to_owned(), must: must.to_owned() };
    match (value.as_plain(), part) {
        (None, Part::Path) => {
            let mut text = Text::default();
            value.write(&mut text);
            let reference =
                text.finish().ok_or_else(|| Unfilled::Ambiguous { name: name.to_owned() })?;
            Ok(Some(Answer::Reference(reference)))
        }
        (None, _) => Err(unfit("be there as it is, because it says which host is asked")),
        (Some(text), Part::Base) => match is_base(&text) {
            Ok(()) => Ok(Some(Answer::Plain(text))),
            Err(_) => Err(unfit("be an http URL without user name, query and fragment")),
        },
        (Some(text), Part::Host) if is_label(&text) => Ok(Some(Answer::Plain(text))),
        (Some(_), Part::Host) => {
            Err(unfit("be a label of a host name: letters, digits and dashes, at most 63"))
        }
        (Some(text), Part::Port) if text.parse::<u16>().is_ok_and(|port| port != 0) => {
            Ok(Some(Answer::Plain(text)))
        }
        (Some(_), Part::Port) => Err(unfit("be a port")),
        (Some(text), Part::Path) => Ok(Some(Answer::Plain(encoded(&text)))),
    }
}

fn is_base(text: &str) -> Result<(), InvalidAddress> {
    match text.contains(['?', '#', '{', '}']) {
        true => Err(InvalidAddress::Syntax(String::new())),
        false => Address::parse(text).map(drop),
    }
}

/// `[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?`
fn is_label(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    (1..=63).contains(&text.len())
        && text.bytes().all(fits)
        && !text.starts_with('-')
        && !text.ends_with('-')
}

/// All but unreserved characters percent-encoded (RFC 3986, section 2.3): a part of a path or of a
/// query.
pub(in crate::discovery) fn encoded(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        match byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            true => encoded.push(byte.into()),
            false => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    // Alone they would lead out of the path.
    match encoded.as_str() {
        "." => "%2E".to_owned(),
        ".." => "%2E%2E".to_owned(),
        _ => encoded,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Answers, Missing};
    use super::*;

    /// What becomes of a template when `a` is this; those that begin with `=` are references.
    #[track_caller]
    fn check(template: &str, value: &str, expected: Result<&str, &str>) {
        let said = |name: &str| {
            let answer = match value.strip_prefix('=') {
                Some(reference) => Answer::Reference(reference.to_owned()),
                None => Answer::Plain(value.to_owned()),
            };
            Vec::from_iter((name == "a").then_some(answer))
        };
        let answers = Answers { said: &said, file: &|_| None };
        let mut filler = Filler::new(&answers);
        let filled = url(template, &[], &mut filler);
        let filled = filler.finish().and(filled).map(|filled| filled.unwrap().0);
        let filled = filled.map_err(|error| error.to_string());
        assert_eq!(filled.as_deref().map_err(String::as_str), expected, "{template} {value}");
    }

    #[test]
    fn a_variable_is_one_label_of_a_host() {
        check("https://{a}.example.com/mcp", "acme", Ok("https://acme.example.com/mcp"));
        let unfit =
            "the value of a must be a label of a host name: letters, digits and dashes, at most 63";
        let long = "x".repeat(64);
        for bad in ["evil.com/", "a.b", "", "-a", "a-", "a@b", "a:1", "ä", "a b", long.as_str()] {
            check("https://{a}.example.com/mcp", bad, Err(unfit));
        }
        check(
            "https://{a}.example.com/",
            "=${A}",
            Err("the value of a must be there as it is, because it says which host is asked"),
        );
        check("https://h:{a}/", "8443", Ok("https://h:8443/"));
        check("https://h:{a}/", "8443@evil.com", Err("the value of a must be a port"));
        check("https://[::1]:{a}/", "80", Ok("https://[::1]:80/"));
    }

    #[test]
    fn a_variable_is_one_segment_of_a_path() {
        check("https://h/{a}/mcp", "a/b?c#d", Ok("https://h/a%2Fb%3Fc%23d/mcp"));
        check("https://h/{a}/mcp", "..", Ok("https://h/%2E%2E/mcp"));
        check("https://h/mcp?x={a}", "1&y=2 ä", Ok("https://h/mcp?x=1%26y%3D2%20%C3%A4"));
        check("https://h/{a}", "${HOME}", Ok("https://h/%24%7BHOME%7D"));
        check("https://h/{a}", "=${TOKEN}", Ok("https://h/${TOKEN}"));
    }

    #[test]
    fn a_variable_can_be_the_base() {
        check("{a}/mcp", "https://h.example/x/", Ok("https://h.example/x/mcp"));
        check("{a}/mcp", "http://localhost:1", Ok("http://localhost:1/mcp"));
        let unfit = "the value of a must be an http URL without user name, query and fragment";
        for bad in
            ["h.example", "ftp://h", "https://u:p@h", "https://h?x", "https://h#x", "https://{b}"]
        {
            check("{a}/mcp", bad, Err(unfit));
        }
    }

    #[test]
    fn what_the_document_says_is_never_a_reference() {
        check("https://h/${a}", "x", Ok("https://h/$x"));
        check("https://h/$${a}", "x", Ok("https://h/$$x"));
        check("https://h/a$", "x", Ok("https://h/a$"));
    }

    #[test]
    fn a_hole_is_told() {
        let said = |_: &str| Vec::new();
        let answers = Answers { said: &said, file: &|_| None };
        let mut filler = Filler::new(&answers);
        assert_eq!(url("https://{b}.h/{c}/{b}", &[], &mut filler), Ok(None));
        let missing = |name: &str| Missing {
            name: name.to_owned(),
            description: None,
            choices: Vec::new(),
            is_secret: false,
        };
        assert_eq!(filler.finish(), Err(Unfilled::Missing(vec![missing("b"), missing("c")])));
    }
}
