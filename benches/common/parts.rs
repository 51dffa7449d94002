//! The parts of a bench, and how they are run.

use crate::options::Options;
use std::process::ExitCode;

/// A part of a bench, by the name that `--only` takes: whether it holds its bars.
pub(crate) type Part = (&'static str, fn(&Options) -> bool);

/// Runs the selected parts; fails if one misses its limits or the options are invalid.
pub(crate) fn run(args: &[String], parts: &[Part]) -> ExitCode {
    let options = match Options::read(args) {
        Ok(options) => options,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    let asked = parts.iter().filter(|(name, _)| options.wants(name));
    let held = asked.fold(true, |held, (_, part)| part(&options) && held);
    if held { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
