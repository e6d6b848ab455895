//! Pictures on terminals that can show them.
//!
//! Two protocols are spoken, both of which carry the file as it is, in Base64: kitty's, which takes
//! PNG, and iTerm2's, which takes what browsers do. What a server sends is decoded and encoded anew,
//! so that no sequence of its own can get through.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::env::Env;

/// How a terminal is told to show a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum Protocol {
    /// kitty's graphics protocol.
    Kitty,
    /// iTerm2's inline images.
    Iterm,
}

/// How much Base64 kitty takes in one sequence, in bytes.
const CHUNK: usize = 4096;

/// The first bytes of picture files, and whether kitty takes them.
const FORMATS: &[(&[u8], bool)] = &[
    (b"\x89PNG\r\n\x1a\n", true),
    (b"\xff\xd8\xff", false),
    (b"GIF8", false),
    (b"RIFF", false),
    (b"BM", false),
];

/// How the terminal on standard output shows pictures; `None` when it does not, or there is none.
pub(in crate::cli) fn protocol(env: &Env) -> Option<Protocol> {
    let variable = |name: &str| {
        env.variable(name).and_then(|value| value.into_string().ok()).unwrap_or_default()
    };
    if !env.terminals.stdout {
        return None;
    }
    let terminal = variable("TERM");
    // Terminals inside of terminals pass the variables on, but not the pictures.
    let inner = ["tmux", "screen", "dumb", "linux"];
    if inner.iter().any(|inner| terminal.starts_with(inner)) || !variable("TMUX").is_empty() {
        return None;
    }
    match &*variable("TERM_PROGRAM") {
        "iTerm.app" | "WezTerm" | "mintty" => return Some(Protocol::Iterm),
        "ghostty" => return Some(Protocol::Kitty),
        _ => (),
    }
    let is_kitty = ["xterm-kitty", "xterm-ghostty"].contains(&&*terminal);
    (is_kitty || !variable("KITTY_WINDOW_ID").is_empty()).then_some(Protocol::Kitty)
}

impl Protocol {
    /// The text that shows a picture, with a line end; `None` when it is of a format that the
    /// terminal does not take.
    pub(in crate::cli) fn show(self, picture: &[u8]) -> Option<String> {
        let (_, kitty) = FORMATS.iter().find(|(beginning, _)| picture.starts_with(beginning))?;
        match self {
            Protocol::Iterm => {
                let (size, base64) = (picture.len(), STANDARD.encode(picture));
                Some(format!("\u{1b}]1337;File=inline=1;size={size}:{base64}\u{7}\n"))
            }
            Protocol::Kitty if *kitty => Some(in_chunks(&STANDARD.encode(picture))),
            Protocol::Kitty => None,
        }
    }
}

/// A PNG file as sequences of kitty's: the first says what to do, the last that it is the last.
fn in_chunks(base64: &str) -> String {
    let mut text = String::with_capacity(base64.len() + base64.len() / 256 + 64);
    let count = base64.len().div_ceil(CHUNK);
    for (index, chunk) in base64.as_bytes().chunks(CHUNK).enumerate() {
        let control = if index == 0 { "a=T,f=100,q=2," } else { "" };
        let more = u8::from(index + 1 < count);
        let chunk = std::str::from_utf8(chunk).expect("Base64 is ASCII");
        text.push_str(&format!("\u{1b}_G{control}m={more};{chunk}\u{1b}\\"));
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::{Terminals, Variables};

    const PNG: &[u8] = b"\x89PNG\r\n\x1a\nrest";

    fn env(variables: impl Into<Variables>, stdout: bool) -> Env {
        let terminals = Terminals { stdout, ..Terminals::default() };
        Env { variables: variables.into(), terminals, ..Env::default() }
    }

    #[test]
    fn a_terminal_says_what_it_can_do() {
        let check = |variables: [(&str, &str); 2], expected| {
            assert_eq!(protocol(&env(variables, true)), expected, "{variables:?}");
            assert_eq!(protocol(&env(variables, false)), None, "a pipe gets no picture");
        };
        let term = ("TERM", "xterm-256color");
        check([("TERM", "xterm-kitty"), ("A", "")], Some(Protocol::Kitty));
        check([term, ("KITTY_WINDOW_ID", "1")], Some(Protocol::Kitty));
        check([("TERM", "xterm-ghostty"), ("TERM_PROGRAM", "ghostty")], Some(Protocol::Kitty));
        check([term, ("TERM_PROGRAM", "iTerm.app")], Some(Protocol::Iterm));
        check([term, ("TERM_PROGRAM", "WezTerm")], Some(Protocol::Iterm));
        check([term, ("TERM_PROGRAM", "Apple_Terminal")], None);
        check([term, ("TERM_PROGRAM", "vscode")], None);
        check([("TERM", "tmux-256color"), ("KITTY_WINDOW_ID", "1")], None);
        check([("TMUX", "/tmp/x"), ("TERM_PROGRAM", "iTerm.app")], None);
        check([("TERM", "dumb"), ("KITTY_WINDOW_ID", "1")], None);
    }

    #[test]
    fn pictures_are_sent_in_the_terminals_own_form() {
        assert_eq!(
            Protocol::Iterm.show(PNG).as_deref(),
            Some("\u{1b}]1337;File=inline=1;size=12:iVBORw0KGgpyZXN0\u{7}\n")
        );
        assert_eq!(
            Protocol::Kitty.show(PNG).as_deref(),
            Some("\u{1b}_Ga=T,f=100,q=2,m=0;iVBORw0KGgpyZXN0\u{1b}\\\n")
        );
        let large = [PNG, &[0; 4000]].concat();
        let shown = Protocol::Kitty.show(&large).unwrap();
        assert_eq!(shown.matches("\u{1b}_G").count(), 2);
        assert!(shown.contains("q=2,m=1;") && shown.contains("\u{1b}_Gm=0;"));
    }

    #[test]
    fn what_is_no_picture_is_not_shown() {
        for bytes in [&b""[..], b"\x1b]0;title\x07", b"<svg/>"] {
            assert_eq!(Protocol::Iterm.show(bytes), None);
        }
        assert!(Protocol::Iterm.show(b"\xff\xd8\xff\xe0").is_some());
        assert_eq!(Protocol::Kitty.show(b"\xff\xd8\xff\xe0"), None, "kitty takes PNG alone");
    }
}
