//! Budgets: limits of what the requests of a run, a loop or a call may use together, those of sub-agents, compactions and
//! judges included.
//!
//! A request reserves the most that it can use before it is sent ([`Charge::new`]); its answer turns the reservation into what
//! it used ([`Charge::settle`]). A budget lives on the thread of its run and is never held while something waits, so
//! requests that run side by side cannot spend the same rest. Amounts are integers: nano-dollars (10⁻⁹ US dollars), tokens,
//! requests.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use base::data::Data;

mod charge;
mod codes;
mod error;
mod ledger;
#[cfg(test)]
mod tests;

pub use charge::{Charge, Quote};
pub use codes::BudgetCode;
pub use error::{BudgetError, Exhausted, usd};
pub use ledger::{Amount, Ledger, Purpose, Spending};

/// The limits of a budget; `None` means unlimited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BudgetLimits {
    /// The cost of all requests, in nano-dollars.
    pub nano_usd: Option<u64>,
    /// Tokens of all requests and answers.
    pub tokens: Option<u64>,
    /// The number of requests, retries included.
    pub turns: Option<u64>,
}

/// The unit of a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BudgetUnit {
    /// US dollars; amounts are nano-dollars.
    Usd,
    /// Tokens.
    Tokens,
    /// Requests.
    Turns,
}

impl BudgetUnit {
    /// All units.
    pub const ALL: [BudgetUnit; 3] = [BudgetUnit::Usd, BudgetUnit::Tokens, BudgetUnit::Turns];

    /// Returns the key that sets a limit of this unit.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            BudgetUnit::Usd => "usd",
            BudgetUnit::Tokens => "tokens",
            BudgetUnit::Turns => "turns",
        }
    }

    /// Returns an amount with its unit.
    #[must_use]
    pub fn show(self, amount: u64) -> String {
        match (self, amount) {
            (BudgetUnit::Usd, nano) => format!("{} USD", usd(nano)),
            (BudgetUnit::Tokens, 1) => "1 token".to_owned(),
            (BudgetUnit::Tokens, tokens) => format!("{tokens} tokens"),
            (BudgetUnit::Turns, 1) => "1 turn".to_owned(),
            (BudgetUnit::Turns, turns) => format!("{turns} turns"),
        }
    }
}

impl BudgetLimits {
    /// Returns the limit of a unit.
    #[must_use]
    pub fn of(&self, unit: BudgetUnit) -> Option<u64> {
        match unit {
            BudgetUnit::Usd => self.nano_usd,
            BudgetUnit::Tokens => self.tokens,
            BudgetUnit::Turns => self.turns,
        }
    }
}

/// The work that a budget limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BudgetOwner {
    /// A whole run.
    Run,
    /// A loop with all that works for it.
    Loop,
    /// One call.
    Call,
    /// The requests that a script sends in place of the model. It has no limits.
    Caller,
}

impl fmt::Display for BudgetOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BudgetOwner::Run => "`--budget`",
            BudgetOwner::Loop => "`budget` of the loop",
            BudgetOwner::Call => "`budget` of the call",
            BudgetOwner::Caller => "`llm_caller`",
        })
    }
}

/// A budget. What its requests use also counts in the budget around it.
#[derive(Debug)]
pub struct Budget {
    owner: BudgetOwner,
    limits: BudgetLimits,
    around: Option<Rc<Budget>>,
    state: RefCell<BudgetState>,
}

#[derive(Debug, Default)]
struct BudgetState {
    ledger: Ledger,
    /// The most that running requests can use.
    reserved: Amount,
}

impl Budget {
    /// Creates a budget, of which `spent` is used already.
    #[must_use]
    pub fn new(owner: BudgetOwner, limits: BudgetLimits, around: Option<Rc<Budget>>, spent: Ledger) -> Rc<Budget> {
        let state = RefCell::new(BudgetState { ledger: spent, reserved: Amount::default() });
        Rc::new(Budget { owner, limits, around, state })
    }

    /// Returns what was spent on what.
    #[must_use]
    pub fn ledger(&self) -> Ledger {
        self.state.borrow().ledger.clone()
    }

