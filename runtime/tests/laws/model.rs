//! The model: the pending reminders, by counting down. It identifies reminders by number, and has no slots, indexes or
//! prompt numbers.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use runtime::lifecycle::ConditionVerdict;
use runtime::reminder::bridge::{DeliveryMode, Seam};
use runtime::reminder::{Priority, Propagate, Refresh, ReminderRules};

use crate::step::{Choice, Wish};
use crate::world::body;

/// A reminder in the model.
#[derive(Debug, Clone)]
pub(crate) struct Known {
    pub(crate) number: u32,
    pub(crate) key: Option<u8>,
    pub(crate) tag: u8,
    /// Number of further prompts in which it appears.
    pub(crate) left: Option<u32>,
    /// Whether a prompt with an unfinished turn carries it.
    pub(crate) carried: bool,
    pub(crate) preserve: bool,
    pub(crate) propagate: Propagate,
    pub(crate) inherited: bool,
    pub(crate) blank: bool,
    /// Whether its key may be duplicated because it was imported.
    pub(crate) twin: bool,
    /// Turn in which it was made.
    pub(crate) turn: u32,
    /// Number of messages before it.
    pub(crate) place: usize,
    pub(crate) body: String,
    pub(crate) rules: ReminderRules,
    /// The reason why the last prompt left it out. It belongs to the reminder: one that replaces it under its key has
    /// none.
    pub(crate) waits: Option<&'static str>,
}

/// The name by which firings are counted: the key, or the number of a reminder without one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Name {
    Key(u8),
    Number(u32),
}

/// The firings of a name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fired {
    /// The prompts that carried it.
    prompts: Vec<u64>,
    /// The body shown last.
    body: Option<String>,
    deferrals: u32,
}

/// The selection of a prompt: the numbers of the shown reminders, and the reasons of those that begin to wait.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Chosen {
    pub(crate) shown: Vec<u32>,
    pub(crate) waits: Vec<(u32, &'static str)>,
    /// The bodies of the shown reminders that have an escalation.
    pub(crate) bodies: Vec<(u32, String)>,
}

/// A queued item.
#[derive(Debug, Clone)]
pub(crate) struct Queued {
    /// A reminder's number and properties; `None` for a message.
    pub(crate) reminder: Option<(u32, Wish)>,
    pub(crate) mode: DeliveryMode,
    /// Index among all accepted items of the session.
    pub(crate) nth: usize,
}

/// The outcome of an accepted item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Waiting,
    Delivered,
    Revoked,
    Replaced,
}

/// A session in the model.
#[derive(Debug, Clone, Default)]
pub(crate) struct Session {
    pub(crate) pending: Vec<Known>,
    pub(crate) messages: usize,
    pub(crate) turn: u32,
    /// Whether a prompt was built whose turn is not over.
    pub(crate) open: bool,
    pub(crate) queue: Vec<Queued>,
    pub(crate) fates: Vec<Fate>,
    /// The reminders of the last prompt, while its turn can be judged.
    pub(crate) last_shown: Vec<u32>,
    /// Number of prompts that a model saw.
    pub(crate) prompts: u64,
    pub(crate) fired: BTreeMap<Name, Fired>,
    /// The firings before the last prompt, of the names that it changed.
    pub(crate) before: BTreeMap<Name, Option<Fired>>,
    /// The reasons before the last prompt, of the reminders that it showed.
    waited: Vec<(u32, &'static str)>,
}

impl Session {
    /// Creates the requested reminder.
    pub(crate) fn make(&self, number: u32, wish: &Wish, inherited: bool) -> Known {
        Known {
            number,
            key: wish.key,
            tag: wish.tag,
            left: wish.ttl,
            carried: false,
            preserve: wish.preserve,
            propagate: wish.propagate,
            inherited,
            blank: false,
            twin: false,
            turn: self.turn,
            place: self.messages,
            body: body(number, wish),
            rules: wish.rules.clone(),
            waits: None,
        }
    }

    /// Keeps the newest reminder of a key; no reminder occurs twice.
    pub(crate) fn admit(&mut self, known: Known) {
        self.pending.retain(|old| old.number != known.number && (known.key.is_none() || old.key != known.key));
        self.forget_gone();
        let (carried, twin, place) = (false, false, self.messages);
        self.pending.push(known);
        if let Some(new) = self.pending.last_mut() {
            (new.carried, new.twin, new.place, new.waits) = (carried, twin, place, None);
        }
    }

