//! Requests of the gRPC port of a hub: messages with wrong fields through a client, and frames of HTTP/2 byte by byte.

use crate::http::{LIMIT, PATIENCE, exchange};
use crate::proto;
use crate::random::Random;
use crate::served::Served;
use crate::subject::{Mutant, Mutator, Subject, Target, Verdict};
use crate::text;
use hub::proto::a2a::{AgentCard, AgentSkill, Artifact, Message, Part, Role, TaskState, TaskStatus, part};
use hub::proto::agenthub::{
    AgentEventMetadata, CancelTaskRequest, GetTaskRequest, ListTasksRequest, PublishMessageRequest,
    PublishTaskArtifactRequest, PublishTaskUpdateRequest, RegisterAgentRequest, SubscribeToAgentEventsRequest,
    SubscribeToMessagesRequest, SubscribeToTasksRequest, TaskArtifactUpdateEvent, TaskStatusUpdateEvent,
};
use hub::proto::worker::{
    AcknowledgeRequest, ClaimRequest, FinishRequest, ListAgentsRequest, ListDeadLettersRequest, ProgressRequest,
    RejectRequest, RenewRequest, SubscribeWithCursorsRequest, UnregisterAgentRequest, WaitRequest,
};
use prost::Message as _;
use prost::bytes::{Buf as _, BufMut as _};
use prost_types::{Struct, Value, value::Kind};
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::time::timeout;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Status};

const LONGEST: usize = 60_000;

pub(crate) const GRPC: Subject = Subject { name: "grpc", cases: 800, balance: 20, mutator, target };

/// After so many mutants, the hub is replaced by a new one.
const MOST_MUTANTS: u32 = 1_000;

/// The first piece of a mutant: messages through a client, or bytes.
const MESSAGES: &[u8] = b"messages";
const BYTES: &[u8] = b"bytes";

/// The time for which a client waits for the next event of a subscription.
const SHORT: Duration = Duration::from_millis(20);

/// The good request after a mutant.
const GOOD: &str = "/harn.hub.v1.HubWorker/ListAgents";

