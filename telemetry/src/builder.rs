//! [`SpanBuilder`]: converts the records of an event log to spans.
//!
//! ```text
//! run_began … run_ended          run NAME               the root of a trace
//!   loop_began … loop_ended        invoke_agent NAME      with the outcomes of reminders, as events
//!     model_began … model_ended      chat MODEL
//!       attempt_began … attempt_ended  attempt N
//!     tool_began … tool_ended        execute_tool NAME    loops inside of it are below it
//!     hook_began … hook_ended        hook EVENT           so are those inside of hooks
//!     provider_began … provider_ended  provider ID
//! ```
//! Records name their span by a number, and the span around it; those of earlier versions by session and call.
//! A span without an end in the log ends with the last record of its run.

use std::collections::HashMap;
use std::sync::Arc;

use base::data::Data;
use runtime::activity::ActivityKind;
use runtime::event_log::Topic;
use runtime::lifecycle::LifecycleKind;
use runtime::spans::{SpanId, TraceContext, TraceId, span_id_of, trace_id_of};

use crate::conventions::{Attributes, of_injection, of_reminder, provider};
use crate::messages::{input_messages, output_messages, system_instructions};
use crate::span::{Span, SpanEvent, SpanKind, Value};

/// A record of an event log from which spans are built.
#[derive(Debug, Clone, Copy)]
pub struct ActivityRecord<'a> {
    /// Identity of the record's writer within the log: the header `run_id`.
    pub writer: &'a str,
    /// The topic.
    pub topic: &'a str,
    /// The kind.
    pub kind: &'a str,
    /// Content of the record.
    pub payload: &'a Data,
    /// Time, in milliseconds since 1970-01-01 UTC.
    pub at_ms: u64,
}

/// A builder of spans from records, in the order of the log.
#[derive(Debug, Default)]
pub struct SpanBuilder {
    content: bool,
    /// Unfinished runs by their writers.
    runs: HashMap<Arc<str>, Run>,
}

/// Maximum number of open spans of a run; further ones are not kept.
const MOST_OPEN: usize = 10_000;

/// An unfinished run.
#[derive(Debug)]
struct Run {
    root: Span,
    /// Number of spans so far.
    count: u64,
    /// Time of its last record.
    last_ms: u64,
    /// Spans without an end so far.
    open: Vec<OpenSpan>,
    /// Destinations of the next model call of each session, according to the log.
    destinations: HashMap<Arc<str>, Asked>,
}

/// The provider and the model of a prompt.
#[derive(Debug, Default)]
struct Asked {
    provider: Option<Arc<str>>,
    model: Option<Arc<str>>,
}

/// The identity of an open span within its run, without its number.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Key {
    Loop(Arc<str>),
    Model(Arc<str>),
    Tool(Arc<str>, Arc<str>),
    /// An attempt, a hook or a provider.
    Part,
}

/// A span without an end so far.
#[derive(Debug)]
struct OpenSpan {
    key: Key,
    /// Its number in the records; logs of earlier versions have none.
    number: Option<u64>,
    span: Span,
}

impl OpenSpan {
    /// Returns whether it ends with the span around it. Loops and tools have their own end.
    fn is_cut_off_with(&self, parent: [u8; 8]) -> bool {
        self.key == Key::Part && self.span.parent == Some(parent)
    }
}

/// A span that begins.
struct NewSpan<'a> {
    key: Key,
    number: Option<u64>,
    parent: SpanId,
    /// The span of another process that caused it, in place of the parent.
    cause: Option<TraceContext>,
    name: String,
    is_client: bool,
    attributes: Attributes<'a>,
    at_ms: u64,
}

/// The end of a span.
struct EndedSpan<'a> {
    key: Key,
    number: Option<u64>,
    ok: bool,
    attributes: Attributes<'a>,
    at_ms: u64,
}

impl SpanBuilder {
    /// Creates a builder; with `content`, spans include the texts of records.
    #[must_use]
    pub fn new(content: bool) -> SpanBuilder {
        SpanBuilder { content, runs: HashMap::new() }
    }

