//! Asking a server: one JSON document out, one JSON document back, and every way in which that can fail told in one
//! sentence that names the server, what it did, and what to do.
//!
//! | file | offers |
//! |---|---|
//! | `client` | the connection pool of a worker, with TLS that needs no CA files for plain http |
//! | `endpoint` | where a route lives: URL, headers, the names of its variables |
//! | `failure` | errors out of what a server or the network did |
//! | `retry` | when to try again, and how a wait is cut short |

use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, HeaderMap};
use runtime::model::{Delta, ModelError};
use runtime::seam::{Outcome, Turn};

pub(crate) mod client;
pub(crate) mod endpoint;
pub(crate) mod failure;
pub(crate) mod retry;

pub(crate) use client::Client;
pub(crate) use endpoint::Endpoint;

/// How long one attempt may take where the request does not say.
pub(crate) const DEFAULT_TIMEOUT_MS: u64 = 300_000;
/// How often a transient failure is tried again where the request does not say.
pub(crate) const DEFAULT_RETRIES: u32 = 2;
/// The largest body that is read.
pub(crate) const MAX_BODY: usize = 32 << 20;

/// One question to a server.
pub(crate) struct Post<'a> {
    pub(crate) endpoint: &'a Endpoint,
    /// The JSON document.
    pub(crate) body: Vec<u8>,
    pub(crate) timeout_ms: u64,
    pub(crate) retries: u32,
}

/// Asks, and asks again where that may help.
pub(crate) async fn post(
    client: &Client,
    turn: Turn<'_>,
    post: &Post<'_>,
    live: &dyn Fn(Delta<'_>),
) -> Outcome<serde_json::Value> {
    retry::with_retries(turn.scope, post.retries, live, async |_| attempt(client, post).await).await
}

async fn attempt(client: &Client, post: &Post<'_>) -> Result<serde_json::Value, ModelError> {
    let endpoint = post.endpoint;
    let failed = |error: reqwest::Error| failure::of_network(endpoint, &error, post.timeout_ms);
    let mut request = client
        .get(&endpoint.url)
        .map_err(|error| failure::of_client(endpoint, &error))?
        .post(endpoint.url.clone())
        .timeout(Duration::from_millis(post.timeout_ms))
        .header(CONTENT_TYPE, "application/json");
    for (name, value) in &endpoint.headers {
        request = request.header(*name, value.clone());
    }
    let mut response = request.body(post.body.clone()).send().await.map_err(failed)?;
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

fn read(endpoint: &Endpoint, headers: &HeaderMap, body: &[u8]) -> Result<serde_json::Value, ModelError> {
    match serde_json::from_slice(body) {
        Ok(value @ serde_json::Value::Object(_)) => Ok(value),
        Ok(other) => Err(failure::not_an_object(endpoint, &other)),
        Err(error) => Err(failure::not_json(endpoint, headers, body, &error)),
    }
}

#[cfg(test)]
mod tests;
