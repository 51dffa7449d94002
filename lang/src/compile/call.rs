//! Calls, methods, and the chains they stand in.

use super::Compiler;
use super::expression::may_assign;
use super::function::in_a_row;
use super::record::Static;
use crate::ast::*;
use crate::declaration::Builtin;
use crate::resolve::{BindingId, Target};
use crate::source::Span;
use crate::vm::{ChangedPlace, Op, Place, op::IN_LIST, op::Reg};

/// More arguments than this go through a list.
const MOST_ARGUMENTS: usize = 200;

impl<'a> Compiler<'a> {
    /// A chain of fields, indexes and calls, from its head: a `?.` that finds nothing skips to its end.
    pub(super) fn whole_chain(&mut self, e: &'a Expr, dst: Reg) {
        let mut nones = Vec::new();
        self.chain(e, dst, &mut nones);
        if nones.is_empty() {
            return;
        }
        let end = self.jump(e.span);
        self.patch_here(&nones);
        self.emit(Op::Nil { dst }, e.span);
        self.patch_here(&[end]);
    }

    fn chain(&mut self, e: &'a Expr, dst: Reg, nones: &mut Vec<usize>) {
        match &e.kind {
            ExprKind::Field { name, .. } if let Some(member) = self.static_member(name) => {
                self.static_value(&member, dst, e.span);
            }
            ExprKind::Field { object, name, optional: false } if is_link(object) && is_plain_index(object) => {
                let item = self.temp();
                self.link_into(object, item, nones);
                let field = self.field_site(&name.text, name.span);
                self.item_field(item, dst, object.span);
                self.emit(Op::GetField { dst, object: item, field }, object.span);
                self.shares(dst);
            }
            ExprKind::Field { object, name, optional } => {
                let object_reg = self.link(object, nones);
                if *optional {
                    nones.push(self.emit(Op::JumpIfNone { a: object_reg, by: 0 }, object.span));
                }
                let field = self.field_site(&name.text, name.span);
                self.emit(Op::GetField { dst, object: object_reg, field }, object.span);
                self.shares(dst);
            }
            ExprKind::Index { object, index, optional } => {
                let (object_reg, index) = self.item_operands(object, index, *optional, nones);
                let op = if *optional {
                    Op::GetIndexOr { dst, object: object_reg, index }
                } else {
                    Op::GetIndex { dst, object: object_reg, index }
                };
                self.emit(op, object.span);
                self.shares(dst);
            }
            ExprKind::Slice { object, from, to } => {
                let mut object_reg = self.link(object, nones);
                if !self.is_temp(object_reg) && from.iter().chain(to).any(|e| may_assign(e)) {
                    object_reg = self.copy(object_reg, object.span);
                }
                let bounds = self.temps(2);
                for (reg, bound) in [(bounds, from), (bounds + 1, to)] {
                    match bound {
                        Some(e) => self.expr(e, reg),
                        None => {
                            self.emit(Op::Nil { dst: reg }, e.span);
                        }
                    }
                }
                self.emit(Op::Slice { dst, object: object_reg, bounds }, object.span);
            }
            ExprKind::Call { callee, args } => self.call(callee, args, dst, e.span, nones),
            _ => self.expr(e, dst),
        }
    }

    /// Returns the registers of a collection and of the index or key of its item.
    pub(super) fn item_operands(
        &mut self,
        object: &'a Expr,
        index: &'a Expr,
        optional: bool,
        nones: &mut Vec<usize>,
    ) -> (Reg, Reg) {
        let mut object_reg = self.link(object, nones);
        if optional {
            nones.push(self.emit(Op::JumpIfNone { a: object_reg, by: 0 }, object.span));
        }
        if !self.is_temp(object_reg) && may_assign(index) {
            object_reg = self.copy(object_reg, object.span);
        }
        (object_reg, self.operand(index))
    }

    /// Puts an instruction before the one that was made last, if that reads an item of a list: it reads the item's field too.
    fn item_field(&mut self, item: Reg, dst: Reg, span: Span) {
        let Some(Op::GetIndex { dst: read, object, index }) = self.fn_ref().proto.code.last().copied() else { return };
        if read != item {
            return;
        }
        let state = &mut self.fn_mut().proto;
        let at = state.code.len() - 1;
        state.code.insert(at, Op::ItemField { by: 2, dst, object, index });
        state.spans.insert(at, span);
    }

