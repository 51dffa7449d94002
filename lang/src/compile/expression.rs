//! Expressions: each leaves its value in a register.

use super::Compiler;
use super::function::in_a_row;
use super::statement::small_int;
use crate::ast::*;
use crate::resolve::{BindingId, Target};
use crate::source::Span;
use crate::value::Value;
use crate::vm::{Op, Place, Proto, op::Reg};
use std::rc::Rc;

impl<'a> Compiler<'a> {
    /// Compiles `e`; its value is in `dst` afterwards. `dst` may be written before all of `e` is evaluated.
    pub(super) fn expr(&mut self, e: &'a Expr, dst: Reg) {
        let next = self.fn_ref().next;
        self.expr_into(e, dst);
        self.free_to(next);
        self.check_border(e, dst);
        self.keep_part(e, dst);
    }

    fn expr_into(&mut self, e: &'a Expr, dst: Reg) {
        let span = e.span;
        match &e.kind {
            ExprKind::Nil => {
                self.emit(Op::Nil { dst }, span);
            }
            ExprKind::Bool(value) => {
                self.emit(Op::Bool { dst, value: *value }, span);
            }
            ExprKind::Int(i) => match i32::try_from(*i) {
                Ok(value) => {
                    self.emit(Op::Int { dst, value }, span);
                }
                Err(_) => self.load(Value::Int(*i), dst, span),
            },
            ExprKind::Float(f) => self.load(Value::Float(*f), dst, span),
            ExprKind::Str(parts) => self.string(parts, dst, span),
            ExprKind::Name(_) | ExprKind::Placeholder => self.name(e, dst),
            ExprKind::Type(ty) => self.type_value(ty, dst, span),
            ExprKind::List(items) => self.list(items, dst, span),
            ExprKind::Dict(items) => self.dict(items, dst, span),
            ExprKind::Struct { name, items } => self.struct_literal(name, items, dst, span),
            ExprKind::Pair(a, b) => {
                let (a, b) = self.two_operands(a, b);
                self.emit(Op::Pair { dst, a, b }, span);
            }
            ExprKind::Closure(closure) => self.closure(closure, dst, span),
            ExprKind::Unary(UnaryOp::Not, a) => {
                let a = self.operand(a);
                self.emit(Op::Not { dst, a }, span);
            }
            ExprKind::Unary(UnaryOp::Neg, a) => match a.kind {
                // The smallest int has no positive twin: the lexer makes it of the digits behind a sign.
                ExprKind::Int(i64::MIN) => self.expr(a, dst),
                ExprKind::Int(i) if i32::try_from(-i).is_ok() => {
                    let value = i32::try_from(-i).unwrap_or(0);
                    self.emit(Op::Int { dst, value }, span);
                }
                _ => {
                    let a = self.operand(a);
                    self.emit(Op::Neg { dst, a }, span);
                }
            },
            ExprKind::Binary(op, _, a, b) => self.binary(*op, a, b, dst, span),
            ExprKind::Logic(op, a, b) => self.logic(*op, a, b, dst, span),
            ExprKind::Pipe(a, b) => self.pipe(a, b, dst, span),
            ExprKind::Range { from, to, exclusive } => {
                let (a, b) = self.two_operands(from, to);
                let op = if *exclusive { Op::RangeExclusive { dst, a, b } } else { Op::Range { dst, a, b } };
                self.emit(op, span);
            }
            ExprKind::Ternary(cond, then, otherwise) => {
                let no = self.condition(cond, false);
                self.expr(then, dst);
                let end = self.jump(span);
                self.patch_here(&no);
                self.expr(otherwise, dst);
                self.patch_here(&[end]);
            }
            ExprKind::Field { .. } | ExprKind::Index { .. } | ExprKind::Slice { .. } | ExprKind::Call { .. } => {
                self.whole_chain(e, dst);
            }
            ExprKind::Try(inner) => self.unwrap_or_return(inner, dst, span),
            ExprKind::TryStar(inner) => {
                let src = self.operand(inner);
                self.emit(Op::TryStar { dst, src }, span);
            }
            ExprKind::TryBlock(block) => self.try_block(block, dst, span),
            ExprKind::If { .. } | ExprKind::Match { .. } | ExprKind::Block(_) => self.branching(e, Some(dst)),
            ExprKind::Return(_) | ExprKind::Throw(_) | ExprKind::Break | ExprKind::Continue => self.leave(e),
            ExprKind::Retry { times, body } => self.retry(times, body, dst, span),
            ExprKind::Yield(Some(item)) | ExprKind::Emit(item) => {
                self.expr(item, dst);
                self.give_item(dst, span);
            }
            ExprKind::Yield(None) => {
                self.emit(Op::Nil { dst }, span);
                self.give_item(dst, span);
            }
            ExprKind::Parallel { kind, over, options, body } => {
                self.parallel(*kind, over, options.as_deref(), body, dst, span);
            }
            ExprKind::Spawn(body) => self.spawn(body, dst, span),
            ExprKind::Deadline { limit, body } => self.deadline(limit, body, dst, span),
            ExprKind::Mutex(body) => self.mutex(body, dst, span),
            ExprKind::Select(arms) => self.select(arms, dst, span),
            // The parser has reported it.
            ExprKind::Error | ExprKind::TooDeep => {}
        }
    }

