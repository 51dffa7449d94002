//! The log in a SQLite file: write-ahead log, group commit, one writer thread for each opened log. Several processes may
//! write to one file: ids and cursors are taken inside the transaction that writes the records.
//!
//! - `schema`: the layout of the file, and detection of our files.
//! - `queue`: records on their way to the writer, and the tasks that wait for them.
//! - `writer`: the thread that commits.
//! - `commit`: writing one batch to the file.
//! - `presence`: detecting a moved or deleted file.
//! - `file`: reading; [`LogFile`] for readers.
//! - `progress`: ending statements that take long.
//! - `follow`: subscriptions.
//! - `subjects`: counters, owners and requests of subjects.
//! - `readers`: threads that read for tasks.
//! - `verify`: finding damage.
//! - `log`: the file as a [`Log`](crate::Log).

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use base::call::{Answer, BlockingPool, LocalFuture, Outcome, call_error};
use base::lock::{LockError, LockFile};

use super::{
    DurableFuture, EventLog, LogError, LogReader, LogReservation, NewRecord, RecordFilter, RecordPosition, SharedLog,
    Subscription, Ticket,
};

mod commit;
mod file;
mod follow;
mod log;
mod open;
mod presence;
mod progress;
mod queue;
mod readers;
mod remover;
mod row;
mod schema;
mod subjects;
mod verify;
mod writer;

pub use file::{IndexedRow, LogFile, RunCursors};
pub use progress::{ask_while_reading, while_wanted, within};
pub use queue::LogMark;
pub use remover::RecordRemover;
pub use verify::LogDefect;

use file::PayloadIndex;
use follow::Follower;
use queue::{DurabilityWait, ReplyWait, RoomWait, WriteQueue};
use readers::Readers;

use crate::log::{LeaseClock, LiveFeeds};

/// Maximum number of readers that are kept while they are not in use.
const IDLE_READERS: usize = 4;

/// The condition under which a commit counts as durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Synchronous {
    /// It survives the end of the process in any case (`synchronous=NORMAL`). A loss of power may lose the last
    /// commits, but never a part of one.
    #[default]
    Normal,
    /// It survives a loss of power (`synchronous=FULL`): each commit waits for the disk.
    Full,
}

/// Options to open a log in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqliteOptions {
    /// The condition under which a commit counts as durable.
    pub synchronous: Synchronous,
    /// Time to wait for a file that another process holds.
    pub lock_timeout: Duration,
    /// Approximate size limit of the file, in bytes; `None` means up to the space on the disk.
    pub most_bytes: Option<u64>,
}

impl Default for SqliteOptions {
    fn default() -> SqliteOptions {
        SqliteOptions { synchronous: Synchronous::Normal, lock_timeout: Duration::from_secs(5), most_bytes: None }
    }
}

/// A log in a file. Clones are the same log and may move to other threads; dropping the last one waits until the writer
/// has written the queue, if it can.
#[derive(Clone)]
pub struct SqliteLog(Arc<SqliteInner>);

struct SqliteInner {
    path: Arc<Path>,
    shared: Arc<WriteQueue>,
    /// Reads the pages of subscriptions, which compare its versions of the file. `None` only while it is closed.
    pages: Mutex<Option<LogFile>>,
    /// Readers that are not in use: each read has one to itself, so a long read delays no other one.
    idle: Mutex<Vec<LogFile>>,
    lock_timeout: Duration,
    writer: Option<JoinHandle<()>>,
    readers: Readers,
    clock: LeaseClock,
    live: LiveFeeds,
    /// The lock of the log's owner. Dropped after the writer has ended.
    owner: OnceLock<LockFile>,
}

impl SqliteLog {
    /// Number of records on their way to the file from which on runs wait.
    pub const QUEUE_RECORDS: usize = queue::MOST_RECORDS;

    /// Opens a log, and creates the file if it is missing.
    ///
    /// # Errors
    /// Fails if the file cannot be opened or created, is not an event log, has a later version, or stays locked for too
    /// long.
    pub fn open(path: impl Into<PathBuf>, options: &SqliteOptions) -> Result<SqliteLog, LogError> {
        SqliteLog::open_with_clock(path, options, LeaseClock::default())
    }

    /// Opens a log whose leases end by a clock, which must be that of all processes that use the file.
    ///
    /// # Errors
    /// See [`SqliteLog::open`].
    pub fn open_with_clock(
        path: impl Into<PathBuf>,
        options: &SqliteOptions,
        clock: LeaseClock,
    ) -> Result<SqliteLog, LogError> {
        let path: Arc<Path> = path.into().into();
        let connection = open::for_writing(&path, options)?;
        let pages = Mutex::new(Some(LogFile::open_beside(&path, options.lock_timeout)?));
        let idle = Mutex::new(vec![LogFile::open_beside(&path, options.lock_timeout)?]);
        let lock_timeout = options.lock_timeout;
        let shared = Arc::new(WriteQueue::default());
        let writer = Some(writer::start(connection, path.clone(), options, shared.clone(), clock.clone())?);
        let readers = Readers::new(&path, options);
        let (owner, live) = (OnceLock::new(), LiveFeeds::default());
        let inner = SqliteInner { path, shared, pages, idle, lock_timeout, writer, readers, clock, live, owner };
        Ok(SqliteLog(Arc::new(inner)))
    }

