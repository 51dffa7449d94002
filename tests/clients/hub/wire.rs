//! The gRPC port of `harn serve hub`: slow subscribers, TLS, dead letters and the limit of connections.

use std::fs;
use std::path::Path;
use std::process::Command;

use hub::grpc::CURSOR;
use hub::proto::a2a::{AgentCard, Message, Part, Role, TaskState, part};
use hub::proto::agenthub::agent_event::Payload;
use hub::proto::agenthub::agent_hub_client::AgentHubClient;
use hub::proto::agenthub::{
    AgentEvent, AgentEventMetadata, GetTaskRequest, PublishMessageRequest, RegisterAgentRequest,
    SubscribeToMessagesRequest,
};
use hub::proto::worker::hub_worker_client::HubWorkerClient;
use hub::proto::worker::{Claim, ClaimRequest, FinishRequest, ListAgentsRequest, ListDeadLettersRequest};
use prost_types::{Struct, Value, value::Kind};
use tokio::time::timeout;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint};
use tonic::{Code, Request, Response, Status, Streaming};

use super::RunningHub;
use crate::harn::{harn_in, scratch};
use crate::packages::require;
use crate::tokio_wait::{LIMIT, find};

/// Clients of both services over one connection.
pub(super) struct Clients {
    pub(super) published: AgentHubClient<Channel>,
    pub(super) workers: HubWorkerClient<Channel>,
}

impl Clients {
    /// Connects to the address of a gRPC port without TLS.
    pub(super) async fn connect(address: &str) -> Result<Clients, tonic::transport::Error> {
        let endpoint = Endpoint::from_shared(format!("http://{address}"))?;
        Ok(Clients::over(endpoint.connect().await?))
    }

    fn over(channel: Channel) -> Clients {
        Clients { published: AgentHubClient::new(channel.clone()), workers: HubWorkerClient::new(channel) }
    }

    pub(super) async fn register(&mut self, agent: &str) {
        let card = AgentCard { name: agent.to_owned(), ..AgentCard::default() };
        let request = RegisterAgentRequest { agent_card: Some(card), ..RegisterAgentRequest::default() };
        let response = self.published.register_agent(request).await.unwrap().into_inner();
        assert!(response.success, "{}", response.error);
    }

    pub(super) async fn publish(&mut self, request: PublishMessageRequest) {
        let response = self.published.publish_message(request).await.unwrap().into_inner();
        assert!(response.success, "{}", response.error);
    }

    async fn messages(&mut self, agent: &str, cursor: Option<&str>) -> Result<Streaming<AgentEvent>, Status> {
        let subscribe =
            SubscribeToMessagesRequest { agent_id: agent.to_owned(), ..SubscribeToMessagesRequest::default() };
        let mut request = Request::new(subscribe);
        if let Some(cursor) = cursor {
            request.metadata_mut().insert(CURSOR, cursor.parse().unwrap());
        }
        self.published.subscribe_to_messages(request).await.map(Response::into_inner)
    }

    /// Waits for a task of a queue for at most 20 s.
    pub(super) async fn claim(&mut self, agent: &str, queue: &str) -> Claim {
        let (agent_id, queue) = (agent.to_owned(), queue.to_owned());
        let request = ClaimRequest { agent_id, queue, wait: Some(seconds(20)), ..ClaimRequest::default() };
        self.workers.claim(request).await.unwrap().into_inner().claim.expect("a task")
    }
}

pub(super) fn seconds(seconds: i64) -> prost_types::Duration {
    prost_types::Duration { seconds, nanos: 0 }
}

/// Returns a request that publishes the message with a number.
fn message(number: u64, to: &str, text: &str) -> PublishMessageRequest {
    let message = Message {
        message_id: format!("m{number}"),
        role: Role::User as i32,
        content: vec![Part { part: Some(part::Part::Text(text.to_owned())), metadata: None }],
        ..Message::default()
    };
    let (from_agent_id, to_agent_id) = ("boss".to_owned(), to.to_owned());
    let routing = AgentEventMetadata { from_agent_id, to_agent_id, ..AgentEventMetadata::default() };
    PublishMessageRequest { message: Some(message), routing: Some(routing) }
}

/// Returns a request that publishes the task with a number to a queue.
pub(super) fn queued(number: u64, queue: &str) -> PublishMessageRequest {
    let mut request = message(number, "", "work");
    let message = request.message.as_mut().unwrap();
    message.task_id = format!("t{number}");
    let queue = Value { kind: Some(Kind::StringValue(queue.to_owned())) };
    message.metadata = Some(Struct { fields: [("queue".to_owned(), queue)].into() });
    request
}

