//! Compaction in two pure halves, so that whoever summarises may wait in between: [`begin`] says what goes and what the
//! reminders came to, [`Begun::finish`] puts the summary in place. A compaction that is not finished has changed nothing.

use std::sync::Arc;

use imbl::Vector;

use crate::data::Data;
use crate::message::{Message, Role};
use crate::reminder::Reminder;
use crate::reminder::lifecycle::{self, Charge, LifecycleRecord, Moment};
use crate::seam::Summary;
use crate::words::words;

use super::Transcript;

words! {
    /// How archived messages are summed up.
    pub enum Strategy {
        /// They are cut away, a note says how many.
        Truncate = "truncate",
        /// A model sums them up.
        Llm = "llm",
        /// Old tool results are masked.
        ObservationMask = "observation_mask",
        /// A script does it.
        Custom = "custom",
    }
}

/// What is asked of a compaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompactOptions {
    /// How.
    pub strategy: Strategy,
    /// How many of the last messages stay; nothing means 12, or none with `custom`.
    pub keep_last: Option<usize>,
    /// Nothing happens while the estimate is not above this.
    pub target_tokens: Option<usize>,
    /// A summary that is given already.
    pub summary: Option<Arc<str>>,
    /// Which finite reminders are charged.
    pub charge: Charge,
    /// Who asked: `manual` or `auto`.
    pub mode: &'static str,
}

impl Default for CompactOptions {
    fn default() -> CompactOptions {
        CompactOptions {
            strategy: Strategy::Truncate,
            keep_last: None,
            target_tokens: None,
            summary: None,
            charge: Charge::All,
            mode: "manual",
        }
    }
}

/// A compaction that waits for its summary.
#[derive(Debug, Clone)]
pub struct Begun {
    transcript: Transcript,
    options: CompactOptions,
    /// The messages that go.
    pub archived: Vec<Arc<Message>>,
    kept: Vector<Arc<Message>>,
    keep_last: usize,
    /// The reminders that survived TTL and dedupe, before the filter.
    pub survivors: Vec<Arc<Reminder>>,
    records: Vec<LifecycleRecord>,
    tokens_before: usize,
    expired: usize,
    deduped: usize,
}

/// A finished compaction.
#[derive(Debug, Clone)]
pub struct Compacted {
    /// The transcript.
    pub transcript: Transcript,
    /// What happened to reminders, in order.
    pub records: Vec<LifecycleRecord>,
    /// What the `post_compact` event tells.
    pub report: Data,
}

/// Begins a compaction of a transcript; nothing where there is nothing to do. `custom` always happens, the others when
/// messages exceed `keep_last` and, where it is given, the estimate exceeds `target_tokens`.
#[must_use]
pub fn begin(transcript: &Transcript, options: CompactOptions) -> Option<Begun> {
    let custom = options.strategy == Strategy::Custom;
    let keep_last = options.keep_last.unwrap_or(if custom { 0 } else { 12 });
    let tokens_before = transcript.estimated_tokens();
    let count = transcript.messages.len();
    if !custom && (count <= keep_last || options.target_tokens.is_some_and(|target| tokens_before <= target)) {
        return None;
    }
    let cut = cut_point(&transcript.messages, count.saturating_sub(keep_last));
    if cut == 0 && !custom {
        return None;
    }
    let (archived, kept) = transcript.messages.clone().split_at(cut);
    let mut transcript = transcript.clone();
    let pass = lifecycle::compact(&mut transcript, options.charge);
    Some(Begun {
        transcript,
        options,
        archived: archived.into_iter().collect(),
        kept,
        keep_last,
        survivors: pass.survivors,
        records: pass.records,
        tokens_before,
        expired: pass.expired,
        deduped: pass.deduped,
    })
}

impl Begun {
    /// What `truncate` says in place of the archived messages.
    #[must_use]
    pub fn truncation_note(&self) -> Arc<str> {
        let count = self.archived.len();
        format!("[{count} earlier message{} removed to save context]", if count == 1 { "" } else { "s" }).into()
    }

    /// What the `pre_compact` event tells: the same fields as afterwards. What only the compaction itself will show is nil.
    #[must_use]
    pub fn outlook(&self) -> Data {
        let preserved = self.survivors.iter().filter(|reminder| reminder.preserve_on_compact).count();
        Data::dict([
            ("mode", Data::from(self.options.mode)),
            ("strategy", self.options.strategy.as_str().into()),
            ("keep_last", self.keep_last.into()),
            ("message_count", (self.archived.len() + self.kept.len()).into()),
            ("archived_messages", self.archived.len().into()),
            ("remaining_messages", self.kept.len().into()),
            ("estimated_tokens_before", self.tokens_before.into()),
            ("estimated_tokens_after", Data::Nil),
            ("summary", self.options.summary.clone().into()),
            ("reminders_expired", (self.expired + self.survivors.len() - preserved).into()),
            ("reminders_deduped", self.deduped.into()),
            ("reminders_preserved", preserved.into()),
        ])
    }

    /// Puts the summary in place.
    #[must_use]
    pub fn finish(self, summary: Summary, at: &Moment<'_>) -> Compacted {
        let mut report = self.outlook();
        let Begun { mut transcript, kept, mut records, archived, .. } = self;
        let (text, mut messages): (Option<Arc<str>>, Vector<Arc<Message>>) = match summary {
            Summary::Text(text) => (Some(text.clone()), Vector::unit(Arc::new(Message::user(text)))),
            Summary::Messages(messages) => (None, messages.into_iter().collect()),
        };
        transcript.shift_events(archived.len(), messages.len());
        messages.append(kept);
        transcript.messages = messages;
        transcript.summary = text.clone().or(transcript.summary);
        records.extend(lifecycle::preserve_only(&mut transcript));
        report.set("remaining_messages", transcript.messages.len().into());
        report.set("estimated_tokens_after", transcript.estimated_tokens().into());
        report.set("summary", text.into());
        let present = report.as_dict().into_iter().flatten().map(|(key, value)| (key.clone(), value.clone()));
        transcript.push_event(at.ids.next_text(at.now_ms), "compaction", Data::dict_of_present(present));
        Compacted { transcript, records, report }
    }
}

/// Where to cut so that no tool result loses its call: at a user message at or behind the wanted place, else at an assistant
/// message.
fn cut_point(messages: &Vector<Arc<Message>>, wanted: usize) -> usize {
    let behind = |role: Role| messages.iter().skip(wanted).position(|message| message.role == role);
    if wanted == 0 || wanted >= messages.len() {
        return wanted;
    }
    behind(Role::User).or_else(|| behind(Role::Assistant)).map_or(messages.len(), |offset| wanted + offset)
}
