//! Binds the names that imports bring.
//!
//! Names that are listed are names of the file like any other. What an import without a list brings lies one scope
//! further out: the file's own names hide it.

use super::messages::{self, did_you_mean};
use super::resolver::Resolver;
use super::scope::Binding;
use super::{BindingId, BindingKind};
use crate::ast::Name;
use crate::diagnostic::{Diagnostic, nearest};
use crate::module::{Export, Exports, Link, path};
use crate::source::Span;
use smol_str::SmolStr;

/// Names as an import lists them, with what they are called here.
type ImportedNames<'a> = &'a [(Name, Option<Name>)];

impl Resolver<'_> {
    pub(super) fn import(&mut self, names: Option<ImportedNames<'_>>, path: &Name) {
        let (id, path, path_span) = (path.id, path.text.as_str(), path.span);
        let listed = names.unwrap_or_default();
        if !self.at_top() {
            self.found.push(messages::import_inside(self.source, path_span));
            return self.unknown(listed);
        }
        if path::is_standard(path) {
            return self.standard(listed, path, path_span);
        }
        match self.around.links.get(&id) {
            Some(Link::File(exports)) if names.is_some() => self.listed(listed, &exports.clone(), path, path_span),
            Some(Link::File(exports)) => self.whole(&exports.clone(), path_span),
            Some(Link::Unknown) | None => {
                if names.is_none() {
                    self.blinded();
                }
                self.unknown(listed);
            }
        }
    }

    /// More names may be bound than are known.
    fn blinded(&mut self) {
        self.out.blind = true;
        self.out.incomplete |= self.public;
    }

    /// Binds names of which nothing is known but that they were meant to be there.
    fn unknown(&mut self, listed: ImportedNames<'_>) {
        for (name, alias) in listed {
            let name = alias.as_ref().unwrap_or(name);
            self.bind(&name.text, name.at(), BindingKind::Import);
        }
    }

    /// Resolves an import of a standard module. Its names are global, so the import gives them other names or only has to be
    /// correct.
    fn standard(&mut self, listed: ImportedNames<'_>, path: &str, path_span: Span) {
        if !self.registry.modules().contains(&path) {
            let mut d = messages::unknown_standard(self.source, path, path_span);
            if let Some(near) = nearest(path, self.registry.modules().iter().copied()) {
                d = d.help(format!("did you mean `{near}`?")).fix(path_span, format!("\"{near}\""));
            }
            self.found.push(d);
            return self.unknown(listed);
        }
        for (name, alias) in listed {
            let Some(row) = self.registry.find("", &name.text) else {
                self.not_standard(name, path, path_span);
                self.unknown(&[(name.clone(), alias.clone())]);
                continue;
            };
            let local = alias.as_ref().unwrap_or(name);
            if let Some(id) = self.bind_new(&local.text, local.at(), BindingKind::Import) {
                self.out.bindings[id as usize].builtin = Some(row);
            }
        }
    }

    fn not_standard(&mut self, name: &Name, path: &str, path_span: Span) {
        let d = messages::not_exported(self.source, name, path, path_span);
        let globals = self.registry.all().filter(|row| row.module.is_empty()).map(|row| row.name);
        let d = match nearest(&name.text, globals) {
            Some(near) => did_you_mean(d, name, near),
            None => d,
        };
        self.found.push(d);
    }

    /// `import {a, b as c} from "path"`
    fn listed(&mut self, listed: ImportedNames<'_>, exports: &Exports, path: &str, path_span: Span) {
        for (name, alias) in listed {
            let local = alias.as_ref().unwrap_or(name);
            let Some(export) = exports.names.get(&name.text).cloned() else {
                if !exports.incomplete {
                    let d = self.not_offered(name, exports, path, path_span);
                    self.found.push(d);
                }
                self.unknown(&[(name.clone(), alias.clone())]);
                continue;
            };
            if let Some(id) = self.bind_new(&local.text, local.at(), imported_kind(&export)) {
                self.bring_in(id, export);
            }
        }
    }

    fn not_offered(&self, name: &Name, exports: &Exports, path: &str, path_span: Span) -> Diagnostic {
        if let Some(private) = exports.private.get(&name.text) {
            return messages::private(self.source, name, path, &exports.source, private.kind, private.span);
        }
        let d = messages::not_exported(self.source, name, path, path_span);
        match nearest(&name.text, exports.names.keys().map(SmolStr::as_str)) {
            Some(near) => did_you_mean(d, name, near),
            None => messages::with_exports(d, exports),
        }
    }

    /// `import "path"`
    fn whole(&mut self, exports: &Exports, path_span: Span) {
        if exports.incomplete {
            self.blinded();
        }
        for (name, export) in &exports.names {
            // The scope around the file's own.
            let known = self.scopes.first().and_then(|s| s.names.get(name));
            if let Some(id) = known.filter(|id| self.out.binding(*id).slot.is_none()) {
                if self.out.binding(id).origin != Some(export.origin) {
                    self.ambiguous.insert(id, path_span);
                }
                continue;
            }
            let id = self.push(Binding {
                name: name.clone(),
                span: path_span,
                kind: imported_kind(export),
                top: true,
                global: true,
                slot: None,
                public: self.public,
                origin: None,
                builtin: None,
                takes: None,
                captured: false,
                assigned: false,
                early: false,
                read: false,
                def: None,
                function: 0,
            });
            self.bring_in(id, export.clone());
            if let Some(scope) = self.scopes.first_mut() {
                scope.names.insert(name.clone(), id);
            }
        }
    }

    fn bring_in(&mut self, id: BindingId, export: Export) {
        let binding = &mut self.out.bindings[id as usize];
        binding.global = true;
        binding.origin = Some(export.origin);
        binding.builtin = export.builtin;
        binding.def = export.def;
        binding.takes = export.takes;
    }

    /// A name that two files bring is an error where it is used, and once.
    pub(super) fn clear(&mut self, id: BindingId, name: &SmolStr, span: Span) {
        if self.ambiguous.is_empty() {
            return;
        }
        let Some(second) = self.ambiguous.remove(&id) else { return };
        let first = self.out.binding(id).span;
        self.found.push(messages::ambiguous(self.source, name, span, first, second));
    }
}

/// A type stays a type; what else is imported cannot be assigned to.
fn imported_kind(export: &Export) -> BindingKind {
    match export.kind {
        BindingKind::Type => BindingKind::Type,
        _ => BindingKind::Import,
    }
}