    /// Returns whether this budget or one around it has a limit in a unit.
    #[must_use]
    pub fn limits(&self, unit: BudgetUnit) -> bool {
        self.chain().any(|budget| budget.limits.of(unit).is_some())
    }

    /// Returns the error of a budget of which nothing is left, if this one or one around it is such.
    #[must_use]
    pub fn used_up(&self) -> Option<BudgetError> {
        self.chain().find_map(|budget| {
            let spent = budget.state.borrow().ledger.spent();
            let unit = BudgetUnit::ALL
                .into_iter()
                .find(|unit| budget.limits.of(*unit).is_some_and(|limit| spent.of(*unit) >= limit))?;
            Some(budget.exhausted(unit, None))
        })
    }

    /// Returns the budget as scripts see it: `{limit, spent, left, spent_on}`, with the keys `usd`, `tokens` and `turns`.
    /// `limit` and `left` have the keys of the limits; `usd` of `spent` is missing if the price of a request is unknown.
    #[must_use]
    pub fn to_data(&self) -> Data {
        let state = self.state.borrow();
        let spent = state.ledger.spent();
        let of_limits = |amount: &dyn Fn(BudgetUnit, u64) -> u64| {
            let units = BudgetUnit::ALL.into_iter();
            Data::dict(units.filter_map(|unit| {
                let limit = self.limits.of(unit)?;
                Some((unit.key(), error::to_data(unit, amount(unit, limit))))
            }))
        };
        let mut used = Data::dict([("tokens", Data::from(spent.tokens)), ("turns", spent.turns.into())]);
        if state.ledger.is_cost_known() {
            used.set("usd", error::to_data(BudgetUnit::Usd, spent.nano_usd));
        }
        Data::dict([
            ("limit", of_limits(&|_, limit| limit)),
            ("spent", used),
            ("left", of_limits(&|unit, limit| limit.saturating_sub(spent.of(unit)))),
            ("spent_on", state.ledger.rows().iter().map(Spending::to_data).collect()),
        ])
    }

    /// This budget and those around it, from the innermost on.
    fn chain(&self) -> impl Iterator<Item = &Budget> {
        std::iter::successors(Some(self), |budget| budget.around.as_deref())
    }

    /// Checks whether all budgets cover an amount.
    fn check(&self, needed: Amount, quote: &Quote) -> Result<(), BudgetError> {
        for budget in self.chain() {
            let (spent, reserved) = {
                let state = budget.state.borrow();
                (state.ledger.spent(), state.reserved)
            };
            for unit in BudgetUnit::ALL {
                let Some(limit) = budget.limits.of(unit) else { continue };
                let taken = spent.of(unit).saturating_add(reserved.of(unit));
                if taken.saturating_add(needed.of(unit)) > limit {
                    return Err(budget.exhausted(unit, Some((needed.of(unit), quote))));
                }
            }
        }
        Ok(())
    }

    fn exhausted(&self, unit: BudgetUnit, next: Option<(u64, &Quote)>) -> BudgetError {
        let state = self.state.borrow();
        BudgetError::Exhausted(Box::new(Exhausted {
            owner: self.owner,
            unit,
            limit: self.limits.of(unit).unwrap_or_default(),
            spent: state.ledger.spent().of(unit),
            reserved: state.reserved.of(unit),
            next: next.map(|(needed, quote)| (needed, quote.model.clone())),
            spent_on: state.ledger.rows().to_vec(),
            after: None,
        }))
    }

    /// Reserves an amount that was checked.
    fn hold(&self, amount: Amount) {
        for budget in self.chain() {
            let reserved = &mut budget.state.borrow_mut().reserved;
            *reserved = reserved.plus(amount);
        }
    }

    /// Ends a reservation; `used` is what its request used.
    fn spend(&self, held: Amount, used: &Spending) {
        for budget in self.chain() {
            let state = &mut *budget.state.borrow_mut();
            state.reserved = state.reserved.minus(held);
            state.ledger.add(used);
        }
    }
}
