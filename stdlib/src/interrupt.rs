//! Telling a run from outside to stop.

use lang::vm::Local;
use runtime::loop_status::LoopStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A switch that the handlers of signals throw. Clones are the same switch.
///
/// The thrower stores the exit code first; a run that only computes checks it now and then, one
/// that waits is woken by the signal itself.
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    /// The exit code; 0 until the run is to stop.
    pub code: Arc<AtomicUsize>,
    /// It was thrown: who throws it again does not want to wait.
    pub thrown: Arc<AtomicBool>,
}

impl Interrupt {
    /// Returns the exit code of the run once it was told to stop.
    #[must_use]
    pub fn exit_code(&self) -> Option<i32> {
        match self.code.load(Ordering::Acquire) {
            0 => None,
            code => i32::try_from(code).ok(),
        }
    }

    /// Forgets that it was thrown.
    pub fn reset(&self) {
        self.code.store(0, Ordering::Release);
        self.thrown.store(false, Ordering::Release);
    }

    /// Ready once it was thrown. It looks whenever a signal comes, so it must be waited for where signals are heard.
    pub(crate) fn thrown(&self) -> Local<()> {
        let this = self.clone();
        Box::pin(async move {
            #[cfg(unix)]
            {
                use tokio::signal::unix::{SignalKind, signal};
                let heard = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()));
                if let (Ok(mut interrupts), Ok(mut terminations)) = heard {
                    while this.exit_code().is_none() {
                        tokio::select! {
                            biased;
                            _ = interrupts.recv() => {}
                            _ = terminations.recv() => {}
                        }
                    }
                    return;
                }
            }
            let _ = this;
            std::future::pending::<()>().await;
        })
    }
}

/// A loop that was cut short by the interrupt.
#[derive(Debug, Clone)]
pub struct CutShort {
    /// The name of the loop.
    pub name: String,
    /// The session.
    pub session_id: String,
    /// The status of its result.
    pub status: LoopStatus,
    /// The number of its iterations, including the unfinished one.
    pub iterations: u32,
    /// The activity that was interrupted.
    pub doing: String,
    /// The model's text so far.
    pub text: String,
}
