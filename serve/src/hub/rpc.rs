//! The methods of the Agent2Agent protocol over a hub.

use std::sync::Arc;
use std::time::Duration;

use ::hub::broker::change::AgentRecord;
use ::hub::broker::{BrokerError, Caller, Command, ErrorKind, Publish, RecentTasks, Reply, TraceIds};
use ::hub::proto::agenthub::AgentEventMetadata;
use ::hub::{FollowerPlace, Hub};
use a2a::{ListTasks, Message, SendMessage, Task, TaskPage, Version};
use base::data::Data;
use jsonrpc::{Id, Request};
use stdlib::hub_convert::{message_to_proto, state_to_proto, task_of};

use super::frames::HubTaskFrames;
use crate::a2a::reminder::ReminderFormat;
use crate::a2a::tasks::{PageBuilder, page_token, read_page_token};
use crate::a2a::{
    A2aCode, A2aMethod, CallResult, Refusal, RequestedVersion, RpcError, StreamContext, StreamEnvelope, StreamSource,
    TaskEventStream, code, event_of, no_extended_card, no_push, refused,
};
use crate::count_limit::CountPermit;

/// The sender of messages whose caller has no token and names none.
const GUEST: &str = "a2a";

/// The time after which a caller that still waits for a task is no longer answered.
const LONGEST_WAIT: Duration = Duration::from_secs(30 * 24 * 3600);

/// The default and the maximum number of tasks on a page.
const PAGE: (u32, u32) = (50, 100);

/// Requests of a caller.
pub(super) struct HubCaller<'a> {
    pub(super) hub: &'a Hub,
    /// The agent of the caller's token; `None` if the hub has no tokens.
    pub(super) agent: Option<String>,
    pub(super) trace: TraceIds,
    pub(super) streams: &'a StreamContext,
    pub(super) version: Version,
    /// Whether the caller gets a response.
    pub(super) waits: bool,
}

/// The result of a request.
pub(super) enum HubReply {
    Data(Data),
    Stream(HubStream),
}

/// A stream of a task's frames.
pub(super) struct HubStream {
    frames: HubTaskFrames,
    history: Option<u32>,
    permit: CountPermit,
}

impl HubStream {
    /// Returns the stream as events.
    pub(super) fn events(self, envelope: StreamEnvelope, caller: &HubCaller<'_>) -> Box<TaskEventStream> {
        let source = StreamSource::Frames(Box::new(self.frames));
        let written = caller.streams.written.clone();
        let spelling = ReminderFormat::new(false);
        let stream =
            TaskEventStream::new(envelope, caller.version, spelling, self.history, source, written, self.permit);
        Box::new(stream)
    }
}

/// Executes a JSON-RPC request.
pub(super) async fn call(mut caller: HubCaller<'_>, said: &RequestedVersion, request: Request<Data>) -> CallResult {
    let Request { id, method, params } = request;
    let (is_notification, id) = (id.is_none(), id.unwrap_or_else(Id::null));
    let params = params.unwrap_or(Data::Nil);
    caller.waits = !is_notification;
    let named = A2aMethod::of(&method);
    let result = match (said.known(), named.clone()) {
        (Ok(version), Ok(known)) => {
            caller.version = version.unwrap_or(Version::V0_3);
            caller.execute(known, &method, &params).await
        }
        (Err(fault), _) | (_, Err(fault)) => Err(fault),
    };
    match result {
        _ if is_notification => CallResult::Nothing,
        Ok(HubReply::Data(data)) => CallResult::Text(jsonrpc::result(&id, &data)),
        Ok(HubReply::Stream(stream)) => CallResult::Stream(stream.events(StreamEnvelope::JsonRpc(id), &caller)),
        Err(fault) => {
            let text = refused(&id, &fault, caller.version);
            // A client of version 0.3 that requests a stream reads only events.
            let wants_events = caller.version != Version::V1_0 && named.is_ok_and(A2aMethod::is_stream);
            if wants_events { CallResult::Event(event_of(&text)) } else { CallResult::Text(text) }
        }
    }
}

