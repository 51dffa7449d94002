//! The option `budget`.

use super::OptionReader;
use crate::fault::of_budget;
use crate::limits::DEAREST_BUDGET;
use crate::world::World;
use lang::diagnostic::nearest;
use lang::value::{Value, article, display};
use lang::vm::Raise;
use runtime::budget::{Budget, BudgetError, BudgetLimits, BudgetUnit};
use runtime::model::Request;
use std::rc::Rc;
use std::sync::Arc;

/// The type of the option.
pub(super) const BUDGET: &str = "{usd?: dollars, tokens?: count, turns?: count}";

impl OptionReader<'_> {
    /// Reads `budget`; `None` without it.
    pub(crate) fn budget(&self) -> Result<Option<BudgetLimits>, Box<Raise>> {
        let value = self.value("budget");
        if value.is_nil() {
            return Ok(None);
        }
        let wrong = |message: String, label: String| {
            Raise::error(lang::check::CheckCode::Type, message).about(self.arg(), label)
        };
        let Some(dict) = value.as_dict() else {
            let found = article(value.type_name());
            let message = format!("`budget` must be a dict with `usd`, `tokens` or `turns`, found {found}");
            return Err(wrong(message, "invalid `budget`".to_owned()));
        };
        let mut limits = BudgetLimits::default();
        for (key, value) in dict.iter() {
            let Some(unit) = BudgetUnit::ALL.into_iter().find(|unit| unit.key() == key.as_str()) else {
                let mut raise = Raise::error(lang::check::CheckCode::Key, format!("unknown key `{key}` of `budget`"));
                if let Some(near) = nearest(key, BudgetUnit::ALL.map(BudgetUnit::key)) {
                    raise = raise.help(format!("did you mean `{near}`?"));
                }
                return Err(raise.about(self.arg(), format!("has `budget.{key}`")));
            };
            if value.is_nil() {
                continue;
            }
            let (amount, expected) = match unit {
                BudgetUnit::Usd => (nano_usd(value), format!("US dollars from 0 to {DEAREST_BUDGET}")),
                BudgetUnit::Tokens | BudgetUnit::Turns => {
                    (value.as_int().and_then(|count| u64::try_from(count).ok()), "a number of at least 0".to_owned())
                }
            };
            let Some(amount) = amount else {
                let found = match value {
                    Value::Int(_) | Value::Float(_) => display(value),
                    _ => article(value.type_name()),
                };
                let message = format!("`budget.{key}` must be {expected}, found {found}");
                return Err(wrong(message, format!("invalid `budget.{key}`")));
            };
            let slot = match unit {
                BudgetUnit::Usd => &mut limits.nano_usd,
                BudgetUnit::Tokens => &mut limits.tokens,
                BudgetUnit::Turns => &mut limits.turns,
            };
            *slot = Some(amount);
        }
        Ok(Some(limits))
    }

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

/// Returns dollars as nano-dollars, if they are an amount.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)] // the range is checked
fn nano_usd(value: &Value) -> Option<u64> {
    let dollars = match value {
        Value::Int(whole) => *whole as f64,
        Value::Float(dollars) => *dollars,
        _ => return None,
    };
    (0.0..=DEAREST_BUDGET as f64).contains(&dollars).then(|| (dollars * 1e9).round() as u64)
}
