//! [`LogTail`]: the thread that follows the log, also for the records of other processes.

use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use base::failures::{FailedOperation, report};
use eventlog::{EventLog as _, LogError, RUN_ID, Record, RecordFilter};
use runtime::event_log::Topic;
use tokio::sync::oneshot;

use super::core::ChannelCore;
use super::frame;

/// The pause after a failed read of the log.
const RETRY: Duration = Duration::from_millis(200);

/// The thread that follows the log. It ends when this is dropped.
pub(super) struct LogTail {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl LogTail {
    /// Follows the log after a cursor.
    ///
    /// # Errors
    /// The system refuses a thread or an async runtime.
    pub(super) fn start(core: Arc<ChannelCore>, after: u64) -> io::Result<LogTail> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (stop, stopped) = oneshot::channel::<()>();
        let follow = move || {
            runtime.block_on(async {
                tokio::select! {
                    biased;
                    _ = stopped => {}
                    () = follow(&core, after) => {}
                }
            });
        };
        let thread = std::thread::Builder::new().name("channel-tail".to_owned()).spawn(follow)?;
        Ok(LogTail { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for LogTail {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A tail that panicked has nothing left to do.
            let _ = thread.join();
        }
    }
}

async fn follow(core: &ChannelCore, after: u64) {
    let mut after = after;
    loop {
        let mut records = core.log.subscribe(RecordFilter { after, ..RecordFilter::default() });
        loop {
            match records.next().await {
                Ok(Some(record)) => {
                    after = record.cursor;
                    take(core, &record);
                }
                Ok(None) => break,
                Err(error) => {
                    let lost = error.as_any().downcast_ref::<LogError>();
                    if let Some(LogError::Lagged { resume_from, .. }) = lost {
                        core.fan_out.repair(after + 1, *resume_from);
                        after = *resume_from;
                        continue;
                    }
                    report(
                        FailedOperation::Read,
                        "event log tail",
                        format_args!("cannot follow the event log: {error}"),
                    );
                    break;
                }
            }
        }
        tokio::time::sleep(RETRY).await;
    }
}

fn take(core: &ChannelCore, record: &Arc<Record>) {
    // Before its event is handed on: another process may have opened the session.
    core.accounts.take(record);
    if *record.topic == *Topic::Channel.as_str() {
        core.take(record);
    }
    let session_id = record.headers.get(RUN_ID).as_shared_str();
    let is_end = *record.topic == *Topic::Life.as_str() && Topic::Life.word_of(&record.kind) == Some("answered");
    if is_end && let Some(session_id) = &session_id {
        core.fan_out.end_live(session_id);
    }
    core.fan_out.follow(record.cursor, session_id.as_deref(), || frame::of_record(record.clone()));
}
