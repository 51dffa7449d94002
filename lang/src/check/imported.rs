//! Types across files: what a file exports, and what another one makes of it.
//!
//! [`ExportedTypes`] are in terms of the bindings of the file that declares them; [`ImportedTypes`] are the same in terms of the
//! bindings of the file that imports them.

use super::items::Declared;
use super::types::{FnType, NamedType, Shape, ShapeKey, Type, join};
use crate::ast::{FnDecl, ItemKind};
use crate::declaration::{BindingKind, Site, TypeDecl};
use crate::hash::{Keyed, KeyedMap};
use crate::module::{Export, Exports, FileId, Origin};
use crate::resolve::{Binding, BindingId, Resolution};
use crate::source::Span;
use smol_str::SmolStr;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

/// The types of the values that a file exports, in terms of its bindings.
#[derive(Default)]
pub struct ExportedTypes {
    values: KeyedMap<Origin, Type>,
    /// The tools among them: they are called like functions, and read like dicts.
    tools: HashSet<Origin>,
    /// The declared types that the file exports, and those that the others name, directly or by their parts.
    declared: BTreeMap<BindingId, DeclaredType>,
}

/// The types of the names that the pieces of a session have bound.
#[derive(Default)]
pub struct SessionTypes {
    /// The pieces that have bound a name which is not bound anew, with these names.
    pieces: Vec<(ExportedTypes, Vec<(SmolStr, Origin)>)>,
}

/// A declared type as other files see it.
struct DeclaredType {
    decl: TypeDecl,
    parts: DeclaredParts,
}

/// The parts of a declared type. Its type parameters are unreplaced.
#[derive(Clone, Default)]
pub(super) struct DeclaredParts {
    pub(super) generics: Vec<SmolStr>,
    /// The fields of a struct.
    pub(super) fields: Option<Rc<Shape>>,
    /// The values of the variants of an enum, in the order of the declaration.
    pub(super) variants: Vec<Vec<Type>>,
    /// The functions with a receiver that the file gives it, or those of an interface. The receiver is left out.
    pub(super) methods: Vec<(SmolStr, Rc<FnType>)>,
    /// The type that an alias stands for.
    pub(super) alias: Option<Type>,
}

/// The types of the values that a file imports, in terms of its bindings.
#[derive(Default)]
pub struct ImportedTypes {
    pub(super) values: Vec<(BindingId, Type)>,
    tools: HashSet<BindingId>,
    pub(super) declared: KeyedMap<BindingId, DeclaredParts>,
}

impl DeclaredParts {
    /// Calls `visit` with each type in it.
    fn types(&self, visit: &mut dyn FnMut(&Type)) {
        self.fields.iter().flat_map(|shape| &shape.fields).for_each(|field| visit(&field.ty));
        self.variants.iter().flatten().for_each(&mut *visit);
        for (_, head) in &self.methods {
            head.params.iter().for_each(&mut *visit);
            visit(&head.returns);
        }
        self.alias.iter().for_each(visit);
    }

    /// Returns the head of a function with a receiver, and its number.
    pub(super) fn method(&self, name: &str) -> Option<(usize, &Rc<FnType>)> {
        let place = self.methods.iter().position(|(known, _)| known == name)?;
        Some((place, &self.methods[place].1))
    }
}

/// Returns the types of what a checked module, the file `file`, exports. `bases` are the types of its bindings, `results` those
/// of the results of functions that declare none.
pub(super) fn exported_types(
    file: FileId,
    world: &Declared<'_>,
    (bases, results): (&[Type], &HashMap<*const FnDecl, Type, Keyed>),
    exports: &Exports,
) -> ExportedTypes {
    let names = world.names;
    let mut found = ExportedTypes::default();
    let passed_on: HashMap<Origin, BindingId> =
        (0..).zip(&names.bindings).filter_map(|(id, binding)| Some((binding.origin?, id))).collect();
    let own = |export: &Export| match export.origin.file == file {
        true => Some(export.origin.binding),
        false => passed_on.get(&export.origin).copied(),
    };
    for export in exports.names.values() {
        let Some(id) = own(export) else { continue };
        let ty = match world.items.get(id).map(|item| &item.kind) {
            Some(ItemKind::Fn(decl) | ItemKind::Tool { decl, .. }) => {
                let head = world.function_type(decl);
                match results.get(&std::ptr::from_ref(decl)) {
                    Some(returns) => Type::Fn(Rc::new(FnType { returns: returns.clone(), ..(*head).clone() })),
                    None => Type::Fn(head),
                }
            }
            Some(_) => Type::Any,
            // A text is what it is in this run, and may be another one in the next.
            None => bases.get(id as usize).map_or(Type::Any, Type::widened),
        };
        let is_tool = match world.items.get(id) {
            Some(item) => matches!(item.kind, ItemKind::Tool { .. }),
            None => world.imported.is_tool(id),
        };
        if is_tool {
            found.tools.insert(export.origin);
        }
        if ty != Type::Any {
            found.values.insert(export.origin, ty);
        }
    }
    let mut named: Vec<BindingId> =
        exports.names.values().filter(|export| export.def.is_some()).filter_map(own).collect();
    found.values.values().for_each(|ty| names_of(ty, &mut named));
    while let Some(id) = named.pop() {
        if found.declared.contains_key(&id) {
            continue;
        }
        let Some(decl) = names.bindings.get(id as usize).and_then(|binding| binding.def.clone()) else { continue };
        let parts = world.parts(id);
        parts.types(&mut |ty| names_of(ty, &mut named));
        found.declared.insert(id, DeclaredType { decl, parts });
    }
    found
}

