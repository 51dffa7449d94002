//! Requests that a budget does not cover.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use base::call::{CallError, CallErrorKind};
use base::codes::CodeRef;
use base::data::Data;

use super::{BudgetCode, BudgetOwner, BudgetUnit, Spending};

/// Number of rows that a message names.
const SHOWN: usize = 4;

/// The category of these errors, for scripts.
const CATEGORY: &str = "budget";

/// A request that is not sent because of a budget.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BudgetError {
    /// The budget is used up, or its rest does not cover the request.
    #[error("{0}")]
    Exhausted(Box<Exhausted>),
    /// The price of a model is unknown, and a budget in US dollars applies.
    #[error("the price of `{model}` ({provider}) is unknown, so a budget in US dollars cannot be kept")]
    UnknownPrice {
        /// The provider.
        provider: Arc<str>,
        /// The model.
        model: Arc<str>,
    },
    /// The largest answer of a model is unknown, and a budget in US dollars or tokens applies.
    #[error("the output limit of `{model}` ({provider}) is unknown, so a budget cannot be kept without `max_tokens`")]
    UnknownLength {
        /// The provider.
        provider: Arc<str>,
        /// The model.
        model: Arc<str>,
    },
}

/// A budget that does not cover a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exhausted {
    /// The work that the budget limits.
    pub owner: BudgetOwner,
    /// The unit of the limit that was reached. Amounts of dollars are nano-dollars.
    pub unit: BudgetUnit,
    /// The limit.
    pub limit: u64,
    /// The amount that is spent.
    pub spent: u64,
    /// The amount that running requests can use.
    pub reserved: u64,
    /// The most that the next request can use, and its model; `None` if nothing is left anyway.
    pub next: Option<(u64, Arc<str>)>,
    /// Spending by purpose and model.
    pub spent_on: Vec<Spending>,
    /// The failure after which the request would have been sent again.
    pub after: Option<Arc<str>>,
}

impl fmt::Display for Exhausted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Exhausted { owner, unit, limit, spent, reserved, .. } = self;
        write!(f, "the budget of {} ({owner}) ", unit.show(*limit))?;
        let left = limit.saturating_sub(*spent).saturating_sub(*reserved);
        match &self.next {
            Some((needed, model)) if left > 0 => {
                let needed = unit.show(*needed);
                let left = unit.show(left);
                write!(f, "does not cover the next request: `{model}` can use up to {needed}, and {left} are left")?;
            }
            _ if *reserved > 0 => f.write_str("is used up by running requests")?,
            _ => f.write_str("is used up")?,
        }
        if *reserved > 0 {
            write!(f, "; {} are reserved for running requests", unit.show(*reserved))?;
        }
        if self.spent_on.is_empty() {
            f.write_str("; nothing is spent")?;
        } else {
            write!(f, "; spent: {}", self.rows())?;
        }
        match &self.after {
            Some(failure) => write!(f, "; the attempt before failed: {failure}"),
            None => Ok(()),
        }
    }
}

impl Exhausted {
    /// Returns what was spent on what, the most first.
    fn rows(&self) -> String {
        let mut rows: Vec<&Spending> = self.spent_on.iter().collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.amount.of(self.unit)));
        let mut words: Vec<String> = rows.iter().take(SHOWN).map(|row| self.row(row)).collect();
        if rows.len() > SHOWN {
            let rest: u64 = rows[SHOWN..].iter().map(|row| row.amount.of(self.unit)).fold(0, u64::saturating_add);
            words.push(format!("{} on others", self.unit.show(rest)));
        }
        words.join(", ")
    }

    fn row(&self, row: &Spending) -> String {
        let amount = self.unit.show(row.amount.of(self.unit));
        let purpose = match row.purpose {
            super::Purpose::Answer => String::new(),
            purpose => format!(" ({purpose})"),
        };
        let turns = match (self.unit, row.amount.turns) {
            (BudgetUnit::Turns, _) => String::new(),
            (_, 1) => " in 1 turn".to_owned(),
            (_, turns) => format!(" in {turns} turns"),
        };
        let unreported = match row.unreported {
            0 => String::new(),
            count => format!(" ({count} without reported usage)"),
        };
        format!("{amount} on `{}`{purpose}{turns}{unreported}", row.model)
    }
}

impl BudgetError {
    /// Returns the error of a retry that a budget does not cover.
    #[must_use]
    pub fn after(mut self, failure: &str) -> BudgetError {
        if let BudgetError::Exhausted(exhausted) = &mut self {
            exhausted.after = Some(failure.into());
        }
        self
    }

    /// Returns the code.
    #[must_use]
    pub fn budget_code(&self) -> BudgetCode {
        match self {
            BudgetError::Exhausted(_) => BudgetCode::Exhausted,
            BudgetError::UnknownPrice { .. } | BudgetError::UnknownLength { .. } => BudgetCode::Unknown,
        }
    }

    /// Returns the way to go on.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            BudgetError::UnknownPrice { .. } => {
                "add `price` to the model's row of `[[capabilities]]` in harn.toml, or \
                limit `tokens` or `turns` instead of `usd`"
                    .to_owned()
            }
            BudgetError::UnknownLength { .. } => "set `max_tokens`, or add `output_limit` to the model's row of \
                `[[capabilities]]` in harn.toml"
                .to_owned(),
            BudgetError::Exhausted(exhausted) => {
                let key = exhausted.unit.key();
                let raise = match exhausted.owner {
                    BudgetOwner::Run => format!("raise `{key}` of `--budget`"),
                    _ => format!("raise `budget.{key}`"),
                };
                match (exhausted.unit, &exhausted.next) {
                    (BudgetUnit::Usd | BudgetUnit::Tokens, Some(_)) => {
                        format!("{raise}, or lower `max_tokens`: a request counts with the most that it can use")
                    }
                    _ => raise,
                }
            }
        }
    }

    /// Converts the error to the dict that scripts see: `{category, code, message, unit?, limit?, spent?, spent_on?}`.
    #[must_use]
    pub fn to_data(&self) -> Data {
        let mut data = Data::dict([
            ("category", Data::from(CATEGORY)),
            ("code", CodeRef::from(self.budget_code()).as_str().into()),
            ("message", self.to_string().into()),
        ]);
        if let BudgetError::Exhausted(exhausted) = self {
            data.set("unit", exhausted.unit.key().into());
            data.set("limit", to_data(exhausted.unit, exhausted.limit));
            data.set("spent", to_data(exhausted.unit, exhausted.spent));
            data.set("spent_on", exhausted.spent_on.iter().map(Spending::to_data).collect());
        }
        data
    }
}

impl CallError for BudgetError {
    fn kind(&self) -> CallErrorKind {
        CallErrorKind::Limit
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn code(&self) -> Option<CodeRef> {
        Some(self.budget_code().into())
    }
}

/// Returns an amount for scripts: dollars as a float, anything else as an int.
#[allow(clippy::cast_precision_loss)] // exact up to millions of dollars
pub(super) fn to_data(unit: BudgetUnit, amount: u64) -> Data {
    match unit {
        BudgetUnit::Usd => Data::from(amount as f64 / 1e9),
        BudgetUnit::Tokens | BudgetUnit::Turns => amount.into(),
    }
}

/// Writes nano-dollars as dollars with two to nine decimals.
#[must_use]
pub fn usd(nano: u64) -> String {
    let (whole, part) = (nano / 1_000_000_000, nano % 1_000_000_000);
    let digits = format!("{part:09}");
    let decimals = digits.trim_end_matches('0').len().max(2);
    format!("{whole}.{}", &digits[..decimals])
}
