//! How a server differs from what was accepted, and what follows from each difference.

use std::collections::BTreeSet;

use super::Mode;
use super::facets::{Facets, Package};
use super::publisher::Publisher;

/// What a difference leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    /// It is taken in silence.
    Accept,
    /// It is taken, and told once.
    Tell,
    /// It is told once, and stays pending: who makes use of it is stopped.
    Warn,
    /// The command is stopped until the user has accepted it.
    Block,
}

/// What a command makes use of beside the server itself: tools, by their names.
pub type Use = BTreeSet<String>;

/// One difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// The server is elsewhere.
    Endpoint {
        /// Where it was.
        was: String,
        /// Where it is.
        is: String,
    },
    /// The server is at another path of the same origin.
    Path {
        /// Where it was.
        was: String,
        /// Where it is.
        is: String,
    },
    /// Another command starts it.
    Command,
    /// The command runs another package, or other contents of the same.
    Package {
        /// What it was.
        was: Package,
        /// What it is.
        is: Package,
    },
    /// Somebody else has signed its card, or nobody.
    Publisher {
        /// Who it was.
        was: Publisher,
        /// Who it is.
        is: Publisher,
    },
    /// The same publisher has signed its card for another release.
    Release {
        /// Who it was, with the release.
        was: Publisher,
        /// Who it is.
        is: Publisher,
    },
    /// Its card is signed now, and was not.
    Signed {
        /// By whom.
        by: Publisher,
    },
    /// Somebody else issues its tokens.
    Issuer {
        /// Who it was.
        was: String,
        /// Who it is.
        is: String,
    },
    /// Tokens allow more.
    MoreScopes(Vec<String>),
    /// Tokens allow less.
    FewerScopes(Vec<String>),
    /// It says that it is another server.
    Name {
        /// Its name as it was.
        was: String,
        /// Its name as it is.
        is: String,
    },
    /// It says that it is of another version.
    Version {
        /// The version as it was.
        was: String,
        /// The version as it is.
        is: String,
    },
    /// It can do more.
    MoreCapabilities(Vec<String>),
    /// It can do less.
    FewerCapabilities(Vec<String>),
    /// Its instructions are others.
    Instructions,
    /// A tool is not what it was.
    Tool {
        /// The tool.
        name: String,
    },
    /// There is a new tool.
    NewTool {
        /// The tool.
        name: String,
    },
    /// A tool is gone.
    NoTool {
        /// The tool.
        name: String,
    },
    /// It was never accepted, so that there is nothing to hold it to: which facet it is.
    Unknown(&'static str),
}

impl Change {
    /// What it leads to for a command that uses these tools.
    pub fn action(&self, mode: Mode, used: &Use) -> Action {
        match mode {
            Mode::Off => Action::Accept,
            Mode::FirstUse => self.on_first_use(used),
            Mode::Strict => match self {
                Change::NoTool { name } if used.contains(name) => Action::Block,
                Change::NoTool { .. } | Change::FewerCapabilities(_) | Change::FewerScopes(_) => {
                    Action::Warn
                }
                _ => Action::Block,
            },
        }
    }

    /// Whether it waits until somebody accepts it, because some command is told of it or stopped.
    pub(super) fn is_pending(&self, mode: Mode) -> bool {
        let is_noticed = Action::Warn <= self.action(mode, &Use::new());
        is_noticed || matches!(self, Change::NoTool { .. })
    }

    fn on_first_use(&self, used: &Use) -> Action {
        match self {
            // Another server may be behind these, whatever it says about itself.
            Change::Endpoint { .. }
            | Change::Command
            | Change::Package { .. }
            | Change::Publisher { .. }
            | Change::Issuer { .. }
            | Change::Name { .. }
            | Change::MoreScopes(_) => Action::Block,
            Change::Tool { name } if used.contains(name) => Action::Block,
            // It is first used now, and by its name.
            Change::NewTool { name } if used.contains(name) => Action::Tell,
            Change::Tool { .. } | Change::NewTool { .. } => Action::Warn,
            Change::MoreCapabilities(_) | Change::Instructions => Action::Warn,
            Change::Path { .. }
            | Change::Version { .. }
            | Change::Release { .. }
            | Change::Signed { .. } => Action::Tell,
            // Whoever is not shown any more what it does cannot tell whether it still does that.
            Change::NoTool { name } if used.contains(name) => Action::Block,
            Change::NoTool { .. }
            | Change::FewerCapabilities(_)
            | Change::FewerScopes(_)
            | Change::Unknown(_) => Action::Accept,
        }
    }
}

