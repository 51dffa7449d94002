//! [`SpanBuilder`]: converts the records of an event log to spans.
//!
//! ```text
//! run_began … run_ended          run NAME               the root of a trace
//!   loop_began … loop_ended        invoke_agent NAME      with the outcomes of reminders, as events
//!     model_began … model_ended      chat MODEL
//!     tool_began … tool_ended        execute_tool NAME    loops inside of it are below it
//! ```
//! A span without an end in the log ends with the last record of its run.

use std::collections::HashMap;
use std::sync::Arc;

use runtime::activity::ActivityKind;
use runtime::data::Data;
use runtime::event_log::Topic;
use runtime::reminder::lifecycle::LifecycleKind;
use sha2::{Digest, Sha256};

use crate::conventions::{Attributes, of_injection, of_reminder, provider};
use crate::span::{Span, SpanEvent, Value};

/// A record of an event log from which spans are built.
#[derive(Debug, Clone, Copy)]
pub struct ActivityRecord<'a> {
    /// Identity of the record's writer within the log: the header `run_id`.
    pub writer: &'a str,
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
    open: Vec<(Key, Span)>,
    /// Destinations of the next model call of each session, according to the log.
    destinations: HashMap<Arc<str>, Asked>,
}

/// The provider and the model of a prompt.
#[derive(Debug, Default)]
struct Asked {
    provider: Option<Arc<str>>,
    model: Option<Arc<str>>,
}

/// The identity of an open span within its run.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Key {
    Loop(Arc<str>),
    Model(Arc<str>),
    Tool(Arc<str>, Arc<str>),
}

impl SpanBuilder {
    /// Creates a builder; with `content`, spans include the texts of records.
    #[must_use]
    pub fn new(content: bool) -> SpanBuilder {
        SpanBuilder { content, runs: HashMap::new() }
    }

    /// Returns whether records of a kind matter to spans.
    #[must_use]
    pub fn wants(kind: &str) -> bool {
        match Topic::of_kind(kind) {
            Some((Topic::Activity | Topic::Injection, _)) => true,
            Some((Topic::Turn, word)) => word == LifecycleKind::Prompt.as_str(),
            Some((Topic::Reminder, word)) => word != LifecycleKind::ProviderEvaluated.as_str(),
            Some((
                Topic::Message
                | Topic::State
                | Topic::Permission
                | Topic::Life
                | Topic::Shown
                | Topic::Task
                | Topic::TaskContent,
                _,
            ))
            | None => false,
        }
    }

