//! WebSockets with the frames of ACP, and their limits.
//!
//! The frames are those of the draft of ACP's remote transport: each text frame holds one JSON-RPC message, and binary
//! frames are ignored.

use std::time::Duration;

use axum::http::HeaderMap;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;

use crate::http::websocket::subprotocols;

/// The subprotocol of ACP.
pub(super) const SUBPROTOCOL: &str = "acp";
/// The beginning of a subprotocol that contains a secret: browsers cannot send the header `Authorization`.
const BEARER: &str = "harn.bearer.";
/// The header with the id of a connection.
pub(super) const CONNECTION_ID: &str = "acp-connection-id";

/// The maximum size of a message, in bytes.
pub(super) const MAX_MESSAGE: usize = 4 << 20;
/// The time within which a client must take a frame.
pub(super) const WRITE: Duration = Duration::from_secs(10);

/// The time within which a client must take the frame that closes a connection.
pub(super) const CLOSE: Duration = Duration::from_millis(500);

/// The time for which input is read after the frame that closes a connection.
pub(super) const DRAIN: Duration = Duration::from_secs(2);

/// Returns the limits of a connection.
pub(super) fn config() -> WebSocketConfig {
    WebSocketConfig::default()
        .max_message_size(Some(MAX_MESSAGE))
        .max_frame_size(Some(MAX_MESSAGE))
        .max_write_buffer_size(MAX_MESSAGE * 4)
}

/// Returns the secret that a browser sends as a subprotocol.
pub(super) fn secret_of(headers: &HeaderMap) -> Option<&str> {
    subprotocols(headers).find_map(|word| word.strip_prefix(BEARER))
}

/// Returns the subprotocol of ACP if a client offers it.
pub(super) fn subprotocol(headers: &HeaderMap) -> Option<&'static str> {
    subprotocols(headers).any(|word| word == SUBPROTOCOL).then_some(SUBPROTOCOL)
}

#[cfg(test)]
mod tests {
    use axum::http::header;

    use super::*;

    #[test]
    fn a_browser_sends_its_secret_as_a_subprotocol() {
        let mut headers = HeaderMap::new();
        assert_eq!((secret_of(&headers), subprotocol(&headers)), (None, None));
        headers.insert(header::SEC_WEBSOCKET_PROTOCOL, "acp, harn.bearer.chan-1_x".parse().unwrap());
        assert_eq!((secret_of(&headers), subprotocol(&headers)), (Some("chan-1_x"), Some(SUBPROTOCOL)));
    }
}
