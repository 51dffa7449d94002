//! `harn run FILE`: runs a script.

use crate::limits::Limits;
use crate::report::{Format, show};
use std::path::PathBuf;
use stdlib::{Diagnostic, Engine, RunOptions, read_source};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The script
    file: PathBuf,
    /// What the parameter `task` of the pipeline is
    #[arg(long, value_name = "TEXT")]
    task: Option<String>,
    #[command(flatten)]
    limits: Limits,
    /// How diagnostics are printed, on standard error
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// What the script sees as `args`
    #[arg(last = true)]
    args: Vec<String>,
}

pub(crate) fn run(args: Args) -> i32 {
    let refuse = |found: &[Diagnostic]| {
        show(found, args.format);
        1
    };
    let source = match read_source(&args.file) {
        Ok(source) => source,
        Err(diagnostic) => return refuse(&[diagnostic]),
    };
    let options = match args.limits.options(&args.file) {
        Ok(options) => options,
        Err(found) => return refuse(&found),
    };
    let ran = Engine::new(RunOptions { task: args.task, args: args.args, ..options }).run(&source);
    show(&ran.diagnostics, args.format);
    ran.exit_code
}
