//! The state of the workspace between two messages, as features see it.

use super::{Analysis, Encoding, FileTree, LinedText, Preferences, SentTokens, Workspace};
use crate::error::LspError;
use lang::diagnostic::Diagnostic;
use lang::module::FileId;
use lang::source::{SourceRef, Span};
use lsp_types::{ClientCapabilities, Location, SemanticToken, TextDocumentPositionParams, Uri};
use std::rc::Rc;

/// The capabilities of the client.
#[derive(Debug, Default)]
pub(crate) struct ClientSupport {
    capabilities: ClientCapabilities,
    preferences: Preferences,
    reads_explanations: bool,
}

impl ClientSupport {
    /// `reads_explanations` says whether the client fetches documents from the server, a capability of version 3.18.
    pub(crate) const fn new(
        capabilities: ClientCapabilities,
        preferences: Preferences,
        reads_explanations: bool,
    ) -> Self {
        Self { capabilities, preferences, reads_explanations }
    }

    pub(crate) const fn preferences(&self) -> Preferences {
        self.preferences
    }

    pub(crate) const fn set_preferences(&mut self, preferences: Preferences) {
        self.preferences = preferences;
    }

    /// Returns whether the client inserts snippets.
    pub(crate) fn takes_snippets(&self) -> bool {
        let completion = self.capabilities.text_document.as_ref().and_then(|documents| documents.completion.as_ref());
        completion.and_then(|completion| completion.completion_item.as_ref()?.snippet_support) == Some(true)
    }

    /// Returns whether the client can be asked to request all hints again.
    pub(crate) fn refreshes_hints(&self) -> bool {
        let workspace = self.capabilities.workspace.as_ref();
        workspace.and_then(|workspace| workspace.inlay_hint.as_ref()?.refresh_support) == Some(true)
    }

    /// Returns whether the client asks for diagnostics, so that they need not be published.
    pub(crate) fn pulls_diagnostics(&self) -> bool {
        self.capabilities.text_document.as_ref().is_some_and(|documents| documents.diagnostic.is_some())
    }

    /// Returns whether the client can be asked to pull all diagnostics again.
    pub(crate) fn refreshes_diagnostics(&self) -> bool {
        let workspace = self.capabilities.workspace.as_ref();
        workspace.and_then(|workspace| workspace.diagnostic.as_ref()?.refresh_support) == Some(true)
    }

    /// Returns whether the client shows the related places of a diagnostic.
    pub(crate) fn shows_related_information(&self) -> bool {
        let documents = self.capabilities.text_document.as_ref();
        documents.and_then(|documents| documents.publish_diagnostics.as_ref()?.related_information) == Some(true)
    }

    /// Returns whether the client shows text without effect and deprecated text in its own way.
    pub(crate) fn shows_tags(&self) -> bool {
        let documents = self.capabilities.text_document.as_ref();
        documents.and_then(|documents| documents.publish_diagnostics.as_ref()?.tag_support.as_ref()).is_some()
    }

    /// Returns whether the client can show the explanation of a code.
    pub(crate) const fn reads_explanations(&self) -> bool {
        self.reads_explanations
    }

    /// Returns whether the client accepts edits of a version of a document.
    pub(crate) fn edits_versions(&self) -> bool {
        let workspace = self.capabilities.workspace.as_ref();
        workspace.and_then(|workspace| workspace.workspace_edit.as_ref()?.document_changes) == Some(true)
    }

    /// Returns whether the client shows nested symbols.
    pub(crate) fn nests_symbols(&self) -> bool {
        let symbol = self.capabilities.text_document.as_ref().and_then(|documents| documents.document_symbol.as_ref());
        symbol.and_then(|symbol| symbol.hierarchical_document_symbol_support) == Some(true)
    }

    /// Returns whether the client can be asked to report changes of files on disk.
    pub(crate) fn watches_files(&self) -> bool {
        let workspace = self.capabilities.workspace.as_ref();
        workspace.and_then(|workspace| workspace.did_change_watched_files.as_ref()?.dynamic_registration) == Some(true)
    }
}

