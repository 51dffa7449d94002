//! The command in this process: what it prints about a mutant must be diagnostics that are true of the files.

use crate::subject::Verdict;
use serde_json::Value;
use std::path::Path;

/// Runs `harn COMMAND --format json …` in the working directory.
///
/// # Errors
/// Returns the promise that the command broke.
pub(crate) fn harn(arguments: &[&str]) -> Result<Verdict, String> {
    let line =
        ["harn", arguments[0], "--format", "json"].into_iter().chain(arguments[1..].iter().copied()).map(Into::into);
    let ran = cli::capture(line)?;
    let shown = || format!("{arguments:?}: exit code {}\n{}{}", ran.code, ran.out, ran.err);
    // `check` prints diagnostics to standard output, and `run` to standard error, after what the script prints.
    let is_check = arguments[0] == "check";
    let printed = if is_check { &ran.out } else { &ran.err };
    let mut errors = 0;
    for line in printed.lines().filter(|line| is_check || line.starts_with("{\"code\"")) {
        let diagnostic: Value = serde_json::from_str(line).map_err(|error| format!("{error}: {}", shown()))?;
        sound(&diagnostic).map_err(|why| format!("{why}: {diagnostic}"))?;
        errors += usize::from(diagnostic["severity"] == "error");
    }
    match (ran.code, errors) {
        // A run goes on without a reminder file or a setting that it cannot use, and reports it.
        (0, _) if errors == 0 || !is_check => Ok(Verdict::Accepted),
        (1..=3, 1..) => Ok(Verdict::Rejected),
        _ => Err(shown()),
    }
}

/// Checks the code, the message and the places of a diagnostic.
fn sound(diagnostic: &Value) -> Result<(), String> {
    let text = |key: &str| diagnostic[key].as_str().unwrap_or_default();
    if !text("code").starts_with("HARN-") || text("message").is_empty() {
        return Err("no code or no message".to_owned());
    }
    let labels = diagnostic["labels"].as_array().into_iter().flatten();
    let fixes = diagnostic["fixes"].as_array().into_iter().flatten();
    let edits = fixes.filter_map(|fix| fix["edits"].as_array()).flatten();
    labels.chain(edits).try_for_each(inside)
}

/// Checks that a place is within its file.
fn inside(place: &Value) -> Result<(), String> {
    let Ok(text) = std::fs::read_to_string(Path::new(place["file"].as_str().unwrap_or_default())) else {
        return Ok(());
    };
    let offset = |key: &str| place[key].as_u64().and_then(|offset| usize::try_from(offset).ok());
    let range = offset("start").zip(offset("end"));
    match range.and_then(|(start, end)| text.get(start..end)) {
        Some(_) => Ok(()),
        None => Err(format!("{range:?} is not within a file of {} bytes", text.len())),
    }
}
