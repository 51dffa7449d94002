//! The laws that can be checked from the log alone.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use base::data::Data;
use eventlog::{MemoryLog, Record};
use proptest::prelude::*;
use runtime::lifecycle::rebuild::{Biography, rebuild, rebuild_until};

use crate::model::Fate;
use crate::world::World;

/// Returns the word of a record about a reminder; `None` for reminders that are still queued.
fn word(record: &Record) -> &str {
    if record.kind.starts_with("session.injection.") { "" } else { record.kind.rsplit('.').next().unwrap() }
}

fn text(record: &Record, field: &str) -> Arc<str> {
    record.payload.get(field).as_shared_str().unwrap_or_default()
}

/// Checks `injected + inherited + forked = pending + deduped + expired + dropped + discarded` for each session.
pub(crate) fn conservation(world: &World) -> Result<(), TestCaseError> {
    let balance = balances(&world.log);
    for pair in &world.pairs {
        let left = balance.get(pair.real.id()).copied().unwrap_or(0);
        prop_assert_eq!(left, pair.real.transcript().pending_count() as i64, "in {}", pair.real.id());
    }
    Ok(())
}

/// Returns the number of pending reminders of each session, according to the log alone.
pub(crate) fn balances(log: &MemoryLog) -> BTreeMap<Arc<str>, i64> {
    let mut balance: BTreeMap<Arc<str>, i64> = BTreeMap::new();
    for record in log.records() {
        *balance.entry(text(&record, "session_id")).or_default() += match word(&record) {
            "injected" | "inherited" | "forked" => 1,
            "expired" | "dropped" | "discarded" => -1,
            "deduped" => -(record.payload.get("replaced_ids").as_list().unwrap().len() as i64),
            _ => 0,
        };
    }
    balance
}

/// Checks that the log rebuilds the pending reminders with their TTL at a moment of the run.
pub(crate) fn rebuilt(world: &World, moment: usize) -> Result<(), TestCaseError> {
    let snapshot = &world.history[moment];
    let records = world.log.records();
    let rebuilt = rebuild_until(records.iter().map(AsRef::as_ref), snapshot.cursor);
    prop_assert_eq!(&rebuilt.notes, &Vec::new());
    for (session, pending) in &snapshot.pending {
        let life = rebuilt.session(session);
        let found: Vec<_> =
            life.iter().flat_map(|life| life.pending()).map(|b| (b.reminder.id.clone(), b.ttl_left)).collect();
        prop_assert_eq!(&found, pending, "pending in {} by the log, at {}", session, snapshot.cursor);
    }
    Ok(())
}

/// Checks that the log rebuilds each reminder to the last field.
pub(crate) fn rebuilt_whole(world: &World) -> Result<(), TestCaseError> {
    let records = world.log.records();
    let rebuilt = rebuild(records.iter().map(AsRef::as_ref));
    for pair in &world.pairs {
        let transcript = pair.real.transcript();
        let real: Vec<_> = transcript.pending().map(|p| transcript.present(p).as_ref().clone()).collect();
        let life = rebuilt.session(pair.real.id());
        let told: Vec<_> = life.iter().flat_map(|life| life.pending()).map(Biography::present).collect();
        prop_assert_eq!(told, real, "pending in {} by the log", pair.real.id());
        prop_assert!(life.is_none_or(|life| life.tally().holds()));
    }
    Ok(())
}

/// A reminder's life according to the log.
#[derive(Debug)]
struct Life {
    ttl: Option<i64>,
    turn: i64,
    /// Number of charged prompts that carried it (`charged`), of prompts that carried it since (`open`), and of charges
    /// by other passes (`taken`).
    charged: i64,
    open: i64,
    taken: i64,
}

/// A session according to the log.
#[derive(Default)]
struct Told {
    lives: HashMap<Arc<str>, Life>,
    /// The turn of the last charging prompt and the reminders it carried.
    prompt: (i64, Vec<Arc<str>>),
    /// Reminders that expired by TTL and wait for the record of the pass that ended them.
    over: Vec<(Arc<str>, Life)>,
}

/// Checks that each reminder was seen in as many prompts as promised: never more, and never fewer if only its TTL ended
/// it.
pub(crate) fn promises(world: &World) -> Result<(), TestCaseError> {
    let mut sessions: BTreeMap<Arc<str>, Told> = BTreeMap::new();
    for record in world.log.records() {
        let told = sessions.entry(text(&record, "session_id")).or_default();
        told.take(&record)?;
        for (id, life) in &told.lives {
            let most = life.ttl.unwrap_or(i64::MAX);
            prop_assert!(life.charged + life.open <= most, "{} was seen too often: {:?}", id, life);
        }
    }
    prop_assert!(sessions.values().all(|told| told.over.is_empty()), "an end without its pass");
    Ok(())
}

