//! What the texts of a card must look like.

/// `^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$`
pub(in super::super) fn is_name(name: &str) -> bool {
    let consists = |text: &str, more: &str| {
        let fits = |letter: char| letter.is_ascii_alphanumeric() || more.contains(letter);
        !text.is_empty() && text.chars().all(fits)
    };
    name.split_once('/')
        .is_some_and(|(domain, name)| consists(domain, ".-") && consists(name, "._-"))
}

/// Whether a version stands for several: `^1`, `~1.2`, `>=1`, `1.x`, `1.*`, `1 - 2`, `1 || 2`.
pub(in super::super) fn is_range(version: &str) -> bool {
    let is_open = |part: &str| matches!(part, "x" | "X" | "*");
    let core = version.split(['-', '+']).next().unwrap_or_default();
    version.starts_with(['^', '~', '>', '<', '='])
        || core.split('.').any(is_open)
        || version.contains(" - ")
        || version.contains("||")
}

/// `^(https?://[^\s]+|\{[a-zA-Z_][a-zA-Z0-9_]*\}[^\s]*)$`
pub(in super::super) fn is_remote_url(url: &str) -> bool {
    if url.contains(char::is_whitespace) {
        return false;
    }
    let is_plain = |scheme| url.strip_prefix(scheme).is_some_and(|rest: &str| !rest.is_empty());
    let variable = url.strip_prefix('{').and_then(|rest| rest.split_once('}'));
    let is_variable = variable.is_some_and(|(name, _)| {
        let fits = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        name.chars().all(fits) && name.starts_with(|first: char| !first.is_ascii_digit())
    });
    is_plain("http://") || is_plain("https://") || is_variable
}

/// A path inside of the repository: relative, without empty parts, `.` and `..`.
pub(super) fn is_clean_path(path: &str) -> bool {
    let is_clean = |part: &str| !matches!(part, "" | "." | "..");
    !path.contains('\\') && path.split('/').all(is_clean)
}

/// `48x48` or `any`.
pub(super) fn is_size(size: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let sides = size.split_once('x');
    size == "any" || sides.is_some_and(|(width, height)| is_number(width) && is_number(height))
}

/// A reverse domain name, a slash and a name.
pub(super) fn is_meta_key(key: &str) -> bool {
    key.split_once('/').is_some_and(|(prefix, _)| {
        let labels: Vec<_> = prefix.split('.').collect();
        let is_label = |label: &&str| {
            let fits = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
            !label.is_empty() && label.chars().all(fits)
        };
        1 < labels.len() && labels.iter().all(is_label)
    })
}

/// `1.2.3`, `1.2.3-rc.1`, `1.2.3+build`.
pub(super) fn is_semantic(version: &str) -> bool {
    let core = version.split(['-', '+']).next().unwrap_or_default();
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    core.split('.').count() == 3 && core.split('.').all(is_number)
}
