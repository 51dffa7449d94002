//! [`Endpoint`]: where a route lives.

use reqwest::Url;
use reqwest::header::HeaderValue;

/// The minimum length of a key that is redacted. Shorter ones are placeholders for servers that
/// need none (`EMPTY`, `none`, `ollama`): redacting them would only garble messages.
const SHORTEST: usize = 8;

/// The location of a route, and its addressing.
#[derive(Clone)]
pub(crate) struct Endpoint {
    /// The provider.
    pub(crate) provider: &'static str,
    /// The source of the base URL: a variable, or a key of `harn.toml`.
    pub(crate) base_variable: String,
    /// The variable that holds the key.
    pub(crate) key_variable: String,
    /// The URL to post to.
    pub(crate) url: Url,
    /// The URL to post to for a streamed answer; the same on most wires.
    pub(crate) stream_url: Url,
    /// The base URL as it may be shown: without user, password, query.
    pub(crate) shown: String,
    /// The headers, the key among them.
    pub(crate) headers: Vec<(&'static str, HeaderValue)>,
    /// The key, which must not appear in a message.
    pub(crate) secret: Option<String>,
    /// Whether it is the vendor's own server.
    pub(crate) is_own: bool,
    /// Whether the key leaves the machine for another server than the vendor's own.
    pub(crate) sent_elsewhere: bool,
}

impl Endpoint {
    /// `text` without the key.
    pub(crate) fn redact(&self, text: &str) -> String {
        match &self.secret {
            Some(secret) if secret.len() >= SHORTEST => text.replace(secret.as_str(), "[key]"),
            _ => text.to_owned(),
        }
    }
}

impl std::fmt::Debug for Endpoint {
    /// Formats without headers, since they contain the key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Endpoint").field("provider", &self.provider).field("at", &self.shown).finish_non_exhaustive()
    }
}

/// A URL as it may be shown.
pub(crate) fn shown(url: &Url) -> String {
    let mut url = url.clone();
    // Both fail only on URLs that cannot have a user, which then have none to hide.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.set_fragment(None);
    url.as_str().trim_end_matches('/').to_owned()
}

/// Whether a URL leads to this machine without TLS: a test server or a local model, which need no key.
pub(crate) fn is_local(url: &Url) -> bool {
    url.scheme() == "http" && is_loopback(url)
}

/// Whether a URL leads to this machine.
pub(crate) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let loopback = host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
    loopback || host == "localhost" || host.ends_with(".localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_hidden_and_a_word_in_its_place_is_not() {
        let url: Url = "http://127.0.0.1:1/v1".parse().unwrap();
        let mut endpoint = Endpoint {
            provider: "p",
            base_variable: String::new(),
            key_variable: String::new(),
            shown: shown(&url),
            url: url.clone(),
            stream_url: url,
            headers: Vec::new(),
            is_own: false,
            secret: Some("sk-123456".to_owned()),
            sent_elsewhere: false,
        };
        assert_eq!(endpoint.redact("no sk-123456 model"), "no [key] model");
        endpoint.secret = Some("model".to_owned());
        assert_eq!(endpoint.redact("no sk-123456 model"), "no sk-123456 model");
    }
}
