//! Values: 16 bytes each, a plain tag and one word; everything larger is behind a thin, non-atomic reference count.
//!
//! - [`Value`]: the tag and the word.
//! - [`Str`], [`Dict`], [`Set`]: strings, dicts, sets. Lists are vectors in a box ([`List`]).
//! - [`Iter`]: lazy iterators, generators, streams.
//! - [`Record`]: structs and variants; [`StructDef`], [`EnumDef`]: what they are instances of.
//! - [`HostObject`]: values that the runtime hands out.
//! - `print`, `equal`, `order`: how values look, when they are the same, which comes first. None of them recurses on
//!   the native stack, so no depth of nesting is too deep.
#![allow(unsafe_code)]

mod def;
mod dict;
mod drop;
mod equal;
mod host;
mod iter;
pub(crate) mod meter;
mod print;
mod record;
mod set;
mod slot;
mod string;

pub use crate::article::article;
pub use crate::builtin_type::{Flavor, Tag};
pub use def::{EnumDef, FieldDef, FieldDefault, InterfaceDef, Method, StructDef, VariantDef};
pub use dict::Dict;
pub(crate) use drop::release;
pub(crate) use equal::order_int_and_float;
pub use equal::{equal, order};
pub use host::{HostBox, HostObject};
pub(crate) use iter::ItemSource;
pub use iter::{Iter, Status};
pub use meter::{Meter, Stopped};
pub use print::{brief, display, inspect, inspect_within};
pub use record::Record;
pub use set::Set;
pub use string::Str;

use crate::builtin_type::Kind;
use crate::declaration::Builtin;
use crate::later::{Machine, ThisCrate};
use crate::source::Span;
use std::cell::RefCell;
use std::rc::Rc;

/// A value of the language. The order of the variants matters: those from `Str` on live on the heap.
#[repr(u64)]
#[derive(Default)]
pub enum Value {
    /// `nil`
    #[default]
    Nil = 0,
    /// Not bound yet; never seen by a script.
    Unbound = 1,
    /// `true`, `false`
    Bool(bool) = 2,
    /// 64-bit integer
    Int(i64) = 3,
    /// IEEE double
    Float(f64) = 4,
    /// A builtin function as a value
    Builtin(&'static Builtin) = 5,
    /// String
    Str(Str) = 8,
    /// Bytes
    Bytes(Rc<Vec<u8>>) = 9,
    /// List
    List(Rc<List>) = 10,
    /// Dict
    Dict(Rc<DictBox>) = 11,
    /// Set
    Set(Rc<Set>) = 12,
    /// `a to b`
    Range(Rc<Range>) = 13,
    /// `(a, b)`
    Pair(Rc<Pair>) = 14,
    /// Function or closure
    Closure(Rc<Closure>) = 15,
    /// An enum's variant, `Ok` and `Err` included
    Variant(VariantValue) = 16,
    /// A struct
    Struct(StructValue) = 17,
    /// A value of the runtime
    Host(Rc<HostBox>) = 18,
    /// A captured `var`; never seen by a script
    Cell(Rc<RefCell<Value>>) = 19,
    /// A lazy iterator, generator or stream
    Iter(Rc<Iter>) = 20,
}

const _: () = assert!(size_of::<Value>() == 16);

/// A list's elements.
#[derive(Default)]
pub struct List {
    /// The elements.
    pub items: Vec<Value>,
}

impl Clone for List {
    fn clone(&self) -> Self {
        Self { items: meter::copied(&self.items) }
    }
}

impl Drop for List {
    fn drop(&mut self) {
        drop::drop_values(std::mem::take(&mut self.items));
    }
}

/// A dict's entries behind a pointer.
#[derive(Clone, Default)]
pub struct DictBox {
    /// The entries.
    pub dict: Dict,
}

impl Drop for DictBox {
    fn drop(&mut self) {
        drop::drop_entries(&mut self.dict);
    }
}

/// `from to to`, always kept half-open.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// First.
    pub from: i64,
    /// Last, itself included unless `exclusive`.
    pub to: i64,
    /// Without the last.
    pub exclusive: bool,
}

