//! Stores of changes. A hub appends the batches of its commands and reads them when it opens; it never reads them
//! otherwise.
//!
//! - [`MemoryStore`]: keeps nothing.
//! - [`SqliteStore`]: an event log in a SQLite file, with its group commit.

use std::pin::Pin;

use crate::broker::change::ChangeBatch;

mod memory;
mod sqlite;

pub use memory::MemoryStore;
pub use sqlite::{SqliteStore, changes_of};

/// The reason a store failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The event log failed.
    #[error("{0}")]
    Log(#[from] runtime::event_log::LogError),
    /// Another process has the store open.
    #[error("another hub uses the store `{path}`; stop it, or choose another file")]
    InUse {
        /// Path of the file.
        path: String,
    },
    /// The lock file cannot be written.
    #[error("cannot lock the store `{path}`: {why}")]
    CannotLock {
        /// Path of the file.
        path: String,
        /// The system's message.
        why: String,
    },
    /// A record cannot be read.
    #[error("the store `{path}` is damaged: record {cursor} is not a batch of changes")]
    Damaged {
        /// Path of the file.
        path: String,
        /// Place of the record.
        cursor: u64,
    },
}

/// The state of a write.
pub enum Durability {
    /// It would survive the end of the process, as far as the store promises.
    Done,
    /// It will, once the future is ready.
    Later(Pin<Box<dyn Future<Output = Result<(), StoreError>> + Send>>),
}

/// A store of changes.
///
/// Batches become durable in the order of the calls, each as a whole or not at all. A store that confirms single writes
/// over the network has to hold back the confirmation of a batch until all earlier ones are confirmed.
pub trait Store: Send + Sync {
    /// Appends a batch. Waits only for room, if too many batches are queued already.
    fn append(&self, batch: ChangeBatch) -> Durability;

    /// Returns the state of everything appended so far.
    fn settled(&self) -> Durability;

    /// Reads all batches in order.
    ///
    /// # Errors
    /// Fails if the store cannot be read or is damaged.
    fn replay(&self, each: &mut dyn FnMut(&ChangeBatch)) -> Result<(), StoreError>;
}