    fn link(&mut self, e: &'a Expr, nones: &mut Vec<usize>) -> Reg {
        if is_link(e) {
            let dst = self.temp();
            self.link_into(e, dst, nones);
            return dst;
        }
        self.operand(e)
    }

    /// Does what [`Self::link`] does, into the newest register, and frees those that it needed on the way.
    fn link_into(&mut self, e: &'a Expr, dst: Reg, nones: &mut Vec<usize>) {
        if is_link(e) {
            self.chain(e, dst, nones);
            self.keep_part(e, dst);
        } else {
            self.expr(e, dst);
        }
        self.free_to(dst + 1);
    }

    fn call(&mut self, callee: &'a Expr, args: &'a [ListItem], dst: Reg, span: Span, nones: &mut Vec<usize>) {
        if let ExprKind::Field { object, name, optional } = &callee.kind {
            if let Some(row) = self.names.namespaced.get(&name.id).copied() {
                return self.call_builtin(row, args, dst, span);
            }
            if let Some(member) = self.static_member(name) {
                return self.call_static(&member, (name.id, callee.span), args, dst, span);
            }
            let base = self.temp();
            match self.dying(object, args, span) {
                Some(src) => {
                    self.emit(Op::Take { dst: base, src }, object.span);
                }
                None => self.link_into(object, base, nones),
            }
            if *optional {
                nones.push(self.emit(Op::JumpIfNone { a: base, by: 0 }, object.span));
            }
            let (argc, mut spans) = self.arguments(args, span);
            spans.insert(0, object.span);
            let site = self.method_site(name);
            self.note_call(None, spans);
            self.emit(Op::CallMethod { argc, dst, base, site }, name.span.to(end_of(span)));
            return;
        }
        match self.direct(callee) {
            Direct::Function(func) => self.call_function(func, (callee.id, callee.span), args, dst, span),
            Direct::Builtin(row) => self.call_builtin(row, args, dst, span),
            Direct::Value => {
                let base = self.temp();
                self.link_into(callee, base, nones);
                let (argc, spans) = self.arguments(args, span);
                self.note_call(Some(callee.span), spans);
                self.emit(Op::Call { argc, dst, base }, span);
            }
        }
    }

    /// `Type.function(…)`, `Enum.Variant(…)`
    fn call_static(&mut self, member: &Static, callee: (NodeId, Span), args: &'a [ListItem], dst: Reg, span: Span) {
        match member {
            Static::Variant(def, tag) if self.make_variant(def, *tag, args, dst, span) => {}
            Static::Variant(..) => {
                let base = self.temp();
                self.static_value(member, base, callee.1);
                let (argc, spans) = self.arguments(args, span);
                self.note_call(Some(callee.1), spans);
                self.emit(Op::Call { argc, dst, base }, span);
            }
            Static::Function(func) => self.call_function(*func, callee, args, dst, span),
        }
    }

    /// Calls a function by its number. If the checker has not seen the arguments, the function checks them.
    fn call_function(&mut self, func: u16, (callee, at): (NodeId, Span), args: &'a [ListItem], dst: Reg, span: Span) {
        if self.borders.checks_arguments(callee) {
            let base = self.fn_ref().next;
            let (argc, spans) = self.arguments(args, span);
            self.note_call(None, spans);
            self.emit(Op::CallFn { argc, dst, base, func }, span);
            return;
        }
        let base = self.temp();
        self.emit(Op::Function { dst: base, func }, at);
        let (argc, spans) = self.arguments(args, span);
        self.note_call(Some(at), spans);
        self.emit(Op::Call { argc, dst, base }, span);
    }

    /// The register of a receiver that nobody reads afterwards: a variable of this function alone, in the call in last
    /// place, that no argument mentions. Moved into the call, it is held once and can be changed in place.
    fn dying(&mut self, object: &Expr, args: &[ListItem], span: Span) -> Option<Reg> {
        if self.fn_ref().last != Some(span) {
            return None;
        }
        let ExprKind::Name(_) = &object.kind else { return None };
        let Target::Binding(id) = self.names.used(object.id)? else { return None };
        if self.names.binding(id).def.is_some()
            || self.names.binding(id).captured
            || args.iter().any(|a| self.mentions(&a.value, id))
        {
            return None;
        }
        match self.place_of(id) {
            Place::Register(reg) if self.fn_ref().own != Some(id) => Some(reg),
            _ => None,
        }
    }