impl Told {
    fn take(&mut self, record: &Record) -> Result<(), TestCaseError> {
        let id = text(record, "reminder_id");
        match word(record) {
            "injected" | "inherited" | "forked" => {
                let (ttl, turn) =
                    (record.payload.get("ttl_turns").as_int(), record.payload.get("fired_at_turn").as_int());
                self.lives.insert(id, Life { ttl, turn: turn.unwrap_or(0), charged: 0, open: 0, taken: 0 });
            }
            "fired" if record.payload.get("charges") == &Data::from(true) => {
                let turn = record.payload.get("turn_number").as_int().unwrap_or(0);
                if self.prompt.0 != turn {
                    self.prompt = (turn, Vec::new());
                }
                // A handler may have ended it after it was rendered; it is shown all the same.
                if let Some(life) = self.lives.get_mut(&id) {
                    life.open += 1;
                    self.prompt.1.push(id);
                }
            }
            "void" => {
                for id in std::mem::take(&mut self.prompt.1) {
                    if let Some(life) = self.lives.get_mut(&id).filter(|life| life.open > 0) {
                        life.open -= 1;
                    }
                }
            }
            "refreshed" => {
                let ttl = record.payload.get("ttl_turns").as_int();
                if let Some(life) = self.lives.get_mut(&id).filter(|_| ttl.is_some()) {
                    *life = Life { ttl, charged: 0, open: 0, taken: 0, ..*life };
                }
            }
            "deduped" => {
                for gone in record.payload.get("replaced_ids").as_list().unwrap() {
                    self.lives.remove(gone.as_str().unwrap());
                }
            }
            "expired" if text(record, "reason").as_ref() == "ttl" => {
                let life = self.lives.remove(&id);
                self.over.extend(life.map(|life| (id, life)));
            }
            "expired" | "dropped" | "discarded" => drop(self.lives.remove(&id)),
            "passed" => self.pass(record)?,
            _ => {}
        }
        Ok(())
    }

    fn pass(&mut self, record: &Record) -> Result<(), TestCaseError> {
        let all = text(record, "charges").as_ref() == "all";
        let upto = record.payload.get("upto_turn").as_int().unwrap_or(i64::MAX);
        for (id, life) in self.over.drain(..) {
            let spent = life.charged + life.taken + if all { 1 } else { life.open };
            prop_assert_eq!(Some(spent), life.ttl, "{} ended by {}: {:?}", id, record.payload.to_json(), life);
        }
        for life in self.lives.values_mut() {
            if all {
                life.taken += i64::from(life.turn <= upto);
            } else {
                life.charged += std::mem::take(&mut life.open);
            }
        }
        Ok(())
    }
}

/// Checks that the log has each judgement once, in order, and only about reminders that the prompt of its turn carried.
/// Judgements change nothing: the other laws hold with and without them.
pub(crate) fn judgements(world: &World) -> Result<(), TestCaseError> {
    let records = world.log.records();
    let rebuilt = rebuild(records.iter().map(AsRef::as_ref));
    for pair in &world.pairs {
        let lives: Vec<&Biography> =
            rebuilt.session(pair.real.id()).iter().flat_map(|life| life.reminders.iter()).collect();
        let mut told: Vec<_> = lives
            .iter()
            .flat_map(|life| life.judged.iter().map(|it| (it.cursor, life.reminder.id.clone(), it.turn, it.heeded)))
            .collect();
        told.sort_unstable_by_key(|(cursor, ..)| *cursor);
        for (_, id, turn, _) in &told {
            let mut carriers = lives.iter().filter(|life| life.reminder.id == *id).flat_map(|life| &life.carried);
            prop_assert!(carriers.any(|carrier| carrier.turn == *turn), "{} was judged in turn {}", id, turn);
        }
        let told: Vec<_> = told.into_iter().map(|(_, id, turn, heeded)| (id, turn, heeded)).collect();
        prop_assert_eq!(&told, &pair.judged, "judged in {}", pair.real.id());
    }
    Ok(())
}

/// Checks that each accepted item is queued, was revoked, or is on the log.
pub(crate) fn queues(world: &World) -> Result<(), TestCaseError> {
    let records = world.log.records();
    for pair in &world.pairs {
        for ((id, is_message), fate) in pair.accepted.iter().zip(&pair.model.fates) {
            let entered = records.iter().filter(|record| {
                text(record, "reminder_id") == *id
                    && text(record, "session_id") == *pair.real.id()
                    && ["injected", "audited"].contains(&word(record))
            });
            let expected = usize::from(*fate == Fate::Delivered && !is_message);
            prop_assert!(entered.clone().count() >= expected, "{} was accepted and is lost", id);
            prop_assert!(*fate == Fate::Delivered || entered.count() == 0, "{} was delivered and is not", id);
        }
    }
    Ok(())
}
