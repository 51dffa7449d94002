//! `harn check [PATH…]`: finds what is wrong with scripts, the files they import and the `harn.toml` of their project, and
//! runs nothing. `--fix` applies the fixes that diagnostics carry.
//!
//! - [`analysis`]: the diagnostics of many scripts, in parallel.
//! - [`fixes`]: scripts with their fixes applied.
//! - [`formats`]: diagnostics as text, JSON, [`sarif`] and commands of GitHub workflows.

mod analysis;
mod fixes;
mod formats;
mod sarif;

use crate::console::Console;
use crate::limits::capability;
use crate::project::{NAME_A_PATH, or_project};
use crate::report::{Format, show};
use crate::script::Script;
use crate::stdout;
use crate::watch::watch;
use fixes::{FixLevel, FixedScript};
use formats::CheckFormat;
use std::collections::HashSet;
use std::io::IsTerminal;
use std::path::PathBuf;
use stdlib::{Applicability, Capability, CodeRef, Diagnostic, Severity};

#[derive(clap::Args)]
pub(crate) struct CheckArgs {
    /// Scripts to check, together with the files that they import; a folder means all scripts in it that `.gitignore` does not
    /// exclude; a pattern such as `'src/**/*.harn'` means all that match; `-` means standard input. The reminder files
    /// that they can use are checked as well [default: the folder of the project]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Read standard input as a Rhai script
    #[arg(long)]
    rhai: bool,
    /// Check as if these capabilities were denied; without fs.read, packs that a script names are not read
    #[arg(long, value_name = "CAPABILITY", value_delimiter = ',', value_parser = capability)]
    deny: Vec<Capability>,
    /// Apply fixes to the given scripts: `safe` ones, or `unsafe` ones as well; standard input is printed fixed
    #[arg(long, value_name = "LEVEL", value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "safe")]
    fix: Option<FixLevel>,
    /// With `--fix`: change nothing, print what would change, and exit with 1 if anything would
    #[arg(long, requires = "fix")]
    diff: bool,
    /// Exit with 1 if there are warnings
    #[arg(long)]
    deny_warnings: bool,
    /// Check again after each change, until Ctrl-C
    #[arg(long, conflicts_with = "diff")]
    watch: bool,
    /// Format of diagnostics; text is written to standard error, the other formats to standard output
    #[arg(long, value_enum, default_value = "text")]
    format: CheckFormat,
    /// Whether the paths are those of the project, since none is given.
    #[arg(skip)]
    without_path: bool,
}

/// Checks all scripts, even if the first has errors. Warnings alone are a failure only with `--deny-warnings`.
pub(crate) fn run(mut args: CheckArgs, console: &Console) -> i32 {
    args.without_path = args.paths.is_empty();
    args.paths = or_project(args.paths);
    let args = &args;
    if let Some(code) = Script::refuse_stdin_twice(&args.paths, console) {
        return code;
    }
    let stdin = args.paths.iter().any(|path| path.as_os_str() == "-");
    let conflict = if stdin && args.watch {
        Some("`--watch` cannot watch standard input; name files or folders")
    } else if args.format != CheckFormat::Text && (args.diff || stdin && args.fix.is_some()) {
        Some("the fixed text and `--format` both use standard output; omit `--format`")
    } else {
        None
    };
    if let Some(conflict) = conflict {
        console.output.err(&format!("error: {conflict}\n"));
        return 2;
    }
    if !args.watch {
        return once(args, console);
    }
    watch(&args.paths, &["harn", "rhai", "md"], console, || match once(args, console) {
        0 if args.deny_warnings => "no errors or warnings",
        0 => "no errors",
        _ if args.deny_warnings => "errors or warnings found",
        _ => "errors found",
    })
}

/// The scripts that the paths mean, each once, and what is wrong with the paths.
fn scripts(args: &CheckArgs) -> (Vec<Script>, Vec<Diagnostic>) {
    let (mut scripts, mut found) = (Vec::new(), Vec::new());
    let mut seen = HashSet::new();
    for path in &args.paths {
        match Script::of_path(path, args.rhai, &["harn", "rhai"]) {
            Ok(of_path) => scripts.extend(of_path.into_iter().filter(|script| {
                seen.insert(script.path().canonicalize().unwrap_or_else(|_| script.path().to_owned()))
            })),
            Err(diagnostic) if args.without_path => found.push(diagnostic.help(NAME_A_PATH)),
            Err(diagnostic) => found.push(diagnostic),
        }
    }
    (scripts, found)
}

