//! The lines that have run.

use crate::discover::is_test_file;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use stdlib::{LineCount, SourceRef, is_obeyed, one_line};

/// The lines on which statements begin, and how often they ran. The tests themselves do not count.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    files: BTreeMap<String, FileCoverage>,
}

#[derive(Clone, Debug)]
struct FileCoverage {
    source: SourceRef,
    /// The counts by line.
    lines: BTreeMap<u32, u64>,
}

impl FileCoverage {
    fn hit(&self) -> usize {
        self.lines.values().filter(|count| **count > 0).count()
    }
}

impl Coverage {
    /// Adds lines, those of one test for example.
    pub(crate) fn add(&mut self, lines: &[LineCount]) {
        for LineCount { source, line, count } in lines {
            if is_test_file(Path::new(source.name())) {
                continue;
            }
            let file = match self.files.get_mut(source.name()) {
                Some(file) => file,
                None => self
                    .files
                    .entry(source.name().to_owned())
                    .or_insert_with(|| FileCoverage { source: source.clone(), lines: BTreeMap::new() }),
            };
            *file.lines.entry(*line).or_default() += count;
        }
    }

    /// Returns the names of the counted files.
    pub(crate) fn files(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Adds the lines of another run.
    pub(crate) fn merge(&mut self, other: Coverage) {
        for (name, file) in other.files {
            match self.files.get_mut(&name) {
                Some(known) => file.lines.iter().for_each(|(line, count)| {
                    *known.lines.entry(*line).or_default() += count;
                }),
                None => {
                    self.files.insert(name, file);
                }
            }
        }
    }

    /// Returns a table: the share of lines that ran, by file and in all, and the lines that did not.
    #[must_use]
    pub fn summary(&self) -> String {
        let mut out = String::new();
        let width = self.files.keys().map(|name| name.chars().count()).max().unwrap_or(0).max("all files".len());
        let _ = writeln!(out, "{:width$}    lines      run   share  lines that did not run", "coverage");
        let (mut all, mut hit) = (0, 0);
        for (name, file) in &self.files {
            all += file.lines.len();
            hit += file.hit();
            let name = one_line(name);
            let row = format!(
                "{name:width$} {:8} {:8} {:>7}  {}",
                file.lines.len(),
                file.hit(),
                share(file.hit(), file.lines.len()),
                missed(file)
            );
            let _ = writeln!(out, "{}", row.trim_end());
        }
        let _ = writeln!(out, "{:width$} {all:8} {hit:8} {:>7}", "all files", share(hit, all));
        out
    }

    /// Returns the counts in the format of LCOV.
    #[must_use]
    pub fn lcov(&self) -> String {
        let mut out = String::new();
        for (name, file) in &self.files {
            let name: String = name.chars().filter(|c| !c.is_control()).collect();
            let _ = writeln!(out, "TN:\nSF:{name}");
            for (line, count) in &file.lines {
                let _ = writeln!(out, "DA:{line},{count}");
            }
            let _ = writeln!(out, "LF:{}\nLH:{}\nend_of_record", file.lines.len(), file.hit());
        }
        out
    }

    /// Returns one HTML page with the text of each file, and the count of each line.
    #[must_use]
    pub fn html(&self) -> String {
        let mut out = String::from(
            "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>Coverage</title>\n<style>\nbody { font: \
             14px sans-serif; margin: 2em }\ntable { border-collapse: collapse }\ntd { padding: 0 1ex; white-space: pre; \
             font-family: monospace }\ntd:first-child, td:nth-child(2) { text-align: right; color: #767676 }\n.run { \
             background: #e6ffed }\n.not { background: #ffeef0 }\n</style>\n<h1>Coverage</h1>\n<ul>\n",
        );
        for (number, (name, file)) in self.files.iter().enumerate() {
            let share = share(file.hit(), file.lines.len());
            let _ = writeln!(out, "<li><a href=\"#f{number}\">{}</a> {share}</li>", escaped(name));
        }
        out.push_str("</ul>\n");
        for (number, (name, file)) in self.files.iter().enumerate() {
            let _ = writeln!(out, "<h2 id=\"f{number}\">{}</h2>\n<table>", escaped(name));
            for (line, text) in (1..).zip(file.source.text().lines()) {
                let (class, count) = match file.lines.get(&line) {
                    None => ("", String::new()),
                    Some(0) => ("not", "0".to_owned()),
                    Some(count) => ("run", count.to_string()),
                };
                let text = escaped(text);
                let _ = writeln!(out, "<tr class=\"{class}\"><td>{line}</td><td>{count}</td><td>{text}</td></tr>");
            }
            out.push_str("</table>\n");
        }
        out.push_str("</html>\n");
        out
    }
}

/// Returns a share as a percentage that is 100 only if nothing is missing.
fn share(part: usize, all: usize) -> String {
    if all == 0 {
        return "-".to_owned();
    }
    let tenths = part * 1000 / all;
    format!("{}.{}%", tenths / 10, tenths % 10)
}

/// Returns the lines of a file that did not run, as ranges.
fn missed(file: &FileCoverage) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    let mut joins = false;
    for (line, count) in &file.lines {
        match ranges.last_mut() {
            _ if *count > 0 => {}
            Some((_, last)) if joins => *last = *line,
            _ => ranges.push((*line, *line)),
        }
        joins = *count == 0;
    }
    let text = |(first, last): &(u32, u32)| if first == last { first.to_string() } else { format!("{first}-{last}") };
    ranges.iter().map(text).collect::<Vec<_>>().join(", ")
}

/// Returns a text as HTML that shows every character: a browser would obey some.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' => out.push(c),
            c if is_obeyed(c) => out.extend(c.escape_default()),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_obeys_no_character_of_a_script() {
        let text = "\tlet a = \"\u{202e}<b>&\u{1b}\u{2066}\"";
        assert_eq!(escaped(text), "\tlet a = &quot;\\u{202e}&lt;b&gt;&amp;\\u{1b}\\u{2066}&quot;");
    }
}