impl Range {
    /// Returns the number of items. A range over all of i64 has more than fit; the number saturates.
    #[must_use]
    pub fn len(self) -> usize {
        let span = i128::from(self.to) - i128::from(self.from) + i128::from(!self.exclusive);
        usize::try_from(span.max(0)).unwrap_or(usize::MAX)
    }

    /// Whether there is no item.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The item at `index`.
    #[must_use]
    pub fn at(self, index: usize) -> Option<i64> {
        if index >= self.len() {
            return None;
        }
        i64::try_from(i128::from(self.from) + index as i128).ok()
    }

    /// Items that a range may have where it becomes a list of them.
    pub const MOST_ITEMS: usize = 1 << 26;

    /// The least and the greatest item; nothing for an empty range.
    #[must_use]
    pub fn bounds(self) -> Option<(i64, i64)> {
        let last = if self.exclusive { self.to.checked_sub(1)? } else { self.to };
        (self.from <= last).then_some((self.from, last))
    }

    /// Returns the sum of the items. `None` if it does not fit into an int.
    #[must_use]
    pub fn sum(self) -> Option<i64> {
        let Some((first, last)) = self.bounds() else { return Some(0) };
        let (first, last) = (i128::from(first), i128::from(last));
        // At most 2^64 items of at most 2^63 each: the product has 128 bits, its sign included.
        let sum = (first + last) * (last - first + 1) / 2;
        i64::try_from(sum).ok()
    }

    /// Returns the position of the item that equals `value`, which may be a float.
    #[must_use]
    pub fn find(self, value: &Value) -> Option<usize> {
        let wanted = match value {
            Value::Int(i) => *i,
            #[allow(clippy::cast_possible_truncation)]
            Value::Float(f) if equal(&Value::Int(*f as i64), value) => *f as i64,
            _ => return None,
        };
        let at = i128::from(wanted) - i128::from(self.from);
        usize::try_from(at).ok().filter(|at| *at < self.len())
    }
}

/// `(a, b)`
#[derive(Clone)]
pub struct Pair {
    /// First.
    pub first: Value,
    /// Second.
    pub second: Value,
}

impl Drop for Pair {
    fn drop(&mut self) {
        drop::drop_values(vec![std::mem::take(&mut self.first), std::mem::take(&mut self.second)]);
    }
}

/// A function with what it captured.
pub struct Closure {
    /// Its code.
    pub proto: Rc<<ThisCrate as Machine>::Proto>,
    /// Values, or cells for captured `var`s.
    pub captures: Vec<Value>,
}

impl Drop for Closure {
    fn drop(&mut self) {
        drop::drop_values(std::mem::take(&mut self.captures));
    }
}

/// An enum's variant with its values; the number is the variant's.
pub type VariantValue = Record<EnumDef>;

impl Record<EnumDef> {
    /// The variant's name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.def().variants.get(self.tag() as usize).map_or("?", |v| v.name.as_str())
    }
}

/// A struct's values in the order of the declaration.
pub type StructValue = Record<StructDef>;

impl Record<StructDef> {
    /// The value of a field.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.def().position(name).and_then(|i| self.values().get(i))
    }

    /// Its fields with their values.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = (&Str, &Value)> + DoubleEndedIterator {
        self.def().names().zip(self.values())
    }

    /// The dict that it reads like.
    #[must_use]
    pub fn to_dict(&self) -> Dict {
        self.entries().map(|(k, v)| (k.clone(), v.clone())).collect()
    }
}

thread_local! {
    static RESULT: Rc<EnumDef> = Rc::new(EnumDef {
        name: Str::new("Result"),
        site: None,
        variants: ["Ok", "Err"]
            .map(|name| VariantDef { name: Str::new(name), in_data: Str::new(name), span: Span::default(), arity: 1 })
            .into(),
        tag: None,
        methods: crate::declaration::Methods::default(),
    });
}

impl Value {
    /// A string value.
    #[must_use]
    pub fn str(text: &str) -> Self {
        Self::Str(Str::new(text))
    }

    /// A list value.
    #[must_use]
    pub fn list(items: Vec<Self>) -> Self {
        Self::List(Rc::new(List { items }))
    }

