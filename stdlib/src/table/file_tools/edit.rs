//! Replacing a text in a file.

use super::read::text;
use super::write::put;
use crate::confined_folder::Root;

/// The maximum number of places that are named.
const NAMED: usize = 8;

/// Replaces a text that occurs exactly once, or all its occurrences.
pub(super) fn file(root: &Root, path: &str, old: &str, new: &str, all: bool) -> Result<String, String> {
    if old.is_empty() {
        return Err("`old` is empty; use `write_file` to create a file".to_owned());
    }
    if old == new {
        return Err("`old` and `new` are equal".to_owned());
    }
    let before = text(root, path)?;
    let lines = places(&before, old);
    match lines.as_slice() {
        [] => return Err(missing(&before, path, old)),
        [_] => {}
        _ if all => {}
        several => {
            let named: Vec<String> = several.iter().take(NAMED).map(ToString::to_string).collect();
            return Err(format!(
                "`old` occurs {} times in `{path}` (lines {}{}); include more of the surrounding text, or set `all`",
                several.len(),
                named.join(", "),
                if several.len() > NAMED { ", …" } else { "" }
            ));
        }
    }
    put(&root.place(path, false)?, path, &before.replace(old, new))?;
    let times = if lines.len() == 1 { "once".to_owned() } else { format!("{} times", lines.len()) };
    Ok(format!("replaced {times} in `{path}`, line {}", lines.first().copied().unwrap_or(1)))
}

/// The lines where a text begins.
fn places(text: &str, wanted: &str) -> Vec<usize> {
    let (mut line, mut from) = (1, 0);
    let mut lines = Vec::new();
    for (at, _) in text.match_indices(wanted) {
        line += text[from..at].matches('\n').count();
        from = at;
        lines.push(line);
    }
    lines
}

/// Returns the error with the place of a text that differs only in white space.
fn missing(text: &str, path: &str, old: &str) -> String {
    let wanted: Vec<&str> = old.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let near = wanted.first().and_then(|first| text.lines().position(|line| line.trim() == *first));
    match near {
        Some(at) => format!(
            "`old` does not occur in `{path}`. Its first line does, on line {}, perhaps with different white \
            space: read the file again",
            at + 1
        ),
        None => format!("`old` does not occur in `{path}`; read the file and copy the text exactly"),
    }
}
