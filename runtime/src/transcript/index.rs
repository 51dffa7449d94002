//! [`KeyIndex`]: maps the dedupe key of a pending reminder to its slot. Keys are hashed and entries are `Copy`, so that
//! a path copy of the persistent map touches no reference count. A lookup must check that the slot is pending and has
//! the real key: entries of removed reminders stay until the holes are closed.

use std::hash::{BuildHasherDefault, DefaultHasher, Hash, Hasher};

/// The hash of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct KeyHash(u64);

impl KeyHash {
    pub(super) fn of(key: &str) -> KeyHash {
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        KeyHash(hasher.finish())
    }

    /// Returns a number below `count` derived from the hash.
    pub(super) fn bucket(self, count: u64) -> u64 {
        self.0 % count
    }
}

impl Hash for KeyHash {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0);
    }
}

/// A hasher that passes a hash through unchanged.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct IdentityHasher(u64);

impl Hasher for IdentityHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

/// Maps hashed text to a slot.
pub(super) type KeyIndex =
    imbl::GenericHashMap<KeyHash, u32, BuildHasherDefault<IdentityHasher>, imbl::shared_ptr::DefaultSharedPtr>;
