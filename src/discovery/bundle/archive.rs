//! Zip archives, as far as bundles need them (APPNOTE.TXT 6.3.10): stored and deflated files, no
//! encryption, no Zip64, no links.
//!
//! ```text
//! file … file   directory: a record for each file   end: where the directory is
//! ```
//! The archive is a stranger's. Nothing in it decides where a file comes to lie but a clean relative
//! path, and nothing unpacks to more than it says beforehand.

use std::collections::HashSet;
use std::fmt;

use miniz_oxide::inflate::decompress_to_vec_with_limit;

/// The most files of an archive.
const FILES: usize = 20_000;

/// The most that all files together may come to, in bytes.
const UNPACKED: u64 = 512 << 20;

const END: u32 = 0x0605_4b50;
const RECORD: u32 = 0x0201_4b50;
const FILE: u32 = 0x0403_4b50;

/// How long the end of an archive is without its comment, and the longest comment.
const END_LENGTH: usize = 22;
const COMMENT: usize = 0xffff;

/// A file of an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packed {
    /// Where it belongs: a clean relative path with `/` between its parts.
    pub path: String,
    /// Whether it can be run.
    pub is_executable: bool,
    is_deflated: bool,
    /// Where it begins, and how long it is packed and unpacked.
    at: usize,
    packed: usize,
    unpacked: usize,
}

/// Why an archive cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Broken {
    /// It is no archive, or cut off.
    Cut,
    /// It has too many files, or they come to too much.
    TooLarge,
    /// It uses what is not understood here.
    Unsupported(&'static str),
    /// A file would lie elsewhere than below the folder.
    Path(String),
    /// Two files have one path.
    Twice(String),
    /// What is packed is not what was said.
    Content(String),
}

/// The files of an archive.
pub fn files(archive: &[u8]) -> Result<Vec<Packed>, Broken> {
    let end = end(archive).ok_or(Broken::Cut)?;
    let count = usize::from(u16_at(archive, end + 10)?);
    let mut at = u32_at(archive, end + 16)? as usize;
    if count == 0xffff || at == 0xffff_ffff {
        return Err(Broken::Unsupported("Zip64"));
    }
    let (mut files, mut seen, mut total) = (Vec::new(), HashSet::new(), 0_u64);
    for _ in 0..count {
        let record = Record::read(archive, at)?;
        at += record.length;
        if let Some(file) = record.file()? {
            total += file.unpacked as u64;
            if FILES <= files.len() || UNPACKED < total {
                return Err(Broken::TooLarge);
            }
            if !seen.insert(file.path.to_lowercase()) {
                return Err(Broken::Twice(file.path));
            }
            files.push(file);
        }
    }
    Ok(files)
}

/// A file, unpacked.
pub fn unpack(archive: &[u8], file: &Packed) -> Result<Vec<u8>, Broken> {
    let content = || Broken::Content(file.path.clone());
    if u32_at(archive, file.at)? != FILE {
        return Err(Broken::Cut);
    }
    // What stands before the file need not be as long as in the directory.
    let (name, extra) = (u16_at(archive, file.at + 26)?, u16_at(archive, file.at + 28)?);
    let from = file.at + 30 + usize::from(name) + usize::from(extra);
    let packed = archive.get(from..from.saturating_add(file.packed)).ok_or(Broken::Cut)?;
    let unpacked = match file.is_deflated {
        false => packed.to_vec(),
        true => decompress_to_vec_with_limit(packed, file.unpacked).map_err(|_| content())?,
    };
    if unpacked.len() == file.unpacked { Ok(unpacked) } else { Err(content()) }
}

/// A record of the directory.
struct Record<'a> {
    name: &'a [u8],
    length: usize,
    flags: u16,
    method: u16,
    packed: usize,
    unpacked: usize,
    /// What a Unix system would know of the file.
    mode: u32,
    at: usize,
}

