//! The requests about documents: one file each, all in one table.
//!
//! A feature is a function from a [`Snapshot`] and the parameters of its request to the result. To add one, write its file and its
//! row in [`FEATURES`].

mod call_hierarchy;
mod code_action;
mod code_lens;
mod completion;
mod definition;
mod diagnostics;
mod document_symbol;
mod explanation;
mod folding_range;
mod formatting;
mod hover;
mod inlay_hint;
mod references;
mod rename;
mod selection_range;
mod semantic_tokens;
mod signature_help;
mod source_names;
mod workspace_symbol;

pub(crate) use diagnostics::of_document as diagnostics_of;
pub(crate) use explanation::SCHEME as EXPLANATION_SCHEME;

use crate::error::LspError;
use crate::workspace::{ClientSupport, Snapshot};
use explanation::TextDocumentContentRequest;
use lsp_types::request::{
    CallHierarchyIncomingCalls, CallHierarchyOutgoingCalls, CallHierarchyPrepare, CodeActionRequest, CodeLensRequest,
    Completion, DocumentDiagnosticRequest, DocumentHighlightRequest, DocumentSymbolRequest, FoldingRangeRequest,
    Formatting, GotoDeclaration, GotoDefinition, GotoTypeDefinition, HoverRequest, InlayHintRequest,
    PrepareRenameRequest, RangeFormatting, References, Rename, Request, ResolveCompletionItem, SelectionRangeRequest,
    SemanticTokensFullDeltaRequest, SemanticTokensFullRequest, SemanticTokensRangeRequest, SignatureHelpRequest,
    WorkspaceSymbolRequest,
};
use lsp_types::{
    CallHierarchyServerCapability, CodeLensOptions, CompletionOptions, DeclarationCapability, HoverProviderCapability,
    OneOf, RenameOptions, ServerCapabilities, SignatureHelpOptions, TypeDefinitionProviderCapability,
    WorkDoneProgressOptions,
};
use serde_json::Value;

/// The handling of a request whose document has changed again before it is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IfOutdated {
    /// It is answered for the text that it was sent for: the client asked about a position.
    Answer,
    /// It is refused: the client asks again about the new text.
    Refuse,
}

