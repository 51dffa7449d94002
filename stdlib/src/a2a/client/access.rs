//! [`Access`]: where a peer is and how it is asked.

use std::net::IpAddr;
use std::sync::Arc;

use a2a::Version;
use providers::web::Url;

use super::{ErrorKind, PeerError};

/// The address of a peer, and the settings of its requests.
#[derive(Clone)]
pub(crate) struct Access {
    /// The agent's base URL, or that of its card.
    pub(crate) url: Arc<str>,
    /// The bearer token.
    pub(crate) token: Option<Arc<str>>,
    /// The additional headers.
    pub(crate) headers: Vec<(String, String)>,
    /// Origins beside the URL's own to which token and headers may go.
    pub(crate) trusted: Vec<Arc<str>>,
    /// The timeout of an answer, in milliseconds; in a stream, that of silence.
    pub(crate) timeout_ms: u64,
    /// The version to speak; nothing for the newest that both sides know.
    pub(crate) version: Option<Version>,
    /// The URIs of extensions that are asked for.
    pub(crate) extensions: Vec<Arc<str>>,
}

impl std::fmt::Debug for Access {
    /// Formats without headers and token.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Access").field("url", &shown(&self.url)).finish_non_exhaustive()
    }
}

impl Access {
    /// The URL, read.
    pub(super) fn address(&self) -> Result<Url, PeerError> {
        address(&self.url)
    }