    /// Processes the next record, and returns the spans that end with it.
    pub fn take(&mut self, record: ActivityRecord<'_>) -> Vec<Span> {
        if !SpanBuilder::wants(record.kind) {
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
        let trace_id = digest(&[b"trace", id.as_bytes()]);
        let root = Span {
            trace_id,
            id: span_id(trace_id, 0),
            parent: None,
            name,
            is_client: false,
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
    fn begin_span(
        &mut self,
        key: Key,
        parent: [u8; 8],
        name: String,
        is_client: bool,
        attributes: Attributes<'_>,
        at_ms: u64,
    ) {
        if self.open.len() >= MOST_OPEN {
            return;
        }
        let span = Span {
            id: span_id(self.root.trace_id, self.count),
            parent: Some(parent),
            name,
            is_client,
            start_ms: at_ms,
            attributes: attributes.all(),
            events: Vec::new(),
            dropped_events: 0,
            failed: false,
            ..self.root.clone()
        };
        self.count += 1;
        self.open.push((key, span));
    }

    /// Returns the newest open span of a key.
    fn find(&mut self, key: &Key) -> Option<&mut Span> {
        self.open.iter_mut().rev().find(|(open, _)| open == key).map(|(_, span)| span)
    }

    fn end_span(&mut self, key: &Key, ok: bool, attributes: Attributes<'_>, at_ms: u64) -> Option<Span> {
        let place = self.open.iter().rposition(|(open, _)| open == key)?;
        let (_, mut span) = self.open.remove(place);
        span.end_ms = at_ms.max(span.start_ms);
        span.failed = !ok;
        span.attributes.extend(attributes.all());
        Some(span)
    }

    /// Returns the id of the span that a session's activity belongs to.
    fn home(&mut self, session_id: &Arc<str>) -> [u8; 8] {
        let root = self.root.id;
        self.find(&Key::Loop(session_id.clone())).map_or(root, |span| span.id)
    }

    /// Returns the open span of a tool call, the newest with this id, within the session if known.
    fn tool(&self, session_id: Option<&str>, call_id: &str) -> Option<[u8; 8]> {
        let is_meant = |key: &Key| match key {
            Key::Tool(session, call) => **call == *call_id && session_id.is_none_or(|id| **session == *id),
            _ => false,
        };
        self.open.iter().rev().find(|(key, _)| is_meant(key)).map(|(_, span)| span.id)
    }

    /// Processes a record of a loop, a model call or a tool call.
    fn activity(&mut self, kind: ActivityKind, record: ActivityRecord<'_>, content: bool) -> Option<Span> {
        let (payload, at_ms) = (record.payload, record.at_ms);
        let session_id = payload.get("session_id").as_shared_str()?;
        let ok = payload.get("ok").truthy();
        let text = |field: &str| payload.get(field).as_shared_str();
        match kind {
            ActivityKind::LoopBegan => {
                let parent_id = text("parent_id");
                let tool = text("within_call").and_then(|call| self.tool(parent_id.as_deref(), &call));
                let parent = match (tool, parent_id) {
                    (Some(tool), _) => tool,
                    (None, Some(parent)) => self.home(&parent),
                    (None, None) => self.root.id,
                };
                let agent = text("agent").unwrap_or_else(|| "agent".into());
                let attributes = Attributes::of(payload)
                    .fixed("gen_ai.operation.name", "invoke_agent")
                    .fixed("gen_ai.agent.name", &agent)
                    .field("gen_ai.conversation.id", "session_id");
                self.begin_span(
                    Key::Loop(session_id),
                    parent,
                    format!("invoke_agent {agent}"),
                    false,
                    attributes,
                    at_ms,
                );
                None
            }
            ActivityKind::LoopEnded => {
                let attributes = with_failure(Attributes::of(payload).usage(), ok, text("error"))
                    .field("harn.loop.status", "status")
                    .field("harn.loop.stop_reason", "stop_reason")
                    .field("harn.loop.iterations", "iterations");
                self.end_span(&Key::Loop(session_id), ok, attributes, at_ms)
            }
            ActivityKind::ModelBegan => {
                let parent = self.home(&session_id);
                let asked = self.destinations.remove(&session_id).unwrap_or_default();
                let name = asked.model.as_deref().map_or_else(|| "chat".to_owned(), |model| format!("chat {model}"));
                let mut attributes = Attributes::of(payload)
                    .fixed("gen_ai.operation.name", "chat")
                    .field("gen_ai.conversation.id", "session_id")
                    .field("harn.turn", "turn");
                if let Some(name) = asked.provider {
                    attributes = attributes.fixed("gen_ai.provider.name", &provider(&name));
                }
                if let Some(model) = &asked.model {
                    attributes = attributes.fixed("gen_ai.request.model", model);
                }
                self.begin_span(Key::Model(session_id), parent, name, true, attributes, at_ms);
                None
            }
            ActivityKind::ModelEnded => {
                let key = Key::Model(session_id);
                let mut attributes = with_failure(Attributes::of(payload).usage(), ok, text("error"))
                    .field("gen_ai.response.model", "model")
                    .list_of("gen_ai.response.finish_reasons", "stop_reason");
                let knows_provider = self.find(&key).is_some_and(|span| has(span, "gen_ai.provider.name"));
                if let Some(name) = text("provider").filter(|_| !knows_provider) {
                    attributes = attributes.fixed("gen_ai.provider.name", &provider(&name));
                }
                if content {
                    attributes = attributes.json("gen_ai.output.messages", "output");
                }
                self.end_span(&key, ok, attributes, at_ms)
            }
            ActivityKind::ToolBegan => {
                let (tool, call_id) = (text("tool").unwrap_or_default(), text("call_id").unwrap_or_default());
                let parent = self.home(&session_id);
                let attributes = tool_attributes(payload);
                let key = Key::Tool(session_id, call_id);
                self.begin_span(key, parent, format!("execute_tool {tool}"), false, attributes, at_ms);
                None
            }
            ActivityKind::ToolEnded => {
                let (tool, call_id) = (text("tool").unwrap_or_default(), text("call_id").unwrap_or_default());
                let parent = self.home(&session_id);
                let key = Key::Tool(session_id, call_id);
                let mut attributes = Attributes::of(payload);
                if self.find(&key).is_none() {
                    // A refused call never began.
                    self.begin_span(
                        key.clone(),
                        parent,
                        format!("execute_tool {tool}"),
                        false,
                        tool_attributes(payload),
                        at_ms,
                    );
                }
                attributes = with_failure(attributes, ok, Some("tool_error".into()));
                if content {
                    attributes = attributes
                        .json("gen_ai.tool.call.arguments", "arguments")
                        .field("gen_ai.tool.call.result", "result");
                }
                self.end_span(&key, ok, attributes, at_ms)
            }
            // The run itself has its own records.
            ActivityKind::RunBegan | ActivityKind::RunEnded => None,
        }
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
        let left = open.into_iter().rev().map(|(_, mut span)| {
            span.end_ms = root.end_ms.max(span.start_ms);
            span.failed = true;
            span.attributes.push(("error.type".into(), Value::Text("unfinished".into())));
            span
        });
        let mut all: Vec<Span> = left.collect();
        all.push(root);
        all
    }
}

fn tool_attributes(payload: &Data) -> Attributes<'_> {
    Attributes::of(payload)
        .fixed("gen_ai.operation.name", "execute_tool")
        .field("gen_ai.tool.name", "tool")
        .field("gen_ai.tool.call.id", "call_id")
        .field("gen_ai.conversation.id", "session_id")
        .field("harn.turn", "turn")
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

/// Returns the first bytes of a digest. Ids depend on the log alone, so an exported log has the same ids as the live
/// run.
fn digest<const N: usize>(parts: &[&[u8]]) -> [u8; N] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    let whole = hash.finalize();
    let mut first = [0; N];
    first.copy_from_slice(&whole[..N]);
    first
}

fn span_id(trace_id: [u8; 16], number: u64) -> [u8; 8] {
    digest(&[b"span", &trace_id, &number.to_be_bytes()])
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
            found.extend(builder.take(ActivityRecord { writer, kind: &kind, payload: &payload, at_ms: *at_ms }));
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
}
