//! [`PeerError`]: every way in which asking a peer fails.

use base::data::Data;
use lang::diagnostic::code::CodeRef;
use providers::web::{Failure, FailureKind};

use crate::codes::{PeerCode, SystemCode};

/// The kind of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ErrorKind {
    /// The URL is none.
    Address,
    /// The connection failed or broke off.
    Connection,
    /// It takes too long.
    Timeout,
    /// The deadline passed before the task was done.
    Deadline,
    /// It says too much.
    TooLarge,
    /// The card was not found.
    NoCard,
    /// The server is not an agent, or does not follow its card.
    NotAgent,
    /// It speaks no version that is spoken here.
    NoVersion,
    /// It requires an extension that is not supported here.
    Extension,
    /// It refuses the token, or wants one.
    Refused,
    /// It leads elsewhere.
    Moved,
    /// Its status says no, and nothing else.
    Status,
    /// It answers with an error of its own.
    Answer,
    /// Its stream ended before the task did.
    BrokeOff,
}

impl ErrorKind {
    /// The code of the catalogue.
    pub(crate) fn code(self) -> CodeRef {
        match self {
            ErrorKind::Address => SystemCode::Address.code(),
            ErrorKind::Connection => SystemCode::Connection.code(),
            ErrorKind::TooLarge => SystemCode::Large.code(),
            ErrorKind::NoCard => PeerCode::NoCard.code(),
            ErrorKind::NotAgent => PeerCode::NotAgent.code(),
            ErrorKind::NoVersion => PeerCode::NoVersion.code(),
            ErrorKind::Extension => PeerCode::Extension.code(),
            ErrorKind::Refused => PeerCode::Refused.code(),
            ErrorKind::Moved => PeerCode::Moved.code(),
            ErrorKind::Status => PeerCode::Status.code(),
            ErrorKind::Answer => PeerCode::Answer.code(),
            ErrorKind::BrokeOff => PeerCode::BrokeOff.code(),
            ErrorKind::Timeout => PeerCode::Timeout.code(),
            ErrorKind::Deadline => PeerCode::Deadline.code(),
        }
    }

    /// The error's `category`.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            ErrorKind::Address => "address",
            ErrorKind::Connection => "connection",
            ErrorKind::Timeout => "timeout",
            ErrorKind::Deadline => "deadline",
            ErrorKind::TooLarge => "too_large",
            ErrorKind::NoCard => "no_card",
            ErrorKind::NotAgent => "not_an_agent",
            ErrorKind::NoVersion => "no_version",
            ErrorKind::Extension => "extension_required",
            ErrorKind::Refused => "refused",
            ErrorKind::Moved => "moved",
            ErrorKind::Status => "status",
            ErrorKind::Answer => "answer",
            ErrorKind::BrokeOff => "broke_off",
        }
    }
}

/// A failed call of a peer, or its error.
#[derive(Debug, Clone)]
pub(crate) struct PeerError {
    /// The kind.
    pub(crate) kind: ErrorKind,
    /// One sentence.
    pub(crate) message: String,
    /// The way to fix it.
    pub(crate) help: Option<String>,
    /// Further facts.
    pub(crate) facts: Vec<(&'static str, Data)>,
}

impl PeerError {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> PeerError {
        PeerError { kind, message: message.into(), help: None, facts: Vec::new() }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> PeerError {
        self.help.get_or_insert(help.into());
        self
    }

    /// Adds a fact; nil adds none.
    pub(crate) fn fact(mut self, name: &'static str, value: Data) -> PeerError {
        if !value.is_nil() {
            self.facts.retain(|(known, _)| *known != name);
            self.facts.push((name, value));
        }
        self
    }

    /// A fact that is known.
    pub(crate) fn known(&self, name: &str) -> &Data {
        self.facts.iter().find(|(known, _)| *known == name).map_or(&Data::Nil, |(_, value)| value)
    }

    /// The code of JSON-RPC that the peer answered with.
    pub(crate) fn rpc_code(&self) -> Option<i64> {
        self.known("rpc_code").as_int()
    }
}

impl From<Failure> for PeerError {
    fn from(failure: Failure) -> PeerError {
        let (kind, help) = match failure.kind {
            FailureKind::Address => (ErrorKind::Address, "write the full URL: `https://agent.example.com`"),
            FailureKind::Connection => (ErrorKind::Connection, "check that the agent is running"),
            FailureKind::Timeout => (ErrorKind::Timeout, "allow more time with the option `timeout_ms`"),
            FailureKind::TooLarge => (ErrorKind::TooLarge, "have the agent send a URL instead of the content"),
            FailureKind::NotText => (ErrorKind::NotAgent, "the agent must send UTF-8"),
        };
        PeerError::new(kind, failure.message).help(help)
    }
}
