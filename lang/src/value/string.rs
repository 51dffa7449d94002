//! The string value: one thin, reference-counted block that is changed in place while it is held once.
//!
//! `Rc<str>` is two words and would make every [`super::Value`] 24 bytes; `Rc<String>` allocates twice. This is one
//! pointer to one block: a header and the bytes behind it, with spare capacity so that `s += "ab"` is amortised O(1).
#![allow(unsafe_code)]

use super::meter::charge_text;
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error, realloc};
use std::cell::Cell;
use std::fmt;
use std::ops::Deref;
use std::ptr::{self, NonNull};

#[repr(C)]
struct StrHeader {
    refs: Cell<usize>,
    len: usize,
    capacity: usize,
    /// 0 until somebody asks.
    hash: Cell<u32>,
    /// Whether all bytes are ASCII: 0 unknown, 1 yes, 2 no.
    ascii: Cell<u32>,
}

const HEADER: usize = size_of::<StrHeader>();

/// An immutable string that shares its bytes; `push_str` copies only when somebody else holds them.
pub struct Str {
    block: NonNull<StrHeader>,
}

/// The capacity that follows on this one: twice as much, but for large texts a quarter more, since a run's limit of memory may
/// not have room for the text a second time.
const fn grown(capacity: usize) -> usize {
    if capacity < 1 << 20 { capacity * 2 } else { capacity + capacity / 4 }
}

