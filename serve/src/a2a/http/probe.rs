//! The endpoints for operators: health, readiness and metrics. Refusals are JSON-RPC errors.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, Response};

use super::post::{denied, with_challenge};
use super::refusal::refusal;
use super::router::A2aState;
use crate::metrics::Exposition;
use crate::probe::{self, Probed};

/// Responds that the server is alive.
pub(super) async fn healthz() -> Response<Body> {
    probe::health()
}

/// Responds whether a new task would be accepted now.
pub(super) async fn readyz(State(state): State<Arc<A2aState>>) -> Response<Body> {
    probe::readiness(&*state)
}

/// Responds with the metrics. Requires the token, if there is one: metrics show the load of the agent.
pub(super) async fn metrics(State(state): State<Arc<A2aState>>, headers: HeaderMap) -> Response<Body> {
    if let Some(token) = &state.token
        && let Err(why) = token.admit(&headers)
    {
        let (status, fault) = denied(why);
        return with_challenge(refusal(status, &fault, a2a::Version::V1_0), &headers);
    }
    probe::metrics(&*state)
}

impl Probed for A2aState {
    fn readiness(&self) -> Result<(), &'static str> {
        self.manager.load().readiness()?;
        self.manager.writes().map_err(|_| "the event log cannot be written")
    }

    fn expose(&self, to: &mut Exposition) {
        self.manager.expose(to);
        let permits = &self.streams.permits;
        to.value("harn_a2a_streams_open", "gauge", "Open streams.", permits.taken());
        to.value("harn_a2a_streams_open_limit", "gauge", "Maximum number of open streams.", permits.most());
    }
}

#[cfg(test)]
mod tests {
    /// Returns the responses of a server with a token to these requests, each on its own connection.
    fn answers(requests: &'static [&'static str]) -> Vec<String> {
        use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

        let settings = crate::a2a::A2aSettings {
            listen: "127.0.0.1:0".parse().unwrap(),
            token: Some(crate::http::Token::new("a-token-that-is-hard-to-guess").unwrap()),
            bounds: crate::a2a::A2aLimits::default(),
            mode: None,
            agent: stdlib::Agent::default(),
            origins: Vec::new(),
            rfc_card: false,
            strict_card: false,
            drain: std::time::Duration::ZERO,
        };
        let served = crate::host::testing::served("test.harn", "pipeline default(task) { return task }", 1, None);
        let (url, read) = (std::cell::OnceCell::new(), std::cell::RefCell::new(Vec::new()));
        let ended = crate::a2a::serve(served, settings, &|listening| url.set(listening.url.clone()).unwrap(), &|| {
            Box::pin(async {
                let address = url.get().unwrap().trim_start_matches("http://").trim_end_matches('/');
                for request in requests {
                    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
                    let request = format!("{request}\r\nHost: localhost\r\nConnection: close\r\n\r\n");
                    stream.write_all(request.as_bytes()).await.unwrap();
                    let mut text = String::new();
                    stream.read_to_string(&mut text).await.unwrap();
                    read.borrow_mut().push(text);
                }
                7
            })
        });
        assert_eq!(ended.unwrap_or_else(|found| panic!("{found:?}")), 7);
        read.into_inner()
    }

    #[test]
    fn health_needs_no_token_and_metrics_do() {
        let answers = answers(&[
            "GET /healthz HTTP/1.1",
            "GET /readyz HTTP/1.1",
            "GET /metrics HTTP/1.1",
            "GET /metrics HTTP/1.1\r\nAuthorization: Bearer a-token-that-is-hard-to-guess",
            "POST /metrics HTTP/1.1",
        ]);
        let starts_and_ends = [
            ("HTTP/1.1 200 ", "\r\n\r\nok\n"),
            ("HTTP/1.1 200 ", "\r\n\r\nready\n"),
            ("HTTP/1.1 401 ", "}"),
            ("HTTP/1.1 200 ", "\nharn_a2a_streams_open_limit 2048\n"),
            ("HTTP/1.1 405 ", "}"),
        ];
        assert_eq!(answers.len(), starts_and_ends.len());
        for (answer, (start, end)) in answers.iter().zip(starts_and_ends) {
            assert!(answer.starts_with(start) && answer.ends_with(end), "{answer}");
        }
        assert!(answers[2].contains("www-authenticate: Bearer"), "{}", answers[2]);
        assert!(answers[3].contains("content-type: text/plain; version=0.0.4"), "{}", answers[3]);
    }
}
