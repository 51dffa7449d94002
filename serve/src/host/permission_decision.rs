//! [`PermissionDecisions`]: records who decided about a permission, and why.

use std::sync::Arc;

use base::data::Data;
use base::words::words;
use eventlog::{NewRecord, SharedLog};
use runtime::event_log::Topic;
use runtime::message::ToolCall;

use super::{PermissionScope, Verdict};

words! {
    /// The source of a decision about a permission.
    pub enum DecisionSource {
        /// An answer of the peer's user, also one that cancels the question.
        User = "user",
        /// A rule: the mode of the session, an earlier "always" answer, or the refusal of an unusable answer.
        Policy = "policy",
    }
}

impl DecisionSource {
    /// Returns the source of a peer's verdict.
    pub(super) fn of(verdict: &Verdict) -> DecisionSource {
        match verdict {
            Verdict::Unusable(_) => DecisionSource::Policy,
            _ => DecisionSource::User,
        }
    }
}

/// Records the decisions about the permissions of a session, on any protocol.
pub(super) struct PermissionDecisions {
    session_id: Arc<str>,
    /// The protocol of the peer.
    protocol: &'static str,
    log: Arc<dyn SharedLog>,
}

impl PermissionDecisions {
    pub(super) fn new(session_id: Arc<str>, protocol: &'static str, log: Arc<dyn SharedLog>) -> PermissionDecisions {
        PermissionDecisions { session_id, protocol, log }
    }

    /// Records a decision about a call that a peer requested. `covers` are the later calls of the session that it covers too, if any.
    pub(super) fn record(
        &self,
        requested_by: &Arc<str>,
        call: &ToolCall,
        verdict: &'static str,
        source: DecisionSource,
        covers: Option<&PermissionScope>,
    ) {
        let (decided_by, side) = match source {
            DecisionSource::User => (self.protocol, "remote"),
            DecisionSource::Policy => ("runtime", "local"),
        };
        let applies_to = Data::dict([
            ("session_id", Data::from(&self.session_id)),
            ("tool_call_id", (&call.id).into()),
            ("tool", (&call.name).into()),
        ]);
        let scope = Data::dict([
            ("holds", Data::from(if covers.is_some() { "session" } else { "once" })),
            ("channel_scoped", false.into()),
            ("covers", covers.map_or(Data::Nil, PermissionScope::to_data)),
        ]);
        let payload = Data::dict([
            ("session_id", Data::from(&self.session_id)),
            ("request", format!("perm-{}", uuid::Uuid::new_v4().simple()).into()),
            ("requested_by", requested_by.into()),
            ("applies_to", applies_to),
            ("decided_by", decided_by.into()),
            ("side", side.into()),
            ("source", source.as_str().into()),
            ("scope", scope),
            ("verdict", verdict.into()),
        ]);
        self.log.put(NewRecord {
            topic: Topic::Channel.into(),
            kind: Topic::Channel.kind("permission").into(),
            payload: payload.into(),
            headers: Data::Nil,
            occurred_at_ms: crate::clock::now_ms(),
        });
    }
}
