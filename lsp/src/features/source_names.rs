//! The names that a position of a document can use, for completion and signature help.

use crate::names::{GlobalSymbol, documentation, global, title};
use crate::workspace::{Analysis, Snapshot};
use lang::ast::{ItemKind, Module, StmtKind};
use lang::check::TypeView;
use lang::declaration::{BindingId, BindingKind, TypeDecl};
use lang::module::path::is_standard;
use lang::query::{MemberView, Symbol, declaration, members_between, visible};
use lang::resolve::{Role, Surroundings};
use lang::source::{SourceRef, Span};
use std::rc::Rc;
use stdlib::{Completion, CompletionKind, NameSource, ValueMembers};

/// The most files of a folder that a completion of paths looks at.
const MOST_FILES: usize = 2_000;

/// The names that a position can use.
pub(super) struct DocumentNames<'a> {
    snapshot: &'a Snapshot<'a>,
    document: &'a Rc<Analysis>,
    offset: u32,
}

impl<'a> DocumentNames<'a> {
    pub(super) const fn new(snapshot: &'a Snapshot<'a>, document: &'a Rc<Analysis>, offset: u32) -> Self {
        Self { snapshot, document, offset }
    }

    fn visible(&self) -> Vec<BindingId> {
        visible(self.document.module(), &self.document.names, self.offset)
    }

    /// Returns the binding that a name means here.
    pub(super) fn binding_named(&self, name: &str) -> Option<BindingId> {
        self.visible().into_iter().find(|id| self.document.names.binding(*id).name == name)
    }

    /// Returns the members of what is before the dot before an offset.
    pub(super) fn members_at(&self, word: usize) -> Option<Vec<MemberView>> {
        let text = self.document.text.text();
        let (before, after) = (text.get(..word)?, text.get(word..)?);
        let after = after.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
        let around =
            |module: &Module| Surroundings { outer: &[], links: self.document.links_of(module), role: Role::Script };
        members_between(
            self.document.source().name(),
            before,
            after,
            stdlib::registry(),
            around,
            (self.document.imported_types(), None),
        )
    }

    fn completion(&self, id: BindingId) -> Completion {
        let (document, names) = (self.document, &self.document.names);
        let binding = names.binding(id);
        let kind = match (binding.kind, &binding.def) {
            (_, Some(_)) | (BindingKind::Type, _) => CompletionKind::Type,
            (BindingKind::Function | BindingKind::Pipeline, _) => CompletionKind::Function,
            _ if binding.builtin.is_some() || binding.takes.is_some() => CompletionKind::Function,
            _ => CompletionKind::Variable,
        };
        if kind == CompletionKind::Variable {
            let ty = document.types().binding(id).filter(|ty| ty.is_known());
            return Completion::new(kind, binding.name.as_str(), ty.map_or(String::new(), TypeView::short));
        }
        let (head, doc) = declared_as(self.snapshot, document, id).unwrap_or_default();
        // The text of a type is long; its kind says enough.
        let detail = match &binding.def {
            Some(def) => def.sort().trim_start_matches("a ").trim_start_matches("an ").to_owned(),
            None => head,
        };
        Completion { doc, ..Completion::new(kind, binding.name.as_str(), detail) }
    }
}

/// Returns the head and the documentation of what a binding means.
pub(super) fn declared_as(snapshot: &Snapshot<'_>, document: &Rc<Analysis>, id: BindingId) -> Option<(String, String)> {
    let symbol = global(snapshot, document, &Symbol::Binding(id));
    if let GlobalSymbol::Binding { file, id } = symbol {
        let declaring = snapshot.analysis(file)?;
        let span = declaring.names.bindings.get(id as usize)?.span;
        if let Some(found) = declared_in(&declaring, span) {
            return Some(found);
        }
    }
    Some((title(snapshot, &symbol)?, documentation(snapshot, &symbol)))
}

/// Returns the head and the documentation of a declaration at a place of a source.
pub(super) fn declared_at(snapshot: &Snapshot<'_>, source: &SourceRef, span: Span) -> Option<(String, String)> {
    let document = snapshot.analysis(snapshot.file_named(source.name())?)?;
    declared_in(&document, span)
}

fn declared_in(document: &Analysis, span: Span) -> Option<(String, String)> {
    let view = declaration::at(document.source(), document.module(), span)?;
    let text = declaration::text(document.source(), &view);
    Some((text, view.item.doc.as_deref().unwrap_or_default().trim().to_owned()))
}

