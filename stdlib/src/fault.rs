//! Raises of the language and faults of the core, into one another.

use crate::a2a::client::PeerError;
use crate::convert::to_value;
use lang::diagnostic::Severity::{Error, Warning};
use lang::diagnostic::code::Code;
use lang::value::Value;
use lang::vm::{Raise, Why, codes};
use runtime::event_log::LogError;
use runtime::model::ModelError;
use runtime::reminder::ReminderError;
use runtime::seam::{Fault, Sort};
use runtime::session::SessionError;
use runtime::workers::{SnapshotError, WorkerError};
use std::any::Any;
use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

/// A model that could not be asked.
pub(crate) const MODEL: &str = "HARN-LLM-001";
/// Something worth knowing that has no code of its own.
pub(crate) const NOTE: &str = "HARN-LLM-002";
/// A session that is not there.
pub(crate) const SESSION: &str = "HARN-SES-001";
/// A session in which a loop is at work.
pub(crate) const SESSION_BUSY: &str = "HARN-SES-002";
/// The queue of a session that cannot do what is asked.
pub(crate) const QUEUE: &str = "HARN-SES-003";
/// An id that no queued reminder has.
pub(crate) const UNKNOWN_REMINDER: &str = "HARN-SES-004";
/// A handler or provider that takes too long.
pub(crate) const LATE: &str = "HARN-HOK-001";
/// An answer of a handler that cannot be used.
pub(crate) const UNUSABLE: &str = "HARN-HOK-002";
/// A worker that is not there.
pub(crate) const WORKER: &str = "HARN-WRK-001";
/// A worker that cannot do what is asked of it.
pub(crate) const WORKER_STATE: &str = "HARN-WRK-002";
/// A snapshot of a worker that cannot be used.
pub(crate) const SNAPSHOT: &str = "HARN-WRK-003";

