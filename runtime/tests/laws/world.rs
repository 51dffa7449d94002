//! The real sessions, queues and log, next to the model of each session.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use base::call::LocalFuture;
use base::clock::Clock;
use base::data::Data;
use eventlog::{EventLog, MemoryLog, RecordFilter};
use proptest::prelude::*;
use runtime::capabilities::Capabilities;
use runtime::lifecycle::archive::{CompactOptions, Strategy as How, Summary, begin};
use runtime::lifecycle::import::Imported;
use runtime::lifecycle::{
    self, CompactionCharge, ConditionVerdict, Judgement, LifecycleContext, LifecycleRecord, ReminderOrigin,
    SelectInput, SelectedReminder, Selector, before_prompt, drop_unrenderable, fire, post_turn, propagation, select,
    void,
};
use runtime::message::{Message, Role, ToolCall};
use runtime::reminder::bridge::{MessagePayload, QueueError, RemindPayload, Revocation};
use runtime::reminder::expectation::JudgedBy;
use runtime::reminder::slots::Rendered;
use runtime::reminder::{Reminder, ReminderRules, ReminderSource, ReminderSpec};
use runtime::render::{RenderOptions, render};
use runtime::scope::Scope;
use runtime::session::{Session, Sessions};
use runtime::transcript::{PendingReminder, Transcript};

use crate::model::{self, Fate, Known, Name};
use crate::step::{Choice, Step, What, Wish};

/// Marker that every reminder body contains, and no message.
pub(crate) const MARK: &str = "REMINDER";

/// A clock that jumps both ways.
#[derive(Default)]
struct Jumping(Cell<i64>);

impl Clock for Jumping {
    fn now_ms(&self) -> u64 {
        self.0.get().unsigned_abs()
    }

    fn sleep_until(&self, _: u64) -> LocalFuture<'_, ()> {
        Box::pin(std::future::pending())
    }
}

/// A session and its model.
pub(crate) struct Pair {
    pub(crate) real: Rc<Session>,
    pub(crate) model: model::Session,
    /// Items that its queue accepted, in order, and whether each is a message.
    pub(crate) accepted: Vec<(Arc<str>, bool)>,
    pub(crate) is_closed: bool,
    /// Ids of the reminders in the last prompt.
    last_ids: Vec<Arc<str>>,
    /// Judged reminders with the turn and whether it followed them, in order.
    pub(crate) judged: Vec<(Arc<str>, u32, bool)>,
}

/// Ids, and the number of turns each has left.
pub(crate) type Left = Vec<(Arc<str>, Option<u32>)>;

/// The pending reminders of every session at a length of the log.
pub(crate) struct Snapshot {
    pub(crate) cursor: u64,
    pub(crate) pending: Vec<(Arc<str>, Left)>,
}

pub(crate) struct World {
    pub(crate) sessions: Sessions,
    pub(crate) scope: Scope,
    pub(crate) log: MemoryLog,
    clock: Rc<Jumping>,
    pub(crate) pairs: Vec<Pair>,
    numbers: u32,
    pub(crate) history: Vec<Snapshot>,
    /// Old versions, and their form when they were current.
    old: Vec<(Transcript, String)>,
}

impl World {
    pub(crate) fn new() -> World {
        let (log, clock) = (MemoryLog::new(), Rc::new(Jumping(Cell::new(1_000_000))));
        let scope = Scope::new(clock.clone(), Rc::new(log.clone()));
        let sessions = Sessions::new(7);
        let (pairs, history, old) = (Vec::new(), Vec::new(), Vec::new());
        let mut world = World { sessions, scope, log, clock, pairs, numbers: 0, history, old };
        world.open(model::Session::default());
        world.remember();
        world
    }

