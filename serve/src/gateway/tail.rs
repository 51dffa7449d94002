//! [`LogTail`]: the thread that follows the log, also for the records of other processes.

use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use base::failures::{FailedOperation, report};
use eventlog::{Query, RUN_ID, Record, TailItem};
use runtime::event_log::Topic;
use tokio::sync::oneshot;

use super::GatewayCore;
use super::frame;

/// The pause after a failed read of the log.
const RETRY: Duration = Duration::from_millis(200);

/// The thread that follows the log. It ends when this is dropped.
pub(crate) struct LogTail {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl LogTail {
    /// Follows the log after a cursor. `observe` sees each record that changes the state, before its event is handed on.
    ///
    /// # Errors
    /// The system refuses a thread or an async runtime.
    pub(crate) fn start(
        core: Arc<GatewayCore>,
        observe: Box<dyn Fn(&Record) + Send>,
        after: u64,
    ) -> io::Result<LogTail> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (stop, stopped) = oneshot::channel::<()>();
        let follow = move || {
            runtime.block_on(async {
                tokio::select! {
                    biased;
                    _ = stopped => {}
                    () = follow(&core, &*observe, after) => {}
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

async fn follow(core: &GatewayCore, observe: &dyn Fn(&Record), after: u64) {
    let mut after = after;
    loop {
        let mut records = core.log.tail(Query { after, ..Query::default() });
        // What is left below this cursor changes the state, but the connections have been told that it is lost.
        let mut lost_before = 0;
        loop {
            match records.next().await {
                Ok(TailItem::Record(record)) => {
                    after = record.cursor;
                    take(core, observe, &record, record.cursor >= lost_before);
                }
                Ok(TailItem::Gap { before }) => {
                    core.fan_out.repair(after + 1, before - 1);
                    lost_before = before;
                }
                Err(error) => {
                    let message = format_args!("cannot follow the event log: {error}");
                    report(FailedOperation::Read, "event log tail", message);
                    break;
                }
            }
        }
        tokio::time::sleep(RETRY).await;
    }
}

fn take(core: &GatewayCore, observe: &dyn Fn(&Record), record: &Arc<Record>, is_shown: bool) {
    // Before its event is handed on: another process may have opened the session.
    if GatewayCore::takes(&record.topic) {
        core.take(record);
        observe(record);
    }
    if !is_shown {
        return;
    }
    let session_id = record.headers.get(RUN_ID).as_shared_str();
    let is_end = *record.topic == *Topic::Life.as_str() && Topic::Life.word_of(&record.kind) == Some("answered");
    if is_end && let Some(session_id) = &session_id {
        core.fan_out.end_live(session_id);
    }
    core.fan_out.follow(record.cursor, session_id.as_deref(), || frame::of_record(record.clone()));
}
