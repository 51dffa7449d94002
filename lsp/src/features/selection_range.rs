//! `textDocument/selectionRange`: the nodes around a position, from the innermost to the whole text.

use crate::error::LspError;
use crate::workspace::{Analysis, Snapshot};
use lang::ast::visit::{Visit, walk_block, walk_expr, walk_item, walk_module, walk_pattern, walk_stmt};
use lang::ast::{Block, Expr, Item, Pattern, Stmt, TypeExpr};
use lang::lex::token::Token;
use lang::source::Span;
use lsp_types::{SelectionRange, SelectionRangeParams};

pub(super) fn selection_ranges(
    snapshot: &Snapshot<'_>,
    params: &SelectionRangeParams,
) -> Result<Option<Vec<SelectionRange>>, LspError> {
    let document = snapshot.document(&params.text_document.uri)?;
    let tokens: Vec<Span> =
        document.lexed().tokens.iter().filter(|(token, _)| *token != Token::Newline).map(|(_, span)| *span).collect();
    let ranges = params.positions.iter().map(|position| Ok(around(&document, &tokens, document.offset(*position)?)));
    ranges.collect::<Result<Vec<_>, LspError>>().map(Some)
}

fn around(document: &Analysis, tokens: &[Span], offset: u32) -> SelectionRange {
    let mut finder = AroundFinder { offset, found: vec![document.whole()] };
    walk_module(&mut finder, document.module());
    let holds = |span: &&Span| span.start <= offset && offset <= span.end;
    // A name at the end of a token wins over the operator that follows.
    let token = tokens.iter().filter(holds).max_by_key(|span| (span.end - span.start, span.start));
    finder.found.extend(token);
    // A node that is not inside of the one before would be an invalid answer.
    let mut spans: Vec<Span> = Vec::new();
    finder.found.sort_by_key(|span| std::cmp::Reverse(span.end - span.start));
    for span in finder.found {
        if spans.last().is_none_or(|outer| *outer != span && outer.start <= span.start && span.end <= outer.end) {
            spans.push(span);
        }
    }
    let mut selected = SelectionRange { range: document.range(document.whole()), parent: None };
    for span in &spans[1..] {
        selected = SelectionRange { range: document.range(*span), parent: Some(Box::new(selected)) };
    }
    selected
}

/// Finds the nodes around a position.
struct AroundFinder {
    offset: u32,
    found: Vec<Span>,
}

impl AroundFinder {
    /// Notes a node around the position. Returns whether it is one.
    fn enter(&mut self, span: Span) -> bool {
        let holds = span.start <= self.offset && self.offset <= span.end;
        if holds {
            self.found.push(span);
        }
        holds
    }
}

impl<'a> Visit<'a> for AroundFinder {
    fn stmt(&mut self, stmt: &'a Stmt) {
        if self.enter(stmt.span) {
            walk_stmt(self, stmt);
        }
    }

    fn item(&mut self, item: &'a Item) {
        if self.enter(item.span) {
            walk_item(self, item);
        }
    }

    fn block(&mut self, block: &'a Block) {
        if self.enter(block.span) {
            walk_block(self, block);
        }
    }

    fn expr(&mut self, e: &'a Expr) {
        if self.enter(e.span) {
            walk_expr(self, e);
        }
    }

    fn pattern(&mut self, pattern: &'a Pattern) {
        if self.enter(pattern.span) {
            walk_pattern(self, pattern);
        }
    }

    fn ty(&mut self, ty: &'a TypeExpr) {
        self.enter(ty.span);
    }
}
