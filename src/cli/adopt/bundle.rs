//! A server from a bundle: downloaded, compared with its hash, looked into, and unpacked once it is
//! accepted.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::cli::args::config_commands::Add;
use crate::cli::discover::{self, Access, Said};
use crate::cli::errors::{Error, Phase};
use crate::cli::exit::Exit;
use crate::cli::run::Run;
use crate::discovery::bundle::{Bundle, LIMIT, NoBundle};
use crate::discovery::registry::{Command, Package, Unbuildable};
use crate::net::{Address, Source, Zone};
use crate::protocol::message::{Fault, Sent};

/// How long a download may take.
const PATIENCE: Duration = Duration::from_secs(600);

/// The bundle of a package, and where it belongs. `zone` is where the one who names it is.
pub(super) async fn look_up(
    run: &Run<'_>,
    add: &Add,
    package: &Package,
    zone: Zone,
) -> Result<(Bundle, PathBuf), Error> {
    let said = package.sha256.as_deref().ok_or_else(|| explain(NoBundle::NoHash))?;
    let bundle = match Bundle::kept(run.env, said) {
        Some(bundle) => bundle,
        None => {
            let bytes = download(run, add, package, zone).await?;
            let bundle = Bundle::open(bytes, said).map_err(explain)?;
            bundle.keep(run.env);
            bundle
        }
    };
    match bundle.folder(run.env) {
        Some(folder) => Ok((bundle, folder)),
        None => {
            let text = "there is no place for the bundle: HOME is not set to a directory";
            Err(Error::new(Exit::Config, text).phase(Phase::Config).sent(Sent::No))
        }
    }
}

async fn download(
    run: &Run<'_>,
    add: &Add,
    package: &Package,
    zone: Zone,
) -> Result<Vec<u8>, Error> {
    let url = &package.identifier;
    let address = Address::parse(url).map_err(|why| {
        let text = format!("the bundle {url:?} cannot be downloaded: {why}");
        Error::new(Exit::Config, text).phase(Phase::Config).sent(Sent::No)
    })?;
    let access = Access { allow_http: add.allow_http, ..Access::default() };
    let fetcher = discover::fetcher(run, &access)?.with_patience(PATIENCE);
    run.remark(&format!("downloading {address}"));
    let fetched = fetcher.get(&address, Source::Document(zone), "*/*", LIMIT);
    let fetched = run.unless_over(fetched).await?;
    let failed = |fault: Fault| Error::from(fault).phase(Phase::Connect);
    let fetched = fetched.map_err(|error| failed(error.into()))?;
    match fetched.status.is_success() {
        true => Ok(fetched.body),
        false => {
            let text =
                format!("the bundle {address} cannot be downloaded: HTTP {}", fetched.status);
            Err(Error::new(Exit::Unreachable, text).phase(Phase::Connect).sent(Sent::No))
        }
    }
}

/// The command that a bundle says, for the folder that it belongs to.
pub(super) fn command(
    bundle: &Bundle,
    folder: &Path,
    said: &Said<'_>,
) -> Result<Result<Command, Unbuildable>, Error> {
    let manifest = bundle.manifest().map_err(explain)?;
    said.build(|answers| manifest.command(&folder.to_string_lossy(), answers))
}

/// Unpacks a bundle that was accepted.
pub(super) fn unpack(run: &Run<'_>, bundle: &Bundle, folder: &Path) -> Result<(), Error> {
    bundle.unpack(folder).map_err(explain)?;
    bundle.forget(run.env);
    Ok(())
}

fn explain(why: NoBundle) -> Error {
    let (exit, phase) = match &why {
        NoBundle::NoHash | NoBundle::Hash { .. } => (Exit::Trust, Phase::Trust),
        NoBundle::Unwritten(_) => (Exit::Config, Phase::Config),
        NoBundle::Broken(_) | NoBundle::Manifest(_) => (Exit::Protocol, Phase::Config),
    };
    let text = format!("the bundle cannot be used: {why}");
    Error::new(exit, text).phase(phase).sent(Sent::No)
}
