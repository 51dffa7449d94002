//! [`HubSpans`]: the tasks of a hub as spans, from the changes of its state: a span for each task, and one below it for
//! each attempt of a worker. A task belongs to the trace of its sender, if that is known.

use std::collections::HashMap;
use std::sync::Arc;

use hub::broker::change::{Change, ChangeKind, ChangedStatus, ClaimedBy, SubmittedTask};
use hub::broker::state_name;
use hub::broker::task::is_final;
use hub::grpc::AnsweredRequest;
use hub::proto::a2a::TaskState;
use runtime::spans::{TraceContext, digest};
use telemetry::{Attribute, Span, SpanEvent, SpanKind, Value};

/// Maximum number of unfinished tasks; spans of further ones are not built.
const MAX_OPEN: usize = 100_000;

/// Builds the spans of tasks.
#[derive(Default)]
pub(crate) struct HubSpans {
    open: HashMap<String, OpenTask>,
    last_ms: u64,
}

/// A task that is not over.
struct OpenTask {
    span: Span,
    /// Id of the event of its submission.
    event_id: String,
    attempt: Option<Span>,
    attempts: u32,
}

impl HubSpans {
    /// Applies the next change, and returns the spans that end with it.
    pub(crate) fn take(&mut self, change: &Change) -> Vec<Span> {
        self.last_ms = self.last_ms.max(change.at_ms);
        let at_ms = change.at_ms;
        match &change.kind {
            Some(ChangeKind::TaskSubmitted(submitted)) => {
                self.submit(change, submitted);
                Vec::new()
            }
            Some(ChangeKind::TaskClaimed(claimed)) => self.claim(claimed, at_ms),
            Some(ChangeKind::StatusChanged(changed)) => self.change_status(changed, at_ms),
            Some(ChangeKind::ArtifactChanged(changed)) => {
                let id = changed.artifact.as_ref().map_or("", |artifact| artifact.artifact_id.as_str());
                self.note(&changed.task_id, "harn.hub.artifact", at_ms, vec![text("harn.hub.artifact.id", id)]);
                Vec::new()
            }
            Some(ChangeKind::TaskRequeued(requeued)) => {
                let Some(task) = self.open.get_mut(&requeued.task_id) else { return Vec::new() };
                let reason = vec![text("harn.hub.reason", &requeued.reason)];
                task.span.add(SpanEvent { name: "harn.hub.requeued".to_owned(), at_ms, attributes: reason });
                let error = if requeued.rejected { "rejected" } else { "worker_lost" };
                task.end_attempt(at_ms, Some(error)).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    /// Ends the spans of the tasks that are not over.
    pub(crate) fn finish(&mut self) -> Vec<Span> {
        let mut left: Vec<OpenTask> = std::mem::take(&mut self.open).into_values().collect();
        left.sort_by_key(|task| (task.span.start_ms, task.span.id));
        left.into_iter().flat_map(|task| task.end(self.last_ms, Some("unfinished"))).collect()
    }

    fn note(&mut self, task_id: &str, name: &str, at_ms: u64, attributes: Vec<Attribute>) {
        if let Some(task) = self.open.get_mut(task_id) {
            task.span.add(SpanEvent { name: name.to_owned(), at_ms, attributes });
        }
    }

    fn submit(&mut self, change: &Change, submitted: &SubmittedTask) {
        if self.open.len() >= MAX_OPEN {
            return;
        }
        let Some(task) = &submitted.task else { return };
        let routing = change.routing.clone().unwrap_or_default();
        let broadcast = self.open.get(&submitted.parent);
        let cause = match broadcast {
            Some(broadcast) => Some(TraceContext { trace_id: broadcast.span.trace_id, span_id: broadcast.span.id }),
            None => TraceContext::from_hex(&change.trace_id, &change.span_id),
        };
        let event_id = change.event_id.clone();
        let mut attributes = vec![text("harn.task.id", &task.id), text("harn.hub.from", &routing.from_agent_id)];
        for (name, value) in [
            ("harn.hub.context.id", task.context_id.as_str()),
            ("harn.hub.task.type", &routing.event_type),
            ("harn.hub.to", &submitted.target),
            ("harn.hub.queue", &submitted.queue),
        ] {
            if !value.is_empty() {
                attributes.push(text(name, value));
            }
        }
        let span = Span {
            trace_id: cause.map_or_else(|| digest(&[b"hub trace", event_id.as_bytes()]), |cause| cause.trace_id),
            id: digest(&[b"hub task", event_id.as_bytes()]),
            parent: cause.map(|cause| cause.span_id),
            name: format!("task {}", routing.event_type).trim_end().to_owned(),
            kind: SpanKind::Internal,
            start_ms: change.at_ms,
            end_ms: change.at_ms,
            attributes,
            events: Vec::new(),
            dropped_events: 0,
            failed: false,
        };
        self.open.insert(task.id.clone(), OpenTask { span, event_id, attempt: None, attempts: 0 });
    }

    fn claim(&mut self, claimed: &ClaimedBy, at_ms: u64) -> Vec<Span> {
        let Some(task) = self.open.get_mut(&claimed.task_id) else { return Vec::new() };
        let ended = task.end_attempt(at_ms, Some("worker_lost"));
        task.attempts = claimed.attempt;
        task.attempt = Some(Span {
            id: digest(&[b"hub attempt", task.event_id.as_bytes(), &claimed.attempt.to_be_bytes()]),
            parent: Some(task.span.id),
            name: format!("attempt {}", claimed.attempt),
            kind: SpanKind::Consumer,
            start_ms: at_ms,
            attributes: vec![
                text("harn.task.id", &claimed.task_id),
                text("harn.hub.worker", &claimed.agent_id),
                ("harn.attempt".into(), Value::Int(claimed.attempt.into())),
            ],
            events: Vec::new(),
            dropped_events: 0,
            ..task.span.clone()
        });
        ended.into_iter().collect()
    }

    fn change_status(&mut self, changed: &ChangedStatus, at_ms: u64) -> Vec<Span> {
        let state = changed.status.as_ref().map_or(TaskState::Unspecified, hub::proto::a2a::TaskStatus::state);
        let name = state_name(state).to_ascii_lowercase();
        self.note(&changed.task_id, "harn.hub.status", at_ms, vec![text("harn.hub.state", &name)]);
        if !is_final(state) {
            return Vec::new();
        }
        let Some(mut task) = self.open.remove(&changed.task_id) else { return Vec::new() };
        task.span.attributes.push(text("harn.hub.state", &name));
        let error = match state {
            TaskState::Completed => None,
            TaskState::Failed if changed.dead_letter => Some("dead_letter"),
            TaskState::Failed => Some("failed"),
            TaskState::Cancelled => Some("cancelled"),
            _ => Some("rejected"),
        };
        task.end(at_ms, error)
    }
}

impl OpenTask {
    fn end_attempt(&mut self, at_ms: u64, error: Option<&str>) -> Option<Span> {
        let mut span = self.attempt.take()?;
        end(&mut span, at_ms, error);
        Some(span)
    }

    /// Ends the task and its attempt.
    fn end(mut self, at_ms: u64, error: Option<&str>) -> Vec<Span> {
        let mut ended: Vec<Span> = self.end_attempt(at_ms, error).into_iter().collect();
        self.span.attributes.push(("harn.hub.attempts".into(), Value::Int(self.attempts.into())));
        end(&mut self.span, at_ms, error);
        ended.push(self.span);
        ended
    }
}

fn end(span: &mut Span, at_ms: u64, error: Option<&str>) {
    span.end_ms = at_ms.max(span.start_ms);
    if let Some(error) = error {
        span.failed = true;
        span.attributes.push(text("error.type", error));
    }
}

fn text(name: &'static str, value: &str) -> Attribute {
    (name.into(), Value::Text(Arc::from(value)))
}

/// Returns the span of a request to a hub.
pub(crate) fn of_request(request: AnsweredRequest) -> Span {
    let system = if request.is_grpc { "grpc" } else { "jsonrpc" };
    let mut attributes = vec![text("rpc.system", system), text("rpc.method", &request.method)];
    if let Some(error) = &request.error {
        attributes.push(text("error.type", error));
    }
    Span {
        trace_id: request.context.trace_id,
        id: request.context.span_id,
        parent: request.cause.map(|cause| cause.span_id),
        name: request.method,
        kind: SpanKind::Server,
        start_ms: request.began_ms,
        end_ms: request.ended_ms,
        attributes,
        events: Vec::new(),
        dropped_events: 0,
        failed: request.error.is_some(),
    }
}
