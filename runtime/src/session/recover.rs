//! Continuing a session of another process from the event log.
use std::rc::Rc;
use std::sync::{Arc, PoisonError};

use base::ids::{IdStream, Ids as _};

use crate::lifecycle::{DiscardReason, LifecycleContext, LifecycleRecord, post_turn, void};
use crate::reminder::Reminder;
use crate::reminder::bridge::{Injection, InjectionOutcome, RecordedQueue};
use crate::scope::Scope;
use crate::transcript::{StoredFirings, Transcript};

use super::inbox::DeliveredAt;
use super::{Conversation, Session, SessionState};

/// A session according to the log.
#[derive(Debug, Clone, Default)]
pub struct Recovered {
    /// Time it was opened, in milliseconds since 1970-01-01 UTC.
    pub created_at_ms: u64,
    /// Number of turns so far.
    pub turns: u32,
    /// Its messages and their description.
    pub conversation: Conversation,
    /// The pending reminders, oldest first.
    pub reminders: Vec<RecoveredReminder>,
    /// The firings of the reminders.
    pub firings: StoredFirings,
    /// Number of prompts whose turns were not over when the process ended.
    pub open_prompts: u32,
    /// Whether the last of them was answered.
    pub is_answered: bool,
    /// The queue.
    pub queue: RecordedQueue,
    /// Items delivered from the queue that the log does not yet record as delivered.
    pub delivered: Vec<Injection>,
    /// Pending reminders of other sessions of its run, lost with the process: session and reminder.
    pub lost: Vec<(Arc<str>, Arc<str>)>,
    /// Seed of its ids from here on. It must differ in every process.
    pub seed: u64,
}

/// A pending reminder.
#[derive(Debug, Clone)]
pub struct RecoveredReminder {
    /// The reminder with its remaining TTL.
    pub reminder: Arc<Reminder>,
    /// Number of open prompts that carried it: the last ones.
    pub uncharged: u32,
}

impl Session {
    /// Continues a session of this id from another process. Writes the records that balance the log: a turn that was
    /// answered is over and charged, one that was not is void, and reminders pending in other sessions of the run are
    /// lost.
    pub fn recover(self: &Rc<Self>, left: Recovered, scope: &Scope) {
        let now_ms = scope.clock.now_ms();
        let delivered = |item: &Injection| (item.id.clone(), InjectionOutcome::Delivered);
        let mut stream = IdStream::new(left.seed, self.id());
        let queue_ids = stream.child();
        self.ids.go_on_with(stream);
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).go_on_from(
            queue_ids,
            left.queue.items.into(),
            left.queue.fates.into_iter().chain(left.delivered.iter().map(delivered)).collect(),
        );
        for item in &left.delivered {
            self.log_delivered(scope, item, DeliveredAt::SessionLoad);
        }
        let mut transcript = Transcript::new(self.id.clone());
        let Conversation { messages, summary, metadata, assets, provider_memory } = left.conversation;
        (transcript.summary, transcript.metadata, transcript.assets) = (summary, metadata, assets);
        transcript.set_messages(messages.into_iter().collect());
        for pending in &left.reminders {
            transcript.push_pending(self.ids.next_text(now_ms), pending.reminder.clone());
        }
        for behind in (1..=left.open_prompts).rev() {
            let carried = |id: &Arc<str>| left.reminders.iter().any(|r| r.reminder.id == *id && r.uncharged >= behind);
            let left_out = transcript.slots_where(|pending| !carried(&pending.reminder.id));
            transcript.prompt_built(&left_out);
            transcript.leave_out(&left_out);
        }
        self.with(|own| {
            let anchor = std::mem::take(&mut own.workspace_anchor);
            *own = SessionState {
                transcript,
                created_at_ms: left.created_at_ms,
                turns: left.turns,
                provider_memory,
                workspace_anchor: anchor,
                ..SessionState::default()
            };
        });
        self.tell_pending();
        self.settle_open_turn(scope, left.is_answered, left.firings);
        for refusal in self.drop_forbidden(scope) {
            tracing::warn!(session_id = %self.id, "a reminder of a loaded session was {refusal}");
        }
        self.discard_lost(scope, left.lost);
    }

    fn settle_open_turn(&self, scope: &Scope, is_answered: bool, firings: StoredFirings) {
        let settle = |t: &mut Transcript| {
            let mut records = Vec::new();
            if t.has_open_prompts() && !is_answered {
                records.extend(void(t));
            }
            t.restore_firings(firings);
            if t.has_open_prompts() {
                records.extend(post_turn(t).records);
            }
            records
        };
        self.apply(scope, |t, _| settle(t), std::mem::take);
    }

    fn discard_lost(&self, scope: &Scope, lost: Vec<(Arc<str>, Arc<str>)>) {
        for (session_id, reminder_id) in lost {
            let record = LifecycleRecord::Discarded { reminder_id, reason: DiscardReason::Lost };
            let (task_id, agent_id, ids) = (None, None, self.ids());
            let turn = self.with(|state| state.turns);
            let at = LifecycleContext {
                session_id: &session_id,
                task_id,
                agent_id,
                turn,
                now_ms: scope.clock.now_ms(),
                ids,
            };
            scope.log.append(record.to_log(&at));
        }
    }
}
