//! A request on its way, and what it takes from a budget.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use base::call::CallError;

use crate::capabilities::Price;
use crate::model::{Destination, ModelError, ModelErrorKind, PrefixMeter, Request};
use crate::usage::Usage;

use super::{Amount, Budget, BudgetError, BudgetLimits, BudgetOwner, BudgetUnit, Ledger, Purpose, Spending};

/// The most that a request can use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quote {
    /// The provider.
    pub provider: Arc<str>,
    /// The model.
    pub model: Arc<str>,
    /// Tokens of the request, estimated.
    pub input_tokens: u64,
    /// The most tokens of its answer; `None` if unknown.
    pub output_tokens: Option<u64>,
    /// The price of its tokens; `None` if unknown.
    pub price: Option<Price>,
    /// Whether a script answers. The requests that it sends itself count instead of its own answer.
    pub is_delegated: bool,
}

impl Quote {
    /// Creates the quote of a model of which nothing is known. A token is estimated for three bytes of the request.
    #[must_use]
    pub fn unknown(to: Destination, request: &Request) -> Quote {
        let unnamed = || Arc::from("unknown");
        Quote {
            provider: to.provider.unwrap_or_else(unnamed),
            model: to.model.unwrap_or_else(unnamed),
            input_tokens: PrefixMeter::default().measure(request).total.div_ceil(3),
            output_tokens: request.max_tokens,
            price: None,
            is_delegated: false,
        }
    }
}

/// A request that takes something from a budget. What it has reserved and not settled is spent when it is dropped: the
/// server may have answered.
#[derive(Debug)]
pub struct Charge {
    budget: Rc<Budget>,
    quote: Quote,
    purpose: Purpose,
    /// The amount that the current attempt has reserved; `None` between attempts.
    held: Cell<Option<Amount>>,
    /// The budget of the requests that a script sends in place of the model.
    pub(crate) inner: Option<Rc<Budget>>,
}

impl Charge {
    /// Reserves the most that a request can use.
    ///
    /// # Errors
    /// The budget does not cover the request, or the price or the largest answer is unknown and a limit needs it. Nothing has
    /// changed then.
    pub fn new(budget: &Rc<Budget>, quote: Quote, purpose: Purpose) -> Result<Charge, BudgetError> {
        let inner = quote.is_delegated.then(|| {
            let (limits, spent) = (BudgetLimits::default(), Ledger::default());
            Budget::new(BudgetOwner::Caller, limits, Some(budget.clone()), spent)
        });
        let charge = Charge { budget: budget.clone(), quote, purpose, held: Cell::new(None), inner };
        charge.hold()?;
        Ok(charge)
    }

    /// Reserves again, for a retry after `failure`.
    ///
    /// # Errors
    /// The budget does not cover another attempt.
    pub fn again(&self, failure: &str) -> Result<(), BudgetError> {
        self.hold().map_err(|error| error.after(failure))
    }

    /// Returns the error of a retry after `failure` that was refused when a run was recorded; `None` if it would not be
    /// refused now. A replay sends no attempts, so those before count as far as they are missing.
    #[must_use]
    pub fn refused_again(&self, failure: &str) -> Option<BudgetError> {
        /// Number of attempts that are made up for.
        const MOST: usize = 1_000;
        for _ in 0..MOST {
            match self.again(failure) {
                Err(refused) => return Some(refused),
                Ok(()) => self.attempt_failed(ModelErrorKind::Connection),
            }
        }
        None
    }

    /// Ends the current attempt, which failed before an answer was complete. An attempt that the server refused at once is
    /// a turn without cost; one that broke off counts with the most that it could use.
    pub fn attempt_failed(&self, kind: ModelErrorKind) {
        use ModelErrorKind as K;
        let may_be_billed = matches!(kind, K::Connection | K::Timeout | K::BadResponse | K::Cancelled);
        let used = if may_be_billed { self.most() } else { self.row(Amount { turns: 1, ..Amount::default() }, 0) };
        self.spend(&used);
    }

