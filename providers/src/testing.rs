//! Helpers that the crate's tests share.

use std::cell::{Cell, RefCell};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use base::call::LocalFuture;
use base::clock::Clock;
use base::data::Data;
use base::ids::IdStream;
use eventlog::MemoryLog;
use runtime::capabilities::{Capabilities, PlacementPolicy};
use runtime::events::EventKind;
use runtime::hooks::HookEvent;
use runtime::model::{Delta, Request};
use runtime::reminder::{Reminder, ReminderSource, ReminderSpec, RoleHint};
use runtime::reminder_providers::ReminderProvider;
use runtime::render::{RenderOptions, render};
use runtime::scope::Scope;
use runtime::seam::Turn;
use runtime::session::Session;

use crate::model::http::retry::schedule;
use crate::model::http::{Assembly, Progress};

/// Runs a future that never really waits for anything outside.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut cx = Context::from_waker(Waker::noop());
    // One that lets others have a turn is asked again.
    for _ in 0..1_000 {
        if let Poll::Ready(value) = future.as_mut().poll(&mut cx) {
            return value;
        }
    }
    panic!("the future waits");
}

/// A clock on which sleeping takes no time; it remembers how long everybody slept.
#[derive(Default)]
pub(crate) struct SkippingClock {
    now: Cell<u64>,
    pub(crate) slept: RefCell<Vec<u64>>,
}

impl Clock for SkippingClock {
    fn now_ms(&self) -> u64 {
        self.now.get()
    }

    fn sleep_until(&self, at_ms: u64) -> LocalFuture<'_, ()> {
        Box::pin(async move {
            let ms = at_ms.saturating_sub(self.now.get());
            self.slept.borrow_mut().push(ms);
            self.now.set(self.now.get() + ms);
        })
    }
}

/// A session and what surrounds it.
pub(crate) struct TestSession {
    pub(crate) session: Rc<Session>,
    pub(crate) scope: Scope,
    pub(crate) clock: Rc<SkippingClock>,
}

impl TestSession {
    pub(crate) fn new() -> TestSession {
        let clock = Rc::new(SkippingClock::default());
        let scope = Scope::new(clock.clone(), Rc::new(MemoryLog::default()));
        TestSession { session: Session::new("s", IdStream::new(1, "test"), 0), scope, clock }
    }

    pub(crate) fn turn(&self) -> Turn<'_> {
        Turn { session: &self.session, number: 1, scope: &self.scope }
    }
}

/// Returns the first waits between the attempts of a call in a [`TestSession`].
pub(crate) fn waits(count: usize) -> Vec<u64> {
    let waits = schedule(&TestSession::new().scope).take(count);
    waits.map(|wait| u64::try_from(wait.as_millis()).unwrap()).collect()
}

/// The request with these reminders rendered for a route.
pub(crate) fn remind(
    request: Request,
    capabilities: &Capabilities,
    placement: PlacementPolicy,
    reminders: &[(&str, RoleHint)],
) -> Request {
    let made: Vec<Reminder> = reminders
        .iter()
        .enumerate()
        .map(|(index, (body, role_hint))| {
            let spec = ReminderSpec { role_hint: *role_hint, ..ReminderSpec::new(*body) };
            spec.into_reminder(index.to_string().into(), ReminderSource::InPipeline, 0)
        })
        .collect();
    let rendered =
        render(&made, capabilities, RenderOptions { placement: Some(placement), ..RenderOptions::default() });
    Request { reminders: Arc::new(rendered), ..request }
}

/// Returns a provider's reminders for an event, with a location of its own.
pub(crate) fn fire(
    provider: &dyn ReminderProvider,
    event: &HookEvent<'_>,
    config: &Data,
) -> Result<Vec<ReminderSpec>, String> {
    let place = TestSession::new();
    block_on(provider.evaluate(place.turn(), event, config).get()).map_err(|fault| fault.to_string())
}

/// Returns a provider's reminders for a payload that a script wrote, as JSON.
pub(crate) fn fire_raw(
    provider: &dyn ReminderProvider,
    kind: EventKind,
    payload: &str,
    config: &Data,
) -> Result<Vec<ReminderSpec>, String> {
    let payload = Data::from_json(payload).map_err(|error| error.to_string())?;
    fire(provider, &HookEvent::Raw { kind, payload: &payload }, config)
}

/// An empty folder of its own for a test.
pub(crate) fn scratch(name: &str) -> std::path::PathBuf {
    // Beside the test itself, so nothing is left outside the target folder.
    let folder = std::env::current_exe().unwrap().with_extension("scratch").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Feeds events to an assembly. Returns the document and the live deltas, with pieces of one kind
/// joined.
pub(crate) fn assemble(
    mut assembly: Box<dyn Assembly>,
    events: &[serde_json::Value],
) -> (serde_json::Value, Vec<String>) {
    let told = RefCell::new(Vec::<(String, String)>::new());
    let live = |delta: Delta<'_>| {
        let (kind, piece) = match delta {
            Delta::Text(piece) => ("text".to_owned(), piece.to_owned()),
            Delta::Reasoning(piece) => ("reasoning".to_owned(), piece.to_owned()),
            Delta::ToolCallStart { index, id, name } => (format!("call {index}"), format!("{id} {name}")),
            Delta::ToolCallArguments { index, json } => (format!("arguments {index}"), json.to_owned()),
            Delta::Restart { .. } => ("restart".to_owned(), String::new()),
        };
        let mut told = told.borrow_mut();
        match told.last_mut() {
            Some(last) if last.0 == kind => last.1.push_str(&piece),
            _ => told.push((kind, piece)),
        }
    };
    for event in events {
        if assembly.add(event.clone(), &live).unwrap() == Progress::Over {
            break;
        }
    }
    let told = told.into_inner().into_iter().map(|(kind, piece)| format!("{kind}: {piece}")).collect();
    (assembly.document(), told)
}
