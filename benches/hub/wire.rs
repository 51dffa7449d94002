//! The time from a publish to its delivery over loopback gRPC, compared with a bare `tonic` echo of the same message, both
//! at a thousand a second.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use hub::Hub;
use hub::broker::BrokerOptions;
use hub::grpc::{ConnectionLimits, GrpcSettings, NoAuthentication, serve};
use hub::proto::a2a::{AgentCard, Task};
use hub::proto::agenthub::agent_event::Payload;
use hub::proto::agenthub::agent_hub_client::AgentHubClient;
use hub::proto::agenthub::agent_hub_server::{AgentHub, AgentHubServer};
use hub::proto::agenthub::{
    AgentEvent, CancelTaskRequest, GetTaskRequest, ListTasksRequest, ListTasksResponse, PublishMessageRequest,
    PublishResponse, PublishTaskArtifactRequest, PublishTaskUpdateRequest, RegisterAgentRequest, RegisterAgentResponse,
    SubscribeToAgentEventsRequest, SubscribeToMessagesRequest, SubscribeToTasksRequest,
};
use tokio::net::TcpListener;
use tokio::task::LocalSet;
use tonic::codegen::tokio_stream::Empty;
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Channel, Endpoint, Server};
use tonic::{Request, Response, Status};

use crate::options::Options;
use crate::work::message;

/// Number of messages of a run.
const COUNT: usize = 5_000;
/// Number of messages that warm up a run; they are not measured.
const WARM: usize = 500;
/// Time between two messages.
const PAUSE: Duration = Duration::from_millis(1);
/// Largest ratio of the 99th percentiles.
const MOST: f64 = 3.0;

/// Measures the hub and the echo in turns.
pub(crate) fn run(options: &Options) -> bool {
    let hub = listen(|listener| async {
        let hub = Hub::memory(BrokerOptions::default());
        tokio::spawn(hub.drive());
        let settings = GrpcSettings {
            authenticate: Arc::new(NoAuthentication),
            url: String::new(),
            max_message: 4 << 20,
            connections: ConnectionLimits { all: 16, peer: 16 },
            max_streams: 1024,
            observer: None,
            tls: None,
        };
        serve(hub, settings, listener, std::future::pending()).await
    });
    let echo = listen(|listener| async {
        let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
        Server::builder().add_service(AgentHubServer::new(Echo)).serve_with_incoming(incoming).await
    });
    let mut delays = (Vec::new(), Vec::new());
    for run in 0..options.runs {
        delays.0.push(percentile(crate::block_on(LocalSet::new().run_until(through_hub(hub, run)))));
        delays.1.push(percentile(crate::block_on(LocalSet::new().run_until(through_echo(echo, run)))));
    }
    let (hub, echo) = (crate::median(delays.0), crate::median(delays.1));
    let ratio = hub / echo;
    let text = format!(
        "99 % delivered over gRPC within {hub:.2} ms, {ratio:.2} times the {echo:.2} ms of a bare echo, at most {MOST}"
    );
    crate::say(ratio <= MOST, &text)
}

/// Serves on a free port, on a thread with a runtime of its own, until the process ends.
fn listen<F: Future<Output = Result<(), tonic::transport::Error>>>(
    serve: impl FnOnce(TcpListener) -> F + Send + 'static,
) -> SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.set_nonblocking(true).expect("a listener that does not block");
    let address = listener.local_addr().expect("the address");
    thread::spawn(move || {
        crate::block_on(async {
            serve(TcpListener::from_std(listener).expect("a listener")).await.expect("a server");
        });
    });
    address
}

async fn connect(address: SocketAddr) -> AgentHubClient<Channel> {
    let endpoint = Endpoint::from_shared(format!("http://{address}")).expect("an address");
    AgentHubClient::new(endpoint.connect().await.expect("a connection"))
}

/// Returns the message with a number. Ids of different runs differ, since a hub drops repeated ones.
fn request(run: usize, number: usize) -> PublishMessageRequest {
    let publish = message(run * (WARM + COUNT) + number, "", "w", 2);
    PublishMessageRequest { message: Some(publish.message), routing: Some(publish.routing) }
}

/// Returns the 99th percentile in milliseconds.
fn percentile(mut times: Vec<Duration>) -> f64 {
    times.drain(..WARM);
    assert_eq!(times.len(), COUNT, "a message is lost");
    times.sort();
    times[times.len() * 99 / 100].as_secs_f64() * 1_000.0
}

