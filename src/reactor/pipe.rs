//! Our ends of pipes.

use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use rustix::io::{Errno, ioctl_fionbio, read, write};

use super::waiting::{readable, writable};

/// The end to read from.
#[derive(Debug)]
pub struct Reader {
    descriptor: Rc<OwnedFd>,
    /// Whether the last read took all there was room for, so that there may be more.
    may_have_more: bool,
    is_wide: bool,
}

/// What a pipe holds unless something else is asked for.
const PIPE: usize = 64 << 10;

/// What a pipe should hold that is always full.
#[cfg(target_os = "linux")]
const WIDE: usize = 1 << 20;

/// The end to write to.
#[derive(Debug)]
pub struct Writer {
    descriptor: Rc<OwnedFd>,
}

impl Reader {
    /// Reads from this descriptor, which becomes non-blocking.
    pub fn new(descriptor: impl Into<OwnedFd>) -> io::Result<Reader> {
        let descriptor = Rc::new(descriptor.into());
        ioctl_fionbio(&descriptor, true)?;
        Ok(Reader { descriptor, may_have_more: false, is_wide: false })
    }

    /// Reads what there is, up to 8 KiB of it; nothing at the end. While there is nothing it takes no
    /// memory, and as long as there is little, little.
    pub async fn read_some(&mut self) -> io::Result<Vec<u8>> {
        readable(&self.descriptor).await;
        let mut block = vec![0; if self.may_have_more { 8 << 10 } else { 512 }];
        // There is something, or was: to ask again would be in vain.
        self.may_have_more = true;
        let length = self.read(&mut block).await?;
        block.truncate(length);
        Ok(block)
    }

    /// Reads what there is, up to the length of `block`; 0 at the end.
    pub async fn read(&mut self, block: &mut [u8]) -> io::Result<usize> {
        loop {
            // Most often there is nothing yet, and the question would be in vain.
            if !self.may_have_more {
                readable(&self.descriptor).await;
            }
            self.may_have_more = false;
            match read(&self.descriptor, &mut *block) {
                Ok(length) => {
                    self.may_have_more = length == block.len();
                    if length >= PIPE && !self.is_wide {
                        self.widen();
                    }
                    return Ok(length);
                }
                Err(Errno::AGAIN | Errno::INTR) => (),
                Err(errno) => return Err(errno.into()),
            }
        }
    }

    /// Makes a full pipe hold more, so that its two ends wait less for each other. Where the system
    /// does not allow that, nothing is lost.
    fn widen(&mut self) {
        self.is_wide = true;
        #[cfg(target_os = "linux")]
        let _ = rustix::pipe::fcntl_setpipe_size(&self.descriptor, WIDE);
    }
}

impl Writer {
    /// Writes to this descriptor, which becomes non-blocking.
    pub fn new(descriptor: impl Into<OwnedFd>) -> io::Result<Writer> {
        let descriptor = Rc::new(descriptor.into());
        ioctl_fionbio(&descriptor, true)?;
        Ok(Writer { descriptor })
    }

    /// Writes all of it, however long the reader takes.
    pub async fn write_all(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match write(&self.descriptor, bytes) {
                Ok(length) => bytes = &bytes[length..],
                Err(Errno::AGAIN) => writable(&self.descriptor).await,
                Err(Errno::INTR) => (),
                Err(errno) => return Err(errno.into()),
            }
        }
        Ok(())
    }
}