    /// Ends the turn: subtracts one from the reminders that its prompt carried.
    pub(crate) fn pass(&mut self) {
        self.charge(|known| known.carried);
        self.pending.iter_mut().for_each(|known| known.carried = false);
        self.open = false;
        self.last_shown.clear();
        self.end_used_up();
    }

    pub(crate) fn charge(&mut self, meant: impl Fn(&Known) -> bool) {
        for known in self.pending.iter_mut().filter(|known| meant(known)) {
            known.left = known.left.map(|left| left - 1);
        }
        self.pending.retain(|known| known.left != Some(0));
    }

    /// Selects the reminders of a prompt, calls `meanwhile`, and sends the prompt.
    pub(crate) fn prompt(&mut self, slots: bool, choice: &Choice, meanwhile: impl FnOnce(&mut Session)) -> Chosen {
        self.turn += 1;
        if self.open {
            self.pass();
        }
        self.pending.retain(|known| !known.blank);
        let chosen = self.select(choice);
        meanwhile(self);
        let is_shown = |known: &Known| chosen.shown.contains(&known.number);
        self.prompts += 1;
        self.before.clear();
        self.waited.clear();
        if slots {
            for known in self.pending.clone().iter().filter(|known| is_shown(known)) {
                self.count(known);
            }
            for known in self.pending.iter_mut().filter(|known| is_shown(known)) {
                self.waited.extend(known.waits.take().map(|reason| (known.number, reason)));
            }
        }
        for known in self.pending.clone().iter().filter(|known| !is_shown(known)) {
            if known.waits == Some("budget") {
                let name = name(known);
                let before = self.fired.get(&name).cloned();
                self.fired.entry(name).or_default().deferrals += 1;
                self.before.entry(name).or_insert(before);
            }
        }
        self.pending.retain(|known| slots || !is_shown(known));
        self.pending.iter_mut().for_each(|known| known.carried = is_shown(known));
        self.open = true;
        self.last_shown = if slots { chosen.shown.clone() } else { Vec::new() };
        self.forget_gone();
        chosen
    }

    /// Counts a prompt for a name: once, even if it carries two reminders with one key.
    fn count(&mut self, known: &Known) {
        let (name, prompt) = (name(known), self.prompts);
        let before = self.fired.get(&name).cloned();
        let body = self.next_body(known);
        let fired = self.fired.entry(name).or_default();
        fired.deferrals = 0;
        if fired.prompts.last() != Some(&prompt) {
            fired.prompts.push(prompt);
            fired.body = Some(body);
        }
        self.before.entry(name).or_insert(before);
    }

    /// Ends what the rules and conditions end, and decides who is shown.
    pub(crate) fn select(&mut self, choice: &Choice) -> Chosen {
        let verdicts: Vec<(u32, ConditionVerdict)> = self.verdicts(choice).collect();
        self.end_used_up();
        let is_over = |number: u32| {
            verdicts.iter().any(|(of, verdict)| {
                *of == number && matches!(verdict, ConditionVerdict::Over | ConditionVerdict::Lost)
            })
        };
        self.pending.retain(|known| !is_over(known.number));
        self.forget_gone();
        let next = self.prompts + 1;
        let none = Fired::default();
        let (mut held, mut free) = (Vec::new(), Vec::new());
        for known in &self.pending {
            let fired = self.fired.get(&name(known)).unwrap_or(&none);
            let verdict = verdicts.iter().find(|(of, _)| *of == known.number).map(|(_, verdict)| *verdict);
            match reason(known, fired, verdict, next, &self.next_body(known)) {
                Some(reason) => held.push((known.number, reason)),
                None => free.push(known),
            }
        }
        let deferrals = |known: &Known| self.fired.get(&name(known)).map_or(0, |fired| fired.deferrals);
        let shown = within(&free, choice.budget, deferrals, |known| self.next_body(known));
        let climbs = |known: &&&Known| shown.contains(&known.number) && !known.rules.escalate.is_empty();
        let bodies = free.iter().filter(climbs).map(|known| (known.number, self.next_body(known))).collect();
        let over = free.iter().filter(|known| !shown.contains(&known.number));
        held.extend(over.map(|known| (known.number, "budget")));
        let mut waits = Vec::new();
        for (number, reason) in held {
            let known = self.pending.iter_mut().find(|known| known.number == number);
            if known.is_some_and(|known| known.waits.replace(reason) != Some(reason)) {
                waits.push((number, reason));
            }
        }
        Chosen { shown, waits, bodies }
    }

