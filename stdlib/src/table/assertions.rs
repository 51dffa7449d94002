//! Assertions about errors, snapshots, and what agents did.

use crate::arguments::find_session;
use crate::bind::ScriptFn;
use crate::codes::TestCode;
use crate::convert::to_data_lossy;
use crate::fault::to_raise;
use crate::here;
use crate::log::read_log;
use crate::options::{ExpectedCall, ExpectedReminder, ExpectedRequest, OptionSet};
use crate::testing::{SnapshotResult, lives, pretty, summary};
use crate::world::World;
use base::call::call_error;
use base::data::Data;
use eventlog::{LogError, LogReader, Record, RecordFilter};
use lang::builtins::{Unequal, args};
use lang::diagnostic::nearest;
use lang::value::{Value, brief, inspect};
use lang::vm::{Cx, On, Raise, Wait, Why};
use providers::model::MockCall;
use runtime::lifecycle::rebuild::{Biography, Rebuilt};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

lang::builtins! { "" =>
    /// Runs `body`, which must raise an error, and returns the error. `expected` is a part of its message, its code, or a
    /// dict of entries that it must have.
    ///
    /// ```harn
    /// assert_throws({ -> throw "no such page" }, "no such") // => "no such page"
    /// assert_throws({ -> 1 }) // => error: expected an error, and the function returned 1
    /// ```
    waits "assert_throws(body: fn() -> any, expected: string | dict | nil = nil) -> any" assert_throws;
    /// Raises unless the value is the same as in its snapshot, a file beside the test. Works in `harn test`.
    plain "assert_snapshot(value: any, name: string? = nil) -> nil" assert_snapshot;
    /// Raises unless prompts of the session carried a reminder that fits: exactly `turns` of them, if that is given, else
    /// at least one. The session is an id or the result of a loop.
    ///
    /// ```harn
    /// agent_session_open("s")
    /// agent_session_inject_reminder("s", {body: "Be brief.", dedupe_key: "style", ttl_turns: 2})
    /// llm_mock("done")
    /// agent_loop("Go.", nil, {provider: "mock", session_id: "s"}).status // => "done"
    /// assert_reminded("s", {key: "style", turns: 1}) // => nil
    /// ```
    waits "assert_reminded(session: any, reminder: ExpectedReminder) -> nil" assert_reminded;
    /// Raises unless the model called the tool: `times` times, if that is given, and with these entries among its arguments.
    /// The session is an id, a transcript or the result of a loop.
    ///
    /// ```harn
    /// let tools = tool_define(tool_registry(), "look", "Looks.", {handler: { a -> "seen" }})
    /// llm_mock(llm_tool_call("look", {at: "a.txt"}))
    /// llm_mock("done")
    /// let result = agent_loop("Go.", nil, {provider: "mock", tools: tools})
    /// assert_tool_called(result, "look", {times: 1}) // => nil
    /// ```
    plain "assert_tool_called(session: any, name: string, call: ExpectedCall? = nil) -> nil" assert_tool_called;
    /// Raises unless the event log has a record of that kind with these entries in its payload.
    ///
    /// ```harn
    /// event_log.emit("orders", "paid", {id: 7}) // => 1
    /// assert_event("paid", {id: 7}) // => nil
    /// ```
    waits "assert_event(kind: string, payload: dict? = nil) -> nil" assert_event;
    /// Raises unless a request to the mock model contains the text: in its system text or a message. `call` is the number of
    /// the request, from 0; a negative one counts from the last.
    ///
    /// ```harn
    /// llm_mock("done")
    /// agent_loop("Write a poem.", nil, {provider: "mock"}).status // => "done"
    /// assert_prompt_contains("poem") // => nil
    /// ```
    plain "assert_prompt_contains(text: string, request: ExpectedRequest? = nil) -> nil" assert_prompt_contains;
}

fn failed(code: TestCode, message: impl Into<String>) -> Box<Raise> {
    Raise::error(code, message)
}

