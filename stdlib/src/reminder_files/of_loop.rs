//! The reminder files of a loop, each as a provider.

use super::file::ReminderFile;
use super::{WatchedFiles, raise_of};
use crate::fault::Thrown;
use crate::payload::payload;
use base::call::{Answer, BlockingPool, Outcome};
use base::data::Data;
use lang::diagnostic::Severity;
use runtime::events::{EventKind, EventSet};
use runtime::hooks::HookEvent;
use runtime::lifecycle::Selector;
use runtime::reminder::{ReminderSource, ReminderSpec};
use runtime::reminder_providers::{ReminderFiles, ReminderProvider, fire};
use runtime::seam::Turn;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

/// The files of a loop.
pub(super) struct LoopFiles {
    watched: Rc<WatchedFiles>,
    pool: Option<Rc<dyn BlockingPool>>,
    /// The generation of the files that the providers are made of; 0 before the loop starts.
    generation: Cell<u64>,
    files: RefCell<Rc<[Rc<FileProvider>]>>,
    providers: RefCell<Rc<[Rc<dyn ReminderProvider>]>>,
    events: Cell<EventSet>,
    /// The payload of the event by which the loop has started.
    start: RefCell<Option<Data>>,
}

impl LoopFiles {
    pub(super) fn new(watched: Rc<WatchedFiles>, pool: Option<Rc<dyn BlockingPool>>) -> Self {
        Self {
            watched,
            pool,
            generation: Cell::new(0),
            files: RefCell::new(Rc::new([])),
            providers: RefCell::new(Rc::new([])),
            events: Cell::new(std::iter::empty::<EventKind>().collect()),
            start: RefCell::default(),
        }
    }

    /// Makes the providers of the current files, and replaces the reminders of those that have changed.
    async fn adopt(&self, turn: Turn<'_>, strict: bool) -> Outcome<()> {
        let (generation, valid, remarks) = {
            let state = self.watched.state.borrow();
            let valid: Vec<Rc<ReminderFile>> = state.files.values().filter_map(|known| known.valid.clone()).collect();
            let is_new = |(generation, _): &&(u64, super::Remark)| *generation > self.generation.get();
            let remarks: Vec<_> = state.remarks.iter().filter(is_new).map(|(_, remark)| remark.clone()).collect();
            (state.generation, valid, remarks)
        };
        let is_first = self.generation.replace(generation) == 0;
        for remark in remarks {
            if strict && remark.found.severity == Severity::Error {
                return Err(Thrown::fault(raise_of(remark.found)));
            }
            turn.scope.note(remark.note());
        }
        let before = self.files.borrow().clone();
        let same_name = |file: &ReminderFile| before.iter().find(|known| known.file.name == file.name);
        let (mut all, mut changed) = (Vec::with_capacity(valid.len()), Vec::new());
        for file in valid {
            match same_name(&file) {
                Some(known) if Rc::ptr_eq(&known.file, &file) => all.push(known.clone()),
                known => {
                    let last = known.filter(|known| known.file.event == file.event);
                    let last = last.and_then(|known| known.last.borrow().clone());
                    let provider = Rc::new(FileProvider::new(file, last));
                    if !is_first {
                        changed.push(provider.clone());
                    }
                    all.push(provider);
                }
            }
        }
        let stays = |known: &&Rc<FileProvider>| all.iter().any(|file| Rc::ptr_eq(file, known));
        let gone: Vec<Arc<str>> = before.iter().filter(|known| !stays(known)).map(|known| known.id.clone()).collect();
        self.events.set(all.iter().map(|provider| provider.file.event).collect());
        *self.providers.borrow_mut() = all.iter().map(|file| file.clone() as Rc<dyn ReminderProvider>).collect();
        *self.files.borrow_mut() = all.into();
        for id in &gone {
            clear(turn, id);
        }
        for provider in changed {
            self.evaluate_again(turn, provider, strict).await?;
        }
        Ok(())
    }

    /// Evaluates a new version of a file with the event that has made the reminder of the last one. A new file hears of the
    /// start of the loop late.
    async fn evaluate_again(&self, turn: Turn<'_>, provider: Rc<FileProvider>, strict: bool) -> Outcome<()> {
        let is_of_start = provider.file.event == EventKind::SessionStart;
        let start = || self.start.borrow().clone().filter(|_| is_of_start);
        let payload = provider.last.borrow().clone().or_else(start);
        let Some(payload) = payload else { return Ok(()) };
        let event = HookEvent::Raw { kind: provider.file.event, payload: &payload };
        let asked: [Rc<dyn ReminderProvider>; 1] = [provider];
        fire(&asked, turn, &event, &Data::Nil, strict).get().await.map(drop)
    }
}

/// Clears the pending reminders of a file.
fn clear(turn: Turn<'_>, id: &Arc<str>) {
    let made: Vec<Arc<str>> = turn.session.with(|state| {
        let is_of_file = |reminder: &&Arc<runtime::reminder::Reminder>| {
            reminder.source == ReminderSource::StdlibProvider && reminder.producer.as_ref() == Some(id)
        };
        let pending = state.transcript.pending().map(|pending| &pending.reminder);
        pending.filter(is_of_file).map(|reminder| reminder.id.clone()).collect()
    });
    for id in made {
        turn.session.clear_reminders(turn.scope, &Selector { id: Some(id), ..Selector::default() });
    }
}

impl ReminderFiles for LoopFiles {
    fn refresh<'a>(&'a self, turn: Turn<'a>, strict: bool) -> Answer<'a, Outcome<()>> {
        let is_fresh = self.watched.is_fresh();
        if is_fresh && self.generation.get() == self.watched.state.borrow().generation {
            return Answer::Now(Ok(()));
        }
        Answer::later(async move {
            if !is_fresh {
                self.watched.look(self.pool.as_deref()).await;
            }
            if self.generation.get() == self.watched.state.borrow().generation {
                return Ok(());
            }
            self.adopt(turn, strict).await
        })
    }

    fn started(&self, payload: Data) {
        *self.start.borrow_mut() = Some(payload);
    }

    fn subscribes_to(&self) -> EventSet {
        self.events.get()
    }

    fn providers(&self) -> Rc<[Rc<dyn ReminderProvider>]> {
        self.providers.borrow().clone()
    }
}

/// A file as the provider of a loop.
struct FileProvider {
    id: Arc<str>,
    file: Rc<ReminderFile>,
    /// The payload of the last event that made a reminder.
    last: RefCell<Option<Data>>,
}

impl FileProvider {
    fn new(file: Rc<ReminderFile>, last: Option<Data>) -> Self {
        Self { id: file.id(), file, last: RefCell::new(last) }
    }
}

impl ReminderProvider for FileProvider {
    fn id(&self) -> &str {
        &self.id
    }

    fn shared_id(&self) -> Arc<str> {
        self.id.clone()
    }

    fn subscribes_to(&self) -> EventSet {
        [self.file.event].into_iter().collect()
    }

    fn evaluate<'a>(
        &'a self,
        turn: Turn<'a>,
        event: &'a HookEvent<'a>,
        _: &'a Data,
    ) -> Answer<'a, Outcome<Vec<ReminderSpec>>> {
        let session_id = turn.session.id();
        let model = turn.scope.options.get("model").as_str();
        Answer::Now(match self.file.evaluate(&payload(event, session_id), model) {
            Ok(None) => Ok(Vec::new()),
            Ok(Some(spec)) => {
                *self.last.borrow_mut() = Some(event.to_data(session_id));
                Ok(vec![spec])
            }
            Err(raise) => Err(Thrown::fault(raise)),
        })
    }
}
