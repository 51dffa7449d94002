//! Which path is whose.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, Method, Response, StatusCode, header};
use axum::middleware::{self, Next};
use axum::routing::{get, post};
use runtime::words::nearest;

use super::get_card::get_card;
use super::guard::Guard;
use super::post::post as take;
use super::refusal::{refusal, said, with};
use crate::a2a::card::Card;
use crate::a2a::desk::Desk;
use crate::a2a::error::{Fault, code, shortened};
use crate::a2a::rpc::Streams;
use crate::a2a::token::Token;

/// Where requests go.
const RPC: [&str; 2] = ["/", "/a2a"];

/// Where the card is: by its name and by the one that it had before; some clients look below the path that they were given.
const CARDS: [&str; 4] = [
    "/.well-known/agent-card.json",
    "/.well-known/agent.json",
    "/a2a/.well-known/agent-card.json",
    "/a2a/.well-known/agent.json",
];

/// What all requests need.
#[derive(Clone)]
pub(in crate::a2a) struct Front {
    pub(in crate::a2a) desk: Desk,
    pub(in crate::a2a) card: Arc<Card>,
    pub(in crate::a2a) guard: Arc<Guard>,
    pub(in crate::a2a) token: Option<Token>,
    /// The largest body, in bytes.
    pub(in crate::a2a) body: usize,
    pub(in crate::a2a) streams: Streams,
}

/// Which path is whose.
pub(in crate::a2a) fn router(front: Front) -> Router {
    let mut router = Router::new();
    for path in RPC {
        router = router.route(path, post(take).fallback(only_post));
    }
    for path in CARDS {
        router = router.route(path, get(get_card).fallback(only_get));
    }
    let guarded = middleware::from_fn_with_state(front.guard.clone(), guarded);
    router.fallback(nowhere).layer(guarded).with_state(front)
}

/// Lets in whom the guard lets in, and tells browsers which pages these are.
async fn guarded(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response<Body> {
    let named = match guard.admit(request.uri(), request.headers()) {
        Ok(named) => named,
        Err(fault) => {
            let version = said(request.headers(), request.uri().query()).nearest();
            return refusal(StatusCode::FORBIDDEN, &fault, version);
        }
    };
    let Some(origin) = named else { return next.run(request).await };
    let mut response = if request.method() == Method::OPTIONS { preflight() } else { next.run(request).await };
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.append(header::VARY, HeaderValue::from_static("Origin"));
    let shown = HeaderValue::from_static("A2A-Extensions, ETag, WWW-Authenticate");
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, shown);
    response
}

/// What a browser asks before it sends a request for a page.
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
        "`{}` is not taken here: requests of JSON-RPC come by POST; the agent card is at `{}`",
        shortened(request.method().as_str()),
        CARDS[0]
    );
    with(not_there(&request, StatusCode::METHOD_NOT_ALLOWED, message, "method_not_allowed"), header::ALLOW, "POST")
}

async fn only_get(request: Request) -> Response<Body> {
    let message = format!(
        "`{}` is not taken here: the agent card is read by GET; requests go to `{}`",
        shortened(request.method().as_str()),
        RPC[0]
    );
    with(not_there(&request, StatusCode::METHOD_NOT_ALLOWED, message, "method_not_allowed"), header::ALLOW, "GET, HEAD")
}

async fn nowhere(request: Request) -> Response<Body> {
    let path = request.uri().path();
    let mut message = format!(
        "there is nothing at `{}`: requests go to `{}`, the agent card is at `{}`",
        shortened(path),
        RPC[0],
        CARDS[0]
    );
    if let Some(near) = nearest(path, CARDS) {
        message.push_str(&format!("; did you mean `{near}`?"));
    }
    not_there(&request, StatusCode::NOT_FOUND, message, "path_not_found")
}

fn not_there(request: &Request, status: StatusCode, message: String, reason: &'static str) -> Response<Body> {
    let fault = Fault::new(code::REQUEST, "HARN-A2A-014", message).reason(reason);
    refusal(status, &fault, said(request.headers(), request.uri().query()).nearest())
}
