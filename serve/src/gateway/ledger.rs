//! [`ActionLedger`]: the recorded actions, by which a repeat gets the first result and is not executed again.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use base::data::Data;
use base::words::words;
use eventlog::Record;
use tokio::sync::watch;

use super::record::{ChannelRecordKind, kind_of};
use super::{Action, ActionError, ActionKind};
use crate::host::ActionKey;

/// The maximum number of finished actions that are known, of all channels.
const MAX_FINISHED: usize = 100_000;

/// The approximate memory of the finished actions that are known, in bytes.
const MAX_BYTES: usize = 8 << 20;

/// The memory of a finished action without its texts: its places in the map and in the list, and the overhead of its
/// texts.
const FINISHED: usize = 256;

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
    pub(crate) fn done(result: Data) -> ActionOutcome {
        ActionOutcome { status: ActionStatus::Done, result }
    }

    /// Returns the outcome of an action that was refused after it was recorded: nothing was done.
    pub(crate) fn refused(error: &ActionError) -> ActionOutcome {
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
    pub(crate) fn refused_for(&self) -> Option<&str> {
        let is_refused = self.result.get("refused").truthy();
        self.result.get("reason").as_str().filter(|_| is_refused && self.status == ActionStatus::Failed)
    }

    pub(crate) fn failed(reason: &str, message: &str) -> ActionOutcome {
        let result = Data::dict([("reason", Data::from(reason)), ("message", message.into())]);
        ActionOutcome { status: ActionStatus::Failed, result }
    }
}

/// An action that is known.
#[derive(Debug)]
pub(crate) struct LedgerEntry {
    pub(crate) kind: ActionKind,
    digest: Box<str>,
    state: LedgerState,
}

/// The state of an action that is known.
#[derive(Debug)]
enum LedgerState {
    Open(Box<OpenAction>),
    Finished(FinishedAction),
}

/// An action without a final outcome.
#[derive(Debug)]
pub(crate) struct OpenAction {
    pub(crate) session: Option<Arc<str>>,
    pub(crate) params: Data,
    /// The cursor of its record; 0 until the log has told.
    pub(crate) cursor: u64,
    outcome: watch::Sender<Option<ActionOutcome>>,
    /// Whether this process executes it.
    is_running: bool,
}

impl OpenAction {
    fn new(session: Option<Arc<str>>, params: Data, is_running: bool) -> Box<OpenAction> {
        Box::new(OpenAction { session, params, cursor: 0, outcome: watch::Sender::new(None), is_running })
    }
}

/// The final outcome of an action, as JSON: the text is a fraction of the data, and few outcomes are asked for again.
#[derive(Debug)]
struct FinishedAction {
    status: ActionStatus,
    result: Box<str>,
}

impl FinishedAction {
    fn new(outcome: &ActionOutcome) -> FinishedAction {
        FinishedAction { status: outcome.status, result: outcome.result.to_json().into() }
    }

    fn outcome(&self) -> ActionOutcome {
        // It is nested as deeply as a value of a script, and was written above.
        let result = Data::from_nested_json(&self.result, Data::MAX_DEPTH).unwrap_or_default();
        ActionOutcome { status: self.status, result }
    }
}

/// The answer to the beginning of an action.
pub(crate) enum LedgerBeginning {
    /// The action is new, or a process ended before it was executed: execute it for this session.
    New(Option<Arc<str>>),
    /// It is running: wait for its outcome.
    Repeat(watch::Receiver<Option<ActionOutcome>>),
    /// It has ended.
    Ended(ActionOutcome),
}

/// The recorded actions.
#[derive(Debug, Default)]
pub(crate) struct ActionLedger {
    entries: HashMap<ActionKey, LedgerEntry>,
    /// The finished actions with their memory, the oldest first.
    finished: VecDeque<(ActionKey, u32)>,
    /// The approximate memory of the finished actions, in bytes.
    bytes: usize,
}

