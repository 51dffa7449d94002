//! [`RequestGuard`]: checks hosts and origins. A web page in a browser can reach a server on the same machine: by a
//! host name of its own that resolves to it (DNS rebinding), or by a request that the browser sends for it.

use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, Version, header};
use std::net::IpAddr;

/// The hosts and origins that are allowed.
#[derive(Debug, Clone, Default)]
pub(crate) struct RequestGuard {
    /// Whether only this machine can connect, so that the host name of a request must be one of this machine.
    pub(crate) is_local: bool,
    /// A further allowed host name: that of the public URL.
    pub(crate) public: Option<String>,
    /// Allowed origins, such as `https://example.com`; `*` allows all.
    pub(crate) origins: Vec<String>,
}

/// The reason why a request is not allowed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum GuardError {
    /// An HTTP/1.1 request has no `Host`.
    #[error("missing header `Host`")]
    NoHost,
    /// An HTTP/1.1 request has several `Host`s.
    #[error("repeated header `Host`")]
    SeveralHosts,
    /// The host is not a name of this machine.
    #[error("this server serves only its own machine, and `{}` is not one of its names", shortened(.0))]
    Host(String),
    /// The origin is not allowed.
    #[error("the origin `{}` is not allowed; `--allow-origin` allows it", shortened(.0))]
    Origin(String),
}

impl GuardError {
    /// Returns the status of the response.
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            GuardError::NoHost | GuardError::SeveralHosts => StatusCode::BAD_REQUEST,
            GuardError::Host(_) | GuardError::Origin(_) => StatusCode::FORBIDDEN,
        }
    }
}

/// The allowed origin that the browser named, if it named one.
pub(crate) type AllowedOrigin = Option<HeaderValue>;

impl RequestGuard {
    /// Checks whether a request is allowed, and returns its origin if it names one.
    ///
    /// # Errors
    /// An HTTP/1.1 request whose `Host` is missing or repeated gets status 400 (RFC 9112, 3.2); a host or an origin
    /// that is not allowed gets 403.
    pub(crate) fn admit(&self, version: Version, uri: &Uri, headers: &HeaderMap) -> Result<AllowedOrigin, GuardError> {
        if version == Version::HTTP_11 {
            one_host(headers)?;
        }
        self.allow(uri, headers)
    }

    fn allow(&self, uri: &Uri, headers: &HeaderMap) -> Result<AllowedOrigin, GuardError> {
        // The host in a request target takes precedence over the header (RFC 9112, 3.2.2).
        let named = uri.authority().map(Authority::as_str);
        let in_headers = headers.get_all(header::HOST).iter().filter(|_| named.is_none());
        let mut hosts = named.into_iter().chain(in_headers.map(|host| host.to_str().unwrap_or_default()));
        let first = hosts.next();
        if self.is_local {
            let is_other = |host: &&str| {
                let name = name_of(host).unwrap_or_default();
                !is_loopback(&name) && !self.is_public(&name)
            };
            first
                .into_iter()
                .chain(hosts)
                .find(is_other)
                .map_or(Ok(()), |host| Err(GuardError::Host(host.to_owned())))?;
        }
        self.origin(headers, first)
    }

    fn origin(&self, headers: &HeaderMap, host: Option<&str>) -> Result<AllowedOrigin, GuardError> {
        let Some(origin) = headers.get(header::ORIGIN) else { return Ok(None) };
        let written = origin.to_str().unwrap_or_default();
        if self.origins.iter().any(|known| known == "*" || known.eq_ignore_ascii_case(written)) {
            return Ok(Some(origin.clone()));
        }
        let authority = written.split_once("://").map(|(_, authority)| authority);
        let is_own = authority.is_some_and(|authority| {
            host.is_some_and(|host| host.eq_ignore_ascii_case(authority))
                || name_of(authority).is_some_and(|name| self.is_public(&name))
        });
        if is_own { Ok(None) } else { Err(GuardError::Origin(written.to_owned())) }
    }

    fn is_public(&self, name: &str) -> bool {
        self.public.as_deref().is_some_and(|public| public.eq_ignore_ascii_case(name))
    }
}

fn one_host(headers: &HeaderMap) -> Result<(), GuardError> {
    match headers.get_all(header::HOST).iter().count() {
        1 => Ok(()),
        0 => Err(GuardError::NoHost),
        _ => Err(GuardError::SeveralHosts),
    }
}