fn assert_throws(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let body = ScriptFn::read(cx, args, 0)?;
    let expected = std::mem::take(&mut args[1]);
    if !matches!(expected, Value::Nil | Value::Str(_) | Value::Dict(_)) {
        return Err(args::mismatch(&[Value::Nil, expected], 1, "a string or a dict"));
    }
    let called = body.call_plain();
    Ok(Wait::new(async move {
        let raise = match called.get().await {
            Ok(value) => {
                let message = format!("expected an error, and the function returned {}", inspect(&value));
                return Err(failed(TestCode::Throws, message).about(0, "raised nothing"));
            }
            Err(raise) if !matches!(raise.why, Why::Thrown | Why::Error) => return Err(raise),
            Err(raise) => raise,
        };
        let error = raise.to_value();
        if fits_error(&raise, &error, &expected) {
            return Ok(error);
        }
        let message = format!("expected an error that fits {}, found {}", inspect(&expected), inspect(&error));
        Err(failed(TestCode::Throws, message).about(1, "does not fit"))
    })
    .on(On::Script))
}

fn fits_error(raise: &Raise, error: &Value, expected: &Value) -> bool {
    match expected {
        Value::Str(text) => {
            let message = error.as_dict().and_then(|dict| dict.get_str("message")).map_or_else(|| brief(error), brief);
            raise.code.as_str() == text.as_str() || message.contains(text.as_str())
        }
        Value::Dict(_) => fits(&to_data_lossy(error), &to_data_lossy(expected)),
        _ => true,
    }
}

/// Returns whether a value is as wanted: a dict has at least the wanted entries, anything else is equal.
fn fits(found: &Data, wanted: &Data) -> bool {
    match (found, wanted) {
        (Data::Dict(_), Data::Dict(entries)) => entries.iter().all(|(key, value)| fits(found.get(key), value)),
        (Data::List(found), Data::List(wanted)) => {
            found.len() == wanted.len() && found.iter().zip(wanted.iter()).all(|(found, wanted)| fits(found, wanted))
        }
        (Data::Int(i), Data::Float(f)) | (Data::Float(f), Data::Int(i)) => {
            #[allow(clippy::cast_precision_loss)] // as the language compares them
            let same = *i as f64 == *f;
            same
        }
        _ => found == wanted,
    }
}

fn assert_snapshot(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let world = here::world(cx)?;
    let given = args::opt_str(args, 1)?;
    let Some(test) = world.test.get() else {
        return Err(failed(TestCode::Snapshot, "`assert_snapshot` works only in `harn test`")
            .help("run the file with `harn test`, or compare with `assert_eq`"));
    };
    let name = match given {
        Some(name) => name.as_str().to_owned(),
        None => {
            let number = test.unnamed.get() + 1;
            test.unnamed.set(number);
            if number == 1 { test.name.clone() } else { format!("{} {number}", test.name) }
        }
    };
    let text = pretty(&args[0]);
    let accept = "`harn test --review` shows the difference; `harn test --update` accepts all snapshots";
    match test.snapshots.compare(&name, &text) {
        SnapshotResult::Same => Ok(Value::Nil),
        SnapshotResult::Missing { file } => {
            let message = format!("the snapshot `{name}` does not exist yet");
            Err(failed(TestCode::Snapshot, message)
                .about(0, "new")
                .note(format!("its file would be {file}"))
                .help(accept))
        }
        SnapshotResult::Different { file, expected } => {
            let message = format!("the value differs from the snapshot `{name}`");
            let mut raise = failed(TestCode::Snapshot, message).about(0, "has changed").help(accept);
            raise.notes.push(format!("the snapshot is in {file}"));
            raise.payload = Some(Rc::new(Unequal { actual: Value::from(text), expected: Value::from(expected) }));
            Err(raise)
        }
        SnapshotResult::Taken { by } => {
            let message = match by {
                None => format!("the test uses the snapshot `{name}` twice"),
                Some(test) => format!("the snapshot `{name}` is used by the test `{test}` with another value"),
            };
            Err(failed(TestCode::Snapshot, message)
                .about(0, "compared with the same snapshot")
                .help("pass a different name as the second argument of each `assert_snapshot`"))
        }
        SnapshotResult::Failed { reason } => {
            Err(failed(TestCode::Snapshot, format!("cannot use the snapshot `{name}`: {reason}")).about(0, ""))
        }
    }
}

