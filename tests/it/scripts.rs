//! Scripts with expected output. The first line names the command, `// run` or `// check`, and its options; without it,
//! `run`.
//!
//! | folder | the script | expected |
//! |---|---|---|
//! | `tests/lang` | what the language does | standard output in `.out`; standard error and exit code in `.err`, where there are such |
//! | `tests/diagnostics` | one that is wrong | the drawn picture in `.txt`, and the exit code |
//! | `tests/guide` | the guide's blocks | as in `tests/lang` |
//! | `tests/reminders` | what reminders, hooks, providers and logs do | as in `tests/lang` |
//! | `tests/agents` | what agents do: loops, tools, workers, models | as in `tests/lang` |
//!
//! Scripts in Rhai, whose names end with `.rhai`, are cases like the others.
//!
//! A folder named `modules` holds files for others to import; they are no cases.
//!
//! `UPDATE=1 cargo test --test it scripts` writes what was found into the expected files. Read them before you commit.

use crate::diff::diff;
use crate::harn::{Outcome, harn, root};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// The endings of scripts, in either language.
const SCRIPTS: [&str; 2] = ["harn", "rhai"];

/// Cases that run at the same time.
const THREADS: usize = 2;

#[test]
fn lang() {
    all("tests/lang", as_output);
}

#[test]
fn guide() {
    all("tests/guide", as_output);
}

#[test]
fn reminders() {
    all("tests/reminders", as_output);
}

#[test]
fn agents() {
    all("tests/agents", as_output);
}

#[test]
fn diagnostics() {
    all("tests/diagnostics", as_picture);
}

/// What the files beside the script should hold: extension and text; an empty text wants no file.
pub(crate) type Expected = Vec<(&'static str, String)>;

pub(crate) fn as_output(outcome: &Outcome) -> Expected {
    let mut errors = outcome.err.clone();
    if outcome.code != Some(0) {
        errors.push_str(&exit_line(outcome));
    }
    vec![("out", outcome.out.clone()), ("err", errors)]
}

fn as_picture(outcome: &Outcome) -> Expected {
    vec![("txt", format!("{}{}", outcome.err, exit_line(outcome)))]
}

fn exit_line(outcome: &Outcome) -> String {
    outcome.code.map_or("[ended by a signal]\n".to_owned(), |code| format!("[exit code {code}]\n"))
}

pub(crate) fn all(folder: &str, expected: fn(&Outcome) -> Expected) {
    let mut files = Vec::new();
    walk(Path::new(folder), &mut files);
    files.sort();
    let scripts: Vec<&PathBuf> = files.iter().filter(|file| is_script(file)).collect();
    assert!(!scripts.is_empty(), "{folder} holds no scripts");
    let failures = Mutex::new(orphans(&files));
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while let Some(script) = scripts.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let failed = case(script, expected);
                    failures.lock().unwrap_or_else(PoisonError::into_inner).extend(failed);
                }
            });
        }
    });
    let mut failures = failures.into_inner().unwrap_or_else(PoisonError::into_inner);
    failures.sort();
    assert!(
        failures.is_empty(),
        "{} of {} scripts in {folder} fail\n\n{}",
        failures.len(),
        scripts.len(),
        failures.join("\n")
    );
}

/// Files below a folder but for those that others import, as paths from the root of the repository: that is how
/// diagnostics name them.
fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(root().join(folder)).unwrap() {
        let entry = entry.unwrap();
        let path = folder.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            if entry.file_name() != "modules" {
                walk(&path, files);
            }
        } else {
            files.push(path);
        }
    }
}

fn extension(file: &Path) -> &str {
    file.extension().and_then(|found| found.to_str()).unwrap_or("")
}

fn is_script(file: &Path) -> bool {
    SCRIPTS.contains(&extension(file))
}

/// Expected files whose script is gone would never be compared with anything.
fn orphans(files: &[PathBuf]) -> Vec<String> {
    let expected = files.iter().filter(|file| matches!(extension(file), "out" | "err"));
    let lost = expected.filter(|file| !SCRIPTS.iter().any(|script| files.contains(&file.with_extension(script))));
    lost.map(|file| format!("{} has no script\n", file.display())).collect()
}

/// Runs a script; gives what is wrong, if anything is.
fn case(script: &Path, expected: fn(&Outcome) -> Expected) -> Vec<String> {
    let text = fs::read_to_string(root().join(script)).unwrap();
    let name = script.to_str().unwrap();
    let outcome = harn(&command(text.lines().next().unwrap_or(""), name));
    let mut wrong = Vec::new();
    for (extension, found) in expected(&outcome) {
        let file = root().join(script.with_extension(extension));
        if std::env::var_os("UPDATE").is_some_and(|set| set == "1") {
            update(&file, &found);
        }
        let wanted = fs::read_to_string(&file).unwrap_or_default();
        if let Some(diff) = diff(&wanted, &found) {
            wrong.push(format!("{} (-expected, +found)\n{diff}", script.with_extension(extension).display()));
        }
    }
    wrong
}

/// The arguments of the command that the first line of a script asks for.
fn command<'a>(line: &'a str, script: &'a str) -> Vec<&'a str> {
    let mut words = line.strip_prefix("// ").unwrap_or("").split(' ');
    let (mut args, options) = match words.next() {
        Some("check") => (vec!["check"], words.collect()),
        Some("run") => (vec!["run", "--seed", "1"], words.collect()),
        _ => (vec!["run", "--seed", "1"], Vec::new()),
    };
    // Further words, and not a sentence that begins with one of the two.
    let asked =
        options.iter().all(|word: &&str| !word.is_empty()) && options.first().is_none_or(|o| o.starts_with('-'));
    args.extend(options.into_iter().filter(|_| asked));
    args.push(script);
    args
}

fn update(file: &Path, found: &str) {
    if found.is_empty() {
        // It may not have been there.
        let _ = fs::remove_file(file);
    } else {
        fs::write(file, found).unwrap();
    }
}

#[test]
fn output_errors_and_exit_code_are_all_compared() {
    let outcome = |code, err: &str| Outcome { code: Some(code), out: "1\n".into(), err: err.into() };
    assert_eq!(as_output(&outcome(0, "")), [("out", "1\n".to_owned()), ("err", String::new())]);
    assert_eq!(as_output(&outcome(1, "no\n"))[1].1, "no\n[exit code 1]\n");
    assert_eq!(as_picture(&outcome(0, "hm\n"))[0].1, "hm\n[exit code 0]\n");
}

#[test]
fn the_first_line_names_command_and_options() {
    assert_eq!(command("// check", "a"), ["check", "a"]);
    assert_eq!(command("// run --fuel 9", "a"), ["run", "--seed", "1", "--fuel", "9", "a"]);
    assert_eq!(command("// check that nothing runs", "a"), ["check", "a"]);
    assert_eq!(command("// Running ahead.", "a"), ["run", "--seed", "1", "a"]);
    assert_eq!(command("let a = 1", "a"), ["run", "--seed", "1", "a"]);
}
