//! `harn run [FILE]`: runs a script, or the main file of the project. `harn run -` reads it from standard input, and
//! `harn run -e CODE` takes it from the command line.

use crate::console::Console;
use crate::interrupt;
use crate::limits::{Limits, pack};
use crate::live::{LiveMode, LiveView};
use crate::log::{self, LogFormat};
use crate::otel::{self, Otel};
use crate::project::main_file;
use crate::report::{Format, show};
use crate::script::Script;
use clap::builder::{PathBufValueParser, TypedValueParser as _};
use std::path::PathBuf;
use stdlib::{Diagnostic, Engine, PackSpec, RunOptions, RunRecording};

#[derive(Debug, clap::Args)]
pub(crate) struct RunArgs {
    /// Script to run; `-` reads it from standard input [default: `main.harn` or `main.rhai` in the folder of the project]
    file: Option<PathBuf>,
    /// Run this text instead of a file
    #[arg(short = 'e', long = "eval", value_name = "CODE", allow_hyphen_values = true)]
    code: Option<String>,
    /// Read standard input or CODE as a Rhai script
    #[arg(long)]
    rhai: bool,
    /// Value of the pipeline's `task` parameter
    #[arg(long, value_name = "TEXT")]
    task: Option<String>,
    /// Rhai file with reminder providers, run in a sandbox; can be repeated
    #[arg(long = "pack", visible_alias = "provider", value_name = "FILE", value_parser = PathBufValueParser::new().try_map(pack))]
    packs: Vec<PathBuf>,
    #[command(flatten)]
    limits: Limits,
    /// Record all model requests and responses in a new or empty folder
    #[arg(long, value_name = "DIR", conflicts_with = "replay")]
    record: Option<PathBuf>,
    /// Answer model requests from a recording, without network, keys or waiting
    #[arg(long, value_name = "DIR", conflicts_with = "seed")]
    replay: Option<PathBuf>,
    /// Format of the diagnostics on standard error
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// When to show the progress of agent loops on standard error
    #[arg(long, value_enum, value_name = "WHEN", default_value_t)]
    live: LiveMode,
    /// Format of log lines on standard error; without it, lines are logged only if HARN_LOG or RUST_LOG is set
    #[arg(long, value_enum, value_name = "FORM")]
    log_format: Option<LogFormat>,
    #[command(flatten)]
    otel: Otel,
    /// Arguments of the script; write `--` before the first one that starts with `-`, and before all arguments if there is no FILE
    args: Vec<String>,
    /// The arguments after `--`.
    #[arg(last = true, hide = true)]
    literal_args: Vec<String>,
}

impl RunArgs {
    /// Takes the script's source and its arguments out of the options.
    ///
    /// # Errors
    /// Returns a message if no script is named and the project has no main file.
    fn script(&mut self) -> Result<(Script, Vec<String>), String> {
        let mut args = std::mem::take(&mut self.args);
        args.append(&mut self.literal_args);
        let file = self.file.take();
        match (self.code.take(), file) {
            (Some(text), file) => {
                args.splice(0..0, file.map(|first| first.to_string_lossy().into_owned()));
                Ok((Script::Code { text, rhai: self.rhai }, args))
            }
            (None, Some(file)) => Ok((Script::named(file, self.rhai), args)),
            (None, None) => match main_file() {
                Ok(file) => Ok((Script::File(file), args)),
                Err(missing) if args.is_empty() => Err(missing),
                Err(missing) => Err(missing + "  help: what follows `--` are arguments of the script, not its name\n"),
            },
        }
    }
}

pub(crate) fn run(mut args: RunArgs, console: &Console) -> i32 {
    let output = &*console.output;
    let log = if console.owns_process { log::start(args.log_format, None) } else { Ok(None) };
    let _log = match log {
        Ok(guard) => guard,
        Err(why) => return log::refuse(&why),
    };
    let (script, script_args) = match args.script() {
        Ok(script) => script,
        Err(missing) => {
            output.err(&missing);
            return 2;
        }
    };
    let from_stdin = matches!(script, Script::Stdin { .. });
    let refuse = |found: &[Diagnostic]| {
        show(output, found, args.format);
        1
    };
    let source = match script.read() {
        Ok(source) => source,
        Err(diagnostic) => return refuse(&[diagnostic]),
    };
    let exporting = if console.owns_process { args.otel.start() } else { Ok(None) };
    let exporting = match exporting {
        Ok(exporting) => exporting,
        Err(error) => return otel::refuse(&error),
    };
    let tap = exporting.as_ref().map(|exporting| exporting.tap("run"));
    let mut options = match args.limits.options(script.path(), output, args.format, tap) {
        Ok(options) => options,
        Err(found) => return refuse(&found),
    };
    options.packs.extend(args.packs.into_iter().map(PackSpec::plain));
    let watcher = if console.owns_process { LiveView::new(args.live, args.format) } else { None };
    let interrupt = console.owns_process.then(interrupt::listen);
    let printed = args.format.of_run(&console.output);
    let mut options =
        RunOptions { task: args.task, args: script_args, interrupt, output: printed, from_stdin, ..options };
    let recording = match (&args.record, &args.replay) {
        (Some(folder), _) => RunRecording::record(folder, &source, &mut options).map(Some),
        (None, Some(folder)) => RunRecording::replay(folder, &source, &mut options).map(Some),
        (None, None) => Ok(None),
    };
    options.recording = match recording {
        Ok(recording) => recording,
        Err(diagnostic) => return refuse(&[*diagnostic]),
    };
    let options = match &watcher {
        Some(watcher) => RunOptions { live: Some(watcher.live()), output: watcher.output(), ..options },
        None => options,
    };
    let ran = Engine::new(options).run(&source);
    if let Some(watcher) = &watcher {
        watcher.end_before("");
    }
    if let Some(exporting) = exporting {
        exporting.end();
    }
    if let Some(loops) = &ran.interrupted {
        interrupt::report(loops, args.format, watcher.is_some());
    }
    show(output, &ran.diagnostics, args.format);
    ran.exit_code
}
