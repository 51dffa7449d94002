//! Branches, and the ways out: `return`, `break`, `throw`, `try`, `finally`, `defer`, `retry`.

use super::Compiler;
use super::function::{ExitBlock, ExitStep, OpenCatch, Way, in_a_row};
use crate::ast::*;
use crate::resolve::Target;
use crate::source::Span;
use crate::vm::{Failure, HandlerKind, Op, Test, op::Reg};

/// A way out of a guarded block: by an error, by its end, or by one of [`Way`].
const RAISED: i32 = -1;
const FALL_THROUGH: i32 = 0;

fn way_number(index: usize) -> i32 {
    i32::try_from(index + 1).unwrap_or(i32::MAX)
}

/// Destination of the value of a branch.
#[derive(Clone, Copy)]
enum Goal {
    /// The value is not used.
    Nowhere,
    /// Into a register.
    Register(Reg),
    /// It is the function's result.
    Return,
}

impl<'a> Compiler<'a> {
    /// `if`, `match` or a block.
    pub(super) fn branching(&mut self, e: &'a Expr, dst: Option<Reg>) {
        self.branch(e, dst.map_or(Goal::Nowhere, Goal::Register));
    }

    /// An expression in last place: its value is the function's.
    pub(super) fn tail(&mut self, e: &'a Expr) {
        match &e.kind {
            ExprKind::Return(Some(value)) => self.tail(value),
            ExprKind::If { .. } | ExprKind::Match { .. } | ExprKind::Block(_) => self.branch(e, Goal::Return),
            ExprKind::Ternary(cond, then, otherwise) => {
                let no = self.condition(cond, false);
                self.tail(then);
                self.patch_here(&no);
                self.tail(otherwise);
            }
            ExprKind::Call { callee, args } if self.is_self_call(e, callee, args) => self.tail_self(args, e.span),
            _ => {
                // A variable's register gives its value away: nothing of this function runs any more.
                if self.fn_ref().exits.is_empty()
                    && let Some(src) = self.register_name(e)
                {
                    self.check_border(e, src);
                    return self.leave_by(Way::Return, src, e.span);
                }
                let next = self.fn_ref().next;
                let src = self.temp();
                // With a `finally` still to run, variables live on.
                if self.fn_ref().exits.is_empty() {
                    self.fn_mut().last = Some(e.span);
                }
                self.expr(e, src);
                self.fn_mut().last = None;
                self.leave_by(Way::Return, src, e.span);
                self.free_to(next);
            }
        }
    }

    /// Whether the function may begin anew in place of a call of itself.
    fn is_self_call(&self, call: &Expr, callee: &Expr, args: &[ListItem]) -> bool {
        let ExprKind::Name(_) = &callee.kind else { return false };
        if self.borders.at(call.id).is_some() || !self.borders.checks_arguments(callee.id) {
            return false;
        }
        let Some(Target::Binding(id)) = self.names.used(callee.id) else { return false };
        let state = self.fn_ref();
        state.own == Some(id)
            && state.flavor.is_none()
            && state.exits.is_empty()
            && state.arity.is_some_and(|n| usize::from(n) == args.len())
            && args.iter().all(|a| !a.spread)
            && args.len() < 200
    }

    fn tail_self(&mut self, args: &'a [ListItem], span: Span) {
        let next = self.fn_ref().next;
        let argc = u8::try_from(args.len()).unwrap_or(0);
        let base = self.temps(u16::from(argc));
        for (reg, arg) in in_a_row(base, u16::from(argc)).zip(args) {
            self.expr(&arg.value, reg);
        }
        self.emit(Op::TailSelf { argc, base }, span);
        self.free_to(next);
    }

