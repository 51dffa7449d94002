//! A stream as a response: server-sent events.

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, Response, header};
use bytes::Bytes;
use futures_util::stream;
use std::convert::Infallible;

use crate::a2a::rpc::TaskEventStream;

/// The header that tells proxies not to buffer events.
const NO_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// Returns a stream as a response. If the client disconnects, the body is dropped, and with it the stream's place.
pub(crate) fn response(frames: Box<TaskEventStream>) -> Response<Body> {
    let events = stream::unfold(frames, async |mut frames| {
        let events = frames.next().await?;
        Some((Ok::<Bytes, Infallible>(events), frames))
    });
    of(Body::from_stream(events))
}

/// Returns events as a response.
pub(crate) fn of(events: Body) -> Response<Body> {
    let mut response = Response::new(events);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(NO_BUFFERING, HeaderValue::from_static("no"));
    response
}
