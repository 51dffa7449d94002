//! Rows of the catalogue by what people write: a code, a family, or words.

use super::notes;
use serve::catalogue;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use stdlib::Code;

/// The most codes that are offered for an unknown one.
const MAX_NEAR: usize = 3;

/// Words that nearly every text contains.
const COMMON: [&str; 16] =
    ["a", "an", "and", "are", "be", "by", "for", "in", "is", "it", "of", "on", "or", "the", "to", "with"];

/// Returns the row of a code as people write it, or the nearest code.
pub(crate) fn find(written: &str) -> Result<&'static Code, &'static str> {
    let code = whole_code(written);
    match catalogue().into_iter().find(|row| row.code == code) {
        Some(row) => Ok(row),
        None => Err(nearest_codes(&code).first().map_or("none", |row| row.code)),
    }
}

/// Returns the code in capitals, with `HARN-` at its start.
fn whole_code(written: &str) -> String {
    let mut code = written.trim().to_ascii_uppercase();
    if !code.starts_with("HARN-") {
        code.insert_str(0, "HARN-");
    }
    // Numbers have three digits.
    match code.rsplit_once('-') {
        Some((family, number))
            if number.len() < 3 && !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) =>
        {
            format!("{family}-{number:0>3}")
        }
        _ => code,
    }
}

/// Returns whether a word has the form of a code: it begins with `HARN-` or with a family, and ends in a number.
pub(super) fn is_code(word: &str) -> bool {
    let written = word.trim().to_ascii_uppercase();
    let Some((family, number)) = written.strip_prefix("HARN-").unwrap_or(&written).rsplit_once('-') else {
        return false;
    };
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number && (written.starts_with("HARN-") || families().contains(family))
}

/// Returns the codes nearest to an unknown one, those of its family first.
pub(super) fn nearest_codes(written: &str) -> Vec<&'static Code> {
    let code = whole_code(written);
    let mut rows = catalogue();
    rows.sort_by_key(|row| {
        let is_of_family = family_of(row.code) == family_of(&code);
        (!is_of_family, strsim::damerau_levenshtein(row.code, &code))
    });
    rows.truncate(MAX_NEAR);
    rows
}

fn family_of(code: &str) -> &str {
    code.split('-').nth(1).unwrap_or_default()
}

fn families() -> BTreeSet<&'static str> {
    catalogue().into_iter().map(|row| family_of(row.code)).collect()
}

/// Returns the rows of a family: `RMD`, `HARN-RMD`, `rmd-*`.
pub(super) fn family(topic: &str) -> Option<Vec<&'static Code>> {
    let written = topic.trim().to_ascii_uppercase();
    let name = written.strip_prefix("HARN-").unwrap_or(&written).trim_end_matches('*').trim_end_matches('-');
    let rows: Vec<_> = catalogue().into_iter().filter(|row| family_of(row.code) == name).collect();
    (!rows.is_empty()).then_some(rows)
}

/// Returns the rows that contain the words, the best first: a word weighs more in a code or a title than in a text, and more
/// if few rows contain it. If no row contains all words, those with most of them are returned.
pub(super) fn by_words(topic: &str) -> Vec<&'static Code> {
    let words = words(topic);
    let rows: Vec<SearchText> = catalogue().into_iter().map(SearchText::of).collect();
    let weights: Vec<u64> = words.iter().map(|word| rarity(word, &rows)).collect();
    let mut found: Vec<(usize, u64, &SearchText)> = Vec::new();
    for row in &rows {
        let scores: Vec<u64> = words.iter().map(|word| row.score(word)).collect();
        let matched = scores.iter().filter(|score| **score > 0).count();
        let score = scores.iter().zip(&weights).map(|(score, weight)| score * weight).sum();
        found.push((matched, score, row));
    }
    let most = found.iter().map(|(matched, ..)| *matched).max().unwrap_or(0);
    found.retain(|(matched, ..)| most > 0 && *matched == most);
    // A script that only uses a word does not explain it.
    let explains = |row: &SearchText| words.iter().any(|word| row.explains(word));
    if found.iter().any(|(.., row)| explains(row)) {
        found.retain(|(.., row)| explains(row));
    }
    found.sort_by_key(|(_, score, row)| (Reverse(*score), row.code.code));
    found.into_iter().map(|(.., row)| row.code).collect()
}

/// Returns the word of the catalogue that a misspelt one probably means.
pub(super) fn nearest_word(topic: &str) -> Option<String> {
    let written = words(topic);
    let known: BTreeSet<String> = catalogue().into_iter().flat_map(|row| SearchText::of(row).words()).collect();
    written.iter().find_map(|word| {
        lang::diagnostic::nearest(word, known.iter().map(String::as_str).filter(|known| known.len() > 2))
            .map(str::to_owned)
    })
}

