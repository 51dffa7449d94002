//! The types of functions across files, for tools that answer questions about a position.
//!
//! The check of a file knows only the number of the arguments of an imported function. [`exported_types`] reads the heads of the
//! functions that a file exports; [`ImportedTypes`] are those in another file, in terms of its own bindings.

use super::items::Declared;
use super::types::{FnType, NamedKind, NamedType, Nominal, Shape, ShapeKey, Type, join};
use crate::ast::{ItemKind, Module};
use crate::declaration::{BindingKind, Registry, Site, TypeDecl};
use crate::hash::KeyedMap;
use crate::module::{Export, Exports, FileId, Origin};
use crate::resolve::{Binding, BindingId, Resolution};
use crate::source::Span;
use smol_str::SmolStr;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::sync::Arc;

/// The types of the functions that a file exports, in terms of its bindings.
#[derive(Default)]
pub struct ExportedTypes {
    functions: HashMap<Origin, Type>,
    /// The declared types that they name, directly or by the fields of others.
    declared: BTreeMap<BindingId, DeclaredType>,
}

/// A declared type as other files see it.
struct DeclaredType {
    decl: TypeDecl,
    /// The fields of a struct.
    fields: Option<Rc<Shape>>,
}

/// The types of the functions that a file imports, in terms of its bindings.
#[derive(Default)]
pub struct ImportedTypes {
    pub(super) functions: Vec<(BindingId, Type)>,
    pub(super) structs: KeyedMap<BindingId, Rc<Shape>>,
}

/// Returns the types of the functions that a resolved module, the file `file`, exports. `imported` are those that it can pass on.
#[must_use]
pub fn exported_types(
    file: FileId,
    module: &Module,
    names: &Resolution,
    registry: Registry,
    exports: &Exports,
    imported: &ImportedTypes,
) -> ExportedTypes {
    let mut world = Declared::of_editor(names, registry, imported);
    world.items.declare(&module.body, names);
    let mut found = ExportedTypes::default();
    let passed_on: HashMap<Origin, &Type> = imported
        .functions
        .iter()
        .filter_map(|(id, ty)| Some((names.bindings.get(*id as usize)?.origin?, ty)))
        .collect();
    let own = |export: &Export| (export.origin.file == file).then_some(export.origin.binding);
    for export in exports.names.values() {
        let ty = match passed_on.get(&export.origin) {
            Some(ty) => (*ty).clone(),
            None => match own(export).and_then(|id| world.items.get(id)).map(|item| &item.kind) {
                Some(ItemKind::Fn(decl) | ItemKind::Tool { decl, .. }) => Type::Fn(world.function_type(decl)),
                _ => continue,
            },
        };
        // Without a type of its result, nothing is known of what a call returns.
        if matches!(&ty, Type::Fn(f) if f.returns != Type::Any) {
            found.functions.insert(export.origin, ty);
        }
    }
    let types = exports.names.values().filter_map(own).filter_map(|id| declared_type(&world, id));
    let mut named: Vec<Rc<NamedType>> = types.collect();
    found.functions.values().for_each(|ty| names_of(ty, &mut named));
    while let Some(of) = named.pop() {
        if found.declared.contains_key(&of.id) {
            continue;
        }
        let decl = names.bindings.get(of.id as usize).and_then(|binding| binding.def.as_ref());
        let Some(decl) = decl.map(TypeDecl::resolved) else { continue };
        let fields = if of.kind == NamedKind::Struct { world.fields(&of) } else { None };
        fields.iter().flat_map(|shape| &shape.fields).for_each(|field| names_of(&field.ty, &mut named));
        found.declared.insert(of.id, DeclaredType { decl, fields });
    }
    found
}

/// Returns the struct, enum or interface with a binding of the file.
fn declared_type(world: &Declared<'_>, id: BindingId) -> Option<Rc<NamedType>> {
    let (kind, name) = match &world.items.get(id)?.kind {
        ItemKind::Struct { name, .. } => (NamedKind::Struct, name),
        ItemKind::Enum { name, .. } => (NamedKind::Enum, name),
        ItemKind::Interface { name, .. } => (NamedKind::Interface, name),
        _ => return None,
    };
    Some(Rc::new(NamedType { id, kind, name: name.text.clone(), args: Vec::new() }))
}

impl ExportedTypes {
    /// Returns whether the functions have the same heads. Types that they name are the same if the text of the file is.
    #[must_use]
    pub fn same_heads(&self, other: &Self) -> bool {
        self.functions.len() == other.functions.len()
            && self.functions.iter().all(|(origin, ty)| {
                other.functions.get(origin).is_some_and(|other| ty.to_string() == other.to_string())
            })
    }

    /// Returns whether a function names a declared type.
    #[must_use]
    pub fn names_types(&self) -> bool {
        !self.declared.is_empty()
    }
}

