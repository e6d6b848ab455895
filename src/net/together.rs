//! Several things at the same time.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

/// Carries out all of them side by side. The outcomes come in the order of the futures.
pub async fn together<F: Future>(futures: impl IntoIterator<Item = F>) -> Vec<F::Output> {
    let mut running: Vec<Pin<Box<F>>> = futures.into_iter().map(Box::pin).collect();
    let mut outcomes: Vec<Option<F::Output>> = running.iter().map(|_| None).collect();
    poll_fn(move |context| {
        let mut is_done = true;
        for (future, outcome) in running.iter_mut().zip(&mut outcomes) {
            if outcome.is_some() {
                continue;
            }
            match future.as_mut().poll(context) {
                Poll::Ready(value) => *outcome = Some(value),
                Poll::Pending => is_done = false,
            }
        }
        match is_done {
            true => Poll::Ready(outcomes.iter_mut().filter_map(Option::take).collect()),
            false => Poll::Pending,
        }
    })
    .await
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn outcomes_keep_their_order_and_the_longest_decides_how_long_it_takes() {
        let begun = Instant::now();
        let wait = |milliseconds| async move {
            crate::reactor::Timer::after(Duration::from_millis(milliseconds)).await;
            milliseconds
        };
        let waits = [200, 10, 150, 0, 190].map(wait);
        assert_eq!(crate::reactor::block_on(together(waits)), [200, 10, 150, 0, 190]);
        assert!(begun.elapsed() < Duration::from_millis(500));
        let none: [std::future::Ready<()>; 0] = [];
        assert_eq!(crate::reactor::block_on(together(none)), []);
    }
}
