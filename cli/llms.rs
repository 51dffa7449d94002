//! `harn llms`: the language and its builtins in one text, for coding agents.

use crate::stdout;
use std::fmt::Write as _;
use stdlib::{Builtin, builtins};

/// The pages of the text, in order.
const PAGES: [&str; 17] = [
    include_str!("../docs/tour/01-values.md"),
    include_str!("../docs/tour/02-variables.md"),
    include_str!("../docs/tour/03-functions.md"),
    include_str!("../docs/tour/04-collections.md"),
    include_str!("../docs/tour/05-control-flow.md"),
    include_str!("../docs/tour/06-matching.md"),
    include_str!("../docs/tour/07-types.md"),
    include_str!("../docs/tour/08-errors.md"),
    include_str!("../docs/tour/09-strings-and-pipes.md"),
    include_str!("../docs/tour/10-iterators.md"),
    include_str!("../docs/tour/11-files-and-processes.md"),
    include_str!("../docs/tour/12-concurrency.md"),
    include_str!("../docs/tour/13-modules-and-pipelines.md"),
    include_str!("../docs/tour/14-models-and-agents.md"),
    include_str!("../docs/tour/15-reminders.md"),
    include_str!("../docs/tour/16-tests.md"),
    include_str!("../docs/reference/language.md"),
];

const INTRO: &str = "\
# harn

> harn is a scripting language for pipelines that drive LLM agents. Its core is system reminders: typed pieces of context
> that a model sees for a few turns. This text contains the language, its rules, and all builtins.

Rules for writing harn:

- Check each script with `harn check FILE` and format it with `harn fmt FILE`; `harn explain CODE` explains a diagnostic.
- `harn run FILE` runs a script. Without a provider and a key, models are mocked.
- `harn preview FILE` shows what a model would be sent.
- Only the builtins below exist. Do not use functions of other languages.
";

#[derive(clap::Args)]
pub(crate) struct LlmsArgs {}

pub(crate) fn run(_: &LlmsArgs) -> i32 {
    stdout::exit_code(stdout::print(&text()), 0)
}

/// Returns the text.
fn text() -> String {
    let mut out = INTRO.to_owned();
    for page in PAGES {
        out.push('\n');
        out.push_str(&without_links(page));
    }
    out.push_str("\n## Builtins\n\nA line for each: its signature, and what it does. `x.f(…)` is a method of x.\n");
    let mut rows: Vec<&Builtin> = builtins().collect();
    rows.sort_by_key(|row| (row.module, row.name));
    let mut module = None;
    for row in rows {
        if module.replace(row.module) != Some(row.module) {
            let name = row.module.trim_matches(['<', '>']);
            let _ = match (row.module.is_empty(), row.is_method()) {
                (true, _) => writeln!(out, "\n### Global functions\n"),
                (false, true) => writeln!(out, "\n### Methods of {name}\n"),
                (false, false) => writeln!(out, "\n### {name}\n"),
            };
        }
        let doc = row.summary().split_whitespace().collect::<Vec<_>>().join(" ");
        let _ = writeln!(out, "- `{}`: {doc}", row.sig);
    }
    out
}

/// Returns a page one level deeper, with the texts of its links and without its links to other pages of the tour.
fn without_links(page: &str) -> String {
    let mut out = String::with_capacity(page.len());
    let mut in_block = false;
    for paragraph in paragraphs(page) {
        let is_navigation = ["[Previous: ", "[All pages]", "[Next: "].iter().any(|start| paragraph.starts_with(start));
        if is_navigation && !in_block {
            continue;
        }
        for line in paragraph.lines() {
            let is_fence = line.starts_with("```");
            if !in_block && !is_fence {
                if line.starts_with('#') {
                    out.push('#');
                }
                out.push_str(line);
            } else {
                out.push_str(line);
            }
            in_block ^= is_fence;
            out.push('\n');
        }
        out.push('\n');
    }
    let mut text = link_texts(&out);
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

/// Returns the parts of a page between blank lines.
fn paragraphs(page: &str) -> impl Iterator<Item = &str> {
    page.split("\n\n").map(|paragraph| paragraph.trim_end_matches('\n'))
}

/// Replaces links in prose by their texts. A link may continue on the next line.
fn link_texts(page: &str) -> String {
    let mut out = String::with_capacity(page.len());
    for (i, part) in page.split("```").enumerate() {
        if i > 0 {
            out.push_str("```");
        }
        if i % 2 == 1 {
            out.push_str(part);
            continue;
        }
        let mut rest = part;
        while let Some(at) = rest.find("](") {
            let (before, after) = (&rest[..at], &rest[at + 2..]);
            match (before.rfind('['), after.find(')')) {
                (Some(open), Some(close)) => {
                    out.push_str(&before[..open]);
                    out.push_str(&before[open + 1..]);
                    rest = &after[close + 1..];
                }
                _ => {
                    out.push_str(&rest[..at + 2]);
                    rest = after;
                }
            }
        }
        out.push_str(rest);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_become_their_texts_outside_of_blocks() {
        let page = "# A\n\nSee [b\nc](d.md) and `x[0]`.\n\n```harn\n# no [x](y)\n\nf[0](1)\n```\n\n[Next: E](e.md)\n";
        assert_eq!(without_links(page), "## A\n\nSee b\nc and `x[0]`.\n\n```harn\n# no [x](y)\n\nf[0](1)\n```\n");
    }

    #[test]
    fn the_text_has_every_builtin() {
        let text = text();
        for row in builtins() {
            assert!(text.contains(&format!("- `{}`: ", row.sig)), "{}", row.full_name());
        }
    }
}
