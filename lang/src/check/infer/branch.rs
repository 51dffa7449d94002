//! Expressions with several branches: `if`, `match`, `try`, `select` and others.

use super::Checker;
use super::condition::{of_kind, of_name};
use super::flow::Flow;
use super::want::{DemandOrigin, ExpectedType};
use crate::ast::*;
use crate::builtin_type::Tag;
use crate::check::types::{Handle, Kinds, Numbers, Shape, ShapeKey, Type, join};
use crate::resolve::BindingId;
use std::rc::Rc;

/// The signature that a `parallel` with wrong options is shown with.
const PARALLEL: &str = "parallel each items with {max_concurrent: int} { item -> … }";

impl<'a> Checker<'a> {
    pub(super) fn if_else(
        &mut self,
        cond: &'a Expr,
        then: &'a Block,
        otherwise: Option<&'a Expr>,
        want: ExpectedType<'_>,
    ) -> Type {
        let (before, mark) = (self.flow.clone(), self.loosened.len());
        let (holds, fails) = self.condition(cond);
        self.flow = holds;
        let first = self.block(then, want);
        let after = std::mem::replace(&mut self.flow, fails);
        let second = match otherwise {
            Some(e) => self.expr(e, want),
            None => Type::Nil,
        };
        let second_after = std::mem::take(&mut self.flow);
        self.meet_branches(&before, mark, after, second_after);
        join(first, second)
    }

    pub(super) fn ternary(&mut self, cond: &'a Expr, a: &'a Expr, b: &'a Expr, want: ExpectedType<'_>) -> Type {
        let (before, mark) = (self.flow.clone(), self.loosened.len());
        let (holds, fails) = self.condition(cond);
        self.flow = holds;
        let first = self.expr(a, want);
        let after = std::mem::replace(&mut self.flow, fails);
        let second = self.expr(b, want);
        let second_after = std::mem::take(&mut self.flow);
        self.meet_branches(&before, mark, after, second_after);
        join(first, second)
    }

    /// Goes on where both branches of a test end.
    fn meet_branches(&mut self, before: &Flow, mark: usize, a: Flow, b: Flow) {
        let both = !a.dead && !b.dead;
        self.flow = self.meet(a, b);
        if both {
            self.tighten(before, mark);
        } else {
            self.keep_loose(mark);
        }
    }

    pub(super) fn arms(&mut self, subject: &'a Expr, arms: &'a [Arm], want: ExpectedType<'_>) -> Type {
        let mut rest = self.expr(subject, ExpectedType::FREE);
        let place = self.place_of(subject);
        let asked = self.type_asked(subject);
        let mark = self.loosened.len();
        if place.as_ref().is_none_or(|(_, keys)| !keys.is_empty()) {
            self.loosen(subject);
        }
        let mut value = Type::Never;
        let mut after = Flow::nowhere();
        let before = self.flow.clone();
        for arm in arms {
            self.flow = before.clone();
            let fits = self.bind_pattern(&arm.pattern, &rest, true);
            let is_idle = self.unfit_arm(arm, &rest, &fits);
            let said = self.found.len();
            let guarded = arm.guard.is_some();
            if let Some(place) = &place {
                (self.flow, _) = self.tell(place, &|_| fits.matched.clone(), &Type::clone);
            }
            if let (Some(place), Some(kind)) = (&asked, kind_pattern(&arm.pattern)) {
                (self.flow, _) = self.tell(place, &|ty| of_kind(ty, &kind), &Type::clone);
            }
            if let Some(guard) = &arm.guard {
                let (holds, _) = self.condition(guard);
                self.flow = holds;
            }
            let of_arm = self.expr(&arm.body, want);
            if is_idle {
                // It never runs, so nothing in it fails.
                self.found.truncate(said);
            } else {
                value = join(value, of_arm);
            }
            let end = std::mem::take(&mut self.flow);
            after = self.meet(after, end);
            if !guarded {
                rest = fits.rest;
            }
        }
        self.flow = after;
        self.keep_loose(mark);
        value
    }

    /// Arms that others leave nothing for are told elsewhere; this is about types.
    /// Returns whether the arm matches nothing.
    fn unfit_arm(&mut self, arm: &Arm, subject: &Type, fits: &super::pattern::Fits) -> bool {
        let is_idle = fits.matched == Type::Never && !subject.is_open();
        if is_idle {
            self.idle_arm(arm.pattern.span, subject);
        }
        is_idle
    }

    /// The binding that an expression is the plain name of.
    pub(super) fn plain_binding(&self, e: &Expr) -> Option<BindingId> {
        let ExprKind::Name(_) = &e.kind else { return None };
        self.binding_of(e.id)
    }

