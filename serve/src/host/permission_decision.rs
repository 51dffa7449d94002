//! [`PermissionDecision`]: the record of a decision about a permission, on every protocol: who asked for what, who
//! decided, why, what for, and how.

use std::sync::Arc;

use base::data::Data;
use base::words::words;
use runtime::event_log::Topic;
use runtime::message::ToolCall;

use super::{PermissionScope, Verdict};

words! {
    /// The side that made a decision about a permission.
    pub enum PermissionSide {
        /// This process.
        Local = "local",
        /// A client: the peer of a session, or a channel.
        Remote = "remote",
    }
}

words! {
    /// The source of a decision about a permission.
    pub enum PermissionSource {
        /// An answer, also one that cancels the question.
        User = "user",
        /// No answer in time.
        Timeout = "timeout",
        /// A rule: the mode of the session, an earlier "always" answer, or the refusal of an unusable answer.
        Policy = "policy",
        /// The channel was not permitted to answer.
        Auth = "auth",
    }
}

/// The calls that a decision about a permission holds for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum PermissionReach<'a> {
    /// This call alone.
    Once,
    /// Calls in this scope, while the channel that decided is connected.
    Channel(&'a PermissionScope),
    /// Calls in this scope, for the rest of the session.
    Session(&'a PermissionScope),
}

impl PermissionReach<'_> {
    /// Returns the word for records.
    pub(crate) fn word(self) -> &'static str {
        match self {
            PermissionReach::Once => "once",
            PermissionReach::Channel(_) => "channel",
            PermissionReach::Session(_) => "session",
        }
    }

    /// Returns whether it ends with the connection of a channel.
    pub(crate) fn is_of_channel(self) -> bool {
        matches!(self, PermissionReach::Channel(_))
    }

    /// Returns the scope of the later calls for records; nil if it covers none.
    pub(crate) fn covers(self) -> Data {
        match self {
            PermissionReach::Once => Data::Nil,
            PermissionReach::Channel(scope) | PermissionReach::Session(scope) => scope.to_data(),
        }
    }
}

/// The name of this process, where it decides itself.
pub(crate) const RUNTIME: &str = "runtime";

/// A decision about a permission.
#[derive(Debug, Clone)]
pub(crate) struct PermissionDecision<'a> {
    /// The session whose tool is called.
    pub(crate) session_id: &'a Arc<str>,
    /// The id of the question.
    pub(crate) request: &'a Arc<str>,
    /// The peer whose prompt needs the permission: the id of a channel, or that of the session.
    pub(crate) requested_by: &'a Arc<str>,
    /// The call.
    pub(crate) call: &'a ToolCall,
    /// The protocol of the client, the id of a channel, or [`RUNTIME`].
    pub(crate) decided_by: Arc<str>,
    /// The side that decided.
    pub(crate) side: PermissionSide,
    /// The reason for the decision.
    pub(crate) source: PermissionSource,
    /// The word of the verdict.
    pub(crate) verdict: &'static str,
    /// The calls that it holds for.
    pub(crate) reach: PermissionReach<'a>,
}

/// The kind of the record of a decision.
pub(crate) fn permission_record_kind() -> Arc<str> {
    Topic::Channel.kind("permission").into()
}

/// Returns a new id of a question.
pub(crate) fn new_permission_request() -> Arc<str> {
    format!("perm-{}", uuid::Uuid::new_v4().simple()).into()
}

/// Returns the call that a question is about, for records.
pub(crate) fn applies_to(session_id: &Arc<str>, call: &ToolCall) -> Data {
    Data::dict([
        ("session_id", Data::from(session_id)),
        ("tool_call_id", (&call.id).into()),
        ("tool", (&call.name).into()),
    ])
}

impl PermissionSource {
    /// Returns the source of a client's verdict.
    pub(super) fn of(verdict: &Verdict) -> PermissionSource {
        match verdict {
            Verdict::Unusable(_) => PermissionSource::Policy,
            _ => PermissionSource::User,
        }
    }
}

impl PermissionDecision<'_> {
    /// Returns the payload of its record.
    pub(crate) fn to_data(&self) -> Data {
        let scope = Data::dict([
            ("holds", Data::from(self.reach.word())),
            ("channel_scoped", self.reach.is_of_channel().into()),
            ("covers", self.reach.covers()),
        ]);
        Data::dict([
            ("session_id", Data::from(self.session_id)),
            ("request", self.request.into()),
            ("requested_by", self.requested_by.into()),
            ("applies_to", applies_to(self.session_id, self.call)),
            ("decided_by", (&self.decided_by).into()),
            ("side", self.side.as_str().into()),
            ("source", self.source.as_str().into()),
            ("scope", scope),
            ("verdict", self.verdict.into()),
        ])
    }
}