    /// Returns the body of the next prompt that shows a reminder: each firing of its name climbs one step.
    fn next_body(&self, known: &Known) -> String {
        let times = self.fired.get(&name(known)).map_or(0, |fired| fired.prompts.len());
        let last = known.rules.escalate.len();
        match times.min(last) {
            0 => known.body.clone(),
            step => known.rules.escalate[step - 1].to_string(),
        }
    }

    /// Returns the results of conditions by the numbers of the reminders.
    pub(crate) fn verdicts(&self, choice: &Choice) -> impl Iterator<Item = (u32, ConditionVerdict)> {
        let number = |nth: u8| self.pending.get(nth as usize % self.pending.len().max(1)).map(|known| known.number);
        choice.verdicts.iter().filter_map(move |(nth, verdict)| Some((number(*nth)?, *verdict)))
    }

    fn end_used_up(&mut self) {
        let times = |known: &Known| self.fired.get(&name(known)).map_or(0, |fired| fired.prompts.len());
        let is_used_up = |known: &Known| known.rules.max_times.is_some_and(|most| times(known) >= most as usize);
        let over: Vec<u32> = self.pending.iter().filter(|known| is_used_up(known)).map(|known| known.number).collect();
        self.pending.retain(|known| !over.contains(&known.number));
        self.forget_gone();
    }

    pub(crate) fn forget(&mut self, name: Name) {
        self.fired.remove(&name);
        self.before.remove(&name);
    }

    /// Forgets the reminders without a key that are not pending any more.
    pub(crate) fn forget_gone(&mut self) {
        let pending: Vec<Name> = self.pending.iter().map(name).collect();
        let is_known = |name: &Name| matches!(name, Name::Key(_)) || pending.contains(name);
        self.fired.retain(|name, _| is_known(name));
        self.before.retain(|name, _| is_known(name));
    }

    pub(crate) fn void(&mut self) {
        if self.open {
            self.prompts -= 1;
            for (name, before) in std::mem::take(&mut self.before) {
                match before {
                    Some(before) => self.fired.insert(name, before),
                    None => self.fired.remove(&name),
                };
            }
            for (number, reason) in std::mem::take(&mut self.waited) {
                if let Some(known) = self.pending.iter_mut().find(|known| known.number == number) {
                    known.waits = Some(reason);
                }
            }
        }
        self.open = false;
        self.last_shown.clear();
        self.pending.iter_mut().for_each(|known| known.carried = false);
    }

    /// Removes older duplicates of a key and all reminders that are not preserved.
    pub(crate) fn compact(&mut self, all: bool, cut: usize, head: usize) {
        if all {
            self.charge(|_| true);
        } else {
            self.pass();
        }
        self.fired.values_mut().for_each(|fired| fired.body = None);
        self.before.values_mut().flatten().for_each(|fired| fired.body = None);
        let keys: Vec<_> = self.pending.iter().map(|known| known.key).collect();
        let mut nth = 0;
        self.pending.retain(|known| {
            nth += 1;
            known.preserve && (known.key.is_none() || !keys[nth..].contains(&known.key))
        });
        for known in &mut self.pending {
            (known.place, known.twin) = (known.place.saturating_sub(cut) + head, false);
        }
        self.messages = self.messages - cut + head;
        self.forget_gone();
    }

    pub(crate) fn trim(&mut self, keep: usize) {
        let cut = self.messages.saturating_sub(keep);
        if cut > 0 {
            self.pending.retain(|known| known.place > cut);
            self.pending.iter_mut().for_each(|known| known.place -= cut);
            self.messages = keep;
            self.forget_gone();
        }
    }

    /// Returns the initial state of a copy: it has neither the queue nor the unfinished turn.
    pub(crate) fn fork(&self, keep: Option<usize>) -> Session {
        let keep = keep.unwrap_or(self.messages).min(self.messages);
        let mut copy = Session { queue: Vec::new(), fates: Vec::new(), messages: keep, ..self.clone() };
        copy.pending.retain(|known| keep == self.messages || known.place <= keep);
        copy.void();
        copy.forget_gone();
        copy
    }

    /// Returns the reminders that a child inherits.
    pub(crate) fn handed(&self) -> Vec<Known> {
        let goes = |known: &&Known| {
            known.propagate == Propagate::All || known.propagate == Propagate::Session && !known.inherited
        };
        self.pending.iter().filter(goes).map(|known| Known { inherited: true, ..known.clone() }).collect()
    }

    /// Returns the number of pending and queued reminders with a key.
    pub(crate) fn with_key(&self, key: Option<u8>) -> usize {
        let pending = self.pending.iter().map(|known| known.key);
        let queued = self.queue.iter().map(|queued| queued.reminder.as_ref().and_then(|(_, wish)| wish.key));
        pending.chain(queued).filter(|known| key.is_some() && *known == key).count()
    }

