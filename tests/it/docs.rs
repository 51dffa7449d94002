//! The documents at the root keep their word: their scripts run, their links lead somewhere.

use crate::harn::{harn, root, scratch};
use std::fs;

const PAGES: &[&str] = &["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "tests/guide/README.md"];

/// The blocks of a page that are scripts.
fn scripts(page: &str) -> Vec<&str> {
    page.split("\n```harn\n").skip(1).map(|rest| rest.split_once("```").unwrap().0).collect()
}

/// The targets of the links of a page that stay in the repository.
fn links(page: &str) -> Vec<&str> {
    let targets = page.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target);
    targets.filter(|target| !target.contains("://")).collect()
}

#[test]
fn every_script_of_a_page_checks_and_runs_clean() {
    let dir = scratch("docs");
    for page in PAGES {
        for (i, script) in scripts(&fs::read_to_string(root().join(page)).unwrap()).iter().enumerate() {
            let path = dir.join(format!("block-{i}.harn"));
            fs::write(&path, script).unwrap();
            let path = path.to_str().unwrap();
            for args in [vec!["check", path], vec!["run", "--seed", "1", path]] {
                let outcome = harn(&args);
                assert_eq!((outcome.code, outcome.err.as_str()), (Some(0), ""), "{page}, block {i}:\n{script}");
            }
        }
    }
}

#[test]
fn every_link_leads_to_a_file_or_folder() {
    for page in PAGES {
        let text = fs::read_to_string(root().join(page)).unwrap();
        let folder = root().join(page);
        for link in links(&text) {
            let target = folder.parent().unwrap().join(link);
            assert!(target.exists(), "{page} links to {link}, which is not there");
        }
    }
}

#[test]
fn blocks_and_links_are_found() {
    let page = "See [a](a.md) and [b](https://b.example).\n\n```harn\nlog(1)\n```\n\n```sh\nls\n```\n";
    assert_eq!(scripts(page), ["log(1)\n"]);
    assert_eq!(links(page), ["a.md"]);
}