/// Returns the times from the publishes to the deliveries at a subscriber with a connection of its own.
async fn through_hub(address: SocketAddr, run: usize) -> Vec<Duration> {
    let (client, mut subscriber) = (connect(address).await, connect(address).await);
    let card = AgentCard { name: "w".to_owned(), ..AgentCard::default() };
    let register = RegisterAgentRequest { agent_card: Some(card), ..RegisterAgentRequest::default() };
    assert!(subscriber.register_agent(register).await.expect("a response").into_inner().success);
    let subscribe = SubscribeToMessagesRequest { agent_id: "w".to_owned(), ..SubscribeToMessagesRequest::default() };
    let mut events = subscriber.subscribe_to_messages(subscribe).await.expect("a subscription").into_inner();
    let sent = Rc::new(RefCell::new(vec![Instant::now(); WARM + COUNT]));
    let started = sent.clone();
    let publisher = tokio::task::spawn_local(async move {
        let mut interval = tokio::time::interval(PAUSE);
        for number in 0..WARM + COUNT {
            interval.tick().await;
            let (mut client, started) = (client.clone(), started.clone());
            tokio::task::spawn_local(async move {
                let request = request(run, number);
                started.borrow_mut()[number] = Instant::now();
                assert!(client.publish_message(request).await.expect("a response").into_inner().success);
            });
        }
    });
    let mut times = vec![Duration::ZERO; WARM + COUNT];
    for _ in 0..WARM + COUNT {
        let event = events.message().await.expect("an event").expect("the subscription is open");
        let Some(Payload::Message(message)) = event.payload else { panic!("not a message") };
        let number: usize = message.message_id[1..].parse().expect("a number");
        let number = number - run * (WARM + COUNT);
        times[number] = sent.borrow()[number].elapsed();
    }
    publisher.await.expect("the publisher");
    times
}

/// Returns the times of the calls.
async fn through_echo(address: SocketAddr, run: usize) -> Vec<Duration> {
    let client = connect(address).await;
    let mut interval = tokio::time::interval(PAUSE);
    let mut calls = Vec::with_capacity(WARM + COUNT);
    for number in 0..WARM + COUNT {
        interval.tick().await;
        let mut client = client.clone();
        calls.push(tokio::task::spawn_local(async move {
            let request = request(run, number);
            let start = Instant::now();
            client.publish_message(request).await.expect("a response");
            start.elapsed()
        }));
    }
    let mut times = Vec::with_capacity(calls.len());
    for call in calls {
        times.push(call.await.expect("a call"));
    }
    times
}

/// A service with the messages of the hub that does nothing with them.
struct Echo;

type NoEvents = Empty<Result<AgentEvent, Status>>;

fn unused<T>() -> Result<Response<T>, Status> {
    Err(Status::unimplemented("the echo only publishes messages"))
}

#[tonic::async_trait]
impl AgentHub for Echo {
    type SubscribeToMessagesStream = NoEvents;
    type SubscribeToTasksStream = NoEvents;
    type SubscribeToAgentEventsStream = NoEvents;

    async fn publish_message(
        &self,
        request: Request<PublishMessageRequest>,
    ) -> Result<Response<PublishResponse>, Status> {
        let event_id = request.into_inner().message.unwrap_or_default().message_id;
        Ok(Response::new(PublishResponse { success: true, event_id, ..PublishResponse::default() }))
    }

    async fn publish_task_update(
        &self,
        _: Request<PublishTaskUpdateRequest>,
    ) -> Result<Response<PublishResponse>, Status> {
        unused()
    }

    async fn publish_task_artifact(
        &self,
        _: Request<PublishTaskArtifactRequest>,
    ) -> Result<Response<PublishResponse>, Status> {
        unused()
    }

    async fn subscribe_to_messages(
        &self,
        _: Request<SubscribeToMessagesRequest>,
    ) -> Result<Response<NoEvents>, Status> {
        unused()
    }

    async fn subscribe_to_tasks(&self, _: Request<SubscribeToTasksRequest>) -> Result<Response<NoEvents>, Status> {
        unused()
    }

    async fn subscribe_to_agent_events(
        &self,
        _: Request<SubscribeToAgentEventsRequest>,
    ) -> Result<Response<NoEvents>, Status> {
        unused()
    }

    async fn get_task(&self, _: Request<GetTaskRequest>) -> Result<Response<Task>, Status> {
        unused()
    }

    async fn cancel_task(&self, _: Request<CancelTaskRequest>) -> Result<Response<Task>, Status> {
        unused()
    }

    async fn list_tasks(&self, _: Request<ListTasksRequest>) -> Result<Response<ListTasksResponse>, Status> {
        unused()
    }

    async fn get_agent_card(&self, _: Request<()>) -> Result<Response<AgentCard>, Status> {
        unused()
    }

    async fn register_agent(
        &self,
        _: Request<RegisterAgentRequest>,
    ) -> Result<Response<RegisterAgentResponse>, Status> {
        unused()
    }
}
