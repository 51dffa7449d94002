//! The model: the pending reminders, by counting down. It identifies reminders by number, and has no slots, indexes or
//! prompt numbers.

use runtime::reminder::Propagate;
use runtime::reminder::bridge::{DeliveryMode, Seam};

use crate::step::Wish;

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
        }
    }

    /// Keeps the newest reminder of a key; no reminder occurs twice.
    pub(crate) fn admit(&mut self, known: Known) {
        self.pending.retain(|old| old.number != known.number && (known.key.is_none() || old.key != known.key));
        let (carried, twin, place) = (false, false, self.messages);
        self.pending.push(known);
        if let Some(new) = self.pending.last_mut() {
            (new.carried, new.twin, new.place) = (carried, twin, place);
        }
    }

    /// Ends the turn: subtracts one from the reminders that its prompt carried.
    pub(crate) fn pass(&mut self) {
        self.charge(|known| known.carried);
        self.pending.iter_mut().for_each(|known| known.carried = false);
        self.open = false;
    }

    pub(crate) fn charge(&mut self, meant: impl Fn(&Known) -> bool) {
        for known in self.pending.iter_mut().filter(|known| meant(known)) {
            known.left = known.left.map(|left| left - 1);
        }
        self.pending.retain(|known| known.left != Some(0));
    }

    /// Renders a prompt, calls `meanwhile`, and sends the prompt.
    pub(crate) fn prompt(&mut self, slots: bool, meanwhile: impl FnOnce(&mut Session)) {
        self.turn += 1;
        if self.open {
            self.pass();
        }
        self.pending.retain(|known| !known.blank);
        let shown: Vec<u32> = self.pending.iter().map(|known| known.number).collect();
        meanwhile(self);
        let is_shown = |known: &Known| shown.contains(&known.number);
        self.pending.retain(|known| slots || !is_shown(known));
        self.pending.iter_mut().for_each(|known| known.carried = is_shown(known));
        self.open = true;
    }

    pub(crate) fn void(&mut self) {
        self.open = false;
        self.pending.iter_mut().for_each(|known| known.carried = false);
    }

    /// Removes older duplicates of a key and all reminders that are not preserved.
    pub(crate) fn compact(&mut self, all: bool, cut: usize, head: usize) {
        if all {
            self.charge(|_| true);
        } else {
            self.pass();
        }
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
    }

    pub(crate) fn trim(&mut self, keep: usize) {
        let cut = self.messages.saturating_sub(keep);
        if cut > 0 {
            self.pending.retain(|known| known.place > cut);
            self.pending.iter_mut().for_each(|known| known.place -= cut);
            self.messages = keep;
        }
    }

    /// Returns the initial state of a copy: it has neither the queue nor the unfinished turn.
    pub(crate) fn fork(&self, keep: Option<usize>) -> Session {
        let keep = keep.unwrap_or(self.messages).min(self.messages);
        let mut copy = Session { queue: Vec::new(), fates: Vec::new(), messages: keep, ..self.clone() };
        copy.pending.retain(|known| keep == self.messages || known.place <= keep);
        copy.void();
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
