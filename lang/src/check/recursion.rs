//! Functions that call themselves and never stop, and functions that call themselves where a builtin was meant.

use super::infer::yields;
use super::messages;
use crate::ast::visit::{Visit, walk_block, walk_expr};
use crate::ast::*;
use crate::declaration::Registry;
use crate::diagnostic::Diagnostic;
use crate::resolve::{BindingId, Resolution, Target};
use crate::source::{SourceRef, Span};

/// Checks the calls that functions make of themselves.
pub(super) struct Recursion<'c> {
    source: &'c SourceRef,
    names: &'c Resolution,
    registry: Registry,
    pub(super) found: Vec<Diagnostic>,
}

impl<'c> Recursion<'c> {
    pub(super) fn new(source: &'c SourceRef, names: &'c Resolution, registry: Registry) -> Self {
        Self { source, names, registry, found: Vec::new() }
    }

    /// Checks a declaration, without its parts.
    pub(super) fn item(&mut self, item: &Item) {
        match &item.kind {
            ItemKind::Fn(decl) => {
                if let Some(id) = self.names.made(decl.name.id) {
                    self.function(decl, OwnCall::Binding(id));
                }
            }
            ItemKind::Impl { methods, .. } => {
                for method in methods {
                    if let ItemKind::Fn(decl) = &method.kind
                        && decl.takes_self()
                    {
                        self.function(decl, OwnCall::Method(decl.name.text.as_str()));
                    }
                }
            }
            _ => {}
        }
    }

    fn function(&mut self, decl: &FnDecl, callee: OwnCall<'_>) {
        // A call of a generator runs nothing of its body.
        if decl.generator || yields(&decl.body) {
            return;
        }
        let mut body = FunctionSteps { names: self.names, callee, called: false, tail: None };
        let always = match body.block(&decl.body, true) {
            BodyStep::Calls(at) => Some(at),
            BodyStep::Leaves | BodyStep::Goes => None,
        };
        if let (OwnCall::Binding(id), Some(_)) = (callee, self.registry.find("", &decl.name.text)) {
            let unchanged = || SameArguments::of(self.names, id, decl);
            if let Some(at) = always.or_else(unchanged) {
                self.found.push(messages::calls_itself_not_builtin(self.source, &decl.name, at));
            }
            return;
        }
        // A last step that calls the function again after other calls is a loop, which one of these ends.
        let is_loop = always.is_some() && body.called && body.tail == always;
        if let Some(at) = always.filter(|_| !is_loop) {
            self.found.push(messages::always_calls_itself(self.source, &decl.name, at));
        }
    }
}

/// The function whose calls are looked for.
#[derive(Clone, Copy)]
enum OwnCall<'n> {
    /// A function with a binding.
    Binding(BindingId),
    /// A method, called on `self`.
    Method(&'n str),
}

/// Certain outcome of a part of a function that runs.
#[derive(Clone, Copy)]
enum BodyStep {
    /// It calls the function, there.
    Calls(Span),
    /// It may leave the function first.
    Leaves,
    /// It goes on after it.
    Goes,
}

/// The steps of a function in the order of their evaluation.
struct FunctionSteps<'c> {
    names: &'c Resolution,
    callee: OwnCall<'c>,
    /// Whether another function is called before.
    called: bool,
    /// The call of the function that is its last step.
    tail: Option<Span>,
}