    fn branch(&mut self, e: &'a Expr, goal: Goal) {
        match &e.kind {
            ExprKind::If { cond, then, otherwise } => {
                let no = self.condition(cond, false);
                self.branch_block(then, goal);
                if otherwise.is_none() && matches!(goal, Goal::Nowhere) {
                    self.patch_here(&no);
                    return;
                }
                let end = (!matches!(goal, Goal::Return)).then(|| self.jump(e.span));
                self.patch_here(&no);
                match (otherwise, goal) {
                    (Some(otherwise), _) => self.branch(otherwise, goal),
                    (None, Goal::Register(dst)) => {
                        self.emit(Op::Nil { dst }, e.span);
                    }
                    (None, Goal::Return) => self.return_nil(e.span),
                    (None, Goal::Nowhere) => {}
                }
                self.patch_here(end.as_slice());
            }
            ExprKind::Match { value, arms } => self.match_arms(value, arms, goal, e.span),
            ExprKind::Block(block) => self.branch_block(block, goal),
            _ => match goal {
                Goal::Nowhere => {
                    let next = self.fn_ref().next;
                    self.effect(e);
                    self.clean(next, e.span);
                    self.free_to(next);
                }
                Goal::Register(dst) => self.expr(e, dst),
                Goal::Return => self.tail(e),
            },
        }
    }

    fn branch_block(&mut self, block: &'a Block, goal: Goal) {
        match goal {
            Goal::Nowhere => self.block(block, None),
            Goal::Register(dst) => self.block(block, Some(dst)),
            Goal::Return => self.tail_block(block),
        }
    }

    pub(super) fn return_nil(&mut self, span: Span) {
        if let Some(at) = self.fn_ref().refuses_nil {
            let src = self.temp();
            self.emit(Op::Nil { dst: src }, span);
            self.expect(src, at, span);
            self.free_to(src);
        }
        self.leave_by(Way::ReturnNil, 0, span);
    }

    fn match_arms(&mut self, value: &'a Expr, arms: &'a [Arm], goal: Goal, span: Span) {
        let (next, floor) = (self.fn_ref().next, self.fn_ref().floor);
        // The value must not change while arms are tried, and `dst` may be a variable that it reads.
        let src = self.temp();
        self.expr(value, src);
        let mut ends = Vec::new();
        for arm in arms {
            let inner = self.fn_ref().next;
            self.fn_mut().floor = inner;
            let mut fails = Vec::new();
            if is_compared_by_guard(arm) {
                self.note_match(src, arm.pattern.span);
            }
            self.test(&arm.pattern, src, &mut fails);
            let bound = self.fn_ref().next;
            self.fn_mut().floor = bound;
            if let Some(guard) = &arm.guard {
                fails.extend(self.condition(guard, false));
            }
            if !matches!(arm.body.kind, ExprKind::Block(_)) {
                self.cover(arm.body.span);
            }
            self.branch(&arm.body, goal);
            if !matches!(goal, Goal::Return) {
                ends.push(self.jump(arm.span));
            }
            self.patch_here(&fails);
            self.fn_mut().floor = floor;
            self.free_to(inner);
        }
        let kind = self.failure(Failure::NoArm, span);
        let keyword = Span::new(span.start, span.start + 5);
        self.emit(Op::Fail { src, kind }, keyword);
        self.patch_here(&ends);
        self.shares(src);
        self.free_to(next);
    }

    /// Tells a host value that it is compared, as a dict pattern does.
    fn note_match(&mut self, src: Reg, span: Span) {
        let test = self.pattern_test(Test::Keys(Vec::new()), span);
        let dst = self.temp();
        self.emit(Op::HasKeys { dst, src, test }, span);
        self.free_to(dst);
    }

    /// `return`, `throw`, `break`, `continue`.
    pub(super) fn leave(&mut self, e: &'a Expr) {
        match &e.kind {
            ExprKind::Return(None) => self.return_nil(e.span),
            ExprKind::Return(Some(value)) => self.tail(value),
            ExprKind::Throw(value) => self.throw(value, e.span),
            ExprKind::Break | ExprKind::Continue => self.leave_loop(matches!(e.kind, ExprKind::Break), e.span),
            _ => {}
        }
    }

    fn leave_loop(&mut self, is_break: bool, span: Span) {
        // Outside a loop: the resolver has reported it.
        let Some(innermost) = self.fn_ref().loops.len().checked_sub(1) else { return };
        self.leave_by(if is_break { Way::Break(innermost) } else { Way::Continue(innermost) }, 0, span);
    }

