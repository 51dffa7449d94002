//! Workers and what they came to as values.

use crate::convert::{TranscriptValue, to_value};
use crate::failed_loop::{FailedLoop, FailureSubject};
use crate::world::World;
use base::data::Data;
use lang::source::{SourceRef, Span};
use lang::value::{Str, Value};
use runtime::agent_loop::LoopResult;
use runtime::loop_status::LoopStatus;
use runtime::workers::{Worker, WorkerStatus};
use std::rc::Rc;

/// The maximum length of a summary, in characters.
const SUMMARY_LENGTH: usize = 2_000;

/// A worker as scripts see it. Its transcript comes along once it does not run any more.
pub(crate) fn handle(worker: &Worker) -> Value {
    let data = worker.to_data();
    with_transcript(&data, worker, worker.status() != WorkerStatus::Running)
}

/// Returns the result of `sub_agent_run`: `{ok, summary, text, artifacts, tokens_used,
/// budget_exceeded, data?, error?, session_id, transcript}`, and `status`, `worker_id` and
/// `suspension?` beside them.
pub(crate) fn envelope(worker: &Worker) -> Value {
    let result = worker.result();
    let result = result.as_deref();
    let text = result.map_or("", |result| result.visible_text.as_ref());
    let used = result.map_or(0, |result| result.usage.input_tokens + result.usage.output_tokens);
    let assets = worker.session.with(|state| state.transcript.assets.clone());
    let status = result.map_or(LoopStatus::Error, |result| result.status);
    let data = Data::dict_of_present([
        ("ok", Data::from(worker.status() == WorkerStatus::Completed)),
        ("status", status.as_str().into()),
        ("summary", summary(text).into()),
        ("text", text.into()),
        ("artifacts", if assets.is_nil() { Data::list([]) } else { assets }),
        ("tokens_used", used.into()),
        ("budget_exceeded", (status == LoopStatus::BudgetExhausted).into()),
        ("data", structured(worker, result)),
        ("error", worker.error()),
        ("suspension", worker.suspension().map_or(Data::Nil, |suspension| suspension.to_data())),
        ("session_id", worker.session.id().into()),
        ("worker_id", (&worker.id).into()),
    ]);
    with_transcript(&data, worker, true)
}

/// Returns the value of a worker that the script waited for, an envelope or a handle. That of a worker that failed notes whether
/// the script handles the failure. If a limit or a handler ended it, that is reported, and a part of its result. `place` is the
/// call.
pub(crate) fn awaited(world: &Rc<World>, worker: &Worker, value: Value, place: Option<(SourceRef, Span)>) -> Value {
    let unseen = worker.unseen_failure();
    worker.see();
    if worker.status() != WorkerStatus::Failed {
        return value;
    }
    let failure = match unseen {
        Some(error) => {
            let subject = FailureSubject::Worker { id: worker.id.clone(), name: worker.name.clone() };
            world.stop.failures.add(subject, &error, place)
        }
        None => world.stop.failures.of_worker(&worker.id),
    };
    match failure {
        Some(failure) => FailedLoop::value(value, failure),
        None => value,
    }
}

fn with_transcript(data: &Data, worker: &Worker, wanted: bool) -> Value {
    let value = to_value(data);
    let Some(dict) = value.as_dict().filter(|_| wanted) else { return value };
    let mut dict = dict.clone();
    dict.insert(Str::new("transcript"), TranscriptValue::value(worker.session.transcript()));
    Value::dict(dict)
}

/// The answer as data, where a schema was asked for and the answer is JSON.
fn structured(worker: &Worker, result: Option<&LoopResult>) -> Data {
    if worker.options.model.request.output_schema.is_nil() {
        return Data::Nil;
    }
    result.and_then(|result| Data::from_json(&result.visible_text).ok()).unwrap_or_default()
}

/// The beginning of a text, cut at a character's border.
fn summary(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(SUMMARY_LENGTH) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
