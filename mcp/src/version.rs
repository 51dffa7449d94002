//! The two forms of the protocol: sessions that begin with `initialize` (until 2025-11-25), and requests that each say all
//! about themselves (from 2026-07-28).

use std::sync::Arc;

use base::data::Data;

/// The newest version without sessions.
pub const STATELESS: &str = "2026-07-28";
/// The newest version with sessions.
pub const LEGACY: &str = "2025-11-25";

/// The versions with sessions that a server may answer `initialize` with.
pub const LEGACY_VERSIONS: &[&str] = &[LEGACY, "2025-06-18", "2025-03-26", "2024-11-05"];

/// The extension of events.
pub const EVENTS: &str = "io.modelcontextprotocol/events";
/// The name under which reminders are announced as a capability.
pub const REMINDERS: &str = "harn/reminders";

/// The form of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// Sessions that begin with `initialize`.
    Sessions,
    /// Requests that each say all about themselves.
    Stateless,
}

impl Era {
    /// Returns the form of a version.
    #[must_use]
    pub fn of_version(version: &str) -> Option<Era> {
        match version {
            STATELESS => Some(Era::Stateless),
            version if LEGACY_VERSIONS.contains(&version) => Some(Era::Sessions),
            _ => None,
        }
    }
}

/// A server's description of itself.
#[derive(Debug, Clone)]
pub struct ServerInfo {
    /// The form of the protocol.
    pub era: Era,
    /// The version.
    pub version: Arc<str>,
    /// `name`, `version` and more of the implementation; may be nil.
    pub implementation: Data,
    /// The capabilities.
    pub capabilities: Data,
    /// Advice about the use of the server.
    pub instructions: Option<Arc<str>>,
}

impl ServerInfo {
    /// Returns whether the server has a capability, such as `tools`.
    #[must_use]
    pub fn has(&self, capability: &str) -> bool {
        !self.capabilities.get(capability).is_nil()
    }

    /// Returns whether the server offers events.
    #[must_use]
    pub fn has_events(&self) -> bool {
        !self.capabilities.get("extensions").get(EVENTS).is_nil()
    }
}

/// The client's description of itself.
pub(crate) fn client_info() -> Data {
    Data::dict([("name", Data::from("harn")), ("version", env!("CARGO_PKG_VERSION").into())])
}

/// The capabilities of the client.
pub(crate) fn client_capabilities(era: Era, elicitation: bool, reminders: bool) -> Data {
    let forms = || Data::dict([("form", Data::empty_dict())]);
    let mut capabilities = Data::empty_dict();
    if elicitation {
        capabilities.set("elicitation", forms());
    }
    if reminders {
        let offered = Data::dict([(REMINDERS, Data::empty_dict())]);
        match era {
            Era::Sessions => capabilities.set("experimental", offered),
            Era::Stateless => capabilities.set("extensions", offered.with(EVENTS, Data::empty_dict())),
        }
    }
    capabilities
}

/// The `_meta` of each request without a session.
pub(crate) fn request_meta(elicitation: bool, reminders: bool) -> Data {
    Data::dict([
        ("io.modelcontextprotocol/protocolVersion", Data::from(STATELESS)),
        ("io.modelcontextprotocol/clientInfo", client_info()),
        ("io.modelcontextprotocol/clientCapabilities", client_capabilities(Era::Stateless, elicitation, reminders)),
    ])
}