/// The workspace between two messages. Nothing in it changes while a feature uses it, and what it returns belongs together.
pub(crate) struct Snapshot<'a> {
    workspace: &'a Workspace,
    client: &'a ClientSupport,
}

impl<'a> Snapshot<'a> {
    pub(crate) const fn new(workspace: &'a Workspace, client: &'a ClientSupport) -> Self {
        Self { workspace, client }
    }

    pub(crate) const fn client(&self) -> &ClientSupport {
        self.client
    }

    pub(crate) const fn settings(&self) -> Preferences {
        self.client.preferences()
    }

    pub(crate) const fn encoding(&self) -> Encoding {
        self.workspace.encoding()
    }

    /// Notes that the client gets these tokens of a document. Returns the tokens that it had, and the name of the new ones.
    pub(crate) fn replace_tokens(&self, id: FileId, tokens: Rc<[SemanticToken]>) -> (Option<SentTokens>, String) {
        let mut sent = self.workspace.tokens.borrow_mut();
        let before = sent.get(&id).cloned();
        let number = before.as_ref().and_then(|sent| sent.result_id.parse::<u64>().ok()).unwrap_or(0);
        let result_id = number.wrapping_add(1).to_string();
        if self.workspace.is_open(id) {
            sent.insert(id, SentTokens { result_id: result_id.clone(), tokens });
        }
        (before, result_id)
    }

    /// Returns what is known of a document: an open one, or a script on disk.
    ///
    /// # Errors
    /// The document is unknown.
    pub(crate) fn document(&self, uri: &Uri) -> Result<Rc<Analysis>, LspError> {
        let id = self.workspace.known_file(uri)?;
        self.analysis(id).ok_or_else(|| LspError::unknown_document(uri.as_str()))
    }

    /// Returns what is known of a document, and the byte offset of a position in it.
    ///
    /// # Errors
    /// The document is unknown, or has no such line.
    pub(crate) fn at(&self, params: &TextDocumentPositionParams) -> Result<(Rc<Analysis>, u32), LspError> {
        let document = self.document(&params.text_document.uri)?;
        let offset = document.offset(params.position)?;
        Ok((document, offset))
    }

    /// Returns what is known of a file. `None` if it cannot be read.
    pub(crate) fn analysis(&self, id: FileId) -> Option<Rc<Analysis>> {
        self.workspace.analysis(id)
    }

    /// Returns the tree of a file, which need not be analysed for it. `None` if it cannot be read.
    pub(crate) fn tree(&self, id: FileId) -> Option<FileTree> {
        self.workspace.tree(id)
    }

    /// Returns the diagnostics that a document would have with another text.
    pub(crate) fn check(&self, document: &Analysis, source: &SourceRef) -> Vec<Diagnostic> {
        self.workspace.check(document, source)
    }

    /// Returns the scripts below the folders of the client and the open documents, each once.
    pub(crate) fn scripts(&self) -> Vec<FileId> {
        let mut scripts = self.workspace.scripts().to_vec();
        let open = self.workspace.open_files();
        scripts.extend(open.into_iter().filter(|id| !scripts.contains(id)).collect::<Vec<_>>());
        scripts
    }

    /// Returns the text of a file. `None` if it cannot be read.
    pub(crate) fn text(&self, id: FileId) -> Option<Rc<LinedText>> {
        self.workspace.text(id)
    }

    /// Returns the location of some bytes of a source, for the client. `None` if the source is not the text of a file.
    pub(crate) fn location(&self, source: &SourceRef, span: Span) -> Option<Location> {
        let id = self.workspace.file_named(source.name())?;
        let uri = self.workspace.uri(id)?;
        // What a file exports is kept as long as its declarations are at the same bytes, so the current text counts.
        let range = self.workspace.text(id)?.range(span);
        Some(Location { uri, range })
    }

    /// Returns the file of that name in diagnostics.
    pub(crate) fn file_named(&self, name: &str) -> Option<FileId> {
        self.workspace.file_named(name)
    }

    /// Returns the file that a path in an import of a file means. `None` if it does not exist.
    pub(crate) fn imported_file(&self, from: FileId, written: &str) -> Option<FileId> {
        self.workspace.imported_file(from, written).filter(|id| self.workspace.text(*id).is_some())
    }
}
