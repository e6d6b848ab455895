//! What is spoken with an endpoint, and how it is asked in that.

use serde_json::{Value, json};

use super::probe::{self, Answer, NoAnswer, Probe, SESSION, VERSION, request};
use super::site::Site;
use crate::protocol::method;
use crate::protocol::revision::{Era, Revision};

/// What is spoken with the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speech {
    /// Requests that carry their own context.
    Modern,
    /// A session, opened by `initialize`.
    Legacy,
    /// HTTP+SSE, the binding of 2024-11-05.
    Sse,
    /// The server has answered, but takes no request: it wants credentials, or is no MCP server.
    Nothing,
}

impl Site {
    /// What is spoken with the server: the newest of what it speaks.
    pub(super) fn speech(&self) -> Speech {
        let speaks_sse = |answer: &Answer| {
            answer.content_type() == "text/event-stream" && answer.body.contains("endpoint")
        };
        match () {
            () if self.is_modern() => Speech::Modern,
            () if self.is_legacy() => Speech::Legacy,
            () if matches!(&self.streamed, Some(Ok(answer)) if speaks_sse(answer)) => Speech::Sse,
            () => Speech::Nothing,
        }
    }

    /// Whether the server speaks the modern era.
    pub(super) fn is_modern(&self) -> bool {
        self.discovered.as_ref().ok().and_then(Answer::result).is_some_and(probe::is_modern)
    }

    /// Whether the server speaks the era of sessions.
    pub(super) fn is_legacy(&self) -> bool {
        self.revision().is_some()
    }

    /// The revision that a legacy server has settled for.
    pub(super) fn revision(&self) -> Option<&str> {
        self.initialized.as_ref().ok()?.result()?.get("protocolVersion")?.as_str()
    }

    /// The id of the session that was opened first.
    pub(super) fn session(&self) -> Option<&str> {
        self.initialized.as_ref().ok().filter(|answer| answer.is_taken())?.header(SESSION)
    }

    /// The question by which a conversation begins, which any server may be asked at any time.
    pub(super) fn greeting(&self) -> Probe {
        match self.speech() {
            Speech::Modern => Probe::modern(method::DISCOVER),
            Speech::Sse => Probe::stream(),
            Speech::Nothing if self.options.sse => Probe::stream(),
            Speech::Nothing if !self.options.tries(Era::Legacy) => Probe::modern(method::DISCOVER),
            Speech::Legacy | Speech::Nothing => Probe::initialize(self.options.offer()),
        }
    }

    /// What came back to the greeting when the examination began.
    pub(super) fn greeted(&self) -> &Result<Answer, NoAnswer> {
        match (self.speech(), &self.streamed) {
            (Speech::Modern, _) => &self.discovered,
            (Speech::Sse, Some(streamed)) => streamed,
            (Speech::Nothing, Some(streamed)) if self.options.sse => streamed,
            (Speech::Nothing, _) if !self.options.tries(Era::Legacy) => &self.discovered,
            _ => &self.initialized,
        }
    }

    /// A request without parameters, in the session that was opened first, or with a context of
    /// its own.
    pub(super) fn routine(&self, method: &str) -> Probe {
        self.routine_as(self.next_id(), method)
    }

    /// The same with that id.
    pub(super) fn routine_as(&self, id: Value, method: &str) -> Probe {
        match self.speech() {
            Speech::Modern => self.modern_as(id, method),
            _ => self.in_session(Probe::message(&request(id, method, json!({})))),
        }
    }

    /// A request without parameters, with a context of its own.
    fn modern_as(&self, id: Value, method: &str) -> Probe {
        let revision = Revision::newest(Era::Modern).date;
        let probe = Probe::message(&probe::modern(id, method, revision));
        probe.with(VERSION, revision).with("mcp-method", method)
    }

    /// A request with parameters, in the session that was opened first, or with a context of its
    /// own.
    pub(super) fn request(&self, method: &str, params: &[(&str, &str)]) -> Probe {
        let is_modern = self.speech() == Speech::Modern;
        let revision = Revision::newest(Era::Modern).date;
        let mut message = match is_modern {
            true => probe::modern(self.next_id(), method, revision),
            false => request(self.next_id(), method, json!({})),
        };
        for (name, value) in params {
            message["params"][name] = json!(value);
        }
        let probe = Probe::message(&message);
        if !is_modern {
            return self.in_session(probe);
        }
        let probe = probe.with(VERSION, revision).with("mcp-method", method);
        match params.iter().find(|(name, _)| *name == "uri") {
            Some((_, uri)) => probe.with("mcp-name", uri),
            None => probe,
        }
    }

    /// A sign of life: the modern era has no `ping`.
    pub(super) fn ping(&self) -> Probe {
        self.routine(if self.is_modern() { method::DISCOVER } else { method::PING })
    }

    /// What `tools/list` is answered with in each era that the server speaks, or may speak, when it
    /// is asked as `dress` has it. A guard may stand at the greeting alone.
    pub(super) async fn lists_for(
        &self,
        dress: impl Fn(Probe) -> Probe,
    ) -> Result<Vec<Answer>, NoAnswer> {
        let may_speak = |era| self.speech() == Speech::Nothing && self.options.tries(era);
        let mut probes = Vec::new();
        if self.is_modern() || may_speak(Era::Modern) {
            probes.push(self.modern_as(self.next_id(), method::LIST_TOOLS));
        }
        if self.is_legacy() || may_speak(Era::Legacy) {
            let message = request(self.next_id(), method::LIST_TOOLS, json!({}));
            probes.push(self.in_session(Probe::message(&message)));
        }
        let mut answers = Vec::new();
        for probe in probes {
            answers.push(self.ask(&dress(probe)).await?);
        }
        Ok(answers)
    }

    /// A question in the session that was opened first.
    pub(super) fn in_session(&self, probe: Probe) -> Probe {
        let probe = match self.revision() {
            Some(revision) if Revision::named(revision).is_none_or(|it| it.version_header) => {
                probe.with(VERSION, revision)
            }
            _ => probe,
        };
        match self.session() {
            Some(session) => probe.with(SESSION, session),
            None => probe,
        }
    }
}
