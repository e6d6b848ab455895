//! Moments as text (RFC 3339), counted in seconds since 1970.

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// Reads a date with a time, as `2026-11-29T10:00:00Z` or with an offset. Fractions of a second are
/// dropped. `None` when it is something else, or no date of the calendar.
pub fn parse(text: &str) -> Option<i64> {
    let (date, time) = (text.get(..10)?, text.get(11..19)?);
    if !text.is_ascii() || !matches!(text.as_bytes()[10], b'T' | b't') {
        return None;
    }
    let local = seconds(numbers(date, '-', [4, 2, 2])?, numbers(time, ':', [2, 2, 2])?)?;
    let mut rest = &text[19..];
    if let Some(fraction) = rest.strip_prefix('.') {
        let end = fraction.find(|c: char| !c.is_ascii_digit())?;
        rest = fraction.get(end..).filter(|_| 0 < end)?;
    }
    Some(local - offset(rest)?)
}

/// Whether a text is a date, as `2026-11-29`.
pub fn is_date(text: &str) -> bool {
    numbers(text, '-', [4, 2, 2]).is_some_and(|date| seconds(date, [0; 3]).is_some())
}

/// The moment of a date (year, month, day) and a time (hour, minute, second) in UTC; `None` when
/// there is no such date or time in the years 0 to 9999.
pub fn seconds([year, month, day]: [i64; 3], [hour, minute, second]: [i64; 3]) -> Option<i64> {
    let is_date = (0..=9999).contains(&year)
        && (1..=12).contains(&month)
        && (1..=days_of(year, month)).contains(&day);
    // A leap second is the first one of the next minute, as the operating system counts it.
    let is_time =
        (0..=23).contains(&hour) && (0..=59).contains(&minute) && (0..=60).contains(&second);
    let since_midnight = || hour * HOUR + minute * MINUTE + second;
    (is_date && is_time).then(|| days_since_1970(year, month, day) * DAY + since_midnight())
}

/// The text of a moment, in UTC: `2026-11-29T10:00:00Z`. Meant for the years 0 to 9999.
pub fn format(seconds: i64) -> String {
    let (days, time) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
    // Counted from 1 March of the year 0, leap days come last (Hinnant, civil_from_days).
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (time / HOUR, time % HOUR / MINUTE, time % MINUTE);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Three numbers of so many digits each.
fn numbers(text: &str, separator: char, digits: [usize; 3]) -> Option<[i64; 3]> {
    let mut parts = text.split(separator);
    let mut next = |digits: usize| {
        let part = parts.next().filter(|part| part.len() == digits)?;
        part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse().ok())?
    };
    let numbers = [next(digits[0])?, next(digits[1])?, next(digits[2])?];
    parts.next().is_none().then_some(numbers)
}

/// How many seconds local time is ahead.
fn offset(text: &str) -> Option<i64> {
    if matches!(text, "Z" | "z") {
        return Some(0);
    }
    let sign = match text.as_bytes() {
        [b'+', _, _, b':', _, _] => 1,
        [b'-', _, _, b':', _, _] => -1,
        _ => return None,
    };
    let [hours, minutes, _] = numbers(&format!("{}:00", &text[1..]), ':', [2, 2, 2])?;
    (hours <= 23 && minutes <= 59).then_some(sign * (hours * HOUR + minutes * MINUTE))
}

fn days_of(year: i64, month: i64) -> i64 {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 => 28 + i64::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    // The reverse of what `format` does.
    let year = year - i64::from(month <= 2);
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read() {
        let check = |text: &str, expected: i64| assert_eq!(parse(text), Some(expected), "{text}");
        check("1970-01-01T00:00:00Z", 0);
        check("1969-12-31T23:59:59Z", -1);
        check("2026-11-29T10:00:00Z", 1_795_946_400);
        check("2026-11-29t10:00:00.123456789z", 1_795_946_400);
        check("2026-11-29T11:30:00+01:30", 1_795_946_400);
        check("2026-11-29T04:00:00-06:00", 1_795_946_400);
        check("2024-02-29T00:00:00Z", 1_709_164_800);
        check("1998-12-31T23:59:60Z", 915_148_800);
        check("0000-03-01T00:00:00Z", -62_162_035_200);
    }

    #[test]
    fn other_texts_are_no_moments() {
        for text in [
            "",
            "2026-11-29",
            "2026-11-29 10:00:00Z",
            "2026-11-29T10:00:00",
            "2026-11-29T10:00Z",
            "2026-13-01T00:00:00Z",
            "2026-02-29T00:00:00Z",
            "2026-11-31T00:00:00Z",
            "2026-00-10T00:00:00Z",
            "2026-11-29T24:00:00Z",
            "2026-11-29T10:60:00Z",
            "2026-11-29T10:00:61Z",
            "2026-11-29T10:00:00.Z",
            "2026-11-29T10:00:00+1:00",
            "2026-11-29T10:00:00+24:00",
            "2026-11-29T10:00:00Z ",
            "+026-11-29T10:00:00Z",
            "2026-11-29T10:00:00é",
            "202é-11-29T10:00:00Z",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_moment_written_and_read_is_the_same() {
        for seconds in (-62_167_219_200..253_402_300_800).step_by(86_400 * 13 + 3_671) {
            assert_eq!(parse(&format(seconds)), Some(seconds), "{}", format(seconds));
        }
        assert_eq!(format(1_795_946_400), "2026-11-29T10:00:00Z");
    }
}
