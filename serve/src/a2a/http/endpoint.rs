//! [`A2aEndpoint`]: the protocol on the port of another server, which has its own callers.

use std::sync::Arc;
use std::time::SystemTime;

use axum::body::Body;
use axum::extract::State;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Request, Response};
use bytes::Bytes;
use jsonrpc::Id;

use super::get_card::get_card;
use super::post::{content_type, receive, respond};
use super::refusal::{json, said};
use super::router::{A2aState, CARDS, RPC};
use crate::a2a::card::AgentCard;
use crate::a2a::error::RpcError;
use crate::a2a::rpc::{BadRequest, FrameCache, RpcRequest, StreamContext, refused};
use crate::a2a::tasks::TaskManager;
use crate::a2a::{CardUrl, extension};
use crate::count_limit::CountLimit;
use crate::http::RequestGuard;
use stdlib::Agent;

/// The protocol on the port of another server.
#[derive(Clone)]
pub(crate) struct A2aEndpoint(Arc<A2aState>);

impl A2aEndpoint {
    /// Creates the endpoint of a task manager. `about` describes the agent, `url` is the address for requests.
    pub(crate) fn new(manager: TaskManager, about: Agent, url: CardUrl, body: usize, streams: u32) -> A2aEndpoint {
        let card = AgentCard {
            about,
            url,
            has_token: true,
            reminders: extension::capability(),
            streams: true,
            has_rest: false,
            always_rfc: false,
            usual: None,
            since: SystemTime::now(),
        };
        // The other server has checked the host, the origin and the secret.
        let (guard, token) = (RequestGuard::default(), None);
        let streams = StreamContext { permits: CountLimit::new(streams), written: FrameCache::default() };
        A2aEndpoint(Arc::new(A2aState { manager, card, guard, token, body, streams }))
    }

    /// Returns the task manager.
    pub(crate) fn manager(&self) -> &TaskManager {
        &self.0.manager
    }

    /// Returns whether a path is that of the card, which everybody may read.
    pub(crate) fn is_card(path: &str) -> bool {
        CARDS.contains(&path)
    }

    /// Returns whether a path is one for requests.
    pub(crate) fn is_request(path: &str) -> bool {
        RPC.contains(&path)
    }

    /// Responds with the card.
    pub(crate) async fn card(&self, request: Request<Body>) -> Response<Body> {
        get_card(State(self.0.clone()), request).await
    }

    /// Reads the body of a request.
    ///
    /// # Errors
    /// The response to a request without a JSON body that can be read.
    pub(crate) async fn receive(&self, headers: &HeaderMap, body: Body) -> Result<Bytes, Box<Response<Body>>> {
        let version = said(headers, None).nearest();
        let is_json = content_type(headers.get(axum::http::header::CONTENT_TYPE));
        receive(headers, body, version, self.0.body, is_json).await
    }

    /// Executes a request with a task manager, that of the endpoint as its caller sees it.
    pub(crate) async fn respond(
        &self,
        manager: &TaskManager,
        head: &Parts,
        request: Result<RpcRequest, Box<BadRequest>>,
    ) -> Response<Body> {
        respond(manager, &self.0.streams, head, request).await
    }

    /// Returns the response to a refused request.
    pub(crate) fn refuse(head: &Parts, id: Option<Id>, fault: &RpcError) -> Response<Body> {
        let version = said(&head.headers, head.uri.query()).nearest();
        json(axum::http::StatusCode::OK, refused(&id.unwrap_or_else(Id::null), fault, version))
    }
}
