//! The process that feeds mutants to the code. It reads them from standard input and writes a line about each: a stack
//! overflow or an abort ends this process only, and the runner knows which mutant it was.

use crate::subject::{Mutant, Subject, Verdict};
use std::io::{Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Mutex;

/// The argument that makes a process a worker; the name of the subject follows.
pub(crate) const ARGUMENT: &str = "--feed-mutants-of";

/// The line about a mutant that was accepted.
pub(crate) const ACCEPTED: &str = "mutant accepted";
/// The line about a mutant that was rejected.
pub(crate) const REJECTED: &str = "mutant rejected";
/// The start of the line about a mutant that broke a promise; a text in JSON follows.
pub(crate) const BROKE: &str = "mutant broke ";

/// Panics since the last mutant, also those of other threads, and those that somebody caught.
static PANICS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Feeds mutants until there are no more.
pub(crate) fn work(subject: &Subject) -> ExitCode {
    std::panic::set_hook(Box::new(|info| {
        let thread = std::thread::current();
        let text = format!("panic in thread `{}`: {info}", thread.name().unwrap_or("unnamed"));
        PANICS.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(text);
    }));
    let mut target = (subject.target)();
    let mut input = std::io::stdin().lock();
    while let Some(mutant) = read(&mut input) {
        let fed = catch_unwind(AssertUnwindSafe(|| target.feed(&mutant)));
        let panics = std::mem::take(&mut *PANICS.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
        let line = match fed {
            Ok(Ok(Verdict::Accepted)) if panics.is_empty() => ACCEPTED.to_owned(),
            Ok(Ok(Verdict::Rejected)) if panics.is_empty() => REJECTED.to_owned(),
            Ok(Err(why)) if panics.is_empty() => format!("{BROKE}{}", serde_json::json!(why)),
            _ => format!("{BROKE}{}", serde_json::json!(panics.join("\n"))),
        };
        let mut output = std::io::stdout().lock();
        if writeln!(output, "{line}").and_then(|()| output.flush()).is_err() {
            break;
        }
    }
    ExitCode::SUCCESS
}

/// Reads a mutant; `None` at the end.
fn read(input: &mut impl Read) -> Option<Mutant> {
    let pieces = (0..number(input)?).map(|_| {
        let mut piece = vec![0; number(input)?];
        input.read_exact(&mut piece).ok()?;
        Some(piece)
    });
    Some(Mutant { pieces: pieces.collect::<Option<_>>()? })
}

fn number(input: &mut impl Read) -> Option<usize> {
    let mut bytes = [0; 4];
    input.read_exact(&mut bytes).ok()?;
    usize::try_from(u32::from_le_bytes(bytes)).ok()
}

/// Writes a mutant for a worker.
///
/// # Errors
/// The worker has ended.
pub(crate) fn write(output: &mut impl Write, mutant: &Mutant) -> std::io::Result<()> {
    let number = |length: usize| u32::try_from(length).unwrap_or(0).to_le_bytes();
    output.write_all(&number(mutant.pieces.len()))?;
    for piece in &mutant.pieces {
        output.write_all(&number(piece.len()))?;
        output.write_all(piece)?;
    }
    output.flush()
}
