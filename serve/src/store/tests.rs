//! Sessions across two processes, simulated with two stores.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::path::PathBuf;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};

use base::call::{Answer, Outcome};
use base::clock::ManualClock;
use base::data::Data;
use base::ids::IdStream;
use eventlog::{EventLog, NewRecord, Record, RecordFilter, SharedLog, SqliteLog, SqliteOptions};
use runtime::agent_loop::{LoopEvent, LoopObservation, LoopOptions, LoopParts, agent_loop};
use runtime::conditions::NoConditions;
use runtime::hooks::Hooks;
use runtime::lifecycle::rebuild::rebuild;
use runtime::lifecycle::{CompactionCharge, compact, preserve_only};
use runtime::loop_status::LoopStatus;
use runtime::message::{Message, Role, ToolCall, ToolSpec};
use runtime::model::{Delta, ModelReply, Request};
use runtime::reminder::bridge::{DeliveryMode, RemindPayload};
use runtime::reminder::{ReminderSource, ReminderSpec};
use runtime::reminder_providers::ReminderProviders;
use runtime::scope::Scope;
use runtime::seam::{Model, Output, Tool, Turn};
use runtime::session::Session;

use super::*;
use crate::host::{PromptOutcome, SessionEvent};

mod damaged;
mod elsewhere;
mod killed;
mod listed;
mod replayed;
mod retained;
mod trimmed;

const ID: &str = "sess_0123456789abcdef0123456789abcdef";

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return value;
        }
        // The log's thread is working.
        std::thread::yield_now();
    }
}

/// A folder of its own, removed after the test.
pub(crate) struct StoreFolder(PathBuf);

impl StoreFolder {
    pub(crate) fn new() -> StoreFolder {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let name = format!("harn-store-{}-{}", std::process::id(), LAST.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        StoreFolder(path)
    }

    pub(crate) fn log(&self) -> SqliteLog {
        SqliteLog::open(self.0.join("events.db"), &SqliteOptions::default()).unwrap()
    }

    fn path(&self) -> PathBuf {
        self.0.join("events.db")
    }

    fn store(&self) -> SessionStore {
        SessionStore::new(self.log()).unwrap()
    }
}

impl Drop for StoreFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Returns configured replies, then `done`; records the requests.
#[derive(Default)]
struct ScriptedModel {
    replies: RefCell<VecDeque<ModelReply>>,
    asked: RefCell<Vec<Request>>,
}

impl Model for ScriptedModel {
    fn call<'a>(
        &'a self,
        _: Turn<'a>,
        request: &'a Request,
        live: &'a dyn Fn(Delta<'_>),
    ) -> Answer<'a, Outcome<ModelReply>> {
        self.asked.borrow_mut().push(request.clone());
        let reply = self.replies.borrow_mut().pop_front().unwrap_or_else(|| says("done"));
        live(Delta::Text(&reply.text));
        Answer::Now(Ok(reply))
    }
}

fn says(text: &str) -> ModelReply {
    ModelReply { text: text.into(), ..ModelReply::default() }
}

fn calls(id: &str) -> ModelReply {
    ModelReply { tool_calls: vec![ToolCall::new(id, "echo", Data::empty_dict())], ..says("let me see") }
}

struct EchoTool(ToolSpec);

impl Tool for EchoTool {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn call<'a>(&'a self, _: Turn<'a>, _: &'a ToolCall) -> Answer<'a, Outcome<Output>> {
        Answer::Now(Ok(Output::of("echoed".into())))
    }
}

/// A served session without a host, in place of a worker.
struct ServedSession {
    session: Rc<Session>,
    scope: Scope,
    journal: Rc<SessionJournal>,
    model: Rc<ScriptedModel>,
}

impl ServedSession {
    fn open(store: &SessionStore, id: &str) -> ServedSession {
        let about =
            SessionDescription { cwd: Some("/work".into()), protocol: "acp".into(), ..SessionDescription::default() };
        {
            let served = ServedSession::with(store, id, SessionJournal::new(store, &id.into(), about));
            served.journal.opened(store);
            served
        }
    }

