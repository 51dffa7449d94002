//! The agent card.

use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode, header};

use super::refusal::said;
use super::service::A2aService;
use crate::a2a::card::AgentCard;
use crate::a2a::extension::RequestedExtension;
use crate::a2a::rpc::RequestedVersion;
use crate::http::response::{empty, json};

/// The time for which clients may cache a card.
const CACHE_POLICY: &str = "public, max-age=60";

/// The request headers that select the card.
const VARY: &str = "A2A-Version, A2A-Extensions, X-A2A-Extensions";

impl A2aService {
    /// Returns the card, or 304 if the client has it.
    pub(crate) fn get_card(&self, head: &Parts) -> Response<Body> {
        let (headers, card) = (&head.headers, &self.card);
        let version = match said(headers, head.uri.query()) {
            RequestedVersion::Known(version) => Some(version),
            // A card lists the supported versions, so clients of other versions may read it.
            RequestedVersion::Nothing | RequestedVersion::Unknown(_) => None,
        };
        let asked = RequestedExtension::of(headers);
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
        let text = card.text(version, asked.is_any(), host);
        let tag = card.tag(&text);
        let is_known = headers.get_all(header::IF_NONE_MATCH).iter().any(|known| names(known, &tag))
            || (!headers.contains_key(header::IF_NONE_MATCH) && is_unchanged(headers, card));
        let mut response = if is_known { empty(StatusCode::NOT_MODIFIED) } else { json(StatusCode::OK, text) };
        let to = response.headers_mut();
        to.insert(header::CACHE_CONTROL, HeaderValue::from_static(CACHE_POLICY));
        to.insert(header::VARY, HeaderValue::from_static(VARY));
        for (name, value) in [(header::ETAG, tag), (header::LAST_MODIFIED, httpdate::fmt_http_date(card.since()))] {
            if let Ok(value) = HeaderValue::try_from(value) {
                to.insert(name, value);
            }
        }
        asked.confirm(to);
        response
    }
}

/// Returns whether a list of entity tags contains `tag`. Weak tags match too.
fn names(list: &HeaderValue, tag: &str) -> bool {
    let list = list.to_str().unwrap_or_default();
    list.split(',').map(str::trim).any(|known| known == "*" || known.strip_prefix("W/").unwrap_or(known) == tag)
}

/// Returns whether the card is no newer than the client's copy, in whole seconds.
fn is_unchanged(headers: &HeaderMap, card: &AgentCard) -> bool {
    let known = headers.get(header::IF_MODIFIED_SINCE).and_then(|value| value.to_str().ok());
    let Some(known) = known.and_then(|value| httpdate::parse_http_date(value).ok()) else { return false };
    let seconds = |time: std::time::SystemTime| time.duration_since(std::time::UNIX_EPOCH).map_or(0, |it| it.as_secs());
    seconds(card.since()) <= seconds(known)
}
