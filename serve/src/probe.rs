//! The endpoints for operators: `/healthz`, `/readyz` and `/metrics`. A protocol with a port of its own serves them
//! there; `harn serve acp` opens a port for them.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header};
use base::failures;
use hyper::body::Incoming;

use crate::http::{FullBody, HttpListener, ListenError, RequestGuard, Token, bind, challenge, is_local};
use crate::metrics::Exposition;

/// The path of the health check.
pub(crate) const HEALTH: &str = "/healthz";
/// The path that reports whether new work would be accepted.
pub(crate) const READY: &str = "/readyz";
/// The path of the metrics.
pub(crate) const METRICS: &str = "/metrics";

/// The maximum number of connections if nothing else is served.
const CONNECTIONS: u32 = 32;

/// A server that can be probed.
pub(crate) trait Probed: Send + Sync {
    /// Returns whether new work would be accepted now; the error says why not.
    fn readiness(&self) -> Result<(), &'static str>;
    /// Writes the server's metrics.
    fn expose(&self, to: &mut Exposition);
}

/// Returns the response of the health check.
pub(crate) fn health() -> Response<Body> {
    plain(StatusCode::OK, "ok\n")
}

/// Returns whether new work would be accepted now, as a response.
pub(crate) fn readiness(probed: &dyn Probed) -> Response<Body> {
    match probed.readiness() {
        Ok(()) => plain(StatusCode::OK, "ready\n"),
        Err(why) => plain(StatusCode::SERVICE_UNAVAILABLE, format!("{why}\n")),
    }
}

/// Returns the metrics as a response.
pub(crate) fn metrics(probed: &dyn Probed) -> Response<Body> {
    let mut text = Exposition::default();
    let help = "Failed operations of the server itself.";
    text.labelled("harn_failures_total", "counter", help, "operation", failures::counts());
    probed.expose(&mut text);
    let mut response = plain(StatusCode::OK, text.into_text());
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(Exposition::MEDIA_TYPE));
    response
}

/// Returns a response with text that is not cached.
pub(crate) fn plain(status: StatusCode, text: impl Into<Body>) -> Response<Body> {
    let mut response = Response::new(text.into());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// A port that serves only these endpoints.
pub(crate) struct Probe {
    listener: HttpListener,
    /// The address that it listens on.
    pub(crate) address: SocketAddr,
    state: Arc<ProbeState>,
}

struct ProbeState {
    probed: Arc<dyn Probed>,
    guard: RequestGuard,
    token: Option<Token>,
}

impl Probe {
    /// Listens at an address.
    ///
    /// # Errors
    /// The address is public and there is no token, or it is not free.
    pub(crate) fn open(
        address: SocketAddr,
        token: Option<Token>,
        probed: Arc<dyn Probed>,
    ) -> Result<Probe, ListenError> {
        let (listener, bound) = bind(address, token.is_some())?;
        let guard = RequestGuard { is_local: is_local(&address), ..RequestGuard::default() };
        let state = Arc::new(ProbeState { probed, guard, token });
        Ok(Probe { listener: HttpListener::new(listener, CONNECTIONS, full), address: bound, state })
    }

    /// Serves requests, forever.
    pub(crate) async fn answer_all(&self) -> Infallible {
        let state = self.state.clone();
        self.listener.take_all(move |request| answer(state.clone(), request)).await
    }
}

fn full(most: usize) -> FullBody {
    let text = format!("too many connections: {most} are open, which is the limit; try again later\n");
    FullBody { media_type: "text/plain; charset=utf-8", text }
}

async fn answer(state: Arc<ProbeState>, request: hyper::Request<Incoming>) -> Result<Response<Body>, Infallible> {
    Ok(state.answer(&request))
}

impl ProbeState {
    fn answer<B>(&self, request: &hyper::Request<B>) -> Response<Body> {
        if let Err(error) = self.guard.admit(request.version(), request.uri(), request.headers()) {
            return plain(
                error.status(),
                "this server accepts only requests from its own machine that use one of its names \
                and do not come from a web page\n",
            );
        }
        let path = request.uri().path();
        if ![HEALTH, READY, METRICS].contains(&path) {
            return plain(StatusCode::NOT_FOUND, format!("unknown path; use {HEALTH}, {READY} or {METRICS}\n"));
        }
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, "method not allowed: use GET\n");
            response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
            return response;
        }
        match path {
            HEALTH => health(),
            READY => readiness(&*self.probed),
            _ if self.knows(request.headers()) => metrics(&*self.probed),
            _ => {
                let mut response =
                    plain(StatusCode::UNAUTHORIZED, "missing or invalid token: send `Authorization: Bearer TOKEN`\n");
                response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge(request.headers()));
                response
            }
        }
    }

    fn knows(&self, headers: &HeaderMap) -> bool {
        self.token.as_ref().is_none_or(|token| token.admit(headers).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct DrainingServer;

    impl Probed for DrainingServer {
        fn readiness(&self) -> Result<(), &'static str> {
            Err("draining")
        }

        fn expose(&self, to: &mut Exposition) {
            to.value("harn_test", "gauge", "A test.", 7);
        }
    }

    fn status(token: Option<&str>, method: &str, path: &str, headers: &[(&str, &str)]) -> u16 {
        let guard = RequestGuard { is_local: true, ..RequestGuard::default() };
        let state = ProbeState {
            probed: Arc::new(DrainingServer),
            guard,
            token: token.map(|token| Token::new(token).unwrap()),
        };
        let mut request = hyper::Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        state.answer(&request.body(()).unwrap()).status().as_u16()
    }

    #[test]
    fn a_probe_answers_its_paths_to_its_own_machine() {
        let host = ("Host", "localhost");
        for (method, path, expected) in [
            ("GET", HEALTH, 200),
            ("HEAD", HEALTH, 200),
            ("GET", READY, 503),
            ("GET", METRICS, 200),
            ("POST", METRICS, 405),
            ("GET", "/", 404),
        ] {
            assert_eq!(status(None, method, path, &[host]), expected, "{method} {path}");
        }
        assert_eq!(status(None, "GET", HEALTH, &[("Host", "evil.example")]), 403);
        assert_eq!(status(None, "GET", HEALTH, &[]), 400);
        assert_eq!(status(None, "GET", METRICS, &[host, ("Origin", "https://evil.example")]), 403);
        assert_eq!(status(Some("secret"), "GET", METRICS, &[host]), 401);
        assert_eq!(status(Some("secret"), "GET", READY, &[host]), 503);
        assert_eq!(status(Some("secret"), "GET", METRICS, &[host, ("Authorization", "Bearer secret")]), 200);
    }
}
