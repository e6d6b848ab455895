//! A server from the registry: on the network, or from a package.

use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use super::Adoptable;
use super::bundle;
use super::consent::Consent;
use super::found::{complete, name_of};
use crate::cli::args::config_commands::Add;
use crate::cli::config::entry::{insert_object, timing};
use crate::cli::discover::signature::Signature;
use crate::cli::discover::{self, Access, Said, sheet};
use crate::cli::errors::{Error, Phase};
use crate::cli::exit::Exit;
use crate::cli::run::Run;
use crate::config::{Entry, quoting};
use crate::discovery::fill;
use crate::discovery::registry::{self, Kind, Listed, Package, Status, Unbuildable};
use crate::discovery::{Claim, Documents};
use crate::protocol::message::Sent;
use crate::protocol::visible::visible;

/// Why everything from a registry must be accepted.
const WHY: &str = "whoever published it has chosen what it does";

/// Looks a server up in the registry and makes an entry of it.
pub(super) async fn look_up(
    run: &Run<'_>,
    add: &Add,
    name: &str,
    version: Option<&str>,
) -> Result<Adoptable, Error> {
    let registry = discover::registry(run, add.registry.as_deref())?;
    let access = Access { allow_http: add.allow_http, ..Access::default() };
    let documents = discover::documents(run, &access)?.checked();
    let listed = registry::look_up(&documents, &registry, name, version);
    let listed = run.unless_over(listed).await?;
    let listed = listed.map_err(|miss| discover::unregistered(name, &registry, &miss))?;
    check_status(run, name, &listed)?;
    let wants_package = add.local || add.package.is_some();
    let has_remote = fill::remote(&listed.claim, false).is_ok();
    let mut found = match wants_package || !has_remote && !listed.packages.is_empty() {
        true => of_package(run, add, name, &listed).await,
        false => of_remote(run, add, &listed, &documents).await,
    }?;
    let base = registry.as_str().trim_end_matches('/');
    if base != registry::OFFICIAL {
        found.entry.insert("registryUrl".to_owned(), base.into());
    }
    Ok(found)
}

/// What was deleted was spam, or worse.
fn check_status(run: &Run<'_>, name: &str, listed: &Listed) -> Result<(), Error> {
    let why = listed.status_message.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
    match &listed.status {
        Status::Active => Ok(()),
        Status::Other(status) => {
            let status = visible(status);
            run.warn(&format!("the registry calls {name} \"{status}\", which is not known{why}"));
            Ok(())
        }
        Status::Deprecated => {
            run.warn(&format!("{name} is deprecated{why}"));
            Ok(())
        }
        Status::Deleted => {
            let text = format!("{name} was deleted from the registry{why}");
            Err(Error::new(Exit::Trust, text).phase(Phase::Trust).sent(Sent::No))
        }
    }
}

async fn of_remote(
    run: &Run<'_>,
    add: &Add,
    listed: &Listed,
    documents: &Documents,
) -> Result<Adoptable, Error> {
    let from = listed.document.address.to_string();
    let candidate = listed.candidate();
    let said = Said::new(run, &add.var);
    let (mut entry, address) = discover::entry(run, &candidate, &said)?;
    discover::admit(run, documents, &candidate, &address).await?;
    entry.insert("registry".to_owned(), registered(&candidate.shown_name(), &candidate.claim));
    complete(run, &mut entry);
    Ok(Adoptable {
        name: name_of(&candidate.shown_name(), &address),
        entry,
        consent: Some(Consent { from, why: WHY, is_granted: false }),
        claimed: Some((
            sheet::text(&candidate, &Signature::NotChecked, None),
            discover::json(&candidate, &Signature::NotChecked),
        )),
        claim: candidate.claim,
        publisher: None,
        bundle: None,
        is_unclaimed: false,
    })
}