    /// Executes a step in the real world and in the model, and compares both.
    pub(crate) fn take(&mut self, step: Step) -> Result<(), TestCaseError> {
        let open: Vec<usize> = (0..self.pairs.len()).filter(|n| !self.pairs[*n].is_closed).collect();
        let at = open[step.session as usize % open.len()];
        let before = self.pairs[at].real.transcript();
        let looked = fingerprint(&before);
        let crowd = open.len();
        let other = if let What::HandOver(nth) = step.what { nth as usize % self.pairs.len() } else { at };
        self.carry_out(at, step.what, crowd)?;
        prop_assert_eq!(fingerprint(&before), looked.clone(), "the version before the step has changed");
        self.old.push((before, looked));
        for pair in [at, other, self.pairs.len() - 1].map(|n| &self.pairs[n]).into_iter().filter(|pair| !pair.is_closed)
        {
            pair.agree()?;
        }
        self.remember();
        Ok(())
    }

    fn carry_out(&mut self, at: usize, what: What, crowd: usize) -> Result<(), TestCaseError> {
        let real = self.pairs[at].real.clone();
        let id = real.id().clone();
        let number = self.numbers;
        self.numbers += 1;
        match what {
            What::Inject(wish, source) => {
                real.inject_reminder(&self.scope, spec(number, &wish), source, None);
                self.admit(at, number, &wish, source == ReminderSource::Inherited);
            }
            What::InjectAgain(nth) => {
                let transcript = real.transcript();
                if let Some(event) = pick(transcript.events().filter(|event| event.pending().is_some()), nth) {
                    let again = number_of(event.reminder().unwrap());
                    self.sessions.inject(&id, &event.to_data(transcript.charged()), &self.scope).unwrap();
                    let model = &mut self.pairs[at].model;
                    let known = model.pending.iter().find(|known| known.number == again).unwrap().clone();
                    model.admit(known);
                }
            }
            What::InjectBlank(key) => {
                let tags: Data =
                    [format!("#{number}"), "t0".to_owned()].iter().map(|tag| tag.as_str().into()).collect();
                let reminder =
                    Data::dict([("body", Data::from(" \n")), ("tags", tags), ("dedupe_key", key.to_string().into())]);
                let event = Data::dict([("kind", Data::from("system_reminder")), ("reminder", reminder)]);
                self.sessions.inject(&id, &event, &self.scope).unwrap();
                let model = &mut self.pairs[at].model;
                let wish = Wish { key: Some(key), tag: 0, ..Wish::plain() };
                // A script sets the turn of a reminder, and this one sets none.
                model.admit(Known { blank: true, turn: 0, ..model.make(number, &wish, false) });
            }
            What::ClearId(nth) => {
                let model = &mut self.pairs[at].model;
                if !model.pending.is_empty() {
                    let gone = model.pending.remove(nth as usize % model.pending.len());
                    gone.key.into_iter().for_each(|key| model.forget(Name::Key(key)));
                    model.forget_gone();
                    let found = real
                        .transcript()
                        .pending()
                        .find(|p| number_of(&p.reminder) == gone.number)
                        .unwrap()
                        .reminder
                        .id
                        .clone();
                    prop_assert_eq!(
                        real.clear_reminders(&self.scope, &Selector { id: Some(found), ..Selector::default() }),
                        1
                    );
                }
            }
            What::ClearTag(tag) => self.clear(at, Some(tag), None)?,
            What::ClearKey(key) => self.clear(at, None, Some(key))?,
            What::ClearTagAndKey(tag, key) => self.clear(at, Some(tag), Some(key))?,
            What::Prompt { slots, late, by_hand, choice } => {
                real.with(|state| state.turns += 1);
                real.apply(&self.scope, |t, _| before_prompt(t), std::mem::take);
                // The model has the same order of pending reminders, but may not have ended the turn before.
                let numbers = {
                    let mut model = self.pairs[at].model.clone();
                    if model.open {
                        model.pass();
                    }
                    model.pending.retain(|known| !known.blank);
                    model.verdicts(&choice).collect::<Vec<_>>()
                };
                let (shown, waits) = self.select(&real, choice.budget, &numbers);
                let rendered = Self::rendered(&shown, slots);
                self.pairs[at].last_ids = rendered.fired.iter().map(|fired| fired.id.clone()).collect();
                if let Some(wish) = &late {
                    real.inject_reminder(&self.scope, spec(number, wish), ReminderSource::Hook, None);
                    if by_hand {
                        real.post_turn_by_hand(&self.scope, u32::MAX);
                    }
                }
                real.apply(&self.scope, |t, at| fire(t, &rendered, true, at), std::mem::take);
                let chosen = self.pairs[at].model.prompt(slots, &choice, |model| {
                    if let Some(wish) = &late {
                        model.admit(model.make(number, wish, false));
                        if by_hand {
                            model.charge(|_| true);
                        }
                    }
                });
                let bodies = bodies_of(&shown);
                let shown = shown.iter().map(|selected| number_of(&selected.reminder)).collect();
                let real = model::Chosen { shown, waits, bodies };
                prop_assert_eq!(real, chosen, "who is shown with which body, and who begins to wait");
            }
            What::ProviderAgain(nth) => {
                let transcript = real.transcript();
                let unique = |p: &&PendingReminder| {
                    let key = &p.reminder.dedupe_key;
                    let with_key = transcript.pending().filter(|other| other.reminder.dedupe_key == *key).count();
                    p.reminder.source == ReminderSource::StdlibProvider && key.is_some() && with_key == 1
                };
                if let Some(found) = pick(transcript.pending().filter(unique), nth) {
                    let again = real.inject_reminder(
                        &self.scope,
                        spec_of(&found.reminder),
                        ReminderSource::StdlibProvider,
                        found.reminder.producer.clone(),
                    );
                    prop_assert_eq!(&again.reminder.id, &found.reminder.id, "the reminder stays");
                    let model = &mut self.pairs[at].model;
                    let known = model.pending.iter_mut().find(|known| known.number == number_of(&found.reminder));
                    let known = known.unwrap();
                    if found.reminder.ttl_turns.is_some() {
                        (known.left, known.carried) = (found.reminder.ttl_turns, false);
                    }
                }
            }
            What::Judge(verdicts) => {
                let pair = &mut self.pairs[at];
                let turn = real.with(|state| state.turns);
                // Judged once, and only while the turn is open: a reminder that ended meanwhile was in the prompt.
                let shown = std::mem::take(&mut pair.model.last_shown);
                let ids = std::mem::take(&mut pair.last_ids);
                let mut judgements = Vec::new();
                for ((nth, _), id) in shown.iter().enumerate().zip(ids) {
                    if let Some(heeded) = verdicts[nth % verdicts.len()] {
                        let judged_by = if heeded { JudgedBy::Function } else { JudgedBy::Judge };
                        judgements.push(Judgement { reminder_id: id.clone(), heeded, judged_by, reason: None });
                        pair.judged.push((id, turn, heeded));
                    }
                }
                real.apply(&self.scope, |_, _| lifecycle::judge(judgements), std::mem::take);
            }
            What::Void => {
                if self.pairs[at].model.open {
                    real.apply(&self.scope, |t, _| void(t), std::mem::take);
                    self.pairs[at].model.void();
                }
            }
            What::Bare => {
                real.apply(&self.scope, |t, _| drop_unrenderable(t), std::mem::take);
                let (shown, waits) = self.select(&real, None, &[]);
                let rendered = Self::rendered(&shown, true);
                real.apply(&self.scope, |t, at| fire(t, &rendered, false, at), std::mem::take);
                self.pairs[at].model.pending.retain(|known| !known.blank);
                let chosen = self.pairs[at].model.select(&Choice::default());
                let bodies = bodies_of(&shown);
                let shown = shown.iter().map(|selected| number_of(&selected.reminder)).collect();
                prop_assert_eq!(model::Chosen { shown, waits, bodies }, chosen, "in a bare call");
            }
            What::Pass => {
                real.apply(&self.scope, |t, _| post_turn(t), |passed| std::mem::take(&mut passed.records));
                self.pairs[at].model.pass();
            }
            What::PassByHand(turn) => {
                real.post_turn_by_hand(&self.scope, turn.into());
                self.pairs[at].model.charge(|known| known.turn <= u32::from(turn));
            }
            What::Compact { how, keep_last, target, all, veto, messages } => {
                let options = CompactOptions {
                    strategy: how,
                    keep_last: keep_last.map(usize::from),
                    target_tokens: target.map(usize::from),
                    charge: if all { CompactionCharge::All } else { CompactionCharge::Carried },
                    ..CompactOptions::default()
                };
                self.compact(at, options, veto, messages.map(usize::from))?;
            }
            What::Fork | What::ForkAt(_) | What::Inherit | What::Import { .. } if crowd >= 6 => {}
            What::Fork => {
                let child = self.sessions.fork(&id, Some(&self.name()), &self.scope).unwrap();
                let model = self.pairs[at].model.fork(None);
                self.add(child, model);
            }
            What::ForkAt(keep) => {
                let child = self.sessions.fork_at(&id, keep.into(), Some(&self.name()), &self.scope).unwrap();
                let kept = child.transcript().messages().len();
                prop_assert!(kept <= keep.into(), "more than the first {}", keep);
                let model = self.pairs[at].model.fork(Some(kept));
                self.add(child, model);
            }
            What::Inherit => {
                let child = self.open(model::Session::default());
                self.hand_over(at, child);
            }
            What::HandOver(nth) => {
                let to = nth as usize % self.pairs.len();
                if to != at && !self.pairs[to].is_closed {
                    self.hand_over(at, to);
                }
            }
            What::Push(wish, mode) => {
                let payload = RemindPayload { spec: spec(number, &wish), mode, meta: Data::Nil };
                let accepted = real.accept_reminder(&self.scope, payload).unwrap();
                let replaced = self.pairs[at].model.with_key(wish.key);
                prop_assert_eq!(accepted.deduped_count, replaced, "what a host is told it replaces");
                self.pairs[at].accepted.push((accepted.id, false));
                self.pairs[at].model.push(Some((number, wish)), mode);
            }
            What::PushMessage(mode) => {
                let message = Arc::new(Message::user("from a host"));
                let payload = MessagePayload { message, mode, meta: Data::Nil };
                let accepted = real.accept_message(&self.scope, payload).unwrap();
                self.pairs[at].accepted.push((accepted.id, true));
                self.pairs[at].model.push(None, mode);
            }
            What::Drain(seam) => {
                real.deliver(&self.scope, seam);
                self.pairs[at].model.drain(seam);
            }
            What::Revoke(nth) => self.revoke(at, nth)?,
            What::Audit => {
                let reminder = Arc::new(spec(number, &Wish::plain()).into_reminder(
                    format!("audited {number}").into(),
                    ReminderSource::Bridge,
                    0,
                ));
                real.apply(&self.scope, |t, at| vec![lifecycle::audit(t, reminder, at)], std::mem::take);
            }
            What::Message => {
                real.with(|state| state.transcript.push_message(Arc::new(Message::user("one more message"))));
                self.pairs[at].model.messages += 1;
            }
            What::ToolCall => {
                let call = ToolCall::new("call", "read", Data::empty_dict());
                let said = [
                    Message::assistant("", vec![call.clone()]),
                    Message::tool_result(&call, "a long output ".repeat(100), true),
                ];
                said.into_iter().for_each(|message| real.with(|s| s.transcript.push_message(Arc::new(message))));
                self.pairs[at].model.messages += 2;
            }
            What::Trim(keep) => {
                self.sessions.trim(&id, keep.into(), &self.scope).unwrap();
                let kept = real.transcript().messages().len();
                prop_assert!(kept <= keep.into(), "more than the last {}", keep);
                self.pairs[at].model.trim(kept);
            }
            What::Reset => {
                self.sessions.reset(&id, &self.scope).unwrap();
                let model = &mut self.pairs[at].model;
                (model.pending, model.messages, model.open) = (Vec::new(), 0, false);
                model.last_shown.clear();
                (model.prompts, model.fired, model.before) = (0, BTreeMap::new(), BTreeMap::new());
            }
            What::Close if crowd == 1 => {}
            What::Close => {
                self.sessions.close(&id, &self.scope).unwrap();
                let pair = &mut self.pairs[at];
                pair.is_closed = true;
                pair.model.queue.drain(..).for_each(|queued| pair.model.fates[queued.nth] = Fate::Delivered);
                prop_assert_eq!(real.transcript().pending_count(), 0);
            }
            What::Import { one_key } => self.import(at, one_key),
            What::Clock(by) => self.clock.0.set(self.clock.0.get() + i64::from(by)),
        }
        Ok(())
    }

