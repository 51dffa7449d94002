//! `harn check PATH…`: finds what is wrong with scripts, the files they import and the `harn.toml` of their project, and
//! runs nothing.

use crate::console::Console;
use crate::limits::capability;
use crate::report::{Format, show, show_as_result};
use crate::script::Script;
use crate::stdout;
use std::collections::HashSet;
use std::path::PathBuf;
use std::rc::Rc;
use stdlib::{Capability, CodeRef, Diagnostic, Engine, Files, Project, RunOptions, Severity};

#[derive(clap::Args)]
pub(crate) struct CheckArgs {
    /// Scripts to check, together with the files that they import; a folder means all scripts in it that `.gitignore` does not
    /// exclude; `-` means standard input
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Read standard input as a Rhai script
    #[arg(long)]
    rhai: bool,
    /// Check as if these capabilities were denied; without fs.read, packs that a script names are not read
    #[arg(long, value_name = "CAPABILITY", value_delimiter = ',', value_parser = capability)]
    deny: Vec<Capability>,
    /// Format of diagnostics; text is written to standard error, JSON to standard output
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

/// Checks all scripts, even if the first has errors. Warnings alone are not a failure.
pub(crate) fn run(args: &CheckArgs, console: &Console) -> i32 {
    if let Some(code) = Script::refuse_stdin_twice(&args.paths, console) {
        return code;
    }
    let mut failed = false;
    let mut told = HashSet::new();
    for path in &args.paths {
        let scripts = match Script::of_path(path, args.rhai, &["harn", "rhai"]) {
            Ok(scripts) => scripts,
            Err(diagnostic) => {
                failed = true;
                if let Err(error) = report(console, &[diagnostic], args.format) {
                    return stdout::exit_code(Err(error), 1);
                }
                continue;
            }
        };
        for script in scripts {
            let mut found = check(&script, &args.deny);
            failed |= found.iter().any(is_error);
            // What two scripts import is reported once.
            found.retain(|diagnostic| told.insert(key(diagnostic)));
            if let Err(error) = report(console, &found, args.format) {
                return stdout::exit_code(Err(error), 1);
            }
        }
    }
    i32::from(failed)
}

fn report(console: &Console, found: &[Diagnostic], format: Format) -> std::io::Result<()> {
    match format {
        Format::Text => {
            show(&*console.output, found, format);
            Ok(())
        }
        Format::Json => show_as_result(&*console.output, found),
    }
}

/// Checks one script with an engine of its own: scripts that are checked together do not see each other's names.
fn check(script: &Script, denied: &[Capability]) -> Vec<Diagnostic> {
    let source = match script.read() {
        Ok(source) => source,
        Err(diagnostic) => return vec![diagnostic],
    };
    let (mut project, mut found) = match Project::of(script.path()) {
        Ok(project) => (project, Vec::new()),
        Err(found) => (Project::default(), found),
    };
    found.extend(project.warning.take());
    found.extend(project.check_packs());
    let options = RunOptions {
        loader: Rc::new(Files::of(script.path())),
        limits: project.limits,
        denied: project.denied.iter().chain(denied).copied().collect(),
        ..RunOptions::default()
    };
    found.extend(Engine::new(options).check(&source));
    found
}

/// Returns the key by which two diagnostics are the same finding.
fn key(diagnostic: &Diagnostic) -> (CodeRef, String, String, u32) {
    let file = diagnostic.labels.first().map_or(String::new(), |label| label.source.name().to_owned());
    (diagnostic.code, file, diagnostic.message.clone(), diagnostic.position())
}

fn is_error(diagnostic: &Diagnostic) -> bool {
    diagnostic.severity == Severity::Error
}