/// A request that the server answers.
pub(crate) struct Feature {
    pub(crate) method: &'static str,
    pub(crate) if_outdated: IfOutdated,
    /// Adds what the client must know about the request to the capabilities.
    pub(crate) announce: fn(&ClientSupport, &mut ServerCapabilities),
    pub(crate) answer: fn(&Snapshot<'_>, Value) -> Result<Value, LspError>,
}

/// Makes the table of rows: request, function, what happens if the document has changed, and the announced capability.
macro_rules! features {
    ($($request:ty => $answer:path, $if_outdated:ident, |$client:pat_param, $server:pat_param| $announce:expr;)*) => {
        /// All requests about documents.
        pub(crate) static FEATURES: &[Feature] = &[$(Feature {
            method: <$request as Request>::METHOD,
            if_outdated: IfOutdated::$if_outdated,
            announce: |$client, $server| $announce,
            answer: |snapshot, params| answer::<$request>(snapshot, params, $answer),
        }),*];
    };
}

// In the order of the protocol's specification.
features! {
    GotoDeclaration => definition::definition, Answer,
        |_, server| server.declaration_provider = Some(DeclarationCapability::Simple(true));
    GotoDefinition => definition::definition, Answer,
        |_, server| server.definition_provider = Some(OneOf::Left(true));
    GotoTypeDefinition => definition::type_definition, Answer,
        |_, server| server.type_definition_provider = Some(TypeDefinitionProviderCapability::Simple(true));
    References => references::references, Answer,
        |_, server| server.references_provider = Some(OneOf::Left(true));
    CallHierarchyPrepare => call_hierarchy::prepare, Answer,
        |_, server| server.call_hierarchy_provider = Some(CallHierarchyServerCapability::Simple(true));
    CallHierarchyIncomingCalls => call_hierarchy::incoming, Refuse, |_, _| ();
    CallHierarchyOutgoingCalls => call_hierarchy::outgoing, Refuse, |_, _| ();
    DocumentHighlightRequest => references::highlights, Answer,
        |_, server| server.document_highlight_provider = Some(OneOf::Left(true));
    HoverRequest => hover::hover, Answer,
        |_, server| server.hover_provider = Some(HoverProviderCapability::Simple(true));
    CodeLensRequest => code_lens::lenses, Refuse,
        |_, server| server.code_lens_provider = Some(CodeLensOptions { resolve_provider: Some(false) });
    FoldingRangeRequest => folding_range::folding_ranges, Refuse,
        |_, server| server.folding_range_provider = Some(true.into());
    SelectionRangeRequest => selection_range::selection_ranges, Answer,
        |_, server| server.selection_range_provider = Some(true.into());
    DocumentSymbolRequest => document_symbol::document_symbols, Refuse,
        |_, server| server.document_symbol_provider = Some(OneOf::Left(true));
    SemanticTokensFullRequest => semantic_tokens::full, Refuse,
        |_, server| server.semantic_tokens_provider = Some(semantic_tokens::capability());
    SemanticTokensFullDeltaRequest => semantic_tokens::delta, Refuse, |_, _| ();
    SemanticTokensRangeRequest => semantic_tokens::range, Refuse, |_, _| ();
    InlayHintRequest => inlay_hint::hints, Refuse,
        |_, server| server.inlay_hint_provider = Some(OneOf::Left(true));
    Completion => completion::completion, Answer, |_, server| server.completion_provider = Some(CompletionOptions {
        trigger_characters: Some([".", "\"", "{", "/", "@", ":"].map(str::to_owned).to_vec()),
        resolve_provider: Some(true),
        ..CompletionOptions::default()
    });
    ResolveCompletionItem => completion::resolve, Answer, |_, _| ();
    DocumentDiagnosticRequest => diagnostics::pull, Refuse,
        |client, server| server.diagnostic_provider = diagnostics::capability(client);
    SignatureHelpRequest => signature_help::signature_help, Answer,
        |_, server| server.signature_help_provider = Some(SignatureHelpOptions {
            trigger_characters: Some(vec!["(".to_owned(), ",".to_owned()]),
            ..SignatureHelpOptions::default()
        });
    CodeActionRequest => code_action::code_actions, Refuse,
        |_, server| server.code_action_provider = Some(code_action::capability());
    Formatting => formatting::document, Refuse,
        |_, server| server.document_formatting_provider = Some(OneOf::Left(true));
    RangeFormatting => formatting::range, Refuse,
        |_, server| server.document_range_formatting_provider = Some(OneOf::Left(true));
    Rename => rename::rename, Refuse, |_, _| ();
    PrepareRenameRequest => rename::prepare, Answer, |_, server| server.rename_provider = Some(OneOf::Right(RenameOptions {
        prepare_provider: Some(true),
        work_done_progress_options: WorkDoneProgressOptions::default(),
    }));
    WorkspaceSymbolRequest => workspace_symbol::workspace_symbols, Answer,
        |_, server| server.workspace_symbol_provider = Some(OneOf::Left(true));
    // Announced with the other capabilities: the types are those of version 3.17.
    TextDocumentContentRequest => explanation::content, Answer, |_, _| ();
}

/// Answers a request by a function of its types.
fn answer<R: Request>(
    snapshot: &Snapshot<'_>,
    params: Value,
    answer: fn(&Snapshot<'_>, &R::Params) -> Result<R::Result, LspError>,
) -> Result<Value, LspError> {
    let params: R::Params = serde_json::from_value(params).map_err(LspError::invalid_params)?;
    let result = answer(snapshot, &params)?;
    serde_json::to_value(result).map_err(|error| {
        tracing::error!(%error, method = R::METHOD, "invalid result");
        LspError::internal()
    })
}

/// Returns the feature that answers a method.
pub(crate) fn feature(method: &str) -> Option<&'static Feature> {
    FEATURES.iter().find(|feature| feature.method == method)
}
