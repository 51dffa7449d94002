//! `textDocument/prepareRename` and `textDocument/rename`: another name for something, in all files that name it.
//!
//! An alias of an import is a name of its file: renaming what is imported leaves it, and renaming it leaves what is imported.

use crate::error::LspError;
use crate::names::{GlobalSymbol, NameAt, declared_name, name_at, occurrences_of};
use crate::workspace::{Analysis, Snapshot};
use lang::ast::{Item, ItemKind};
use lang::declaration::{BindingId, Methods, TypeDecl};
use lang::lex::is_identifier;
use lang::query::{MemberSymbol, Occurrence, Shorthand, Symbol, declaration, visible};
use lang::source::Span;
use lsp_types::{PrepareRenameResponse, RenameParams, TextDocumentPositionParams, TextEdit, Uri, WorkspaceEdit};
use std::collections::HashMap;
use std::rc::Rc;

pub(super) fn prepare(
    snapshot: &Snapshot<'_>,
    params: &TextDocumentPositionParams,
) -> Result<Option<PrepareRenameResponse>, LspError> {
    let Some(found) = name_at(snapshot, params)? else { return Ok(None) };
    renamed(snapshot, &found)?;
    let placeholder = found.document.source().slice(found.occurrence.span).to_owned();
    Ok(Some(PrepareRenameResponse::RangeWithPlaceholder {
        range: found.document.range(found.occurrence.span),
        placeholder,
    }))
}

#[allow(clippy::mutable_key_type, reason = "the type of the protocol")]
pub(super) fn rename(snapshot: &Snapshot<'_>, params: &RenameParams) -> Result<Option<WorkspaceEdit>, LspError> {
    let Some(found) = name_at(snapshot, &params.text_document_position)? else {
        return Err(LspError::request_failed("nothing to rename here: put the cursor on a name"));
    };
    let new = params.new_name.as_str();
    if !is_identifier(new) {
        return Err(LspError::request_failed(format!(
            "`{}` is not a valid name: use letters, digits and `_`, and no reserved word",
            new.chars().take(60).collect::<String>()
        )));
    }
    let places = renamed(snapshot, &found)?;
    let old = found.document.source().slice(found.occurrence.span);
    let mut changes: HashMap<Uri, Vec<TextEdit>> = HashMap::new();
    if old == new {
        return Ok(Some(WorkspaceEdit::new(changes)));
    }
    for (document, occurrences) in &places {
        if let Some(reason) = conflict(document, occurrences, new) {
            return Err(LspError::request_failed(reason));
        }
        let edits = occurrences.iter().map(|occurrence| edit(document, occurrence, old, new));
        changes.entry(document.uri.clone()).or_default().extend(edits);
    }
    Ok(Some(WorkspaceEdit::new(changes)))
}

/// The files that a rename changes, with the places in each.
type Places = Vec<(Rc<Analysis>, Vec<Occurrence>)>;

/// Returns the places that get another name with the one at a position.
///
/// # Errors
/// The name cannot be changed.
fn renamed(snapshot: &Snapshot<'_>, found: &NameAt) -> Result<Places, LspError> {
    let refused = |reason: &str| Err(LspError::request_failed(reason));
    let document = &found.document;
    let old = document.source().slice(found.occurrence.span).to_owned();
    match &found.symbol {
        GlobalSymbol::Builtin(..) if is_alias(document, &found.occurrence) => return Ok(of_alias(found, &old)),
        GlobalSymbol::Builtin(..) => return refused("builtins cannot be renamed"),
        GlobalSymbol::Namespace(_) => return refused("namespaces of builtins cannot be renamed"),
        GlobalSymbol::File(_) => return refused("files cannot be renamed here: rename the file, then its imports"),
        GlobalSymbol::Member(member) if member.owner.file.is_empty() => {
            return refused("`Result` and its variants cannot be renamed");
        }
        GlobalSymbol::Member(member) if is_of_interface(snapshot, member) => {
            return refused("methods of interfaces cannot be renamed: every `impl` of the interface declares them");
        }
        GlobalSymbol::Binding { .. } | GlobalSymbol::Member(_) => {}
    }
    let declared = declared_name(snapshot, &found.symbol).unwrap_or_default();
    if declared == "self" || declared == "_" {
        return refused("`self` cannot be renamed");
    }
    if declared != old.as_str() {
        return Ok(of_alias(found, &old));
    }
    let mut places = occurrences_of(snapshot, &found.symbol, document.id);
    for (document, occurrences) in &mut places {
        occurrences.retain(|occurrence| document.source().slice(occurrence.span) == declared.as_str());
    }
    places.retain(|(_, occurrences)| !occurrences.is_empty());
    Ok(places)
}

