//! Policies: admission of every server before it is used, and `mcpmini policy`.

use super::args::Command;
use super::args::Format;
use super::args::policy_commands::{Policy, PolicyAction};
use super::errors::{Error, Phase};
use super::exit::Exit;
use super::explain;
use super::originals::{Originals, Place, Wanted};
use super::output::{self, Table};
use super::run::Run;
use super::signed;
use super::target;
use crate::config::{self, Endpoint, Entry, Overrides, Server, quoting};
use crate::net::{self, Address, Source};
use crate::protocol::json;
use crate::protocol::message::Sent;
use crate::protocol::params::Members;
use crate::trust::policy::{
    Asked, CrossDomain, Decision, LIST_LIMIT, Mode, Policies, PolicyError, Rule, store_list,
};
use crate::trust::signature::{BUNDLE_LIMIT, BUNDLE_SUFFIX};

/// What lists are asked for as.
const LIST: &str = "application/jsonl, application/json;q=0.9, */*;q=0.1";

/// The policies, which are read once however many servers there are.
pub(super) fn load<'r>(run: &'r Run<'_>) -> Result<&'r Policies, Error> {
    if let Some(known) = run.policies.get() {
        return Ok(known);
    }
    let policies = Policies::load(run.env).map_err(failed)?;
    Ok(run.policies.get_or_init(|| policies))
}

/// Lets a server pass that the policies admit. It is not started or contacted for that.
pub(super) fn admit(run: &Run<'_>, policies: &Policies, asked: &Asked<'_>) -> Result<(), Error> {
    if policies.is_empty() {
        return Ok(());
    }
    let see = format!("see: mcpmini policy check {}", quoting::quote(&asked.server.name));
    admit_or(run, policies, asked, &see)
}

/// The same, with something else to do about it.
fn admit_or(
    run: &Run<'_>,
    policies: &Policies,
    asked: &Asked<'_>,
    hint: &str,
) -> Result<(), Error> {
    let (decisions, server) = (judge(run, policies, asked)?, asked.server);
    if let Some(decision) = decisions.iter().find(|decision| !decision.admits) {
        return Err(refused(server, decision, hint));
    }
    for decision in decisions.iter().filter(|decision| decision.mode == Mode::Strict) {
        warn_of_caveat(run, decision);
    }
    match decisions.iter().find(|decision| decision.by_signature && run.globals.insecure) {
        None => Ok(()),
        Some(decision) => {
            let text = format!(
                "the policy {} admits it for its signed card, and with --insecure anybody may answer",
                place(decision)
            );
            let error = Error::new(Exit::Trust, text).phase(Phase::Trust).sent(Sent::No);
            Err(error.server(server.name.clone()).hint("leave --insecure out"))
        }
    }
}

/// Tells what the rule that admits a server cannot see to.
fn warn_of_caveat(run: &Run<'_>, decision: &Decision) {
    if let Some(caveat) = decision.caveat {
        run.warn(&format!("the policy {} allows it, but {caveat}", place(decision)));
    }
}

/// Whether the policies let a server be added that a document of another domain leads to, without
/// asking the user.
///
/// # Errors
/// When they let it be added in no case.
pub(super) fn allows_cross_domain(
    run: &Run<'_>,
    endpoint: &Address,
    why: &str,
) -> Result<bool, Error> {
    match load(run)?.cross_domain() {
        (CrossDomain::Allow, _) => Ok(true),
        (CrossDomain::Ask, _) => Ok(false),
        (CrossDomain::Deny, path) => {
            let path = path.map(|path| path.display().to_string()).unwrap_or_default();
            let text = format!(
                "the policy {path} does not admit {}: {why}, and cross_domain is deny",
                endpoint.origin()
            );
            let error = Error::new(Exit::Trust, text).phase(Phase::Trust).sent(Sent::No);
            Err(error.hint("if you know the server, add it by its own URL"))
        }
    }
}

