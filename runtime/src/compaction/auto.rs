//! The loop's own compaction: its threshold and its options.

use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use crate::lifecycle::CompactionCharge;
use crate::lifecycle::archive::CompactOptions;
use crate::seam::Compactor;

/// The threshold above which the context is too large.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Threshold {
    /// At this share of the route's context window.
    Share(f64),
    /// At this many tokens.
    Tokens(u64),
}

impl Threshold {
    /// Context window assumed for a route that does not report one.
    pub const ASSUMED_WINDOW: u64 = 128_000;

    /// Returns the number of tokens above which a context is too large for a window.
    #[must_use]
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    pub fn tokens(self, window: Option<u64>) -> u64 {
        match self {
            Threshold::Share(share) => (share * window.unwrap_or(Self::ASSUMED_WINDOW) as f64).ceil() as u64,
            Threshold::Tokens(limit) => limit,
        }
    }
}

/// The loop's own compaction.
#[derive(Clone)]
pub struct AutoCompact {
    /// Options of the compaction.
    pub options: CompactOptions,
    /// Threshold of the compaction.
    pub threshold: Threshold,
    /// Summariser for the strategy `custom`.
    pub compactor: Option<Rc<dyn Compactor>>,
    /// Prompt for the model with the strategy `llm`.
    pub summarize_prompt: Option<Arc<str>>,
}

impl Default for AutoCompact {
    fn default() -> AutoCompact {
        AutoCompact {
            options: CompactOptions { charge: CompactionCharge::Carried, mode: "auto", ..CompactOptions::default() },
            threshold: Threshold::Share(0.8),
            compactor: None,
            summarize_prompt: None,
        }
    }
}

impl fmt::Debug for AutoCompact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let AutoCompact { options, threshold, .. } = self;
        f.debug_struct("AutoCompact").field("options", options).field("threshold", threshold).finish_non_exhaustive()
    }
}