    pub(crate) fn push(&mut self, reminder: Option<(u32, Wish)>, mode: DeliveryMode) {
        let key = |queued: &Queued| queued.reminder.as_ref().and_then(|(_, wish)| wish.key);
        let queued = Queued { reminder, mode, nth: self.fates.len() };
        if let Some(new) = key(&queued) {
            let (gone, rest): (Vec<_>, Vec<_>) = self.queue.drain(..).partition(|old| key(old) == Some(new));
            gone.iter().for_each(|old| self.fates[old.nth] = Fate::Replaced);
            self.queue = rest;
        }
        self.queue.push(queued);
        self.fates.push(Fate::Waiting);
    }

    /// Passes a seam, by the guide's table of modes.
    pub(crate) fn drain(&mut self, seam: Seam) {
        let seam = seam.as_str();
        let daemon = ["daemon_idle_pre", "daemon_idle_post"].contains(&seam);
        let boundary = ["iteration_start", "post_tool_dispatch", "iteration_end"].contains(&seam);
        let due = |mode: DeliveryMode| match mode {
            DeliveryMode::InterruptImmediate => boundary || daemon || seam == "pre_tool_dispatch",
            DeliveryMode::FinishStep => boundary,
            DeliveryMode::AuditOnly => seam == "loop_exit",
        };
        let (gone, rest): (Vec<_>, Vec<_>) = self.queue.drain(..).partition(|queued| due(queued.mode));
        self.queue = rest;
        for queued in gone {
            self.fates[queued.nth] = Fate::Delivered;
            match queued.reminder {
                _ if queued.mode == DeliveryMode::AuditOnly => {}
                Some((number, wish)) => self.admit(self.make(number, &wish, false)),
                None => self.messages += 1,
            }
        }
    }
}

fn name(known: &Known) -> Name {
    known.key.map_or(Name::Number(known.number), Name::Key)
}

/// Returns why a prompt does not show a reminder, by listing the prompts that carried it.
fn reason(
    known: &Known,
    fired: &Fired,
    verdict: Option<ConditionVerdict>,
    next: u64,
    body: &str,
) -> Option<&'static str> {
    let rules = &known.rules;
    if *rules == ReminderRules::default() {
        return None;
    }
    match verdict {
        Some(ConditionVerdict::Hidden) => return Some("when"),
        None if known.waits == Some("when") => return Some("when"),
        _ => {}
    }
    let (first, last) = (*fired.prompts.first()?, *fired.prompts.last()?);
    if rules.cooldown_turns.is_some_and(|turns| (last + 1..=last + u64::from(turns)).contains(&next)) {
        return Some("cooldown");
    }
    // Is there a beat after the last prompt that carried it, up to the next one?
    let beats = |every: u32| (last + 1..=next).any(|prompt| (prompt - first) % u64::from(every) == 0);
    if rules.every.is_some_and(|every| !beats(every)) {
        return Some("every");
    }
    (rules.refresh == Refresh::OnChange && fired.body.as_deref() == Some(body)).then_some("unchanged")
}

/// Returns the numbers of the reminders that a budget has room for, oldest first.
fn within(
    free: &[&Known],
    budget: Option<u64>,
    deferrals: impl Fn(&Known) -> u32,
    body: impl Fn(&Known) -> String,
) -> Vec<u32> {
    let Some(mut left) = budget else { return free.iter().map(|known| known.number).collect() };
    let tokens = |known: &Known| body(known).len().div_ceil(4) as u64 + 4;
    let mut shown = Vec::new();
    let (critical, mut others): (Vec<&Known>, Vec<&Known>) =
        free.iter().partition(|known| known.rules.priority == Priority::Critical);
    for known in critical {
        left = left.saturating_sub(tokens(known));
        shown.push(known.number);
    }
    let step = |known: &Known| match known.rules.priority {
        Priority::Low => 0,
        Priority::Normal => 1,
        _ => 2,
    };
    let rank = |known: &Known| step(known) + deferrals(known) / 3;
    // A stable sort: of equals the older is first.
    others.sort_by_key(|known| Reverse((rank(known), deferrals(known))));
    for (nth, known) in others.into_iter().enumerate() {
        if tokens(known) <= left || nth == 0 && rank(known) > 2 {
            left = left.saturating_sub(tokens(known));
            shown.push(known.number);
        }
    }
    free.iter().map(|known| known.number).filter(|number| shown.contains(number)).collect()
}
