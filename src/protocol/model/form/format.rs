//! How the text of a field is written.

use crate::rfc3339;

/// How a text is written (`format`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// An e-mail address.
    Email,
    /// A URI.
    Uri,
    /// A date (RFC 3339, section 5.6, full-date).
    Date,
    /// A date with a time (RFC 3339, section 5.6, date-time).
    DateTime,
}

impl Format {
    /// The format of that name; `None` for those that say nothing here.
    pub fn named(name: &str) -> Option<Format> {
        match name {
            "email" => Some(Format::Email),
            "uri" => Some(Format::Uri),
            "date" => Some(Format::Date),
            "date-time" => Some(Format::DateTime),
            _ => None,
        }
    }

    /// What is wanted, for people.
    pub fn wanted(self) -> &'static str {
        match self {
            Format::Email => "an e-mail address",
            Format::Uri => "a URL, such as https://example.com",
            Format::Date => "a date, YYYY-MM-DD",
            Format::DateTime => "a date with time and zone, YYYY-MM-DDThh:mm:ssZ",
        }
    }

    /// Whether a text is written so. The server is the judge of what is behind it.
    pub fn fits(self, text: &str) -> bool {
        match self {
            Format::Email => is_email(text),
            Format::Uri => url::Url::parse(text).is_ok() && !text.contains(char::is_whitespace),
            Format::Date => rfc3339::is_date(text),
            Format::DateTime => rfc3339::parse(text).is_some(),
        }
    }
}

/// Something, an at sign, and something: more cannot be said without sending a mail there.
fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else { return false };
    let odd = |c: char| c.is_whitespace() || c.is_control();
    let (begins, ends) = (domain.starts_with('.'), domain.ends_with('.'));
    !local.is_empty() && !domain.is_empty() && !begins && !ends && !text.contains(odd)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(format: Format, fit: &[&str], unfit: &[&str]) {
        for text in fit {
            assert!(format.fits(text), "{text:?} is {}", format.wanted());
        }
        for text in unfit {
            assert!(!format.fits(text), "{text:?} is not {}", format.wanted());
        }
    }

    #[test]
    fn addresses_have_two_sides() {
        let fit = ["a@b", "ada.lovelace+x@mail.example.com", "\"a@b\"@c", "ä@ö"];
        check(Format::Email, &fit, &["", "a", "@b", "a@", "a b@c", "a@b.", "a@.b", "a@b\n"]);
    }

    #[test]
    fn uris_have_a_scheme() {
        let fit = ["https://example.com", "mailto:a@b", "urn:isbn:1", "file:///etc/hosts"];
        check(Format::Uri, &fit, &["", "example.com", "/a/b", "https://", "https://a b/"]);
    }

    #[test]
    fn dates_are_in_the_calendar() {
        let fit = ["2024-02-29", "2000-02-29", "1999-12-31", "0001-01-01"];
        let unfit = [
            "",
            "2023-02-29",
            "1900-02-29",
            "2024-13-01",
            "2024-00-01",
            "2024-04-31",
            "2024-1-01",
            "24-01-01",
            "2024-01-01 ",
            "2024-01-00",
            "2024/01/01",
            "+024-01-01",
            "2024-01-01-01",
            "２024-01-1",
        ];
        check(Format::Date, &fit, &unfit);
    }

    #[test]
    fn times_have_a_zone() {
        let fit = [
            "2024-02-29T23:59:60Z",
            "2024-02-29t00:00:00z",
            "2024-02-29T00:00:00.123456789+14:00",
            "2024-02-29T12:30:15-00:00",
        ];
        let unfit = [
            "",
            "2024-02-29",
            "2024-02-29T12:30Z",
            "2024-02-29T12:30:15",
            "2024-02-30T12:30:15Z",
            "2024-02-29T24:00:00Z",
            "2024-02-29T12:60:00Z",
            "2024-02-29T12:30:61Z",
            "2024-02-29T12:30:15.Z",
            "2024-02-29T12:30:15+1:00",
            "2024-02-29T12:30:15+24:00",
            "2024-02-29 12:30:15Z",
            "2024-02-29T12:30:15Zé",
        ];
        check(Format::DateTime, &fit, &unfit);
    }
}
