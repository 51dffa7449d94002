//! Declared types: what a `struct`, `enum`, `interface`, `type` or `impl` tells those who use it.

use super::messages::{self, describe};
use super::resolver::Resolver;
use super::scope::Target;
use super::{BindingId, BindingKind};
use crate::ast::*;
use crate::builtin_type::{BUILTIN_TYPES, builtin_type};
use crate::declaration::{
    AliasDecl, Constant, DefaultDecl, EnumDecl, FieldDecl, InterfaceDecl, MethodDecl, Methods, Named, Signature, Site,
    StructDecl, TypeDecl, TypeScope, VariantDecl,
};
use crate::diagnostic::fix::closing_bracket;
use crate::foreign;
use crate::source::Span;
use smol_str::SmolStr;
use std::cell::RefCell;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::rc::Rc;

impl Resolver<'_> {
    /// Binds the name of a type, and what it stands for.
    pub(super) fn declare_type(&mut self, item: &Item) {
        let Some((name, def)) = self.type_def(item) else { return };
        self.bind(&name.text, name.at(), BindingKind::Type);
        if let Some(id) = self.out.made(name.id) {
            self.out.bindings[id as usize].def = Some(def);
            if let ItemKind::Struct { generics, .. } | ItemKind::Enum { generics, .. } = &item.kind {
                self.type_generics.insert(id, generics.iter().map(|g| g.text.clone()).collect());
            }
        }
    }

    fn type_def<'i>(&mut self, item: &'i Item) -> Option<(&'i Name, TypeDecl)> {
        let site = |name: &Name| Site { source: self.source.clone(), span: name.span };
        Some(match &item.kind {
            ItemKind::Struct { name, fields, generics } => {
                let site = site(name);
                let scope = TypeScope::new(generics.iter().map(|g| g.text.clone()).collect());
                self.distinct(fields.iter().map(|f| (&f.name, Some(end_of_field(f)))), "field");
                let fields = fields.iter().map(field).collect();
                let def = StructDecl { name: name.text.clone(), site, fields, scope, methods: Methods::default() };
                (name, TypeDecl::Struct(Rc::new(def)))
            }
            ItemKind::Enum { name, variants, generics } => {
                let scope = TypeScope::new(generics.iter().map(|g| g.text.clone()).collect());
                let tag = item.attribute(TAG).and_then(Attribute::text).map(SmolStr::new);
                let site = Some(site(name));
                self.distinct(variants.iter().map(|v| (&v.name, end_of_variant(self.source.text(), v))), "variant");
                let variants = variants.iter().map(variant).collect();
                let methods = Methods::default();
                let def = EnumDecl { name: name.text.clone(), site, variants, tag, scope, methods };
                (name, TypeDecl::Enum(Rc::new(def)))
            }
            ItemKind::Interface { name, methods, .. } => {
                let site = site(name);
                self.distinct(methods.iter().map(|m| (&m.name, None)), "method");
                let methods = methods.iter().map(signature).collect();
                (name, TypeDecl::Interface(Rc::new(InterfaceDecl { name: name.text.clone(), site, methods })))
            }
            ItemKind::TypeAlias { name, generics, ty } => {
                let alias = AliasDecl {
                    name: name.text.clone(),
                    site: site(name),
                    generics: generics.iter().map(|g| g.text.clone()).collect(),
                    ty: ty.clone(),
                    names: RefCell::default(),
                };
                (name, TypeDecl::Alias(Rc::new(alias)))
            }
            _ => return None,
        })
    }

    /// Says which names of one declaration are there twice. Those with an end can be removed.
    fn distinct<'n>(&mut self, names: impl Iterator<Item = (&'n Name, Option<u32>)>, what: &str) {
        let mut seen: HashMap<&str, Span> = HashMap::new();
        for (name, end) in names {
            match seen.entry(&name.text) {
                Entry::Occupied(first) => self.twice(name, *first.get(), what, end),
                Entry::Vacant(new) => {
                    new.insert(name.span);
                }
            }
        }
    }

    fn twice(&mut self, name: &Name, first: Span, what: &str, end: Option<u32>) {
        self.found.push(messages::duplicate_member(self.source, name, first, what, end));
    }

    /// Checks the relations between the types of a block, once all of them are known.
    pub(super) fn link_types(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            let StmtKind::Item(item) = &stmt.kind else { continue };
            match &item.kind {
                ItemKind::Impl { target, interface, methods } => self.implement(target, interface.as_ref(), methods),
                ItemKind::TypeAlias { name, generics, ty } => {
                    let made = self.out.made(name.id).and_then(|id| self.out.binding(id).def.clone());
                    if let Some(TypeDecl::Alias(alias)) = made {
                        self.alias_names(ty, generics, &alias);
                    }
                }
                ItemKind::Struct { name, fields, .. } => {
                    if let Some(TypeDecl::Struct(decl)) = self.declared_by(name) {
                        self.scope_names(fields.iter().filter_map(|f| f.ty.as_ref()), &decl.scope);
                    }
                }
                ItemKind::Enum { name, variants, .. } => {
                    if let Some(TypeDecl::Enum(decl)) = self.declared_by(name) {
                        self.scope_names(variants.iter().flat_map(|v| &v.fields), &decl.scope);
                    }
                }
                _ => {}
            }
        }
    }

    fn declared_by(&self, name: &Name) -> Option<TypeDecl> {
        self.out.made(name.id).and_then(|id| self.out.binding(id).def.clone())
    }

    /// Writes down what the names in the types of a struct or enum stand for, for those who know it from another file.
    fn scope_names<'t>(&self, types: impl Iterator<Item = &'t TypeExpr>, scope: &TypeScope) {
        for ty in types {
            ty.each_name(&mut |name, _| {
                if scope.generics.iter().any(|g| g == name) || scope.named(name).is_some() {
                    return;
                }
                if let Some(decl) = self.lookup(name).and_then(|(id, _)| self.out.binding(id).def.as_ref()) {
                    scope.add(name.clone(), decl);
                }
            });
        }
    }

    fn alias_names(&mut self, ty: &TypeExpr, generics: &[Name], alias: &AliasDecl) {
        ty.each_name(&mut |name, _| {
            if generics.iter().any(|g| g.text == *name) {
                return;
            }
            let found = self.lookup(name).and_then(|(id, _)| self.out.binding(id).def.clone());
            let named = match found {
                Some(TypeDecl::Alias(other)) => Named::Alias(Rc::downgrade(&other)),
                Some(def) => Named::Type(def),
                None => return,
            };
            alias.names.borrow_mut().push((name.clone(), named));
        });
    }

    fn implement(&mut self, target: &Name, interface: Option<&Name>, functions: &[Item]) {
        if let Some(interface) = interface {
            self.read_type(interface, "an interface", |def| matches!(def, TypeDecl::Interface(_)));
        }
        let fits = |def: &TypeDecl| def.methods().is_some();
        let Some(def) = self.read_type(target, "a struct or an enum", fits).map(|def| def.resolved()) else { return };
        for item in functions {
            if let ItemKind::Fn(decl) = &item.kind {
                self.add_method(&def, decl);
            }
        }
    }

    fn add_method(&mut self, def: &TypeDecl, decl: &FnDecl) {
        let name = &decl.name;
        let member = match def {
            TypeDecl::Struct(d) => d.position(&name.text).and_then(|i| d.fields.get(i)).map(|f| (f.span, "a field")),
            TypeDecl::Enum(d) => d.position(&name.text).and_then(|i| d.variants.get(i)).map(|v| (v.span, "a variant")),
            _ => None,
        };
        if let (Some((span, what)), Some(site)) = (member, def.site()) {
            let first = Site { source: site.source.clone(), span };
            self.found.push(messages::member_taken(self.source, name, def.name(), what, &first));
            return;
        }
        let Some(methods) = def.methods() else { return };
        // A later piece of a session may say it anew.
        if let Some(first) = methods.get(&name.text)
            && std::sync::Arc::ptr_eq(&first.source, self.source)
        {
            return self.twice(name, first.signature.span, "function", None);
        }
        methods.add(Rc::new(MethodDecl { signature: signature(decl), source: self.source.clone() }));
    }

    /// The type that a name stands for where only a type can stand; says so where it does not.
    pub(super) fn read_type(
        &mut self,
        name: &Name,
        wanted: &str,
        fits: impl FnOnce(&TypeDecl) -> bool,
    ) -> Option<TypeDecl> {
        let Some((id, _)) = self.lookup(&name.text) else {
            if name.text == "Result" {
                return Some(TypeDecl::Enum(EnumDecl::result())).filter(fits);
            }
            self.undefined(&name.text, name.span);
            return None;
        };
        self.clear(id, &name.text, name.span);
        let binding = &mut self.out.bindings[id as usize];
        binding.read = true;
        let (kind, bound) = (binding.kind, binding.span);
        // Nothing is known of a name whose file is missing.
        if binding.kind == BindingKind::Import && binding.def.is_none() {
            return None;
        }
        let found = binding.def.clone();
        self.out.set_used(name.id, Target::Binding(id));
        if let Some(def) = &found
            && fits(&def.resolved())
        {
            return found;
        }
        let is = found.as_ref().map_or_else(|| describe(kind), |def| def.resolved().sort());
        let first = found.as_ref().and_then(|def| def.site().cloned());
        let first = first.unwrap_or_else(|| Site { source: self.source.clone(), span: bound });
        self.found.push(messages::not_a_type(self.source, name, is, wanted, &first));
        None
    }

    /// The names in a written type: what is no type there is a mistake.
    pub(super) fn type_names(&mut self, ty: &TypeExpr) {
        self.names_in(ty, true);
    }

    /// Resolves the names of a type in which a name may be that of a type that only the runtime knows.
    pub(super) fn some_type_names(&mut self, ty: &TypeExpr) {
        self.names_in(ty, false);
    }

    fn names_in(&mut self, ty: &TypeExpr, certain: bool) {
        ty.each_name(&mut |name, at| {
            if !self.generics.contains(name) {
                self.type_name(name, at, certain);
            }
        });
    }

    fn type_name(&mut self, name: &SmolStr, at: NodeAt, certain: bool) {
        let span = at.span;
        if let Some((id, _)) = self.lookup(name) {
            let kind = self.out.binding(id).kind;
            if matches!(kind, BindingKind::Type | BindingKind::Import | BindingKind::Outer) {
                self.clear(id, name, span);
                self.out.bindings[id as usize].read = true;
                self.out.set_used(at.id, Target::Binding(id));
                return;
            }
        }
        if certain
            && builtin_type(name).is_none()
            && self.registry.table(name).is_none()
            && !self.registry.types().contains(&name.as_str())
            && !self.out.blind
        {
            self.no_type(name, span);
        }
    }

    fn no_type(&mut self, name: &SmolStr, span: Span) {
        // What is missing in ten places is one mistake.
        if !self.undefined.insert(name.clone()) {
            return;
        }
        let is_type = |id: &u32| matches!(self.out.binding(*id).kind, BindingKind::Type | BindingKind::Import);
        let bound = self.scopes.iter().flat_map(|s| s.names.iter());
        let bound = bound.filter(|(_, id)| is_type(id)).map(|(name, _)| name.as_str());
        let near = foreign::type_name(name).or_else(|| {
            self.nearest(
                name,
                bound.chain(BUILTIN_TYPES.iter().map(|row| row.name)).chain(self.registry.types().iter().copied()),
            )
        });
        self.found.push(messages::unknown_type(self.source, name, span, near));
    }

    /// Resolves `Type.member`, where the name before the dot is that of a type.
    pub(super) fn type_member(&mut self, (id, name): (BindingId, &SmolStr), object: &Expr, member: &Name) {
        self.clear(id, name, object.span);
        self.out.bindings[id as usize].read = true;
        self.out.set_used(object.id, Target::Binding(id));
        self.out.members.insert(member.id, id);
    }

    /// A type stands where a value should.
    pub(super) fn no_value(&mut self, name: &SmolStr, span: Span, def: &TypeDecl) {
        self.found.push(messages::type_as_value(self.source, name, span, def));
    }

    /// A body that is compiled on its own: it sees the top of the file, and nothing of the blocks around it.
    pub(super) fn apart(&mut self, body: impl FnOnce(&mut Self)) {
        self.barriers.push(self.scopes.len());
        body(self);
        self.barriers.pop();
    }

    /// A function of a type uses something of the block that the type stands in.
    pub(super) fn cannot_reach(&mut self, name: &str, id: BindingId, span: Span) {
        let first = self.out.binding(id).span;
        self.found.push(messages::cannot_reach(self.source, name, span, first));
    }
}

