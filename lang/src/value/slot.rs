//! Reading and writing values in their places: what the VM does at each instruction.
//!
//! A result is written word by word where it belongs, and read so: built as a `Value` first and moved, it would go through
//! the stack, and the processor stalls when it reads sixteen bytes that were just written as eight and eight. For the same
//! reason the two words of a copied value are read on two sides of a branch; side by side, the compiler makes them sixteen
//! bytes again.

use super::{FIRST_HEAP_TAG, Value};
use std::mem::MaybeUninit;
use std::ptr;
use std::rc::Rc;

// The tags as the declaration of `Value` gives them. `#[repr(u64)]` puts the tag in the first word and what a variant
// holds at the start of the second.
const NIL: u64 = 0;
const BOOL: u64 = 2;
const INT: u64 = 3;
const FLOAT: u64 = 4;

impl Clone for Value {
    #[inline(always)]
    fn clone(&self) -> Self {
        if self.raw_tag() >= FIRST_HEAP_TAG {
            self.retain();
        }
        // SAFETY: a value is a tag and a word; what the word refers to was just counted once more.
        unsafe { ptr::read(self) }
    }
}

impl Value {
    /// Counts one holder more of what is on the heap.
    #[inline(always)]
    fn retain(&self) {
        /// Does what `Rc::clone` does, without an owner of the new count.
        #[inline(always)]
        fn count<T>(rc: &Rc<T>) {
            // SAFETY: the pointer comes from a living `Rc`.
            unsafe { Rc::increment_strong_count(Rc::as_ptr(rc)) }
        }
        // All arms are the same instructions; the compiler makes one of them.
        match self {
            Self::Nil | Self::Unbound | Self::Bool(_) | Self::Int(_) | Self::Float(_) | Self::Builtin(_) => {}
            Self::Str(s) => s.retain(),
            Self::Bytes(rc) => count(rc),
            Self::List(rc) => count(rc),
            Self::Dict(rc) => count(rc),
            Self::Set(rc) => count(rc),
            Self::Range(rc) => count(rc),
            Self::Pair(rc) => count(rc),
            Self::Closure(rc) => count(rc),
            Self::Variant(record) => record.retain(),
            Self::Struct(record) => record.retain(),
            Self::Host(rc) => count(rc),
            Self::Iter(rc) => count(rc),
            Self::Cell(rc) => count(rc),
        }
    }

    /// Does what an assignment does, without a call if the old value is not on the heap.
    #[inline(always)]
    pub(crate) fn store(&mut self, value: Self) {
        std::mem::replace(self, value).discard();
    }

    /// Drops the value, without a call if it is not on the heap.
    #[inline(always)]
    pub(crate) fn discard(self) {
        if self.on_heap() {
            drop(self);
        } else {
            std::mem::forget(self);
        }
    }

    /// Drops what a place holds and leaves nil there.
    ///
    /// # Safety
    /// `place` points to an initialised value.
    #[inline(always)]
    pub(crate) unsafe fn empty(place: *mut Self) {
        #[inline(never)]
        unsafe fn release(place: *mut Value) {
            // SAFETY: by the caller. Nil stands there before the old value goes.
            drop(unsafe { ptr::replace(place, Value::Nil) });
        }
        // SAFETY: by the caller.
        unsafe {
            if (*place).on_heap() {
                release(place);
            }
        }
    }

    /// Does what [`Self::empty`] does for `count` places in a row.
    ///
    /// # Safety
    /// All of them are initialised values.
    #[inline(always)]
    pub(crate) unsafe fn empty_all(first: *mut Self, count: usize) {
        // SAFETY: by the caller.
        unsafe {
            let mut place = first;
            let end = first.add(count);
            // Four at a time: usually none of them is on the heap.
            let fours = first.add(count & !3);
            while place != fours {
                let tag = |at: usize| *place.add(at).cast::<u64>();
                if tag(0) | tag(1) | tag(2) | tag(3) >= FIRST_HEAP_TAG {
                    (0..4).for_each(|at| Self::empty(place.add(at)));
                }
                place = place.add(4);
            }
            while place != end {
                Self::empty(place);
                place = place.add(1);
            }
        }
    }

    /// Takes the tag of a value, which is nil afterwards. The rest of it is for [`Self::put_taken`].
    ///
    /// # Safety
    /// `from` points to an initialised value.
    #[inline(always)]
    pub(crate) unsafe fn take_tag(from: *mut Self) -> u64 {
        // SAFETY: by the caller.
        unsafe {
            let tag = *from.cast::<u64>();
            from.cast::<u64>().write(NIL);
            tag
        }
    }

