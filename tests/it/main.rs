//! Runs the scripts that have an expected output: one test per script, named by its path from the root of the repository.
//!
//! ```sh
//! cargo test --workspace --test it                    # all of them
//! cargo test --workspace --test it closures           # the ones with this in their path
//! cargo test --workspace --test it -- --list          # their names; `--exact`, `--skip` and others work as usual
//! UPDATE=1 cargo test --workspace --test it closures  # writes what was found into their expected files
//! ```
//!
//! - [`script`]: runs one script and compares it with its expected files. [`folders`]: finds the scripts.
//! - [`in_process`]: runs scripts within this process, and decides which ones start the command instead.
//! - [`parity`]: the same program in both languages.
//! - [`whole`]: checks that no script is left out and that each expected file has a script.
//!
//! [`harn`] starts the command, [`diff`] shows how two texts differ.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed, which is what it is for")]

#[path = "../support/diff.rs"]
mod diff;
mod folders;
#[allow(dead_code, reason = "the other test targets use more of it")]
#[path = "../support/harn.rs"]
mod harn;
mod in_process;
mod parity;
mod script;
#[allow(dead_code, reason = "the other test targets use more of it")]
#[path = "../support/wait.rs"]
mod wait;
mod whole;

use libtest_mimic::{Arguments, Trial};
use std::process::ExitCode;

fn main() -> ExitCode {
    if let Err(error) = in_process::in_clean_environment() {
        eprintln!("cannot restart the tests with a clean environment: {error}");
        return ExitCode::FAILURE;
    }
    let arguments = Arguments::from_args();
    let mut trials: Vec<Trial> = folders::trials();
    trials.extend(parity::trials());
    let names = trials.iter().map(|trial| trial.name().to_owned()).collect();
    trials.extend(whole::trials(names));
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Returns a test that fails when it panics.
fn check(name: &'static str, check: impl FnOnce() + Send + 'static) -> Trial {
    Trial::test(name, || {
        check();
        Ok(())
    })
}
