//! The HTTP port: the hub as an agent of the Agent2Agent protocol, health and metrics.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use a2a::Version;
use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use base::data::Data;
use hub::Hub;
use hub::grpc::{RequestObserver, RequestSpan, trace};

use super::health::HealthCounts;
use super::rest::{self, RestError};
use super::rpc::{HubCaller, HubReply, call};
use super::tokens::AgentTokens;
use super::{card, metrics};
use crate::a2a::{
    A2aCode, A2aMethod, CallResult, RequestedVersion, RpcError, StreamContext, StreamEnvelope, code, fault_of, read,
    refusal_body, refused, said, stream_response,
};
use crate::http::response::{events, json, plain};
use crate::http::{HttpProtocol, HttpRefusal, HttpRequest, RefusalBody, Route, RouteMethods};
use crate::metrics::Exposition;
use crate::probe::{HEALTH, METRICS, Probed, READY};

/// The path for JSON-RPC requests.
const RPC: &str = "/";

/// The paths of the card: its current name and its former one.
const CARDS: [&str; 2] = ["/.well-known/agent-card.json", "/.well-known/agent.json"];

/// The hub over HTTP.
pub(super) struct HubHttp {
    pub(super) hub: Hub,
    pub(super) tokens: Option<AgentTokens>,
    /// The URL for the card.
    pub(super) url: String,
    /// The maximum size of a body in bytes.
    pub(super) max_body: usize,
    pub(super) is_draining: Arc<AtomicBool>,
    pub(super) streams: StreamContext,
    pub(super) health: Arc<HealthCounts>,
    /// Gets the answered requests.
    pub(super) observer: Option<RequestObserver>,
}

/// The target of a route.
#[derive(Debug, Clone, Copy)]
pub(super) enum HubEndpoint {
    Card,
    Rpc,
    Rest,
}

impl HttpProtocol for HubHttp {
    /// The agent of the token, or `None` if the hub has no tokens.
    type Caller = Option<String>;
    type Endpoint = HubEndpoint;

    fn routes(&self) -> Vec<Route<HubEndpoint>> {
        let mut routes = vec![Route::new(RPC, RouteMethods::Post, HubEndpoint::Rpc)];
        routes.extend(CARDS.map(|path| Route::public(path, RouteMethods::Read, HubEndpoint::Card)));
        // Their methods and versions are checked before callers are.
        routes.extend(rest::PATHS.map(|path| Route::public(path, RouteMethods::Any, HubEndpoint::Rest)));
        routes
    }

    fn max_body(&self) -> usize {
        self.max_body
    }

    async fn caller(&self, head: &Parts) -> Result<Option<String>, HttpRefusal> {
        let Some(tokens) = &self.tokens else { return Ok(None) };
        Ok(Some(tokens.agent(&head.headers)?.to_owned()))
    }

    fn refuse(&self, head: Option<&Parts>, refusal: &HttpRefusal) -> RefusalBody {
        let path = head.map_or("", |head| head.uri.path());
        let is_rest = rest::is_path(path);
        match refusal {
            HttpRefusal::Method(allowed) => RefusalBody::plain(match path {
                RPC => "method not allowed: send JSON-RPC requests with POST\n".to_owned(),
                _ if CARDS.contains(&path) => "method not allowed: read the agent card with GET\n".to_owned(),
                _ if is_rest => format!("method not allowed: use {allowed}\n"),
                _ => "method not allowed: use GET\n".to_owned(),
            }),
            HttpRefusal::NotFound => {
                RefusalBody::plain(format!("unknown path; use {RPC}, {}, {HEALTH}, {READY} or {METRICS}\n", CARDS[0]))
            }
            HttpRefusal::Full(_) => RefusalBody::plain(format!("{refusal}\n")),
            HttpRefusal::Body(..) if is_rest => RefusalBody::json(rest::unread(refusal.status(), &fault_of(refusal))),
            HttpRefusal::Denied { .. } | HttpRefusal::MediaType(_) if is_rest => {
                RefusalBody::json(rest::refused(&fault_of(refusal)).1)
            }
            refusal => refusal_body(head, &fault_of(refusal)),
        }
    }

