//! [`Pace`]: how far a run gets between two turns of its driver.
//!
//! A slice bounds what one fiber does at a stretch. It does not bound a loop of the runtime whose callbacks answer at once, nor a script
//! that waits for futures that are always ready: each callback is a new fiber with a new slice, and nothing is ever pending. So every
//! ready wait, every call that the runtime makes and every iteration of its loops counts as a step: it costs fuel, looks at the limits,
//! and after enough steps the driver gets its turn.

use super::{Isolate, Raise};
use std::cell::Cell;

/// A step of the runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuntimeStep {
    /// A call of a script's function.
    Call,
    /// A wait of a fiber that is over.
    Wait,
    /// An iteration of a loop: some calls, and what the runtime does around them.
    Iteration,
}

impl RuntimeStep {
    /// Cost in instructions.
    fn fuel(self) -> u64 {
        match self {
            Self::Call | Self::Wait => 50,
            Self::Iteration => 500,
        }
    }

    /// Returns the part of a turn that it takes.
    fn weight(self) -> u32 {
        match self {
            Self::Call | Self::Wait => 1,
            Self::Iteration => TURN,
        }
    }
}

/// Weight of the steps of one turn: with ordinary steps below a millisecond. Steps are counted and not timed, because a turn changes the
/// order of the tasks of a run, which must be the same each time.
const TURN: u32 = 256;

/// Steps since the driver had its last turn.
#[derive(Default)]
pub(super) struct Pace {
    done: Cell<u32>,
}

impl Isolate {
    /// Counts a step, and looks at fuel, memory and time. Whether the driver must have its turn before the next one.
    ///
    /// # Errors
    /// A limit that is reached.
    pub fn step_of(&self, step: RuntimeStep) -> Result<bool, Box<Raise>> {
        if !self.burn(step.fuel()) {
            return Err(self.out_of_fuel());
        }
        self.check_memory(0)?;
        let mut is_due = self.check_time(step != RuntimeStep::Wait)?;
        let done = self.pace().done.get().saturating_add(step.weight());
        is_due |= done >= TURN;
        // A call cannot let the driver go first; whatever comes next does.
        let turns = is_due && step != RuntimeStep::Call;
        self.pace().done.set(if turns { 0 } else { done.max(u32::from(is_due) * TURN) });
        Ok(turns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::declaration::Registry;
    use crate::vm::{Limits, NoHost};
    use std::rc::Rc;

    fn isolate(limits: Limits) -> Rc<Isolate> {
        Isolate::new(Registry::new(&[]), Rc::new(NoHost), limits, Vec::new())
    }

    #[test]
    fn the_driver_gets_its_turn_after_enough_steps() {
        let isolate = isolate(Limits::default());
        let turns = (0..TURN * 3).filter(|_| isolate.step_of(RuntimeStep::Wait).unwrap()).count();
        assert_eq!(turns, 3);
    }

    #[test]
    fn a_call_leaves_the_turn_to_the_next_wait() {
        let isolate = isolate(Limits::default());
        assert!((0..TURN * 3).all(|_| !isolate.step_of(RuntimeStep::Call).unwrap()));
        assert!(isolate.step_of(RuntimeStep::Wait).unwrap());
        assert!(!isolate.step_of(RuntimeStep::Wait).unwrap());
    }

    #[test]
    fn steps_use_fuel() {
        let isolate = isolate(Limits { fuel: Some(1_000), ..Limits::default() });
        let steps = (0..1_000).take_while(|_| isolate.step_of(RuntimeStep::Call).is_ok()).count();
        assert_eq!(steps, 20);
    }
}
