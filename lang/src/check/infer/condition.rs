//! Flow of types through a test: types of variables, and of the paths below them, if it holds and if it fails.
//!
//! A recognised test narrows the path that it names. Any test that mentions a dict of known keys may be a guard that is
//! not understood: in the branches, keys that are missing or nil are then unknown ([`Checker::loosen`]).

use super::Checker;
use super::flow::Flow;
use super::want::ExpectedType;
use crate::ast::*;
use crate::builtin_type::{Kind, Tag, builtin_type};
use crate::check::types::{Kinds, Numbers, Shape, ShapeKey, Type, join};
use crate::resolve::{BindingId, Target};
use crate::source::Span;
use smol_str::SmolStr;
use std::rc::Rc;

/// A longer path is not followed.
const MOST_KEYS: usize = 16;
/// A `let` that binds a test of at most this many bytes is looked at again where its name is tested.
const LONGEST_NAMED_TEST: u32 = 300;
/// At most this many names in a test are loosened.
const MOST_LOOSENED: usize = 32;

/// A variable and the keys that lead from it.
pub(super) type AccessPath = (BindingId, Vec<SmolStr>);

/// Effect on the type of a place.
type Narrow<'n> = &'n dyn Fn(&Type) -> Type;

impl<'a> Checker<'a> {
    /// Looks at a test; what is known where it holds, and where it fails.
    pub(super) fn condition(&mut self, e: &'a Expr) -> (Flow, Flow) {
        match &e.kind {
            ExprKind::Logic(LogicOp::And, a, b) => {
                let (holds, fails) = self.condition(a);
                self.flow = holds;
                let (both, second_fails) = self.condition(b);
                (both, self.meet(fails, second_fails))
            }
            ExprKind::Logic(LogicOp::Or, a, b) => {
                let (holds, fails) = self.condition(a);
                self.flow = fails;
                let (second_holds, neither) = self.condition(b);
                (self.meet(holds, second_holds), neither)
            }
            ExprKind::Unary(UnaryOp::Not, a) => {
                let (holds, fails) = self.condition(a);
                (fails, holds)
            }
            ExprKind::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne), _, a, b) => {
                self.expr(e, ExpectedType::FREE);
                let (same, other) = self.compared(e, a, b);
                if *op == BinaryOp::Eq { (same, other) } else { (other, same) }
            }
            ExprKind::Binary(op @ (BinaryOp::In | BinaryOp::NotIn), _, key, holder) => {
                self.expr(e, ExpectedType::FREE);
                let (has, lacks) = self.contained(e, key, holder);
                if *op == BinaryOp::In { (has, lacks) } else { (lacks, has) }
            }
            ExprKind::Call { callee, args } => {
                self.expr(e, ExpectedType::FREE);
                match (&callee.kind, args.as_slice()) {
                    (ExprKind::Field { object, name, .. }, [key])
                        if !key.spread && matches!(name.text.as_str(), "has" | "contains") =>
                    {
                        self.contained(e, &key.value, object)
                    }
                    _ => self.unrecognised(e),
                }
            }
            ExprKind::Name(_) | ExprKind::Field { .. } | ExprKind::Index { .. } => {
                self.expr(e, ExpectedType::FREE);
                self.truth(e)
            }
            _ => {
                self.expr(e, ExpectedType::FREE);
                self.unrecognised(e)
            }
        }
    }

    /// A test as a value.
    pub(super) fn test(&mut self, e: &'a Expr) {
        let (before, mark) = (self.flow.clone(), self.loosened.len());
        let (holds, fails) = self.condition(e);
        self.flow = self.meet(holds, fails);
        self.tighten(&before, mark);
    }

    /// Returns the flows of a test that has already been checked, without reporting anything.
    pub(super) fn told_by(&mut self, e: &'a Expr) -> (Flow, Flow) {
        let (said, mark) = (self.found.len(), self.loosened.len());
        let before = self.flow.clone();
        let told = self.condition(e);
        self.found.truncate(said);
        self.loosened.truncate(mark);
        self.flow = before;
        told
    }

    /// Remembers a test that a `let` gives a name.
    pub(super) fn name_test(&mut self, id: BindingId, value: &'a Expr) {
        let is_test = matches!(
            value.kind,
            ExprKind::Logic(LogicOp::And | LogicOp::Or, ..)
                | ExprKind::Unary(UnaryOp::Not, _)
                | ExprKind::Binary(..)
                | ExprKind::Call { .. }
        );
        if is_test && value.span.end - value.span.start <= LONGEST_NAMED_TEST {
            self.tests.insert(id, value);
        }
    }

    /// The place itself as the test.
    fn truth(&mut self, e: &'a Expr) -> (Flow, Flow) {
        let Some(place) = self.place_of(e) else { return self.unrecognised(e) };
        if place.1.is_empty()
            && let Some(test) = self.tests.get(&place.0).copied()
            && !self.in_named_test
            && self.lasts(test)
        {
            self.in_named_test = true;
            let told = self.told_by(test);
            self.in_named_test = false;
            return told;
        }
        // Functions, pairs and variants are always true.
        let always = Kinds::of(Tag::Function).and(Kinds::of(Tag::Pair)).and(Kinds::of(Tag::Variant));
        self.tell(&place, &|ty| ty.only(|m| *m != Type::Nil && *m != Type::Text("".into())), &|ty| {
            ty.only(|m| !m.kinds().within(always))
        })
    }

    /// Whether no variable in a test is assigned to.
    fn lasts(&self, test: &Expr) -> bool {
        let mut ids = Vec::new();
        self.mentioned(test, &mut ids);
        ids.iter().all(|id| !self.world.names.binding(*id).assigned)
    }

    fn compared(&mut self, e: &'a Expr, a: &'a Expr, b: &'a Expr) -> (Flow, Flow) {
        for (x, y) in [(a, b), (b, a)] {
            if let Some((place, name)) = self.type_asked(x).zip(y.plain_text()) {
                let Some(asked) = of_name(name) else { continue };
                return self.tell(&place, &|ty| of_kind(ty, &asked), &|ty| {
                    ty.only(|m| !(m.kinds().within(asked.kinds()) && *m != Type::Float))
                });
            }
            let Some(place) = self.place_of(x) else { continue };
            if matches!(y.kind, ExprKind::Nil) {
                return self.tell(
                    &place,
                    &|ty| if *ty == Type::Any { Type::Nil } else { ty.only(|m| *m == Type::Nil || m.is_open()) },
                    &Type::without_nil,
                );
            }
            if let Some(text) = y.plain_text() {
                let text = Type::Text(text.into());
                return self.tell(
                    &place,
                    &|ty| match ty {
                        Type::Any | Type::Str => text.clone(),
                        _ => ty.only(|m| m.kinds().meets(text.kinds()) && !matches!(m, Type::Text(_) if *m != text)),
                    },
                    &|ty| ty.only(|m| *m != text),
                );
            }
        }
        self.unrecognised(e)
    }

    /// `"key" in holder`, `holder.has("key")`
    fn contained(&mut self, e: &'a Expr, key: &'a Expr, holder: &'a Expr) -> (Flow, Flow) {
        let place = self.place_of(holder).zip(self.key_text(key));
        let Some(((id, mut keys), key)) = place else { return self.unrecognised(e) };
        keys.push(key);
        self.tell(&(id, keys), &|ty| ty.without_nil().or_unknown(), &Type::clone)
    }

    /// The place whose type `type_of(x)` asks for.
    pub(super) fn type_asked(&self, e: &Expr) -> Option<AccessPath> {
        let ExprKind::Call { callee, args } = &e.kind else { return None };
        let Some(Target::Builtin(row)) = self.world.names.used(callee.id) else { return None };
        let (true, [arg]) = (row.module.is_empty() && row.name == "type_of", args.as_slice()) else { return None };
        if arg.spread { None } else { self.place_of(&arg.value) }
    }

    /// The variable and the keys that an expression names, where tests can tell something of it.
    pub(super) fn place_of(&self, e: &Expr) -> Option<AccessPath> {
        match &e.kind {
            ExprKind::Name(_) => Some((self.narrowable(e)?, Vec::new())),
            ExprKind::Field { object, name, .. } => {
                let (id, mut keys) = self.place_of(object)?;
                keys.push(name.text.clone());
                (keys.len() <= MOST_KEYS).then_some((id, keys))
            }
            ExprKind::Index { object, index, .. } => {
                let (id, mut keys) = self.place_of(object)?;
                keys.push(self.key_text(index)?);
                (keys.len() <= MOST_KEYS).then_some((id, keys))
            }
            _ => None,
        }
    }

    /// The text that a key is certain to be.
    fn key_text(&self, e: &Expr) -> Option<SmolStr> {
        if let Some(text) = e.plain_text() {
            return Some(text.into());
        }
        match self.known(self.narrowable(e)?) {
            Type::Text(text) => Some(text),
            _ => None,
        }
    }

    fn narrowable(&self, e: &Expr) -> Option<BindingId> {
        self.plain_binding(e).filter(|id| self.trackable(*id) && self.world.items.get(*id).is_none())
    }

    /// The facts where a test of a place holds and where it fails.
    pub(super) fn tell(&mut self, place: &AccessPath, holds: Narrow<'_>, fails: Narrow<'_>) -> (Flow, Flow) {
        let (id, keys) = (place.0, place.1.as_slice());
        if !keys.is_empty() {
            // One key may say which others there are.
            self.loosen_binding(id);
        }
        let ty = self.known(id);
        let (held, failed) = (self.refined(&ty, keys, holds), self.refined(&ty, keys, fails));
        (self.with(id, held), self.with(id, failed))
    }

    /// A type with a part of it narrowed.
    pub(super) fn refined(&self, ty: &Type, keys: &[SmolStr], narrow: Narrow<'_>) -> Type {
        let Some((key, rest)) = keys.split_first() else { return narrow(ty) };
        match ty {
            Type::Shape(shape) => {
                let old = shape.field(key);
                // A method by that name is found where there is no such key.
                if old.is_none() && self.world.registry.find("<dict>", key).is_some() {
                    return ty.clone();
                }
                let now = match old {
                    Some(field) if field.optional => field.ty.clone().optional(),
                    Some(field) => field.ty.clone(),
                    None if shape.literal && !shape.open => Type::Nil,
                    None => Type::Any,
                };
                let new = self.refined(&now, rest, narrow);
                if new == now && old.is_some_and(|f| !f.optional) {
                    return ty.clone();
                }
                let mut fields: Vec<ShapeKey> = shape.fields.clone();
                match fields.iter_mut().find(|f| f.name == *key) {
                    // What may be missing stays so until it is known not to be nil.
                    Some(field) if new == now => field.ty = field.ty.clone(),
                    Some(field) => (field.ty, field.optional) = (new, false),
                    None if new == now => return ty.clone(),
                    None => fields.push(ShapeKey {
                        name: key.clone(),
                        ty: new,
                        optional: false,
                        at: None,
                        numbers: Numbers::Open,
                    }),
                }
                Type::Shape(Rc::new(Shape { fields, ..**shape })).bounded()
            }
            Type::Union(members) => {
                let narrowed: Vec<Type> = members.iter().map(|m| self.refined(m, keys, narrow)).collect();
                // A member whose promised key cannot be that is not the one.
                let left = |m: &&Type| !self.lost(m, keys);
                let kept: Vec<&Type> = narrowed.iter().filter(left).collect();
                let kept = if kept.is_empty() { narrowed.iter().collect() } else { kept };
                kept.into_iter().cloned().fold(Type::Never, join)
            }
            other => other.clone(),
        }
    }

    /// Whether a written dict type has nothing left that its key could be.
    fn lost(&self, ty: &Type, keys: &[SmolStr]) -> bool {
        let (Type::Shape(shape), Some((key, rest))) = (ty, keys.split_first()) else { return false };
        if shape.literal {
            return false;
        }
        match shape.field(key) {
            Some(field) if rest.is_empty() => field.ty == Type::Never,
            Some(field) => self.lost(&field.ty, rest),
            None => false,
        }
    }

    /// The facts here with one more.
    fn with(&self, id: BindingId, ty: Type) -> Flow {
        self.with_fact(self.flow.clone(), id, ty)
    }

    /// A test of which nothing is understood but the names in it.
    fn unrecognised(&mut self, e: &Expr) -> (Flow, Flow) {
        self.loosen(e);
        (self.flow.clone(), self.flow.clone())
    }

    /// Takes as unknown what the variables in a test may hold beyond what their literals say.
    pub(super) fn loosen(&mut self, e: &Expr) {
        let mut ids = Vec::new();
        self.mentioned(e, &mut ids);
        ids.into_iter().for_each(|id| self.loosen_binding(id));
    }

    fn mentioned(&self, e: &Expr, ids: &mut Vec<BindingId>) {
        if ids.len() >= MOST_LOOSENED {
            return;
        }
        if let Some(id) = self.narrowable(e) {
            if !ids.contains(&id) {
                ids.push(id);
            }
            return;
        }
        e.children(|child| self.mentioned(child, ids));
    }

    pub(super) fn loosen_binding(&mut self, id: BindingId) {
        let old = self.known(id);
        let new = loose(&old);
        if new != old {
            self.learn(id, new.clone());
            self.loosened.push((id, new));
        }
    }

    /// Behind an `if` of which both branches end, what they took as unknown is what it was.
    pub(super) fn tighten(&mut self, before: &Flow, mark: usize) {
        for (id, ty) in self.loosened.split_off(mark) {
            if self.flow.fact(id) == Some(&ty) {
                self.restore(before, id);
            }
        }
    }

    /// Reports nothing about tests whose branches end elsewhere.
    pub(super) fn keep_loose(&mut self, mark: usize) {
        self.loosened.truncate(mark);
    }

    /// The span of a test that is worth looking at again.
    pub(super) fn is_short(span: Span) -> bool {
        span.end - span.start <= LONGEST_NAMED_TEST
    }
}