    /// Returns whether records of a topic and kind matter to spans. Scripts can write records of any kind, but not to
    /// the topics of the runtime.
    #[must_use]
    pub fn wants(topic: &str, kind: &str) -> bool {
        let Some(topic) = Topic::named(topic) else { return false };
        let Some(word) = topic.word_of(kind) else { return false };
        match topic {
            Topic::Activity | Topic::Injection => true,
            Topic::Turn => word == LifecycleKind::Prompt.as_str(),
            Topic::Reminder => word != LifecycleKind::ProviderEvaluated.as_str(),
            Topic::Message
            | Topic::State
            | Topic::Permission
            | Topic::Life
            | Topic::Shown
            | Topic::Task
            | Topic::TaskContent
            | Topic::Hub
            | Topic::Channel => false,
        }
    }

    /// Processes the next record, and returns the spans that end with it.
    pub fn take(&mut self, record: ActivityRecord<'_>) -> Vec<Span> {
        if !SpanBuilder::wants(record.topic, record.kind) {
            return Vec::new();
        }
        let activity = Topic::Activity.word_of(record.kind).map(ActivityKind::named);
        let mut ended = Vec::new();
        if activity == Some(Some(ActivityKind::RunBegan)) {
            // A span without an end was aborted.
            ended.extend(self.runs.remove(record.writer).into_iter().flat_map(Run::over));
            self.runs.insert(record.writer.into(), Run::begin(record));
            return ended;
        }
        let run = self.runs.entry(record.writer.into()).or_insert_with(|| Run::unannounced(record));
        run.last_ms = run.last_ms.max(record.at_ms);
        match activity {
            Some(Some(ActivityKind::RunEnded)) => {
                let failed = !record.payload.get("ok").truthy();
                run.root.failed = failed;
                ended.extend(self.runs.remove(record.writer).into_iter().flat_map(Run::over));
            }
            Some(Some(kind)) => ended.extend(run.activity(kind, record, self.content)),
            // An activity of a later version.
            Some(None) => {}
            None => run.happened(record, self.content),
        }
        ended
    }

    /// Ends the remaining spans.
    pub fn finish(&mut self) -> Vec<Span> {
        let mut left: Vec<_> = std::mem::take(&mut self.runs).into_values().collect();
        left.sort_by_key(|run| (run.root.start_ms, run.root.trace_id));
        left.into_iter().flat_map(Run::over).collect()
    }
}

impl Run {
    fn begin(record: ActivityRecord<'_>) -> Run {
        let id = record.payload.get("run").as_str().unwrap_or(record.writer);
        let name = record.payload.get("name").as_str().unwrap_or_default();
        let attributes = Attributes::of(record.payload)
            .field("harn.run.id", "run")
            .field("harn.protocol", "protocol")
            .field("harn.task.id", "task_id");
        Run::new(id, format!("run {name}").trim_end().to_owned(), record.at_ms, attributes)
    }

    /// Returns a run whose beginning is not in the log.
    fn unannounced(record: ActivityRecord<'_>) -> Run {
        let attributes = Attributes::of(&Data::Nil).fixed("harn.run.id", record.writer);
        Run::new(record.writer, "run".to_owned(), record.at_ms, attributes)
    }

    fn new(id: &str, name: String, at_ms: u64, attributes: Attributes<'_>) -> Run {
        let trace_id = trace_id_of(id);
        let root = Span {
            trace_id,
            id: span_id_of(trace_id, 0),
            parent: None,
            name,
            kind: SpanKind::Internal,
            start_ms: at_ms,
            end_ms: at_ms,
            attributes: attributes.all(),
            events: Vec::new(),
            dropped_events: 0,
            failed: false,
        };
        Run { root, count: 1, last_ms: at_ms, open: Vec::new(), destinations: HashMap::new() }
    }

