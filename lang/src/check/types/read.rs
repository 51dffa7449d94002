//! Written types as types.

use super::signature::Signatures;
use super::{Bound, Field, FnType, NamedType, Shape, Type, fill, join};
use crate::ast::{ItemKind, Name, TypeExpr, TypeKind};
use crate::builtin_type::{Kind, builtin_type};
use crate::check::items::Items;
use crate::resolve::{BindingId, Resolution, Target};
use smol_str::SmolStr;
use std::rc::Rc;

/// Whether a type of that name needs no declaration.
pub(in crate::check) fn is_known(name: &str) -> bool {
    builtin_type(name).is_some()
}

/// A type by its name and arguments; nothing when that is no type of the language.
pub(super) fn builtin(name: &str, args: &mut dyn Iterator<Item = Type>) -> Option<Type> {
    let mut next = || args.next().unwrap_or(Type::Any);
    Some(match builtin_type(name)?.kind {
        Kind::Any | Kind::Opaque => Type::Any,
        Kind::Never => Type::Never,
        Kind::Nil => Type::Nil,
        Kind::Bool => Type::Bool,
        Kind::Int => Type::Int,
        Kind::Float => Type::Float,
        Kind::Str => Type::Str,
        Kind::Bytes => Type::Bytes,
        Kind::Range => Type::Range,
        Kind::List => Type::list(next()),
        Kind::Set => Type::set(next()),
        Kind::Pair => Type::Pair(Rc::new((next(), next()))),
        Kind::Result => Type::Result(Rc::new((next(), next()))),
        Kind::Dict => {
            // `dict<K, V>`; keys are strings.
            next();
            Type::dict(next())
        }
    })
}

/// Aliases of aliases are followed this far.
const MOST_ALIASES: usize = 100;

/// Reads the written types of a file.
pub(in crate::check) struct Reader<'r, 'a> {
    pub(in crate::check) names: &'r Resolution,
    pub(in crate::check) items: &'r Items<'a>,
    pub(in crate::check) signatures: &'r Signatures,
    /// Type parameters that stand for themselves.
    pub(in crate::check) generics: &'r [Name],
    /// Aliases that are being read: one that mentions itself is cut off there.
    pub(in crate::check) open: Vec<BindingId>,
}

impl Reader<'_, '_> {
    pub(in crate::check) fn read(&mut self, ty: &TypeExpr) -> Type {
        match &ty.kind {
            TypeKind::Name { name, args } => self.named(name, args, ty),
            TypeKind::Fn { params, returns } => {
                let params: Vec<Type> = params.iter().map(|p| self.read(p)).collect();
                let min = params.len();
                Type::Fn(Rc::new(FnType { params, min, rest: false, returns: self.read(returns) }))
            }
            TypeKind::Shape { fields, open } => {
                let fields = fields.iter().map(|(name, optional, ty)| Field {
                    name: name.text.clone(),
                    ty: self.read(ty),
                    optional: *optional,
                    at: None,
                });
                Type::Shape(Rc::new(Shape { fields: fields.collect(), open: *open, literal: false, told: false }))
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
        if self.generics.iter().any(|g| g.text == *name) {
            return Type::Param(name.clone());
        }
        if let Some(Target::Binding(id)) = self.names.uses.get(&ty.span.start) {
            let args: Vec<Type> = args.iter().map(|a| self.read(a)).collect();
            return self.declared(*id, args);
        }
        let mut args = args.iter().map(|a| self.read(a)).collect::<Vec<_>>().into_iter();
        builtin(name, &mut args).or_else(|| self.signatures.shape(name)).unwrap_or(Type::Any)
    }

    /// A type that the file declares.
    fn declared(&mut self, id: BindingId, args: Vec<Type>) -> Type {
        let Some(item) = self.items.get(id) else { return Type::Any };
        let (kind, name) = match &item.kind {
            ItemKind::TypeAlias { generics, ty, .. } => return self.alias(id, generics, ty, args),
            ItemKind::Struct { name, .. } => (super::NamedKind::Struct, name),
            ItemKind::Enum { name, .. } => (super::NamedKind::Enum, name),
            ItemKind::Interface { name, .. } => (super::NamedKind::Interface, name),
            _ => return Type::Any,
        };
        Type::Named(Rc::new(NamedType { id, kind, name: name.text.clone(), args }))
    }

    fn alias(&mut self, id: BindingId, generics: &[Name], ty: &TypeExpr, args: Vec<Type>) -> Type {
        let read = match self.items.alias(id) {
            Some(read) => read,
            None => {
                if self.open.contains(&id) || self.open.len() > MOST_ALIASES {
                    return Type::Any;
                }
                self.open.push(id);
                let open = std::mem::take(&mut self.open);
                let mut inner =
                    Reader { names: self.names, items: self.items, signatures: self.signatures, generics, open };
                let read = inner.read(ty).bounded();
                self.open = inner.open;
                self.open.pop();
                self.items.set_alias(id, read.clone());
                read
            }
        };
        let bound: Bound = generics.iter().map(|g| g.text.clone()).zip(args).collect();
        fill(&read, &bound)
    }
}

/// One of these; what `any` would swallow stays unknown.
pub(super) fn union(parts: Vec<Type>) -> Type {
    parts.into_iter().fold(Type::Never, join)
}
