//! The methods of the Agent2Agent protocol over a hub.

use std::time::Duration;

use ::hub::Hub;
use ::hub::broker::change::AgentRecord;
use ::hub::broker::{BrokerError, Caller, Command, ErrorKind, Publish, Reply, TraceIds};
use ::hub::proto::agenthub::AgentEventMetadata;
use a2a::{Message, SendMessage, Task, Version};
use jsonrpc::{Id, Request};
use runtime::data::Data;
use serde::Serialize;

use crate::a2a::{A2aCode, A2aMethod, RequestedVersion, RpcError, code, no_extended_card, no_push, refused};
use stdlib::hub_convert::{message_to_proto, task_of};

/// The sender of messages whose caller has no token and names none.
const GUEST: &str = "a2a";

/// The first and the longest pause between two looks at a task that a caller waits for.
const PAUSES: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(250));

/// Executes a request of an agent, or of a caller without a token. Notifications have no response.
pub(super) async fn call(
    hub: &Hub,
    agent: Option<String>,
    said: &RequestedVersion,
    request: Request<Data>,
) -> Option<String> {
    let Request { id, method, params } = request;
    let (is_notification, id) = (id.is_none(), id.unwrap_or_else(Id::null));
    let params = params.unwrap_or(Data::Nil);
    let call = RpcCall { hub, agent, id: &id, waits: !is_notification };
    let text = match call.meet(said, &method, &params).await {
        Ok(text) => text,
        Err(fault) => refused(&id, &fault, said.nearest()),
    };
    (!is_notification).then_some(text)
}

struct RpcCall<'a> {
    hub: &'a Hub,
    agent: Option<String>,
    id: &'a Id,
    /// Whether the caller gets a response.
    waits: bool,
}

