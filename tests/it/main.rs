//! The scripts whose expected output stands beside them: one test for each, named by its path from the root.
//!
//! ```sh
//! cargo test --workspace --test it                    # all of them
//! cargo test --workspace --test it closures           # those whose path has this in it
//! cargo test --workspace --test it -- --list          # their names; `--exact`, `--skip` and so on are those of `cargo test`
//! UPDATE=1 cargo test --workspace --test it closures  # writes what was found into their expected files
//! ```
//!
//! - [`script`]: how one is run, and compared with what is expected. [`folders`]: where they are.
//! - [`twins`]: programs in both languages do the same.
//! - [`whole`]: none is left out, and no expected file is without its script.
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
mod script;
mod twins;
mod whole;

use libtest_mimic::{Arguments, Trial};
use std::process::ExitCode;

fn main() -> ExitCode {
    if let Err(error) = in_process::in_clean_environment() {
        eprintln!("cannot start again: {error}");
        return ExitCode::FAILURE;
    }
    let arguments = Arguments::from_args();
    let mut trials: Vec<Trial> = folders::trials();
    trials.extend(twins::trials());
    let names = trials.iter().map(|trial| trial.name().to_owned()).collect();
    trials.extend(whole::trials(names));
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// A test that is Rust: it fails when it panics.
fn check(name: &'static str, check: impl FnOnce() + Send + 'static) -> Trial {
    Trial::test(name, || {
        check();
        Ok(())
    })
}
