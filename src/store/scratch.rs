//! A directory for one test.

use std::fs::{self, DirBuilder, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::PathBuf;
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

/// A new directory, removed with all that is in it when dropped.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new() -> Scratch {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        loop {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let path = std::env::temp_dir().join(format!("mcpmini-{}-{count}", process::id()));
            match fs::create_dir(&path) {
                // A run that was killed has left it, and its number has come round again.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
                made => made.unwrap(),
            }
            fs::set_permissions(&path, Permissions::from_mode(0o700)).unwrap();
            return Scratch(path.canonicalize().unwrap());
        }
    }

    /// A path in the directory; `""` is the directory itself.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        if name.is_empty() { self.0.clone() } else { self.0.join(name) }
    }

    /// Writes a file, mode 0644, and makes the directories above it.
    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        // Whatever the umask is, nobody else may write here.
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(0o755).create(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        self.chmod(name, 0o644);
        path
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn chmod(&self, name: &str, mode: u32) {
        fs::set_permissions(self.path(name), Permissions::from_mode(mode)).unwrap();
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::set_permissions(&self.0, Permissions::from_mode(0o700));
        let _ = fs::remove_dir_all(&self.0);
    }
}
