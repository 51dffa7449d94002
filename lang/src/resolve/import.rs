//! Binds the names that imports bring.
//!
//! Names that are listed are names of the file like any other. What an import without a list brings lies one scope
//! further out: the file's own names hide it.

use super::names::describe;
use super::scope::Binding;
use super::walk::Walk;
use super::{BindingId, BindingKind};
use crate::ast::Name;
use crate::diagnostic::{Diagnostic, nearest};
use crate::module::{Export, Exports, Link, ModuleCode, path};
use crate::source::Span;
use smol_str::SmolStr;

/// Names as an import lists them, with what they are called here.
type Listed<'a> = &'a [(Name, Option<Name>)];

impl Walk<'_> {
    pub(super) fn import(&mut self, names: Option<Listed<'_>>, path: &Name) {
        let (id, path, path_span) = (path.id, path.text.as_str(), path.span);
        let listed = names.unwrap_or_default();
        if !self.at_top() {
            self.found.push(
                Diagnostic::new(ModuleCode::Inside, "import inside a block")
                    .label(self.source, path_span, "inside a block")
                    .help("move the import to the top level of the file"),
            );
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
    fn unknown(&mut self, listed: Listed<'_>) {
        for (name, alias) in listed {
            let name = alias.as_ref().unwrap_or(name);
            self.bind(&name.text, name.at(), BindingKind::Import);
        }
    }

    /// What the standard modules offer is global: an import gives it another name, or only has to be right.
    fn standard(&mut self, listed: Listed<'_>, path: &str, path_span: Span) {
        if !self.registry.modules().contains(&path) {
            let mut d = Diagnostic::new(ModuleCode::NoStandard, format!("unknown standard module `{path}`")).label(
                self.source,
                path_span,
                "not found",
            );
            if let Some(near) = nearest(path, self.registry.modules().iter().copied()) {
                d = d.help(format!("did you mean `{near}`?"));
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
        let d = self.no_name(name, path, path_span);
        let globals = self.registry.all().filter(|row| row.module.is_empty()).map(|row| row.name);
        let d = match nearest(&name.text, globals) {
            Some(near) => d.help(format!("did you mean `{near}`?")).fix(name.span, near),
            None => d,
        };
        self.found.push(d);
    }

    fn no_name(&self, name: &Name, path: &str, path_span: Span) -> Diagnostic {
        Diagnostic::new(ModuleCode::NoName, format!("\"{path}\" does not export `{}`", name.text))
            .label(self.source, name.span, "not found")
            .label(self.source, path_span, "imported from here")
    }

    /// `import {a, b as c} from "path"`
    fn listed(&mut self, listed: Listed<'_>, exports: &Exports, path: &str, path_span: Span) {
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
        let source = self.source;
        if let Some(private) = exports.private.get(&name.text) {
            let message = format!("`{}` is private to \"{path}\"", name.text);
            let d = Diagnostic::new(ModuleCode::Private, message).label(source, name.span, "private");
            let there = &exports.source;
            return if private.kind == BindingKind::Import {
                d.label(there, private.span, "imported here without `pub`")
                    .help("import it from the file that declares it, or write `pub import` there")
            } else {
                d.label(there, private.span, format!("{} without `pub`", describe(private.kind)))
                    .help("write `pub` before the declaration")
            };
        }
        let d = self.no_name(name, path, path_span);
        match nearest(&name.text, exports.names.keys().map(SmolStr::as_str)) {
            Some(near) => d.help(format!("did you mean `{near}`?")).fix(name.span, near),
            None if exports.names.is_empty() => d.note("the file exports no names"),
            None => d.note(format!("it exports {}", some_of(exports))),
        }
    }

    /// `import "path"`
    fn whole(&mut self, exports: &Exports, path_span: Span) {
        if exports.incomplete {
            self.blinded();
        }
        for (name, export) in &exports.names {
            // The scope around the file's own.
            let known = self.scopes.first().and_then(|s| s.names.get(name)).copied();
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
        let Some(second) = self.ambiguous.remove(&id) else { return };
        let first = self.out.binding(id).span;
        self.found.push(
            Diagnostic::new(ModuleCode::Ambiguous, format!("`{name}` is imported from two files"))
                .label(self.source, span, "ambiguous")
                .label(self.source, first, "exported by this file")
                .label(self.source, second, "and by this one")
                .help(format!("list it in one of the imports: `import {{{name}}} from \"…\"`")),
        );
    }
}

/// A type stays a type; what else is imported cannot be assigned to.
fn imported_kind(export: &Export) -> BindingKind {
    match export.kind {
        BindingKind::Type => BindingKind::Type,
        _ => BindingKind::Import,
    }
}

/// A few of the names that a file offers.
fn some_of(exports: &Exports) -> String {
    const MOST: usize = 6;
    let names: Vec<String> = exports.names.keys().take(MOST).map(|name| format!("`{name}`")).collect();
    let more = if exports.names.len() > MOST { " …" } else { "" };
    format!("{}{more}", names.join(", "))
}