    /// Leaves by a way: through the innermost block that must run first, or straight. `value` is what is returned.
    fn leave_by(&mut self, way: Way, value: Reg, span: Span) {
        let keep = match way {
            Way::Return | Way::ReturnNil => 0,
            Way::Break(l) | Way::Continue(l) => self.fn_ref().loops.get(l).map_or(0, |l| l.exits),
        };
        let (mut clean_ups, mut block) = (Vec::new(), None);
        for (at, exit) in self.fn_ref().exits.iter().enumerate().skip(keep).rev() {
            match exit {
                ExitStep::Block(_) => {
                    block = Some(at);
                    break;
                }
                ExitStep::CleanUp { chosen, raised } => clean_ups.push((*chosen, *raised)),
                ExitStep::Handler => {}
            }
        }
        for (chosen, raised) in clean_ups {
            let other = self.emit(Op::UnlessEqInt { a: chosen, imm: RAISED as i16, by: 0 }, span);
            self.emit(Op::RethrowInterruption { src: raised }, span);
            self.patch_here(&[other]);
        }
        let passed = block.and_then(|at| match self.fn_mut().exits.get_mut(at) {
            Some(ExitStep::Block(guard)) => Some(guard),
            _ => None,
        });
        if let Some(guard) = passed {
            let number = guard.ways.iter().position(|w| *w == way).unwrap_or_else(|| {
                guard.ways.push(way);
                guard.ways.len() - 1
            });
            let (chosen, held) = (guard.chosen, guard.value);
            if way == Way::Return {
                self.emit(Op::Take { dst: held, src: value }, span);
            }
            self.emit(Op::Int { dst: chosen, value: way_number(number) }, span);
            let jump = self.jump(span);
            // The guard found above is still the innermost one.
            if let Some(ExitStep::Block(guard)) =
                self.fn_mut().exits.iter_mut().rev().find(|e| matches!(e, ExitStep::Block(_)))
            {
                guard.entries.push(jump);
            }
            return;
        }
        match way {
            Way::Return if self.fn_ref().flavor.is_some() => {
                self.emit(Op::Finish { src: value }, span);
            }
            Way::Return => {
                self.emit(Op::Return { src: value }, span);
            }
            Way::ReturnNil => self.end_function(span),
            Way::Break(l) => {
                let jump = self.jump(span);
                if let Some(l) = self.fn_mut().loops.get_mut(l) {
                    l.breaks.push(jump);
                }
            }
            Way::Continue(l) => {
                let start = self.fn_ref().loops.get(l).map_or(0, |l| l.start);
                self.jump_back(start, span);
            }
        }
    }

    /// The end of the function, without a result.
    pub(super) fn end_function(&mut self, span: Span) {
        if self.fn_ref().flavor.is_none() {
            self.emit(Op::ReturnNil, span);
            return;
        }
        let src = self.temp();
        self.emit(Op::Nil { dst: src }, span);
        self.emit(Op::Finish { src }, span);
        self.free_to(src);
    }

    /// Something with a block that runs on every way out of it. The block stands once: each way notes its number, runs
    /// the block, and goes on from there, so nesting costs no more than its length.
    pub(super) fn with_exit(&mut self, block: &'a Block, dst: Option<Reg>, body: impl FnOnce(&mut Self, Option<Reg>)) {
        let clean_up = |c: &mut Self, chosen, raised| {
            let start = c.here();
            c.fn_mut().exits.push(ExitStep::CleanUp { chosen, raised });
            c.block(block, None);
            c.fn_mut().exits.pop();
            let end = c.here();
            c.add_handler(start, end, end, raised, HandlerKind::CleanUp);
        };
        self.with_closing(block.span, dst, clean_up, body);
    }