impl RpcCall<'_> {
    async fn meet(&self, said: &RequestedVersion, name: &str, params: &Data) -> Result<String, RpcError> {
        let version = said.known()?.unwrap_or(Version::V0_3);
        match A2aMethod::of(name)? {
            A2aMethod::Send => self.send(version, params).await,
            A2aMethod::Get => {
                let asked = version.read_get(params)?;
                let task = self.task(&asked.id).await?;
                Ok(self.result(&version.task(&task, asked.history_length)))
            }
            A2aMethod::Cancel => {
                let asked = version.read_get(params)?;
                let cancel = Command::Cancel { task_id: asked.id.to_string(), reason: String::new() };
                match self.hub.execute(&self.caller(), cancel).await {
                    Ok(Reply::Task(task)) => Ok(self.result(&version.task(&task_of(*task), asked.history_length))),
                    Ok(_) => Err(RpcError::new(code::INTERNAL, A2aCode::Internal, "unexpected reply of the broker")),
                    Err(error) if error.kind == ErrorKind::FailedPrecondition => {
                        Err(RpcError::new(code::NOT_CANCELABLE, A2aCode::NotTaken, error.message))
                    }
                    Err(error) => Err(broken(error)),
                }
            }
            A2aMethod::List => Err(RpcError::new(
                code::UNSUPPORTED,
                A2aCode::NotOffered,
                "the hub does not list tasks over HTTP; use `ListTasks` over gRPC",
            )),
            A2aMethod::Stream | A2aMethod::Subscribe => Err(RpcError::new(
                code::UNSUPPORTED,
                A2aCode::NotOffered,
                "the hub does not stream over HTTP; request the task, or subscribe over gRPC",
            )),
            A2aMethod::Push => Err(no_push()),
            A2aMethod::ExtendedCard => Err(no_extended_card(version, name)),
            A2aMethod::Reminders(_) => {
                let message = "the hub does not inject reminders; send them in the metadata of a message";
                Err(RpcError::new(code::UNSUPPORTED, A2aCode::NotOffered, message))
            }
        }
    }

    fn caller(&self) -> Caller {
        self.agent.clone().map_or(Caller::Operator, Caller::Agent)
    }

    fn result(&self, result: &impl Serialize) -> String {
        jsonrpc::result(self.id, result)
    }

    async fn task(&self, id: &str) -> Result<Task, RpcError> {
        self.hub.task(id, 0).await.map(task_of).map_err(broken)
    }

    async fn send(&self, version: Version, params: &Data) -> Result<String, RpcError> {
        let request = version.read_send(params)?;
        if request.configuration.push {
            return Err(no_push());
        }
        let wanted = request.configuration.clone();
        let (message, routing) = self.routed(request)?;
        let mut message = message_to_proto(&message);
        if message.task_id.is_empty() {
            message.task_id = format!("task_{}", uuid::Uuid::now_v7().simple());
        }
        if message.context_id.is_empty() && self.hub.task(&message.task_id, 1).await.is_err() {
            message.context_id = format!("ctx_{}", uuid::Uuid::now_v7().simple());
        }
        let publish = Publish { message, routing, trace: TraceIds::default() };
        let published = self.hub.execute(&self.caller(), Command::Publish(publish)).await.map_err(broken)?;
        let Reply::Published(receipt) = published else {
            return Err(RpcError::new(code::INTERNAL, A2aCode::Internal, "unexpected reply of the broker"));
        };
        let returns = wanted.return_immediately || !self.waits;
        let task = if returns { self.task(&receipt.task_id).await? } else { self.settled(&receipt.task_id).await? };
        Ok(self.result(&version.sent(&task, wanted.history_length)))
    }

    /// Returns the message, and its sender and receiver.
    fn routed(&self, request: SendMessage) -> Result<(Message, AgentEventMetadata), RpcError> {
        let SendMessage { message, metadata, .. } = request;
        let named = |key: &str| {
            let named = [&metadata, &message.metadata].into_iter().find_map(|from| from.get(key).as_str());
            named.map(ToOwned::to_owned)
        };
        let skill = named("skill");
        let to_agent_id = match (named("to_agent_id"), &skill) {
            (Some(agent), _) => agent,
            // An answer in a task goes to the agent of the task.
            (None, None) if message.task_id.is_some() => String::new(),
            (None, Some(skill)) => self.agent_with(skill).ok_or_else(|| {
                let message = format!("no registered agent has the skill `{}`", crate::a2a::shortened(skill));
                RpcError::new(code::PARAMS, A2aCode::Params, message).field("metadata.skill")
            })?,
            (None, None) => {
                let message = "missing receiver: name an agent in `metadata.to_agent_id`, or a skill or its tag in \
                    `metadata.skill`";
                return Err(RpcError::new(code::PARAMS, A2aCode::Params, message).field("metadata.to_agent_id"));
            }
        };
        let sender = self.agent.clone().or_else(|| named("from_agent_id"));
        let routing = AgentEventMetadata {
            from_agent_id: sender.unwrap_or_else(|| GUEST.to_owned()),
            to_agent_id,
            event_type: named("event_type").unwrap_or_default(),
            ..AgentEventMetadata::default()
        };
        Ok((message, routing))
    }

    /// Returns the agent that has a skill with this id or tag: the first by its id, healthy ones before others. The card
    /// of the hub lists a skill as `AGENT/SKILL`.
    fn agent_with(&self, skill: &str) -> Option<String> {
        let mut agents = self.hub.agents();
        agents.sort_by(|a, b| b.healthy.cmp(&a.healthy).then_with(|| a.agent_id.cmp(&b.agent_id)));
        let has = |agent: &AgentRecord| {
            let own = skill.strip_prefix(agent.agent_id.as_str()).and_then(|rest| rest.strip_prefix('/'));
            let mut skills = agent.card.iter().flat_map(|card| &card.skills);
            skills.any(|known| {
                known.id == skill || Some(known.id.as_str()) == own || known.tags.iter().any(|it| it == skill)
            })
        };
        agents.into_iter().find(has).map(|agent| agent.agent_id)
    }

    /// Waits until a task is over or waits for input.
    async fn settled(&self, id: &str) -> Result<Task, RpcError> {
        let mut pause = PAUSES.0;
        loop {
            let task = self.task(id).await?;
            if task.status.state.is_terminal() || task.status.state.is_interrupted() {
                return Ok(task);
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSES.1);
        }
    }
}

/// Returns the JSON-RPC error for an error of the broker.
fn broken(error: BrokerError) -> RpcError {
    let (rpc, code) = match error.kind {
        ErrorKind::NotFound => (code::UNKNOWN_TASK, A2aCode::UnknownTask),
        ErrorKind::InvalidArgument | ErrorKind::OutOfRange => (code::PARAMS, A2aCode::Params),
        ErrorKind::FailedPrecondition | ErrorKind::DeadlineImpossible | ErrorKind::Aborted => {
            (code::UNSUPPORTED, A2aCode::NotTaken)
        }
        ErrorKind::PermissionDenied => (code::SERVER, A2aCode::Forbidden),
        ErrorKind::ResourceExhausted => (code::SERVER, A2aCode::TooMany),
        ErrorKind::Unavailable => (code::SERVER, A2aCode::Internal),
    };
    RpcError::new(rpc, code, error.message)
}
