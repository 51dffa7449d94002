//! [`SeenTexts`]: texts that were shown before, for messages that are shown once.

use std::collections::HashSet;

/// A set of seen texts with a capacity. When it is full it is cleared, and a text counts as new again: a daemon runs
/// for months, and a message with a number in it is a different text each time.
#[derive(Debug)]
pub struct SeenTexts {
    texts: HashSet<String>,
    capacity: usize,
}

impl SeenTexts {
    /// Returns an empty set that holds at most `capacity` texts.
    #[must_use]
    pub fn new(capacity: usize) -> SeenTexts {
        SeenTexts { texts: HashSet::new(), capacity }
    }

    /// Adds a text. Returns whether it is new.
    pub fn insert(&mut self, text: String) -> bool {
        if self.texts.len() >= self.capacity && !self.texts.contains(&text) {
            self.texts.clear();
        }
        self.texts.insert(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_new_once_and_the_set_stays_small() {
        let mut seen = SeenTexts::new(3);
        let new = |seen: &mut SeenTexts, text: &str| seen.insert(text.to_owned());
        assert!(new(&mut seen, "a") && new(&mut seen, "b") && new(&mut seen, "c"));
        assert!(!new(&mut seen, "a") && !new(&mut seen, "c"));
        assert!(new(&mut seen, "d"), "the fourth makes the others unknown");
        assert!(!new(&mut seen, "d") && new(&mut seen, "a"));
        assert!(seen.texts.len() <= 3);
    }
}
