//! Expressions.

use super::build::{around, entry, expr, holding, item, name, name_expr, unknown};
use super::visitor::TreeVisitor;
use lang::ast::{Expr, ExprKind, StrPart};
use lang::source::Span;
use rhai::Position;

impl TreeVisitor<'_> {
    /// An expression, as far as it is known what it is.
    pub(super) fn expr(&mut self, e: &rhai::Expr) -> Expr {
        let span = self.span(e.start_position());
        if self.too_deep() {
            return unknown(span);
        }
        self.depth += 1;
        let made = self.kind(e, span);
        self.depth -= 1;
        made
    }

    fn kind(&mut self, e: &rhai::Expr, span: Span) -> Expr {
        use rhai::Expr as E;
        match e {
            E::BoolConstant(b, _) => expr(ExprKind::Bool(*b), span),
            E::IntegerConstant(i, _) => expr(ExprKind::Int(*i), self.signed(span)),
            E::FloatConstant(f, _) => expr(ExprKind::Float(**f), self.signed(span)),
            E::CharConstant(c, _) => expr(ExprKind::Str(vec![StrPart::Text(c.to_string())]), span),
            E::StringConstant(text, at) => {
                self.text(text, *at);
                let parts = if text.is_empty() { Vec::new() } else { vec![StrPart::Text(text.to_string())] };
                expr(ExprKind::Str(parts), span)
            }
            E::Unit(_) => expr(ExprKind::Nil, span),
            E::InterpolatedString(parts, _) => self.template(parts, span),
            E::Array(items, at) => {
                let items = items.iter().map(|item| self.expr(item)).map(item).collect();
                expr(ExprKind::List(items), self.bracketed(*at, span))
            }
            E::Map(entries, at) => {
                let entries = entries.0.iter().map(|(key, value)| {
                    let value = self.expr(value);
                    let at = self.span(key.pos);
                    entry(name(&self.ids, key.name.as_str(), at), value)
                });
                let entries = entries.collect();
                expr(ExprKind::Dict(entries), self.bracketed(*at, span))
            }
            E::DynamicConstant(value, at) => self.pointer(value, *at, 0).unwrap_or_else(|| unknown(span)),
            E::Variable(variable, _, at) => self.variable(&variable.1, &variable.2, *at, span),
            E::Stmt(body) => self.value_block(body, span),
            E::FnCall(call, at) => self.function_call(call, *at),
            E::Dot(..) | E::Index(..) => self.chain(e, span),
            E::And(parts, _) | E::Or(parts, _) | E::Coalesce(parts, _) => self.parts(parts.iter(), span),
            E::Custom(custom, _) => self.parts(custom.inputs.iter(), span),
            _ => unknown(span),
        }
    }

    /// Returns an expression of unknown value with the parts given.
    pub(super) fn parts<'e>(&mut self, parts: impl Iterator<Item = &'e rhai::Expr>, span: Span) -> Expr {
        let parts: Vec<Expr> = parts.map(|part| self.expr(part)).collect();
        let around = around(&parts, span);
        holding(parts, around)
    }

    /// A literal with the minus before it.
    fn signed(&self, span: Span) -> Span {
        if self.source.slice(span) != "-" {
            return span;
        }
        let next = self.tokens.index(span.end).and_then(|i| self.tokens.get(i));
        next.map_or(span, |next| span.to(next.span))
    }

    fn bracketed(&self, at: Position, span: Span) -> Span {
        self.tokens.at(at).and_then(|i| self.tokens.bracketed(i)).unwrap_or(span)
    }

    fn template(&mut self, parts: &[rhai::Expr], span: Span) -> Expr {
        let mut made = Vec::new();
        for part in parts {
            made.push(match part {
                // A piece of the text is not a string that looks like a template.
                rhai::Expr::StringConstant(text, _) => StrPart::Text(text.to_string()),
                part => {
                    let part = self.expr(part);
                    let at = part.span;
                    StrPart::Interp(holding(vec![part], at))
                }
            });
        }
        // A template of one text would be taken for a string that is known.
        if made.iter().all(|part| matches!(part, StrPart::Text(_))) {
            made.push(StrPart::Interp(unknown(span)));
        }
        expr(ExprKind::Str(made), self.tokens.template(span).unwrap_or(span))
    }

    fn variable(&mut self, variable: &str, namespace: &rhai::Namespace, at: Position, span: Span) -> Expr {
        if !namespace.is_empty() {
            return unknown(span);
        }
        match self.scopes.find(variable) {
            Some(found) => match &found.constant {
                Some(own) => name_expr(&self.ids, own, span),
                None => unknown(span),
            },
            None => {
                self.missing(variable, at);
                unknown(span)
            }
        }
    }

    /// `{ …; value }`, and closures with what they capture.
    fn value_block(&mut self, body: &rhai::StmtBlock, span: Span) -> Expr {
        if let [rhai::Stmt::Share(_), rhai::Stmt::Expr(e)] = body.statements() {
            return self.expr(e);
        }
        if let [rhai::Stmt::Expr(e)] = body.statements() {
            self.scopes.begin_block();
            let made = self.expr(e);
            self.scopes.end_block();
            return made;
        }
        expr(ExprKind::Block(self.block(body)), span)
    }
}
