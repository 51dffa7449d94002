//! The set value: members in the order of insertion, `1` and `1.0` one member.

use super::{Value, equal};
use hashbrown::HashTable;
use std::cell::RefCell;
use std::hash::{DefaultHasher, Hash, Hasher};

/// A set's members.
#[derive(Default)]
pub struct Set {
    items: Vec<Value>,
    index: RefCell<HashTable<u32>>,
}

impl Set {
    /// How many members.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The members in the order of insertion.
    #[must_use]
    pub fn items(&self) -> &[Value] {
        &self.items
    }

    /// Whether `value` is a member.
    #[must_use]
    pub fn contains(&self, value: &Value) -> bool {
        self.index.borrow().find(hash(value), |&i| equal(&self.items[i as usize], value)).is_some()
    }

    /// Adds `value`; false when it was a member.
    pub fn add(&mut self, value: Value) -> bool {
        if self.contains(&value) {
            return false;
        }
        let at = u32::try_from(self.items.len()).unwrap_or(u32::MAX);
        let key = hash(&value);
        self.items.push(value);
        let items = &self.items;
        self.index.get_mut().insert_unique(key, at, |&i| hash(&items[i as usize]));
        true
    }

    /// The set without `value`.
    #[must_use]
    pub fn without(&self, value: &Value) -> Self {
        self.items.iter().filter(|i| !equal(i, value)).cloned().collect()
    }
}

impl Clone for Set {
    fn clone(&self) -> Self {
        Self { items: self.items.clone(), index: RefCell::new(self.index.borrow().clone()) }
    }
}

impl Drop for Set {
    fn drop(&mut self) {
        super::drop::drop_values(std::mem::take(&mut self.items));
    }
}

impl FromIterator<Value> for Set {
    fn from_iter<T: IntoIterator<Item = Value>>(items: T) -> Self {
        let mut set = Self::default();
        for item in items {
            set.add(item);
        }
        set
    }
}

/// A hash that equal values share. Collections hash by kind and size only: enough to tell most apart, never deep.
fn hash(value: &Value) -> u64 {
    let mut h = DefaultHasher::new();
    match value {
        Value::Int(i) => number(*i as f64).hash(&mut h),
        Value::Float(f) => number(*f).hash(&mut h),
        Value::Str(s) => s.as_str().hash(&mut h),
        Value::Bool(b) => b.hash(&mut h),
        Value::List(l) => {
            (1_u8, l.items.len()).hash(&mut h);
            for item in l.items.iter().take(4) {
                if let Value::Int(_) | Value::Float(_) | Value::Str(_) = item {
                    hash(item).hash(&mut h);
                }
            }
        }
        Value::Dict(d) => (2_u8, d.dict.len()).hash(&mut h),
        Value::Pair(p) => {
            for item in [&p.first, &p.second] {
                if let Value::Int(_) | Value::Float(_) | Value::Str(_) = item {
                    hash(item).hash(&mut h);
                }
            }
        }
        other => other.type_name().hash(&mut h),
    }
    h.finish()
}

/// Zero has two signs and one hash.
fn number(f: f64) -> u64 {
    if f == 0.0 { 0 } else { f.to_bits() }
}
