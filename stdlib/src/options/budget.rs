//! The option `budget`.

use super::{Count, Dollars, OptionReader};
use crate::fault::of_budget;
use crate::world::World;
use lang::vm::Raise;
use runtime::budget::{Budget, BudgetError, BudgetLimits, BudgetUnit};
use runtime::model::Request;
use std::rc::Rc;
use std::sync::Arc;

options! {
    /// Limits of what the requests of a call or loop may use.
    BudgetOptions = "Budget" {
        usd: Dollars, "Maximum cost of all requests, in US dollars.";
        tokens: Count, "Maximum number of tokens of all requests and answers.";
        turns: Count, "Maximum number of requests, retries included.";
    }
}

impl BudgetOptions {
    /// Returns the limits.
    pub(crate) fn limits(&self) -> BudgetLimits {
        BudgetLimits { nano_usd: self.usd, tokens: self.tokens, turns: self.turns }
    }
}

impl OptionReader<'_> {
    /// Checks whether a budget in dollars can be kept: that of the options, or one around the call.
    ///
    /// # Errors
    /// One applies, and the price of the model is unknown.
    pub(crate) fn check_price(
        &self,
        world: &World,
        own: Option<BudgetLimits>,
        around: Option<&Rc<Budget>>,
        request: &Request,
    ) -> Result<(), Box<Raise>> {
        let is_own = own.is_some_and(|limits| limits.nano_usd.is_some());
        if !is_own && !around.is_some_and(|budget| budget.limits(BudgetUnit::Usd)) {
            return Ok(());
        }
        let (provider, model): (Arc<str>, Arc<str>) = if self.has("llm_caller") {
            ("llm_caller".into(), request.model.clone().unwrap_or_else(|| "llm_caller".into()))
        } else {
            match world.services.routes.choose(request.provider.as_deref(), request.model.as_deref()) {
                Ok(route) if route.capabilities.price.is_none() => (route.provider, route.model),
                // A route that cannot be chosen fails when it is asked.
                _ => return Ok(()),
            }
        };
        let raise = of_budget(&BudgetError::UnknownPrice { provider, model });
        Err(if is_own { raise.about(self.arg(), "`budget.usd` needs a price") } else { raise })
    }
}
