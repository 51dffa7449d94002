//! Compaction in two pure halves, so that a summariser may wait in between: [`begin`] determines the messages to
//! archive and the effect on reminders, [`PendingCompaction::finish`] inserts the summary. An unfinished compaction changes
//! nothing.

use std::collections::HashSet;
use std::sync::Arc;

use base::data::Data;
use base::words::{UnknownWord, nearest, words};

use crate::message::{Message, Messages, Role};
use crate::reminder::Reminder;
use crate::transcript::{EventDetail, Transcript};

use super::{CompactionCharge, LifecycleContext, LifecycleRecord, compact, preserve_only};

words! {
    /// The way archived messages are summarised.
    pub enum Strategy {
        /// They are removed; a note reports their number.
        Truncate = "truncate",
        /// A model summarises them.
        Llm = "llm",
        /// Old tool results are masked.
        ObservationMask = "observation_mask",
        /// A script summarises them.
        Custom = "custom",
    }
}

/// The options of a compaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompactOptions {
    /// The strategy.
    pub strategy: Strategy,
    /// Number of last messages to keep; `None` means 12, or none with `custom`.
    pub keep_last: Option<usize>,
    /// Threshold of the estimate below which nothing happens.
    pub target_tokens: Option<usize>,
    /// A summary supplied by the caller.
    pub summary: Option<Arc<str>>,
    /// The finite reminders to charge.
    pub charge: CompactionCharge,
    /// Origin of the request: `manual` or `auto`.
    pub mode: &'static str,
}

impl Default for CompactOptions {
    fn default() -> CompactOptions {
        CompactOptions {
            strategy: Strategy::Truncate,
            keep_last: None,
            target_tokens: None,
            summary: None,
            charge: CompactionCharge::All,
            mode: "manual",
        }
    }
}

impl CompactOptions {
    /// Returns the options with the changes of a `pre_compact` handler: `strategy`, `keep_last`, `target_tokens` and
    /// `summary` of a payload. The payload's other fields are informative, and a handler may return them unchanged.
    ///
    /// # Errors
    /// Describes the unreadable field, in words for the handler's author; nothing is changed.
    pub fn modified(&self, changed: &Data) -> Result<CompactOptions, String> {
        const CHANGEABLE: [&str; 4] = ["strategy", "keep_last", "target_tokens", "summary"];
        let Some(entries) = changed.as_dict() else {
            return Err(format!("`modify` must be a dict, got {}", changed.type_name()));
        };
        let mut options = self.clone();
        for (key, value) in entries.iter().filter(|(_, value)| !value.is_nil()) {
            let wrong = |expected: &str| format!("`{key}` must be {expected}, got {}", value.type_name());
            let count = || value.as_int().and_then(|n| usize::try_from(n).ok());
            match key.as_ref() {
                "strategy" => {
                    let word = value.as_str().ok_or_else(|| wrong("a string"))?;
                    options.strategy = word.parse().map_err(|e: UnknownWord| format!("unknown `strategy`: {e}"))?;
                }
                "keep_last" => options.keep_last = Some(count().ok_or_else(|| wrong("a number of at least 0"))?),
                "target_tokens" => {
                    options.target_tokens = Some(count().ok_or_else(|| wrong("a number of at least 0"))?);
                }
                "summary" => options.summary = Some(value.as_shared_str().ok_or_else(|| wrong("a string"))?),
                known if OUTLOOK.contains(&known) || matches!(known, "event" | "session") => {}
                unknown => {
                    let near = nearest(unknown, CHANGEABLE)
                        .map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                    return Err(format!("`{unknown}` cannot be changed{near}"));
                }
            }
        }
        Ok(options)
    }
}

/// The fields of `pre_compact` and `post_compact`.
pub(crate) const OUTLOOK: [&str; 12] = [
    "mode",
    "strategy",
    "keep_last",
    "message_count",
    "archived_messages",
    "remaining_messages",
    "estimated_tokens_before",
    "estimated_tokens_after",
    "summary",
    "reminders_expired",
    "reminders_deduped",
    "reminders_preserved",
];

/// A compaction that waits for its summary.
#[derive(Debug, Clone)]
pub struct PendingCompaction {
    options: CompactOptions,
    /// Messages to archive.
    pub archived: Vec<Arc<Message>>,
    /// Number of messages kept.
    kept: usize,
    keep_last: usize,
    /// The reminders that survived TTL and dedupe, before the filter.
    pub survivors: Vec<Arc<Reminder>>,
    tokens_before: usize,
    expired: usize,
    deduped: usize,
    /// Number of messages that the replaced summary stands for, without the summary itself.
    summed_up: usize,
}

