//! Streams of a hub: the tasks of an agent, and events. A stream that loses its connection resumes.

use std::any::Any;
use std::rc::Rc;
use std::time::{Duration, Instant};

use hub::grpc::CURSOR;
use hub::proto::agenthub::agent_event::Payload;
use hub::proto::agenthub::{
    AgentEvent, SubscribeToAgentEventsRequest, SubscribeToMessagesRequest, SubscribeToTasksRequest,
};
use hub::proto::worker::{ClaimRequest, RejectRequest, RejectionReason};
use lang::value::{HostBox, HostObject, Value};
use lang::vm::{Next, Raise, Wait};
use runtime::data::Data;
use tokio::sync::Mutex;
use tonic::{Code, Response, Status, Streaming};

use super::client::{PAUSES, is_transient};
use super::convert::{artifact_of, message_of, state_of, task_of};
use super::{HubConnection, HubTask, of_status};
use crate::a2a::client::shown;
use crate::clock::RunClock;
use crate::convert::to_value;

/// The longest wait of one request.
pub(crate) const WAIT: Duration = Duration::from_secs(20);

/// The tasks of an agent or of a queue, one claim after another.
pub(crate) struct Claims {
    pub(crate) connection: Rc<HubConnection>,
    pub(crate) request: ClaimRequest,
    /// Types of tasks; others are rejected.
    pub(crate) types: Vec<String>,
    /// Time after the last call of a task for which its lease is renewed.
    pub(crate) renew_for: Duration,
    /// Time without a task after which the stream ends.
    pub(crate) idle: Option<Duration>,
}

impl Claims {
    /// Waits for the next task. `None` if none arrived in time.
    pub(crate) async fn next(&mut self) -> Result<Option<HubTask>, Box<Raise>> {
        let end = self.idle.map(|idle| Instant::now() + idle);
        loop {
            let left = end.map_or(WAIT, |end| end.saturating_duration_since(Instant::now()).min(WAIT));
            let wait = prost_types::Duration::try_from(left).ok();
            let request = ClaimRequest { wait, ..self.request.clone() };
            let response = self
                .connection
                .call(request, |r| {
                    let mut w = self.connection.worker();
                    async move { w.claim(r).await }
                })
                .await?;
            if let Some(claim) = response.claim {
                let task = HubTask::of_claim(self, claim)?;
                if self.types.is_empty() || self.types.contains(&task.text("type")) {
                    return Ok(Some(task));
                }
                self.reject(&task).await?;
            } else if end.is_some_and(|end| Instant::now() >= end) {
                return Ok(None);
            }
        }
    }

    async fn reject(&self, task: &HubTask) -> Result<(), Box<Raise>> {
        let request = RejectRequest {
            agent_id: self.request.agent_id.clone(),
            task_id: task.id(),
            lease_id: task.lease_id.clone(),
            reason: RejectionReason::UnsupportedTaskType as i32,
            text: format!("this agent takes the types {}", self.types.join(", ")),
        };
        let connection = &self.connection;
        connection
            .call(request, |r| {
                let mut w = connection.worker();
                async move { w.reject(r).await }
            })
            .await?;
        Ok(())
    }
}

/// The events that a subscription selects.
#[derive(Clone)]
pub(crate) enum Selection {
    Messages(SubscribeToMessagesRequest),
    Tasks(SubscribeToTasksRequest),
    Events(SubscribeToAgentEventsRequest),
}

/// A subscription to events.
pub(crate) struct HubSubscription {
    pub(crate) connection: Rc<HubConnection>,
    pub(crate) selection: Selection,
    /// The event after which it resumes.
    pub(crate) cursor: Option<String>,
    pub(crate) open: Option<Streaming<AgentEvent>>,
}

impl HubSubscription {
    /// Opens it, so that what happens from now on is in it.
    pub(crate) async fn open(&mut self) -> Result<(), Status> {
        let mut client = self.connection.hub();
        let cursor = self.cursor.clone();
        let response: Response<Streaming<AgentEvent>> = match self.selection.clone() {
            Selection::Messages(request) => client.subscribe_to_messages(self.resumed(request, cursor)?).await?,
            Selection::Tasks(request) => client.subscribe_to_tasks(self.resumed(request, cursor)?).await?,
            Selection::Events(request) => client.subscribe_to_agent_events(self.resumed(request, cursor)?).await?,
        };
        self.open = Some(response.into_inner());
        Ok(())
    }

