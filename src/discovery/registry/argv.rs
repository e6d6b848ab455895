//! From a package to the words of a command. No shell is ever involved.

use std::fmt;

use super::super::fill::{Answers, Filler, Unfilled, written};
use super::package::{Argument, Kind, Package, Transport};
use super::runtime;
use crate::config::steering::chooses_code;
use crate::config::version::{Scheme, is_one};

/// A command, as it is written down: `${NAME}` in its words is looked up at each use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The program, then its arguments.
    pub words: Vec<String>,
    /// Variables for it.
    pub environment: Vec<(String, String)>,
}

/// Why a package cannot be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unbuildable {
    /// It is of a kind that cannot be run from here.
    Kind(String),
    /// Its server has to be started beforehand, and is then reached over HTTP.
    Http,
    /// What it names is not what such a package can be called.
    Identifier(String),
    /// It has no version, or one that stands for several.
    Version(String),
    /// It wants to be run by a program that is not known to run packages.
    Runtime(String),
    /// It is from another registry of packages than the usual one.
    BaseUrl(String),
    /// It brings a word for the program that runs packages by which that could run another one.
    RuntimeArgument(String),
    /// It names a variable that no process can have, or one that decides which code is run.
    Variable(String),
    /// Something is missing, or does not fit.
    Unfilled(Unfilled),
}

impl From<Unfilled> for Unbuildable {
    fn from(unfilled: Unfilled) -> Unbuildable {
        Unbuildable::Unfilled(unfilled)
    }
}

/// The command that runs a package. `other_registries` says whether one from elsewhere than the usual
/// registry of packages may be run, be it by its URL or by arguments for what runs it.
pub fn command(
    package: &Package,
    answers: &Answers<'_>,
    other_registries: bool,
) -> Result<Command, Unbuildable> {
    if package.transport == Transport::Http {
        return Err(Unbuildable::Http);
    }
    let mut filler = Filler::new(answers);
    let runtime = arguments(&package.runtime_arguments, &mut filler)?;
    let own = arguments(&package.arguments, &mut filler)?;
    let environment = environment(package, &mut filler)?;
    filler.finish()?;
    let program = program(package)?;
    let source = source(package, other_registries)?;
    match runtime::stray(&package.kind, &runtime) {
        Some(word) if !other_registries => {
            return Err(Unbuildable::RuntimeArgument(word.to_owned()));
        }
        _ => {}
    }
    let says = |word: &str| runtime.iter().any(|said| said == word);
    let mut words = vec![program.to_owned()];
    match package.kind {
        Kind::Npm => {
            // Else it asks whether it may install.
            if program == "npx" && !says("-y") && !says("--yes") {
                words.push("-y".to_owned());
            }
            words.extend(source);
            words.extend(runtime);
            words.push(versioned(package)?);
            words.extend(own);
        }
        Kind::Pypi => {
            words.extend(source);
            words.extend(runtime);
            words.push(versioned(package)?);
            words.extend(own);
        }
        Kind::Oci => {
            words.extend(["run", "-i", "--rm"].map(str::to_owned));
            // Without the values, which everybody could read.
            words.extend(environment.iter().flat_map(|(name, _)| ["-e".to_owned(), name.clone()]));
            words.extend(runtime);
            words.push(image(package)?);
            words.extend(own);
        }
        Kind::Nuget => {
            words.extend(source);
            words.extend(runtime);
            words.extend([versioned(package)?, "--yes".to_owned(), "--".to_owned()]);
            words.extend(own);
        }
        Kind::Mcpb | Kind::Other(_) => {
            return Err(Unbuildable::Kind(package.kind.word().to_owned()));
        }
    }
    Ok(Command { words, environment })
}

/// The programs that run packages of a kind, the usual one first.
pub fn programs(kind: &Kind) -> &'static [&'static str] {
    match kind {
        Kind::Npm => &["npx", "bunx"],
        Kind::Pypi => &["uvx"],
        Kind::Oci => &["docker", "podman"],
        Kind::Nuget => &["dnx"],
        Kind::Mcpb | Kind::Other(_) => &[],
    }
}

