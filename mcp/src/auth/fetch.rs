//! Requests to authorization servers: limited in size and time, and only to addresses that cannot be overheard.

use base::data::Data;
use providers::web::{Method, Question, Url, Web};

use crate::error::{McpError, McpErrorKind, excerpt};

/// The largest document that is read.
const MAX_BODY: usize = 1 << 20;
/// The timeout of a request, in milliseconds.
const TIMEOUT_MS: u64 = 15_000;

/// An answer of an authorization server.
pub(crate) struct AuthReply {
    pub(crate) status: u16,
    /// The values of `WWW-Authenticate`.
    pub(crate) challenges: Vec<String>,
    /// The document; nil if the body is not JSON.
    pub(crate) body: Data,
}

/// The requests for one MCP server.
pub(crate) struct Fetcher<'a> {
    pub(crate) web: &'a Web,
    /// The name of the MCP server, for messages.
    pub(crate) name: &'a str,
    /// Whether the MCP server runs on this machine; only such a server may name addresses of this machine.
    pub(crate) is_local: bool,
}

impl Fetcher<'_> {
    /// Returns an error about the authorization.
    pub(crate) fn failed(&self, why: impl std::fmt::Display) -> McpError {
        let message = format!("cannot get a token for the MCP server `{}`: {why}", self.name);
        McpError::new(McpErrorKind::Authorization, message)
    }

    /// Checks an address that a server names: https, or http on this machine if the MCP server itself is there.
    pub(crate) fn checked_url(&self, what: &str, written: &str) -> Result<Url, McpError> {
        let wrong = |why: &str| self.failed(format_args!("its {what} {:?} {why}", excerpt(written)));
        let url = Url::parse(written).map_err(|_| wrong("is not a URL"))?;
        match url.scheme() {
            "https" if url.has_host() && (self.is_local || !is_local(&url)) => {}
            "http" if self.is_local && is_local(&url) => {}
            "https" | "http" if is_local(&url) => return Err(wrong("is an address of this machine")),
            _ => return Err(wrong("is not an https URL")),
        }
        if !url.username().is_empty() || url.password().is_some() || url.fragment().is_some() {
            return Err(wrong("has a user or a fragment"));
        }
        Ok(url)
    }

    /// Gets a document.
    pub(crate) async fn get(&self, url: &Url) -> Result<AuthReply, McpError> {
        self.send(Method::Get, url, Vec::new(), Vec::new()).await
    }

    /// Sends a form. `more` are further headers.
    pub(crate) async fn post_form(
        &self,
        url: &Url,
        pairs: &[(&str, &str)],
        more: Vec<(String, String)>,
    ) -> Result<AuthReply, McpError> {
        let mut headers = more;
        headers.push(("content-type".to_owned(), "application/x-www-form-urlencoded".to_owned()));
        self.send(Method::Post, url, headers, form(pairs).into_bytes()).await
    }

    /// Sends a JSON document.
    pub(crate) async fn post_json(&self, url: &Url, body: &Data) -> Result<AuthReply, McpError> {
        let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        self.send(Method::Post, url, headers, body.to_json().into_bytes()).await
    }

    async fn send(
        &self,
        method: Method,
        url: &Url,
        mut headers: Vec<(String, String)>,
        body: Vec<u8>,
    ) -> Result<AuthReply, McpError> {
        headers.push(("accept".to_owned(), "application/json".to_owned()));
        let question = Question { method, url: url.to_string(), headers, body, timeout_ms: TIMEOUT_MS };
        let opened = self.web.open(&question).await.map_err(|failure| self.failed(failure.message))?;
        let (status, challenges) = (opened.status(), opened.headers("www-authenticate"));
        let body = opened.body(MAX_BODY).await.map_err(|failure| self.failed(failure.message))?;
        let text = String::from_utf8_lossy(&body);
        let is_plain = !providers::web::too_many_values(&body);
        let body = if is_plain { Data::from_json(&text).unwrap_or_default() } else { Data::Nil };
        Ok(AuthReply { status, challenges, body })
    }
}

/// Returns pairs as the query of a URL or the body of a form.
pub(crate) fn form(pairs: &[(&str, &str)]) -> String {
    // Any URL does: only its query is used.
    let Ok(mut url) = Url::parse("http://localhost/") else { return String::new() };
    url.query_pairs_mut().extend_pairs(pairs);
    url.query().unwrap_or_default().to_owned()
}

/// Returns whether a URL is an address of this machine.
pub(crate) fn is_local(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let address = host.parse::<std::net::IpAddr>();
    host == "localhost"
        || host.ends_with(".localhost")
        || address.is_ok_and(|ip| ip.is_loopback() || ip.is_unspecified())
}
