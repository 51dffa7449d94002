//! `harn explain [CODE]`: what a diagnostic code means. The picture is drawn by really checking or running the script.

mod notes;

use crate::report::wants_color;
use crate::stdout;
use serde_json::{Value, json};
use serve::catalogue;
use std::path::Path;
use std::rc::Rc;
use stdlib::limits::RunLimits;
use stdlib::output::Captured;
use stdlib::{Capability, Code, CodeRef, Diagnostic, Engine, Files, RunOptions, Source, draw, shown};

#[derive(clap::Args)]
pub(crate) struct ExplainArgs {
    /// Code such as HARN-RMD-005 or rmd-005, family such as RMD, or words to search for; without a topic, all codes are
    /// listed
    #[arg(value_name = "TOPIC")]
    topic: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &ExplainArgs) -> i32 {
    let color = wants_color(&std::io::stdout()) && !args.json;
    let topic = args.topic.join(" ");
    let text = match find(&topic) {
        _ if topic.is_empty() => rows(&catalogue(), args.json),
        Ok(row) if args.json => pretty(&whole(row)),
        Ok(row) => page(row, color),
        Err(near) => match search(&topic).as_slice() {
            [] => {
                let topic: String = topic.chars().filter_map(shown).collect();
                eprintln!("error: no diagnostic matches `{topic}`; the nearest code is {near}");
                eprintln!(
                    "  help: `harn explain` lists all codes, and `harn explain WORDS` searches their titles and \
                    texts"
                );
                return 2;
            }
            [row] if !args.json => page(row, color),
            found => rows(found, args.json),
        },
    };
    stdout::exit_code(stdout::print(&text), 0)
}

/// The row of a code as people write it, or the nearest code.
pub(crate) fn find(written: &str) -> Result<&'static Code, &'static str> {
    let mut code = written.trim().to_ascii_uppercase();
    if !code.starts_with("HARN-") {
        code.insert_str(0, "HARN-");
    }
    let rows = catalogue();
    if let Some(row) = rows.iter().find(|row| row.code == code) {
        return Ok(row);
    }
    let near = rows.iter().min_by_key(|row| strsim::damerau_levenshtein(row.code, &code));
    Err(near.map_or("none", |row| row.code))
}

/// The rows of a family, or those with all of the words in their code, title or meaning; those with all words in their
/// title come first.
fn search(topic: &str) -> Vec<&'static Code> {
    let words: Vec<String> = topic.split_whitespace().map(str::to_lowercase).collect();
    let family = |row: &Code| {
        let family = row.code.split('-').nth(1).unwrap_or_default();
        topic.trim().trim_start_matches("HARN-").trim_start_matches("harn-").eq_ignore_ascii_case(family)
    };
    let in_title = |row: &Code| words.iter().all(|word| row.title.to_lowercase().contains(word.as_str()));
    let in_text = |row: &Code| {
        let text = format!("{} {} {}", row.code, row.title, notes::meaning(row)).to_lowercase();
        words.iter().all(|word| text.contains(word.as_str()))
    };
    let rows = catalogue();
    let of_family: Vec<_> = rows.iter().copied().filter(|row| family(row)).collect();
    if !of_family.is_empty() {
        return of_family;
    }
    let (mut first, rest): (Vec<_>, Vec<_>) =
        rows.into_iter().filter(|row| in_text(row)).partition(|row| in_title(row));
    first.extend(rest);
    first
}