async fn of_package(
    run: &Run<'_>,
    add: &Add,
    name: &str,
    listed: &Listed,
) -> Result<Adoptable, Error> {
    if let Some(header) = run.globals.header.first() {
        let text = format!("-H {} is for a server on the network, not for a package", header.name);
        return Err(Error::usage(text));
    }
    let mut package = choose(run, add, name, listed)?.clone();
    package.runtime_hint = package.runtime_hint.clone().or_else(|| installed(run, &package));
    let package = &package;
    let said = Said::new(run, &add.var);
    let mut bundle = None;
    let command = match package.kind {
        Kind::Mcpb => {
            let (found, folder) = bundle::look_up(run, add, package, listed.document.zone).await?;
            let command = bundle::command(&found, &folder, &said)?;
            bundle = Some((found, folder));
            command
        }
        _ => said.build(|answers| registry::command(package, answers, add.allow_registry_url))?,
    };
    let command = command.map_err(|why| unbuildable(name, package, &why))?;
    let mut entry = Entry::new();
    let (program, args) = command.words.split_first().expect("a command has a word");
    entry.insert("command".to_owned(), program.clone().into());
    let args: Vec<_> = args.iter().chain(&run.globals.arg).cloned().collect();
    entry.insert("args".to_owned(), args.into());
    let given = run.globals.env.iter();
    let given = given.map(|it| (it.name.clone(), it.value.as_str().to_owned()));
    let variables = command.environment.into_iter().chain(given);
    insert_object(&mut entry, "env", variables.map(|(name, value)| (name, value.into())).collect());
    if run.globals.inherit_env {
        entry.insert("inheritEnv".to_owned(), true.into());
    }
    if let Some(cwd) = &run.globals.cwd {
        entry.insert("cwd".to_owned(), run.env.absolute(cwd).to_string_lossy().as_ref().into());
    }
    entry.insert("registry".to_owned(), registered(name, &listed.claim));
    timing(run.globals, &mut entry);
    let document = &listed.document.address;
    let words = quoting::join(command.words.iter().map(String::as_str));
    Ok(Adoptable {
        name: name_of(name, document),
        consent: Some(Consent { from: document.to_string(), why: WHY, is_granted: false }),
        claimed: Some((
            sheet::package(&listed.claim, package, &words, document.as_str()),
            discover::package_json(&listed.claim, package, &command.words, &listed.document),
        )),
        entry,
        claim: listed.claim.clone(),
        publisher: None,
        bundle,
        is_unclaimed: false,
    })
}

/// The entry of the registry, by which the server can be named from then on.
fn registered(name: &str, claim: &Claim) -> Value {
    match &claim.version {
        Some(version) => format!("{name}@{version}").into(),
        None => name.into(),
    }
}

/// The package that is meant: of the kind that is wanted, else the first whose program is installed.
fn choose<'l>(
    run: &Run<'_>,
    add: &Add,
    name: &str,
    listed: &'l Listed,
) -> Result<&'l Package, Error> {
    let of_kind = |kind: &Kind| listed.packages.iter().find(|package| package.kind == *kind);
    let kinds: Vec<_> = listed.packages.iter().map(|it| it.kind.word().to_owned()).collect();
    let none = |text: String| Error::new(Exit::Config, text).phase(Phase::Config).sent(Sent::No);
    if let Some(word) = &add.package {
        return of_kind(&Kind::named(word)).ok_or_else(|| {
            none(format!("{name} has no package of the kind {word:?}, but {}", list(&kinds)))
        });
    }
    let mut found = Kind::ALL.iter().filter_map(of_kind);
    // A bundle brings what it needs, or says so.
    let is_ready = |it: &&Package| it.kind == Kind::Mcpb || installed(run, it).is_some();
    let installed = found.clone().find(is_ready);
    installed.or(found.next()).ok_or_else(|| {
        none(format!("{name} has no package that can be run from here: it has {}", list(&kinds)))
    })
}

/// The program that would run a package, if it is installed: the one that the document wants, else the
/// first that is there.
fn installed(run: &Run<'_>, package: &Package) -> Option<String> {
    let known = registry::programs(&package.kind).iter().map(|it| (*it).to_owned());
    let wanted = package.runtime_hint.clone().map_or_else(|| known.collect(), |hint| vec![hint]);
    wanted.into_iter().find(|program| is_installed(run, program))
}

fn list(words: &[String]) -> String {
    match words {
        [] => "none".to_owned(),
        words => words.join(", "),
    }
}

/// Whether a program is found in `PATH`.
fn is_installed(run: &Run<'_>, program: &str) -> bool {
    let path = run.env.variable("PATH").unwrap_or_default();
    let is_program = |file: std::path::PathBuf| {
        file.metadata().is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
    };
    std::env::split_paths(&path).any(|directory| is_program(directory.join(program)))
}

fn unbuildable(name: &str, package: &Package, why: &Unbuildable) -> Error {
    let text = format!("the {} package of {name}: {why}", package.kind.word());
    let error = Error::new(Exit::Config, text).phase(Phase::Config).sent(Sent::No);
    match why {
        Unbuildable::Http => error.hint("start it yourself, and mcpmini add NAME URL"),
        Unbuildable::BaseUrl(_) | Unbuildable::RuntimeArgument(_) => {
            error.hint("--allow-registry-url lets it")
        }
        Unbuildable::Runtime(_) | Unbuildable::Kind(_) => {
            error.hint("if you trust it, mcpmini add NAME -- COMMAND ARG...")
        }
        _ => error,
    }
}
