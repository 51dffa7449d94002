//! The endpoints for operators: `/healthz`, `/readyz` and `/metrics`. A protocol with a port of its own serves them
//! there; `harn serve acp` opens a port for them.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{HeaderValue, Response, StatusCode, header};
use base::failures;

use crate::http::response::plain;
use crate::http::{
    HttpPort, HttpProtocol, HttpRefusal, HttpRequest, HttpServer, ListenError, RefusalBody, RequestGuard, RequestLog,
    Route, Token, is_local,
};
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
pub(crate) fn metrics(probed: &dyn Probed, requests: &RequestLog) -> Response<Body> {
    let mut text = Exposition::default();
    let help = "Failed operations of the server itself.";
    text.labelled("harn_failures_total", "counter", help, "operation", failures::counts());
    requests.expose(&mut text);
    probed.expose(&mut text);
    let mut response = plain(StatusCode::OK, text.into_text());
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(Exposition::MEDIA_TYPE));
    response
}

/// A port that serves only these endpoints.
pub(crate) struct Probe {
    server: HttpServer<ProbeProtocol>,
    /// The address that it listens on.
    pub(crate) address: SocketAddr,
}

struct ProbeProtocol {
    probed: Arc<dyn Probed>,
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
        let port = HttpPort::open(address, token.is_some(), None)?;
        let guard = RequestGuard { is_local: is_local(&address), ..RequestGuard::default() };
        let address = port.address;
        let protocol = Arc::new(ProbeProtocol { probed, token });
        Ok(Probe { server: HttpServer::new(port, CONNECTIONS, guard, protocol), address })
    }

    /// Serves requests, forever.
    pub(crate) async fn answer_all(&self) -> Infallible {
        self.server.forever().await
    }
}

impl Probed for ProbeProtocol {
    fn readiness(&self) -> Result<(), &'static str> {
        self.probed.readiness()
    }

    fn expose(&self, to: &mut Exposition) {
        self.probed.expose(to);
    }
}

impl HttpProtocol for ProbeProtocol {
    type Caller = ();
    type Endpoint = Infallible;

    fn routes(&self) -> Vec<Route<Infallible>> {
        Vec::new()
    }

    fn max_body(&self) -> usize {
        0
    }

    async fn caller(&self, head: &Parts) -> Result<(), HttpRefusal> {
        self.token.as_ref().map_or(Ok(()), |token| Ok(token.admit(&head.headers)?))
    }

    fn refuse(&self, _head: Option<&Parts>, refusal: &HttpRefusal) -> RefusalBody {
        RefusalBody::plain(match refusal {
            HttpRefusal::Guard(_) => {
                "this server accepts only requests from its own machine that use one of its names \
                and do not come from a web page\n"
                    .to_owned()
            }
            HttpRefusal::NotFound => format!("unknown path; use {HEALTH}, {READY} or {METRICS}\n"),
            HttpRefusal::Method(_) => "method not allowed: use GET\n".to_owned(),
            HttpRefusal::Denied { .. } => "missing or invalid token: send `Authorization: Bearer TOKEN`\n".to_owned(),
            other => format!("{other}\n"),
        })
    }

    async fn answer(
        &self,
        endpoint: Infallible,
        _caller: Option<()>,
        _request: &mut HttpRequest,
    ) -> Result<Response<Body>, HttpRefusal> {
        match endpoint {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::HttpEdge;

    struct DrainingServer;

    impl Probed for DrainingServer {
        fn readiness(&self) -> Result<(), &'static str> {
            Err("draining")
        }

        fn expose(&self, to: &mut Exposition) {
            to.value("harn_test", "gauge", "A test.", 7);
        }
    }

    async fn status(token: Option<&str>, method: &str, path: &str, headers: &[(&str, &str)]) -> u16 {
        let guard = RequestGuard { is_local: true, ..RequestGuard::default() };
        let token = token.map(|token| Token::new(token).unwrap());
        let edge = HttpEdge::new(Arc::new(ProbeProtocol { probed: Arc::new(DrainingServer), token }), guard);
        let mut request = hyper::Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        edge.respond(request.body(Body::empty()).unwrap()).await.status().as_u16()
    }

    #[tokio::test]
    async fn a_probe_answers_its_paths_to_its_own_machine() {
        let host = ("Host", "localhost");
        for (method, path, expected) in [
            ("GET", HEALTH, 200),
            ("HEAD", HEALTH, 200),
            ("GET", READY, 503),
            ("GET", METRICS, 200),
            ("POST", METRICS, 405),
            ("GET", "/", 404),
        ] {
            assert_eq!(status(None, method, path, &[host]).await, expected, "{method} {path}");
        }
        assert_eq!(status(None, "GET", HEALTH, &[("Host", "evil.example")]).await, 403);
        assert_eq!(status(None, "GET", HEALTH, &[]).await, 400);
        assert_eq!(status(None, "GET", METRICS, &[host, ("Origin", "https://evil.example")]).await, 403);
        assert_eq!(status(Some("secret"), "GET", METRICS, &[host]).await, 401);
        assert_eq!(status(Some("secret"), "GET", READY, &[host]).await, 503);
        assert_eq!(status(Some("secret"), "GET", METRICS, &[host, ("Authorization", "Bearer secret")]).await, 200);
    }
}
