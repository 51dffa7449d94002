//! `harn dis FILE`: what a script is compiled to, function by function. Nothing is run.

use crate::console::Console;
use crate::report::{Format, show, visible};
use crate::script::Script;
use crate::stdout;
use std::path::PathBuf;
use std::rc::Rc;
use stdlib::{Diagnostic, Engine, Files, Project, RunOptions};

#[derive(clap::Args)]
pub(crate) struct DisArgs {
    /// Harn script to compile; `-` reads it from standard input
    #[arg(required_unless_present = "code", conflicts_with = "code")]
    file: Option<PathBuf>,
    /// Compile this text instead of a file
    #[arg(short = 'e', long = "eval", value_name = "CODE", allow_hyphen_values = true)]
    code: Option<String>,
    /// Format of the diagnostics on standard error
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

pub(crate) fn run(args: DisArgs, console: &Console) -> i32 {
    let script = match args.code {
        Some(text) => Script::Code { text, rhai: false },
        None => Script::named(args.file.unwrap_or_default(), false),
    };
    if script.path().extension().is_some_and(|end| end == "rhai") {
        let name = visible(&script.path().display().to_string());
        console.output.err(&format!("error: cannot disassemble {name}: `harn dis` does not support Rhai scripts\n"));
        return 2;
    }
    match text(&script, console) {
        Ok(text) => {
            // Strings and names of files may hold what a terminal would obey.
            let text: String = text.lines().map(|line| visible(line) + "\n").collect();
            stdout::exit_code(stdout::forgive(console.output.out(&text)), 0)
        }
        Err(found) => {
            show(&*console.output, &found, args.format);
            1
        }
    }
}

fn text(script: &Script, console: &Console) -> Result<String, Vec<Diagnostic>> {
    let source = script.read().map_err(|diagnostic| vec![diagnostic])?;
    // Like `harn check`, applies the permissions of the project: they decide what may be called.
    let mut project = Project::of(script.path())?;
    if let Some(warning) = project.warning.take() {
        console.output.diagnostic(&warning);
    }
    let options = RunOptions {
        loader: Rc::new(Files::of(script.path())),
        limits: project.limits,
        denied: project.denied,
        ..RunOptions::default()
    };
    Engine::new(options).disassemble(&source)
}