impl HubCaller<'_> {
    /// Executes a method.
    pub(super) async fn execute(&self, method: A2aMethod, name: &str, params: &Data) -> Result<HubReply, RpcError> {
        let version = self.version;
        let data = match method {
            A2aMethod::Send => self.send(params).await?,
            A2aMethod::Stream => return self.stream(params).await,
            A2aMethod::Subscribe => return self.subscribe(params).await,
            A2aMethod::Get => {
                let asked = version.read_get(params)?;
                version.task(&self.task(&asked.id).await?, asked.history_length)
            }
            A2aMethod::List => {
                let asked = version.read_list(params)?;
                version.page(&self.page(&asked).await?, &asked)
            }
            A2aMethod::Cancel => {
                let asked = version.read_get(params)?;
                let cancel = Command::Cancel { task_id: asked.id.to_string(), reason: String::new() };
                match self.hub.execute(&self.caller(), cancel).await {
                    Ok(Reply::Task(task)) => version.task(&task_of(*task), asked.history_length),
                    Ok(_) => return Err(unexpected()),
                    Err(error) if error.kind == ErrorKind::FailedPrecondition => {
                        return Err(RpcError::new(code::NOT_CANCELABLE, A2aCode::NotTaken, error.message));
                    }
                    Err(error) => return Err(broken(error)),
                }
            }
            A2aMethod::Push => return Err(no_push()),
            A2aMethod::ExtendedCard => return Err(no_extended_card(version, name)),
            A2aMethod::Reminders(_) => {
                let message = "the hub does not inject reminders; send them in the metadata of a message";
                return Err(RpcError::new(code::UNSUPPORTED, A2aCode::NotOffered, message));
            }
        };
        Ok(HubReply::Data(data))
    }

    fn caller(&self) -> Caller {
        self.agent.clone().map_or(Caller::Operator, Caller::Agent)
    }

    async fn task(&self, id: &str) -> Result<Task, RpcError> {
        self.hub.task(id, 0).await.map(task_of).map_err(broken)
    }

    async fn send(&self, params: &Data) -> Result<Data, RpcError> {
        let request = self.version.read_send(params)?;
        let wanted = request.configuration.clone();
        let returns = wanted.return_immediately || !self.waits;
        // Before the message is published: a request that is refused submits nothing.
        let place = if returns { None } else { Some(self.hub.follower_place().map_err(broken)?) };
        let id = self.publish(request).await?;
        let task = match &place {
            None => self.task(&id).await?,
            Some(place) => task_of(self.hub.settled_task_in(place, &id, LONGEST_WAIT).await.map_err(broken)?.0),
        };
        Ok(self.version.sent(&task, wanted.history_length))
    }

    async fn stream(&self, params: &Data) -> Result<HubReply, RpcError> {
        let request = self.version.read_send(params)?;
        let history = request.configuration.history_length;
        let permit = self.permit()?;
        let place = self.hub.follower_place().map_err(broken)?;
        let id = self.publish(request).await?;
        self.follow(&place, &id, history, permit).await
    }

    async fn subscribe(&self, params: &Data) -> Result<HubReply, RpcError> {
        let asked = self.version.read_get(params)?;
        let state = self.task(&asked.id).await?.status.state;
        if state.is_terminal() {
            let message = format!("the task is {state} and has no more events; request the task instead");
            let fault = RpcError::new(code::UNSUPPORTED, A2aCode::NotTaken, message);
            return Err(fault.with("taskId", &*asked.id).with("state", state.as_str()));
        }
        let permit = self.permit()?;
        let place = self.hub.follower_place().map_err(broken)?;
        self.follow(&place, &asked.id, asked.history_length, permit).await
    }

    async fn follow(
        &self,
        place: &Arc<FollowerPlace>,
        id: &str,
        history: Option<u32>,
        permit: CountPermit,
    ) -> Result<HubReply, RpcError> {
        let (task, follower) = self.hub.follow_in(place, id).await.map_err(broken)?;
        let frames = HubTaskFrames::new(task_of(task), follower);
        Ok(HubReply::Stream(HubStream { frames, history, permit }))
    }

    /// Takes a place for a stream, before anything begins.
    fn permit(&self) -> Result<CountPermit, RpcError> {
        let permits = &self.streams.permits;
        permits.take().ok_or_else(|| Refusal::TooManyStreams(permits.most()).into())
    }

    async fn page(&self, asked: &ListTasks) -> Result<TaskPage, RpcError> {
        let page_size = asked.page_size.unwrap_or(PAGE.0).clamp(1, PAGE.1);
        let request = RecentTasks {
            context_id: asked.context_id.as_deref().unwrap_or_default().to_owned(),
            state: asked.state.map(state_to_proto),
            changed_since_ms: asked.changed_since_ms.unwrap_or(0),
            after: asked.page_token.as_deref().map(read_page_token).transpose()?,
            size: page_size as usize,
        };
        let found = self.hub.recent_tasks(&request).await.map_err(broken)?;
        let (mut page, mut is_last) = (PageBuilder::default(), found.is_last);
        for task in found.tasks {
            if page.push(task_of(task).into(), asked).is_err() {
                is_last = false;
                break;
            }
        }
        let tasks = page.done();
        let next_page_token = tasks.last().filter(|_| !is_last).map(|task| page_token(task)).unwrap_or_default();
        Ok(TaskPage { tasks, next_page_token, page_size, total_size: found.total as u64 })
    }

    /// Publishes a message, and returns the id of its task.
    async fn publish(&self, request: SendMessage) -> Result<String, RpcError> {
        if request.configuration.push {
            return Err(no_push());
        }
        let (message, routing) = self.routed(request)?;
        if routing.to_agent_id.is_empty()
            && let Some(known) = &message.task_id
        {
            // Without a receiver, a message with an unknown task would begin a task for all agents.
            self.task(known).await?;
        }
        let message = message_to_proto(&message);
        let publish = Publish { message, routing, submits: true, trace: self.trace.clone() };
        match self.hub.execute(&self.caller(), Command::Publish(publish)).await.map_err(broken)? {
            Reply::Published(receipt) => Ok(receipt.task_id),
            _ => Err(unexpected()),
        }
    }

    /// Returns the message, and its sender and receiver.
    fn routed(&self, request: SendMessage) -> Result<(Message, AgentEventMetadata), RpcError> {
        let SendMessage { message, metadata, .. } = request;
        let named = |key: &str| {
            let named = [&metadata, &message.metadata].into_iter().find_map(|from| from.get(key).as_str());
            // Without a receiver, the message would be a broadcast.
            named.filter(|text| !text.is_empty()).map(ToOwned::to_owned)
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
}

fn unexpected() -> RpcError {
    RpcError::new(code::INTERNAL, A2aCode::Internal, "internal error: unexpected broker reply")
}

/// Returns the JSON-RPC error for an error of the broker.
fn broken(error: BrokerError) -> RpcError {
    let (rpc, code) = match error.kind {
        ErrorKind::NotFound => (code::UNKNOWN_TASK, A2aCode::UnknownTask),
        ErrorKind::InvalidArgument | ErrorKind::OutOfRange | ErrorKind::AlreadyExists => {
            (code::PARAMS, A2aCode::Params)
        }
        ErrorKind::FailedPrecondition | ErrorKind::DeadlineImpossible | ErrorKind::Aborted => {
            (code::UNSUPPORTED, A2aCode::NotTaken)
        }
        ErrorKind::PermissionDenied => (code::SERVER, A2aCode::Forbidden),
        ErrorKind::ResourceExhausted => (code::SERVER, A2aCode::TooMany),
        ErrorKind::Unavailable => (code::SERVER, A2aCode::Internal),
    };
    let fault = RpcError::new(rpc, code, error.message);
    match error.kind {
        ErrorKind::PermissionDenied => fault.reason("permission_denied"),
        ErrorKind::Unavailable => fault.reason("unavailable"),
        ErrorKind::AlreadyExists => fault.field("message.messageId"),
        _ => fault,
    }
}
