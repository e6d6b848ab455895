//! An answer, and its body that is read piece by piece.

use std::fmt;
use std::time::Duration;

use futures_lite::{AsyncReadExt, FutureExt};
use http::StatusCode;
use http::header::{CONTENT_TYPE, HeaderMap, LOCATION};
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
}

impl Body {
    pub(super) fn new(reader: AsyncBody, lane: Lane, mark: Mark) -> Body {
        Body { reader, lane: Some(lane), mark }
    }

    /// Reads some bytes, up to the length of `block`; 0 at the end of the body.
    pub async fn read(&mut self, block: &mut [u8]) -> Result<usize, Fault> {
        if self.lane.is_none() {
            return Ok(0);
        }
        match self.reader.read(block).await {
            Ok(0) => {
                self.reader = AsyncBody::empty();
                if let Some(lane) = self.lane.take() {
                    lane.release();
                }
                Ok(0)
            }
            Ok(length) => Ok(length),
            Err(error) => {
                self.reader = AsyncBody::empty();
                let lane = self.lane.take().expect("the lane was there before reading");
                Err(lane.fault(&isahc::Error::from(error), self.mark, Sent::Yes))
            }
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

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Body").field("open", &self.lane.is_some()).finish_non_exhaustive()
    }
}
