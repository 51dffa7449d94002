//! Hashes of texts and of set members, keyed by a secret of the process: nobody can choose keys in advance that share
//! one hash. No order that a script sees depends on it.

use foldhash::SharedSeed;
use foldhash::fast::FoldHasher;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::LazyLock;

/// The secret of a process.
struct Secret {
    start: u64,
    shared: SharedSeed,
}

impl Secret {
    /// Draws a secret from the randomness of the system.
    fn draw() -> Self {
        let random = RandomState::new();
        Self { start: random.hash_one(0_u8), shared: SharedSeed::from_u64(random.hash_one(1_u8)) }
    }

    fn hasher(&self) -> FoldHasher<'_> {
        FoldHasher::with_seed(self.start, &self.shared)
    }

    /// The hash of a text, never 0.
    fn text(&self, bytes: &[u8]) -> u32 {
        let mut hasher = self.hasher();
        hasher.write(bytes);
        let hash = hasher.finish();
        ((hash ^ (hash >> 32)) as u32).max(1)
    }
}

static SECRET: LazyLock<Secret> = LazyLock::new(Secret::draw);

/// A hasher with the secret of the process.
#[inline]
pub(crate) fn hasher() -> FoldHasher<'static> {
    SECRET.hasher()
}

/// A hash builder with the secret of the process, for maps whose keys come from untrusted text.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Keyed;

impl BuildHasher for Keyed {
    type Hasher = FoldHasher<'static>;

    #[inline]
    fn build_hasher(&self) -> FoldHasher<'static> {
        hasher()
    }
}

/// A map whose keys come from untrusted text: names, or the numbers of bindings.
pub(crate) type KeyedMap<K, V> = HashMap<K, V, Keyed>;

/// The hash of a text, never 0.
#[inline]
pub(crate) fn text(bytes: &[u8]) -> u32 {
    SECRET.text(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{Dict, Str, Value};

    const PRIME: u64 = 0x0000_0100_0000_01b3;

    /// Texts of 16 bytes that a plain FNV-1a over words of eight bytes maps to one hash: its steps can be undone, so the
    /// second word is chosen to reach the state that all share.
    fn colliding(count: usize) -> Vec<Str> {
        const BASE: u64 = 0xcbf2_9ce4_8422_2325;
        let target = u64::from_le_bytes(*b"aaaaaaaa");
        let mut texts = Vec::with_capacity(count);
        let mut state: u64 = 1;
        while texts.len() < count {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let first = (state ^ (state >> 32)) & 0x7f7f_7f7f_7f7f_7f7f;
            let mut hash = (BASE ^ first).wrapping_mul(PRIME);
            hash ^= hash >> 29;
            let second = hash ^ target;
            if second & 0x8080_8080_8080_8080 == 0 {
                let bytes = [first.to_le_bytes(), second.to_le_bytes()].concat();
                texts.push(Str::new(std::str::from_utf8(&bytes).expect("ASCII")));
            }
        }
        texts
    }

    /// Counts the comparisons that it takes to find each key once in a table that is half full.
    fn looks(keys: &[Str]) -> u64 {
        let mut places = vec![0_u64; (keys.len() * 2).next_power_of_two()];
        for key in keys {
            let place = key.hash32() as usize % places.len();
            places[place] += 1;
        }
        places.iter().map(|keys| keys * (keys + 1) / 2).sum()
    }

    #[test]
    fn chosen_keys_cost_no_more_than_ordinary_ones() {
        let chosen = colliding(80_000);
        let ordinary: Vec<Str> = (0..80_000).map(|n| Str::new(&format!("key {n:012}"))).collect();
        assert!(ordinary.iter().all(|key| key.len() == 16));
        let (cost, fair) = (looks(&chosen), looks(&ordinary));
        assert!(cost * 2 <= fair * 3, "{cost} looks, {fair} for ordinary keys");
        let mut hashes: Vec<u32> = chosen.iter().map(Str::hash32).collect();
        hashes.sort_unstable();
        hashes.dedup();
        assert!(hashes.len() > 79_900, "{} hashes", hashes.len());
        let dict: Dict = chosen.iter().map(|key| (Str::new(key), Value::Nil)).collect();
        assert_eq!(dict.len(), chosen.len());
    }

    #[test]
    fn every_process_has_its_own_secret() {
        let (one, other) = (Secret::draw(), Secret::draw());
        assert_ne!(one.text(b"a key"), other.text(b"a key"));
        assert_eq!(one.text(b"a key"), one.text(b"a key"));
        assert_eq!(text(b"a key"), Str::new("a key").hash32());
    }
}
