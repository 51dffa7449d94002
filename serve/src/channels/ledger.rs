//! [`ActionLedger`]: the recorded actions, by which a repeat gets the first result and is not executed again.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use runtime::data::Data;
use runtime::event_log::Record;
use runtime::words::words;
use tokio::sync::watch;

use super::record::{ChannelRecordKind, kind_of};
use super::{Action, ActionError, ActionKind};

/// The maximum number of finished actions that are known, of all channels.
const MAX_FINISHED: usize = 100_000;

words! {
    /// The state of an action.
    pub enum ActionStatus {
        /// It is recorded, and its turn runs or will run.
        Accepted = "accepted",
        /// It has ended.
        Done = "done",
        /// It was recorded, and failed.
        Failed = "failed",
    }
}

/// The state of an action, and its result.
#[derive(Debug, Clone, PartialEq)]
pub struct ActionOutcome {
    /// The state.
    pub status: ActionStatus,
    /// The result, a dict; for a failure with `reason` and `message`.
    pub result: Data,
}

impl ActionOutcome {
    pub(super) fn done(result: Data) -> ActionOutcome {
        ActionOutcome { status: ActionStatus::Done, result }
    }

    /// Returns the outcome of an action that was refused after it was recorded: nothing was done.
    pub(super) fn refused(error: &ActionError) -> ActionOutcome {
        let field = match error {
            ActionError::Invalid { field, .. } if !field.is_empty() => field.as_str().into(),
            _ => Data::Nil,
        };
        let fields = [
            ("reason", Data::from(error.reason())),
            ("message", error.to_string().into()),
            ("field", field),
            ("refused", true.into()),
        ];
        ActionOutcome { status: ActionStatus::Failed, result: Data::dict_of_present(fields) }
    }

    /// Returns the reason if the action was refused; a turn that has failed was not.
    pub(super) fn refused_for(&self) -> Option<&str> {
        let is_refused = self.result.get("refused").truthy();
        self.result.get("reason").as_str().filter(|_| is_refused && self.status == ActionStatus::Failed)
    }

    pub(super) fn failed(reason: &str, message: &str) -> ActionOutcome {
        let result = Data::dict([("reason", Data::from(reason)), ("message", message.into())]);
        ActionOutcome { status: ActionStatus::Failed, result }
    }
}

/// The identity of an action: its channel, and the id that the channel has chosen.
pub(crate) type ActionKey = (Arc<str>, Arc<str>);

/// An action that is known.
#[derive(Debug)]
pub(crate) struct LedgerEntry {
    pub(crate) session: Option<Arc<str>>,
    pub(crate) kind: ActionKind,
    pub(super) params: Data,
    digest: Arc<str>,
    /// The cursor of its record; 0 until the log has told.
    pub(super) cursor: u64,
    outcome: watch::Sender<Option<ActionOutcome>>,
    /// Whether this process executes it.
    is_running: bool,
}

/// The answer to the beginning of an action.
pub(super) enum LedgerBeginning {
    /// The action is new, or a process ended before it was executed: execute it for this session.
    New(Option<Arc<str>>),
    /// It is known: wait for its outcome.
    Repeat(watch::Receiver<Option<ActionOutcome>>),
}

/// The recorded actions.
#[derive(Debug, Default)]
pub(crate) struct ActionLedger {
    entries: HashMap<ActionKey, LedgerEntry>,
    finished: VecDeque<ActionKey>,
}

impl ActionLedger {
    /// Begins an action. `session` is the session of a new one.
    ///
    /// # Errors
    /// The id was used for another action.
    pub(super) fn begin(
        &mut self,
        channel_id: &Arc<str>,
        action: &Action,
        session: Option<Arc<str>>,
    ) -> Result<LedgerBeginning, ActionError> {
        let key = (channel_id.clone(), action.action_id.clone());
        let digest = action.digest();
        if let Some(entry) = self.entries.get_mut(&key) {
            if entry.digest != digest {
                return Err(ActionError::Reused);
            }
            if entry.is_running || entry.outcome.borrow().is_some() {
                return Ok(LedgerBeginning::Repeat(entry.outcome.subscribe()));
            }
            entry.is_running = true;
            return Ok(LedgerBeginning::New(entry.session.clone()));
        }
        let entry = LedgerEntry {
            session: session.clone(),
            kind: action.kind,
            params: action.params.clone(),
            digest,
            cursor: 0,
            outcome: watch::Sender::new(None),
            is_running: true,
        };
        self.entries.insert(key, entry);
        Ok(LedgerBeginning::New(session))
    }

    /// Forgets an action that was refused before it was recorded.
    pub(super) fn forget(&mut self, key: &ActionKey) {
        self.entries.remove(key);
    }

