//! Ids: UUIDv7, each session from a stream of its own. An id contains the time, then a rising counter, then bits that
//! depend only on seed, stream and counter. Ids therefore rise within a stream even if the clock is set back, and a run
//! with the same seed and clock creates the same ids however its sessions interleave.

use std::cell::RefCell;
use std::sync::Arc;

use uuid::{Builder, Uuid};

/// A source of ids.
pub trait Ids {
    /// Returns the next id, larger than all before it.
    fn next(&self, now_ms: u64) -> Uuid;

    /// Returns the next id as text.
    fn next_text(&self, now_ms: u64) -> Arc<str> {
        let mut text = Uuid::encode_buffer();
        Arc::from(&*self.next(now_ms).hyphenated().encode_lower(&mut text))
    }
}

/// Returns an id shortened for error messages, since a caller may pass one of any length.
#[must_use]
pub fn shortened(id: &str) -> Arc<str> {
    const SHOWN: usize = 200;
    match id.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &id[..end]).into(),
        None => id.into(),
    }
}

/// A stream of ids. Plain data, so that an injection queue may carry one across threads.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IdStream {
    seed: u64,
    counter: u64,
    last_ms: u64,
    children: u64,
}

impl IdStream {
    /// Creates the stream determined by `seed` and `name`.
    #[must_use]
    pub fn new(seed: u64, name: &str) -> IdStream {
        IdStream {
            seed: name.bytes().fold(mix(seed), |hash, byte| mix(hash ^ u64::from(byte))),
            counter: 0,
            last_ms: 0,
            children: 0,
        }
    }

    /// Returns the stream of the next child (a sub-agent, a queue): it depends only on the parent and the child's
    /// ordinal.
    pub fn child(&mut self) -> IdStream {
        self.children += 1;
        IdStream { seed: mix(self.seed ^ mix(self.children)), counter: 0, last_ms: self.last_ms, children: 0 }
    }

    /// Returns whether it could have reached this state by drawing; a stream read from a file may contain anything.
    pub fn is_sound(&self) -> bool {
        self.counter >> 26 == 0 && self.last_ms >> 47 == 0 && self.children >> 53 == 0
    }

    /// Returns the next id, larger than all before it.
    pub fn draw(&mut self, now_ms: u64) -> Uuid {
        // The 26 bits of counter precede the random ones. If they overflow within one stream, its time advances.
        self.last_ms = self.last_ms.max(now_ms);
        self.counter += 1;
        if self.counter >> 26 != 0 {
            self.counter = 1;
            self.last_ms += 1;
        }
        let tail = mix(self.seed ^ mix(self.counter ^ (self.last_ms << 26)));
        let noise = mix(tail);
        // `Builder` overwrites the top four bits of byte 0 (version) and the top two of byte 2 (variant), so the
        // counter avoids them.
        let count = self.counter;
        let mut bytes = [0_u8; 10];
        bytes[0] = (count >> 22) as u8 & 0x0f;
        bytes[1] = (count >> 14) as u8;
        bytes[2] = (count >> 8) as u8 & 0x3f;
        bytes[3] = count as u8;
        bytes[4..8].copy_from_slice(&tail.to_be_bytes()[..4]);
        bytes[8..10].copy_from_slice(&noise.to_be_bytes()[..2]);
        Builder::from_unix_timestamp_millis(self.last_ms, &bytes).into_uuid()
    }
}

/// A stream that can be used through a shared reference.
#[derive(Debug)]
pub struct SharedIds(RefCell<IdStream>);

impl SharedIds {
    /// Shares a stream.
    #[must_use]
    pub fn new(stream: IdStream) -> SharedIds {
        SharedIds(RefCell::new(stream))
    }

    /// Returns the current stream.
    pub fn stream(&self) -> IdStream {
        self.0.borrow().clone()
    }

    /// Draws from the given stream from now on.
    pub fn go_on_with(&self, stream: IdStream) {
        *self.0.borrow_mut() = stream;
    }

    /// Returns the stream of the next child.
    #[must_use]
    pub fn child(&self) -> IdStream {
        self.0.borrow_mut().child()
    }
}

impl Ids for SharedIds {
    fn next(&self, now_ms: u64) -> Uuid {
        self.0.borrow_mut().draw(now_ms)
    }
}

/// Applies the finaliser of `splitmix64`: every input bit reaches every output bit.
fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_rise_even_when_the_clock_does_not() {
        let mut stream = IdStream::new(7, "s1");
        let mut last = stream.draw(5_000);
        for now in (0..70_000_u64).map(|n| if n % 3 == 0 { 10 } else { 5_000 + n / 1000 }) {
            let id = stream.draw(now);
            assert!(id > last && id.to_string() > last.to_string(), "{last} then {id}");
            assert_eq!(id.get_version_num(), 7);
            last = id;
        }
    }

    #[test]
    fn a_seed_and_a_name_decide_everything() {
        let draw = |seed, name| IdStream::new(seed, name).draw(1);
        assert_eq!(draw(1, "a"), draw(1, "a"));
        assert_ne!(draw(1, "a"), draw(1, "b"));
        assert_ne!(draw(1, "a"), draw(2, "a"));
        let (mut one, mut two) = (IdStream::new(1, "a"), IdStream::new(1, "a"));
        two.draw(9);
        assert_eq!(one.child().draw(9), two.child().draw(9));
    }
}
