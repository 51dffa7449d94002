//! The notifications about documents, files and folders.

use super::Server;
use super::cut_texts::{self, CutTexts};
use crate::error::LspError;
use crate::workspace::{TextChange, path_of};
use lsp_types::notification as of;
use lsp_types::notification::Notification;
use lsp_types::request::{InlayHintRefreshRequest, RegisterCapability};
use lsp_types::{
    DidChangeWatchedFilesRegistrationOptions, FileChangeType, FileSystemWatcher, GlobPattern, MessageType,
    Registration, RegistrationParams, ShowMessageParams,
};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::io;

/// The files whose changes the client reports.
const WATCHED: [&str; 2] = ["**/*.{harn,rhai}", "**/harn.toml"];

impl Server {
    /// Handles a notification. One that is invalid changes nothing; it cannot be answered, so it is logged.
    pub(super) fn notified(&mut self, method: &str, mut params: Value) -> io::Result<()> {
        if method == of::Initialized::METHOD {
            return self.watch_files();
        }
        let before = self.client.preferences().hints;
        let units = cut_texts::take(&mut params);
        let uri = params.pointer("/textDocument/uri").and_then(Value::as_str).map(str::to_owned);
        if let Err(error) = self.apply(method, params, units) {
            tracing::warn!(method, problem = error.message(), "invalid notification");
            if method == of::DidChangeTextDocument::METHOD {
                self.lose(uri.as_deref())?;
            }
        }
        if self.client.preferences().hints != before && self.client.refreshes_hints() {
            self.outbox.request::<InlayHintRefreshRequest>(&())?;
        }
        Ok(())
    }

    /// Stops to answer about documents of which an edit cannot be read, and tells the user.
    pub(super) fn lose(&mut self, uri: Option<&str>) -> io::Result<()> {
        for uri in self.workspace.lose(uri) {
            let message = format!("{}: {}", uri.as_str(), LspError::lost().message());
            self.outbox.notify::<of::ShowMessage>(&ShowMessageParams { typ: MessageType::WARNING, message })?;
        }
        Ok(())
    }

    fn apply(&mut self, method: &str, params: Value, mut units: CutTexts) -> Result<(), LspError> {
        match method {
            of::DidOpenTextDocument::METHOD => {
                let document = read::<of::DidOpenTextDocument>(params)?.text_document;
                let id = self.workspace.open(&document.uri, &document.language_id, document.version, document.text);
                self.publisher.edited(id);
            }
            of::DidChangeTextDocument::METHOD => {
                let params = read::<of::DidChangeTextDocument>(params)?;
                let document = params.text_document;
                let changes = params.content_changes.into_iter().enumerate();
                let changes = changes.map(|(i, change)| TextChange::new(change, units.remove(&i).unwrap_or_default()));
                let id = self.workspace.edit(&document.uri, document.version, changes.collect())?;
                self.publisher.edited(id);
            }
            of::DidCloseTextDocument::METHOD => {
                let uri = read::<of::DidCloseTextDocument>(params)?.text_document.uri;
                let id = self.workspace.close(&uri)?;
                self.publisher.closed(id, uri);
            }
            of::DidSaveTextDocument::METHOD => {
                if !self.client.watches_files() {
                    self.workspace.reread_disk();
                    self.publisher.others_changed();
                }
            }
            of::DidChangeWatchedFiles::METHOD => {
                for change in read::<of::DidChangeWatchedFiles>(params)?.changes {
                    self.workspace.disk_changed(&change.uri, change.typ != FileChangeType::CHANGED);
                }
                self.publisher.others_changed();
            }
            of::DidChangeWorkspaceFolders::METHOD => {
                let event = read::<of::DidChangeWorkspaceFolders>(params)?.event;
                let paths = |folders: &[lsp_types::WorkspaceFolder]| {
                    folders.iter().filter_map(|folder| path_of(&folder.uri)).collect::<Vec<_>>()
                };
                self.workspace.change_roots(&paths(&event.removed), paths(&event.added));
            }
            of::DidChangeConfiguration::METHOD => {
                let settings = read::<of::DidChangeConfiguration>(params)?.settings;
                let changed = self.client.preferences().changed(&settings);
                let changed = changed.ok_or_else(|| LspError::invalid_params("the settings are not of bools"))?;
                self.client.set_preferences(changed);
            }
            // Every server may ignore these.
            _ if method.starts_with("$/") => {}
            _ => return Err(LspError::unknown_method(method)),
        }
        Ok(())
    }

    /// Asks the client to report changes of files on disk.
    fn watch_files(&mut self) -> io::Result<()> {
        if !self.client.watches_files() {
            return Ok(());
        }
        let watcher =
            |pattern: &str| FileSystemWatcher { glob_pattern: GlobPattern::String(pattern.to_owned()), kind: None };
        let watchers = WATCHED.map(watcher).to_vec();
        let options = DidChangeWatchedFilesRegistrationOptions { watchers };
        let registration = Registration {
            id: "harn-files".to_owned(),
            method: of::DidChangeWatchedFiles::METHOD.to_owned(),
            register_options: serde_json::to_value(options).ok(),
        };
        self.outbox.request::<RegisterCapability>(&RegistrationParams { registrations: vec![registration] })
    }
}

fn read<N: Notification<Params: DeserializeOwned>>(params: Value) -> Result<N::Params, LspError> {
    serde_json::from_value(params).map_err(LspError::invalid_params)
}
