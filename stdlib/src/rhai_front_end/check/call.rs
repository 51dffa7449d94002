//! Calls of functions.

use super::build::{around, expr, holding, item, name, name_expr};
use super::functions::Meaning;
use super::visitor::TreeVisitor;
use crate::rhai_front_end::errors::calls;
use crate::rhai_front_end::errors::names;
use crate::rhai_front_end::errors::place::SourcePlace;
use crate::rhai_front_end::errors::words::Call;
use lang::ast::{Expr, ExprKind};
use lang::builtins::Builtin;
use lang::check::CheckCode;
use lang::source::Span;
use rhai::{FnCallExpr, Position};

impl TreeVisitor<'_> {
    pub(super) fn function_call(&mut self, call: &FnCallExpr, at: Position) -> Expr {
        let span = self.span(at);
        if call.name == "curry"
            && let Some(made) = self.captures(call, at)
        {
            return made;
        }
        let args: Vec<Expr> = call.args.iter().map(|arg| self.expr(arg)).collect();
        if call.is_operator_call() || call.capture_parent_scope {
            let around = around(&args, span);
            return holding(args, around);
        }
        let namespace = if call.is_qualified() { call.namespace.root().to_owned() } else { String::new() };
        let is_path = call.is_qualified() && call.namespace.path.len() > 1;
        if is_path || namespace == "global" || self.imports.contains(&namespace) {
            return holding(args, span);
        }
        let start = if call.is_qualified() { call.namespace.position() } else { at };
        let Some(first) = self.tokens.at(start) else { return holding(args, span) };
        let head = if call.is_qualified() { first + 2 } else { first };
        // A name that is not in the text belongs to a generated call.
        if self.tokens.text(head) != call.name.as_str() {
            return holding(args, span);
        }
        match self.functions.meaning(&namespace, &call.name, args.len()) {
            Meaning::Builtin(row) => self.builtin(row, first, head, args),
            Meaning::Unknown | Meaning::Other => holding(args, span),
            Meaning::Takes | Meaning::Nothing => {
                self.leads_nowhere(&namespace, &call.name, start, first, head);
                holding(args, span)
            }
        }
    }

    /// A closure with what it captures.
    fn captures(&mut self, call: &FnCallExpr, at: Position) -> Option<Expr> {
        let [rhai::Expr::DynamicConstant(pointer, _), captured @ ..] = call.args.as_slice() else { return None };
        for variable in captured {
            self.expr(variable);
        }
        self.pointer(pointer, at, captured.len())
    }

    /// The call as the language itself would have it.
    fn builtin(&mut self, row: &'static Builtin, first: usize, head: usize, args: Vec<Expr>) -> Expr {
        let at = |i: usize| self.tokens.get(i).map_or(Span::default(), |token| token.span);
        let (start, named) = (at(first), at(head));
        let whole = self.tokens.bracketed(head + 1).unwrap_or(named);
        let callee = if row.module.is_empty() {
            name_expr(&self.ids, row.name, named)
        } else {
            let object = Box::new(name_expr(&self.ids, row.module, start));
            expr(ExprKind::Field { object, name: name(&self.ids, row.name, named), optional: false }, start.to(named))
        };
        let args = args.into_iter().map(item).collect();
        expr(ExprKind::Call { callee: Box::new(callee), args }, start.to(whole))
    }

    fn leads_nowhere(&mut self, namespace: &str, called: &str, start: Position, first: usize, head: usize) {
        let path = if namespace.is_empty() { called.to_owned() } else { format!("{namespace}::{called}") };
        let count = self.tokens.parts(head + 1).len();
        if self.dynamic || !self.reported.insert(format!("{path}/{count}")) {
            return;
        }
        let mut place = SourcePlace::new(self.source, start);
        place.at = first;
        if !namespace.is_empty() && !self.functions.has_namespace(namespace) {
            let found = names::no_namespace(&place, namespace);
            return self.raises(found);
        }
        let call = Call { namespace: namespace.to_owned(), name: called.to_owned(), types: None };
        let mut found = calls::among(&place, &self.functions.known, &call);
        if found.code == lang::vm::RunCode::Arity {
            found.code = CheckCode::Arity.into();
        }
        self.raises(found);
    }

    /// A variable that nothing binds.
    pub(super) fn missing(&mut self, variable: &str, at: Position) {
        let is_function = self.ast.iter_functions().any(|function| function.name == variable);
        if is_function || self.dynamic || !self.reported.insert(variable.to_owned()) {
            return;
        }
        let place = SourcePlace::new(self.source, at);
        // Only what is written there can be wrong there.
        if place.text() == variable {
            let found = names::no_variable(&place, variable);
            self.raises(found);
        }
    }
}
