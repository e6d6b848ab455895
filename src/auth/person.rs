//! The person at the other end, if there is one.

use std::fmt;
use std::rc::Rc;

/// How a person can log in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum How {
    /// Not at all: this command must not ask.
    #[default]
    Absent,
    /// A browser is opened.
    Browser,
    /// The address is shown; the answer comes by itself or is pasted.
    Paste,
    /// On another device.
    Device,
}

/// What a person is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice<'a> {
    /// The browser is opened with this URL.
    Browser {
        /// The URL.
        url: &'a str,
    },
    /// This URL is to be opened, and the address that it leads to is to be pasted.
    Open {
        /// The URL.
        url: &'a str,
    },
    /// What was pasted is not the answer.
    NotTheAnswer,
    /// This page is to be opened on another device.
    Device {
        /// The page.
        url: &'a str,
        /// The code to type there.
        code: &'a str,
    },
}

/// The person at the other end.
#[derive(Clone)]
pub struct Person {
    /// How the person can log in.
    pub how: How,
    /// Tells the person something.
    pub tell: Rc<dyn Fn(&Notice<'_>)>,
}

impl Person {
    /// Nobody.
    pub fn absent() -> Person {
        Person { how: How::Absent, tell: Rc::new(|_| ()) }
    }
}

impl fmt::Debug for Person {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Person({:?})", self.how)
    }
}