/// Returns the number of the message of an event.
fn number(event: &AgentEvent) -> u64 {
    match &event.payload {
        Some(Payload::Message(message)) => message.message_id.trim_start_matches('m').parse().unwrap(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_slow_subscriber_is_ended_and_resumes_at_its_cursor() {
    // More than a subscription buffers, and than fits into the buffers of a connection.
    const COUNT: u64 = 2_600;
    let hub = RunningHub::start(&scratch("hub-overflow"), &["--store", "memory"]);
    let mut boss = Clients::connect(&hub.grpc).await.unwrap();
    let mut slow = Clients::connect(&hub.grpc).await.unwrap();
    slow.register("slow").await;
    let mut stream = slow.messages("slow", None).await.unwrap();
    let text = "x".repeat(8 * 1024);
    for number in 0..COUNT {
        boss.publish(message(number, "slow", &text)).await;
    }
    let mut seen = Vec::new();
    let status = loop {
        match stream.message().await {
            Ok(Some(event)) => seen.push(number(&event)),
            Ok(None) => panic!("the subscription ended without a status"),
            Err(status) => break status,
        }
    };
    assert_eq!(status.code(), Code::ResourceExhausted, "{status}");
    assert!(!seen.is_empty() && seen.last() < Some(&(COUNT - 1)), "{} messages before the overflow", seen.len());
    let cursor = status.metadata().get(CURSOR).unwrap().to_str().unwrap();
    let mut stream = slow.messages("slow", Some(cursor)).await.unwrap();
    while seen.last() != Some(&(COUNT - 1)) {
        seen.push(number(&stream.message().await.unwrap().unwrap()));
    }
    assert!(seen.into_iter().eq(0..COUNT), "messages are missing, repeated or out of order");
    // From here on, the subscription is as any other.
    boss.publish(message(COUNT, "slow", "more")).await;
    assert_eq!(number(&stream.message().await.unwrap().unwrap()), COUNT);
    let refused = slow.messages("slow", Some("no-cursor")).await.unwrap_err();
    assert_eq!(refused.code(), Code::InvalidArgument, "{refused}");
    assert_eq!(hub.stop(), Some(143));
}

#[tokio::test]
async fn a_task_that_loses_every_worker_is_a_dead_letter() {
    let folder = scratch("hub-dead");
    let args = ["--store", "sqlite:hub.db", "--lease", "200ms", "--max-attempts", "2"];
    let hub = RunningHub::start(&folder, &args);
    let mut clients = Clients::connect(&hub.grpc).await.unwrap();
    clients.publish(queued(1, "doomed")).await;
    for attempt in [1, 2] {
        let claim = clients.claim(&format!("w{attempt}"), "doomed").await;
        assert_eq!((claim.attempt, claim.max_attempts), (attempt, 2));
    }
    let list = |queue: &str| ListDeadLettersRequest { queue: queue.to_owned(), ..ListDeadLettersRequest::default() };
    let letters = find("a dead letter", async || {
        let letters = clients.workers.list_dead_letters(list("doomed")).await.unwrap().into_inner().dead_letters;
        if letters.is_empty() { Err(String::new()) } else { Ok(letters) }
    })
    .await;
    let [letter] = letters.as_slice() else { panic!("{letters:?}") };
    assert_eq!((letter.queue.as_str(), letter.attempts), ("doomed", 2));
    assert_eq!(letter.reason, "dead letter after 2 attempts: worker `w2` lost: its lease expired");
    assert_eq!(letter.task.as_ref().unwrap().id, "t1");
    assert!(clients.workers.list_dead_letters(list("other")).await.unwrap().into_inner().dead_letters.is_empty());
    let get = GetTaskRequest { task_id: "t1".to_owned(), history_length: 0 };
    let task = clients.published.get_task(get).await.unwrap().into_inner();
    assert_eq!(task.status.unwrap().state(), TaskState::Failed);
    let finish = FinishRequest {
        agent_id: "w2".to_owned(),
        task_id: "t1".to_owned(),
        state: TaskState::Completed as i32,
        ..FinishRequest::default()
    };
    let refused = clients.workers.finish(finish).await.unwrap_err();
    assert_eq!(refused.code(), Code::FailedPrecondition, "{refused}");
    assert!(hub.get("/metrics", "").contains("\nharn_hub_dead_letters_total 1\n"));
    // It survives the hub.
    hub.kill();
    let again = RunningHub::start(&folder, &args);
    let mut clients = Clients::connect(&again.grpc).await.unwrap();
    assert_eq!(clients.workers.list_dead_letters(list("")).await.unwrap().into_inner().dead_letters, letters);
    assert_eq!(again.stop(), Some(143));
}

#[tokio::test]
async fn a_connection_beyond_the_limit_waits_for_another_one_to_close() {
    let hub = RunningHub::start(&scratch("hub-connections"), &["--store", "memory", "--max-connections", "2"]);
    let mut first = Clients::connect(&hub.grpc).await.unwrap();
    let mut second = Clients::connect(&hub.grpc).await.unwrap();
    for clients in [&mut first, &mut second] {
        clients.workers.list_agents(ListAgentsRequest::default()).await.unwrap();
    }
    let address = hub.grpc.clone();
    let third = tokio::spawn(async move {
        let mut third = Clients::connect(&address).await.unwrap();
        third.workers.list_agents(ListAgentsRequest::default()).await
    });
    // A connection that is served needs a few round trips.
    for _ in 0..200 {
        first.workers.list_agents(ListAgentsRequest::default()).await.unwrap();
        assert!(!third.is_finished(), "a third connection is served");
    }
    drop(second);
    timeout(LIMIT, third).await.expect("the third connection is served").unwrap().unwrap();
    assert_eq!(hub.stop(), Some(143));
}

/// Runs `openssl` in a folder.
fn openssl(folder: &Path, args: &[&str]) {
    require("openssl", "version", "makes certificates with it", "openssl");
    let output = Command::new("openssl").args(args).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "openssl {args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Creates the certificate `NAME.pem` of an authority with the key `NAME.key`.
fn authority(folder: &Path, name: &str) {
    let (key, certificate, subject) = (format!("{name}.key"), format!("{name}.pem"), format!("/CN={name}"));
    let mut args = vec!["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
    args.extend(["-days", "2", "-subj", &subject, "-keyout", &key, "-out", &certificate]);
    openssl(folder, &args);
}

#[tokio::test]
async fn tls_serves_clients_that_trust_the_authority_of_the_certificate() {
    let folder = scratch("hub-tls");
    authority(&folder, "ca");
    authority(&folder, "other");
    let mut args = vec!["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
    args.extend(["-subj", "/CN=hub", "-keyout", "hub.key", "-out", "hub.csr"]);
    openssl(&folder, &args);
    fs::write(folder.join("names"), "subjectAltName=IP:127.0.0.1\nbasicConstraints=CA:FALSE\n").unwrap();
    let mut args = vec!["x509", "-req", "-in", "hub.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial"];
    args.extend(["-days", "2", "-extfile", "names", "-out", "hub.pem"]);
    openssl(&folder, &args);
    let hub = RunningHub::start(&folder, &["--store", "memory", "--tls-cert", "hub.pem", "--tls-key", "hub.key"]);
    let connect = async |authority: &str| {
        let pem = fs::read(folder.join(authority)).unwrap();
        let tls = ClientTlsConfig::new().ca_certificate(Certificate::from_pem(pem));
        let endpoint = Endpoint::from_shared(format!("https://{}", hub.grpc)).unwrap();
        endpoint.tls_config(tls).unwrap().connect().await
    };
    let mut clients = Clients::over(connect("ca.pem").await.unwrap());
    clients.register("w").await;
    let mut stream = clients.messages("w", None).await.unwrap();
    clients.publish(message(7, "w", "over TLS")).await;
    assert_eq!(number(&stream.message().await.unwrap().unwrap()), 7);
    let refused = connect("other.pem").await.unwrap_err();
    let why = format!("{refused:?}");
    assert!(why.contains("UnknownIssuer") || why.contains("BadSignature"), "{why}");
    // A script trusts the system's authorities, or those of a file.
    let script = |options: &str, system: &str| {
        let script = format!(
            "hub.connect(env(\"HUB_URL\"), {{agent: \"script\"{options}}}).publish(\"from a script\", {{to: \"w\", task: false}})\n"
        );
        fs::write(folder.join("send.harn"), script).unwrap();
        let system = folder.join(system);
        let set = [("HUB_URL", format!("https://{}", hub.grpc)), ("SSL_CERT_FILE", system.display().to_string())];
        harn_in(&folder, &["run", "send.harn"], b"", &set.each_ref().map(|(name, value)| (*name, value.as_str())))
    };
    for (options, system) in [("", "ca.pem"), (", ca_file: \"ca.pem\"", "other.pem")] {
        let sent = script(options, system);
        assert_eq!((sent.code, sent.err.as_str()), (Some(0), ""), "{options} {system}");
        let event = stream.message().await.unwrap().unwrap();
        assert!(format!("{:?}", event.payload).contains("from a script"), "{event:?}");
    }
    for (options, system) in [("", "other.pem"), (", ca_file: \"other.pem\"", "ca.pem")] {
        let refused = script(options, system);
        assert_eq!(refused.code, Some(1), "{options} {system}");
        assert!(refused.err.contains("HARN-HUB-101") && refused.err.contains("set `ca_file`"), "{}", refused.err);
    }
    // A client without TLS gets no response.
    let plain = async {
        let mut clients = Clients::connect(&hub.grpc).await.map_err(|error| Status::unavailable(error.to_string()))?;
        clients.workers.list_agents(ListAgentsRequest::default()).await
    };
    assert!(timeout(LIMIT, plain).await.expect("the connection is closed").is_err());
    assert_eq!(hub.stop(), Some(143));
}
