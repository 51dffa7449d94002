//! The output of `harn doc`: all builtins, for people and for editors.

use crate::harn::{harn, harn_in, scratch};
use rhai::Engine;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

fn files(folder: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    entries.map(|entry| (entry.file_name().into_string().unwrap(), fs::read_to_string(entry.path()).unwrap())).collect()
}

fn definitions(name: &str) -> BTreeMap<String, String> {
    let folder = scratch(name);
    let found = harn_in(&folder, &["doc", "--rhai", "--out", "definitions"], b"", &[]);
    assert_eq!((found.code, found.err.as_str()), (Some(0), ""), "{}", found.out);
    files(&folder.join("definitions"))
}

#[test]
fn definitions_hold_every_builtin_with_its_doc() {
    let files = definitions("doc-rhai");
    let transcript = &files["transcript.d.rhai"];
    assert!(
        transcript.contains(
            "/// Adds a pending reminder: `{transcript, reminder_id, deduped_count}`. Pending ones with the same key go.\n\
             fn inject_reminder(transcript: ?, spec: map) -> map;"
        ),
        "{transcript}"
    );
    let all: String = files.values().flat_map(|text| text.lines()).fold(String::new(), |mut all, line| {
        let _ = writeln!(all, "{line}");
        all
    });
    for row in stdlib::builtins().filter(|row| row.module != "<control>") {
        let there =
            [row.name.to_owned(), format!("{}_", row.name)].iter().any(|name| all.contains(&format!("fn {name}(")));
        assert!(there, "{}", row.full_name());
    }
}

/// A definition is a function's head; with a body in place of its types it must be one that Rhai reads.
#[test]
fn rhai_reads_every_name_and_parameter() {
    let engine = Engine::new();
    let mut read = 0;
    for (file, text) in definitions("doc-rhai-parsed").iter().filter(|(file, _)| !file.starts_with("__builtin")) {
        for line in text.lines().filter_map(|line| line.strip_prefix("fn ")) {
            let Some((head, _)) = line.rsplit_once(") -> ") else { panic!("{file}: {line}") };
            // Properties and Rhai's own number type are not functions that a script can call.
            if head.starts_with("get ") || head.starts_with("set ") || head.contains('$') {
                continue;
            }
            let (name, params) = head.split_once('(').unwrap();
            let names: Vec<&str> = params.split(", ").map(|param| param.split(':').next().unwrap().trim()).collect();
            let unnamed = names.contains(&"_");
            let given = if unnamed { String::new() } else { names.join(", ") };
            if let Err(error) = engine.compile(format!("fn {name}({given}) {{}}")) {
                // Rhai itself defines functions by names that it keeps for itself.
                assert!(error.to_string().contains("reserved"), "{file}: {line}: {error}");
                assert!(!stdlib::builtins().any(|row| row.name == name && !row.is_method()), "{file}: {line}: {error}");
                continue;
            }
            read += 1;
        }
    }
    assert!(read > 300, "only {read} were read");
}

#[test]
fn they_are_the_same_in_every_run() {
    assert_eq!(definitions("doc-rhai-1"), definitions("doc-rhai-2"));
}

#[test]
fn without_an_option_it_is_a_page_of_all_builtins() {
    let found = harn(&["doc"]);
    assert_eq!(found.code, Some(0), "{}", found.err);
    for wanted in [
        "# Builtins\n",
        "\n## transcript\n",
        "\n### inject_reminder\n",
        "\n## Methods: list\n",
        "Requires the capability `fs.read`.",
    ] {
        assert!(found.out.contains(wanted), "{wanted}");
    }
    for row in stdlib::builtins() {
        assert!(found.out.contains(&format!("\n`{}`\n", row.sig)), "{}", row.full_name());
    }
}

#[test]
fn a_folder_that_cannot_be_written_to_is_said() {
    let folder = scratch("doc-refused");
    fs::write(folder.join("file"), "").unwrap();
    let found = harn_in(&folder, &["doc", "--rhai", "--out", "file/inside"], b"", &[]);
    assert_eq!(found.code, Some(1), "{}", found.out);
    assert!(found.err.contains("cannot write `file/inside`") && found.err.contains("--out"), "{}", found.err);
}
