//! Assignments.

use super::Checker;
use super::want::{DemandOrigin, ExpectedType};
use crate::ast::*;
use crate::check::types::{Numbers, Shape, ShapeKey, Type, fill, join};
use crate::source::Span;
use std::rc::Rc;

impl<'a> Checker<'a> {
    pub(super) fn assignment(&mut self, target: &'a Expr, op: Option<BinaryOp>, value: &'a Expr, span: Span) {
        if let ExprKind::Name(_) = &target.kind {
            return self.variable(target, op, value, span);
        }
        let place = self.place(target);
        let found = match (op, &place) {
            (None, Some((wanted, at))) => {
                let want = ExpectedType::must(wanted, DemandOrigin::Declared(*at));
                let found = self.expr(value, want);
                self.pushed_border(target, value, want);
                found
            }
            (Some(_), Some((wanted, at))) => {
                let added = self.expr(value, ExpectedType::FREE);
                self.operand_border(value, &added, wanted, DemandOrigin::Declared(*at));
                added
            }
            _ => self.expr(value, ExpectedType::FREE),
        };
        let Some(root) = root_of(target) else { return };
        let Some(id) = self.binding_of(root.id) else { return };
        let before = self.known(id);
        let after = match op {
            None => changed(&before, target, &found),
            Some(_) => shell(&before),
        };
        self.learn(id, after);
    }

    fn variable(&mut self, target: &'a Expr, op: Option<BinaryOp>, value: &'a Expr, span: Span) {
        let Some(id) = self.binding_of(target.id) else {
            self.expr(value, ExpectedType::FREE);
            return;
        };
        let base = self.base(id);
        let written = self.world.names.binding(id).span;
        let found = match op {
            None => {
                let want = ExpectedType::must(&base, DemandOrigin::Written(written));
                let found = self.expr(value, want);
                self.pushed_border(target, value, want);
                found
            }
            Some(op) => {
                let old = self.known(id);
                let new = self.expr(value, ExpectedType::FREE);
                let found = self.operation(op, &old, &new, target.span, value.span, span);
                self.operand_border(value, &new, &base, DemandOrigin::Written(written));
                self.fit(target.span, found, ExpectedType::must(&base, DemandOrigin::Written(written)))
            }
        };
        let now = self.as_written(found, &base);
        self.learn(id, now);
    }

    /// Notes the right side of `x += y` if its type is not certain: a number stays one of its type if it is changed by such a one.
    fn operand_border(&mut self, value: &Expr, found: &Type, place: &Type, why: DemandOrigin) {
        if matches!(place, Type::Int | Type::Float) {
            self.border(value.id, found, ExpectedType::must(place, why));
        }
    }

    /// Looks at the path that is assigned to: what its last part must be, and where that is written.
    fn place(&mut self, target: &'a Expr) -> Option<(Type, Span)> {
        match &target.kind {
            ExprKind::Field { object, name, .. } => {
                let holder = self.place_value(object);
                self.assigned_key(&holder, &name.text, name.span)
            }
            ExprKind::Index { object, index, .. } => {
                let holder = self.place_value(object);
                let index_type = self.expr(index, ExpectedType::FREE);
                self.assigned_index(&holder, &index_type, object.span, index.span)
            }
            _ => None,
        }
    }

    /// Value of a part of the path.
    fn place_value(&mut self, e: &'a Expr) -> Type {
        self.expr(e, ExpectedType::FREE)
    }
}

fn root_of(target: &Expr) -> Option<&Expr> {
    let mut e = target;
    loop {
        match &e.kind {
            ExprKind::Field { object, .. } | ExprKind::Index { object, .. } => e = object,
            ExprKind::Name(_) => return Some(e),
            _ => return None,
        }
    }
}

/// Returns the type of a variable after one of its parts was assigned to.
fn changed(before: &Type, target: &Expr, value: &Type) -> Type {
    let (object, key) = match &target.kind {
        ExprKind::Field { object, name, .. } => (object, Some(name.text.as_str())),
        ExprKind::Index { object, index, .. } => (object, index.plain_text()),
        _ => return shell(before),
    };
    if !matches!(object.kind, ExprKind::Name(_)) {
        return shell(before);
    }
    match (before, key) {
        (Type::List(of), _) => Type::list(join((**of).clone(), value.clone())),
        (Type::Dict(of), _) => Type::dict(join((**of).clone(), value.clone())),
        (Type::Shape(shape), Some(key)) if shape.literal => {
            let mut fields: Vec<ShapeKey> = shape.fields.iter().filter(|f| f.name != key).cloned().collect();
            fields.push(ShapeKey {
                name: key.into(),
                ty: value.clone(),
                optional: false,
                at: None,
                numbers: Numbers::Open,
            });
            Type::Shape(Rc::new(Shape { fields, ..**shape }))
        }
        _ => shell(before),
    }
}

/// Returns the type without its details, after some part deep inside has changed.
fn shell(before: &Type) -> Type {
    match before {
        Type::List(_) => Type::list(Type::Any),
        Type::Dict(_) => Type::dict(Type::Any),
        Type::Shape(shape) if shape.literal => {
            let fields =
                shape.fields.iter().map(|f| ShapeKey { ty: Type::Any, at: None, numbers: Numbers::Open, ..f.clone() });
            Type::Shape(Rc::new(Shape {
                fields: fields.collect(),
                open: true,
                literal: true,
                told: false,
                methods: None,
            }))
        }
        Type::Union(members) => members.iter().map(shell).fold(Type::Never, join),
        other => fill(other, &Vec::new()),
    }
}
