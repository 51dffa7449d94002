//! Mutated input: whatever text, file or request the code is fed, it does not panic, does not end its process and does not
//! hang, and what it rejects it rejects with a diagnostic or an error that has a code.
//!
//! ```sh
//! cargo test --workspace --test mutants                                  # some of each subject, the same each time
//! HARN_CASES=10000 cargo test --workspace --test mutants toml            # more of one
//! HARN_SEED=77 HARN_CASES=1 HARN_SHOW_MUTANT=1 cargo test --workspace --test mutants toml   # one, which is printed
//! ```
//!
//! A mutant is made from its number alone. A failure prints the number, the smallest mutant that breaks the same promise, and
//! the command that repeats it.
//!
//! - [`subject`]: what a subject is. There is a file for each: [`scripts`], [`rhai`], [`settings`] (`harn.toml`), [`tapes`],
//!   [`reminder_files`], [`lsp`], [`wires`] and [`grpc`].
//! - [`random`], [`text`], [`data`], [`proto`]: the mutator, for texts, JSON and protobuf. [`corpus`], [`wire_requests`]: what it starts from.
//! - [`runner`] makes mutants, and [`worker`] feeds them in a process of its own. [`shrink`]: smaller mutants that still fail.
//!   [`broken`]: tests that the runner notices what is broken.
//! - [`command`]: the command within the worker. [`served`], [`http`], [`rpc`]: its servers in processes of their own. [`properties`]: what holds of any script; the fuzz targets check the same.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed, which is what it is for")]

mod broken;
mod command;
mod corpus;
mod data;
mod grpc;
#[allow(dead_code, reason = "the other test targets use more of it")]
#[path = "../support/harn.rs"]
mod harn;
mod http;
mod lsp;
#[path = "../support/markdown.rs"]
mod markdown;
#[allow(unreachable_pub, dead_code, unused_imports, reason = "a library of its own when it is fuzzed")]
#[path = "../../fuzz/properties.rs"]
mod properties;
mod proto;
mod random;
mod reminder_files;
mod rhai;
mod rpc;
mod runner;
mod scripts;
mod served;
mod settings;
mod shrink;
mod subject;
mod tapes;
mod text;
#[allow(dead_code, reason = "the other test targets use more of it")]
#[path = "../support/wait.rs"]
mod wait;
mod wire_requests;
mod wires;
mod worker;

use libtest_mimic::{Arguments, Trial};
use std::process::ExitCode;
use subject::Subject;

/// Counts the memory of a run, as in the command.
#[global_allocator]
static ALLOCATOR: stdlib::Counted = stdlib::Counted;

const SUBJECTS: &[Subject] = &[
    scripts::SCRIPTS,
    rhai::RHAI,
    settings::TOML,
    tapes::TAPES,
    reminder_files::REMINDER_FILES,
    lsp::LSP,
    wires::WIRES,
    grpc::GRPC,
];

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    if words.next().as_deref() == Some(worker::ARGUMENT) {
        let name = words.next().unwrap_or_default();
        let subject = SUBJECTS.iter().chain(broken::BROKEN).find(|subject| subject.name == name);
        return subject.map_or(ExitCode::FAILURE, worker::work);
    }
    let arguments = Arguments::from_args();
    let trial = |subject: &'static Subject| Trial::test(subject.name, || runner::run(subject).map_err(Into::into));
    let mut trials: Vec<Trial> = SUBJECTS.iter().map(trial).collect();
    trials.extend(broken::trials());
    libtest_mimic::run(&arguments, trials).exit_code()
}
