//! The prices of tokens, as a row states them.

use runtime::capabilities::{LongPrice, Price, PriceDate};
use serde::Deserialize;

use super::row::{RowFault, check_tokens, shown};

/// The dearest million of tokens that is believed, in US dollars.
const DEAREST: f64 = 1_000_000.0;

/// A price as it is written: US dollars for a million tokens.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenPrice {
    input: f64,
    output: f64,
    cache_read: Option<f64>,
    cache_write: Option<f64>,
    long: Option<WrittenLongPrice>,
    date: Option<toml::Value>,
}

/// A price of long requests as it is written: US dollars for a million tokens.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenLongPrice {
    above: u64,
    input: f64,
    output: f64,
    cache_read: Option<f64>,
    cache_write: Option<f64>,
}

/// Checks the amounts, the date and the number of tokens of a written price. Missing and unknown keys are left to its
/// type.
///
/// # Errors
/// Names the first key whose value is invalid.
pub(super) fn check(price: &toml::Value) -> Result<(), RowFault> {
    let Some(table) = price.as_table() else { return Ok(()) };
    amounts("price", table)?;
    if let Some(long) = table.get("long").and_then(toml::Value::as_table) {
        amounts("price.long", long)?;
        check_tokens("price.long.above", long.get("above"))?;
    }
    match table.get("date") {
        Some(date) if read_date(date).is_none() => {
            let found = shown(date);
            let message = format!("`price.date` must be the date of the prices, such as \"2026-11-10\", found {found}");
            Err(RowFault::of_key("price.date", message))
        }
        _ => Ok(()),
    }
}

fn amounts(at: &str, table: &toml::Table) -> Result<(), RowFault> {
    for key in ["input", "output", "cache_read", "cache_write"] {
        let Some(value) = table.get(key) else { continue };
        #[allow(clippy::cast_precision_loss)] // only its size matters
        let amount = value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64));
        // A comparison with NaN is false.
        if !amount.is_some_and(|amount| (0.0..=DEAREST).contains(&amount)) {
            let key = format!("{at}.{key}");
            let found = shown(value);
            let message =
                format!("`{key}` must be US dollars for a million tokens, from 0 to {DEAREST}, found {found}");
            return Err(RowFault::of_key(key, message));
        }
    }
    Ok(())
}

/// Reads a date of TOML, or a string in the same form.
fn read_date(value: &toml::Value) -> Option<PriceDate> {
    match value {
        toml::Value::String(text) => text.parse().ok(),
        toml::Value::Datetime(date) => date.to_string().parse().ok(),
        _ => None,
    }
}

impl WrittenPrice {
    /// Returns the price in nano-dollars. Tokens read from and written to a cache cost as much as others, unless the price
    /// says otherwise.
    pub(super) fn price(&self) -> Price {
        Price {
            input: nano(self.input),
            output: nano(self.output),
            cache_read: nano(self.cache_read.unwrap_or(self.input)),
            cache_write: nano(self.cache_write.unwrap_or(self.input)),
            long: self.long.as_ref().map(|long| LongPrice {
                above: long.above,
                input: nano(long.input),
                output: nano(long.output),
                cache_read: nano(long.cache_read.unwrap_or(long.input)),
                cache_write: nano(long.cache_write.unwrap_or(long.input)),
            }),
            date: self.date.as_ref().and_then(read_date),
        }
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // checked to be between 0 and a million
fn nano(dollars: f64) -> u64 {
    (dollars * 1e9).round() as u64
}