    /// Gives what is in `dst` to whoever asked for an item; `yield e` itself is nil.
    fn give_item(&mut self, dst: Reg, span: Span) {
        if let Some(word) = self.fn_ref().closed {
            // Whoever asks for items may never ask for the next one.
            self.nonsense(
                span,
                &format!("cannot produce an item inside a `{word}` block"),
                "compute the item inside the block, and produce it after the block",
            );
        }
        let src = if self.is_temp(dst) { dst } else { self.copy(dst, span) };
        self.emit(Op::Yield { src }, span);
        self.emit(Op::Nil { dst }, span);
    }

    /// Compiles `e` for its effect.
    pub(super) fn effect(&mut self, e: &'a Expr) {
        match &e.kind {
            ExprKind::If { .. } | ExprKind::Match { .. } | ExprKind::Block(_) => self.branching(e, None),
            _ => {
                let dst = self.temp();
                self.expr(e, dst);
                // A result nobody wants must not keep anything shared until the function returns.
                if matches!(e.kind, ExprKind::Call { .. }) {
                    self.shares(dst);
                }
            }
        }
    }

    /// The register that holds `e`: a variable's own, or a temporary.
    pub(super) fn operand(&mut self, e: &'a Expr) -> Reg {
        if let Some(reg) = self.register_name(e) {
            self.check_border(e, reg);
            self.keep_part(e, reg);
            return reg;
        }
        if let Some((_, reg)) = self.fn_ref().bound.filter(|(id, _)| *id == e.id) {
            return reg;
        }
        let dst = self.temp();
        self.expr(e, dst);
        dst
    }

    pub(super) fn register_name(&mut self, e: &Expr) -> Option<Reg> {
        match &e.kind {
            ExprKind::Name(_) | ExprKind::Placeholder => match self.names.used(e.id)? {
                Target::Binding(id) if self.fn_ref().own == Some(id) || self.names.binding(id).def.is_some() => None,
                Target::Binding(id) => match self.place_of(id) {
                    Place::Register(reg) => Some(reg),
                    _ => None,
                },
                Target::Builtin(_) => None,
            },
            _ => None,
        }
    }

    /// Both sides in registers; the left one is copied when evaluating the right one may assign to it.
    pub(super) fn two_operands(&mut self, a: &'a Expr, b: &'a Expr) -> (Reg, Reg) {
        let mut left = self.operand(a);
        if !self.is_temp(left) && may_assign(b) {
            left = self.copy(left, a.span);
        }
        let right = self.operand(b);
        (left, right)
    }

    pub(super) fn load(&mut self, value: Value, dst: Reg, span: Span) {
        let k = self.constant(value);
        self.emit(Op::Const { dst, k }, span);
    }

    fn string(&mut self, parts: &'a [StrPart], dst: Reg, span: Span) {
        match parts {
            [] => {
                let k = self.string_constant("");
                self.emit(Op::Const { dst, k }, span);
            }
            [StrPart::Text(text)] => {
                let k = self.string_constant(text);
                self.emit(Op::Const { dst, k }, span);
            }
            _ => {
                let len = self.index(parts.len(), span, "parts in one string");
                let base = self.temps(len);
                for (reg, part) in in_a_row(base, len).zip(parts) {
                    match part {
                        StrPart::Text(text) => {
                            let k = self.string_constant(text);
                            self.emit(Op::Const { dst: reg, k }, span);
                        }
                        StrPart::Interp(e) => self.expr(e, reg),
                    }
                }
                self.emit(Op::Concat { dst, base, len }, span);
            }
        }
    }