    fn resumed<T>(&self, message: T, cursor: Option<String>) -> Result<tonic::Request<T>, Status> {
        let mut request = self.connection.signed(message)?;
        if let Some(cursor) = cursor {
            let value = cursor.parse().map_err(|_| Status::invalid_argument("invalid cursor"))?;
            request.metadata_mut().insert(CURSOR, value);
        }
        Ok(request)
    }

    async fn next(&mut self) -> Result<Data, Box<Raise>> {
        let mut pause = PAUSES.0;
        loop {
            let received = match &mut self.open {
                None => match self.open().await {
                    Ok(()) => continue,
                    Err(status) => Err(status),
                },
                Some(open) => open.message().await,
            };
            match received {
                Ok(Some(event)) => {
                    self.cursor = Some(event.event_id.clone());
                    return Ok(shown_event(event));
                }
                // A hub ends a stream with a status; a proxy may end it without.
                Ok(None) => {
                    self.open = None;
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(PAUSES.1);
                }
                Err(status) => {
                    self.open = None;
                    if let Some(cursor) =
                        status.metadata().get(CURSOR).filter(|_| status.code() == Code::ResourceExhausted)
                    {
                        self.cursor = cursor.to_str().ok().map(ToOwned::to_owned);
                    } else if is_transient(&status) {
                        tokio::time::sleep(pause).await;
                        pause = (pause * 2).min(PAUSES.1);
                    } else {
                        return Err(of_status(self.connection.url(), &status));
                    }
                }
            }
        }
    }
}

/// Returns an event as scripts read it.
fn shown_event(event: AgentEvent) -> Data {
    let routing = event.routing.unwrap_or_default();
    let data = match event.payload {
        Some(Payload::Message(message)) => {
            let message = message_of(message);
            shown::of_message(&message)
                .with("event", "message".into())
                .with("task_id", message.task_id.as_ref().into())
                .with("context_id", message.context_id.as_ref().into())
                .with("data", shown::last_data(&message.parts))
        }
        Some(Payload::Task(task)) => shown::of_task(&task_of(task)).with("event", "task".into()),
        Some(Payload::StatusUpdate(update)) => {
            let status = update.status.unwrap_or_default();
            let message = status.update.clone().map(message_of);
            Data::dict([
                ("event", Data::from("status")),
                ("task_id", update.task_id.into()),
                ("context_id", update.context_id.into()),
                ("state", state_of(status.state).as_str().into()),
                ("text", message.as_ref().map(a2a::Message::text).into()),
                ("data", message.as_ref().map_or(Data::Nil, |message| shown::last_data(&message.parts))),
                ("final", update.r#final.into()),
            ])
        }
        Some(Payload::ArtifactUpdate(update)) => {
            let artifact = artifact_of(update.artifact.unwrap_or_default());
            shown::of_artifact(&artifact)
                .with("event", "artifact".into())
                .with("task_id", update.task_id.into())
                .with("context_id", update.context_id.into())
                .with("text", a2a::model::text_of(&artifact.parts).into())
                .with("data", shown::last_data(&artifact.parts))
                .with("append", update.append.into())
                .with("last_chunk", update.last_chunk.into())
        }
        Some(Payload::AgentCard(card)) => Data::dict([
            ("event", Data::from("agent")),
            ("what", card.event_type.into()),
            ("agent", card.agent_id.into()),
            ("description", card.agent_card.unwrap_or_default().description.into()),
        ]),
        None => Data::dict([("event", Data::from("unknown"))]),
    };
    data.with("type", routing.event_type.into())
        .with("from", routing.from_agent_id.into())
        .with("cursor", event.event_id.into())
}

/// The source of a stream.
pub(crate) enum HubSource {
    Claims(Claims),
    Events(Box<HubSubscription>),
}

/// A stream as a value.
pub(crate) struct HubStream {
    source: Rc<Mutex<HubSource>>,
    clock: Rc<RunClock>,
}

impl HubStream {
    pub(crate) fn value(source: HubSource, clock: Rc<RunClock>) -> Value {
        HostBox::value(HubStream { source: Rc::new(Mutex::new(source)), clock })
    }
}

impl HostObject for HubStream {
    fn type_name(&self) -> &'static str {
        "stream"
    }

    fn next(&self) -> Option<Next> {
        let (source, clock) = (self.source.clone(), self.clock.clone());
        Some(Next::Later(Wait::new(async move {
            let _outside = clock.outside();
            let next = match &mut *source.lock().await {
                HubSource::Claims(claims) => claims.next().await?.map(HubTask::value),
                HubSource::Events(events) => Some(to_value(&events.next().await?)),
            };
            Ok(next.map_or(Value::Nil, |item| Value::pair(item, Value::Bool(true))))
        })))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