/// Calls `read` with the reader of the run's log, off this thread if the log is a file.
fn with_log<T: Send + 'static>(
    world: &Rc<World>,
    read: impl FnOnce(&LogReader) -> Result<T, LogError> + Send + 'static,
    judge: impl FnOnce(T) -> Result<(), Box<Raise>> + 'static,
) -> Wait {
    let log = world.observers.log.reader();
    if !log.blocks() {
        let judged = read(&log).map_err(|error| to_raise(&call_error(error))).and_then(judge);
        return Wait::ready(judged.map(|()| Value::Nil));
    }
    let world = world.clone();
    Wait::new(async move { read_log(&world, log, read).await.and_then(judge).map(|()| Value::Nil) })
}

impl ExpectedReminder {
    fn is(&self, life: &Biography) -> bool {
        let reminder = &life.reminder;
        let same = |wanted: &Option<Arc<str>>, found: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| found == Some(wanted))
        };
        same(&self.key, reminder.dedupe_key.as_deref())
            && same(&self.id, Some(&reminder.id))
            && self.tag.as_deref().is_none_or(|tag| reminder.tags.iter().any(|known| **known == *tag))
            && self.body.as_deref().is_none_or(|body| reminder.body.contains(body))
    }

    /// Returns the number of prompts that carried a reminder, in the wanted slot.
    fn prompts(&self, life: &Biography) -> usize {
        let in_slot =
            |slot: &dyn std::fmt::Display| self.slot.as_ref().is_none_or(|wanted| *slot.to_string() == **wanted);
        life.carried.iter().filter(|carried| !carried.void && in_slot(&carried.slot)).count()
    }
}

fn assert_reminded(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let world = here::world(cx)?;
    let id = session_id(args, 0)?;
    let wanted = ExpectedReminder::read(cx, args, 1)?;
    let shown = inspect(&args[1]);
    Ok(with_log(&world, lives, move |rebuilt: Rebuilt| {
        let Some(life) = rebuilt.session(&id) else {
            let known: Vec<&str> = rebuilt.sessions().map(|session| &*session.id).collect();
            let raise = failed(TestCode::Assertion, format!("no reminder of the session `{id}` is on record"));
            return Err(raise.about(0, "unknown session").note(match known.as_slice() {
                [] => "no session has reminders".to_owned(),
                known => format!("sessions with reminders: {}", known.join(", ")),
            }));
        };
        let prompts: usize =
            life.reminders.iter().filter(|life| wanted.is(life)).map(|life| wanted.prompts(life)).sum();
        if wanted.turns.map_or(prompts > 0, |turns| prompts == turns) {
            return Ok(());
        }
        let expected = match wanted.turns {
            Some(turns) => prompts_text(turns),
            None => "a prompt".to_owned(),
        };
        let message =
            format!("expected a reminder that fits {shown} in {expected} of the session, found it in {prompts}");
        let list: Vec<String> = life
            .reminders
            .iter()
            .map(|life| {
                let carried = life.carried.iter().filter(|carried| !carried.void).count();
                format!("{} · in {}", summary(life), prompts_text(carried))
            })
            .collect();
        let note = match list.as_slice() {
            [] => "the session has no reminders".to_owned(),
            list => format!("reminders of the session:\n{}", list.join("\n")),
        };
        Err(failed(TestCode::Assertion, message).about(1, "").note(note))
    }))
}

fn prompts_text(count: usize) -> String {
    if count == 1 { "1 prompt".to_owned() } else { format!("{count} prompts") }
}

