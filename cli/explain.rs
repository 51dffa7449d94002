//! `harn explain TOPIC`: the meaning of diagnostic codes.
//!
//! - `search`: rows by code, by family and by words.
//! - `occurrences`: the codes in the output of another command.
//! - `page`: rows as text and as JSON.
//! - `notes`: additions of the command to rows of the language.

mod notes;
mod occurrences;
mod page;
mod search;

use crate::report::{visible, wants_color};
use crate::stdout;
use serde_json::{Value, json};
#[cfg(feature = "serve")]
use serve::catalogue;
use stdlib::Code;
#[cfg(not(feature = "serve"))]
use stdlib::catalogue;

#[cfg(feature = "repl")]
pub(crate) use page::list;
use page::page;
use search::find;

#[derive(clap::Args)]
pub(crate) struct ExplainArgs {
    /// Codes such as HARN-RMD-005 or rmd5, a family such as HARN-RMD, words to search for, or `-` for the codes in
    /// standard input; without a topic, all codes are listed
    #[arg(value_name = "TOPIC")]
    topic: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &ExplainArgs) -> i32 {
    let color = wants_color(&std::io::stdout()) && !args.json;
    let text = match args.topic.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => Ok(page::rows(&catalogue(), args.json)),
        ["-"] => of_input(args.json, color),
        words => topic(words, args.json, color).map_err(|unknown| {
            eprint!("error: {unknown}");
            2
        }),
    };
    match text {
        Ok(text) => stdout::exit_code(stdout::print(&text), 0),
        Err(code) => code,
    }
}

/// Explains codes, a family, or what contains the words.
///
/// # Errors
/// Returns what is unknown, and what is nearest to it.
pub(crate) fn topic(words: &[&str], json: bool, color: bool) -> Result<String, String> {
    let topic = words.join(" ");
    // A code in several words, such as `rmd 5`.
    if search::is_code(&topic)
        && let Ok(row) = find(&topic)
    {
        return Ok(page::pages(&[row], json, color));
    }
    if words.iter().all(|word| search::is_code(word)) {
        let rows: Vec<_> = words.iter().map(|word| find(word).map_err(|_| *word)).collect();
        let unknown: Vec<String> = rows.iter().filter_map(|row| row.err()).map(unknown_code).collect();
        if !unknown.is_empty() {
            return Err(unknown.join("error: "));
        }
        return Ok(page::pages(&rows.into_iter().flatten().collect::<Vec<_>>(), json, color));
    }
    if let Some(rows) = search::family(&topic) {
        return Ok(page::rows(&rows, json));
    }
    match search::by_words(&topic).as_slice() {
        [] => Err(no_match(&topic)),
        [row] if !json => Ok(page(row, color)),
        rows => Ok(page::rows(rows, json)),
    }
}

/// Explains each code in standard input once, in the order in which they occur.
fn of_input(json: bool, color: bool) -> Result<String, i32> {
    let found = match occurrences::of(std::io::stdin().lock()) {
        Ok(found) => found,
        Err(error) => {
            eprintln!("error: cannot read standard input: {error}");
            return Err(1);
        }
    };
    let mut known: Vec<(&'static Code, u64)> = Vec::new();
    for (code, count) in &found {
        match find(code) {
            Ok(row) => known.push((row, *count)),
            Err(_) => eprint!("error: {}", unknown_code(code)),
        }
    }
    if known.is_empty() {
        if found.is_empty() {
            eprintln!("error: standard input contains no diagnostic code");
            eprintln!("  help: pipe both streams of a command, for example `harn run FILE 2>&1 | harn explain -`");
        }
        return Err(1);
    }
    if json {
        let rows = known.iter().map(|(row, count)| {
            let mut value = page::whole(row);
            value["occurrences"] = json!(count);
            value
        });
        return Ok(page::pretty(&Value::Array(rows.collect())));
    }
    let mut text = String::new();
    for (i, (row, count)) in known.iter().enumerate() {
        let (before, times) = (if i > 0 { "\n" } else { "" }, if *count == 1 { "time" } else { "times" });
        text.push_str(&format!("{before}{} occurs {count} {times}.\n\n{}", row.code, page(row, color)));
    }
    Ok(text)
}

/// Returns what to say about a code that is not in the catalogue: those nearest to it.
fn unknown_code(code: &str) -> String {
    format!("unknown code `{}`\n  help: the nearest codes are\n{}", visible(code), listed(&search::nearest_codes(code)))
}

/// Returns what to say about words that no row contains.
fn no_match(topic: &str) -> String {
    let help = match search::nearest_word(topic) {
        Some(near) => {
            let rows = search::by_words(&near);
            let first = &rows[..rows.len().min(search::MAX_NEAR)];
            format!("did you mean `{near}`?\n{}", listed(first))
        }
        None => "use other words; `harn explain` lists all codes\n".to_owned(),
    };
    format!("no diagnostic matches `{}`\n  help: {help}", visible(topic))
}

fn listed(rows: &[&Code]) -> String {
    rows.iter().map(|row| format!("    {}  {}\n", row.code, row.title)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flags_of_a_limit_are_on_its_page_in_its_json_and_in_the_search() {
        let row = find("LIM-001").unwrap_or_else(|near| panic!("{near}"));
        assert!(!row.meaning.contains("--max-memory"), "{}", row.meaning);
        assert!(page(row, false).contains("--max-memory"), "{}", page(row, false));
        let json = page::whole(row);
        assert!(json["meaning"].as_str().is_some_and(|text| text.contains("--max-memory")), "{json}");
        assert!(search::by_words("--max-memory").iter().any(|found| found.code == row.code));
    }
}