/// Returns the words of a topic in lower case, without those that nearly every text contains.
fn words(topic: &str) -> Vec<String> {
    let all: Vec<String> = topic.split_whitespace().map(str::to_lowercase).collect();
    let rare: Vec<String> = all.iter().filter(|word| !COMMON.contains(&word.as_str())).cloned().collect();
    if rare.is_empty() { all } else { rare }
}

/// Returns the weight of a word: 1 for one that every row contains, more the fewer do.
fn rarity(word: &str, rows: &[SearchText]) -> u64 {
    let with = rows.iter().filter(|row| row.score(word) > 0).count().max(1);
    1 + u64::from((rows.len() / with).max(1).ilog2())
}

/// The texts of a row in lower case.
struct SearchText {
    code: &'static Code,
    head: String,
    meaning: String,
    script: String,
}

impl SearchText {
    fn of(code: &'static Code) -> Self {
        let script = notes::example(code).map_or_else(String::new, |example| example.fails.to_lowercase());
        let head = format!("{} {}", code.code, code.title).to_lowercase();
        Self { code, head, meaning: notes::meaning(code).to_lowercase(), script }
    }

    /// Returns how well a word fits; 0 if the row does not contain it.
    fn score(&self, word: &str) -> u64 {
        score_in(&self.head, word) * 4 + score_in(&self.meaning, word) * 2 + score_in(&self.script, word)
    }

    fn explains(&self, word: &str) -> bool {
        score_in(&self.head, word) > 0 || score_in(&self.meaning, word) > 0
    }

    fn words(&self) -> Vec<String> {
        let part_of_word = |c: char| c.is_alphanumeric() || c == '_';
        let texts = [&self.head, &self.meaning];
        texts.iter().flat_map(|text| text.split(|c| !part_of_word(c))).map(str::to_owned).collect()
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(topic: &str) -> Vec<&'static str> {
        by_words(topic).iter().map(|row| row.code).collect()
    }

    #[test]
    fn a_code_is_found_in_any_case_and_without_its_family_prefix() {
        assert_eq!(find("harn-nam-001").map(|row| row.code), Ok("HARN-NAM-001"));
        assert_eq!(find("nam-001").map(|row| row.code), Ok("HARN-NAM-001"));
        assert_eq!(find("rmd-6").map(|row| row.code), Ok("HARN-RMD-006"));
        assert_eq!(find("HARN-NAN-001").map(|row| row.code), Err("HARN-NAM-001"));
    }

    #[test]
    fn words_that_have_the_form_of_a_code_are_codes() {
        for word in ["HARN-RMD-005", "rmd-005", "harn-xyz-1", "HARN-RMD-5"] {
            assert!(is_code(word), "{word}");
        }
        for word in ["rmd", "HARN-RMD", "utf-8", "--max-memory", "", "-", "HARN-"] {
            assert!(!is_code(word), "{word}");
        }
    }

    #[test]
    fn a_family_is_found_in_each_spelling() {
        for topic in ["rmd", "RMD", "HARN-RMD", "harn-rmd-", "rmd-*"] {
            let rows = family(topic).unwrap_or_default();
            assert!(rows.len() == 8 && rows.iter().all(|row| row.code.starts_with("HARN-RMD-")), "{topic}");
        }
        assert!(family("xyz").is_none() && family("").is_none());
    }

    #[test]
    fn titles_come_before_texts_and_all_words_before_some() {
        assert_eq!(codes("comment closed").first(), Some(&"HARN-LEX-003"));
        let found = codes("ttl turns");
        assert!(found.first().is_some_and(|code| code.starts_with("HARN-RMD-")), "{found:?}");
        assert_eq!(codes("xylophone"), Vec::<&str>::new());
        assert_eq!(codes("denied").first(), Some(&"HARN-RUN-014"));
        // Rows that only use a word in a script come if no row explains it.
        let deadline = by_words("deadline");
        assert!(!deadline.is_empty() && deadline.iter().all(|row| SearchText::of(row).explains("deadline")));
        let mock = by_words("mock");
        assert!(!mock.is_empty() && !mock.iter().any(|row| SearchText::of(row).explains("mock")));
        assert_eq!(codes("comment xylophone"), codes("comment"));
    }

    #[test]
    fn nearest_codes_are_of_the_same_family_first() {
        let near: Vec<_> = nearest_codes("rmd-05").iter().map(|row| row.code).collect();
        assert_eq!(near.first(), Some(&"HARN-RMD-005"));
        assert!(near.len() == MAX_NEAR && near.iter().all(|code| code.starts_with("HARN-RMD-")), "{near:?}");
    }

    #[test]
    fn a_misspelt_word_has_a_nearest_one() {
        assert_eq!(nearest_word("propagte").as_deref(), Some("propagate"));
        assert_eq!(nearest_word("xylophone"), None);
    }
}
