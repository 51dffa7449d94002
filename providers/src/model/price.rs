//! The prices of tokens, as a row states them.

use runtime::capabilities::Price;
use serde::Deserialize;

/// The dearest million of tokens that is believed, in US dollars.
const DEAREST: f64 = 1_000_000.0;

/// A price as it is written: US dollars for a million tokens.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Written {
    input: f64,
    output: f64,
    cache_read: Option<f64>,
    cache_write: Option<f64>,
}

impl Written {
    /// Returns the problem with the prices.
    pub(super) fn check(&self) -> Result<(), String> {
        let cached = [("cache_read", self.cache_read), ("cache_write", self.cache_write)];
        let given = [("input", Some(self.input)), ("output", Some(self.output))].into_iter().chain(cached);
        for (key, price) in given {
            if price.is_some_and(|price| !(0.0..=DEAREST).contains(&price)) {
                return Err(format!("`price.{key}` must be US dollars for a million tokens, from 0 to {DEAREST}"));
            }
        }
        Ok(())
    }
}

impl From<Written> for Price {
    fn from(written: Written) -> Price {
        Price {
            input: nano(written.input),
            output: nano(written.output),
            cache_read: nano(written.cache_read.unwrap_or(written.input)),
            cache_write: nano(written.cache_write.unwrap_or(written.input)),
        }
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // checked to lie between 0 and a million
fn nano(dollars: f64) -> u64 {
    (dollars * 1e9).round() as u64
}
