//! Declarations of the file: types, functions and methods, by their bindings.

use super::imported::{DeclaredParts, ImportedTypes};
use super::infer::{DemandOrigin, ImportedPart, Taken};
use super::types::{
    FileNames, FnType, Kinds, NamedKind, NamedType, Nominal, Numbers, Shape, ShapeKey, Signatures, Type, TypeReader,
};
use crate::ast::{Attribute, FnDecl, Item, ItemKind, Name, Param, Stmt, StmtKind, TypeExpr};
use crate::builtin_type::Tag;
use crate::declaration::{Registry, TypeDecl};
use crate::hash::KeyedMap;
use crate::resolve::{BindingId, Resolution, Target};
use smol_str::SmolStr;
use std::cell::RefCell;
use std::rc::Rc;

/// The declarations seen so far; those of a block are added when it is entered.
#[derive(Default)]
pub(super) struct ItemTable<'a> {
    /// The items by the bindings that they make.
    all: Vec<Option<&'a Item>>,
    methods: KeyedMap<BindingId, Vec<&'a FnDecl>>,
    /// The methods that have a receiver, by their names.
    by_name: KeyedMap<BindingId, KeyedMap<&'a str, &'a FnDecl>>,
    /// Types that aliases stand for, each read once.
    aliases: RefCell<KeyedMap<BindingId, Type>>,
}

impl<'a> ItemTable<'a> {
    pub(super) fn get(&self, id: BindingId) -> Option<&'a Item> {
        self.all.get(id as usize).copied().flatten()
    }

    /// The methods that `impl`s of the file give a type.
    pub(super) fn methods(&self, id: BindingId) -> &[&'a FnDecl] {
        self.methods.get(&id).map_or(&[], Vec::as_slice)
    }

    /// Returns the type that an alias means, with its type parameters unreplaced, if it was read before.
    pub(super) fn alias(&self, id: BindingId) -> Option<Type> {
        self.aliases.borrow().get(&id).cloned()
    }

    pub(super) fn set_alias(&self, id: BindingId, ty: Type) {
        self.aliases.borrow_mut().insert(id, ty);
    }

    pub(super) fn declare(&mut self, stmts: &'a [Stmt], names: &Resolution) {
        for stmt in stmts {
            let StmtKind::Item(item) = &stmt.kind else { continue };
            if let ItemKind::Impl { target, methods, .. } = &item.kind {
                let Some(Target::Binding(id)) = names.used(target.id) else { continue };
                let by_name = self.by_name.entry(id).or_default();
                for method in methods {
                    if let ItemKind::Fn(decl) = &method.kind {
                        self.methods.entry(id).or_default().push(decl);
                        if decl.takes_self() {
                            by_name.entry(decl.name.text.as_str()).or_insert(decl);
                        }
                    }
                }
            } else if let Some(id) = name_of(item).and_then(|name| names.made(name.id)) {
                let place = id as usize;
                if self.all.len() <= place {
                    self.all.resize(place + 1, None);
                }
                self.all[place] = Some(item);
            }
        }
    }
}

/// The name that a declaration binds.
pub(super) fn name_of(item: &Item) -> Option<&Name> {
    Some(match &item.kind {
        ItemKind::Fn(decl) | ItemKind::Tool { decl, .. } | ItemKind::Pipeline { decl, .. } => &decl.name,
        ItemKind::Struct { name, .. }
        | ItemKind::Enum { name, .. }
        | ItemKind::Interface { name, .. }
        | ItemKind::TypeAlias { name, .. } => name,
        ItemKind::Test(_) | ItemKind::Override(_) | ItemKind::Impl { .. } | ItemKind::Import { .. } => return None,
    })
}

/// The text of `@deprecated("…")`, and where the attribute stands.
pub(super) fn deprecated(attributes: &[Attribute]) -> Option<(&Attribute, Option<&str>)> {
    let attribute = attributes.iter().find(|a| a.name.text == "deprecated")?;
    Some((attribute, attribute.args.first().and_then(|arg| arg.value.plain_text())))
}

/// Everything that types are asked about: the names of the file, its declarations, the builtins.
pub(super) struct Declared<'a> {
    pub(super) names: &'a Resolution,
    pub(super) registry: Registry,
    pub(super) items: ItemTable<'a>,
    pub(super) signatures: Rc<Signatures>,
    structs: RefCell<KeyedMap<BindingId, Rc<Shape>>>,
    /// The types of other files.
    pub(super) imported: &'a ImportedTypes,
    /// Heads of functions read so far.
    pub(super) functions: RefCell<KeyedMap<*const FnDecl, Rc<FnType>>>,
}

impl<'a> Declared<'a> {
    pub(super) fn new(names: &'a Resolution, registry: Registry, imported: &'a ImportedTypes) -> Self {
        let signatures = Signatures::of_registry(registry);
        let (structs, functions) = Default::default();
        Self { names, registry, items: ItemTable::default(), signatures, structs, imported, functions }
    }