impl NameSource for DocumentNames<'_> {
    fn offers_aliases(&self) -> bool {
        true
    }

    fn bound(&self, written: &str) -> Vec<Completion> {
        let names = &self.document.names;
        let fitting = self.visible().into_iter().filter(|id| names.binding(*id).name.starts_with(written));
        fitting.map(|id| self.completion(id)).collect()
    }

    fn members(&self, receiver: &str) -> Option<ValueMembers> {
        let found = self.members_at(receiver.len() + 1).or_else(|| self.members_at(receiver.len() + 2))?;
        let document = |member: &MemberView| member.site.as_ref().map(|(source, span)| (source.clone(), *span));
        let sites: Vec<_> = found.iter().map(document).collect();
        let mut members = ValueMembers::of(found);
        for (completion, site) in members.keys.iter_mut().zip(sites) {
            if completion.kind == CompletionKind::Method
                && let Some((source, span)) = site
                && let Some((head, doc)) = declared_at(self.snapshot, &source, span)
            {
                completion.detail = head;
                completion.doc = doc;
            }
        }
        Some(members)
    }

    fn fields(&self, type_name: &str) -> Vec<Completion> {
        let def = self.binding_named(type_name).and_then(|id| self.document.names.binding(id).def.clone());
        let Some(TypeDecl::Struct(def)) = def.map(|def| def.resolved()) else { return Vec::new() };
        let field = |field: &lang::declaration::FieldDecl| {
            let ty = field.ty.as_ref().map_or("", |ty| def.site.source.slice(ty.span));
            Completion::new(CompletionKind::Field, field.name.as_str(), ty)
        };
        def.fields.iter().map(field).collect()
    }

    fn files(&self, written: &str) -> Vec<Completion> {
        let standard = stdlib::registry().modules().iter();
        let mut found: Vec<Completion> =
            standard.map(|path| Completion::new(CompletionKind::File, *path, "standard module")).collect();
        let Some(own) = crate::workspace::path_of(&self.document.uri) else { return found };
        let folder = written.rsplit_once('/').map_or("", |(folder, _)| folder);
        if is_standard(written) {
            return found;
        }
        let Some(parent) = own.parent() else { return found };
        let Ok(entries) = std::fs::read_dir(parent.join(folder)) else { return found };
        let before = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        for entry in entries.flatten().take(MOST_FILES) {
            let path = entry.path();
            let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
            if name.starts_with('.') || path == own {
                continue;
            }
            if path.is_dir() {
                found.push(Completion::new(CompletionKind::File, format!("{before}{name}/"), "folder"));
            } else if let Some(stem) = name.strip_suffix(".harn") {
                found.push(Completion::new(CompletionKind::File, format!("{before}{stem}"), "script"));
            }
        }
        found
    }

    fn exported(&self) -> Vec<Completion> {
        let Some(path) = self.import_path() else { return Vec::new() };
        if is_standard(&path) {
            let rows = stdlib::registry().all().filter(|row| row.module.is_empty());
            return rows.map(Completion::of).collect();
        }
        let file = self.snapshot.imported_file(self.document.id, &path).and_then(|id| self.snapshot.analysis(id));
        let Some(file) = file else { return Vec::new() };
        let listed = self.listed();
        let exports = file.surface.exports.names.iter().filter(|(name, _)| !listed.contains(&name.to_string()));
        let completion = |(name, export): (&smol_str::SmolStr, &lang::module::Export)| {
            let kind = match export.kind {
                BindingKind::Type => CompletionKind::Type,
                BindingKind::Function | BindingKind::Pipeline => CompletionKind::Function,
                _ => CompletionKind::Variable,
            };
            let origin = self.snapshot.analysis(export.origin.file);
            let declared = origin.and_then(|origin| {
                let span = origin.names.bindings.get(export.origin.binding as usize)?.span;
                declared_in(&origin, span)
            });
            let (detail, doc) = declared.unwrap_or_default();
            Completion { doc, ..Completion::new(kind, name.as_str(), detail) }
        };
        exports.map(completion).collect()
    }

    fn completes_empty(&self) -> bool {
        true
    }
}

impl DocumentNames<'_> {
    /// Returns the path of the import around the position, from the tree or from the text after the position.
    fn import_path(&self) -> Option<String> {
        let text = self.document.text.text();
        let after = text.get(self.offset as usize..)?;
        let line_end = after.find('"')?;
        let between = &after[..line_end];
        // Only names, commas, a brace and `from` are between the list and the path.
        let is_list = between
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | ',' | '}' | '{') || c.is_whitespace());
        let rest = &after[line_end + 1..];
        (is_list && between.contains("from")).then(|| rest.split('"').next().unwrap_or("").to_owned())
    }

    /// Returns the names that the import at the position lists already.
    fn listed(&self) -> Vec<String> {
        let at = self.offset;
        let items = self.document.module().body.iter().filter_map(|stmt| match &stmt.kind {
            StmtKind::Item(item) if item.span.start <= at && at <= item.span.end => Some(item),
            _ => None,
        });
        let mut found = Vec::new();
        for item in items {
            if let ItemKind::Import { names: Some(names), .. } = &item.kind {
                let others = names.iter().filter(|(name, _)| !(name.span.start <= at && at <= name.span.end));
                found.extend(others.map(|(name, _)| name.text.to_string()));
            }
        }
        found
    }
}
