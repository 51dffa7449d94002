//! Builtins by what people write: words, and names of other languages.

use super::lookup::lookup;
use crate::report::visible;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use stdlib::{Builtin, builtins_elsewhere, nearest_builtin_word, search_builtins};

/// The most builtins that are listed.
const MAX_FOUND: usize = 8;

/// Returns what fits words that are not the name of a builtin: the builtin for a name of another language, or those that their
/// texts fit, the best first.
///
/// # Errors
/// Returns the message for words that no text contains.
pub(crate) fn search(topic: &str) -> Result<String, String> {
    if let Some(found) = elsewhere(topic) {
        return Ok(found);
    }
    let found = search_builtins(topic);
    if found.is_empty() {
        let near = nearest_builtin_word(topic);
        let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
        return Err(format!("no builtin fits `{}`{near}", visible(topic)));
    }
    let mut text = String::new();
    for row in found.iter().take(MAX_FOUND) {
        let _ = writeln!(text, "{}\n  {}", row.full_name(), first_sentence(row));
    }
    if found.len() > MAX_FOUND {
        let _ = writeln!(text, "\n{} more fit; `harn doc NAME` shows one", found.len() - MAX_FOUND);
    }
    Ok(text)
}

/// Returns the advice for a name of another language, and the documentation of the builtins that it names.
pub(super) fn elsewhere(topic: &str) -> Option<String> {
    let (help, rows) = builtins_elsewhere(topic)?;
    let names: BTreeSet<&str> = rows.iter().map(|row| row.name).collect();
    let pages: String = names.iter().filter_map(|name| lookup(name).ok()).collect();
    (!pages.is_empty()).then(|| format!("{topic}: {help}\n\n{pages}"))
}

fn first_sentence(row: &Builtin) -> String {
    let text = row.summary().split_whitespace().collect::<Vec<_>>().join(" ");
    text.find(". ").map_or(text.clone(), |end| text[..=end].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Phrases that a new user types, and the entry that must come first.
    const PHRASES: [(&str, &str); 26] = [
        ("parse a date", "date_parse"),
        ("format a date", "date_format"),
        ("current time", "now"),
        ("csv", "csv_parse"),
        ("read a file", "read_file"),
        ("list a folder", "list_dir"),
        ("delete a file", "delete_file"),
        ("environment variable", "env"),
        ("run a command", "exec"),
        ("http request", "http_request"),
        ("url encode", "url_encode"),
        ("random number", "random"),
        ("shuffle a list", "list.shuffle"),
        ("parse json", "json_parse"),
        ("regex test", "regex_test"),
        ("sha256", "sha256"),
        ("base64 decode", "base64_decode"),
        ("unified diff", "diff"),
        ("render a template", "render"),
        ("ask a model", "llm_call"),
        ("inject reminder", "transcript.inject_reminder"),
        ("sleep", "sleep"),
        ("front matter", "front_matter"),
        ("html to text", "html_to_text"),
        ("parse yaml", "yaml_parse"),
        ("join path", "path_join"),
    ];

    #[test]
    fn phrases_find_their_entry_first() {
        let mut wrong = Vec::new();
        for (phrase, wanted) in PHRASES {
            let found: Vec<String> = search_builtins(phrase).iter().take(4).map(|row| row.full_name()).collect();
            if found.first().is_none_or(|first| first != wanted) {
                wrong.push(format!("{phrase}: {found:?} in place of {wanted}"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn names_of_other_languages_find_the_builtin() {
        for (name, wanted) in [("strptime", "date_parse"), ("JSON.parse", "json_parse"), ("os.getcwd", "cwd")] {
            let shown = search(name).expect(name);
            assert!(shown.contains(wanted), "{name}: {shown}");
        }
    }

    #[test]
    fn words_that_fit_nothing_are_an_error() {
        assert_eq!(search("qqqq"), Err("no builtin fits `qqqq`".to_owned()));
        assert!(search("tempalte").is_err_and(|message| message.contains("did you mean `template`?")));
    }
}