    /// Compiles a block like [`Self::with_exit`], with any closing code. The code gets the register with the exit that was
    /// taken, -1 for an error, and the register with that error.
    pub(super) fn with_closing(
        &mut self,
        span: Span,
        dst: Option<Reg>,
        closing: impl FnOnce(&mut Self, Reg, Reg),
        body: impl FnOnce(&mut Self, Option<Reg>),
    ) {
        let chosen = self.temps(3);
        let (value, raised) = (chosen + 1, chosen + 2);
        self.raise_floor();
        let start = self.here();
        let guard = ExitBlock { chosen, value, entries: Vec::new(), ways: Vec::new() };
        self.fn_mut().exits.push(ExitStep::Block(guard));
        body(self, dst);
        let Some(ExitStep::Block(mut guard)) = self.fn_mut().exits.pop() else { return };
        let end = self.here();
        self.emit(Op::Int { dst: chosen, value: FALL_THROUGH }, span);
        guard.entries.push(self.jump(span));
        let target = self.here();
        self.add_handler(start, end, target, raised, HandlerKind::Finally);
        self.emit(Op::Int { dst: chosen, value: RAISED }, span);
        self.patch_here(&guard.entries);
        self.raise_floor();
        closing(self, chosen, raised);
        let other = self.emit(Op::UnlessEqInt { a: chosen, imm: RAISED as i16, by: 0 }, span);
        self.emit(Op::Rethrow { src: raised }, span);
        self.patch_here(&[other]);
        for (number, way) in guard.ways.iter().enumerate() {
            let imm = i16::try_from(way_number(number)).unwrap_or(i16::MAX);
            let other = self.emit(Op::UnlessEqInt { a: chosen, imm, by: 0 }, span);
            self.leave_by(*way, value, span);
            self.patch_here(&[other]);
        }
    }

    /// Registers in use now are no temporaries of what follows.
    pub(super) fn raise_floor(&mut self) {
        let next = self.fn_ref().next;
        self.fn_mut().floor = next;
    }

    pub(super) fn try_block(&mut self, t: &'a TryBlock, dst: Reg, span: Span) {
        let floor = self.fn_ref().floor;
        match (&t.catch, &t.finally) {
            (None, None) => self.try_result(&t.body, dst, span),
            (catch, Some(finally)) => self.with_exit(finally, Some(dst), |c, dst| {
                let dst = dst.unwrap_or_default();
                match catch {
                    Some(catch) => c.try_catch(&t.body, catch, dst, span),
                    None => c.block(&t.body, Some(dst)),
                }
            }),
            (Some(catch), None) => self.try_catch(&t.body, catch, dst, span),
        }
        self.fn_mut().floor = floor;
    }

    fn try_result(&mut self, body: &'a Block, dst: Reg, span: Span) {
        let reg = self.temp();
        let (start, end) = self.handled(body, reg);
        self.emit(Op::Ok { dst, src: reg }, span);
        let done = self.jump(span);
        let target = self.here();
        self.add_handler(start, end, target, reg, HandlerKind::Catch);
        self.emit(Op::Err { dst, src: reg }, span);
        self.patch_here(&[done]);
        self.emit(Op::Nil { dst: reg }, span);
    }

    fn try_catch(&mut self, body: &'a Block, catch: &'a Catch, dst: Reg, span: Span) {
        let (start, end) = self.handled(body, dst);
        let done = self.jump(span);
        let reg = self.temps(2);
        let held = reg + 1;
        let target = self.here();
        let handler = self.fn_ref().proto.handlers.len();
        self.add_handler(start, end, target, reg, HandlerKind::Catch);
        if let Some(ty) = &catch.ty {
            self.only_type(ty, reg, held);
            self.hold(handler);
        }
        if let Some(name) = &catch.name {
            self.adopt(name.at(), reg);
        }
        self.raise_floor();
        let id = catch.name.as_ref().and_then(|name| self.names.made(name.id));
        self.fn_mut().catches.push(OpenCatch { id, held, handler });
        self.block(&catch.body, Some(dst));
        self.fn_mut().catches.pop();
        self.patch_here(&[done]);
    }