/// The methods and messages of a client and a worker.
fn corpus() -> Vec<(&'static str, Vec<u8>)> {
    let text = |text: &str| text.to_owned();
    let part = || Part { part: Some(part::Part::Text(text("Look."))), ..Part::default() };
    let fields = || {
        let value = |kind| Value { kind: Some(kind) };
        let list = prost_types::ListValue { values: vec![value(Kind::NumberValue(1.5)), value(Kind::NullValue(0))] };
        Some(Struct { fields: [(text("a"), value(Kind::ListValue(list)))].into() })
    };
    let routing = |from: &str, to: &str| {
        let (from_agent_id, to_agent_id) = (text(from), text(to));
        Some(AgentEventMetadata { from_agent_id, to_agent_id, ..AgentEventMetadata::default() })
    };
    let message = Message {
        message_id: text("m1"),
        task_id: text("t1"),
        context_id: text("c"),
        role: Role::User as i32,
        content: vec![part()],
        metadata: fields(),
        ..Message::default()
    };
    let status = |state: TaskState| {
        let status = TaskStatus { state: state as i32, ..TaskStatus::default() };
        TaskStatusUpdateEvent { task_id: text("t1"), status: Some(status), metadata: fields(), ..Default::default() }
    };
    let artifact = Artifact { artifact_id: text("a"), parts: vec![part()], ..Artifact::default() };
    let card = AgentCard {
        name: text("w"),
        description: text("Works."),
        skills: vec![AgentSkill { id: text("s"), tags: vec![text("q")], ..AgentSkill::default() }],
        ..AgentCard::default()
    };
    let (agent_id, task_id) = (text("w"), text("t1"));
    let short = || Some(prost_types::Duration { seconds: 0, nanos: 1_000_000 });
    let update = PublishTaskArtifactRequest {
        artifact: Some(TaskArtifactUpdateEvent {
            task_id: task_id.clone(),
            artifact: Some(artifact.clone()),
            append: true,
            ..Default::default()
        }),
        routing: routing("w", ""),
    };
    let register = RegisterAgentRequest { agent_card: Some(card), ..Default::default() };
    let working = PublishTaskUpdateRequest { update: Some(status(TaskState::Working)), routing: routing("w", "") };
    let finish = FinishRequest {
        task_id: task_id.clone(),
        agent_id: agent_id.clone(),
        state: TaskState::Completed as i32,
        artifacts: vec![artifact],
        ..Default::default()
    };
    let claim = ClaimRequest {
        agent_id: agent_id.clone(),
        queue: text("q"),
        wait: short(),
        lease: Some(prost_types::Duration { seconds: 30, nanos: 0 }),
        ..Default::default()
    };
    vec![
        ("/agenthub.AgentHub/RegisterAgent", register.encode_to_vec()),
        (
            "/agenthub.AgentHub/PublishMessage",
            PublishMessageRequest { message: Some(message), routing: routing("boss", "w") }.encode_to_vec(),
        ),
        ("/agenthub.AgentHub/PublishTaskUpdate", working.encode_to_vec()),
        ("/agenthub.AgentHub/PublishTaskArtifact", update.encode_to_vec()),
        (
            "/agenthub.AgentHub/SubscribeToMessages",
            SubscribeToMessagesRequest { agent_id: agent_id.clone(), ..Default::default() }.encode_to_vec(),
        ),
        (
            "/agenthub.AgentHub/SubscribeToTasks",
            SubscribeToTasksRequest { agent_id: agent_id.clone(), states: vec![1, 2], ..Default::default() }
                .encode_to_vec(),
        ),
        (
            "/agenthub.AgentHub/SubscribeToAgentEvents",
            SubscribeToAgentEventsRequest { agent_id: agent_id.clone(), ..Default::default() }.encode_to_vec(),
        ),
        ("/agenthub.AgentHub/GetTask", GetTaskRequest { task_id: task_id.clone(), history_length: 2 }.encode_to_vec()),
        (
            "/agenthub.AgentHub/CancelTask",
            CancelTaskRequest { task_id: task_id.clone(), reason: text("No.") }.encode_to_vec(),
        ),
        (
            "/agenthub.AgentHub/ListTasks",
            ListTasksRequest { states: vec![1, 3], page_size: 5, ..Default::default() }.encode_to_vec(),
        ),
        ("/agenthub.AgentHub/GetAgentCard", Vec::new()),
        ("/harn.hub.v1.HubWorker/Claim", claim.encode_to_vec()),
        (
            "/harn.hub.v1.HubWorker/Renew",
            RenewRequest { task_id: task_id.clone(), agent_id: agent_id.clone(), lease: short(), ..Default::default() }
                .encode_to_vec(),
        ),
        (
            "/harn.hub.v1.HubWorker/Progress",
            ProgressRequest {
                task_id: task_id.clone(),
                agent_id: agent_id.clone(),
                portion: 0.5,
                ..Default::default()
            }
            .encode_to_vec(),
        ),
        (
            "/harn.hub.v1.HubWorker/Reject",
            RejectRequest { task_id: task_id.clone(), agent_id: agent_id.clone(), ..Default::default() }
                .encode_to_vec(),
        ),
        ("/harn.hub.v1.HubWorker/Finish", finish.encode_to_vec()),
        (
            "/harn.hub.v1.HubWorker/Acknowledge",
            AcknowledgeRequest { agent_id: agent_id.clone(), ..Default::default() }.encode_to_vec(),
        ),
        ("/harn.hub.v1.HubWorker/Wait", WaitRequest { wait: short(), ..Default::default() }.encode_to_vec()),
        ("/harn.hub.v1.HubWorker/SubscribeWithCursors", SubscribeWithCursorsRequest::default().encode_to_vec()),
        ("/harn.hub.v1.HubWorker/ListDeadLetters", ListDeadLettersRequest::default().encode_to_vec()),
        (GOOD, ListAgentsRequest::default().encode_to_vec()),
        ("/harn.hub.v1.HubWorker/UnregisterAgent", UnregisterAgentRequest { agent_id }.encode_to_vec()),
    ]
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap_or(0).to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// Returns the frames of a connection with one request.
fn frames(path: &str, message: &[u8]) -> Vec<Vec<u8>> {
    let mut headers = Vec::new();
    for (name, value) in [
        (":method", "POST"),
        (":scheme", "http"),
        (":path", path),
        (":authority", "localhost"),
        ("content-type", "application/grpc"),
        ("te", "trailers"),
        ("grpc-timeout", "5S"),
    ] {
        // A literal without an index; each is shorter than 127 bytes.
        let length = |text: &str| u8::try_from(text.len()).unwrap_or(0);
        headers.extend([0, length(name)]);
        headers.extend_from_slice(name.as_bytes());
        headers.push(length(value));
        headers.extend_from_slice(value.as_bytes());
    }
    let length = u32::try_from(message.len()).unwrap_or(0).to_be_bytes();
    vec![
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(),
        frame(4, 0, 0, &[0, 4, 0, 1, 0, 0]),
        frame(1, 4, 1, &headers),
        frame(0, 1, 1, &[&[0][..], &length, message].concat()),
        frame(6, 0, 0, &[7; 8]),
        frame(8, 0, 0, &[0, 0, 1, 0]),
    ]
}

fn mutator() -> Mutator {
    let corpus = corpus();
    Box::new(move |random| if random.one_in(3) { bytes(random, &corpus) } else { messages(random, &corpus) })
}

/// Changes messages of a session, which are sent one after the other.
fn messages(random: &mut Random, corpus: &[(&str, Vec<u8>)]) -> Mutant {
    let mut pieces = vec![MESSAGES.to_vec()];
    for _ in 0..=random.below(3) {
        let Some((path, message)) = random.one_of(corpus) else { break };
        let mut message = message.clone();
        for _ in 0..random.below(4) {
            let donor = random.one_of(corpus).map(|(_, donor)| donor.clone()).unwrap_or_default();
            message = proto::changed(random, &message, &donor);
        }
        pieces.push([path.as_bytes(), b"\n", &message].concat());
    }
    Mutant { pieces }
}

/// Changes the frames of a connection: their order, their bytes, and the messages in them.
fn bytes(random: &mut Random, corpus: &[(&str, Vec<u8>)]) -> Mutant {
    let (path, message) = random.one_of(corpus).cloned().unwrap_or_default();
    let mut session = frames(path, &message);
    let donors = session.clone();
    for _ in 0..=random.below(3) {
        let at = if random.one_in(10) { 0 } else { 1 + random.below(session.len() - 1) };
        match random.below(6) {
            0 => drop(session.remove(at)),
            1 => session.insert(at, session[at].clone()),
            2 => {
                // The head of a frame: its length, kind, flags and stream.
                let place = random.below(9);
                if let Some(byte) = session[at].get_mut(place) {
                    *byte = [0, 1, 2, 0x7f, 0xff][random.below(5)];
                }
            }
            3 => {
                let kind = u8::try_from(random.below(12)).unwrap_or(0);
                let flags = u8::try_from(random.below(256)).unwrap_or(0);
                let payload = vec![u8::try_from(random.below(256)).unwrap_or(0); random.below(40)];
                session.insert(at, frame(kind, flags, u32::try_from(random.below(5)).unwrap_or(0), &payload));
            }
            _ => session[at] = text::mutant(random, &session[at], &donors, LONGEST),
        }
        if session.len() < 2 {
            break;
        }
    }
    session.insert(0, BYTES.to_vec());
    Mutant { pieces: session }
}

fn target() -> Box<dyn Target> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let before =
        corpus().into_iter().take(2).map(|(path, message)| [path.as_bytes(), b"\n", &message].concat()).collect();
    Box::new(HubClient { runtime, before, running: None })
}