/// A finished compaction.
#[derive(Debug, Clone)]
pub struct FinishedCompaction {
    /// The transcript.
    pub transcript: Transcript,
    /// The records of reminders, in order.
    pub records: Vec<LifecycleRecord>,
    /// Payload of the `post_compact` event.
    pub report: Data,
}

/// Begins a compaction of a transcript; returns `None` if there is nothing to do. `custom` always happens, the others
/// if messages exceed `keep_last` and, if set, the estimate exceeds `target_tokens`; masking needs something to mask.
#[must_use]
pub fn begin(transcript: &Transcript, options: CompactOptions) -> Option<PendingCompaction> {
    let custom = options.strategy == Strategy::Custom;
    let keep_last = options.keep_last.unwrap_or(if custom { 0 } else { 12 });
    let tokens_before = transcript.estimated_tokens();
    let count = transcript.messages().len();
    if !custom && (count <= keep_last || options.target_tokens.is_some_and(|target| tokens_before <= target)) {
        return None;
    }
    let seen = seen(transcript.messages());
    let wanted = count.saturating_sub(keep_last).min(seen);
    let masks = options.strategy == Strategy::ObservationMask;
    let cut = if masks { wanted } else { cut_point(transcript.messages(), wanted).min(seen) };
    // A custom compactor is always called, unless all messages must stay.
    if cut == 0 && (!custom || seen == 0 && count > 0) {
        return None;
    }
    let archived: Vec<_> = transcript.messages().iter().take(cut).cloned().collect();
    // If unseen results hold the rest back, a summary of only the last summary saves nothing.
    if !custom && seen < count && archived.len() == 1 && is_summary(transcript, &archived[0]) {
        return None;
    }
    if masks && !archived.iter().any(|message| masked(message).is_some()) {
        return None;
    }
    // A preview for the event before and for the compactor. It takes effect when the compaction is finished.
    let pass = compact(&mut transcript.clone(), options.charge);
    Some(PendingCompaction {
        options,
        summed_up: summed_up(transcript, &archived),
        archived,
        kept: count - cut,
        keep_last,
        survivors: pass.survivors,
        tokens_before,
        expired: pass.expired,
        deduped: pass.deduped,
    })
}

impl PendingCompaction {
    /// Returns the strategy.
    #[must_use]
    pub fn strategy(&self) -> Strategy {
        self.options.strategy
    }

    /// Returns the summary supplied by the caller.
    #[must_use]
    pub fn given_summary(&self) -> Option<Arc<str>> {
        self.options.summary.clone()
    }

    /// Returns the text that `truncate` puts in place of the archived messages. Its first number is that of the report;
    /// the second one adds the messages that an earlier summary among them stands for.
    #[must_use]
    pub fn truncation_note(&self) -> Arc<str> {
        let count = self.archived.len();
        let plural = if count == 1 { "" } else { "s" };
        let in_all = match self.summed_up {
            0 => String::new(),
            before => format!("; {} in all", before + count),
        };
        format!("[{count} earlier message{plural} removed to save context{in_all}]").into()
    }

    /// Returns the archived messages with the results of tools masked.
    #[must_use]
    pub fn masked(&self) -> Vec<Arc<Message>> {
        self.archived.iter().map(|message| masked(message).unwrap_or_else(|| message.clone())).collect()
    }

    /// Returns the payload of the `pre_compact` event: the same fields as afterwards, with nil for those that only the
    /// compaction itself determines.
    #[must_use]
    pub fn outlook(&self) -> Data {
        let preserved = self.survivors.iter().filter(|reminder| reminder.preserve_on_compact).count();
        let archived = match self.options.strategy {
            Strategy::ObservationMask => self.archived.iter().filter(|message| masked(message).is_some()).count(),
            _ => self.archived.len(),
        };
        Data::dict([
            ("mode", Data::from(self.options.mode)),
            ("strategy", self.options.strategy.as_str().into()),
            ("keep_last", self.keep_last.into()),
            ("message_count", (self.archived.len() + self.kept).into()),
            ("archived_messages", archived.into()),
            ("remaining_messages", self.kept.into()),
            ("estimated_tokens_before", self.tokens_before.into()),
            ("estimated_tokens_after", Data::Nil),
            ("summary", self.options.summary.clone().into()),
            ("reminders_expired", self.expired.into()),
            ("reminders_deduped", self.deduped.into()),
            ("reminders_preserved", preserved.into()),
        ])
    }

