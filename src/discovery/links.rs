//! Links to a catalog: in a `Link` header (RFC 8288), or in the head of a page.

/// The relation of a link to a catalog.
const CATALOG: &str = "ai-catalog";

/// The targets of the links to a catalog in a `Link` field.
pub fn of_header(value: &str) -> Vec<String> {
    let mut targets = Vec::new();
    let mut rest = value;
    while let Some((_, after)) = rest.split_once('<') {
        let Some((target, after)) = after.split_once('>') else { break };
        let (parameters, next) = split_link(after);
        if parameters.iter().any(|(name, value)| name == "rel" && names_catalog(value)) {
            targets.push(target.trim().to_owned());
        }
        rest = next;
    }
    targets
}

/// The parameters after a target, and what follows the comma.
fn split_link(text: &str) -> (Vec<(String, String)>, &str) {
    let mut parameters = Vec::new();
    let mut parameter = String::new();
    let (mut quoted, mut escaped) = (false, false);
    let mut end = text.len();
    for (at, letter) in text.char_indices() {
        match letter {
            _ if escaped => {
                escaped = false;
                parameter.push(letter);
            }
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            ';' if !quoted => parameters.extend(split_parameter(&std::mem::take(&mut parameter))),
            ',' if !quoted => {
                end = at + 1;
                break;
            }
            _ => parameter.push(letter),
        }
    }
    parameters.extend(split_parameter(&parameter));
    (parameters, &text[end..])
}

fn split_parameter(text: &str) -> Option<(String, String)> {
    let (name, value) = text.split_once('=')?;
    Some((name.trim().to_ascii_lowercase(), value.trim().to_owned()))
}

/// Relations stand side by side, with blanks between them.
fn names_catalog(relations: &str) -> bool {
    relations.split_ascii_whitespace().any(|relation| relation.eq_ignore_ascii_case(CATALOG))
}

/// The targets of the links to a catalog in the head of a page. Only attributes in quotes are read:
/// this is no parser of HTML, and does not run away with what looks like one.
pub fn of_page(page: &str) -> Vec<String> {
    let head = page.find("<body").map_or(page, |end| &page[..end]);
    let mut targets = Vec::new();
    let mut rest = head;
    while let Some(start) = find_tag(rest) {
        let tag = &rest[start..];
        let end = tag.find('>').unwrap_or(tag.len());
        let (tag, after) = (&tag[..end], &rest[start + end..]);
        let relation = attribute(tag, "rel").is_some_and(|value| names_catalog(&value));
        targets.extend(attribute(tag, "href").filter(|_| relation));
        rest = after;
    }
    targets
}

fn find_tag(text: &str) -> Option<usize> {
    text.match_indices('<').map(|(at, _)| at).find(|at| {
        let name = text[at + 1..].get(..5);
        name.is_some_and(|name| name[..4].eq_ignore_ascii_case("link") && !name.ends_with('-'))
    })
}

/// The value of an attribute in quotes.
fn attribute(tag: &str, name: &str) -> Option<String> {
    let lower = tag.to_ascii_lowercase();
    let places = lower.match_indices(name).map(|(at, _)| at);
    for at in places {
        let is_whole = tag[..at].ends_with(|before: char| before.is_ascii_whitespace());
        let after = tag[at + name.len()..].trim_start();
        let Some(value) = after.strip_prefix('=').map(str::trim_start) else { continue };
        let Some(quote) = value.chars().next().filter(|quote| matches!(quote, '"' | '\'')) else {
            continue;
        };
        if is_whole {
            let value = value[1..].split_once(quote)?.0;
            return Some(value.replace("&amp;", "&").trim().to_owned());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_of_a_header_are_found_by_their_relation() {
        let check = |value: &str, expected: &[&str]| {
            assert_eq!(of_header(value), expected, "{value}");
        };
        check("</c.json>; rel=\"ai-catalog\"", &["/c.json"]);
        check("<https://h/c>;rel=ai-catalog;type=\"application/json\"", &["https://h/c"]);
        check("<a>; rel=preload, <b>; rel=\"next AI-Catalog\", <c>; rel=ai-catalog", &["b", "c"]);
        check("<a,b;c>; title=\"x, <y>; rel=ai-catalog\"; rel=\"ai-catalog\"", &["a,b;c"]);
        check("<a>; title=\"\\\", rel=ai-catalog\"; rel=other", &[]);
        check("<a>; rel=other", &[]);
        check("<a>", &[]);
        check("<a; rel=ai-catalog", &[]);
        check("", &[]);
    }

    #[test]
    fn links_of_a_page_stand_in_its_head() {
        let check = |page: &str, expected: &[&str]| assert_eq!(of_page(page), expected, "{page}");
        check("<html><head><link rel=\"ai-catalog\" href=\"/c.json\">", &["/c.json"]);
        check("<LINK href='/a?b=1&amp;c' REL='ai-catalog'/>", &["/a?b=1&c"]);
        check(
            "<link rel=\"stylesheet\" href=\"a\"><link rel = \"ai-catalog\" href = \"b\">",
            &["b"],
        );
        check("<link data-rel=\"ai-catalog\" href=\"a\">", &[]);
        check("<link rel=ai-catalog href=a>", &[]);
        check("<head></head><body><link rel=\"ai-catalog\" href=\"a\">", &[]);
        check("<link-x rel=\"ai-catalog\" href=\"a\">", &[]);
        check("<link rel=\"ai-catalog", &[]);
        check("<ä<link rel=\"ai-catalog\" href=\"ö\">", &["ö"]);
        check("<lin", &[]);
    }
}