/// Returns the id of the session that an argument names: an id, or what has one.
fn session_id(args: &[Value], i: usize) -> Result<Arc<str>, Box<Raise>> {
    let of = |value: Option<Value>| match value {
        Some(Value::Str(id)) => Some(Arc::from(id.as_str())),
        _ => None,
    };
    let found = match &args[i] {
        Value::Str(id) => Some(Arc::from(id.as_str())),
        Value::Host(host) => of(host.object().get("session_id")).or_else(|| of(host.object().get("id"))),
        Value::Dict(dict) => {
            of(dict.dict.get_str("session_id").cloned()).or_else(|| of(dict.dict.get_str("id").cloned()))
        }
        _ => None,
    };
    found.ok_or_else(|| args::mismatch(args, i, "a session id or the result of a loop"))
}

/// Returns the messages of what an argument names: a session, a transcript, the result of a loop.
fn messages(args: &[Value], i: usize, world: &World) -> Result<Data, Box<Raise>> {
    if let Value::Str(id) = &args[i] {
        let session =
            find_session(id, world, "assert_tool_called").map_err(|raise| raise.about(i, "unknown session"))?;
        return Ok(session.transcript().get("messages"));
    }
    let field = |value: &Value, key: &str| match value {
        Value::Host(host) => host.object().get(key),
        Value::Dict(dict) => dict.dict.get_str(key).cloned(),
        _ => None,
    };
    let transcript = field(&args[i], "transcript").filter(|value| !value.is_nil());
    let found = field(transcript.as_ref().unwrap_or(&args[i]), "messages");
    found
        .map(|messages| to_data_lossy(&messages))
        .ok_or_else(|| args::mismatch(args, i, "a session id, a transcript or the result of a loop"))
}

fn assert_tool_called(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let world = here::world(cx)?;
    let messages = messages(args, 0, &world)?;
    let name = args::str(args, 1)?.as_str();
    let ExpectedCall { times, arguments } = ExpectedCall::read(cx, args, 2)?;
    let arguments = arguments.unwrap_or_default();
    let calls: Vec<&Data> = messages
        .as_list()
        .unwrap_or_default()
        .iter()
        .flat_map(|message| message.get("tool_calls").as_list().unwrap_or_default())
        .collect();
    let is_wanted = |call: &&&Data| {
        call.get("name").as_str() == Some(name) && (arguments.is_nil() || fits(call.get("arguments"), &arguments))
    };
    let found = calls.iter().filter(is_wanted).count();
    if times.map_or(found > 0, |times| found == times) {
        return Ok(Value::Nil);
    }
    let with = if arguments.is_nil() { String::new() } else { format!(" with arguments {}", arguments.to_json()) };
    let expected = match times {
        Some(1) => "once".to_owned(),
        Some(times) => format!("{times} times"),
        None => "at least once".to_owned(),
    };
    let message = format!("expected the tool `{name}` to be called {expected}{with}, found {found} such calls");
    let list: Vec<String> = calls
        .iter()
        .take(MOST_SHOWN)
        .map(|call| {
            format!("{} {}", call.get("name").as_str().unwrap_or("?"), excerpt(&call.get("arguments").to_json()))
        })
        .collect();
    Err(failed(TestCode::Assertion, message).about(1, "").note(match list.as_slice() {
        [] => "no tool was called".to_owned(),
        list => format!("tool calls: {}", listed(list, calls.len())),
    }))
}

/// Things that a note lists.
const MOST_SHOWN: usize = 8;
/// Characters of one of them.
const EXCERPT: usize = 160;

fn excerpt(text: &str) -> String {
    let shown: String = text.chars().take(EXCERPT).collect();
    if shown.len() < text.len() { format!("{shown}…") } else { shown }
}

fn listed(list: &[String], all: usize) -> String {
    let more = all.saturating_sub(list.len());
    let mut text = list.iter().fold(String::new(), |text, line| format!("{text}\n{line}"));
    if more > 0 {
        text.push_str(&format!("\nand {more} more"));
    }
    text
}

