//! A daemon's idling: it sleeps until its interval is over or a host puts something in.

use std::future::poll_fn;
use std::sync::PoisonError;
use std::task::Poll;

use crate::hooks::HookEvent;
use crate::reminder::bridge::Seam;
use crate::seam::Outcome;

use super::{Ended, LoopState, LoopStatus, Run, until_stopped};

impl Run<'_> {
    /// Whether the loop idles instead of ending.
    pub(super) fn sleeps_after(&self, ended: &Ended) -> bool {
        self.options.wake_interval_ms.is_some() && matches!(ended.status, LoopStatus::Done | LoopStatus::Stuck)
    }

    /// Sleeps, again and again, until there is something new, which is nothing here; else how the loop ended. Each nap counts
    /// as an iteration against the limit, so a daemon that nobody wants any more comes to an end.
    pub(super) async fn idle(&self, state: &mut LoopState, done: Ended) -> Outcome<Option<Ended>> {
        loop {
            if self.out_of_budget(state).is_some() {
                return Ok(Some(done));
            }
            let known = self.newest();
            if self.pass(Seam::DaemonIdlePre, state).await? > 0 {
                return Ok(None);
            }
            let wake_interval_ms = self.options.wake_interval_ms.unwrap_or_default();
            self.emit(&HookEvent::SessionIdle { iteration: state.iteration, wake_interval_ms }).await?;
            state.naps += 1;
            let woken = until_stopped(&self.scope, 0, self.nap(wake_interval_ms)).await;
            let delivered = self.pass(Seam::DaemonIdlePost, state).await?;
            match woken {
                Err(stopped) => return Ok(Some(Self::ended_by(&stopped))),
                // What is queued for `iteration_start` is delivered there; the rest is in the transcript.
                Ok(queued) if queued || delivered > 0 || self.newest() != known => return Ok(None),
                Ok(_) => {}
            }
        }
    }

    /// Sleeps; whether a host has put something in.
    async fn nap(&self, ms: u64) -> bool {
        let mut sleep = self.scope.clock.sleep_until(self.scope.clock.now_ms().saturating_add(ms));
        poll_fn(|cx| {
            let mut queue = self.session.queue().lock().unwrap_or_else(PoisonError::into_inner);
            // One that is to be suspended goes to the border of its next iteration.
            if queue.has_news(cx.waker()) || self.parking.has_request(cx.waker()) {
                return Poll::Ready(true);
            }
            drop(queue);
            sleep.as_mut().poll(cx).map(|()| false)
        })
        .await
    }

    /// What tells whether somebody added something that a model should see: how many messages there are, and the reminder
    /// that came last.
    fn newest(&self) -> (usize, Option<std::sync::Arc<str>>) {
        self.session.with(|s| {
            let last = s.transcript.pending().next_back().map(|pending| pending.reminder.id.clone());
            (s.transcript.messages().len(), last)
        })
    }
}
