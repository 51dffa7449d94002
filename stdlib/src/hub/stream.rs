//! Streams of a hub: the tasks of an agent, and events. A stream that loses its connection resumes.

use std::any::Any;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::{Duration, Instant};

use base::data::Data;
use hub::grpc::{CURSOR, OPERATION};
use hub::proto::agenthub::AgentEvent;
use hub::proto::agenthub::agent_event::Payload;
use hub::proto::worker::subscribe_with_cursors_request::Selection;
use hub::proto::worker::{
    ClaimRequest, ClaimResponse, EventWithCursor, RejectRequest, RejectionReason, SubscribeWithCursorsRequest,
};
use lang::value::{HostBox, HostObject, Value};
use lang::vm::{Next, Raise, Wait};
use tokio::sync::Mutex;
use tonic::{Code, Response, Status, Streaming};

use super::client::{PAUSES, add, is_transient, new_operation};
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
            let response = self.claim(request).await?;
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

    /// Sends a claim. All attempts have the same id, so that a task whose response was lost is leased once.
    async fn claim(&self, request: ClaimRequest) -> Result<ClaimResponse, Box<Raise>> {
        let operation = new_operation();
        let attempt = || {
            let signed = self.connection.signed(request.clone());
            let operation = &operation;
            async move {
                let mut signed = signed?;
                add(&mut signed, OPERATION, operation)?;
                self.connection.worker().claim(signed).await.map(Response::into_inner)
            }
        };
        self.connection.retry_as_agent(attempt).await
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
            .call(request, None, |r| {
                let mut w = connection.worker();
                async move { w.reject(r).await }
            })
            .await?;
        Ok(())
    }
}

/// A subscription to events.
pub(crate) struct HubSubscription {
    connection: Rc<HubConnection>,
    selection: Selection,
    /// Place after which it resumes; empty if it has none.
    cursor: String,
    open: Option<Streaming<EventWithCursor>>,
    received: ReceivedEvents,
}

impl HubSubscription {
    /// Opens a subscription, so that what happens from now on, or after a cursor, is in it.
    pub(crate) async fn open(
        connection: Rc<HubConnection>,
        selection: Selection,
        cursor: Option<String>,
    ) -> Result<HubSubscription, Box<Raise>> {
        let cursor = cursor.unwrap_or_default();
        let received = ReceivedEvents::default();
        let mut subscription = HubSubscription { connection, selection, cursor, open: None, received };
        subscription.open = Some(subscription.connection.retry_as_agent(|| subscription.begin()).await?);
        Ok(subscription)
    }

    async fn begin(&self) -> Result<Streaming<EventWithCursor>, Status> {
        let (selection, cursor) = (Some(self.selection.clone()), self.cursor.clone());
        let request = self.connection.signed(SubscribeWithCursorsRequest { selection, cursor })?;
        self.connection.worker().subscribe_with_cursors(request).await.map(Response::into_inner)
    }

    /// Opens the subscription again after it was lost.
    async fn reopen(&self) -> Result<Streaming<EventWithCursor>, Status> {
        self.connection.prepare().await?;
        match self.begin().await {
            Err(status) if status.code() == Code::NotFound && self.connection.register_again().await? => {
                self.begin().await
            }
            result => result,
        }
    }

    async fn next(&mut self) -> Result<Data, Box<Raise>> {
        let mut pause = PAUSES.0;
        loop {
            let received = match &mut self.open {
                None => match self.reopen().await {
                    Ok(open) => {
                        self.connection.note_answer();
                        self.open = Some(open);
                        continue;
                    }
                    Err(status) => Err(status),
                },
                Some(open) => open.message().await,
            };
            match received {
                Ok(Some(EventWithCursor { event, cursor, sequence, complete })) => {
                    pause = PAUSES.0;
                    self.cursor.clone_from(&cursor);
                    // The first message has only the cursor of the beginning.
                    if let Some(event) = event
                        && self.received.is_new(sequence, complete)
                    {
                        return Ok(shown_event(event, cursor));
                    }
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
                        cursor.to_str().unwrap_or_default().clone_into(&mut self.cursor);
                    } else if is_transient(&status) {
                        self.connection.note_loss(&status, format_args!("the stream waits for it"));
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

/// The events of a subscription that arrived before others which happened earlier. After a lost connection the hub sends
/// them again.
#[derive(Default)]
struct ReceivedEvents(BTreeSet<u64>);

impl ReceivedEvents {
    /// Notes an event, and returns whether it arrives for the first time. Everything up to `complete` has arrived.
    fn is_new(&mut self, sequence: u64, complete: u64) -> bool {
        let is_new = self.0.insert(sequence);
        // The subscription never asks again for what is complete.
        self.0 = self.0.split_off(&complete.saturating_add(1));
        is_new
    }
}

/// Returns an event as scripts read it.
fn shown_event(event: AgentEvent, cursor: String) -> Data {
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
        .with("event_id", event.event_id.into())
        .with("cursor", cursor.into())
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

#[cfg(test)]
mod tests {
    use super::ReceivedEvents;

    #[test]
    fn an_event_that_arrives_again_after_a_lost_connection_is_skipped_once() {
        let mut received = ReceivedEvents::default();
        // The urgent event 3 arrives before 1 and 2.
        assert!(received.is_new(3, 0));
        // The hub is lost, and sends everything after 0 again.
        assert!(received.is_new(1, 1));
        assert!(received.is_new(2, 2));
        assert!(!received.is_new(3, 3));
        assert!(received.is_new(4, 4));
        assert!(received.0.is_empty(), "nothing is kept that cannot arrive again");
    }

    #[test]
    fn a_task_that_is_delivered_again_on_purpose_is_new() {
        let mut received = ReceivedEvents::default();
        assert!(received.is_new(5, 9));
        assert!(received.is_new(5, 9));
    }
}
