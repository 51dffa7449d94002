//! Assignments: to a name, in place where that is possible, and to a path.

use super::Compiler;
use super::expression::may_assign;
use super::statement::small_int;
use crate::ast::*;
use crate::resolve::{BindingId, Target};
use crate::source::Span;
use crate::value::Value;
use crate::vm::{KeySource, Op, PathSite, Place, op::Reg};

impl<'a> Compiler<'a> {
    pub(super) fn assignment(&mut self, target: &'a Expr, op: Option<BinaryOp>, value: &'a Expr, span: Span) {
        match &target.kind {
            ExprKind::Name(_) => self.assign_name(target, op, value, span),
            ExprKind::Field { .. } | ExprKind::Index { .. } => self.assign_path(target, op, value, span),
            _ => self.nonsense(
                target.span,
                "invalid assignment target",
                "bind the value to a variable first: `var x = …`",
            ),
        }
    }

    pub(super) fn assign_name(&mut self, target: &'a Expr, op: Option<BinaryOp>, value: &'a Expr, span: Span) {
        let Some(Target::Binding(id)) = self.names.used(target.id) else { return };
        let place = self.place_of(id);
        if let Some(op) = op {
            return self.compound(place, op, target, value, span);
        }
        if self.method_in_place(place, id, value) {
            return;
        }
        match place {
            // Written once, at the end: what it reads of the variable is read before. A value that is refused changes nothing.
            Place::Register(reg) if writes_once(value) && self.borders.at(value.id).is_none() => self.expr(value, reg),
            _ => {
                let src = self.temp();
                self.expr(value, src);
                self.store(place, src, span);
            }
        }
    }

    pub(super) fn compound(&mut self, place: Place, op: BinaryOp, target: &'a Expr, value: &'a Expr, span: Span) {
        if let Place::Register(reg) = place {
            if let Some(imm) = small_int(value) {
                let fused = match op {
                    BinaryOp::Add => Some(Op::AddInt { dst: reg, a: reg, imm }),
                    BinaryOp::Sub => Some(Op::SubInt { dst: reg, a: reg, imm }),
                    BinaryOp::Mul => Some(Op::MulInt { dst: reg, a: reg, imm }),
                    BinaryOp::Div => Some(Op::DivInt { dst: reg, a: reg, imm }),
                    BinaryOp::Rem => Some(Op::RemInt { dst: reg, a: reg, imm }),
                    _ => None,
                };
                if let Some(op) = fused {
                    self.emit(op, span);
                    return;
                }
            }
            if may_assign(value) {
                // The old value counts, whatever the right side does to the variable.
                let a = self.copy(reg, target.span);
                let b = self.operand(value);
                self.emit(Self::binary_op(op, reg, a, b), span);
                return;
            }
            let b = self.operand(value);
            let b = if b == reg { self.copy(b, value.span) } else { b };
            self.emit(Self::binary_op(op, reg, reg, b), span);
            return;
        }
        // A path without keys: read, changed and written back in its place.
        let src = self.temp();
        self.expr(value, src);
        self.shares(src);
        let site = PathSite::new(place, Vec::new(), Some(op), vec![target.span.to(value.span)]);
        self.path(site, src, span);
    }

    pub(super) fn copy(&mut self, src: Reg, span: Span) -> Reg {
        let dst = self.temp();
        self.emit(Op::Move { dst, src }, span);
        self.shares(dst);
        dst
    }

    /// `p.x = v` where `p` lives in a register. False when it lives elsewhere.
    fn assign_field(&mut self, target: &'a Expr, value: &'a Expr) -> bool {
        let ExprKind::Field { object, name, optional: false } = &target.kind else { return false };
        let ExprKind::Name(_) = &object.kind else { return false };
        let Some(Target::Binding(id)) = self.names.used(object.id) else { return false };
        let Place::Register(object) = self.place_of(id) else { return false };
        let src = self.temp();
        self.expr(value, src);
        let field = self.field_site(&name.text, name.span);
        self.emit(Op::SetField { object, src, field }, name.span);
        true
    }

