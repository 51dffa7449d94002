//! [`Entries`]: the entries of a dict. Most dicts have a handful, so up to [`Entries::FEW`] lie side by side in one block; more are a
//! tree, so that a large one costs no more than it must.
//!
//! The order is that of the keys, because equal dicts must be written as equal JSON; `indexmap` keeps the order of insertion, and hashes
//! each key on top of it.

use std::collections::{BTreeMap, btree_map};
use std::fmt;
use std::iter::FusedIterator;
use std::ops::Bound;
use std::sync::Arc;

use super::Data;

/// An entry.
type Entry = (Arc<str>, Data);

/// The entries of a dict, in bytewise order of their keys.
#[derive(Clone)]
pub struct Entries(Form);

#[derive(Clone)]
enum Form {
    /// In order.
    Few(Vec<Entry>),
    /// Boxed, so that the usual dict need not have room for it.
    #[allow(clippy::box_collection)]
    Many(Box<BTreeMap<Arc<str>, Data>>),
}

impl Entries {
    /// Number of entries up to which lookups are linear.
    pub const FEW: usize = 16;

    /// No entries.
    #[must_use]
    pub const fn new() -> Entries {
        Entries(Form::Few(Vec::new()))
    }

    /// Creates an empty list of entries with room for `count`.
    #[must_use]
    pub fn with_capacity(count: usize) -> Entries {
        Entries(Form::Few(Vec::with_capacity(count.min(Self::FEW))))
    }

    /// Returns the number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.0 {
            Form::Few(all) => all.len(),
            Form::Many(all) => all.len(),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value under a key.
    #[inline]
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Data> {
        match &self.0 {
            Form::Few(all) => all.iter().find(|(known, _)| known.as_ref() == key).map(|(_, value)| value),
            Form::Many(all) => all.get(key),
        }
    }

    /// The entry under a key.
    #[must_use]
    pub fn get_key_value(&self, key: &str) -> Option<(&Arc<str>, &Data)> {
        match &self.0 {
            Form::Few(all) => all.iter().find(|(known, _)| known.as_ref() == key).map(|(key, value)| (key, value)),
            Form::Many(all) => all.get_key_value(key),
        }
    }

    /// The value under a key, to be changed.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Data> {
        match &mut self.0 {
            Form::Few(all) => all.iter_mut().find(|(known, _)| known.as_ref() == key).map(|(_, value)| value),
            Form::Many(all) => all.get_mut(key),
        }
    }

    /// Whether there is such a key.
    #[must_use]
    pub fn contains_key(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Puts an entry in; the value that was there before.
    pub fn insert(&mut self, key: Arc<str>, value: Data) -> Option<Data> {
        let all = match &mut self.0 {
            Form::Few(all) => all,
            Form::Many(all) => return all.insert(key, value),
        };
        // Most come in order.
        let is_last = all.last().is_none_or(|(last, _)| *last < key);
        let place = if is_last { Err(all.len()) } else { all.binary_search_by(|(known, _)| known.cmp(&key)) };
        match place {
            Ok(known) => return all.get_mut(known).map(|(_, known)| std::mem::replace(known, value)),
            Err(place) if all.len() < Self::FEW => all.insert(place, (key, value)),
            Err(_) => {
                let mut many: BTreeMap<_, _> = std::mem::take(all).into_iter().collect();
                many.insert(key, value);
                self.0 = Form::Many(Box::new(many));
            }
        }
        None
    }

    /// Takes an entry out; its value.
    pub fn remove(&mut self, key: &str) -> Option<Data> {
        match &mut self.0 {
            Form::Few(all) => {
                let place = all.iter().position(|(known, _)| known.as_ref() == key)?;
                Some(all.remove(place).1)
            }
            Form::Many(all) => all.remove(key),
        }
    }

    /// Keeps those that are meant.
    pub fn retain(&mut self, mut meant: impl FnMut(&Arc<str>, &mut Data) -> bool) {
        match &mut self.0 {
            Form::Few(all) => all.retain_mut(|(key, value)| meant(key, value)),
            Form::Many(all) => all.retain(meant),
        }
    }

    /// The entries, in order of their keys.
    #[must_use]
    pub fn iter(&self) -> Iter<'_> {
        Iter(match &self.0 {
            Form::Few(all) => Walk::Few(all.iter()),
            Form::Many(all) => Walk::Many(all.iter()),
        })
    }

    /// Returns the first entry after `key`, which need not exist; with `None`, the first of all.
    #[must_use]
    pub fn behind(&self, key: Option<&str>) -> Option<(&Arc<str>, &Data)> {
        match &self.0 {
            Form::Few(all) => {
                let place = key.map_or(0, |key| all.partition_point(|(known, _)| known.as_ref() <= key));
                all.get(place).map(|(key, value)| (key, value))
            }
            Form::Many(all) => {
                let from = key.map_or(Bound::Unbounded, Bound::Excluded);
                all.range::<str, _>((from, Bound::Unbounded)).next()
            }
        }
    }

    /// The keys, in order.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &Arc<str>> + ExactSizeIterator + Clone {
        self.iter().map(|(key, _)| key)
    }

    /// The values, in order of their keys.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &Data> + ExactSizeIterator + Clone {
        self.iter().map(|(_, value)| value)
    }
}

