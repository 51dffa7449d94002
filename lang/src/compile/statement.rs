//! Statements and blocks.

use super::{Compiler, messages};

use super::function::FnState;
use crate::ast::*;
use crate::resolve::BindingId;
use crate::source::Span;
use crate::value::Str;
use crate::vm::{Failure, Op, Place, Proto, op::Reg};
use std::rc::Rc;

impl<'a> Compiler<'a> {
    /// The body of a function, its own window.
    pub(super) fn function(&mut self, decl: &'a FnDecl, own: Option<BindingId>, pipeline: bool) -> Rc<Proto> {
        let name = Str::new(&decl.name.text);
        self.function_of(Some(name), &decl.params, &decl.body, own, decl.name.span, pipeline)
    }

    /// A function of a type; its title says which.
    pub(super) fn method_proto(&mut self, decl: &'a FnDecl, title: &str) -> Rc<Proto> {
        self.function_of(Some(Str::new(title)), &decl.params, &decl.body, None, decl.name.span, false)
    }

    pub(super) fn closure_proto(&mut self, closure: &'a ClosureExpr, span: Span) -> Rc<Proto> {
        self.function_of(None, &closure.params, &closure.body, None, span, false)
    }

    pub(super) fn function_of(
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
        proto.method = matches!(params.first().map(|p| &p.pattern.kind), Some(PatternKind::Bind(n)) if n == "self");
        proto.required = if lenient { 0 } else { u16::try_from(required).unwrap_or(u16::MAX) };
        let window = self.index(params.len(), span, "parameters");
        self.temps(window);
        self.parameters(params);
        if let Some(border) = self.borders.at(body.id) {
            self.fn_mut().refuses_nil = self.border_site(border, None, body.span);
        }
        if let Some(flavor) = self.names.iterators.get(&body.id).copied() {
            // The arguments have their values now; the body runs when an item is asked for.
            self.emit(Op::Generator { flavor }, span);
            self.fn_mut().flavor = Some(flavor);
        }
        self.tail_block(body);
        self.end_function(span);
        self.check_parameters(params);
        self.finish_fn()
    }

    pub(super) fn parameters(&mut self, params: impl IntoIterator<Item = &'a Param>) {
        for (reg, param) in (0..).zip(params) {
            self.parameter(param, reg);
        }
        let next = self.fn_ref().next;
        self.fn_mut().floor = next;
    }

    /// A parameter whose argument lies in `reg`.
    pub(super) fn parameter(&mut self, param: &'a Param, reg: Reg) {
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
        if let PatternKind::Bind(_) = &param.pattern.kind {
            self.adopt(param.pattern.at(), reg);
        } else {
            self.destructure(&param.pattern, reg);
        }
    }

    /// Stores the binding that a node makes in a register.
    pub(super) fn adopt(&mut self, at: NodeAt, reg: Reg) {
        let Some(id) = self.names.made(at.id) else { return };
        if self.names.binding(id).boxed() {
            self.emit(Op::NewCell { reg }, at.span);
        }
        self.fn_mut().bind_register(id, reg);
    }

