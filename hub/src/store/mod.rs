//! Stores of changes. A hub appends the batches of its commands and reads them when it opens; it never reads them
//! otherwise.
//!
//! - [`MemoryStore`]: keeps nothing.
//! - [`SqliteStore`]: an event log in a SQLite file, with its group commit.
//! - [`TrimmableStore`]: a store whose oldest batches can be removed, because a checkpoint replaces them.

use std::pin::Pin;

use eventlog::LogError;

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
    Log(#[from] LogError),
    /// The oldest batches are missing, and no checkpoint replaces them.
    #[error("the store is incomplete: its first batches are missing, and it has no complete checkpoint")]
    Incomplete,
    /// A record cannot be read.
    #[error("the store `{path}` is damaged: record {cursor} is not a batch of changes")]
    Damaged {
        /// Path of the file.
        path: String,
        /// Place of the record.
        cursor: u64,
    },
}

impl StoreError {
    /// Returns whether the store writes again once the cause is gone: what it has accepted is not lost.
    #[must_use]
    pub fn is_temporary(&self) -> bool {
        let StoreError::Log(error) = self else { return false };
        matches!(error, LogError::NotWritten { .. } | LogError::Locked { .. } | LogError::Gone { .. } | LogError::Full)
    }
}

/// A future of a store.
pub type StoreFuture<T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send>>;

/// The state of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// It would survive the end of the process, as far as the store promises.
    Done,
    /// It will, once [`Store::stored`] is ready for this number.
    Pending(u64),
}

/// A store of changes.
///
/// Batches become durable in the order of the calls, each as a whole or not at all. A store that confirms single writes
/// over the network has to hold back the confirmation of a batch until all earlier ones are confirmed.
pub trait Store: Send + Sync {
    /// Appends a batch. Never waits; a batch for which [`Store::availability`] has no room may be lost. Numbers of batches rise
    /// from 1.
    fn append(&self, batch: ChangeBatch) -> Durability;

    /// Returns a future that is ready once a batch is stored, with the number of the last batch that is stored by then.
    fn stored(&self, number: u64) -> StoreFuture<u64>;

    /// Returns whether batches can be written, as far as the last attempt has shown, and whether there is room for more. The
    /// store tries again by itself.
    ///
    /// # Errors
    /// The error of the last attempt.
    fn availability(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Reads all batches in order.
    ///
    /// # Errors
    /// Fails if the store cannot be read or is damaged.
    fn replay(&self, each: &mut dyn FnMut(&ChangeBatch)) -> Result<(), StoreError>;

    /// Returns whether the state outlives the process.
    fn keeps(&self) -> bool {
        true
    }

    /// Returns the store as one whose oldest batches can be removed; `None` if they cannot.
    fn trimmable(&self) -> Option<&dyn TrimmableStore> {
        None
    }
}

/// A store whose oldest batches can be removed, because a checkpoint replaces them.
pub trait TrimmableStore: Store {
    /// Appends a batch like [`Store::append`], and returns a future of its position. A batch that cannot be written is
    /// dropped.
    fn place(&self, batch: ChangeBatch) -> StoreFuture<u64>;

    /// Removes the batches before a position, and returns a future of their number. It can be interrupted at any time;
    /// the newest of them are removed last.
    fn trim(&self, before: u64) -> StoreFuture<u64>;

    /// Returns the approximate size of all batches appended and replayed so far, in bytes.
    fn written_bytes(&self) -> u64;

    /// Returns the size of the store, in bytes.
    fn size(&self) -> u64;
}
