//! In the making.

use smol::LocalExecutor;

use crate::cli::args::discovery_commands::Card;
use crate::cli::errors::Error;
use crate::cli::exit::Exit;
use crate::cli::run::Run;

pub(super) async fn run(_: &Run<'_>, _: &Card, _: &LocalExecutor<'static>) -> Result<Exit, Error> {
    Err(Error::new(Exit::Bug, "not yet"))
}
