//! Knowledge about a text: its tree, its names and its diagnostics.

use super::imports::ImportLink;
use super::location::Location;
use super::settings::{self, ProjectSettings};
use super::surface::Surface;
use super::text::LinedText;
use crate::error::LspError;
use lang::ast::{Module, Name, NodeMap};
use lang::check::{Borders, ExportedTypes, TypeTable};
use lang::diagnostic::Diagnostic;
use lang::lex::{Lexed, lex};
use lang::module::{FileId, Link, imported_paths};
use lang::parse::Parsed;
use lang::query::{Occurrence, occurrences};
use lang::resolve::{Resolution, Role, Surroundings};
use lang::script::{Examined, Imports, ParsedText, examine};
use lang::source::{SourceRef, Span};
use lsp_types::{Position, Range, Uri};
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The language of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    Harn,
    Rhai,
    /// The settings of a project, `harn.toml`, or another file in TOML, of which nothing is known.
    Toml,
    /// A reminder file, or another file in Markdown, of which nothing is known.
    Markdown,
}

impl Language {
    pub(super) fn of_name(name: &str) -> Self {
        let end = name.rsplit_once('.').map(|(_, end)| end);
        match end {
            Some("rhai") => Self::Rhai,
            Some("toml") => Self::Toml,
            Some("md") => Self::Markdown,
            _ => Self::Harn,
        }
    }

    /// Returns the language of an open document: that of its file, else that which the client names.
    pub(super) fn of_document(language: &str, name: &str) -> Self {
        match language {
            _ if name.ends_with(".harn") => Self::Harn,
            "rhai" => Self::Rhai,
            "toml" => Self::Toml,
            "markdown" => Self::Markdown,
            _ => Self::of_name(name),
        }
    }
}

/// A text, and what is known of it.
pub(crate) struct Analysis {
    pub(crate) id: FileId,
    pub(crate) uri: Uri,
    /// The version of the document, if it is open.
    pub(crate) version: Option<i32>,
    pub(crate) language: Language,
    pub(crate) text: Rc<LinedText>,
    /// The tree, with error nodes for what could not be parsed; empty for a script in Rhai.
    pub(crate) parsed: Rc<Parsed>,
    /// The meanings of its names.
    pub(crate) names: Resolution,
    /// Its imports of files.
    pub(crate) links: Vec<ImportLink>,
    pub(crate) surface: Rc<Surface>,
    /// All diagnostics, in the order of the text.
    pub(crate) diagnostics: Vec<Diagnostic>,
    pub(crate) settings: Rc<ProjectSettings>,
    /// The surfaces of its imports.
    pub(super) inputs: Vec<Option<Rc<Surface>>>,
    /// The types of its expressions and bindings.
    types: TypeTable,
    /// Its names and what they mean, found when they are first asked for.
    occurrences: OnceCell<Vec<Occurrence>>,
}

/// The inputs of an analysis.
pub(super) struct Inputs {
    pub(super) id: FileId,
    pub(super) uri: Uri,
    pub(super) version: Option<i32>,
    pub(super) language: Language,
    pub(super) text: Rc<LinedText>,
    pub(super) parsed: Rc<Parsed>,
    pub(super) links: Vec<ImportLink>,
    /// The diagnostics of its imports that are part of cycles.
    pub(super) cycles: Vec<Diagnostic>,
    pub(super) settings: Rc<ProjectSettings>,
    /// The surfaces of its imports, in the order of `links`.
    pub(super) inputs: Vec<Option<Rc<Surface>>>,
}

impl Analysis {
    pub(super) fn new(of: Inputs) -> Self {
        let Inputs { id, uri, version, language, text, parsed, links, cycles, settings, inputs } = of;
        let source = text.source();
        let mut examined = match language {
            Language::Harn => {
                let link = |(link, surface): (&ImportLink, &Option<Rc<Surface>>)| (link.path.at.id, linked(surface));
                let links: NodeMap<Link> = links.iter().zip(&inputs).map(link).collect();
                let around = Surroundings { outer: &[], links, role: Role::Script };
                let text = ParsedText { file: id, source, module: &parsed.module, parsed: &parsed.diagnostics };
                let types: Vec<&ExportedTypes> = inputs.iter().flatten().map(|surface| &surface.types).collect();
                let imports = Imports { around: &around, types: &types, session: None };
                examine(text, imports, stdlib::registry(), &settings.denied, true)
            }
            Language::Rhai => nameless(source, settings.check_rhai(source)),
            Language::Toml => nameless(source, settings::check_toml(source, &uri)),
            Language::Markdown => nameless(source, settings::check_markdown(source, &uri)),
        };
        for (link, surface) in links.iter().zip(&inputs) {
            if surface.is_none() && !link.is_cycle {
                let path = lang::module::path::target(source.name(), &link.path.written);
                let missing = settings.why_missing(&path);
                examined.diagnostics.extend(missing.map(|d| d.label(source, link.path.at.span, "imported here")));
            }
        }
        examined.diagnostics.extend(cycles);
        examined.diagnostics.sort_by_key(Diagnostic::position);
        let Examined { names, exports, exported, types, diagnostics, .. } = examined;
        Self {
            id,
            uri,
            version,
            language,
            text,
            parsed,
            names,
            links,
            surface: Rc::new(Surface { exports: Rc::new(exports), types: exported }),
            diagnostics,
            settings,
            inputs,
            types,
            occurrences: OnceCell::new(),
        }
    }

