//! Search by words in short texts with a head: rows of the catalogue, and builtins.

use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Words that nearly every text contains.
const COMMON: [&str; 22] = [
    "a", "an", "and", "are", "as", "at", "be", "by", "do", "for", "from", "how", "in", "is", "it", "of", "on", "or",
    "the", "to", "with", "i",
];

/// A text that is searched, in lower case.
pub struct SearchText {
    /// Its name and title.
    pub head: String,
    /// Its text.
    pub body: String,
    /// A script that belongs to it.
    pub script: String,
}

/// Words that people search for, each with a word of the texts that means the same.
pub type Synonyms = &'static [(&'static str, &'static str)];

/// Returns the numbers of the texts that contain the words of a topic, the best first: a word weighs more in a head than in a
/// body, and more if few texts contain it. If no text contains all words, those with most of them are returned.
#[must_use]
pub fn rank(topic: &str, texts: &[SearchText], synonyms: Synonyms) -> Vec<usize> {
    let words = words(topic);
    let weights: Vec<u64> = words.iter().map(|word| rarity(word, texts, synonyms)).collect();
    let mut found: Vec<(usize, u64, usize)> = Vec::new();
    for (at, text) in texts.iter().enumerate() {
        let scores: Vec<u64> = words.iter().map(|word| text.score(word, synonyms)).collect();
        let matched = scores.iter().filter(|score| **score > 0).count();
        let score = scores.iter().zip(&weights).map(|(score, weight)| score * weight).sum();
        found.push((matched, score, at));
    }
    let most = found.iter().map(|(matched, ..)| *matched).max().unwrap_or(0);
    found.retain(|(matched, ..)| most > 0 && *matched == most);
    // A script that only uses a word does not explain it.
    let explains = |at: usize| words.iter().any(|word| texts[at].explains(word, synonyms));
    if found.iter().any(|(.., at)| explains(*at)) {
        found.retain(|(.., at)| explains(*at));
    }
    found.sort_by_key(|(_, score, at)| (Reverse(*score), *at));
    found.into_iter().map(|(.., at)| at).collect()
}

/// Returns the word of the texts that a misspelt one of the topic probably means.
#[must_use]
pub fn nearest_word(topic: &str, texts: &[SearchText]) -> Option<String> {
    let known: BTreeSet<&str> = texts.iter().flat_map(SearchText::words).filter(|known| known.len() > 2).collect();
    words(topic).iter().find_map(|word| lang::diagnostic::nearest(word, known.iter().copied()).map(str::to_owned))
}

/// Returns the words of a topic in lower case, without those that nearly every text contains.
fn words(topic: &str) -> Vec<String> {
    let all: Vec<String> = topic.split_whitespace().map(str::to_lowercase).collect();
    let rare: Vec<String> = all.iter().filter(|word| !COMMON.contains(&word.as_str())).cloned().collect();
    if rare.is_empty() { all } else { rare }
}

/// Returns the weight of a word: 1 for one that every text contains, more the fewer do.
fn rarity(word: &str, texts: &[SearchText], synonyms: Synonyms) -> u64 {
    let with = texts.iter().filter(|text| text.score(word, synonyms) > 0).count().max(1);
    1 + u64::from((texts.len() / with).max(1).ilog2())
}

impl SearchText {
    /// Returns how well a word, or one that means the same here, fits; 0 if the text contains none of them.
    fn score(&self, word: &str, synonyms: Synonyms) -> u64 {
        let score =
            |word: &str| score_in(&self.head, word) * 4 + score_in(&self.body, word) * 2 + score_in(&self.script, word);
        alike(word, synonyms).map(score).max().unwrap_or(0)
    }

    /// Whether more than a script contains a word, or one that means the same.
    #[must_use]
    pub fn explains(&self, word: &str, synonyms: Synonyms) -> bool {
        alike(word, synonyms).any(|word| score_in(&self.head, word) > 0 || score_in(&self.body, word) > 0)
    }

    fn words(&self) -> impl Iterator<Item = &str> {
        let part_of_word = |c: char| c.is_alphanumeric() || c == '_';
        [&self.head, &self.body].into_iter().flat_map(move |text| text.split(move |c| !part_of_word(c)))
    }
}

/// Returns a word, and those that mean the same.
fn alike(word: &str, synonyms: Synonyms) -> impl Iterator<Item = &str> {
    let synonyms = synonyms.iter().filter(move |(written, _)| *written == word).map(|(_, known)| *known);
    std::iter::once(word).chain(synonyms)
}

/// Returns 3 for a whole word, 2 for the start of one, 1 for another part, 0 if the text does not contain it.
fn score_in(text: &str, word: &str) -> u64 {
    let is_part = |c: char| c.is_alphanumeric();
    let mut best = 0;
    for (at, _) in text.match_indices(word) {
        let begins = !text[..at].chars().next_back().is_some_and(is_part);
        let ends = !text[at + word.len()..].chars().next().is_some_and(is_part);
        best = best.max(if begins && ends { 3 } else { 1 + u64::from(begins) });
    }
    best
}
