//! The budget of a loop.

use std::rc::Rc;

use base::data::Data;

use crate::budget::{Budget, BudgetError, BudgetLimits, BudgetOwner};
use crate::loop_status::{LoopStatus, StopReason};

use super::{LoopEnd, LoopState, RunningLoop};

/// Returns the budget that the requests of a loop count in: one of its own within that around it, or that around it. A
/// loop that goes on has spent what it had spent before.
pub(super) fn budget_of(
    limits: Option<BudgetLimits>,
    around: Option<&Rc<Budget>>,
    left: Option<&LoopState>,
) -> Option<Rc<Budget>> {
    let Some(limits) = limits else { return around.cloned() };
    let spent = left.and_then(|left| left.spent.clone()).unwrap_or_default();
    Some(Budget::new(BudgetOwner::Loop, limits, around.cloned(), spent))
}

impl RunningLoop<'_> {
    /// Returns the loop's own budget.
    pub(super) fn own_budget(&self) -> Option<&Rc<Budget>> {
        self.options.limits.budget.and(self.scope.budget.as_ref())
    }

    /// Puts what was spent of the loop's own budget into its state, with which it can go on.
    pub(super) fn keep_spending(&self, state: &mut LoopState) {
        if let Some(budget) = self.own_budget() {
            state.spent = Some(budget.ledger());
        }
    }

    /// Returns how a loop ends whose budget is used up.
    pub(super) fn over_budget(&self) -> Option<LoopEnd> {
        self.scope.budget.as_ref()?.used_up().as_ref().map(Self::ended_by_budget)
    }

    /// Returns how a loop ends whose next request its budget does not cover.
    pub(super) fn ended_by_budget(error: &BudgetError) -> LoopEnd {
        LoopEnd { error: error.to_data(), ..LoopEnd::new(LoopStatus::BudgetExhausted, StopReason::Budget) }
    }

    /// Returns the loop's own budget as scripts see it; nil without one.
    pub(super) fn budget_data(&self) -> Data {
        self.own_budget().map_or(Data::Nil, |budget| budget.to_data())
    }
}
