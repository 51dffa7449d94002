//! Parts of the language's own tree, with spans of a file in Rhai.

use lang::ast::{
    Block, ClosureExpr, ClosureForm, DictItem, Expr, ExprKind, ListItem, Name, NodeId, NodeIds, Param, Pattern,
    PatternKind, Stmt, StmtKind,
};
use lang::source::Span;

/// An expression that is neither a name nor holds one itself: no table knows it.
pub(super) fn expr(kind: ExprKind, span: Span) -> Expr {
    Expr::new(kind, span, NodeId::NONE)
}

/// A name as an expression.
pub(super) fn name_expr(ids: &NodeIds, text: &str, span: Span) -> Expr {
    Expr::new(ExprKind::Name(text.into()), span, ids.next())
}

/// Returns an expression of unknown value.
pub(super) fn unknown(span: Span) -> Expr {
    expr(ExprKind::Error, span)
}

/// Returns an expression of unknown value with its parts.
pub(super) fn holding(parts: Vec<Expr>, span: Span) -> Expr {
    if parts.is_empty() {
        return unknown(span);
    }
    let callee = Box::new(unknown(Span::new(span.start, span.start)));
    expr(ExprKind::Call { callee, args: parts.into_iter().map(item).collect() }, span)
}

pub(super) fn item(value: Expr) -> ListItem {
    ListItem { value, spread: false }
}

pub(super) fn name(ids: &NodeIds, text: &str, span: Span) -> Name {
    Name { text: text.into(), span, id: ids.next() }
}

/// `key: value`
pub(super) fn entry(key: Name, value: Expr) -> DictItem {
    DictItem::Entry { key, value }
}

pub(super) fn binding(ids: &NodeIds, text: &str, span: Span) -> Pattern {
    Pattern { kind: PatternKind::Bind(text.into()), span, id: ids.next() }
}

pub(super) fn parameter(ids: &NodeIds, text: &str, span: Span) -> Param {
    Param { pattern: binding(ids, text, span), ty: None, default: None, rest: false, span }
}

pub(super) fn closure(params: Vec<Param>, body: Block, span: Span) -> Expr {
    expr(ExprKind::Closure(Box::new(ClosureExpr { form: ClosureForm::Braces, params, returns: None, body })), span)
}

pub(super) fn block(ids: &NodeIds, stmts: Vec<Stmt>, span: Span) -> Block {
    Block { stmts, span, id: ids.next() }
}

pub(super) fn statement(e: Expr) -> Stmt {
    Stmt { span: e.span, kind: StmtKind::Expr(e) }
}

/// Returns the span from the first to the last part of an expression.
pub(super) fn around(parts: &[Expr], own: Span) -> Span {
    parts.iter().fold(own, |span, part| span.to(part.span))
}
