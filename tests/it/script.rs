//! One script. The first line names the command, `// run` or `// check`, and its options; without it, `run`.
//!
//! `UPDATE=1` writes what was found into the expected files of the scripts that are run. Read them before you commit.

use crate::check;
use crate::diff::diff;
use crate::harn::{Outcome, harn, root};
use crate::in_process::{self, needs_process};
use libtest_mimic::Trial;
use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The expected files beside a script.
#[derive(Clone, Copy)]
pub(crate) enum Expect {
    /// Standard output in `.out`, standard error and an exit code that is not 0 in `.err`.
    Output,
    /// Standard error and the exit code in `.txt`.
    Picture,
    /// The output of `harn dis` in `.txt`, and an exit code that is not 0.
    Listing,
}

impl Expect {
    /// Returns the expected files beside the script: extension and text; an empty text expects no
    /// file.
    fn files(self, outcome: &Outcome) -> Vec<(&'static str, String)> {
        let exit_line = outcome.code.map_or("[ended by a signal]\n".to_owned(), |code| format!("[exit code {code}]\n"));
        match self {
            Self::Output if outcome.code == Some(0) => vec![("out", outcome.out.clone()), ("err", outcome.err.clone())],
            Self::Output => vec![("out", outcome.out.clone()), ("err", format!("{}{exit_line}", outcome.err))],
            Self::Picture => vec![("txt", format!("{}{exit_line}", outcome.err))],
            Self::Listing if outcome.code == Some(0) => vec![("txt", format!("{}{}", outcome.out, outcome.err))],
            Self::Listing => vec![("txt", format!("{}{}{exit_line}", outcome.out, outcome.err))],
        }
    }

    /// The extensions of these files.
    pub(crate) fn extensions(self) -> &'static [&'static str] {
        match self {
            Self::Output => &["out", "err"],
            Self::Picture | Self::Listing => &["txt"],
        }
    }
}

/// Held while a script runs that suspends workers. The ids of all scripts come from one seed, so they would write the same files in
/// `.harn/workers`.
static SNAPSHOTS: Mutex<()> = Mutex::new(());

fn suspends_workers(text: &str) -> bool {
    ["agent_await_resumption", "agent_lifecycle_tools", "suspend_agent"].iter().any(|name| text.contains(name))
}

/// Runs a script.
///
/// # Errors
/// Returns the difference from the expected files.
pub(crate) fn case(script: &Path, expect: Expect) -> Result<(), String> {
    let text = fs::read_to_string(root().join(script)).unwrap();
    let name = script.to_str().unwrap();
    let args = match expect {
        Expect::Listing => vec!["dis", name],
        _ => command(text.lines().next().unwrap_or(""), name),
    };
    let starts_command = is_set("COMMAND") || needs_process(script, &text).is_some();
    let _alone = suspends_workers(&text).then(|| SNAPSHOTS.lock().unwrap_or_else(PoisonError::into_inner));
    let outcome = if starts_command { harn(&args) } else { in_process::run(&args) };
    let mut wrong = String::new();
    for (extension, found) in expect.files(&outcome) {
        let file = root().join(script.with_extension(extension));
        if is_set("UPDATE") {
            update(&file, &found);
        }
        let wanted = fs::read_to_string(&file).unwrap_or_default();
        if let Some(diff) = diff(&wanted, &found) {
            wrong.push_str(&format!("{} (-expected, +found)\n{diff}", script.with_extension(extension).display()));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

fn is_set(variable: &str) -> bool {
    std::env::var_os(variable).is_some_and(|value| value == "1")
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

/// Checks of the comparisons themselves.
pub(crate) fn trials() -> Vec<Trial> {
    vec![
        check("output_errors_and_exit_code_are_all_compared", || {
            let outcome = |code, err: &str| Outcome { code, out: "1\n".into(), err: err.into() };
            let output = |code, err| Expect::Output.files(&outcome(code, err));
            assert_eq!(output(Some(0), ""), [("out", "1\n".to_owned()), ("err", String::new())]);
            assert_eq!(output(Some(1), "no\n")[1].1, "no\n[exit code 1]\n");
            assert_eq!(output(None, "")[1].1, "[ended by a signal]\n");
            let picture = Expect::Picture.files(&outcome(Some(0), "hm\n"));
            assert_eq!(picture, [("txt", "hm\n[exit code 0]\n".to_owned())]);
            let listing = |code, err| Expect::Listing.files(&outcome(code, err));
            assert_eq!(listing(Some(0), "hm\n"), [("txt", "1\nhm\n".to_owned())]);
            assert_eq!(listing(Some(1), "no\n"), [("txt", "1\nno\n[exit code 1]\n".to_owned())]);
        }),
        check("the_first_line_names_command_and_options", || {
            assert_eq!(command("// check", "a"), ["check", "a"]);
            assert_eq!(command("// run --fuel 9", "a"), ["run", "--seed", "1", "--fuel", "9", "a"]);
            assert_eq!(command("// check that nothing runs", "a"), ["check", "a"]);
            assert_eq!(command("// Running ahead.", "a"), ["run", "--seed", "1", "a"]);
            assert_eq!(command("let a = 1", "a"), ["run", "--seed", "1", "a"]);
        }),
    ]
}
