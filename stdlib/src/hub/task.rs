//! [`HubTask`]: a leased task as a value.

use std::any::Any;
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use a2a::model::text_of;
use base::data::Data;
use hub::proto::agenthub::{AgentEventMetadata, Priority};
use hub::proto::worker::{Claim, RenewRequest};
use lang::value::{HostBox, HostObject, Str, Value};
use lang::vm::Raise;
use runtime::spans::TraceContext;

use super::HubConnection;
use super::client::incomplete;
use super::convert::{milliseconds, task_of};
use super::renewal::LeaseRenewal;
use super::stream::Claims;
use crate::a2a::client::{reminder, shown};
use crate::convert::to_value;

/// A task that is leased to an agent.
pub(crate) struct HubTask {
    pub(crate) connection: Rc<HubConnection>,
    pub(crate) lease_id: String,
    /// Whether the agent has reported that it works on the task.
    pub(crate) accepted: Rc<Cell<bool>>,
    /// Extends the lease while the script holds the task.
    pub(crate) renewal: Arc<LeaseRenewal>,
    /// The fields that scripts read.
    shown: Data,
}

impl HubTask {
    pub(crate) fn of_claim(claims: &Claims, claim: Claim) -> Result<HubTask, Box<Raise>> {
        let connection = &claims.connection;
        let lacks = |field: &str| incomplete(connection.url(), field);
        let lease = claim.lease.ok_or_else(|| lacks("lease"))?;
        let task = task_of(claim.task.ok_or_else(|| lacks("task"))?);
        let routing = claim.routing.unwrap_or_default();
        let request = task.history.first();
        let parts = request.map_or(&[][..], |message| &message.parts);
        let time = |at| Data::from(milliseconds(at).and_then(|ms| i64::try_from(ms).ok()));
        let whole = shown::of_message;
        let request_shown = request.map_or(Data::Nil, |message| whole(message));
        let metadata = request.map_or(Data::Nil, |message| message.metadata.clone());
        let reminders: Vec<Data> = match metadata.get(reminder::KEY) {
            Data::Nil => Vec::new(),
            Data::List(list) => list.iter().map(reminder::inward).collect(),
            one => vec![reminder::inward(one)],
        };
        let token = Some(claim.resume_token).filter(|token| !token.is_empty());
        let shown = Data::dict([
            ("task_id", Data::from(&task.id)),
            ("context_id", (&task.context_id).into()),
            ("state", task.status.state.as_str().into()),
            ("text", text_of(parts).into()),
            ("data", shown::last_data(parts)),
            ("parts", request_shown.get("parts").clone()),
            ("type", routing.event_type.as_str().into()),
            ("from", routing.from_agent_id.as_str().into()),
            ("priority", priority(&routing).into()),
            ("queue", claim.queue.as_str().into()),
            ("attempt", i64::from(claim.attempt).into()),
            ("max_attempts", i64::from(claim.max_attempts).into()),
            ("resume_token", token.into()),
            ("deadline_ms", claim.deadline.map_or(Data::Nil, time)),
            ("lease_until_ms", lease.expires.map_or(Data::Nil, time)),
            ("trace_id", present(&claim.trace_id)),
            ("span_id", present(&claim.span_id)),
            ("reminders", Data::list(reminders)),
            ("metadata", metadata),
            ("history", task.history.iter().map(|message| shown::of_message(message)).collect()),
            ("artifacts", task.artifacts.iter().map(|artifact| shown::of_artifact(artifact)).collect()),
        ]);
        let request = RenewRequest {
            agent_id: claims.request.agent_id.clone(),
            task_id: task.id.to_string(),
            lease_id: lease.lease_id.clone(),
            lease: None,
        };
        let asked = claims.request.lease.and_then(|lease| Duration::try_from(lease).ok());
        let length = asked.unwrap_or_else(|| rest_of(lease.expires.and_then(milliseconds)));
        let renewal = connection.renew(request, length, claims.renew_for);
        let (connection, accepted) = (connection.clone(), Rc::default());
        Ok(HubTask { connection, lease_id: lease.lease_id, accepted, renewal, shown })
    }

    pub(crate) fn value(self) -> Value {
        HostBox::value(self)
    }

    pub(crate) fn id(&self) -> String {
        self.text("task_id")
    }

    /// Returns the text of a field.
    pub(crate) fn text(&self, key: &str) -> String {
        self.shown.get(key).as_str().unwrap_or_default().to_owned()
    }

    /// Returns the span that caused the task; `None` if its sender recorded no trace.
    pub(crate) fn cause(&self) -> Option<TraceContext> {
        TraceContext::from_hex(&self.text("trace_id"), &self.text("span_id"))
    }

    pub(crate) fn reminders(&self) -> &Data {
        self.shown.get("reminders")
    }
}

/// Returns the duration of a lease that ends at a time. The clock of the hub may differ, so it is only taken for a usual one.
fn rest_of(until_ms: Option<u64>) -> Duration {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let rest = Duration::from_millis(until_ms.unwrap_or(0)).saturating_sub(now);
    rest.clamp(Duration::from_secs(1), Duration::from_secs(30))
}

/// Returns a text, or nil for an empty one.
fn present(text: &str) -> Data {
    Some(text).filter(|text| !text.is_empty()).into()
}

fn priority(routing: &AgentEventMetadata) -> &'static str {
    match routing.priority() {
        Priority::Low => "low",
        Priority::Unspecified | Priority::Medium => "medium",
        Priority::High => "high",
        Priority::Critical => "critical",
    }
}

impl HostObject for HubTask {
    fn type_name(&self) -> &'static str {
        "hub_task"
    }

    fn get(&self, key: &str) -> Option<Value> {
        self.shown.as_dict()?.get(key).map(to_value)
    }

    fn size(&self) -> Option<usize> {
        self.shown.as_dict().map(|shown| shown.keys().count())
    }

    fn keys(&self) -> Vec<Str> {
        let mut keys: Vec<&str> =
            self.shown.as_dict().into_iter().flat_map(base::data::Entries::keys).map(AsRef::as_ref).collect();
        keys.sort_unstable();
        keys.into_iter().map(Str::new).collect()
    }

    fn to_value(&self) -> Option<Value> {
        Some(to_value(&self.shown))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
