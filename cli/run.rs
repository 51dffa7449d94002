//! `harn run FILE`: runs a script.

use crate::report::{Format, show};
use std::path::PathBuf;
use std::rc::Rc;
use stdlib::{Capability, Engine, Files, RunOptions, read_source};

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

/// What a run is given and what it is not.
#[derive(clap::Args)]
pub(crate) struct Limits {
    /// Fix ids, clock and randomness, so that two runs print the same
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Rights to take away: fs.read, fs.write, process, net, env, llm
    #[arg(long, value_name = "RIGHT", value_delimiter = ',', value_parser = capability)]
    deny: Vec<Capability>,
    /// How many instructions may run, roughly
    #[arg(long, value_name = "N")]
    fuel: Option<u64>,
}

impl Limits {
    /// As the engine wants them.
    pub(crate) fn options(self) -> RunOptions {
        let loader = Rc::new(Files);
        RunOptions { seed: self.seed, denied: self.deny, fuel: self.fuel, loader, ..RunOptions::default() }
    }
}

fn capability(written: &str) -> Result<Capability, String> {
    let names = Capability::ALL.map(Capability::name);
    Capability::ALL.into_iter().find(|known| known.name() == written).ok_or_else(|| {
        match lang::diagnostic::nearest(written, names) {
            Some(near) => format!("no such right; did you mean `{near}`?"),
            None => format!("no such right; there are {}", names.join(", ")),
        }
    })
}

pub(crate) fn run(args: Args) -> i32 {
    let source = match read_source(&args.file) {
        Ok(source) => source,
        Err(diagnostic) => {
            show(&[diagnostic], args.format);
            return 1;
        }
    };
    let ran = Engine::new(RunOptions { task: args.task, args: args.args, ..args.limits.options() }).run(&source);
    show(&ran.diagnostics, args.format);
    ran.exit_code
}