    /// A dict value.
    #[must_use]
    pub fn dict(dict: Dict) -> Self {
        Self::Dict(Rc::new(DictBox { dict }))
    }

    /// A dict of a few entries.
    #[must_use]
    pub fn record<const N: usize>(entries: [(&str, Self); N]) -> Self {
        Self::dict(entries.into_iter().map(|(k, v)| (Str::new(k), v)).collect())
    }

    /// `(a, b)`
    #[must_use]
    pub fn pair(first: Self, second: Self) -> Self {
        Self::Pair(Rc::new(Pair { first, second }))
    }

    /// `Ok(v)`
    #[must_use]
    pub fn ok(value: Self) -> Self {
        Self::result(0, value)
    }

    /// `Err(e)`
    #[must_use]
    pub fn err(error: Self) -> Self {
        Self::result(1, error)
    }

    fn result(variant: u32, value: Self) -> Self {
        Self::Variant(Record::take(RESULT.with(Rc::clone), variant, &mut [value]))
    }

    /// The enum that `Ok` and `Err` are variants of.
    #[must_use]
    pub fn result_def() -> Rc<EnumDef> {
        RESULT.with(Rc::clone)
    }

    /// Whether it is `Ok(v)` or `Err(e)`, and which.
    #[must_use]
    pub fn as_result(&self) -> Option<Result<&Self, &Self>> {
        let Self::Variant(v) = self else { return None };
        if !RESULT.with(|r| Rc::ptr_eq(r, v.def())) {
            return None;
        }
        let inner = v.values().first()?;
        Some(if v.tag() == 0 { Ok(inner) } else { Err(inner) })
    }

    /// The raw tag; heap values have one of at least [`FIRST_HEAP_TAG`].
    #[inline(always)]
    #[must_use]
    pub(crate) fn raw_tag(&self) -> u64 {
        // SAFETY: `#[repr(u64)]` puts the discriminant in the first eight bytes.
        unsafe { *std::ptr::from_ref(self).cast::<u64>() }
    }

    /// Returns the variants that have the tags of a set, a bit each. Those after the sixteenth are left out.
    pub(crate) fn tags_where(set: impl Fn(Tag) -> bool) -> u16 {
        let variants = [
            (0, Tag::Nil),
            (2, Tag::Bool),
            (3, Tag::Int),
            (4, Tag::Float),
            (8, Tag::Str),
            (9, Tag::Bytes),
            (10, Tag::List),
            (11, Tag::Dict),
            (12, Tag::Set),
            (13, Tag::Range),
            (14, Tag::Pair),
        ];
        variants.into_iter().filter(|(_, tag)| set(*tag)).fold(0, |all, (variant, _)| all | 1 << variant)
    }

    /// Whether its variant is one of those that [`Self::tags_where`] returned.
    #[inline(always)]
    pub(crate) fn is_one_of(&self, variants: u16) -> bool {
        u32::from(variants) >> self.raw_tag() & 1 != 0
    }

    /// Whether dropping it does anything.
    #[inline(always)]
    #[must_use]
    pub(crate) fn on_heap(&self) -> bool {
        self.raw_tag() >= FIRST_HEAP_TAG
    }

    /// Whether it may hold other values, so that dropping it may go deep.
    pub(crate) fn holds_values(&self) -> bool {
        self.raw_tag() >= FIRST_HEAP_TAG + 2
    }

    /// All but `false nil 0 0.0 "" [] {}` and an empty set.
    #[inline]
    #[must_use]
    pub fn truthy(&self) -> bool {
        match self {
            Self::Bool(b) => *b,
            Self::Nil | Self::Unbound => false,
            Self::Int(i) => *i != 0,
            Self::Float(f) => *f != 0.0,
            Self::Str(s) => !s.is_empty(),
            Self::List(l) => !l.items.is_empty(),
            Self::Dict(d) => !d.dict.is_empty(),
            Self::Set(s) => !s.is_empty(),
            _ => true,
        }
    }

