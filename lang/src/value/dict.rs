//! The dict value: string keys, insertion-ordered inside, read in key order.
//!
//! Up to eight entries are scanned; more get a hash index. Entries stay where they are while nothing is removed, so a
//! position found once is a good guess next time (the VM's field caches). Reading in key order sorts at most once per
//! change.

use super::meter::charge_copy;
use super::{Str, Value};
use hashbrown::HashTable;
use std::cell::OnceCell;
use std::rc::Rc;

const SCANNED: usize = 8;

/// A dict's entries.
#[derive(Default)]
pub struct Dict {
    entries: Vec<(Str, Value)>,
    index: Option<Box<HashTable<u32>>>,
    /// Positions of many entries in key order, until the next key comes or goes.
    order: OnceCell<Rc<[u32]>>,
}

impl Dict {
    /// An empty dict.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty dict with room.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        Self { entries: Vec::with_capacity(capacity), ..Self::default() }
    }

    /// Returns the number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the index of `key`, looking at `hint` first.
    #[inline]
    #[must_use]
    pub fn position_near(&self, key: &Str, hint: usize) -> Option<usize> {
        match self.entries.get(hint) {
            Some((k, _)) if k.same(key) => Some(hint),
            _ => self.position(key),
        }
    }

    /// The value at a position, if it is that of this very key.
    #[inline(always)]
    #[must_use]
    pub(crate) fn at_if(&self, position: usize, key: &Str) -> Option<&Value> {
        self.entries.get(position).filter(|(k, _)| k.same(key)).map(|(_, v)| v)
    }

    /// Returns the index of `key`.
    #[must_use]
    pub fn position(&self, key: &Str) -> Option<usize> {
        match &self.index {
            None => self.entries.iter().position(|(k, _)| k == key),
            Some(index) => {
                index.find(spread(key.hash32()), |&i| self.entries[i as usize].0 == *key).map(|&i| i as usize)
            }
        }
    }

    fn position_str(&self, key: &str) -> Option<usize> {
        match &self.index {
            None => self.entries.iter().position(|(k, _)| k.as_str() == key),
            Some(_) => self.position(&Str::new(key)),
        }
    }

    /// The value at a position that [`Self::position`] gave.
    #[must_use]
    pub fn at(&self, position: usize) -> Option<&Value> {
        self.entries.get(position).map(|(_, v)| v)
    }

    /// The value at a position, to change it.
    pub fn at_mut(&mut self, position: usize) -> Option<&mut Value> {
        self.entries.get_mut(position).map(|(_, v)| v)
    }

    /// The slot at a position that [`Self::position`] gave.
    pub(crate) fn at_place(&mut self, position: usize) -> &mut Value {
        &mut self.entries[position].1
    }

    /// The value of `key`.
    #[must_use]
    pub fn get(&self, key: &Str) -> Option<&Value> {
        self.position(key).map(|i| &self.entries[i].1)
    }

    /// The value of `key`.
    #[must_use]
    pub fn get_str(&self, key: &str) -> Option<&Value> {
        self.position_str(key).map(|i| &self.entries[i].1)
    }

    /// Whether `key` is there.
    #[must_use]
    pub fn contains(&self, key: &Str) -> bool {
        self.position(key).is_some()
    }

    /// Sets `key`; an older value comes back.
    pub fn insert(&mut self, key: Str, value: Value) -> Option<Value> {
        if let Some(i) = self.position(&key) {
            return Some(std::mem::replace(&mut self.entries[i].1, value));
        }
        let _ = self.push_new(key, value);
        None
    }

    /// The slot of `key`, made with nil when it is not there.
    pub fn slot(&mut self, key: &Str) -> &mut Value {
        let i = match self.position(key) {
            Some(i) => i,
            None => self.push_new(key.clone(), Value::Nil),
        };
        &mut self.entries[i].1
    }

    fn push_new(&mut self, key: Str, value: Value) -> usize {
        let i = self.entries.len();
        self.order.take();
        self.entries.push((key, value));
        let entries = &self.entries;
        let rehash = |&i: &u32| spread(entries[i as usize].0.hash32());
        match &mut self.index {
            Some(index) => {
                let at = u32::try_from(i).unwrap_or(u32::MAX);
                index.insert_unique(rehash(&at), at, rehash);
            }
            None if entries.len() > SCANNED => {
                let mut index = HashTable::with_capacity(entries.len() * 2);
                for (i, (k, _)) in entries.iter().enumerate() {
                    index.insert_unique(spread(k.hash32()), u32::try_from(i).unwrap_or(u32::MAX), rehash);
                }
                self.index = Some(Box::new(index));
            }
            None => {}
        }
        i
    }

    /// Removes `key`; the last entry takes its place.
    pub fn remove(&mut self, key: &Str) -> Option<Value> {
        let i = self.position(key)?;
        self.order.take();
        let last = self.entries.len() - 1;
        if let Some(index) = &mut self.index {
            let hash_of = |at: usize| spread(self.entries[at].0.hash32());
            if let Ok(entry) = index.find_entry(hash_of(i), |&at| at as usize == i) {
                entry.remove();
            }
            if let Some(moved) = index.find_mut(hash_of(last), |&at| at as usize == last) {
                *moved = u32::try_from(i).unwrap_or(u32::MAX);
            }
        }
        Some(self.entries.swap_remove(i).1)
    }

    /// The entries in bytewise key order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Str, &Value)> + DoubleEndedIterator {
        let order = if self.entries.len() <= SCANNED { self.order_of_few() } else { Order::Many(self.order()) };
        (0..self.entries.len()).map(move |i| {
            let at = match &order {
                Order::Few(order) => usize::from(order[i]),
                Order::Many(order) => order[i] as usize,
            };
            let (k, v) = &self.entries[at];
            (k, v)
        })
    }

    /// Sorting a few keys anew costs less than a block to keep their order in.
    fn order_of_few(&self) -> Order {
        let mut order = [0_u8; SCANNED];
        for (i, (key, _)) in self.entries.iter().enumerate() {
            let mut at = i;
            while at > 0 && self.entries[usize::from(order[at - 1])].0 > *key {
                order[at] = order[at - 1];
                at -= 1;
            }
            order[at] = u8::try_from(i).unwrap_or(0);
        }
        Order::Few(order)
    }

    /// The values in no particular order.
    pub(super) fn values(&self) -> impl Iterator<Item = &Value> {
        self.entries.iter().map(|(_, v)| v)
    }

    /// The values in no particular order, to change them.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut Value> {
        self.entries.iter_mut().map(|(_, v)| v)
    }

    fn order(&self) -> Rc<[u32]> {
        self.order
            .get_or_init(|| {
                let mut order: Vec<u32> = (0..u32::try_from(self.entries.len()).unwrap_or(u32::MAX)).collect();
                order.sort_by(|&a, &b| self.entries[a as usize].0.cmp(&self.entries[b as usize].0));
                order.into()
            })
            .clone()
    }

    pub(super) fn take_values(&mut self) -> Vec<Value> {
        self.index = None;
        self.order.take();
        std::mem::take(&mut self.entries).into_iter().map(|(_, v)| v).collect()
    }
}