fn once(args: &CheckArgs, console: &Console) -> i32 {
    let (scripts, mut found) = scripts(args);
    let mut code = i32::from(!found.is_empty());
    let fixed = args.fix.map(|level| fixes::fix(&scripts, &args.deny, level));
    let mut out = String::new();
    match &fixed {
        None => found.extend(analysis::check(&scripts, &args.deny, console.owns_process)),
        Some(fixed) => {
            let outcome = finish(args, console, fixed, &mut out);
            code = code.max(outcome);
            // A file that was written may be imported by another one.
            let writes = !args.diff && fixed.iter().any(|script| script.changed() && script.is_file());
            let again =
                if writes { analysis::check(&files(&scripts), &args.deny, console.owns_process) } else { Vec::new() };
            let rest = fixed.iter().filter(|script| !writes || !script.is_file());
            found.extend(again.into_iter().chain(rest.flat_map(|script| script.found.iter().cloned())));
        }
    }
    found.extend(analysis::check_reminder_files(&scripts));
    // What two scripts import is reported once.
    let mut reported = HashSet::new();
    found.retain(|diagnostic| reported.insert(key(diagnostic)));
    if found.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
        code = code.max(1);
    }
    let warnings = found.iter().filter(|diagnostic| diagnostic.severity == Severity::Warning).count();
    if args.deny_warnings && warnings > 0 {
        code = code.max(1);
    }
    let written = match args.format {
        CheckFormat::Text => {
            show(&*console.output, &found, Format::Text);
            if args.deny_warnings && warnings > 0 {
                let warnings = if warnings == 1 { "1 warning".to_owned() } else { format!("{warnings} warnings") };
                console.output.err(&format!("error: {warnings} denied by `--deny-warnings`\n"));
            }
            hint(args, console, &found);
            console.output.out(&out)
        }
        format => console.output.out(&formats::text(&found, format)),
    };
    stdout::exit_code(stdout::forgive(written), code)
}

fn files(scripts: &[Script]) -> Vec<Script> {
    scripts.iter().filter(|script| matches!(script, Script::File(_))).cloned().collect()
}

/// Writes the fixed files, or adds what would change to the output. Returns the exit code.
fn finish(args: &CheckArgs, console: &Console, fixed: &[FixedScript], out: &mut String) -> i32 {
    let (mut code, mut count, mut files) = (0, 0, 0);
    for script in fixed {
        if !script.is_file() && !args.diff {
            out.push_str(script.text());
            count += script.applied;
            files += usize::from(script.changed());
            continue;
        }
        if !script.changed() {
            continue;
        }
        if args.diff {
            out.push_str(&script.difference());
            code = 1;
        } else if let Err(error) = script.write() {
            console.output.err(&format!("error: cannot write {}: {error}\n", script.name()));
            code = 1;
            continue;
        }
        count += script.applied;
        files += 1;
    }
    if count > 0 {
        let verb = if args.diff { "would fix" } else { "fixed" };
        let problems = if count == 1 { "problem" } else { "problems" };
        let of = if files == 1 { "file" } else { "files" };
        console.output.err(&format!("{verb} {count} {problems} in {files} {of}\n"));
    }
    code
}

/// Tells a person how many of the problems can be fixed.
fn hint(args: &CheckArgs, console: &Console, found: &[Diagnostic]) {
    if args.fix.is_some() || !console.owns_process || !std::io::stderr().is_terminal() {
        return;
    }
    let fixable = |d: &&Diagnostic| d.fixes.iter().any(|fix| fix.applicability == Applicability::Safe);
    match found.iter().filter(fixable).count() {
        0 => {}
        1 => console.output.err("1 problem can be fixed: `harn check --fix`\n"),
        count => console.output.err(&format!("{count} problems can be fixed: `harn check --fix`\n")),
    }
}

/// Returns the key by which two diagnostics are the same finding.
fn key(diagnostic: &Diagnostic) -> (CodeRef, String, String, u32) {
    let file = diagnostic.labels.first().map_or(String::new(), |label| label.source.name().to_owned());
    (diagnostic.code, file, diagnostic.message.clone(), diagnostic.position())
}