    /// Whether both are the same block of memory, or the same word.
    #[must_use]
    pub(crate) fn is_identical(&self, other: &Self) -> bool {
        // SAFETY: `#[repr(u64)]` puts the discriminant in the first eight bytes; the payload of a heap value is a thin
        // pointer in the second eight.
        let words = |v: &Self| unsafe { std::ptr::from_ref(v).cast::<usize>().add(1).read() };
        self.raw_tag() == other.raw_tag() && self.on_heap() && words(self) == words(other)
    }

    /// Returns the address of a collection that has several holders.
    pub(crate) fn shared_place(&self) -> Option<*const ()> {
        let (holders, place): (usize, *const ()) = match self {
            Self::Closure(c) => (Rc::strong_count(c), Rc::as_ptr(c).cast()),
            Self::List(l) => (Rc::strong_count(l), Rc::as_ptr(l).cast()),
            Self::Dict(d) => (Rc::strong_count(d), Rc::as_ptr(d).cast()),
            Self::Set(s) => (Rc::strong_count(s), Rc::as_ptr(s).cast()),
            Self::Pair(p) => (Rc::strong_count(p), Rc::as_ptr(p).cast()),
            Self::Variant(v) => (v.holders(), v.place()),
            Self::Struct(s) => (s.holders(), s.place()),
            Self::Iter(i) => (Rc::strong_count(i), Rc::as_ptr(i).cast()),
            _ => return None,
        };
        (holders > 1).then_some(place)
    }

    /// Returns the name that `type_of` returns.
    #[must_use]
    pub fn type_name(&self) -> &str {
        match self {
            Self::Nil | Self::Unbound | Self::Cell(_) => const { Kind::Nil.name() },
            Self::Bool(_) => const { Kind::Bool.name() },
            Self::Int(_) => const { Kind::Int.name() },
            Self::Float(_) => const { Kind::Float.name() },
            Self::Str(_) => const { Kind::Str.name() },
            Self::Bytes(_) => const { Kind::Bytes.name() },
            Self::List(_) => const { Kind::List.name() },
            Self::Dict(_) => const { Kind::Dict.name() },
            Self::Set(_) => const { Kind::Set.name() },
            Self::Range(_) => const { Kind::Range.name() },
            Self::Pair(_) => const { Kind::Pair.name() },
            Self::Closure(_) => "closure",
            Self::Builtin(_) => "builtin",
            Self::Variant(v) => &v.def().name,
            Self::Struct(s) => &s.def().name,
            Self::Host(h) => h.object().type_name(),
            Self::Iter(i) => i.flavor().name(),
        }
    }

    /// Returns the tag that decides which methods apply.
    #[must_use]
    pub fn tag(&self) -> Tag {
        match self {
            Self::Nil | Self::Unbound | Self::Cell(_) => Tag::Nil,
            Self::Bool(_) => Tag::Bool,
            Self::Int(_) => Tag::Int,
            Self::Float(_) => Tag::Float,
            Self::Str(_) => Tag::Str,
            Self::Bytes(_) => Tag::Bytes,
            Self::List(_) => Tag::List,
            Self::Dict(_) => Tag::Dict,
            Self::Set(_) => Tag::Set,
            Self::Range(_) => Tag::Range,
            Self::Pair(_) => Tag::Pair,
            Self::Closure(_) | Self::Builtin(_) => Tag::Function,
            Self::Variant(_) => Tag::Variant,
            Self::Struct(_) => Tag::Struct,
            Self::Host(_) => Tag::Host,
            Self::Iter(i) => match i.flavor() {
                Flavor::Iter => Tag::Iter,
                Flavor::Generator => Tag::Generator,
                Flavor::Stream => Tag::Stream,
            },
        }
    }

    /// Whether it can be called.
    #[must_use]
    pub fn is_callable(&self) -> bool {
        match self {
            Self::Closure(_) | Self::Builtin(_) => true,
            Self::Host(h) => h.object().callable().is_some(),
            _ => false,
        }
    }

