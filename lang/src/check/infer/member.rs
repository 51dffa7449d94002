//! Fields: what a value holds under a name.

use super::Checker;
use super::want::ExpectedType;
use crate::advice;
use crate::ast::{Expr, Name};
use crate::builtin_type::Tag;
use crate::check::items::Declared;
use crate::check::types::{Handle, NamedKind, NamedType, Nominal, Shape, Type, bind, fill, join};
use crate::declaration::{Builtin, Methods, TypeDecl};
use crate::diagnostic::nearest;
use crate::source::Span;
use std::rc::Rc;

/// The most variants of an enum whose names are the type of `.variant`.
const MOST_VARIANTS: usize = 32;

/// Member of a value of one type under a name.
pub(super) enum Member {
    /// A value.
    Value(Type),
    /// Nothing, and that raises.
    Missing,
    /// Nothing: nil, where a shape promises no such key.
    NoKey,
    /// Nothing is known about it.
    Unknown,
}

impl<'a> Checker<'a> {
    /// `object.name` that is not called.
    pub(super) fn field(&mut self, object: &'a Expr, name: &'a Name, optional: bool) -> Type {
        if let Some(ty) = self.variant_value(object, name) {
            return ty;
        }
        let holder = self.expr(object, ExpectedType::FREE);
        self.member(&holder, object.span, name, optional).or_unknown()
    }

    /// `E.A`
    fn variant_value(&mut self, object: &Expr, name: &Name) -> Option<Type> {
        let id = self.plain_binding(object)?;
        if !self.world.is_enum(id) {
            return None;
        }
        self.used(id, object.span);
        // A variant that is not there is told with the enums.
        let plain = self.world.variant(id, &name.text).is_some_and(|values| values.is_empty());
        Some(if plain { self.named(id, vec![Type::Never; self.world.generics(id).len()]) } else { Type::Any })
    }

    fn member(&mut self, holder: &Type, at: Span, name: &Name, optional: bool) -> Type {
        let asked = if optional { Self::unlifted(holder) } else { holder.clone() };
        if optional && asked == Type::Never {
            // The rest of the chain is skipped.
            return Type::Any;
        }
        let mut found = Type::Never;
        let (mut missing, mut no_key) = (0, 0);
        let members = asked.members();
        for member in members {
            found = join(
                found,
                match self.member_of(member, &name.text) {
                    Member::Value(ty) => ty,
                    Member::Unknown => Type::Any,
                    Member::Missing => {
                        missing += 1;
                        Type::Never
                    }
                    Member::NoKey => {
                        no_key += 1;
                        Type::Any
                    }
                },
            );
        }
        if missing == members.len() {
            self.no_member(&asked, at, name, false);
            return Type::Any;
        }
        // What is nil or has no such key has no value there.
        let is_nil = |member: &&Type| **member == Type::Nil;
        if no_key > 0 && no_key + members.iter().filter(is_nil).count() == members.len() {
            self.no_key(&asked, at, name.span, &name.text);
            return Type::Any;
        }
        if optional { found.optional() } else { found }
    }

    /// Returns the type into which `?.` and `?[` look: without nil, and unknown for a Result.
    pub(super) fn unlifted(ty: &Type) -> Type {
        let open = ty.members().iter().any(|m| matches!(m, Type::Result(_)));
        if open { Type::Any } else { ty.without_nil() }
    }

    fn member_of(&self, ty: &Type, name: &str) -> Member {
        match ty {
            Type::Any | Type::Never | Type::Param(_) | Type::Union(_) => Member::Unknown,
            Type::Nil => Member::Missing,
            Type::Shape(shape) => match Self::key_of(shape, name) {
                Member::NoKey => match self.property(ty, name) {
                    Some(ty) => Member::Value(ty),
                    // A literal has what it has: anything else is nil.
                    None if shape.literal => Member::Value(Type::Nil),
                    None => Member::NoKey,
                },
                found => found,
            },
            Type::Dict(of) => match self.property(ty, name) {
                Some(property) => Member::Value(join(property, (**of).clone())),
                None => Member::Value((**of).clone().optional()),
            },
            Type::Named(named) => self.named_member(named, name),
            // A value of the host may have fields.
            Type::Handle(handle, _)
                if !(handle.is_lazy() && *handle != Handle::Stream) && self.function_of(*handle, name).is_none() =>
            {
                self.property(ty, name).map_or(Member::Unknown, Member::Value)
            }
            _ => self.property(ty, name).map_or(Member::Missing, Member::Value),
        }
    }

    fn key_of(shape: &Shape, name: &str) -> Member {
        match shape.field(name) {
            Some(field) if field.optional => Member::Value(field.ty.clone().optional()),
            Some(field) => Member::Value(field.ty.clone()),
            None if shape.told && nearest(name, shape.fields.iter().map(|f| f.name.as_str())).is_some() => {
                Member::NoKey
            }
            None if shape.open => Member::Unknown,
            None => Member::NoKey,
        }
    }

