//! Rows of the catalogue by what people write: a code, a family, or words.

use super::catalogue;
use super::notes;
use std::collections::BTreeSet;
use stdlib::Code;
use stdlib::word_search::{self, SearchText, Synonyms, rank};

/// The most codes that are offered for an unknown one.
pub(super) const MAX_NEAR: usize = 3;

/// Returns the row of a code as people write it, or the nearest code.
pub(crate) fn find(written: &str) -> Result<&'static Code, &'static str> {
    let code = whole_code(written);
    match catalogue().into_iter().find(|row| row.code == code) {
        Some(row) => Ok(row),
        None => Err(nearest_codes(&code).first().map_or("none", |row| row.code)),
    }
}

/// Returns the code that a word means, in whatever case and with whatever separators it is written.
fn whole_code(written: &str) -> String {
    if let Some(code) = code_of_family(written) {
        return code;
    }
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

/// Returns the code of a known family: `rmd5`, `rmd-005`, `HARN_RMD_005`, and `HARN-RMD-0O5`, in which a letter looks like the
/// digit that was meant.
fn code_of_family(written: &str) -> Option<String> {
    let letters: String = written.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_uppercase()).collect();
    let letters = letters.strip_prefix("HARN").unwrap_or(&letters);
    let looks_alike = |family: &&str| {
        let start = letters.get(..family.len()).map(|start| start.chars().map(shape));
        start.is_some_and(|start| start.eq(family.chars().map(shape)))
    };
    // `LIM` and `LLM` look alike, and each means itself.
    let exact = families().into_iter().find(|family| letters.starts_with(family));
    let family = exact.or_else(|| families().into_iter().find(looks_alike))?;
    let written = &letters[family.len()..];
    let number: String = written.chars().map(|c| if shape(c) == 'O' { '0' } else { one(c) }).collect();
    let is_number = (1..=3).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit());
    // `typo` is a word.
    (is_number && written.contains(|c: char| c.is_ascii_digit())).then(|| format!("HARN-{family}-{number:0>3}"))
}

/// Returns a character that stands for those which look alike.
const fn shape(c: char) -> char {
    match c {
        '0' => 'O',
        '1' | 'L' => 'I',
        other => other,
    }
}

/// Returns the digit 1 for the letters that look like it.
const fn one(c: char) -> char {
    if shape(c) == 'I' { '1' } else { c }
}

/// Returns whether a word has the form of a code: it begins with `HARN-` or with a family, and ends in a number.
pub(super) fn is_code(word: &str) -> bool {
    if code_of_family(word).is_some() {
        return true;
    }
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

/// Returns the rows that contain the words, the best first.
pub(super) fn by_words(topic: &str) -> Vec<&'static Code> {
    let rows = rows();
    rank(topic, &texts(&rows), SYNONYMS).into_iter().map(|at| rows[at]).collect()
}

/// Returns the word of the catalogue that a misspelt one probably means.
pub(super) fn nearest_word(topic: &str) -> Option<String> {
    word_search::nearest_word(topic, &texts(&rows()))
}

/// The rows in the order of their codes.
fn rows() -> Vec<&'static Code> {
    let mut rows: Vec<_> = catalogue().into_iter().collect();
    rows.sort_by_key(|row| row.code);
    rows
}

fn texts(rows: &[&'static Code]) -> Vec<SearchText> {
    let text = |row: &&'static Code| SearchText {
        head: format!("{} {}", row.code, row.title).to_lowercase(),
        body: notes::meaning(row).to_lowercase(),
        script: notes::example(row).map_or_else(String::new, |example| example.fails.to_lowercase()),
    };
    rows.iter().map(text).collect()
}

/// Words that people search for, and the word of the catalogue.
const SYNONYMS: Synonyms = &[
    ("arity", "arguments"),
    ("forbidden", "denied"),
    ("identifier", "name"),
    ("infinite", "nested"),
    ("nonexistent", "unknown"),
    ("null", "nil"),
    ("oom", "memory"),
    ("paren", "bracket"),
    ("parenthesis", "bracket"),
    ("permission", "capability"),
    ("recursion", "nested"),
    ("symbol", "name"),
    ("undeclared", "unknown"),
    ("undefined", "unknown"),
    ("unresolved", "unknown"),
    ("unterminated", "unclosed"),
    ("variable", "name"),
];

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
        for written in ["rmd-6", "rmd006", "Rmd6", "HARN_RMD_006", "harn rmd 6", "HARN-RMD-OO6", "[HARN-RMD-006]:"] {
            assert_eq!(find(written).map(|row| row.code), Ok("HARN-RMD-006"), "{written}");
        }
        for row in catalogue() {
            assert_eq!(find(row.code).map(|found| found.code), Ok(row.code));
        }
        assert_eq!(find("nam-0O1").map(|row| row.code), Ok("HARN-NAM-001"));
        assert_eq!(find("RUN-0l0").map(|row| row.code), Ok("HARN-RUN-010"));
        assert_eq!(find("lO-004").map(|row| row.code), Ok("HARN-IO-004"));
        assert_eq!(find("HARN-NAN-001").map(|row| row.code), Err("HARN-NAM-001"));
    }

    #[test]
    fn words_that_have_the_form_of_a_code_are_codes() {
        for word in ["HARN-RMD-005", "rmd-005", "harn-xyz-1", "HARN-RMD-5", "rmd005", "RMD5", "a2a101"] {
            assert!(is_code(word), "{word}");
        }
        for word in ["rmd", "HARN-RMD", "typo", "utf-8", "--max-memory", "", "-", "HARN-"] {
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
        assert_eq!(codes("undefined variable").first(), Some(&"HARN-NAM-001"));
        assert_eq!(codes("unterminated string").first(), Some(&"HARN-LEX-002"));
        assert_eq!(codes("denied").first(), Some(&"HARN-RUN-014"));
        // Rows that only use a word in a script come if no row explains it.
        let deadline = by_words("deadline");
        assert!(!deadline.is_empty() && deadline.iter().all(|row| texts(&[row])[0].explains("deadline", SYNONYMS)));
        let mock = by_words("llm_mock");
        assert!(!mock.is_empty() && !mock.iter().any(|row| texts(&[row])[0].explains("llm_mock", SYNONYMS)));
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