    /// A written type, type parameters as such.
    pub(super) fn read(&self, ty: &TypeExpr, generics: &[Name]) -> Type {
        let (names, items, imported) = (self.names, &self.items, self.imported);
        let (file, signatures) = (FileNames { names, items, imported }, &self.signatures);
        TypeReader { file: Some(file), signatures, generics, open: Vec::new() }.read(ty).bounded()
    }

    /// Type of the argument for a parameter; nil selects its default.
    pub(super) fn param(&self, param: &Param, generics: &[Name]) -> Type {
        let Some(ty) = &param.ty else { return Type::Any };
        let ty = self.read(ty, generics);
        if param.default.is_some() { ty.optional() } else { ty }
    }

    /// Returns the type that the head of a function says.
    pub(super) fn function_type(&self, decl: &FnDecl) -> Rc<FnType> {
        self.functions
            .borrow_mut()
            .entry(std::ptr::from_ref(decl))
            .or_insert_with(|| {
                let params = decl.params.iter().filter(|p| !p.rest).map(|p| self.param(p, &decl.generics));
                let returns = match &decl.returns {
                    Some(ty) if !self.names.iterators.contains_key(&decl.body.id) => self.read(ty, &decl.generics),
                    _ => Type::Any,
                };
                Rc::new(FnType {
                    params: params.collect(),
                    min: decl.params.iter().take_while(|p| !p.rest && p.default.is_none()).count(),
                    rest: decl.params.iter().any(|p| p.rest),
                    returns,
                })
            })
            .clone()
    }

    /// Returns whether a binding is an enum, of this file or another one.
    pub(super) fn is_enum(&self, id: BindingId) -> bool {
        match self.items.get(id) {
            Some(item) => matches!(item.kind, ItemKind::Enum { .. }),
            None => matches!(self.definition(id), Some(TypeDecl::Enum(_))),
        }
    }

    /// Returns the types of the values of an enum's variant, and where each is written.
    pub(super) fn variant(&self, id: BindingId, variant: &str) -> Option<Vec<Taken>> {
        let Some(item) = self.items.get(id) else {
            let Some(TypeDecl::Enum(def)) = self.definition(id) else { return None };
            let place = def.position(variant)?;
            let values = self.imported.declared.get(&id)?.variants.get(place)?;
            let taken = |(value, ty): (usize, &Type)| {
                (ty.clone(), DemandOrigin::Imported(id, ImportedPart::Value(place, value)))
            };
            return Some(values.iter().enumerate().map(taken).collect());
        };
        let ItemKind::Enum { variants, generics, .. } = &item.kind else { return None };
        let found = variants.iter().find(|v| v.name.text == variant)?;
        Some(found.fields.iter().map(|ty| (self.read(ty, generics), DemandOrigin::Declared(ty.span))).collect())
    }

    /// Returns the declaration of a type of another file, behind aliases that are just other names for it.
    pub(super) fn definition(&self, id: BindingId) -> Option<TypeDecl> {
        self.names.bindings.get(id as usize)?.def.as_ref().map(TypeDecl::resolved)
    }

    /// Returns the type parameters of a declared type.
    pub(super) fn generics(&self, id: BindingId) -> Vec<SmolStr> {
        match self.items.get(id).map(|item| &item.kind) {
            Some(
                ItemKind::Struct { generics, .. }
                | ItemKind::Enum { generics, .. }
                | ItemKind::TypeAlias { generics, .. },
            ) => generics.iter().map(|name| name.text.clone()).collect(),
            Some(_) => Vec::new(),
            None => self.imported.declared.get(&id).map_or_else(Vec::new, |parts| parts.generics.clone()),
        }
    }

    /// Returns the parts of a declared type, for other files.
    pub(super) fn parts(&self, id: BindingId) -> DeclaredParts {
        let Some(item) = self.items.get(id) else {
            return self.imported.declared.get(&id).cloned().unwrap_or_default();
        };
        let receiverless = |decl: &FnDecl| {
            let head = self.function_type(decl);
            let params = head.params.get(1..).unwrap_or_default().to_vec();
            (decl.name.text.clone(), Rc::new(FnType { params, min: head.min.saturating_sub(1), ..(*head).clone() }))
        };
        let mut parts = DeclaredParts { generics: self.generics(id), ..DeclaredParts::default() };
        let with_receiver = |decl: &&FnDecl| decl.takes_self();
        match &item.kind {
            ItemKind::Struct { name, .. } => {
                let (kind, name) = (NamedKind::Struct, name.text.clone());
                parts.fields = self.fields(&NamedType { id, kind, name, args: Vec::new() });
            }
            ItemKind::Enum { generics, variants, .. } => {
                let values = |fields: &[TypeExpr]| fields.iter().map(|ty| self.read(ty, generics)).collect();
                parts.variants = variants.iter().map(|variant| values(&variant.fields)).collect();
            }
            ItemKind::Interface { methods, .. } => {
                parts.methods = methods.iter().filter(with_receiver).map(receiverless).collect();
            }
            ItemKind::TypeAlias { generics, ty, .. } => parts.alias = Some(self.read(ty, generics)),
            _ => {}
        }
        parts.methods.extend(self.items.methods(id).iter().copied().filter(with_receiver).map(receiverless));
        parts
    }

