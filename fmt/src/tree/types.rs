//! Written types.

use super::Writer;
use super::comments::Sep;
use crate::document::Style;
use lang::ast::{Name, TypeExpr, TypeKind};
use lang::lex::token::{Kw, Token};

impl Writer<'_> {
    /// Prints `: type`.
    pub(super) fn annotation(&mut self, ty: Option<&TypeExpr>) {
        if let Some(ty) = ty {
            self.tok();
            self.space();
            self.ty(ty);
        }
    }

    pub(super) fn ty(&mut self, ty: &TypeExpr) {
        // Neither parentheses around a type nor a first `|` are in the tree.
        let mut parens = 0;
        while self.cursor.span().start < ty.span.start {
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
        self.bare_type(ty);
        for _ in 0..parens {
            self.tok();
        }
    }

    fn bare_type(&mut self, ty: &TypeExpr) {
        match &ty.kind {
            TypeKind::Name { name: _, args } => {
                self.tok();
                if self.peek() == Token::Lt && !args.is_empty() {
                    self.tok();
                    self.types(args);
                    self.tok();
                }
            }
            TypeKind::Fn { params, returns } => {
                self.tok();
                self.tok();
                self.types(params);
                self.tok();
                self.space_tok();
                self.space();
                self.ty(returns);
            }
            TypeKind::Shape { fields, open } => self.shape(fields, *open),
            TypeKind::Literal(_) => self.tok(),
            TypeKind::Union(options) => self.union(options),
            TypeKind::Optional(inner) => {
                self.ty(inner);
                self.tok();
            }
            TypeKind::Error => {}
        }
    }

    /// Prints types between commas. A comma behind the last is left out.
    fn types(&mut self, types: &[TypeExpr]) {
        for (number, ty) in types.iter().enumerate() {
            if number > 0 {
                self.space();
            }
            self.ty(ty);
            if number + 1 < types.len() {
                self.tok();
            } else if self.peek() == Token::Comma {
                self.skip();
            }
        }
    }

    fn union(&mut self, options: &[TypeExpr]) {
        self.doc.open(Style::Chain);
        if self.peek() == Token::Bar {
            self.tok();
            self.space();
        }
        for (number, option) in options.iter().enumerate() {
            if number == 0 {
                self.ty(option);
                self.doc.indent();
                continue;
            }
            self.written_break(false);
            self.sep(Sep::Line { blank: false });
            self.tok();
            self.written_break(false);
            self.space();
            self.ty(option);
        }
        self.doc.dedent();
        self.doc.close();
    }

    /// Prints `{a: T, b?: U, ...}`. The tree does not say where the `...` is.
    fn shape(&mut self, fields: &[(Name, bool, TypeExpr)], open: bool) {
        let mut rest = fields.iter();
        let parts = vec![(); fields.len() + usize::from(open)];
        self.bracketed(Style::All, true, &parts, |w, ()| {
            w.tok();
            if let Token::Colon | Token::Question | Token::Ternary = w.peek()
                && let Some((_, optional, ty)) = rest.next()
            {
                if *optional {
                    w.tok();
                }
                w.annotation(Some(ty));
            }
        });
    }

    /// Prints `<T, U: Bound>`. Bounds are in no node of the tree.
    pub(super) fn generics(&mut self) {
        if self.peek() != Token::Lt {
            return;
        }
        self.tok();
        let mut depth = 1;
        while depth > 0 && self.peek() != Token::Newline {
            match self.peek() {
                Token::Lt => depth += 1,
                Token::Gt => depth -= 1,
                _ => {}
            }
            self.type_token();
        }
    }

    /// Prints `where T: Bound, …`. Bounds are in no node of the tree.
    pub(super) fn bounds(&mut self) {
        if self.peek() != Token::Ident("where") {
            return;
        }
        self.space_tok();
        self.space();
        let mut depth = 0;
        loop {
            match self.peek() {
                Token::Lt | Token::LParen | Token::LDict => depth += 1,
                Token::Gt | Token::RParen => depth -= 1,
                Token::RBrace if depth > 0 => depth -= 1,
                Token::LBody | Token::RBrace | Token::Doc(_) | Token::Newline | Token::Ident("gen") => return,
                Token::Kw(Kw::Fn) if self.cursor.second() != Token::LParen => return,
                _ => {}
            }
            self.type_token();
        }
    }

    /// Prints a token of a type with the spaces around it.
    fn type_token(&mut self) {
        match self.peek() {
            Token::Comma | Token::Colon => {
                self.tok();
                if self.peek() != Token::Gt {
                    self.space();
                }
            }
            Token::Bar | Token::Arrow => {
                self.space_tok();
                self.space();
            }
            _ => self.tok(),
        }
    }
}
