//! Functions that call themselves and never stop, and functions that call themselves where a builtin was meant.

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
        if decl.generator || self.names.iterators.contains_key(&decl.body.id) {
            return;
        }
        // Most functions do not call themselves. One that hides a builtin may do so in a closure.
        if let OwnCall::Binding(id) = callee
            && !self.names.uses_itself(id)
            && self.registry.find("", &decl.name.text).is_none()
        {
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

impl BodyStep {
    /// Returns what happens when another part follows.
    fn then(self, next: impl FnOnce() -> Self) -> Self {
        match self {
            Self::Goes => next(),
            step => step,
        }
    }
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
            StmtKind::For { iter: head, body, .. } | StmtKind::While { cond: head, body } => {
                self.expr(head, false).then(|| self.sometimes(body))
            }
            StmtKind::Guard { cond, .. } | StmtKind::Require { cond, .. } => {
                self.expr(cond, false).then(|| BodyStep::Leaves)
            }
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
        match &e.kind {
            ExprKind::Closure(_) | ExprKind::Spawn(_) => BodyStep::Goes,
            ExprKind::Parallel { over, .. } => self.expr(over, false),
            ExprKind::Call { callee, args } => self.call(e, callee, args, last),
            ExprKind::If { .. } | ExprKind::Ternary(..) | ExprKind::Match { .. } | ExprKind::Logic(..) => {
                self.branches(e, last)
            }
            ExprKind::Block(block) | ExprKind::Mutex(block) => self.block(block, last),
            ExprKind::Return(Some(value)) => self.expr(value, true).then(|| BodyStep::Leaves),
            ExprKind::Throw(value) | ExprKind::Try(value) | ExprKind::TryStar(value) => {
                self.expr(value, false).then(|| BodyStep::Leaves)
            }
            // What is caught, repeated or ended in time can end the recursion.
            ExprKind::Return(None)
            | ExprKind::Break
            | ExprKind::Continue
            | ExprKind::Error
            | ExprKind::TooDeep
            | ExprKind::Select(_)
            | ExprKind::TryBlock(_)
            | ExprKind::Retry { .. }
            | ExprKind::Deadline { .. } => BodyStep::Leaves,
            // The rest of a chain after `?.` and `?[` may not run.
            ExprKind::Field { object, .. } | ExprKind::Index { object, .. } | ExprKind::Slice { object, .. } => {
                self.expr(object, false)
            }
            _ => {
                let mut step = BodyStep::Goes;
                e.children(|part| step = step.then(|| self.expr(part, false)));
                step
            }
        }
    }

    /// An expression that chooses which of its parts run.
    fn branches(&mut self, e: &Expr, last: bool) -> BodyStep {
        match &e.kind {
            ExprKind::If { cond, then, otherwise } => self.expr(cond, false).then(|| {
                let then = self.block(then, last);
                let otherwise = otherwise.as_ref().map_or(BodyStep::Goes, |otherwise| self.expr(otherwise, last));
                Self::either(&[then, otherwise])
            }),
            ExprKind::Ternary(cond, a, b) => {
                self.expr(cond, false).then(|| Self::either(&[self.expr(a, last), self.expr(b, last)]))
            }
            ExprKind::Match { value, arms } => self.expr(value, false).then(|| {
                let steps: Vec<BodyStep> = arms.iter().map(|arm| self.expr(&arm.body, last)).collect();
                Self::either(&steps)
            }),
            ExprKind::Logic(_, a, b) => {
                self.expr(a, false).then(|| Self::either(&[self.expr(b, false), BodyStep::Goes]))
            }
            _ => BodyStep::Goes,
        }
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
