//! [`Entries`]: the entries of a dict. Most dicts are small, so up to [`Entries::FEW`] are stored in one block; more
//! are a tree, so that a large dict stays efficient.
//!
//! The order is that of the keys, because equal dicts must be written as equal JSON; `indexmap` keeps the order of
//! insertion, and hashes each key in addition.

use std::collections::{BTreeMap, btree_map};
use std::fmt;
use std::iter::FusedIterator;
use std::ops::Bound;
use std::sync::Arc;

use super::Data;

/// An entry.
type DataEntry = (Arc<str>, Data);

/// The entries of a dict, in bytewise order of their keys.
#[derive(Clone)]
pub struct Entries(EntriesForm);

#[derive(Clone)]
enum EntriesForm {
    /// In order.
    Few(Vec<DataEntry>),
    /// Boxed, so that the usual dict reserves no room for it.
    #[allow(clippy::box_collection)]
    Many(Box<BTreeMap<Arc<str>, Data>>),
}

impl Entries {
    /// Number of entries up to which lookups are linear.
    pub const FEW: usize = 16;

    /// Creates an empty dict.
    #[must_use]
    pub const fn new() -> Entries {
        Entries(EntriesForm::Few(Vec::new()))
    }

    /// Creates an empty list of entries with room for `count`.
    #[must_use]
    pub fn with_capacity(count: usize) -> Entries {
        Entries(EntriesForm::Few(Vec::with_capacity(count.min(Self::FEW))))
    }

    /// Builds the tree of many entries. The later of two with the same key wins. It takes a list, so that the sort of the standard
    /// library is compiled once, and not for each kind of iterator.
    fn tree(entries: Vec<DataEntry>) -> Entries {
        Entries(EntriesForm::Many(Box::new(entries.into_iter().collect())))
    }

    /// Returns the number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.0 {
            EntriesForm::Few(all) => all.len(),
            EntriesForm::Many(all) => all.len(),
        }
    }

    /// Returns whether it is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the value under a key.
    #[inline]
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Data> {
        match &self.0 {
            EntriesForm::Few(all) => all.iter().find(|(known, _)| known.as_ref() == key).map(|(_, value)| value),
            EntriesForm::Many(all) => all.get(key),
        }
    }

    /// Returns the entry under a key.
    #[must_use]
    pub fn get_key_value(&self, key: &str) -> Option<(&Arc<str>, &Data)> {
        match &self.0 {
            EntriesForm::Few(all) => {
                all.iter().find(|(known, _)| known.as_ref() == key).map(|(key, value)| (key, value))
            }
            EntriesForm::Many(all) => all.get_key_value(key),
        }
    }

    /// Returns the value under a key for modification.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Data> {
        match &mut self.0 {
            EntriesForm::Few(all) => all.iter_mut().find(|(known, _)| known.as_ref() == key).map(|(_, value)| value),
            EntriesForm::Many(all) => all.get_mut(key),
        }
    }

    /// Returns whether the key exists.
    #[must_use]
    pub fn contains_key(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Inserts an entry and returns the previous value.
    pub fn insert(&mut self, key: Arc<str>, value: Data) -> Option<Data> {
        let all = match &mut self.0 {
            EntriesForm::Few(all) => all,
            EntriesForm::Many(all) => return all.insert(key, value),
        };
        // Most entries come in order.
        let is_last = all.last().is_none_or(|(last, _)| *last < key);
        let place = if is_last { Err(all.len()) } else { all.binary_search_by(|(known, _)| known.cmp(&key)) };
        match place {
            Ok(known) => return all.get_mut(known).map(|(_, known)| std::mem::replace(known, value)),
            Err(place) if all.len() < Self::FEW => all.insert(place, (key, value)),
            Err(_) => {
                all.push((key, value));
                *self = Entries::tree(std::mem::take(all));
            }
        }
        None
    }

    /// Removes an entry and returns its value.
    pub fn remove(&mut self, key: &str) -> Option<Data> {
        match &mut self.0 {
            EntriesForm::Few(all) => {
                let place = all.iter().position(|(known, _)| known.as_ref() == key)?;
                Some(all.remove(place).1)
            }
            EntriesForm::Many(all) => all.remove(key),
        }
    }

    /// Keeps the entries for which `meant` returns true.
    pub fn retain(&mut self, mut meant: impl FnMut(&Arc<str>, &mut Data) -> bool) {
        match &mut self.0 {
            EntriesForm::Few(all) => all.retain_mut(|(key, value)| meant(key, value)),
            EntriesForm::Many(all) => all.retain(meant),
        }
    }

    /// Returns the entries, in order of their keys.
    #[must_use]
    pub fn iter(&self) -> EntriesIter<'_> {
        EntriesIter(match &self.0 {
            EntriesForm::Few(all) => EntriesCursor::Few(all.iter()),
            EntriesForm::Many(all) => EntriesCursor::Many(all.iter()),
        })
    }

    /// Returns the first entry after `key`, which need not exist; with `None`, the first of all.
    #[must_use]
    pub fn behind(&self, key: Option<&str>) -> Option<(&Arc<str>, &Data)> {
        match &self.0 {
            EntriesForm::Few(all) => {
                let place = key.map_or(0, |key| all.partition_point(|(known, _)| known.as_ref() <= key));
                all.get(place).map(|(key, value)| (key, value))
            }
            EntriesForm::Many(all) => {
                let from = key.map_or(Bound::Unbounded, Bound::Excluded);
                all.range::<str, _>((from, Bound::Unbounded)).next()
            }
        }
    }

    /// Returns the keys, in order.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &Arc<str>> + ExactSizeIterator + Clone {
        self.iter().map(|(key, _)| key)
    }

    /// Returns the values, in order of their keys.
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

