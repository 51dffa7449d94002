//! Channels of a script to the daemon that serves it: the transport `in_process`.
//!
//! - [`ChannelHost`], [`OpenChannel`]: a daemon and a channel to it, implemented by the daemon. [`ChannelRequest`]: what a
//!   script asks for. [`ChannelRefusal`]: the reason why it does not get it.
//! - `value`: a channel as a value. `stream`: the events of a session.

mod stream;
mod value;

use crate::codes::ScriptChannelCode;
pub(crate) use stream::ChannelStream;
pub(crate) use value::ChannelValue;

use std::pin::Pin;
use std::sync::Arc;

use base::data::Data;
use lang::vm::Raise;
use tokio::sync::mpsc;

/// A response of the daemon, which runs on other threads. Dropping it does not stop what has begun.
pub type ChannelReply<T> = Pin<Box<dyn Future<Output = Result<T, ChannelRefusal>> + Send>>;

/// The events of a session, each as the JSON that every transport sends. The last one of a connection that the daemon ends says
/// why.
pub type ChannelEvents = mpsc::Receiver<Arc<str>>;

/// A daemon whose sessions several channels share.
pub trait ChannelHost: Send + Sync {
    /// Opens a channel for a session's script.
    fn open(&self, request: ChannelRequest) -> ChannelReply<Arc<dyn OpenChannel>>;
}

/// An open channel. Dropping it closes it.
pub trait OpenChannel: Send + Sync {
    /// Returns the identity of the channel, a dict.
    fn identity(&self) -> Data;

    /// Executes an action, in the form of a request over HTTP, and returns the response.
    fn act(&self, action: Data) -> ChannelReply<Data>;

    /// Connects to the events of a session, after a cursor or from a snapshot.
    fn events(&self, session_id: Arc<str>, after: Option<u64>) -> ChannelReply<ChannelEvents>;

    /// Returns a page of the sessions that the channel reaches.
    fn sessions(&self, cursor: Option<Arc<str>>) -> ChannelReply<Data>;

    /// Closes the channel and its connections.
    fn close(&self);
}

/// The channel that a script asks for.
#[derive(Debug, Clone)]
pub struct ChannelRequest {
    /// The session of the script.
    pub session_id: Arc<str>,
    /// The secret of an enrolled channel; without it the script gets a channel of its own.
    pub secret: Option<Arc<str>>,
    /// The name of a channel of its own.
    pub name: Option<Arc<str>>,
    /// The role of a channel of its own.
    pub role: Option<Arc<str>>,
    /// The scopes of a channel of its own; empty for the default.
    pub scopes: Vec<Arc<str>>,
}

/// A refusal of a daemon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChannelRefusal {
    /// The word for the reason, as other transports send it.
    pub reason: Arc<str>,
    /// The message.
    pub message: String,
    /// The field of the request that it is about.
    pub field: Option<String>,
    /// Whether the channel is not valid, or no longer.
    pub is_authentication: bool,
}

/// Converts a refusal to an error of the script.
pub(crate) fn of_refusal(refusal: ChannelRefusal) -> Box<Raise> {
    let code = if refusal.is_authentication { ScriptChannelCode::Credentials } else { ScriptChannelCode::Refused };
    let raise = Raise::error(code, refusal.message).field("reason", &*refusal.reason);
    let raise = match refusal.field {
        Some(field) => raise.field("field", field.as_str()),
        None => raise,
    };
    match &*refusal.reason {
        "scope" => {
            raise.help("ask for the scope with the option `can` of `channel.open`, or enrol a channel that has it")
        }
        "busy" => raise.help("wait for the event `turn.completed` of the session, and send the prompt again"),
        _ => raise,
    }
}
