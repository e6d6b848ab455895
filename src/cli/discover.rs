//! In the making.

use smol::LocalExecutor;

use super::args::discovery_commands::Discover;
use super::errors::Error;
use super::exit::Exit;
use super::run::Run;

pub(super) async fn run(
    _: &Run<'_>,
    _: &Discover,
    _: &LocalExecutor<'static>,
) -> Result<Exit, Error> {
    Err(Error::new(Exit::Bug, "not yet"))
}
