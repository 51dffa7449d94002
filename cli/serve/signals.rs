//! Signals while something is served: the first one lets it end in good order, the second one ends it at once.

use ::serve::StopSignal;
use tokio::signal::unix::{SignalKind, signal};

/// Ready once a signal asks for the end, with the exit code; a second signal ends the process at once.
pub(super) fn signalled() -> StopSignal<'static> {
    Box::pin(first_signal())
}

async fn first_signal() -> i32 {
    let heard = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()));
    // Where the system refuses a handler, the signal does what it always did.
    let (Ok(mut interrupts), Ok(mut terminations)) = heard else { return std::future::pending().await };
    let code = tokio::select! {
        biased;
        _ = interrupts.recv() => 130,
        _ = terminations.recv() => 143,
    };
    tokio::spawn(async move {
        tokio::select! {
            biased;
            _ = interrupts.recv() => {}
            _ = terminations.recv() => {}
        }
        std::process::exit(code);
    });
    code
}