    /// Returns the types of its expressions and bindings.
    pub(crate) fn types(&self) -> &TypeTable {
        &self.types
    }

    /// Returns its names, in the order of the text.
    pub(crate) fn occurrences(&self) -> &[Occurrence] {
        self.occurrences.get_or_init(|| occurrences(self.module(), &self.names, self.types(), stdlib::registry()))
    }

    /// Returns the name at a span.
    pub(crate) fn occurrence_at(&self, span: Span) -> Option<&Occurrence> {
        let all = self.occurrences();
        let first =
            all.partition_point(|occurrence| (occurrence.span.start, occurrence.span.end) < (span.start, span.end));
        all.get(first).filter(|occurrence| occurrence.span == span)
    }

    /// Returns what the imports of another tree of this file bring: one that differs by the text at the cursor.
    pub(crate) fn links_of(&self, module: &Module) -> NodeMap<Link> {
        let link = |path: &Name| {
            let of_path = |(link, _): &(&ImportLink, &Option<Rc<Surface>>)| link.path.written == path.text;
            let known = self.links.iter().zip(&self.inputs).find(of_path);
            (path.id, known.map_or(Link::Unknown, |(_, surface)| linked(surface)))
        };
        imported_paths(module).map(link).collect()
    }

    /// Returns the types of what its imports export.
    pub(crate) fn imported_types(&self) -> impl Iterator<Item = &ExportedTypes> {
        self.inputs.iter().flatten().map(|surface| &surface.types)
    }

    pub(crate) fn module(&self) -> &Module {
        &self.parsed.module
    }

    /// Returns whether it is a `harn.toml`.
    pub(crate) fn is_project_file(&self) -> bool {
        Location::of_uri(&self.uri).is_project_file()
    }

    pub(crate) fn source(&self) -> &SourceRef {
        self.text.source()
    }

    /// Returns all bytes of the text.
    pub(crate) fn whole(&self) -> Span {
        Span::new(0, u32::try_from(self.source().text().len()).unwrap_or(u32::MAX))
    }

    /// Lexes the text again: its tokens borrow from it.
    pub(crate) fn lexed(&self) -> Lexed<'_> {
        lex(self.source())
    }

    pub(crate) fn range(&self, span: Span) -> Range {
        self.text.range(span)
    }

    /// Returns the byte offset of a position.
    ///
    /// # Errors
    /// The text has no such line.
    pub(crate) fn offset(&self, position: Position) -> Result<u32, LspError> {
        self.text.offset(position).ok_or_else(|| LspError::outside_of_text(position.line))
    }

    /// Returns the bytes of a range.
    ///
    /// # Errors
    /// The text has no such lines.
    pub(crate) fn span(&self, range: Range) -> Result<Span, LspError> {
        let (start, end) = (self.offset(range.start)?, self.offset(range.end)?);
        if start <= end {
            Ok(Span::new(start, end))
        } else {
            Err(LspError::invalid_params("`range` ends before it starts"))
        }
    }
}

/// Returns what an import leads to.
fn linked(surface: &Option<Rc<Surface>>) -> Link {
    surface.as_ref().map_or(Link::Unknown, |surface| Link::File(surface.exports.clone()))
}

/// A text without names that others can use.
fn nameless(source: &SourceRef, diagnostics: Vec<Diagnostic>) -> Examined {
    let exports = lang::module::Exports {
        source: source.clone(),
        names: BTreeMap::new(),
        private: BTreeMap::new(),
        incomplete: false,
    };
    let (exported, types) = Default::default();
    Examined { names: Resolution::default(), exports, exported, types, borders: Borders::default(), diagnostics }
}
