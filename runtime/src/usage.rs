//! [`Usage`]: the tokens of a call of a model, and what they cost.

/// Tokens used by one call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Tokens of the request, including those read from and written to a cache.
    pub input_tokens: u64,
    /// Tokens of the answer.
    pub output_tokens: u64,
    /// Tokens of the request that a cache served.
    pub cache_read_tokens: u64,
    /// Tokens of the request that were written to a cache.
    pub cache_write_tokens: u64,
    /// Cost of the call, in nano-dollars (10⁻⁹ US dollars); `None` if the price is unknown.
    pub cost_nano_usd: Option<u64>,
}

impl Usage {
    /// Returns the cost of the call in US dollars, if known.
    #[must_use]
    #[allow(clippy::cast_precision_loss)] // exact up to millions of dollars
    pub fn cost_usd(&self) -> Option<f64> {
        self.cost_nano_usd.map(|nano| nano as f64 / 1e9)
    }

    /// Returns whether the server has reported any tokens. Each request has some.
    #[must_use]
    pub fn is_reported(&self) -> bool {
        self.input_tokens > 0 || self.output_tokens > 0
    }

    /// Adds another call's tokens. The sum's cost is known if both costs are.
    pub fn add(&mut self, other: Usage) {
        if *self == Usage::default() {
            return *self = other;
        }
        self.cost_nano_usd = self.cost_nano_usd.zip(other.cost_nano_usd).map(|(one, two)| one.saturating_add(two));
        self.input_tokens += other.input_tokens;
        self.output_tokens += other.output_tokens;
        self.cache_read_tokens += other.cache_read_tokens;
        self.cache_write_tokens += other.cache_write_tokens;
    }
}
