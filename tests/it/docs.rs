//! The documents keep their word: their scripts run, their links lead somewhere.

use crate::harn::{harn, root, scratch};
use std::fs;
use std::path::{Path, PathBuf};

/// The pages at the root, below `docs`, and beside the guide's blocks and the scripts about agents, as paths from the root.
fn pages() -> Vec<PathBuf> {
    let mut pages = vec![PathBuf::from("tests/guide/README.md"), PathBuf::from("tests/agents/README.md")];
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

/// The blocks of a page that are scripts.
fn scripts(page: &str) -> Vec<&str> {
    page.split("\n```harn\n").skip(1).map(|rest| rest.split_once("```").unwrap().0).collect()
}

/// The targets of the links of a page that stay in the repository.
fn links(page: &str) -> Vec<&str> {
    let targets = page.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target);
    targets.filter(|target| !target.contains("://")).filter_map(|target| target.split('#').next()).collect()
}

#[test]
fn every_script_of_a_page_checks_and_runs_clean() {
    let dir = scratch("docs");
    for page in pages() {
        for (i, script) in scripts(&fs::read_to_string(root().join(&page)).unwrap()).iter().enumerate() {
            let path = dir.join(format!("block-{i}.harn"));
            fs::write(&path, script).unwrap();
            let path = path.to_str().unwrap();
            for args in [vec!["check", path], vec!["run", "--seed", "1", path]] {
                let outcome = harn(&args);
                assert_eq!(
                    (outcome.code, outcome.err.as_str()),
                    (Some(0), ""),
                    "{}, block {i}:\n{script}",
                    page.display()
                );
            }
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

/// The part of a page that is made of a table of the code stands between two marks.
fn made(page: &str) -> (&str, &str, &str) {
    let (before, rest) = page.split_once("<!-- made of the table in the code -->\n").unwrap();
    let (table, after) = rest.split_once("<!-- end -->").unwrap();
    (before, table, after)
}

#[test]
fn the_reference_of_hooks_has_the_table_of_the_code() {
    let path = root().join("docs/reference/hooks.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, table, after) = made(&page);
    let wanted = runtime::hooks::event::table::to_markdown();
    if std::env::var_os("UPDATE").is_some_and(|set| set == "1") {
        let page = format!("{before}<!-- made of the table in the code -->\n{wanted}<!-- end -->{after}");
        fs::write(&path, page).unwrap();
        return;
    }
    assert_eq!(table, wanted, "`UPDATE=1 cargo test --test it reference_of_hooks` writes it");
}

#[test]
fn payloads_of_workers_hold_what_the_table_says() {
    let told = fs::read_to_string(root().join("tests/reminders/hooks/payloads-of-workers.out")).unwrap();
    let lines: Vec<Vec<&str>> = told.lines().map(|line| line.split(' ').collect()).collect();
    assert!(lines.len() >= 16, "{told}");
    for line in lines {
        let row = runtime::hooks::event::table::row(runtime::hooks::EventKind::parse(line[0]).unwrap());
        let missing: Vec<_> = row.certain_fields().filter(|field| !line[1..].contains(field)).collect();
        let unknown: Vec<_> =
            line[1..].iter().filter(|field| !row.all_fields().any(|known| known == **field)).collect();
        assert!(missing.is_empty() && unknown.is_empty(), "{}: missing {missing:?}, unknown {unknown:?}", line[0]);
    }
}

#[test]
fn blocks_and_links_are_found() {
    let page = "See [a](a.md) and [b](https://b.example).\n\n```harn\nlog(1)\n```\n\n```sh\nls\n```\n";
    assert_eq!(scripts(page), ["log(1)\n"]);
    assert_eq!(links(page), ["a.md"]);
}
