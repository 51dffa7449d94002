//! `docs/llms.txt`: the language and its builtins in one text.

use crate::diff::diff;
use crate::harn::{harn, harn_in, root, scratch};
use crate::walkthroughs::{WalkthroughPart, parts};
use std::fs;

#[test]
fn the_text_is_what_the_command_prints() {
    let path = root().join("docs/llms.txt");
    let printed = harn(&["llms"]);
    assert_eq!((printed.code, printed.err.as_str()), (Some(0), ""));
    if std::env::var_os("UPDATE").is_some_and(|set| set == "1") {
        return fs::write(&path, printed.out).unwrap();
    }
    let diff = diff(&fs::read_to_string(&path).unwrap(), &printed.out).unwrap_or_default();
    assert!(diff.is_empty(), "{diff}`UPDATE=1 cargo test --test system llms` writes it");
}

#[test]
fn every_block_of_the_text_runs() {
    let folder = scratch("llms");
    let text = harn(&["llms"]).out;
    let mut ran = 0;
    for (i, part) in parts(&text).iter().enumerate() {
        let WalkthroughPart::Block(info, body) = part else { continue };
        match info.split_once(' ').unwrap_or((info, "")) {
            ("harn", "") => {
                let name = format!("part-{i}.harn");
                fs::write(folder.join(&name), body).unwrap();
                for args in [&["check", &name][..], &["run", "--seed", "1", &name]] {
                    let outcome = harn_in(&folder, args, b"", &[]);
                    assert_eq!((outcome.code, outcome.err.as_str()), (Some(0), ""), "part {i}:\n{body}");
                }
                ran += 1;
            }
            ("harn" | "rhai" | "toml", file) if !file.is_empty() => fs::write(folder.join(file), body).unwrap(),
            ("text" | "sh" | "toml", _) => {}
            _ => panic!("part {i}: no test runs a block `{info}`"),
        }
    }
    assert!(ran > 20, "only {ran} blocks ran");
}

#[test]
fn the_text_has_no_links_and_all_topics() {
    let text = harn(&["llms"]).out;
    assert!(!text.split("```").step_by(2).any(|prose| prose.contains("](")), "links");
    for topic in ["## 1. Values", "## 15. Reminders", "## Builtins", "### Methods of list", "- `agent_loop("] {
        assert!(text.contains(topic), "{topic}");
    }
}