    /// Puts the value whose tag was taken from `from` into a place, once: there is one holder at any time.
    ///
    /// # Safety
    /// Both point to initialised values, and nothing was written to `from` since [`Self::take_tag`].
    #[inline(always)]
    pub(crate) unsafe fn put_taken(place: *mut Self, tag: u64, from: *const Self) {
        // SAFETY: by the caller.
        unsafe {
            let word = *from.cast::<Word>().add(1);
            Self::empty(place);
            place.cast::<u64>().write(tag);
            place.cast::<Word>().add(1).write(word);
        }
    }

    /// Returns the value whose tag was taken from `from`, once: there is one holder at any time.
    ///
    /// # Safety
    /// `from` points to an initialised value, and nothing was written to it since [`Self::take_tag`].
    #[inline(always)]
    pub(crate) unsafe fn taken(tag: u64, from: *const Self) -> Self {
        let mut value = MaybeUninit::<Self>::uninit();
        // SAFETY: by the caller: the tag and the word of one value.
        unsafe {
            let word = *from.cast::<Word>().add(1);
            value.as_mut_ptr().cast::<u64>().write(tag);
            value.as_mut_ptr().cast::<Word>().add(1).write(word);
            value.assume_init()
        }
    }

    /// `*place = int`
    ///
    /// # Safety
    /// Does what [`Self::empty`] does.
    #[inline(always)]
    pub(crate) unsafe fn put_int(place: *mut Self, int: i64) {
        // SAFETY: by the caller.
        unsafe {
            Self::empty(place);
            place.cast::<u64>().write(INT);
            place.cast::<u64>().add(1).cast::<i64>().write(int);
        }
    }

    /// `*place = float`
    ///
    /// # Safety
    /// Does what [`Self::empty`] does.
    #[inline(always)]
    pub(crate) unsafe fn put_float(place: *mut Self, float: f64) {
        // SAFETY: by the caller.
        unsafe {
            Self::empty(place);
            place.cast::<u64>().write(FLOAT);
            place.cast::<u64>().add(1).cast::<f64>().write(float);
        }
    }

    /// `*place = bool`
    ///
    /// # Safety
    /// Does what [`Self::empty`] does.
    #[inline(always)]
    pub(crate) unsafe fn put_bool(place: *mut Self, bool: bool) {
        // SAFETY: by the caller.
        unsafe {
            Self::empty(place);
            place.cast::<u64>().write(BOOL);
            place.cast::<u64>().add(1).cast::<bool>().write(bool);
        }
    }

    /// `*place = nil`
    ///
    /// # Safety
    /// Does what [`Self::empty`] does.
    #[inline(always)]
    pub(crate) unsafe fn put_nil(place: *mut Self) {
        // SAFETY: by the caller.
        unsafe {
            Self::empty(place);
            place.cast::<u64>().write(NIL);
        }
    }

    /// `*place = *from`; the two may be one place.
    ///
    /// # Safety
    /// Both point to initialised values.
    #[inline(always)]
    pub(crate) unsafe fn copy(place: *mut Self, from: *const Self) {
        // SAFETY: by the caller. The new holder is counted before the old value goes, which may be what held it.
        unsafe {
            let tag = *from.cast::<u64>();
            if tag >= FIRST_HEAP_TAG {
                (*from).retain();
            }
            let word = *from.cast::<Word>().add(1);
            Self::empty(place);
            place.cast::<u64>().write(tag);
            place.cast::<Word>().add(1).write(word);
        }
    }

    /// `*place = *from`, and `*from` is nil afterwards.
    ///
    /// # Safety
    /// Both point to initialised values.
    #[inline(always)]
    pub(crate) unsafe fn take(place: *mut Self, from: *mut Self) {
        // SAFETY: by the caller. There is one holder at any time.
        unsafe {
            let tag = *from.cast::<u64>();
            from.cast::<u64>().write(NIL);
            Self::empty(place);
            let word = *from.cast::<Word>().add(1);
            place.cast::<u64>().write(tag);
            place.cast::<Word>().add(1).write(word);
        }
    }
}

/// Payload after a tag; ignored if the tag is the whole value.
type Word = MaybeUninit<u64>;
