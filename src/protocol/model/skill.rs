//! Skills, as a server lists them (SEP-2640, Skills Extension): directories of files with a
//! `SKILL.md` in each, which are read like resources and checked against their entry in the list.

use std::collections::HashSet;

use super::frontmatter::{self, Discrepancy};
use super::schema::percent_decoded;
use crate::decimal::Decimal;
use crate::tree::Tree;

/// The name of the extension, which a server declares before it is asked for skills.
pub const EXTENSION: &str = "io.modelcontextprotocol/skills";

/// The file that every skill has.
pub const MANIFEST: &str = "SKILL.md";

/// The most files that a skill may have (SEP-2640, Limits).
pub const MOST_FILES: usize = 512;

/// The most bytes that the files of a skill may have together (SEP-2640, Limits).
pub const MOST_BYTES: u64 = 16 << 20;

/// The longest name, in bytes (Agent Skills, `name`).
const LONGEST_NAME: usize = 64;

/// A skill, by its entry in the list of a server.
#[derive(Debug)]
pub struct Skill<'t> {
    /// Where its `SKILL.md` is.
    pub uri: String,
    /// Its name: lower-case letters, digits and hyphens, and so fit for a directory.
    pub name: String,
    /// The files it has.
    pub files: Files,
    frontmatter: Tree<'t>,
}

/// The files of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Files {
    /// All of them, `SKILL.md` included.
    Listed(Vec<File>),
    /// The server makes them when they are asked for. Nothing can be told about them before.
    Dynamic,
}

/// A file of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Where it is.
    pub uri: String,
    /// Where it belongs below the directory of the skill: names with slashes between them, none of
    /// which leads out.
    pub path: String,
    /// `sha256:` and 64 lower-case hexadecimal digits.
    pub digest: String,
    /// Its length in bytes.
    pub size: u64,
}

/// An entry that is invalid, or describes a skill that is too large.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BadSkill {
    /// Its `uri` is missing or does not end with `/SKILL.md`.
    Uri,
    /// Its `frontmatter` has no usable `name` or no `description`.
    Frontmatter,
    /// The directory of its `uri` is not called as its frontmatter says.
    Name,
    /// Its `resources` are neither a list nor `"dynamic"`.
    Resources,
    /// The list of its files does not have `SKILL.md`.
    Incomplete,
    /// It has too many files, or too much is in them.
    TooLarge,
    /// This element of `resources` has no digest or no size, is not in the skill's directory, or
    /// was listed before.
    File(String),
}

