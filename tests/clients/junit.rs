//! Results of `harn test --format junit` as PyPI `junitparser` reads them (`tests/testing/junit/read.py`).

use crate::harn::{harn_in, root, scratch};
use crate::packages::python;
use serde_json::{Value, json};
use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};

/// Returns the lines that the reader prints for a document.
fn read(document: &str) -> Vec<Value> {
    let mut child = Command::new(python("junit", "tests/testing/junit/requirements.txt"))
        .arg(root().join("tests/testing/junit/read.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(document.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{document}\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_reader_of_junit_finds_every_result() {
    let folder = scratch("junit-results");
    let odd = "test \"a <b> & \\\"c\\\"\" {\n  println(\"]]> \\u{1} <tag> & more\")\n  \
               assert_eq(\"<x>\", \"&y\")\n}\ntest \"good\" { println(\"hello\") }\n";
    fs::write(folder.join("a_test.harn"), odd).unwrap();
    fs::write(folder.join("b_test.harn"), "test \"b\" { totl }\n").unwrap();
    let ran = harn_in(&folder, &["test", "--format", "junit"], b"", &[("CI", "")]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(1), ""), "{}", ran.out);
    let found = read(&ran.out);
    let [odd, good, broken, counts] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((&odd["name"], &odd["status"]), (&json!("a <b> & \"c\""), &json!("failure")), "{odd}");
    assert_eq!((&odd["class"], &odd["type"]), (&json!("a_test.harn"), &json!("HARN-RUN-009")));
    assert_eq!(odd["message"], "expected \"&y\", found \"<x>\"");
    assert!(odd["text"].as_str().unwrap().contains("a_test.harn:3:13"), "{odd}");
    assert_eq!(odd["output"], "]]> \u{fffd} <tag> & more\n");
    assert_eq!((&good["status"], &good["output"]), (&json!("passed"), &json!("hello\n")));
    assert_eq!((&broken["suite"], &broken["status"]), (&json!("b_test.harn"), &json!("error")));
    assert_eq!(*counts, json!({"tests": 3, "failures": 1, "errors": 1}));

    let stopped = harn_in(&folder, &["test", "--format", "junit", "--fail-fast", "a_test.harn"], b"", &[("CI", "")]);
    assert_eq!(read(&stopped.out)[1]["status"], "skipped", "{}", stopped.out);
}
