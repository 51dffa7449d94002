//! The diagnostics that the server sends without being asked.
//!
//! Diagnostics of an edited document are sent as soon as no message waits; those of the other documents follow when no change has come for
//! a moment, since their imports may export something else now.

use super::Server;
use crate::features::diagnostics_of;
use crate::workspace::Snapshot;
use lang::module::FileId;
use lsp_types::notification::PublishDiagnostics;
use lsp_types::request::WorkspaceDiagnosticRefresh;
use lsp_types::{Diagnostic, PublishDiagnosticsParams, Uri};
use std::collections::{BTreeSet, HashMap};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// The time without a change after which the other documents are analysed.
const QUIET: Duration = Duration::from_millis(200);

/// The diagnostics that are due.
#[derive(Default)]
pub(super) struct Publisher {
    edited: BTreeSet<FileId>,
    closed: Vec<Uri>,
    /// The time at which the other documents are due.
    others: Option<Instant>,
    /// The last version and diagnostics that were sent of each document.
    sent: HashMap<FileId, (Option<i32>, Vec<Diagnostic>)>,
}

impl Publisher {
    pub(super) fn edited(&mut self, id: FileId) {
        self.edited.insert(id);
        self.others_changed();
    }

    pub(super) fn closed(&mut self, id: FileId, uri: Uri) {
        self.edited.remove(&id);
        self.sent.remove(&id);
        self.closed.push(uri);
        self.others_changed();
    }

    pub(super) fn others_changed(&mut self) {
        self.others = Some(Instant::now() + QUIET);
    }

    /// Returns when [`Server::publish`] is to be called, if no message arrives before.
    pub(super) fn due(&self) -> Option<Instant> {
        if self.edited.is_empty() && self.closed.is_empty() { self.others } else { Some(Instant::now()) }
    }
}

impl Server {
    /// Sends what is due.
    pub(super) fn publish(&mut self) -> io::Result<()> {
        for uri in std::mem::take(&mut self.publisher.closed) {
            self.send_diagnostics(uri, None, Vec::new())?;
        }
        for id in std::mem::take(&mut self.publisher.edited) {
            self.publish_of(id)?;
        }
        if self.publisher.others.is_some_and(|due| due <= Instant::now()) {
            self.publisher.others = None;
            self.publish_others()?;
        }
        self.workspace.trim();
        Ok(())
    }

    /// Sends the diagnostics of the open documents whose imports export something else now.
    fn publish_others(&mut self) -> io::Result<()> {
        if self.client.pulls_diagnostics() {
            // The edited document was pulled already. Others are pulled if one of them is to be analysed again.
            if self.client.refreshes_diagnostics() && self.others_are_outdated() {
                self.outbox.request::<WorkspaceDiagnosticRefresh>(&())?;
            }
            return Ok(());
        }
        for id in self.workspace.open_files() {
            self.publish_of(id)?;
            self.inbox.take_arrived();
            if self.inbox.has_waiting() {
                // The rest follows after the next messages.
                self.publisher.others = Some(Instant::now());
                return Ok(());
            }
        }
        Ok(())
    }

    /// Analyses the open documents again that depend on what has changed. Returns whether there were any.
    fn others_are_outdated(&mut self) -> bool {
        let before = self.workspace.analyses_made();
        for id in self.workspace.open_files() {
            // A failure is reported when the client asks.
            let _ = catch_unwind(AssertUnwindSafe(|| self.workspace.analysis(id)));
        }
        before != self.workspace.analyses_made()
    }

    fn publish_of(&mut self, id: FileId) -> io::Result<()> {
        if self.client.pulls_diagnostics() || !self.workspace.is_open(id) || self.workspace.is_lost(id) {
            return Ok(());
        }
        let analysed = catch_unwind(AssertUnwindSafe(|| {
            let snapshot = Snapshot::new(&self.workspace, &self.client);
            let document = snapshot.analysis(id)?;
            Some((document.uri.clone(), document.version, diagnostics_of(&snapshot, &document)))
        }));
        let Ok(analysed) = analysed else {
            tracing::error!("an analysis has panicked");
            return Ok(());
        };
        let Some((uri, version, diagnostics)) = analysed else { return Ok(()) };
        let known = self.publisher.sent.get(&id);
        if known.is_some_and(|(sent, known)| *known == diagnostics && *sent == version) {
            return Ok(());
        }
        self.publisher.sent.insert(id, (version, diagnostics.clone()));
        self.send_diagnostics(uri, version, diagnostics)
    }

    fn send_diagnostics(&self, uri: Uri, version: Option<i32>, diagnostics: Vec<Diagnostic>) -> io::Result<()> {
        if self.client.pulls_diagnostics() {
            return Ok(());
        }
        self.outbox.notify::<PublishDiagnostics>(&PublishDiagnosticsParams { uri, diagnostics, version })
    }
}
