//! Closures, by the functions that Rhai has made of them.

use super::build::{block, closure, parameter};
use super::visitor::TreeVisitor;
use lang::ast::{Expr, Stmt};
use rhai::{Dynamic, FnPtr, Position};

impl TreeVisitor<'_> {
    /// A closure whose first parameters are what it captures.
    pub(super) fn pointer(&mut self, value: &Dynamic, at: Position, captured: usize) -> Option<Expr> {
        let pointer = value.read_lock::<FnPtr>()?;
        if !pointer.is_anonymous() {
            return None;
        }
        let def = self.ast.iter_functions().find(|function| function.name == pointer.fn_name())?;
        let body = self.bodies.get(def.name, def.params.len());
        let start = self.tokens.at(at);
        let span = start.and_then(|i| self.tokens.expression(i)).unwrap_or_else(|| self.fresh());
        // What it may raise is caught, if at all, by who calls it.
        let caught = std::mem::take(&mut self.caught);
        self.scopes.begin_function();
        let mut params = Vec::new();
        for (i, param) in def.params.iter().enumerate() {
            self.scopes.bind(param, None);
            if i >= captured {
                let nowhere = self.fresh();
                params.push(parameter(&self.ids, &format!("{param}'"), nowhere));
            }
        }
        let stmts: Vec<Stmt> = self.statements(&body);
        self.scopes.end_function();
        self.caught = caught;
        Some(closure(params, block(&self.ids, stmts, span), span))
    }
}
