//! A request, and its body that can be sent once only.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use futures_lite::AsyncRead;
use http::Method;
use http::header::HeaderMap;
use isahc::AsyncBody;

use super::Address;

/// A request to the server of some [`super::Lanes`].
#[derive(Debug, Clone)]
pub struct Request {
    /// The method.
    pub method: Method,
    /// Where to.
    pub address: Address,
    /// The fields of the protocol. They win over those of the user.
    pub headers: HeaderMap,
    /// The body, if any.
    pub body: Option<Arc<Vec<u8>>>,
}

impl Request {
    /// A GET request.
    pub fn get(address: Address, headers: HeaderMap) -> Request {
        Request { method: Method::GET, address, headers, body: None }
    }

    /// A DELETE request.
    pub fn delete(address: Address, headers: HeaderMap) -> Request {
        Request { method: Method::DELETE, address, headers, body: None }
    }

    /// A POST request.
    pub fn post(address: Address, headers: HeaderMap, body: Arc<Vec<u8>>) -> Request {
        Request { method: Method::POST, address, headers, body: Some(body) }
    }

    /// The request for the HTTP library, and a flag that tells whether its body was touched.
    pub(super) fn prepare(&self, headers: HeaderMap) -> (http::Request<AsyncBody>, Touched) {
        let touched = Touched::default();
        let body = match &self.body {
            None => AsyncBody::empty(),
            Some(bytes) => {
                let once = Once { bytes: bytes.clone(), position: 0, touched: touched.clone() };
                AsyncBody::from_reader_sized(once, bytes.len() as u64)
            }
        };
        let mut request = http::Request::new(body);
        *request.method_mut() = self.method.clone();
        *request.uri_mut() = self.address.uri().clone();
        *request.headers_mut() = headers;
        (request, touched)
    }
}

/// Whether a body was touched. libcurl asks for it only when the connection stands and the head of
/// the request was written, so an untouched body proves that the server did not act.
#[derive(Debug, Clone, Default)]
pub(super) struct Touched(Arc<AtomicBool>);

impl Touched {
    pub(super) fn get(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// A body that cannot be rewound.
///
/// When a kept connection dies before the answer, libcurl would send the request a second time
/// without telling, and a tool would run twice. It gives up when it cannot have the body again.
struct Once {
    bytes: Arc<Vec<u8>>,
    position: usize,
    touched: Touched,
}

impl AsyncRead for Once {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<std::io::Result<usize>> {
        self.touched.0.store(true, Ordering::SeqCst);
        let rest = &self.bytes[self.position..];
        let length = rest.len().min(buffer.len());
        buffer[..length].copy_from_slice(&rest[..length]);
        self.position += length;
        Poll::Ready(Ok(length))
    }
}
