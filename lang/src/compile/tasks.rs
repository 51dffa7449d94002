//! `spawn`, `parallel`, `deadline`, `mutex`: calls of builtins that scripts cannot name.

use super::Compiler;
use crate::ast::*;
use crate::builtins::control::{self, lock_value};
use crate::builtins::select;
use crate::source::Span;
use crate::value::Str;
use crate::vm::{Op, op::Reg};

impl<'a> Compiler<'a> {
    /// A call of `<control>.name` with arguments from `base` on.
    fn control(&mut self, name: &str, argc: u8, base: Reg, dst: Reg, span: Span) {
        let Some(row) = control::TABLE.iter().chain(select::TABLE).find(|row| row.name == name) else { return };
        let builtin = self.builtin_site(row, span);
        self.emit(Op::CallBuiltin { argc, dst, base, builtin }, span);
    }

    /// `spawn { … }`
    pub(super) fn spawn(&mut self, body: &'a Block, dst: Reg, span: Span) {
        let base = self.temp();
        let proto = self.function_of(Some(Str::new("<task>")), &[], body, None, span, false);
        self.closure_of(proto, base, span);
        self.note_call(None, vec![span]);
        self.control("task_start", 1, base, dst, span);
    }

    /// `parallel n { i -> … }` and its kin.
    pub(super) fn parallel(
        &mut self,
        kind: ParallelKind,
        over: &'a Expr,
        options: Option<&'a Expr>,
        body: &'a ClosureExpr,
        dst: Reg,
        span: Span,
    ) {
        let base = self.temps(3);
        self.expr(over, base);
        match options {
            Some(options) => self.expr(options, base + 1),
            None => {
                self.emit(Op::Nil { dst: base + 1 }, span);
            }
        }
        let proto = self.closure_proto(body, body.body.span);
        self.closure_of(proto, base + 2, body.body.span);
        let name = match kind {
            ParallelKind::Count => "parallel_count",
            ParallelKind::Each => "parallel_each",
            ParallelKind::Settle => "parallel_settle",
        };
        let options_span = options.map_or(span, |o| o.span);
        self.note_call(None, vec![over.span, options_span, body.body.span]);
        self.control(name, 3, base, dst, span);
    }

    /// `deadline 30s { … }`
    pub(super) fn deadline(&mut self, limit: &'a Expr, body: &'a Block, dst: Reg, span: Span) {
        let floor = self.fn_ref().floor;
        let number = self.temp();
        self.expr(limit, number);
        let head = Span::new(span.start, limit.span.end);
        self.note_call(None, vec![limit.span]);
        self.control("deadline_open", 1, number, number, head);
        let closing = |c: &mut Self, way: Reg, raised: Reg| {
            let base = c.temps(3);
            c.emit(Op::Move { dst: base, src: number }, head);
            c.emit(Op::Move { dst: base + 1, src: way }, head);
            c.emit(Op::Move { dst: base + 2, src: raised }, head);
            c.control("deadline_close", 3, base, base, head);
        };
        let outer = self.fn_mut().closed.replace("deadline");
        self.with_closing(head, Some(dst), closing, |c, dst| c.block(body, dst));
        self.fn_mut().closed = outer;
        self.fn_mut().floor = floor;
    }

    /// `mutex { … }`
    pub(super) fn mutex(&mut self, body: &'a Block, dst: Reg, span: Span) {
        let floor = self.fn_ref().floor;
        let word = Span::new(span.start, span.start + 5);
        let lock = self.constant(lock_value());
        let base = self.temp();
        self.emit(Op::Const { dst: base, k: lock }, word);
        self.control("mutex_enter", 1, base, base, word);
        let closing = |c: &mut Self, _: Reg, _: Reg| {
            let base = c.temp();
            c.emit(Op::Const { dst: base, k: lock }, word);
            c.control("mutex_leave", 1, base, base, word);
        };
        let outer = self.fn_mut().closed.replace("mutex");
        self.with_closing(word, Some(dst), closing, |c, dst| c.block(body, dst));
        self.fn_mut().closed = outer;
        self.fn_mut().floor = floor;
    }

    /// `select { m from ch {…} timeout 5s {…} default {…} }`
    pub(super) fn select(&mut self, arms: &'a [SelectArm], dst: Reg, span: Span) {
        let word = Span::new(span.start, span.start + 6);
        let floor = self.fn_ref().floor;
        self.select_makes_sense(arms, word);
        let channels = arms.iter().filter(|arm| matches!(arm, SelectArm::Receive { .. })).count();
        let argc = u8::try_from(channels + 2).ok().filter(|n| *n < 250);
        let Some(argc) = argc else { return self.too_large(word, "arms") };
        let base = self.temps(u16::from(argc));
        self.emit(Op::Nil { dst: base }, word);
        let has_default = arms.iter().any(|arm| matches!(arm, SelectArm::Default(_)));
        self.emit(Op::Bool { dst: base + 1, value: has_default }, word);
        let mut spans = vec![word, word];
        let mut next = base + 2;
        for arm in arms {
            match arm {
                SelectArm::Receive { channel, .. } => {
                    self.expr(channel, next);
                    spans.push(channel.span);
                    next += 1;
                }
                SelectArm::Timeout { limit, .. } => {
                    self.expr(limit, base);
                    spans[0] = limit.span;
                }
                SelectArm::Default(_) => {}
            }
        }
        self.note_call(None, spans);
        self.control("select_first", argc, base, base, word);
        self.free_to(base + 1);
        let (number, received) = (self.temp(), self.temp());
        self.emit(Op::Part { dst: number, src: base, index: 0 }, word);
        self.emit(Op::Part { dst: received, src: base, index: 1 }, word);
        self.emit(Op::Nil { dst: base }, word);
        self.raise_floor();
        let mut ends = Vec::new();
        let mut index = 0;
        for arm in arms {
            let inner = self.fn_ref().next;
            let imm = match arm {
                SelectArm::Receive { .. } => {
                    index += 1;
                    index - 1
                }
                SelectArm::Timeout { .. } => select::TIMEOUT,
                SelectArm::Default(_) => select::DEFAULT,
            };
            let other = self.emit(Op::UnlessEqInt { a: number, imm, by: 0 }, word);
            match arm {
                SelectArm::Receive { name, body, .. } => {
                    let value = self.temp();
                    self.emit(Op::Take { dst: value, src: received }, name.span);
                    self.adopt(name.at(), value);
                    self.raise_floor();
                    self.block(body, Some(dst));
                }
                SelectArm::Timeout { body, .. } | SelectArm::Default(body) => self.block(body, Some(dst)),
            }
            ends.push(self.jump(word));
            self.patch_here(&[other]);
            self.fn_mut().floor = inner;
            self.free_to(inner);
        }
        self.patch_here(&ends);
        self.fn_mut().floor = floor;
    }

    fn select_makes_sense(&mut self, arms: &[SelectArm], word: Span) {
        if arms.is_empty() {
            let help = "add an arm: `m from ch { … }`, `timeout 5s { … }`, `default { … }`";
            self.nonsense(word, "`select` without arms", help);
        }
        let mut timeouts = arms.iter().filter_map(|arm| match arm {
            SelectArm::Timeout { limit, .. } => Some(limit.span),
            _ => None,
        });
        let second_timeout = timeouts.nth(1);
        let mut defaults = arms.iter().filter_map(|arm| match arm {
            SelectArm::Default(body) => Some(body.span),
            _ => None,
        });
        for second in [second_timeout, defaults.nth(1)].into_iter().flatten() {
            self.nonsense(second, "duplicate arm in a `select`", "remove one of the two");
        }
    }
}
