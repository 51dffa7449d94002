//! `harn check FILE…`: finds what is wrong with scripts, and runs nothing.

use crate::report::{Format, show, show_as_result};
use std::path::PathBuf;
use stdlib::{Diagnostic, Engine, RunOptions, Severity, read_source};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The scripts
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Pictures go to standard error, JSON goes to standard output
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

/// All files are looked at, whatever is wrong with the first. Warnings alone are no failure.
pub(crate) fn run(args: &Args) -> i32 {
    let mut failed = false;
    for file in &args.files {
        let found = match read_source(file) {
            // An engine for each file: scripts that are checked together do not see each other's names.
            Ok(source) => Engine::new(RunOptions::default()).check(&source),
            Err(diagnostic) => vec![diagnostic],
        };
        failed |= found.iter().any(is_error);
        match args.format {
            Format::Text => show(&found, args.format),
            Format::Json => show_as_result(&found, args.format),
        }
    }
    i32::from(failed)
}

fn is_error(diagnostic: &Diagnostic) -> bool {
    diagnostic.severity == Severity::Error
}
