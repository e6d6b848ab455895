//! An answer, and its body that is read piece by piece.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::time::{Duration, Instant};

use futures_lite::{AsyncRead, FutureExt};
use http::header::{
    CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, LOCATION, TRANSFER_ENCODING,
};
use http::{StatusCode, Version};
use isahc::AsyncBody;

use super::Address;
use super::lanes::Lane;
use super::reasons::Mark;
use crate::protocol::message::{Fault, Sent};
use crate::reactor::Timer;

/// How much of an answer that nobody wants is read to keep its connection, in bytes.
const DISCARD: usize = 64 << 10;

/// How long such a rest may take to come.
const PATIENCE: Duration = Duration::from_secs(1);

/// How long this thread stays awake for the next piece of a long body. The HTTP library's thread hands
/// over 16 KiB about every 20 µs, and to wake another one each time takes it a third of that.
const AWAKE: Duration = Duration::from_micros(50);

/// A piece so long is none that a server sends now and then, in bytes.
const FLOWING: usize = 8 << 10;

/// An answer whose status and header fields have arrived.
#[derive(Debug)]
pub struct Reply {
    /// The status.
    pub status: StatusCode,
    /// The header fields.
    pub headers: HeaderMap,
    /// Where the answer came from, after redirects.
    pub address: Address,
    /// Whether permanent redirects led there (RFC 9110, section 15.4.9).
    pub moved: bool,
    /// The body. To drop it before its end is to hang up.
    pub body: Body,
}

impl Reply {
    /// The value of a header field, when it is there and visible ASCII.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Where a redirect points to, as a full URL if it is one.
    pub fn location(&self) -> Option<String> {
        let location = self.header(LOCATION.as_str())?;
        let joined = self.address.join(location).map(|address| address.to_string());
        Some(joined.unwrap_or_else(|_| location.to_owned()))
    }

    /// The type of the body: the part of `Content-Type` before the parameters, in lower case;
    /// empty when there is none.
    pub fn content_type(&self) -> String {
        media_type(&self.headers)
    }
}

/// The part of `Content-Type` before the parameters, in lower case; empty when there is none.
pub(super) fn media_type(headers: &HeaderMap) -> String {
    let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// The body of an answer.
pub struct Body {
    // Declared first and so dropped first: it holds on to the client of the lane.
    reader: AsyncBody,
    lane: Option<Lane>,
    mark: Mark,
    /// How much is still to come, in bytes, if the server has said how long the body is.
    left: Option<u64>,
    /// Whether the last piece was a long one, so that the next one follows at once.
    is_flowing: bool,
}

impl Body {
    pub(super) fn new(
        reader: AsyncBody,
        lane: Lane,
        mark: Mark,
        version: Version,
        headers: &HeaderMap,
    ) -> Body {
        Body { reader, lane: Some(lane), mark, left: length(version, headers), is_flowing: false }
    }

    /// Reads some bytes, up to the length of `block`; 0 at the end of the body.
    pub async fn read(&mut self, block: &mut [u8]) -> Result<usize, Fault> {
        if self.lane.is_none() {
            return Ok(0);
        }
        let awake = if self.is_flowing { AWAKE } else { Duration::ZERO };
        match read_awake(&mut self.reader, block, awake).await {
            Ok(0) => {
                self.end();
                Ok(0)
            }
            Ok(length) => {
                self.is_flowing = length >= FLOWING;
                self.left = self.left.map(|left| left.saturating_sub(length as u64));
                // To be told of the end, this thread would have to go to sleep and be woken again.
                if self.left == Some(0) {
                    self.end();
                }
                Ok(length)
            }
            Err(error) => {
                self.reader = AsyncBody::empty();
                let lane = self.lane.take().expect("the lane was there before reading");
                Err(lane.fault(&isahc::Error::from(error), self.mark, Sent::Yes))
            }
        }
    }

    /// All has come: the connection can be used again.
    fn end(&mut self) {
        self.reader = AsyncBody::empty();
        if let Some(lane) = self.lane.take() {
            lane.release();
        }
    }

    /// The beginning of the body, at most `limit` bytes: what comes before it ends, breaks or
    /// takes too long.
    pub async fn read_up_to(&mut self, limit: usize, patience: Duration) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut block = [0; 4096];
        let reading = async {
            while bytes.len() <= limit {
                match self.read(&mut block).await {
                    Ok(0) | Err(_) => break,
                    Ok(length) => bytes.extend_from_slice(&block[..length]),
                }
            }
        };
        let too_long = async {
            Timer::after(patience).await;
        };
        reading.or(too_long).await;
        bytes.truncate(limit);
        bytes
    }

    /// Reads a short rest to its end, so that the connection can be used again.
    pub async fn discard(&mut self) {
        self.read_up_to(DISCARD, PATIENCE).await;
    }
}

/// Reads some bytes, and stays awake for as long as it is told to while there are none.
async fn read_awake(
    reader: &mut AsyncBody,
    block: &mut [u8],
    awake: Duration,
) -> std::io::Result<usize> {
    let mut until = None;
    poll_fn(|context| {
        let read = Pin::new(&mut *reader).poll_read(context, block);
        if read.is_pending() && !awake.is_zero() {
            let now = Instant::now();
            if now < *until.get_or_insert(now + awake) {
                // Where there are too few processors, the server may need this one.
                std::thread::yield_now();
                context.waker().wake_by_ref();
            }
        }
        read
    })
    .await
}

/// How long a body is that comes as it is (RFC 9112, section 6.2). The HTTP library has its end in the
/// same moment as its last byte then, and sees the next request after that.
fn length(version: Version, headers: &HeaderMap) -> Option<u64> {
    let is_plain = version < Version::HTTP_2
        && !headers.contains_key(CONTENT_ENCODING)
        && !headers.contains_key(TRANSFER_ENCODING);
    headers.get(CONTENT_LENGTH).filter(|_| is_plain)?.to_str().ok()?.parse().ok()
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Body").field("open", &self.lane.is_some()).finish_non_exhaustive()
    }
}
