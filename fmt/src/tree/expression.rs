//! Expressions: literals, brackets, and those that begin with a word.

use super::Writer;
use crate::document::Style;
use lang::ast::{
    Arm, Block, ClosureExpr, ClosureForm, DictItem, Expr, ExprKind, ListItem, ParallelKind, SelectArm, StmtKind,
    TryBlock, UnaryOp,
};
use lang::lex::token::{Kw, Token};

/// The surroundings of an expression, which decide what parentheses change nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExprContext {
    /// Between brackets, commas or the like, which end it.
    Free,
    /// Before a body.
    Head,
    /// Beside an operator, or alone.
    Operand,
    /// Before a dot, an index or a call.
    Receiver,
}

impl Writer<'_> {
    pub(super) fn expr(&mut self, e: &Expr, context: ExprContext) {
        let left_out = self.redundant(e, context);
        for _ in 0..left_out {
            self.skip();
        }
        for _ in left_out..e.parens {
            self.tok();
        }
        self.bare(e);
        for _ in left_out..e.parens {
            self.tok();
        }
        for _ in 0..left_out {
            self.skip();
        }
    }

    /// Returns how many of the parentheses around an expression can be left out.
    ///
    /// Parentheses between operators stay: they may explain what they do not change. If a comment is in them they stay, since a
    /// line break behind a comment may be harmless only between parentheses.
    fn redundant(&self, e: &Expr, context: ExprContext) -> u8 {
        if e.parens == 0 || self.cursor.has_comment_in(e.span) {
            return 0;
        }
        let mut tokens = self.cursor.tokens_in(e.span);
        let all = match context {
            // `{` behind `->` or at the beginning of a statement would be that of a body.
            ExprContext::Free => !tokens.find(|token| *token != Token::LParen).is_some_and(is_brace),
            ExprContext::Head => !tokens.any(is_brace),
            ExprContext::Operand => is_atom(e),
            ExprContext::Receiver => is_atom(e) && !matches!(e.kind, ExprKind::Int(_) | ExprKind::Float(_)),
        };
        if all { e.parens } else { e.parens - 1 }
    }

    /// Returns whether an expression is printed without parentheses.
    fn is_bare(&self, e: &Expr, context: ExprContext) -> bool {
        self.redundant(e, context) == e.parens
    }

    /// Prints an expression without the parentheses around it.
    fn bare(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Nil
            | ExprKind::Bool(_)
            | ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Str(_)
            | ExprKind::Name(_)
            | ExprKind::Placeholder
            | ExprKind::Break
            | ExprKind::Continue => self.tok(),
            ExprKind::Type(ty) => self.ty(ty),
            ExprKind::List(items) => self.list(items),
            ExprKind::Dict(items) => self.dict(items),
            ExprKind::Struct { name: _, items } => {
                self.tok();
                self.space();
                self.dict(items);
            }
            ExprKind::Pair(a, b) => {
                self.bracketed(Style::All, false, &[a, b], |w, item| w.expr(item, ExprContext::Free));
            }
            ExprKind::Closure(closure) => self.closure(closure),
            ExprKind::Unary(op, inner) => {
                self.tok();
                if let (UnaryOp::Neg, ExprKind::Unary(UnaryOp::Neg, _)) = (op, &inner.kind)
                    && inner.parens == 0
                {
                    self.space();
                }
                self.expr(inner, ExprContext::Operand);
            }
            ExprKind::TryStar(inner) => {
                self.tok();
                self.space();
                self.expr(inner, ExprContext::Operand);
            }
            ExprKind::Binary(..) | ExprKind::Logic(..) | ExprKind::Pipe(..) => self.operators(e),
            ExprKind::Range { from, to, exclusive } => self.range(from, to, *exclusive),
            ExprKind::Ternary(cond, then, otherwise) => self.ternary(cond, then, otherwise),
            ExprKind::Field { .. }
            | ExprKind::Index { .. }
            | ExprKind::Slice { .. }
            | ExprKind::Call { .. }
            | ExprKind::Try(_) => self.chain(e),
            ExprKind::TryBlock(block) => self.try_block(block),
            ExprKind::If { .. } => self.if_chain(e),
            ExprKind::Match { value, arms } => {
                self.doc.open(Style::All);
                self.tok();
                self.head(value);
                self.members(e.span.end, arms, Self::arm);
                self.doc.close();
            }
            ExprKind::Block(block) => self.own_block(block),
            ExprKind::Return(value) | ExprKind::Yield(value) => self.word(value.as_deref()),
            ExprKind::Throw(value) | ExprKind::Emit(value) => self.word(Some(value)),
            ExprKind::Retry { times: head, body } | ExprKind::Deadline { limit: head, body } => {
                self.with_body(head, body);
            }
            ExprKind::Parallel { kind, over, options, body } => {
                self.parallel(*kind, over, options.as_deref(), body);
            }
            ExprKind::Spawn(body) | ExprKind::Mutex(body) => self.with_block(body),
            ExprKind::Select(arms) => {
                self.doc.open(Style::All);
                self.tok();
                self.space();
                self.members(e.span.end, arms, Self::select_arm);
                self.doc.close();
            }
            // A text that is formatted has no errors.
            ExprKind::Error | ExprKind::TooDeep => {}
        }
    }

    /// Prints a list. Short literals share lines, anything else has a line of its own where one line does not hold all.
    fn list(&mut self, items: &[ListItem]) {
        let style = match items {
            [_] => Style::Hug,
            _ if items.iter().all(|item| self.is_short(&item.value)) => Style::Fill,
            _ => Style::All,
        };
        let group = self.doc.next_group();
        self.bracketed(style, true, items, Self::list_item);
        if let [only] = items
            && self.hugs(&only.value)
            && !self.doc.is_asked(group)
        {
            self.doc.set_last(group, group + 1);
        }
    }

    /// Prints an element of a list, or an argument.
    pub(super) fn list_item(&mut self, item: &ListItem) {
        if item.spread {
            self.tok();
        }
        self.expr(&item.value, if item.spread { ExprContext::Operand } else { ExprContext::Free });
    }

    fn dict(&mut self, items: &[DictItem]) {
        self.bracketed(Style::All, true, items, |w, item| match item {
            DictItem::Entry { key, value } => {
                w.tok();
                if value.span != key.span {
                    w.tok();
                    w.space();
                    w.expr(value, ExprContext::Free);
                }
            }
            DictItem::Computed { key, value } => {
                w.tok();
                w.expr(key, ExprContext::Free);
                w.tok();
                w.tok();
                w.space();
                w.expr(value, ExprContext::Free);
            }
            DictItem::Spread(value) => {
                w.tok();
                w.expr(value, ExprContext::Operand);
            }
        });
    }

    /// Prints a closure. Its body stays close to its braces if it was written so and breaks between brackets of its own.
    pub(super) fn closure(&mut self, closure: &ClosureExpr) {
        if closure.form == ClosureForm::Function {
            self.doc.open(Style::All);
            self.tok();
            self.params(&closure.params);
            self.returns(closure.returns.as_ref());
            self.space();
            self.block(&closure.body);
            self.doc.close();
            return;
        }
        let group = self.doc.open(Style::All);
        self.tok();
        for param in &closure.params {
            self.space();
            self.param(param, ExprContext::Operand);
            self.tok_if(Token::Comma);
        }
        if self.peek() == Token::Arrow {
            self.space_tok();
        }
        self.doc.opened();
        let stmts = &closure.body.stmts;
        let written_close = !self.cursor.on_new_line() && self.cursor.comment().is_none() && stmts.len() == 1;
        let before = self.doc.breaks();
        self.statements(stmts, true);
        let breaks_inside = self.doc.breaks() > before;
        let commented = self.cursor.comment().is_some();
        if written_close
            && breaks_inside
            && !commented
            && stmts.first().is_some_and(|stmt| self.stays_close(&stmt.kind))
        {
            self.doc.set_style(group, Style::Chain);
        } else if !written_close && !stmts.is_empty() {
            self.doc.must_break();
        }
        let empty = stmts.is_empty();
        if empty && !commented {
            self.doc.dedent();
            self.space_tok();
        } else {
            self.close_body(false);
        }
        self.doc.close();
    }

    /// Prints a body in a group of its own.
    pub(super) fn own_block(&mut self, block: &Block) {
        self.doc.open(Style::All);
        self.block(block);
        self.doc.close();
    }

    /// Prints `return`, `throw` and the like.
    fn word(&mut self, value: Option<&Expr>) {
        self.tok();
        if let Some(value) = value {
            self.space();
            self.expr(value, ExprContext::Free);
        }
    }

    /// Prints `if … else if … else …`. If one of the bodies is on lines of its own, all are.
    fn if_chain(&mut self, e: &Expr) {
        self.doc.open(Style::All);
        if self.cursor.has_lines(e.span) {
            self.doc.must_break();
        }
        let mut next = Some(e);
        while let Some(branch) = next {
            match &branch.kind {
                ExprKind::If { cond, then, otherwise } => {
                    self.tok();
                    self.head(cond);
                    self.block(then);
                    if otherwise.is_some() {
                        self.space_tok();
                        self.space();
                    }
                    next = otherwise.as_deref();
                }
                ExprKind::Block(block) => {
                    self.block(block);
                    next = None;
                }
                _ => next = None,
            }
        }
        self.doc.close();
    }

    fn try_block(&mut self, block: &TryBlock) {
        self.doc.open(Style::All);
        self.tok();
        self.space();
        self.block(&block.body);
        if let Some(catch) = &block.catch {
            self.space_tok();
            self.space();
            let parens = self.tok_if(Token::LParen);
            if parens || self.peek() != Token::LBody {
                self.tok();
                self.annotation(catch.ty.as_ref());
                if parens {
                    self.tok();
                }
                self.space();
            }
            self.block(&catch.body);
        }
        if let Some(finally) = &block.finally {
            self.space_tok();
            self.space();
            self.block(finally);
        }
        self.doc.close();
    }

    fn arm(&mut self, arm: &Arm) {
        self.pattern(&arm.pattern);
        if let Some(guard) = &arm.guard {
            self.space_tok();
            self.space();
            self.expr(guard, ExprContext::Operand);
        }
        self.space_tok();
        self.space();
        match &arm.body.kind {
            ExprKind::Block(block) if arm.body.parens == 0 => self.own_block(block),
            _ => self.expr(&arm.body, ExprContext::Free),
        }
    }

    fn select_arm(&mut self, arm: &SelectArm) {
        self.doc.open(Style::All);
        let body = match arm {
            SelectArm::Receive { name: _, channel, body } => {
                self.tok();
                self.space_tok();
                self.head(channel);
                body
            }
            SelectArm::Timeout { limit, body } => {
                self.tok();
                self.head(limit);
                body
            }
            SelectArm::Default(body) => {
                self.tok();
                self.space();
                body
            }
        };
        self.block(body);
        self.doc.close();
    }

    fn parallel(&mut self, kind: ParallelKind, over: &Expr, options: Option<&Expr>, body: &ClosureExpr) {
        self.tok();
        if kind != ParallelKind::Count {
            self.space_tok();
            if self.peek() == Token::Kw(Kw::Each) {
                self.space_tok();
            }
        }
        self.head(over);
        if let Some(options) = options {
            self.tok();
            self.space();
            self.expr(options, ExprContext::Operand);
            self.space();
        }
        self.closure(body);
    }

    /// Prints `a to b`. The parentheses of `(a to b) exclusive` are in no node of the tree.
    fn range(&mut self, from: &Expr, to: &Expr, exclusive: bool) {
        let mut parens = 0;
        while self.peek() == Token::LParen && self.cursor.span().start < from.span.start {
            self.tok();
            parens += 1;
        }
        self.expr(from, ExprContext::Operand);
        self.space_tok();
        self.space();
        self.expr(to, ExprContext::Operand);
        for _ in 0..parens {
            self.tok();
        }
        if exclusive {
            self.space_tok();
        }
    }
}