    pub(super) fn try_block(&mut self, t: &'a TryBlock, want: ExpectedType<'_>) -> Type {
        let before = self.flow.clone();
        let alone = t.catch.is_none() && t.finally.is_none();
        let catches = usize::from(t.catch.is_some() || alone);
        self.caught += catches;
        let mut value = self.block(&t.body, if alone { ExpectedType::FREE } else { want });
        self.caught -= catches;
        if alone {
            self.after_attempt(before, &t.body);
            return Type::Result(Rc::new((value, Type::Any))).bounded();
        }
        if let Some(catch) = &t.catch {
            let after = std::mem::replace(&mut self.flow, before.clone());
            self.forget_assigned(&t.body);
            value = join(value, self.block(&catch.body, want));
            let caught = std::mem::take(&mut self.flow);
            self.flow = self.meet(after, caught);
        }
        if let Some(finally) = &t.finally {
            let after = std::mem::replace(&mut self.flow, before);
            self.forget_assigned(&t.body);
            if let Some(catch) = &t.catch {
                self.forget_assigned(&catch.body);
            }
            self.block(finally, ExpectedType::FREE);
            let dead = self.flow.dead || after.dead;
            self.flow = after;
            self.flow.dead = dead;
            self.forget_assigned(finally);
        }
        value
    }

    /// Behind a body that may have been left anywhere.
    fn after_attempt(&mut self, before: Flow, body: &Block) {
        self.flow = before;
        self.forget_assigned(body);
    }

    pub(super) fn retry(&mut self, times: &'a Expr, body: &'a Block, want: ExpectedType<'_>) -> Type {
        self.expr(times, ExpectedType::must(&Type::Int, DemandOrigin::Implicit));
        // The body may run again after it was left anywhere.
        self.forget_assigned(body);
        self.block(body, want)
    }

    pub(super) fn parallel(
        &mut self,
        kind: ParallelKind,
        over: &'a Expr,
        options: Option<&'a Expr>,
        body: &'a ClosureExpr,
    ) -> Type {
        let over_type = self.expr(over, ExpectedType::FREE);
        if let Some(options) = options {
            let limit = ShapeKey {
                name: "max_concurrent".into(),
                ty: Type::Int,
                optional: true,
                at: None,
                numbers: Numbers::Open,
            };
            let wanted = Type::Shape(Rc::new(Shape {
                fields: vec![limit],
                open: false,
                literal: false,
                told: false,
                methods: None,
            }));
            self.expr(options, ExpectedType::must(&wanted.optional(), DemandOrigin::Builtin(PARALLEL)));
        }
        let item = match kind {
            ParallelKind::Count => Type::Int,
            // A number of items, or what `each` takes.
            ParallelKind::Settle if over_type == Type::Int => Type::Int,
            ParallelKind::Settle if over_type.kinds().meets(Kinds::of(Tag::Int)) => Type::Any,
            _ => self.element(&over_type, over),
        };
        let settles = usize::from(kind == ParallelKind::Settle);
        self.caught += settles;
        let function = self.closure_of(body, &[item], ExpectedType::FREE);
        self.caught -= settles;
        match kind {
            ParallelKind::Count | ParallelKind::Each => Type::list(function.returns).bounded(),
            ParallelKind::Settle => settled(function.returns).bounded(),
        }
    }

    /// A body that another task runs, with copies of what it captures; who awaits it may catch.
    pub(super) fn spawn(&mut self, body: &'a Block) -> Type {
        self.caught += 1;
        let result = self.in_frame(super::function::FunctionFrame::default(), |checker| {
            checker.flow.dead = false;
            let value = checker.block(body, ExpectedType::FREE);
            join(value, checker.given())
        });
        self.caught -= 1;
        Type::handle(Handle::Task, result.or_unknown()).bounded()
    }

    pub(super) fn select(&mut self, arms: &'a [SelectArm], want: ExpectedType<'_>) -> Type {
        let before = self.flow.clone();
        let mut value = Type::Never;
        let mut after = Flow::nowhere();
        for arm in arms {
            self.flow = before.clone();
            let body = match arm {
                SelectArm::Receive { name, channel, body } => {
                    let item = match self.expr(channel, ExpectedType::FREE) {
                        Type::Handle(Handle::Channel, of) => (*of).clone().optional(),
                        _ => Type::Any,
                    };
                    if let Some(id) = self.world.names.made(name.id) {
                        self.set_base(id, item);
                    }
                    body
                }
                SelectArm::Timeout { limit, body } => {
                    self.expr(limit, ExpectedType::must(&Type::Int, DemandOrigin::Implicit));
                    body
                }
                SelectArm::Default(body) => body,
            };
            value = join(value, self.block(body, want));
            let end = std::mem::take(&mut self.flow);
            after = self.meet(after, end);
        }
        self.flow = after;
        value
    }
}

/// Returns the type of the value of `parallel settle`.
fn settled(value: Type) -> Type {
    let field = |name: &str, ty| ShapeKey { name: name.into(), ty, optional: false, at: None, numbers: Numbers::Open };
    let results = Type::list(Type::Result(Rc::new((value, Type::Any))));
    let fields = vec![field("results", results), field("succeeded", Type::Int), field("failed", Type::Int)];
    Type::Shape(Rc::new(Shape { fields, open: false, literal: false, told: true, methods: None }))
}

/// The type that an arm of `match type_of(x)` asks for.
fn kind_pattern(pattern: &Pattern) -> Option<Type> {
    match &pattern.kind {
        PatternKind::Literal(e) => of_name(e.plain_text()?),
        _ => None,
    }
}