    async fn answer(
        &self,
        endpoint: HubEndpoint,
        agent: Option<Option<String>>,
        request: &mut HttpRequest,
    ) -> Result<Response<Body>, HttpRefusal> {
        match (endpoint, agent) {
            (HubEndpoint::Card, _) => Ok(self.card(&request.head)),
            (HubEndpoint::Rpc, Some(agent)) => self.rpc(agent, request).await,
            (HubEndpoint::Rpc, None) => {
                let agent = self.caller(&request.head).await?;
                self.rpc(agent, request).await
            }
            (HubEndpoint::Rest, _) => self.rest(request).await,
        }
    }
}

impl HubHttp {
    fn card(&self, head: &Parts) -> Response<Body> {
        let version = match said(&head.headers, head.uri.query()) {
            RequestedVersion::Known(version) => Some(version),
            RequestedVersion::Nothing | RequestedVersion::Unknown(_) => None,
        };
        let host = head.headers.get(header::HOST).and_then(|host| host.to_str().ok());
        let mut response =
            json(StatusCode::OK, card::of(&self.hub, &self.url, self.tokens.is_some()).text(version, false, host));
        // Agents come and go.
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        response
    }

    async fn rpc(&self, agent: Option<String>, request: &mut HttpRequest) -> Result<Response<Body>, HttpRefusal> {
        let span = self.span(&mut request.head);
        let body = request.json().await?;
        let head = &request.head;
        let said = said(&head.headers, head.uri.query());
        let request = match read(&body) {
            Ok(request) => request,
            Err(bad) => return Ok(json(StatusCode::OK, refused(&bad.id, &bad.fault, said.nearest()))),
        };
        let method = request.method.clone();
        let caller = self.requests_of(agent, &head.headers, said.nearest());
        let reply = call(caller, &said, request).await;
        if span.is_some() {
            let error = match &reply {
                CallResult::Text(text) => error_code(text),
                CallResult::Event(event) => error_code(event.trim_start_matches("data: ")),
                _ => None,
            };
            self.observed(span, &method, error);
        }
        Ok(match reply {
            CallResult::Text(text) => json(StatusCode::OK, text),
            CallResult::Stream(frames) => stream_response(frames),
            CallResult::Event(text) => events(text),
            CallResult::Nothing => plain(StatusCode::NO_CONTENT, ""),
        })
    }

    /// Begins the span of a request, if there is an observer.
    fn span(&self, head: &mut Parts) -> Option<RequestSpan> {
        self.observer.as_ref().map(|_| RequestSpan::begin("", false, &mut head.headers))
    }

    /// Reports an answered request.
    fn observed(&self, span: Option<RequestSpan>, method: &str, error: Option<String>) {
        if let (Some(observer), Some(span)) = (&self.observer, span) {
            // Names of unknown methods come from clients.
            let known = if A2aMethod::of(method).is_ok() { method } else { "unknown" };
            observer(span.named(known).end(error));
        }
    }