impl Str {
    /// A copy of `text`.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self::hashed(text, 0)
    }

    /// A copy of `text`, whose hash is known: [`Self::hash_of`] computed it. 0 stands for unknown.
    #[must_use]
    pub(crate) fn hashed(text: &str, hash: u32) -> Self {
        charge_text(text.len());
        let mut copy = Self::with_capacity(text.len());
        debug_assert!(text.len() <= copy.header().capacity, "a block too small for the text");
        // SAFETY: the block is new, ours alone, and has room for these bytes.
        unsafe {
            ptr::copy_nonoverlapping(text.as_ptr(), copy.bytes_at(), text.len());
            let header = copy.block.as_mut();
            header.len = text.len();
            header.hash.set(hash);
        }
        copy
    }

    /// Returns the hash of a text, never 0.
    #[must_use]
    pub(crate) fn hash_of(text: &str) -> u32 {
        crate::hash::text(text.as_bytes())
    }

    /// An empty string with room for `capacity` bytes.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        let layout = Self::layout(capacity);
        // SAFETY: the layout is never empty (the header has a size).
        let raw = unsafe { alloc(layout) }.cast::<StrHeader>();
        let Some(block) = NonNull::new(raw) else { handle_alloc_error(layout) };
        // SAFETY: freshly allocated for a header and `capacity` bytes.
        unsafe {
            block.as_ptr().write(StrHeader {
                refs: Cell::new(1),
                len: 0,
                capacity,
                hash: Cell::new(0),
                ascii: Cell::new(0),
            });
        }
        Self { block }
    }

    fn layout(capacity: usize) -> Layout {
        match Layout::from_size_align(HEADER.saturating_add(capacity), align_of::<StrHeader>()) {
            Ok(layout) => layout,
            // Larger than the address space: no allocator could have given it.
            Err(_) => handle_alloc_error(Layout::new::<StrHeader>()),
        }
    }

    fn header(&self) -> &StrHeader {
        // SAFETY: the block lives as long as any `Str` that points to it.
        unsafe { self.block.as_ref() }
    }

    fn bytes_at(&self) -> *mut u8 {
        // SAFETY: the bytes lie right behind the header in the same block.
        unsafe { self.block.as_ptr().cast::<u8>().add(HEADER) }
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        debug_assert!(self.header().len <= self.header().capacity, "a text longer than its block");
        // SAFETY: `len` bytes were written, all of them copied from `str`s.
        unsafe { std::str::from_utf8_unchecked(std::slice::from_raw_parts(self.bytes_at(), self.header().len)) }
    }

    /// Whether nobody else holds these bytes.
    #[must_use]
    pub fn is_unique(&self) -> bool {
        self.header().refs.get() == 1
    }

    /// Returns the text `times` times in a row, made where it will be.
    #[must_use]
    pub fn repeated(&self, times: usize) -> Self {
        /// Number of bytes that are copied at once, small enough to stay in the cache.
        const UNIT: usize = 64 * 1024;
        let len = self.len();
        let all = len.saturating_mul(times);
        let mut out = Self::with_capacity(all);
        if all == 0 {
            return out;
        }
        out.push_str(self.as_str());
        let mut done = len;
        while done < all {
            // A whole number of times, so that what follows begins anew.
            let most = if done > UNIT { (UNIT / len).max(1) * len } else { done };
            let more = most.min(all - done);
            debug_assert!(more <= done && done + more <= out.header().capacity, "a copy outside of the block");
            // SAFETY: the block has room for `all` bytes and is ours alone; the first `more` of its `done` bytes are written, and
            // what is copied begins behind them.
            unsafe { ptr::copy_nonoverlapping(out.bytes_at(), out.bytes_at().add(done), more) };
            done += more;
        }
        // SAFETY: ours alone; `all` bytes are written, whole texts.
        unsafe { out.block.as_mut().len = all };
        out
    }

    /// Returns the text with its ASCII letters in capitals.
    #[must_use]
    pub fn to_ascii_upper(&self) -> Self {
        self.mapped(<[u8]>::make_ascii_uppercase)
    }

    /// Returns the text with its ASCII letters in small letters.
    #[must_use]
    pub fn to_ascii_lower(&self) -> Self {
        self.mapped(<[u8]>::make_ascii_lowercase)
    }

    /// A copy whose bytes were changed by `change`, which replaces ASCII letters with ASCII letters.
    fn mapped(&self, change: fn(&mut [u8])) -> Self {
        let copy = Self::new(self);
        debug_assert!(copy.is_unique() && copy.header().len <= copy.header().capacity, "a new block of its own");
        // SAFETY: the block is new and ours alone, and all of its bytes are written. They stay UTF-8.
        change(unsafe { std::slice::from_raw_parts_mut(copy.bytes_at(), copy.len()) });
        copy
    }

    /// Appends, in place when held once.
    pub fn push_str(&mut self, text: &str) {
        charge_text(text.len());
        let len = self.header().len;
        let needed = len.saturating_add(text.len());
        if !self.is_unique() {
            // `text` may lie in this very block; it stays alive because another `Str` holds it.
            let mut copy = Self::with_capacity(needed.max(grown(len)));
            copy.push_str(self.as_str());
            copy.push_str(text);
            *self = copy;
            return;
        }
        if needed > self.header().capacity {
            self.grow(needed.max(grown(self.header().capacity)).max(16));
        }
        debug_assert!(needed <= self.header().capacity, "a block too small for the text");
        // SAFETY: the block is ours alone and has room for `needed` bytes; `text` cannot lie in it, for then the
        // caller would hold a borrow of `self`.
        unsafe {
            ptr::copy_nonoverlapping(text.as_ptr(), self.bytes_at().add(len), text.len());
            let header = self.block.as_mut();
            header.len = needed;
            header.hash.set(0);
            header.ascii.set(0);
        }
    }

    fn grow(&mut self, capacity: usize) {
        let old = Self::layout(self.header().capacity);
        let new = Self::layout(capacity);
        // SAFETY: the block was allocated with `old`; we are its only holder.
        let raw = unsafe { realloc(self.block.as_ptr().cast(), old, new.size()) }.cast::<StrHeader>();
        let Some(block) = NonNull::new(raw) else { handle_alloc_error(new) };
        self.block = block;
        // SAFETY: just reallocated, still ours alone.
        unsafe { self.block.as_mut().capacity = capacity };
    }

    /// A hash of the text, computed once per block.
    #[must_use]
    pub fn hash32(&self) -> u32 {
        let cached = self.header().hash.get();
        if cached != 0 {
            return cached;
        }
        let hash = crate::hash::text(self.as_bytes());
        self.header().hash.set(hash);
        hash
    }

    /// Whether every character is one byte, found out once per block.
    #[must_use]
    pub fn is_ascii_text(&self) -> bool {
        match self.header().ascii.get() {
            1 => true,
            2 => false,
            _ => {
                let ascii = self.as_str().is_ascii();
                self.header().ascii.set(if ascii { 1 } else { 2 });
                ascii
            }
        }
    }

    /// Returns the number of characters (Unicode scalar values).
    #[must_use]
    pub fn char_count(&self) -> usize {
        if self.is_ascii_text() { self.len() } else { self.as_str().chars().count() }
    }

    /// Counts one holder more; as `Rc` does, it gives up rather than let the count begin again.
    #[inline(always)]
    pub(super) fn retain(&self) {
        let refs = &self.header().refs;
        let count = refs.get().wrapping_add(1);
        refs.set(count);
        if count == 0 {
            std::process::abort();
        }
    }

    /// Tells whether both are the same block, not only equal text.
    #[must_use]
    pub fn same(&self, other: &Self) -> bool {
        self.block == other.block
    }
}

