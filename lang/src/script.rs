//! A script from text to something that runs, with the files that it imports.

use crate::ast::{Module, NodeMap};
use crate::check::{
    Borders, CheckCode, CheckOutcome, ExportedTypes, ImportedTypes, ResolvedModule, SessionTypes, TypeTable,
};
use crate::compile::{CompileMode, Imported, Unit, compile};
use crate::declaration::{Registry, Right};
use crate::diagnostic::{Diagnostic, Severity, TraceFrame};
use crate::module::{Exports, File, FileId, Modules, reach};
use crate::resolve::{Outer, Resolution, ResolveCode, Role, Surroundings, resolve};
use crate::source::{SourceRef, Span};
use crate::vm::Isolate;
use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

/// Findings that are shown of one file.
const MOST_FINDINGS: usize = 1_000;

/// Result of loading.
pub struct Loaded {
    /// The compiled module; nothing when there are errors.
    pub unit: Option<Unit>,
    /// The names and types that it offers to later pieces of its session.
    pub exported: Option<(Exports, ExportedTypes)>,
    /// Everything found: file by file, imported ones first, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

/// Options for loading a text.
#[derive(Clone, Copy, Default)]
pub struct Options<'a> {
    /// Names of earlier pieces.
    pub outer: &'a [Outer],
    /// Their types.
    pub session: Option<&'a SessionTypes>,
    /// Role of the text; imported texts keep their own.
    pub role: Role,
    /// Purposes of the compilation of all files, beside running them.
    pub mode: CompileMode,
    /// The files of the run; without them, files cannot be imported.
    pub modules: Option<&'a Modules>,
}

/// Parses, resolves, checks and compiles a text and the files that it imports.
#[must_use]
pub fn load(isolate: &Rc<Isolate>, source: &SourceRef, options: Options<'_>) -> Loaded {
    let none = Modules::default();
    let modules = options.modules.unwrap_or(&none);
    let graph = reach(modules, source);
    let mut diagnostics = graph.found;
    let mut resolved = Vec::with_capacity(graph.files.len());
    let mut exported = None;
    for file in &graph.files {
        let examined = examine_file(isolate, modules, file, &options);
        // Set once: a file is examined once.
        if file.importer.is_none() && options.role == Role::Piece {
            exported = Some((examined.exports, examined.exported));
        } else {
            let _ = file.exports.set(Rc::new(examined.exports));
            let _ = file.types.set(Rc::new(examined.exported));
        }
        resolved.push((examined.names, examined.borders));
        diagnostics.extend(examined.diagnostics);
    }
    let mut unit = None;
    if !has_errors(&diagnostics) {
        match assemble(isolate, modules, &graph.files, &resolved, &options) {
            Ok(whole) => unit = Some(whole),
            Err(found) => diagnostics.extend(shortened(source, found)),
        }
    }
    if unit.is_none() {
        graph.files.iter().for_each(|file| modules.forget(file.id));
    }
    let number = |d: &Diagnostic| {
        let at = |label: &crate::diagnostic::Label| {
            graph.files.iter().position(|file| Arc::ptr_eq(&file.source, &label.source))
        };
        d.labels.first().and_then(at)
    };
    diagnostics.sort_by_cached_key(|d| (number(d), d.position()));
    Loaded { unit, exported, diagnostics }
}

/// Returns the type of the last expression of a text, which is not run and imports nothing.
///
/// # Errors
/// Returns the errors of its syntax and of its names.
pub fn type_of(
    isolate: &Rc<Isolate>,
    source: &SourceRef,
    outer: &[Outer],
    session: &SessionTypes,
) -> Result<String, Vec<Diagnostic>> {
    let parsed = crate::parse::parse(source);
    if !parsed.is_ok() {
        return Err(parsed.diagnostics);
    }
    let around = Surroundings { outer, links: NodeMap::default(), role: Role::Piece };
    let (mut names, found) = resolve(source, &parsed.module, isolate.registry(), &around);
    if has_errors(&found) {
        return Err(found);
    }
    let imported = ImportedTypes::of(&mut names, [], Some(session));
    Ok(crate::check::type_of(source, &parsed.module, &names, isolate.registry(), &imported))
}

/// At most [`MOST_FINDINGS`] of a file's findings, errors first, and one that says how many there are more.
fn shortened(source: &SourceRef, mut found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    if found.len() <= MOST_FINDINGS {
        return found;
    }
    found.sort_by_key(|d| (d.severity, d.position()));
    let more = found.len() - MOST_FINDINGS;
    found.truncate(MOST_FINDINGS);
    let end = u32::try_from(source.text().len()).unwrap_or(u32::MAX);
    found.push(
        Diagnostic::new(CheckCode::More, format!("{more} more diagnostics are not shown"))
            .label(source, Span::new(end, end), "end of the file")
            .help("fix the errors above, then check again"),
    );
    found
}

/// Resolves and checks a file of a run whose imports have been.
fn examine_file(isolate: &Rc<Isolate>, modules: &Modules, file: &File, options: &Options<'_>) -> Examined {
    let (outer, role, session) = match file.importer {
        None => (options.outer, options.role, options.session),
        Some(_) => (&[][..], Role::Imported, None),
    };
    let text = ParsedText { file: file.id, source: &file.source, module: &file.ast, parsed: &file.parsed };
    let around = Surroundings { outer, links: file.links(modules), role };
    let imported = file.imported_types(modules);
    let imports = Imports { around: &around, types: &imported.iter().map(Rc::as_ref).collect::<Vec<_>>(), session };
    examine(text, imports, isolate.registry(), isolate.denied(), false)
}

