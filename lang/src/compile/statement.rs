//! Statements and blocks.

use super::Compiler;
use super::expression::may_assign;
use super::function::{FnState, Loop};
use crate::ast::*;
use crate::resolve::{BindingId, Target};
use crate::source::Span;
use crate::value::Str;
use crate::vm::{Failure, Op, PathSite, Place, Proto, op::Reg};
use std::rc::Rc;

impl<'a> Compiler<'a> {
    /// The body of a function, its own window.
    pub(super) fn function(&mut self, decl: &'a FnDecl, own: Option<BindingId>, pipeline: bool) -> Rc<Proto> {
        if decl.generator {
            self.not_yet(decl.name.span, "`gen fn`");
        }
        let name = Str::new(&decl.name.text);
        self.function_of(Some(name), &decl.params, &decl.body, own, decl.name.span, pipeline)
    }

    pub(super) fn closure_proto(&mut self, closure: &'a Closure, span: Span) -> Rc<Proto> {
        self.function_of(None, &closure.params, &closure.body, None, span, false)
    }

    fn function_of(
        &mut self,
        name: Option<Str>,
        params: &'a [Param],
        body: &'a Block,
        own: Option<BindingId>,
        span: Span,
        lenient: bool,
    ) -> Rc<Proto> {
        let positional = params.iter().filter(|p| !p.rest).count();
        let rest = params.iter().any(|p| p.rest);
        let required = params.iter().take_while(|p| !p.rest && p.default.is_none()).count();
        let count = self.index(positional, span, "parameters");
        self.fns.push(FnState::new(own, (!rest).then_some(count)));
        let source = self.source.clone();
        let proto = &mut self.fn_mut().proto;
        proto.source = Some(source);
        proto.name = name;
        proto.span = span;
        proto.params = count;
        proto.rest = rest;
        proto.required = if lenient { 0 } else { u16::try_from(required).unwrap_or(u16::MAX) };
        let window = self.index(params.len(), span, "parameters");
        self.temps(window);
        self.parameters(params);
        self.tail_block(body);
        self.emit(Op::ReturnNil, span);
        self.finish_fn()
    }

    fn parameters(&mut self, params: &'a [Param]) {
        for (reg, param) in (0..).zip(params) {
            if let Some(default) = &param.default {
                let given = self.emit(Op::JumpIfNotNil { a: reg, by: 0 }, param.span);
                let scratch = self.fn_ref().next;
                let value = self.temp();
                self.fn_mut().floor = value;
                self.expr(default, value);
                self.emit(Op::Take { dst: reg, src: value }, param.span);
                self.free_to(scratch);
                self.patch_here(&[given]);
            }
            // A plain name needs no move: the argument already lies where the parameter lives.
            if let PatternKind::Bind(name) = &param.pattern.kind {
                self.adopt(name, param.pattern.span, reg);
            } else {
                self.destructure(&param.pattern, reg);
            }
        }
        let next = self.fn_ref().next;
        self.fn_mut().floor = next;
    }

    /// Makes a register the home of the binding made at a span.
    pub(super) fn adopt(&mut self, _name: &str, span: Span, reg: Reg) {
        let Some(id) = self.names.made_at(span) else { return };
        if self.names.binding(id).boxed() {
            self.emit(Op::NewCell { reg }, span);
        }
        self.fn_mut().bind_register(id, reg);
    }

    /// A block in a scope of its own; its value goes to `dst` where one is wanted.
    pub(super) fn block(&mut self, block: &'a Block, dst: Option<Reg>) {
        let (next, floor) = (self.fn_ref().next, self.fn_ref().floor);
        self.fn_mut().floor = next;
        self.early_cells(block.span);
        self.hoist(&block.stmts);
        self.statements(&block.stmts, dst);
        let state = self.fn_mut();
        state.next = next;
        state.floor = floor;
    }

