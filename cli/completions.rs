//! `harn completions SHELL`: a script that completes commands, options and values in a shell.

use crate::stdout;
use clap::Command;
use clap_complete::{Shell, generate};

#[derive(clap::Args)]
pub(crate) struct CompletionsArgs {
    /// Shell that reads the script
    #[arg(value_enum, value_name = "SHELL")]
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs, mut tree: Command) -> i32 {
    let mut script = Vec::new();
    generate(args.shell, &mut tree, "harn", &mut script);
    stdout::exit_code(stdout::print(&String::from_utf8_lossy(&script)), 0)
}