    /// Makes this log the only owned one of its file, until it is closed or its process ends. Logs without an owner may
    /// still write to the file.
    ///
    /// # Errors
    /// Fails if another server owns the file, or the lock file cannot be created.
    pub fn own(&self) -> Result<(), LogError> {
        let _ = self.0.owner.set(SqliteLog::owner_lock(&self.0.path)?);
        Ok(())
    }

    /// Takes the lock of the owner of a log without opening it.
    ///
    /// # Errors
    /// See [`SqliteLog::own`].
    pub fn owner_lock(path: &Path) -> Result<LockFile, LogError> {
        // Other spellings of the path name the same log.
        let place = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        let lock = LockFile::beside(&place).map_err(|error| match error {
            LockError::Held => LogError::Owned { path: path.into(), holder: LockFile::holder(&place) },
            LockError::Io(error) => {
                LogError::CannotOpen { path: path.into(), why: format!("its lock file cannot be used ({error})") }
            }
        })?;
        // The id only helps to find the process.
        let _ = lock.sign();
        Ok(lock)
    }

    /// Lets the log go on whatever happens to its file, because it is written for many sessions: one of them must not end the
    /// log of all. If the file is deleted or replaced, records wait until it is back. Losses are reported only to those that
    /// wait for the lost records.
    pub fn serve(&self) {
        self.0.shared.serve();
    }

    /// Returns whether records can be written, as far as the last attempt has shown. A log that
    /// [serves](SqliteLog::serve) tries again within a second or two.
    ///
    /// # Errors
    /// The error of the last attempt.
    pub fn availability(&self) -> Result<(), LogError> {
        self.0.shared.availability()
    }

    /// Returns whether a record of work that can be refused may be appended: records can be written, and not too many wait.
    ///
    /// # Errors
    /// The error of the last attempt, or [`LogError::Full`].
    pub fn accepts(&self) -> Result<(), LogError> {
        self.0.shared.accepts()
    }

    /// Returns the path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// Lets the file keep the records that say who may do what, whatever old records people delete from it. Waits for the
    /// disk.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn keep_grants(&self) -> Result<(), LogError> {
        let options = SqliteOptions::default();
        let connection = open::for_writing(&self.0.path, &options)?;
        schema::keep_grants(&connection).map_err(|error| open::failed(&self.0.path, &error, options.lock_timeout))
    }

    /// Creates the indexes of payloads that the file does not have. Without them, readers of tasks pass all records. Waits
    /// for the disk.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn index_payloads(&self) -> Result<(), LogError> {
        let options = SqliteOptions::default();
        let connection = open::for_writing(&self.0.path, &options)?;
        PayloadIndex::create_all(&connection).map_err(|error| open::failed(&self.0.path, &error, options.lock_timeout))
    }

    /// Returns the number of records on their way to the file, and its limit.
    #[must_use]
    pub fn backlog(&self) -> (u64, u64) {
        self.0.shared.backlog()
    }

    /// Returns the ticket of the last record that is settled: written, or reported to its emitter as not written.
    #[must_use]
    pub fn settled_upto(&self) -> Ticket {
        Ticket(self.0.shared.settled())
    }

    /// Returns the number of transactions that this log has written.
    #[must_use]
    pub fn commits(&self) -> u64 {
        self.0.shared.commits()
    }

    /// Returns the size of the file and its write-ahead log, in bytes.
    #[must_use]
    pub fn size(&self) -> u64 {
        let size = |path: &Path| std::fs::metadata(path).map_or(0, |found| found.len());
        size(&self.0.path) + size(&open::beside(&self.0.path, "-wal"))
    }

    /// Appends a record, and returns a future of its position. If the record cannot be written, it is dropped.
    pub fn place(
        &self,
        record: NewRecord,
    ) -> impl Future<Output = Result<RecordPosition, LogError>> + Send + 'static + use<> {
        ReplyWait::emit(self.0.shared.clone(), record)
    }

    /// Removes the records of a topic before a cursor, in steps between the batches that are written. Returns a future
    /// of their number. Their space in the file is used again; the file does not get smaller. If the log is closed
    /// meanwhile, some records stay.
    pub fn trim(
        &self,
        topic: Arc<str>,
        before: u64,
    ) -> impl Future<Output = Result<u64, LogError>> + Send + 'static + use<> {
        let done = self.0.shared.trim(topic, before);
        let path = self.0.path.clone();
        async move {
            let closed = || LogError::NotWritten { path, why: "the log was closed".to_owned() };
            done.await.unwrap_or_else(|_| Err(closed()))
        }
    }

    /// Marks the end of what was appended so far. Waits for nothing.
    #[must_use]
    pub fn mark(&self) -> LogMark {
        self.0.shared.mark()
    }

    /// Reads the file like [`SqliteLog::look`]. The second argument is the cursor up to which records were appended before
    /// the mark.
    ///
    /// # Errors
    /// See [`SqliteLog::look`].
    pub fn look_upto<T>(
        &self,
        mark: &LogMark,
        read: impl FnOnce(&LogFile, u64) -> Result<T, LogError>,
    ) -> Result<T, LogError> {
        self.0.shared.flush()?;
        let upto = mark.cursor().unwrap_or_else(|| {
            Err(LogError::NotWritten { path: self.0.path.clone(), why: "its writer has ended".to_owned() })
        })?;
        self.0.read_now(|file| read(file, upto))
    }

    /// Reads the file once everything appended here can be read. Waits for the disk.
    ///
    /// # Errors
    /// Fails if the appended records cannot be written, or the file cannot be read.
    pub fn look<T>(&self, read: impl FnOnce(&LogFile) -> Result<T, LogError>) -> Result<T, LogError> {
        self.0.read(read)
    }
}

