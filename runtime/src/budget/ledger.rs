//! The record of what was spent on what.

use std::sync::Arc;

use base::data::Data;
use base::words::words;

use super::BudgetUnit;
use super::error::to_data;

/// An amount that requests use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Amount {
    /// Cost in nano-dollars; 0 for requests whose price is unknown.
    pub nano_usd: u64,
    /// Tokens of requests and answers.
    pub tokens: u64,
    /// Number of requests.
    pub turns: u64,
}

impl Amount {
    /// Returns the amount in a unit.
    #[must_use]
    pub fn of(&self, unit: BudgetUnit) -> u64 {
        match unit {
            BudgetUnit::Usd => self.nano_usd,
            BudgetUnit::Tokens => self.tokens,
            BudgetUnit::Turns => self.turns,
        }
    }

    pub(super) fn plus(self, other: Amount) -> Amount {
        Amount {
            nano_usd: self.nano_usd.saturating_add(other.nano_usd),
            tokens: self.tokens.saturating_add(other.tokens),
            turns: self.turns.saturating_add(other.turns),
        }
    }

    pub(super) fn minus(self, other: Amount) -> Amount {
        Amount {
            nano_usd: self.nano_usd.saturating_sub(other.nano_usd),
            tokens: self.tokens.saturating_sub(other.tokens),
            turns: self.turns.saturating_sub(other.turns),
        }
    }
}

words! {
    /// The purpose of a request.
    pub enum Purpose {
        /// An answer for a loop or a script.
        Answer = "answer",
        /// A summary of a conversation.
        Compaction = "compaction",
        /// A judgement whether a turn followed a reminder.
        Judge = "judge",
    }
}

/// The spending on one purpose at one model.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spending {
    /// The purpose.
    pub purpose: Purpose,
    /// The provider.
    pub provider: Arc<str>,
    /// The model.
    pub model: Arc<str>,
    /// The amount that was used.
    pub amount: Amount,
    /// Number of requests whose price is unknown.
    #[serde(default)]
    pub unpriced: u64,
    /// Number of requests whose use was not reported: they count with the most that they could use.
    #[serde(default)]
    pub unreported: u64,
}

impl Spending {
    /// Returns the spending as scripts see it.
    #[must_use]
    pub fn to_data(&self) -> Data {
        let mut data = Data::dict([
            ("purpose", Data::from(self.purpose.as_str())),
            ("provider", (&self.provider).into()),
            ("model", (&self.model).into()),
            ("turns", self.amount.turns.into()),
            ("tokens", self.amount.tokens.into()),
        ]);
        if self.unpriced == 0 {
            data.set("usd", to_data(BudgetUnit::Usd, self.amount.nano_usd));
        }
        if self.unreported > 0 {
            data.set("unreported", self.unreported.into());
        }
        data
    }
}

/// The spending by purpose and model.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Ledger(Vec<Spending>);

impl Ledger {
    /// Returns one row for each purpose and model, in the order of their first requests.
    #[must_use]
    pub fn rows(&self) -> &[Spending] {
        &self.0
    }

    /// Returns the sum.
    #[must_use]
    pub fn spent(&self) -> Amount {
        self.0.iter().fold(Amount::default(), |sum, row| sum.plus(row.amount))
    }

    /// Returns whether the price of every request is known.
    #[must_use]
    pub fn is_cost_known(&self) -> bool {
        self.0.iter().all(|row| row.unpriced == 0)
    }

    /// Adds what a request used.
    pub(super) fn add(&mut self, used: &Spending) {
        let same = |row: &&mut Spending| {
            (row.purpose, &row.provider, &row.model) == (used.purpose, &used.provider, &used.model)
        };
        match self.0.iter_mut().find(same) {
            Some(row) => {
                row.amount = row.amount.plus(used.amount);
                row.unpriced = row.unpriced.saturating_add(used.unpriced);
                row.unreported = row.unreported.saturating_add(used.unreported);
            }
            None => self.0.push(used.clone()),
        }
    }
}
