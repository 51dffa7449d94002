//! Patterns: what they bind, and what of a value they fit.

use super::Checker;
use super::want::ExpectedType;
use crate::ast::*;
use crate::check::types::{NamedKind, Nominal, Type, fill, join};
use crate::declaration::TypeDecl;
use crate::resolve::{BindingId, Replacement};
use std::rc::Rc;

/// Effect of a pattern on a value.
pub(super) struct Fits {
    /// Type of the value if the pattern fits; `never` if it cannot.
    pub(super) matched: Type,
    /// Type of the value if the pattern did not fit.
    pub(super) rest: Type,
}

impl Fits {
    fn some(matched: Type, rest: Type) -> Self {
        Self { matched, rest }
    }
}

impl<'a> Checker<'a> {
    /// Binds the names of a `var`, which may hold something else later.
    pub(super) fn bind_var(&mut self, pattern: &'a Pattern, found: &Type, written: Option<Type>) {
        let PatternKind::Bind(_) = &pattern.kind else {
            self.bind_pattern(pattern, found, false);
            self.loosen_variables(pattern);
            return;
        };
        let Some(id) = self.world.names.made(pattern.id) else { return };
        if self.world.names.binding(id).assigned {
            let steady = match (self.world.names.replacement(id), found.widened()) {
                (None, ty @ Type::Named(_)) | (None | Some(Replacement::Texts), ty @ Type::Str) => ty,
                _ => Type::Any,
            };
            self.set_base(id, written.unwrap_or(steady));
            self.learn(id, found.clone());
        } else {
            self.set_base(id, found.clone());
        }
    }

    /// Loosens the variables that a pattern has bound if they are assigned to: their types are known only until then.
    fn loosen_variables(&mut self, pattern: &Pattern) {
        let mut bound = Vec::new();
        names_of(pattern, &mut |name| bound.extend(self.world.names.made(name)));
        for id in bound {
            if self.world.names.binding(id).assigned {
                let ty = self.base(id);
                self.set_base(id, Type::Any);
                self.learn(id, ty);
            }
        }
    }

    /// Binds the names of a pattern to parts of a value. With `exact`, it is an arm's: it must fit what it takes apart.
    pub(super) fn bind_pattern(&mut self, pattern: &'a Pattern, found: &Type, exact: bool) -> Fits {
        match &pattern.kind {
            PatternKind::Wildcard | PatternKind::Error => Fits::some(found.clone(), Type::Never),
            PatternKind::Bind(_) => {
                if let Some(id) = self.world.names.made(pattern.id) {
                    self.bind_name(id, found);
                }
                Fits::some(found.clone(), Type::Never)
            }
            PatternKind::Literal(e) => self.literal_pattern(e, found),
            PatternKind::Dict { fields, rest, .. } => self.dict_pattern(fields, rest.as_ref(), found, exact),
            PatternKind::List { items, rest } => self.list_pattern(items, rest.as_ref(), found, exact),
            PatternKind::Pair(a, b) => self.pair_pattern(a, b, found, exact),
            PatternKind::Variant { enum_name, variant, args } => {
                self.variant_pattern(pattern, enum_name.as_deref(), variant, args, found)
            }
            PatternKind::Or(parts) => {
                let mut rest = found.clone();
                let mut matched = Type::Never;
                for part in parts {
                    let fits = self.bind_pattern(part, &rest, exact);
                    matched = join(matched, fits.matched);
                    rest = fits.rest;
                }
                // What the alternatives bind is part of either.
                names_of(pattern, &mut |name| {
                    if let Some(id) = self.world.names.made(name) {
                        self.set_base(id, Type::Any);
                    }
                });
                Fits::some(matched, rest)
            }
        }
    }

    fn bind_name(&mut self, id: BindingId, ty: &Type) {
        self.set_base(id, ty.clone());
    }

    fn literal_pattern(&mut self, e: &'a Expr, found: &Type) -> Fits {
        let literal = self.expr(e, ExpectedType::FREE);
        let range = matches!(e.kind, ExprKind::Range { .. });
        let wanted = if range { Type::Int } else { literal };
        let matched = found.only(|m| !Self::apart(m, &wanted));
        let rest = match &wanted {
            Type::Nil | Type::Text(_) if !range => found.only(|m| *m != wanted),
            _ => found.clone(),
        };
        let matched = match (&matched, &wanted) {
            (Type::Any, Type::Nil | Type::Bool | Type::Int | Type::Float | Type::Str | Type::Text(_)) => wanted,
            _ => matched,
        };
        Fits::some(matched, rest)
    }

