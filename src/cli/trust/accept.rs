//! Accepting a server as it is: by its hash, or at the terminal.

use super::show::described;
use super::{consent, unwritten};
use crate::cli::answers::keyboard::Keyboard;
use crate::cli::consent::Consent;
use crate::cli::contact::Contact;
use crate::cli::errors::Error;
use crate::cli::exit::Exit;
use crate::cli::run::Run;
use crate::config::Digest;
use crate::trust::pins::{Facets, Record, compare};

/// Accepts what was seen last of a server. It is neither started nor reached: what is accepted is
/// what was shown.
pub(super) async fn accept(
    run: &Run<'_>,
    word: &str,
    accept: Option<Digest>,
) -> Result<Exit, Error> {
    let consent = consent(run, word)?;
    let Some(record) = &consent.record else { return Err(consent.never_used()) };
    if record.revoked.is_some() {
        return Err(consent.revoked());
    }
    let current = consent.current();
    let changes = compare(&record.accepted, &current);
    if changes.is_empty() && accept.is_none_or(|digest| digest == current.digest()) {
        run.remark(&format!("{}: nothing has changed", consent.key.name));
        return Ok(Exit::Ok);
    }
    let what = consent.both().lines(changes.iter()).join("\n");
    decide(run, &consent, "trust accept", &what, &current, accept).await?;
    write(&consent, &current)
}

/// Accepts a server that was never used, or that was revoked, as it is now.
pub(super) async fn add(
    run: &Run<'_>,
    contact: &mut Contact<'_>,
    accept: Option<Digest>,
) -> Result<Exit, Error> {
    contact.survey().await?;
    let consent = &contact.watcher.consent;
    let current = consent.current();
    let is_accepted = |record: &Record| !consent.is_revoked() && record.accepted == current;
    if consent.record.as_ref().is_some_and(is_accepted) && accept.is_none() {
        run.remark(&format!("{}: it is accepted already", consent.key.name));
        return Ok(Exit::Ok);
    }
    let what = described(&current);
    decide(run, consent, "trust add", what.trim_end(), &current, accept).await?;
    let exit = write(consent, &current)?;
    for place in consent.places(&contact.server.endpoint) {
        // Who trusts it anew trusts the place.
        consent.store.forget(&place).map_err(|error| unwritten(&error))?;
    }
    Ok(exit)
}

/// Makes sure that it is the user's word: by the hash, or by asking at the terminal.
async fn decide(
    run: &Run<'_>,
    consent: &Consent<'_>,
    command: &str,
    what: &str,
    current: &Facets,
    accept: Option<Digest>,
) -> Result<(), Error> {
    let digest = current.digest();
    let hint = consent.command(command, &["--accept", &digest.to_string()]);
    match accept {
        Some(accepted) if accepted == digest => Ok(()),
        Some(_) => {
            let text = format!("it is not what you accept; it is now {digest}:\n{what}");
            Err(consent.error(text).hint(format!("if that is right: {hint}")))
        }
        None if !(run.env.terminals.stdin && run.env.terminals.stderr) => {
            let text = format!("without a terminal, say what you accept:\n{what}");
            Err(consent.error(text).hint(hint))
        }
        None if ask(run, consent, what).await? => Ok(()),
        None => Err(consent.error("it is not accepted".to_owned())),
    }
}

/// Asks at the terminal. Only a clear yes is one.
async fn ask(run: &Run<'_>, consent: &Consent<'_>, what: &str) -> Result<bool, Error> {
    let name = &consent.key.name;
    let indented = what.replace('\n', "\n    ");
    run.say_foreign(&format!("{name}:\n    {indented}\nAccept that? [y/N] "));
    let answered = async {
        let mut keyboard = Keyboard::open().ok()?;
        keyboard.line().await.ok().flatten()
    };
    let answer = run.unless_over(answered).await?.unwrap_or_default();
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

/// Writes down that a server is accepted as it is, unless it has become another meanwhile.
fn write(consent: &Consent<'_>, current: &Facets) -> Result<Exit, Error> {
    let texts = consent.kept_texts(consent.texts.clone());
    let written = consent.store.change(&consent.key, consent.run.env.now(), |record, kept| {
        let meanwhile = record.current(&consent.observed);
        if record.seen.is_some() && meanwhile != *current {
            return (false, Some(meanwhile.digest()));
        }
        consent.tell_apart(record);
        record.accept(current.clone());
        kept.settle(texts, &record.accepted, None);
        (true, None)
    });
    match written.map_err(|error| unwritten(&error))? {
        None => Ok(Exit::Ok),
        Some(digest) => {
            let text = format!("it has changed once more, and is {digest} now");
            Err(consent.error(text).hint(consent.command("trust diff", &[])))
        }
    }
}
