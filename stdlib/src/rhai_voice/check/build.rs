//! Parts of the language's own tree, with spans of a file in Rhai.

use lang::ast::{
    Block, Closure, DictItem, Expr, ExprKind, ListItem, Name, Param, Pattern, PatternKind, Stmt, StmtKind,
};
use lang::source::Span;

/// Something of which nothing is known.
pub(super) fn unknown(span: Span) -> Expr {
    Expr::new(ExprKind::Error, span)
}

/// Something of which nothing is known but what is in it.
pub(super) fn holding(parts: Vec<Expr>, span: Span) -> Expr {
    if parts.is_empty() {
        return unknown(span);
    }
    let callee = Box::new(unknown(Span::new(span.start, span.start)));
    Expr::new(ExprKind::Call { callee, args: parts.into_iter().map(item).collect() }, span)
}

pub(super) fn item(value: Expr) -> ListItem {
    ListItem { value, spread: false }
}

pub(super) fn name(text: &str, span: Span) -> Name {
    Name { text: text.into(), span }
}

/// `key: value`
pub(super) fn entry(key: Name, value: Expr) -> DictItem {
    DictItem::Entry { key, value }
}

pub(super) fn binding(text: &str, span: Span) -> Pattern {
    Pattern { kind: PatternKind::Bind(text.into()), span }
}

pub(super) fn parameter(text: &str, span: Span) -> Param {
    Param { pattern: binding(text, span), ty: None, default: None, rest: false, span }
}

pub(super) fn closure(params: Vec<Param>, body: Block, span: Span) -> Expr {
    Expr::new(ExprKind::Closure(Box::new(Closure { params, body })), span)
}

pub(super) fn block(stmts: Vec<Stmt>, span: Span) -> Block {
    Block { stmts, span }
}

pub(super) fn statement(e: Expr) -> Stmt {
    Stmt { span: e.span, kind: StmtKind::Expr(e) }
}

/// From the first to the last of what is in an expression.
pub(super) fn around(parts: &[Expr], own: Span) -> Span {
    parts.iter().fold(own, |span, part| span.to(part.span))
}
