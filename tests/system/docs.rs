//! The documents keep their word: their scripts run, their links lead somewhere.

use crate::diff::diff;
use crate::harn::{harn, root, scratch};
use crate::markdown::blocks;
use std::fs;
use std::path::{Path, PathBuf};

/// Pages in the folder that they describe.
const BESIDE: [&str; 4] =
    ["tests/guide/README.md", "tests/agents/README.md", "examples/recipes/README.md", "examples/everyday/README.md"];

/// The pages at the root, below `docs`, and beside tests and examples, as paths from the root.
pub(crate) fn pages() -> Vec<PathBuf> {
    let mut pages: Vec<_> = BESIDE.iter().map(PathBuf::from).collect();
    let mut folders = vec![PathBuf::from("docs")];
    pages.extend(markdown_in(Path::new(""), &mut Vec::new()));
    while let Some(folder) = folders.pop() {
        pages.extend(markdown_in(&folder, &mut folders));
    }
    pages
}

/// The Markdown files of a folder; its folders are put aside.
fn markdown_in(folder: &Path, folders: &mut Vec<PathBuf>) -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join(folder)).unwrap();
    let paths = entries.map(|entry| folder.join(entry.unwrap().file_name()));
    let (inner, files): (Vec<_>, Vec<_>) = paths.partition(|path| root().join(path).is_dir());
    folders.extend(inner);
    files.into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect()
}

/// A script of a page.
#[derive(Debug, PartialEq)]
struct Script<'a> {
    /// Its language is the extension of its file.
    language: &'a str,
    text: &'a str,
    /// The output that the page shows.
    prints: Option<&'a str>,
}

/// The blocks of a page that are scripts; what a `text` block behind one of Rhai shows is what it prints.
fn scripts(page: &str) -> Vec<Script<'_>> {
    let blocks = blocks(page);
    let prints = |i: usize| blocks.get(i + 1).filter(|(language, _)| *language == "text").map(|(_, text)| *text);
    let scripts = blocks.iter().enumerate().filter_map(|(i, (language, text))| match *language {
        "harn" => Some(Script { language, text, prints: None }),
        "rhai" => Some(Script { language, text, prints: prints(i) }),
        _ => None,
    });
    scripts.collect()
}

/// The targets of the links of a page that stay in the repository.
fn links(page: &str) -> Vec<&str> {
    let targets = page.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target);
    targets.filter(|target| !target.contains("://")).collect()
}

#[test]
fn every_script_of_a_page_checks_and_runs_clean() {
    let dir = scratch("docs");
    // The examples of builtins are pieces of a session: a test beside their table runs them.
    let is_covered = |page: &Path| crate::walkthroughs::covers(page) || page.starts_with("docs/reference/builtins");
    for page in pages().into_iter().filter(|page| !is_covered(page)) {
        for (i, script) in scripts(&fs::read_to_string(root().join(&page)).unwrap()).iter().enumerate() {
            let path = dir.join(format!("block-{i}.{}", script.language));
            fs::write(&path, script.text).unwrap();
            let path = path.to_str().unwrap();
            let mut printed = String::new();
            for args in [vec!["check", path], vec!["run", "--seed", "1", path]] {
                let outcome = harn(&args);
                // The reason of a failed loop is printed although the script handles the failure.
                let failed_loops = outcome.err.matches("warning[HARN-LLM-").count();
                let err = if failed_loops > 0 && outcome.drawn("warning") == failed_loops && outcome.drawn("error") == 0
                {
                    ""
                } else {
                    outcome.err.as_str()
                };
                let said = (outcome.code, err);
                assert_eq!(said, (Some(0), ""), "{}, block {i}:\n{}", page.display(), script.text);
                printed = outcome.out;
            }
            let wanted = script.prints.unwrap_or(&printed);
            assert_eq!(diff(wanted, &printed), None, "{}, block {i}:\n{}", page.display(), script.text);
        }
    }
}