fn end_of_field(field: &Field) -> u32 {
    let default = field.default.as_ref().map(|e| e.span.end);
    default.or(field.ty.as_ref().map(|ty| ty.span.end)).unwrap_or(field.name.span.end)
}

fn end_of_variant(text: &str, variant: &Variant) -> Option<u32> {
    let values = variant.name.span.end;
    match text.get(variant.name.span.range().end..)?.starts_with('(') {
        true => closing_bracket(text, values).map(|close| close.end),
        false => Some(values),
    }
}

fn field(field: &Field) -> FieldDecl {
    let default = match &field.default {
        None => DefaultDecl::None,
        Some(e) => constant(e).map_or(DefaultDecl::Computed, DefaultDecl::Constant),
    };
    let in_data = name_in_data(&field.attributes).map(SmolStr::new);
    FieldDecl { name: field.name.text.clone(), in_data, span: field.name.span, ty: field.ty.clone(), default }
}

/// The value of an expression that is always the same.
pub(crate) fn constant(e: &Expr) -> Option<Constant> {
    Some(match &e.kind {
        ExprKind::Nil => Constant::Nil,
        ExprKind::Bool(b) => Constant::Bool(*b),
        ExprKind::Int(i) => Constant::Int(*i),
        ExprKind::Float(f) => Constant::Float(*f),
        ExprKind::Str(parts) => match parts.as_slice() {
            [] => Constant::Str(SmolStr::default()),
            [StrPart::Text(text)] => Constant::Str(text.into()),
            _ => return None,
        },
        ExprKind::List(items) if items.is_empty() => Constant::EmptyList,
        ExprKind::Dict(items) if items.is_empty() => Constant::EmptyDict,
        _ => return None,
    })
}

fn variant(variant: &Variant) -> VariantDecl {
    VariantDecl {
        name: variant.name.text.clone(),
        in_data: name_in_data(&variant.attributes).map(SmolStr::new),
        span: variant.name.span,
        arity: variant.fields.len(),
        types: variant.fields.clone().into(),
    }
}

/// The head of a function as its callers see it.
pub(super) fn signature(decl: &FnDecl) -> Signature {
    let takes_self = decl.takes_self();
    let params = &decl.params[usize::from(takes_self)..];
    let positional = params.iter().filter(|p| !p.rest).count();
    Signature {
        name: decl.name.text.clone(),
        span: decl.name.span,
        takes_self,
        min: params.iter().take_while(|p| !p.rest && p.default.is_none()).count(),
        max: params.iter().all(|p| !p.rest).then_some(positional),
        params: params.iter().map(|p| p.ty.as_deref().cloned()).collect(),
        returns: decl.returns.clone(),
    }
}
