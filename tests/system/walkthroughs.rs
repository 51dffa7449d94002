//! The pages for newcomers: every block of them is run, in a folder of the page's own, and must print the `text` block right
//! after it.
//!
//! | first words of a block | what is done with it |
//! |---|---|
//! | `harn` | checked and run with `--seed 1`; both succeed |
//! | `harn FILE`, `rhai FILE`, `toml FILE` | written to FILE |
//! | `sh` | each line is run by `sh`; fails exactly if it shows an `error` |
//! | `sh setup` | clones or builds; not run |
//!
//! `UPDATE=1 cargo test --test system walkthroughs` writes what was printed into the pages.

use crate::diff::diff;
use crate::harn::{environment, harn, harn_in, root, scratch};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Pages outside of the two folders for newcomers.
const OTHERS: [&str; 8] = [
    "README.md",
    "docs/troubleshooting.md",
    "docs/comparison.md",
    "docs/guide/providers.md",
    "docs/reference/configuration.md",
    "docs/reference/doc.md",
    "docs/reference/preview.md",
    "docs/reference/test.md",
];

/// Returns whether a page, as a path from the root, is run here.
pub(crate) fn covers(page: &Path) -> bool {
    page.starts_with("docs/start") || page.starts_with("docs/tour") || OTHERS.iter().any(|name| page == Path::new(name))
}

fn pages() -> Vec<PathBuf> {
    let mut pages: Vec<PathBuf> = OTHERS.iter().map(PathBuf::from).collect();
    for folder in ["docs/start", "docs/tour"] {
        let entries = fs::read_dir(root().join(folder)).unwrap();
        pages.extend(entries.map(|entry| Path::new(folder).join(entry.unwrap().file_name())));
    }
    pages.sort();
    pages
}

fn update() -> bool {
    std::env::var_os("UPDATE").is_some_and(|set| set == "1")
}

/// A part of a page.
#[derive(Debug, PartialEq)]
pub(crate) enum WalkthroughPart<'a> {
    /// Lines outside of blocks.
    Prose(&'a str),
    /// A block: the words after its opening fence, and its text.
    Block(&'a str, &'a str),
}

pub(crate) fn parts(page: &str) -> Vec<WalkthroughPart<'_>> {
    let (mut parts, mut rest) = (Vec::new(), page);
    while let Some(start) = rest.find("\n```").map(|at| at + 1) {
        parts.push(WalkthroughPart::Prose(&rest[..start]));
        let (info, body) = rest[start + 3..].split_once('\n').unwrap();
        let end = if body.starts_with("```") { 0 } else { body.find("\n```").unwrap() + 1 };
        parts.push(WalkthroughPart::Block(info, &body[..end]));
        rest = body[end + 3..].strip_prefix('\n').unwrap_or_default();
    }
    parts.push(WalkthroughPart::Prose(rest));
    parts
}

/// Runs the lines of a block; what they print, in order.
fn shell(folder: &Path, lines: &str) -> (bool, String) {
    let bin = Path::new(env!("CARGO_BIN_EXE_harn")).parent().unwrap().display().to_string();
    let path = format!("{bin}:{}", std::env::var("PATH").unwrap());
    let mut command = Command::new("sh");
    command.args(["-e", "-c", &format!("exec 2>&1\n{lines}")]).current_dir(folder).env_clear().envs(environment());
    command.env_remove("HARN_LLM_PROVIDER").env("PATH", path).env("HARN_MEMORY_ROOT", folder.join(".memory"));
    let output = command.stdin(Stdio::null()).output().unwrap();
    (output.status.success(), String::from_utf8(output.stdout).unwrap())
}

fn script(folder: &Path, name: &str, text: &str, place: &str) -> String {
    fs::write(folder.join(name), text).unwrap();
    let mut printed = String::new();
    for args in [vec!["check", name], vec!["run", "--seed", "1", name]] {
        let outcome = harn_in(folder, &args, b"", &[]);
        assert_eq!((outcome.code, outcome.err.as_str()), (Some(0), ""), "{place}:\n{text}");
        printed = outcome.out;
    }
    printed
}

