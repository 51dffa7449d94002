//! A peer for tests, and hosts that serve a text to it.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use runtime::event_log::SqliteLog;
use stdlib::{RunOptions, Source};

use super::{Ended, Event, Host, NewSession, Peer, PermissionQuestion, Prompt, Served, Settings, Verdict, Waiting};

/// What a run holds in memory is counted in tests too.
#[global_allocator]
static ALLOCATOR: stdlib::Counted = stdlib::Counted;

/// The session in which [`Watcher`] panics where it should give room.
pub(crate) const PANICS: &str = "panics";

/// The session in which [`Watcher`] never has room.
pub(crate) const FULL: &str = "full";

/// The session in which [`Watcher`] holds up its worker where it is shown something, until its gate is opened.
pub(crate) const BLOCKS: &str = "blocks";

/// Keeps what it is shown and asked, takes everything at once, and allows everything once unless it was told what to say.
#[derive(Default)]
pub(crate) struct Watcher {
    shown: Mutex<Vec<(Arc<str>, Event)>>,
    rooms: AtomicUsize,
    over: Mutex<Vec<Arc<str>>>,
    gate: Gate,
    asked: Mutex<Vec<PermissionQuestion>>,
    /// What it says next; nothing means that it never answers.
    verdicts: Mutex<VecDeque<Option<Verdict>>>,
}

impl Watcher {
    /// All text of a session.
    pub(crate) fn text(&self, id: &str) -> String {
        let shown = self.shown.lock().unwrap();
        let texts = shown.iter().filter(|(session, _)| session.as_ref() == id).filter_map(|(_, event)| match event {
            Event::Text { text, .. } => Some(text.clone()),
            Event::Data { data, .. } => Some(data.to_text()),
            _ => None,
        });
        texts.map(|text| text.to_string()).collect()
    }

    /// Whether it holds up a worker now.
    pub(super) fn is_blocking(&self) -> bool {
        *self.gate.0.lock().unwrap() == Blocking::Now
    }

    /// It holds up nobody from now on.
    pub(super) fn open_gate(&self) {
        *self.gate.0.lock().unwrap() = Blocking::NoMore;
        self.gate.1.notify_all();
    }

    /// How often somebody asked for room.
    pub(crate) fn asked_for_room(&self) -> usize {
        self.rooms.load(Ordering::Relaxed)
    }

    /// Everything of all sessions, in order.
    pub(crate) fn all(&self) -> Vec<(Arc<str>, Event)> {
        self.shown.lock().unwrap().clone()
    }

    /// Whether it was told that a session is over.
    pub(super) fn is_over(&self, id: &str) -> bool {
        self.over.lock().unwrap().iter().any(|over| over.as_ref() == id)
    }

    /// All that it was asked.
    pub(crate) fn asked(&self) -> Vec<PermissionQuestion> {
        self.asked.lock().unwrap().clone()
    }

    /// It says these next.
    pub(crate) fn will_say(&self, verdicts: impl IntoIterator<Item = Option<Verdict>>) {
        self.verdicts.lock().unwrap().extend(verdicts);
    }
}

/// What holds up a thread.
#[derive(Default)]
struct Gate(Mutex<Blocking>, Condvar);

#[derive(Default, PartialEq)]
enum Blocking {
    #[default]
    NotYet,
    Now,
    NoMore,
}

impl Gate {
    fn pass(&self) {
        let mut state = self.0.lock().unwrap();
        while *state != Blocking::NoMore {
            *state = Blocking::Now;
            state = self.1.wait(state).unwrap();
        }
    }
}

impl Peer for Watcher {
    fn show(&self, session_id: &Arc<str>, event: Event) {
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

/// How a text is served.
pub(crate) fn served(name: &str, text: &str, workers: usize, log: Option<SqliteLog>) -> Served {
    Served {
        source: Source::new(name, text),
        run: Arc::new(RunOptions::default),
        protocol: "test",
        log,
        settings: Settings { workers, ..Settings::default() },
        metrics: Arc::default(),
        taps: None,
    }
}

/// Serves a text in Harn.
pub(crate) fn host(text: &str, workers: usize) -> (Host, Arc<Watcher>) {
    host_of(served("test.harn", text, workers, None))
}

/// Serves anything.
pub(crate) fn host_of(served: Served) -> (Host, Arc<Watcher>) {
    let watcher = Arc::<Watcher>::default();
    let host = Host::start(served, watcher.clone()).unwrap_or_else(|found| panic!("{found:?}"));
    (host, watcher)
}

/// A session with an id.
pub(crate) fn named(id: &str) -> NewSession {
    NewSession { id: Some(id.into()), ..NewSession::default() }
}

/// A prompt.
pub(crate) fn says(text: &str) -> Prompt {
    Prompt { text: text.to_owned(), ..Prompt::default() }
}

/// Opens a session and asks it one thing.
pub(crate) async fn once(host: &Host, id: &str, text: &str) -> Ended {
    let session = host.open(named(id)).await.unwrap();
    session.prompt(says(text)).await.unwrap()
}

/// Runs a front.
pub(crate) fn front<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        // A test that hangs fails, and says which.
        tokio::time::timeout(std::time::Duration::from_secs(60), work).await.expect("the test hangs")
    })
}
