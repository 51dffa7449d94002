//! One walk over Rhai's tree.

use super::bodies::Bodies;
use super::build::{block, closure, expr, statement, unknown};
use super::functions::Functions;
use super::scope::Scopes;
use super::{build, template};
use crate::rhai_front_end::errors::tokens::{TokenKind, Tokens};
use lang::ast::{Block, Catch, Expr, ExprKind, LetKind, Module, NodeIds, Stmt, StmtKind, TryBlock};
use lang::diagnostic::Diagnostic;
use lang::source::{SourceRef, Span};
use rhai::{AST, ASTFlags, Position};
use std::collections::HashSet;

/// Deeper trees are not looked at: a chain of operators nests as deep as it is long.
const DEEPEST: usize = 300;

pub(super) struct TreeVisitor<'a> {
    pub(super) source: &'a SourceRef,
    pub(super) tokens: &'a Tokens<'a>,
    pub(super) ast: &'a AST,
    pub(super) functions: &'a Functions,
    pub(super) bodies: Bodies,
    pub(super) scopes: Scopes,
    /// The ids of the nodes.
    pub(super) ids: NodeIds,
    pub(super) found: Vec<Diagnostic>,
    /// Variables that may change after they are bound.
    changing: HashSet<&'a str>,
    /// Files that are imported, by the names they have here.
    pub(super) imports: HashSet<String>,
    /// Text is run as code somewhere, which may bind anything.
    pub(super) dynamic: bool,
    /// The number of enclosing constructs that catch errors.
    pub(super) caught: usize,
    /// The depth in the tree.
    pub(super) depth: usize,
    /// Names that were reported: one that is missing in ten places is one mistake.
    pub(super) reported: HashSet<String>,
    body: Vec<Stmt>,
    /// A counter of distinct spans for nodes without a position.
    nowhere: u32,
}

impl<'a> TreeVisitor<'a> {
    pub(super) fn new(source: &'a SourceRef, tokens: &'a Tokens<'a>, ast: &'a AST, functions: &'a Functions) -> Self {
        let dynamic = (0..tokens.len()).any(|i| matches!(tokens.text(i), "eval" | "is_def_var" | "is_def_fn"));
        Self {
            source,
            tokens,
            ast,
            functions,
            bodies: Bodies::of(ast),
            scopes: Scopes::default(),
            ids: NodeIds::default(),
            found: Vec::new(),
            changing: changing(tokens),
            imports: HashSet::new(),
            dynamic,
            caught: 0,
            depth: 0,
            reported: HashSet::new(),
            body: Vec::new(),
            nowhere: u32::try_from(source.text().len()).unwrap_or(u32::MAX / 2),
        }
    }

    /// The whole file.
    pub(super) fn script(&mut self) {
        self.imported_names();
        self.scopes.begin_function();
        for name in ["task", "context", "args"] {
            self.scopes.bind(name, None);
        }
        let stmts = self.statements(self.ast.statements());
        self.scopes.end_function();
        self.body = stmts;
        for function in self.ast.iter_functions() {
            if !function.name.contains('$') {
                self.function(function.name, &function.params);
            }
        }
    }

    /// Returns the calls of builtins, and the diagnostics.
    pub(super) fn finish(self) -> (Module, Vec<Diagnostic>) {
        (Module { body: self.body }, self.found)
    }

    fn function(&mut self, name: &str, params: &[&str]) {
        let body = self.bodies.get(name, params.len());
        self.scopes.begin_function();
        for param in params {
            self.scopes.bind(param, None);
        }
        let stmts = self.statements(&body);
        self.scopes.end_function();
        let span = self.fresh();
        self.body.push(statement(closure(Vec::new(), block(&self.ids, stmts, span), span)));
    }

    /// Imports are known in functions as well.
    fn imported_names(&mut self) {
        for i in 0..self.tokens.len() {
            if self.tokens.text(i) == "as" {
                self.imports.insert(self.tokens.text(i + 1).to_owned());
            }
        }
    }