/// The rows.
pub(crate) static CODES: &[Code] = &[
    Code {
        code: MODEL,
        severity: Error,
        title: "a model that could not be asked",
        meaning: "The route is not known, the server is down, refuses, or answers something that is no answer. The message \
                  says which server and what it said. `agent_loop` does not raise this: its result has `status: \
                  \"provider_error\"`. A script that does not read `status`, `error` or `stop_reason` of it ends with this \
                  error; `agent_loop(…)?` raises it.",
        fails: "llm_mock({error: {category: \"server\", message: \"out of order\"}})\nllm_call(\"hello\", nil, {provider: \
                \"mock\", llm_retries: 0})\n",
        mended: "llm_mock({text: \"hi\"})\nprintln(llm_call(\"hello\", nil, {provider: \"mock\"}).text)\n",
    },
    Code {
        code: NOTE,
        severity: Warning,
        title: "something worth knowing that ended nothing",
        meaning: "The work went on; the message says what was odd: a tool's arguments that are no JSON, a handler that changed \
                  what it cannot.",
        fails: "",
        mended: "",
    },
    Code {
        code: SESSION,
        severity: Error,
        title: "a session that is not there",
        meaning: "No session has this id, or one has it already. `agent_session_open(id)` opens one.",
        fails: "agent_session_reset(\"no-such-session\")\n",
        mended: "let id = agent_session_open(\"mine\")\nagent_session_reset(id)\n",
    },
    Code {
        code: LATE,
        severity: Error,
        title: "a handler or provider that takes too long",
        meaning: "One call of a handler, of a provider's `evaluate`, of a compactor or of `decide` among the permissions may \
                  take 30 seconds, unless `hook_timeout_ms` of the loop \
                  or `timeout_ms` under `[hooks]` in harn.toml says otherwise. One that takes longer is given up, and the \
                  loop goes on; where it could have refused a call or a prompt, it counts as a refusal.",
        fails: "register_session_hook(\"session_start\", { event -> sleep(60000) })\nagent_loop(\"go\", nil, \
                {provider: \"mock\", hook_timeout_ms: 1000, reminders: {strict: true}})\n",
        mended: "register_session_hook(\"session_start\", { event -> println(event.task) })\nagent_loop(\"go\", nil, \
                 {provider: \"mock\", hook_timeout_ms: 1000, reminders: {strict: true}})\n",
    },
    Code {
        code: UNUSABLE,
        severity: Error,
        title: "an answer of a handler that cannot be used",
        meaning: "`modify` of a prompt is a string or holds `prompt`; of a compaction it holds `strategy`, `keep_last`, \
                  `target_tokens` or `summary`. A prompt whose change cannot be used is refused, a compaction goes on as it \
                  would have. Where nothing can be refused or changed, such an answer is ignored with a warning.",
        fails: "register_session_hook(\"user_prompt_submit\", { event -> return {modify: {promt: \"hi\"}} })\n\
                agent_loop(\"hello\", nil, {provider: \"mock\", reminders: {strict: true}})\n",
        mended: "register_session_hook(\"user_prompt_submit\", { event -> return {modify: {prompt: \"hi\"}} })\n\
                 agent_loop(\"hello\", nil, {provider: \"mock\", reminders: {strict: true}})\n",
    },
    Code {
        code: QUEUE,
        severity: Error,
        title: "a queue of injections that cannot do what is asked",
        meaning: "A session's queue holds 256 items and refuses more until a loop has drained some. What a seam has delivered \
                  cannot be taken back. The error's `status` is `queue_full`, `already_delivered` or `closed`.",
        fails: "let id = agent_session_open(\"mine\")\nfor n in 1 to 257 {\n  agent_session_push_bridge_injection(id, {body: \
                \"note ${n}\", ttl_turns: 1})\n}\n",
        mended: "let id = agent_session_open(\"mine\")\nfor n in 1 to 256 {\n  agent_session_push_bridge_injection(id, {body: \
                 \"note ${n}\", ttl_turns: 1})\n}\n",
    },
    Code {
        code: UNKNOWN_REMINDER,
        severity: Error,
        title: "unknown reminder",
        meaning: "No reminder or message with this id waits in the session's queue or was there lately. The id is misspelt, or it \
                  belongs to another session. `session/pending_injections` lists what waits. The error's `status` is `unknown`.",
        fails: "let id = agent_session_open(\"mine\")\nagent_session_revoke_reminder(id, \"no-such-item\")\n",
        mended: "let id = agent_session_open(\"mine\")\nlet accepted = agent_session_push_bridge_injection(id, {body: \"Look \
                 again.\", ttl_turns: 1})\nagent_session_revoke_reminder(id, accepted.reminderId)\n",
    },
    Code {
        code: WORKER,
        severity: Error,
        title: "a worker that is not there",
        meaning: "No worker of this run has this id. `spawn_agent` gives a handle, and `list_agents()` the handles there are.",
        fails: "wait_agent(\"no-such-worker\")\n",
        mended: "let worker = spawn_agent({task: \"look\", provider: \"mock\"})\nwait_agent(worker)\n",
    },
    Code {
        code: SESSION_BUSY,
        severity: Error,
        title: "a session in which a loop is at work",
        meaning: "Two loops in one conversation would tear calls of tools from their answers, and no model server takes that. \
                  The second waits for the first, or works in a session of its own; a tool that needs an agent starts it with \
                  `sub_agent_run`.",
        fails: "let slow = { asked ->\n  sleep(50)\n  return \"done\"\n}\nlet first = spawn { agent_loop(\"a\", nil, {session_id: \
                \"s\", llm_caller: slow}) }\nsleep(1)\nagent_loop(\"b\", nil, {session_id: \"s\", llm_caller: slow})\n",
        mended: "let slow = { asked ->\n  sleep(50)\n  return \"done\"\n}\nlet first = spawn { agent_loop(\"a\", nil, {session_id: \
                 \"s\", llm_caller: slow}) }\nawait(first)\nagent_loop(\"b\", nil, {session_id: \"s\", llm_caller: slow})\n",
    },
    Code {
        code: SNAPSHOT,
        severity: Error,
        title: "a snapshot of a worker that cannot be used",
        meaning: "The file is not there, is cut short, was written by a newer version or holds what nobody knows; or it was \
                  resumed already: of two who resume one snapshot, one does. Tools and functions are not in it: whoever \
                  resumes it in another process gives them again.",
        fails: "resume_agent(\"no/such/snapshot.json\")\n",
        mended: "let worker = spawn_agent({task: \"wait\", reminders: false, llm_caller: { asked -> asked.turn == 1 ? \
                 {tool_calls: [{id: \"c\", name: \"agent_await_resumption\", arguments: {reason: \"you\"}}]} : \"done\" \
                 }})\nlet parked = wait_agent(worker)\nresume_agent(parked, \"go on\")\nprintln(wait_agent(worker).status)\n",
    },
    Code {
        code: WORKER_STATE,
        severity: Error,
        title: "a worker that cannot do what is asked of it",
        meaning: "A worker is `running`, `suspended`, `completed`, `failed` or `cancelled`. One that runs cannot be resumed, \
                  one that was closed cannot go on, none can wait for itself, and none can work in the session for which it \
                  works.",
        fails: "let id = agent_session_open(\"mine\")\nsub_agent_run(\"look\", {provider: \"mock\", parent_session_id: id, \
                session_id: id})\n",
        mended: "let id = agent_session_open(\"mine\")\nsub_agent_run(\"look\", {provider: \"mock\", parent_session_id: id})\n",
    },
];