/// Returns the start of a client's text, for a message.
pub(crate) fn shortened(text: &str) -> String {
    const LONGEST: usize = 80;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Returns the name in `name:port`, without the brackets of an address.
pub(crate) fn name_of(host: &str) -> Option<String> {
    let authority: Authority = host.parse().ok()?;
    let name = authority.host().trim_start_matches('[').trim_end_matches(']');
    Some(name.trim_end_matches('.').to_owned())
}

fn is_loopback(name: &str) -> bool {
    let is_below = |name: &[u8]| {
        let end = name.len().checked_sub(b".localhost".len()).and_then(|at| name.get(at..));
        end.is_some_and(|end| end.eq_ignore_ascii_case(b".localhost"))
    };
    name.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback())
        || name.eq_ignore_ascii_case("localhost")
        || is_below(name.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admit(guard: &RequestGuard, host: &str, origin: Option<&str>) -> Result<bool, String> {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, origin.parse().unwrap());
        }
        let admitted = guard.admit(Version::HTTP_11, &Uri::from_static("/"), &headers);
        admitted.map(|named| named.is_some()).map_err(|error| {
            assert_eq!(error.status(), StatusCode::FORBIDDEN);
            let field = if matches!(error, GuardError::Host(_)) { "Host" } else { "Origin" };
            field.to_owned()
        })
    }

    #[test]
    fn what_serves_its_own_machine_is_asked_by_a_name_of_it() {
        let local = RequestGuard { is_local: true, public: Some("agents.example.com".to_owned()), origins: Vec::new() };
        for host in [
            "127.0.0.1",
            "127.0.0.1:80",
            "127.9.9.9:1",
            "localhost:8080",
            "LOCALHOST",
            "a.localhost",
            "localhost.",
            "[::1]:8080",
            "[::ffff:127.0.0.1]",
            "agents.example.com",
            "Agents.Example.com:443",
        ] {
            assert_eq!(admit(&local, host, None), Ok(false), "{host}");
        }
        for host in
            ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "10.0.0.1", "[::2]", "", "a b"]
        {
            assert_eq!(admit(&local, host, None), Err("Host".to_owned()), "{host}");
        }
        let open = RequestGuard::default();
        assert_eq!(admit(&open, "evil.example", None), Ok(false));
        // The host in a request target takes precedence over the header.
        let headers = HeaderMap::from_iter([(header::HOST, HeaderValue::from_static("localhost"))]);
        assert!(local.admit(Version::HTTP_11, &Uri::from_static("http://evil.example/"), &headers).is_err());
        assert!(local.admit(Version::HTTP_10, &Uri::from_static("/"), &HeaderMap::new()).is_ok());
    }

    #[test]
    fn a_request_of_http_1_1_has_exactly_one_host() {
        for guard in [RequestGuard::default(), RequestGuard { is_local: true, ..RequestGuard::default() }] {
            let status = |headers: &HeaderMap, uri: &'static str| {
                guard.admit(Version::HTTP_11, &Uri::from_static(uri), headers).err().map(|error| error.status())
            };
            let bad = Some(StatusCode::BAD_REQUEST);
            assert_eq!(status(&HeaderMap::new(), "/"), bad);
            assert_eq!(status(&HeaderMap::new(), "http://localhost/"), bad);
            let mut headers = HeaderMap::from_iter([(header::HOST, HeaderValue::from_static("localhost"))]);
            assert_eq!(status(&headers, "/"), None);
            headers.append(header::HOST, HeaderValue::from_static("localhost"));
            assert_eq!(status(&headers, "/"), bad);
        }
    }

    #[test]
    fn a_page_of_elsewhere_asks_only_where_it_is_named() {
        let origins = vec!["https://ui.example".to_owned()];
        let guard = RequestGuard { is_local: true, public: Some("agents.example.com".to_owned()), origins };
        for (origin, expected) in [
            ("http://127.0.0.1:8080", Ok(false)),
            ("https://agents.example.com", Ok(false)),
            ("https://ui.example", Ok(true)),
            ("http://ui.example", Err("Origin".to_owned())),
            ("http://127.0.0.1:3000", Err("Origin".to_owned())),
            ("https://evil.example", Err("Origin".to_owned())),
            ("null", Err("Origin".to_owned())),
            ("", Err("Origin".to_owned())),
        ] {
            assert_eq!(admit(&guard, "127.0.0.1:8080", Some(origin)), expected, "{origin}");
        }
        let all = RequestGuard { origins: vec!["*".to_owned()], ..guard };
        assert_eq!(admit(&all, "127.0.0.1:8080", Some("null")), Ok(true));
    }
}
