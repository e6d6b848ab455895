//! Queues between the tasks of one thread.
//!
//! A queue is closed when one side closes it or is gone. What is in it then can still be taken out.
//! The queues of `async-channel` do the same between threads, for which they take memory for all
//! they may ever hold when they are made.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// The end to put things in.
#[derive(Debug)]
pub struct Sender<T>(Rc<Shared<T>>);

/// The end to take things out.
#[derive(Debug)]
pub struct Receiver<T>(Rc<Shared<T>>);

/// The other side is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed;

/// Why nothing was taken out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nothing {
    /// There is nothing now.
    Yet,
    /// There will never be anything again.
    Ever,
}

#[derive(Debug)]
struct Shared<T> {
    state: RefCell<State<T>>,
    /// Beyond so many, a sender waits.
    limit: usize,
}

#[derive(Debug)]
struct State<T> {
    items: VecDeque<T>,
    is_closed: bool,
    senders: usize,
    /// Who waits for something to come.
    takers: Vec<Waker>,
    /// Who waits for room.
    givers: Vec<Waker>,
}

/// A queue without a limit.
pub fn unbounded<T>() -> (Sender<T>, Receiver<T>) {
    bounded(usize::MAX)
}

/// A queue in which at most `limit` things wait.
pub fn bounded<T>(limit: usize) -> (Sender<T>, Receiver<T>) {
    let state = State {
        items: VecDeque::new(),
        is_closed: false,
        senders: 1,
        takers: Vec::new(),
        givers: Vec::new(),
    };
    let shared = Rc::new(Shared { state: RefCell::new(state), limit });
    (Sender(shared.clone()), Receiver(shared))
}

impl<T> Sender<T> {
    /// Puts something in, as soon as there is room.
    pub async fn send(&self, item: T) -> Result<(), Closed> {
        self.room().await;
        self.push(item)
    }

    /// Waits until there is room, or nobody will take anything out any more.
    pub async fn room(&self) {
        let has_room = |context: &mut Context<'_>| {
            let mut state = self.0.state.borrow_mut();
            if state.is_closed || state.items.len() < self.0.limit {
                return Poll::Ready(());
            }
            enter(&mut state.givers, context.waker());
            Poll::Pending
        };
        poll_fn(has_room).await;
    }

    /// Puts something in, also beyond the limit.
    pub fn push(&self, item: T) -> Result<(), Closed> {
        let takers = {
            let mut state = self.0.state.borrow_mut();
            if state.is_closed {
                return Err(Closed);
            }
            state.items.push_back(item);
            std::mem::take(&mut state.takers)
        };
        takers.into_iter().for_each(Waker::wake);
        Ok(())
    }

    /// Whether nobody will take anything out any more.
    pub fn is_closed(&self) -> bool {
        self.0.state.borrow().is_closed
    }

    /// Waits until nobody will take anything out any more.
    pub async fn closed(&self) {
        let is_closed = |context: &mut Context<'_>| {
            let mut state = self.0.state.borrow_mut();
            if state.is_closed {
                return Poll::Ready(());
            }
            enter(&mut state.givers, context.waker());
            Poll::Pending
        };
        poll_fn(is_closed).await;
    }

    /// How many things wait to be taken out.
    pub fn len(&self) -> usize {
        self.0.state.borrow().items.len()
    }

    /// Whether there is nothing to be taken out.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Closes the queue.
    pub fn close(&self) {
        self.0.close();
    }
}

impl<T> Receiver<T> {
    /// Takes out the next thing, as soon as there is one. Errors when there will be none.
    pub async fn recv(&self) -> Result<T, Closed> {
        poll_fn(|context| match self.try_recv() {
            Ok(item) => Poll::Ready(Ok(item)),
            Err(Nothing::Ever) => Poll::Ready(Err(Closed)),
            Err(Nothing::Yet) => {
                enter(&mut self.0.state.borrow_mut().takers, context.waker());
                Poll::Pending
            }
        })
        .await
    }

    /// Takes out the next thing, if there is one.
    pub fn try_recv(&self) -> Result<T, Nothing> {
        let (item, givers) = {
            let mut state = self.0.state.borrow_mut();
            match state.items.pop_front() {
                Some(item) => (item, std::mem::take(&mut state.givers)),
                None if state.is_closed => return Err(Nothing::Ever),
                None => return Err(Nothing::Yet),
            }
        };
        givers.into_iter().for_each(Waker::wake);
        Ok(item)
    }