    /// Begins a span.
    fn begin_span(&mut self, new: NewSpan<'_>) {
        if self.open.len() >= MOST_OPEN {
            return;
        }
        // Spans of earlier versions have no numbers of their own.
        let number = new.number.unwrap_or(self.count | 1 << 63);
        let (trace_id, parent) = match new.cause {
            Some(cause) => (cause.trace_id, cause.span_id),
            None => (self.trace_of(new.parent), new.parent),
        };
        let span = Span {
            trace_id,
            id: span_id_of(self.root.trace_id, number),
            parent: Some(parent),
            name: new.name,
            kind: if new.is_client { SpanKind::Client } else { SpanKind::Internal },
            start_ms: new.at_ms,
            attributes: new.attributes.all(),
            events: Vec::new(),
            dropped_events: 0,
            failed: false,
            ..self.root.clone()
        };
        self.count += 1;
        self.open.push(OpenSpan { key: new.key, number: new.number, span });
    }

    /// Returns the trace of an open span, which another process may have begun.
    fn trace_of(&self, id: SpanId) -> TraceId {
        let open = self.open.iter().rev().find(|open| open.span.id == id);
        open.map_or(self.root.trace_id, |open| open.span.trace_id)
    }

    /// Returns the newest open span of a key.
    fn find(&mut self, key: &Key) -> Option<&mut Span> {
        self.open.iter_mut().rev().find(|open| open.key == *key).map(|open| &mut open.span)
    }

    /// Returns the place of the open span that a record is about.
    fn place(&self, number: Option<u64>, key: &Key) -> Option<usize> {
        match number {
            Some(_) => self.open.iter().rposition(|open| open.number == number),
            // A log of an earlier version.
            None => self.open.iter().rposition(|open| open.key == *key),
        }
    }

    /// Ends a span, and those inside of it that cannot outlive it.
    fn end_span(&mut self, end: EndedSpan<'_>) -> Vec<Span> {
        let Some(place) = self.place(end.number, &end.key) else { return Vec::new() };
        let mut span = self.open.remove(place).span;
        span.end_ms = end.at_ms.max(span.start_ms);
        span.failed = !end.ok;
        span.attributes.extend(end.attributes.all());
        let (parent, mut ended) = (span.id, vec![span]);
        while let Some(place) = self.open.iter().rposition(|open| open.is_cut_off_with(parent)) {
            let mut span = self.open.remove(place).span;
            end_unfinished(&mut span, end.at_ms);
            ended.push(span);
        }
        ended
    }

    /// Returns the id of the span that a session's activity belongs to.
    fn home(&mut self, session_id: &Arc<str>) -> [u8; 8] {
        let root = self.root.id;
        self.find(&Key::Loop(session_id.clone())).map_or(root, |span| span.id)
    }

    /// Returns the id of the open span that a record names as the one around it.
    fn around(&self, payload: &Data) -> Option<[u8; 8]> {
        let number = number_of(payload, "within");
        let place = number.and_then(|_| self.open.iter().rposition(|open| open.number == number));
        place.map(|place| self.open[place].span.id)
    }

    /// Returns the open span of a tool call, the newest with this id, within the session if known.
    fn tool(&self, session_id: Option<&str>, call_id: &str) -> Option<[u8; 8]> {
        let is_meant = |key: &Key| match key {
            Key::Tool(session, call) => **call == *call_id && session_id.is_none_or(|id| **session == *id),
            _ => false,
        };
        self.open.iter().rev().find(|open| is_meant(&open.key)).map(|open| open.span.id)
    }

    /// Returns the id of the span around a loop.
    fn around_loop(&mut self, payload: &Data) -> [u8; 8] {
        let text = |field: &str| payload.get(field).as_shared_str();
        let parent_id = text("parent_id");
        // The span that started a worker may be over.
        let tool = || text("within_call").and_then(|call| self.tool(parent_id.as_deref(), &call));
        match (self.around(payload).or_else(tool), parent_id) {
            (Some(around), _) => around,
            (None, Some(parent)) => self.home(&parent),
            (None, None) => self.root.id,
        }
    }

