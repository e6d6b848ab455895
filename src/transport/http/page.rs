//! Pages for people, which come from what stands in front of a server, or in its place.

/// The longest title that is shown, in characters.
const LONGEST: usize = 120;

/// Whether a body is a page for people, by its type or by how it begins.
pub(super) fn is_page(content_type: Option<&str>, body: &str) -> bool {
    let says_so = content_type.is_some_and(|value| {
        value.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("text/html"))
    });
    let begins = |start: &str| {
        body.trim_start().get(..start.len()).is_some_and(|it| it.eq_ignore_ascii_case(start))
    };
    says_so || ["<!doctype html", "<html", "<head", "<body"].into_iter().any(begins)
}

/// The title of a page, on one line.
pub(super) fn title(page: &str) -> Option<String> {
    // Letters of ASCII only are changed, so that places stay the same.
    let lower = page.to_ascii_lowercase();
    let element = lower.find("<title")?;
    let start = element + lower[element..].find('>')? + 1;
    let end = start + lower[start..].find("</title")?;
    let words: Vec<&str> = page[start..end].split_whitespace().collect();
    let title: String = words.join(" ").chars().take(LONGEST).collect();
    Some(title).filter(|title| !title.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_told_from_messages() {
        let check = |content_type, body: &str, expected| {
            assert_eq!(is_page(content_type, body), expected, "{content_type:?} {body}");
        };
        check(Some("text/html; charset=utf-8"), "x", true);
        check(Some("Text/HTML"), "x", true);
        check(None, "\n<!DOCTYPE HTML>", true);
        check(Some("text/plain"), "<html>", true);
        check(Some("text/plain"), "no <html> here", false);
        check(Some("application/json"), "{}", false);
        check(None, "ä", false);
    }

    #[test]
    fn of_a_page_its_title_is_shown() {
        let check = |page: &str, expected: Option<&str>| {
            assert_eq!(title(page).as_deref(), expected, "{page}");
        };
        check("<html><TITLE class=a>\n Not\n found </Title><p>x", Some("Not found"));
        check("<html><title></title>", None);
        check("<html><p>x", None);
        check("<title>cut off", None);
        check("<title>İ</title>", Some("İ"));
    }
}
