//! Pike's simulation of a pattern: all its threads go through the text side by side, and each step is counted.

use super::ONLY;
use crate::vm::{Meter, Stopped};
use regex_automata::nfa::thompson::{NFA, State};
use regex_automata::util::captures::Captures;
use regex_automata::util::primitives::{NonMaxUsize, StateID};
use regex_automata::{Anchored, Input};
use std::mem;

/// Threads that count as a step.
const THREADS: usize = 16;

/// The threads at a place of the text, the preferred ones first.
struct Threads {
    /// The states that were reached, in order.
    order: Vec<StateID>,
    /// The position of a state in `order`, if it is there.
    at: Vec<u32>,
    /// The ends of the groups, for each state.
    slots: Vec<Option<usize>>,
}

/// Something left to do while states that read nothing are followed.
enum PendingStep {
    Follow(StateID),
    /// Restores a slot before the next alternative is followed.
    Restore(usize, Option<usize>),
}

impl Threads {
    fn new(states: usize, slots: usize) -> Self {
        Self { order: Vec::with_capacity(states), at: vec![0; states], slots: vec![None; states * slots] }
    }

    /// Adds a state unless it is there.
    fn add(&mut self, state: StateID) -> bool {
        let at = self.at[state.as_usize()] as usize;
        if self.order.get(at) == Some(&state) {
            return false;
        }
        // Patterns have far fewer states than that.
        self.at[state.as_usize()] = u32::try_from(self.order.len()).unwrap_or(u32::MAX);
        self.order.push(state);
        true
    }
}

/// Searches for the leftmost match, the preferred one of those that begin there.
pub(super) fn search(nfa: &NFA, input: &Input<'_>, captures: &mut Captures, meter: &mut Meter) -> Result<(), Stopped> {
    let (states, wanted) = (nfa.states().len(), captures.slots().len().max(2));
    let text = input.haystack();
    meter.room(states.saturating_mul(2 * (8 + 16 * wanted)))?;
    let (mut here, mut next) = (Threads::new(states, wanted), Threads::new(states, wanted));
    let (mut stack, mut slots) = (Vec::new(), vec![None; wanted]);
    let mut found: Option<Vec<Option<usize>>> = None;
    captures.set_pattern(None);
    for at in input.start()..=input.end() {
        let begins = match input.get_anchored() {
            Anchored::No => found.is_none() && is_boundary(text, at),
            _ => at == input.start(),
        };
        if begins {
            slots.fill(None);
            follow(nfa, nfa.start_anchored(), text, at, &mut here, &mut slots, &mut stack);
        } else if here.order.is_empty() && (found.is_some() || input.get_anchored().is_anchored()) {
            break;
        }
        meter.steps(1 + here.order.len() / THREADS)?;
        for i in 0..here.order.len() {
            let id = here.order[i];
            let kept = id.as_usize() * wanted;
            let to = match nfa.state(id) {
                State::Match { .. } => {
                    found = Some(here.slots[kept..kept + wanted].to_vec());
                    // Later threads have lower priority.
                    break;
                }
                _ if at == input.end() => None,
                State::ByteRange { trans } => trans.matches(text, at).then_some(trans.next),
                State::Sparse(sparse) => sparse.matches(text, at),
                State::Dense(dense) => dense.matches(text, at),
                _ => None,
            };
            if let Some(to) = to {
                slots.copy_from_slice(&here.slots[kept..kept + wanted]);
                follow(nfa, to, text, at + 1, &mut next, &mut slots, &mut stack);
            }
        }
        mem::swap(&mut here, &mut next);
        next.order.clear();
    }
    if let Some(found) = found {
        fill(captures, &found);
    }
    Ok(())
}

/// Adds a state and all states that are reachable from it without reading.
fn follow(
    nfa: &NFA,
    from: StateID,
    text: &[u8],
    at: usize,
    threads: &mut Threads,
    slots: &mut [Option<usize>],
    stack: &mut Vec<PendingStep>,
) {
    stack.push(PendingStep::Follow(from));
    while let Some(left) = stack.pop() {
        let mut state = match left {
            PendingStep::Follow(state) => state,
            PendingStep::Restore(slot, was) => {
                slots[slot] = was;
                continue;
            }
        };
        while threads.add(state) {
            match nfa.state(state) {
                State::Union { alternates } => {
                    let Some((first, others)) = alternates.split_first() else { break };
                    stack.extend(others.iter().rev().map(|other| PendingStep::Follow(*other)));
                    state = *first;
                }
                State::BinaryUnion { alt1, alt2 } => {
                    stack.push(PendingStep::Follow(*alt2));
                    state = *alt1;
                }
                State::Look { look, next } => {
                    if !nfa.look_matcher().matches(*look, text, at) {
                        break;
                    }
                    state = *next;
                }
                State::Capture { next, slot, .. } => {
                    if let Some(place) = slots.get_mut(slot.as_usize()) {
                        stack.push(PendingStep::Restore(slot.as_usize(), *place));
                        *place = Some(at);
                    }
                    state = *next;
                }
                State::ByteRange { .. } | State::Sparse(_) | State::Dense(_) | State::Match { .. } | State::Fail => {
                    let kept = state.as_usize() * slots.len();
                    threads.slots[kept..kept + slots.len()].copy_from_slice(slots);
                    break;
                }
            }
        }
    }
}

/// Whether a character begins here: no match begins within one.
fn is_boundary(text: &[u8], at: usize) -> bool {
    text.get(at).is_none_or(|byte| byte & 0xC0 != 0x80)
}

/// Makes the slots those of a match.
pub(super) fn fill(captures: &mut Captures, slots: &[Option<usize>]) {
    captures.set_pattern(Some(ONLY));
    for (slot, end) in captures.slots_mut().iter_mut().zip(slots) {
        *slot = end.and_then(NonMaxUsize::new);
    }
}
