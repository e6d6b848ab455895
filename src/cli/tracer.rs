//! `--trace`: every message that goes over the wire, in a file.

use std::cell::RefCell;
use std::fs::{File, OpenOptions, Permissions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant, SystemTime};

use super::args::trace_file::TraceFile;
use super::errors::{Error, Phase};
use super::exit::Exit;
use super::redaction::Redaction;
use crate::env::Env;
use crate::env::streams::{self, Patience, Unwritten, write_all};
use crate::protocol::message::Sent;
use crate::protocol::trace::Trace;

/// How long to wait for whoever reads the trace, if it is a pipe.
const PATIENCE: Duration = Duration::from_secs(5);

/// Writes traces to one file.
#[derive(Debug)]
pub(super) struct Tracer(Rc<Shared>);

#[derive(Debug)]
struct Shared {
    file: File,
    path: PathBuf,
    /// Why a line was not written, the first time.
    failure: RefCell<Option<Unwritten>>,
}

impl Tracer {
    /// Opens the file, which only the user can read. It is made anew, or else appended to: many
    /// runs that write one file must not undo each other's lines.
    /// A pipe is opened when somebody reads it, for which the patience lasts.
    pub(super) fn open(
        target: &TraceFile,
        append: bool,
        env: &Env,
        patience: Patience<'_>,
    ) -> Result<Tracer, Error> {
        let path = match target {
            TraceFile::Path(path) => env.absolute(path),
            TraceFile::Descriptor(number) => format!("/dev/fd/{number}").into(),
        };
        let is_path = matches!(target, TraceFile::Path(_));
        match open(&path, is_path, append, patience) {
            Ok(file) => Ok(Tracer(Rc::new(Shared { file, path, failure: RefCell::new(None) }))),
            Err(error) => {
                let text = format!("cannot write the trace to {}: {error}", path.display());
                Err(Error::new(Exit::Config, text).phase(Phase::Config).sent(Sent::No))
            }
        }
    }

    /// What writes down the messages to and from a server, and around them what `redaction` leaves
    /// of it.
    pub(super) fn of_server(&self, server: &str, env: &Env, redaction: &Redaction) -> Trace {
        let (shared, server, env) = (self.0.clone(), server.to_owned(), env.clone());
        let redaction = redaction.clone();
        Trace::new(move |record| {
            let now = env.now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            shared.write(&record.line(now, &server, &|text| redaction.apply(text)));
        })
    }

    /// Why the trace is not complete; `None` when it is.
    pub(super) fn failure(&self) -> Option<String> {
        let failure = self.0.failure.borrow();
        let path = self.0.path.display();
        failure.as_ref().map(|error| format!("the trace in {path} is not complete: {error}"))
    }
}

impl Shared {
    /// Writes a line, in one go where the system can, so that lines of several processes do not mix.
    /// After a failure nothing more is written: half a trace is told from a whole one.
    fn write(&self, line: &str) {
        if self.failure.borrow().is_some() {
            return;
        }
        let until = Instant::now() + PATIENCE;
        let written = write_all(self.file.as_fd(), line.as_bytes(), &|| Instant::now() < until);
        if let Err(why) = written {
            self.failure.replace(Some(why));
        }
    }
}

fn open(path: &Path, is_path: bool, append: bool, patience: Patience<'_>) -> io::Result<File> {
    let mut options = OpenOptions::new();
    // What a descriptor points to keeps its contents, and is written to at its end.
    options.append(true).create(is_path).mode(0o600);
    let file = streams::open_to_write(&mut options, path, patience)?;
    let metadata = file.metadata()?;
    if is_path && metadata.is_file() {
        if metadata.permissions().mode() & 0o077 != 0 {
            file.set_permissions(Permissions::from_mode(0o600))?;
        }
        if !append {
            file.set_len(0)?;
        }
    }
    Ok(file)
}
