//! Where a trace goes (`--trace`, `MCPMINI_TRACE`).

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// Where a trace goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TraceFile {
    /// A file.
    Path(PathBuf),
    /// An open file descriptor, written `fd:N`.
    Descriptor(u32),
}

/// Nothing that a trace could be written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvalidTraceFile {
    /// There is no name.
    Empty,
    /// `fd:` is not followed by the number of a descriptor. Standard input is none to write to, and
    /// standard output is for the answer.
    Descriptor,
}

impl fmt::Display for InvalidTraceFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InvalidTraceFile::Empty => f.write_str("the file name is empty"),
            InvalidTraceFile::Descriptor => {
                f.write_str("fd: needs the number of a descriptor open for writing, 2 or more")
            }
        }
    }
}

impl FromStr for TraceFile {
    type Err = InvalidTraceFile;

    fn from_str(given: &str) -> Result<TraceFile, InvalidTraceFile> {
        let Some(number) = given.strip_prefix("fd:") else {
            return match given {
                "" => Err(InvalidTraceFile::Empty),
                path => Ok(TraceFile::Path(path.into())),
            };
        };
        let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
        match number.parse() {
            Ok(number @ 2..=0x7fff_ffff) if is_number => Ok(TraceFile::Descriptor(number)),
            _ => Err(InvalidTraceFile::Descriptor),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_goes_to_a_file_or_a_descriptor() {
        let check = |text: &str, expected| assert_eq!(text.parse::<TraceFile>(), expected);
        check("t.jsonl", Ok(TraceFile::Path("t.jsonl".into())));
        check("./fd:3", Ok(TraceFile::Path("./fd:3".into())));
        check("fd:3", Ok(TraceFile::Descriptor(3)));
        check("fd:2", Ok(TraceFile::Descriptor(2)));
        check("", Err(InvalidTraceFile::Empty));
        for text in ["fd:", "fd:0", "fd:1", "fd:-3", "fd:+3", "fd:x", "fd:99999999999"] {
            check(text, Err(InvalidTraceFile::Descriptor));
        }
    }
}
