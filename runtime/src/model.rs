//! Vendor-neutral requests to a model and their replies. A [`Request`] shares the history with the session, so building
//! one costs the same after ten turns and after ten thousand.

use std::any::Any;
use std::sync::Arc;

use base::call::{CallError, CallErrorKind};
use base::data::{Data, Entries};
use base::words::words;

use crate::message::{Block, Content, Message, Messages, ToolCall, ToolSpec};
use crate::reminder::slots::Rendered;
use crate::usage::Usage;

mod answer_end;
mod conversation;
mod owned_delta;
mod prefix;
mod system;

pub use answer_end::AnswerEnd;
pub(crate) use conversation::native_message;
pub use owned_delta::OwnedDelta;
pub use prefix::{PrefixMeter, RequestSize};
pub use system::System;

/// A request to a model.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The system text, without reminders: [`Request::system_text`] joins both. It stays the same from turn to turn, so
    /// requests share it.
    pub system: Arc<System>,
    /// The history, shared with the session. [`Request::conversation`] adds the reminders that appear among the
    /// messages.
    pub messages: Messages,
    /// The reminders, sorted into slots.
    pub reminders: Arc<Rendered>,
    /// Tools on offer.
    pub tools: Arc<Vec<ToolSpec>>,
    /// Constraint on tool calls: nil, `"auto"`, `"none"`, `"required"`, or `{name}`.
    pub tool_choice: Data,
    /// The provider, if one is named.
    pub provider: Option<Arc<str>>,
    /// The model, if one is named.
    pub model: Option<Arc<str>>,
    /// The temperature.
    pub temperature: Option<f64>,
    /// Cumulative probability of the words from which the next one is sampled (0 to 1).
    pub top_p: Option<f64>,
    /// Texts that end the answer when the model writes one of them.
    pub stop: Vec<Arc<str>>,
    /// Seed of the vendor's sampling, if it accepts one.
    pub seed: Option<i64>,
    /// Maximum number of tokens of the answer.
    pub max_tokens: Option<u64>,
    /// JSON Schema that the answer must fit, else nil.
    pub output_schema: Data,
    /// Thinking, as the script requested it (a bool, a budget, an effort word or a dict), else nil.
    pub thinking: Data,
    /// Timeout of one attempt, in milliseconds.
    pub timeout_ms: Option<u64>,
    /// Number of retries after a retryable failure.
    pub retries: Option<u32>,
    /// Whether to stream the answer in pieces. The final reply is the same.
    pub stream: bool,
    /// Whether the vendor caches the beginning of the prompt for the next request, if it must be asked to.
    pub prompt_cache: bool,
    /// Fields sent to the vendor unchanged.
    pub extra: Entries,
}

/// The destination of a request, as far as it is known before the answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Destination {
    /// The provider.
    pub provider: Option<Arc<str>>,
    /// The model.
    pub model: Option<Arc<str>>,
}

/// A model's reply.
#[derive(Debug, Clone, Default)]
pub struct ModelReply {
    /// The text without thinking.
    pub text: Arc<str>,
    /// The calls it requests.
    pub tool_calls: Vec<ToolCall>,
    /// All blocks in the vendor's order if the order matters when they are sent back (signed thinking), else empty.
    pub blocks: Vec<Block>,
    /// The reasoning text, if the route returns it.
    pub reasoning: Option<Arc<str>>,
    /// The tokens used.
    pub usage: Usage,
    /// The reason it stopped, in the vendor's word (`end_turn`, `stop`, `max_tokens` …). [`ModelReply::end`] is the same for
    /// all vendors.
    pub stop_reason: Option<Arc<str>>,
    /// Model that answered.
    pub model: Arc<str>,
    /// Provider that answered.
    pub provider: Arc<str>,
    /// Further fields to keep.
    pub extra: Entries,
}

impl ModelReply {
    /// Returns the answer as a message of the conversation.
    #[must_use]
    pub fn to_message(&self) -> Message {
        let content = if self.blocks.is_empty() {
            Content::Text(self.text.clone())
        } else {
            Content::Blocks(Arc::new(self.blocks.clone()))
        };
        Message { content, reasoning: self.reasoning.clone(), ..Message::assistant("", self.tool_calls.clone()) }
    }

