//! Accepts WebSockets: the upgrade of a request.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

use super::edge::HttpRequest;
use super::response::empty;
use crate::spawn::spawn;

/// Returns the subprotocols that a client offers.
pub(crate) fn subprotocols(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    words(headers, header::SEC_WEBSOCKET_PROTOCOL)
}

fn words(headers: &HeaderMap, name: HeaderName) -> impl Iterator<Item = &str> {
    let given = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    given.flat_map(|value| value.split(',')).map(str::trim)
}

/// An upgrade that a request asks for.
pub(crate) struct UpgradeRequest {
    /// The value of `Sec-WebSocket-Accept`.
    accept: HeaderValue,
    upgrade: OnUpgrade,
}

impl UpgradeRequest {
    /// Reads the headers of a request.
    ///
    /// # Errors
    /// Describes the header that is missing or invalid.
    pub(crate) fn take(request: &mut HttpRequest) -> Result<UpgradeRequest, &'static str> {
        let accept = accept_of(&request.head.headers)?;
        let upgrade = request.head.extensions.remove().ok_or(NO_UPGRADE)?;
        Ok(UpgradeRequest { accept, upgrade })
    }

    /// Accepts the upgrade, and serves the WebSocket.
    pub(crate) fn accept<F>(
        self,
        subprotocol: Option<&'static str>,
        config: WebSocketConfig,
        serve: impl FnOnce(WebSocketStream<TokioIo<Upgraded>>) -> F + Send + 'static,
    ) -> Response<Body>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let UpgradeRequest { accept, upgrade } = self;
        spawn(async move {
            // The client hung up before the response.
            let Ok(upgraded) = upgrade.await else { return };
            serve(WebSocketStream::from_raw_socket(TokioIo::new(upgraded), Role::Server, Some(config)).await).await;
        });
        let mut response = empty(StatusCode::SWITCHING_PROTOCOLS);
        let headers = response.headers_mut();
        headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
        headers.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
        headers.insert(header::SEC_WEBSOCKET_ACCEPT, accept);
        if let Some(subprotocol) = subprotocol {
            headers.insert(header::SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(subprotocol));
        }
        response
    }
}

const NO_UPGRADE: &str = "this path needs a WebSocket: send `Connection: Upgrade` and `Upgrade: websocket`";

/// Returns the value of `Sec-WebSocket-Accept` for a request (RFC 6455, 4.2.1).
fn accept_of(headers: &HeaderMap) -> Result<HeaderValue, &'static str> {
    const BAD_KEY: &str = "missing or invalid header `Sec-WebSocket-Key`";
    let has = |name, word: &str| words(headers, name).any(|value| value.eq_ignore_ascii_case(word));
    if !has(header::UPGRADE, "websocket") || !has(header::CONNECTION, "upgrade") {
        return Err(NO_UPGRADE);
    }
    if headers.get(header::SEC_WEBSOCKET_VERSION).is_none_or(|version| version != "13") {
        return Err("unsupported WebSocket version: send `Sec-WebSocket-Version: 13`");
    }
    let key = headers.get(header::SEC_WEBSOCKET_KEY).map(HeaderValue::as_bytes).unwrap_or_default();
    if STANDARD.decode(key).is_ok_and(|bytes| bytes.len() == 16) {
        return HeaderValue::from_str(&derive_accept_key(key)).map_err(|_| BAD_KEY);
    }
    Err(BAD_KEY)
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
        let accept = accept_of(&headers(&WHOLE)).unwrap();
        assert_eq!(accept.to_str().unwrap(), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
        assert_eq!(subprotocols(&headers(&WHOLE)).collect::<Vec<_>>(), ["acp", "harn.bearer.chan-1_x"]);
        for (missing, (name, _)) in WHOLE.iter().enumerate().take(4) {
            let mut lines = WHOLE.to_vec();
            lines.remove(missing);
            assert!(accept_of(&headers(&lines)).is_err(), "{name}");
        }
        let mut short = WHOLE.to_vec();
        short[3].1 = "c2hvcnQ=";
        assert!(accept_of(&headers(&short)).is_err());
    }
}