    /// The URL, as it may be shown.
    pub(crate) fn shown(&self) -> String {
        format!("the agent at {}", shown(&self.url))
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

    /// Checks an endpoint that was found under the URL, since it may be elsewhere. Token and
    /// headers are not sent there by default, and nothing at all is sent to addresses that only the
    /// author of the script may choose.
    pub(super) fn allow(&self, endpoint: &Url) -> Result<(), PeerError> {
        let own = self.address()?;
        let mut trusted = self.trusted.iter().filter_map(|origin| Url::parse(origin).ok());
        if same_origin(&own, endpoint) || trusted.any(|origin| same_origin(&origin, endpoint)) {
            return Ok(());
        }
        let has_secret = self.token.is_some() || !self.headers.is_empty();
        let why = match (own.scheme(), endpoint.scheme()) {
            ("https", "http") => "which is not encrypted",
            _ if reach(endpoint) > reach(&own) => "which is an address of this machine or of a private network",
            _ if has_secret => "which must not receive the token or headers",
            _ => return Ok(()),
        };
        let (here, there) = (origin(&own), origin(endpoint));
        let message = format!("the card of {here} names the endpoint {there}, {why}");
        let error = PeerError::new(ErrorKind::Moved, message).fact("location", endpoint.as_str().into());
        Err(error.help(format!("if that is intended, add the option `trust: [\"{there}\"]`")))
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
pub(crate) fn address(written: &str) -> Result<Url, PeerError> {
    let wrong = |why: String| {
        PeerError::new(ErrorKind::Address, format!("`{}` is not the URL of an agent: {why}", shown(written)))
            .help("write the full URL: `https://agent.example.com`")
    };
    let url = Url::parse(written).map_err(|e| wrong(e.to_string()))?;
    match url.scheme() {
        "http" | "https" if url.has_host() => Ok(url),
        scheme => Err(wrong(format!("`{scheme}` is neither http nor https"))),
    }
}

/// Returns a URL for messages, without the user part and the query, which may contain secrets.
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

/// Whether two URLs lead to the same server. `localhost` and the addresses behind it are one name; what else is on this machine, by
/// [`reach`], may be another's server.
fn same_origin(one: &Url, other: &Url) -> bool {
    let alike = one.scheme() == other.scheme() && one.port_or_known_default() == other.port_or_known_default();
    alike && (one.host_str() == other.host_str() || (is_loopback(one) && is_loopback(other)))
}

fn is_loopback(url: &Url) -> bool {
    let host = host(url);
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// The host without the brackets of an address of version 6.
fn host(url: &Url) -> &str {
    url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']')
}

/// The reach of a server, the narrowest last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ServerReach {
    /// Anybody, or a name that says nothing of it: names are not looked up.
    World,
    /// A private network.
    Network,
    /// This machine.
    Machine,
}

fn reach(url: &Url) -> ServerReach {
    let host = host(url).trim_end_matches('.');
    if host == "localhost" || host.ends_with(".localhost") {
        return ServerReach::Machine;
    }
    match host.parse::<IpAddr>().map(|address| address.to_canonical()) {
        Ok(address) if address.is_loopback() || address.is_unspecified() => ServerReach::Machine,
        Ok(IpAddr::V4(address)) => {
            // What a provider of connections shares among its customers, RFC 6598.
            let [first, second, ..] = address.octets();
            let is_shared = first == 100 && second & 0xc0 == 64;
            if address.is_private() || address.is_link_local() || is_shared {
                ServerReach::Network
            } else {
                ServerReach::World
            }
        }
        Ok(IpAddr::V6(address)) if address.is_unique_local() || address.is_unicast_link_local() => ServerReach::Network,
        _ => ServerReach::World,
    }
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
    fn a_card_leads_neither_out_of_encryption_nor_into_a_private_network() {
        let of = |url: &str| Access { token: None, ..access(url) };
        let why = |from: &str, to: &str| match of(from).allow(&Url::parse(to).unwrap()) {
            Ok(()) => String::new(),
            Err(error) => format!("{} {}", error.message, error.help.unwrap_or_default()),
        };
        let clear = why("https://agent.example.com", "http://agent.example.com/rpc");
        assert!(clear.contains("not encrypted") && clear.contains("trust: [\"http://agent.example.com\"]"), "{clear}");
        for inside in [
            "127.0.0.1",
            "localhost",
            "a.localhost.",
            "[::1]",
            "0.0.0.0",
            "10.1.2.3",
            "192.168.0.1",
            "169.254.169.254",
            "100.64.0.1",
            "[fd00::1]",
            "[fe80::1]",
            "[::ffff:127.0.0.1]",
        ] {
            let said = why("http://agent.example.com", &format!("http://{inside}:8080/rpc"));
            assert!(said.contains("private network"), "{inside}: {said}");
        }
        assert!(why("http://10.1.2.3", "http://127.0.0.1/").contains("private network"), "deeper inside");
        for (from, to) in [
            ("http://10.1.2.3", "http://10.1.2.4:1/"),
            ("http://127.0.0.1:1", "http://localhost:2/"),
            ("http://localhost", "https://agent.example.com/"),
            ("http://agent.example.com", "http://100.128.0.1/"),
        ] {
            assert_eq!(why(from, to), "", "{from} {to}");
        }
        let trusting = Access { trusted: vec!["http://10.1.2.3:8080".into()], ..of("https://agent.example.com") };
        assert!(trusting.allow(&Url::parse("http://10.1.2.3:8080/rpc").unwrap()).is_ok());
        assert!(trusting.allow(&Url::parse("http://10.1.2.3:8081/rpc").unwrap()).is_err());
    }

    #[test]
    fn this_machine_has_several_names() {
        let access = access("http://127.0.0.1:8080");
        assert!(access.allow(&Url::parse("http://localhost:8080/rpc").unwrap()).is_ok());
        assert!(access.allow(&Url::parse("http://[::1]:8080/rpc").unwrap()).is_ok());
        assert!(access.allow(&Url::parse("http://localhost:8081/rpc").unwrap()).is_err());
        let open = Access { token: None, ..access.clone() };
        for other in
            ["http://a.localhost:8080/", "http://localhost.:8080/", "http://0.0.0.0:8080/", "http://[::]:8080/"]
        {
            let other = Url::parse(other).unwrap();
            assert!(access.allow(&other).is_err(), "whoever answers at {other} may be another, and gets no token");
            assert!(open.allow(&other).is_ok(), "{other} is no further inside");
        }
    }

    #[test]
    fn what_may_be_a_secret_is_not_shown() {
        assert_eq!(shown("https://user:pass@host:1/p/?key=1#f"), "https://host:1/p");
        assert_eq!(access("http://h").redact("said a-secret-token"), "said [token]");
        assert!(!format!("{:?}", access("http://h")).contains("secret"));
    }
}
