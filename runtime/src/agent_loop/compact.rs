//! The loop's own compaction, between two iterations.

use std::collections::BTreeSet;
use std::sync::Arc;

use base::call::{CallErrorKind, Outcome};
use base::codes::Severity;
use base::data::Data;

use crate::compaction::{AutoCompact, ByModel, Compaction, Summarisers, Threshold};
use crate::events::EventKind;
use crate::hooks::HookEvent;
use crate::lifecycle::archive::unseen_results;
use crate::message::{Message, Messages};
use crate::note::Note;

use super::{LoopState, RunningLoop};

impl RunningLoop<'_> {
    /// Compacts the transcript if the context has grown too large. This happens before the seam `iteration_start`, so
    /// the items delivered there are not compacted away unseen. A failure is noted, and the loop does not compact
    /// again.
    pub(super) async fn compact_if_due(&self, state: &mut LoopState) -> Outcome<()> {
        let Some(auto) = &self.options.compaction else { return Ok(()) };
        let window = self.options.model.capabilities.context_window.or(self.options.model.context_window);
        self.note_unknown_window(state, auto, window);
        let limit = auto.threshold.tokens(window);
        let tokens = state.context_tokens.max(self.estimated_tokens());
        if tokens < limit {
            return Ok(());
        }
        if !state.compaction_failed {
            self.compact(state, auto).await?;
        }
        self.shorten_unseen_results(state, limit).await
    }

    fn estimated_tokens(&self) -> u64 {
        u64::try_from(self.session.with(|s| s.transcript.count_tokens())).unwrap_or(u64::MAX)
    }

    /// Notes once that the threshold is a share of an assumed window because the real one is unknown.
    fn note_unknown_window(&self, state: &mut LoopState, auto: &AutoCompact, window: Option<u64>) {
        if window.is_some() || state.window_noted || !matches!(auto.threshold, Threshold::Share(_)) {
            return;
        }
        state.window_noted = true;
        let assumed = Threshold::ASSUMED_WINDOW;
        let message = format!(
            "the context window of this route is unknown, so `auto_compact` assumes {assumed} tokens; set it with \
            `reminders: {{config: {{token_pressure: {{context_window: …}}}}}}`, or set `compact_threshold` in \
            tokens"
        );
        let about = Some("compaction".into());
        self.note(Note { code: None, severity: Severity::Warning, message, about, fault: None });
    }

    /// Shortens the tool results that no prompt has carried yet if they do not fit next to the rest of the
    /// conversation. Providers are notified of each tool whose output was cut.
    async fn shorten_unseen_results(&self, state: &LoopState, limit: u64) -> Outcome<()> {
        let excess = usize::try_from(self.estimated_tokens().saturating_sub(limit)).unwrap_or(usize::MAX);
        if excess == 0 {
            return Ok(());
        }
        let cut = self.session.with(|s| {
            let (messages, cut) = shortened(s.transcript.messages(), excess)?;
            s.transcript.set_messages(messages);
            Some(cut)
        });
        for tool in cut.into_iter().flatten() {
            let payload = Data::dict([
                ("tool", Data::dict([("name", Data::from(&tool))])),
                ("tool_name", (&tool).into()),
                ("result", Data::dict([("truncated", Data::from(true))])),
                ("truncated", true.into()),
                ("iteration", state.iteration.into()),
            ]);
            self.evaluate(&HookEvent::Raw { kind: EventKind::PostToolUse, payload: &payload }).await?;
        }
        Ok(())
    }

    /// Compacts the transcript if there is something to compact. Returns whether it did.
    pub(super) async fn compact(&self, state: &mut LoopState, auto: &AutoCompact) -> Outcome<bool> {
        let by_model = ByModel::new(&*self.parts.model, &self.options.model.request, auto.summarize_prompt.clone());
        let task = state.task.clone();
        let compaction = Compaction {
            session: self.session,
            told: self.turn(),
            iteration: state.iteration,
            listeners: self.listeners(),
            summarisers: Summarisers {
                custom: auto.compactor.as_deref(),
                model: Some(&by_model),
                remember: Some(task.as_ref()).filter(|task| !task.is_empty()),
            },
        };
        let done = compaction.run(auto.options.clone()).await;
        state.usage.add(by_model.usage.get());
        match done {
            Ok(Some(_)) => {
                state.context_tokens = 0;
                return Ok(true);
            }
            Ok(None) => {}
            // The next step sees the cancellation and ends the loop.
            Err(_) if self.scope.check().is_err() => {}
            Err(thrown)
                if self.strict() || matches!(thrown.kind(), CallErrorKind::Cancelled | CallErrorKind::Deadline) =>
            {
                return Err(thrown);
            }
            Err(thrown) => {
                state.compaction_failed = true;
                self.note(Note::of_fault("compaction", thrown));
            }
        }
        Ok(false)
    }
}

