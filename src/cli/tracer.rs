//! `--trace`: every message that goes over the wire, in a file.

use std::cell::RefCell;
use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::SystemTime;

use super::args::trace_file::TraceFile;
use super::errors::{Error, Phase};
use super::exit::Exit;
use crate::env::Env;
use crate::protocol::message::Sent;
use crate::protocol::trace::Trace;

/// Writes traces to one file.
#[derive(Debug)]
pub(super) struct Tracer(Rc<Shared>);

#[derive(Debug)]
struct Shared {
    file: File,
    path: PathBuf,
    /// Why a line was not written, the first time.
    failure: RefCell<Option<io::Error>>,
}

impl Tracer {
    /// Opens the file, which only the user can read. It is made anew, or else appended to: many
    /// runs that write one file must not undo each other's lines.
    pub(super) fn open(target: &TraceFile, append: bool, env: &Env) -> Result<Tracer, Error> {
        let path = match target {
            TraceFile::Path(path) => env.absolute(path),
            TraceFile::Descriptor(number) => format!("/dev/fd/{number}").into(),
        };
        let is_path = matches!(target, TraceFile::Path(_));
        match open(&path, is_path, append) {
            Ok(file) => Ok(Tracer(Rc::new(Shared { file, path, failure: RefCell::new(None) }))),
            Err(error) => {
                let text = format!("cannot write the trace to {}: {error}", path.display());
                Err(Error::new(Exit::Config, text).phase(Phase::Config).sent(Sent::No))
            }
        }
    }

    /// What writes down the messages to and from a server.
    pub(super) fn of_server(&self, server: &str, env: &Env) -> Trace {
        let (shared, server, env) = (self.0.clone(), server.to_owned(), env.clone());
        Trace::new(move |record| {
            let now = env.now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            // One write for each line, so that lines of several processes do not mix.
            if let Err(error) = (&shared.file).write_all(record.line(now, &server).as_bytes()) {
                shared.failure.borrow_mut().get_or_insert(error);
            }
        })
    }

    /// Why the trace is not complete; `None` when it is.
    pub(super) fn failure(&self) -> Option<String> {
        let failure = self.0.failure.borrow();
        let path = self.0.path.display();
        failure.as_ref().map(|error| format!("the trace in {path} is not complete: {error}"))
    }
}

fn open(path: &PathBuf, is_path: bool, append: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    // What a descriptor points to keeps its contents, and is written to at its end.
    options.append(true).create(is_path).mode(0o600);
    let file = options.open(path)?;
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