impl SqliteInner {
    /// Reads once everything appended here can be read.
    fn read<T>(&self, read: impl FnOnce(&LogFile) -> Result<T, LogError>) -> Result<T, LogError> {
        self.shared.flush()?;
        self.read_now(read)
    }

    /// Reads without waiting for queued records.
    fn read_now<T>(&self, read: impl FnOnce(&LogFile) -> Result<T, LogError>) -> Result<T, LogError> {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let found = idle().pop();
        let reader = found.map_or_else(|| LogFile::open_beside(&self.path, self.lock_timeout), Ok)?;
        let result = read(&reader);
        let mut idle = idle();
        if idle.len() < IDLE_READERS {
            idle.push(reader);
        }
        result
    }

    /// Reads a page of a subscription, without waiting for queued records.
    fn read_page<T>(&self, read: impl FnOnce(&LogFile) -> Result<T, LogError>) -> Result<T, LogError> {
        match &*self.pages.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(reader) => read(reader),
            None => Err(LogError::CannotOpen { path: self.path.clone(), why: "it has been closed".to_owned() }),
        }
    }
}

impl Drop for SqliteInner {
    fn drop(&mut self) {
        // Closed before the writer, because the last connection cleans up and a read-only one cannot.
        *self.pages.get_mut().unwrap_or_else(PoisonError::into_inner) = None;
        self.idle.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
        self.readers.close();
        self.shared.close();
        if let Some(writer) = self.writer.take() {
            // A writer that panicked has notified all waiters; there is nothing left to do.
            let _ = writer.join();
        }
    }
}

impl EventLog for SqliteLog {
    fn append(&self, record: NewRecord) -> Ticket {
        Ticket(self.0.shared.append(record, None))
    }

    fn room(&self) -> Option<LocalFuture<'static, ()>> {
        RoomWait::new(&self.0.shared).map(|room| Box::pin(room) as LocalFuture<'static, ()>)
    }

    fn emit(&self, record: NewRecord) -> Answer<'static, Outcome<RecordPosition>> {
        let weight = record.weight();
        if weight > NewRecord::MOST {
            return Answer::Now(Err(call_error(LogError::TooLarge { bytes: weight, most: NewRecord::MOST })));
        }
        let emitted = ReplyWait::emit(self.0.shared.clone(), record);
        Answer::later(async move { emitted.await.map_err(call_error) })
    }

    fn reader(&self) -> LogReader {
        self.clone().into()
    }

    fn durable(&self, upto: Ticket) -> LocalFuture<'_, Outcome<()>> {
        let durable = DurabilityWait::new(self.0.shared.clone(), upto.0);
        Box::pin(async move { durable.await.map_err(call_error) })
    }

    fn subscribe(&self, filter: RecordFilter) -> Box<dyn Subscription> {
        Box::new(Follower::new(self.0.clone(), filter))
    }

    fn subscribe_on(&self, filter: RecordFilter, pool: Rc<dyn BlockingPool>) -> Answer<'static, Box<dyn Subscription>> {
        let follower = Follower::on(pool, self.0.clone(), filter);
        Answer::later(async move { Box::new(follower.await) as Box<dyn Subscription> })
    }
}

impl SharedLog for SqliteLog {
    fn put(&self, record: NewRecord) -> Ticket {
        EventLog::append(self, record)
    }

    fn reserve_now(&self, records: usize, bytes: usize) -> Option<LogReservation> {
        self.0.shared.reserve_now(records, bytes)
    }

    fn put_in(&self, room: &mut LogReservation, record: NewRecord) -> Ticket {
        Ticket(self.0.shared.append_in(room, record))
    }

    fn settled(&self, upto: Ticket) -> DurableFuture {
        Box::pin(DurabilityWait::new(self.0.shared.clone(), upto.0))
    }

    fn here(&self) -> Rc<dyn EventLog> {
        Rc::new(self.clone())
    }
}

#[cfg(test)]
pub(super) mod testing;
#[cfg(test)]
mod tests;
