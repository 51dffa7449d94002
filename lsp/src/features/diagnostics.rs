//! `textDocument/diagnostic`, and the diagnostics that the server publishes.

use super::explanation;
use crate::error::LspError;
use crate::workspace::{Analysis, ClientSupport, Snapshot};
use lang::check::CheckCode;
use lang::diagnostic::code::CodeRef;
use lang::diagnostic::{Diagnostic, Label, Severity};
use lang::resolve::ResolveCode;
use lsp_types as lsp;
use lsp_types::{
    DiagnosticOptions, DiagnosticRelatedInformation, DiagnosticServerCapabilities, DiagnosticSeverity, DiagnosticTag,
    DocumentDiagnosticParams, DocumentDiagnosticReport, DocumentDiagnosticReportResult, FullDocumentDiagnosticReport,
    NumberOrString, RelatedFullDocumentDiagnosticReport,
};

/// The name of the server in diagnostics.
const SOURCE: &str = "harn";

/// Returns the capability to pull diagnostics. A client without it gets them published.
pub(super) fn capability(client: &ClientSupport) -> Option<DiagnosticServerCapabilities> {
    client.pulls_diagnostics().then(|| {
        DiagnosticServerCapabilities::Options(DiagnosticOptions {
            identifier: Some(SOURCE.to_owned()),
            inter_file_dependencies: true,
            workspace_diagnostics: false,
            ..DiagnosticOptions::default()
        })
    })
}

pub(super) fn pull(
    snapshot: &Snapshot<'_>,
    params: &DocumentDiagnosticParams,
) -> Result<DocumentDiagnosticReportResult, LspError> {
    let document = snapshot.document(&params.text_document.uri)?;
    let items = of_document(snapshot, &document);
    let full_document_diagnostic_report = FullDocumentDiagnosticReport { result_id: None, items };
    let report = RelatedFullDocumentDiagnosticReport { related_documents: None, full_document_diagnostic_report };
    Ok(DocumentDiagnosticReport::Full(report).into())
}

/// Returns the diagnostics of a document.
pub(crate) fn of_document(snapshot: &Snapshot<'_>, document: &Analysis) -> Vec<lsp::Diagnostic> {
    document.diagnostics.iter().map(|diagnostic| of_diagnostic(snapshot, document, diagnostic)).collect()
}

/// Returns a diagnostic of a document as the client shows it.
pub(super) fn of_diagnostic(snapshot: &Snapshot<'_>, document: &Analysis, diagnostic: &Diagnostic) -> lsp::Diagnostic {
    let span = diagnostic.labels.first().map(|label| label.span).unwrap_or_default();
    let others = diagnostic.labels.get(1..).unwrap_or_default();
    let client = snapshot.client();
    let related = others.iter().filter_map(|label| related(snapshot, label)).collect();
    lsp::Diagnostic {
        range: document.range(span),
        severity: Some(severity(diagnostic.severity)),
        code: Some(NumberOrString::String(diagnostic.code.to_string())),
        code_description: explanation::link(diagnostic.code).filter(|_| client.reads_explanations()),
        source: Some(SOURCE.to_owned()),
        message: message(diagnostic),
        related_information: client.shows_related_information().then_some(related),
        tags: tag(diagnostic.code).filter(|_| client.shows_tags()).map(|tag| vec![tag]),
        data: None,
    }
}

fn severity(severity: Severity) -> DiagnosticSeverity {
    match severity {
        Severity::Error => DiagnosticSeverity::ERROR,
        Severity::Warning => DiagnosticSeverity::WARNING,
        Severity::Info => DiagnosticSeverity::INFORMATION,
    }
}

/// Returns how an editor shows the code: text without effect is faded, and what is deprecated is struck through.
fn tag(code: CodeRef) -> Option<DiagnosticTag> {
    let is_one_of = |codes: &[CodeRef]| codes.contains(&code);
    if is_one_of(&[ResolveCode::Unused.into(), CheckCode::Unreachable.into(), CheckCode::Dead.into()]) {
        Some(DiagnosticTag::UNNECESSARY)
    } else {
        is_one_of(&[CheckCode::Deprecated.into()]).then_some(DiagnosticTag::DEPRECATED)
    }
}

/// Words of labels that only point at the place, which the editor does as well.
const POINTING: &[&str] = &["a", "an", "the", "this", "is", "here", "not", "found", "missing", "value"];

/// Returns the headline, the text of the first label if it says more, and the notes and helps.
fn message(diagnostic: &Diagnostic) -> String {
    let mut text = diagnostic.message.clone();
    if let Some(label) = diagnostic.labels.first().filter(|label| says_more(&label.text, &diagnostic.message)) {
        text.push_str(&format!("\n{}", label.text));
    }
    for (word, remarks) in [("note", &diagnostic.notes), ("help", &diagnostic.help)] {
        remarks.iter().for_each(|remark| text.push_str(&format!("\n{word}: {remark}")));
    }
    text
}

/// Returns whether a label has a word that the headline does not have.
fn says_more(label: &str, headline: &str) -> bool {
    fn words(text: &str) -> impl Iterator<Item = &str> {
        text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
    }
    words(label).any(|word| !POINTING.contains(&word) && !words(headline).any(|known| known == word))
}

fn related(snapshot: &Snapshot<'_>, label: &Label) -> Option<DiagnosticRelatedInformation> {
    let location = snapshot.location(&label.source, label.span)?;
    let message = if label.text.is_empty() { "related place".to_owned() } else { label.text.clone() };
    Some(DiagnosticRelatedInformation { location, message })
}

#[cfg(test)]
mod tests {
    use super::says_more;

    #[test]
    fn a_label_that_repeats_the_headline_says_nothing() {
        for (label, headline) in [
            ("never read", "`count` is bound and never read"),
            ("not found", "unknown name `x`"),
            ("this is a string", "expected an int, found a string"),
            ("missing expression", "expected an expression after `+`, found `}`"),
            ("", "anything"),
        ] {
            assert!(!says_more(label, headline), "{label}");
        }
        assert!(says_more("opened here", "unclosed `(`"));
        assert!(says_more("this is a list", "expected an int"));
    }
}
