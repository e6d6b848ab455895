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
use crate::config::program::{follows_directory, follows_project};
use crate::config::{self, Endpoint, Entry, HttpEndpoint, Overrides, Server, quoting};
use crate::doctor;
use crate::net::{self, Address, Source};
use crate::protocol::json;
use crate::protocol::message::Sent;
use crate::protocol::params::Members;
use crate::trust::pins::{Key, Store};
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
        return Err(refused(run, server, decision, hint));
    }
    for decision in decisions.iter().filter(|decision| decision.mode == Mode::Strict) {
        warn_of_caveat(run, decision);
    }
    Ok(())
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
            let asked = Asked { server: &server, resolved, overrides, publisher: None };
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
    if policies.is_empty() {
        return Ok(Vec::new());
    }
    let way = target::way(run, asked.server)?;
    let name = &asked.server.name;
    policies.judge(asked, &way, run.env).map_err(|error| failed(error).server(name.clone()))
}

fn refused(run: &Run<'_>, server: &Server, decision: &Decision, hint: &str) -> Error {
    let text = format!(
        "the policy {} does not admit it: {}: {}",
        place(decision),
        rule(decision),
        decision.why
    );
    let hint = match (&server.endpoint, decision.rule) {
        (Endpoint::Http(endpoint), Rule::RequireSignature)
            if endpoint.socket.is_none() && !decision.is_unproved =>
        {
            format!(
                "if its card is signed: mcpmini card verify {} --identity ID --issuer URL --remember",
                quoting::quote(&endpoint.url)
            )
        }
        _ if decision.is_unproved && run.globals.insecure => "leave --insecure out".to_owned(),
        _ => match allowing(run, server, decision) {
            Some(table) => format!("{hint}; {}", how_to_allow(decision, &table)),
            None => hint.to_owned(),
        },
    };
    let error = Error::new(Exit::Trust, text).phase(Phase::Trust).sent(Sent::No);
    error.server(server.name.clone()).hint(hint)
}

/// The rule that would allow a server which a policy refuses only since none does, in TOML.
fn allowing(run: &Run<'_>, server: &Server, decision: &Decision) -> Option<String> {
    let of_kind = |kind: &str, lines: &[String]| {
        format!("[[allow]]\nkind = \"{kind}\"\n{}", lines.join("\n"))
    };
    let wants_signature = match decision.rule {
        Rule::Mode if !decision.admits => false,
        Rule::RequireSignature if !decision.admits => true,
        _ => return None,
    };
    match &server.endpoint {
        Endpoint::Stdio(endpoint) => {
            let program = endpoint.program.to_str()?.to_owned();
            let words = [vec![program], endpoint.args.clone()].concat();
            let cwd = endpoint.cwd.as_ref().or(run.env.cwd.as_ref());
            let cwd = cwd.filter(|_| follows_directory(&words) || follows_project(&words));
            let is_relative = words[0].contains('/') && !words[0].starts_with('/');
            // Such words a rule cannot have, or they mean more in it.
            if is_relative || words.iter().any(|word| word == "*") {
                return None;
            }
            let mut lines = vec![format!("command = {}", json::strings(&words))];
            lines.extend(cwd.map(|cwd| format!("cwd = {}", json::string(&cwd.to_string_lossy()))));
            Some(of_kind("command", &lines))
        }
        Endpoint::Http(HttpEndpoint { socket: Some(path), .. }) => {
            let path = json::string(&path.to_string_lossy());
            Some(of_kind("socket", &[format!("path = {path}")]))
        }
        Endpoint::Http(_) if wants_signature => None,
        Endpoint::Http(endpoint) => {
            let host = Address::parse(&endpoint.url).ok()?;
            Some(of_kind("host", &[format!("hosts = [{}]", json::string(host.host()))]))
        }
    }
}

/// What to do with the rule that would allow a server.
fn how_to_allow(decision: &Decision, table: &str) -> String {
    format!("to allow it, add to {}:\n{table}", decision.path.display())
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
    let key = Key::of(&resolved, &overrides, run.env);
    // What cannot be read is told when the server is used.
    let record = Store::new(run.env).load(&key).ok().flatten();
    let publisher = record.as_ref().and_then(|record| record.accepted.publisher.as_ref());
    let asked = Asked { server: &server, resolved: &resolved, overrides: &overrides, publisher };
    let decisions = judge(run, load(run)?, &asked)?;
    let admitted = decisions.iter().all(|decision| decision.admits);
    let open = unpinned(&server);
    match run.settings.output {
        Format::Json => {
            let text = as_json(run, &server, admitted, &decisions, open.as_deref());
            output::write_line(run, &text)?;
        }
        _ => print(run, &decisions)?,
    }
    decisions.iter().for_each(|decision| warn_of_caveat(run, decision));
    // A caveat says it already.
    let open = open.filter(|_| decisions.iter().all(|decision| decision.caveat.is_none()));
    open.iter().for_each(|open| run.warn(open));
    let tables = decisions.iter().filter_map(|it| Some((it, allowing(run, &server, it)?)));
    tables.for_each(|(decision, table)| run.warn(&how_to_allow(decision, &table)));
    Ok(if admitted { Exit::Ok } else { Exit::Trust })
}

/// What of a command is another thing tomorrow: a package without a version, an image without a hash.
fn unpinned(server: &Server) -> Option<String> {
    let Endpoint::Stdio(endpoint) = &server.endpoint else { return None };
    let program = endpoint.program.to_string_lossy();
    doctor::unpinned(program.rsplit('/').next().unwrap_or_default(), &endpoint.args)
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

fn as_json(
    run: &Run<'_>,
    server: &Server,
    admitted: bool,
    decisions: &[Decision],
    open: Option<&str>,
) -> String {
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
        if let Some(table) = allowing(run, server, decision) {
            members.push("allow", &json::string(&table));
        }
        members.finish()
    });
    let decisions = decisions.collect::<Vec<_>>().join(",");
    let mut members = Members::new();
    members.push("server", &json::string(&server.name));
    members.push("admitted", truth(admitted));
    members.push("decisions", &format!("[{decisions}]"));
    if let Some(open) = open {
        members.push("unpinned", &json::string(open));
    }
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