    fn name(&mut self, e: &Expr, dst: Reg) {
        let span = e.span;
        match self.names.used(e.id) {
            Some(Target::Builtin(row)) => self.load(Value::Builtin(row), dst, span),
            Some(Target::Binding(id)) if let Some(decl) = self.names.binding(id).def.clone() => {
                self.named_type_value(&decl, dst, span);
            }
            Some(Target::Binding(id)) if self.fn_ref().own == Some(id) && !self.globals.contains_key(&id) => {
                self.emit(Op::Myself { dst }, span);
            }
            Some(Target::Binding(id)) => self.read_binding(id, dst, span),
            // The resolver has reported it.
            None => {}
        }
    }

    /// The value of a variable.
    pub(super) fn read_binding(&mut self, id: BindingId, dst: Reg, span: Span) {
        match self.place_of(id) {
            Place::Register(src) if src == dst => {}
            Place::Register(src) => {
                self.emit(Op::Move { dst, src }, span);
            }
            Place::Cell(cell) => {
                self.emit(Op::GetCell { dst, cell }, span);
            }
            Place::Global(slot) => {
                self.emit(Op::GetGlobal { dst, slot }, span);
            }
            Place::CaptureCell(index) => {
                let boxed = self.names.binding(id).boxed();
                let op = if boxed { Op::GetCaptureCell { dst, index } } else { Op::GetCapture { dst, index } };
                self.emit(op, span);
            }
        }
        self.shares(dst);
    }

    fn list(&mut self, items: &'a [ListItem], dst: Reg, span: Span) {
        if items.iter().all(|i| !i.spread) && items.len() < 250 {
            let len = self.index(items.len(), span, "elements");
            let base = self.temps(len);
            for (reg, item) in in_a_row(base, len).zip(items) {
                self.expr(&item.value, reg);
            }
            self.emit(Op::List { dst, base, len }, span);
            return;
        }
        let list = self.temp();
        self.emit(Op::List { dst: list, base: list, len: 0 }, span);
        for item in items {
            let value = self.temp();
            self.expr(&item.value, value);
            if item.spread {
                self.emit(Op::Drain { reg: value }, item.value.span);
            }
            let op = if item.spread { Op::ListExtend { list, value } } else { Op::ListPush { list, value } };
            self.emit(op, item.value.span);
            self.shares(value);
            self.free_to(value);
        }
        self.emit(Op::Take { dst, src: list }, span);
    }

    pub(super) fn dict(&mut self, items: &'a [DictItem], dst: Reg, span: Span) {
        let plain = items.iter().take_while(|i| matches!(i, DictItem::Entry { .. })).count().min(200);
        let (first, rest) = items.split_at(plain);
        let len = u16::try_from(plain).unwrap_or(0);
        let base = self.temps(len);
        let mut keys = Vec::with_capacity(plain);
        for (reg, item) in in_a_row(base, len).zip(first) {
            if let DictItem::Entry { key, value } = item {
                keys.push(self.name_value(&key.text));
                self.expr(value, reg);
            }
        }
        let shape = self.shape(keys, span);
        if rest.is_empty() {
            self.emit(Op::DictOf { dst, base, shape }, span);
            return;
        }
        let dict = self.temp();
        self.emit(Op::DictOf { dst: dict, base, shape }, span);
        for item in rest {
            let key_reg = self.temps(2);
            let value_reg = key_reg + 1;
            match item {
                DictItem::Entry { key, value } => {
                    let k = self.string_constant(&key.text);
                    self.emit(Op::Const { dst: key_reg, k }, key.span);
                    self.expr(value, value_reg);
                    self.emit(Op::DictSet { dict, key: key_reg, value: value_reg }, key.span);
                }
                DictItem::Computed { key, value } => {
                    self.expr(key, key_reg);
                    self.expr(value, value_reg);
                    self.emit(Op::DictSet { dict, key: key_reg, value: value_reg }, key.span);
                }
                DictItem::Spread(value) => {
                    self.expr(value, value_reg);
                    self.emit(Op::DictMerge { dict, value: value_reg }, value.span);
                }
            }
            self.shares(value_reg);
            self.free_to(key_reg);
        }
        self.emit(Op::Take { dst, src: dict }, span);
    }

    fn closure(&mut self, closure: &'a ClosureExpr, dst: Reg, span: Span) {
        let proto = self.closure_proto(closure, span);
        self.closure_of(proto, dst, span);
    }

    /// A closure of `proto`, with what it captures at this moment.
    pub(super) fn closure_of(&mut self, proto: Rc<Proto>, dst: Reg, span: Span) {
        let protos = &mut self.fn_mut().proto.protos;
        protos.push(proto);
        let at = u32::try_from(protos.len() - 1).unwrap_or(u32::MAX);
        self.emit(Op::Closure { dst, proto: at }, span);
    }

