//! Compaction of a session's transcript, the single pipeline for scripts and for the loop itself: handlers may veto or
//! change it, a summariser runs, the reminders' lifecycle takes its step, and all subscribers are notified. The pure
//! part is in [`crate::lifecycle::archive`].

use std::rc::Rc;
use std::sync::Arc;

use base::call::Outcome;
use base::codes::Severity;
use base::data::Data;

use crate::events::EventKind;
use crate::hooks::{CompactionAction, HookEvent, PreCompact};
use crate::lifecycle::archive::{CompactOptions, PendingCompaction, Strategy, Summary, begin};
use crate::listeners::Listeners;
use crate::note::Note;
use crate::reminder::bridge::Seam;
use crate::scope::Scope;
use crate::seam::{Compactor, Turn};
use crate::session::Session;
use crate::timeout::{is_timeout, with_timeout};

mod auto;
mod by_model;

pub use auto::{AutoCompact, Threshold};
pub use by_model::ByModel;

/// The summarisers, by strategy.
#[derive(Clone, Copy, Default)]
pub struct Summarisers<'a> {
    /// Summariser for `custom`.
    pub custom: Option<&'a dyn Compactor>,
    /// Summariser for `llm`.
    pub model: Option<&'a ByModel<'a>>,
    /// Text that a truncation adds, such as the task.
    pub remember: Option<&'a str>,
}

/// A compaction.
#[derive(Clone, Copy)]
pub struct Compaction<'a> {
    /// Session whose transcript is compacted.
    pub session: &'a Rc<Session>,
    /// The current agent, whose handlers are notified. Its session may differ from the compacted one, a bare
    /// transcript.
    pub told: Turn<'a>,
    /// Current iteration of the loop, else 0.
    pub iteration: u32,
    /// Subscribers to notify.
    pub listeners: Listeners<'a>,
    /// Available summarisers.
    pub summarisers: Summarisers<'a>,
}

impl Compaction<'_> {
    /// Compacts the transcript. Returns the payload of `post_compact`, or `None` if there was nothing to do or a
    /// handler vetoed. A failure on the way changes nothing.
    pub async fn run(&self, options: CompactOptions) -> Outcome<Option<Data>> {
        let Some(begun) = begin(&self.session.transcript(), options.clone()) else { return Ok(None) };
        self.checkpoint(Seam::PreCompact).await?;
        let outlook = begun.outlook();
        let event = HookEvent::Raw { kind: EventKind::PreCompact, payload: &outlook };
        let options = match self.listeners.ask::<PreCompact>(self.told, &event).await? {
            CompactionAction::Skip { .. } => return Ok(None),
            CompactionAction::Change(changed) => self.modified(options, &changed),
            CompactionAction::Compact => options,
        };
        // Handlers may have changed the transcript, too.
        let Some(begun) = begin(&self.session.transcript(), options) else { return Ok(None) };
        let summary = self.sum_up(&begun).await?;
        let compacted = self.session.apply(
            self.told.scope,
            |t, at| {
                let compacted = begun.finish(t.clone(), summary, at)?;
                *t = compacted.transcript.clone();
                Some(compacted)
            },
            |compacted| compacted.as_mut().map(|compacted| std::mem::take(&mut compacted.records)).unwrap_or_default(),
        );
        let Some(compacted) = compacted else {
            self.note("the conversation changed while it was summarized, so it was not compacted".to_owned());
            return Ok(None);
        };
        let event = HookEvent::Raw { kind: EventKind::PostCompact, payload: &compacted.report };
        self.listeners.emit(self.told, &event).get().await?;
        self.checkpoint(Seam::PostCompact).await?;
        Ok(Some(compacted.report))
    }

    /// Passes a seam that delivers nothing.
    async fn checkpoint(&self, seam: Seam) -> Outcome<()> {
        let event = HookEvent::LoopCheckpoint {
            session_id: self.told.session.id(),
            iteration: self.iteration,
            kind: seam,
            delivered: 0,
            dispatch_skipped: false,
        };
        self.listeners.emit(self.told, &event).get().await
    }

    /// Applies a handler's changes to the options. Changes that cannot be read or applied are ignored and reported.
    fn modified(&self, options: CompactOptions, changed: &Data) -> CompactOptions {
        let refused = match options.modified(changed) {
            Ok(changed) if changed.strategy == Strategy::Custom && self.summarisers.custom.is_none() => {
                "the strategy \"custom\" needs a compactor, but the call has none".to_owned()
            }
            Ok(changed) if changed.strategy == Strategy::Llm && self.summarisers.model.is_none() => {
                "the strategy \"llm\" needs a model, but this run cannot call one".to_owned()
            }
            Ok(changed) => return changed,
            Err(why) => why,
        };
        self.note(format!("a pre_compact hook changed a value that it cannot change: {refused}"));
        options
    }

    async fn sum_up(&self, begun: &PendingCompaction) -> Outcome<Summary> {
        let text = match (begun.strategy(), begun.given_summary()) {
            (Strategy::ObservationMask, _) => return Ok(Summary::Messages(begun.masked())),
            (Strategy::Custom, _) => {
                if let Some(custom) = self.summarisers.custom {
                    // The summary may take as long as a handler.
                    let cancel = self.told.scope.cancel.child();
                    let scope = Scope { cancel: cancel.clone(), ..self.told.scope.clone() };
                    let told = Turn { scope: &scope, ..self.told };
                    let summary = custom.compact(told, &begun.archived, &begun.survivors);
                    let ms = scope.hook_timeout_ms;
                    let summed_up = with_timeout(self.told.scope, &cancel, summary).await;
                    return summed_up.map_err(|thrown| if is_timeout(&thrown) { custom.late(ms) } else { thrown });
                }
                begun.truncation_note()
            }
            (_, Some(given)) => given,
            (Strategy::Llm, None) => match self.summarisers.model {
                Some(model) => return model.compact(self.told, &begun.archived, &begun.survivors).get().await,
                None => begun.truncation_note(),
            },
            (Strategy::Truncate, None) => self.truncation(begun),
        };
        Ok(Summary::Text(text))
    }

    fn truncation(&self, begun: &PendingCompaction) -> Arc<str> {
        match self.summarisers.remember {
            Some(task) => format!("{}\n\nThe task is:\n{task}", begun.truncation_note()).into(),
            None => begun.truncation_note(),
        }
    }

    fn note(&self, message: String) {
        let about = Some("compaction".into());
        self.told.scope.note(Note { code: None, severity: Severity::Warning, message, about, fault: None });
    }
}
