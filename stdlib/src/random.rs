//! [`RandomSource`]: random numbers and ids, all of which follow from the seed of the run.

use base::ids::{IdStream, SharedIds};
use std::cell::Cell;

/// The random numbers and ids of a run.
pub(crate) struct RandomSource {
    pub(crate) seed: u64,
    state: Cell<u64>,
    /// Ids that belong to no session.
    pub(crate) ids: SharedIds,
}

impl RandomSource {
    pub(crate) fn new(seed: u64) -> RandomSource {
        RandomSource { seed, state: Cell::new(seed), ids: SharedIds::new(IdStream::new(seed, "run")) }
    }

    /// Returns the next number of SplitMix64.
    pub(crate) fn next(&self) -> u64 {
        let mut z = self.state.get().wrapping_add(0x9E37_79B9_7F4A_7C15);
        self.state.set(z);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

/// Returns a seed from the system, without a crate for it: hash maps are seeded from the same source.
pub(crate) fn entropy() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(std::process::id())
}