    fn name(&self) -> String {
        format!("session {}", self.pairs.len())
    }

    fn open(&mut self, model: model::Session) -> usize {
        let real = self.sessions.open(Some(&self.name()), self.clock.now_ms());
        self.add(real, model)
    }

    fn add(&mut self, real: Rc<Session>, model: model::Session) -> usize {
        let (accepted, last_ids, judged) = Default::default();
        self.pairs.push(Pair { real, model, accepted, is_closed: false, last_ids, judged });
        self.pairs.len() - 1
    }

    fn admit(&mut self, at: usize, number: u32, wish: &Wish, inherited: bool) {
        let model = &mut self.pairs[at].model;
        model.admit(model.make(number, wish, inherited));
    }

    fn clear(&mut self, at: usize, tag: Option<u8>, key: Option<u8>) -> Result<(), TestCaseError> {
        let pair = &mut self.pairs[at];
        let selector = Selector {
            id: None,
            tag: tag.map(|tag| format!("t{tag}").into()),
            dedupe_key: key.map(|key| key.to_string().into()),
        };
        let before = pair.model.pending.len();
        if key.is_none() {
            let cleared = pair.model.pending.iter().filter(|known| tag.is_none_or(|tag| known.tag == tag));
            let keys: Vec<u8> = cleared.filter_map(|known| known.key).collect();
            keys.into_iter().for_each(|key| pair.model.forget(Name::Key(key)));
        }
        pair.model
            .pending
            .retain(|known| !(tag.is_none_or(|tag| known.tag == tag) && key.is_none_or(|key| known.key == Some(key))));
        let gone = before - pair.model.pending.len();
        if let Some(key) = key.filter(|_| tag.is_none() || gone > 0) {
            pair.model.forget(Name::Key(key));
        }
        pair.model.forget_gone();
        prop_assert_eq!(pair.real.clear_reminders(&self.scope, &selector), gone);
        Ok(())
    }

