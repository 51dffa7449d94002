//! Long texts for a person: in a pager if standard output is a terminal.

use crate::report::visible;
use crate::stdout;
use signal_hook::consts::SIGINT;
use signal_hook::flag;
use std::io::{IsTerminal, Result, Write};
use std::process::{Child, Command, Stdio};

/// The variables that name the command of a pager, the first one that is set first.
const VARIABLES: [&str; 2] = ["HARN_PAGER", "PAGER"];

/// Exit codes of a shell that cannot start a command.
const NOT_STARTED: [i32; 2] = [126, 127];

/// Shows a text in the pager of the user: the command in `HARN_PAGER` or `PAGER`, else `less -R`. The text is printed if
/// standard output is not a terminal, if the command is empty or `cat`, and if it cannot be started.
///
/// # Errors
/// The system refuses to print.
pub(crate) fn show(text: &str) -> Result<()> {
    let named = VARIABLES.iter().find_map(|name| std::env::var(name).ok());
    let named = named.as_deref().map(str::trim);
    if !std::io::stdout().is_terminal() || matches!(named, Some("" | "cat")) {
        return stdout::print(text);
    }
    let mut command = match named {
        Some(line) => {
            let mut shell = Command::new("sh");
            shell.args(["-c", line]);
            shell
        }
        None => {
            let mut less = Command::new("less");
            less.arg("-R");
            less
        }
    };
    let ended = command.stdin(Stdio::piped()).spawn().and_then(|pager| fed(pager, text));
    match (ended, named) {
        (Ok(code), _) if !code.is_some_and(|code| NOT_STARTED.contains(&code)) => Ok(()),
        (_, named) => {
            // A system without `less` needs no warning.
            if let Some(line) = named {
                eprintln!("warning: cannot start the pager `{}`", visible(line));
            }
            stdout::print(text)
        }
    }
}

/// Writes the text to the pager and waits until it ends. Returns its exit code, `None` if a signal ended it.
fn fed(mut pager: Child, text: &str) -> Result<Option<i32>> {
    // Ctrl-C is a key of the pager, which still has the terminal. If that fails, Ctrl-C keeps its default effect.
    let _ = flag::register(SIGINT, std::sync::Arc::default());
    if let Some(mut input) = pager.stdin.take() {
        // A pager that is left before the end of the text is not an error.
        let _ = input.write_all(text.as_bytes());
    }
    pager.wait().map(|status| status.code())
}
