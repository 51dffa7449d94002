//! Every name of a file, and what it means.

use super::named_type::NamedTypes;
use crate::ast::visit::{Visit, walk_expr, walk_item, walk_module, walk_pattern, walk_stmt};
use crate::ast::*;
use crate::check::{TypeTable, TypeView};
use crate::declaration::{Builtin, Registry, TypeDecl};
use crate::resolve::{BindingId, Resolution, Target};
use crate::source::Span;
use smol_str::SmolStr;
use std::collections::HashSet;

/// A name in the text.
#[derive(Clone, Debug)]
pub struct Occurrence {
    /// Span of the name.
    pub span: Span,
    /// Meaning of the name.
    pub symbol: Symbol,
    /// Effect of the occurrence on what it means.
    pub role: OccurrenceRole,
    /// Set if the name is written once for two things: `{a}` for `{a: a}`.
    pub shorthand: Option<Shorthand>,
}

/// Meaning of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Symbol {
    /// A binding of the file. The features of editors follow an imported one to its file.
    Binding(BindingId),
    /// A field, variant or function of a declared type.
    Member(MemberSymbol),
    /// A builtin function or method.
    Builtin(&'static str, &'static str),
    /// A namespace of builtins.
    Namespace(SmolStr),
    /// The path of an import.
    Path(SmolStr),
}

/// A field, variant or function of a declared type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MemberSymbol {
    /// The type.
    pub owner: TypeOwner,
    /// Its name.
    pub name: SmolStr,
}

/// A declared type, by its place, so that it is the same for every file that names it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TypeOwner {
    /// The file; empty for `Result`.
    pub file: String,
    /// Its name.
    pub name: SmolStr,
    /// Start of its declaration, if that is not at the top of the file.
    pub local: Option<u32>,
}

/// Effect of an occurrence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OccurrenceRole {
    /// It declares what the name means.
    Definition,
    /// It names in an import what another file declares; an alias may follow.
    Import,
    /// It reads.
    Read,
    /// It assigns.
    Write,
}

/// Side of a shorthand that an occurrence is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shorthand {
    /// The key; a value or pattern of the same name follows from it.
    Key,
    /// The value or pattern; a key of the same name belongs to it.
    Value,
}

impl Symbol {
    fn builtin(row: &'static Builtin) -> Self {
        Self::Builtin(row.module, row.name)
    }
}

/// Returns every name of a resolved module, in the order of the text.
#[must_use]
pub fn occurrences(module: &Module, names: &Resolution, types: &TypeTable, registry: Registry) -> Vec<Occurrence> {
    let (found, shorthands) = Default::default();
    let named = NamedTypes::of(module, names);
    let mut visit = OccurrenceVisit { names, types, registry, named, found, written: None, shorthands };
    walk_module(&mut visit, module);
    visit.found.sort_by_key(|occurrence| (occurrence.span.start, occurrence.span.end));
    visit.found
}

struct OccurrenceVisit<'a> {
    names: &'a Resolution,
    types: &'a TypeTable,
    registry: Registry,
    named: NamedTypes<'a>,
    found: Vec<Occurrence>,
    /// The name that the assignment at hand writes.
    written: Option<NodeId>,
    /// Values and patterns that are written as a key alone.
    shorthands: HashSet<NodeId>,
}

