//! Requests to a server: one JSON document out, one JSON document back, complete or streamed. Every
//! failure is reported in one sentence that names the server, its behaviour, and the fix.
//!
//! | file | offers |
//! |---|---|
//! | `client` | the connection pool of a worker, with TLS that needs no CA files for plain http |
//! | `endpoint` | where a route lives: URL, headers, the names of its variables |
//! | `chunks` | the bytes of a streamed answer, within their limits |
//! | `events` | events out of bytes |
//! | `assembly` | a document out of events, each of them told as it comes |
//! | `values` | how many values a document may hold |
//! | `failure` | errors out of what a server or the network did |
//! | `retry` | when to try again, and how a wait is cut short |

use std::time::Duration;

use base::call::Outcome;
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use runtime::model::{Delta, ModelError};
use runtime::seam::Turn;
use serde_json::Value;

mod assembly;
mod chunks;
pub(crate) mod client;
pub(crate) mod endpoint;
mod events;
pub(crate) mod failure;
pub(crate) mod retry;
pub(crate) mod values;

pub(crate) use assembly::{Assembly, Problem, Progress, tell};
pub(crate) use client::Client;
pub use client::trusted_roots;
pub(crate) use endpoint::Endpoint;
pub(crate) use events::Framing;

/// The default timeout of one attempt, in milliseconds.
pub(crate) const DEFAULT_TIMEOUT_MS: u64 = 300_000;
/// The default number of retries after a transient failure.
pub(crate) const DEFAULT_RETRIES: u32 = 2;
/// The largest body that is read.
pub(crate) const MAX_BODY: usize = 32 << 20;
/// The shortest silence in the middle of a stream that counts as its end, in milliseconds.
const SHORTEST_STALL_MS: u64 = 60_000;

/// Returns the timeout of silence within a stream: two fifths of the whole timeout, and at least a
/// minute, since models think between their words.
pub(crate) fn stall(timeout_ms: u64) -> Duration {
    Duration::from_millis((timeout_ms / 5 * 2).max(SHORTEST_STALL_MS))
}

/// One question to a server.
pub(crate) struct Post<'a> {
    pub(crate) endpoint: &'a Endpoint,
    /// The JSON document.
    pub(crate) body: Vec<u8>,
    pub(crate) timeout_ms: u64,
    pub(crate) retries: u32,
    /// The longest silence in the middle of a stream: [`stall`] of the time.
    pub(crate) stall: Duration,
    /// The reader of a streamed answer; `None` if it is not streamed.
    pub(crate) pieces: Option<Pieces>,
    /// The failure that a whole document may tell of in the wire's own way though its status is 200.
    pub(crate) failure: fn(&Value) -> Option<ModelError>,
}

/// The reading of a streamed answer.
#[derive(Clone, Copy)]
pub(crate) struct Pieces {
    pub(crate) framing: Framing,
    /// Begins a new answer.
    pub(crate) assembly: fn() -> Box<dyn Assembly>,
}

/// The answer of a server.
pub(crate) struct ServerAnswer {
    /// The vendor's document.
    pub(crate) document: Value,
    /// Whether its pieces were reported live.
    pub(crate) was_told: bool,
}

/// Asks, and asks again where that may help.
pub(crate) async fn post(
    client: &Client,
    turn: Turn<'_>,
    post: &Post<'_>,
    live: &dyn Fn(Delta<'_>),
) -> Outcome<ServerAnswer> {
    retry::with_retries(turn, post.retries, live, async |_| attempt(client, post, live).await).await
}

async fn attempt(client: &Client, post: &Post<'_>, live: &dyn Fn(Delta<'_>)) -> Result<ServerAnswer, ModelError> {
    let endpoint = post.endpoint;
    let url = if post.pieces.is_some() { &endpoint.stream_url } else { &endpoint.url };
    let mut request = client
        .get(url)
        .map_err(|error| failure::of_client(endpoint, &error))?
        .post(url.clone())
        .timeout(Duration::from_millis(post.timeout_ms))
        .header(CONTENT_TYPE, "application/json");
    for (name, value) in &endpoint.headers {
        request = request.header(*name, value.clone());
    }
    let sent = request.body(post.body.clone()).send().await;
    let response = sent.map_err(|error| failure::of_network(endpoint, &error, post.timeout_ms))?;
    let answered = match post.pieces {
        Some(pieces) if response.status().is_success() => in_pieces(post, pieces, response, live).await?,
        _ => ServerAnswer { document: whole(post, response).await?, was_told: false },
    };
    match (post.failure)(&answered.document).or_else(|| failure::of_document(endpoint, &answered.document)) {
        Some(failure) => Err(failure),
        None => Ok(answered),
    }
}

async fn whole(post: &Post<'_>, mut response: reqwest::Response) -> Result<Value, ModelError> {
    let endpoint = post.endpoint;
    let failed = |error: reqwest::Error| failure::of_network(endpoint, &error, post.timeout_ms);
    let status = response.status();
    let headers = response.headers().clone();
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(failed)? {
        if body.len() + chunk.len() > MAX_BODY {
            return Err(failure::too_long(endpoint, MAX_BODY));
        }
        body.extend_from_slice(&chunk);
    }
    if !status.is_success() {
        return Err(failure::of_status(endpoint, status, &headers, &body));
    }
    read(endpoint, &headers, &body)
}

async fn in_pieces(
    post: &Post<'_>,
    pieces: Pieces,
    response: reqwest::Response,
    live: &dyn Fn(Delta<'_>),
) -> Result<ServerAnswer, ModelError> {
    let headers = response.headers().clone();
    let (chunks, meter) = chunks::chunks(response, post.stall);
    let mut events = events::EventStream::new(pieces.framing, chunks, meter.clone());
    let mut assembly = (pieces.assembly)();
    match assembly::assemble(post.endpoint, &mut events, assembly.as_mut(), post.timeout_ms, live).await? {
        assembly::StreamEnd::Whole => Ok(ServerAnswer { document: assembly.document(), was_told: true }),
        // Some servers answer in one piece whatever they are asked for; others with a web page.
        assembly::StreamEnd::NoEvents => {
            let body = meter.body_without_events().unwrap_or_default();
            Ok(ServerAnswer { document: read(post.endpoint, &headers, &body)?, was_told: false })
        }
    }
}

fn read(endpoint: &Endpoint, headers: &HeaderMap, body: &[u8]) -> Result<Value, ModelError> {
    if values::too_many(body) {
        return Err(failure::too_many_values(endpoint, values::MOST));
    }
    match json::from_slice(body) {
        Ok(value @ Value::Object(_)) => Ok(value),
        Ok(other) => Err(failure::not_an_object(endpoint, &other)),
        Err(error) => Err(failure::not_json(endpoint, headers, body, &error)),
    }
}

#[cfg(test)]
mod stream_tests;
#[cfg(test)]
mod tests;