    /// Sets the outcome of an action, and wakes those that wait for it. A final outcome stays.
    pub(super) fn complete(&mut self, key: &ActionKey, outcome: ActionOutcome) {
        let Some(entry) = self.entries.get_mut(key) else { return };
        let is_final = outcome.status != ActionStatus::Accepted;
        let was_final = entry.outcome.borrow().as_ref().is_some_and(|had| had.status != ActionStatus::Accepted);
        if was_final {
            return;
        }
        entry.outcome.send_replace(Some(outcome));
        if !is_final {
            return;
        }
        entry.is_running = false;
        entry.params = Data::Nil;
        self.finished.push_back(key.clone());
        if self.finished.len() > MAX_FINISHED
            && let Some(oldest) = self.finished.pop_front()
        {
            self.entries.remove(&oldest);
        }
    }

    /// Applies the next record of the log.
    pub(crate) fn take(&mut self, record: &Record) {
        let payload = &*record.payload;
        let text = |key: &str| payload.get(key).as_shared_str();
        let Some(key) = text("channel_id").zip(text("action_id")) else { return };
        match kind_of(&record.topic, &record.kind) {
            Some(ChannelRecordKind::Action) => {
                let kind = payload.get("kind").as_str().and_then(|word| word.parse().ok());
                let Some((kind, digest)) = kind.zip(text("digest")) else { return };
                let entry = self.entries.entry(key).or_insert_with(|| LedgerEntry {
                    session: text("session_id"),
                    kind,
                    params: payload.get("params").clone(),
                    digest,
                    cursor: 0,
                    outcome: watch::Sender::new(None),
                    is_running: false,
                });
                entry.cursor = record.cursor;
            }
            Some(ChannelRecordKind::Result) => {
                let status = payload.get("status").as_str().and_then(|word| word.parse().ok());
                let Some(status) = status else { return };
                self.complete(&key, ActionOutcome { status, result: payload.get("result").clone() });
            }
            _ => {}
        }
    }

    /// Returns a known action.
    pub(crate) fn get(&self, key: &ActionKey) -> Option<&LedgerEntry> {
        self.entries.get(key)
    }

    /// Returns the actions whose process ended before their outcome was recorded, in order.
    pub(crate) fn unfinished(&self) -> Vec<(ActionKey, &LedgerEntry)> {
        let is_open = |entry: &LedgerEntry| !entry.is_running && entry.outcome.borrow().is_none();
        let mut open: Vec<_> =
            self.entries.iter().filter(|(_, it)| is_open(it)).map(|(key, it)| (key.clone(), it)).collect();
        open.sort_by_key(|(_, entry)| entry.cursor);
        open
    }

    /// Takes an unfinished action, which this process executes from now on.
    pub(super) fn resume(&mut self, key: &ActionKey) {
        if let Some(entry) = self.entries.get_mut(key) {
            entry.is_running = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompt(id: &str, text: &str) -> Action {
        let params = Data::dict([("text", Data::from(text))]);
        Action { action_id: id.into(), session: Some("s".into()), kind: ActionKind::Prompt, params }
    }

    fn begin(ledger: &mut ActionLedger, action: &Action) -> Result<bool, ActionError> {
        let begun = ledger.begin(&"chan".into(), action, action.session.clone())?;
        Ok(matches!(begun, LedgerBeginning::New(_)))
    }

    #[test]
    fn a_repeat_gets_the_first_result_and_another_content_is_refused() {
        let mut ledger = ActionLedger::default();
        assert_eq!(begin(&mut ledger, &prompt("a", "go")), Ok(true));
        assert_eq!(begin(&mut ledger, &prompt("a", "go")), Ok(false), "it is running");
        assert_eq!(begin(&mut ledger, &prompt("a", "stop")), Err(ActionError::Reused));
        assert_eq!(begin(&mut ledger, &prompt("b", "go")), Ok(true));
        let key = ("chan".into(), "a".into());
        ledger.complete(&key, ActionOutcome::done(Data::from(1)));
        ledger.complete(&key, ActionOutcome::done(Data::from(2)));
        let LedgerBeginning::Repeat(outcome) = ledger.begin(&"chan".into(), &prompt("a", "go"), None).unwrap() else {
            panic!("it is executed again")
        };
        assert_eq!(outcome.borrow().as_ref().unwrap().result, Data::from(1));
    }

    #[test]
    fn finished_actions_are_bounded_and_running_ones_are_kept() {
        let mut ledger = ActionLedger::default();
        begin(&mut ledger, &prompt("running", "go")).unwrap();
        for n in 0..MAX_FINISHED + 5 {
            let id = n.to_string();
            begin(&mut ledger, &prompt(&id, "go")).unwrap();
            ledger.complete(&("chan".into(), id.into()), ActionOutcome::done(Data::Nil));
        }
        assert_eq!(ledger.entries.len(), MAX_FINISHED + 1);
        assert_eq!(begin(&mut ledger, &prompt("running", "go")), Ok(false));
        assert_eq!(begin(&mut ledger, &prompt("0", "go")), Ok(true), "the oldest is forgotten");
    }
}