impl OccurrenceVisit<'_> {
    fn add(&mut self, span: Span, symbol: Symbol, role: OccurrenceRole) {
        self.found.push(Occurrence { span, symbol, role, shorthand: None });
    }

    fn define(&mut self, at: NodeAt) {
        if let Some(id) = self.names.made(at.id) {
            let shorthand = self.shorthands.contains(&at.id).then_some(Shorthand::Value);
            let role = OccurrenceRole::Definition;
            self.found.push(Occurrence { span: at.span, symbol: Symbol::Binding(id), role, shorthand });
        }
    }

    fn used(&mut self, at: NodeAt) {
        let symbol = match self.names.used(at.id) {
            Some(Target::Binding(id)) => Symbol::Binding(id),
            Some(Target::Builtin(row)) => Symbol::builtin(row),
            None => return,
        };
        let role = if self.written == Some(at.id) { OccurrenceRole::Write } else { OccurrenceRole::Read };
        let shorthand = self.shorthands.contains(&at.id).then_some(Shorthand::Value);
        self.found.push(Occurrence { span: at.span, symbol, role, shorthand });
    }

    fn member(&mut self, name: &Name, owner: TypeOwner, role: OccurrenceRole, shorthand: Option<Shorthand>) {
        let symbol = Symbol::Member(MemberSymbol { owner, name: name.text.clone() });
        self.found.push(Occurrence { span: name.span, symbol, role, shorthand });
    }

    /// The type that a binding stands for.
    fn owner(&self, id: BindingId) -> Option<TypeOwner> {
        owner_of(self.names, id)
    }

    /// The type that the name of a struct, enum or interface stands for.
    fn owner_named(&self, name: NodeId) -> Option<TypeOwner> {
        match self.names.used(name)? {
            Target::Binding(id) => self.owner(id),
            Target::Builtin(_) => None,
        }
    }

    /// Reads the keys of a struct literal or pattern.
    fn struct_key(&mut self, owner: Option<&TypeOwner>, key: &Name, value: Span) {
        if let Some(owner) = owner {
            let shorthand = (key.span == value).then_some(Shorthand::Key);
            self.member(key, owner.clone(), OccurrenceRole::Read, shorthand);
        }
    }

    /// `object.name`
    fn field(&mut self, object: &Expr, name: &Name) {
        if let Some(row) = self.names.namespaced.get(&name.id) {
            if let ExprKind::Name(namespace) = &object.kind {
                self.add(object.span, Symbol::Namespace(namespace.clone()), OccurrenceRole::Read);
            }
            return self.add(name.span, Symbol::builtin(row), OccurrenceRole::Read);
        }
        if let Some(id) = self.names.members.get(&name.id) {
            if let Some(owner) = self.owner(*id) {
                self.member(name, owner, OccurrenceRole::Read, None);
            }
            return;
        }
        let types = self.types.expression(object.id);
        let declared = types.into_iter().flat_map(TypeView::alternatives).find_map(TypeView::declared);
        if let Some(id) = declared.or_else(|| self.named.get(object))
            && self.names.binding(id).def.as_ref().is_some_and(|def| has_member(&def.resolved(), &name.text))
            && let Some(owner) = self.owner(id)
        {
            return self.member(name, owner, OccurrenceRole::Read, None);
        }
        let rows = types.into_iter().flat_map(TypeView::alternatives).filter_map(TypeView::methods);
        if let Some(row) = rows.filter_map(|module| self.registry.find(module, &name.text)).next() {
            self.add(name.span, Symbol::builtin(row), OccurrenceRole::Read);
        }
    }
}

/// Returns the place of the type that a binding stands for.
pub(super) fn owner_of(names: &Resolution, id: BindingId) -> Option<TypeOwner> {
    let binding = names.binding(id);
    let def = binding.def.as_ref()?.resolved();
    let site = def.site();
    Some(TypeOwner {
        file: site.map(|site| site.source.name().to_owned()).unwrap_or_default(),
        name: def.name().clone(),
        local: site.filter(|_| !binding.top).map(|site| site.span.start),
    })
}

fn has_member(def: &TypeDecl, name: &str) -> bool {
    let own = match def {
        TypeDecl::Struct(def) => def.position(name).is_some(),
        TypeDecl::Enum(def) => def.position(name).is_some(),
        TypeDecl::Interface(def) => def.methods.iter().any(|method| method.name == name),
        TypeDecl::Alias(_) => false,
    };
    own || def.methods().is_some_and(|methods| methods.get(name).is_some())
}

