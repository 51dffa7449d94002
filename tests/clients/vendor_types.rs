//! The bodies that are sent, and the answers that are read, against the types of the vendors' own SDKs: PyPI `anthropic`,
//! `openai`, `google-genai`, `ollama`. They are installed under `target/` when they are first needed; the check itself is
//! `tests/vendor_types/check.py`.

mod answers;
mod broken;
mod cases;

use crate::harn::root;
use crate::packages::python;
use cases::Case;
use serde_json::{Value, json};
use std::io::Write;
use std::process::{Command, Stdio};
use std::thread;

/// The results of the check by name: the problem, or null.
type Problems = serde_json::Map<String, Value>;

#[test]
fn every_request_is_one_that_the_vendors_types_take() {
    let (cases, broken) = (cases::all(), broken::all());
    let told = check(&cases, &broken);
    let faults: Vec<String> = told("requests")
        .iter()
        .filter_map(|(name, problem)| {
            let case = cases.iter().find(|case| case.name == *name).unwrap();
            let problem = problem.as_str().filter(|problem| !cases::is_newer_than_the_model(case, problem))?;
            Some(format!("{name}\n  {problem}\n  {}", case.body))
        })
        .collect();
    assert!(faults.is_empty(), "{} of {}:\n{}", faults.len(), cases.len(), faults[..faults.len().min(12)].join("\n"));
    assert_eq!(told("requests").len(), cases.len(), "each has a name of its own");

    // The check can fail: on each wire, for each key, each value and each role.
    let accepted: Vec<String> =
        told("broken").into_iter().filter(|(_, problem)| problem.is_null()).map(|(name, _)| name).collect();
    assert!(accepted.is_empty(), "{} of {} broken bodies were taken: {accepted:#?}", accepted.len(), broken.len());
    assert_eq!(told("broken").len(), broken.len());
    for wire in cases::WIRES {
        for how in broken::WAYS {
            let count = broken.iter().filter(|case| case.wire == wire && case.name.contains(how)).count();
            assert!(count >= 3, "{wire}: {count} bodies with {how}");
        }
    }
}

/// Asks the check; what it says is found by the part that was asked.
fn check(requests: &[Case], broken: &[Case]) -> impl Fn(&str) -> Problems {
    let list = |cases: &[Case]| cases.iter().map(Case::to_json).collect::<Vec<_>>();
    let asked = json!({"requests": list(requests), "broken": list(broken)}).to_string();
    let mut child = Command::new(python("vendor-types", "tests/vendor_types/requirements.txt"))
        .arg(root().join("tests/vendor_types/check.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = thread::spawn(move || stdin.write_all(asked.as_bytes()));
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "the check failed:\n{said}");
    writer.join().unwrap().unwrap();
    let told: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}\n{said}"));
    move |part| told[part].as_object().cloned().unwrap_or_default()
}
