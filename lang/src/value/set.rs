//! The set value: members in the order of insertion, `1` and `1.0` one member.

use super::meter::charge_copy;
use super::{Meter, Value, equal};
use crate::hash::hasher;
use hashbrown::HashTable;
use std::cell::OnceCell;
use std::hash::{Hash, Hasher};

/// A set's members.
///
/// Removing leaves a hole, so that it costs O(1); holes are closed when they outnumber the members. Holes at either end
/// are left out at once, so that a set that is emptied from there is read without looking for its members.
#[derive(Default)]
pub struct Set {
    /// Members and holes (`Value::Unbound`).
    slots: Vec<Value>,
    /// Index of the first member.
    start: usize,
    /// Number of members.
    len: usize,
    index: HashTable<u32>,
    /// The members without the holes between them, made when they are read.
    dense: OnceCell<Vec<Value>>,
}

impl Set {
    /// Returns the number of members.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The members in the order of insertion.
    #[must_use]
    pub fn items(&self) -> &[Value] {
        let live = &self.slots[self.start..];
        if live.len() == self.len {
            return live;
        }
        self.dense.get_or_init(|| live.iter().filter(|v| !is_hole(v)).cloned().collect())
    }

    /// Whether `value` is a member.
    #[must_use]
    pub fn contains(&self, value: &Value) -> bool {
        self.index.find(hash(value), |&i| equal(&self.slots[i as usize], value)).is_some()
    }

    /// The members that may equal `value`: those with the same hash, and few others.
    pub(super) fn candidates(&self, value: &Value) -> Vec<Value> {
        self.index.iter_hash(hash(value)).map(|&i| self.slots[i as usize].clone()).collect()
    }

    /// Adds `value`; false when it was a member.
    pub fn add(&mut self, value: Value) -> bool {
        if self.contains(&value) {
            return false;
        }
        self.close_holes_that_were_read();
        let at = u32::try_from(self.slots.len()).unwrap_or(u32::MAX);
        let key = hash(&value);
        self.slots.push(value);
        self.len += 1;
        let slots = &self.slots;
        self.index.insert_unique(key, at, |&i| hash(&slots[i as usize]));
        true
    }

    /// Removes `value`; false when it was no member.
    pub fn remove(&mut self, value: &Value) -> bool {
        self.close_holes_that_were_read();
        let slots = &mut self.slots;
        let Ok(entry) = self.index.find_entry(hash(value), |&i| equal(&slots[i as usize], value)) else { return false };
        let (at, _) = entry.remove();
        slots[at as usize] = Value::Unbound;
        self.len -= 1;
        while slots.last().is_some_and(is_hole) {
            slots.pop();
        }
        while slots.get(self.start).is_some_and(is_hole) {
            self.start += 1;
        }
        self.start = self.start.min(slots.len());
        if slots.len() > 2 * self.len + 8 {
            let members = slots.drain(..).filter(|v| !is_hole(v)).collect();
            self.rebuild(members);
        }
        true
    }

    /// Somebody went through the members, which took as long as closing the holes does.
    fn close_holes_that_were_read(&mut self) {
        if let Some(members) = self.dense.take() {
            self.rebuild(members);
        }
    }

    fn rebuild(&mut self, members: Vec<Value>) {
        charge_copy(members.len());
        self.slots = members;
        self.start = 0;
        self.index.clear();
        let slots = &self.slots;
        for (at, member) in slots.iter().enumerate() {
            let at = u32::try_from(at).unwrap_or(u32::MAX);
            self.index.insert_unique(hash(member), at, |&i| hash(&slots[i as usize]));
        }
    }
}

fn is_hole(slot: &Value) -> bool {
    matches!(slot, Value::Unbound)
}

impl Clone for Set {
    fn clone(&self) -> Self {
        charge_copy(self.slots.len());
        Self {
            slots: self.slots.clone(),
            start: self.start,
            len: self.len,
            index: self.index.clone(),
            dense: OnceCell::new(),
        }
    }
}

impl Drop for Set {
    fn drop(&mut self) {
        super::drop::drop_values(self.dense.take().unwrap_or_default());
        super::drop::drop_values(std::mem::take(&mut self.slots));
    }
}

impl FromIterator<Value> for Set {
    fn from_iter<T: IntoIterator<Item = Value>>(items: T) -> Self {
        let mut set = Self::default();
        for item in items {
            if Meter::is_stopped() {
                break;
            }
            set.add(item);
        }
        set
    }
}

/// A hash that equal values share. Collections hash by kind and size only: enough to tell most apart, never deep.
fn hash(value: &Value) -> u64 {
    let mut h = hasher();
    match value {
        Value::Int(i) => number(*i as f64).hash(&mut h),
        Value::Float(f) => number(*f).hash(&mut h),
        Value::Str(s) => s.hash32().hash(&mut h),
        Value::Bool(b) => b.hash(&mut h),
        Value::List(l) => parts(1, &l.items, &mut h),
        Value::Dict(d) => (2_u8, d.dict.len()).hash(&mut h),
        Value::Set(s) => (3_u8, s.len()).hash(&mut h),
        Value::Pair(p) => {
            parts(4, std::slice::from_ref(&p.first), &mut h);
            parts(4, std::slice::from_ref(&p.second), &mut h);
        }
        Value::Variant(v) => parts(v.tag(), v.values(), &mut h),
        Value::Struct(s) => parts(5, s.values(), &mut h),
        other => other.type_name().hash(&mut h),
    }
    h.finish()
}

/// The first few of what a value holds, as far as they are scalars.
fn parts(kind: impl Hash, items: &[Value], h: &mut impl Hasher) {
    (kind, items.len()).hash(h);
    for item in items.iter().take(4) {
        if let Value::Int(_) | Value::Float(_) | Value::Str(_) = item {
            hash(item).hash(h);
        }
    }
}

/// Zero has two signs and one hash.
fn number(f: f64) -> u64 {
    if f == 0.0 { 0 } else { f.to_bits() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ints(set: &Set) -> Vec<i64> {
        set.items().iter().filter_map(Value::as_int).collect()
    }

    #[test]
    fn members_keep_their_order_whatever_is_removed() {
        let mut set: Set = (0..100).map(Value::Int).collect();
        let mut kept: Vec<i64> = (0..100).collect();
        for i in (0..100).map(|i| i * 37 % 101) {
            assert_eq!(set.remove(&Value::Int(i)), kept.contains(&i));
            kept.retain(|k| *k != i);
            if i % 7 == 0 {
                assert_eq!(ints(&set), kept);
            }
            if i % 10 == 0 {
                set.add(Value::Int(i + 1000));
                kept.push(i + 1000);
            }
            assert!(set.slots.len() <= 2 * set.len() + 9);
            assert!(kept.iter().all(|k| set.contains(&Value::Int(*k))) && set.len() == kept.len());
        }
        assert_eq!(ints(&set.clone()), kept);
    }
}