impl ExportedTypes {
    /// Returns whether the values have the same types. Types that they name are the same if the text of the file is.
    #[must_use]
    pub fn same_values(&self, other: &Self) -> bool {
        self.values.len() == other.values.len()
            && self
                .values
                .iter()
                .all(|(origin, ty)| other.values.get(origin).is_some_and(|other| ty.to_string() == other.to_string()))
    }

    /// Returns whether a value names a declared type.
    #[must_use]
    pub fn names_types(&self) -> bool {
        !self.declared.is_empty()
    }
}

impl SessionTypes {
    /// Adds what a piece exports. `bound` are the names that it has bound, a type or not.
    pub fn add<'n>(
        &mut self,
        exported: ExportedTypes,
        exports: &Exports,
        bound: impl IntoIterator<Item = &'n SmolStr>,
    ) {
        for name in bound {
            self.forget(name);
        }
        let names = exports.names.iter().map(|(name, export)| (name.clone(), export.origin)).collect();
        self.pieces.push((exported, names));
        self.pieces.retain(|(_, names)| !names.is_empty());
    }

    /// Forgets the type of a name.
    pub fn forget(&mut self, name: &str) {
        self.pieces.iter_mut().for_each(|(_, names)| names.retain(|(known, _)| known != name));
    }
}

impl ImportedTypes {
    /// Returns the types of the values that a file imports from others, and of those that earlier pieces of its session have
    /// bound. `names` gets bindings, which no name means, for types that the file does not import.
    #[must_use]
    pub fn of<'e>(
        names: &mut Resolution,
        from: impl IntoIterator<Item = &'e ExportedTypes>,
        session: Option<&'e SessionTypes>,
    ) -> Self {
        let mut found = Self::default();
        let bindings = || (0..).zip(&names.bindings);
        let origins: Vec<_> = bindings().filter_map(|(id, binding)| Some((id, binding.origin?))).collect();
        let pieces = session.map_or(&[][..], |session| &session.pieces);
        if origins.is_empty() && pieces.is_empty() {
            return found;
        }
        let of_piece = |bound: &[(SmolStr, Origin)]| {
            let outer = bindings().filter(|(_, binding)| binding.slot.is_some() && binding.origin.is_none());
            let known = |(id, binding): (BindingId, &Binding)| {
                Some((id, bound.iter().find(|(name, _)| *name == binding.name)?.1))
            };
            outer.filter_map(known).collect::<Vec<_>>()
        };
        let of_pieces: Vec<_> = pieces.iter().map(|(exported, bound)| (exported, of_piece(bound))).collect();
        let sites = bindings().filter_map(|(id, binding)| Some((id, binding.def.as_ref()?.site()?.clone())));
        let mut sites: Vec<(BindingId, Site)> = sites.collect();
        let from = from.into_iter().map(|exported| (exported, origins.clone()));
        for (exported, origins) in from.chain(of_pieces) {
            let known = HashMap::new();
            let mut transfer =
                Transfer { from: exported, names: &mut *names, sites: &mut sites, known, found: &mut found };
            for (id, origin) in &origins {
                if let Some(ty) = exported.values.get(origin) {
                    let ty = transfer.ty(ty);
                    transfer.found.values.push((*id, ty));
                    if exported.tools.contains(origin) {
                        transfer.found.tools.insert(*id);
                    }
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

    /// Returns whether a binding is a tool of another file.
    pub(super) fn is_tool(&self, id: BindingId) -> bool {
        self.tools.contains(&id)
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

    fn parts(&mut self, parts: &DeclaredParts) -> DeclaredParts {
        let mut types = |types: &[Type]| types.iter().map(|ty| self.ty(ty)).collect::<Vec<_>>();
        let variants = parts.variants.iter().map(|values| types(values)).collect();
        let mut head = |head: &FnType| FnType { params: types(&head.params), returns: Type::Any, ..*head };
        let heads: Vec<FnType> = parts.methods.iter().map(|(_, of)| head(of)).collect();
        let methods = parts
            .methods
            .iter()
            .zip(heads)
            .map(|((name, of), head)| (name.clone(), Rc::new(FnType { returns: self.ty(&of.returns), ..head })));
        DeclaredParts {
            generics: parts.generics.clone(),
            methods: methods.collect(),
            variants,
            fields: parts.fields.as_ref().map(|fields| Rc::new(self.shape(fields))),
            alias: parts.alias.as_ref().map(|ty| self.ty(ty)),
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
        if !self.found.declared.contains_key(&own) {
            let parts = self.parts(&of.parts);
            self.found.declared.insert(own, parts);
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
fn names_of(ty: &Type, found: &mut Vec<BindingId>) {
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
            found.push(of.id);
            of.args.iter().for_each(|arg| names_of(arg, found));
        }
        Type::Union(members) => members.iter().for_each(|member| names_of(member, found)),
        _ => {}
    }
}