    /// A block whose value is returned from the function.
    pub(super) fn tail_block(&mut self, block: &'a Block) {
        let (next, floor) = (self.fn_ref().next, self.fn_ref().floor);
        self.fn_mut().floor = next;
        self.early_cells(block.span);
        self.hoist(&block.stmts);
        self.tail_statements(&block.stmts);
        let state = self.fn_mut();
        state.next = next;
        state.floor = floor;
    }

    /// Statements in last place: the value of the last one is the function's.
    pub(super) fn tail_statements(&mut self, stmts: &'a [Stmt]) {
        let Some((last, before)) = stmts.split_last() else {
            return self.return_nil(Span::default());
        };
        for (i, stmt) in before.iter().enumerate() {
            if let StmtKind::Defer(body) = &stmt.kind {
                let rest = &stmts[i + 1..];
                return self.with_exit(body, None, |c, _| c.tail_statements(rest));
            }
            self.statement(stmt);
        }
        match &last.kind {
            StmtKind::Expr(e) => self.tail(e),
            _ => {
                self.statement(last);
                self.return_nil(last.span);
            }
        }
    }

    fn early_cells(&mut self, span: Span) {
        for id in self.names.early.get(&span.start).cloned().unwrap_or_default() {
            let reg = self.temp();
            self.emit(Op::EmptyCell { reg }, span);
            self.fn_mut().bind_register(id, reg);
        }
        let next = self.fn_ref().next;
        self.fn_mut().floor = next;
    }

    /// Statements in order; the last one's value goes to `dst`.
    pub(super) fn statements(&mut self, stmts: &'a [Stmt], dst: Option<Reg>) {
        for (i, stmt) in stmts.iter().enumerate() {
            if let StmtKind::Defer(body) = &stmt.kind {
                // `defer` is a `finally` around the rest of its block.
                let rest = &stmts[i + 1..];
                return self.with_exit(body, dst, |c, dst| c.statements(rest, dst));
            }
            match (&stmt.kind, dst) {
                (StmtKind::Expr(e), Some(dst)) if i + 1 == stmts.len() => return self.expr(e, dst),
                _ => self.statement(stmt),
            }
        }
        if let Some(dst) = dst {
            self.emit(Op::Nil { dst }, Span::default());
        }
    }

    /// Functions inside blocks are there from the block's start.
    fn hoist(&mut self, stmts: &'a [Stmt]) {
        for stmt in stmts {
            let StmtKind::Item(item) = &stmt.kind else { continue };
            match &item.kind {
                ItemKind::Fn(decl) | ItemKind::Tool { decl, .. } => {
                    if let Some(id) = self.names.made_at(decl.name.span)
                        && self.fn_ref().register_of(id).is_none()
                    {
                        let reg = self.temp();
                        if self.names.binding(id).boxed() {
                            self.emit(Op::EmptyCell { reg }, decl.name.span);
                        }
                        self.fn_mut().bind_register(id, reg);
                        let next = self.fn_ref().next;
                        self.fn_mut().floor = next;
                    }
                }
                ItemKind::Pipeline { decl, .. } => self.not_yet(decl.name.span, "a pipeline inside a block"),
                _ => {}
            }
        }
        for stmt in stmts {
            let StmtKind::Item(item) = &stmt.kind else { continue };
            if let ItemKind::Fn(decl) | ItemKind::Tool { decl, .. } = &item.kind {
                self.nested_function(item, decl);
            }
        }
    }

    fn nested_function(&mut self, item: &'a Item, decl: &'a FnDecl) {
        let Some(id) = self.names.made_at(decl.name.span) else { return };
        let proto = self.function(decl, Some(id), false);
        let reg = self.temp();
        let at = self.fn_mut().proto.protos.len();
        self.fn_mut().proto.protos.push(proto);
        self.emit(Op::Closure { dst: reg, proto: u32::try_from(at).unwrap_or(0) }, decl.name.span);
        if let ItemKind::Tool { description, .. } = &item.kind {
            self.tool_value(decl, description.as_ref(), item.doc.as_deref(), reg);
        }
        let place = self.place_of(id);
        self.store(place, reg, decl.name.span);
        self.free_to(reg);
    }

