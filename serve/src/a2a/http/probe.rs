//! What operators and their machines ask: `/healthz`, `/readyz`, `/metrics`.

use std::fmt::Write as _;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode, header};

use super::post::{denied, with_challenge};
use super::refusal::{refusal, with};
use super::router::Front;
use crate::a2a::desk::Load;

/// The path that says whether the server answers.
pub(super) const HEALTH: &str = "/healthz";
/// The path that says whether a new task would be accepted.
pub(super) const READY: &str = "/readyz";
/// The path of the metrics.
pub(super) const METRICS: &str = "/metrics";

/// Answers that the server answers.
pub(super) async fn healthz() -> Response<Body> {
    plain(StatusCode::OK, "ok\n".to_owned())
}

/// Answers whether a new task would be accepted now.
pub(super) async fn readyz(State(front): State<Arc<Front>>) -> Response<Body> {
    let (status, text) = readiness(&front.desk.load());
    plain(status, format!("{text}\n"))
}

/// Answers with the metrics, to callers that know the token if there is one: they show how busy the agent is.
pub(super) async fn metrics(State(front): State<Arc<Front>>, headers: HeaderMap) -> Response<Body> {
    if let Some(token) = &front.token
        && let Err(why) = token.admit(&headers)
    {
        let (status, fault) = denied(why);
        return with_challenge(refusal(status, &fault, a2a::Version::V1_0), &headers);
    }
    let response = plain(StatusCode::OK, exposition(&front.desk.load()));
    with(response, header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")
}

fn readiness(load: &Load) -> (StatusCode, &'static str) {
    if load.is_stopping {
        (StatusCode::SERVICE_UNAVAILABLE, "stopping")
    } else if load.open >= load.most {
        (StatusCode::SERVICE_UNAVAILABLE, "task limit reached")
    } else {
        (StatusCode::OK, "ready")
    }
}

/// Writes the metrics in Prometheus' text format. None has labels, so their number is fixed.
fn exposition(load: &Load) -> String {
    let rows = [
        (
            "harn_a2a_tasks_started_total",
            "counter",
            "Tasks started, including those resumed from the log.",
            load.started,
        ),
        ("harn_a2a_tasks_open", "gauge", "Tasks that are not over.", load.open as u64),
        ("harn_a2a_tasks_open_limit", "gauge", "Limit of tasks that are not over.", load.most as u64),
    ];
    let mut text = String::new();
    for (name, kind, help, value) in rows {
        let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}\n");
    }
    text
}

fn plain(status: StatusCode, text: String) -> Response<Body> {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_ready_while_a_task_fits_and_it_is_not_stopping() {
        let load = |open, is_stopping| Load { open, most: 2, started: 9, is_stopping };
        assert_eq!(readiness(&load(1, false)), (StatusCode::OK, "ready"));
        assert_eq!(readiness(&load(2, false)), (StatusCode::SERVICE_UNAVAILABLE, "task limit reached"));
        assert_eq!(readiness(&load(0, true)), (StatusCode::SERVICE_UNAVAILABLE, "stopping"));
    }

    #[test]
    fn each_metric_has_its_help_its_type_and_its_value() {
        let text = exposition(&Load { open: 3, most: 1000, started: 12, is_stopping: false });
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 9, "{text}");
        assert_eq!(lines[1..3], ["# TYPE harn_a2a_tasks_started_total counter", "harn_a2a_tasks_started_total 12"]);
        assert_eq!(lines[4..6], ["# TYPE harn_a2a_tasks_open gauge", "harn_a2a_tasks_open 3"]);
        assert_eq!(lines[8], "harn_a2a_tasks_open_limit 1000");
        assert!(text.ends_with('\n'));
    }

    /// What a server with a token answers to these requests, each on a connection of its own.
    fn answers(requests: &'static [&'static str]) -> Vec<String> {
        use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

        let settings = crate::a2a::Settings {
            listen: "127.0.0.1:0".parse().unwrap(),
            token: Some(crate::a2a::Token::new("a-token-that-is-hard-to-guess").unwrap()),
            bounds: crate::a2a::Bounds::default(),
            mode: None,
            agent: stdlib::Agent::default(),
            origins: Vec::new(),
            rfc_card: false,
            strict_card: false,
        };
        let served = crate::host::testing::served("test.harn", "pipeline default(task) { return task }", 1, None);
        let (url, read) = (std::cell::OnceCell::new(), std::cell::RefCell::new(Vec::new()));
        let ended = crate::a2a::serve(
            served,
            settings,
            |listening| url.set(listening.url.clone()).unwrap(),
            async || {
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
            },
        );
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
            ("HTTP/1.1 200 ", "\nharn_a2a_tasks_open_limit 1000\n"),
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
