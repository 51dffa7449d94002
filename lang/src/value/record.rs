//! The block behind structs and enum variants: what it is an instance of, a number, and its values, in one allocation.
//!
//! A vector in a box would allocate twice for each node of a tree. Like [`super::Str`], this is one thin pointer to one
//! block, copied when it is changed while somebody else holds it.
#![allow(unsafe_code)]

use super::{Value, drop};
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::Cell;
use std::ptr::{self, NonNull};
use std::rc::Rc;

#[repr(C)]
struct RecordHeader<D> {
    refs: Cell<usize>,
    def: Rc<D>,
    tag: u32,
    len: u32,
}

/// An instance of `D`.
pub struct Record<D> {
    block: NonNull<RecordHeader<D>>,
}

impl<D> Record<D> {
    /// An instance with the values taken out of `values`, which are nil afterwards.
    ///
    /// `tag` is free for `D` to use: the number of an enum's variant.
    #[must_use]
    pub fn take(def: Rc<D>, tag: u32, values: &mut [Value]) -> Self {
        // A declaration cannot have four thousand million fields.
        let len = u32::try_from(values.len()).unwrap_or(u32::MAX);
        let layout = Self::layout(len);
        // SAFETY: the layout is never empty (the header has a size).
        let raw = unsafe { alloc(layout) }.cast::<RecordHeader<D>>();
        let Some(block) = NonNull::new(raw) else { handle_alloc_error(layout) };
        // SAFETY: freshly allocated for a header and `len` values behind it; nothing here can unwind.
        unsafe {
            block.as_ptr().write(RecordHeader { refs: Cell::new(1), def, tag, len });
            let first = block.as_ptr().add(1).cast::<Value>();
            for (i, value) in values.iter_mut().take(len as usize).enumerate() {
                first.add(i).write(std::mem::take(value));
            }
        }
        Self { block }
    }

    fn layout(len: u32) -> Layout {
        const { assert!(align_of::<RecordHeader<u8>>() == align_of::<Value>()) };
        let size = (len as usize).saturating_mul(size_of::<Value>()).saturating_add(size_of::<RecordHeader<D>>());
        match Layout::from_size_align(size, align_of::<RecordHeader<D>>()) {
            Ok(layout) => layout,
            // Larger than the address space: no allocator could have given it.
            Err(_) => handle_alloc_error(Layout::new::<RecordHeader<D>>()),
        }
    }

    #[inline(always)]
    fn header(&self) -> &RecordHeader<D> {
        // SAFETY: the block lives as long as any `Record` that points to it.
        unsafe { self.block.as_ref() }
    }

    #[inline(always)]
    fn first(&self) -> *mut Value {
        // SAFETY: the values lie right behind the header in the same block.
        unsafe { self.block.as_ptr().add(1).cast() }
    }

    /// Returns the number of holders of the block.
    #[must_use]
    pub(crate) fn holders(&self) -> usize {
        self.header().refs.get()
    }

    /// Returns the address of the block.
    #[must_use]
    pub(crate) fn place(&self) -> *const () {
        self.block.as_ptr().cast_const().cast()
    }

    /// Definition that it is an instance of.
    #[inline(always)]
    #[must_use]
    pub fn def(&self) -> &Rc<D> {
        &self.header().def
    }

    /// The number it was made with.
    #[inline(always)]
    #[must_use]
    pub fn tag(&self) -> u32 {
        self.header().tag
    }

    /// Its values.
    #[inline(always)]
    #[must_use]
    pub fn values(&self) -> &[Value] {
        debug_assert!(self.holders() > 0, "a record that was freed");
        // SAFETY: `len` values were written behind the header.
        unsafe { std::slice::from_raw_parts(self.first(), self.header().len as usize) }
    }

    /// Its values, to change them; copied first where somebody else holds them.
    pub fn values_mut(&mut self) -> &mut [Value] {
        if self.header().refs.get() != 1 {
            let mut values = self.values().to_vec();
            *self = Self::take(self.def().clone(), self.tag(), &mut values);
        }
        debug_assert!(self.holders() == 1, "a record that others hold is changed");
        // SAFETY: `len` values were written behind the header, and this is the only reference to the block.
        unsafe { std::slice::from_raw_parts_mut(self.first(), self.header().len as usize) }
    }

    /// Returns its values for a change in place, if it is held once.
    #[inline]
    pub(crate) fn own_values(&mut self) -> Option<&mut [Value]> {
        (self.holders() == 1).then(|| self.values_mut())
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

    /// Tells whether both are the same block, not only equal values.
    #[must_use]
    pub fn same(&self, other: &Self) -> bool {
        self.block == other.block
    }
}

impl<D> Clone for Record<D> {
    #[inline]
    fn clone(&self) -> Self {
        self.retain();
        Self { block: self.block }
    }
}

impl<D> Drop for Record<D> {
    #[inline]
    fn drop(&mut self) {
        let refs = self.header().refs.get() - 1;
        self.header().refs.set(refs);
        if refs == 0 {
            self.free();
        }
    }
}

impl<D> Record<D> {
    fn free(&mut self) {
        let len = self.header().len;
        debug_assert!(self.holders() == 0, "a record that is held is freed");
        // SAFETY: the last holder drops what the block holds, once, and frees it with the layout it was made with.
        unsafe {
            drop::drop_slice(std::slice::from_raw_parts_mut(self.first(), len as usize));
            ptr::drop_in_place(&raw mut (*self.block.as_ptr()).def);
            dealloc(self.block.as_ptr().cast(), Self::layout(len));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(values: &[i64]) -> Record<&'static str> {
        let mut values: Vec<Value> = values.iter().map(|i| Value::list(vec![Value::Int(*i)])).collect();
        Record::take(Rc::new("def"), 7, &mut values)
    }

    #[test]
    fn holds_what_it_was_given() {
        let r = record(&[1, 2, 3]);
        assert_eq!((r.values().len(), r.tag(), **r.def()), (3, 7, "def"));
        assert!(record(&[]).values().is_empty());
    }

    #[test]
    fn a_change_copies_what_is_shared_and_only_that() {
        let mut a = record(&[1, 2]);
        let b = a.clone();
        assert!(a.same(&b));
        a.values_mut()[0] = Value::Int(9);
        assert!(!a.same(&b));
        assert_eq!(format!("{:?} {:?}", a.values(), b.values()), "[9, [2]] [[1], [2]]");
        let before = a.first();
        a.values_mut()[1] = Value::Nil;
        assert_eq!(a.first(), before);
    }
}
