//! `mcpmini replay`: a server that answers as in a trace.

use std::io::Stdin;

use futures_lite::AsyncReadExt;
use smol::Unblock;

use super::args::shell_commands::Replay as Wanted;
use super::errors::{Error, Phase};
use super::exit::Exit;
use super::output;
use super::run::Run;
use super::sources;
use crate::protocol::framing::jsonl::Lines;
use crate::protocol::replay::Replay;

/// Answers requests on standard input until its end.
pub(super) async fn run(run: &Run<'_>, wanted: &Wanted) -> Result<Exit, Error> {
    if run.globals.out.is_some() {
        let text = "--out does not go with replay, which answers on standard output";
        return Err(Error::new(Exit::Usage, text).phase(Phase::Usage));
    }
    let path = &wanted.file;
    let text = sources::text_file(run, path, "the trace")?;
    let mut replay = Replay::read(&text, wanted.name.as_deref()).map_err(|bad| {
        let text = format!("the trace {} cannot be replayed: {bad}", path.display());
        Error::new(Exit::Config, text).phase(Phase::Config)
    })?;
    sources::check_threads()?;
    let lines = Lines::new(run.limits().message);
    let mut input = Input { stdin: Unblock::new(std::io::stdin()), lines };
    loop {
        let Some(line) = run.unless_over(input.next()).await?? else { return Ok(Exit::Ok) };
        let mut said = String::new();
        for message in replay.answer(&String::from_utf8_lossy(&line)) {
            said.push_str(&output::one_line(&message));
            said.push('\n');
        }
        output::write_trusted(run, &said)?;
    }
}

/// Standard input, line by line.
struct Input {
    stdin: Unblock<Stdin>,
    lines: Lines,
}

impl Input {
    /// The next line; `None` at the end.
    async fn next(&mut self) -> Result<Option<Vec<u8>>, Error> {
        let fail = |text: String| Error::new(Exit::Protocol, text).phase(Phase::Request);
        loop {
            match self.lines.next_line() {
                Ok(Some(line)) => return Ok(Some(line)),
                Ok(None) => (),
                Err(long) => {
                    let text =
                        format!("a line is longer than {} bytes (--max-message)", long.limit);
                    return Err(fail(text));
                }
            }
            match self.stdin.read(self.lines.spare()).await {
                Ok(0) => return Ok(self.lines.finish()),
                Ok(length) => self.lines.filled(length),
                Err(error) => return Err(fail(format!("cannot read standard input: {error}"))),
            }
        }
    }
}
