//! Waiting for time to pass.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use futures_lite::FutureExt;

use super::waiting;

/// Waits until a moment has come.
#[derive(Debug)]
pub struct Timer {
    /// `None` for no moment at all, or one that is too far away to be told.
    at: Option<Instant>,
    /// The number under which it was entered; `None` before the first poll.
    number: Option<u64>,
}

impl Timer {
    /// Waits until then; without end where there is no such moment.
    pub fn at(at: impl Into<Option<Instant>>) -> Timer {
        Timer { at: at.into(), number: None }
    }

    /// Waits so long, counted from now.
    pub fn after(duration: Duration) -> Timer {
        Timer { at: Instant::now().checked_add(duration), number: None }
    }
}

impl Future for Timer {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let Some(at) = self.at else { return Poll::Pending };
        match self.number {
            // Who asks again and again with a timer of his own must hear it, too.
            None if at <= Instant::now() => Poll::Ready(()),
            None => {
                self.number = Some(waiting::enter_timer(at, context.waker()));
                Poll::Pending
            }
            Some(number) if waiting::renew_timer(at, number, context.waker()) => Poll::Pending,
            Some(_) => Poll::Ready(()),
        }
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        if let (Some(at), Some(number)) = (self.at, self.number) {
            waiting::drop_timer(at, number);
        }
    }
}

/// What comes of a future; `None` when it takes longer than that.
pub async fn timeout<T>(limit: Duration, future: impl Future<Output = T>) -> Option<T> {
    let in_time = async { Some(future.await) };
    let too_late = async {
        Timer::after(limit).await;
        None
    };
    in_time.or(too_late).await
}
