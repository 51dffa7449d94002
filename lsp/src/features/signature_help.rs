//! `textDocument/signatureHelp`: the parameters of the function whose arguments are being written.

use super::source_names::{DocumentNames, declared_as};
use crate::error::LspError;
use crate::workspace::{Analysis, Language, Snapshot};
use lang::query::{Callee, Cursor, MemberKind, MemberView};
use lsp_types::{
    Documentation, MarkupContent, MarkupKind, ParameterInformation, ParameterLabel, SignatureHelp, SignatureHelpParams,
    SignatureInformation,
};
use std::rc::Rc;

/// A function as text.
struct CalledFunction {
    label: String,
    doc: String,
    /// The first parameter is the receiver, which a call does not write.
    has_receiver: bool,
}

pub(super) fn signature_help(
    snapshot: &Snapshot<'_>,
    params: &SignatureHelpParams,
) -> Result<Option<SignatureHelp>, LspError> {
    let (document, offset) = snapshot.at(&params.text_document_position_params)?;
    let before = document.text.text().get(..offset as usize).unwrap_or("");
    let cursor = match document.language {
        Language::Harn => Cursor::of(before),
        Language::Rhai => Cursor::of(&stdlib::rhai_as_harn(before)),
        Language::Toml | Language::Markdown => return Ok(None),
    };
    let Some((callee, argument, _)) = cursor.call() else { return Ok(None) };
    let Some(function) = called(snapshot, &document, offset, callee) else { return Ok(None) };
    Ok(Some(help(&function, argument, snapshot)))
}

fn help(function: &CalledFunction, argument: usize, snapshot: &Snapshot<'_>) -> SignatureHelp {
    let mut params = parameters(&function.label);
    if function.has_receiver && !params.is_empty() {
        params.remove(0);
    }
    let last = params.len().saturating_sub(1);
    let is_rest = params.last().is_some_and(|span| function.label[span.clone()].starts_with("..."));
    let active = if is_rest { argument.min(last) } else { argument };
    let width = |end: usize| snapshot.encoding().width(&function.label[..end]);
    let information = |span: &std::ops::Range<usize>| ParameterInformation {
        // Offsets in labels are counted in the unit of positions.
        label: ParameterLabel::LabelOffsets([width(span.start), width(span.end)]),
        documentation: None,
    };
    let active = u32::try_from(active).unwrap_or(u32::MAX);
    SignatureHelp {
        signatures: vec![SignatureInformation {
            label: function.label.clone(),
            documentation: (!function.doc.is_empty()).then(|| {
                let value = function.doc.clone();
                Documentation::MarkupContent(MarkupContent { kind: MarkupKind::Markdown, value })
            }),
            parameters: Some(params.iter().map(information).collect()),
            active_parameter: Some(active),
        }],
        active_signature: Some(0),
        active_parameter: Some(active),
    }
}

fn called(snapshot: &Snapshot<'_>, document: &Rc<Analysis>, offset: u32, callee: &Callee) -> Option<CalledFunction> {
    let of_row = |module: &str| {
        let row = stdlib::registry().find(module, &callee.name)?;
        Some(CalledFunction { label: row.sig.to_owned(), doc: stdlib::describe(row), has_receiver: row.is_method() })
    };
    if document.language != Language::Harn {
        return of_row(callee.namespace.as_deref().unwrap_or(""));
    }
    let names = DocumentNames::new(snapshot, document, offset);
    if !callee.is_member {
        return match names.binding_named(&callee.name) {
            Some(id) => {
                let (label, doc) = declared_as(snapshot, document, id)?;
                Some(CalledFunction { label, doc, has_receiver: false })
            }
            None => of_row(""),
        };
    }
    if let Some(namespace) = &callee.namespace
        && names.binding_named(namespace).is_none()
        && let Some(found) = of_row(namespace)
    {
        return Some(found);
    }
    let found = names.members_at(callee.at)?.into_iter().find(|member| member.name == callee.name)?;
    Some(of_member(snapshot, found))
}

fn of_member(snapshot: &Snapshot<'_>, member: MemberView) -> CalledFunction {
    if let MemberKind::Builtin(row) = member.kind {
        return CalledFunction { label: row.sig.to_owned(), doc: stdlib::describe(row), has_receiver: true };
    }
    let declared = member.site.and_then(|(source, span)| super::source_names::declared_at(snapshot, &source, span));
    let (label, doc) = declared.unwrap_or((member.detail, String::new()));
    let has_receiver = label.contains("(self");
    CalledFunction { label, doc, has_receiver }
}

/// Returns the parameters in the head of a function.
fn parameters(label: &str) -> Vec<std::ops::Range<usize>> {
    let Some(open) = label.find('(') else { return Vec::new() };
    let (mut depth, mut start, mut found, mut quoted) = (0usize, open + 1, Vec::new(), false);
    let mut previous = ' ';
    for (at, c) in label[open..].char_indices() {
        let at = at + open;
        match c {
            '"' => quoted = !quoted,
            _ if quoted => {}
            '(' | '[' | '{' | '<' => depth += 1,
            '>' if previous == '-' => {}
            ')' | ']' | '}' | '>' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    found.push(start..at);
                    break;
                }
            }
            ',' if depth == 1 => {
                found.push(start..at);
                start = at + 1;
            }
            _ => {}
        }
        previous = c;
    }
    let trimmed = found.into_iter().map(|span| {
        let text = &label[span.clone()];
        let start = span.start + (text.len() - text.trim_start().len());
        start..start + text.trim().len()
    });
    trimmed.filter(|span| !span.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::parameters;

    #[test]
    fn parameters_are_separated_by_the_outer_commas() {
        let of = |label: &str| parameters(label).into_iter().map(|span| label[span].to_owned()).collect::<Vec<_>>();
        assert_eq!(
            of("f(a: int, b: fn(int, int) -> list<int> = nil, ...rest) -> nil"),
            ["a: int", "b: fn(int, int) -> list<int> = nil", "...rest"]
        );
        assert_eq!(of("f({a, b}, c: {x: int, y: \",\"}) -> nil"), ["{a, b}", "c: {x: int, y: \",\"}"]);
        assert!(of("f() -> nil").is_empty() && of("f").is_empty());
    }
}