/// What a script threw, on its way through the core.
pub(crate) struct Thrown {
    raise: RefCell<Option<Box<Raise>>>,
    text: String,
    code: &'static str,
    why: Why,
}

impl Thrown {
    /// As a fault.
    pub(crate) fn fault(raise: Box<Raise>) -> Rc<dyn Fault> {
        let text = match raise.why {
            Why::Thrown => lang::value::brief(&message_of(&raise.value)),
            _ => raise.message.clone(),
        };
        Rc::new(Self { text, code: raise.code, why: raise.why, raise: RefCell::new(Some(raise)) })
    }
}

/// A thrown error's message, or the thrown value itself.
fn message_of(value: &Value) -> Value {
    value.as_dict().and_then(|d| d.get_str("message")).unwrap_or(value).clone()
}

impl fmt::Debug for Thrown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Thrown({})", self.text)
    }
}

impl fmt::Display for Thrown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Fault for Thrown {
    fn sort(&self) -> Sort {
        match self.why {
            // `exit` inside a hook or tool ends the loop as a cancellation does.
            Why::Cancelled | Why::Abandoned | Why::Exit(_) => Sort::Cancelled,
            Why::Deadline(_) => Sort::Deadline,
            Why::Exhausted => Sort::Limit,
            Why::Thrown | Why::Error => Sort::Script,
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn code(&self) -> Option<&'static str> {
        Some(self.code)
    }
}

/// A fault as a raise: the script's own comes back as it was.
pub(crate) fn to_raise(fault: &Rc<dyn Fault>) -> Box<Raise> {
    if let Some(thrown) = fault.as_any().downcast_ref::<Thrown>() {
        if let Some(raise) = thrown.raise.borrow_mut().take() {
            return raise;
        }
        return Raise::error(thrown.code, thrown.text.clone());
    }
    if let Some(error) = fault.as_any().downcast_ref::<ReminderError>() {
        return of_reminder(error);
    }
    if let Some(error) = fault.as_any().downcast_ref::<ModelError>() {
        return of_model(error);
    }
    if let Some(error) = fault.as_any().downcast_ref::<LogError>() {
        return of_log(error);
    }
    if let Some(error) = fault.as_any().downcast_ref::<SessionError>() {
        return of_session(error);
    }
    if let Some(error) = fault.as_any().downcast_ref::<SnapshotError>() {
        return of_snapshot(error);
    }
    if let Some(error) = fault.as_any().downcast_ref::<WorkerError>() {
        return of_worker(error);
    }
    match fault.sort() {
        Sort::Cancelled => Raise::cancelled(fault.to_string()),
        _ => Raise::error(fault.code().unwrap_or(codes::OUTSIDE), fault.to_string()),
    }
}

/// An error of asking another agent.
pub(crate) fn of_peer(error: &PeerError) -> Box<Raise> {
    let mut raise = Raise::error(error.kind.code(), error.message.clone()).field("category", error.kind.as_str());
    for (name, value) in &error.facts {
        raise = raise.field(name, to_value(value));
    }
    match &error.help {
        Some(help) => raise.help(help.clone()),
        None => raise,
    }
}

/// A reminder's error, with the field it is about.
pub(crate) fn of_reminder(error: &ReminderError) -> Box<Raise> {
    let mut raise = Raise::error(error.code.as_str(), error.message.clone()).field("field", error.field.as_str());
    if let Some(suggestion) = &error.suggestion {
        raise = raise.field("suggestion", suggestion.as_str());
    }
    if !error.field.is_empty() {
        raise = raise.labelled(format!("`{}` is at fault", error.field));
    }
    match &error.help {
        Some(help) => raise.help(help.clone()),
        None => raise,
    }
}

fn of_model(error: &ModelError) -> Box<Raise> {
    let mut raise = Raise::error(MODEL, error.to_string());
    raise = raise.field("category", error.kind.as_str());
    if let Some(status) = error.status {
        raise = raise.field("status", i64::from(status));
    }
    if let Some(ms) = error.retry_after_ms {
        raise = raise.field("retry_after_ms", i64::try_from(ms).unwrap_or(i64::MAX));
    }
    raise = raise.field("retryable", error.retryable);
    for (key, name) in [("provider", &error.provider), ("model", &error.model)] {
        if let Some(name) = name {
            raise = raise.field(key, name.as_ref());
        }
    }
    raise
}

/// An error of the event log; one who was too slow learns where to go on.
fn of_log(error: &LogError) -> Box<Raise> {
    let raise = Raise::error(error.code(), error.to_string()).help(error.help());
    match error {
        LogError::Lagged { lost, resume_from } => {
            let int = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
            raise.field("lost", int(*lost)).field("resume_from", int(*resume_from))
        }
        _ => raise,
    }
}

/// An error of sessions.
pub(crate) fn of_session(error: &SessionError) -> Box<Raise> {
    match error {
        SessionError::Busy(_) => Raise::error(SESSION_BUSY, error.to_string())
            .help("wait until that loop is over, or leave `session_id` out: then it gets a session of its own"),
        SessionError::Reminder(error) => of_reminder(error),
        _ => Raise::error(SESSION, error.to_string()),
    }
}

/// An error of snapshots of workers.
pub(crate) fn of_snapshot(error: &SnapshotError) -> Box<Raise> {
    let raise = Raise::error(SNAPSHOT, error.to_string());
    match error {
        SnapshotError::Missing(_) => raise.help("the handle of a suspended worker has its `snapshot_path`"),
        SnapshotError::Claimed(path) => raise.help(format!(
            "a snapshot is resumed once; if the process that resumed it was killed, rename `{path}.resumed` to `{path}`"
        )),
        SnapshotError::Newer(_) => raise.help("resume it with the version that wrote it, or a later one"),
        SnapshotError::Unfit(_) => {
            raise.help("give what a file cannot hold: `resume_agent(path, input, true, {tools: …, llm_caller: …})`")
        }
        SnapshotError::Held(_) => {
            raise.help("one loop at a time works with a file; end that one, or name another file")
        }
        SnapshotError::Broken(_) | SnapshotError::Io { .. } => raise,
    }
}

/// An error of workers.
pub(crate) fn of_worker(error: &WorkerError) -> Box<Raise> {
    match error {
        WorkerError::Unknown(_) => {
            Raise::error(WORKER, error.to_string()).help("`list_agents()` names those there are")
        }
        WorkerError::Itself(_) => Raise::error(WORKER_STATE, error.to_string())
            .help("a worker is waited for by those who started it, not from its own hooks and tools"),
        WorkerError::State { .. } | WorkerError::OwnParent(_) | WorkerError::Busy(_) => {
            Raise::error(WORKER_STATE, error.to_string())
        }
    }
}