/// Whether a member is a method of an interface, or implements one.
fn is_of_interface(snapshot: &Snapshot<'_>, member: &MemberSymbol) -> bool {
    let document = snapshot.file_named(&member.owner.file).and_then(|id| snapshot.analysis(id));
    document.is_some_and(|document| {
        document.module().body.iter().any(|stmt| match stmt.item() {
            Some(ItemKind::Interface { name, .. }) => name.text == member.owner.name,
            Some(ItemKind::Impl { target, interface: Some(_), methods }) => {
                let is_it = |item: &Item| declaration::name(item).is_some_and(|name| name.text == member.name);
                target.text == member.owner.name && methods.iter().any(is_it)
            }
            _ => false,
        })
    })
}

fn is_alias(document: &Analysis, occurrence: &Occurrence) -> bool {
    let Symbol::Binding(id) = occurrence.symbol else { return false };
    let binding = document.names.binding(id);
    binding.builtin.is_some_and(|row| row.name != binding.name)
}

/// Returns the places of an alias, which only its file knows.
fn of_alias(found: &NameAt, old: &str) -> Places {
    let document = &found.document;
    let same = |occurrence: &&Occurrence| {
        occurrence.symbol == found.occurrence.symbol && document.source().slice(occurrence.span) == old
    };
    vec![(document.clone(), document.occurrences().iter().filter(same).cloned().collect())]
}

/// Returns the edit of a place. A shorthand is written out.
fn edit(document: &Analysis, occurrence: &Occurrence, old: &str, new: &str) -> TextEdit {
    let text = match occurrence.shorthand {
        Some(Shorthand::Value) => format!("{old}: {new}"),
        Some(Shorthand::Key) => format!("{new}: {old}"),
        None => new.to_owned(),
    };
    TextEdit::new(document.range(occurrence.span), text)
}

/// Returns the reason why the new name cannot be used in a file.
fn conflict(document: &Analysis, occurrences: &[Occurrence], new: &str) -> Option<String> {
    if !document.source().text().contains(new) {
        return None;
    }
    let taken = occurrences.iter().find_map(|occurrence| match &occurrence.symbol {
        Symbol::Binding(id) => taken_by_binding(document, occurrence, *id, new),
        Symbol::Member(member) => taken_by_member(document, member, new),
        _ => None,
    });
    let file = document.source().name().rsplit('/').next().unwrap_or_default();
    if let Some(taken) = taken {
        let line = document.text.line_of(taken.start) + 1;
        return Some(format!("`{new}` already exists in {file}, line {line}: choose another name"));
    }
    let hides = matches!(occurrences.first().map(|occurrence| &occurrence.symbol), Some(Symbol::Binding(_)));
    let is_used = |occurrence: &Occurrence| matches!(occurrence.symbol, Symbol::Builtin("", name) if name == new);
    (hides && document.occurrences().iter().any(is_used))
        .then(|| format!("{file} uses the builtin `{new}`: choose another name"))
}

/// Returns the binding of the new name that a place sees, or that sees the renamed one.
fn taken_by_binding(document: &Analysis, occurrence: &Occurrence, id: BindingId, new: &str) -> Option<Span> {
    let names = &document.names;
    let seen_from = |at: u32| visible(document.module(), names, at);
    let seen = seen_from(occurrence.span.start);
    if let Some(other) = seen.into_iter().find(|other| *other != id && names.binding(*other).name == new) {
        return Some(names.binding(other).span);
    }
    let others = names.bindings.iter().filter(|other| other.name == new && !other.imported());
    others.map(|other| other.span).find(|span| seen_from(span.start).contains(&id))
}

/// Returns the member of the new name that the type has.
fn taken_by_member(document: &Analysis, member: &MemberSymbol, new: &str) -> Option<Span> {
    let is_owner = |def: &TypeDecl| {
        def.name() == &member.owner.name && def.site().is_some_and(|site| site.source.name() == member.owner.file)
    };
    let defs = document.names.bindings.iter().filter_map(|binding| binding.def.as_ref()).map(TypeDecl::resolved);
    let def = defs.into_iter().find(is_owner)?;
    let methods = def.methods().map(Methods::all).unwrap_or_default();
    let method = methods.iter().find(|method| method.signature.name == new).map(|method| method.signature.span);
    method.or_else(|| match &def {
        TypeDecl::Struct(def) => def.fields.iter().find(|field| field.name == new).map(|field| field.span),
        TypeDecl::Enum(def) => def.variants.iter().find(|variant| variant.name == new).map(|variant| variant.span),
        TypeDecl::Interface(def) => def.methods.iter().find(|method| method.name == new).map(|method| method.span),
        TypeDecl::Alias(_) => None,
    })
}