    fn mentions(&self, e: &Expr, id: BindingId) -> bool {
        if may_assign(e) || matches!(self.names.used(e.id), Some(Target::Binding(found)) if found == id) {
            return true;
        }
        let mut found = false;
        e.children(|child| found = found || self.mentions(child, id));
        found
    }

    fn call_builtin(&mut self, row: &'static Builtin, args: &'a [ListItem], dst: Reg, span: Span) {
        if self.observed_assert(row, args, dst, span) {
            return;
        }
        let base = self.fn_ref().next;
        let (argc, spans) = self.arguments(args, span);
        let builtin = self.builtin_site(row, span);
        self.note_call(None, spans);
        self.emit(Op::CallBuiltin { argc, dst, base, builtin }, span);
    }

    fn direct(&self, callee: &Expr) -> Direct {
        let ExprKind::Name(_) = &callee.kind else { return Direct::Value };
        match self.names.used(callee.id) {
            Some(Target::Builtin(row)) => Direct::Builtin(row),
            Some(Target::Binding(id)) => self.functions.get(&id).map_or(Direct::Value, |n| Direct::Function(*n)),
            None => Direct::Value,
        }
    }

    /// The arguments in the next registers; their number and spans.
    fn arguments(&mut self, args: &'a [ListItem], span: Span) -> (u8, Vec<Span>) {
        let spans: Vec<Span> = args.iter().map(|a| a.value.span).collect();
        if args.iter().any(|a| a.spread) || args.len() > MOST_ARGUMENTS {
            let list = self.temp();
            self.emit(Op::List { dst: list, base: list, len: 0 }, span);
            for arg in args {
                let value = self.temp();
                self.expr(&arg.value, value);
                if arg.spread {
                    self.emit(Op::Drain { reg: value }, arg.value.span);
                }
                let op = if arg.spread { Op::ListExtend { list, value } } else { Op::ListPush { list, value } };
                self.emit(op, arg.value.span);
                self.shares(value);
                self.free_to(value);
            }
            return (IN_LIST, spans);
        }
        let count = u8::try_from(args.len()).unwrap_or(0);
        let base = self.temps(u16::from(count));
        for (reg, arg) in in_a_row(base, u16::from(count)).zip(args) {
            self.expr(&arg.value, reg);
        }
        (count, spans)
    }

    /// Calls `callee` with arguments that lie from `base + 1` on already.
    pub(super) fn call_with(&mut self, callee: &'a Expr, base: Reg, argc: u8, dst: Reg, span: Span, spans: Vec<Span>) {
        match self.direct(callee) {
            Direct::Function(func) if self.borders.checks_arguments(callee.id) => {
                self.note_call(None, spans);
                self.emit(Op::CallFn { argc, dst, base: base + 1, func }, span);
            }
            Direct::Function(func) => {
                self.emit(Op::Function { dst: base, func }, callee.span);
                self.note_call(Some(callee.span), spans);
                self.emit(Op::Call { argc, dst, base }, span);
            }
            Direct::Builtin(row) => {
                let builtin = self.builtin_site(row, span);
                self.note_call(None, spans);
                self.emit(Op::CallBuiltin { argc, dst, base: base + 1, builtin }, span);
            }
            Direct::Value => {
                self.expr(callee, base);
                self.note_call(Some(callee.span), spans);
                self.emit(Op::Call { argc, dst, base }, span);
            }
        }
    }

    /// `x = x.method(…)`: the receiver is changed where it lives. False when this is something else.
    pub(super) fn method_in_place(&mut self, place: Place, id: BindingId, value: &'a Expr) -> bool {
        let ExprKind::Call { callee, args } = &value.kind else { return false };
        let ExprKind::Field { object, name, optional: false } = &callee.kind else { return false };
        if !matches!(&object.kind, ExprKind::Name(_))
            || !matches!(self.names.used(object.id), Some(Target::Binding(found)) if found == id)
            || !self.may_change_in_place(name, args, place)
        {
            return false;
        }
        self.change_in_place(place, None, object, name, args, value.span);
        true
    }

    /// Whether a call of a method of what is in a place, or on a path from there, can change it in place.
    pub(super) fn may_change_in_place(&self, name: &Name, args: &[ListItem], place: Place) -> bool {
        !self.names.namespaced.contains_key(&name.id)
            && args.iter().all(|a| !a.spread && is_calm(&a.value, place))
            && args.len() <= MOST_ARGUMENTS
    }

