//! The responses that all protocols send.

use std::convert::Infallible;

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, Response, StatusCode, header};
use bytes::Bytes;
use futures_util::{StreamExt as _, stream};

/// The header that tells proxies not to buffer events.
const NO_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// Returns a response without a body.
pub(crate) fn empty(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

/// Returns a response with a body of this media type.
pub(crate) fn typed(status: StatusCode, media_type: &'static str, body: impl Into<Body>) -> Response<Body> {
    let mut response = empty(status);
    *response.body_mut() = body.into();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}

/// Returns a JSON response.
pub(crate) fn json(status: StatusCode, text: String) -> Response<Body> {
    typed(status, "application/json", text)
}

/// Returns a response with text that is not cached.
pub(crate) fn plain(status: StatusCode, text: impl Into<Body>) -> Response<Body> {
    let mut response = typed(status, "text/plain; charset=utf-8", text);
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Returns server-sent events as a response.
pub(crate) fn events(events: impl Into<Body>) -> Response<Body> {
    let mut response = typed(StatusCode::OK, "text/event-stream", events);
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(NO_BUFFERING, HeaderValue::from_static("no"));
    response
}

/// Returns the server-sent events that `next` yields as a response. If the client disconnects, the state is dropped.
pub(crate) fn event_stream<S, F, N>(state: S, next: F) -> Response<Body>
where
    S: Send + 'static,
    F: FnMut(S) -> N + Send + 'static,
    N: Future<Output = Option<(Bytes, S)>> + Send + 'static,
{
    events(Body::from_stream(stream::unfold(state, next).map(Ok::<Bytes, Infallible>)))
}