/// How a server differs from what was accepted. Facets that were not looked at do not differ.
pub fn compare(accepted: &Facets, now: &Facets) -> Vec<Change> {
    let mut changes = Vec::new();
    compare_places(accepted, now, &mut changes);
    compare_people(accepted, now, &mut changes);
    if let (Some(was), Some(is)) = (&accepted.identity, &now.identity) {
        if was.name != is.name {
            changes.push(Change::Name { was: was.name.clone(), is: is.name.clone() });
        }
        if was.version != is.version {
            changes.push(Change::Version { was: was.version.clone(), is: is.version.clone() });
        }
    }
    if let (Some(was), Some(is)) = (&accepted.capabilities, &now.capabilities) {
        push_lists(&mut changes, was, is, Change::MoreCapabilities, Change::FewerCapabilities);
    }
    if differ(accepted.instructions.as_ref(), now.instructions.as_ref()).is_some() {
        changes.push(Change::Instructions);
    }
    compare_tools(accepted, now, &mut changes);
    compare_unknown(accepted, now, &mut changes);
    changes
}

/// Two values that are both there and are not the same.
fn differ<'f, T: PartialEq>(was: Option<&'f T>, is: Option<&'f T>) -> Option<(&'f T, &'f T)> {
    was.zip(is).filter(|(was, is)| was != is)
}

fn compare_places(accepted: &Facets, now: &Facets, changes: &mut Vec<Change>) {
    if let Some((was, is)) = differ(accepted.endpoint.as_ref(), now.endpoint.as_ref()) {
        let (was, is) = (was.clone(), is.clone());
        changes.push(match origin(&was) == origin(&is) {
            true => Change::Path { was, is },
            false => Change::Endpoint { was, is },
        });
    }
    let command = |facets: &Facets| (facets.command, facets.endpoint.is_some());
    match (command(accepted), command(now)) {
        ((Some(was), _), (Some(is), _)) if was != is => changes.push(Change::Command),
        // A server on the network that is started now, or the other way round.
        ((None, true), (Some(_), _)) => changes.push(Change::Command),
        ((Some(_), _), (None, true)) => changes.push(Change::Command),
        _ => {}
    }
    if let Some((was, is)) = differ(accepted.package.as_ref(), now.package.as_ref()) {
        changes.push(Change::Package { was: was.clone(), is: is.clone() });
    }
}

fn compare_people(accepted: &Facets, now: &Facets, changes: &mut Vec<Change>) {
    let publishers = differ(accepted.publisher.as_ref(), now.publisher.as_ref());
    if let Some((was, is)) = publishers.filter(|(was, is)| !was.is(is)) {
        let (was, is) = (was.clone(), is.clone());
        changes.push(match was.is_none() {
            true => Change::Signed { by: is },
            false if was.released_again(&is) => Change::Release { was, is },
            false => Change::Publisher { was, is },
        });
    }
    let Some((was, is)) = accepted.auth.as_ref().zip(now.auth.as_ref()) else { return };
    if was.issuer != is.issuer {
        changes.push(Change::Issuer { was: was.issuer.clone(), is: is.issuer.clone() });
    }
    push_lists(changes, &was.scopes, &is.scopes, Change::MoreScopes, Change::FewerScopes);
}

fn push_lists(
    changes: &mut Vec<Change>,
    was: &BTreeSet<String>,
    is: &BTreeSet<String>,
    more: fn(Vec<String>) -> Change,
    fewer: fn(Vec<String>) -> Change,
) {
    let added: Vec<_> = is.difference(was).cloned().collect();
    let removed: Vec<_> = was.difference(is).cloned().collect();
    changes.extend((!added.is_empty()).then(|| more(added)));
    changes.extend((!removed.is_empty()).then(|| fewer(removed)));
}

fn compare_tools(accepted: &Facets, now: &Facets, changes: &mut Vec<Change>) {
    let Some((was, is)) = accepted.tools.as_ref().zip(now.tools.as_ref()) else { return };
    for (name, hash) in is {
        match was.get(name) {
            Some(known) if known == hash => {}
            Some(_) => changes.push(Change::Tool { name: name.clone() }),
            None => changes.push(Change::NewTool { name: name.clone() }),
        }
    }
    let gone = was.keys().filter(|name| !is.contains_key(*name));
    changes.extend(gone.map(|name| Change::NoTool { name: name.clone() }));
}

