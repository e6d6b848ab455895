//! `mcpmini card`: what the card of a server claims, whether it keeps the rules, and who
//! has signed it.

mod check;
mod resource;
mod show;
mod verify;

use smol::LocalExecutor;

use super::args::discovery_commands::{Card, CardAction};
use super::errors::Error;
use super::exit::Exit;
use super::run::Run;

/// Carries out an action of `card`. To add one: a value of [`CardAction`], and a file here.
pub(super) async fn run(
    run: &Run<'_>,
    card: &Card,
    executor: &LocalExecutor<'static>,
) -> Result<Exit, Error> {
    match card.action() {
        CardAction::Show => show::run(run, card, executor).await,
        CardAction::Check => check::run(run, card).await,
        CardAction::Verify => verify::run(run, card).await,
    }
}
