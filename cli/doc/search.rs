//! Builtins by what people write: words, and names of other languages.

use super::lookup::lookup;
use crate::report::visible;
use crate::word_search::{SearchText, Synonyms, nearest_word, rank};
use lang::name_elsewhere;
use std::fmt::Write as _;
use stdlib::{Builtin, builtins};

/// The most builtins that are listed.
const MAX_FOUND: usize = 8;

/// Words that people search for, each with a word of the texts.
const SYNONYMS: Synonyms = &[
    ("average", "mean"),
    ("ask", "asks"),
    ("check", "whether"),
    ("command", "program"),
    ("convert", "parses"),
    ("current", "present"),
    ("datetime", "date"),
    ("delete", "removes"),
    ("dictionary", "dict"),
    ("directory", "folder"),
    ("directories", "folder"),
    ("download", "http"),
    ("duplicates", "unique"),
    ("environment", "env"),
    ("execute", "exec"),
    ("fetch", "http"),
    ("hash", "sha256"),
    ("html", "html"),
    ("json", "json"),
    ("length", "number"),
    ("llm", "model"),
    ("lowercase", "lower"),
    ("map", "dict"),
    ("merge", "deep_merge"),
    ("mkdir", "make_dir"),
    ("object", "dict"),
    ("pause", "sleep"),
    ("print", "println"),
    ("process", "program"),
    ("random", "random"),
    ("regex", "regex"),
    ("regexp", "regex"),
    ("rm", "remove"),
    ("run", "exec"),
    ("shell", "program"),
    ("string", "text"),
    ("substring", "part"),
    ("time", "moment"),
    ("timestamp", "moment"),
    ("today", "today"),
    ("uppercase", "upper"),
    ("wait", "sleep"),
];

/// Returns what fits words that are not the name of a builtin: the builtin for a name of another language, or those that their
/// texts fit, the best first.
///
/// # Errors
/// Returns the message for words that no text contains.
pub(crate) fn search(topic: &str) -> Result<String, String> {
    if let Some(found) = elsewhere(topic) {
        return Ok(found);
    }
    let found = find(topic);
    if found.is_empty() {
        let near = nearest_word(topic, &texts(&rows()));
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

/// Words that describe a builtin beside its name, for builtins whose name alone is rarely thought of.
const MORE_WORDS: &[(&str, &str)] = &[
    ("exec", "run a command or program"),
    ("now", "current time clock"),
    ("render", "fill a template"),
    ("round_to", "round a number to digits"),
    ("llm_call", "ask a model once"),
];

/// Returns the builtins that fit words, the best first.
fn find(topic: &str) -> Vec<&'static Builtin> {
    let rows = rows();
    // An underscore joins the words of a name, and a dot follows a namespace.
    let topic = topic.replace(['_', '.'], " ").to_lowercase();
    let mut found: Vec<_> = rank(&topic, &texts(&rows), SYNONYMS).into_iter().map(|at| rows[at]).collect();
    // A name that consists of the words comes before texts that contain them.
    let is_named = |row: &Builtin| row.name.split('_').all(|part| topic.split_whitespace().any(|word| word == part));
    // Other agents are asked for by their protocol.
    let is_meant = |row: &Builtin| !is_remote(row) || topic.contains(row.module);
    found.sort_by_key(|row| (!is_named(row), !is_meant(row)));
    found
}

/// Whether a builtin is one of another agent or of a server.
fn is_remote(row: &Builtin) -> bool {
    matches!(row.module, "a2a" | "hub" | "mcp" | "channel")
}

/// The builtins: functions before methods, those of other agents last, and short names before long ones.
fn rows() -> Vec<&'static Builtin> {
    let mut rows: Vec<_> = builtins().collect();
    rows.sort_by_key(|row| (row.is_method(), is_remote(row), row.name.len(), row.full_name()));
    rows
}

fn texts(rows: &[&'static Builtin]) -> Vec<SearchText> {
    let text = |row: &&'static Builtin| SearchText {
        head: {
            let more = MORE_WORDS.iter().find(|(name, _)| *name == row.full_name()).map_or("", |(_, words)| words);
            format!("{} {more}", row.full_name().replace(['_', '.'], " ")).to_lowercase()
        },
        body: row.summary().split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase(),
        script: row.example().map_or_else(String::new, |lines| lines.collect::<Vec<_>>().join(" ").to_lowercase()),
    };
    rows.iter().map(text).collect()
}

/// Returns the advice for a name of another language, and the documentation of the builtins that it names.
pub(super) fn elsewhere(topic: &str) -> Option<String> {
    let help = name_elsewhere(topic.trim_end_matches("()"))?;
    let quoted = help.split('`').skip(1).step_by(2);
    let name = |code: &'static str| code.split('(').next().map(|name| name.rsplit('.').next().unwrap_or(name));
    let names: Vec<_> = quoted.filter_map(name).filter(|name| builtins().any(|row| row.name == *name)).collect();
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
            let found: Vec<String> = find(phrase).iter().take(4).map(|row| row.full_name()).collect();
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