impl Default for Entries {
    fn default() -> Entries {
        Entries::new()
    }
}

impl PartialEq for Entries {
    fn eq(&self, other: &Entries) -> bool {
        self.len() == other.len() && self.iter().eq(other)
    }
}

impl fmt::Debug for Entries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self).finish()
    }
}

impl FromIterator<Entry> for Entries {
    /// The later of two entries with the same key wins.
    fn from_iter<I: IntoIterator<Item = Entry>>(entries: I) -> Entries {
        let entries = entries.into_iter();
        let count = entries.size_hint().0;
        if count > Self::FEW {
            // At once: one by one they would be looked up one by one.
            return Entries(Form::Many(Box::new(entries.collect())));
        }
        let mut all = Entries::with_capacity(count);
        all.extend(entries);
        all
    }
}

impl Extend<Entry> for Entries {
    fn extend<I: IntoIterator<Item = Entry>>(&mut self, entries: I) {
        for (key, value) in entries {
            self.insert(key, value);
        }
    }
}

impl<const N: usize> From<[Entry; N]> for Entries {
    fn from(entries: [Entry; N]) -> Entries {
        entries.into_iter().collect()
    }
}

/// Entries, in order of their keys.
#[derive(Clone)]
pub struct Iter<'a>(Walk<'a>);

#[derive(Clone)]
enum Walk<'a> {
    Few(std::slice::Iter<'a, Entry>),
    Many(btree_map::Iter<'a, Arc<str>, Data>),
}

impl<'a> Iterator for Iter<'a> {
    type Item = (&'a Arc<str>, &'a Data);

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Walk::Few(left) => left.next().map(|(key, value)| (key, value)),
            Walk::Many(left) => left.next(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match &self.0 {
            Walk::Few(left) => left.size_hint(),
            Walk::Many(left) => left.size_hint(),
        }
    }
}

impl DoubleEndedIterator for Iter<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Walk::Few(left) => left.next_back().map(|(key, value)| (key, value)),
            Walk::Many(left) => left.next_back(),
        }
    }
}

impl ExactSizeIterator for Iter<'_> {}
impl FusedIterator for Iter<'_> {}

impl<'a> IntoIterator for &'a Entries {
    type Item = (&'a Arc<str>, &'a Data);
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

/// Entries that are taken, in order of their keys.
pub struct IntoIter(Taken);

enum Taken {
    Few(std::vec::IntoIter<Entry>),
    Many(btree_map::IntoIter<Arc<str>, Data>),
}

impl Iterator for IntoIter {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        match &mut self.0 {
            Taken::Few(left) => left.next(),
            Taken::Many(left) => left.next(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match &self.0 {
            Taken::Few(left) => left.size_hint(),
            Taken::Many(left) => left.size_hint(),
        }
    }
}

impl ExactSizeIterator for IntoIter {}

impl IntoIterator for Entries {
    type Item = Entry;
    type IntoIter = IntoIter;

    fn into_iter(self) -> IntoIter {
        IntoIter(match self.0 {
            Form::Few(all) => Taken::Few(all.into_iter()),
            Form::Many(all) => Taken::Many(all.into_iter()),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn they_are_what_a_tree_of_the_same_entries_is(
            steps in prop::collection::vec((0..3_u8, 0..40_i64), 0..120)
        ) {
            let (mut entries, mut tree) = (Entries::new(), BTreeMap::new());
            for (step, (what, number)) in steps.into_iter().enumerate() {
                let key: Arc<str> = format!("k{number}").into();
                match what {
                    0 => prop_assert_eq!(entries.remove(&key), tree.remove(&key)),
                    _ => {
                        let value = Data::from(step);
                        prop_assert_eq!(entries.insert(key.clone(), value.clone()), tree.insert(key, value));
                    }
                }
                prop_assert_eq!(entries.len(), tree.len());
                prop_assert!(entries.iter().eq(&tree) && entries.iter().rev().eq(tree.iter().rev()));
            }
            for number in 0..40 {
                prop_assert_eq!(entries.get(&format!("k{number}")), tree.get(format!("k{number}").as_str()));
            }
            let mut walked = Vec::new();
            while let Some((key, _)) = entries.behind(walked.last().map(AsRef::<str>::as_ref)) {
                walked.push(key.clone());
            }
            prop_assert!(walked.iter().eq(tree.keys()));
            prop_assert_eq!(&tree.clone().into_iter().collect::<Entries>(), &entries);
            prop_assert!(entries.clone().into_iter().eq(tree.clone()));
            entries.retain(|_, value| value.as_int().is_some_and(|n| n % 2 == 0));
            tree.retain(|_, value| value.as_int().is_some_and(|n| n % 2 == 0));
            prop_assert!(entries.iter().eq(&tree));
        }
    }
}