impl<'t> Skill<'t> {
    /// Reads an element of `skills`, or the `skill` of a `skills/get` result.
    pub fn read(text: &'t str) -> Result<Skill<'t>, BadSkill> {
        let mut members = match Tree::parse(text) {
            Ok(Tree::Object(members)) => members,
            _ => return Err(BadSkill::Uri),
        };
        let mut take = |name: &str| {
            let at = members.iter().rposition(|(key, _)| key == name)?;
            Some(members.swap_remove(at).1)
        };
        let uri = take("uri").and_then(|uri| Some(uri.as_text()?.into_owned()));
        let uri = uri.ok_or(BadSkill::Uri)?;
        let frontmatter = take("frontmatter").ok_or(BadSkill::Frontmatter)?;
        let text = |name| frontmatter.get(name).and_then(Tree::as_text);
        let name = text("name").filter(|name| is_name(name)).ok_or(BadSkill::Frontmatter)?;
        text("description").ok_or(BadSkill::Frontmatter)?;
        let directory = uri.strip_suffix(MANIFEST).filter(|directory| directory.ends_with('/'));
        let directory = directory.ok_or(BadSkill::Uri)?;
        if directory.rsplit('/').nth(1) != Some(&name) {
            return Err(BadSkill::Name);
        }
        let files = match take("resources").ok_or(BadSkill::Resources)? {
            Tree::Array(files) => Files::Listed(read_files(directory, &files)?),
            other if other.as_text().as_deref() == Some("dynamic") => Files::Dynamic,
            _ => return Err(BadSkill::Resources),
        };
        let name = name.into_owned();
        Ok(Skill { uri, name, files, frontmatter })
    }

    /// Where a file of the skill is that no list names; `None` when the path leads out of it.
    pub fn uri_of(&self, path: &str) -> Option<String> {
        let directory = self.uri.strip_suffix(MANIFEST)?;
        is_inside(path).then(|| format!("{directory}{path}"))
    }

    /// Compares the frontmatter of the skill's `SKILL.md` with the entry.
    pub fn compare(&self, manifest: &str) -> Result<(), Discrepancy> {
        frontmatter::compare(manifest, &self.frontmatter)
    }
}

fn read_files(directory: &str, files: &[Tree<'_>]) -> Result<Vec<File>, BadSkill> {
    if MOST_FILES < files.len() {
        return Err(BadSkill::TooLarge);
    }
    let (mut seen, mut total) = (HashSet::new(), 0u64);
    let mut read = Vec::with_capacity(files.len());
    for file in files {
        let uri = file.get("uri").and_then(Tree::as_text).unwrap_or_default();
        let bad = || BadSkill::File(uri.clone().into_owned());
        let file = read_file(directory, &uri, file).ok_or_else(bad)?;
        if !seen.insert(file.path.clone()) {
            return Err(bad());
        }
        total = total.saturating_add(file.size);
        read.push(file);
    }
    if MOST_BYTES < total {
        return Err(BadSkill::TooLarge);
    }
    let has_manifest = read.iter().any(|file| file.uri.strip_prefix(directory) == Some(MANIFEST));
    if has_manifest { Ok(read) } else { Err(BadSkill::Incomplete) }
}

fn read_file(directory: &str, uri: &str, file: &Tree<'_>) -> Option<File> {
    let path = uri.strip_prefix(directory)?;
    let path = Some(path).filter(|path| !path.contains(['?', '#']))?;
    // A slash that was coded stays within one name, and no file can have such a name.
    let names: Option<Vec<_>> = path.split('/').map(percent_decoded).collect();
    let names = names.filter(|names| names.iter().all(|name| is_file_name(name)))?;
    let digest = file.get("digest").and_then(Tree::as_text)?;
    let digits = digest.strip_prefix("sha256:")?.as_bytes();
    let is_digest =
        digits.len() == 64 && digits.iter().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    let size = match file.get("size") {
        Some(Tree::Leaf(size)) => Decimal::parse(size)?.to_i64()?,
        _ => return None,
    };
    is_digest.then_some(File {
        uri: uri.to_owned(),
        path: names.join("/"),
        digest: digest.into_owned(),
        size: u64::try_from(size).ok()?,
    })
}

/// Whether a path stays below where it begins.
fn is_inside(path: &str) -> bool {
    path.split('/').all(is_file_name)
}

fn is_file_name(name: &str) -> bool {
    let leads_out = matches!(name, "" | "." | "..") || name.contains(['/', '\\']);
    !leads_out && !name.contains(char::is_control)
}

/// Whether a skill may have the name (Agent Skills, `name`).
fn is_name(name: &str) -> bool {
    let is_plain = |b: u8| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-');
    (1..=LONGEST_NAME).contains(&name.len())
        && name.bytes().all(is_plain)
        && name.split('-').all(|part| !part.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An entry with these members; what is empty is left out.
    fn entry(uri: &str, frontmatter: &str, resources: &str) -> String {
        let members = [("uri", uri), ("frontmatter", frontmatter), ("resources", resources)];
        let members = members.iter().filter(|(_, value)| !value.is_empty());
        let members: Vec<_> = members.map(|(name, value)| format!("\"{name}\":{value}")).collect();
        format!("{{{}}}", members.join(","))
    }

    fn digest() -> String {
        format!("sha256:{}", "0f".repeat(32))
    }

    /// An element of `resources`, below `skill://x/pdf/`.
    fn file(path: &str, size: &str) -> String {
        format!(r#"{{"uri":"skill://x/pdf/{path}","digest":"{}","size":{size}}}"#, digest())
    }

    const URI: &str = "\"skill://x/pdf/SKILL.md\"";
    const FRONTMATTER: &str = r#"{"name":"pdf","description":"d"}"#;

    #[track_caller]
    fn check(uri: &str, frontmatter: &str, resources: &str, expected: Result<&str, BadSkill>) {
        let text = entry(uri, frontmatter, resources);
        let skill = Skill::read(&text);
        let paths = skill.map(|skill| match skill.files {
            Files::Dynamic => "dynamic".to_owned(),
            Files::Listed(files) => {
                files.into_iter().map(|file| file.path).collect::<Vec<_>>().join(" ")
            }
        });
        assert_eq!(paths, expected.map(str::to_owned), "{text}");
    }

    /// Checks a list of files.
    #[track_caller]
    fn check_files(files: &[String], expected: Result<&str, BadSkill>) {
        check(URI, FRONTMATTER, &format!("[{}]", files.join(",")), expected);
    }

    #[test]
    fn an_entry_has_all_that_it_must_have() {
        let manifest = format!("[{}]", file("SKILL.md", "1"));
        check(URI, FRONTMATTER, &manifest, Ok("SKILL.md"));
        check(URI, FRONTMATTER, "\"dynamic\"", Ok("dynamic"));
        check("\"/SKILL.md\"", FRONTMATTER, "\"dynamic\"", Err(BadSkill::Name));
        check("\"a/pdf/SKILL.md\"", FRONTMATTER, "\"dynamic\"", Ok("dynamic"));
        check("", FRONTMATTER, &manifest, Err(BadSkill::Uri));
        check("7", FRONTMATTER, &manifest, Err(BadSkill::Uri));
        check("\"skill://x/pdf\"", FRONTMATTER, &manifest, Err(BadSkill::Uri));
        check("\"skill://x/pdfSKILL.md\"", FRONTMATTER, &manifest, Err(BadSkill::Uri));
        check("\"skill://x/pdf/skill.md\"", FRONTMATTER, &manifest, Err(BadSkill::Uri));
        check(URI, "", &manifest, Err(BadSkill::Frontmatter));
        check(URI, r#"{"name":"pdf"}"#, &manifest, Err(BadSkill::Frontmatter));
        check(URI, r#"{"name":7,"description":"d"}"#, &manifest, Err(BadSkill::Frontmatter));
        check(URI, r#"{"name":"doc","description":"d"}"#, &manifest, Err(BadSkill::Name));
        check(URI, FRONTMATTER, "", Err(BadSkill::Resources));
        check(URI, FRONTMATTER, "null", Err(BadSkill::Resources));
        check(URI, FRONTMATTER, "\"static\"", Err(BadSkill::Resources));
        check(URI, FRONTMATTER, "[]", Err(BadSkill::Incomplete));
        assert_eq!(Skill::read("[]").unwrap_err(), BadSkill::Uri);
        assert_eq!(Skill::read("{").unwrap_err(), BadSkill::Uri);
    }

    #[test]
    fn files_are_in_the_directory_of_the_skill_each_once_and_not_too_large() {
        let manifest = || file("SKILL.md", "10");
        let bad = |path: &str| Err(BadSkill::File(format!("skill://x/pdf/{path}")));
        check_files(&[manifest(), file("a/b%20c.md", "0")], Ok("SKILL.md a/b c.md"));
        check_files(&[file("a", "2.0e1"), manifest()], Ok("a SKILL.md"));
        check_files(&[file("a", "1")], Err(BadSkill::Incomplete));
        check_files(&[file("%53KILL.md", "1")], Err(BadSkill::Incomplete));
        check_files(&[manifest(), manifest()], bad("SKILL.md"));
        check_files(&[manifest(), file("%53KILL.md", "1")], bad("%53KILL.md"));
        for path in [
            "",
            ".",
            "..",
            "../x",
            "a/../../x",
            "a//b",
            "a/",
            "/etc",
            "%2e%2e/x",
            "a%2fb",
            "a%5Cb",
            "%00",
            "a%0Ab",
            "a?b",
            "a#b",
            "%zz",
            "%+1",
            "%ff",
        ] {
            check_files(&[manifest(), file(path, "1")], bad(path));
        }
        for size in ["-1", "1.5", "\"1\"", "null", "1e99"] {
            check_files(&[manifest(), file("a", size)], bad("a"));
        }
        let outside = file("a", "1").replace("/pdf/", "/pdfs/");
        check_files(&[manifest(), outside], Err(BadSkill::File("skill://x/pdfs/a".to_owned())));
        for digest in ["", "sha256:", "sha512:", "SHA256:"] {
            let wrong = file("a", "1").replace("sha256:", digest);
            check_files(&[manifest(), wrong.replace("0f", "0F")], bad("a"));
        }
        check_files(&[manifest(), "7".to_owned()], Err(BadSkill::File(String::new())));
        check_files(&[manifest(), file("a", "16777206")], Ok("SKILL.md a"));
        check_files(&[manifest(), file("a", "16777207")], Err(BadSkill::TooLarge));
        let many: Vec<_> = (0..MOST_FILES).map(|number| file(&number.to_string(), "1")).collect();
        check_files(&many, Err(BadSkill::Incomplete));
        check_files(&[many, vec![manifest()]].concat(), Err(BadSkill::TooLarge));
    }

    #[test]
    fn names_are_fit_for_directories() {
        let check = |name: &str, expected| assert_eq!(is_name(name), expected, "{name}");
        check("pdf-processing-2", true);
        check(&"a".repeat(64), true);
        for name in ["", "A", "a_b", "-a", "a-", "a--b", "a/b", "..", "a.b", "é", &"a".repeat(65)]
        {
            check(name, false);
        }
    }

    #[test]
    fn a_path_that_nobody_listed_stays_in_the_skill() {
        let text = entry(URI, FRONTMATTER, "\"dynamic\"");
        let skill = Skill::read(&text).unwrap();
        let check = |path, expected: Option<&str>| {
            assert_eq!(skill.uri_of(path).as_deref(), expected, "{path}");
        };
        check("a/b.md", Some("skill://x/pdf/a/b.md"));
        check("../b.md", None);
        check("/b.md", None);
        check("", None);
    }
}
