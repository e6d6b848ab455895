//! A terminal for tests: what a program shows on it, and somebody who types.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// What Ctrl-D types.
pub(crate) const CTRL_D: &str = "\u{4}";

/// A pseudo-terminal.
pub(crate) struct Terminal {
    keyboard: File,
    shown: Arc<Mutex<String>>,
    showing: thread::JoinHandle<()>,
    /// The other end. It is kept open, so that the terminal stays when a program ends.
    line: OwnedFd,
    /// How much of what is shown was expected so far.
    seen: usize,
}

impl Terminal {
    /// A new terminal; none, with a printed reason, where the system has none to give.
    pub(crate) fn open() -> Option<Self> {
        match Self::try_open() {
            Ok(terminal) => Some(terminal),
            Err(error) => {
                println!("skipped: no pseudo-terminal: {error}");
                None
            }
        }
    }

    fn try_open() -> rustix::io::Result<Self> {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
        // What other tests start must not hold it open.
        fcntl_setfd(&master, FdFlags::CLOEXEC)?;
        grantpt(&master)?;
        unlockpt(&master)?;
        let name = ptsname(&master, Vec::new())?;
        let line =
            rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?;
        let shown = Arc::new(Mutex::new(String::new()));
        let (mut screen, screen_text) = (File::from(master.try_clone().unwrap()), shown.clone());
        let showing = thread::spawn(move || {
            let mut block = [0; 4096];
            while let Ok(length @ 1..) = screen.read(&mut block) {
                *screen_text.lock().unwrap() += &String::from_utf8_lossy(&block[..length]);
            }
        });
        Ok(Self { keyboard: File::from(master), shown, showing, line, seen: 0 })
    }

    /// Makes it standard input and standard error of a command.
    pub(crate) fn attach<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        self.attach_wholly(command).stdout(Stdio::piped())
    }

    /// Makes it standard input, output and error of a command.
    pub(crate) fn attach_wholly<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        let end = || Stdio::from(self.line.try_clone().unwrap());
        command.stdin(end()).stdout(end()).stderr(end())
    }

    /// Everything that was shown.
    pub(crate) fn shown(&self) -> String {
        self.shown.lock().unwrap().clone()
    }

    /// Everything that was shown, when no program has the terminal any more.
    pub(crate) fn close(self) -> String {
        drop(self.line);
        self.showing.join().unwrap();
        self.shown.lock().unwrap().clone()
    }

    /// Waits until a text is shown, after those that were waited for before.
    #[track_caller]
    pub(crate) fn expect(&mut self, text: &str) {
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            let shown = self.shown();
            if let Some(at) = shown[self.seen..].find(text) {
                self.seen += at + text.len();
                return;
            }
            assert!(Instant::now() < deadline, "{text:?} never came: {:?}", &shown[self.seen..]);
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Types keys.
    pub(crate) fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits for a prompt and types a line in answer.
    #[track_caller]
    pub(crate) fn answer(&mut self, prompt: &str, line: &str) {
        self.expect(prompt);
        self.press(&format!("{line}\n"));
    }
}