    pub(super) fn assign_path(&mut self, target: &'a Expr, op: Option<BinaryOp>, value: &'a Expr, span: Span) {
        if op.is_none() && (self.path_method_in_place(target, value, span) || self.assign_field(target, value)) {
            return;
        }
        let mut keys = Vec::new();
        let mut at = target;
        let root = loop {
            match &at.kind {
                ExprKind::Field { object, name, optional: false } => {
                    keys.push((None, Some(name), name.span));
                    at = object;
                }
                ExprKind::Index { object, index, optional: false } => {
                    keys.push((Some(&**index), None, object.span));
                    at = object;
                }
                ExprKind::Name(_) => break at,
                _ => {
                    return self.nonsense(
                        at.span,
                        "assignment path must start at a variable",
                        "bind this part with `var x = …`, change it, and assign it back",
                    );
                }
            }
        };
        keys.reverse();
        let Some(Target::Binding(id)) = self.names.used(root.id) else { return };
        let place = self.place_of(id);
        // What is evaluated later may assign to a variable that is a key.
        let later = |at: usize| {
            let mut indexes = keys[at + 1..].iter().filter_map(|(index, ..)| *index);
            may_assign(value) || indexes.any(may_assign)
        };
        let mut sources = Vec::with_capacity(keys.len());
        for (at, (index, name, _)) in keys.iter().enumerate() {
            sources.push(match (index, name) {
                (Some(index), _) => KeySource::Register(self.path_operand(index, place, later(at))),
                (None, Some(name)) => KeySource::Name(Value::Str(self.name_value(&name.text))),
                (None, None) => continue,
            });
        }
        // A constant needs no register.
        if let (Place::Register(object), [KeySource::Register(index)], None) = (place, &sources[..], op)
            && let Some(k) = self.short_constant(value)
        {
            self.note_call(None, keys.iter().map(|(_, _, span)| *span).collect());
            self.emit(Op::SetIndexConst { object, index: *index, k }, span);
            return;
        }
        let src = match op {
            Some(_) => self.path_operand(value, place, false),
            None => {
                let src = self.temp();
                self.expr(value, src);
                src
            }
        };
        let mut spans: Vec<Span> = keys.iter().map(|(_, _, span)| *span).collect();
        if let (Place::Register(object), [KeySource::Register(index)], None) = (place, &sources[..], op) {
            self.note_call(None, spans);
            self.emit(Op::SetIndex { object, index: *index, src }, span);
            return;
        }
        spans.push(target.span);
        self.path(PathSite::new(place, sources, op, spans), src, span);
    }

    /// The register of a key or value of a path in `place`: not the one that is changed.
    fn path_operand(&mut self, e: &'a Expr, place: Place, assigned: bool) -> Reg {
        let reg = self.operand(e);
        if self.is_temp(reg) {
            self.shares(reg);
            return reg;
        }
        if assigned || matches!(place, Place::Register(root) if root == reg) { self.copy(reg, e.span) } else { reg }
    }

    /// Returns the constant that an expression is, if its index fits into sixteen bits.
    fn short_constant(&mut self, e: &Expr) -> Option<u16> {
        if self.fn_ref().proto.constants.len() >= usize::from(u16::MAX) {
            return None;
        }
        let k = match &e.kind {
            ExprKind::Nil => self.constant(Value::Nil),
            ExprKind::Bool(value) => self.constant(Value::Bool(*value)),
            ExprKind::Int(value) => self.constant(Value::Int(*value)),
            ExprKind::Float(value) => self.constant(Value::Float(*value)),
            ExprKind::Str(parts) => match &parts[..] {
                [] => self.string_constant(""),
                [StrPart::Text(text)] => self.string_constant(text),
                _ => return None,
            },
            _ => return None,
        };
        u16::try_from(k).ok()
    }

    /// `x.y = x.y.method(…)`: the receiver is changed where it lives. False when this is something else.
    fn path_method_in_place(&mut self, target: &'a Expr, value: &'a Expr, span: Span) -> bool {
        let ExprKind::Call { callee, args } = &value.kind else { return false };
        let ExprKind::Field { object: receiver, name, optional: false } = &callee.kind else { return false };
        let mut keys = Vec::new();
        let Some(id) = self.same_path(target, receiver, &mut keys) else { return false };
        let place = self.place_of(id);
        if keys.len() > MOST_KEYS || !self.may_change_in_place(name, args, place) {
            return false;
        }
        let mut sources = Vec::with_capacity(keys.len());
        let mut spans = Vec::with_capacity(keys.len() + 1);
        for (index, name, span) in keys {
            spans.push(span);
            sources.push(match (index, name) {
                (Some(index), _) => KeySource::Register(self.path_operand(index, place, false)),
                (None, Some(name)) => KeySource::Name(Value::Str(self.name_value(&name.text))),
                (None, None) => continue,
            });
        }
        spans.push(target.span);
        let path = self.path_site(PathSite::new(place, sources, None, spans), span);
        self.change_in_place(place, Some(path), receiver, name, args, value.span);
        true
    }