    /// The string in it.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        if let Self::Str(s) = self { Some(s) } else { None }
    }

    /// The int in it.
    #[must_use]
    pub fn as_int(&self) -> Option<i64> {
        if let Self::Int(i) = self { Some(*i) } else { None }
    }

    /// The number in it.
    #[must_use]
    pub fn as_number(&self) -> Option<f64> {
        match self {
            #[allow(clippy::cast_precision_loss)]
            Self::Int(i) => Some(*i as f64),
            Self::Float(f) => Some(*f),
            _ => None,
        }
    }

    /// The elements, of a list.
    #[must_use]
    pub fn as_list(&self) -> Option<&[Self]> {
        if let Self::List(l) = self { Some(&l.items) } else { None }
    }

    /// The entries, of a dict.
    #[must_use]
    pub fn as_dict(&self) -> Option<&Dict> {
        if let Self::Dict(d) = self { Some(&d.dict) } else { None }
    }

    /// The object, of a host value made from a `T`.
    #[must_use]
    pub fn as_host<T: 'static>(&self) -> Option<&T> {
        if let Self::Host(h) = self { h.downcast() } else { None }
    }

    /// Whether it is nil.
    #[must_use]
    pub fn is_nil(&self) -> bool {
        matches!(self, Self::Nil | Self::Unbound)
    }
}

/// See [`Value::on_heap`]. A power of two above all other tags: the tags of several values joined by `|` are below it if each is.
pub(crate) const FIRST_HEAP_TAG: u64 = 8;

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::str(text)
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::str(&text)
    }
}

impl From<Str> for Value {
    fn from(text: Str) -> Self {
        Self::Str(text)
    }
}

impl From<Range> for Value {
    fn from(range: Range) -> Self {
        Self::Range(Rc::new(range))
    }
}

impl From<bool> for Value {
    fn from(b: bool) -> Self {
        Self::Bool(b)
    }
}

impl From<i64> for Value {
    fn from(i: i64) -> Self {
        Self::Int(i)
    }
}

impl From<usize> for Value {
    fn from(i: usize) -> Self {
        Self::Int(i64::try_from(i).unwrap_or(i64::MAX))
    }
}

impl From<f64> for Value {
    fn from(f: f64) -> Self {
        Self::Float(f)
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Nil, Into::into)
    }
}

impl<T: Into<Self>> From<Vec<T>> for Value {
    fn from(items: Vec<T>) -> Self {
        Self::list(items.into_iter().map(Into::into).collect())
    }
}

impl std::fmt::Debug for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&inspect(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_summed_by_formula() {
        let sum = |from, to, exclusive| Range { from, to, exclusive }.sum();
        assert_eq!(sum(1, 100, false), Some(5050));
        assert_eq!(sum(1, 100, true), Some(4950));
        assert_eq!(sum(-3, 5, false), Some(9));
        assert_eq!(sum(5, 1, false), Some(0));
        assert_eq!(sum(i64::MIN, i64::MIN, true), Some(0));
        assert_eq!(sum(-i64::MAX, i64::MAX, false), Some(0));
        assert_eq!(sum(i64::MIN, i64::MAX, false), Some(i64::MIN));
        assert_eq!(sum(0, i64::MAX, false), None);
    }

    #[test]
    fn shared_parts_are_compared_once() {
        let build = || (0..200).fold(Value::Int(1), |inner, _| Value::list(vec![inner.clone(), inner]));
        let (a, b) = (build(), build());
        assert!(equal(&a, &a.clone()) && equal(&a, &b));
        let other = (0..200).fold(Value::Int(2), |inner, _| Value::list(vec![inner.clone(), inner]));
        assert!(!equal(&a, &other));
        let nan = Value::list(vec![Value::Float(f64::NAN)]);
        assert!(!equal(&nan, &nan.clone()));
    }

    #[test]
    fn a_million_levels_drop_print_and_compare_without_a_deep_stack() {
        let build = || (0..1_000_000).fold(Value::Nil, |inner, _| Value::list(vec![inner]));
        let (a, b) = (build(), build());
        assert!(equal(&a, &b));
        assert!(display(&a).len() > 2_000_000);
        let dicts = (0..200_000).fold(Value::Nil, |inner, _| Value::record([("k", inner)]));
        drop(dicts);
    }
}
