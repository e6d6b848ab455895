//! Messages in the revision in use, from what they say to the line that says it.

use super::declare::Context;
use super::{Call, Purpose, Session};
use crate::jsonrpc::{self, ErrorObject, Id, scan};
use crate::message::{Delivery, Head, Outgoing};
use crate::method;
use crate::params::Params;
use crate::revision::{Era, Revision};

impl Session {
    /// Sends a request and returns its number.
    pub(super) fn request(
        &mut self,
        purpose: Purpose,
        revision: &'static Revision,
        call: &Call,
        more: &[(&str, &str)],
    ) -> u64 {
        let id = self.pending.register(purpose);
        let number = id.to_string();
        let facts = method::facts(&call.method);
        let name = facts
            .mirrored
            .and_then(|name| Some(scan::unescape(call.params.get(name)?)?.into_owned()));
        let context = match self.context.take_if(|context| context.is_of(revision)) {
            Some(context) => context,
            None => Context::new(&self.profile, revision),
        };
        let meta = context.meta(matches!(purpose, Purpose::Call(_)));
        let token = facts.may_ask.then_some(&*number);
        let room = call.params.room() + meta.room() + 64;
        let text_ids = self.profile.text_ids;
        let body = jsonrpc::encode::request_with(&number, text_ids, &call.method, room, |line| {
            call.params.write(line, more, meta, token);
        });
        self.context = Some(context);
        let (method, mirrored) = (call.method.clone(), call.mirrored.clone());
        let head = Head { revision, method, name, mirrored };
        self.transmit(Outgoing::Deliver(Delivery { id: Some(id), head, body }));
        id
    }

    /// A notification in the revision in use, not yet sent.
    pub(super) fn notification(
        &self,
        revision: &'static Revision,
        method: &'static str,
        params: &Params,
    ) -> Delivery {
        let head = Head { revision, method: method.into(), name: None, mirrored: Vec::new() };
        let body = jsonrpc::encode::notification(method, Some(&params.to_json()));
        Delivery { id: None, head, body }
    }

    pub(super) fn respond(&mut self, id: &Id, answer: &Result<String, ErrorObject>) {
        let revision = self.stage.revision().unwrap_or(Revision::newest(Era::Legacy));
        let head = Head { revision, method: "".into(), name: None, mirrored: Vec::new() };
        let body = jsonrpc::encode::response(id, answer.as_ref().map(String::as_str));
        self.transmit(Outgoing::Deliver(Delivery { id: None, head, body }));
    }
}
