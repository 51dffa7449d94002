//! `initialize`: what client and server can do.

use super::Server;
use crate::error::LspError;
use crate::features::{EXPLANATION_SCHEME, FEATURES};
use crate::workspace::{ClientSupport, Encoding, Preferences, Workspace, path_of};
use lsp_types::{
    InitializeParams, InitializeResult, OneOf, SaveOptions, ServerCapabilities, ServerInfo, TextDocumentSyncCapability,
    TextDocumentSyncKind, TextDocumentSyncOptions, TextDocumentSyncSaveOptions, WorkspaceFoldersServerCapabilities,
    WorkspaceServerCapabilities,
};
use serde_json::{Value, json};
use std::path::PathBuf;

/// The phase of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// Nothing but `initialize` is answered.
    Started,
    /// Everything is answered.
    Running,
    /// Nothing but `exit` is accepted.
    ShutDown,
}

impl Server {
    pub(super) fn initialize(&mut self, params: Value) -> Result<Value, LspError> {
        let reads_explanations =
            params.pointer("/capabilities/workspace/textDocumentContent").is_some_and(Value::is_object);
        let params: InitializeParams = serde_json::from_value(params).map_err(LspError::invalid_params)?;
        let general = params.capabilities.general.as_ref();
        let encoding = Encoding::best_of(general.and_then(|general| general.position_encodings.as_deref()));
        let roots = roots(&params);
        let options = params.initialization_options.unwrap_or_default();
        let preferences = Preferences::default().changed(&options).ok_or_else(|| {
            LspError::invalid_params(
                "`initializationOptions` must be {hints: {types, parameters, reminders}, snippets} of bools",
            )
        })?;
        self.client = ClientSupport::new(params.capabilities, preferences, reads_explanations);
        self.workspace = Workspace::new(encoding, roots);
        self.phase = Phase::Running;
        let client = params.client_info.map_or_else(|| "unknown".to_owned(), |client| client.name);
        tracing::info!(client, ?encoding, "initialized");
        let result = InitializeResult {
            capabilities: capabilities(&self.client, encoding),
            server_info: Some(ServerInfo {
                name: "harn".to_owned(),
                version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            }),
        };
        let mut result = serde_json::to_value(result).map_err(|_| LspError::internal())?;
        // The types are those of version 3.17.
        if let Some(workspace) = result.pointer_mut("/capabilities/workspace") {
            workspace["textDocumentContent"] = json!({"schemes": [EXPLANATION_SCHEME]});
        }
        Ok(result)
    }
}

/// Returns the folders of the client.
fn roots(params: &InitializeParams) -> Vec<PathBuf> {
    let folders = params.workspace_folders.as_deref().unwrap_or_default();
    if !folders.is_empty() {
        return folders.iter().filter_map(|folder| path_of(&folder.uri)).collect();
    }
    #[allow(deprecated, reason = "clients without workspace folders send it")]
    params.root_uri.as_ref().and_then(path_of).into_iter().collect()
}

fn capabilities(client: &ClientSupport, encoding: Encoding) -> ServerCapabilities {
    let sync = TextDocumentSyncOptions {
        open_close: Some(true),
        change: Some(TextDocumentSyncKind::INCREMENTAL),
        save: Some(TextDocumentSyncSaveOptions::SaveOptions(SaveOptions { include_text: Some(false) })),
        ..TextDocumentSyncOptions::default()
    };
    let folders =
        WorkspaceFoldersServerCapabilities { supported: Some(true), change_notifications: Some(OneOf::Left(true)) };
    let mut server = ServerCapabilities {
        position_encoding: Some(encoding.kind()),
        text_document_sync: Some(TextDocumentSyncCapability::Options(sync)),
        workspace: Some(WorkspaceServerCapabilities { workspace_folders: Some(folders), file_operations: None }),
        ..ServerCapabilities::default()
    };
    for feature in FEATURES {
        (feature.announce)(client, &mut server);
    }
    server
}
