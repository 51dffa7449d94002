//! The price of tokens. All amounts are integers, so that sums are exact.

use std::fmt;
use std::str::FromStr;

use crate::usage::Usage;

/// The price of tokens, in nano-dollars (10⁻⁹ US dollars) per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Tokens of the request without cache reads and writes.
    pub input: u64,
    /// Tokens of the answer.
    pub output: u64,
    /// Tokens that a cache served.
    pub cache_read: u64,
    /// Tokens that were written to a cache.
    pub cache_write: u64,
    /// The price of long requests, if it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub long: Option<LongPrice>,
    /// The day on which the vendor asked this price, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<PriceDate>,
}

/// The price of all tokens of a long request and its answer, in nano-dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LongPrice {
    /// The number of tokens of a request above which it is long.
    pub above: u64,
    /// Tokens of the request without cache reads and writes.
    pub input: u64,
    /// Tokens of the answer.
    pub output: u64,
    /// Tokens that a cache served.
    pub cache_read: u64,
    /// Tokens that were written to a cache.
    pub cache_write: u64,
}

impl Price {
    /// Returns the price of a call, in nano-dollars, rounded up.
    #[must_use]
    pub fn of(&self, usage: &Usage) -> u64 {
        let rates = self.rates(usage.input_tokens);
        let cached = usage.cache_read_tokens.saturating_add(usage.cache_write_tokens);
        amount([
            (usage.input_tokens.saturating_sub(cached), rates.input),
            (usage.output_tokens, rates.output),
            (usage.cache_read_tokens, rates.cache_read),
            (usage.cache_write_tokens, rates.cache_write),
        ])
    }

    /// Returns the largest price of a call with `input` tokens in its request and at most `output` tokens in its answer,
    /// in nano-dollars, rounded up.
    #[must_use]
    pub fn largest(&self, input: u64, output: u64) -> u64 {
        let rates = self.rates(input);
        let dearest = rates.input.max(rates.cache_read).max(rates.cache_write);
        amount([(input, dearest), (output, rates.output), (0, 0), (0, 0)])
    }

    /// The price of a request with `input` tokens.
    fn rates(&self, input: u64) -> LongPrice {
        let Price { input: input_rate, output, cache_read, cache_write, long, .. } = *self;
        let usual = LongPrice { above: 0, input: input_rate, output, cache_read, cache_write };
        long.filter(|long| input > long.above).unwrap_or(usual)
    }
}

/// Returns the sum of numbers of tokens times their prices for a million.
fn amount(parts: [(u64, u64); 4]) -> u64 {
    let sum = parts
        .into_iter()
        .map(|(tokens, price)| u128::from(tokens).saturating_mul(u128::from(price)))
        .fold(0, u128::saturating_add);
    u64::try_from(sum.div_ceil(1_000_000)).unwrap_or(u64::MAX)
}

/// The day of a price.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PriceDate {
    year: u16,
    month: u8,
    day: u8,
}

/// A text that is not a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected a date in the form YYYY-MM-DD")]
pub struct InvalidPriceDate;

impl FromStr for PriceDate {
    type Err = InvalidPriceDate;

    /// Parses `YYYY-MM-DD`.
    fn from_str(text: &str) -> Result<PriceDate, InvalidPriceDate> {
        let parts: Vec<&str> = text.split('-').collect();
        let [year, month, day] = parts[..] else { return Err(InvalidPriceDate) };
        let is_digits = |part: &str, length| part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit());
        if !(is_digits(year, 4) && is_digits(month, 2) && is_digits(day, 2)) {
            return Err(InvalidPriceDate);
        }
        let date = PriceDate {
            year: year.parse().map_err(|_| InvalidPriceDate)?,
            month: month.parse().map_err(|_| InvalidPriceDate)?,
            day: day.parse().map_err(|_| InvalidPriceDate)?,
        };
        let is_leap = date.year.is_multiple_of(4) && (!date.year.is_multiple_of(100) || date.year.is_multiple_of(400));
        let days = match date.month {
            4 | 6 | 9 | 11 => 30,
            2 if is_leap => 29,
            2 => 28,
            1..=12 => 31,
            _ => 0,
        };
        if (1..=days).contains(&date.day) { Ok(date) } else { Err(InvalidPriceDate) }
    }
}

impl fmt::Display for PriceDate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

impl TryFrom<String> for PriceDate {
    type Error = InvalidPriceDate;

    fn try_from(text: String) -> Result<PriceDate, InvalidPriceDate> {
        text.parse()
    }
}

impl From<PriceDate> for String {
    fn from(date: PriceDate) -> String {
        date.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HAIKU: Price = Price {
        input: 100_000_000,
        output: 500_000_000,
        cache_read: 10_000_000,
        cache_write: 125_000_000,
        long: Some(LongPrice {
            above: 100_000,
            input: 500_000_000,
            output: 2_500_000_000,
            cache_read: 50_000_000,
            cache_write: 625_000_000,
        }),
        date: None,
    };

    fn usage(input: u64, read: u64, written: u64, output: u64) -> Usage {
        Usage {
            input_tokens: input,
            output_tokens: output,
            cache_read_tokens: read,
            cache_write_tokens: written,
            cost_nano_usd: None,
        }
    }

    #[test]
    fn every_kind_of_token_has_its_price() {
        // 600 × 0.10 + 300 × 0.01 + 100 × 0.125 + 50 × 0.50 dollars for a million.
        assert_eq!(HAIKU.of(&usage(1_000, 300, 100, 50)), 60_000 + 3_000 + 12_500 + 25_000);
        assert_eq!(HAIKU.of(&usage(0, 0, 0, 0)), 0);
    }

    #[test]
    fn a_long_request_has_another_price_for_all_its_tokens() {
        assert_eq!(HAIKU.of(&usage(100_000, 0, 0, 10)), 10_000_000 + 5_000);
        assert_eq!(HAIKU.of(&usage(100_001, 0, 0, 10)), 50_000_500 + 25_000);
        assert_eq!(HAIKU.of(&usage(100_001, 100_001, 0, 0)), 5_000_050);
    }

    #[test]
    fn the_largest_price_covers_any_use_of_a_cache() {
        let largest = HAIKU.largest(1_000, 50);
        for (read, written) in [(0, 0), (1_000, 0), (0, 1_000), (400, 600)] {
            assert!(HAIKU.of(&usage(1_000, read, written, 50)) <= largest, "{read} {written}");
        }
        assert_eq!(largest, 125_000 + 25_000);
    }

    #[test]
    fn amounts_are_rounded_up_and_saturate() {
        let cheap = Price { input: 1, output: 1, cache_read: 1, cache_write: 1, long: None, date: None };
        assert_eq!(cheap.of(&usage(1, 0, 0, 0)), 1);
        let dear = Price { input: u64::MAX, output: u64::MAX, cache_read: 0, cache_write: 0, long: None, date: None };
        assert_eq!(dear.of(&usage(u64::MAX, 0, 0, u64::MAX)), u64::MAX);
        assert_eq!(dear.largest(u64::MAX, u64::MAX), u64::MAX);
    }

    #[test]
    fn a_date_is_a_day_of_the_calendar() {
        for good in ["2026-11-10", "2024-02-29", "2000-02-29"] {
            assert_eq!(good.parse::<PriceDate>().unwrap().to_string(), good);
        }
        for bad in
            ["", "2026", "2026-13-01", "2026-02-29", "1900-02-29", "2026-00-01", "2026-1-1", "+026-01-01", "a-b-c"]
        {
            assert_eq!(bad.parse::<PriceDate>(), Err(InvalidPriceDate), "{bad}");
        }
    }
}
