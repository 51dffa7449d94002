//! Idling of a daemon: it sleeps until its interval is over, a host injects an item, or a watched file changes.

use std::future::{pending, ready};
use std::sync::Arc;

use base::call::Outcome;

use crate::hooks::HookEvent;
use crate::loop_status::{LoopStatus, StopReason};
use crate::reminder::bridge::{Queue, Seam};
use crate::stop::until_stopped;
use crate::watch::{FileChange, FileWatcher};

use super::persist::Checkpoint;
use super::{LoopEnd, LoopState, RunningLoop};

mod consolidate;
mod files;
mod state;

pub use state::{DaemonState, WakeCause};

/// Time without changes after which a burst of changes is over, in milliseconds.
const QUIET_MS: u64 = 50;
/// Maximum time to wait for the end of a burst, in milliseconds.
const BURST_MS: u64 = 1_000;

/// The reason a nap ended.
enum NapEnd {
    /// The interval was over.
    Interval,
    /// A host has injected an item.
    Queue,
    /// The loop is to be suspended.
    Suspension,
    /// Files changed.
    Files(Vec<FileChange>),
    /// A watcher signalled that files may have changed.
    Signal,
}

impl RunningLoop<'_> {
    /// Returns whether the loop idles instead of ending.
    pub(super) fn sleeps_after(&self, ended: &LoopEnd) -> bool {
        // A callback's request to end the loop is final.
        let is_over = ended.stop_reason == StopReason::PostTurnCallback;
        let may = matches!(ended.status, LoopStatus::Done | LoopStatus::Stuck) && !is_over;
        may && self.options.daemon.is_some()
    }

    /// Sleeps repeatedly until there is something new and returns `None`, or returns how the loop ended. Each nap
    /// counts as an iteration against the limit, so an abandoned daemon eventually ends.
    pub(super) async fn idle(&self, state: &mut LoopState, done: LoopEnd) -> Outcome<Option<LoopEnd>> {
        loop {
            if self.out_of_budget(state).is_some() {
                return Ok(Some(done));
            }
            self.consolidate(state).await?;
            let known = self.newest();
            if self.pass(Seam::DaemonIdlePre, state).await? > 0 {
                self.wakes(state, WakeCause::Queue, 0);
                return Ok(None);
            }
            let wake_interval_ms = self.options.daemon.as_ref().map_or(0, |daemon| daemon.wake_interval_ms);
            self.emit(&HookEvent::SessionIdle { iteration: state.iteration, wake_interval_ms }).await?;
            state.naps += 1;
            self.persist(state, Checkpoint::Idle).await?;
            let woken = until_stopped(&self.scope, 0, self.nap(wake_interval_ms)).await;
            let (cause, changed) = match woken {
                Err(stopped) => {
                    self.pass(Seam::DaemonIdlePost, state).await?;
                    return Ok(Some(Self::ended_by(&stopped)));
                }
                Ok(NapEnd::Files(changes)) => {
                    self.tell_of_files(state, &changes).await?;
                    (Some(WakeCause::Files), changes.len())
                }
                Ok(NapEnd::Queue) => (Some(WakeCause::Queue), 0),
                Ok(NapEnd::Suspension) => (Some(WakeCause::Suspension), 0),
                Ok(NapEnd::Interval | NapEnd::Signal) => (None, 0),
            };
            let delivered = self.pass(Seam::DaemonIdlePost, state).await?;
            // Items queued for `iteration_start` are delivered there; the rest is in the transcript.
            let cause = cause.or_else(|| (delivered > 0).then_some(WakeCause::Queue));
            if let Some(cause) = cause.or_else(|| self.newer_than(&known)) {
                self.wakes(state, cause, changed);
                return Ok(None);
            }
        }
    }

    fn wakes(&self, state: &mut LoopState, cause: WakeCause, files: usize) {
        state.daemon.wakes(cause, files, self.scope.clock.now_ms());
    }

    /// Sleeps and returns the reason for waking.
    async fn nap(&self, ms: u64) -> NapEnd {
        let until = self.scope.clock.now_ms().saturating_add(ms);
        loop {
            // Files may have changed while the loop worked.
            let changes = self.look().await;
            if !changes.is_empty() {
                return NapEnd::Files(changes);
            }
            match self.sleep(until).await {
                NapEnd::Signal => self.until_quiet().await,
                NapEnd::Interval => {
                    // Not every file system sends signals.
                    let changes = self.look().await;
                    return if changes.is_empty() { NapEnd::Interval } else { NapEnd::Files(changes) };
                }
                woken => return woken,
            }
        }
    }

    /// Waits until a burst of changes is over, for a limited time.
    async fn until_quiet(&self) {
        let began = self.scope.clock.now_ms();
        loop {
            let now = self.scope.clock.now_ms();
            self.scope.clock.sleep_until(now.saturating_add(QUIET_MS)).await;
            let more = tokio::select! {
                biased;
                () = self.signal() => true,
                () = ready(()) => false,
            };
            if !more || now.saturating_sub(began) >= BURST_MS {
                return;
            }
        }
    }

    /// Returns the daemon's file watcher.
    fn watch(&self) -> Option<&dyn FileWatcher> {
        self.options.daemon.as_ref()?.watch.as_deref()
    }

    /// Waits until a watched file may have changed; forever if none is watched.
    async fn signal(&self) {
        match self.watch() {
            Some(watch) => watch.signal().await,
            None => pending().await,
        }
    }

    async fn sleep(&self, until: u64) -> NapEnd {
        tokio::select! {
            biased;
            () = Queue::news(self.session.queue()) => NapEnd::Queue,
            // A loop that is to be suspended goes on to the start of its next iteration.
            () = self.parking.wait() => NapEnd::Suspension,
            () = self.signal() => NapEnd::Signal,
            () = self.scope.clock.sleep_until(until) => NapEnd::Interval,
        }
    }

    /// Returns the number of messages and the latest reminder, which together show whether something was added that the
    /// model should see.
    fn newest(&self) -> ConversationMark {
        self.session.with(|s| {
            let last = s.transcript.pending().next_back().map(|pending| pending.reminder.id.clone());
            (s.transcript.messages().len(), last)
        })
    }

    /// Returns the cause to wake for if something was added since `known`.
    fn newer_than(&self, known: &ConversationMark) -> Option<WakeCause> {
        let now = self.newest();
        match now.0 == known.0 {
            false => Some(WakeCause::Message),
            true => (now.1 != known.1).then_some(WakeCause::Reminder),
        }
    }
}

/// The number of messages and the latest reminder.
type ConversationMark = (usize, Option<Arc<str>>);