impl<'a> Record<'a> {
    fn read(archive: &'a [u8], at: usize) -> Result<Record<'a>, Broken> {
        if u32_at(archive, at)? != RECORD {
            return Err(Broken::Cut);
        }
        let field = |offset: usize| u16_at(archive, at + offset).map(usize::from);
        let (name, extra, comment) = (field(28)?, field(30)?, field(32)?);
        let is_unix = archive.get(at + 5) == Some(&3);
        let mode = u32_at(archive, at + 38)? >> 16;
        Ok(Record {
            name: archive.get(at + 46..at + 46 + name).ok_or(Broken::Cut)?,
            length: 46 + name + extra + comment,
            flags: u16_at(archive, at + 8)?,
            method: u16_at(archive, at + 10)?,
            packed: u32_at(archive, at + 20)? as usize,
            unpacked: u32_at(archive, at + 24)? as usize,
            mode: if is_unix { mode } else { 0 },
            at: u32_at(archive, at + 42)? as usize,
        })
    }

    /// The file that it is about; `None` for a folder.
    fn file(&self) -> Result<Option<Packed>, Broken> {
        let path = String::from_utf8_lossy(self.name).into_owned();
        if self.flags & 1 != 0 {
            return Err(Broken::Unsupported("encryption"));
        }
        if [self.packed, self.unpacked, self.at].contains(&0xffff_ffff) {
            return Err(Broken::Unsupported("Zip64"));
        }
        let kind = self.mode & 0o170_000;
        if kind != 0 && kind != 0o100_000 && kind != 0o040_000 {
            return Err(Broken::Unsupported("links"));
        }
        let (folder, is_folder) = match path.strip_suffix('/') {
            Some(folder) => (folder, true),
            None => (path.as_str(), false),
        };
        if !is_clean(folder) {
            return Err(Broken::Path(path));
        }
        if is_folder {
            return Ok(None);
        }
        let is_deflated = match self.method {
            0 => false,
            8 => true,
            _ => return Err(Broken::Unsupported("this way of packing")),
        };
        Ok(Some(Packed {
            is_executable: self.mode & 0o111 != 0,
            is_deflated,
            at: self.at,
            packed: self.packed,
            unpacked: self.unpacked,
            path,
        }))
    }
}

/// Whether a path leads down and nowhere else, on any system.
fn is_clean(path: &str) -> bool {
    let is_part = |part: &str| !matches!(part, "" | "." | "..");
    !path.contains(['\\', ':', '\0', '\u{fffd}']) && path.split('/').all(is_part)
}

/// Where the end of the archive begins.
fn end(archive: &[u8]) -> Option<usize> {
    let last = archive.len().checked_sub(END_LENGTH)?;
    let first = last.saturating_sub(COMMENT);
    (first..=last).rev().find(|at| {
        let comment = u16_at(archive, at + 20).map(usize::from);
        u32_at(archive, *at) == Ok(END) && comment == Ok(last - at)
    })
}

fn u16_at(bytes: &[u8], at: usize) -> Result<u16, Broken> {
    let two = bytes.get(at..).and_then(|rest| rest.first_chunk::<2>()).ok_or(Broken::Cut)?;
    Ok(u16::from_le_bytes(*two))
}

fn u32_at(bytes: &[u8], at: usize) -> Result<u32, Broken> {
    let four = bytes.get(at..).and_then(|rest| rest.first_chunk::<4>()).ok_or(Broken::Cut)?;
    Ok(u32::from_le_bytes(*four))
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Broken::Cut => f.write_str("it is no zip archive, or not all of one"),
            Broken::TooLarge => f.write_str("it unpacks to too much"),
            Broken::Unsupported(what) => write!(f, "it uses {what}, which is not supported"),
            Broken::Path(path) => write!(f, "its file {path:?} would lie outside of its folder"),
            Broken::Twice(path) => write!(f, "it has {path:?} twice"),
            Broken::Content(path) => write!(f, "its file {path:?} is damaged"),
        }
    }
}

/// Archives for tests.
#[cfg(test)]
pub(super) mod packing {
    use miniz_oxide::deflate::compress_to_vec;

    /// A file of an archive to be: path, content, mode.
    pub(in super::super) type File<'a> = (&'a str, &'a [u8], u32);