/// The program that runs a package: the one that the document wants, if it is known to run packages.
fn program(package: &Package) -> Result<&str, Unbuildable> {
    let known = programs(&package.kind);
    match (&package.runtime_hint, known.first()) {
        (_, None) => Err(Unbuildable::Kind(package.kind.word().to_owned())),
        (None, Some(usual)) => Ok(usual),
        (Some(hint), _) if known.contains(&hint.as_str()) => Ok(hint),
        (Some(hint), _) => Err(Unbuildable::Runtime(hint.clone())),
    }
}

/// The words that name another registry of packages.
fn source(package: &Package, others: bool) -> Result<Vec<String>, Unbuildable> {
    let Some(url) = &package.base_url else { return Ok(Vec::new()) };
    let (usual, flag): (&[&str], &str) = match package.kind {
        Kind::Npm => (&["https://registry.npmjs.org"], "--registry"),
        Kind::Pypi => (&["https://pypi.org", "https://pypi.org/simple"], "--index-url"),
        Kind::Nuget => {
            (&["https://api.nuget.org", "https://api.nuget.org/v3/index.json"], "--source")
        }
        // The image says where it is from.
        _ => return Ok(Vec::new()),
    };
    if usual.contains(&url.trim_end_matches('/')) {
        return Ok(Vec::new());
    }
    let is_url =
        url.starts_with("https://") && !url.contains(|it: char| it.is_control() || it == '$');
    match others && is_url {
        true => Ok(vec![flag.to_owned(), url.clone()]),
        false => Err(Unbuildable::BaseUrl(url.clone())),
    }
}

/// `NAME@VERSION`. Names that could be read as an option, a URL or a place on disk are none.
fn versioned(package: &Package) -> Result<String, Unbuildable> {
    let name = &package.identifier;
    let plain = |text: &str, more: &str| {
        let fits = |letter: char| letter.is_ascii_alphanumeric() || more.contains(letter);
        text.starts_with(|first: char| first.is_ascii_alphanumeric()) && text.chars().all(fits)
    };
    let is_name = match (&package.kind, name.strip_prefix('@')) {
        (Kind::Npm, Some(scoped)) => scoped
            .split_once('/')
            .is_some_and(|(scope, name)| plain(scope, "._-") && plain(name, "._-")),
        _ => plain(name, "._-"),
    };
    if !is_name {
        return Err(Unbuildable::Identifier(name.clone()));
    }
    let version = package.version.as_deref().unwrap_or_default();
    let scheme = match package.kind {
        Kind::Npm => Scheme::Npm,
        Kind::Nuget => Scheme::Nuget,
        _ => Scheme::Python,
    };
    match plain(version, ".+_-!") && is_one(scheme, version) {
        true => Ok(format!("{name}@{version}")),
        false => Err(Unbuildable::Version(version.to_owned())),
    }
}

/// An image with its tag or its hash.
fn image(package: &Package) -> Result<String, Unbuildable> {
    let name = &package.identifier;
    let fits = |letter: char| letter.is_ascii_alphanumeric() || "._-/:@".contains(letter);
    let begins = name.starts_with(|first: char| first.is_ascii_alphanumeric());
    if !begins || !name.chars().all(fits) || name.contains("//") {
        return Err(Unbuildable::Identifier(name.clone()));
    }
    let last = name.rsplit('/').next().unwrap_or_default();
    let (image, version) = match (last.find([':', '@']), &package.version) {
        (Some(at), _) => (name.clone(), last[at..].to_owned()),
        (None, Some(version)) => {
            let version = format!("{}{version}", if is_hash(version) { '@' } else { ':' });
            (format!("{name}{version}"), version)
        }
        (None, None) => return Err(Unbuildable::Version(String::new())),
    };
    let (tag, hash) =
        version.split_once('@').map_or((&*version, None), |(tag, it)| (tag, Some(it)));
    let is_one_tag = match tag.strip_prefix(':') {
        // With a hash it says nothing.
        Some(tag) => is_one(Scheme::Tag, tag),
        None => hash.is_some(),
    };
    match is_one_tag && hash.is_none_or(is_hash) {
        true => Ok(image),
        false => Err(Unbuildable::Version(version.trim_start_matches([':', '@']).to_owned())),
    }
}

/// `sha256:` and 64 digits, or `sha512:` and 128 (OCI Image Format, "Digests").
fn is_hash(text: &str) -> bool {
    let digits = [("sha256:", 64), ("sha512:", 128)]
        .iter()
        .find_map(|(algorithm, count)| Some((text.strip_prefix(algorithm)?, *count)));
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    digits.is_some_and(|(digits, count)| digits.len() == count && digits.bytes().all(is_digit))
}