    /// Collects the keys of a path that two expressions write in the same way, from its variable on. The indexes are names and
    /// constants: to evaluate them once in place of twice makes no difference.
    fn same_path(&self, a: &'a Expr, b: &Expr, keys: &mut Vec<PathPart<'a>>) -> Option<BindingId> {
        match (&a.kind, &b.kind) {
            (ExprKind::Name(_), ExprKind::Name(_)) => {
                let id = self.same_binding(a, b)?;
                (!keys.is_empty()).then_some(())?;
                keys.reverse();
                Some(id)
            }
            (
                ExprKind::Field { object, name, optional: false },
                ExprKind::Field { object: other, name: same, optional: false },
            ) if name.text == same.text && !self.names.namespaced.contains_key(&same.id) => {
                keys.push((None, Some(name), name.span));
                self.same_path(object, other, keys)
            }
            (
                ExprKind::Index { object, index, optional: false },
                ExprKind::Index { object: other, index: same, optional: false },
            ) => {
                let is_same = match (&index.kind, &same.kind) {
                    (ExprKind::Int(a), ExprKind::Int(b)) => a == b,
                    (ExprKind::Str(a), ExprKind::Str(b)) => match (&a[..], &b[..]) {
                        ([StrPart::Text(a)], [StrPart::Text(b)]) => a == b,
                        _ => false,
                    },
                    (ExprKind::Name(_), ExprKind::Name(_)) => self.same_binding(index, same).is_some(),
                    _ => false,
                };
                is_same.then_some(())?;
                keys.push((Some(index), None, object.span));
                self.same_path(object, other, keys)
            }
            _ => None,
        }
    }

    fn same_binding(&self, a: &Expr, b: &Expr) -> Option<BindingId> {
        match (self.names.used(a.id)?, self.names.used(b.id)?) {
            (Target::Binding(a), Target::Binding(b)) if a == b => Some(a),
            _ => None,
        }
    }

    fn path_site(&mut self, site: PathSite, span: Span) -> u16 {
        let paths = &mut self.fn_mut().proto.paths;
        paths.push(site);
        let i = paths.len() - 1;
        self.index(i, span, "assigned paths")
    }

    fn path(&mut self, site: PathSite, src: Reg, span: Span) {
        let is_update = site.op.is_some();
        let path = self.path_site(site, span);
        self.emit(if is_update { Op::UpdatePath { src, path } } else { Op::AssignPath { src, path } }, span);
    }
}

/// The most keys of a path on which a method changes a value in place: the long way is skipped by one byte.
const MOST_KEYS: usize = 16;

/// A key of a path: an index or a name, and the span for errors.
type PathPart<'a> = (Option<&'a Expr>, Option<&'a Name>, Span);

/// Whether an expression writes its target only when everything in it has been read.
fn writes_once(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Nil
        | ExprKind::Bool(_)
        | ExprKind::Int(_)
        | ExprKind::Float(_)
        | ExprKind::Str(_)
        | ExprKind::Name(_)
        | ExprKind::Type(_)
        | ExprKind::Closure(_)
        | ExprKind::Unary(..)
        | ExprKind::Binary(..)
        | ExprKind::Call { .. }
        | ExprKind::Field { .. }
        | ExprKind::Index { .. }
        | ExprKind::Slice { .. }
        | ExprKind::Range { .. }
        | ExprKind::Struct { .. }
        | ExprKind::Pair(..) => true,
        ExprKind::List(items) => items.iter().all(|i| !i.spread),
        ExprKind::Dict(items) => items.iter().all(|i| matches!(i, DictItem::Entry { .. })),
        _ => false,
    }
}
