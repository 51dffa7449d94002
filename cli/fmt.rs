//! `harn fmt [PATH…]`: formats scripts, or shows which are not formatted.

use crate::console::Console;
use crate::difference::difference;
use crate::parallel::in_parallel;
use crate::progress::ProgressLine;
use crate::project::{NAME_A_PATH, or_project};
use crate::report::{Format, show, visible};
use crate::script::Script;
use crate::stdout;
use crate::whole_file::write_whole;
use ::fmt::{WIDTH, format};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use stdlib::{Diagnostic, Project};

#[derive(clap::Args)]
pub(crate) struct FmtArgs {
    /// Scripts to format; a folder means all Harn scripts in it that `.gitignore` does not exclude; `-` formats
    /// standard input to standard output [default: the folder of the project]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Only list the files that are not formatted, and exit with 1 if there are any
    #[arg(long)]
    check: bool,
    /// Only print what would change, and exit with 1 if anything would
    #[arg(long)]
    diff: bool,
}

impl FmtArgs {
    const fn writes(&self) -> bool {
        !self.check && !self.diff
    }
}

/// Result of formatting one script.
enum FormatOutcome {
    /// It is formatted already.
    Same,
    /// It is not.
    Changed {
        /// The text before, for the difference.
        before: String,
        /// The formatted text.
        after: String,
    },
    /// It was formatted and written.
    Written,
    /// It was left as it is.
    Failed(Vec<Diagnostic>),
    /// The system refuses to write it.
    Unwritten(std::io::Error),
}

/// All scripts are formatted, whatever is wrong with the first.
pub(crate) fn run(mut args: FmtArgs, console: &Console) -> i32 {
    let without_path = args.paths.is_empty();
    args.paths = or_project(args.paths);
    let args = &args;
    if let Some(code) = Script::refuse_stdin_twice(&args.paths, console) {
        return code;
    }
    let mut failed = 0usize;
    let mut scripts = Vec::new();
    for path in &args.paths {
        if path.extension().is_some_and(|end| end == "rhai") {
            let name = visible(&path.display().to_string());
            console.output.err(&format!("skipped {name}: scripts in Rhai are not formatted\n"));
            continue;
        }
        match Script::of_path(path, false, &["harn"]) {
            Ok(found) => scripts.extend(found),
            Err(diagnostic) => {
                failed += 1;
                let diagnostic = if without_path { diagnostic.help(NAME_A_PATH) } else { diagnostic };
                show(&*console.output, &[diagnostic], Format::Text);
            }
        }
    }
    let widths = Widths::default();
    let progress = ProgressLine::new("formatting", Some(scripts.len()), console.owns_process);
    let work = |(): &mut (), script: &Script| {
        progress.step(&script.path().display().to_string());
        outcome(script, args, &widths)
    };
    let outcomes = in_parallel(&scripts, || (), work);
    drop(progress);
    let (mut changed, mut same) = (0usize, 0usize);
    let mut out = String::new();
    for (script, outcome) in scripts.iter().zip(outcomes) {
        let name = visible(&script.path().display().to_string());
        let is_stdin = matches!(script, Script::Stdin { .. });
        match outcome {
            FormatOutcome::Same => same += 1,
            FormatOutcome::Written => changed += 1,
            FormatOutcome::Changed { after, .. } if is_stdin && args.writes() => out.push_str(&after),
            FormatOutcome::Changed { before, after } => {
                changed += 1;
                if args.diff {
                    out.push_str(&difference(&name, &before, &after));
                } else {
                    out.push_str(&name);
                    out.push('\n');
                }
            }
            FormatOutcome::Failed(found) => {
                failed += 1;
                show(&*console.output, &found, Format::Text);
            }
            FormatOutcome::Unwritten(error) => {
                failed += 1;
                console.output.err(&format!("error: cannot write {name}: {error}\n"));
            }
        }
    }
    let stdin_alone = matches!(scripts.as_slice(), [Script::Stdin { .. }]);
    let says_enough = scripts.is_empty() || stdin_alone && failed == 0;
    if !says_enough {
        console.output.err(&summary(args, changed, same, failed));
    }
    let code = i32::from(failed > 0 || !args.writes() && changed > 0);
    stdout::exit_code(stdout::forgive(console.output.out(&out)), code)
}

/// A sentence about all files.
fn summary(args: &FmtArgs, changed: usize, same: usize, failed: usize) -> String {
    let files = |count: usize| if count == 1 { "1 file".to_owned() } else { format!("{count} files") };
    let mut parts = Vec::new();
    if changed > 0 {
        parts.push(format!("{} {}", files(changed), if args.writes() { "formatted" } else { "not formatted" }));
    }
    if same > 0 {
        parts.push(format!("{} already formatted", files(same)));
    }
    if failed > 0 {
        parts.push(format!("{} left unchanged because of errors", files(failed)));
    }
    parts.join(", ") + "\n"
}

fn outcome(script: &Script, args: &FmtArgs, widths: &Widths) -> FormatOutcome {
    let (source, width) = match (script.read(), widths.of(script.path())) {
        (Ok(source), Ok(width)) => (source, width),
        (Err(diagnostic), _) => return FormatOutcome::Failed(vec![diagnostic]),
        (_, Err(found)) => return FormatOutcome::Failed(found),
    };
    let text = match format(&source, width) {
        Ok(text) => text,
        Err(found) => return FormatOutcome::Failed(found),
    };
    match script {
        Script::File(path) if text != source.text() && args.writes() => match write_whole(path, &text) {
            Ok(()) => FormatOutcome::Written,
            Err(error) => FormatOutcome::Unwritten(error),
        },
        // Standard input is printed, changed or not.
        Script::Stdin { .. } if args.writes() => FormatOutcome::Changed { before: String::new(), after: text },
        _ if text == source.text() => FormatOutcome::Same,
        _ => FormatOutcome::Changed { before: source.text().to_owned(), after: text },
    }
}

/// The widths that projects ask for, by folder: most scripts are in a folder with others.
#[derive(Default)]
struct Widths(Mutex<HashMap<PathBuf, Result<u32, ()>>>);

impl Widths {
    /// Returns the width of the lines of a script. What is wrong with its `harn.toml` is reported once a folder.
    fn of(&self, script: &Path) -> Result<u32, Vec<Diagnostic>> {
        let folder = script.parent().unwrap_or(Path::new("")).to_owned();
        let mut known = self.0.lock().map_err(|_| Vec::new())?;
        if let Some(width) = known.get(&folder) {
            return width.map_err(|()| Vec::new());
        }
        let read = Project::of(script).map(|project| project.width.unwrap_or(WIDTH));
        known.insert(folder, read.as_ref().copied().map_err(|_| ()));
        read
    }
}