impl FunctionSteps<'_> {
    fn block(&mut self, block: &Block, last: bool) -> BodyStep {
        for (i, stmt) in block.stmts.iter().enumerate() {
            match self.statement(stmt, last && i + 1 == block.stmts.len()) {
                BodyStep::Goes => {}
                step => return step,
            }
        }
        BodyStep::Goes
    }

    fn statement(&mut self, stmt: &Stmt, last: bool) -> BodyStep {
        match &stmt.kind {
            StmtKind::Let { value, .. } => value.as_ref().map_or(BodyStep::Goes, |value| self.expr(value, false)),
            StmtKind::Assign { value, target, .. } => self.in_order([target, value]),
            StmtKind::Expr(e) => self.expr(e, last),
            StmtKind::For { iter, body, .. } => match self.expr(iter, false) {
                BodyStep::Goes => self.sometimes(body),
                step => step,
            },
            StmtKind::While { cond, body } => match self.expr(cond, false) {
                BodyStep::Goes => self.sometimes(body),
                step => step,
            },
            StmtKind::Guard { cond, .. } | StmtKind::Require { cond, .. } => match self.expr(cond, false) {
                BodyStep::Goes => BodyStep::Leaves,
                step => step,
            },
            StmtKind::Defer(_) | StmtKind::Item(_) => BodyStep::Goes,
            StmtKind::Error => BodyStep::Leaves,
        }
    }

    /// A body that may not run.
    fn sometimes(&mut self, body: &Block) -> BodyStep {
        match self.block(body, false) {
            BodyStep::Leaves => BodyStep::Leaves,
            BodyStep::Calls(_) | BodyStep::Goes => BodyStep::Goes,
        }
    }

    fn in_order<'e>(&mut self, parts: impl IntoIterator<Item = &'e Expr>) -> BodyStep {
        for part in parts {
            match self.expr(part, false) {
                BodyStep::Goes => {}
                step => return step,
            }
        }
        BodyStep::Goes
    }

    /// Returns the step of one of several ways.
    fn either(steps: &[BodyStep]) -> BodyStep {
        let mut call = None;
        for step in steps {
            match step {
                BodyStep::Calls(at) => call = Some(call.unwrap_or(*at)),
                BodyStep::Leaves => return BodyStep::Leaves,
                BodyStep::Goes => {}
            }
        }
        match call {
            Some(at) if steps.iter().all(|step| matches!(step, BodyStep::Calls(_))) => BodyStep::Calls(at),
            _ => BodyStep::Goes,
        }
    }

    fn expr(&mut self, e: &Expr, last: bool) -> BodyStep {
        let first = match &e.kind {
            ExprKind::Closure(_) | ExprKind::Spawn(_) => return BodyStep::Goes,
            ExprKind::Parallel { over, .. } => return self.expr(over, false),
            ExprKind::Call { callee, args } => return self.call(e, callee, args, last),
            ExprKind::If { cond, then, otherwise } => match self.expr(cond, false) {
                BodyStep::Goes => {
                    let then = self.block(then, last);
                    let otherwise = otherwise.as_ref().map_or(BodyStep::Goes, |otherwise| self.expr(otherwise, last));
                    return Self::either(&[then, otherwise]);
                }
                step => step,
            },
            ExprKind::Ternary(cond, a, b) => match self.expr(cond, false) {
                BodyStep::Goes => {
                    let steps = [self.expr(a, last), self.expr(b, last)];
                    return Self::either(&steps);
                }
                step => step,
            },
            ExprKind::Match { value, arms } => match self.expr(value, false) {
                BodyStep::Goes => {
                    let steps: Vec<BodyStep> = arms.iter().map(|arm| self.expr(&arm.body, last)).collect();
                    return Self::either(&steps);
                }
                step => step,
            },
            ExprKind::Logic(_, a, b) => match self.expr(a, false) {
                BodyStep::Goes => match self.expr(b, false) {
                    BodyStep::Leaves => BodyStep::Leaves,
                    BodyStep::Calls(_) | BodyStep::Goes => BodyStep::Goes,
                },
                step => step,
            },
            ExprKind::Block(block) | ExprKind::Mutex(block) => return self.block(block, last),
            ExprKind::Return(value) => match value.as_ref().map_or(BodyStep::Goes, |value| self.expr(value, true)) {
                BodyStep::Goes => BodyStep::Leaves,
                step => step,
            },
            ExprKind::Throw(value) => match self.expr(value, false) {
                BodyStep::Goes => BodyStep::Leaves,
                step => step,
            },
            ExprKind::Break | ExprKind::Continue | ExprKind::Error | ExprKind::TooDeep | ExprKind::Select(_) => {
                BodyStep::Leaves
            }
            // What they catch, repeat or end can end the recursion.
            ExprKind::TryBlock(_) | ExprKind::Retry { .. } | ExprKind::Deadline { .. } => BodyStep::Leaves,
            ExprKind::Try(value) | ExprKind::TryStar(value) => match self.expr(value, false) {
                BodyStep::Goes => BodyStep::Leaves,
                step => step,
            },
            // The rest of a chain after `?.` and `?[`, and a fallback, may not run.
            ExprKind::Field { object, .. } | ExprKind::Index { object, .. } | ExprKind::Slice { object, .. } => {
                self.expr(object, false)
            }
            _ => {
                let mut step = BodyStep::Goes;
                e.children(|part| {
                    if matches!(step, BodyStep::Goes) {
                        step = self.expr(part, false);
                    }
                });
                step
            }
        };
        first
    }

    fn call(&mut self, e: &Expr, callee: &Expr, args: &[ListItem], last: bool) -> BodyStep {
        let receiver = match &callee.kind {
            ExprKind::Field { object, .. } => Some(&**object),
            ExprKind::Name(_) => None,
            _ => Some(callee),
        };
        match self.in_order(receiver.into_iter().chain(args.iter().map(|arg| &arg.value))) {
            BodyStep::Goes => {}
            step => return step,
        }
        if calls(self.names, self.callee, callee) {
            if last {
                self.tail = Some(e.span);
            }
            return BodyStep::Calls(e.span);
        }
        self.called = true;
        match &callee.kind {
            // These never return.
            ExprKind::Name(name) if matches!(name.as_str(), "exit" | "unreachable") => BodyStep::Leaves,
            _ => BodyStep::Goes,
        }
    }
}

/// Returns whether a called expression is the function.
fn calls(names: &Resolution, function: OwnCall<'_>, callee: &Expr) -> bool {
    match (function, &callee.kind) {
        (OwnCall::Binding(id), ExprKind::Name(_)) => {
            matches!(names.used(callee.id), Some(Target::Binding(used)) if used == id)
        }
        (OwnCall::Method(method), ExprKind::Field { object, name, .. }) => {
            name.text == method && matches!(&object.kind, ExprKind::Name(object) if object == "self")
        }
        _ => false,
    }
}

/// Finds a call of a function with its own parameters, unchanged.
struct SameArguments<'c> {
    names: &'c Resolution,
    function: BindingId,
    params: Vec<BindingId>,
    found: Option<Span>,
}

impl<'c> SameArguments<'c> {
    fn of(names: &'c Resolution, function: BindingId, decl: &FnDecl) -> Option<Span> {
        let params: Vec<BindingId> = decl.params.iter().filter_map(|param| names.made(param.pattern.id)).collect();
        if params.is_empty() || params.len() < decl.params.len() {
            return None;
        }
        let mut search = Self { names, function, params, found: None };
        walk_block(&mut search, &decl.body);
        search.found
    }
}

impl<'a> Visit<'a> for SameArguments<'_> {
    fn expr(&mut self, e: &'a Expr) {
        if let ExprKind::Call { callee, args } = &e.kind
            && calls(self.names, OwnCall::Binding(self.function), callee)
            && args.len() == self.params.len()
            && args.iter().zip(&self.params).all(
                |(arg, param)| matches!(self.names.used(arg.value.id), Some(Target::Binding(used)) if used == *param),
            )
        {
            self.found = self.found.or(Some(e.span));
        }
        walk_expr(self, e);
    }
}