impl FromIterator<DataEntry> for Entries {
    /// The later of two entries with the same key wins.
    fn from_iter<I: IntoIterator<Item = DataEntry>>(entries: I) -> Entries {
        let entries = entries.into_iter();
        let count = entries.size_hint().0;
        if count > Self::FEW {
            // Built at once, because inserting one by one would search for each.
            return Entries::tree(entries.collect());
        }
        let mut all = Entries::with_capacity(count);
        all.extend(entries);
        all
    }
}

impl Extend<DataEntry> for Entries {
    fn extend<I: IntoIterator<Item = DataEntry>>(&mut self, entries: I) {
        for (key, value) in entries {
            self.insert(key, value);
        }
    }
}

impl<const N: usize> From<[DataEntry; N]> for Entries {
    fn from(entries: [DataEntry; N]) -> Entries {
        entries.into_iter().collect()
    }
}

/// Entries, in order of their keys.
#[derive(Clone)]
pub struct EntriesIter<'a>(EntriesCursor<'a>);

#[derive(Clone)]
enum EntriesCursor<'a> {
    Few(std::slice::Iter<'a, DataEntry>),
    Many(btree_map::Iter<'a, Arc<str>, Data>),
}

impl<'a> Iterator for EntriesIter<'a> {
    type Item = (&'a Arc<str>, &'a Data);

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            EntriesCursor::Few(left) => left.next().map(|(key, value)| (key, value)),
            EntriesCursor::Many(left) => left.next(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match &self.0 {
            EntriesCursor::Few(left) => left.size_hint(),
            EntriesCursor::Many(left) => left.size_hint(),
        }
    }
}

impl DoubleEndedIterator for EntriesIter<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            EntriesCursor::Few(left) => left.next_back().map(|(key, value)| (key, value)),
            EntriesCursor::Many(left) => left.next_back(),
        }
    }
}

impl ExactSizeIterator for EntriesIter<'_> {}
impl FusedIterator for EntriesIter<'_> {}

impl<'a> IntoIterator for &'a Entries {
    type Item = (&'a Arc<str>, &'a Data);
    type IntoIter = EntriesIter<'a>;

    fn into_iter(self) -> EntriesIter<'a> {
        self.iter()
    }
}

/// Owned entries, in order of their keys.
pub struct IntoIter(EntriesIntoIter);

enum EntriesIntoIter {
    Few(std::vec::IntoIter<DataEntry>),
    Many(btree_map::IntoIter<Arc<str>, Data>),
}

impl Iterator for IntoIter {
    type Item = DataEntry;

    fn next(&mut self) -> Option<DataEntry> {
        match &mut self.0 {
            EntriesIntoIter::Few(left) => left.next(),
            EntriesIntoIter::Many(left) => left.next(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match &self.0 {
            EntriesIntoIter::Few(left) => left.size_hint(),
            EntriesIntoIter::Many(left) => left.size_hint(),
        }
    }
}

impl ExactSizeIterator for IntoIter {}

impl IntoIterator for Entries {
    type Item = DataEntry;
    type IntoIter = IntoIter;

    fn into_iter(self) -> IntoIter {
        IntoIter(match self.0 {
            EntriesForm::Few(all) => EntriesIntoIter::Few(all.into_iter()),
            EntriesForm::Many(all) => EntriesIntoIter::Many(all.into_iter()),
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