#[test]
fn every_link_leads_to_a_file_or_folder() {
    let pages = pages();
    assert!(pages.len() >= 4, "{pages:?}");
    for page in pages {
        let page = root().join(page);
        for link in links(&fs::read_to_string(&page).unwrap()) {
            let (file, heading) = link.split_once('#').map_or((link, None), |(file, heading)| (file, Some(heading)));
            let target = if file.is_empty() { page.clone() } else { page.parent().unwrap().join(file) };
            assert!(target.exists(), "{} links to {link}, which is not there", page.display());
            if let Some(heading) = heading {
                assert!(has_heading(&target, heading), "{} links to {link}: no such heading", page.display());
            }
        }
    }
}

/// Whether a page has a heading that is linked to by this word.
fn has_heading(page: &Path, wanted: &str) -> bool {
    let slug = |heading: &str| {
        let kept = heading.trim().to_lowercase().replace(' ', "-");
        kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_')).collect::<String>()
    };
    let page = fs::read_to_string(page).unwrap();
    page.lines().filter(|line| line.starts_with('#')).any(|line| slug(line.trim_start_matches('#')) == wanted)
}

/// Returns the generated table of a page, which is between two marks, and the text around it.
fn made(page: &str) -> (&str, &str, &str) {
    let (before, rest) = page.split_once("<!-- made of the table in the code -->\n").unwrap();
    let (table, after) = rest.split_once("<!-- end -->").unwrap();
    (before, table, after)
}

/// Compares the generated table of a page, or writes it.
fn hold(page: &str, wanted: &str) {
    let path = root().join(page);
    let page = fs::read_to_string(&path).unwrap();
    let (before, table, after) = made(&page);
    if std::env::var_os("UPDATE").is_some_and(|set| set == "1") {
        let page = format!("{before}<!-- made of the table in the code -->\n{wanted}<!-- end -->{after}");
        fs::write(&path, page).unwrap();
        return;
    }
    assert_eq!(table, wanted, "`UPDATE=1 cargo test --test system table_of_the_code` writes it");
}

#[test]
fn the_reference_of_hooks_has_the_table_of_the_code() {
    hold("docs/reference/hooks.md", &runtime::hooks::event::table::to_markdown());
}

#[test]
fn the_guide_to_providers_has_the_table_of_the_code() {
    hold("docs/guide/providers.md", &runtime::hooks::event::table::provider_payloads_to_markdown());
}

#[test]
fn payloads_of_workers_hold_what_the_table_says() {
    let told = fs::read_to_string(root().join("tests/reminders/hooks/payloads-of-workers.out")).unwrap();
    let lines: Vec<Vec<&str>> = told.lines().map(|line| line.split(' ').collect()).collect();
    assert!(lines.len() >= 16, "{told}");
    for line in lines {
        let row = runtime::hooks::event::table::row(runtime::events::EventKind::parse(line[0]).unwrap());
        let missing: Vec<_> = row.certain_fields().filter(|field| !line[1..].contains(field)).collect();
        let unknown: Vec<_> =
            line[1..].iter().filter(|field| !row.all_fields().any(|known| known == **field)).collect();
        assert!(missing.is_empty() && unknown.is_empty(), "{}: missing {missing:?}, unknown {unknown:?}", line[0]);
    }
}

#[test]
fn blocks_and_links_are_found() {
    let page = "See [a](a.md) and [b](https://b.example).\n\n```harn\nlog(1)\n```\n\n```sh\nls\n```\n";
    assert_eq!(scripts(page), [Script { language: "harn", text: "log(1)\n", prints: None }]);
    let printing = "Two:\n\n```rhai\nprint(1);\n```\n\nIt says\n\n```text\n1\n```\n\n```rhai\nprint(2);\n```\n";
    let (first, second) = ("print(1);\n", "print(2);\n");
    let wanted = [(first, Some("1\n")), (second, None)].map(|(text, prints)| Script { language: "rhai", text, prints });
    assert_eq!(scripts(printing), wanted);
    assert_eq!(links(page), ["a.md"]);
}
