//! Declared types: what a `struct`, `enum`, `interface`, `type` or `impl` tells those who use it.

use super::codes;
use super::names::describe;
use super::scope::{BindingId, BindingKind, Target};
use super::walk::Walk;
use crate::ast::*;
use crate::check;
use crate::diagnostic::Diagnostic;
use crate::foreign;
use crate::source::Span;
use crate::value::{
    AliasDef, EnumDef, FieldDef, FieldDefault, InterfaceDef, Method, Methods, Named, Signature, Site, Str, StructDef,
    TypeDef, Value, VariantDef,
};
use smol_str::SmolStr;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::rc::Rc;

impl Walk<'_> {
    /// Binds the name of a type, and what it stands for.
    pub(super) fn declare_type(&mut self, item: &Item) {
        let Some((name, def)) = self.type_def(item) else { return };
        self.bind(&name.text, name.span, BindingKind::Type);
        if let Some(id) = self.out.made_at(name.span) {
            self.out.bindings[id as usize].def = Some(def);
            if let ItemKind::Struct { generics, .. } | ItemKind::Enum { generics, .. } = &item.kind {
                self.type_generics.insert(id, generics.iter().map(|g| g.text.clone()).collect());
            }
        }
    }

    fn type_def<'i>(&mut self, item: &'i Item) -> Option<(&'i Name, TypeDef)> {
        let site = |name: &Name| Site { source: self.source.clone(), span: name.span };
        Some(match &item.kind {
            ItemKind::Struct { name, fields, .. } => {
                let site = site(name);
                self.distinct(fields.iter().map(|f| &f.name), "field");
                let fields = fields.iter().map(field).collect();
                let def = StructDef { name: Str::new(&name.text), site, fields, methods: Methods::default() };
                (name, TypeDef::Struct(Rc::new(def)))
            }
            ItemKind::Enum { name, variants, .. } => {
                let site = Some(site(name));
                self.distinct(variants.iter().map(|v| &v.name), "variant");
                let variants = variants.iter().map(variant).collect();
                let def = EnumDef { name: Str::new(&name.text), site, variants, methods: Methods::default() };
                (name, TypeDef::Enum(Rc::new(def)))
            }
            ItemKind::Interface { name, methods, .. } => {
                let site = site(name);
                self.distinct(methods.iter().map(|m| &m.name), "method");
                let methods = methods.iter().map(signature).collect();
                (name, TypeDef::Interface(Rc::new(InterfaceDef { name: Str::new(&name.text), site, methods })))
            }
            ItemKind::TypeAlias { name, generics, ty } => {
                let alias = AliasDef {
                    name: Str::new(&name.text),
                    site: site(name),
                    generics: generics.iter().map(|g| g.text.clone()).collect(),
                    ty: ty.clone(),
                    names: RefCell::default(),
                };
                (name, TypeDef::Alias(Rc::new(alias)))
            }
            _ => return None,
        })
    }

    /// Says which names of one declaration are there twice.
    fn distinct<'n>(&mut self, names: impl Iterator<Item = &'n Name>, what: &str) {
        let mut seen: HashMap<&str, Span> = HashMap::new();
        for name in names {
            match seen.entry(&name.text) {
                Entry::Occupied(first) => self.twice(name, *first.get(), what),
                Entry::Vacant(new) => {
                    new.insert(name.span);
                }
            }
        }
    }

    fn twice(&mut self, name: &Name, first: Span, what: &str) {
        self.found.push(
            Diagnostic::error(codes::MEMBER_TWICE, format!("there are two {what}s `{}`", name.text))
                .label(self.source, name.span, "declared again here")
                .label(self.source, first, "first declared here")
                .help("choose another name for one of them"),
        );
    }

    /// What the types of a block say of one another, once all of them are known.
    pub(super) fn link_types(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            let StmtKind::Item(item) = &stmt.kind else { continue };
            match &item.kind {
                ItemKind::Impl { target, interface, methods } => self.implement(target, interface.as_ref(), methods),
                ItemKind::TypeAlias { name, generics, ty } => {
                    let made = self.out.made_at(name.span).and_then(|id| self.out.binding(id).def.clone());
                    if let Some(TypeDef::Alias(alias)) = made {
                        self.alias_names(ty, generics, &alias);
                    }
                }
                _ => {}
            }
        }
    }

    fn alias_names(&mut self, ty: &TypeExpr, generics: &[Name], alias: &AliasDef) {
        ty.each_name(&mut |name, _| {
            if generics.iter().any(|g| g.text == *name) {
                return;
            }
            let found = self.lookup(name).and_then(|(id, _)| self.out.binding(id).def.clone());
            let named = match found {
                Some(TypeDef::Alias(other)) => Named::Alias(Rc::downgrade(&other)),
                Some(def) => Named::Type(def),
                None => return,
            };
            alias.names.borrow_mut().push((name.clone(), named));
        });
    }

    fn implement(&mut self, target: &Name, interface: Option<&Name>, functions: &[Item]) {
        if let Some(interface) = interface {
            self.read_type(interface, "an interface", |def| matches!(def, TypeDef::Interface(_)));
        }
        let fits = |def: &TypeDef| def.methods().is_some();
        let Some(def) = self.read_type(target, "a struct or an enum", fits).map(|def| def.resolved()) else { return };
        for item in functions {
            if let ItemKind::Fn(decl) = &item.kind {
                self.add_method(&def, decl);
            }
        }
    }

    fn add_method(&mut self, def: &TypeDef, decl: &FnDecl) {
        let name = &decl.name;
        let member = match def {
            TypeDef::Struct(d) => d.position(&name.text).and_then(|i| d.fields.get(i)).map(|f| (f.span, "a field")),
            TypeDef::Enum(d) => d.position(&name.text).and_then(|i| d.variants.get(i)).map(|v| (v.span, "a variant")),
            _ => None,
        };
        if let (Some((span, what)), Some(site)) = (member, def.site()) {
            let message = format!("`{}` has {what} `{}` already", def.name(), name.text);
            self.found.push(
                Diagnostic::error(codes::MEMBER_TWICE, message)
                    .label(self.source, name.span, "declared again here")
                    .label(&site.source, span, "first declared here")
                    .help("choose another name for the function"),
            );
            return;
        }
        let Some(methods) = def.methods() else { return };
        let mut function = Cell::new(None);
        if let Some(first) = methods.get(&name.text) {
            if std::sync::Arc::ptr_eq(&first.source, self.source) {
                return self.twice(name, first.signature.span, "function");
            }
            // A later piece of a session says it anew.
            function = first.function.clone();
        }
        methods.add(Rc::new(Method { signature: signature(decl), source: self.source.clone(), function }));
    }

    /// The type that a name stands for where only a type can stand; says so where it does not.
    pub(super) fn read_type(
        &mut self,
        name: &Name,
        wanted: &str,
        fits: impl FnOnce(&TypeDef) -> bool,
    ) -> Option<TypeDef> {
        let Some((id, _)) = self.lookup(&name.text) else {
            if name.text == "Result" {
                return Some(TypeDef::Enum(Value::result_def())).filter(fits);
            }
            self.undefined(&name.text, name.span);
            return None;
        };
        self.clear(id, &name.text, name.span);
        let binding = &mut self.out.bindings[id as usize];
        binding.read = true;
        // Nothing is known of a name whose file is missing.
        if binding.kind == BindingKind::Import && binding.def.is_none() {
            return None;
        }
        self.out.uses.insert(name.span.start, Target::Binding(id));
        let found = binding.def.clone();
        if let Some(def) = &found
            && fits(&def.resolved())
        {
            return found;
        }
        let is = found.as_ref().map_or_else(|| describe(binding.kind), |def| def.resolved().sort());
        let first = found.as_ref().and_then(|def| def.site().cloned());
        let first = first.unwrap_or_else(|| Site { source: self.source.clone(), span: binding.span });
        let d = Diagnostic::error(codes::NOT_A_TYPE, format!("`{}` is {is}, not {wanted}", name.text))
            .label(self.source, name.span, format!("{wanted} is wanted here"))
            .label(&first.source, first.span, "declared here");
        self.found.push(d);
        None
    }

    /// The names in a written type: what is no type there is a mistake.
    pub(super) fn type_names(&mut self, ty: &TypeExpr) {
        self.names_in(ty, true);
    }

    /// The same where a name may be that of a type which only the runtime knows.
    pub(super) fn some_type_names(&mut self, ty: &TypeExpr) {
        self.names_in(ty, false);
    }

    fn names_in(&mut self, ty: &TypeExpr, certain: bool) {
        ty.each_name(&mut |name, span| {
            if !self.generics.contains(name) {
                self.type_name(name, span, certain);
            }
        });
    }

    fn type_name(&mut self, name: &SmolStr, span: Span, certain: bool) {
        if let Some((id, _)) = self.lookup(name) {
            let kind = self.out.binding(id).kind;
            if matches!(kind, BindingKind::Type | BindingKind::Import | BindingKind::Outer) {
                self.clear(id, name, span);
                self.out.bindings[id as usize].read = true;
                self.out.uses.insert(span.start, Target::Binding(id));
                return;
            }
        }
        if certain && !check::is_known_type(name) && self.registry.shape(name).is_none() && !self.out.blind {
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
        let d = Diagnostic::error(codes::NO_TYPE, format!("there is no type `{name}`")).label(
            self.source,
            span,
            "not found",
        );
        let near = foreign::type_name(name).or_else(|| self.nearest(name, bound.chain(check::known_types())));
        self.found.push(match near {
            Some(near) => d.help(format!("did you mean `{near}`?")).fix(span, near),
            None => d.help("declare it with `struct`, `enum`, `interface` or `type`, or import it"),
        });
    }

    /// `Type.member`: whether the name in front of the dot is that of a type.
    pub(super) fn type_member(&mut self, object: &Expr, member: &Name) -> bool {
        let ExprKind::Name(name) = &object.kind else { return false };
        let Some((id, _)) = self.lookup(name) else {
            // `Result` is there without a declaration.
            if name == "Result" {
                self.out.results.insert(member.span.start);
                return true;
            }
            return false;
        };
        if self.out.binding(id).kind != BindingKind::Type {
            return false;
        }
        self.clear(id, name, object.span);
        self.out.bindings[id as usize].read = true;
        self.out.uses.insert(object.span.start, Target::Binding(id));
        self.out.members.insert(member.span.start, id);
        true
    }

    /// A type stands where a value should.
    pub(super) fn no_value(&mut self, name: &SmolStr, span: Span, def: &TypeDef) {
        let help = match def.resolved() {
            TypeDef::Struct(d) if d.fields.is_empty() => format!("make one: `{name} {{}}`"),
            TypeDef::Struct(d) => {
                let fields: Vec<String> = d.names().map(|n| format!("{n}: …")).collect();
                format!("make one: `{name} {{{}}}`", fields.join(", "))
            }
            TypeDef::Enum(d) => {
                let first = d.variants.first().map_or("…", |v| v.name.as_str());
                format!("name a variant: `{name}.{first}`")
            }
            TypeDef::Interface(_) | TypeDef::Alias(_) => "a type stands in annotations, behind `:` and `->`".to_owned(),
        };
        let mut d = Diagnostic::error(codes::NOT_A_TYPE, format!("`{name}` is {}, not a value", def.sort())).label(
            self.source,
            span,
            "used as a value",
        );
        if let Some(site) = def.site() {
            d = d.label(&site.source, site.span, "declared here");
        }
        self.found.push(d.help(help));
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
        self.found.push(
            Diagnostic::error(
                codes::BEYOND,
                format!("a type's functions cannot use `{name}` of the block around the type"),
            )
            .label(self.source, span, "used here")
            .label(self.source, first, "bound in the block")
            .help("give it to the function as an argument, or keep it in a field"),
        );
    }
}

