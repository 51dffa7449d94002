//! [`Access`]: where a peer is and how it is asked.

use std::net::IpAddr;
use std::sync::Arc;

use providers::web::Url;

use super::{ErrorKind, PeerError};
use crate::a2a::Version;

/// Where a peer is and how it is asked.
#[derive(Clone)]
pub(crate) struct Access {
    /// The agent's base URL, or that of its card.
    pub(crate) url: Arc<str>,
    /// The bearer token.
    pub(crate) token: Option<Arc<str>>,
    /// More headers.
    pub(crate) headers: Vec<(String, String)>,
    /// Origins beside the URL's own to which token and headers may go.
    pub(crate) trusted: Vec<Arc<str>>,
    /// How long an answer may take, in milliseconds; in a stream, how long it may be silent.
    pub(crate) timeout_ms: u64,
    /// The version to speak; nothing for the newest that both sides know.
    pub(crate) version: Option<Version>,
    /// The URIs of extensions that are asked for.
    pub(crate) extensions: Vec<Arc<str>>,
}

impl std::fmt::Debug for Access {
    /// Without headers and token.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Access").field("url", &shown(&self.url)).finish_non_exhaustive()
    }
}

impl Access {
    /// The URL, read.
    pub(super) fn address(&self) -> Result<Url, PeerError> {
        address(&self.url)
    }

    /// The headers of each request, the token among them.
    pub(super) fn secret_headers(&self) -> Vec<(String, String)> {
        let mut headers = self.headers.clone();
        if let Some(token) = &self.token
            && !has(&headers, "authorization")
        {
            headers.push(("authorization".to_owned(), format!("Bearer {token}")));
        }
        headers
    }

    /// What was asked for under the URL may say that it is answered elsewhere; token and headers do not go there by
    /// themselves.
    pub(super) fn allow(&self, endpoint: &Url) -> Result<(), PeerError> {
        let own = self.address()?;
        if (self.token.is_none() && self.headers.is_empty()) || same_origin(&own, endpoint) {
            return Ok(());
        }
        let trusted = self.trusted.iter().filter_map(|origin| Url::parse(origin).ok());
        if trusted.into_iter().any(|origin| same_origin(&origin, endpoint)) {
            return Ok(());
        }
        let (here, there) = (origin(&own), origin(endpoint));
        let message =
            format!("the card of {here} says that the agent answers at {there}, where the token was not meant to go");
        let error = PeerError::new(ErrorKind::Moved, message).fact("location", endpoint.as_str().into());
        Err(error.help(format!("if that is right, say so with the option `trust: [\"{there}\"]`")))
    }

    /// `text` without the token.
    pub(super) fn redact(&self, text: &str) -> String {
        match &self.token {
            Some(token) if token.len() >= 8 => text.replace(token.as_ref(), "[token]"),
            _ => text.to_owned(),
        }
    }
}

/// Whether a header is among them.
pub(super) fn has(headers: &[(String, String)], name: &str) -> bool {
    headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name))
}

/// A URL that a peer can have.
pub(super) fn address(written: &str) -> Result<Url, PeerError> {
    let wrong = |why: String| {
        PeerError::new(ErrorKind::Address, format!("`{}` is no address of an agent: {why}", shown(written)))
            .help("write the whole URL: `https://agent.example.com`")
    };
    let url = Url::parse(written).map_err(|e| wrong(e.to_string()))?;
    match url.scheme() {
        "http" | "https" if url.has_host() => Ok(url),
        scheme => Err(wrong(format!("`{scheme}` is neither http nor https"))),
    }
}

/// A URL as it may be shown: what stands in front of an `@` or behind a `?` may be a secret.
pub(super) fn shown(written: &str) -> String {
    match Url::parse(written) {
        Ok(url) => format!("{}{}", origin(&url), url.path().trim_end_matches('/')),
        Err(_) => written.to_owned(),
    }
}

/// Scheme, host and port.
pub(super) fn origin(url: &Url) -> String {
    let port = url.port().map_or(String::new(), |port| format!(":{port}"));
    format!("{}://{}{port}", url.scheme(), url.host_str().unwrap_or_default())
}

/// Whether two URLs lead to the same server. The names of this machine are one name.
fn same_origin(one: &Url, other: &Url) -> bool {
    let alike = one.scheme() == other.scheme() && one.port_or_known_default() == other.port_or_known_default();
    alike && (one.host_str() == other.host_str() || (is_loopback(one) && is_loopback(other)))
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(url: &str) -> Access {
        Access {
            url: url.into(),
            token: Some("a-secret-token".into()),
            headers: Vec::new(),
            trusted: vec!["https://api.example.com".into()],
            timeout_ms: 1,
            version: None,
            extensions: Vec::new(),
        }
    }

    #[test]
    fn a_token_goes_where_it_was_meant_to_go() {
        let access = access("https://agent.example.com/a");
        let may = |url: &str| access.allow(&Url::parse(url).unwrap()).is_ok();
        assert!(
            may("https://agent.example.com/rpc")
                && may("https://agent.example.com:443/")
                && may("https://api.example.com/x")
        );
        assert!(!may("http://agent.example.com/") && !may("https://agent.example.com:8443/"));
        assert!(!may("https://agent.example.com.evil.org/") && !may("https://127.0.0.1/"));
        let open = Access { token: None, ..access.clone() };
        assert!(open.allow(&Url::parse("https://other.org/").unwrap()).is_ok());
    }

    #[test]
    fn this_machine_has_several_names() {
        let access = access("http://127.0.0.1:8080");
        assert!(access.allow(&Url::parse("http://localhost:8080/rpc").unwrap()).is_ok());
        assert!(access.allow(&Url::parse("http://[::1]:8080/rpc").unwrap()).is_ok());
        assert!(access.allow(&Url::parse("http://localhost:8081/rpc").unwrap()).is_err());
    }

    #[test]
    fn what_may_be_a_secret_is_not_shown() {
        assert_eq!(shown("https://user:pass@host:1/p/?key=1#f"), "https://host:1/p");
        assert_eq!(access("http://h").redact("said a-secret-token"), "said [token]");
        assert!(!format!("{:?}", access("http://h")).contains("secret"));
    }
}