fn assert_event(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let world = here::world(cx)?;
    let kind = args::str(args, 0)?.as_str().to_owned();
    let wanted = args::opt_dict(args, 1)?.map(|_| to_data_lossy(&args[1]));
    let read = |log: &LogReader| {
        let (mut filter, mut all): (RecordFilter, Vec<Arc<Record>>) = Default::default();
        loop {
            let page = log.read(&filter, 1024)?;
            let Some(last) = page.last() else { return Ok(all) };
            filter.after = last.cursor;
            all.extend(page);
        }
    };
    Ok(with_log(&world, read, move |records| {
        let of_kind: Vec<_> = records.iter().filter(|record| *record.kind == *kind).collect();
        let is_wanted = |payload: &Data| wanted.as_ref().is_none_or(|wanted| fits(payload, wanted));
        if of_kind.iter().any(|record| is_wanted(&record.payload.to_data())) {
            return Ok(());
        }
        if of_kind.is_empty() {
            let kinds: BTreeSet<&str> = records.iter().map(|record| &*record.kind).collect();
            let raise = failed(TestCode::Assertion, format!("no event `{kind}` is on record")).about(0, "not found");
            return Err(match nearest(&kind, kinds.iter().copied()) {
                Some(near) => raise.help(format!("did you mean `{near}`?")),
                None if kinds.is_empty() => raise.note("the event log is empty"),
                None => raise.note(format!("kinds on record: {}", kinds.into_iter().collect::<Vec<_>>().join(", "))),
            });
        }
        let wanted = wanted.map(|wanted| wanted.to_json()).unwrap_or_default();
        let message = format!("no event `{kind}` has {}", excerpt(&wanted));
        let list: Vec<String> =
            of_kind.iter().take(MOST_SHOWN).map(|record| excerpt(&record.payload.to_data().to_json())).collect();
        Err(failed(TestCode::Assertion, message)
            .about(1, "no payload fits")
            .note(format!("payloads on record:{}", listed(&list, of_kind.len()))))
    }))
}

fn assert_prompt_contains(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let world = here::world(cx)?;
    let text = args::str(args, 0)?.as_str();
    let number = ExpectedRequest::read(cx, args, 1)?.call;
    let calls: Vec<Data> = world.services.routes.mock().calls().iter().map(MockCall::to_data).collect();
    let chosen: Vec<(usize, &Data)> = match number {
        None => calls.iter().enumerate().collect(),
        Some(number) => {
            let from_end = i64::try_from(calls.len()).unwrap_or(i64::MAX).saturating_add(number);
            let index = usize::try_from(if number < 0 { from_end } else { number }).ok();
            let found = index.and_then(|index| calls.get(index).map(|call| (index, call)));
            let Some(found) = found else {
                let message = format!("the mock model has no request {number}: it got {}", calls.len());
                return Err(failed(TestCode::Assertion, message).about(1, "no such request"));
            };
            vec![found]
        }
    };
    if chosen.iter().any(|(_, call)| contains(call.get("system"), text) || contains(call.get("messages"), text)) {
        return Ok(Value::Nil);
    }
    let message = match number {
        Some(number) => format!("request {number} to the model does not contain \"{}\"", excerpt(text)),
        None => format!("no request to the model contains \"{}\"", excerpt(text)),
    };
    let last = |call: &Data| {
        let messages = call.get("messages").as_list().unwrap_or_default();
        messages.last().map(|message| message.get("content").clone()).unwrap_or_default()
    };
    let list: Vec<String> = chosen
        .iter()
        .take(MOST_SHOWN)
        .map(|(index, call)| {
            let system = call.get("system").as_str().unwrap_or_default();
            let content = last(call);
            let content = content.as_str().map_or_else(|| content.to_json(), str::to_owned);
            format!("{index}: system \"{}\" · last message \"{}\"", excerpt(system), excerpt(&content))
        })
        .collect();
    Err(failed(TestCode::Assertion, message).about(0, "not found").note(match list.as_slice() {
        [] => "the mock model got no request".to_owned(),
        list => format!("requests:{}", listed(list, chosen.len())),
    }))
}

/// Returns whether any text in the data contains another.
fn contains(data: &Data, text: &str) -> bool {
    match data {
        Data::Str(found) => found.contains(text),
        Data::List(items) => items.iter().any(|item| contains(item, text)),
        Data::Dict(entries) => entries.iter().any(|(_, value)| contains(value, text)),
        _ => false,
    }
}
