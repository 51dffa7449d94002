//! WebSockets: the upgrade of a request, and its limits.
//!
//! The frames are those of the draft of ACP's remote transport: each text frame holds one JSON-RPC message, and binary
//! frames are ignored.

use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue, header};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;

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

fn subprotocols(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let given = headers.get_all(header::SEC_WEBSOCKET_PROTOCOL).iter();
    given.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(',')).map(str::trim)
}

/// An upgrade that a request asks for.
pub(super) struct UpgradeRequest {
    /// The value of `Sec-WebSocket-Accept`.
    pub(super) accept: HeaderValue,
    /// Whether the client offers the subprotocol.
    pub(super) has_subprotocol: bool,
}

impl UpgradeRequest {
    /// Reads the headers of a request.
    ///
    /// # Errors
    /// Describes the header that is missing or invalid.
    pub(super) fn read(headers: &HeaderMap) -> Result<UpgradeRequest, &'static str> {
        let has = |name: header::HeaderName, word: &str| {
            let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
            values.flat_map(|value| value.split(',')).any(|value| value.trim().eq_ignore_ascii_case(word))
        };
        if !has(header::UPGRADE, "websocket") || !has(header::CONNECTION, "upgrade") {
            return Err("this path needs a WebSocket: send `Connection: Upgrade` and `Upgrade: websocket`");
        }
        if headers.get(header::SEC_WEBSOCKET_VERSION).is_none_or(|version| version != "13") {
            return Err("unsupported WebSocket version: send `Sec-WebSocket-Version: 13`");
        }
        let key = headers.get(header::SEC_WEBSOCKET_KEY).map(HeaderValue::as_bytes).unwrap_or_default();
        if STANDARD.decode(key).is_ok_and(|bytes| bytes.len() == 16) {
            let accept = derive_accept_key(key);
            let accept = HeaderValue::from_str(&accept).map_err(|_| "invalid header `Sec-WebSocket-Key`")?;
            let has_subprotocol = subprotocols(headers).any(|word| word == SUBPROTOCOL);
            return Ok(UpgradeRequest { accept, has_subprotocol });
        }
        Err("missing or invalid header `Sec-WebSocket-Key`")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(lines: &[(&'static str, &str)]) -> HeaderMap {
        lines.iter().map(|(name, value)| ((*name).parse().unwrap(), HeaderValue::from_str(value).unwrap())).collect()
    }

    const WHOLE: [(&str, &str); 5] = [
        ("connection", "keep-alive, Upgrade"),
        ("upgrade", "WebSocket"),
        ("sec-websocket-version", "13"),
        ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ("sec-websocket-protocol", "acp, harn.bearer.chan-1_x"),
    ];

    #[test]
    fn an_upgrade_is_read_as_the_rfc_says() {
        let read = UpgradeRequest::read(&headers(&WHOLE)).unwrap();
        assert_eq!((read.accept.to_str().unwrap(), read.has_subprotocol), ("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", true));
        for (missing, (name, _)) in WHOLE.iter().enumerate().take(4) {
            let mut lines = WHOLE.to_vec();
            lines.remove(missing);
            assert!(UpgradeRequest::read(&headers(&lines)).is_err(), "{name}");
        }
        let mut short = WHOLE.to_vec();
        short[3].1 = "c2hvcnQ=";
        assert!(UpgradeRequest::read(&headers(&short)).is_err());
    }

    #[test]
    fn a_browser_sends_its_secret_as_a_subprotocol() {
        assert_eq!(secret_of(&headers(&WHOLE)), Some("chan-1_x"));
        assert_eq!(secret_of(&headers(&WHOLE[..4])), None);
    }
}
