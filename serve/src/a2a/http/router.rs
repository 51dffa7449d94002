//! Maps paths to handlers.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, Method, Response, StatusCode, header};
use axum::routing::{get, post};
use base::words::nearest;
use hyper::body::Incoming;
use hyper::service::Service as _;
use hyper_util::service::TowerToHyperService;

use super::get_card::get_card;
use super::post::post as take;
use super::probe::{healthz, metrics, readyz};
use super::refusal::{not_allowed, refusal, said, with};
use crate::a2a::A2aCode;
use crate::a2a::card::AgentCard;
use crate::a2a::error::{RpcError, code, shortened};
use crate::a2a::rpc::StreamContext;
use crate::a2a::tasks::TaskManager;
use crate::http::{RequestGuard, Token};
use crate::probe::{HEALTH, METRICS, READY};

/// The paths for requests.
pub(super) const RPC: [&str; 2] = ["/", "/a2a"];

/// The paths of the card: its current name and its former one. Some clients look below the path that they were given.
pub(super) const CARDS: [&str; 4] = [
    "/.well-known/agent-card.json",
    "/.well-known/agent.json",
    "/a2a/.well-known/agent-card.json",
    "/a2a/.well-known/agent.json",
];

/// The state shared by all requests.
pub(in crate::a2a) struct A2aState {
    pub(in crate::a2a) manager: TaskManager,
    pub(in crate::a2a) card: AgentCard,
    pub(in crate::a2a) guard: RequestGuard,
    pub(in crate::a2a) token: Option<Token>,
    /// The maximum size of a body in bytes.
    pub(in crate::a2a) body: usize,
    pub(in crate::a2a) streams: StreamContext,
}

/// Answers requests. Clones share their state.
#[derive(Clone)]
pub(in crate::a2a) struct RequestService {
    state: Arc<A2aState>,
    router: TowerToHyperService<Router>,
}

impl RequestService {
    /// Creates the answerer for a server.
    pub(in crate::a2a) fn new(state: A2aState) -> RequestService {
        let state = Arc::new(state);
        let mut router = Router::new();
        for path in RPC {
            router = router.route(path, post(take).fallback(only_post));
        }
        for path in CARDS {
            router = router.route(path, get(get_card).fallback(only_get));
        }
        router = router.route(HEALTH, get(healthz).fallback(only_read));
        router = router.route(READY, get(readyz).fallback(only_read));
        router = router.route(METRICS, get(metrics).fallback(only_read));
        let router = router.fallback(nowhere).with_state(state.clone());
        RequestService { state, router: TowerToHyperService::new(router) }
    }

    /// Responds to a request that the guard allows, and tells browsers which origins are allowed. It runs before the
    /// router and not as a layer of it: a layer costs each request two heap-allocated futures.
    pub(in crate::a2a) async fn answer(self, request: hyper::Request<Incoming>) -> Result<Response<Body>, Infallible> {
        let named = match self.state.guard.admit(request.version(), request.uri(), request.headers()) {
            Ok(named) => named,
            Err(error) => {
                let version = said(request.headers(), request.uri().query()).nearest();
                return Ok(refusal(error.status(), &not_allowed(&error), version));
            }
        };
        let Some(origin) = named else { return self.router.call(request).await };
        let asks_for_leave = request.method() == Method::OPTIONS;
        let mut response = if asks_for_leave { preflight() } else { self.router.call(request).await? };
        let headers = response.headers_mut();
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.append(header::VARY, HeaderValue::from_static("Origin"));
        let shown = HeaderValue::from_static("A2A-Extensions, ETag, WWW-Authenticate");
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, shown);
        Ok(response)
    }
}

/// Returns the response to a preflight request of a browser.
fn preflight() -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let may: [(HeaderName, &str); 3] = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, HEAD, POST"),
        (
            header::ACCESS_CONTROL_ALLOW_HEADERS,
            "Authorization, Content-Type, A2A-Version, A2A-Extensions, X-A2A-Extensions",
        ),
        (header::ACCESS_CONTROL_MAX_AGE, "600"),
    ];
    may.into_iter().fold(response, |response, (name, value)| with(response, name, value))
}

async fn only_post(request: Request) -> Response<Body> {
    let message = format!(
        "method `{}` not allowed: send JSON-RPC requests with POST; the agent card is at `{}`",
        shortened(request.method().as_str()),
        CARDS[0]
    );
    with(not_there(&request, StatusCode::METHOD_NOT_ALLOWED, message, "method_not_allowed"), header::ALLOW, "POST")
}

async fn only_get(request: Request) -> Response<Body> {
    let message = format!(
        "method `{}` not allowed: read the agent card with GET; send requests to `{}`",
        shortened(request.method().as_str()),
        RPC[0]
    );
    with(not_there(&request, StatusCode::METHOD_NOT_ALLOWED, message, "method_not_allowed"), header::ALLOW, "GET, HEAD")
}

async fn only_read(request: Request) -> Response<Body> {
    let message = format!("method `{}` not allowed: use GET", shortened(request.method().as_str()));
    with(not_there(&request, StatusCode::METHOD_NOT_ALLOWED, message, "method_not_allowed"), header::ALLOW, "GET, HEAD")
}

async fn nowhere(request: Request) -> Response<Body> {
    let path = request.uri().path();
    let mut message =
        format!("`{}` not found: send requests to `{}`; the agent card is at `{}`", shortened(path), RPC[0], CARDS[0]);
    if let Some(near) = nearest(path, CARDS) {
        message.push_str(&format!("; did you mean `{near}`?"));
    }
    not_there(&request, StatusCode::NOT_FOUND, message, "path_not_found")
}

fn not_there(request: &Request, status: StatusCode, message: String, reason: &'static str) -> Response<Body> {
    let fault = RpcError::new(code::REQUEST, A2aCode::NotFound, message).reason(reason);
    refusal(status, &fault, said(request.headers(), request.uri().query()).nearest())
}