    /// An archive of these files, every second one deflated.
    pub(in super::super) fn archive(files: &[File<'_>]) -> Vec<u8> {
        let (mut archive, mut directory) = (Vec::new(), Vec::new());
        for (index, (path, content, mode)) in files.iter().enumerate() {
            let method = (index % 2 * 8) as u16;
            let packed = if method == 8 { compress_to_vec(content, 6) } else { content.to_vec() };
            let at = archive.len() as u32;
            let mut common = Vec::new();
            common.extend([0_u16, method, 0, 0].iter().flat_map(|it| it.to_le_bytes()));
            let sizes = [0, packed.len() as u32, content.len() as u32];
            common.extend(sizes.iter().flat_map(|it| it.to_le_bytes()));
            common.extend([path.len() as u16, 0].iter().flat_map(|it| it.to_le_bytes()));
            archive.extend(super::FILE.to_le_bytes());
            archive.extend(20_u16.to_le_bytes());
            archive.extend(&common);
            archive.extend(path.as_bytes());
            archive.extend(&packed);
            directory.extend(super::RECORD.to_le_bytes());
            directory.extend([20, 3]);
            directory.extend(20_u16.to_le_bytes());
            directory.extend(&common);
            directory.extend([0; 6]);
            directory.extend((mode << 16).to_le_bytes());
            directory.extend(at.to_le_bytes());
            directory.extend(path.as_bytes());
        }
        let (at, count) = (archive.len() as u32, files.len() as u16);
        archive.extend(&directory);
        archive.extend(super::END.to_le_bytes());
        archive.extend([0, 0, count, count].iter().flat_map(|it| it.to_le_bytes()));
        archive.extend([directory.len() as u32, at].iter().flat_map(|it| it.to_le_bytes()));
        archive.extend([0, 0]);
        archive
    }
}

#[cfg(test)]
mod tests {
    use super::packing::{File, archive};
    use super::*;

    const PLAIN: u32 = 0o100_644;

    fn told(files: &[File<'_>]) -> String {
        let archive = archive(files);
        let found = super::files(&archive);
        let found = found.and_then(|found| {
            let shown = found.iter().map(|file| {
                let content = unpack(&archive, file)?;
                let mark = if file.is_executable { "*" } else { "" };
                Ok(format!("{}{mark}={}", file.path, String::from_utf8_lossy(&content)))
            });
            shown.collect::<Result<Vec<_>, Broken>>()
        });
        found.map_or_else(|broken| broken.to_string(), |found| found.join(" "))
    }

    #[test]
    fn files_are_unpacked_whichever_way_they_are_packed() {
        let long = "x".repeat(100_000);
        let files: [File<'_>; 5] = [
            ("a", b"1", PLAIN),
            ("b/c", b"2", 0o100_755),
            ("d/", b"", 0o040_755),
            ("d/e", b"", 0),
            ("f", long.as_bytes(), PLAIN),
        ];
        assert_eq!(told(&files), format!("a=1 b/c*=2 d/e= f={long}"));
    }

    #[test]
    fn no_path_leads_outside() {
        for path in ["../a", "a/../../b", "/a", "a//b", "./a", "a/.", "..", "C:a", "a\\b", "", "/"]
        {
            let expected = format!("its file {path:?} would lie outside of its folder");
            assert_eq!(told(&[(path, b"", PLAIN)]), expected);
        }
        assert_eq!(told(&[("a", b"/etc", 0o120_777)]), "it uses links, which is not supported");
        assert_eq!(told(&[("a", b"", PLAIN), ("A", b"", PLAIN)]), "it has \"A\" twice");
    }

    #[test]
    fn what_is_cut_off_or_changed_is_told_and_never_panics() {
        let whole = archive(&[("a", b"some text", PLAIN), ("b", b"text text text", PLAIN)]);
        let look = |archive: &[u8]| {
            let files = files(archive)?;
            files.iter().map(|file| unpack(archive, file)).collect::<Result<Vec<_>, _>>()
        };
        assert!(look(&whole).is_ok());
        for length in 0..whole.len() {
            assert!(look(&whole[..length]).is_err(), "{length}");
        }
        for at in 0..whole.len() {
            for byte in [0, 1, 0x7f, 0xff] {
                let mut changed = whole.clone();
                changed[at] = byte;
                // It may be good all the same: not every byte means something.
                let _ = look(&changed);
            }
        }
    }

    #[test]
    fn a_bomb_is_not_unpacked() {
        let mut bomb = archive(&[("a", b"", PLAIN), ("b", &[0; 1 << 20], PLAIN)]);
        // It says that it is short.
        let long = (1_u32 << 20).to_le_bytes();
        while let Some(at) = bomb.windows(4).position(|window| window == long) {
            bomb[at..at + 4].copy_from_slice(&100_u32.to_le_bytes());
        }
        let found = files(&bomb).unwrap();
        assert_eq!(unpack(&bomb, &found[1]), Err(Broken::Content("b".to_owned())));
    }
}
