//! The words of a text, as recall compares them: those of Unicode (UAX #29, so every Han character is one), cut where an
//! identifier has a seam (`snake_case`, `camelCase`, `path/to.rs`, letter to digit), in lower case. No stemming, no stop words:
//! what is in every claim weighs nothing anyway.

use std::collections::BTreeMap;

use unicode_segmentation::UnicodeSegmentation;

use super::Fact;

/// The words of a text with their counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Terms {
    counts: BTreeMap<String, u32>,
    /// The number of words, with repetitions.
    pub(super) length: u32,
}

impl Terms {
    /// The words of a text.
    pub(super) fn of(text: &str) -> Terms {
        let mut terms = Terms::default();
        for word in text.unicode_words() {
            parts(word, |part| terms.add(part));
        }
        terms
    }

    /// The words of a fact: its claim and what its evidence refers to.
    pub(super) fn of_fact(fact: &Fact) -> Terms {
        let mut text = fact.draft.claim.to_string();
        for evidence in &fact.draft.evidence {
            text.push(' ');
            text.push_str(&evidence.reference);
        }
        Terms::of(&text)
    }

    fn add(&mut self, part: &str) {
        *self.counts.entry(part.to_lowercase()).or_default() += 1;
        self.length += 1;
    }

    /// Returns the number of occurrences of a word.
    pub(super) fn count(&self, word: &str) -> u32 {
        self.counts.get(word).copied().unwrap_or(0)
    }

    /// The words, each once, in order.
    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        self.counts.keys().map(String::as_str)
    }
}

/// The parts of a word: `parseHTTPRequest2` is parse, HTTP, Request, 2.
fn parts(word: &str, mut add: impl FnMut(&str)) {
    for run in word.split(|c: char| !c.is_alphanumeric()).filter(|run| !run.is_empty()) {
        let chars: Vec<(usize, char)> = run.char_indices().collect();
        let mut start = 0;
        for window in 1..chars.len() {
            let (before, (at, here)) = (chars[window - 1].1, chars[window]);
            let after = chars.get(window + 1).map(|(_, c)| *c);
            let rises = before.is_lowercase() && here.is_uppercase();
            // The last capital of several begins the next word.
            let falls = before.is_uppercase() && here.is_uppercase() && after.is_some_and(char::is_lowercase);
            if rises || falls || before.is_numeric() != here.is_numeric() {
                add(&run[start..at]);
                start = at;
            }
        }
        add(&run[start..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_unicode_and_identifiers_have_seams() {
        for (text, words) in [
            ("Build cancels in-flight calls.", "build calls cancels flight in"),
            ("suspend_agent parseHTTPRequest2 XMLFile", "2 agent file http parse request suspend xml"),
            ("crates/harn-vm/src/cancel.rs:1", "1 cancel crates harn rs src vm"),
            ("Grüße ÄRGER", "grüße ärger"),
            ("日本語", "日 本 語"),
            ("don't  --  …", "don t"),
            ("", ""),
        ] {
            assert_eq!(Terms::of(text).words().collect::<Vec<_>>().join(" "), words, "{text}");
        }
        let terms = Terms::of("a b A");
        assert_eq!((terms.length, terms.count("a"), terms.count("c")), (3, 2, 0));
    }
}
