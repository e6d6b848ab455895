//! The socket of a session: private, and gone with it.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_io::Async;

use crate::cli::errors::{Error, Phase};
use crate::cli::exit::Exit;
use crate::env::Env;
use crate::protocol::message::Sent;
use crate::reactor::Timer;

/// The longest path of a socket that every system takes (macOS has 104 bytes for it, with a NUL).
const LONGEST: usize = 103;

/// A listening socket in a directory of its own, which nobody else can enter.
#[derive(Debug)]
pub(super) struct Door {
    listener: Async<UnixListener>,
    directory: PathBuf,
    socket: PathBuf,
}

impl Door {
    /// Opens the socket.
    pub(super) fn open(env: &Env) -> Result<Door, Error> {
        let mut fault = None;
        for place in places(env) {
            // Our own directory is made where it is missing, and nobody else's.
            if env.runtime_dir().as_ref() == Some(&place) {
                let _ = DirBuilder::new().mode(0o700).create(&place);
            }
            match Door::open_in(&place) {
                Ok(door) => return Ok(door),
                Err(error) => fault = Some((place, error)),
            }
        }
        let why = fault.map(|(place, error)| format!(": {}: {error}", place.display()));
        let text = format!("there is no place for the session's socket{}", why.unwrap_or_default());
        let error = Error::new(Exit::Config, text).phase(Phase::Start).sent(Sent::No);
        Err(error.hint("name a directory with TMPDIR"))
    }

    fn open_in(place: &Path) -> io::Result<Door> {
        let directory = create_private(place)?;
        let socket = directory.join("socket");
        let listener = UnixListener::bind(&socket)
            .and_then(|listener| {
                // The directory keeps others out; this is for those who look at the socket alone.
                fs::set_permissions(&socket, Permissions::from_mode(0o600))?;
                Async::new(listener)
            })
            .inspect_err(|_| remove(&directory, &socket))?;
        Ok(Door { listener, directory, socket })
    }

    /// The path of the socket.
    pub(super) fn path(&self) -> &Path {
        &self.socket
    }

    /// Waits for the next visitor.
    pub(super) async fn visitor(&self) -> Async<UnixStream> {
        loop {
            match self.listener.accept().await {
                Ok((stream, _)) => return stream,
                // Too many open files, or a visitor that has gone already: the next may come.
                Err(_) => Timer::after(Duration::from_millis(10)).await,
            }
        }
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        remove(&self.directory, &self.socket);
    }
}

fn remove(directory: &Path, socket: &Path) {
    let _ = fs::remove_file(socket);
    let _ = fs::remove_dir(directory);
}

/// Where the socket may be, best first.
fn places(env: &Env) -> Vec<PathBuf> {
    let temporary = env.setting("TMPDIR").map(PathBuf::from).filter(|path| path.is_absolute());
    [env.runtime_dir(), temporary, Some("/tmp".into())].into_iter().flatten().collect()
}

/// Makes a directory that nobody but us can enter. A name that is taken is not ours.
fn create_private(place: &Path) -> io::Result<PathBuf> {
    for attempt in 0..100 {
        let directory = place.join(format!("mcpmini-session-{}-{attempt}", std::process::id()));
        if LONGEST < directory.as_os_str().len() + "/socket".len() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path is too long"));
        }
        match DirBuilder::new().mode(0o700).create(&directory) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => (),
            created => return created.map(|()| directory),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::scratch::Scratch;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_door_is_private_and_leaves_nothing_behind() {
        let scratch = Scratch::new();
        let runtime = scratch.path("");
        let variables = [("XDG_RUNTIME_DIR", runtime.to_str().unwrap())].into();
        let env = Env { variables, ..Env::default() };
        let door = Door::open(&env).unwrap();
        let second = Door::open(&env).unwrap();
        assert_ne!(door.path(), second.path());
        assert!(door.path().starts_with(scratch.path("mcpmini")));
        assert_eq!((mode(door.path()), mode(door.path().parent().unwrap())), (0o600, 0o700));
        let path = door.path().to_owned();
        drop(door);
        assert!(!path.parent().unwrap().exists());
        assert!(second.path().exists());
    }

    #[test]
    fn a_place_that_is_not_there_is_not_made() {
        let scratch = Scratch::new();
        let none = scratch.path("none");
        let env = Env { variables: [("TMPDIR", none.to_str().unwrap())].into(), ..Env::default() };
        assert!(Door::open(&env).unwrap().path().starts_with("/tmp"));
        assert!(!none.exists());
    }

    #[test]
    fn a_path_that_is_too_long_for_a_socket_is_passed_over() {
        let scratch = Scratch::new();
        let long = scratch.path(&"x".repeat(90));
        fs::create_dir_all(&long).unwrap();
        let env = Env { variables: [("TMPDIR", long.to_str().unwrap())].into(), ..Env::default() };
        let door = Door::open(&env).unwrap();
        assert!(door.path().starts_with("/tmp"));
        assert_eq!(fs::read_dir(long).unwrap().count(), 0);
    }
}