    /// Closes the queue.
    pub fn close(&self) {
        self.0.close();
    }
}

impl<T> Shared<T> {
    fn close(&self) {
        let wakers = {
            let mut state = self.state.borrow_mut();
            state.is_closed = true;
            let mut wakers = std::mem::take(&mut state.takers);
            wakers.append(&mut state.givers);
            wakers
        };
        wakers.into_iter().for_each(Waker::wake);
    }
}

fn enter(waiting: &mut Vec<Waker>, waker: &Waker) {
    if !waiting.iter().any(|known| known.will_wake(waker)) {
        waiting.push(waker.clone());
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Sender<T> {
        self.0.state.borrow_mut().senders += 1;
        Sender(self.0.clone())
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        let is_last = {
            let mut state = self.0.state.borrow_mut();
            state.senders -= 1;
            state.senders == 0
        };
        if is_last {
            self.0.close();
        }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.0.close();
        // What nobody will take is not kept until the senders are gone.
        let items = std::mem::take(&mut self.0.state.borrow_mut().items);
        drop(items);
    }
}

#[cfg(test)]
mod tests {
    use futures_lite::future::{block_on, or, pending, poll_once, yield_now, zip};

    use super::*;

    #[test]
    fn things_come_out_in_order() {
        let (sender, receiver) = unbounded();
        (0..5).for_each(|number| sender.push(number).unwrap());
        let out: Vec<i32> = (0..5).map(|_| receiver.try_recv().unwrap()).collect();
        assert_eq!(out, [0, 1, 2, 3, 4]);
        assert_eq!(receiver.try_recv(), Err(Nothing::Yet));
    }

    #[test]
    fn a_closed_queue_is_emptied_first() {
        type Close = fn(&Sender<i32>, &Receiver<i32>);
        let ways: [Close; 2] = [|sender, _| sender.close(), |_, receiver| receiver.close()];
        for close in ways {
            let (sender, receiver) = unbounded();
            sender.push(1).unwrap();
            close(&sender, &receiver);
            assert_eq!(sender.push(2), Err(Closed));
            assert_eq!(block_on(receiver.recv()), Ok(1));
            assert_eq!(block_on(receiver.recv()), Err(Closed));
            assert_eq!(receiver.try_recv(), Err(Nothing::Ever));
        }
    }

    #[test]
    fn it_is_closed_when_the_last_sender_is_gone() {
        let (sender, receiver) = bounded::<i32>(1);
        let other = sender.clone();
        drop(sender);
        assert_eq!(receiver.try_recv(), Err(Nothing::Yet));
        drop(other);
        assert_eq!(receiver.try_recv(), Err(Nothing::Ever));
    }

    #[test]
    fn a_sender_waits_for_room() {
        let (sender, receiver) = bounded(2);
        let sending = async {
            for number in 0..100 {
                sender.send(number).await.unwrap();
                assert!(sender.0.state.borrow().items.len() <= 2);
            }
            sender.close();
        };
        let receiving = async {
            let mut out = Vec::new();
            while let Ok(number) = receiver.recv().await {
                out.push(number);
                yield_now().await;
            }
            out
        };
        let ((), out) = block_on(zip(sending, receiving));
        assert_eq!(out, Vec::from_iter(0..100));
        // A queue that is closed does not keep its senders waiting.
        let (sender, receiver) = bounded(1);
        sender.push(0).unwrap();
        let late = async {
            yield_now().await;
            drop(receiver);
            pending().await
        };
        assert_eq!(block_on(or(sender.send(1), late)), Err(Closed));
        assert!(sender.is_closed());
        block_on(sender.closed());
    }

    #[test]
    fn several_may_wait_for_the_same_thing() {
        let (sender, receiver) = unbounded();
        let closing = async {
            yield_now().await;
            sender.close();
            pending().await
        };
        let both = zip(receiver.recv(), receiver.recv());
        let ended = async { Some(both.await) };
        assert_eq!(block_on(or(ended, closing)), Some((Err::<(), _>(Closed), Err(Closed))));
    }

    #[test]
    fn who_gave_up_waiting_takes_nothing() {
        let (sender, receiver) = unbounded();
        assert_eq!(block_on(poll_once(receiver.recv())), None);
        sender.push(7).unwrap();
        assert_eq!(block_on(receiver.recv()), Ok(7));
    }
}