    /// Processes a record of the activity inside of a run.
    fn activity(&mut self, kind: ActivityKind, record: ActivityRecord<'_>, content: bool) -> Vec<Span> {
        let (payload, at_ms) = (record.payload, record.at_ms);
        let Some(session_id) = payload.get("session_id").as_shared_str() else { return Vec::new() };
        let number = number_of(payload, "span");
        let ok = payload.get("ok").truthy();
        let text = |field: &str| payload.get(field).as_shared_str();
        let end = |key: Key, attributes| EndedSpan { key, number, ok, attributes, at_ms };
        match kind {
            ActivityKind::LoopBegan => {
                let parent = self.around_loop(payload);
                let agent = text("agent").unwrap_or_else(|| "agent".into());
                let attributes = Attributes::of(payload)
                    .fixed("gen_ai.operation.name", "invoke_agent")
                    .fixed("gen_ai.agent.name", &agent)
                    .field("gen_ai.conversation.id", "session_id");
                let (key, name) = (Key::Loop(session_id), format!("invoke_agent {agent}"));
                let id = |field: &str| text(field).unwrap_or_default();
                let cause = TraceContext::from_hex(&id("cause_trace_id"), &id("cause_span_id"));
                self.begin_span(NewSpan { key, number, parent, cause, name, is_client: false, attributes, at_ms });
                Vec::new()
            }
            ActivityKind::LoopEnded => {
                let attributes = with_failure(Attributes::of(payload).usage(), ok, text("error"))
                    .field("harn.loop.status", "status")
                    .field("harn.loop.stop_reason", "stop_reason")
                    .field("harn.loop.iterations", "iterations");
                self.end_span(end(Key::Loop(session_id), attributes))
            }
            ActivityKind::ModelBegan => {
                let parent = self.around(payload).unwrap_or_else(|| self.home(&session_id));
                let asked = self.destinations.remove(&session_id).unwrap_or_default();
                let name = asked.model.as_deref().map_or_else(|| "chat".to_owned(), |model| format!("chat {model}"));
                let attributes = model_attributes(payload, &asked, content);
                let key = Key::Model(session_id);
                self.begin_span(NewSpan { key, number, parent, cause: None, name, is_client: true, attributes, at_ms });
                Vec::new()
            }
            ActivityKind::ModelEnded => {
                let key = Key::Model(session_id);
                let mut attributes = with_failure(Attributes::of(payload).usage(), ok, text("error"))
                    .field("gen_ai.response.model", "model")
                    .list_of("gen_ai.response.finish_reasons", "stop_reason");
                let open = self.place(number, &key).map(|place| &self.open[place].span);
                let knows_provider = open.is_some_and(|span| has(span, "gen_ai.provider.name"));
                if let Some(name) = text("provider").filter(|_| !knows_provider) {
                    attributes = attributes.fixed("gen_ai.provider.name", &provider(&name));
                }
                let output = Some(payload.get("output")).filter(|output| content && !output.is_nil());
                let output = output.map(|output| output_messages(output, text("stop_reason").as_deref()));
                self.end_span(end(key, attributes.text("gen_ai.output.messages", output)))
            }
            ActivityKind::ToolBegan => {
                self.begin_tool(session_id, record);
                Vec::new()
            }
            ActivityKind::ToolEnded => {
                let key = Key::Tool(session_id.clone(), text("call_id").unwrap_or_default());
                if self.place(number, &key).is_none() {
                    // A refused call never began.
                    self.begin_tool(session_id, record);
                }
                let mut attributes = with_failure(Attributes::of(payload), ok, Some("tool_error".into()));
                if content {
                    attributes = attributes
                        .json("gen_ai.tool.call.arguments", "arguments")
                        .field("gen_ai.tool.call.result", "result");
                }
                self.end_span(end(key, attributes))
            }
            ActivityKind::AttemptBegan | ActivityKind::HookBegan | ActivityKind::ProviderBegan => {
                self.begin_part(kind, &session_id, record);
                Vec::new()
            }
            ActivityKind::AttemptEnded | ActivityKind::HookEnded | ActivityKind::ProviderEnded => {
                if self.place(number, &Key::Part).is_none() {
                    // A provider that did not wait.
                    self.begin_part(kind, &session_id, record);
                }
                let attributes = with_failure(Attributes::of(payload), ok, text("error"))
                    .field("harn.provider.reminders", "reminders");
                self.end_span(end(Key::Part, attributes))
            }
            // The run itself has its own records.
            ActivityKind::RunBegan | ActivityKind::RunEnded => Vec::new(),
        }
    }

