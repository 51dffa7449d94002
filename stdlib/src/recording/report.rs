//! Errors of a recording, or of a run that replays one.

use super::sources::Compared;
use crate::codes::RecordingCode;
use lang::diagnostic::{Diagnostic, nearest};
use providers::recording::{MissingAnswer, RecordedCall, Recording, RecordingError};

/// Lines of work that a message names.
const NAMED: usize = 6;

/// An error of a recording.
pub(crate) fn of(error: &RecordingError) -> Diagnostic {
    let code = match error {
        RecordingError::NotEmpty(_) | RecordingError::Recorded(_) | RecordingError::Unwritten { .. } => {
            RecordingCode::Unwritten
        }
        RecordingError::Newer { .. } => RecordingCode::Newer,
        RecordingError::NotRecording { .. } | RecordingError::Broken { .. } | RecordingError::Edited(_) => {
            RecordingCode::Unreadable
        }
    };
    Diagnostic::new(code, error.to_string()).help(error.help())
}

/// A request that is not the one on record.
pub(crate) fn different(
    recording: &Recording,
    call: &RecordedCall,
    difference: &str,
    compared: &Compared,
) -> Diagnostic {
    let (number, fiber) = (call.number, &call.fiber);
    let message = format!("call {number} of `{fiber}` differs from the recorded one");
    let said = Diagnostic::new(RecordingCode::Different, message)
        .note(format!("turn {} of the session {}; `-` recorded, `+` now", call.turn, call.session))
        .note(difference);
    again(said, recording, compared)
}

/// A call that has no answer on record.
pub(crate) fn lost(recording: &Recording, fiber: &str, lost: &MissingAnswer, compared: &Compared) -> Diagnostic {
    let said = match lost {
        MissingAnswer::Unfinished(count) => {
            let message = format!("the recorded run ended before call {} of `{fiber}` was answered", count + 1);
            return Diagnostic::new(RecordingCode::Missing, message)
                .note("everything up to here was the same; the recording ends where the run was interrupted")
                .help(fresh(recording));
        }
        MissingAnswer::Unmade(0, lines) => {
            let message = format!("no call of `{fiber}` was recorded");
            let mut said = Diagnostic::new(RecordingCode::Missing, message).note(known(lines));
            if let Some(near) = nearest(fiber, lines.iter().map(String::as_str)) {
                said = said.note(format!("the nearest name is `{near}`"));
            }
            said
        }
        MissingAnswer::Unmade(count, _) => {
            let message = format!("call {} of `{fiber}` was not recorded", count + 1);
            let calls = if *count == 1 { "1 call".to_owned() } else { format!("{count} calls") };
            Diagnostic::new(RecordingCode::Missing, message).note(format!("the recorded run made {calls} there"))
        }
    };
    again(said, recording, compared)
}

fn known(lines: &[String]) -> String {
    if lines.is_empty() {
        return "the recorded run made no model calls".to_owned();
    }
    let named: Vec<String> = lines.iter().take(NAMED).map(|line| format!("`{line}`")).collect();
    let more = if lines.len() > NAMED { format!(" and {} more", lines.len() - NAMED) } else { String::new() };
    format!("the recorded run made calls in {}{more}", named.join(", "))
}

/// Returns the diagnostic for a recorded call that was cancelled then and is awaited now.
pub(crate) fn given_up(recording: &Recording, call: &RecordedCall) -> Diagnostic {
    let message = format!(
        "call {} of `{}` has no recorded response: the recorded run stopped waiting after {} ms",
        call.number, call.fiber, call.took_ms
    );
    let said = Diagnostic::new(RecordingCode::Missing, message);
    if let Some(code @ (130 | 143)) = recording.exit_code() {
        return said
            .note(format!(
                "the recorded run was interrupted (exit code {code}); a replay cannot continue after that point"
            ))
            .help(fresh(recording));
    }
    said.note("the recorded run cancelled the call, or its deadline passed; this run waits for the response")
        .help(fresh(recording))
}

/// Calls on record that the run did not make.
pub(crate) fn unused(recording: &Recording, compared: &Compared) -> Option<Diagnostic> {
    let unused = recording.unused();
    let count: usize = unused.iter().map(|(_, _, count)| count).sum();
    if count == 0 {
        return None;
    }
    let calls = if count == 1 { "1 recorded call was".to_owned() } else { format!("{count} recorded calls were") };
    let mut said = Diagnostic::new(RecordingCode::Unused, format!("{calls} not repeated"));
    for (fiber, first, count) in unused.iter().take(NAMED) {
        said = said.note(match count {
            1 => format!("call {first} of `{fiber}`"),
            _ => format!("calls {first} to {} of `{fiber}`", *first + *count as u64 - 1),
        });
    }
    if unused.len() > NAMED {
        said = said.note(format!("and calls of {} more tasks", unused.len() - NAMED));
    }
    Some(again(said, recording, compared))
}

/// Adds the help for a run that differs from the recorded one.
fn again(mut said: Diagnostic, recording: &Recording, compared: &Compared) -> Diagnostic {
    let manifest = &recording.manifest;
    let changed = compared.changed(recording.sources());
    if compared.is_changed {
        said = said.note(format!("the script differs from the recorded one ({})", manifest.script));
    }
    for name in changed.iter().take(NAMED) {
        said = said.note(format!("the imported file `{name}` differs from the recorded one"));
    }
    if compared.is_changed || !changed.is_empty() {
        // That says it.
    } else if manifest.harn != env!("CARGO_PKG_VERSION") {
        said = said.note(format!("recorded by harn {}, replayed by {}", manifest.harn, env!("CARGO_PKG_VERSION")));
    } else {
        said = said.note("files, programs, servers and the environment that a script reads are not recorded");
    }
    said.help(fresh(recording))
}

fn fresh(recording: &Recording) -> String {
    format!("record again into another folder: `harn run --record DIR {}`", recording.manifest.script)
}