    /// Two types that no value has both of; ints and floats compare by value.
    fn apart(a: &Type, b: &Type) -> bool {
        use crate::check::types::Kinds;
        let (a_kinds, b_kinds) = (a.kinds(), b.kinds());
        let numbers = a_kinds.meets(Kinds::NUMBER) && b_kinds.meets(Kinds::NUMBER);
        match (a, b) {
            (Type::Text(a), Type::Text(b)) => a != b,
            _ => !numbers && !a_kinds.meets(b_kinds),
        }
    }

    fn dict_pattern(
        &mut self,
        fields: &'a [PatternField],
        rest: Option<&Option<Box<Name>>>,
        found: &Type,
        exact: bool,
    ) -> Fits {
        let keyed = |m: &Type| match m {
            Type::Shape(_) | Type::Dict(_) => true,
            Type::Named(named) => named.kind != NamedKind::Enum,
            other => other.is_open(),
        };
        let taken = found.only(keyed);
        let mut matched = if exact { taken.clone() } else { found.clone() };
        for field in fields {
            let ty = self.key_type(&taken, &field.key.text);
            if let Some(default) = &field.default {
                self.expr(default, ExpectedType::FREE);
            }
            let ty = match &field.default {
                Some(default) => join(ty.without_nil(), Self::default_type(default)),
                // An arm is chosen only where the key is there.
                None if exact && ty == Type::Nil => Type::Any,
                None if exact => ty.without_nil(),
                None => ty,
            };
            let fits = self.bind_pattern(&field.pattern, &ty, exact);
            if exact && fits.matched == Type::Never && !ty.is_open() {
                matched = matched.only(|m| !matches!(m, Type::Shape(_)));
            }
        }
        if let Some(Some(name)) = rest
            && let Some(id) = self.world.names.made(name.id)
        {
            self.bind_name(id, &Type::dict(Type::Any));
        }
        Fits::some(matched, found.clone())
    }

    /// Returns the type of a key of such a value, with nil if it may be missing.
    fn key_type(&self, ty: &Type, key: &str) -> Type {
        ty.members().iter().fold(Type::Never, |all, m| {
            let one = match m {
                Type::Shape(shape) => match shape.field(key) {
                    Some(field) if field.optional => field.ty.clone().optional(),
                    Some(field) => field.ty.clone(),
                    None if shape.open || !shape.literal => Type::Any,
                    None => Type::Nil,
                },
                Type::Dict(of) => (**of).clone().optional(),
                Type::Named(named) => self
                    .world
                    .fields(named)
                    .and_then(|f| f.field(key).map(|f| fill(&f.ty, &Vec::new())))
                    .unwrap_or(Type::Any),
                _ => Type::Any,
            };
            join(all, one)
        })
    }

    /// The type of a default that has been looked at already.
    fn default_type(default: &Expr) -> Type {
        match &default.kind {
            ExprKind::Int(_) => Type::Int,
            ExprKind::Float(_) => Type::Float,
            ExprKind::Bool(_) => Type::Bool,
            ExprKind::Str(_) => Type::Str,
            ExprKind::Nil => Type::Nil,
            _ => Type::Any,
        }
    }

    fn list_pattern(
        &mut self,
        items: &'a [(Pattern, Option<Expr>)],
        rest: Option<&Option<Box<Name>>>,
        found: &Type,
        exact: bool,
    ) -> Fits {
        let walked = |m: &Type| matches!(m, Type::List(_) | Type::Range) || m.is_open();
        let taken = found.only(|m| walked(m) || (!exact && !matches!(m, Type::Nil)));
        let of = taken.members().iter().fold(Type::Never, |all, m| {
            let one = match m {
                Type::List(of) => (**of).clone(),
                Type::Range => Type::Int,
                _ => Type::Any,
            };
            join(all, one)
        });
        let of = if of == Type::Never { Type::Any } else { of };
        for (item, default) in items {
            let ty = match default {
                Some(default) => {
                    self.expr(default, ExpectedType::FREE);
                    join(of.without_nil(), Self::default_type(default))
                }
                None if exact => of.clone(),
                None => of.clone().optional(),
            };
            self.bind_pattern(item, &ty, exact);
        }
        if let Some(Some(name)) = rest
            && let Some(id) = self.world.names.made(name.id)
        {
            self.bind_name(id, &Type::list(of));
        }
        Fits::some(if exact { taken } else { found.clone() }, found.clone())
    }