    fn begin_tool(&mut self, session_id: Arc<str>, record: ActivityRecord<'_>) {
        let (payload, at_ms) = (record.payload, record.at_ms);
        let text = |field: &str| payload.get(field).as_shared_str().unwrap_or_default();
        let parent = self.around(payload).unwrap_or_else(|| self.home(&session_id));
        let attributes = Attributes::of(payload)
            .fixed("gen_ai.operation.name", "execute_tool")
            .field("gen_ai.tool.name", "tool")
            .field("gen_ai.tool.call.id", "call_id")
            .field("gen_ai.conversation.id", "session_id")
            .field("harn.turn", "turn");
        let (key, name) = (Key::Tool(session_id, text("call_id")), format!("execute_tool {}", text("tool")));
        let number = number_of(payload, "span");
        self.begin_span(NewSpan { key, number, parent, cause: None, name, is_client: false, attributes, at_ms });
    }

    /// Begins the span of an attempt, a hook or a provider.
    fn begin_part(&mut self, kind: ActivityKind, session_id: &Arc<str>, record: ActivityRecord<'_>) {
        let (payload, at_ms) = (record.payload, record.at_ms);
        // Without a number it could not be ended.
        let Some(number) = number_of(payload, "span") else { return };
        let parent = self.around(payload).unwrap_or_else(|| self.home(session_id));
        let text = |field: &str| payload.get(field).as_shared_str().unwrap_or_default();
        let attributes =
            Attributes::of(payload).field("gen_ai.conversation.id", "session_id").field("harn.turn", "turn");
        let (name, attributes) = match kind {
            ActivityKind::HookBegan | ActivityKind::HookEnded => (
                format!("hook {}", text("event")),
                attributes.field("harn.hook.event", "event").field("harn.hook.name", "hook"),
            ),
            ActivityKind::ProviderBegan | ActivityKind::ProviderEnded => (
                format!("provider {}", text("provider")),
                attributes.field("harn.provider.id", "provider").field("harn.provider.event", "event"),
            ),
            _ => {
                let attempt = payload.get("attempt").as_int().unwrap_or_default();
                (format!("attempt {attempt}"), attributes.field("harn.attempt", "attempt"))
            }
        };
        let is_client = matches!(kind, ActivityKind::AttemptBegan | ActivityKind::AttemptEnded);
        let (key, number) = (Key::Part, Some(number));
        self.begin_span(NewSpan { key, number, parent, cause: None, name, is_client, attributes, at_ms });
    }

    /// Processes a record of a reminder, an injection, or a prompt's destination.
    fn happened(&mut self, record: ActivityRecord<'_>, content: bool) {
        let payload = record.payload;
        let Some(session_id) = payload.get("session_id").as_shared_str() else { return };
        let Some((topic, word)) = Topic::of_kind(record.kind) else { return };
        if topic == Topic::Turn {
            let text = |field: &str| payload.get(field).as_shared_str();
            self.destinations.insert(session_id, Asked { provider: text("provider"), model: text("model") });
            return;
        }
        let (name, attributes) = if topic == Topic::Reminder {
            (format!("harn.reminder.{word}"), of_reminder(payload, content))
        } else {
            (format!("harn.injection.{word}"), of_injection(payload))
        };
        let event = SpanEvent { name, at_ms: record.at_ms, attributes };
        match self.find(&Key::Loop(session_id)) {
            Some(span) => span.add(event),
            None => self.root.add(event),
        }
    }