    /// A block in a scope of its own; its value goes to `dst` where one is wanted.
    pub(super) fn block(&mut self, block: &'a Block, dst: Option<Reg>) {
        let (next, floor) = (self.fn_ref().next, self.fn_ref().floor);
        self.fn_mut().floor = next;
        self.early_cells(block);
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
        self.early_cells(block);
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
            StmtKind::Expr(e) => {
                self.cover(last.span);
                self.tail(e);
            }
            _ => {
                self.statement(last);
                self.return_nil(last.span);
            }
        }
    }

    pub(super) fn early_cells(&mut self, block: &Block) {
        let span = block.span;
        for id in self.names.early.get(&block.id).cloned().unwrap_or_default() {
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
                (StmtKind::Expr(e), Some(dst)) if i + 1 == stmts.len() => {
                    self.cover(stmt.span);
                    return self.expr(e, dst);
                }
                _ => self.statement(stmt),
            }
        }
        if let Some(dst) = dst {
            self.emit(Op::Nil { dst }, Span::default());
        }
    }

    /// Functions inside blocks are there from the block's start.
    pub(super) fn hoist(&mut self, stmts: &'a [Stmt]) {
        self.place_functions(stmts);
        self.make_functions(stmts);
    }

    /// The registers, and cells, of a block's functions.
    pub(super) fn place_functions(&mut self, stmts: &'a [Stmt]) {
        for stmt in stmts {
            let StmtKind::Item(item) = &stmt.kind else { continue };
            match &item.kind {
                ItemKind::Fn(decl) | ItemKind::Tool { decl, .. } | ItemKind::Pipeline { decl, .. } => {
                    if let Some(id) = self.names.made(decl.name.id)
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
                _ => {}
            }
        }
    }

    /// The functions of a block, once what they capture has its place.
    pub(super) fn make_functions(&mut self, stmts: &'a [Stmt]) {
        for stmt in stmts {
            let StmtKind::Item(item) = &stmt.kind else { continue };
            if let ItemKind::Fn(decl) | ItemKind::Tool { decl, .. } | ItemKind::Pipeline { decl, .. } = &item.kind {
                self.nested_function(item, decl);
            }
        }
    }

    fn nested_function(&mut self, item: &'a Item, decl: &'a FnDecl) {
        let Some(id) = self.names.made(decl.name.id) else { return };
        let proto = match (&item.kind, self.overrides.get(&id).copied()) {
            (ItemKind::Pipeline { .. }, _) => self.pipeline(decl, Some(id)),
            (_, Some(instead)) => self.function(instead, Some(id), false),
            _ => self.function(decl, Some(id), false),
        };
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
        if !matches!(stmt.kind, StmtKind::Item(_)) {
            self.cover(stmt.span);
        }
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
                    self.report(messages::falls_through(self.source, otherwise.span));
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
            // Declarations have no effect where they stand; functions are made at the start of their block.
            StmtKind::Item(_) | StmtKind::Error => {}
            // A `defer` in last place has nothing to wait for but the end of its block, which is here.
            StmtKind::Defer(body) => self.block(body, None),
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

    fn let_statement(&mut self, pattern: &'a Pattern, value: Option<&'a Expr>, span: Span) {
        let before = self.fn_ref().next;
        // A binding that a hoisted function captures already has its cell.
        let made = self.names.made(pattern.id);
        let placed = made.filter(|id| self.globals.contains_key(id) || self.fn_ref().register_of(*id).is_some());
        let reg = self.temp();
        match value {
            Some(value) => self.expr(value, reg),
            None => {
                self.emit(Op::Nil { dst: reg }, span);
            }
        }
        if let (PatternKind::Bind(_), None) = (&pattern.kind, placed) {
            self.clean(reg + 1, span);
            self.free_to(reg + 1);
            self.adopt(pattern.at(), reg);
        } else if let (PatternKind::Bind(_), Some(id)) = (&pattern.kind, placed) {
            let place = self.place_of(id);
            self.store(place, reg, span);
            self.clean(before, span);
            self.free_to(before);
        } else {
            // The bindings move into the registers after `reg`, which copies may have used on the way to the value.
            let was_shared = self.is_shared(reg);
            self.clean(reg + 1, span);
            self.destructure(pattern, reg);
            let is_shared = was_shared || self.is_shared(reg);
            let bound = self.fn_ref().next;
            self.clean(bound, span);
            if is_shared {
                self.emit(Op::Clear { from: reg, count: 1 }, span);
            }
        }
        let next = self.fn_ref().next;
        self.fn_mut().floor = next;
    }
}

/// An int literal that fits an instruction.
pub(super) fn small_int(e: &Expr) -> Option<i16> {
    match &e.kind {
        ExprKind::Int(i) => i16::try_from(*i).ok(),
        ExprKind::Unary(UnaryOp::Neg, inner) => match inner.kind {
            ExprKind::Int(i) => i.checked_neg().and_then(|i| i16::try_from(i).ok()),
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
