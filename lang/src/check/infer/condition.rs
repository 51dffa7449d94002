//! What a test tells: of variables, on the road where it holds and on the one where it fails.

use super::Checker;
use super::flow::Flow;
use super::want::Want;
use crate::ast::*;
use crate::check::types::{Kinds, Type};
use crate::resolve::{BindingId, Target};
use crate::value::Tag;

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
                self.expr(e, Want::FREE);
                let (same, other) = self.compared(a, b);
                if *op == BinaryOp::Eq { (same, other) } else { (other, same) }
            }
            ExprKind::Name(_) => {
                self.expr(e, Want::FREE);
                self.truth(e)
            }
            _ => {
                self.expr(e, Want::FREE);
                let flow = self.flow.clone();
                (flow.clone(), flow)
            }
        }
    }

    /// A test as a value.
    pub(super) fn test(&mut self, e: &'a Expr) {
        let (holds, fails) = self.condition(e);
        self.flow = self.meet(holds, fails);
    }

    /// `x` itself as the test.
    fn truth(&self, e: &Expr) -> (Flow, Flow) {
        let flow = self.flow.clone();
        let Some(id) = self.narrowable(e) else { return (flow.clone(), flow) };
        let ty = self.known(id);
        let holds = ty.only(|m| *m != Type::Nil && *m != Type::Text("".into()));
        // Functions, pairs, variants and structs are always true.
        let always = Kinds::of(Tag::Function).and(Kinds::of(Tag::Pair)).and(Kinds::of(Tag::Variant));
        let fails = ty.only(|m| !m.kinds().within(always));
        (self.with(id, holds), self.with(id, fails))
    }

    fn compared(&self, a: &Expr, b: &Expr) -> (Flow, Flow) {
        let flow = self.flow.clone();
        for (x, y) in [(a, b), (b, a)] {
            if let Some((id, name)) = self.type_asked(x).zip(y.plain_text()) {
                let ty = self.known(id);
                let Some(asked) = of_name(name) else { continue };
                let holds = match &ty {
                    Type::Any => asked.clone(),
                    // An int may stand where a float is written.
                    _ => ty.only(|m| m.kinds().meets(asked.kinds()) || (*m == Type::Float && asked == Type::Int)),
                };
                let fails = ty.only(|m| !(m.kinds().within(asked.kinds()) && *m != Type::Float));
                return (self.with(id, holds), self.with(id, fails));
            }
            let Some(id) = self.narrowable(x) else { continue };
            let ty = self.known(id);
            if matches!(y.kind, ExprKind::Nil) {
                let holds = if ty == Type::Any { Type::Nil } else { ty.only(|m| *m == Type::Nil || m.is_open()) };
                return (self.with(id, holds), self.with(id, ty.without_nil()));
            }
            if let Some(text) = y.plain_text() {
                let text = Type::Text(text.into());
                let holds = match &ty {
                    Type::Any | Type::Str => text.clone(),
                    _ => ty.only(|m| m.kinds().meets(text.kinds()) && !matches!(m, Type::Text(_) if *m != text)),
                };
                let fails = ty.only(|m| *m != text);
                return (self.with(id, holds), self.with(id, fails));
            }
        }
        (flow.clone(), flow)
    }

    /// The variable whose type `type_of(x)` asks for.
    fn type_asked(&self, e: &Expr) -> Option<BindingId> {
        let ExprKind::Call { callee, args } = &e.kind else { return None };
        let Some(Target::Builtin(row)) = self.world.names.uses.get(&callee.span.start) else { return None };
        let (true, [arg]) = (row.module.is_empty() && row.name == "type_of", args.as_slice()) else { return None };
        if arg.spread { None } else { self.narrowable(&arg.value) }
    }

    /// The variable of which a test can tell something.
    fn narrowable(&self, e: &Expr) -> Option<BindingId> {
        self.plain_binding(e).filter(|id| self.trackable(*id) && self.world.items.get(*id).is_none())
    }

    /// The facts here with one more.
    fn with(&self, id: BindingId, ty: Type) -> Flow {
        let mut flow = self.flow.clone();
        flow.set(id, ty);
        flow
    }
}

/// What `type_of` calls by that name; nothing for names that the file or the runtime give.
fn of_name(name: &str) -> Option<Type> {
    Some(match name {
        "nil" => Type::Nil,
        "bool" => Type::Bool,
        "int" => Type::Int,
        "float" => Type::Float,
        "string" => Type::Str,
        "bytes" => Type::Bytes,
        "range" => Type::Range,
        "list" => Type::list(Type::Any),
        "dict" => Type::dict(Type::Any),
        "set" => Type::set(Type::Any),
        "closure" => Type::function(),
        _ => return None,
    })
}
