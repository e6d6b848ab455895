//! Durations as people write them: `300ms`, `30s`, `2m`, `1.5h`, and a bare number for seconds.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// The units by their spelling, in milliseconds. `ms` stands before `m` and `s`, because the first
/// that fits counts.
const UNITS: &[(&str, u64)] = &[("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)];

/// The shortest and the longest duration other than zero. Shorter ones are typing errors, and an
/// instant that far ahead of now must still be an instant.
const RANGE: std::ops::RangeInclusive<Duration> =
    Duration::from_millis(1)..=Duration::from_secs(8_760 * 3_600);

/// How long to wait for something at most.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Limit(Option<Duration>);

impl Limit {
    /// Wait without end.
    pub const NONE: Limit = Limit(None);

    /// Wait for `duration`.
    pub const fn after(duration: Duration) -> Limit {
        Limit(Some(duration))
    }

    /// The longest wait; `None` when there is no end to it.
    pub const fn duration(self) -> Option<Duration> {
        self.0
    }
}

/// A duration, where `0` stands for no limit.
impl FromStr for Limit {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Limit, Invalid> {
        let duration = parse(text)?;
        Ok(if duration.is_zero() { Limit::NONE } else { Limit::after(duration) })
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(duration) => f.write_str(&show(duration)),
            None => f.write_str("no limit"),
        }
    }
}

impl fmt::Debug for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Text that is no duration, or none that can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Invalid {
    /// Not a number with one of the units.
    Syntax(String),
    /// Neither zero nor a millisecond long.
    TooShort(String),
    /// Longer than a year.
    TooLong(String),
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Invalid::Syntax(text) => {
                write!(f, "{text:?} is no duration; write it like 300ms, 30s, 2m or 1h")
            }
            Invalid::TooShort(text) => write!(f, "{text:?} is shorter than 1ms"),
            Invalid::TooLong(text) => write!(f, "{text:?} is longer than a year (8760h)"),
        }
    }
}

/// Reads a duration. Digits beyond a nanosecond are cut off.
pub fn parse(text: &str) -> Result<Duration, Invalid> {
    let duration = read(text).ok_or_else(|| Invalid::Syntax(text.to_owned()))?;
    let is_zero = !text.contains(|c: char| matches!(c, '1'..='9'));
    match duration {
        Some(duration) if is_zero || RANGE.contains(&duration) => Ok(duration),
        Some(duration) if duration < *RANGE.start() => Err(Invalid::TooShort(text.to_owned())),
        _ => Err(Invalid::TooLong(text.to_owned())),
    }
}

/// A duration as [`parse`] reads it: whole seconds as `30s`, all else in milliseconds.
pub fn show(duration: Duration) -> String {
    let fraction = duration.subsec_nanos();
    if fraction == 0 {
        return format!("{}s", duration.as_secs());
    }
    let below_millisecond = fraction % 1_000_000;
    if below_millisecond == 0 {
        return format!("{}ms", duration.as_millis());
    }
    let digits = format!("{}.{below_millisecond:06}", duration.as_millis());
    format!("{}ms", digits.trim_end_matches('0'))
}

/// `None` when the text is no duration, `Some(None)` when it is too long to be held.
fn read(text: &str) -> Option<Option<Duration>> {
    let (number, unit) = UNITS
        .iter()
        .find_map(|(name, unit)| Some((text.strip_suffix(name)?, *unit)))
        .unwrap_or((text, 1_000));
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if !is_number || whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
        return None;
    }
    Some(nanoseconds(whole, fraction, unit).map(Duration::from_nanos))
}

/// `whole.fraction` times `unit` milliseconds; `None` when that does not fit.
fn nanoseconds(whole: &str, fraction: &str, unit: u64) -> Option<u64> {
    let unit = u128::from(unit) * 1_000_000;
    let whole: u128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    // An hour has 3.6e12 nanoseconds: the thirteenth digit and those after it make no difference.
    let fraction = &fraction[..fraction.len().min(13)];
    let parts = 10_u128.pow(u32::try_from(fraction.len()).ok()?);
    let fraction: u128 = if fraction.is_empty() { 0 } else { fraction.parse().ok()? };
    u64::try_from(whole.checked_mul(unit)? + fraction * unit / parts).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_numbers_with_a_unit() {
        let check = |text: &str, milliseconds| {
            assert_eq!(parse(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        };
        check("30", 30_000);
        check("30s", 30_000);
        check("300ms", 300);
        check("2m", 120_000);
        check("1h", 3_600_000);
        check("1.5s", 1_500);
        check(".5s", 500);
        check("1.h", 3_600_000);
        check("0", 0);
        check("0.0ms", 0);
        check("000.25", 250);
        check("8760h", 31_536_000_000);
        assert_eq!(parse("0.0010000009"), Ok(Duration::from_nanos(1_000_000)));
        assert_eq!(parse("1.00000000000000000000001ms"), Ok(Duration::from_millis(1)));
    }

    #[test]
    fn what_is_no_duration_is_refused_with_a_reason() {
        let check = |text: &str, expected: &str| {
            assert_eq!(parse(text).map_err(|invalid| invalid.to_string()), Err(expected.into()));
        };
        let no_duration = |text: &str| {
            let hint = "is no duration; write it like 300ms, 30s, 2m or 1h";
            check(text, &format!("{text:?} {hint}"));
        };
        for text in ["", ".", "s", "-1", "+1", "1e3", "inf", "1d", "1 s", "1,5", "1.2.3", "1m30s"] {
            no_duration(text);
        }
        for text in ["٣s", "ms", "0x10", "NaN", "1S", "..", "1..0"] {
            no_duration(text);
        }
        check("0.9ms", "\"0.9ms\" is shorter than 1ms");
        check("0.00000000000000001", "\"0.00000000000000001\" is shorter than 1ms");
        check("8761h", "\"8761h\" is longer than a year (8760h)");
        let many = "9".repeat(60);
        check(&many, &format!("\"{many}\" is longer than a year (8760h)"));
    }

    #[test]
    fn a_limit_of_zero_is_no_limit() {
        assert_eq!("0".parse(), Ok(Limit::NONE));
        assert_eq!("0h".parse(), Ok(Limit::NONE));
        assert_eq!("1ms".parse(), Ok(Limit::after(Duration::from_millis(1))));
        assert_eq!(Limit::NONE.to_string(), "no limit");
    }

    #[test]
    fn a_shown_duration_reads_back() {
        let check = |text: &str, shown: &str| {
            let duration = parse(text).unwrap();
            assert_eq!(show(duration), shown);
            assert_eq!(parse(shown), Ok(duration));
        };
        check("30", "30s");
        check("300ms", "300ms");
        check("1.5", "1500ms");
        check("2m", "120s");
        check("1.5ms", "1.5ms");
        check("0", "0s");
    }
}