    /// The handler keeps the error itself, because it may be thrown again.
    fn hold(&mut self, handler: usize) {
        if let Some(handler) = self.fn_mut().proto.handlers.get_mut(handler) {
            handler.kind = HandlerKind::CatchAndHold;
        }
    }

    fn throw(&mut self, value: &'a Expr, span: Span) {
        let src = self.operand(value);
        let span = Span::new(span.start, span.start + 5);
        let id = match (&value.kind, self.names.used(value.id)) {
            (ExprKind::Name(_), Some(Target::Binding(id))) => Some(id),
            _ => None,
        };
        let known = self.fn_ref().catches.iter().find(|c| id.is_some() && c.id == id);
        match known.map(|c| (c.held, c.handler)) {
            Some((held, handler)) => {
                self.hold(handler);
                self.emit(Op::ThrowAgain { src, held }, span);
            }
            None => {
                self.emit(Op::Throw { src }, span);
            }
        }
    }

    /// A body under a handler: its first instruction, and the one behind its last.
    fn handled(&mut self, body: &'a Block, dst: Reg) -> (usize, usize) {
        let start = self.here();
        self.fn_mut().exits.push(ExitStep::Handler);
        self.block(body, Some(dst));
        self.fn_mut().exits.pop();
        (start, self.here())
    }

    /// An error of another type goes on.
    fn only_type(&mut self, ty: &TypeExpr, reg: Reg, held: Reg) {
        let answer = self.temp();
        let test = self.type_test(ty);
        self.emit(Op::IsType { dst: answer, src: reg, ty: test }, ty.span);
        let fits = self.emit(Op::JumpIf { a: answer, by: 0 }, ty.span);
        self.emit(Op::ThrowAgain { src: reg, held }, ty.span);
        self.patch_here(&[fits]);
        self.free_to(answer);
    }

    pub(super) fn retry(&mut self, times: &'a Expr, body: &'a Block, dst: Reg, span: Span) {
        let floor = self.fn_ref().floor;
        let left = self.temps(2);
        let held = left + 1;
        self.expr(times, left);
        self.raise_floor();
        self.emit(Op::Nil { dst }, span);
        let never = self.emit(Op::UnlessGtInt { a: left, imm: 0, by: 0 }, times.span);
        let again = self.here();
        self.emit(Op::SubInt { dst: left, a: left, imm: 1 }, times.span);
        let (start, end) = self.handled(body, dst);
        let done = self.jump(span);
        let target = self.here();
        self.add_handler(start, end, target, held, HandlerKind::Retry);
        let over = self.emit(Op::UnlessGtInt { a: left, imm: 0, by: 0 }, span);
        // The error of an attempt that another one follows is over.
        self.emit(Op::Nil { dst: held }, span);
        self.jump_back(again, span);
        self.patch_here(&[over]);
        self.emit(Op::Rethrow { src: held }, span);
        self.patch_here(&[never, done]);
        self.fn_mut().floor = floor;
    }

    /// `e?`
    pub(super) fn unwrap_or_return(&mut self, inner: &'a Expr, dst: Reg, span: Span) {
        let src = self.operand(inner);
        let fine = self.emit(Op::Unwrap { dst, src, by: 0 }, inner.span);
        let result = self.temp();
        self.emit(Op::Move { dst: result, src }, span);
        self.leave_by(Way::Return, result, span);
        self.patch_here(&[fine]);
    }
}

/// Whether an arm binds the whole value, and its guard looks into it: `result if result.status == "done"`.
fn is_compared_by_guard(arm: &Arm) -> bool {
    fn looks_into(e: &Expr, name: &str) -> bool {
        let is_it = |object: &Expr| matches!(&object.kind, ExprKind::Name(found) if found == name);
        if matches!(&e.kind, ExprKind::Field { object, .. } | ExprKind::Index { object, .. } if is_it(object)) {
            return true;
        }
        let mut found = false;
        e.children(|child| found = found || looks_into(child, name));
        found
    }
    match (&arm.pattern.kind, &arm.guard) {
        (PatternKind::Bind(name), Some(guard)) => looks_into(guard, name),
        _ => false,
    }
}