    fn binary(&mut self, op: BinaryOp, a: &'a Expr, b: &'a Expr, dst: Reg, span: Span) {
        if let Some(imm) = small_int(b) {
            let fused = |a| match op {
                BinaryOp::Add => Some(Op::AddInt { dst, a, imm }),
                BinaryOp::Sub => Some(Op::SubInt { dst, a, imm }),
                BinaryOp::Mul => Some(Op::MulInt { dst, a, imm }),
                BinaryOp::Div => Some(Op::DivInt { dst, a, imm }),
                BinaryOp::Rem => Some(Op::RemInt { dst, a, imm }),
                _ => None,
            };
            if fused(0).is_some() {
                let a = self.operand(a);
                if let Some(op) = fused(a) {
                    self.emit(op, span);
                }
                return;
            }
        }
        let (left, right) = if self.is_temp(dst) && self.register_name(a).is_none() {
            // Nobody else knows the target yet.
            self.expr(a, dst);
            (dst, self.operand(b))
        } else {
            self.two_operands(a, b)
        };
        // A temporary dies here: what it alone holds may grow in place.
        let at = Self::binary_op(op, if op == BinaryOp::Add && self.is_temp(left) { left } else { dst }, left, right);
        self.emit(at, span);
        if op == BinaryOp::Add && self.is_temp(left) && left != dst {
            self.emit(Op::Take { dst, src: left }, span);
        }
    }

    pub(super) fn binary_op(op: BinaryOp, dst: Reg, a: Reg, b: Reg) -> Op {
        match op {
            BinaryOp::Add => Op::Add { dst, a, b },
            BinaryOp::Sub => Op::Sub { dst, a, b },
            BinaryOp::Mul => Op::Mul { dst, a, b },
            BinaryOp::Div => Op::Div { dst, a, b },
            BinaryOp::Rem => Op::Rem { dst, a, b },
            BinaryOp::Pow => Op::Pow { dst, a, b },
            BinaryOp::Eq => Op::Eq { dst, a, b },
            BinaryOp::Ne => Op::Ne { dst, a, b },
            BinaryOp::Lt => Op::Lt { dst, a, b },
            BinaryOp::Le => Op::Le { dst, a, b },
            BinaryOp::Gt => Op::Gt { dst, a, b },
            BinaryOp::Ge => Op::Ge { dst, a, b },
            BinaryOp::In => Op::In { dst, a, b },
            BinaryOp::NotIn => Op::NotIn { dst, a, b },
        }
    }

    fn logic(&mut self, op: LogicOp, a: &'a Expr, b: &'a Expr, dst: Reg, span: Span) {
        if op == LogicOp::Coalesce {
            self.expr(a, dst);
            let given = self.emit(Op::JumpIfNotNil { a: dst, by: 0 }, span);
            self.expr(b, dst);
            self.patch_here(&[given]);
            return;
        }
        let decided = self.emit_logic_left(op, a, dst, span);
        let right = self.operand(b);
        self.emit(Op::Truth { dst, a: right }, b.span);
        self.patch_here(&[decided]);
    }

    fn emit_logic_left(&mut self, op: LogicOp, a: &'a Expr, dst: Reg, span: Span) -> usize {
        let left = self.operand(a);
        self.emit(Op::Truth { dst, a: left }, a.span);
        let jump = if op == LogicOp::And { Op::JumpUnless { a: dst, by: 0 } } else { Op::JumpIf { a: dst, by: 0 } };
        self.emit(jump, span)
    }

    fn pipe(&mut self, value: &'a Expr, into: &'a Expr, dst: Reg, span: Span) {
        if let Some(id) = self.names.piped(into.id) {
            let piped = self.temp();
            self.expr(value, piped);
            self.fn_mut().bind_register(id, piped);
            self.expr(into, dst);
            self.shares(piped);
            return;
        }
        let base = self.temps(2);
        self.expr(value, base + 1);
        self.call_with(into, base, 1, dst, span, vec![value.span]);
    }
}

/// Whether evaluating `e` may assign to a variable of this function: only statements in a block can.
pub(super) fn may_assign(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::If { .. }
        | ExprKind::Match { .. }
        | ExprKind::Block(_)
        | ExprKind::TryBlock(_)
        | ExprKind::Retry { .. }
        | ExprKind::Mutex(_)
        | ExprKind::Deadline { .. }
        | ExprKind::Select(_) => true,
        _ => {
            let mut found = false;
            e.children(|child| found = found || may_assign(child));
            found
        }
    }
}