fn environment(
    package: &Package,
    filler: &mut Filler<'_>,
) -> Result<Vec<(String, String)>, Unbuildable> {
    let mut variables = Vec::new();
    for (name, input) in &package.environment {
        check_variable(name)?;
        if let Some(value) = filler.input(name, input)? {
            variables.push((name.clone(), written(name, &value)?));
        }
    }
    Ok(variables)
}

/// Makes sure that a document may set a variable.
pub(in crate::discovery) fn check_variable(name: &str) -> Result<(), Unbuildable> {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let begins = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    match begins && name.chars().all(fits) && !chooses_code(name) {
        true => Ok(()),
        false => Err(Unbuildable::Variable(name.to_owned())),
    }
}

fn arguments(arguments: &[Argument], filler: &mut Filler<'_>) -> Result<Vec<String>, Unfilled> {
    let mut words = Vec::new();
    for argument in arguments {
        let values = match &argument.name {
            Some(name) => filler.inputs(name, &argument.input)?,
            None if argument.input.value.is_none() => {
                let name = "an argument without a name".to_owned();
                return Err(Unfilled::Unfit { name, must: "stand in the document".to_owned() });
            }
            None => filler.inputs("", &argument.input)?,
        };
        let skip = if argument.is_repeated { 0 } else { values.len().saturating_sub(1) };
        let name = argument.name.as_deref().or(argument.flag.as_deref()).unwrap_or("an argument");
        let flag = argument.flag.as_deref().map(|flag| literal(name, flag)).transpose()?;
        if values.is_empty() && is_bare(argument) {
            words.extend(flag.clone());
        }
        for value in &values[skip..] {
            let value = word(name, value)?;
            match &flag {
                Some(flag) if flag.ends_with('=') => words.push(format!("{flag}{value}")),
                Some(flag) => words.extend([flag.clone(), value]),
                None => words.push(value),
            }
        }
    }
    Ok(words)
}

/// Whether a flag stands alone: it has nothing that could be its value.
fn is_bare(argument: &Argument) -> bool {
    let input = &argument.input;
    argument.flag.is_some()
        && input.value.is_none()
        && input.default.is_none()
        && input.placeholder.is_none()
        && input.choices.is_empty()
        && !input.is_secret
        && input.format == super::super::claim::Format::Text
        && !input.is_required
        && input.description.is_none()
}

/// A value as it is written down. No command is run for an argument, so any text will do.
fn word(name: &str, value: &super::super::fill::Value) -> Result<String, Unfilled> {
    match written(name, value) {
        Err(Unfilled::Ambiguous { .. }) => match value.as_plain() {
            Some(text) => literal(name, &text),
            None => Err(Unfilled::Ambiguous { name: name.to_owned() }),
        },
        other => other,
    }
}

/// Words of the document, which are never a reference.
fn literal(name: &str, text: &str) -> Result<String, Unfilled> {
    match text.contains(['\r', '\n', '\0']) {
        false => Ok(text.replace("${", "$${")),
        true => Err(Unfilled::Unfit { name: name.to_owned(), must: "have one line".to_owned() }),
    }
}

impl fmt::Display for Unbuildable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unbuildable::Kind(kind) => write!(f, "packages of the kind {kind:?} cannot be run"),
            Unbuildable::Http => {
                f.write_str("its server is not spoken to on standard streams, but over HTTP")
            }
            Unbuildable::Identifier(name) => write!(f, "{name:?} is no name of such a package"),
            Unbuildable::Version(version) if version.is_empty() => {
                f.write_str("it does not say which version")
            }
            Unbuildable::Version(version) => write!(f, "{version:?} is not one version"),
            Unbuildable::Runtime(hint) => write!(f, "it wants to be run by {hint:?}"),
            Unbuildable::BaseUrl(url) => write!(f, "it is from {url:?}, not the usual place"),
            Unbuildable::RuntimeArgument(word) => {
                write!(f, "its runtime argument {word:?} could make another package run")
            }
            Unbuildable::Variable(name) => write!(f, "it must not set the variable {name:?}"),
            Unbuildable::Unfilled(unfilled) => unfilled.fmt(f),
        }
    }
}
