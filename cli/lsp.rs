//! `harn lsp`: the language server, over standard input and output.

use crate::log::{self, LogFormat};
use std::io::{IsTerminal, stdin, stdout};
use tracing::level_filters::LevelFilter;

#[derive(clap::Args)]
pub(crate) struct LspArgs {
    /// Communicate over standard input and output, which is the only way; editors pass it
    #[arg(long)]
    stdio: bool,
    /// Format of log lines on standard error; HARN_LOG filters them
    #[arg(long, value_enum, value_name = "FORM", default_value = "text")]
    log_format: LogFormat,
}

/// Serves until the client ends the session or closes its end.
pub(crate) fn run(args: &LspArgs) -> i32 {
    let _log = match log::start(Some(args.log_format), Some(LevelFilter::WARN)) {
        Ok(guard) => guard,
        Err(why) => return log::refuse(&why),
    };
    if stdin().is_terminal() && !args.stdio {
        eprintln!("harn lsp waits for an editor on standard input; press Ctrl-C to stop");
    }
    ::lsp::serve(stdin(), stdout())
}