    /// Returns the names of the variants of an enum, as far as they are known.
    pub(super) fn variant_names(&self, id: BindingId) -> Vec<SmolStr> {
        match (self.items.get(id).map(|item| &item.kind), self.definition(id)) {
            (Some(ItemKind::Enum { variants, .. }), _) => variants.iter().map(|v| v.name.text.clone()).collect(),
            (None, Some(TypeDecl::Enum(def))) => def.variants.iter().map(|v| v.name.clone()).collect(),
            _ => Vec::new(),
        }
    }

    /// A method that an `impl` of the file gives to values of this type.
    pub(super) fn method(&self, named: &NamedType, name: &str) -> Option<&'a FnDecl> {
        self.items.by_name.get(&named.id)?.get(name).copied()
    }

    /// Returns whether another file gives a type of another file such a method, as far as the files read so far say.
    pub(super) fn imported_method(&self, named: &NamedType, name: &str) -> bool {
        match self.items.get(named.id) {
            Some(_) => false,
            None => self.definition(named.id).is_none_or(|def| match &def {
                TypeDecl::Interface(def) => def.methods.iter().any(|method| method.name == name),
                _ => def.methods().is_none_or(|methods| methods.get(name).is_some()),
            }),
        }
    }

    /// The module of builtins in which the methods of values of this type stand.
    pub(super) fn module(ty: &Type) -> Option<&'static str> {
        match ty {
            Type::Shape(shape) if shape.methods.is_some() => return shape.methods,
            Type::Handle(handle, _) => handle.methods(),
            Type::Fn(_) => Some(Tag::Function),
            Type::Named(named) => match named.kind {
                NamedKind::Struct => Some(Tag::Struct),
                NamedKind::Enum => Some(Tag::Variant),
                NamedKind::Interface => None,
            },
            _ => ty.kind()?.tag(),
        }
        .map(Tag::module)
    }
}

impl Nominal for Declared<'_> {
    fn fields(&self, of: &NamedType) -> Option<Rc<Shape>> {
        if let Some(known) = self.structs.borrow().get(&of.id) {
            return Some(known.clone());
        }
        let Some(item) = self.items.get(of.id) else {
            return self.imported.declared.get(&of.id)?.fields.clone();
        };
        let ItemKind::Struct { fields, generics, .. } = &item.kind else { return None };
        let fields = fields.iter().map(|f| ShapeKey {
            name: f.name.text.clone(),
            ty: f.ty.as_ref().map_or(Type::Any, |ty| self.read(ty, generics)),
            optional: false,
            at: None,
            numbers: Numbers::Open,
        });
        let shape =
            Rc::new(Shape { fields: fields.collect(), open: false, literal: false, told: false, methods: None });
        self.structs.borrow_mut().insert(of.id, shape.clone());
        Some(shape)
    }

    fn lacks(&self, ty: &Type, interface: &NamedType) -> Option<String> {
        let Some(item) = self.items.get(interface.id) else {
            let Some(TypeDecl::Interface(def)) = self.definition(interface.id) else { return None };
            return def.methods.iter().find(|m| !self.has_method(ty, &m.name)).map(|m| m.name.to_string());
        };
        let ItemKind::Interface { methods, .. } = &item.kind else { return None };
        methods.iter().find(|m| !self.has_method(ty, &m.name.text)).map(|m| m.name.text.to_string())
    }
}

impl Declared<'_> {
    /// Whether values of this type may have such a method.
    fn has_method(&self, ty: &Type, name: &str) -> bool {
        match ty {
            Type::Named(named) if named.kind != NamedKind::Interface => {
                // A type from elsewhere may have methods from elsewhere.
                self.method(named, name).is_some()
                    || self.imported_method(named, name)
                    || self.fields(named).is_some_and(|f| f.field(name).is_some())
                    || Self::module(ty).is_some_and(|m| self.registry.find(m, name).is_some())
            }
            Type::Shape(shape) => {
                shape.open
                    || shape.field(name).is_some()
                    || Self::module(ty).is_some_and(|own| self.registry.find(own, name).is_some())
                    || self.registry.find("<dict>", name).is_some()
            }
            Type::Dict(_) => true,
            Type::Union(members) => members.iter().any(|m| self.has_method(m, name)),
            _ => match Self::module(ty) {
                Some(module) => self.registry.find(module, name).is_some() || ty.kinds() == Kinds::ALL,
                None => true,
            },
        }
    }
}