    /// Selects the reminders of a prompt. Returns them, and the number and reason of those that begin to wait.
    fn select(
        &self,
        real: &Session,
        budget: Option<u64>,
        numbers: &[(u32, ConditionVerdict)],
    ) -> (Vec<SelectedReminder>, Vec<(u32, &'static str)>) {
        let transcript = real.transcript();
        let id = |number: u32| transcript.pending().find(|p| number_of(&p.reminder) == number);
        let verdict = |(number, verdict): &(u32, ConditionVerdict)| Some((id(*number)?.reminder.id.clone(), *verdict));
        let verdicts: Vec<_> = numbers.iter().filter_map(verdict).collect();
        let input = SelectInput { budget, verdicts: &verdicts, model: None };
        let mut waits = Vec::new();
        let selection = real.apply(
            &self.scope,
            |t, _| {
                let selection = select(t, &input);
                for record in &selection.records {
                    if let LifecycleRecord::Deferred(deferral) = record {
                        let reminder = &t.find(&deferral.reminder_id).unwrap().reminder;
                        waits.push((number_of(reminder), deferral.reason.as_str()));
                    }
                }
                selection
            },
            |selection| std::mem::take(&mut selection.records),
        );
        (selection.shown, waits)
    }

    /// Returns the rendering for a route with or without slots.
    fn rendered(shown: &[SelectedReminder], slots: bool) -> Rendered {
        let capabilities = Capabilities { system_text: slots, ..Capabilities::default() };
        render(shown, &capabilities, RenderOptions::default())
    }

    fn compact(
        &mut self,
        at: usize,
        options: CompactOptions,
        veto: bool,
        messages: Option<usize>,
    ) -> Result<(), TestCaseError> {
        let pair = &mut self.pairs[at];
        let before = pair.real.transcript();
        let custom = options.strategy == How::Custom;
        let keep_last = options.keep_last.unwrap_or(if custom { 0 } else { 12 });
        let under = options.target_tokens.is_some_and(|target| before.estimated_tokens() <= target);
        let masks = options.strategy == How::ObservationMask;
        let happens = custom || pair.model.messages > keep_last && !under;
        // Results that no prompt has carried stay, with their calls; if nothing else is left there is nothing to do.
        let answer = before.messages().iter().rev().find(|message| message.role == Role::Assistant);
        let unseen = answer.is_some_and(|message| !message.tool_calls.is_empty());
        let all = options.charge == CompactionCharge::All;
        let begun = begin(&before, options);
        // Masking needs something to mask as well.
        prop_assert!(begun.is_some() == happens || (masks || unseen) && happens, "whether a compaction happens");
        let Some(begun) = begun.filter(|_| !veto) else { return Ok(()) };
        let cut = begun.archived.len();
        let summary = match messages {
            _ if masks => Summary::Messages(begun.masked()),
            Some(count) => Summary::Messages((0..count).map(|n| Arc::new(Message::user(n.to_string()))).collect()),
            None => Summary::Text(begun.truncation_note()),
        };
        let head = if let Summary::Messages(messages) = &summary { messages.len() } else { 1 };
        let now_ms = self.clock.now_ms();
        let turn = pair.real.with(|state| state.turns);
        let at = LifecycleContext {
            session_id: pair.real.id(),
            task_id: None,
            agent_id: None,
            turn,
            now_ms,
            ids: pair.real.ids(),
        };
        let done = begun.finish(before, summary, &at).unwrap();
        pair.real.with(|state| state.transcript = done.transcript);
        pair.real.log_lifecycle(&self.scope, done.records);
        pair.model.compact(all, cut, head);
        Ok(())
    }

    fn hand_over(&mut self, from: usize, to: usize) {
        let (parent, child) = (self.pairs[from].real.clone(), self.pairs[to].real.clone());
        for reminder in propagation(&parent.transcript(), parent.id()) {
            child.admit_reminder(&self.scope, reminder, ReminderOrigin::Inherited);
        }
        let handed = self.pairs[from].model.handed();
        handed.into_iter().for_each(|known| self.pairs[to].model.admit(known));
    }

    fn revoke(&mut self, at: usize, nth: u8) -> Result<(), TestCaseError> {
        let pair = &mut self.pairs[at];
        if pair.accepted.is_empty() {
            return Ok(());
        }
        let nth = nth as usize % pair.accepted.len();
        let id = pair.accepted[nth].0.clone();
        let told = pair.real.queue().lock().unwrap().revoke(&id);
        let expected = match pair.model.fates[nth] {
            Fate::Waiting => Ok(Revocation::Now),
            Fate::Revoked => Ok(Revocation::Already),
            Fate::Replaced => Ok(Revocation::Replaced),
            Fate::Delivered => Err(QueueError::AlreadyDelivered(id)),
        };
        prop_assert_eq!(told, expected);
        if pair.model.fates[nth] == Fate::Waiting {
            pair.model.fates[nth] = Fate::Revoked;
            pair.model.queue.retain(|queued| queued.nth != nth);
        }
        Ok(())
    }

    fn import(&mut self, at: usize, one_key: bool) {
        let mut exported = self.pairs[at].real.transcript().to_data();
        let mut model = self.pairs[at].model.fork(None);
        if one_key {
            let with_key = |event: &Data| {
                let mut event = event.clone();
                if event.get("reminder").as_dict().is_some() {
                    let reminder = event.get("reminder").clone().with("dedupe_key", "0".into());
                    event.set("reminder", reminder);
                }
                event
            };
            let events: Data = exported.get("events").as_list().unwrap().iter().map(with_key).collect();
            exported.set("events", events);
            model.pending.iter_mut().for_each(|known| (known.key, known.twin) = (Some(0), true));
        }
        (model.turn, model.prompts, model.fired) = (0, 0, BTreeMap::new());
        model.pending.iter_mut().for_each(|known| (known.place, known.waits) = (0, None));
        let to = self.open(model);
        let real = &self.pairs[to].real;
        let imported = Transcript::import(&exported, real.ids(), self.clock.now_ms()).unwrap();
        let Imported { transcript, records, .. } = imported;
        real.with(|state| state.transcript = transcript.renamed(real.id().clone()));
        real.log_lifecycle(&self.scope, records);
    }

    /// Records the pending reminders.
    fn remember(&mut self) {
        let pending = self.pairs.iter().map(|pair| {
            let transcript = pair.real.transcript();
            let left = |p: &_| transcript.ttl_left(p);
            (pair.real.id().clone(), transcript.pending().map(|p| (p.reminder.id.clone(), left(p))).collect())
        });
        let after = self.history.last().map_or(0, |snapshot| snapshot.cursor);
        let new = self.log.read(&RecordFilter { after, ..RecordFilter::default() }, usize::MAX).unwrap();
        let cursor = new.last().map_or(after, |record| record.cursor);
        self.history.push(Snapshot { cursor, pending: pending.collect() });
    }

    /// Checks that all sessions, also those that no step has touched, agree with the model.
    pub(crate) fn all_agree(&self) -> Result<(), TestCaseError> {
        self.pairs.iter().filter(|pair| !pair.is_closed).try_for_each(Pair::agree)
    }

    pub(crate) fn old_versions_are_unchanged(&self) -> Result<(), TestCaseError> {
        for (version, looked) in &self.old {
            prop_assert_eq!(&fingerprint(version), looked, "an old version has changed");
        }
        Ok(())
    }
}

impl Pair {
    /// Checks that the model and the real session agree.
    fn agree(&self) -> Result<(), TestCaseError> {
        let transcript = self.real.transcript();
        let known: Vec<_> = self.model.pending.iter().map(|known| (known.number, known.left)).collect();
        let real: Vec<_> = transcript.pending().map(|p| (number_of(&p.reminder), transcript.ttl_left(p))).collect();
        prop_assert_eq!(real, known, "(number, turns left) in the session and in the model");
        prop_assert_eq!(transcript.pending_count(), self.model.pending.len());
        prop_assert_eq!(transcript.messages().len(), self.model.messages);
        prop_assert_eq!(transcript.events().count(), transcript.event_count());
        let results = |n: usize| transcript.messages().get(n).is_some_and(|message| message.role == Role::Tool);
        for (n, message) in transcript.messages().iter().enumerate() {
            prop_assert_eq!(!message.tool_calls.is_empty(), results(n + 1), "a call and its result are parted");
        }
        prop_assert!(!results(0), "a result without its call");
        for pending in transcript.pending() {
            let found = transcript.find(&pending.reminder.id);
            prop_assert!(
                found.is_some_and(|found| Arc::ptr_eq(&found.reminder, &pending.reminder)),
                "not found by its id"
            );
        }
        for (n, known) in self.model.pending.iter().enumerate().filter(|(_, known)| known.key.is_some()) {
            let twin = self.model.pending[..n].iter().find(|other| other.key == known.key);
            prop_assert!(twin.is_none_or(|twin| twin.twin), "a key stands twice");
        }
        let queued: Vec<_> = self.real.queue().lock().unwrap().pending().map(|item| item.id.clone()).collect();
        let expected: Vec<_> = self.model.queue.iter().map(|queued| self.accepted[queued.nth].0.clone()).collect();
        prop_assert_eq!(queued, expected, "the queue");
        prop_assert!(
            transcript.messages().iter().all(|message| !message.text().contains(MARK)),
            "a reminder is a message"
        );
        Ok(())
    }
}

impl Wish {
    /// Returns a reminder with only a body.
    pub(crate) fn plain() -> Wish {
        let ReminderSpec { propagate, role_hint, .. } = ReminderSpec::new("");
        let (same, length, rules) = (false, 0, ReminderRules::default());
        Wish { same, length, rules, key: None, tag: 0, ttl: None, preserve: false, propagate, hint: role_hint }
    }
}

fn spec(number: u32, wish: &Wish) -> ReminderSpec {
    ReminderSpec {
        body: body(number, wish).into(),
        tags: vec![format!("#{number}").into(), format!("t{}", wish.tag).into()],
        dedupe_key: wish.key.map(|key| key.to_string().into()),
        ttl_turns: wish.ttl,
        preserve_on_compact: wish.preserve,
        propagate: wish.propagate,
        role_hint: wish.hint,
        rules: wish.rules.clone().shared(),
    }
}

/// Returns the body of a requested reminder.
pub(crate) fn body(number: u32, wish: &Wish) -> String {
    let text = if wish.same { "again".to_owned() } else { number.to_string() };
    format!("{MARK} {text}{}", ".".repeat(if wish.same { 0 } else { wish.length.into() }))
}

/// Returns the spec from which a reminder was made.
fn spec_of(reminder: &Reminder) -> ReminderSpec {
    ReminderSpec {
        body: reminder.body.clone(),
        tags: reminder.tags.clone(),
        dedupe_key: reminder.dedupe_key.clone(),
        ttl_turns: reminder.ttl_turns,
        preserve_on_compact: reminder.preserve_on_compact,
        propagate: reminder.propagate,
        role_hint: reminder.role_hint,
        rules: reminder.rules.clone(),
    }
}

/// Returns the number of a reminder, stored in its first tag.
fn number_of(reminder: &Reminder) -> u32 {
    reminder.tags[0][1..].parse().unwrap()
}

/// Returns the bodies of the shown reminders that have an escalation.
fn bodies_of(shown: &[SelectedReminder]) -> Vec<(u32, String)> {
    let climbs =
        |selected: &&SelectedReminder| selected.reminder.rules.as_ref().is_some_and(|rules| !rules.escalate.is_empty());
    let body = |selected: &SelectedReminder| (number_of(&selected.reminder), selected.body.to_string());
    shown.iter().filter(climbs).map(body).collect()
}

fn pick<T>(items: impl Iterator<Item = T>, nth: u8) -> Option<T> {
    let mut items: Vec<T> = items.collect();
    if items.is_empty() { None } else { Some(items.swap_remove(nth as usize % items.len())) }
}

/// Returns all observable properties of a transcript's reminders.
fn fingerprint(transcript: &Transcript) -> String {
    let seen = transcript.pending().map(|p| format!("{}:{:?}", p.reminder.id, transcript.ttl_left(p)));
    format!("{} {} {}", transcript.messages().len(), transcript.event_count(), seen.collect::<Vec<_>>().join(" "))
}