impl ActionLedger {
    /// Begins an action. `session` is the session of a new one.
    ///
    /// # Errors
    /// The id was used for another action.
    pub(crate) fn begin(
        &mut self,
        channel_id: &Arc<str>,
        action: &Action,
        session: Option<Arc<str>>,
    ) -> Result<LedgerBeginning, ActionError> {
        let key = ActionKey { channel_id: channel_id.clone(), action_id: action.action_id.clone() };
        let digest = action.digest();
        if let Some(entry) = self.entries.get_mut(&key) {
            if *entry.digest != *digest {
                return Err(ActionError::Reused);
            }
            let open = match &mut entry.state {
                LedgerState::Open(open) => open,
                LedgerState::Finished(finished) => return Ok(LedgerBeginning::Ended(finished.outcome())),
            };
            if open.is_running || open.outcome.borrow().is_some() {
                return Ok(LedgerBeginning::Repeat(open.outcome.subscribe()));
            }
            open.is_running = true;
            return Ok(LedgerBeginning::New(open.session.clone()));
        }
        let state = LedgerState::Open(OpenAction::new(session.clone(), action.params.clone(), true));
        self.entries.insert(key, LedgerEntry { kind: action.kind, digest: (&*digest).into(), state });
        Ok(LedgerBeginning::New(session))
    }

    /// Forgets an action that was refused before it was recorded.
    pub(crate) fn forget(&mut self, key: &ActionKey) {
        self.entries.remove(key);
    }

    /// Sets the outcome of an action, and wakes those that wait for it. A final outcome stays.
    pub(crate) fn complete(&mut self, key: &ActionKey, outcome: ActionOutcome) {
        let Some(entry) = self.entries.get_mut(key) else { return };
        let LedgerState::Open(open) = &mut entry.state else { return };
        if outcome.status == ActionStatus::Accepted {
            open.outcome.send_replace(Some(outcome));
            return;
        }
        let finished = FinishedAction::new(&outcome);
        open.outcome.send_replace(Some(outcome));
        let bytes = FINISHED + key.channel_id.len() + key.action_id.len() + entry.digest.len() + finished.result.len();
        entry.state = LedgerState::Finished(finished);
        self.finished.push_back((key.clone(), u32::try_from(bytes).unwrap_or(u32::MAX)));
        self.bytes += bytes;
        while self.finished.len() > MAX_FINISHED || self.bytes > MAX_BYTES && self.finished.len() > 1 {
            let Some((oldest, bytes)) = self.finished.pop_front() else { return };
            self.bytes = self.bytes.saturating_sub(bytes as usize);
            self.entries.remove(&oldest);
        }
    }

