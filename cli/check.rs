//! `harn check FILE…`: finds what is wrong with scripts, the files they import and the `harn.toml` of their project, and
//! runs nothing.

use crate::report::{Format, show, show_as_result};
use std::collections::HashSet;
use std::path::PathBuf;
use std::rc::Rc;
use stdlib::{Diagnostic, Engine, Files, Project, RunOptions, Severity, read_source};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The scripts; files that they import are checked with them
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Pictures go to standard error, JSON goes to standard output
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

/// All files are looked at, whatever is wrong with the first. Warnings alone are no failure.
pub(crate) fn run(args: &Args) -> i32 {
    let mut failed = false;
    let mut told = HashSet::new();
    for file in &args.files {
        let mut found = match read_source(file) {
            // An engine for each file: scripts that are checked together do not see each other's names.
            Ok(source) => {
                let (project, mut found) = match Project::of(file) {
                    Ok(project) => (project, Vec::new()),
                    Err(found) => (Project::default(), found),
                };
                found.extend(project.check_packs());
                let options = RunOptions { loader: Rc::new(Files), limits: project.limits, ..RunOptions::default() };
                found.extend(Engine::new(options).check(&source));
                found
            }
            Err(diagnostic) => vec![diagnostic],
        };
        failed |= found.iter().any(is_error);
        // What two scripts import is told once.
        found.retain(|diagnostic| told.insert(key(diagnostic)));
        match args.format {
            Format::Text => show(&found, args.format),
            Format::Json => show_as_result(&found, args.format),
        }
    }
    i32::from(failed)
}

/// What makes two diagnostics the same finding.
fn key(diagnostic: &Diagnostic) -> (&'static str, String, String, u32) {
    let file = diagnostic.labels.first().map_or(String::new(), |label| label.source.name().to_owned());
    (diagnostic.code, file, diagnostic.message.clone(), diagnostic.position())
}

fn is_error(diagnostic: &Diagnostic) -> bool {
    diagnostic.severity == Severity::Error
}