    /// Ends the current attempt, whose answer reports its use.
    pub fn settle(&self, usage: &Usage) {
        if self.inner.is_some() {
            return self.settle_delegated(usage);
        }
        if !usage.is_reported() {
            return self.spend(&self.most());
        }
        let nano_usd = usage.cost_nano_usd.or_else(|| self.quote.price.map(|price| price.of(usage)));
        let tokens = usage.input_tokens.saturating_add(usage.output_tokens);
        let amount = Amount { nano_usd: nano_usd.unwrap_or(0), tokens, turns: 1 };
        self.spend(&self.row(amount, u64::from(nano_usd.is_none())));
    }

    /// The answer of a script counts only if it sent no request of its own.
    fn settle_delegated(&self, usage: &Usage) {
        let Some(held) = self.held.take() else { return };
        let has_asked = self.inner.as_ref().is_some_and(|inner| inner.ledger().spent().turns > 0);
        if !has_asked {
            let tokens = usage.input_tokens.saturating_add(usage.output_tokens);
            self.budget.spend(held, &self.row(Amount { nano_usd: 0, tokens, turns: 1 }, 1));
        }
    }

    /// Ends the current attempt, if it has not ended yet, by the error of the whole call.
    pub(crate) fn failed(&self, thrown: &dyn CallError) {
        if self.inner.is_some() {
            return self.settle_delegated(&Usage::default());
        }
        match thrown.as_any().downcast_ref::<ModelError>() {
            Some(error) => self.attempt_failed(error.kind),
            None => self.spend(&self.most()),
        }
    }

    fn hold(&self) -> Result<(), BudgetError> {
        let (quote, budget) = (&self.quote, &self.budget);
        let named = || (quote.provider.clone(), quote.model.clone());
        let needs_price = budget.limits(BudgetUnit::Usd);
        let needs_length = needs_price || budget.limits(BudgetUnit::Tokens);
        if needs_price && quote.price.is_none() {
            let (provider, model) = named();
            return Err(BudgetError::UnknownPrice { provider, model });
        }
        if quote.is_delegated {
            if let Some(used_up) = budget.used_up() {
                return Err(used_up);
            }
        } else if needs_length && quote.output_tokens.is_none() {
            let (provider, model) = named();
            return Err(BudgetError::UnknownLength { provider, model });
        }
        let needed = self.needed();
        budget.check(needed, quote)?;
        // The requests of a script reserve for themselves.
        let held = if quote.is_delegated { Amount::default() } else { needed };
        budget.hold(held);
        self.held.set(Some(held));
        Ok(())
    }

    /// The most that one attempt can use.
    fn needed(&self) -> Amount {
        let Quote { input_tokens, output_tokens, price, is_delegated, .. } = &self.quote;
        if *is_delegated {
            return Amount { turns: 1, ..Amount::default() };
        }
        let output = output_tokens.unwrap_or(0);
        Amount {
            nano_usd: price.map_or(0, |price| price.largest(*input_tokens, output)),
            tokens: input_tokens.saturating_add(output),
            turns: 1,
        }
    }

    /// The use of an attempt that has not reported it.
    fn most(&self) -> Spending {
        let unpriced = u64::from(self.quote.price.is_none());
        Spending { unreported: 1, ..self.row(self.needed(), unpriced) }
    }

    fn row(&self, amount: Amount, unpriced: u64) -> Spending {
        let Quote { provider, model, .. } = &self.quote;
        let (provider, model, purpose) = (provider.clone(), model.clone(), self.purpose);
        Spending { purpose, provider, model, amount, unpriced, unreported: 0 }
    }

    fn spend(&self, used: &Spending) {
        if let Some(held) = self.held.take() {
            self.budget.spend(held, used);
        }
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        if self.inner.is_some() {
            self.settle_delegated(&Usage::default());
        } else {
            self.spend(&self.most());
        }
    }
}