    /// Ends all open spans, the run last.
    fn over(self) -> Vec<Span> {
        let Run { mut root, last_ms, open, .. } = self;
        root.end_ms = last_ms.max(root.start_ms);
        let left = open.into_iter().rev().map(|OpenSpan { mut span, .. }| {
            end_unfinished(&mut span, root.end_ms);
            span
        });
        let mut all: Vec<Span> = left.collect();
        all.push(root);
        all
    }
}

/// Ends a span whose end is not in the log.
fn end_unfinished(span: &mut Span, at_ms: u64) {
    span.end_ms = at_ms.max(span.start_ms);
    span.failed = true;
    span.attributes.push(("error.type".into(), Value::Text("unfinished".into())));
}

fn number_of(payload: &Data, field: &str) -> Option<u64> {
    payload.get(field).as_int().and_then(|number| u64::try_from(number).ok())
}

/// Returns the attributes of a model call that begins.
fn model_attributes<'a>(payload: &'a Data, asked: &Asked, content: bool) -> Attributes<'a> {
    let mut attributes = Attributes::of(payload)
        .fixed("gen_ai.operation.name", "chat")
        .field("gen_ai.conversation.id", "session_id")
        .field("harn.turn", "turn");
    if let Some(name) = &asked.provider {
        attributes = attributes.fixed("gen_ai.provider.name", &provider(name));
    }
    if let Some(model) = &asked.model {
        attributes = attributes.fixed("gen_ai.request.model", model);
    }
    if !content {
        return attributes;
    }
    let system = payload.get("system").as_shared_str();
    attributes
        .text("gen_ai.system_instructions", system.as_ref().map(system_instructions))
        .text("gen_ai.input.messages", payload.get("input").as_list().map(input_messages))
        .field("harn.input.omitted", "input_omitted")
}

fn with_failure<'a>(attributes: Attributes<'a>, ok: bool, kind: Option<Arc<str>>) -> Attributes<'a> {
    match (ok, kind) {
        (true, _) => attributes,
        (false, Some(kind)) => attributes.fixed("error.type", &kind),
        (false, None) => attributes.fixed("error.type", "_OTHER"),
    }
}

