//! Keys that occur repeatedly: data from wire formats has few of them, so each is allocated once and shared.

use std::cell::RefCell;
use std::sync::Arc;

/// Number of keys that a thread caches.
const HELD: usize = 256;

/// Maximum length of a cached key; longer ones rarely repeat.
const LONGEST: usize = 32;

thread_local! {
    static KEYS: RefCell<Vec<Option<Arc<str>>>> = RefCell::new(vec![None; HELD]);
}

/// Returns a key: the cached one if present, else a new one that replaces the previous key of its slot.
pub(super) fn shared(text: &str) -> Arc<str> {
    if text.len() > LONGEST {
        return text.into();
    }
    let read = KEYS.try_with(|keys| {
        let mut keys = keys.try_borrow_mut().ok()?;
        let held = keys.get_mut(place(text))?;
        Some(match held {
            Some(key) if **key == *text => key.clone(),
            _ => held.insert(text.into()).clone(),
        })
    });
    read.ok().flatten().unwrap_or_else(|| text.into())
}

/// Returns the slot of a key. FNV-1a: keys are short, and keys chosen to collide only evict each other's slots.
fn place(text: &str) -> usize {
    let mixed = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    // The high bits are mixed best.
    usize::try_from(mixed >> 56).unwrap_or_default() % HELD
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_made_once() {
        let (first, again) = (shared("dedupeKey"), shared("dedupeKey"));
        assert_eq!(&*first, "dedupeKey");
        assert!(Arc::ptr_eq(&first, &again));
    }

    #[test]
    fn keys_that_fall_together_and_long_ones_stay_themselves() {
        let all: Vec<String> = (0..10 * HELD).map(|n| format!("key-{n}")).chain(["x".repeat(LONGEST + 1)]).collect();
        for _ in 0..2 {
            assert!(all.iter().all(|key| *shared(key) == **key));
        }
    }
}
