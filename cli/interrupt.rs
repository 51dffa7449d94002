//! Signals: the first one lets the run end in good order, the second one ends it at once.

use crate::report::Format;
use serde_json::json;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::fmt::Write as _;
use std::io::Write as _;
use stdlib::{CutShort, Interrupt, shown};

/// The exit codes of a process that a signal ended, as shells report them: 128 plus the signal's
/// number.
const SIGNALS: [(i32, i32); 2] = [(SIGINT, 130), (SIGTERM, 143)];

/// Listens from now on. It costs a few system calls; nothing runs until a signal comes.
pub(crate) fn listen() -> Interrupt {
    let interrupt = Interrupt::default();
    for (signal, code) in SIGNALS {
        // In this order: the first signal finds the switch as it was, the second one finds it thrown and ends the process.
        // Where the system refuses a handler, the signal does what it always did.
        let _ = flag::register_conditional_shutdown(signal, code, interrupt.thrown.clone());
        let _ = flag::register(signal, interrupt.thrown.clone());
        let _ = flag::register_usize(signal, interrupt.code.clone(), usize::try_from(code).unwrap_or(1));
    }
    interrupt
}

/// Reports on standard error the loops that were cut short, with their partial results. Text that
/// was shown live (`seen`) is not repeated.
pub(crate) fn report(loops: &[CutShort], format: Format, seen: bool) {
    let text = match format {
        Format::Text => as_text(loops, seen),
        Format::Json => as_json(loops),
    };
    let _ = std::io::stdout().flush();
    // If standard error is closed, the report has no reader.
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

fn as_text(loops: &[CutShort], seen: bool) -> String {
    let mut out = "interrupted\n".to_owned();
    for cut in loops {
        let turn = if cut.iterations > 0 { format!(", turn {}", cut.iterations) } else { String::new() };
        let head = format!("`{}` in session {}{turn}: {}, {}", cut.name, cut.session_id, cut.status, cut.doing);
        let _ = writeln!(out, "{}", clean(&head));
        if seen || cut.text.trim().is_empty() {
            continue;
        }
        out.push_str("its text so far:\n");
        for line in cut.text.lines() {
            let _ = writeln!(out, "  {}", clean(line));
        }
    }
    out
}

fn as_json(loops: &[CutShort]) -> String {
    let loops: Vec<_> = loops
        .iter()
        .map(|cut| {
            json!({
                "name": cut.name, "session_id": cut.session_id, "status": cut.status.as_str(),
                "iterations": cut.iterations, "doing": cut.doing, "text": cut.text,
            })
        })
        .collect();
    format!("{}\n", json!({"interrupted": loops}))
}

fn clean(line: &str) -> String {
    line.chars().filter_map(shown).collect()
}