fn has(span: &Span, name: &str) -> bool {
    span.attributes.iter().any(|(known, _)| known == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the spans of these records: writer, time, the kind or its end, and the payload as JSON.
    fn spans(records: &[(&str, u64, &str, &str)]) -> Vec<Span> {
        let mut builder = SpanBuilder::new(false);
        let mut found = Vec::new();
        for (writer, at_ms, kind, payload) in records {
            let kind = if kind.contains('.') { (*kind).to_owned() } else { Topic::Activity.kind(kind) };
            let payload = Data::from_json(payload).unwrap();
            let topic = Topic::of_kind(&kind).unwrap().0.as_str();
            let record = ActivityRecord { writer, topic, kind: &kind, payload: &payload, at_ms: *at_ms };
            found.extend(builder.take(record));
        }
        found.extend(builder.finish());
        found
    }

    fn named<'a>(spans: &'a [Span], name: &str) -> &'a Span {
        spans.iter().find(|span| span.name == name).unwrap_or_else(|| panic!("{name} is not among {spans:#?}"))
    }

    const RUN: [(&str, u64, &str, &str); 12] = [
        ("w", 1, "run_began", r#"{"run": "r1", "name": "a.harn", "protocol": "run"}"#),
        ("w", 2, "loop_began", r#"{"session_id": "s", "turn": 0, "agent": "lead"}"#),
        (
            "w",
            3,
            "transcript.reminder.fired",
            r#"{"session_id": "s", "reminder_id": "m", "turn": 1, "body": "secret"}"#,
        ),
        ("w", 3, "transcript.turn.prompt", r#"{"session_id": "s", "provider": "gemini", "model": "g1"}"#),
        ("w", 4, "model_began", r#"{"session_id": "s", "turn": 1}"#),
        (
            "w",
            6,
            "model_ended",
            r#"{"session_id": "s", "turn": 1, "ok": true, "provider": "gemini", "model": "g1-x", "input_tokens": 5}"#,
        ),
        ("w", 7, "tool_began", r#"{"session_id": "s", "turn": 1, "call_id": "c", "tool": "ask"}"#),
        (
            "w",
            8,
            "loop_began",
            r#"{"session_id": "t", "turn": 0, "agent": "sub", "parent_id": "s", "within_call": "c"}"#,
        ),
        ("w", 9, "loop_ended", r#"{"session_id": "t", "ok": false, "status": "provider_error", "error": "auth"}"#),
        ("w", 10, "tool_ended", r#"{"session_id": "s", "turn": 1, "call_id": "c", "tool": "ask", "ok": true}"#),
        ("w", 11, "loop_ended", r#"{"session_id": "s", "ok": true, "status": "done"}"#),
        ("w", 12, "run_ended", r#"{"run": "r1", "ok": true}"#),
    ];

    #[test]
    fn each_span_is_below_what_it_is_part_of() {
        let found = spans(&RUN);
        let root = named(&found, "run a.harn");
        let lead = named(&found, "invoke_agent lead");
        let tool = named(&found, "execute_tool ask");
        assert_eq!(root.parent, None);
        assert_eq!(lead.parent, Some(root.id));
        assert_eq!(named(&found, "chat g1").parent, Some(lead.id));
        assert_eq!(tool.parent, Some(lead.id));
        assert_eq!(named(&found, "invoke_agent sub").parent, Some(tool.id));
        assert!(found.iter().all(|span| span.trace_id == root.trace_id) && found.len() == 5, "{found:#?}");
        assert_eq!((root.start_ms, root.end_ms, tool.start_ms, tool.end_ms), (1, 12, 7, 10));
        assert!(named(&found, "invoke_agent sub").failed && !lead.failed);
        let text = |span: &Span, name: &str| {
            span.attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
        };
        let chat = named(&found, "chat g1");
        assert_eq!(text(chat, "gen_ai.provider.name"), Some(Value::Text("gcp.gemini".into())));
        assert_eq!(text(chat, "gen_ai.response.model"), Some(Value::Text("g1-x".into())));
        assert_eq!(text(chat, "gen_ai.usage.input_tokens"), Some(Value::Int(5)));
        assert_eq!(lead.events.len(), 1);
        assert_eq!(lead.events[0].name, "harn.reminder.fired");
        assert!(!format!("{found:?}").contains("secret"));
    }

    #[test]
    fn the_same_records_have_the_same_ids() {
        assert_eq!(spans(&RUN), spans(&RUN));
    }

    #[test]
    fn what_has_no_end_ends_with_the_last_record() {
        let found = spans(&RUN[..7]);
        assert_eq!(named(&found, "execute_tool ask").end_ms, 7);
        assert!(named(&found, "invoke_agent lead").failed);
        assert_eq!(named(&found, "run a.harn").end_ms, 7);
    }

    #[test]
    fn runs_of_one_log_are_traces_of_their_own() {
        let found = spans(&[
            ("a", 1, "loop_began", r#"{"session_id": "s"}"#),
            ("b", 2, "loop_began", r#"{"session_id": "s"}"#),
            ("a", 3, "loop_ended", r#"{"session_id": "s", "ok": true}"#),
            ("b", 4, "loop_ended", r#"{"session_id": "s", "ok": true}"#),
        ]);
        assert_eq!(found.len(), 4);
        assert_ne!(found[0].trace_id, found[1].trace_id);
    }

    #[test]
    fn a_log_without_activity_has_a_run_with_its_reminders() {
        let found = spans(&[("w", 1, "transcript.reminder.injected", r#"{"session_id": "s", "reminder_id": "m"}"#)]);
        assert_eq!((found.len(), found[0].events[0].name.as_str()), (1, "harn.reminder.injected"));
    }

    #[test]
    fn a_record_of_a_script_that_looks_like_activity_is_ignored() {
        let mut builder = SpanBuilder::new(false);
        let payload = Data::from_json(r#"{"session_id": "s", "agent": "fake"}"#).unwrap();
        for topic in ["mine", "transcript.turn", "session.injection"] {
            let kind = "session.activity.loop_began";
            assert!(!SpanBuilder::wants(topic, kind), "{topic}");
            assert_eq!(builder.take(ActivityRecord { writer: "w", topic, kind, payload: &payload, at_ms: 1 }), []);
        }
        assert_eq!(builder.finish(), []);
    }

    #[test]
    fn numbered_spans_are_below_the_spans_that_they_name() {
        let found = spans(&[
            ("w", 1, "run_began", r#"{"run": "r1", "name": "a.harn", "protocol": "run"}"#),
            ("w", 2, "loop_began", r#"{"session_id": "s", "agent": "lead", "span": 1}"#),
            (
                "w",
                3,
                "hook_began",
                r#"{"session_id": "s", "event": "pre_tool_use", "hook": "guard", "span": 3, "within": 2}"#,
            ),
            ("w", 4, "model_began", r#"{"session_id": "llm_call", "span": 4, "within": 3}"#),
            // Two calls of one session at once.
            ("w", 4, "model_began", r#"{"session_id": "llm_call", "span": 5, "within": 3}"#),
            ("w", 5, "attempt_began", r#"{"session_id": "llm_call", "attempt": 1, "span": 6, "within": 4}"#),
            (
                "w",
                6,
                "attempt_ended",
                r#"{"session_id": "llm_call", "attempt": 1, "span": 6, "within": 4, "ok": false, "error": "server"}"#,
            ),
            ("w", 7, "attempt_began", r#"{"session_id": "llm_call", "attempt": 2, "span": 7, "within": 4}"#),
            ("w", 8, "model_ended", r#"{"session_id": "llm_call", "span": 4, "ok": false, "error": "cancelled"}"#),
            ("w", 9, "model_ended", r#"{"session_id": "llm_call", "span": 5, "ok": true, "model": "m2"}"#),
            (
                "w",
                10,
                "hook_ended",
                r#"{"session_id": "s", "event": "pre_tool_use", "hook": "guard", "span": 3, "within": 2, "ok": true}"#,
            ),
            (
                "w",
                11,
                "provider_ended",
                r#"{"session_id": "s", "event": "post_turn", "provider": "todo", "span": 8, "within": 1, "ok": true, "reminders": 1}"#,
            ),
            ("w", 12, "loop_ended", r#"{"session_id": "s", "ok": true, "status": "done", "span": 1}"#),
            ("w", 12, "run_ended", r#"{"run": "r1", "ok": true}"#),
        ]);
        let lead = named(&found, "invoke_agent lead");
        let hook = named(&found, "hook pre_tool_use");
        let first = found.iter().find(|span| span.name == "chat" && span.end_ms == 8).unwrap();
        let second = found.iter().find(|span| span.name == "chat" && span.end_ms == 9).unwrap();
        assert_eq!(hook.parent, Some(lead.id), "the tool never began");
        assert_eq!((first.parent, second.parent), (Some(hook.id), Some(hook.id)));
        assert!(first.failed && !second.failed);
        let (failed, cut) = (named(&found, "attempt 1"), named(&found, "attempt 2"));
        assert_eq!((failed.parent, cut.parent), (Some(first.id), Some(first.id)));
        assert_eq!((failed.end_ms, cut.end_ms), (6, 8), "what has no end ends with the span around it");
        assert!(failed.attributes.contains(&("error.type".into(), Value::Text("server".into()))));
        assert!(cut.attributes.contains(&("error.type".into(), Value::Text("unfinished".into()))));
        let provider = named(&found, "provider todo");
        assert_eq!((provider.parent, provider.start_ms, provider.end_ms), (Some(lead.id), 11, 11));
        assert!(provider.attributes.contains(&("harn.provider.reminders".into(), Value::Int(1))));
        assert_eq!(found.len(), 8);
    }
}
