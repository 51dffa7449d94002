//! [`HubConnection`]: requests to a hub as one agent.

use std::any::Any;
use std::cell::RefCell;
use std::fmt::Display;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use hub::Hub;
use hub::broker::BrokerOptions;
use hub::grpc::{LEASE, OPERATION, routes};
use hub::proto::agenthub::agent_hub_client::AgentHubClient;
use hub::proto::worker::RenewRequest;
use hub::proto::worker::hub_worker_client::HubWorkerClient;
use lang::value::{HostBox, HostObject, Str, Value};
use lang::vm::Raise;
use runtime::activity::TraceContext;
use tonic::body::Body;
use tonic::codegen::{BoxFuture, Service, StdError, http};
use tonic::service::Routes;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint};
use tonic::{Code, Request, Response, Status};
use uuid::Uuid;

use super::HubClientCode;
use super::renewal::{LeaseRenewal, RenewalRequests};

/// The first and the longest pause between two attempts.
pub(super) const PAUSES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(2));

/// The maximum size of a response in bytes: a page of tasks, each of which can have 16 MiB.
const MAX_RESPONSE: usize = 64 << 20;

/// The transport to a hub.
#[derive(Clone)]
pub(crate) enum Transport {
    /// Over gRPC.
    Remote(Channel),
    /// In this process.
    Local(Routes),
}

impl Service<http::Request<Body>> for Transport {
    type Response = http::Response<Body>;
    type Error = StdError;
    type Future = BoxFuture<Self::Response, StdError>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), StdError>> {
        match self {
            Transport::Remote(channel) => Service::poll_ready(channel, cx).map_err(Into::into),
            Transport::Local(_) => Poll::Ready(Ok(())),
        }
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        match self {
            Transport::Remote(channel) => {
                let response = channel.call(request);
                Box::pin(async move { response.await.map_err(Into::into) })
            }
            Transport::Local(routes) => {
                let response = routes.call(request);
                Box::pin(async move { response.await.map_err(|never| match never {}) })
            }
        }
    }
}

impl Transport {
    /// Returns the transport to the hub of this process, and creates the hub if there is none.
    pub(crate) fn local(hub: &std::cell::OnceCell<Hub>) -> Transport {
        let hub = hub.get_or_init(|| {
            let hub = Hub::memory(BrokerOptions::default());
            // It ends with the last clone of the hub.
            tokio::spawn(hub.drive());
            hub
        });
        Transport::Local(routes(hub))
    }

    /// Returns the transport to a hub over gRPC. Connections are opened when they are needed.
    pub(crate) fn remote(url: &str, ca: Option<Vec<u8>>) -> Result<Transport, String> {
        let endpoint = Endpoint::from_shared(url.to_owned()).map_err(|error| describe(&error))?;
        let endpoint = endpoint.connect_timeout(Duration::from_secs(10)).http2_keep_alive_interval(KEEPALIVE);
        let endpoint = if url.starts_with("https://") {
            let tls = match ca {
                Some(pem) => ClientTlsConfig::new().ca_certificate(Certificate::from_pem(pem)),
                None => ClientTlsConfig::new().trust_anchors(providers::trusted_roots().roots),
            };
            endpoint.tls_config(tls).map_err(|error| describe(&error))?
        } else {
            endpoint
        };
        Ok(Transport::Remote(endpoint.connect_lazy()))
    }
}

/// The interval of checks of an open connection.
const KEEPALIVE: Duration = Duration::from_secs(30);

fn describe(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        text = format!("{text}: {inner}");
        source = inner.source();
    }
    text
}

/// The settings of a connection.
pub(crate) struct ConnectSettings {
    pub(crate) transport: Transport,
    /// The URL, or `local`.
    pub(crate) url: Arc<str>,
    pub(crate) token: Option<Arc<str>>,
    pub(crate) agent: Option<Arc<str>>,
    pub(crate) timeout: Duration,
}

/// A connection to a hub, which acts as one agent.
pub(crate) struct HubConnection {
    settings: Rc<ConnectSettings>,
    agent: Rc<RefCell<Option<Arc<str>>>>,
    /// The span that makes the requests.
    trace: Option<TraceContext>,
}