/// Lets a definition pass that may be written down: one that the policies admit when it is used.
pub(super) fn admit_entry(run: &Run<'_>, name: &str, entry: &Entry) -> Result<(), Error> {
    /// What a policy judges; the rest may be secrets that only the use of the server has.
    const JUDGED: [&str; 6] = ["type", "url", "command", "args", "registry", "registryUrl"];
    let policies = load(run)?;
    if policies.is_empty() {
        return Ok(());
    }
    let judged = entry.iter().filter(|(field, _)| JUDGED.contains(&field.as_str()));
    let judged = judged.map(|(field, value)| (field.clone(), value.clone())).collect();
    let resolved = config::resolve_entry(name, &judged, run.env).map_err(explain::config)?;
    let overrides = Overrides { dry_run: true, ..Overrides::default() };
    match config::expand(&resolved, &overrides, run.env) {
        Ok(server) => {
            let (resolved, overrides) = (&resolved, &overrides);
            let asked = Asked { server: &server, resolved, overrides };
            admit_or(run, policies, &asked, "nothing was written")
        }
        // A variable is not set now, or a program is not there yet.
        Err(error) => {
            let text =
                format!("{name}: a policy judges it when it is used, and cannot now: {error}");
            run.warn(&text);
            Ok(())
        }
    }
}

/// What the policies say about a server.
fn judge(run: &Run<'_>, policies: &Policies, asked: &Asked<'_>) -> Result<Vec<Decision>, Error> {
    let name = &asked.server.name;
    policies.judge(asked, run.env).map_err(|error| failed(error).server(name.clone()))
}

fn refused(server: &Server, decision: &Decision, hint: &str) -> Error {
    let text = format!(
        "the policy {} does not admit it: {}: {}",
        place(decision),
        rule(decision),
        decision.why
    );
    let hint = match (&server.endpoint, decision.rule) {
        (Endpoint::Http(endpoint), Rule::RequireSignature) if endpoint.socket.is_none() => format!(
            "if its card is signed: mcpmini card verify {} --identity ID --issuer URL --remember",
            quoting::quote(&endpoint.url)
        ),
        _ => hint.to_owned(),
    };
    let error = Error::new(Exit::Trust, text).phase(Phase::Trust).sent(Sent::No);
    error.server(server.name.clone()).hint(hint)
}

/// Where a rule stands: `FILE:LINE`.
fn place(decision: &Decision) -> String {
    match decision.line {
        Some(line) => format!("{}:{line}", decision.path.display()),
        None => decision.path.display().to_string(),
    }
}

/// What a rule is called: `deny 2`.
fn rule(decision: &Decision) -> String {
    match decision.rule.number() {
        Some(number) => format!("{} {number}", decision.rule.word()),
        None => decision.rule.word().to_owned(),
    }
}

/// Policies that cannot be read admit nothing.
fn failed(error: PolicyError) -> Error {
    let exit = match error {
        PolicyError::Card(_) => Exit::Trust,
        _ => Exit::Config,
    };
    let hint = match error {
        PolicyError::Malformed { .. } => {
            "until it is mended, no server is used; what it can say: mcpmini help policy-file"
        }
        _ => "while a policy cannot be read, no server is used",
    };
    Error::new(exit, error.to_string()).phase(Phase::Trust).sent(Sent::No).hint(hint)
}

/// Carries out `mcpmini policy`.
pub(super) async fn run(run: &Run<'_>, policy: &Policy) -> Result<Exit, Error> {
    match (policy.action, &policy.server) {
        (PolicyAction::Check, server) => check(run, server.as_deref().unwrap_or_default()),
        (PolicyAction::Refresh, _) => refresh(run).await,
    }
}

/// Tells what the policies say about a server, and which rules say so.
fn check(run: &Run<'_>, word: &str) -> Result<Exit, Error> {
    // No command runs to make up a header that is not sent.
    let overrides = Overrides { dry_run: true, ..target::overrides(run)? };
    let resolved = config::resolve(word, run.env, &overrides).map_err(explain::config)?;
    let server = config::expand(&resolved, &overrides, run.env).map_err(explain::config)?;
    run.redaction.know_server(&server);
    let asked = Asked { server: &server, resolved: &resolved, overrides: &overrides };
    let decisions = judge(run, load(run)?, &asked)?;
    let admitted = decisions.iter().all(|decision| decision.admits);
    match run.settings.output {
        Format::Json => output::write_line(run, &as_json(&server, admitted, &decisions))?,
        _ => print(run, &decisions)?,
    }
    decisions.iter().for_each(|decision| warn_of_caveat(run, decision));
    Ok(if admitted { Exit::Ok } else { Exit::Trust })
}