    /// Writes a register to where a variable lives.
    pub(super) fn store(&mut self, place: Place, src: Reg, span: Span) {
        match place {
            Place::Register(dst) if dst == src => {}
            Place::Register(dst) => {
                let op = if self.is_temp(src) { Op::Take { dst, src } } else { Op::Move { dst, src } };
                self.emit(op, span);
            }
            Place::Cell(cell) => {
                self.emit(Op::SetCell { cell, src }, span);
                self.shares(src);
            }
            Place::CaptureCell(index) => {
                self.emit(Op::SetCaptureCell { src, index }, span);
                self.shares(src);
            }
            Place::Global(slot) => {
                self.emit(Op::SetGlobal { src, slot }, span);
                self.shares(src);
            }
        }
    }

    pub(super) fn statement(&mut self, stmt: &'a Stmt) {
        let before = self.fn_ref().next;
        match &stmt.kind {
            StmtKind::Let { pattern, value, .. } => return self.let_statement(pattern, value.as_ref(), stmt.span),
            StmtKind::Assign { target, op, value } => self.assignment(target, *op, value, stmt.span),
            StmtKind::Expr(e) => self.effect(e),
            StmtKind::While { cond, body } => self.while_loop(cond, body, stmt.span),
            StmtKind::For { pattern, iter, body } => self.for_loop(pattern, iter, body, stmt.span),
            StmtKind::Guard { cond, otherwise } => {
                let holds = self.condition(cond, true);
                self.block(otherwise, None);
                if !flows_away(otherwise) {
                    self.nonsense(
                        otherwise.span,
                        "the `else` of a `guard` must leave",
                        "end it with `return`, `throw`, `break` or `continue`",
                    );
                }
                self.patch_here(&holds);
            }
            StmtKind::Require { cond, message } => {
                let holds = self.condition(cond, true);
                let src = self.temp();
                match message {
                    Some(m) => self.expr(m, src),
                    None => {
                        self.emit(Op::Nil { dst: src }, stmt.span);
                    }
                }
                let kind = self.failure(Failure::Require, stmt.span);
                self.emit(Op::Fail { src, kind }, cond.span);
                self.patch_here(&holds);
            }
            StmtKind::Item(item) => self.item(item),
            // A `defer` in last place has nothing to wait for but the end of its block, which is here.
            StmtKind::Defer(body) => self.block(body, None),
            StmtKind::Error => {}
        }
        self.clean(before, stmt.span);
        self.free_to(before);
    }

    pub(super) fn failure(&mut self, failure: Failure, span: Span) -> u16 {
        let failures = &mut self.fn_mut().proto.failures;
        failures.push(failure);
        let i = failures.len() - 1;
        self.index(i, span, "checks")
    }

    fn item(&mut self, item: &'a Item) {
        match &item.kind {
            ItemKind::Struct { name, .. } => self.not_yet(name.span, "`struct`"),
            ItemKind::Enum { name, .. } => self.not_yet(name.span, "`enum`"),
            ItemKind::Impl { target, .. } => self.not_yet(target.span, "`impl`"),
            ItemKind::Override(decl) => self.not_yet(decl.name.span, "`override`"),
            // What the standard modules offer is global already.
            ItemKind::Import { path, path_span, .. } if !path.starts_with("std/") => {
                self.not_yet(*path_span, "importing a file");
            }
            ItemKind::Import { .. }
            | ItemKind::Interface { .. }
            | ItemKind::TypeAlias { .. }
            | ItemKind::Fn(_)
            | ItemKind::Pipeline { .. }
            | ItemKind::Tool { .. } => {}
        }
    }