    /// Changes the receiver of a method where it lives: in a variable, or on a path from there.
    pub(super) fn change_in_place(
        &mut self,
        place: Place,
        path: Option<u16>,
        receiver: &'a Expr,
        name: &Name,
        args: &'a [ListItem],
        call: Span,
    ) {
        let base = self.temp();
        let (argc, mut spans) = self.arguments(args, call);
        spans.insert(0, receiver.span);
        let site = self.method_site(name);
        let span = name.span.to(end_of(call));
        let places = &mut self.fn_mut().proto.places;
        places.push(ChangedPlace { root: place, path, skip: 0 });
        let changed = places.len() - 1;
        let index = self.index(changed, span, "changes in place");
        self.note_call(None, spans.clone());
        let short = self.emit(Op::MethodInPlace { argc, base, site, place: index }, span);
        // The long way, skipped when the short one is open: load the receiver, call, store.
        let mut result = base;
        match (path, place) {
            (Some(_), _) => self.expr(receiver, base),
            (None, Place::Register(reg)) => {
                self.emit(Op::Move { dst: base, src: reg }, span);
                result = reg;
            }
            (None, Place::Cell(cell)) => drop(self.emit(Op::GetCell { dst: base, cell }, span)),
            (None, Place::CaptureCell(index)) => drop(self.emit(Op::GetCaptureCell { dst: base, index }, span)),
            (None, Place::Global(slot)) => drop(self.emit(Op::GetGlobal { dst: base, slot }, span)),
        }
        self.note_call(None, spans);
        self.emit(Op::CallMethod { argc, dst: result, base, site }, span);
        match (path, place) {
            (Some(path), _) => drop(self.emit(Op::AssignPath { src: base, path }, span)),
            (None, Place::Register(_)) => {}
            (None, Place::Cell(cell)) => drop(self.emit(Op::SetCell { cell, src: base }, span)),
            (None, Place::CaptureCell(index)) => drop(self.emit(Op::SetCaptureCell { src: base, index }, span)),
            (None, Place::Global(slot)) => drop(self.emit(Op::SetGlobal { src: base, slot }, span)),
        }
        let long = self.fn_ref().proto.code.len() - short - 1;
        self.fn_mut().proto.places[changed].skip = u8::try_from(long).unwrap_or(0);
        self.shares(base);
    }
}

enum Direct {
    Function(u16),
    Builtin(&'static Builtin),
    Value,
}

/// Whether it is `object[index]`.
fn is_plain_index(e: &Expr) -> bool {
    matches!(e.kind, ExprKind::Index { optional: false, .. })
}

fn is_link(e: &Expr) -> bool {
    let (ExprKind::Field { object: receiver, .. }
    | ExprKind::Index { object: receiver, .. }
    | ExprKind::Slice { object: receiver, .. }
    | ExprKind::Call { callee: receiver, .. }) = &e.kind
    else {
        return false;
    };
    // Parentheses end a chain. The tree keeps of them only that the span begins before that of the receiver.
    e.span.start == receiver.span.start
}

/// Whether a part of the chain is skipped if there is nothing to read it from.
pub(super) fn has_optional_link(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Field { object, optional, .. } | ExprKind::Index { object, optional, .. } => {
            *optional || has_optional_link(object)
        }
        ExprKind::Slice { object, .. } => has_optional_link(object),
        ExprKind::Call { callee, .. } => has_optional_link(callee),
        _ => false,
    }
}

/// Whether evaluating an argument cannot change the variable in `place`. A register is changed by statements of this
/// function only; what others may reach, by any call.
fn is_calm(e: &Expr, place: Place) -> bool {
    if may_assign(e) {
        return false;
    }
    matches!(place, Place::Register(_)) || !calls(e)
}

fn calls(e: &Expr) -> bool {
    if matches!(e.kind, ExprKind::Call { .. } | ExprKind::Pipe(..) | ExprKind::Yield(_) | ExprKind::Emit(_)) {
        return true;
    }
    let mut found = false;
    e.children(|child| found = found || calls(child));
    found
}

/// The last byte of a span, so that a method call's span runs from its name to its closing parenthesis.
fn end_of(span: Span) -> Span {
    Span::new(span.end.saturating_sub(1), span.end)
}
