//! Names at positions, and what they mean across files.
//!
//! - [`GlobalSymbol`]: the meaning of a name, the same in every file.
//! - [`occurrences_of`]: all places that name a symbol.
//! - `description`: a symbol as text.

mod description;

pub(crate) use description::{describe, documentation, title};

use crate::error::LspError;
use crate::workspace::{Analysis, Language, Snapshot};
use lang::ast::{Expr, ExprKind};
use lang::declaration::{BindingId, Builtin};
use lang::module::FileId;
use lang::query::{Cursor, MemberSymbol, Occurrence, OccurrenceRole, Symbol, declaration, visible};
use lang::resolve::Target;
use lang::source::Span;
use lsp_types::TextDocumentPositionParams;
use smol_str::SmolStr;
use std::rc::Rc;

/// The meaning of a name, the same in every file that names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum GlobalSymbol {
    /// A binding of the file that declares it.
    Binding { file: FileId, id: BindingId },
    /// A field, variant or function of a declared type.
    Member(MemberSymbol),
    /// A builtin: its namespace and its name.
    Builtin(&'static str, &'static str),
    /// A namespace of builtins.
    Namespace(SmolStr),
    /// The file that an import names.
    File(Option<FileId>),
}

/// A name at a position.
pub(crate) struct NameAt {
    pub(crate) document: Rc<Analysis>,
    pub(crate) occurrence: Occurrence,
    pub(crate) symbol: GlobalSymbol,
}

/// Returns the name at a position. A position directly after a name is at the name.
///
/// # Errors
/// The document is unknown, or has no such line.
pub(crate) fn name_at(
    snapshot: &Snapshot<'_>,
    params: &TextDocumentPositionParams,
) -> Result<Option<NameAt>, LspError> {
    let (document, offset) = snapshot.at(params)?;
    let found = document.occurrences();
    let holds = |occurrence: &&Occurrence| occurrence.span.start <= offset && offset <= occurrence.span.end;
    // Where two touch, the position is at the one that begins there.
    let mut holding = found.iter().filter(holds);
    let first = holding.next();
    let second = holding.find(|occurrence| occurrence.span.start == offset);
    let named = second.or(first).cloned();
    let Some(occurrence) = named.or_else(|| unparsed_name(&document, offset)) else { return Ok(None) };
    let symbol = global(snapshot, &document, &occurrence.symbol);
    Ok(Some(NameAt { document, occurrence, symbol }))
}

/// Returns the name at an offset of a text that does not parse there, by the bindings around it.
fn unparsed_name(document: &Analysis, offset: u32) -> Option<Occurrence> {
    if document.language != Language::Harn || document.parsed.is_ok() {
        return None;
    }
    let text = document.text.text();
    let span = word_at(text, offset)?;
    let (before, word, after) = (&text[..span.range().start], &text[span.range()], &text[span.range().end..]);
    let cursor = Cursor::of(before);
    if cursor.in_string || cursor.in_comment || before.ends_with('.') || after.starts_with(':') {
        return None;
    }
    let names = &document.names;
    let bound = visible(document.module(), names, offset).into_iter().find(|id| names.binding(*id).name == word);
    let symbol = match bound {
        Some(id) => Symbol::Binding(id),
        None => stdlib::registry().find("", word).map(|row| Symbol::Builtin(row.module, row.name))?,
    };
    Some(Occurrence { span, symbol, role: OccurrenceRole::Read, shorthand: None })
}

/// Returns the span of the word at an offset.
pub(crate) fn word_at(text: &str, offset: u32) -> Option<Span> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let (before, after) = (text.get(..offset as usize)?, text.get(offset as usize..)?);
    let start = before.trim_end_matches(is_word).len();
    let end = offset as usize + (after.len() - after.trim_start_matches(is_word).len());
    let span = Span::new(u32::try_from(start).ok()?, u32::try_from(end).ok()?);
    (start < end).then_some(span)
}

/// Returns the result type that another file states for the function that an expression calls.
pub(crate) fn foreign_result(snapshot: &Snapshot<'_>, document: &Analysis, e: &Expr) -> Option<String> {
    let ExprKind::Call { callee, .. } = &e.kind else { return None };
    let Some(Target::Binding(id)) = document.names.used(callee.id) else { return None };
    document.names.binding(id).origin?;
    let symbol = global(snapshot, document, &Symbol::Binding(id));
    let (declaring, span) = definitions_of(snapshot, &symbol).into_iter().next()?;
    let function = declaration::at(declaring.source(), declaring.module(), span)?.function?;
    let returns = function.returns.as_ref()?;
    Some(declaring.source().slice(returns.span).to_owned())
}

