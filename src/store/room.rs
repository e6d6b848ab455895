//! Directories that must not grow without end.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::replace::remove;
use crate::protocol::sorting::sort;

/// Makes room for `wanted` more bytes in the directories of a directory, of which all together may
/// have `limit`: removes the files that were written first. A file that cannot be removed stays.
pub fn make_room(directory: &Path, wanted: u64, limit: u64) {
    let mut files: Vec<_> = files(directory).collect();
    let mut total = wanted + files.iter().map(|(_, length, _)| length).sum::<u64>();
    sort(&mut files);
    for (_, length, path) in files {
        if total <= limit {
            break;
        }
        if remove(&path).is_ok() {
            total -= length;
        }
    }
}

/// All files: when they were written, how long they are, and where they are.
fn files(directory: &Path) -> impl Iterator<Item = (SystemTime, u64, PathBuf)> {
    let inside = |path: &Path| fs::read_dir(path).into_iter().flatten().flatten();
    let files = inside(directory).flat_map(move |directory| inside(&directory.path()));
    files.filter_map(|file| {
        let metadata = file.metadata().ok().filter(fs::Metadata::is_file)?;
        Some((metadata.modified().ok()?, metadata.len(), file.path()))
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::scratch::Scratch;
    use super::*;

    #[test]
    fn the_files_that_were_written_first_make_room() {
        let scratch = Scratch::new();
        for number in 0..10 {
            // A file with a length but nothing in it.
            let path = scratch.write(&format!("d/{}/{number}", number % 2), "");
            let file = fs::OpenOptions::new().write(true).open(path).unwrap();
            file.set_len(10).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(number)).unwrap();
        }
        let check = |wanted, limit, expected: &[&str]| {
            make_room(&scratch.path("d"), wanted, limit);
            let mut left: Vec<_> = files(&scratch.path("d"))
                .map(|(_, _, path)| path.file_name().unwrap().display().to_string())
                .collect();
            left.sort();
            assert_eq!(left, expected);
        };
        check(0, 100, &["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]);
        check(0, 99, &["1", "2", "3", "4", "5", "6", "7", "8", "9"]);
        check(15, 85, &["3", "4", "5", "6", "7", "8", "9"]);
        check(200, 100, &[]);
        make_room(&scratch.path("none"), 1, 0);
    }
}