    fn let_statement(&mut self, pattern: &'a Pattern, value: Option<&'a Expr>, span: Span) {
        let before = self.fn_ref().next;
        // A binding that a hoisted function captures already has its cell.
        let made = self.names.made_at(pattern.span);
        let placed = made.filter(|id| self.globals.contains_key(id) || self.fn_ref().register_of(*id).is_some());
        let reg = self.temp();
        match value {
            Some(value) => self.expr(value, reg),
            None => {
                self.emit(Op::Nil { dst: reg }, span);
            }
        }
        if let (PatternKind::Bind(name), None) = (&pattern.kind, placed) {
            self.clean(reg + 1, span);
            self.free_to(reg + 1);
            self.adopt(name, pattern.span, reg);
        } else if let (PatternKind::Bind(_), Some(id)) = (&pattern.kind, placed) {
            let place = self.place_of(id);
            self.store(place, reg, span);
            self.clean(before, span);
            self.free_to(before);
        } else {
            self.destructure(pattern, reg);
            self.clean(reg, span);
        }
        let next = self.fn_ref().next;
        self.fn_mut().floor = next;
    }

    // Assignments

    fn assignment(&mut self, target: &'a Expr, op: Option<BinaryOp>, value: &'a Expr, span: Span) {
        match &target.kind {
            ExprKind::Name(_) => self.assign_name(target, op, value, span),
            ExprKind::Field { .. } | ExprKind::Index { .. } => self.assign_path(target, op, value, span),
            _ => self.nonsense(
                target.span,
                "only a variable, or a field or index of one, can be assigned to",
                "bind the value first: `var x = …`",
            ),
        }
    }

    fn assign_name(&mut self, target: &'a Expr, op: Option<BinaryOp>, value: &'a Expr, span: Span) {
        let Some(Target::Binding(id)) = self.names.uses.get(&target.span.start).copied() else { return };
        let place = self.place_of(id);
        if let Some(op) = op {
            return self.compound(place, op, target, value, span);
        }
        if self.method_in_place(place, id, value) {
            return;
        }
        match place {
            // Written once, at the end: what it reads of the variable is read before.
            Place::Register(reg) if writes_once(value) => self.expr(value, reg),
            _ => {
                let src = self.temp();
                self.expr(value, src);
                self.store(place, src, span);
            }
        }
    }

    fn compound(&mut self, place: Place, op: BinaryOp, target: &'a Expr, value: &'a Expr, span: Span) {
        if let Place::Register(reg) = place {
            if let Some(imm) = small_int(value) {
                let fused = match op {
                    BinaryOp::Add => Some(Op::AddInt { dst: reg, a: reg, imm }),
                    BinaryOp::Sub => Some(Op::SubInt { dst: reg, a: reg, imm }),
                    BinaryOp::Mul => Some(Op::MulInt { dst: reg, a: reg, imm }),
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
        let base = self.temp();
        self.expr(value, base);
        let site = PathSite { root: place, keys: 0, op: Some(op), spans: vec![target.span.to(value.span)] };
        self.path(site, base, span);
    }

    pub(super) fn copy(&mut self, src: Reg, span: Span) -> Reg {
        let dst = self.temp();
        self.emit(Op::Move { dst, src }, span);
        self.shares(dst);
        dst
    }

    fn assign_path(&mut self, target: &'a Expr, op: Option<BinaryOp>, value: &'a Expr, span: Span) {
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
                        "an assigned path starts at a variable",
                        "bind this part first: `var x = …`, change it, and put it back",
                    );
                }
            }
        };
        keys.reverse();
        let Some(Target::Binding(id)) = self.names.uses.get(&root.span.start).copied() else { return };
        let count = self.index(keys.len(), span, "keys in one path");
        let base = self.temps(count + 1);
        for (reg, (index, name, key_span)) in (base..).zip(&keys) {
            match (index, name) {
                (Some(index), _) => self.expr(index, reg),
                (None, Some(name)) => {
                    let k = self.string_constant(&name.text);
                    self.emit(Op::Const { dst: reg, k }, *key_span);
                }
                (None, None) => {}
            }
        }
        self.expr(value, base + count);
        let mut spans: Vec<Span> = keys.iter().map(|(_, _, span)| *span).collect();
        spans.push(target.span);
        let root = self.place_of(id);
        self.path(PathSite { root, keys: count, op, spans }, base, span);
    }

    fn path(&mut self, site: PathSite, base: Reg, span: Span) {
        let paths = &mut self.fn_mut().proto.paths;
        paths.push(site);
        let i = paths.len() - 1;
        let path = self.index(i, span, "assigned paths");
        self.emit(Op::AssignPath { base, path }, span);
    }

    // Loops

    fn while_loop(&mut self, cond: &'a Expr, body: &'a Block, span: Span) {
        let start = self.here();
        let scratch = self.fn_ref().next;
        let done = self.condition(cond, false);
        self.free_to(scratch);
        let exits = self.fn_ref().exits.len();
        self.fn_mut().loops.push(Loop { start, breaks: Vec::new(), exits });
        self.block(body, None);
        self.jump_back(start, span);
        self.patch_here(&done);
        if let Some(finished) = self.fn_mut().loops.pop() {
            self.patch_here(&finished.breaks);
        }
    }

    fn for_loop(&mut self, pattern: &'a Pattern, iter: &'a Expr, body: &'a Block, span: Span) {
        let floor = self.fn_ref().floor;
        let base = self.temps(2);
        self.expr(iter, base);
        self.emit(Op::ForPrep { base }, iter.span);
        let item = self.temp();
        let next = self.fn_ref().next;
        self.fn_mut().floor = next;
        let start = self.here();
        let done = self.emit(Op::ForNext { base, dst: item, by: 0 }, iter.span);
        match &pattern.kind {
            PatternKind::Bind(name) => self.adopt(name, pattern.span, item),
            _ => self.destructure(pattern, item),
        }
        let inner = self.fn_ref().next;
        self.fn_mut().floor = inner;
        let exits = self.fn_ref().exits.len();
        self.fn_mut().loops.push(Loop { start, breaks: Vec::new(), exits });
        self.block(body, None);
        self.jump_back(start, span);
        self.patch_here(&[done]);
        if let Some(finished) = self.fn_mut().loops.pop() {
            self.patch_here(&finished.breaks);
        }
        // What was walked is let go, so that it can be changed in place again.
        self.emit(Op::Clear { from: base, count: next - base }, span);
        self.fn_mut().floor = floor;
    }
}