    fn named_member(&self, named: &NamedType, name: &str) -> Member {
        match named.kind {
            NamedKind::Struct => {}
            NamedKind::Enum => return self.enum_member(named, name),
            NamedKind::Interface => return Member::Unknown,
        }
        let Some(fields) = self.world.fields(named) else { return Member::Unknown };
        if let Some(field) = fields.field(name) {
            return Member::Value(fill(&field.ty, &self.arguments_of(named)));
        }
        let method = self.world.method(named, name).is_some()
            || self.world.imported_method(named, name)
            || self.world.registry.find("<struct>", name).is_some();
        if method { Member::Unknown } else { Member::Missing }
    }

    /// Member of a value of an enum: a function of its `impl`, else a property of all such values.
    fn enum_member(&self, named: &NamedType, name: &str) -> Member {
        if self.world.method(named, name).is_some() || self.world.imported_method(named, name) {
            return Member::Unknown;
        }
        let Some(row) = self.world.registry.find(Tag::Variant.module(), name) else { return Member::Missing };
        if !row.property {
            return Member::Unknown;
        }
        let variants = if name == "variant" { self.world.variant_names(named.id) } else { Vec::new() };
        Member::Value(match variants.is_empty() || variants.len() > MOST_VARIANTS {
            true => self.world.signatures.of(row).returns.clone(),
            false => variants.into_iter().map(Type::Text).fold(Type::Never, join),
        })
    }

    /// The type parameters of a declared type and what they are here.
    pub(super) fn arguments_of(&self, named: &NamedType) -> crate::check::types::Bound {
        if named.args.is_empty() {
            return Vec::new();
        }
        self.world.generics(named.id).into_iter().zip(named.args.iter().cloned()).collect()
    }

    /// A method that may be read without parentheses.
    fn property(&self, ty: &Type, name: &str) -> Option<Type> {
        let row = self.world.registry.find(Declared::module(ty)?, name).filter(|row| row.property)?;
        Some(self.result_for(row, ty))
    }

    /// Returns the result type of a method for a receiver of this type, as far as the receiver decides it.
    pub(super) fn result_for(&self, row: &'static Builtin, receiver: &Type) -> Type {
        let signature = self.world.signatures.of(row);
        let mut bound = Vec::new();
        if let Some(first) = signature.params.first() {
            bind(&first.ty, receiver, &mut bound);
        }
        fill(&signature.returns, &bound)
    }

    /// Returns the type that a dict or struct accepts under an assigned name, and the span of its annotation.
    pub(super) fn assigned_key(&mut self, holder: &Type, name: &str, at: Span) -> Option<(Type, Span)> {
        match holder {
            Type::Shape(shape) if !shape.literal => match shape.field(name) {
                Some(field) => Some((field.ty.clone(), at)),
                // A dict of a builtin may get more keys.
                None if shape.open || shape.told => None,
                None => {
                    self.no_key(holder, at, at, name);
                    None
                }
            },
            Type::Dict(of) if !of.is_open() => Some(((**of).clone(), at)),
            Type::Named(named) if named.kind == NamedKind::Struct => {
                let fields = self.world.fields(named)?;
                let ty = fill(&fields.field(name)?.ty, &self.arguments_of(named));
                Some((ty, at))
            }
            _ => None,
        }
    }

    /// Names that are near to one that is not there.
    pub(super) fn near_member(&self, ty: &Type, name: &str) -> Option<String> {
        let mut names: Vec<String> = Vec::new();
        for member in ty.members() {
            match member {
                Type::Shape(shape) => names.extend(shape.fields.iter().map(|f| f.name.to_string())),
                Type::Named(named) => {
                    names.extend(
                        self.world.fields(named).iter().flat_map(|f| f.fields.iter()).map(|f| f.name.to_string()),
                    );
                    names.extend(self.world.items.methods(named.id).iter().map(|m| m.name.text.to_string()));
                    let other = self.world.definition(named.id).filter(|_| self.world.items.get(named.id).is_none());
                    let methods = other.iter().filter_map(TypeDecl::methods).flat_map(Methods::all);
                    names.extend(methods.map(|method| method.signature.name.to_string()));
                }
                _ => {}
            }
            if let Some(module) = Declared::module(member) {
                names.extend(self.world.registry.module(module).map(|row| row.name.to_owned()));
            }
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        advice::near_member(name, &names).map(str::to_owned)
    }

    /// The path of a key that is in a dict inside of one that a builtin hands over: `payload.path` where `path` was written.
    pub(super) fn key_inside(ty: &Type, name: &str) -> Option<String> {
        let shapes = |ty: &Type| -> Vec<Rc<Shape>> {
            ty.members().iter().filter_map(|m| if let Type::Shape(s) = m { Some(s.clone()) } else { None }).collect()
        };
        let has = |ty: &Type| shapes(ty).iter().any(|inner| inner.told && inner.field(name).is_some());
        let outer = shapes(ty).into_iter().filter(|shape| shape.told);
        let mut holders = outer.flat_map(|shape| shape.fields.clone()).filter(|field| has(&field.ty));
        let only = holders.next().filter(|_| holders.next().is_none())?;
        Some(format!("{}.{name}", only.name))
    }

    /// Whether the name is a method that only has to be called.
    pub(super) fn is_method_of(&self, ty: &Type, name: &str) -> bool {
        ty.members().iter().any(|m| Declared::module(m).is_some_and(|m| self.world.registry.find(m, name).is_some()))
    }
}