    /// Returns the number of earlier thoughts that the model did not get, since what came before them has changed.
    #[must_use]
    pub fn thoughts_left_out(&self) -> u64 {
        self.extra
            .get(THOUGHTS_LEFT_OUT)
            .and_then(base::data::Data::as_int)
            .map_or(0, |count| count.max(0).cast_unsigned())
    }
}

/// The key of [`ModelReply::extra`] for [`ModelReply::thoughts_left_out`].
pub const THOUGHTS_LEFT_OUT: &str = "thoughts_left_out";

/// A piece of an answer that is still coming.
#[derive(Debug, Clone, Copy)]
pub enum Delta<'a> {
    /// More text.
    Text(&'a str),
    /// More reasoning.
    Reasoning(&'a str),
    /// A call has begun.
    ToolCallStart {
        /// Index among the calls, from 0.
        index: usize,
        /// Its id.
        id: &'a str,
        /// The tool.
        name: &'a str,
    },
    /// More of a call's arguments, as JSON text.
    ToolCallArguments {
        /// Index among the calls, from 0.
        index: usize,
        /// The piece.
        json: &'a str,
    },
    /// The answer so far is void because the request is retried.
    Restart {
        /// The failure; empty in recordings, which do not keep it.
        why: &'a str,
    },
}

words! {
    /// The kind of a model call's failure.
    pub enum ModelErrorKind {
        /// The connection failed or broke.
        Connection = "connection",
        /// The answer did not arrive in time.
        Timeout = "timeout",
        /// Too many requests (429).
        RateLimit = "rate_limit",
        /// The vendor is overloaded (529, 503).
        Overloaded = "overloaded",
        /// The key is missing or refused (401, 403).
        Auth = "auth",
        /// The vendor rejected the request (400, 404, 422).
        BadRequest = "bad_request",
        /// The answer does not follow the wire format.
        BadResponse = "bad_response",
        /// The vendor failed (5xx).
        Server = "server",
        /// The request does not fit the model's context window.
        ContextWindow = "context_window",
        /// The call was cancelled.
        Cancelled = "cancelled",
    }
}

impl ModelErrorKind {
    /// Returns whether a failure of this kind is retried. A timeout is not: the caller wanted an answer within that
    /// time. Neither is a malformed answer, since it was paid for and would come again.
    #[must_use]
    pub fn is_transient(self) -> bool {
        use ModelErrorKind as K;
        matches!(self, K::Connection | K::RateLimit | K::Overloaded | K::Server)
    }
}

/// A failure of a model call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    /// The category.
    pub kind: ModelErrorKind,
    /// One sentence: what happened, at which route, what to do.
    pub message: String,
    /// The HTTP status, if there is one.
    pub status: Option<u16>,
    /// Delay before a retry that the vendor asks for, in milliseconds.
    pub retry_after_ms: Option<u64>,
    /// Whether it is retried because it may be temporary.
    pub retryable: bool,
    /// The provider, if known.
    pub provider: Option<Arc<str>>,
    /// The model, if known.
    pub model: Option<Arc<str>>,
}

impl ModelError {
    /// Creates an error of a kind, which determines whether it is retryable.
    pub fn new(kind: ModelErrorKind, message: impl Into<String>) -> ModelError {
        ModelError {
            kind,
            message: message.into(),
            status: None,
            retry_after_ms: None,
            retryable: kind.is_transient(),
            provider: None,
            model: None,
        }
    }

    /// Converts the error to the dict that scripts see.
    #[must_use]
    pub fn to_data(&self) -> Data {
        Data::dict_of_present([
            ("category", Data::from(self.kind.as_str())),
            ("message", self.message.as_str().into()),
            ("status", self.status.map(u32::from).into()),
            ("retry_after_ms", self.retry_after_ms.into()),
            ("retryable", self.retryable.into()),
            ("provider", self.provider.clone().into()),
            ("model", self.model.clone().into()),
        ])
    }
}

/// Returns the kind of a failed model call, as results and traces name it.
#[must_use]
pub fn failure_kind(thrown: &dyn CallError) -> &'static str {
    match thrown.as_any().downcast_ref::<ModelError>() {
        Some(error) => error.kind.as_str(),
        None => thrown.kind().as_str(),
    }
}

impl CallError for ModelError {
    fn kind(&self) -> CallErrorKind {
        match self.kind {
            ModelErrorKind::Cancelled => CallErrorKind::Cancelled,
            _ => CallErrorKind::Model,
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
