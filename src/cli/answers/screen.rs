//! Talking with the person at the terminal: questions on standard error, answers from the keyboard.

use std::fmt::Write;

use smol::lock::Mutex;

use super::keyboard::Keyboard;
use crate::cli::run::Run;
use crate::cli::terminal::{Accent, Stream, accent, set_asking};
use crate::env::Env;
use crate::env::streams::ENDLESS;
use crate::protocol::visible::for_terminal;

/// The terminal, and what is needed to use it.
#[derive(Debug)]
pub(super) struct Screen {
    /// The server, as the command line names it.
    server: String,
    colored: bool,
    /// Where the browser is found.
    pub(super) env: Env,
    /// Held as long as a question is on the screen: there is one at a time.
    turn: Mutex<()>,
}

/// The person has sent the end of input, or the terminal is gone.
#[derive(Debug)]
pub(super) struct Gone;

/// A conversation about one question.
#[derive(Debug)]
pub(super) struct Talk<'s> {
    pub(super) screen: &'s Screen,
    keyboard: Keyboard,
    /// Whether the cursor stands behind a prompt.
    prompted: bool,
    _turn: smol::lock::MutexGuard<'s, ()>,
}

impl Screen {
    /// The terminal; `None` when a person could not see a question or not answer it.
    pub(super) fn new(run: &Run<'_>, server: &str) -> Option<Screen> {
        let terminals = run.env.terminals;
        (terminals.stdin && terminals.stderr).then(|| Screen {
            server: server.to_owned(),
            colored: run.settings.color.applies(true),
            env: run.env.clone(),
            turn: Mutex::new(()),
        })
    }

    /// Begins a conversation, after the one before it has ended: says who asks, and what for.
    pub(super) async fn begin(&self, asks: &str, message: &str) -> Result<Talk<'_>, Gone> {
        let turn = self.turn.lock().await;
        let keyboard = Keyboard::open().map_err(|_| Gone)?;
        set_asking(true);
        let talk = Talk { screen: self, keyboard, prompted: false, _turn: turn };
        talk.say(&format!("{} {asks}", self.bold(&format!("{}:", clean(&self.server)))));
        if !message.trim().is_empty() {
            talk.say(&indented(&clean(message)));
        }
        Ok(talk)
    }

    /// Text that stands out.
    pub(super) fn bold(&self, text: &str) -> String {
        accent(text, Accent::Bold, self.colored).into_owned()
    }

    /// Text that warns.
    pub(super) fn warning(&self, text: &str) -> String {
        accent(text, Accent::Yellow, self.colored).into_owned()
    }
}

impl Talk<'_> {
    /// Says something.
    pub(super) fn say(&self, text: &str) {
        // A terminal that is gone will be noticed when the answer is read.
        let _ = Stream::Stderr.write(format!("{text}\n").as_bytes(), ENDLESS);
    }

    /// Waits for a line in answer to a prompt.
    pub(super) async fn ask(&mut self, prompt: &str) -> Result<String, Gone> {
        let _ = Stream::Stderr.write(prompt.as_bytes(), ENDLESS);
        self.prompted = true;
        let line = self.keyboard.line().await.ok().flatten();
        // The end of input leaves the cursor where it is.
        self.prompted = line.is_none();
        line.ok_or(Gone)
    }
}

impl Drop for Talk<'_> {
    fn drop(&mut self) {
        if self.prompted {
            self.say("");
        }
        set_asking(false);
    }
}

/// Text of a server that can neither steer the terminal nor pass for a prompt of ours.
pub(super) fn clean(text: &str) -> String {
    for_terminal(text).trim_end().to_owned()
}

/// The text with every line indented.
pub(super) fn indented(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let _ = write!(out, "{}  {line}", if out.is_empty() { "" } else { "\n" });
    }
    out
}