impl HubConnection {
    pub(crate) fn new(mut settings: ConnectSettings) -> HubConnection {
        let agent = Rc::new(RefCell::new(settings.agent.take()));
        HubConnection { settings: Rc::new(settings), agent, trace: None }
    }

    /// Returns the same connection for the requests of a span.
    pub(crate) fn traced(&self, trace: Option<TraceContext>) -> Rc<HubConnection> {
        Rc::new(HubConnection { settings: self.settings.clone(), agent: self.agent.clone(), trace })
    }

    pub(crate) fn url(&self) -> &Arc<str> {
        &self.settings.url
    }

    /// Returns the agent as which it acts, if it is known.
    pub(crate) fn agent(&self) -> Option<Arc<str>> {
        self.agent.borrow().clone()
    }

    /// Returns the agent for a request. The hub knows it by the token, if there is one.
    pub(crate) fn acting(&self) -> Result<String, Box<Raise>> {
        match (self.agent(), &self.settings.token) {
            (Some(agent), _) => Ok(agent.to_string()),
            (None, Some(_)) => Ok(String::new()),
            (None, None) => Err(Raise::error(HubClientCode::NoAgent, "this connection acts as no agent yet")
                .help("call `register` first, or pass the option `agent` when you connect")),
        }
    }

    /// Makes it act as an agent.
    pub(crate) fn act_as(&self, agent: &str) {
        *self.agent.borrow_mut() = Some(agent.into());
    }

    /// Begins to renew the lease of a task.
    pub(crate) fn renew(&self, request: RenewRequest, lease: Duration, renew_for: Duration) -> Arc<LeaseRenewal> {
        let ConnectSettings { transport, token, .. } = &*self.settings;
        let requests = RenewalRequests { transport: transport.clone(), token: token.clone(), request };
        LeaseRenewal::start(requests, lease, renew_for)
    }

    pub(crate) fn hub(&self) -> AgentHubClient<Transport> {
        AgentHubClient::new(self.settings.transport.clone()).max_decoding_message_size(MAX_RESPONSE)
    }

    pub(crate) fn worker(&self) -> HubWorkerClient<Transport> {
        HubWorkerClient::new(self.settings.transport.clone()).max_decoding_message_size(MAX_RESPONSE)
    }

    /// Returns a request with the token and the trace.
    pub(crate) fn signed<T>(&self, message: T) -> Result<Request<T>, Status> {
        let mut request = Request::new(message);
        sign(&mut request, self.settings.token.as_deref())?;
        if let Some(value) = self.trace.and_then(|trace| trace.traceparent().parse().ok()) {
            request.metadata_mut().insert("traceparent", value);
        }
        Ok(request)
    }

    /// Sends a request, and retries while the hub cannot be reached. Every attempt has the same id, so that the hub does
    /// not execute a request again whose response was lost. The lease is that of a task, if the message has no field for it.
    pub(crate) async fn call<T, R, F>(
        &self,
        message: T,
        lease: Option<&str>,
        send: impl Fn(Request<T>) -> F,
    ) -> Result<R, Box<Raise>>
    where
        T: Clone,
        F: Future<Output = Result<Response<R>, Status>>,
    {
        let operation = format!("op_{}", Uuid::now_v7().simple());
        let send = &send;
        self.retry(|| {
            let request = self.signed(message.clone()).and_then(|mut request| {
                add(&mut request, OPERATION, &operation)?;
                lease.map_or(Ok(()), |lease| add(&mut request, LEASE, lease))?;
                Ok(request)
            });
            async move { send(request?).await.map(Response::into_inner) }
        })
        .await
    }

    /// Repeats an attempt while the hub cannot be reached, until the timeout of the connection.
    pub(crate) async fn retry<R, F>(&self, attempt: impl Fn() -> F) -> Result<R, Box<Raise>>
    where
        F: Future<Output = Result<R, Status>>,
    {
        let (begun, mut pause) = (Instant::now(), PAUSES.0);
        loop {
            let status = match attempt().await {
                Ok(response) => return Ok(response),
                Err(status) => status,
            };
            if !is_transient(&status) || begun.elapsed() + pause > self.settings.timeout {
                return Err(of_status(self.url(), &status));
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSES.1);
        }
    }
}