fn print(run: &Run<'_>, decisions: &[Decision]) -> Result<(), Error> {
    let mut table = Table::new(run, &["VERDICT", "POLICY", "RULE", "WHY"]);
    let verdict = |admits: bool| if admits { "admitted" } else { "refused" }.to_owned();
    for decision in decisions {
        let relied = decision.relies_on.iter().map(|document| format!("; by {document}"));
        let why = decision.why.clone() + &relied.collect::<String>();
        let columns = [place(decision), rule(decision), why];
        table.row(&[&[verdict(decision.admits)], &columns[..]].concat())?;
    }
    if decisions.is_empty() {
        let none = ["-".to_owned(), "-".to_owned(), "there is no policy".to_owned()];
        table.row(&[&[verdict(true)], &none[..]].concat())?;
    }
    table.finish()
}

fn as_json(server: &Server, admitted: bool, decisions: &[Decision]) -> String {
    let truth = |truth: bool| if truth { "true" } else { "false" };
    let decisions = decisions.iter().map(|decision| {
        let mut members = Members::new();
        members.push("policy", &json::string(&decision.layer.to_string()));
        members.push("path", &json::string(&decision.path.to_string_lossy()));
        if let Some(line) = decision.line {
            members.push("line", &line.to_string());
        }
        members.push("admits", truth(decision.admits));
        members.push("rule", &json::string(decision.rule.word()));
        if let Some(number) = decision.rule.number() {
            members.push("number", &number.to_string());
        }
        members.push("why", &json::string(&decision.why));
        if !decision.relies_on.is_empty() {
            members.push("reliesOn", &json::strings(&decision.relies_on));
        }
        if let Some(caveat) = decision.caveat {
            members.push("caveat", &json::string(caveat));
        }
        members.finish()
    });
    let decisions = decisions.collect::<Vec<_>>().join(",");
    let mut members = Members::new();
    members.push("server", &json::string(&server.name));
    members.push("admitted", truth(admitted));
    members.push("decisions", &format!("[{decisions}]"));
    members.finish()
}

/// Fetches the lists of which no copy is fresh; tells which cannot be fetched.
async fn refresh(run: &Run<'_>) -> Result<Exit, Error> {
    let policies = load(run)?;
    let mut failure = None;
    for url in policies.stale(run.env) {
        // In a place of its own, as it is large and rare: this one is on the stack in every run.
        if let Err(error) = Box::pin(fetch(run, &url)).await {
            run.tell(&format!("{url}: {}", error.message));
            failure = failure.or(Some(error));
        }
    }
    failure.map_or(Ok(Exit::Ok), Err)
}

/// Fetches what is to be known before a server is used. A list that cannot be fetched is told;
/// whether servers may be used without it, the policy says.
pub(super) async fn prepare(run: &Run<'_>) -> Result<(), Error> {
    if !uses_servers(run.command()) {
        return Ok(());
    }
    let Ok(policies) = load(run) else {
        // It is told when the server is admitted, or not.
        return Ok(());
    };
    for url in policies.stale(run.env) {
        // On the heap: this future is part of every command's, and on the stack.
        if let Err(error) = Box::pin(fetch(run, &url)).await {
            if run.over().is_some() {
                return Err(error);
            }
            run.warn(&format!("what is revoked is not known: {}", error.message));
        }
    }
    Ok(())
}

/// Whether a command may start or contact a server.
fn uses_servers(command: &Command) -> bool {
    match command {
        Command::Servers(servers) => servers.check,
        Command::Card(card) => card.connect,
        Command::Approve(_)
        | Command::Remove(_)
        | Command::Config(_)
        | Command::Cache(_)
        | Command::Policy(_)
        | Command::Replay(_)
        | Command::Completions(_) => false,
        _ => true,
    }
}

async fn fetch(run: &Run<'_>, url: &str) -> Result<(), Error> {
    let place = Place::parse(run, url)?;
    let documents = Originals::new(run, net::Policy::default(), false);
    let what = "the list of what is revoked";
    let asked = Wanted { what, accept: LIST, limit: LIST_LIMIT, source: Source::User };
    let list = documents.get(&place, asked).await?;
    let what = "the bundle of the list of what is revoked";
    let asked = Wanted { what, accept: signed::BUNDLE, limit: BUNDLE_LIMIT, source: Source::User };
    let bundle = documents.find(&place.with_suffix(BUNDLE_SUFFIX), asked).await?;
    store_list(url, list, bundle, run.env)
        .map_err(|fault| Error::new(Exit::Config, fault.to_string()).phase(Phase::Trust))
}
