//! The agent card.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Request, Response, StatusCode, header};

use super::refusal::{json, said};
use super::router::A2aState;
use crate::a2a::extension::RequestedExtension;
use crate::a2a::rpc::RequestedVersion;

/// The time for which clients may cache a card.
const CACHE_POLICY: &str = "public, max-age=60";

/// The request headers that select the card.
const VARY: &str = "A2A-Version, A2A-Extensions, X-A2A-Extensions";

/// Responds with the card, or with 304 if the client has it.
pub(super) async fn get_card(State(state): State<Arc<A2aState>>, request: Request<Body>) -> Response<Body> {
    let headers = request.headers();
    let version = match said(headers, request.uri().query()) {
        RequestedVersion::Known(version) => Some(version),
        // A card lists the supported versions, so clients of other versions may read it.
        RequestedVersion::Nothing | RequestedVersion::Unknown(_) => None,
    };
    let asked = RequestedExtension::of(headers);
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let text = state.card.text(version, asked.is_any(), host);
    let tag = state.card.tag(&text);
    let is_known = headers.get_all(header::IF_NONE_MATCH).iter().any(|known| names(known, &tag))
        || (!headers.contains_key(header::IF_NONE_MATCH) && is_unchanged(headers, &state));
    let mut response = if is_known {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        response
    } else {
        json(StatusCode::OK, text)
    };
    let to = response.headers_mut();
    to.insert(header::CACHE_CONTROL, HeaderValue::from_static(CACHE_POLICY));
    to.insert(header::VARY, HeaderValue::from_static(VARY));
    for (name, value) in [(header::ETAG, tag), (header::LAST_MODIFIED, httpdate::fmt_http_date(state.card.since()))] {
        if let Ok(value) = HeaderValue::try_from(value) {
            to.insert(name, value);
        }
    }
    asked.confirm(to);
    response
}

/// Returns whether a list of entity tags contains `tag`. Weak tags match too.
fn names(list: &HeaderValue, tag: &str) -> bool {
    let list = list.to_str().unwrap_or_default();
    list.split(',').map(str::trim).any(|known| known == "*" || known.strip_prefix("W/").unwrap_or(known) == tag)
}

/// Returns whether the card is no newer than the client's copy, in whole seconds.
fn is_unchanged(headers: &HeaderMap, state: &A2aState) -> bool {
    let known = headers.get(header::IF_MODIFIED_SINCE).and_then(|value| value.to_str().ok());
    let Some(known) = known.and_then(|value| httpdate::parse_http_date(value).ok()) else { return false };
    let seconds = |time: std::time::SystemTime| time.duration_since(std::time::UNIX_EPOCH).map_or(0, |it| it.as_secs());
    seconds(state.card.since()) <= seconds(known)
}