/// Number of bytes of a result that are always kept.
const LEAST: usize = 400;

/// Returns the messages with the longest unseen results cut to one length, so that about `excess` tokens are saved, and
/// the names of the tools whose output was cut; `None` if no result is long enough.
fn shortened(messages: &Messages, excess: usize) -> Option<(Messages, BTreeSet<Arc<str>>)> {
    let places = unseen_results(messages);
    let lengths: Vec<usize> = places.iter().map(|place| messages[*place].text().len()).collect();
    let room = lengths.iter().sum::<usize>().saturating_sub(excess.saturating_mul(4));
    let most = share(lengths, room).max(LEAST);
    let mut cut = BTreeSet::new();
    let mut out = messages.take(places.first().copied()?);
    for (place, message) in messages.iter().enumerate().skip(out.len()) {
        let text = if places.contains(&place) { message.text() } else { Arc::default() };
        // The note takes space, too.
        if text.len() <= most + NOTE {
            out.push_back(message.clone());
            continue;
        }
        let (head, left) = text.split_at(text.floor_char_boundary(most));
        let left = left.chars().count();
        let short = format!("{head}\n[output truncated: {left} more characters exceed the context window]");
        out.push_back(Arc::new(Message { content: short.into(), ..message.as_ref().clone() }));
        cut.insert(message.name.clone().unwrap_or_else(|| "unknown".into()));
    }
    (!cut.is_empty()).then_some((out, cut))
}

/// Approximate size of the note about a cut, in bytes.
const NOTE: usize = 80;

/// Returns the length to which the longest are cut, so that all fit into `room`.
fn share(mut lengths: Vec<usize>, mut room: usize) -> usize {
    lengths.sort_unstable();
    let count = lengths.len();
    for (index, length) in lengths.into_iter().enumerate() {
        let each = room / (count - index);
        if length > each {
            return each;
        }
        room -= length;
    }
    usize::MAX - NOTE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::ToolCall;

    #[test]
    fn the_longest_are_cut_to_one_length() {
        assert_eq!(share(vec![10, 1000, 20], 430), 400);
        assert_eq!(share(vec![1000, 1000], 100), 50);
        assert!(share(vec![1, 2], 3) > 2);
        assert!(share(Vec::new(), 0) > 0);
    }

    #[test]
    fn only_results_that_no_prompt_has_carried_are_cut() {
        let calls: Vec<_> =
            ["read", "grep", "ls"].map(|name| ToolCall::new(name, name, Data::empty_dict())).into_iter().collect();
        let result = |call: &ToolCall, length: usize| Message::tool_result(call, "é".repeat(length), true);
        let history = [
            Message::assistant("", vec![calls[0].clone()]),
            result(&calls[0], 5_000),
            Message::assistant("", calls.clone()),
            result(&calls[0], 5_000),
            result(&calls[1], 3_000),
            result(&calls[2], 10),
            Message::user("x".repeat(5_000)),
        ];
        let messages: Messages = history.into_iter().map(Arc::new).collect();
        let (cut, tools) = shortened(&messages, 3_000).unwrap();
        let lengths: Vec<usize> = cut.iter().map(|message| message.text().len()).collect();
        assert_eq!((lengths[1], lengths[5], lengths[6]), (10_000, 20, 5_000));
        assert!((1_990..2_100).contains(&lengths[3]) && lengths[3].abs_diff(lengths[4]) < 10, "{lengths:?}");
        assert_eq!(tools.iter().map(AsRef::as_ref).collect::<Vec<&str>>(), ["grep", "read"]);
        let saved: usize =
            messages.iter().map(|message| message.text().len()).sum::<usize>() - lengths.iter().sum::<usize>();
        assert!(saved > 11_500, "{saved} of 12,000 bytes");
        assert!(shortened(&cut, 10).is_none(), "what is left is short");
    }
}
