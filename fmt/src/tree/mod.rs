//! Prints a tree: its nodes say how the tokens are grouped, the tokens are taken from the text in their order.

mod call;
mod comments;
mod expression;
mod item;
mod operator;
mod pattern;
mod statement;
mod types;

use crate::cursor::Cursor;
use crate::document::{Document, Style};
use crate::layout::Printer;
use comments::Sep;
use lang::ast::Module;
use lang::lex::token::Token;
use lang::source::Span;

/// Returns the formatted text of a tree without errors.
pub(crate) fn print<'a>(
    text: &'a str,
    module: &Module,
    tokens: &'a [(Token<'a>, Span)],
    comments: &'a [Span],
    width: u32,
) -> String {
    let mut writer = Writer { cursor: Cursor::new(text, tokens, comments), doc: Document::default() };
    let mut printer = Printer::new(text, width);
    for stmt in &module.body {
        writer.sep(Sep::Hard { blank: true });
        writer.stmt(stmt);
        // One document for each statement of the file keeps them small.
        printer.print(&writer.doc);
        writer.doc.clear();
    }
    writer.inner_comments();
    printer.print(&writer.doc);
    printer.finish()
}

/// Makes a document of nodes, and takes their tokens.
struct Writer<'a> {
    cursor: Cursor<'a>,
    doc: Document,
}

impl<'a> Writer<'a> {
    /// Returns the next token.
    fn peek(&self) -> Token<'a> {
        self.cursor.peek()
    }

    /// Prints the next token right behind what was printed last.
    fn tok(&mut self) {
        if self.cursor.comment().is_some() {
            self.sep(Sep::None);
        }
        let span = self.cursor.take();
        self.doc.text(self.cursor.text, span);
    }

    /// Prints the next token if it is `token`.
    fn tok_if(&mut self, token: Token<'_>) -> bool {
        let found = self.peek() == token;
        if found {
            self.tok();
        }
        found
    }

    /// Prints a space, then the next token.
    fn space_tok(&mut self) {
        self.space();
        self.tok();
    }

    /// Prints a space.
    fn space(&mut self) {
        self.sep(Sep::Space);
    }

    /// Takes the next token, which is printed where it is needed.
    fn skip(&mut self) {
        self.cursor.take();
    }

    /// Prints elements between brackets and commas, which may break behind each comma. A line break behind the opening bracket
    /// is kept where `keeps` says so.
    fn bracketed<T>(&mut self, style: Style, keeps: bool, items: &[T], mut print: impl FnMut(&mut Self, &T)) {
        self.doc.open(style);
        self.tok();
        self.doc.opened();
        if keeps && !items.is_empty() && self.cursor.on_new_line() {
            self.doc.ask();
        }
        self.elements(items, &mut print);
        self.doc.close();
    }

    /// Prints the elements of a group and its closing bracket.
    fn elements<T>(&mut self, items: &[T], print: &mut impl FnMut(&mut Self, &T)) {
        self.doc.indent();
        for (number, item) in items.iter().enumerate() {
            self.sep(if number == 0 { Sep::Soft } else { Sep::Line { blank: true } });
            if number + 1 == items.len() {
                self.doc.last_comes();
            }
            print(self, item);
            if number + 1 < items.len() {
                self.tok_if(Token::Comma);
            }
        }
        if !items.is_empty() {
            self.doc.if_broken(',');
        }
        self.inner_comments();
        if self.peek() == Token::Comma {
            self.skip();
            self.inner_comments();
        }
        self.doc.dedent();
        self.sep(Sep::Soft);
        self.tok();
    }
}