/// Returns whether parentheses around an expression change nothing, whatever is beside it.
fn is_atom(e: &Expr) -> bool {
    matches!(
        e.kind,
        ExprKind::Nil
            | ExprKind::Bool(_)
            | ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Str(_)
            | ExprKind::Name(_)
            | ExprKind::Type(_)
            | ExprKind::Placeholder
            | ExprKind::List(_)
            | ExprKind::Pair(..)
    )
}

fn is_brace(token: Token<'_>) -> bool {
    matches!(token, Token::LBody | Token::LClosure | Token::LDict)
}

impl Writer<'_> {
    /// Returns whether an element of a list is so short that it can share a line with others.
    fn is_short(&self, e: &Expr) -> bool {
        let literal =
            matches!(e.kind, ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Name(_)) || e.plain_text().is_some();
        let around = |c: char| matches!(c, '(' | ')') || c.is_whitespace();
        literal && self.cursor.text[e.span.range()].trim_matches(around).len() <= 20
    }

    /// Returns whether an argument breaks between brackets of its own, so that other brackets can be close to it.
    pub(super) fn hugs(&self, e: &Expr) -> bool {
        self.is_bare(e, ExprContext::Free) && self.hugs_bare(e)
    }

    fn hugs_bare(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::List(items) => !items.is_empty(),
            ExprKind::Dict(items) | ExprKind::Struct { name: _, items } => !items.is_empty(),
            ExprKind::Closure(closure) => !closure.body.stmts.is_empty(),
            ExprKind::Match { .. }
            | ExprKind::Block(_)
            | ExprKind::If { .. }
            | ExprKind::TryBlock(_)
            | ExprKind::Spawn(_)
            | ExprKind::Retry { .. }
            | ExprKind::Deadline { .. } => true,
            ExprKind::Call { callee, args } => {
                self.is_path(callee) && args.last().is_some_and(|last| self.hugs(&last.value))
            }
            ExprKind::Field { object, .. } | ExprKind::Try(object) => {
                let attached = matches!(object.kind, ExprKind::Call { .. } | ExprKind::Field { .. } | ExprKind::Try(_));
                attached && object.parens == 0 && self.hugs_bare(object)
            }
            _ => false,
        }
    }

    /// Returns whether an expression is a name, or fields of one.
    fn is_path(&self, e: &Expr) -> bool {
        self.is_bare(e, ExprContext::Receiver)
            && match &e.kind {
                ExprKind::Name(_) => true,
                ExprKind::Field { object, .. } => self.is_path(object),
                _ => false,
            }
    }

    /// Returns whether the only statement of a closure may begin behind its arrow although it is on several lines.
    fn stays_close(&self, stmt: &StmtKind) -> bool {
        let StmtKind::Expr(e) = stmt else { return false };
        let (mut e, mut context) = (e, ExprContext::Operand);
        loop {
            if !self.is_bare(e, context) {
                return false;
            }
            match &e.kind {
                ExprKind::Field { object, .. } | ExprKind::Try(object) => e = object,
                ExprKind::Call { callee: _, args } => return args.last().is_some_and(|last| self.hugs(&last.value)),
                ExprKind::List(_) | ExprKind::Dict(_) | ExprKind::Struct { .. } | ExprKind::Closure(_) => return true,
                _ => return false,
            }
            context = ExprContext::Receiver;
        }
    }
}