impl<'a> Visit<'a> for OccurrenceVisit<'_> {
    fn stmt(&mut self, stmt: &'a Stmt) {
        if let StmtKind::Assign { target, .. } = &stmt.kind {
            self.written = Some(target.id);
        }
        walk_stmt(self, stmt);
    }

    fn item(&mut self, item: &'a Item) {
        let definition = OccurrenceRole::Definition;
        match &item.kind {
            ItemKind::Fn(decl) | ItemKind::Tool { decl, .. } => self.define(decl.name.at()),
            ItemKind::Pipeline { decl, extends } => {
                self.define(decl.name.at());
                if let Some(base) = extends
                    && let Some(id) = self.names.bases.get(&base.id).and_then(|id| self.names.made(*id))
                {
                    self.add(base.span, Symbol::Binding(id), OccurrenceRole::Read);
                }
            }
            ItemKind::Override(decl) => {
                if let Some(id) = self.names.overrides.get(&decl.name.id) {
                    self.add(decl.name.span, Symbol::Binding(*id), definition);
                }
            }
            ItemKind::Test(_) => {}
            ItemKind::Struct { name, fields, .. } => {
                self.define(name.at());
                let owner = self.names.made(name.id).and_then(|id| self.owner(id));
                for (field, owner) in fields.iter().zip(std::iter::repeat(owner)) {
                    owner.into_iter().for_each(|owner| self.member(&field.name, owner, definition, None));
                }
            }
            ItemKind::Enum { name, variants, .. } => {
                self.define(name.at());
                let owner = self.names.made(name.id).and_then(|id| self.owner(id));
                for (variant, owner) in variants.iter().zip(std::iter::repeat(owner)) {
                    owner.into_iter().for_each(|owner| self.member(&variant.name, owner, definition, None));
                }
            }
            ItemKind::Interface { name, methods, .. } => {
                self.define(name.at());
                let owner = self.names.made(name.id).and_then(|id| self.owner(id));
                for (method, owner) in methods.iter().zip(std::iter::repeat(owner)) {
                    owner.into_iter().for_each(|owner| self.member(&method.name, owner, definition, None));
                }
            }
            ItemKind::Impl { target, interface, methods } => {
                self.used(target.at());
                interface.iter().for_each(|interface| self.used(interface.at()));
                let owner = self.owner_named(target.id);
                for (method, owner) in methods.iter().zip(std::iter::repeat(owner)) {
                    if let (ItemKind::Fn(decl), Some(owner)) = (&method.kind, owner) {
                        self.member(&decl.name, owner, definition, None);
                    }
                }
            }
            ItemKind::TypeAlias { name, .. } => self.define(name.at()),
            ItemKind::Import { names, path } => {
                self.add(path.span, Symbol::Path(path.text.clone()), OccurrenceRole::Read);
                for (name, alias) in names.iter().flatten() {
                    if let Some(alias) = alias {
                        if let Some(id) = self.names.made(alias.id) {
                            self.add(name.span, Symbol::Binding(id), OccurrenceRole::Import);
                        }
                        self.define(alias.at());
                    } else {
                        self.define(name.at());
                    }
                }
            }
        }
        walk_item(self, item);
    }

    fn expr(&mut self, e: &'a Expr) {
        match &e.kind {
            ExprKind::Name(_) => self.used(e.at()),
            ExprKind::Field { object, name, .. } => {
                self.field(object, name);
                if self.names.namespaced.contains_key(&name.id) {
                    return;
                }
            }
            ExprKind::Struct { name, items } => {
                self.used(name.at());
                let owner = self.owner_named(name.id);
                for item in items {
                    if let DictItem::Entry { key, value } = item {
                        self.struct_key(owner.as_ref(), key, value.span);
                    }
                }
                self.short_entries(items);
            }
            ExprKind::Dict(items) => self.short_entries(items),
            ExprKind::TryBlock(block) => {
                if let Some(name) = block.catch.as_ref().and_then(|catch| catch.name.as_ref()) {
                    self.define(name.at());
                }
            }
            ExprKind::Select(arms) => {
                for arm in arms {
                    if let SelectArm::Receive { name, .. } = arm {
                        self.define(name.at());
                    }
                }
            }
            _ => {}
        }
        walk_expr(self, e);
    }

    fn pattern(&mut self, pattern: &'a Pattern) {
        match &pattern.kind {
            PatternKind::Bind(_) => self.define(pattern.at()),
            PatternKind::Dict { name, fields, rest } => {
                let owner = name.as_ref().and_then(|name| {
                    self.used(name.at());
                    self.owner_named(name.id)
                });
                for field in fields {
                    self.struct_key(owner.as_ref(), &field.key, field.pattern.span);
                    if field.key.span == field.pattern.span {
                        self.shorthands.insert(field.pattern.id);
                    }
                }
                rest.iter().flatten().for_each(|name| self.define(name.at()));
            }
            PatternKind::List { rest, .. } => rest.iter().flatten().for_each(|name| self.define(name.at())),
            PatternKind::Variant { enum_name: Some(name), variant, .. } => {
                self.used(name.at());
                if let Some(owner) = self.owner_named(name.id) {
                    self.member(variant, owner, OccurrenceRole::Read, None);
                }
            }
            _ => {}
        }
        walk_pattern(self, pattern);
    }

    fn ty(&mut self, ty: &'a TypeExpr) {
        let mut found = Vec::new();
        ty.each_name(&mut |_, at| found.push(at));
        found.into_iter().for_each(|at| self.used(at));
    }
}

impl OccurrenceVisit<'_> {
    fn short_entries(&mut self, items: &[DictItem]) {
        for item in items {
            if let DictItem::Entry { key, value } = item
                && key.span == value.span
            {
                self.shorthands.insert(value.id);
            }
        }
    }
}
