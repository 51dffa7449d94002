//! The HTTP port: the hub as an agent of the Agent2Agent protocol, health and metrics.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use a2a::Version;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header};
use hub::Hub;
use hyper::body::Incoming;

use super::rpc::call;
use super::tokens::AgentTokens;
use super::{card, metrics};
use crate::a2a::{
    HttpError, RequestedVersion, content_type, denied, json, not_allowed, read, receive, refusal, refused, said,
    with_challenge,
};
use crate::http::{FullBody, RequestGuard};
use crate::metrics::Exposition;
use crate::probe::{self, HEALTH, METRICS, Probed, READY, plain};

/// The path for JSON-RPC requests.
const RPC: &str = "/";

/// The paths of the card: its current name and its former one.
const CARDS: [&str; 2] = ["/.well-known/agent-card.json", "/.well-known/agent.json"];

/// The state shared by all requests.
pub(super) struct HubHttp {
    pub(super) hub: Hub,
    pub(super) guard: RequestGuard,
    pub(super) tokens: Option<AgentTokens>,
    /// The URL for the card.
    pub(super) url: String,
    /// The maximum size of a body in bytes.
    pub(super) max_body: usize,
    pub(super) is_draining: Arc<AtomicBool>,
}

/// Returns the response of a server whose connections are all taken.
pub(super) fn full(most: usize) -> FullBody {
    let text = format!("too many connections: {most} are open, which is the limit; try again later\n");
    FullBody { media_type: "text/plain; charset=utf-8", text }
}

impl HubHttp {
    /// Responds to a request.
    pub(super) async fn answer(
        self: Arc<HubHttp>,
        request: hyper::Request<Incoming>,
    ) -> Result<Response<Body>, Infallible> {
        Ok(self.respond(request.map(Body::new)).await)
    }

    async fn respond(&self, request: Request<Body>) -> Response<Body> {
        let version = said(request.headers(), request.uri().query()).nearest();
        if let Err(error) = self.guard.admit(request.version(), request.uri(), request.headers()) {
            return refusal(error.status(), &not_allowed(&error), version);
        }
        let (path, method) = (request.uri().path(), request.method());
        let reads = matches!(*method, Method::GET | Method::HEAD);
        match path {
            HEALTH | READY | METRICS if !reads => not_allowed_method("GET, HEAD", "use GET"),
            HEALTH => probe::health(),
            READY => probe::readiness(self),
            METRICS => match self.agent(request.headers()) {
                Ok(_) => probe::metrics(self),
                Err((status, fault)) => with_challenge(refusal(status, &fault, Version::V1_0), request.headers()),
            },
            _ if CARDS.contains(&path) && reads => self.card(&request),
            _ if CARDS.contains(&path) => not_allowed_method("GET, HEAD", "read the agent card with GET"),
            RPC if *method == Method::POST => self.rpc(request).await,
            RPC => not_allowed_method("POST", "send JSON-RPC requests with POST"),
            _ => {
                let text = format!("unknown path; use {RPC}, {}, {HEALTH}, {READY} or {METRICS}\n", CARDS[0]);
                plain(StatusCode::NOT_FOUND, text)
            }
        }
    }

    /// Returns the agent of a request: that of its token, or `None` if the hub has no tokens.
    fn agent(&self, headers: &HeaderMap) -> Result<Option<String>, HttpError> {
        let Some(tokens) = &self.tokens else { return Ok(None) };
        tokens.agent(headers).map(|agent| Some(agent.to_owned())).map_err(denied)
    }

    fn card(&self, request: &Request<Body>) -> Response<Body> {
        let version = match said(request.headers(), request.uri().query()) {
            RequestedVersion::Known(version) => Some(version),
            RequestedVersion::Nothing | RequestedVersion::Unknown(_) => None,
        };
        let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
        let mut response =
            json(StatusCode::OK, card::of(&self.hub, &self.url, self.tokens.is_some()).text(version, false, host));
        // Agents come and go.
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        response
    }

    async fn rpc(&self, request: Request<Body>) -> Response<Body> {
        let (head, body) = request.into_parts();
        let said = said(&head.headers, head.uri.query());
        let agent = self.agent(&head.headers);
        let admitted = agent
            .as_ref()
            .map_err(Clone::clone)
            .map(|_| ())
            .and_then(|()| content_type(head.headers.get(header::CONTENT_TYPE)));
        let body = match receive(&head.headers, body, said.nearest(), self.max_body, admitted).await {
            Ok(body) => body,
            Err(refused) => return *refused,
        };
        let text = match read(&body) {
            Ok(request) => {
                let caller = agent.ok().flatten();
                match call(&self.hub, caller, &said, request).await {
                    Some(text) => text,
                    None => return plain(StatusCode::NO_CONTENT, ""),
                }
            }
            Err(bad) => refused(&bad.id, &bad.fault, said.nearest()),
        };
        json(StatusCode::OK, text)
    }
}

fn not_allowed_method(allowed: &'static str, help: &str) -> Response<Body> {
    let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, format!("method not allowed: {help}\n"));
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(allowed));
    response
}

impl Probed for HubHttp {
    fn readiness(&self) -> Result<(), &'static str> {
        if self.is_draining.load(Ordering::Relaxed) { Err("the hub is shutting down") } else { Ok(()) }
    }

    fn expose(&self, to: &mut Exposition) {
        metrics::expose(&self.hub.stats(), to);
    }
}
