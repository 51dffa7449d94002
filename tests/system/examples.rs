//! The pages of `docs/guide` show what their programs print: each `sh` block is run, and the `text` block behind it is what it
//! printed.

use crate::diff::diff;
use crate::harn::{harn_with_input, root, scratch};
use crate::markdown::blocks;
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

/// The pages that show programs. That on editors has nothing to print, and that on peers shows several at once: tests of their
/// wires run them. That on embedding shows Rust: it is a doc test of the library. That on
/// the REPL shows a terminal: a test types into one. That on providers is run in a folder of its own, with the walkthroughs.
/// The page on MCP needs servers from npm and PyPI: a test in `tests/clients` runs it.
fn pages() -> Vec<PathBuf> {
    const ELSEWHERE: [&str; 9] = [
        "README.md",
        "channels.md",
        "editors.md",
        "embedding.md",
        "hub.md",
        "mcp.md",
        "peers.md",
        "providers.md",
        "repl.md",
    ];
    let folder = root().join("docs/guide");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is_page = |path: &PathBuf| path.extension().is_some_and(|end| end == "md");
    let mut pages: Vec<_> =
        files.filter(is_page).filter(|path| !ELSEWHERE.iter().any(|name| path.ends_with(name))).collect();
    pages.sort();
    pages
}

/// The words of a command as a shell would part them; only double quotes are known.
fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (i, part) in command.split('"').enumerate() {
        match i % 2 {
            1 => words.push(part.to_owned()),
            _ => words.extend(part.split_whitespace().map(str::to_owned)),
        }
    }
    words
}

/// Runs the commands of a block; what they printed.
fn run(commands: &str, state: &str) -> String {
    let mut printed = String::new();
    for command in commands.lines() {
        let words =
            words(command.strip_prefix("harn ").unwrap_or_else(|| panic!("`{command}` does not begin with `harn`")));
        let outcome = harn_with_input(&words, b"", &[("HARN_STATE", state), ("HARN_LLM_PROVIDER", "")]);
        assert_eq!((outcome.code, outcome.err.as_str()), (Some(0), ""), "{command}\n{}", outcome.out);
        printed.push_str(&outcome.out);
    }
    printed
}

#[test]
fn each_page_of_the_guide_shows_what_its_program_prints() {
    let state = scratch("guide-programs").join("state.json");
    let mut programs = BTreeSet::new();
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        let blocks = blocks(&text);
        let mut shown = 0;
        for pair in blocks.windows(2) {
            let [("sh", commands), ("text", wanted)] = pair else { continue };
            let found = run(commands, state.to_str().unwrap());
            assert_eq!(diff(wanted, &found), None, "{}: {commands}", page.display());
            programs.extend(commands.lines().flat_map(words).filter(|word| word.starts_with("examples/")));
            shown += 1;
        }
        assert_eq!(blocks.iter().filter(|(language, _)| *language == "sh").count(), shown, "{}", page.display());
        assert!(shown > 0, "{} shows no program", page.display());
    }
    let wanted = ["compaction.harn", "quickstart.rhai", "research.harn", "suspend/release.harn", "watcher/watch.harn"];
    assert_eq!(programs, wanted.map(|name| format!("examples/{name}")).into());
    assert!(!state.exists(), "what was suspended was resumed and is done");
}

#[test]
fn each_program_checks_clean() {
    let shown = ["research.harn", "compaction.harn", "watcher/watch.harn", "suspend/release.harn"];
    for name in ["quickstart.harn", "quickstart.rhai"].into_iter().chain(shown) {
        let outcome = harn_with_input(&["check", &format!("examples/{name}")], b"", &[]);
        assert_eq!((outcome.code, outcome.err.as_str()), (Some(0), ""), "{name}");
    }
}

#[test]
fn the_quick_start_prints_the_same_in_both_languages() {
    let [harn, rhai] = ["harn", "rhai"]
        .map(|language| harn_with_input(&["run", &format!("examples/quickstart.{language}")], b"", &[]));
    assert_eq!((harn.code, rhai.code), (Some(0), Some(0)), "{}{}", harn.err, rhai.err);
    assert_eq!(diff(&harn.out, &rhai.out), None, "-harn, +rhai");
}

#[test]
fn blocks_and_words_are_found() {
    let page = "# A\n\n```sh\nharn run a.harn -- \"b c\"\n```\n\n```text\n1\n```\n";
    assert_eq!(blocks(page), [("sh", "harn run a.harn -- \"b c\"\n"), ("text", "1\n")]);
    assert_eq!(words("run a.harn -- \"b c\""), ["run", "a.harn", "--", "b c"]);
}