/// Returns what a symbol of a file means everywhere.
pub(crate) fn global(snapshot: &Snapshot<'_>, document: &Analysis, symbol: &Symbol) -> GlobalSymbol {
    match symbol {
        Symbol::Binding(id) => {
            let binding = document.names.binding(*id);
            match (binding.builtin, binding.origin) {
                (Some(row), _) => GlobalSymbol::Builtin(row.module, row.name),
                (None, Some(origin)) => GlobalSymbol::Binding { file: origin.file, id: origin.binding },
                (None, None) => GlobalSymbol::Binding { file: document.id, id: *id },
            }
        }
        Symbol::Member(member) => GlobalSymbol::Member(member.clone()),
        Symbol::Builtin(module, name) => GlobalSymbol::Builtin(module, name),
        Symbol::Namespace(name) => GlobalSymbol::Namespace(name.clone()),
        Symbol::Path(path) => GlobalSymbol::File(snapshot.imported_file(document.id, path)),
    }
}

/// Returns the row of a builtin.
pub(crate) fn builtin(module: &str, name: &str) -> Option<&'static Builtin> {
    stdlib::registry().find(module, name)
}

/// Returns the name by which a symbol is declared.
pub(crate) fn declared_name(snapshot: &Snapshot<'_>, symbol: &GlobalSymbol) -> Option<SmolStr> {
    Some(match symbol {
        GlobalSymbol::Binding { file, id } => snapshot.analysis(*file)?.names.bindings.get(*id as usize)?.name.clone(),
        GlobalSymbol::Member(member) => member.name.clone(),
        GlobalSymbol::Builtin(_, name) => (*name).into(),
        GlobalSymbol::Namespace(name) => name.clone(),
        GlobalSymbol::File(_) => return None,
    })
}

/// Returns the files that can name a symbol.
fn files_naming(snapshot: &Snapshot<'_>, symbol: &GlobalSymbol, asking: FileId) -> Vec<FileId> {
    if let GlobalSymbol::Binding { file, id } = symbol
        && let Some(document) = snapshot.analysis(*file)
        && document.names.bindings.get(*id as usize).is_none_or(|binding| !binding.top)
    {
        return vec![*file];
    }
    let name = declared_name(snapshot, symbol);
    let mentions = |id: &FileId| {
        let text = snapshot.text(*id);
        text.is_some_and(|text| name.as_ref().is_none_or(|name| text.text().contains(name.as_str())))
    };
    let mut files = snapshot.scripts();
    if !files.contains(&asking) {
        files.push(asking);
    }
    // A file that declares it may be outside of the folders of the client.
    if let GlobalSymbol::Binding { file, .. } = symbol
        && !files.contains(file)
    {
        files.push(*file);
    }
    files.retain(mentions);
    files
}

/// Returns all places that name a symbol, file by file. `asking` is the file in which the question was asked.
pub(crate) fn occurrences_of(
    snapshot: &Snapshot<'_>,
    symbol: &GlobalSymbol,
    asking: FileId,
) -> Vec<(Rc<Analysis>, Vec<Occurrence>)> {
    let mut found = Vec::new();
    for file in files_naming(snapshot, symbol, asking) {
        let Some(document) = snapshot.analysis(file).filter(|document| document.language == Language::Harn) else {
            continue;
        };
        let same = |occurrence: &&Occurrence| global(snapshot, &document, &occurrence.symbol) == *symbol;
        let occurrences: Vec<Occurrence> = document.occurrences().iter().filter(same).cloned().collect();
        if !occurrences.is_empty() {
            found.push((document, occurrences));
        }
    }
    found
}

/// Returns the places that declare a symbol.
pub(crate) fn definitions_of(snapshot: &Snapshot<'_>, symbol: &GlobalSymbol) -> Vec<(Rc<Analysis>, Span)> {
    match symbol {
        GlobalSymbol::Binding { file, id } => {
            let Some(document) = snapshot.analysis(*file) else { return Vec::new() };
            let names = &document.names;
            let Some(binding) = names.bindings.get(*id as usize) else { return Vec::new() };
            if !names.overrides.values().any(|overridden| overridden == id) {
                return vec![(document.clone(), binding.span)];
            }
            let defines = |occurrence: &&Occurrence| {
                occurrence.role == OccurrenceRole::Definition && occurrence.symbol == Symbol::Binding(*id)
            };
            let spans: Vec<_> = document.occurrences().iter().filter(defines).map(|found| found.span).collect();
            spans.into_iter().map(|span| (document.clone(), span)).collect()
        }
        GlobalSymbol::Member(member) => {
            let Some(document) = snapshot.file_named(&member.owner.file).and_then(|id| snapshot.analysis(id)) else {
                return Vec::new();
            };
            let defines = |occurrence: &&Occurrence| {
                occurrence.role == OccurrenceRole::Definition && occurrence.symbol == Symbol::Member(member.clone())
            };
            let spans: Vec<_> = document.occurrences().iter().filter(defines).map(|found| found.span).collect();
            spans.into_iter().map(|span| (document.clone(), span)).collect()
        }
        GlobalSymbol::File(Some(file)) => {
            snapshot.analysis(*file).map(|document| (document, Span::new(0, 0))).into_iter().collect()
        }
        GlobalSymbol::Builtin(..) | GlobalSymbol::Namespace(_) | GlobalSymbol::File(None) => Vec::new(),
    }
}