    fn pair_pattern(&mut self, a: &'a Pattern, b: &'a Pattern, found: &Type, exact: bool) -> Fits {
        let taken = found.only(|m| matches!(m, Type::Pair(_)) || m.is_open());
        let (first, second) = match &taken {
            Type::Pair(both) => (both.0.clone(), both.1.clone()),
            _ => (Type::Any, Type::Any),
        };
        self.bind_pattern(a, &first, exact);
        self.bind_pattern(b, &second, exact);
        Fits::some(if exact { taken } else { found.clone() }, found.clone())
    }

    fn variant_pattern(
        &mut self,
        pattern: &'a Pattern,
        enum_name: Option<&Name>,
        variant: &Name,
        args: &'a [Pattern],
        found: &Type,
    ) -> Fits {
        let is_builtin = |name: &Name| name.text == "Result" && self.binding_of(name.id).is_none();
        let result = enum_name.is_none_or(is_builtin) && matches!(variant.text.as_str(), "Ok" | "Err");
        let taken = found.only(|m| match m {
            Type::Result(_) => result,
            Type::Named(named) => named.kind != NamedKind::Struct && !result,
            other => other.is_open(),
        });
        let payload = self.payload(&taken, enum_name, variant, args.len());
        for (arg, ty) in args.iter().zip(payload.iter().chain(std::iter::repeat(&Type::Any))) {
            self.bind_pattern(arg, ty, true);
        }
        let _ = pattern;
        Fits::some(taken, found.clone())
    }

    /// The types of the values in a variant.
    fn payload(&self, taken: &Type, enum_name: Option<&Name>, variant: &Name, count: usize) -> Vec<Type> {
        if let Type::Result(both) = taken {
            let payload = if variant.text == "Ok" { &both.0 } else { &both.1 };
            return vec![payload.clone().or_unknown()];
        }
        let id = match taken {
            Type::Named(named) => Some(named.id),
            _ => enum_name.and_then(|name| self.binding_of(name.id)),
        };
        let Some(values) = id.and_then(|id| self.world.variant(id, &variant.text)) else {
            return vec![Type::Any; count];
        };
        let bound = match taken {
            Type::Named(named) => self.arguments_of(named),
            _ => Vec::new(),
        };
        values.iter().map(|(ty, _)| fill(ty, &bound)).collect()
    }

    /// A declared struct, enum or interface as a type.
    pub(super) fn named(&self, id: BindingId, args: Vec<Type>) -> Type {
        let Some(item) = self.world.items.get(id) else {
            let (kind, name) = match self.world.definition(id) {
                Some(TypeDecl::Struct(def)) => (NamedKind::Struct, def.name.clone()),
                Some(TypeDecl::Enum(def)) => (NamedKind::Enum, def.name.clone()),
                Some(TypeDecl::Interface(def)) => (NamedKind::Interface, def.name.clone()),
                Some(TypeDecl::Alias(_)) | None => return Type::Any,
            };
            return Type::Named(Rc::new(crate::check::types::NamedType { id, kind, name, args })).bounded();
        };
        let (kind, name) = match &item.kind {
            ItemKind::Struct { name, .. } => (NamedKind::Struct, name),
            ItemKind::Enum { name, .. } => (NamedKind::Enum, name),
            ItemKind::Interface { name, .. } => (NamedKind::Interface, name),
            _ => return Type::Any,
        };
        Type::Named(Rc::new(crate::check::types::NamedType { id, kind, name: name.text.clone(), args })).bounded()
    }
}

/// Calls `visit` with the names that a pattern binds, those of all alternatives.
fn names_of(pattern: &Pattern, visit: &mut dyn FnMut(NodeId)) {
    match &pattern.kind {
        PatternKind::Bind(_) => visit(pattern.id),
        PatternKind::Dict { fields, rest, .. } => {
            fields.iter().for_each(|f| names_of(&f.pattern, visit));
            rest.iter().flatten().for_each(|name| visit(name.id));
        }
        PatternKind::List { items, rest } => {
            items.iter().for_each(|(p, _)| names_of(p, visit));
            rest.iter().flatten().for_each(|name| visit(name.id));
        }
        PatternKind::Pair(a, b) => {
            names_of(a, visit);
            names_of(b, visit);
        }
        PatternKind::Variant { args, .. } | PatternKind::Or(args) => args.iter().for_each(|p| names_of(p, visit)),
        PatternKind::Wildcard | PatternKind::Literal(_) | PatternKind::Error => {}
    }
}