/// Positions in key order.
enum Order {
    Few([u8; SCANNED]),
    Many(Rc<[u32]>),
}

/// The table tells buckets apart by the top bits of a hash, so 32 bits must be spread over 64.
fn spread(hash: u32) -> u64 {
    u64::from(hash).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

impl Clone for Dict {
    fn clone(&self) -> Self {
        charge_copy(self.entries.len());
        // The order cache is shared: the copy has the same keys at the same places.
        Self { entries: self.entries.clone(), index: self.index.clone(), order: self.order.clone() }
    }
}

impl FromIterator<(Str, Value)> for Dict {
    fn from_iter<T: IntoIterator<Item = (Str, Value)>>(items: T) -> Self {
        let items = items.into_iter();
        let mut dict = Self::with_capacity(items.size_hint().0);
        for (k, v) in items {
            dict.insert(k, v);
        }
        dict
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_in_key_order_whatever_the_size() {
        for n in [3_i64, 8, 9, 100] {
            let mut d = Dict::new();
            for i in (0..n).rev() {
                d.insert(Str::new(&format!("k{i:03}")), Value::Int(i));
            }
            let read: Vec<i64> =
                d.iter().filter_map(|(_, v)| if let Value::Int(i) = v { Some(*i) } else { None }).collect();
            assert_eq!(read, (0..n).collect::<Vec<_>>());
            assert!(matches!(d.remove(&Str::new("k001")), Some(Value::Int(1))));
            assert!(d.get_str("k001").is_none());
            assert!(matches!(d.get_str("k002"), Some(Value::Int(2))));
            assert_eq!(d.len() as i64, n - 1);
        }
    }
}