impl ImportedTypes {
    /// Returns the types of the functions that a file imports from others. `names` gets bindings, which no name means, for types that
    /// the file does not import.
    #[must_use]
    pub fn of<'e>(names: &mut Resolution, from: impl IntoIterator<Item = &'e ExportedTypes>) -> Self {
        let mut found = Self::default();
        let bindings = || (0..).zip(&names.bindings);
        let origins: Vec<_> = bindings().filter_map(|(id, binding)| Some((id, binding.origin?))).collect();
        if origins.is_empty() {
            return found;
        }
        let sites = bindings().filter_map(|(id, binding)| {
            let def = binding.def.as_ref()?.resolved();
            Some((id, def.site()?.clone()))
        });
        let mut sites: Vec<(BindingId, Site)> = sites.collect();
        for exported in from {
            let known = HashMap::new();
            let mut transfer =
                Transfer { from: exported, names: &mut *names, sites: &mut sites, known, found: &mut found };
            for (id, origin) in &origins {
                if let Some(ty) = exported.functions.get(origin) {
                    let ty = transfer.ty(ty);
                    transfer.found.functions.push((*id, ty));
                }
            }
            for (id, of) in &exported.declared {
                if transfer.known_as(&of.decl).is_some() {
                    transfer.declared(*id);
                }
            }
        }
        found
    }
}

/// Converts the types of a file to those of another one, which imports from it.
struct Transfer<'t> {
    from: &'t ExportedTypes,
    /// The names of the importing file.
    names: &'t mut Resolution,
    /// Its bindings of types.
    sites: &'t mut Vec<(BindingId, Site)>,
    /// The bindings of the importing file by those of the other one.
    known: HashMap<BindingId, Option<BindingId>>,
    found: &'t mut ImportedTypes,
}

impl Transfer<'_> {
    fn ty(&mut self, ty: &Type) -> Type {
        match ty {
            Type::List(of) => Type::list(self.ty(of)),
            Type::Set(of) => Type::set(self.ty(of)),
            Type::Handle(kind, of) => Type::handle(*kind, self.ty(of)),
            Type::Dict(of) => Type::dict(self.ty(of)),
            Type::Pair(both) => Type::Pair(Rc::new((self.ty(&both.0), self.ty(&both.1)))),
            Type::Result(both) => Type::Result(Rc::new((self.ty(&both.0), self.ty(&both.1)))),
            Type::Fn(f) => Type::Fn(Rc::new(FnType {
                params: f.params.iter().map(|param| self.ty(param)).collect(),
                returns: self.ty(&f.returns),
                ..**f
            })),
            Type::Shape(shape) => Type::Shape(Rc::new(self.shape(shape))),
            Type::Union(members) => members.iter().map(|member| self.ty(member)).fold(Type::Never, join),
            Type::Named(of) => match self.declared(of.id) {
                Some(id) => {
                    let args = of.args.iter().map(|arg| self.ty(arg)).collect();
                    Type::Named(Rc::new(NamedType { id, args, ..(**of).clone() }))
                }
                None => Type::Any,
            },
            other => other.clone(),
        }
    }

    fn shape(&mut self, shape: &Shape) -> Shape {
        let fields = shape.fields.iter().map(|field| ShapeKey { ty: self.ty(&field.ty), ..field.clone() });
        Shape { fields: fields.collect(), ..*shape }
    }

    /// Returns the binding of the importing file for a declared type.
    fn declared(&mut self, id: BindingId) -> Option<BindingId> {
        if let Some(known) = self.known.get(&id) {
            return *known;
        }
        let of = self.from.declared.get(&id)?;
        let own = self.known_as(&of.decl).or_else(|| self.add(&of.decl));
        // A struct can name itself, so it is known before its fields are.
        self.known.insert(id, own);
        let own = own?;
        if let Some(fields) = of.fields.as_ref().filter(|_| !self.found.structs.contains_key(&own)) {
            let fields = Rc::new(self.shape(fields));
            self.found.structs.insert(own, fields);
        }
        Some(own)
    }

    /// Returns the binding of a declared type, if the importing file has one.
    fn known_as(&self, decl: &TypeDecl) -> Option<BindingId> {
        let site = decl.site()?;
        let is_same = |other: &Site| Arc::ptr_eq(&site.source, &other.source) && site.span == other.span;
        self.sites.iter().find(|(_, other)| is_same(other)).map(|(id, _)| *id)
    }

    /// Adds a binding for a declared type.
    fn add(&mut self, decl: &TypeDecl) -> Option<BindingId> {
        let id = BindingId::try_from(self.names.bindings.len()).ok()?;
        self.sites.push((id, decl.site()?.clone()));
        self.names.bindings.push(Binding {
            // No name means it.
            name: SmolStr::default(),
            span: Span::default(),
            kind: BindingKind::Type,
            top: true,
            global: false,
            slot: None,
            public: false,
            origin: None,
            builtin: None,
            takes: None,
            captured: false,
            assigned: false,
            early: false,
            read: true,
            def: Some(decl.clone()),
            function: 0,
        });
        Some(id)
    }
}

/// Collects the declared types in a type.
fn names_of(ty: &Type, found: &mut Vec<Rc<NamedType>>) {
    match ty {
        Type::List(of) | Type::Set(of) | Type::Dict(of) | Type::Handle(_, of) => names_of(of, found),
        Type::Pair(both) | Type::Result(both) => {
            names_of(&both.0, found);
            names_of(&both.1, found);
        }
        Type::Fn(f) => {
            f.params.iter().for_each(|param| names_of(param, found));
            names_of(&f.returns, found);
        }
        Type::Shape(shape) => shape.fields.iter().for_each(|field| names_of(&field.ty, found)),
        Type::Named(of) => {
            found.push(of.clone());
            of.args.iter().for_each(|arg| names_of(arg, found));
        }
        Type::Union(members) => members.iter().for_each(|member| names_of(member, found)),
        _ => {}
    }
}
