//! `workspace/textDocumentContent`: the explanation of a diagnostic code as a page, to which the code of each diagnostic links.

use crate::error::LspError;
use crate::workspace::Snapshot;
use lang::diagnostic::code::CodeRef;
use lsp_types::request::Request;
use lsp_types::{CodeDescription, Uri};
use serde::{Deserialize, Serialize};
use std::str::FromStr;
use stdlib::{Code, find};

/// The scheme of the URIs of explanations.
pub(crate) const SCHEME: &str = "harn-explain";

/// The request of version 3.18 for the text of a document that only the server has.
pub(super) enum TextDocumentContentRequest {}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct TextDocumentContentParams {
    uri: Uri,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct TextDocumentContentResult {
    text: String,
}

impl Request for TextDocumentContentRequest {
    type Params = TextDocumentContentParams;
    type Result = TextDocumentContentResult;
    const METHOD: &'static str = "workspace/textDocumentContent";
}

pub(super) fn content(
    _: &Snapshot<'_>,
    params: &TextDocumentContentParams,
) -> Result<TextDocumentContentResult, LspError> {
    let uri = params.uri.as_str();
    let path = uri.strip_prefix(SCHEME).and_then(|rest| rest.strip_prefix(':'));
    let code = path.and_then(|path| path.trim_start_matches('/').strip_suffix(".md")).and_then(find);
    let code = code.ok_or_else(|| LspError::unknown_document(uri))?;
    Ok(TextDocumentContentResult { text: page(code) })
}

/// Returns the link to the explanation of a code.
pub(super) fn link(code: CodeRef) -> Option<CodeDescription> {
    let href = Uri::from_str(&format!("{SCHEME}:/{code}.md")).ok()?;
    Some(CodeDescription { href })
}

fn page(code: &Code) -> String {
    let mut page = format!("# {}: {}\n\n{}\n", code.code, code.title, code.meaning);
    for (title, script) in [("A script that fails", code.fails), ("The same script, fixed", code.mended)] {
        if !script.is_empty() {
            page.push_str(&format!("\n## {title}\n\n```harn\n{}\n```\n", script.trim_end()));
        }
    }
    page
}
