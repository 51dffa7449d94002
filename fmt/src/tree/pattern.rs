//! Patterns and parameters.

use super::Writer;
use super::comments::Sep;
use super::expression::ExprContext;
use crate::document::Style;
use lang::ast::{Expr, Name, Param, Pattern, PatternField, PatternKind};
use lang::lex::token::{Kw, Token};

/// An element of a dict or list pattern.
enum Element<'a> {
    Field(&'a PatternField),
    Item(&'a (Pattern, Option<Expr>)),
    Rest,
}

impl Writer<'_> {
    pub(super) fn pattern(&mut self, pattern: &Pattern) {
        // Neither parentheses around a pattern nor a first `|` are in the tree.
        let start = pattern.span.start;
        let mut parens = 0;
        while self.cursor.span().start < start {
            match self.peek() {
                Token::LParen => {
                    parens += 1;
                    self.tok();
                }
                Token::Bar => {
                    self.tok();
                    self.space();
                }
                _ => break,
            }
        }
        self.bare_pattern(pattern);
        for _ in 0..parens {
            // A last comma is allowed here too.
            if self.peek() == Token::Comma {
                self.skip();
            }
            self.tok();
        }
    }

    fn bare_pattern(&mut self, pattern: &Pattern) {
        match &pattern.kind {
            PatternKind::Wildcard | PatternKind::Bind(_) => self.tok(),
            PatternKind::Literal(_) => self.constant(pattern.span.end),
            PatternKind::Dict { name, fields, rest } => {
                if name.is_some() {
                    self.tok();
                    self.space();
                }
                self.parts(fields.iter().map(Element::Field), rest.as_ref());
            }
            PatternKind::List { items, rest } => self.parts(items.iter().map(Element::Item), rest.as_ref()),
            PatternKind::Pair(a, b) => self.bracketed(Style::All, false, &[a, b], |w, part| w.pattern(part)),
            PatternKind::Variant { enum_name, variant: _, args } => {
                if enum_name.is_some() {
                    self.tok();
                    self.tok();
                }
                self.tok();
                if self.peek() == Token::LParen {
                    self.bracketed(Style::All, false, args, Self::pattern);
                }
            }
            PatternKind::Or(options) => {
                self.doc.open(Style::Chain);
                if self.peek() == Token::Bar {
                    self.tok();
                    self.space();
                }
                for (number, option) in options.iter().enumerate() {
                    if number == 0 {
                        self.pattern(option);
                        self.doc.indent();
                        continue;
                    }
                    self.written_break(false);
                    self.sep(Sep::Line { blank: false });
                    self.tok();
                    self.written_break(false);
                    self.space();
                    self.pattern(option);
                }
                self.doc.dedent();
                self.doc.close();
            }
            PatternKind::Error => {}
        }
    }

    /// Prints a constant, such as `-1` or `1 to 5 exclusive`.
    fn constant(&mut self, end: u32) {
        self.tok();
        let mut word = false;
        while self.cursor.span().start < end {
            let next = matches!(self.peek(), Token::Kw(Kw::To | Kw::Exclusive));
            if next || word {
                self.space();
            }
            self.tok();
            word = next;
        }
    }

    fn parts<'p>(&mut self, elements: impl Iterator<Item = Element<'p>>, rest: Option<&Option<Box<Name>>>) {
        let mut elements: Vec<Element<'p>> = elements.collect();
        if rest.is_some() {
            elements.push(Element::Rest);
        }
        self.bracketed(Style::All, false, &elements, |w, element| match element {
            Element::Field(field) => {
                w.tok();
                if field.pattern.span != field.key.span {
                    w.tok();
                    w.space();
                    w.pattern(&field.pattern);
                }
                w.default(field.default.as_ref(), ExprContext::Operand);
            }
            Element::Item((pattern, default)) => {
                w.pattern(pattern);
                w.default(default.as_ref(), ExprContext::Operand);
            }
            Element::Rest => {
                w.tok();
                if matches!(w.peek(), Token::Ident(_) | Token::Underscore) {
                    w.tok();
                }
            }
        });
    }

    /// Prints a parameter.
    pub(super) fn param(&mut self, param: &Param, context: ExprContext) {
        if param.rest {
            self.tok();
        }
        self.pattern(&param.pattern);
        self.annotation(param.ty.as_deref());
        self.default(param.default.as_ref(), context);
    }
}
