//! What is remembered about servers to save time.
//!
//! Nothing here can fail a call: what cannot be read is not known, and what cannot be written is
//! not remembered. There is no clock inside; the time is an argument.

mod context;
mod eras;
mod inventory;
mod lists;

pub use eras::Eras;
pub use inventory::{Entry, folder};
pub use lists::{Found, Key, Lists, Scope};

use crate::env::Env;

/// How the cache is used in this run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mode {
    /// It is read and written.
    #[default]
    On,
    /// It is written only: everything is asked for again (`--refresh`).
    Refresh,
    /// It is not used (`--no-cache`, `MCPMINI_CACHE=off`).
    Off,
}

impl Mode {
    /// The mode from the environment, unless a flag says otherwise.
    pub fn of(env: &Env, no_cache: bool, refresh: bool) -> Mode {
        if no_cache || env.setting("MCPMINI_CACHE").is_some_and(|value| value == "off") {
            Mode::Off
        } else if refresh {
            Mode::Refresh
        } else {
            Mode::On
        }
    }

    fn reads(self) -> bool {
        self == Mode::On
    }

    fn writes(self) -> bool {
        self != Mode::Off
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_and_variables_choose_the_mode() {
        let check = |variable: &str, no_cache, refresh, expected| {
            let env = Env { variables: [("MCPMINI_CACHE", variable)].into(), ..Env::default() };
            assert_eq!(Mode::of(&env, no_cache, refresh), expected);
        };
        check("", false, false, Mode::On);
        check("on", false, false, Mode::On);
        check("off", false, false, Mode::Off);
        check("off", false, true, Mode::Off);
        check("", true, true, Mode::Off);
        check("", false, true, Mode::Refresh);
    }
}
