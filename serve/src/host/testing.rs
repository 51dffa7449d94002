//! A peer for tests, and hosts that serve a script to it.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use eventlog::SqliteLog;
use stdlib::{RunOptions, Source};

use super::{
    EndedPrompt, Host, HostSettings, NewSession, Peer, PermissionQuestion, Prompt, Served, SessionEvent, Verdict,
    Waiting,
};

/// Counts the memory of runs in tests too.
#[global_allocator]
static ALLOCATOR: stdlib::Counted = stdlib::Counted;

/// The session in which [`Watcher`] panics when it is asked for room.
pub(crate) const PANICS: &str = "panics";

/// The session in which [`Watcher`] never has room.
pub(crate) const FULL: &str = "full";

/// The session in which [`Watcher`] blocks its worker on an event, until its gate is opened.
pub(crate) const BLOCKS: &str = "blocks";

/// Records events and questions, accepts everything at once, and allows each call once unless it has other verdicts.
#[derive(Default)]
pub(crate) struct Watcher {
    shown: Mutex<Vec<(Arc<str>, SessionEvent)>>,
    rooms: AtomicUsize,
    attends: AtomicBool,
    over: Mutex<Vec<Arc<str>>>,
    gate: ThreadGate,
    asked: Mutex<Vec<PermissionQuestion>>,
    /// The next verdicts; `None` means that it never answers.
    verdicts: Mutex<VecDeque<Option<Verdict>>>,
}

impl Watcher {
    /// Returns all text of a session.
    pub(crate) fn text(&self, id: &str) -> String {
        let shown = self.shown.lock().unwrap();
        let texts = shown.iter().filter(|(session, _)| session.as_ref() == id).filter_map(|(_, event)| match event {
            SessionEvent::Text { text, .. } => Some(text.clone()),
            SessionEvent::Data { data, .. } => Some(data.to_text()),
            _ => None,
        });
        texts.map(|text| text.to_string()).collect()
    }

    /// Returns whether it blocks a worker now.
    pub(super) fn is_blocking(&self) -> bool {
        *self.gate.0.lock().unwrap() == GateState::Now
    }

    /// Stops blocking workers.
    pub(super) fn open_gate(&self) {
        *self.gate.0.lock().unwrap() = GateState::NoMore;
        self.gate.1.notify_all();
    }

    /// Returns how often it was asked for room.
    pub(crate) fn asked_for_room(&self) -> usize {
        self.rooms.load(Ordering::Relaxed)
    }

    /// Returns all events of all sessions, in order.
    pub(crate) fn all(&self) -> Vec<(Arc<str>, SessionEvent)> {
        self.shown.lock().unwrap().clone()
    }

    /// Returns whether the end of a session was reported.
    pub(super) fn is_over(&self, id: &str) -> bool {
        self.over.lock().unwrap().iter().any(|over| over.as_ref() == id)
    }

    /// Sets whether it is attached to all sessions.
    pub(super) fn attend(&self, attends: bool) {
        self.attends.store(attends, Ordering::Relaxed);
    }

    /// Returns all questions.
    pub(crate) fn asked(&self) -> Vec<PermissionQuestion> {
        self.asked.lock().unwrap().clone()
    }

    /// Sets the next verdicts.
    pub(crate) fn will_say(&self, verdicts: impl IntoIterator<Item = Option<Verdict>>) {
        self.verdicts.lock().unwrap().extend(verdicts);
    }
}

/// Blocks a thread.
#[derive(Default)]
struct ThreadGate(Mutex<GateState>, Condvar);

#[derive(Default, PartialEq)]
enum GateState {
    #[default]
    NotYet,
    Now,
    NoMore,
}

impl ThreadGate {
    fn pass(&self) {
        let mut state = self.0.lock().unwrap();
        while *state != GateState::NoMore {
            *state = GateState::Now;
            state = self.1.wait(state).unwrap();
        }
    }
}

impl Peer for Watcher {
    fn show(&self, session_id: &Arc<str>, event: SessionEvent) {
        if session_id.as_ref() == BLOCKS {
            self.gate.pass();
        }
        self.shown.lock().unwrap().push((session_id.clone(), event));
    }

    fn room(&self, session_id: &Arc<str>) -> Waiting<()> {
        assert_ne!(session_id.as_ref(), PANICS, "as it should");
        self.rooms.fetch_add(1, Ordering::Relaxed);
        let is_full = session_id.as_ref() == FULL;
        Box::pin(async move {
            if is_full {
                std::future::pending::<()>().await;
            }
        })
    }

    /// The account of the session `a/1` is `a`.
    fn limited_account(&self, session_id: &str) -> Option<Arc<str>> {
        session_id.split_once('/').map(|(account, _)| account.into())
    }

    fn is_attended(&self, _: &str) -> bool {
        self.attends.load(Ordering::Relaxed)
    }

    fn over(&self, session_id: &Arc<str>) {
        self.over.lock().unwrap().push(session_id.clone());
    }

    fn permit(&self, question: PermissionQuestion) -> Waiting<Verdict> {
        self.asked.lock().unwrap().push(question);
        match self.verdicts.lock().unwrap().pop_front() {
            Some(None) => Box::pin(std::future::pending()),
            said => Box::pin(std::future::ready(said.flatten().unwrap_or(Verdict::AllowOnce))),
        }
    }
}

/// Returns the settings for serving a script.
pub(crate) fn served(name: &str, text: &str, workers: usize, log: Option<SqliteLog>) -> Served {
    Served {
        source: Source::new(name, text),
        run: Arc::new(RunOptions::default),
        protocol: "test",
        log,
        settings: HostSettings { workers, ..HostSettings::default() },
        metrics: Arc::default(),
        taps: None,
    }
}

/// Serves a script in Harn.
pub(crate) fn host(text: &str, workers: usize) -> (Host, Arc<Watcher>) {
    host_of(served("test.harn", text, workers, None))
}

/// Serves a script with given settings.
pub(crate) fn host_of(served: Served) -> (Host, Arc<Watcher>) {
    let watcher = Arc::<Watcher>::default();
    let host = Host::start(served, watcher.clone()).unwrap_or_else(|found| panic!("{found:?}"));
    (host, watcher)
}

/// Returns the parameters of a session with an id.
pub(crate) fn named(id: &str) -> NewSession {
    NewSession { id: Some(id.into()), ..NewSession::default() }
}

/// Returns a prompt with a text.
pub(crate) fn says(text: &str) -> Prompt {
    Prompt { text: text.to_owned(), ..Prompt::default() }
}

/// Opens a session and runs one prompt.
pub(crate) async fn once(host: &Host, id: &str, text: &str) -> EndedPrompt {
    let session = host.open(named(id)).await.unwrap();
    session.prompt(says(text)).await.unwrap()
}

/// Runs a future on a new runtime.
pub(crate) fn block_on_runtime<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        // A test that hangs fails with a message.
        tokio::time::timeout(2 * crate::tokio_wait::LIMIT, work).await.expect("the test hangs")
    })
}