fn rows(rows: &[&'static Code], json: bool) -> String {
    if json { pretty(&Value::Array(rows.iter().copied().map(summary).collect())) } else { list_of(rows) }
}

pub(crate) fn list() -> String {
    list_of(&catalogue())
}

fn list_of(rows: &[&'static Code]) -> String {
    let mut text = String::new();
    for row in rows {
        text.push_str(&format!("{}  {:<7}  {}\n", row.code, row.severity.word(), row.title));
    }
    text.push_str("\n`harn explain CODE` shows the details.\n");
    text
}

/// The page of one code.
pub(crate) fn page(row: &'static Code, color: bool) -> String {
    let (bold, plain) = if color { ("\u{1b}[1m", "\u{1b}[0m") } else { ("", "") };
    let mut text = format!("{bold}{} ({}): {}{plain}\n\n", row.code, row.severity.word(), row.title);
    text.push_str(&wrap(&notes::meaning(row), 96));
    if let Some(example) = notes::example(row) {
        text.push_str(&format!("\n{bold}Fails{plain}\n\n{}\n", indent(example.fails)));
        text.push_str(&picture(row, example.fails, color));
        text.push_str(&format!("\n{bold}Mended{plain}\n\n{}", indent(example.mended)));
    }
    text
}

fn summary(row: &Code) -> Value {
    json!({ "code": row.code, "severity": row.severity.word(), "title": row.title, "meaning": notes::meaning(row) })
}

fn whole(row: &'static Code) -> Value {
    let mut value = summary(row);
    if let Some(example) = notes::example(row) {
        value["fails"] = json!(example.fails);
        value["picture"] = json!(picture(row, example.fails, false));
        value["mended"] = json!(example.mended);
    }
    value
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

/// Returns the rendered diagnostics of a row's failing script.
fn picture(row: &'static Code, fails: &str, color: bool) -> String {
    found(row, fails).iter().map(|diagnostic| draw(diagnostic, color)).collect()
}

/// Checks the script; what only a run finds, a run finds. The run is harmless: no files written, no processes, no network.
fn found(row: &'static Code, fails: &str) -> Vec<Diagnostic> {
    let source = Source::new("script.harn", fails);
    let engine = || {
        Engine::new(RunOptions {
            seed: Some(1),
            denied: vec![Capability::FsWrite, Capability::Process, Capability::Net],
            limits: RunLimits { fuel: Some(50_000_000), ..RunLimits::default() },
            output: Rc::new(Captured::default()),
            loader: Rc::new(Files::of(Path::new("explain.harn"))),
            ..RunOptions::default()
        })
    };
    let of_row = |diagnostics: Vec<Diagnostic>| -> Vec<Diagnostic> {
        diagnostics.into_iter().filter(|diagnostic| diagnostic.code == CodeRef::new(row)).collect()
    };
    let checked = of_row(engine().check(&source));
    if checked.is_empty() { of_row(engine().run(&source).diagnostics) } else { checked }
}

fn indent(script: &str) -> String {
    script.lines().map(|line| if line.is_empty() { "\n".to_owned() } else { format!("    {line}\n") }).collect()
}

/// Breaks a paragraph into lines of at most `width` characters.
fn wrap(paragraph: &str, width: usize) -> String {
    let mut text = String::new();
    let mut used = 0;
    for word in paragraph.split_whitespace() {
        let length = word.chars().count();
        if used > 0 {
            let fits = used + 1 + length <= width;
            text.push(if fits { ' ' } else { '\n' });
            used = if fits { used + 1 } else { 0 };
        }
        text.push_str(word);
        used += length;
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_wrapped_and_none_is_lost() {
        assert_eq!(wrap("one two  three\nfour", 9), "one two\nthree\nfour\n");
    }

    #[test]
    fn a_code_is_found_in_any_case_and_without_its_family_prefix() {
        assert_eq!(find("harn-nam-001").map(|row| row.code), Ok("HARN-NAM-001"));
        assert_eq!(find("nam-001").map(|row| row.code), Ok("HARN-NAM-001"));
        assert_eq!(find("HARN-NAN-001").map(|row| row.code), Err("HARN-NAM-001"));
    }

    #[test]
    fn the_flags_of_a_limit_are_on_its_page_in_its_json_and_in_the_search() {
        let row = find("LIM-001").unwrap_or_else(|near| panic!("{near}"));
        assert!(!row.meaning.contains("--max-memory"), "{}", row.meaning);
        assert!(page(row, false).contains("--max-memory"), "{}", page(row, false));
        assert!(whole(row)["meaning"].as_str().is_some_and(|text| text.contains("--max-memory")), "{}", whole(row));
        assert!(search("--max-memory").iter().any(|found| found.code == row.code));
    }

    #[test]
    fn words_are_searched_in_titles_first_and_then_in_texts() {
        let codes = |topic| search(topic).iter().map(|row| row.code).collect::<Vec<_>>();
        assert!(codes("rmd").iter().all(|code| code.starts_with("HARN-RMD-")), "{:?}", codes("rmd"));
        assert_eq!(codes("rmd").len(), 8);
        let found = codes("comment closed");
        assert_eq!(found.first(), Some(&"HARN-LEX-003"), "{found:?}");
        assert_eq!(codes("xylophone"), Vec::<&str>::new());
    }
}