    /// Applies the next record of the log.
    pub(crate) fn take(&mut self, record: &Record) {
        let payload = &*record.payload;
        let text = |key: &str| payload.get(key).as_shared_str();
        let Some(key) = ActionKey::named(payload) else { return };
        match kind_of(&record.topic, &record.kind) {
            Some(ChannelRecordKind::Action) => {
                let kind = payload.get("kind").as_str().and_then(|word| word.parse().ok());
                let Some((kind, digest)) = kind.zip(payload.get("digest").as_str()) else { return };
                let entry = self.entries.entry(key).or_insert_with(|| {
                    let open = OpenAction::new(text("session_id"), payload.get("params").clone(), false);
                    LedgerEntry { kind, digest: digest.into(), state: LedgerState::Open(open) }
                });
                if let LedgerState::Open(open) = &mut entry.state {
                    open.cursor = record.cursor;
                }
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
    pub(crate) fn unfinished(&self) -> Vec<(ActionKey, ActionKind, &OpenAction)> {
        let mut unfinished: Vec<_> = (self.entries.iter())
            .filter_map(|(key, entry)| match &entry.state {
                LedgerState::Open(open) if !open.is_running && open.outcome.borrow().is_none() => {
                    Some((key.clone(), entry.kind, &**open))
                }
                _ => None,
            })
            .collect();
        unfinished.sort_by_key(|(_, _, open)| open.cursor);
        unfinished
    }

    /// Takes an unfinished action, which this process executes from now on.
    pub(crate) fn resume(&mut self, key: &ActionKey) {
        if let Some(LedgerEntry { state: LedgerState::Open(open), .. }) = self.entries.get_mut(key) {
            open.is_running = true;
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

    fn key(action_id: &str) -> ActionKey {
        ActionKey { channel_id: "chan".into(), action_id: action_id.into() }
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
        let key = key("a");
        ledger.complete(&key, ActionOutcome::done(Data::from(1)));
        ledger.complete(&key, ActionOutcome::done(Data::from(2)));
        let LedgerBeginning::Ended(outcome) = ledger.begin(&"chan".into(), &prompt("a", "go"), None).unwrap() else {
            panic!("it is executed again")
        };
        assert_eq!(outcome, ActionOutcome::done(Data::from(1)));
        assert_eq!(begin(&mut ledger, &prompt("a", "stop")), Err(ActionError::Reused));
    }

    #[test]
    fn who_waits_for_an_action_gets_its_outcome() {
        let mut ledger = ActionLedger::default();
        begin(&mut ledger, &prompt("a", "go")).unwrap();
        let LedgerBeginning::Repeat(mut outcome) = ledger.begin(&"chan".into(), &prompt("a", "go"), None).unwrap()
        else {
            panic!("it is executed again")
        };
        let key = key("a");
        let accepted = ActionOutcome { status: ActionStatus::Accepted, result: Data::empty_dict() };
        ledger.complete(&key, accepted.clone());
        assert_eq!(outcome.borrow_and_update().clone(), Some(accepted));
        let done = ActionOutcome::done(Data::dict([("stop", Data::from("done"))]));
        ledger.complete(&key, done.clone());
        assert_eq!(outcome.borrow_and_update().clone(), Some(done.clone()));
        let again = ledger.begin(&"chan".into(), &prompt("a", "go"), None).unwrap();
        assert!(matches!(again, LedgerBeginning::Ended(outcome) if outcome == done));
    }

    /// Executes actions whose results have a text.
    fn finish(ledger: &mut ActionLedger, ids: std::ops::Range<usize>, text: &str) {
        for id in ids.map(|n| n.to_string()) {
            begin(ledger, &prompt(&id, "go")).unwrap();
            ledger.complete(&key(&id), ActionOutcome::done(text.into()));
        }
    }

    #[test]
    fn finished_actions_are_bounded_and_running_ones_are_kept() {
        let mut ledger = ActionLedger::default();
        begin(&mut ledger, &prompt("running", "go")).unwrap();
        finish(&mut ledger, 0..MAX_FINISHED, "");
        assert!((MAX_BYTES - 1_000..=MAX_BYTES).contains(&ledger.bytes), "{}", ledger.bytes);
        assert!((20_000..40_000).contains(&ledger.finished.len()), "{}", ledger.finished.len());
        assert_eq!(ledger.entries.len(), ledger.finished.len() + 1);
        assert_eq!(begin(&mut ledger, &prompt("running", "go")), Ok(false));
        assert_eq!(begin(&mut ledger, &prompt("0", "go")), Ok(true), "the oldest is forgotten");
        let last = (MAX_FINISHED - 1).to_string();
        assert_eq!(begin(&mut ledger, &prompt(&last, "go")), Ok(false));
    }

    #[test]
    fn large_results_are_bounded_by_their_size() {
        let mut ledger = ActionLedger::default();
        finish(&mut ledger, 0..100, &"x".repeat(1 << 20));
        assert!(ledger.bytes <= MAX_BYTES && ledger.entries.len() == 7, "{} {}", ledger.bytes, ledger.entries.len());
        finish(&mut ledger, 100..101, &"x".repeat(2 * MAX_BYTES));
        assert_eq!(begin(&mut ledger, &prompt("100", "go")), Ok(false), "the last one is known, however large it is");
        finish(&mut ledger, 101..102, "");
        assert_eq!((ledger.entries.len(), ledger.bytes < 1_000), (1, true));
    }
}