/// Facets that are there now and were never accepted.
fn compare_unknown(accepted: &Facets, now: &Facets, changes: &mut Vec<Change>) {
    let facets = [
        ("identity", accepted.identity.is_none() && now.identity.is_some()),
        ("capabilities", accepted.capabilities.is_none() && now.capabilities.is_some()),
        ("instructions", accepted.instructions.is_none() && now.instructions.is_some()),
        ("tools", accepted.tools.is_none() && now.tools.is_some()),
        ("auth", accepted.auth.is_none() && now.auth.is_some()),
    ];
    let unknown = facets.iter().filter(|(_, unknown)| *unknown);
    changes.extend(unknown.map(|(name, _)| Change::Unknown(name)));
}

/// Scheme, host and port of a URL.
fn origin(url: &str) -> &str {
    let start = url.find("://").map_or(0, |at| at + 3);
    let end = url[start..].find('/').map_or(url.len(), |at| start + at);
    // A socket has no origin but itself.
    if start == 0 { url } else { &url[..end] }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::facets::{Auth, Identity, capabilities};
    use super::Action::{Accept, Block, Tell, Warn};
    use super::*;
    use crate::config::Digest;

    fn server() -> Facets {
        let hash = |text: &str| Digest::of(text.as_bytes());
        let tools = [("used", "u"), ("other", "o")];
        Facets {
            endpoint: Some("https://h/mcp".into()),
            command: None,
            package: Some(Package {
                registry_type: "npm".into(),
                identifier: "p".into(),
                version: Some("1".into()),
                sha256: Some("a".into()),
            }),
            publisher: Some(publisher(SIGNER)),
            auth: Some(Auth {
                issuer: "https://as".into(),
                scopes: ["read".to_owned(), "list".to_owned()].into(),
            }),
            identity: Some(Identity { name: "n".into(), version: "1".into() }),
            capabilities: Some(capabilities(r#"{"tools":{},"logging":{}}"#)),
            instructions: Some(hash("be good")),
            tools: Some(tools.iter().map(|(name, text)| ((*name).into(), hash(text))).collect()),
        }
    }

    const SIGNER: &str = "https://github.com/acme/x/release.yml@refs/tags/v1";

    fn publisher(identity: &str) -> Publisher {
        Publisher {
            kind: "sigstore".into(),
            identity: identity.into(),
            issuer: Some("https://token.example".into()),
            repository_id: Some("4711".into()),
            owner_id: Some("42".into()),
            ..Publisher::default()
        }
    }

    type Edit = fn(&mut Facets);

    /// What each class of change leads to: on first use, and strictly.
    #[rustfmt::skip] // One line each: it is a table.
    const CLASSES: &[(&str, Edit, Action, Action)] = &[
        ("host", |f| f.endpoint = Some("https://evil/mcp".into()), Block, Block),
        ("scheme", |f| f.endpoint = Some("http://h/mcp".into()), Block, Block),
        ("port", |f| f.endpoint = Some("https://h:8443/mcp".into()), Block, Block),
        ("path", |f| f.endpoint = Some("https://h/v2".into()), Tell, Block),
        ("started now", |f| (f.endpoint, f.command) = (None, Some(Digest::of(b""))), Block, Block),
        ("package version", |f| f.package.as_mut().unwrap().version = None, Block, Block),
        ("package hash", |f| f.package.as_mut().unwrap().sha256 = None, Block, Block),
        ("signer", |f| f.publisher = Some(publisher("https://github.com/evil/x")), Block, Block),
        ("signer's issuer", |f| f.publisher.as_mut().unwrap().issuer = None, Block, Block),
        ("signature gone", |f| f.publisher = Some(Publisher::none()), Block, Block),
        ("signer's release", |f| f.publisher.as_mut().unwrap().identity = SIGNER.replace("v1", "v2"), Tell, Block),
        ("signer's branch", |f| f.publisher.as_mut().unwrap().identity = SIGNER.replace("tags", "heads"), Block, Block),
        ("signer's number", |f| f.publisher.as_mut().unwrap().repository_id = None, Block, Block),
        ("issuer", |f| f.auth.as_mut().unwrap().issuer = "https://other".into(), Block, Block),
        ("scopes widened", |f| scopes(f).extend(["w".into()]), Block, Block),
        ("scopes narrowed", |f| scopes(f).retain(|scope| scope != "list"), Accept, Warn),
        ("name", |f| f.identity.as_mut().unwrap().name = "m".into(), Block, Block),
        ("version", |f| f.identity.as_mut().unwrap().version = "2".into(), Tell, Block),
        ("capability added", |f| can(f).extend(["x".into()]), Warn, Block),
        ("capability removed", |f| can(f).retain(|name| name != "logging"), Accept, Warn),
        ("instructions", |f| f.instructions = Some(Digest::of(b"be bad")), Warn, Block),
        ("used tool changed", |f| tools(f).extend([other("used")]), Block, Block),
        ("other tool changed", |f| tools(f).extend([other("other")]), Warn, Block),
        ("other tool added", |f| tools(f).extend([other("new")]), Warn, Block),
        ("used tool added", |f| tools(f).extend([other("wanted")]), Tell, Block),
        ("other tool removed", |f| tools(f).retain(|name, _| name != "other"), Accept, Warn),
        ("used tool removed", |f| tools(f).retain(|name, _| name != "used"), Block, Block),
    ];

    fn scopes(facets: &mut Facets) -> &mut BTreeSet<String> {
        &mut facets.auth.as_mut().unwrap().scopes
    }

    fn can(facets: &mut Facets) -> &mut BTreeSet<String> {
        facets.capabilities.as_mut().unwrap()
    }

    fn tools(facets: &mut Facets) -> &mut BTreeMap<String, Digest> {
        facets.tools.as_mut().unwrap()
    }

    fn other(tool: &str) -> (String, Digest) {
        (tool.to_owned(), Digest::of(b"something else"))
    }

    #[test]
    fn every_class_of_change_has_its_consequence() {
        let used: Use = ["used".to_owned(), "wanted".to_owned()].into();
        for (what, edit, first_use, strict) in CLASSES {
            let mut now = server();
            edit(&mut now);
            let changes = compare(&server(), &now);
            assert_eq!(changes.len(), 1, "{what}: {changes:?}");
            let actions = [Mode::FirstUse, Mode::Strict, Mode::Off]
                .map(|mode| changes[0].action(mode, &used));
            assert_eq!(actions, [*first_use, *strict, Accept], "{what}");
        }
        assert_eq!(compare(&server(), &server()), []);
    }

    #[test]
    fn another_command_is_another_server() {
        let started = |text: &[u8]| Facets { command: Some(Digest::of(text)), ..Facets::default() };
        assert_eq!(compare(&started(b"a"), &started(b"b")), [Change::Command]);
        assert_eq!(compare(&started(b"a"), &started(b"a")), []);
        assert_eq!(Change::Command.action(Mode::FirstUse, &Use::new()), Block);
        assert_eq!(Change::Command.action(Mode::Strict, &Use::new()), Block);
        // What was started, and is on the network now.
        assert_eq!(compare(&started(b"a"), &server())[0], Change::Command);
    }

    #[test]
    fn a_signature_where_there_was_none_is_good_news() {
        let unsigned = Facets { publisher: Some(Publisher::none()), ..Facets::default() };
        let changes = compare(&unsigned, &server());
        let signed = changes.iter().find(|change| matches!(change, Change::Signed { .. })).unwrap();
        assert_eq!(signed.action(Mode::FirstUse, &Use::new()), Action::Tell);
    }

    #[test]
    fn what_was_never_accepted_counts_only_where_nothing_else_is() {
        let nothing = Facets::default();
        let changes = compare(&nothing, &server());
        let unknown: Vec<_> = ["identity", "capabilities", "instructions", "tools", "auth"].into();
        assert_eq!(changes, unknown.into_iter().map(Change::Unknown).collect::<Vec<_>>());
        for change in &changes {
            assert_eq!(change.action(Mode::FirstUse, &Use::new()), Action::Accept);
            assert_eq!(change.action(Mode::Strict, &Use::new()), Action::Block);
        }
        assert_eq!(compare(&server(), &nothing), [], "what was not looked at does not differ");
    }
}
