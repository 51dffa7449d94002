//! [`A2aService`]: what the protocol does with admitted requests.

use std::time::SystemTime;

use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{Response, StatusCode};
use jsonrpc::Id;
use stdlib::Agent;

use super::refusal::said;
use crate::a2a::card::AgentCard;
use crate::a2a::error::RpcError;
use crate::a2a::extension::RequestedExtension;
use crate::a2a::rpc::{
    BadRequest, CallResult, FrameCache, RequestSender, RpcRequest, StreamContext, TaskEventStream, call, refused,
};
use crate::a2a::tasks::TaskManager;
use crate::a2a::{CardUrl, extension};
use crate::count_limit::CountLimit;
use crate::http::response::{empty, event_stream, events, json};

/// The paths for requests.
pub(crate) const RPC: [&str; 2] = ["/", "/a2a"];

/// The paths of the card: its current name and its former one. Some clients look below the path that they were given.
pub(crate) const CARDS: [&str; 4] = [
    "/.well-known/agent-card.json",
    "/.well-known/agent.json",
    "/a2a/.well-known/agent-card.json",
    "/a2a/.well-known/agent.json",
];

/// The agent of a script.
pub(crate) struct A2aService {
    pub(crate) manager: TaskManager,
    pub(crate) card: AgentCard,
    pub(crate) streams: StreamContext,
}

impl A2aService {
    /// Creates the agent on the port of another server, which has its own callers.
    pub(crate) fn shared(manager: TaskManager, about: Agent, url: CardUrl, streams: u32) -> A2aService {
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
        let streams = StreamContext { permits: CountLimit::new(streams), written: FrameCache::default() };
        A2aService { manager, card, streams }
    }

    /// Executes a request with a task manager, that of the service as its caller sees it.
    pub(crate) async fn respond(
        &self,
        manager: &TaskManager,
        head: &Parts,
        request: Result<RpcRequest, Box<BadRequest>>,
    ) -> Response<Body> {
        let said = said(&head.headers, head.uri.query());
        let version = said.nearest();
        let asked = RequestedExtension::of(&head.headers);
        let reply = match request {
            Ok(request) => {
                let caller = RequestSender { said, asked };
                call(manager, &self.streams, request, caller).await
            }
            Err(bad) => CallResult::Text(refused(&bad.id, &bad.fault, version)),
        };
        let mut response = match reply {
            CallResult::Text(text) => json(StatusCode::OK, text),
            CallResult::Stream(frames) => stream_response(frames),
            CallResult::Event(text) => events(text),
            CallResult::Nothing => empty(StatusCode::NO_CONTENT),
        };
        asked.confirm(response.headers_mut());
        response
    }

    /// Returns the response to a request that is executed by nothing.
    pub(crate) fn refuse(head: &Parts, id: Option<Id>, fault: &RpcError) -> Response<Body> {
        let version = said(&head.headers, head.uri.query()).nearest();
        json(StatusCode::OK, refused(&id.unwrap_or_else(Id::null), fault, version))
    }
}

/// Returns a stream as a response. If the client disconnects, the body is dropped, and with it the stream's place.
pub(crate) fn stream_response(frames: Box<TaskEventStream>) -> Response<Body> {
    event_stream(frames, async |mut frames| {
        let events = frames.next().await?;
        Some((events, frames))
    })
}
