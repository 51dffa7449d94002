//! Declarations.

use super::Writer;
use super::comments::Sep;
use super::expression::ExprContext;
use crate::document::Style;
use lang::ast::{Attribute, AttributeArg, Expr, Field, FnDecl, Item, ItemKind, Param, TypeExpr, Variant};
use lang::lex::token::{Kw, Token};

impl Writer<'_> {
    pub(super) fn item(&mut self, item: &Item) {
        self.before_item(&item.attributes);
        if item.public {
            self.tok();
            self.space();
        }
        let end = item.span.end;
        match &item.kind {
            ItemKind::Fn(decl) => self.function(decl),
            ItemKind::Test(decl) => {
                self.doc.open(Style::All);
                self.tok();
                self.space_tok();
                self.space();
                self.block(&decl.body);
                self.doc.close();
            }
            ItemKind::Override(decl) => {
                self.tok();
                self.space();
                self.function(decl);
            }
            ItemKind::Pipeline { decl, extends } => {
                self.doc.open(Style::All);
                self.named();
                if self.peek() == Token::LParen {
                    self.params(&decl.params);
                }
                let mut extends = extends.is_some();
                for _ in 0..2 {
                    if extends && self.peek() == Token::Kw(Kw::Extends) {
                        self.space_tok();
                        self.space_tok();
                        extends = false;
                    }
                    if self.peek() == Token::Arrow {
                        self.returns(decl.returns.as_ref());
                    }
                }
                self.space();
                self.block(&decl.body);
                self.doc.close();
            }
            ItemKind::Tool { decl, description } => self.tool(decl, description.as_ref(), end),
            ItemKind::Struct { name: _, generics: _, fields } => {
                self.doc.open(Style::All);
                self.named();
                self.space();
                self.members(end, fields, Self::field);
                self.doc.close();
            }
            ItemKind::Impl { target: _, interface, methods } => {
                self.tok();
                self.generics();
                self.space_tok();
                self.generics();
                if interface.is_some() {
                    self.space_tok();
                    self.space_tok();
                    self.generics();
                }
                self.space();
                self.functions(methods, Self::item);
            }
            ItemKind::Enum { name: _, generics: _, variants } => {
                self.doc.open(Style::All);
                self.named();
                self.space();
                self.members(end, variants, Self::variant);
                self.doc.close();
            }
            ItemKind::Interface { name: _, generics: _, methods } => {
                self.named();
                self.space();
                self.functions(methods, |w, method| {
                    w.before_item(&[]);
                    w.function(method);
                });
            }
            ItemKind::TypeAlias { name: _, generics: _, ty } => {
                self.named();
                self.space_tok();
                self.space();
                self.ty(ty);
            }
            ItemKind::Import { names, path: _ } => {
                self.tok();
                self.space();
                if let Some(names) = names {
                    self.bracketed(Style::All, false, names, |w, (_, local)| {
                        w.tok();
                        if local.is_some() {
                            w.space_tok();
                            w.space_tok();
                        }
                    });
                    self.space_tok();
                    self.space();
                }
                self.tok();
            }
        }
    }

    /// Prints documentation and attributes, each on a line of its own.
    fn before_item(&mut self, attributes: &[Attribute]) {
        let mut attributes = attributes.iter();
        loop {
            let mut is_doc = false;
            match self.peek() {
                Token::Doc(text) => {
                    is_doc = true;
                    let span = self.cursor.take();
                    if text.starts_with("///") {
                        self.doc.suffix(span);
                    } else {
                        self.block_comment(span);
                    }
                }
                Token::At => {
                    let attribute = attributes.next();
                    self.tok();
                    self.tok();
                    if self.peek() == Token::LParen
                        && let Some(attribute) = attribute
                    {
                        let print = |w: &mut Self, arg: &AttributeArg| {
                            if arg.name.is_some() {
                                w.tok();
                                w.tok();
                                w.space();
                            }
                            w.expr(&arg.value, ExprContext::Operand);
                        };
                        self.bracketed(Style::All, false, &attribute.args, print);
                    }
                }
                _ => return,
            }
            // An empty line makes two comments of one.
            let blank = is_doc && matches!(self.peek(), Token::Doc(_));
            self.sep(Sep::Hard { blank });
        }
    }

    /// Prints a word, a name and type parameters.
    fn named(&mut self) {
        self.tok();
        self.space_tok();
        self.generics();
    }

    fn function(&mut self, decl: &FnDecl) {
        self.doc.open(Style::All);
        if decl.generator {
            self.tok();
            self.space();
        }
        self.named();
        self.params(&decl.params);
        self.returns(decl.returns.as_ref());
        self.bounds();
        // A function of an interface may have no body.
        if self.peek() == Token::LBody {
            self.space();
            self.block(&decl.body);
        }
        self.doc.close();
    }

    pub(super) fn params(&mut self, params: &[Param]) {
        self.bracketed(Style::All, false, params, |w, param| w.param(param, ExprContext::Free));
    }

    pub(super) fn returns(&mut self, returns: Option<&TypeExpr>) {
        if let Some(ty) = returns {
            self.space_tok();
            self.space();
            self.ty(ty);
        }
    }

    fn tool(&mut self, decl: &FnDecl, description: Option<&Expr>, end: u32) {
        self.doc.open(Style::All);
        self.named();
        self.params(&decl.params);
        self.returns(decl.returns.as_ref());
        self.space();
        let parts = decl.body.stmts.len() + usize::from(description.is_some());
        if parts > 1 || self.cursor.has_lines(lang::source::Span::new(self.cursor.start(), end)) {
            self.doc.must_break();
        }
        self.tok();
        if let Some(description) = description {
            self.doc.indent();
            self.sep(Sep::Line { blank: false });
            self.tok();
            self.space();
            self.expr(description, ExprContext::Operand);
            if !decl.body.stmts.is_empty() {
                self.sep(Sep::Hard { blank: true });
            }
            self.doc.dedent();
        }
        self.statements(&decl.body.stmts, description.is_none());
        self.close_body(parts == 0);
        self.doc.close();
    }

    fn field(&mut self, field: &Field) {
        self.before_item(&field.attributes);
        if self.peek() == Token::Kw(Kw::Pub) {
            self.tok();
            self.space();
        }
        self.tok();
        self.annotation(field.ty.as_ref());
        self.default(field.default.as_ref(), ExprContext::Free);
    }

    fn variant(&mut self, variant: &Variant) {
        self.before_item(&variant.attributes);
        self.tok();
        if self.peek() == Token::LParen {
            self.bracketed(Style::All, false, &variant.fields, |w, ty| {
                if w.cursor.second() == Token::Colon {
                    w.tok();
                    w.tok();
                    w.space();
                }
                w.ty(ty);
            });
        }
    }

    /// Prints functions between braces.
    fn functions<T>(&mut self, functions: &[T], mut print: impl FnMut(&mut Self, &T)) {
        self.doc.open(Style::All);
        self.tok();
        self.doc.indent();
        for (number, function) in functions.iter().enumerate() {
            self.sep(Sep::Hard { blank: number > 0 });
            print(self, function);
            while self.peek() == Token::Comma {
                self.skip();
            }
        }
        self.close_body(functions.is_empty());
        self.doc.close();
    }
}
