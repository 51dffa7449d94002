//! Checks before a pack runs.
//!
//! In Rhai a closure is a value, shares the variables that it captures, and may be stored in one of
//! them. Such cycles are never freed, chains of them overflow the stack when they are, and no limit
//! of the interpreter counts what a closure holds. So in a pack a function is not a value: a
//! closure, or the name of a function, may only appear where it is used immediately, as the
//! argument of a built-in function that calls it, or as the `evaluate` of a provider. Then values
//! are trees, and the interpreter counts their size.

use super::error::span_at;
use crate::codes::PackCode;
use lang::diagnostic::Diagnostic;
use lang::source::SourceRef;
use rhai::{AST, ASTNode, Dynamic, Expr, FnCallExpr, Position, Stmt};
use std::collections::BTreeSet;

/// Built-in functions that call a function, and which argument that is, the list or map itself being the first.
const CALLERS: &[(&str, usize)] = &[
    ("all", 1),
    ("dedup", 1),
    ("drain", 1),
    ("filter", 1),
    ("find", 1),
    ("find_map", 1),
    ("for_each", 1),
    ("index_of", 1),
    ("map", 1),
    ("order", 1),
    ("order_by", 1),
    ("reduce", 1),
    ("reduce_rev", 1),
    ("retain", 1),
    ("some", 1),
    ("sort", 1),
    ("sort_by", 1),
    ("zip", 2),
];

/// The registration of a provider.
pub(super) const REGISTER: &str = "register_reminder_provider";

/// Words that make functions of text, or values of functions.
const WORDS: &[(&str, &str)] = &[
    ("eval", "a pack cannot evaluate code that it builds itself"),
    ("curry", "write a closure that captures what it needs"),
    ("call", "call the function by its name"),
    ("is_def_fn", "a pack can call only its own functions"),
    ("is_def_var", "a pack can use only its own variables"),
];

/// The most variables that one closure captures.
const CAPTURES: usize = 64;

/// Returns the constructs in a pack that packs may not use.
pub(super) fn check(ast: &AST, source: &SourceRef) -> Vec<Diagnostic> {
    let functions: BTreeSet<&str> = ast.iter_functions().map(|f| f.name).collect();
    let mut shape = Shape { functions, source, found: Vec::new() };
    for function in ast.iter_fn_def() {
        let name = function.name.as_str();
        if name == REGISTER || CALLERS.iter().any(|(caller, _)| *caller == name) {
            // The tree keeps the place of a function's body, not that of its name.
            let at = function.body.start_position();
            shape.refuse(at, format!("a pack cannot define a function named `{name}`"), "choose another name");
        }
    }
    ast.walk(&mut |path: &[ASTNode<'_>]| {
        shape.node(path);
        true
    });
    shape.found
}

struct Shape<'a> {
    /// Functions of the pack.
    functions: BTreeSet<&'a str>,
    source: &'a SourceRef,
    found: Vec<Diagnostic>,
}