struct HubClient {
    runtime: Runtime,
    /// Requests that are sent before each mutant.
    before: Vec<Vec<u8>>,
    running: Option<RunningHub>,
}

struct RunningHub {
    served: Served,
    address: String,
    fed: u32,
}

impl Target for HubClient {
    fn feed(&mut self, mutant: &Mutant) -> Result<Verdict, String> {
        let hub = match self.running.take() {
            Some(hub) if hub.fed < MOST_MUTANTS => self.running.insert(hub),
            _ => {
                let served = Served::start(&["serve", "hub", "--listen", "0", "--http", "0", "--store", "memory"])?;
                let address = served.addresses()?.swap_remove(0);
                self.running.insert(RunningHub { served, address, fed: 0 })
            }
        };
        hub.fed += 1;
        // The agent and the task that most requests name; a mutant may have ended them.
        let _ = self.runtime.block_on(send(&hub.address, &self.before, LIMIT));
        let fed = match mutant.pieces.split_first() {
            Some((kind, requests)) if kind == MESSAGES => self.runtime.block_on(send(&hub.address, requests, PATIENCE)),
            Some((_, frames)) => exchange(&hub.address, &frames.concat(), PATIENCE).map(|_| Verdict::Rejected),
            None => Ok(Verdict::Rejected),
        };
        let good = [format!("{GOOD}\n").into_bytes()];
        let good = send(&hub.address, &good, LIMIT);
        let good = fed.and_then(|verdict| match self.runtime.block_on(good) {
            Ok(Verdict::Accepted) => Ok(verdict),
            answer => Err(format!("a good request is refused: {answer:?}")),
        });
        match (good, hub.served.is_well()) {
            (Ok(verdict), Ok(())) => Ok(verdict),
            (_, Err(why)) | (Err(why), _) => Err(why),
        }
    }
}

