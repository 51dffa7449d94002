//! Written types as types.

use super::signature::Signatures;
use super::{Bound, FnType, Handle, NamedType, Numbers, Shape, ShapeKey, Type, fill, join, number};
use crate::ast::{ItemKind, Name, TypeExpr, TypeKind};
use crate::builtin_type::{Kind, builtin_type};
use crate::check::imported::ImportedTypes;
use crate::check::items::ItemTable;
use crate::declaration::TypeDecl;
use crate::resolve::{BindingId, Resolution, Target};
use smol_str::SmolStr;
use std::rc::Rc;

/// A type by its name and arguments; nothing when that is no type of the language.
fn builtin(name: &str, args: &mut dyn Iterator<Item = Type>) -> Option<Type> {
    Some(Type::of_kind(builtin_type(name)?.kind, args))
}

impl Type {
    /// The type of a kind, with its arguments.
    pub(in crate::check) fn of_kind(kind: Kind, args: &mut dyn Iterator<Item = Self>) -> Self {
        let mut next = || args.next().unwrap_or(Self::Any);
        match kind {
            Kind::Any => Self::Any,
            Kind::Never => Self::Never,
            Kind::Nil => Self::Nil,
            Kind::Bool => Self::Bool,
            Kind::Int => Self::Int,
            Kind::Float => Self::Float,
            Kind::Str => Self::Str,
            Kind::Bytes => Self::Bytes,
            Kind::Range => Self::Range,
            Kind::List => Self::list(next()),
            Kind::Set => Self::set(next()),
            Kind::Channel => Self::handle(Handle::Channel, next()),
            Kind::Generator => Self::handle(Handle::Generator, next()),
            Kind::Iter => Self::handle(Handle::Iter, next()),
            Kind::Stream => Self::handle(Handle::Stream, next()),
            Kind::Task => Self::handle(Handle::Task, next()),
            Kind::Pair => Self::Pair(Rc::new((next(), next()))),
            Kind::Result => Self::Result(Rc::new((next(), next()))),
            Kind::Dict => {
                // `dict<K, V>`; keys are strings.
                next();
                Self::dict(next())
            }
        }
    }
}

/// Aliases of aliases are followed this far.
const MOST_ALIASES: usize = 100;

/// The names that written types of a file may name.
#[derive(Clone, Copy)]
pub(in crate::check) struct FileNames<'r, 'a> {
    pub(in crate::check) names: &'r Resolution,
    pub(in crate::check) items: &'r ItemTable<'a>,
    pub(in crate::check) imported: &'r ImportedTypes,
}

/// Reads the written types of a file or of a signature.
pub(in crate::check) struct TypeReader<'r, 'a> {
    /// The names of the file; nothing for a signature, in which a single capital letter is a type parameter.
    pub(in crate::check) file: Option<FileNames<'r, 'a>>,
    pub(in crate::check) signatures: &'r Signatures,
    /// Type parameters that stand for themselves.
    pub(in crate::check) generics: &'r [Name],
    /// Aliases that are being read: one that mentions itself is cut off there.
    pub(in crate::check) open: Vec<BindingId>,
}

impl<'r, 'a> TypeReader<'r, 'a> {
    pub(in crate::check) fn read(&mut self, ty: &TypeExpr) -> Type {
        match &ty.kind {
            TypeKind::Name { name, args } => self.named(name, args, ty),
            TypeKind::Fn { params, returns } => {
                let params: Vec<Type> = params.iter().map(|p| self.read(p)).collect();
                let min = params.len();
                Type::Fn(Rc::new(FnType { params, min, rest: false, returns: self.read(returns) }))
            }
            TypeKind::Shape { fields, open } => {
                let told = *open && self.file.is_none();
                let fields = fields.iter().map(|(name, optional, ty)| ShapeKey {
                    name: name.text.clone(),
                    ty: self.read(ty),
                    optional: *optional,
                    at: None,
                    numbers: if self.file.is_none() { Numbers::written(ty) } else { Numbers::Open },
                });
                Type::Shape(Rc::new(Shape {
                    fields: fields.collect(),
                    open: *open,
                    literal: false,
                    told,
                    methods: None,
                }))
            }
            TypeKind::Literal(text) => Type::Text(text.clone()),
            TypeKind::Union(parts) => {
                let parts: Vec<Type> = parts.iter().map(|p| self.read(p)).collect();
                union(parts)
            }
            TypeKind::Optional(inner) => self.read(inner).optional(),
            TypeKind::Error => Type::Any,
        }
    }