fn field(field: &Field) -> FieldDef {
    let default = match &field.default {
        None => FieldDefault::None,
        Some(e) => constant(e).map_or_else(|| FieldDefault::Computed(Cell::new(u32::MAX)), FieldDefault::Constant),
    };
    FieldDef { name: Str::new(&field.name.text), span: field.name.span, ty: field.ty.clone(), default }
}

/// The value of an expression that is always the same.
pub(crate) fn constant(e: &Expr) -> Option<Value> {
    Some(match &e.kind {
        ExprKind::Nil => Value::Nil,
        ExprKind::Bool(b) => Value::Bool(*b),
        ExprKind::Int(i) => Value::Int(*i),
        ExprKind::Float(f) => Value::Float(*f),
        ExprKind::Str(parts) => match parts.as_slice() {
            [] => Value::str(""),
            [StrPart::Text(text)] => Value::str(text),
            _ => return None,
        },
        ExprKind::List(items) if items.is_empty() => Value::list(Vec::new()),
        ExprKind::Dict(items) if items.is_empty() => Value::dict(crate::value::Dict::new()),
        _ => return None,
    })
}

fn variant(variant: &Variant) -> VariantDef {
    VariantDef {
        name: Str::new(&variant.name.text),
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
        name: Str::new(&decl.name.text),
        span: decl.name.span,
        takes_self,
        min: params.iter().take_while(|p| !p.rest && p.default.is_none()).count(),
        max: params.iter().all(|p| !p.rest).then_some(positional),
        params: params.iter().map(|p| p.ty.clone()).collect(),
        returns: decl.returns.clone(),
    }
}
