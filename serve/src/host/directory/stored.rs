//! Sessions that the host has from the log: which there are, and how they come back.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use stdlib::Diagnostic;

use crate::store::{Page, Store, StoreError};

use super::super::kept::Kept;
use super::super::mailbox::Mailbox;
use super::super::{Handle, HostError, NewSession};
use super::Host;

impl Host {
    /// Whether sessions survive the process, so that they can be listed and loaded.
    #[must_use]
    pub fn keeps_sessions(&self) -> bool {
        self.0.store.is_some()
    }

    /// A page of the sessions that are kept, open or not, those that were last at work first; with `cwd` only those that work
    /// there. `cursor` is what the page before gave.
    ///
    /// # Errors
    /// None are kept, it is no cursor, or the log cannot be read.
    pub async fn list(&self, cwd: Option<&Path>, cursor: Option<&str>) -> Result<Page, HostError> {
        let (cwd, cursor) = (cwd.map(Path::to_owned), cursor.map(str::to_owned));
        self.read(move |store| store.list(cwd.as_deref(), cursor.as_deref(), Store::PAGE)).await
    }

    /// Takes a session up again where it was left, and shows the peer again what was shown of it before it answers. One that is
    /// open in this process is shown again and stays as it is, also where it works.
    ///
    /// # Errors
    /// None are kept; the log holds no such session, or cannot be read; it is open in another process; or as
    /// [`Host::open`].
    pub async fn load(&self, id: &str, cwd: Option<PathBuf>) -> Result<Handle, HostError> {
        let Ok(open) = self.session(id) else { return self.again(id, cwd, true).await };
        // Whoever asks for it again and again, and takes nothing, waits here.
        self.0.peer.room(open.id()).await;
        let (book, peer, id) = (open.book(), self.0.peer.clone(), open.id().clone());
        let book = book.ok_or(HostError::Store(StoreError::NotKept))?;
        self.read(move |store| book.again(store, |event| peer.show(&id, event))).await?;
        Ok(open)
    }

    /// As [`Host::load`], without showing anything again.
    ///
    /// # Errors
    /// As [`Host::load`].
    pub async fn resume(&self, id: &str, cwd: Option<PathBuf>) -> Result<Handle, HostError> {
        match self.session(id) {
            Ok(open) => Ok(open),
            Err(_) => self.again(id, cwd, false).await,
        }
    }

    async fn again(&self, id: &str, cwd: Option<PathBuf>, shows: bool) -> Result<Handle, HostError> {
        let wanted = id.to_owned();
        let claim = self.read(move |store| store.claim(&wanted)).await?;
        let about = claim.stored.about();
        let new = NewSession {
            cwd: cwd.or_else(|| about.cwd.clone()),
            metadata: about.metadata.clone(),
            mode: about.mode.clone(),
            id: Some(id.into()),
        };
        let kept = self.0.store.clone().map(|store| Kept::Again { store, claim: Box::new(claim), shows });
        self.begin(new, kept).await
    }

    /// Reads from the log, which waits for the disk, beside the caller's thread.
    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Store) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, HostError> {
        let store = self.0.store.clone().ok_or(HostError::Store(StoreError::NotKept))?;
        let read = tokio::task::spawn_blocking(move || read(&store));
        // It ends in another way only where the host's thread is gone.
        read.await.map_err(|_| HostError::Stopping)?.map_err(HostError::from)
    }
}

/// A session is over, and other processes may load it.
pub(super) async fn let_go(mailbox: &Arc<Mailbox>) {
    if let Some(book) = mailbox.book() {
        book.closed();
        // What the log cannot take is told to whoever asks it next.
        let _ = book.settled().await;
    }
}

/// An error that keeps a host from starting.
pub(super) fn diagnostic(error: &StoreError) -> Diagnostic {
    Diagnostic::new(error.code(), error.to_string()).help(error.help())
}
