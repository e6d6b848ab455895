//! References in configuration: `${NAME}` and its kin.
//!
//! ```text
//! ${NAME}            the value of a variable; ${env:NAME} is the same
//! ${NAME:-default}   the default when the variable is unset or empty
//! ${file:PATH}       the contents of a file
//! $${  \${           a plain "${"
//! ```
//! One pass: what comes out is not looked at again. `$NAME` is no reference.

/// A part of a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// Text that stays.
    Text(&'a str),
    /// The value of an environment variable.
    Variable {
        /// The variable.
        name: &'a str,
        /// What to take when it is unset or empty.
        default: Option<&'a str>,
    },
    /// The contents of a file.
    File(&'a str),
}

/// A `${` that begins no reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BadReference;

/// Cuts a template into its pieces.
pub(super) fn parse(template: &str) -> Result<Vec<Piece<'_>>, BadReference> {
    let mut pieces = Vec::new();
    let mut rest = template;
    while let Some(at) = rest.find("${") {
        let (before, from) = rest.split_at(at);
        let after = &from["${".len()..];
        if let Some(before) = before.strip_suffix(['\\', '$']) {
            pieces.extend([Piece::Text(before), Piece::Text("${")]);
            rest = after;
            continue;
        }
        let (inside, after) = after.split_once('}').ok_or(BadReference)?;
        pieces.extend([Piece::Text(before), reference(inside)?]);
        rest = after;
    }
    pieces.push(Piece::Text(rest));
    pieces.retain(|piece| *piece != Piece::Text(""));
    Ok(pieces)
}

/// What stands between `${` and `}`.
fn reference(inside: &str) -> Result<Piece<'_>, BadReference> {
    if let Some(path) = inside.strip_prefix("file:") {
        return if path.is_empty() { Err(BadReference) } else { Ok(Piece::File(path)) };
    }
    let inside = inside.strip_prefix("env:").unwrap_or(inside);
    let (name, default) = match inside.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (inside, None),
    };
    if is_variable(name) { Ok(Piece::Variable { name, default }) } else { Err(BadReference) }
}

/// The variables that a template refers to, in its order.
pub fn variables(template: &str) -> Vec<String> {
    let pieces = parse(template).unwrap_or_default().into_iter();
    let name = |piece: Piece<'_>| match piece {
        Piece::Variable { name, .. } => Some(name.to_owned()),
        Piece::Text(_) | Piece::File(_) => None,
    };
    pieces.filter_map(name).collect()
}

/// Whether an environment variable can be called that (POSIX, 3.216 Name).
pub(super) fn is_variable(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    name.bytes().all(fits) && !name.is_empty() && !name.as_bytes()[0].is_ascii_digit()
}

#[cfg(test)]
mod tests {
    use super::Piece::{File, Text};
    use super::*;

    fn variable<'a>(name: &'a str) -> Piece<'a> {
        Piece::Variable { name, default: None }
    }

    fn with_default<'a>(name: &'a str, default: &'a str) -> Piece<'a> {
        Piece::Variable { name, default: Some(default) }
    }

    #[test]
    fn templates_are_cut_into_pieces() {
        #[track_caller]
        fn check(template: &str, expected: &[Piece<'_>]) {
            assert_eq!(parse(template).unwrap(), expected, "{template}");
        }
        check("", &[]);
        check("plain $HOME $ $(x) }", &[Text("plain $HOME $ $(x) }")]);
        check("${A}", &[variable("A")]);
        check("a${B_2}c${env:D}", &[Text("a"), variable("B_2"), Text("c"), variable("D")]);
        check("${A:-}${B:-x y:-z}", &[with_default("A", ""), with_default("B", "x y:-z")]);
        check("${env:A:-d}", &[with_default("A", "d")]);
        check("${file:/run/token}", &[File("/run/token")]);
        check("$${A}", &[Text("${"), Text("A}")]);
        check(r"a\${A}b", &[Text("a"), Text("${"), Text("A}b")]);
        check("$$${A}", &[Text("$"), Text("${"), Text("A}")]);
        check("${A}${A}", &[variable("A"), variable("A")]);
        check("ä${A}ö", &[Text("ä"), variable("A"), Text("ö")]);
    }

    #[test]
    fn the_variables_of_a_template_are_told() {
        let check = |template: &str, expected: &[&str]| assert_eq!(variables(template), expected);
        check("plain $NAME $${NAME}", &[]);
        check("${A} ${env:B} ${file:/f} ${C:-${D}}", &["A", "B", "C"]);
        check("${A} ${", &[]);
    }

    #[test]
    fn other_references_are_errors() {
        for template in [
            "${",
            "a${B",
            "${}",
            "${A B}",
            "${1}",
            "${input:id}",
            "${A-b}",
            "${A:b}",
            "${file:}",
            "${env:}",
            "${:-x}",
            "${${A}}",
            "${a.b}",
        ] {
            assert_eq!(parse(template), Err(BadReference), "{template}");
        }
    }
}