/// Adds metadata to a request.
pub(super) fn add<T>(request: &mut Request<T>, key: &'static str, text: &str) -> Result<(), Status> {
    let value = text.parse().map_err(|_| Status::invalid_argument(format!("invalid metadata `{key}`")))?;
    request.metadata_mut().insert(key, value);
    Ok(())
}

/// Adds the token to a request.
pub(super) fn sign<T>(request: &mut Request<T>, token: Option<&str>) -> Result<(), Status> {
    if let Some(token) = token {
        let value = format!("Bearer {token}").parse();
        let value = value.map_err(|_| Status::unauthenticated("the token contains invalid characters"))?;
        request.metadata_mut().insert("authorization", value);
    }
    Ok(())
}

/// Returns whether the same request may succeed later: the hub is not reachable, or restarts.
pub(super) fn is_transient(status: &Status) -> bool {
    is_unreachable(status) && !is_untrusted(status)
}

fn is_unreachable(status: &Status) -> bool {
    status.code() == Code::Unavailable
        || (status.code() == Code::Unknown && std::error::Error::source(status).is_some())
}

/// Returns whether the certificate of the hub was refused.
fn is_untrusted(status: &Status) -> bool {
    // The words of `rustls`, whose errors are hidden below those of the transport.
    std::error::Error::source(status).is_some_and(|source| describe(source).contains("invalid peer certificate"))
}

/// Returns an error of a hub as a raise.
pub(crate) fn of_status(url: &str, status: &Status) -> Box<Raise> {
    let code = match status.code() {
        _ if is_unreachable(status) => HubClientCode::Unreachable,
        Code::Aborted => HubClientCode::LeaseLost,
        Code::Unauthenticated | Code::PermissionDenied => HubClientCode::Credentials,
        Code::Unimplemented | Code::Internal => HubClientCode::Unreachable,
        _ => HubClientCode::Refused,
    };
    let category = category(status.code());
    let message = match code {
        HubClientCode::Unreachable => {
            let cause = std::error::Error::source(status).map_or(String::new(), describe);
            let cause = if cause.is_empty() { status.message() } else { &cause };
            format!("the hub {url} is not reachable: {cause}")
        }
        _ => status.message().to_owned(),
    };
    let raise = Raise::error(code, message).field("category", category);
    match code {
        HubClientCode::Unreachable if is_untrusted(status) => {
            raise.help("set `ca_file` to the certificate of the authority that signed the hub's certificate")
        }
        HubClientCode::Unreachable => raise.help("check the URL, and that `harn serve hub` is running"),
        HubClientCode::LeaseLost => raise.help("stop the work on this task: another attempt may be running"),
        _ => raise,
    }
}

/// Returns the name of a code of gRPC in snake_case.
fn category(code: Code) -> &'static str {
    match code {
        Code::NotFound => "not_found",
        Code::InvalidArgument => "invalid_argument",
        Code::FailedPrecondition => "failed_precondition",
        Code::Aborted => "aborted",
        Code::PermissionDenied => "permission_denied",
        Code::Unauthenticated => "unauthenticated",
        Code::ResourceExhausted => "resource_exhausted",
        Code::OutOfRange => "out_of_range",
        Code::Unavailable => "unavailable",
        Code::AlreadyExists => "already_exists",
        Code::DeadlineExceeded => "deadline_exceeded",
        _ => "unknown",
    }
}

/// Returns the error of an unexpected response.
pub(crate) fn incomplete(url: &str, field: impl Display) -> Box<Raise> {
    Raise::error(HubClientCode::Unreachable, format!("the hub {url} sent a response without `{field}`"))
}

/// A connection as a value.
pub(crate) struct HubValue(pub(crate) Rc<HubConnection>);

impl HubValue {
    pub(crate) fn value(connection: Rc<HubConnection>) -> Value {
        HostBox::value(HubValue(connection))
    }
}

impl HostObject for HubValue {
    fn type_name(&self) -> &'static str {
        "hub"
    }

    fn get(&self, key: &str) -> Option<Value> {
        match key {
            "agent" => Some(self.0.agent().map_or(Value::Nil, |agent| Value::str(&agent))),
            "url" => Some(Value::str(self.0.url())),
            _ => None,
        }
    }

    fn keys(&self) -> Vec<Str> {
        vec![Str::new("agent"), Str::new("url")]
    }

    fn size(&self) -> Option<usize> {
        Some(2)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
