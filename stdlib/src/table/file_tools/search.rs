//! Searching files for lines.

use super::read::{entries, joined, text};
use super::root::Root;
use globset::{GlobBuilder, GlobMatcher};
use regex::{Regex, RegexBuilder};
use runtime::data::Data;
use std::fmt::Write;

/// The default and the maximum number of returned lines.
const LINES: usize = 100;
const MOST_LINES: usize = 1_000;
/// The maximum number of files that are searched, and of characters shown of a line.
const MOST_FILES: usize = 20_000;
const LINE_CHARS: usize = 300;
const DEEPEST: usize = 32;

/// The lines that fit, as `path:line: text`; whether there are more.
pub(super) fn files(
    root: &Root,
    path: &str,
    arguments: &Data,
    given_up: &super::GivenUp,
) -> Result<(String, bool), String> {
    let wanted = pattern(arguments)?;
    let glob = arguments.get("glob").as_str().map(glob).transpose()?;
    let most = arguments.get("max").as_int().and_then(|n| usize::try_from(n).ok()).unwrap_or(LINES).min(MOST_LINES);
    let mut out = String::new();
    let (mut found, mut looked_at) = (0, 0);
    let mut open = vec![(joined(path, ""), 0)];
    while let Some((folder, depth)) = open.pop() {
        let mut inner = Vec::new();
        let listed = match entries(root, if folder.is_empty() { "." } else { &folder }) {
            Ok(listed) => listed,
            // One folder that may not be read does not end the search.
            Err(_) if depth > 0 => continue,
            Err(why) => return Err(why),
        };
        for (name, is_folder) in listed {
            given_up.check()?;
            let at = joined(&folder, &name);
            if is_folder {
                // The data of version control is not text of the project.
                if depth < DEEPEST && name != ".git" {
                    inner.push((at, depth + 1));
                }
                continue;
            }
            if glob.as_ref().is_some_and(|glob| !glob.is_match(&at)) {
                continue;
            }
            looked_at += 1;
            if looked_at > MOST_FILES {
                let _ = write!(out, "[stopped after {MOST_FILES} files; search a folder below, or give a `glob`]");
                return Ok((out, true));
            }
            // Links, devices, large files and binary files are skipped.
            let Ok(text) = text(root, &at) else { continue };
            if text.contains('\0') {
                continue;
            }
            for (index, line) in text.lines().enumerate().filter(|(_, line)| wanted.is_match(line)) {
                if found == most {
                    let _ = write!(out, "[stopped after {most} lines; search for less]");
                    return Ok((out, true));
                }
                found += 1;
                let shown: String = line.chars().take(LINE_CHARS).collect();
                let _ = writeln!(out, "{at}:{}: {shown}", index + 1);
            }
        }
        open.extend(inner.into_iter().rev());
    }
    if found == 0 {
        out = format!("nothing found in {looked_at} files");
    }
    Ok((out, false))
}

/// The longest pattern, in bytes. Parsing one needs about a hundred times its length in memory.
const LONGEST: usize = 64 << 10;

fn pattern(arguments: &Data) -> Result<Regex, String> {
    let text = arguments.get("pattern").as_str().unwrap_or_default();
    if text.len() > LONGEST {
        return Err(format!("`pattern` is longer than {LONGEST} bytes"));
    }
    let escaped = arguments.get("literal").truthy().then(|| regex::escape(text));
    RegexBuilder::new(escaped.as_deref().unwrap_or(text)).size_limit(1 << 20).build().map_err(|e| {
        format!("`pattern` is no regular expression: {}; set `literal` for a plain text", last_line(&e.to_string()))
    })
}

fn glob(text: &str) -> Result<GlobMatcher, String> {
    let glob = GlobBuilder::new(text).literal_separator(true).build();
    glob.map(|glob| glob.compile_matcher()).map_err(|e| format!("`glob` cannot be read: {e}"))
}

fn last_line(text: &str) -> &str {
    text.lines().last().unwrap_or_default().trim_start_matches("error: ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_that_is_too_long_is_refused() {
        let of_length = |bytes| pattern(&Data::dict([("pattern", Data::from("x".repeat(bytes).as_str()))]));
        assert!(of_length(LONGEST + 1).is_err_and(|why| why.contains("longer than")));
        assert!(of_length(100).is_ok());
    }
}
