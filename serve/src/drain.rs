//! Shuts a server down: it refuses new work, waits for running work, and stops the rest.

use std::pin::Pin;
use std::time::Duration;

/// Is ready once a server must stop, with its exit code. It is boxed, so that a server is compiled once, in this crate.
pub type StopSignal<'a> = Pin<Box<dyn Future<Output = i32> + 'a>>;

/// The work that shutdown waits for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct PendingWork {
    /// The number of tasks that are not over.
    pub(crate) tasks: usize,
    /// The number of busy sessions.
    pub(crate) sessions: usize,
    /// The number of records that are not yet written to the event log.
    pub(crate) records: u64,
}

impl PendingWork {
    /// Returns whether there is nothing to wait for.
    fn is_none(self) -> bool {
        self == PendingWork::default()
    }

    fn to_text(self) -> String {
        let count = |n: u64, one: &str| format!("{n} {one}{}", if n == 1 { "" } else { "s" });
        let PendingWork { tasks, sessions, records } = self;
        let all = [(tasks as u64, "task"), (sessions as u64, "session"), (records, "unsaved record")];
        let named: Vec<String> = all.iter().filter(|(n, _)| *n > 0).map(|(n, one)| count(*n, one)).collect();
        named.join(", ")
    }
}

/// Waits until `idle` is ready, at most for `grace`, and logs the remaining work. The caller must stop work that is
/// left.
pub(crate) async fn drain(grace: Duration, waits: &dyn Fn() -> PendingWork, idle: Pin<&mut dyn Future<Output = ()>>) {
    let begins = waits();
    if begins.is_none() {
        return;
    }
    if grace.is_zero() {
        tracing::info!("stopping: cancelling {}", begins.to_text());
        return;
    }
    let seconds = grace.as_secs();
    tracing::info!(
        "draining: waiting at most {seconds} s for {}; a second signal stops the process immediately",
        begins.to_text()
    );
    match tokio::time::timeout(grace, idle).await {
        Ok(()) => tracing::info!("drained"),
        Err(_) => tracing::warn!("not drained after {seconds} s: cancelling {}", waits().to_text()),
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use super::*;

    #[test]
    fn what_is_waited_for_is_counted() {
        assert_eq!(PendingWork { tasks: 1, sessions: 2, records: 0 }.to_text(), "1 task, 2 sessions");
        assert_eq!(PendingWork { tasks: 0, sessions: 0, records: 3 }.to_text(), "3 unsaved records");
        assert!(PendingWork::default().is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn a_drain_ends_with_the_work_or_with_its_grace() {
        let waits = || PendingWork { tasks: 1, ..PendingWork::default() };
        let began = tokio::time::Instant::now();
        drain(Duration::from_secs(30), &waits, pin!(tokio::time::sleep(Duration::from_secs(2)))).await;
        assert_eq!(began.elapsed().as_secs(), 2);
        drain(Duration::from_secs(30), &waits, pin!(std::future::pending())).await;
        assert_eq!(began.elapsed().as_secs(), 32);
        drain(Duration::ZERO, &waits, pin!(std::future::pending())).await;
        drain(Duration::from_secs(30), &PendingWork::default, pin!(std::future::pending())).await;
        assert_eq!(began.elapsed().as_secs(), 32);
    }
}