    fn requests_of(&self, agent: Option<String>, headers: &HeaderMap, version: Version) -> HubCaller<'_> {
        HubCaller { hub: &self.hub, agent, trace: trace(headers), streams: &self.streams, version, waits: true }
    }

    /// Responds to a request of the REST binding.
    async fn rest(&self, request: &mut HttpRequest) -> Result<Response<Body>, HttpRefusal> {
        let span = self.span(&mut request.head);
        let refuse = |fault: &RpcError| {
            let (status, text) = rest::refused(fault);
            json(status, text)
        };
        let head = &request.head;
        let asked = match rest::read(&head.method, head.uri.path(), head.uri.query()) {
            Ok(asked) => asked,
            Err(RestError::Method(allowed)) => return Err(HttpRefusal::Method(allowed.to_owned())),
            Err(RestError::Unknown) => {
                let message = format!("unknown path `{}`", crate::a2a::shortened(head.uri.path()));
                return Ok(refuse(&RpcError::new(code::METHOD, A2aCode::UnknownMethod, message)));
            }
            Err(RestError::Invalid(fault)) => return Ok(refuse(&fault)),
        };
        match said(&head.headers, head.uri.query()).known() {
            Ok(None | Some(Version::V1_0)) => {}
            Ok(Some(Version::V0_3)) => {
                let message = "the REST binding is that of version 1.0; use JSON-RPC for version 0.3";
                let fault = RpcError::new(code::VERSION, A2aCode::Version, message).field("A2A-Version");
                return Ok(refuse(&fault));
            }
            Err(fault) => return Ok(refuse(&fault)),
        }
        let agent = self.caller(head).await?;
        let mut params = asked.params;
        if asked.has_body {
            let is_a2a = head.headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind == "application/a2a+json");
            let body = if is_a2a { request.bytes().await? } else { request.json().await? };
            let text = std::str::from_utf8(&body).map_err(|_| "it is not UTF-8".to_owned());
            let read = text.and_then(|text| Data::from_json(text).map_err(|error| error.message));
            params = match read {
                Ok(data) => data,
                Err(why) => {
                    let message = format!("invalid JSON body: {why}");
                    return Ok(refuse(&RpcError::new(code::NOT_JSON, A2aCode::NoJson, message)));
                }
            };
        }
        let caller = self.requests_of(agent, &request.head.headers, Version::V1_0);
        let name = asked.method.name();
        let reply = caller.execute(asked.method, name, &params).await;
        self.observed(span, name, reply.as_ref().err().map(|fault| fault.word().to_owned()));
        Ok(match reply {
            Ok(HubReply::Data(data)) => json(StatusCode::OK, data.to_json()),
            Ok(HubReply::Stream(stream)) => {
                stream_response(stream.events(StreamEnvelope::Bare(|fault| rest::refused(fault).1), &caller))
            }
            Err(fault) => refuse(&fault),
        })
    }
}

/// Returns the code of the error in a JSON-RPC response.
fn error_code(response: &str) -> Option<String> {
    // Most responses have no error, and are not read again.
    if !response.contains(r#""error":{"#) {
        return None;
    }
    let code = Data::from_json(response.trim_end()).ok()?.at("error.code").as_int()?;
    Some(code.to_string())
}

impl Probed for HubHttp {
    fn readiness(&self) -> Result<(), &'static str> {
        if self.hub.failure().is_some() {
            return Err("the hub's store failed");
        }
        self.hub.availability().map_err(|_| "the hub's store cannot be written")?;
        if self.is_draining.load(Ordering::Relaxed) { Err("the hub is shutting down") } else { Ok(()) }
    }

    fn expose(&self, to: &mut Exposition) {
        metrics::expose(&self.hub.stats(), &self.health, to);
        if let Some(store) = self.hub.store_stats() {
            metrics::expose_store(&store, to);
        }
    }
}

#[cfg(test)]
mod tests {
    use hub::HubClock;
    use hub::broker::change::ChangeBatch;
    use hub::broker::{BrokerOptions, Caller, Command, Register};
    use hub::store::{Durability, MemoryStore, Store, StoreError, StoreFuture};

    use axum::http::Request;

    use super::*;
    use crate::a2a::FrameCache;
    use crate::count_limit::CountLimit;
    use crate::http::{HttpEdge, RequestGuard};

    /// A store that writes nothing.
    struct FullStore;

    impl Store for FullStore {
        fn append(&self, _batch: ChangeBatch) -> Durability {
            Durability::Pending(1)
        }

        fn stored(&self, _number: u64) -> StoreFuture<u64> {
            Box::pin(async { Err(StoreError::Incomplete) })
        }

        fn replay(&self, _each: &mut dyn FnMut(&ChangeBatch)) -> Result<(), StoreError> {
            Ok(())
        }
    }