    fn load(store: &SessionStore, claim: SessionClaim) -> ServedSession {
        let stored = claim.stored;
        let about = stored.about().clone();
        let served = ServedSession::with(store, &stored.id, SessionJournal::load(store, &stored, about));
        served.session.recover(stored.left(), &served.scope);
        served.journal.see(&served.session);
        served
    }

    fn with(store: &SessionStore, id: &str, journal: SessionJournal) -> ServedSession {
        let scope = Scope::new(Rc::new(ManualClock::new(1_000)), store.log_of(id).here());
        let session = Session::new(id, IdStream::new(7, id), 1_000);
        ServedSession { session, scope, journal: Rc::new(journal), model: Rc::default() }
    }

    /// Runs one prompt, as a client sends it.
    fn prompt(&self, text: &str, replies: impl IntoIterator<Item = ModelReply>) {
        self.model.replies.borrow_mut().extend(replies);
        self.journal.prompted(text, None);
        let message_id: Arc<str> = text.into();
        self.journal.note(&SessionEvent::UserMessage { message_id: message_id.clone(), content: text.into() });
        let result = block_on(agent_loop(&self.session, &self.scope, &self.parts(), LoopOptions::new(text.to_owned())));
        assert_eq!(result.unwrap().status, LoopStatus::Done);
        self.journal.answered(&self.session, &PromptOutcome::Done);
    }

    fn parts(&self) -> LoopParts {
        let journal = self.journal.clone();
        let watch = move |sight: LoopObservation<'_>| {
            journal.sight(&sight);
            let message_id = || format!("{}", sight.turn.number).into();
            match sight.seen {
                LoopEvent::Piece(Delta::Text(text)) => {
                    journal.note(&SessionEvent::Text { message_id: message_id(), text: text.into() });
                }
                LoopEvent::ToolBegan(call) => {
                    journal.note(&SessionEvent::ToolCall { call: call.clone(), annotations: Data::Nil });
                }
                LoopEvent::ToolEnded(call) => {
                    let (text, value): (Arc<str>, Data) = ("echoed".into(), "echoed".into());
                    journal.note(&SessionEvent::ToolEnded { id: call.id.clone(), text, value, ok: true });
                }
                _ => {}
            }
        };
        LoopParts {
            model: self.model.clone(),
            source: None,
            tools: vec![Rc::new(EchoTool(ToolSpec::new("echo", "a tool", Data::empty_dict())))],
            hooks: Rc::new(Hooks::new()),
            providers: Rc::new(ReminderProviders::new(Vec::new())),
            conditions: Rc::new(NoConditions),
            judge: None,
            files: None,
            slots: Rc::default(),
            post_turn: None,
            live: Rc::new(watch),
        }
    }

    fn remind(&self, body: &str, ttl_turns: Option<u32>) {
        let spec = ReminderSpec { ttl_turns, ..ReminderSpec::new(body) };
        self.session.inject_reminder(&self.scope, spec, ReminderSource::InPipeline, None);
    }

    /// Injects a host's reminder into the queue.
    fn put_in(&self, body: &str, mode: DeliveryMode) {
        let payload = RemindPayload { spec: ReminderSpec::new(body), mode, meta: Data::Nil };
        self.session.accept_reminder(&self.scope, payload).unwrap();
    }

    fn compact(&self) {
        self.session.apply(
            &self.scope,
            |t, _| {
                let mut records = compact(t, CompactionCharge::Carried).records;
                records.extend(preserve_only(t));
                records
            },
            std::mem::take,
        );
        self.session.with(|state| {
            state.transcript.summary = Some("in short".into());
            state.transcript.set_messages(std::iter::once(Arc::new(Message::user("in short"))).collect());
        });
    }

    /// Returns each body and remaining TTL.
    fn pending(&self) -> Vec<(String, Option<u32>)> {
        let transcript = self.session.transcript();
        let left = |pending| transcript.present(pending);
        transcript.pending().map(left).map(|reminder| (reminder.body.to_string(), reminder.ttl_turns)).collect()
    }

    fn messages(&self) -> Vec<Arc<Message>> {
        self.session.transcript().messages().iter().cloned().collect()
    }
}

fn pending(stored: &StoredSession) -> Vec<(String, Option<u32>)> {
    stored.pending().into_iter().map(|reminder| (reminder.body.to_string(), reminder.ttl_turns)).collect()
}
