//! Blocks of an answer as files of a directory (`--save`).

use std::fs;
use std::path::{Path, PathBuf};

use crate::cli::errors::{Error, Phase};
use crate::cli::exit::Exit;
use crate::cli::output;
use crate::cli::run::Run;
use crate::protocol::json;
use crate::protocol::message::Sent;
use crate::protocol::params::Members;

/// The endings of files, by media type. Nothing that a server says becomes a part of a name.
const ENDINGS: &[(&str, &str)] = &[
    ("application/gzip", "gz"),
    ("application/javascript", "js"),
    ("application/json", "json"),
    ("application/msword", "doc"),
    ("application/pdf", "pdf"),
    ("application/vnd.openxmlformats-officedocument.presentationml.presentation", "pptx"),
    ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx"),
    ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx"),
    ("application/wasm", "wasm"),
    ("application/x-ndjson", "ndjson"),
    ("application/x-tar", "tar"),
    ("application/x-yaml", "yaml"),
    ("application/xml", "xml"),
    ("application/yaml", "yaml"),
    ("application/zip", "zip"),
    ("audio/aac", "aac"),
    ("audio/flac", "flac"),
    ("audio/mp4", "m4a"),
    ("audio/mpeg", "mp3"),
    ("audio/ogg", "ogg"),
    ("audio/opus", "opus"),
    ("audio/wav", "wav"),
    ("audio/webm", "weba"),
    ("audio/x-wav", "wav"),
    ("image/avif", "avif"),
    ("image/bmp", "bmp"),
    ("image/gif", "gif"),
    ("image/jpeg", "jpg"),
    ("image/jpg", "jpg"),
    ("image/png", "png"),
    ("image/svg+xml", "svg"),
    ("image/tiff", "tiff"),
    ("image/webp", "webp"),
    ("image/x-icon", "ico"),
    ("text/css", "css"),
    ("text/csv", "csv"),
    ("text/html", "html"),
    ("text/javascript", "js"),
    ("text/markdown", "md"),
    ("text/plain", "txt"),
    ("text/tab-separated-values", "tsv"),
    ("text/xml", "xml"),
    ("text/yaml", "yaml"),
    ("video/mp4", "mp4"),
    ("video/mpeg", "mpeg"),
    ("video/webm", "webm"),
];

/// A directory that blocks are written to.
#[derive(Debug)]
pub(in crate::cli) struct Folder<'a> {
    run: &'a Run<'a>,
    /// As it was written on the command line, for messages.
    shown: &'a Path,
    path: PathBuf,
}

/// A block to write.
#[derive(Debug)]
pub(in crate::cli) struct Item<'b> {
    /// Its place among the blocks, from 1.
    pub(in crate::cli) number: usize,
    /// What the server says it is.
    pub(in crate::cli) mime_type: Option<&'b str>,
    /// Whether it is text, for when the server does not say what it is.
    pub(in crate::cli) is_text: bool,
    /// What is in it.
    pub(in crate::cli) bytes: &'b [u8],
}

impl<'a> Folder<'a> {
    /// Makes the directory, if it is not there. It is done before anything is asked of a server: it
    /// would be a pity about a call that has run.
    pub(in crate::cli) fn open(run: &'a Run<'a>, directory: &'a Path) -> Result<Folder<'a>, Error> {
        let path = run.env.absolute(directory);
        fs::create_dir_all(&path).map_err(|error| {
            let text = format!("cannot make the directory {}: {error}", directory.display());
            Error::new(Exit::Config, text).phase(Phase::Output).sent(Sent::No)
        })?;
        Ok(Folder { run, shown: directory, path })
    }

    /// Writes a block to a file, whole or not at all, and tells its path on standard error.
    pub(in crate::cli) fn put(&self, item: &Item<'_>) -> Result<(), Error> {
        let name = file_name(item);
        output::place(&self.path, &name, item.bytes)?;
        let mut saved = Members::new();
        saved.push("block", &item.number.to_string());
        self.tell(saved, &name, item.mime_type, item.bytes.len());
        Ok(())
    }

    /// Writes bytes to a file below the directory, whole or not at all, and tells its path on
    /// standard error. The path must be one that does not lead out.
    pub(in crate::cli) fn put_below(&self, path: &str, bytes: &[u8]) -> Result<(), Error> {
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
        let directory = self.path.join(parent);
        fs::create_dir_all(&directory).map_err(|error| {
            let shown = self.shown.join(parent);
            let text = format!("cannot make the directory {}: {error}", shown.display());
            Error::new(Exit::Config, text).phase(Phase::Output)
        })?;
        output::place(&directory, name, bytes)?;
        self.tell(Members::new(), path, None, bytes.len());
        Ok(())
    }

    fn tell(&self, mut saved: Members, name: &str, mime_type: Option<&str>, bytes: usize) {
        saved.push("path", &json::string(&self.shown.join(name).to_string_lossy()));
        if let Some(mime_type) = mime_type {
            saved.push("mimeType", &json::string(mime_type));
        }
        saved.push("bytes", &bytes.to_string());
        if !self.run.globals.quiet {
            self.run.say_foreign(&format!("{{\"saved\":{}}}\n", saved.finish()));
        }
    }
}

/// The name of the file for a block: its place, and an ending for its media type.
fn file_name(item: &Item<'_>) -> String {
    let essence = item.mime_type.unwrap_or_default().split(';').next().unwrap_or_default();
    let essence = essence.trim().to_ascii_lowercase();
    let known = ENDINGS.iter().find(|(name, _)| *name == essence).map(|(_, ending)| *ending);
    let ending = known.unwrap_or_else(|| match essence.rsplit_once('+') {
        // RFC 6838, section 4.2.8: what follows the plus is how it is written.
        Some((_, "json")) => "json",
        Some((_, "xml")) => "xml",
        Some((_, "zip")) => "zip",
        _ if item.is_text || essence.starts_with("text/") => "txt",
        _ => "bin",
    });
    format!("{:04}.{ending}", item.number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_from_place_and_media_type() {
        let check = |number, mime_type: Option<&str>, is_text, expected: &str| {
            let item = Item { number, mime_type, is_text, bytes: b"" };
            assert_eq!(file_name(&item), expected, "{mime_type:?}");
        };
        check(1, Some("image/png"), false, "0001.png");
        check(2, Some("Image/JPEG"), false, "0002.jpg");
        check(3, Some("text/plain; charset=utf-8"), false, "0003.txt");
        check(4, None, true, "0004.txt");
        check(5, None, false, "0005.bin");
        check(6, Some("application/ld+json"), false, "0006.json");
        check(7, Some("text/x-rust"), false, "0007.txt");
        check(8, Some("image/../../../etc/passwd"), false, "0008.bin");
        check(9, Some("../x+../y"), false, "0009.bin");
        check(12345, Some("audio/wav"), false, "12345.wav");
    }

    #[test]
    fn the_endings_are_in_order_and_safe() {
        assert!(ENDINGS.is_sorted_by(|a, b| a.0 < b.0));
        for (_, ending) in ENDINGS {
            assert!(ending.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{ending}");
        }
    }
}