/// Sends messages one after the other over a connection, and waits for each answer as long as the client is patient.
async fn send(address: &str, requests: &[Vec<u8>], patience: Duration) -> Result<Verdict, String> {
    let endpoint = Endpoint::from_shared(format!("http://{address}")).map_err(|error| error.to_string())?;
    let channel = endpoint.connect().await.map_err(|error| format!("cannot connect: {error:?}"))?;
    let mut verdict = Verdict::Rejected;
    for request in requests {
        let end = request.iter().position(|&byte| byte == b'\n').unwrap_or(0);
        let path = std::str::from_utf8(&request[..end]).unwrap_or_default().to_owned();
        let message = request.get(end + 1..).unwrap_or_default().to_vec();
        match timeout(patience, call(&channel, &path, message)).await {
            Ok(Ok(())) => verdict = Verdict::Accepted,
            Err(_) if patience == LIMIT => return Err(format!("{path}: no answer within {LIMIT:?}")),
            Ok(Err(status)) if status.message().is_empty() || status.code() == Code::Unknown => {
                return Err(format!("{path}: an error without a code or a message: {status:?}"));
            }
            Err(_) | Ok(Err(_)) => {}
        }
    }
    Ok(verdict)
}

async fn call(channel: &Channel, path: &str, message: Vec<u8>) -> Result<(), Status> {
    let path = path.parse().map_err(|_| Status::invalid_argument("not a path"))?;
    let mut client = tonic::client::Grpc::new(channel.clone());
    client.ready().await.map_err(|error| Status::unknown(format!("{error:?}")))?;
    let mut answers = client.server_streaming(Request::new(message), path, Bytes).await?.into_inner();
    // The stream of a subscription has no end.
    while let Ok(answer) = timeout(SHORT, answers.message()).await {
        if answer?.is_none() {
            break;
        }
    }
    Ok(())
}

/// Messages as they are on the wire.
#[derive(Clone, Copy, Default)]
struct Bytes;

impl Codec for Bytes {
    type Encode = Vec<u8>;
    type Decode = Vec<u8>;
    type Encoder = Bytes;
    type Decoder = Bytes;

    fn encoder(&mut self) -> Bytes {
        Bytes
    }

    fn decoder(&mut self) -> Bytes {
        Bytes
    }
}

impl Encoder for Bytes {
    type Item = Vec<u8>;
    type Error = Status;

    fn encode(&mut self, item: Vec<u8>, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.put_slice(&item);
        Ok(())
    }
}

impl Decoder for Bytes {
    type Item = Vec<u8>;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<Vec<u8>>, Status> {
        Ok(Some(buffer.copy_to_bytes(buffer.remaining()).to_vec()))
    }
}
