//! [`Fuel`]: what a run has used, in instructions.

use super::context::LARGE;
use super::fiber::SLICE;
use super::{Isolate, Raise, RunCode, Why};
use crate::value::meter::StepsLeft;
use std::cell::Cell;

/// Instructions that a run has used.
#[derive(Default)]
pub(super) struct Fuel {
    used: Cell<u64>,
    /// Cost of single calls and operators since the last check, beyond an instruction each.
    heavy: Cell<u64>,
    /// Steps of walks since the slice was last asked to end.
    walked: Cell<u64>,
    /// Steps of walks until their next look, while the run is not at work.
    steps_left: Cell<StepsLeft>,
}

impl Isolate {
    /// Fuel that is left; nothing where there is no limit.
    pub(super) fn fuel_left(&self) -> Option<u64> {
        self.limits().fuel.map(|limit| limit.saturating_sub(self.fuel.used.get()))
    }

    /// Resets the fuel that was used, because another part of the run begins.
    pub fn refuel(&self) {
        self.fuel.used.set(0);
        self.fuel.heavy.set(0);
    }

    /// Counts steps of a walk. Whether they make a slice, with those since the last one.
    pub(super) fn walked_a_slice(&self, steps: u64) -> bool {
        let walked = self.fuel.walked.get().saturating_add(steps);
        let is_slice = walked >= SLICE.unsigned_abs();
        self.fuel.walked.set(if is_slice { 0 } else { walked });
        is_slice
    }

    /// Steps that the walks of this run may take until their next look.
    pub(super) fn steps_left(&self) -> StepsLeft {
        self.fuel.steps_left.get()
    }

    /// Keeps the steps that are left, because the run is not at work for a while.
    pub(super) fn keep_steps_left(&self, left: StepsLeft) {
        self.fuel.steps_left.set(left);
    }

    /// Counts what one call or operator does beyond an instruction. What is small is free: a look at it would cost more.
    #[inline(always)]
    pub(super) fn charge(&self, instructions: usize) {
        if instructions >= LARGE {
            self.charge_large(instructions);
        }
    }

    /// Does what [`Isolate::charge`] does, for any kind of charge.
    #[cold]
    #[inline(never)]
    pub(super) fn charge_large(&self, instructions: usize) {
        let heavy = self.fuel.heavy.get().saturating_add(instructions as u64);
        self.fuel.heavy.set(heavy);
        if heavy >= SLICE.unsigned_abs() {
            self.account().look_soon();
        }
    }

    /// The error of a run without fuel.
    pub(super) fn out_of_fuel(&self) -> Box<Raise> {
        let limit = self.limits().fuel.unwrap_or_default();
        let mut raise = Raise::error(RunCode::Fuel, format!("fuel limit of {limit} instructions reached"));
        raise.why = Why::Exhausted;
        raise.help(self.limits().suggestions.fuel)
    }

    /// Adds used fuel, and what single calls have done since the last look; false when there is no more.
    pub(super) fn burn(&self, amount: u64) -> bool {
        let used = self.fuel.used.get().saturating_add(amount).saturating_add(self.fuel.heavy.take());
        self.fuel.used.set(used);
        self.limits().fuel.is_none_or(|limit| used <= limit)
    }
}