    pub(super) fn block(&mut self, body: &rhai::StmtBlock) -> Block {
        self.scopes.begin_block();
        let stmts = self.statements(body.statements());
        self.scopes.end_block();
        let span = self.span(body.position());
        block(&self.ids, stmts, span)
    }

    pub(super) fn statements(&mut self, stmts: &[rhai::Stmt]) -> Vec<Stmt> {
        if self.depth >= DEEPEST {
            return Vec::new();
        }
        self.depth += 1;
        let made = stmts.iter().filter_map(|stmt| self.statement(stmt)).collect();
        self.depth -= 1;
        made
    }

    pub(super) fn too_deep(&self) -> bool {
        self.depth >= DEEPEST
    }

    fn statement(&mut self, stmt: &rhai::Stmt) -> Option<Stmt> {
        let span = self.span(stmt.position());
        Some(match stmt {
            rhai::Stmt::Expr(e) => statement(self.expr(e)),
            rhai::Stmt::FnCall(call, pos) => statement(self.function_call(call, *pos)),
            rhai::Stmt::Block(body) => statement(expr(ExprKind::Block(self.block(body)), span)),
            rhai::Stmt::Var(bound, ..) => return Some(self.binding(&bound.0, &bound.1)),
            rhai::Stmt::If(flow, _) => {
                let cond = Box::new(masked(self.expr(&flow.expr)));
                let then = self.block(&flow.body);
                let otherwise = self.block(&flow.branch);
                let otherwise = (!flow.branch.is_empty()).then(|| Box::new(expr(ExprKind::Block(otherwise), span)));
                statement(expr(ExprKind::If { cond, then, otherwise }, span))
            }
            rhai::Stmt::Switch(parts, _) => statement(self.switch(&parts.0, &parts.1, span)),
            rhai::Stmt::While(flow, _) | rhai::Stmt::Do(flow, ..) => {
                let cond = masked(self.expr(&flow.expr));
                let body = self.block(&flow.body);
                Stmt { kind: StmtKind::While { cond, body }, span }
            }
            rhai::Stmt::For(parts, _) => self.walk_loop(&parts.0, parts.1.as_ref(), &parts.2, span),
            rhai::Stmt::TryCatch(flow, _) => statement(self.try_catch(flow, span)),
            rhai::Stmt::Assignment(parts) => {
                let target = self.expr(&parts.1.lhs);
                let value = self.expr(&parts.1.rhs);
                let parts = vec![target, value];
                let around = build::around(&parts, span);
                statement(build::holding(parts, around))
            }
            rhai::Stmt::Return(value, flags, _) => {
                let value = value.as_ref().map(|value| Box::new(self.expr(value)));
                let around = value.as_ref().map_or(span, |value| span.to(value.span));
                let kind = match value {
                    value if !flags.intersects(ASTFlags::BREAK) => ExprKind::Return(value),
                    value => ExprKind::Throw(value.unwrap_or_else(|| Box::new(unknown(span)))),
                };
                statement(expr(kind, around))
            }
            rhai::Stmt::BreakLoop(value, ..) => {
                let value: Vec<Expr> = value.iter().map(|value| self.expr(value)).collect();
                statement(build::holding(value, span))
            }
            rhai::Stmt::Import(parts, _) => statement(self.expr(&parts.0)),
            rhai::Stmt::Noop(_) | rhai::Stmt::Share(_) => return None,
            _ => statement(unknown(span)),
        })
    }

    fn binding(&mut self, ident: &rhai::Ident, value: &rhai::Expr) -> Stmt {
        let value = self.expr(value);
        let span = self.span(ident.pos);
        let name = ident.name.as_str();
        if self.dynamic || self.changing.contains(name) {
            self.scopes.bind(name, None);
            return statement(value);
        }
        self.nowhere = self.nowhere.saturating_add(1);
        // No name of a script has such a sign, so that it never hides a builtin.
        let own = format!("{name}'{}", self.nowhere);
        let pattern = build::binding(&self.ids, &own, span);
        self.scopes.bind(name, Some(own));
        let around = span.to(value.span);
        Stmt {
            kind: StmtKind::Let { kind: LetKind::Let, pattern, ty: None, value: Some(value), public: false },
            span: around,
        }
    }

