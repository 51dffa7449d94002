//! Stored sessions: lists and restores them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::data::Data;
use stdlib::Diagnostic;

use crate::store::{SessionPage, SessionStore, StoreError};

use super::super::mailbox::Mailbox;
use super::super::stored_opening::StoredOpening;
use super::super::{HostError, NewSession, SessionHandle};
use super::Host;
use crate::spawn::spawn_blocking;

impl Host {
    /// Returns whether sessions survive the process, so that they can be listed and loaded.
    #[must_use]
    pub fn keeps_sessions(&self) -> bool {
        self.0.store.is_some()
    }

    /// Returns a page of the stored sessions, open or not, most recently active first; with `cwd` only those with this
    /// working directory. `cursor` comes from the previous page.
    ///
    /// # Errors
    /// Sessions are not stored, the cursor is invalid, or the log cannot be read.
    pub async fn list(&self, cwd: Option<&Path>, cursor: Option<&str>) -> Result<SessionPage, HostError> {
        let (cwd, cursor) = (cwd.map(Path::to_owned), cursor.map(str::to_owned));
        self.read(move |store| store.list(cwd.as_deref(), cursor.as_deref(), SessionStore::PAGE)).await
    }

    /// Records the ends of the turns that ended processes left open. Must be called before a session is opened.
    ///
    /// # Errors
    /// The log cannot be read or written.
    pub(crate) async fn end_interrupted(&self) -> Result<(), HostError> {
        match self.keeps_sessions() {
            true => self.read(SessionStore::end_interrupted).await,
            false => Ok(()),
        }
    }

    /// Restores a session, and sends its earlier events to the peer before this returns. A session that is open in
    /// this process stays as it is, also if it is busy, and keeps its MCP servers; only its events are sent again.
    /// `mcp_servers` are those of the client, which are not stored.
    ///
    /// # Errors
    /// Sessions are not stored; the log has no such session or cannot be read; another process has it open; or an
    /// error of [`Host::open`].
    pub async fn load(&self, id: &str, cwd: Option<PathBuf>, mcp_servers: Data) -> Result<SessionHandle, HostError> {
        let Ok(open) = self.session(id) else { return self.again(id, cwd, mcp_servers, true).await };
        // A client that loads repeatedly without reading waits here.
        self.0.peer.room(open.id()).await;
        let (journal, peer, id) = (open.journal(), self.0.peer.clone(), open.id().clone());
        let journal = journal.ok_or(HostError::Store(StoreError::NotKept))?;
        self.read(move |store| journal.again(store, |event| peer.show(&id, event))).await?;
        Ok(open)
    }

    /// Restores a session like [`Host::load`], without sending its earlier events.
    ///
    /// # Errors
    /// See [`Host::load`].
    pub async fn resume(&self, id: &str, cwd: Option<PathBuf>, mcp_servers: Data) -> Result<SessionHandle, HostError> {
        match self.session(id) {
            Ok(open) => Ok(open),
            Err(_) => self.again(id, cwd, mcp_servers, false).await,
        }
    }

    async fn again(
        &self,
        id: &str,
        cwd: Option<PathBuf>,
        mcp_servers: Data,
        shows: bool,
    ) -> Result<SessionHandle, HostError> {
        let wanted = id.to_owned();
        let claim = self.read(move |store| store.claim(&wanted)).await?;
        let about = claim.stored.about();
        let new = NewSession {
            cwd: cwd.or_else(|| about.cwd.clone()),
            metadata: metadata_with(&about.metadata, &mcp_servers),
            mcp_servers,
            mode: about.mode.clone(),
            id: Some(id.into()),
        };
        let kept = self.0.store.clone().map(|store| StoredOpening::Again { store, claim: Box::new(claim), shows });
        self.begin(new, kept).await
    }

    /// Reads from the log on another thread, as that blocks on the disk.
    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&SessionStore) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, HostError> {
        let store = self.0.store.clone().ok_or(HostError::Store(StoreError::NotKept))?;
        let read = spawn_blocking(move || read(&store));
        // It fails only if the host's thread is gone.
        read.await.map_err(|_| HostError::Stopping)?.map_err(HostError::from)
    }
}

/// Returns the metadata of a session with the names of these servers in place of the earlier ones.
fn metadata_with(metadata: &Data, servers: &Data) -> Data {
    const KEY: &str = "mcp_servers";
    let mut all = Data::empty_dict();
    for (key, value) in metadata.as_dict().into_iter().flat_map(base::data::Entries::iter) {
        if &**key != KEY {
            all.set(key.clone(), value.clone());
        }
    }
    if let Some(servers) = servers.as_list() {
        all.set(KEY, Data::list(servers.iter().map(|server| server.get("name").clone())));
    }
    let is_empty = all.as_dict().is_none_or(|entries| entries.iter().next().is_none());
    if is_empty && metadata.as_dict().is_none() { metadata.clone() } else { all }
}

/// Releases an ended session, so that other processes may load it.
pub(super) async fn let_go(mailbox: &Arc<Mailbox>) {
    let release = async {
        if let Some(journal) = mailbox.journal() {
            journal.closed();
            // Errors of the log are reported to the next caller that uses it.
            let _ = journal.settled().await;
        }
    };
    mailbox.release(release).await;
}

/// Returns the diagnostic for a storage error that prevents a host from starting.
pub(super) fn diagnostic(error: &StoreError) -> Diagnostic {
    Diagnostic::new(error.code(), error.to_string()).help(error.help())
}
