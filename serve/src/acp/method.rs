//! [`AcpMethod`]: the requests of clients, in one table for all transports.

use super::error::ErrorResponse;
use super::injection;
use crate::bridge::BridgeMethod;

/// A request of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AcpMethod {
    Initialize,
    Authenticate,
    New,
    Load,
    Resume,
    List,
    Prompt,
    SetMode,
    Close,
    /// Continues the events of a session after a cursor.
    ResumeEvents,
    /// Injects data into a session, or asks about it.
    Bridge(BridgeMethod),
}

/// The transport of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AcpTransport {
    /// Lines of standard input and output: the editor has started the server.
    Lines,
    /// Frames of a WebSocket, of sessions that several clients share.
    WebSocket,
}

/// The name of [`AcpMethod::ResumeEvents`].
pub(crate) const RESUME_EVENTS: &str = "_channel/resume";

/// The names of requests; some are of one transport.
const REQUESTS: [(&str, AcpMethod, Option<AcpTransport>); 10] = [
    ("initialize", AcpMethod::Initialize, None),
    ("authenticate", AcpMethod::Authenticate, None),
    ("session/new", AcpMethod::New, None),
    ("session/load", AcpMethod::Load, None),
    ("session/resume", AcpMethod::Resume, None),
    ("session/list", AcpMethod::List, None),
    ("session/prompt", AcpMethod::Prompt, None),
    ("session/set_mode", AcpMethod::SetMode, None),
    ("session/close", AcpMethod::Close, None),
    (RESUME_EVENTS, AcpMethod::ResumeEvents, Some(AcpTransport::WebSocket)),
];

/// Requests of the protocol, or of its next version, that are not supported. Their names are similar to supported
/// ones.
const NOT_OFFERED: [&str; 6] =
    ["session/set_model", "session/set_config_option", "session/delete", "session/fork", "session/set_title", "logout"];

impl AcpMethod {
    /// Returns the request with a name.
    ///
    /// # Errors
    /// It is unknown or not supported, or another one must come first.
    pub(crate) fn of(name: &str, on: AcpTransport, is_initialized: bool) -> Result<AcpMethod, ErrorResponse> {
        if !is_initialized && name != "initialize" {
            return Err(ErrorResponse::not_initialized(name));
        }
        let row = REQUESTS.iter().find(|(known, _, only)| *known == name && is_on(*only, on));
        if let Some((_, method, _)) = row {
            return Ok(*method);
        }
        if NOT_OFFERED.contains(&name) {
            return Err(ErrorResponse::not_offered(name));
        }
        let bridge = BridgeMethod::of(name).filter(|_| on == AcpTransport::Lines);
        bridge.map(AcpMethod::Bridge).ok_or_else(|| ErrorResponse::unknown_method(name, names(on)))
    }
}

fn is_on(only: Option<AcpTransport>, transport: AcpTransport) -> bool {
    only.is_none_or(|only| only == transport)
}

/// Returns the names of the requests on a transport.
fn names(on: AcpTransport) -> impl Iterator<Item = &'static str> {
    let own = REQUESTS.iter().filter(move |(_, _, only)| is_on(*only, on)).map(|(name, _, _)| *name);
    own.chain(injection::names().filter(move |_| on == AcpTransport::Lines))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transport_has_its_own_requests_and_the_common_ones() {
        let of = |name: &str, on| AcpMethod::of(name, on, true).ok();
        for (name, method, only) in REQUESTS {
            for on in [AcpTransport::Lines, AcpTransport::WebSocket] {
                assert_eq!(of(name, on), is_on(only, on).then_some(method), "{name}");
            }
        }
        assert!(matches!(of("session/inject", AcpTransport::Lines), Some(AcpMethod::Bridge(_))));
        assert_eq!(of("session/inject", AcpTransport::WebSocket), None);
        let refused = |name: &str, is_initialized| {
            AcpMethod::of(name, AcpTransport::WebSocket, is_initialized).unwrap_err().into_json()
        };
        assert_eq!(refused("session/fork", true)["data"]["reason"], "not_offered");
        assert_eq!(refused("session/new", false)["data"]["reason"], "not_initialized");
        assert_eq!(refused("session/newt", true)["data"]["suggestion"], "session/new");
    }
}
