//! Keys of dicts that cross between script and core. They are the same few words again and again (`text`, `ok`,
//! `iteration`), so each of them is a block that was made before, on either side.
//!
//! A word has one place, found by a hash; another one that belongs there takes it over. So the table never
//! grows, and what a script makes up costs no more than a block of its own.

use lang::value::Str;
use std::cell::RefCell;
use std::ops::Deref;
use std::sync::Arc;

const PLACES: usize = 256;

/// The maximum length of a key: longer ones belong to no protocol.
const LONGEST: usize = 32;

struct Words<T>([Option<T>; PLACES]);

thread_local! {
    static OF_VALUES: RefCell<Words<Str>> = const { RefCell::new(Words([const { None }; PLACES])) };
    static OF_DATA: RefCell<Words<Arc<str>>> = const { RefCell::new(Words([const { None }; PLACES])) };
}

/// A key as a dict of the language holds it.
pub(crate) fn of_value(word: &str) -> Str {
    OF_VALUES.with_borrow_mut(|words| words.get(word, Str::new))
}

/// A key as data holds it.
pub(super) fn of_data(word: &str) -> Arc<str> {
    OF_DATA.with_borrow_mut(|words| words.get(word, |word| word.into()))
}

impl<T: Clone + Deref<Target = str>> Words<T> {
    fn get(&mut self, word: &str, make: impl FnOnce(&str) -> T) -> T {
        let Some(place) = place(word) else { return make(word) };
        match &mut self.0[place] {
            Some(held) if **held == *word => held.clone(),
            other => other.insert(make(word)).clone(),
        }
    }
}

fn place(word: &str) -> Option<usize> {
    (word.len() <= LONGEST).then(|| mixed(word.as_bytes()) % PLACES)
}

/// A number of the ends of a word and its length: two words with the same ends take turns at one place.
fn mixed(word: &[u8]) -> usize {
    let (first, last) = match (word.first_chunk::<8>(), word.last_chunk::<8>()) {
        (Some(first), Some(last)) => (u64::from_le_bytes(*first), u64::from_le_bytes(*last)),
        _ => match (word.first_chunk::<4>(), word.last_chunk::<4>()) {
            (Some(first), Some(last)) => (u32::from_le_bytes(*first).into(), u32::from_le_bytes(*last).into()),
            _ => (word.iter().fold(0, |all, byte| all << 8 | u64::from(*byte)), 0),
        },
    };
    let ends = first ^ last.rotate_left(29) ^ word.len() as u64;
    // The upper bits of the product depend on all of the word's; 56 of 64 are left out.
    (ends.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_made_once_until_another_takes_its_place() {
        let (first, again) = (of_value("iteration"), of_value("iteration"));
        assert!(first.same(&again));
        let long = "x".repeat(LONGEST + 1);
        assert!(!of_value(&long).same(&of_value(&long)));
        assert_eq!(of_value("").as_str(), "");
        for n in 0..10 * PLACES {
            let word = format!("key{n}");
            assert_eq!((of_value(&word).as_str(), &*of_data(&word)), (word.as_str(), word.as_str()));
        }
        assert_eq!(of_value("iteration"), first);
    }
}