/// Whether an expression writes its target only when everything in it has been read.
fn writes_once(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Nil
        | ExprKind::Bool(_)
        | ExprKind::Int(_)
        | ExprKind::Float(_)
        | ExprKind::Str(_)
        | ExprKind::Name(_)
        | ExprKind::Closure(_)
        | ExprKind::Unary(..)
        | ExprKind::Binary(..)
        | ExprKind::Call { .. }
        | ExprKind::Field { .. }
        | ExprKind::Index { .. }
        | ExprKind::Slice { .. }
        | ExprKind::Range { .. }
        | ExprKind::Pair(..) => true,
        ExprKind::List(items) => items.iter().all(|i| !i.spread),
        ExprKind::Dict(items) => items.iter().all(|i| matches!(i, DictItem::Entry { .. })),
        _ => false,
    }
}

/// An int literal that fits an instruction.
pub(super) fn small_int(e: &Expr) -> Option<i16> {
    match &e.kind {
        ExprKind::Int(i) => i16::try_from(*i).ok(),
        ExprKind::Unary(UnaryOp::Neg, inner) => match inner.kind {
            ExprKind::Int(i) => i16::try_from(-i).ok(),
            _ => None,
        },
        _ => None,
    }
}

/// Whether control never comes out at the end of a block.
fn flows_away(block: &Block) -> bool {
    block.stmts.iter().any(|s| match &s.kind {
        StmtKind::Expr(e) => leaves(e),
        StmtKind::Error => true,
        _ => false,
    })
}

fn leaves(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Return(_) | ExprKind::Throw(_) | ExprKind::Break | ExprKind::Continue | ExprKind::Error => true,
        ExprKind::Call { callee, .. } => {
            matches!(&callee.kind, ExprKind::Name(n) if n == "exit" || n == "unreachable")
        }
        ExprKind::If { then, otherwise: Some(otherwise), .. } => flows_away(then) && leaves(otherwise),
        ExprKind::Block(b) => flows_away(b),
        _ => false,
    }
}
