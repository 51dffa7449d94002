//! [`MemoryStore`].

use crate::broker::change::ChangeBatch;

use super::{Durability, Store, StoreError, StoreFuture};

/// A store that keeps nothing: the state is lost with the process.
#[derive(Debug, Clone, Copy, Default)]
pub struct MemoryStore;

impl Store for MemoryStore {
    fn append(&self, _batch: ChangeBatch) -> Durability {
        Durability::Done
    }

    fn stored(&self, number: u64) -> StoreFuture<u64> {
        Box::pin(async move { Ok(number) })
    }

    fn replay(&self, _each: &mut dyn FnMut(&ChangeBatch)) -> Result<(), StoreError> {
        Ok(())
    }

    fn keeps(&self) -> bool {
        false
    }
}