    /// Inserts the summary into the current transcript and keeps messages added meanwhile. Returns `None` if the
    /// archived messages are no longer its first ones.
    #[must_use]
    pub fn finish(
        self,
        mut transcript: Transcript,
        summary: Summary,
        at: &LifecycleContext<'_>,
    ) -> Option<FinishedCompaction> {
        let mut now = transcript.messages().iter();
        if !self.archived.iter().all(|archived| now.next().is_some_and(|message| Arc::ptr_eq(message, archived))) {
            return None;
        }
        let cut = self.archived.len();
        let kept = transcript.messages().skip(cut);
        let pass = compact(&mut transcript, self.options.charge);
        let mut records = pass.records;
        let mut report =
            PendingCompaction { survivors: pass.survivors, expired: pass.expired, deduped: pass.deduped, ..self }
                .outlook();
        let (text, mut messages): (Option<Arc<str>>, Messages) = match summary {
            Summary::Text(text) => (Some(text.clone()), Messages::unit(Arc::new(Message::user(text)))),
            Summary::Messages(messages) => (None, messages.into_iter().collect()),
        };
        transcript.shift_events(cut, messages.len());
        messages.extend(kept.iter().cloned());
        transcript.set_messages(messages);
        transcript.summary = text.clone().or(transcript.summary);
        records.extend(preserve_only(&mut transcript));
        report.set("remaining_messages", transcript.messages().len().into());
        report.set("estimated_tokens_after", transcript.estimated_tokens().into());
        report.set("summary", text.into());
        let present = report.as_dict().into_iter().flatten().map(|(key, value)| (key.clone(), value.clone()));
        transcript.push_event(at.ids.next_text(at.now_ms), "compaction", Data::dict_of_present(present));
        Some(FinishedCompaction { transcript, records, report })
    }
}

/// Returns the number of messages that an earlier summary among the archived stands for, less one for itself, since it
/// is counted with them.
fn summed_up(transcript: &Transcript, archived: &[Arc<Message>]) -> usize {
    if !archived.first().is_some_and(|first| is_summary(transcript, first)) {
        return 0;
    }
    let compactions = transcript.events().filter_map(|event| match &event.detail {
        EventDetail::Other(fields) if event.kind.as_ref() == "compaction" && !fields.get("summary").is_nil() => {
            fields.get("archived_messages").as_int().and_then(|count| usize::try_from(count).ok())
        }
        _ => None,
    });
    compactions.map(|count| count.saturating_sub(1)).sum()
}

/// Returns whether a message is the summary of the last compaction.
fn is_summary(transcript: &Transcript, message: &Message) -> bool {
    transcript.summary.as_ref() == Some(&message.text())
}

/// The beginning of a masked result.
const MASK: &str = "[output masked to save context";

/// Returns a tool result with its text masked; `None` for other messages, and if masking would save nothing.
fn masked(message: &Message) -> Option<Arc<Message>> {
    let text = message.text();
    if message.role != Role::Tool || text.starts_with(MASK) {
        return None;
    }
    let mask = format!("{MASK}: {} characters]", text.chars().count());
    let shorter = mask.len() < text.len();
    shorter.then(|| Arc::new(Message { content: mask.as_str().into(), ..message.clone() }))
}

/// Returns the number of messages that may be archived. The last tool calls stay while a result is still missing (a
/// running tool compacts its own session), and while the model has not answered the results: no prompt has carried them
/// yet.
fn seen(messages: &Messages) -> usize {
    let count = messages.len();
    let Some(back) = messages.iter().rev().position(|message| !message.tool_calls.is_empty()) else { return count };
    let at = count - 1 - back;
    let answered: HashSet<&Arc<str>> =
        messages.iter().skip(at + 1).filter_map(|message| message.tool_call_id.as_ref()).collect();
    let is_answered = messages.iter().skip(at + 1).any(|message| message.role == Role::Assistant);
    if is_answered && messages[at].tool_calls.iter().all(|call| answered.contains(&call.id)) { count } else { at }
}

/// Returns the places of the tool results that no prompt has carried yet.
pub(crate) fn unseen_results(messages: &Messages) -> Vec<usize> {
    let is_result = |index: &usize| messages[*index].role == Role::Tool;
    (seen(messages)..messages.len()).filter(is_result).collect()
}

/// Returns a cut point at which no tool result loses its call: a user message at or after the wanted place, else an
/// assistant message.
fn cut_point(messages: &Messages, wanted: usize) -> usize {
    let behind = |role: Role| messages.iter().skip(wanted).position(|message| message.role == role);
    if wanted == 0 || wanted >= messages.len() {
        return wanted;
    }
    behind(Role::User).or_else(|| behind(Role::Assistant)).map_or(messages.len(), |offset| wanted + offset)
}

/// The result of a compactor.
#[derive(Debug, Clone)]
pub enum Summary {
    /// One summary message replaces them.
    Text(Arc<str>),
    /// These messages replace them.
    Messages(Vec<Arc<Message>>),
}
