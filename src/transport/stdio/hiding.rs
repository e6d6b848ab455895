//! Secrets taken out of bytes that pass through, however these are cut into chunks.

use crate::env::Secret;
use crate::protocol::mask::MASK;
use crate::protocol::sorting::sort_by;

/// Takes secrets out of a stream.
#[derive(Debug, Default)]
pub(super) struct Hiding {
    secrets: Vec<Secret>,
    /// What may be the beginning of a secret.
    held: Vec<u8>,
}

impl Hiding {
    pub(super) fn new(secrets: &[Secret]) -> Hiding {
        let mut secrets: Vec<Secret> =
            secrets.iter().flat_map(|secret| secret.expose().lines()).map(Secret::from).collect();
        secrets.retain(|secret| !secret.expose().is_empty());
        // One may be a part of another.
        sort_by(&mut secrets, |one, other| other.expose().len().cmp(&one.expose().len()));
        Hiding { secrets, held: Vec::new() }
    }

    /// What of the stream can be shown now that this has come as well.
    pub(super) fn pass(&mut self, chunk: &[u8]) -> Vec<u8> {
        self.held.extend_from_slice(chunk);
        self.shown(false)
    }

    /// What is left at the end.
    pub(super) fn rest(&mut self) -> Vec<u8> {
        self.shown(true)
    }

    fn shown(&mut self, is_end: bool) -> Vec<u8> {
        let mut shown = Vec::with_capacity(self.held.len());
        let mut rest = &self.held[..];
        while !rest.is_empty() {
            let mut secrets = self.secrets.iter().map(|secret| secret.expose().as_bytes());
            let begins = |secret: &[u8]| rest.len() < secret.len() && secret.starts_with(rest);
            if !is_end && secrets.clone().any(begins) {
                break;
            }
            match secrets.find(|secret| rest.starts_with(secret)) {
                Some(secret) => {
                    shown.extend_from_slice(MASK.as_bytes());
                    rest = &rest[secret.len()..];
                }
                None => {
                    shown.push(rest[0]);
                    rest = &rest[1..];
                }
            }
        }
        self.held = rest.to_vec();
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_found_however_they_are_cut() {
        let secrets = ["hunter2", "hunter2-two", "a\nbcd"].map(Secret::from);
        let check = |text: &str, expected: &str| {
            for length in 1..=text.len() {
                let mut hiding = Hiding::new(&secrets);
                let shown: Vec<u8> =
                    text.as_bytes().chunks(length).flat_map(|chunk| hiding.pass(chunk)).collect();
                let shown = [shown, hiding.rest()].concat();
                assert_eq!(String::from_utf8_lossy(&shown), expected, "{length}");
            }
        };
        check("x hunter2 y", "x *** y");
        check("hunter2-two, hunter2-tw", "***, ***-tw");
        check("huhunter2hunter", "hu***hunter");
        check("bcd", "***");
        check("größe", "größe");
    }

    #[test]
    fn what_cannot_become_a_secret_is_shown_at_once() {
        let mut hiding = Hiding::new(&[Secret::from("hunter2")]);
        assert_eq!(hiding.pass(b"password: hun"), b"password: ");
        assert_eq!(hiding.pass(b"g"), b"hung");
    }
}
