//! Checks that nothing in `tests` is left out: each script is a test, and each expected file has a script.

use crate::{check, folders, in_process, parity, script};
use libtest_mimic::Trial;
use std::collections::BTreeSet;
use std::path::Path;

/// Folders whose scripts are run by the other test targets.
const ELSEWHERE: [&str; 13] = [
    "tests/a2a/agents",
    "tests/acp/agents",
    "tests/cassettes",
    "tests/channels",
    "tests/clients/lsp/project",
    "tests/editors",
    "tests/fixtures/aimock",
    "tests/fixtures/layout_1",
    "tests/mcp",
    "tests/otel",
    "tests/rhai/packs",
    "tests/testing",
    "tests/trace",
];

/// `names` are those of the tests that run scripts.
pub(crate) fn trials(names: Vec<String>) -> Vec<Trial> {
    let mut trials = script::trials();
    trials.extend(in_process::trials());
    trials.extend(parity::checks());
    trials.push(check("each_script_is_one_test", move || each_script_is_one_test(&names)));
    trials.push(check("each_expected_file_has_its_script", || {
        assert_eq!(folders::orphans(), Vec::<&Path>::new(), "have no script that could write them");
    }));
    trials
}

fn each_script_is_one_test(names: &[String]) {
    let mut scripts = folders::files(Path::new("tests"));
    let is_elsewhere = |file: &Path| ELSEWHERE.iter().any(|folder| file.starts_with(folder));
    scripts.retain(|file| folders::is_script(file) && !folders::is_imported(file) && !is_elsewhere(file));
    let mut left: BTreeSet<&str> = scripts.iter().map(|file| file.to_str().unwrap()).collect();
    let mut count = 0;
    for name in names {
        for script in parity::scripts(name) {
            assert!(left.remove(script.as_str()), "{script} is no script, or is run twice");
            count += 1;
        }
    }
    assert!(left.is_empty(), "no test runs {left:?}");
    assert_eq!(count, scripts.len());
}