    fn named(&mut self, name: &SmolStr, args: &[TypeExpr], ty: &TypeExpr) -> Type {
        let is_param = match self.file {
            Some(_) => self.generics.iter().any(|g| g.text == *name),
            None => name.len() == 1 && name.starts_with(|c: char| c.is_ascii_uppercase()),
        };
        if is_param {
            return Type::Param(name.clone());
        }
        if let Some(file) = self.file
            && let Some(Target::Binding(id)) = file.names.used(ty.id)
        {
            let args: Vec<Type> = args.iter().map(|a| self.read(a)).collect();
            return self.declared(file, id, args);
        }
        if self.file.is_none()
            && let Some(range) = number::range(name)
        {
            return number::type_of(range);
        }
        let mut args = args.iter().map(|a| self.read(a)).collect::<Vec<_>>().into_iter();
        builtin(name, &mut args).or_else(|| self.signatures.shape(name)).unwrap_or(Type::Any)
    }

    /// A type that the file declares.
    fn declared(&mut self, file: FileNames<'r, 'a>, id: BindingId, args: Vec<Type>) -> Type {
        let Some(item) = file.items.get(id) else {
            return imported(file, id, args);
        };
        let (kind, name) = match &item.kind {
            ItemKind::TypeAlias { generics, ty, .. } => return self.alias(file, (id, generics, ty), args),
            ItemKind::Struct { name, .. } => (super::NamedKind::Struct, name),
            ItemKind::Enum { name, .. } => (super::NamedKind::Enum, name),
            ItemKind::Interface { name, .. } => (super::NamedKind::Interface, name),
            _ => return Type::Any,
        };
        Type::Named(Rc::new(NamedType { id, kind, name: name.text.clone(), args }))
    }

    fn alias(
        &mut self,
        file: FileNames<'r, 'a>,
        (id, generics, ty): (BindingId, &[Name], &TypeExpr),
        args: Vec<Type>,
    ) -> Type {
        let read = match file.items.alias(id) {
            Some(read) => read,
            None => {
                if self.open.contains(&id) || self.open.len() > MOST_ALIASES {
                    return Type::Any;
                }
                self.open.push(id);
                let open = std::mem::take(&mut self.open);
                let mut inner = TypeReader { file: Some(file), signatures: self.signatures, generics, open };
                let read = inner.read(ty).bounded();
                self.open = inner.open;
                self.open.pop();
                file.items.set_alias(id, read.clone());
                read
            }
        };
        let bound: Bound = generics.iter().map(|g| g.text.clone()).zip(args).collect();
        fill(&read, &bound)
    }
}

/// A type that another file declares.
fn imported(file: FileNames<'_, '_>, id: BindingId, args: Vec<Type>) -> Type {
    if let Some(parts) = file.imported.declared.get(&id)
        && let Some(alias) = &parts.alias
    {
        return fill(alias, &parts.generics.iter().cloned().zip(args).collect());
    }
    let Some(def) = file.names.binding(id).def.as_ref().map(TypeDecl::resolved) else { return Type::Any };
    let kind = match def {
        TypeDecl::Struct(_) => super::NamedKind::Struct,
        TypeDecl::Enum(_) => super::NamedKind::Enum,
        TypeDecl::Interface(_) => super::NamedKind::Interface,
        TypeDecl::Alias(_) => return Type::Any,
    };
    Type::Named(Rc::new(NamedType { id, kind, name: def.name().clone(), args }))
}

/// One of these; what `any` would swallow stays unknown.
fn union(parts: Vec<Type>) -> Type {
    parts.into_iter().fold(Type::Never, join)
}