    fn walk_loop(
        &mut self,
        variable: &rhai::Ident,
        counter: Option<&rhai::Ident>,
        flow: &rhai::FlowControl,
        span: Span,
    ) -> Stmt {
        let over = masked(self.expr(&flow.expr));
        self.scopes.begin_block();
        self.scopes.bind(variable.name.as_str(), None);
        if let Some(counter) = counter {
            self.scopes.bind(counter.name.as_str(), None);
        }
        let body = self.block(&flow.body);
        self.scopes.end_block();
        let cond = build::holding(vec![over], span);
        Stmt { kind: StmtKind::While { cond, body }, span }
    }

    fn switch(&mut self, value: &rhai::Expr, cases: &rhai::SwitchCasesCollection, span: Span) -> Expr {
        let value = self.expr(value);
        let mut chain: Option<Expr> = None;
        for case in cases.expressions.iter().rev() {
            let cond = self.expr(&case.lhs);
            let body = self.expr(&case.rhs);
            let at = body.span;
            let then = block(&self.ids, vec![statement(body)], at);
            let cond = Box::new(masked(cond));
            chain = Some(expr(ExprKind::If { cond, then, otherwise: chain.take().map(Box::new) }, span));
        }
        let stmts = std::iter::once(value).chain(chain).map(statement).collect();
        expr(ExprKind::Block(block(&self.ids, stmts, span)), span)
    }

    fn try_catch(&mut self, flow: &rhai::FlowControl, span: Span) -> Expr {
        self.caught += 1;
        let body = self.block(&flow.body);
        self.caught -= 1;
        self.scopes.begin_block();
        if let rhai::Expr::Variable(name, ..) = &flow.expr {
            self.scopes.bind(&name.1, None);
        }
        let handler = self.block(&flow.branch);
        self.scopes.end_block();
        let catch = Some(Catch { name: None, ty: None, body: handler });
        expr(ExprKind::TryBlock(Box::new(TryBlock { body, catch, finally: None })), span)
    }

    /// The token at a position.
    pub(super) fn span(&mut self, at: Position) -> Span {
        self.tokens.span(at).unwrap_or_else(|| self.fresh())
    }

    /// A span behind the end of the text, unlike all others.
    pub(super) fn fresh(&mut self) -> Span {
        self.nowhere = self.nowhere.saturating_add(1);
        Span::new(self.nowhere, self.nowhere)
    }

    /// Reports code that raises when it is run. If an enclosing construct catches the error, it is
    /// a warning, since it may be intended.
    pub(super) fn raises(&mut self, mut found: Diagnostic) {
        if self.caught > 0 {
            found.severity = lang::diagnostic::Severity::Warning;
        }
        self.found.push(found);
    }

    /// An ordinary string.
    pub(super) fn text(&mut self, text: &str, at: Position) {
        if let Some(found) = template::check(self, text, at) {
            self.found.push(found);
        }
    }
}

/// A condition, of which the language's own types have nothing to say.
fn masked(cond: Expr) -> Expr {
    let span = cond.span;
    build::holding(vec![cond], span)
}

/// The variables that are assigned to, or called, read or indexed into: any of these may change them.
fn changing<'a>(tokens: &Tokens<'a>) -> HashSet<&'a str> {
    const ASSIGNMENTS: &[&str] =
        &["=", "+=", "-=", "*=", "/=", "%=", "**=", "&=", "|=", "^=", "<<=", ">>=", ".", "?.", "[", "?["];
    let mut names = HashSet::new();
    for i in 0..tokens.len() {
        let is_word = tokens.get(i).is_some_and(|token| token.kind == TokenKind::Word);
        let before = i.checked_sub(1).map_or("", |before| tokens.text(before));
        if !is_word || matches!(before, "let" | "const") {
            continue;
        }
        let function = i.checked_sub(2).map_or("", |function| tokens.text(function));
        let handed_over = before == "(" && crate::table::registry().all().all(|row| row.name != function);
        if ASSIGNMENTS.contains(&tokens.text(i + 1)) || handed_over {
            names.insert(tokens.text(i));
        }
    }
    names
}