/// Runs a page; the page as it would be with what its blocks print.
fn run(page: &Path, text: &str) -> String {
    let folder = scratch(&format!("walkthrough-{}", page.display().to_string().replace('/', "-")));
    let (mut whole, mut printed) = (String::new(), None);
    for (i, part) in parts(text).iter().enumerate() {
        let place = format!("{}, part {i}", page.display());
        match part {
            WalkthroughPart::Prose(prose) => {
                // A block that is shown only after prose is not the output of the one before it.
                if !prose.trim().is_empty() {
                    printed = None;
                }
                whole.push_str(prose);
                continue;
            }
            WalkthroughPart::Block("text", shown) => {
                let printed: String =
                    printed.take().unwrap_or_else(|| panic!("{place}: nothing prints this:\n{shown}"));
                whole.push_str(&format!("```text\n{printed}```\n"));
                continue;
            }
            WalkthroughPart::Block(info, body) => {
                whole.push_str(&format!("```{info}\n{body}```\n"));
                printed = match info.split_once(' ').unwrap_or((info, "")) {
                    ("harn", "") => Some(script(&folder, &format!("part-{i}.harn"), body, &place)),
                    ("harn" | "rhai" | "toml", file) if !file.is_empty() => {
                        fs::write(folder.join(file), body).unwrap();
                        None
                    }
                    ("sh", "setup") => None,
                    ("sh", "") => {
                        let (succeeded, printed) = shell(&folder, body);
                        let failed = printed.lines().any(|line| line.to_lowercase().starts_with("error"));
                        assert_eq!(succeeded, !failed, "{place}:\n{body}{printed}");
                        Some(printed)
                    }
                    _ => panic!("{place}: no test runs a block `{info}`"),
                };
            }
        }
    }
    whole
}

#[test]
fn every_block_of_the_pages_for_newcomers_runs_and_prints_what_is_shown() {
    let mut wrong = String::new();
    for page in pages() {
        let path = root().join(&page);
        let text = fs::read_to_string(&path).unwrap();
        let found = run(&page, &text);
        match diff(&text, &found) {
            Some(_) if update() => fs::write(&path, found).unwrap(),
            Some(diff) => wrong.push_str(&format!("{}\n{diff}\n", page.display())),
            None => {}
        }
    }
    assert!(wrong.is_empty(), "{wrong}`UPDATE=1 cargo test --test system walkthroughs` writes what was printed");
}

/// The commands that a page of help lists.
fn commands(help: &str) -> Vec<&str> {
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    lines.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").collect()
}

fn describe(words: &[&str], page: &mut String) {
    let help = harn(&[words, &["--help"]].concat()).out;
    let help = help.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
    let name = [&["harn"], words].concat().join(" ");
    page.push_str(&format!("\n## {name}\n\n```text\n{help}\n```\n"));
    for command in commands(&help) {
        describe(&[words, &[command]].concat(), page);
    }
}

#[test]
fn the_reference_of_the_command_is_its_help() {
    let path = root().join("docs/reference/cli.md");
    let mut wanted = "# The command\n\n\
        All commands and options, as `harn COMMAND --help` prints them. Options that limit a run are also keys of\n\
        [`harn.toml`](configuration.md).\n\n\
        | exit code | meaning |\n|---|---|\n\
        | 0 | success; `harn check` found at most warnings |\n\
        | 1 | errors |\n\
        | 2 | wrong usage |\n\
        | 3 | the run reached its limit of fuel, memory or time |\n\
        | 130 | the run was stopped by Ctrl-C; a second Ctrl-C stops it at once |\n\n\
        An int that a pipeline returns is the exit code of `harn run`. `harn FILE ARGS` is short for `harn run FILE ARGS`,\n\
        so a script can begin with `#!/usr/bin/env harn`. Diagnostics and progress go to standard error.\n\n\
        `UPDATE=1 cargo test --test system walkthroughs` generates this page.\n"
        .to_owned();
    describe(&[], &mut wanted);
    assert!(wanted.contains("## harn serve a2a"), "{wanted}");
    if update() {
        return fs::write(&path, wanted).unwrap();
    }
    let page = fs::read_to_string(&path).unwrap();
    let diff = diff(&page, &wanted).unwrap_or_default();
    assert!(diff.is_empty(), "{diff}`UPDATE=1 cargo test --test system walkthroughs` writes it");
}

#[test]
fn the_reference_of_the_configuration_has_every_key() {
    let page = fs::read_to_string(root().join("docs/reference/configuration.md")).unwrap();
    for (table, keys) in stdlib::project_keys() {
        let heading = format!("\n## `{table}`\n");
        let (_, section) = page.split_once(&heading).unwrap_or_else(|| panic!("no section {heading}"));
        let section = section.split("\n## ").next().unwrap();
        let rows = section.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
        let listed: Vec<&str> = rows.map(|(key, _)| key).collect();
        assert_eq!(listed, keys, "{table}");
    }
}

#[test]
fn parts_of_a_page_are_found() {
    let page = "One\n\n```sh\nls\n```\n\nTwo\n";
    assert_eq!(
        parts(page),
        [WalkthroughPart::Prose("One\n\n"), WalkthroughPart::Block("sh", "ls\n"), WalkthroughPart::Prose("\nTwo\n")]
    );
}