/// A parsed text, before its names are known.
#[derive(Clone, Copy)]
pub struct ParsedText<'a> {
    /// Its number among the files that are examined together.
    pub file: FileId,
    /// The text.
    pub source: &'a SourceRef,
    /// Its tree.
    pub module: &'a Module,
    /// The diagnostics of the parser.
    pub parsed: &'a [Diagnostic],
}

/// The surroundings of a text, with the types of what it imports.
#[derive(Clone, Copy)]
pub struct Imports<'a> {
    /// The names.
    pub around: &'a Surroundings<'a>,
    /// The types of what the imported files export.
    pub types: &'a [&'a ExportedTypes],
    /// The types of what earlier pieces of the session have bound.
    pub session: Option<&'a SessionTypes>,
}

/// A text whose names and types are known.
pub struct Examined {
    /// The meanings of its names.
    pub names: Resolution,
    /// The names that others can import.
    pub exports: Exports,
    /// Their types.
    pub exported: ExportedTypes,
    /// The types of its expressions and bindings; empty unless they are kept.
    pub types: TypeTable,
    /// The places in it that are checked while running.
    pub borders: Borders,
    /// Its diagnostics, those of the parser included.
    pub diagnostics: Vec<Diagnostic>,
}

/// Resolves and checks a text whose imports have been examined. With `keep`, the types of its expressions are kept.
#[must_use]
pub fn examine(
    text: ParsedText<'_>,
    imports: Imports<'_>,
    registry: Registry,
    denied: &[Right],
    keep: bool,
) -> Examined {
    let ParsedText { file, source, module, parsed } = text;
    let (mut names, mut found) = resolve(source, module, registry, imports.around);
    let mut diagnostics = parsed.to_vec();
    let exports = names.exports(file, source, has_errors(&diagnostics) || names.incomplete);
    let imported = ImportedTypes::of(&mut names, imports.types.iter().copied(), imports.session);
    let resolved = ResolvedModule { source, module, names: &names, imported: &imported };
    let checked = crate::check::check(resolved, (file, &exports), registry, denied, keep, &mut found);
    leave_out_noise(source, &diagnostics, &mut found);
    diagnostics.extend(found);
    let CheckOutcome { exported, types, borders } = checked;
    Examined { names, exports, exported, types, borders, diagnostics: shortened(source, diagnostics) }
}

/// A line that does not parse tells nothing of names and types, nor of what runs after it.
fn leave_out_noise(source: &SourceRef, parsed: &[Diagnostic], found: &mut Vec<Diagnostic>) {
    let broken: Vec<u32> = parsed.iter().map(|d| source.position(d.position()).line).collect();
    if broken.is_empty() {
        return;
    }
    let lines: Vec<&str> = source.text().lines().collect();
    let text_of = |line: &u32| lines.get(*line as usize - 1).copied().unwrap_or("");
    // What such a line would have bound is missing further on, and what it would have read seems unread.
    let words: HashSet<&str> = broken.iter().flat_map(|l| text_of(l).split(|c: char| !is_word(c))).collect();
    found.retain(|d| {
        let named = d.labels.first().map_or("", |l| l.source.slice(l.span));
        let of_names = ResolveCode::ALL.iter().any(|code| d.code == *code);
        let follows = d.code == CheckCode::Dead || of_names && words.contains(named);
        !follows && !broken.contains(&source.position(d.position()).line)
    });
}

/// Compiles files in the order of their evaluation; the last one is the script.
fn assemble(
    isolate: &Rc<Isolate>,
    modules: &Modules,
    files: &[Rc<File>],
    resolved: &[(Resolution, Borders)],
    options: &Options<'_>,
) -> Result<Unit, Vec<Diagnostic>> {
    let mut before = Vec::new();
    for (file, (names, borders)) in files.iter().zip(resolved) {
        let role = if file.importer.is_none() { options.role } else { Role::Imported };
        let (mut unit, placed) =
            compile(isolate, (&file.source, &file.ast), (names, borders), modules, role, options.mode)?;
        let _ = file.placed.set(placed);
        if file.importer.is_none() {
            unit.before = before;
            return Ok(unit);
        }
        before.push(Imported { file: file.id, main: unit.main, trail: trail(modules, file) });
    }
    // The script itself is always among them.
    Err(Vec::new())
}

/// The imports that led to a file, for stack traces.
fn trail(modules: &Modules, file: &File) -> Vec<TraceFrame> {
    /// More would tell no more.
    const MOST: usize = 8;
    let mut frames = Vec::new();
    let mut importer = file.importer;
    while let Some((id, span)) = importer.filter(|_| frames.len() < MOST) {
        let Some(from) = modules.file(id) else { break };
        frames.push(TraceFrame::new("import", Some((from.source.clone(), span))));
        importer = from.importer;
    }
    frames
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Whether any of them is an error.
#[must_use]
pub fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|d| d.severity == Severity::Error)
}