impl Clone for Str {
    #[inline]
    fn clone(&self) -> Self {
        self.retain();
        Self { block: self.block }
    }
}

impl Drop for Str {
    #[inline]
    fn drop(&mut self) {
        let refs = self.header().refs.get() - 1;
        self.header().refs.set(refs);
        if refs == 0 {
            let layout = Self::layout(self.header().capacity);
            // SAFETY: the last holder frees the block with the layout it was made with.
            unsafe { dealloc(self.block.as_ptr().cast(), layout) };
        }
    }
}

impl Deref for Str {
    type Target = str;
    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl PartialEq for Str {
    fn eq(&self, other: &Self) -> bool {
        self.same(other) || self.as_str() == other.as_str()
    }
}

impl Eq for Str {}

/// Hashes like `str`, so that a set of `Str` can be queried with a `str`.
impl std::hash::Hash for Str {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl std::borrow::Borrow<str> for Str {
    fn borrow(&self) -> &str {
        self.as_str()
    }
}

impl PartialOrd for Str {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Str {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl From<&str> for Str {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for Str {
    fn from(text: String) -> Self {
        Self::new(&text)
    }
}

impl fmt::Write for Str {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.push_str(text);
        Ok(())
    }
}

impl fmt::Debug for Str {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for Str {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.as_str(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn appending_changes_only_the_holder_that_appends() {
        let mut a = Str::new("ab");
        let b = a.clone();
        a.push_str("cd");
        assert_eq!((a.as_str(), b.as_str()), ("abcd", "ab"));
        let mut a = Str::with_capacity(16);
        a.push_str("abcd");
        let before = a.block;
        a.push_str("e");
        assert_eq!(before, a.block, "held once and with room: in place");
    }

    #[test]
    fn hash_follows_the_text() {
        let mut a = Str::new("abc");
        let first = a.hash32();
        a.push_str("d");
        assert_ne!(first, a.hash32());
        assert_eq!(a.hash32(), Str::new("abcd").hash32());
    }

    #[test]
    fn repeats() {
        for (text, times) in [("", 5), ("ab", 0), ("ab", 1), ("äb", 3), ("abc", 5000), ("x", 4097)] {
            assert_eq!(Str::new(text).repeated(times).as_str(), text.repeat(times), "{text} {times}");
        }
        let long = "y".repeat(5000);
        assert_eq!(Str::new(&long).repeated(3).as_str(), long.repeat(3));
    }

    #[test]
    fn changes_ascii_letters_only() {
        let text = Str::new("Straße äÖ z");
        assert_eq!(text.to_ascii_upper().as_str(), "STRAßE äÖ Z");
        assert_eq!(text.to_ascii_lower().as_str(), "straße äÖ z");
        assert_eq!((text.as_str(), text.is_unique()), ("Straße äÖ z", true));
        assert_eq!(text.to_ascii_upper().hash32(), Str::new("STRAßE äÖ Z").hash32());
    }

    #[test]
    fn counts_characters() {
        assert_eq!(Str::new("äöü").char_count(), 3);
        assert_eq!(Str::new("abc").char_count(), 3);
    }
}