impl Shape<'_> {
    fn refuse(&mut self, at: Position, message: String, help: &str) {
        let mut d = Diagnostic::new(PackCode::Refused, message).help(help);
        if let Some(span) = span_at(self.source, at) {
            d = d.label(self.source, span, "not permitted in a pack");
        }
        self.found.push(d);
    }

    fn node(&mut self, path: &[ASTNode<'_>]) {
        let Some((last, above)) = path.split_last() else { return };
        match last {
            ASTNode::Expr(expr) => self.expr(expr, above),
            ASTNode::Stmt(Stmt::FnCall(call, at)) => self.call(call, *at, above),
            ASTNode::Stmt(Stmt::Share(captured)) if captured.len() > CAPTURES => {
                let at = captured.first().map_or(Position::NONE, |(name, _)| name.pos);
                self.refuse(at, format!("this closure captures more than {CAPTURES} variables"), "put them into a map");
            }
            ASTNode::Stmt(Stmt::Import(_, at) | Stmt::Export(_, at)) => {
                self.refuse(
                    *at,
                    "a pack is a single file without imports and exports".to_owned(),
                    "move the code into this file",
                );
            }
            // The walk does not enter what a loop is left with.
            ASTNode::Stmt(Stmt::BreakLoop(Some(expr), ..)) => {
                let mut inner = Vec::new();
                expr.walk(&mut inner, &mut |path: &[ASTNode<'_>]| {
                    self.node(path);
                    true
                });
            }
            ASTNode::Stmt(_) => {}
            // A kind of node that was not known when this was written.
            _ => self.refuse(
                Position::NONE,
                "this Rhai construct is not permitted in a pack".to_owned(),
                "rewrite it without this construct",
            ),
        }
    }

    fn expr(&mut self, expr: &Expr, above: &[ASTNode<'_>]) {
        match expr {
            Expr::FnCall(call, at) | Expr::MethodCall(call, at) => self.call(call, *at, above),
            Expr::Stmt(block) if is_closure(block.statements()) => self.function(expr, above, "a closure"),
            Expr::DynamicConstant(value, _) if holds_function(value) => self.function(expr, above, "a closure"),
            Expr::Variable(variable, None, _)
                if variable.0.is_none() && self.functions.contains(variable.1.as_str()) =>
            {
                self.function(expr, above, "a function");
            }
            Expr::Custom(_, at) => {
                self.refuse(
                    *at,
                    "this Rhai construct is not permitted in a pack".to_owned(),
                    "rewrite it without \
                    this construct",
                );
            }
            _ => {}
        }
    }

    fn call(&mut self, call: &FnCallExpr, at: Position, above: &[ASTNode<'_>]) {
        let name = call.name.as_str();
        // What binds the captured variables of a closure; the closure itself was looked at.
        let of_closure = above.len() >= 2
            && matches!(above[above.len() - 1], ASTNode::Stmt(Stmt::Expr(_)))
            && matches!(above[above.len() - 2], ASTNode::Expr(Expr::Stmt(block)) if is_closure(block.statements()));
        if name == "curry" && of_closure {
            return;
        }
        if name == "Fn" {
            let is = |e: &Expr| matches!(e, Expr::FnCall(own, _) if std::ptr::eq(&raw const **own, call));
            if !above.last().is_some_and(|parent| takes_function(*parent, is, above)) {
                self.not_here(at, "a function");
            }
            return;
        }
        if let Some((_, help)) = WORDS.iter().find(|(word, _)| *word == name) {
            self.refuse(at, format!("a pack cannot use `{name}`"), help);
        }
    }

    fn function(&mut self, expr: &Expr, above: &[ASTNode<'_>], what: &str) {
        // The function that a captured closure is bound from.
        if let [
            ..,
            ASTNode::Expr(Expr::Stmt(block)),
            ASTNode::Stmt(Stmt::Expr(_)),
            ASTNode::Expr(Expr::FnCall(call, _)),
        ] = above
            && call.name == "curry"
            && is_closure(block.statements())
        {
            return;
        }
        let is = |candidate: &Expr| std::ptr::eq(candidate, expr);
        if !above.last().is_some_and(|parent| takes_function(*parent, is, above)) {
            self.not_here(expr.start_position(), what);
        }
    }

    fn not_here(&mut self, at: Position, what: &str) {
        self.refuse(
            at,
            format!("{what} cannot be used as a value in a pack"),
            "write it where it is used, `items.filter(|x| x > 3)`, or make it a named function and call that",
        );
    }
}

/// Returns whether a node that `is` recognizes is in the place of a function argument.
fn takes_function(parent: ASTNode<'_>, is: impl Fn(&Expr) -> bool, above: &[ASTNode<'_>]) -> bool {
    match parent {
        ASTNode::Expr(Expr::MethodCall(call, _)) => argument(call, 1, is),
        ASTNode::Expr(Expr::FnCall(call, _)) | ASTNode::Stmt(Stmt::FnCall(call, _)) => argument(call, 0, is),
        ASTNode::Expr(Expr::Map(entries, _)) => {
            let evaluate = entries.0.iter().any(|(key, value)| key.name == "evaluate" && is(value));
            evaluate
                && matches!(
                    above.iter().rev().nth(1),
                    Some(ASTNode::Expr(Expr::FnCall(call, _)) | ASTNode::Stmt(Stmt::FnCall(call, _)))
                        if call.name == REGISTER && call.args.len() == 1
                )
        }
        _ => false,
    }
}

/// Whether an argument is one that the function called uses up.
fn argument(call: &FnCallExpr, receiver: usize, is: impl Fn(&Expr) -> bool) -> bool {
    let Some(at) = call.args.iter().position(is) else { return false };
    call.namespace.is_empty() && CALLERS.contains(&(call.name.as_str(), at + receiver))
}

/// A closure with what it captures.
fn is_closure(block: &[Stmt]) -> bool {
    block.iter().any(|stmt| matches!(stmt, Stmt::Share(_)))
}

/// Whether a constant is or holds a function.
fn holds_function(value: &Dynamic) -> bool {
    if value.is_fnptr() {
        return true;
    }
    if let Some(array) = value.read_lock::<rhai::Array>() {
        return array.iter().any(holds_function);
    }
    value.read_lock::<rhai::Map>().is_some_and(|map| map.values().any(holds_function))
}