/// Returns the part of a type for which `type_of` returns `asked`.
pub(super) fn of_kind(ty: &Type, asked: &Type) -> Type {
    match ty {
        Type::Any => asked.clone(),
        // An int may stand where a float is written.
        _ => ty.only(|m| m.kinds().meets(asked.kinds()) || (*m == Type::Float && *asked == Type::Int)),
    }
}

/// A type of which only what is there is known: keys that are missing or nil may be anything.
fn loose(ty: &Type) -> Type {
    match ty {
        Type::Nil | Type::Never => Type::Any,
        Type::Shape(shape) if shape.literal => {
            let fields = shape.fields.iter().map(|f| ShapeKey {
                ty: loose(&f.ty),
                at: None,
                numbers: Numbers::Open,
                ..f.clone()
            });
            Type::Shape(Rc::new(Shape {
                fields: fields.collect(),
                open: true,
                literal: true,
                told: false,
                methods: None,
            }))
        }
        Type::List(of) => Type::list(loose(of)),
        Type::Union(members) if members.iter().any(|m| matches!(m, Type::Shape(s) if s.literal)) => {
            members.iter().map(|m| if *m == Type::Nil { Type::Nil } else { loose(m) }).fold(Type::Never, join)
        }
        other => other.clone(),
    }
}

/// Returns the type that `type_of` calls by that name, or `None` for names that come from the file or the runtime.
pub(super) fn of_name(name: &str) -> Option<Type> {
    if name == "closure" {
        return Some(Type::function());
    }
    match builtin_type(name)?.kind {
        Kind::Any | Kind::Never | Kind::Pair | Kind::Result => None,
        kind => (kind.name() == name).then(|| Type::of_kind(kind, &mut std::iter::empty())),
    }
}