    fn served(hub: &Hub) -> HttpEdge<HubHttp> {
        HttpEdge::new(Arc::new(of(hub)), RequestGuard { is_local: true, ..RequestGuard::default() })
    }

    fn of(hub: &Hub) -> HubHttp {
        HubHttp {
            hub: hub.clone(),
            tokens: None,
            url: String::new(),
            max_body: 2048,
            is_draining: Arc::default(),
            streams: StreamContext { permits: CountLimit::new(1), written: FrameCache::default() },
            health: Arc::default(),
            observer: None,
        }
    }

    /// Sends a request, and returns the status and the body of the response.
    async fn ask(http: &HttpEdge<HubHttp>, method: &str, path: &str, body: &str) -> (StatusCode, String) {
        let request = Request::builder().method(method).uri(path).header(header::HOST, "localhost");
        let request = request.header(header::CONTENT_TYPE, "application/json").body(Body::from(body.to_owned()));
        let response = http.respond(request.unwrap()).await;
        let status = response.status();
        let body = axum::body::to_bytes(response.into_body(), 1 << 20).await.unwrap();
        (status, String::from_utf8(body.to_vec()).unwrap())
    }

    /// The parameters of a message.
    fn sent(id: &str, text: &str, more: &str) -> String {
        format!(
            r#"{{"message": {{"messageId": "{id}", "role": "ROLE_USER", "parts": [{{"text": "{text}"}}]{more}}},
                "metadata": {{"to_agent_id": "w"}}, "configuration": {{"returnImmediately": true}}}}"#
        )
    }

    async fn with_worker(options: BrokerOptions) -> Hub {
        let hub = Hub::open_with_clock(Box::new(MemoryStore), options, HubClock::of(|| 1_800_000_000_000)).unwrap();
        let register = Register { agent_id: "w".to_owned(), ..Register::default() };
        hub.execute(&Caller::Operator, Command::Register(register)).await.unwrap();
        hub
    }

    fn everything(hub: &Hub) -> String {
        hub.inspect(|broker| format!("{broker:?}"))
    }

    #[tokio::test]
    async fn a_refused_request_changes_nothing() {
        let hub = with_worker(BrokerOptions::default()).await;
        let http = served(&hub);
        let (_, done) = ask(&http, "POST", "/message:send", &sent("m1", "first", "")).await;
        let id = Data::from_json(&done).unwrap().at("task.id").as_str().unwrap().to_owned();
        assert_eq!(ask(&http, "POST", &format!("/tasks/{id}:cancel"), "").await.0, StatusCode::OK);
        let (_, open) = ask(&http, "POST", "/message:send", &sent("m2", "second", "")).await;
        // The same message again is the same task.
        assert_eq!(ask(&http, "POST", "/message:send", &sent("m2", "second", "")).await.1, open);
        let before = everything(&hub);
        let task = |id: &str| format!(r#", "taskId": "{id}""#);
        let rpc = |method: &str, params: &str| {
            format!(r#"{{"jsonrpc": "2.0", "id": 1, "method": "{method}", "params": {params}}}"#)
        };
        let to = |agent: &str| sent("new", "x", "").replace(r#""w""#, &format!("\"{agent}\""));
        let large = "x".repeat(4_096);
        let many = [
            ("POST", "/message:send", sent("m2", "other", "")),
            ("POST", "/message:stream", sent("m2", "other", "")),
            ("POST", "/message:send", sent("m1", "first", &task("other"))),
            ("POST", "/message:send", sent("new", "x", &task(&id))),
            ("POST", "/message:send", to("nobody")),
            ("POST", "/message:send", to("")),
            ("POST", "/message:send", "{}".to_owned()),
            ("POST", "/message:send", "not JSON".to_owned()),
            ("POST", "/message:send", sent("new", &large, "")),
            ("POST", "/message:send", sent(&large[..300], "x", "")),
            ("POST", "/message:stream", to("nobody")),
            ("GET", "/message:send", String::new()),
            ("POST", "/tasks/missing:cancel", String::new()),
            ("POST", &format!("/tasks/{id}:cancel"), String::new()),
            ("GET", &format!("/tasks/{id}:subscribe"), String::new()),
            ("GET", "/tasks/missing", String::new()),
            ("GET", "/tasks?pageSize=x", String::new()),
            ("POST", "/tasks/x/pushNotificationConfigs", String::new()),
            ("GET", "/no-such-path", String::new()),
        ];
        for (method, path, body) in many {
            let (status, said) = ask(&http, method, path, &body).await;
            assert!(status.is_client_error(), "{method} {path}: {status} {said}");
            assert!(everything(&hub) == before, "{method} {path} {body}: {said}");
        }
        for (method, params) in [
            ("SendMessage", sent("m2", "other", "")),
            ("SendStreamingMessage", sent("m2", "other", "")),
            ("SendMessage", sent("new", "x", &task(&id))),
            ("CancelTask", format!(r#"{{"id": "{id}"}}"#)),
            ("GetTask", r#"{"id": "missing"}"#.to_owned()),
            ("SubscribeToTask", format!(r#"{{"id": "{id}"}}"#)),
            ("ListTasks", r#"{"pageToken": "x"}"#.to_owned()),
            ("NoSuchMethod", "{}".to_owned()),
        ] {
            let (_, said) = ask(&http, "POST", "/?A2A-Version=1.0", &rpc(method, &params)).await;
            assert!(said.contains(r#""error":"#), "{method}: {said}");
            assert!(everything(&hub) == before, "{method} {params}: {said}");
        }
        let (status, said) = ask(&http, "POST", "/message:send", &sent("m2", "other", "")).await;
        assert_eq!(status, StatusCode::BAD_REQUEST);
        assert!(said.contains("the message id `m2` was used before with other content; use a new id"), "{said}");
        // What is not refused changes something: the comparison sees it.
        ask(&http, "POST", "/message:send", &sent("m3", "third", "")).await;
        assert!(everything(&hub) != before);
    }

    #[tokio::test]
    async fn a_request_that_no_place_is_left_for_submits_no_task() {
        let hub = with_worker(BrokerOptions { max_subscriptions: 1, ..BrokerOptions::default() }).await;
        let http = served(&hub);
        let place = hub.follower_place().unwrap();
        let waits = sent("m1", "x", "").replace("true", "false");
        let before = everything(&hub);
        for path in ["/message:send", "/message:stream"] {
            let (status, said) = ask(&http, "POST", path, &waits).await;
            assert_eq!(status, StatusCode::TOO_MANY_REQUESTS, "{said}");
            assert!(everything(&hub) == before, "{path}: {said}");
        }
        drop(place);
        assert!(hub.follower_place().is_ok());
    }

    #[tokio::test]
    async fn a_hub_whose_store_failed_or_that_drains_is_not_ready() {
        let hub = Hub::open(Box::new(FullStore), BrokerOptions::default()).unwrap();
        let http = Arc::new(of(&hub));
        let edge = HttpEdge::new(http.clone(), RequestGuard { is_local: true, ..RequestGuard::default() });
        let ready = async || {
            let request = Request::builder().uri(READY).header(header::HOST, "localhost").body(Body::empty()).unwrap();
            (edge.respond(request).await.status(), http.readiness())
        };
        assert_eq!(ready().await, (StatusCode::OK, Ok(())));
        http.is_draining.store(true, Ordering::Relaxed);
        assert_eq!(ready().await, (StatusCode::SERVICE_UNAVAILABLE, Err("the hub is shutting down")));
        http.is_draining.store(false, Ordering::Relaxed);
        let register = Register { agent_id: "w".to_owned(), ..Register::default() };
        let refused = hub.execute(&Caller::Operator, Command::Register(register)).await.unwrap_err();
        assert_eq!(refused.message, "the hub's store failed; its log has the reason, and it must be restarted");
        assert_eq!(ready().await, (StatusCode::SERVICE_UNAVAILABLE, Err("the hub's store failed")));
    }
}
