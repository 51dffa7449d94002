//! Expressions: operands, what is attached to them, operators by precedence.

use super::failure::{ParseFailure, Problem, TokenClass, Wants};
use super::input::{GrammarRule, ParseState, RuleInput, by_token, missed, take, tok, when};
use super::literal::{arguments, dict, group, list, simple_kind, string, structure};
use super::pattern::error_pattern;
use super::recover::{ends_element, ends_parameter, recovering};
use super::rules::Rules;
use super::{control, item};
use crate::ast::{BinaryOp, ClosureExpr, ClosureForm, Expr, ExprKind, ListItem, LogicOp, Param, TypeExpr, UnaryOp};
use crate::lex::token::{Kw, Token};
use crate::source::Span;
use chumsky::prelude::*;

/// An expression: operands between operators, by precedence.
pub(super) fn expr<'a>(rules: &Rules<'a>) -> GrammarRule<'a, Expr> {
    let climb = Climb {
        cx: rules.cx,
        structure: structure(rules.cx, &rules.expr),
        operand: operand(rules),
        arguments: arguments(rules.expr.clone()),
        index: index(rules),
        expr: rules.expr.clone(),
        ty: rules.ty.clone(),
    };
    custom(move |inp| climb.expr(inp, 0)).boxed()
}

/// The left and right binding power of an operator.
type Powers = (u8, u8);

const fn left(level: u8) -> Powers {
    (2 * level, 2 * level + 1)
}

const fn right(level: u8) -> Powers {
    (2 * level + 1, 2 * level)
}

/// The binding power of a prefix operator: only what is attached to its operand binds tighter.
const PREFIX: u8 = 24;
/// The binding power of `exclusive`: just below that of `to`.
const EXCLUSIVE: u8 = 3;

/// An operator between two operands.
#[derive(Clone, Copy)]
enum Infix {
    Binary(BinaryOp),
    Logic(LogicOp),
    Ternary,
    Range,
    Pipe,
}

impl Infix {
    /// The operator and its powers, which follow the table of the language's reference, tightest first.
    fn read(token: Token<'_>) -> Option<(Self, Powers)> {
        let (op, level) = match token {
            Token::StarStar => return Some((Self::Binary(BinaryOp::Pow), right(11))),
            Token::Star => (Self::Binary(BinaryOp::Mul), 10),
            Token::Slash => (Self::Binary(BinaryOp::Div), 10),
            Token::Percent => (Self::Binary(BinaryOp::Rem), 10),
            Token::Coalesce => (Self::Logic(LogicOp::Coalesce), 9),
            Token::Plus => (Self::Binary(BinaryOp::Add), 8),
            Token::Minus => (Self::Binary(BinaryOp::Sub), 8),
            Token::Lt => (Self::Binary(BinaryOp::Lt), 7),
            Token::Le => (Self::Binary(BinaryOp::Le), 7),
            Token::Gt => (Self::Binary(BinaryOp::Gt), 7),
            Token::Ge => (Self::Binary(BinaryOp::Ge), 7),
            Token::Kw(Kw::In) => (Self::Binary(BinaryOp::In), 7),
            Token::NotIn => (Self::Binary(BinaryOp::NotIn), 7),
            Token::EqEq => (Self::Binary(BinaryOp::Eq), 6),
            Token::NotEq => (Self::Binary(BinaryOp::Ne), 6),
            Token::AndAnd => (Self::Logic(LogicOp::And), 5),
            Token::OrOr => (Self::Logic(LogicOp::Or), 4),
            Token::Ternary => return Some((Self::Ternary, right(3))),
            Token::Kw(Kw::To) => (Self::Range, 2),
            Token::Pipe => (Self::Pipe, 1),
            _ => return None,
        };
        Some((op, left(level)))
    }
}

/// Parses operators by precedence climbing; the operands between them are ordinary rules.
struct Climb<'a> {
    cx: &'a ParseState,
    structure: GrammarRule<'a, Expr>,
    operand: GrammarRule<'a, Expr>,
    arguments: GrammarRule<'a, Vec<ListItem>>,
    index: GrammarRule<'a, IndexOrSlice>,
    expr: GrammarRule<'a, Expr>,
    ty: GrammarRule<'a, TypeExpr>,
}

impl<'a> Climb<'a> {
    /// Parses an expression whose operators bind at least as tightly as `least`.
    fn expr(&self, inp: &mut RuleInput<'a, '_>, least: u8) -> Result<Expr, ParseFailure> {
        let start = inp.cursor();
        let mut expr = match inp.peek().and_then(prefix_op) {
            Some(op) => {
                inp.skip();
                let inner = self.expr(inp, PREFIX)?;
                self.cx.node(op.apply(inner), inp.span_since(&start))
            }
            None => self.operand(inp)?,
        };
        while let Some(token) = inp.peek() {
            let kind = if begins_attached(token) {
                self.attached(inp, token, expr)?
            } else if matches!(token, Token::Kw(Kw::Exclusive)) && least <= EXCLUSIVE {
                inp.skip();
                let span = inp.span_since(&start);
                expr = exclusive(inp, expr, span);
                continue;
            } else if let Some((op, (power, next))) = Infix::read(token)
                && power >= least
            {
                self.infix(inp, expr, op, next)?
            } else {
                break;
            };
            expr = self.cx.node(kind, inp.span_since(&start));
        }
        Ok(expr)
    }

    /// Parses an expression without operators.
    fn operand(&self, inp: &mut RuleInput<'a, '_>) -> Result<Expr, ParseFailure> {
        let (before, start) = (inp.save(), inp.cursor());
        let token = inp.peek();
        let Some(kind) = token.and_then(simple_kind) else { return inp.parse(&self.operand) };
        inp.skip();
        match token {
            Some(Token::Damaged) => return Ok(super::recover::error_expr(inp.span_since(&start))),
            Some(Token::Ident(name)) if is_type_name(name) && matches!(inp.peek(), Some(Token::LDict)) => {
                inp.rewind(before);
                return inp.parse(&self.structure);
            }
            Some(Token::Ident(name)) if has_arguments(name) && matches!(inp.peek(), Some(Token::Lt)) => {
                let after = inp.save();
                inp.rewind(before);
                // `list < a` compares; no comparison ends in `>`.
                if let Ok(ty) = inp.parse(&self.ty)
                    && inp.peek().is_none_or(follows_type)
                {
                    return Ok(self.cx.leaf(ExprKind::Type(Box::new(ty)), inp.span_since(&start)));
                }
                inp.rewind(after);
            }
            _ => {}
        }
        Ok(self.cx.leaf(kind, inp.span_since(&start)))
    }

    /// Parses `.f ?.f [i] ?[i] [a:b] f(…) e?` after `inner`; begins with `token`.
    fn attached(&self, inp: &mut RuleInput<'a, '_>, token: Token<'a>, inner: Expr) -> Result<ExprKind, ParseFailure> {
        let object = Box::new(inner);
        Ok(match token {
            Token::LParen => ExprKind::Call { args: inp.parse(&self.arguments)?, callee: object },
            Token::LBracket | Token::QBracket => inp.parse(&self.index)?.apply(object),
            Token::Question => {
                inp.skip();
                ExprKind::Try(object)
            }
            _ => {
                inp.skip();
                let start = inp.cursor();
                let Some(Token::Ident(name)) = inp.peek() else { return Err(missed(inp, Wants::of(TokenClass::Name))) };
                inp.skip();
                let name = self.cx.name(name, inp.span_since(&start));
                ExprKind::Field { object, name, optional: matches!(token, Token::QDot) }
            }
        })
    }

    /// The operator that comes next, and its right side.
    fn infix(&self, inp: &mut RuleInput<'a, '_>, l: Expr, op: Infix, least: u8) -> Result<ExprKind, ParseFailure> {
        let before = inp.cursor();
        inp.skip();
        let at = inp.span_since(&before);
        let then = match op {
            Infix::Ternary => {
                let then = inp.parse(&self.expr)?;
                inp.parse(tok(Token::Colon))?;
                Some(then)
            }
            _ => None,
        };
        let (l, r) = (Box::new(l), Box::new(self.expr(inp, least)?));
        Ok(match (op, then) {
            (Infix::Ternary, Some(then)) => ExprKind::Ternary(l, Box::new(then), r),
            (Infix::Binary(op), _) => ExprKind::Binary(op, at, l, r),
            (Infix::Logic(op), _) => ExprKind::Logic(op, l, r),
            (Infix::Range, _) => ExprKind::Range { from: l, to: r, exclusive: false },
            (Infix::Pipe | Infix::Ternary, _) => ExprKind::Pipe(l, r),
        })
    }
}

/// `1 to 5 exclusive`: looser than `to`, so that it is seen once the range is whole.
fn exclusive(inp: &mut RuleInput<'_, '_>, inner: Expr, span: Span) -> Expr {
    match inner.kind {
        ExprKind::Range { from, to, exclusive: false } => {
            Expr { kind: ExprKind::Range { from, to, exclusive: true }, span, parens: 0, ..inner }
        }
        kind => {
            inp.emit(ParseFailure::problem(Problem::ExclusiveWithoutRange, span));
            Expr { kind, ..inner }
        }
    }
}

/// Prefix of an operand.
#[derive(Clone, Copy)]
enum PrefixOp {
    Unary(UnaryOp),
    TryStar,
}

impl PrefixOp {
    fn apply(self, inner: Expr) -> ExprKind {
        match self {
            Self::Unary(op) => ExprKind::Unary(op, Box::new(inner)),
            Self::TryStar => ExprKind::TryStar(Box::new(inner)),
        }
    }
}

fn prefix_op(token: Token<'_>) -> Option<PrefixOp> {
    Some(match token {
        Token::Bang => PrefixOp::Unary(UnaryOp::Not),
        Token::Minus => PrefixOp::Unary(UnaryOp::Neg),
        Token::TryStar => PrefixOp::TryStar,
        _ => return None,
    })
}

/// An index or a slice.
enum IndexOrSlice {
    One { index: Expr, optional: bool },
    Slice { from: Option<Expr>, to: Option<Expr> },
}

impl IndexOrSlice {
    fn apply(self, object: Box<Expr>) -> ExprKind {
        match self {
            Self::One { index, optional } => ExprKind::Index { object, index: Box::new(index), optional },
            Self::Slice { from, to } => ExprKind::Slice { object, from: from.map(Box::new), to: to.map(Box::new) },
        }
    }
}

/// `[i] ?[i] [a:b]`
fn index<'a>(rules: &Rules<'a>) -> GrammarRule<'a, IndexOrSlice> {
    let expr = &rules.expr;
    let upto = tok(Token::Colon).ignore_then(expr.clone().or_not());
    let slice = upto.clone().map(|to| IndexOrSlice::Slice { from: None, to });
    let index = expr.clone().then(upto.or_not()).map(|(first, to)| match to {
        Some(to) => IndexOrSlice::Slice { from: Some(first), to },
        None => IndexOrSlice::One { index: first, optional: false },
    });
    let inside = recovering(choice((slice, index)).boxed(), ends_element, &[TokenClass::RBracket], |span| {
        IndexOrSlice::One { index: super::recover::error_expr(span), optional: false }
    });
    let plain = inside.delimited_by(tok(Token::LBracket), tok(Token::RBracket));
    let optional = recovering(expr.clone(), ends_element, &[TokenClass::RBracket], super::recover::error_expr)
        .delimited_by(tok(Token::QBracket), tok(Token::RBracket))
        .map(|index| IndexOrSlice::One { index, optional: true });
    by_token(
        [plain.boxed(), optional.boxed()],
        |token| Some(usize::from(matches!(token, Token::QBracket))),
        TokenClass::Operator,
    )
}

fn begins_attached(token: Token<'_>) -> bool {
    matches!(token, Token::Dot | Token::QDot | Token::LParen | Token::LBracket | Token::QBracket | Token::Question)
}

/// Can an expression begin with it?
pub(super) fn begins_expr(token: Token<'_>) -> bool {
    match token {
        Token::Ident(_)
        | Token::Int(_)
        | Token::Float(_)
        | Token::Raw(_)
        | Token::StrStart(_)
        | Token::Underscore
        | Token::Damaged
        | Token::LParen
        | Token::LBracket
        | Token::LDict
        | Token::LClosure
        | Token::AnonymousFn
        | Token::LBody
        | Token::Bang
        | Token::Minus
        | Token::TryStar => true,
        Token::Kw(kw) => matches!(kw, Kw::Nil | Kw::True | Kw::False | Kw::Break | Kw::Continue) || control::begins(kw),
        _ => false,
    }
}

/// A name that begins with a capital letter.
fn is_type_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase())
}

/// The types whose arguments stand in `< >` where a value is expected.
fn has_arguments(name: &str) -> bool {
    matches!(name, "list" | "dict" | "set" | "Result")
}

/// Whether a token that no operand begins with comes after a type.
fn follows_type(token: Token<'_>) -> bool {
    matches!(token, Token::Comma | Token::RBrace | Token::RParen | Token::RBracket | Token::Dot)
}

/// Operands of more than one token.
fn operand<'a>(rules: &Rules<'a>) -> GrammarRule<'a, Expr> {
    let cx = rules.cx;
    let block = rules.block.clone().map_with(|block, e| cx.node(ExprKind::Block(block), e.span()));
    by_token(
        [
            string(cx, rules.expr.clone()),
            group(cx, rules.expr.clone()),
            list(cx, rules.expr.clone()),
            dict(cx, &rules.expr),
            closure(rules).map_with(|closure, e| cx.node(ExprKind::Closure(Box::new(closure)), e.span())).boxed(),
            block.boxed(),
            control::control(rules),
            function(rules),
        ],
        |token| match token {
            Token::StrStart(_) => Some(0),
            Token::LParen => Some(1),
            Token::LBracket => Some(2),
            Token::LDict => Some(3),
            Token::LClosure => Some(4),
            Token::LBody => Some(5),
            Token::Kw(kw) if control::begins(kw) => Some(6),
            Token::AnonymousFn => Some(7),
            _ => None,
        },
        TokenClass::Expr,
    )
}

fn error_param(span: Span) -> Param {
    let pattern = error_pattern(span);
    Param { pattern, ty: None, default: None, rest: false, span }
}

/// `{ a, b = 1, ...rest -> … }`; a `parallel` may leave the parameters out.
pub(super) fn closure<'a>(rules: &Rules<'a>) -> GrammarRule<'a, ClosureExpr> {
    let cx = rules.cx;
    let params = recovering(rules.param.clone(), ends_parameter, &[TokenClass::Comma, TokenClass::Arrow], error_param)
        .separated_by(just(Token::Comma))
        .allow_trailing()
        .collect::<Vec<_>>()
        .then_ignore(tok(Token::Arrow))
        .boxed();
    let stmts = rules.stmts.clone();
    let rule = custom(move |inp: &mut RuleInput<'a, '_>| {
        let start = inp.cursor();
        inp.skip();
        let before = inp.save();
        // Without an arrow there are no parameters, and how they failed says nothing of the statements.
        let params = inp.parse(&params).unwrap_or_else(|_| {
            inp.rewind(before);
            Vec::new()
        });
        let stmts = inp.parse(&stmts)?;
        take(inp, |token| matches!(token, Token::RBrace), TokenClass::RBrace)?;
        let body = cx.block(stmts, inp.span_since(&start));
        Ok(ClosureExpr { form: ClosureForm::Braces, params, returns: None, body })
    });
    when(|t| matches!(t, Token::LClosure), rule.boxed())
}

/// `fn(a, b: int = 1, ...rest) -> T { … }`
fn function<'a>(rules: &Rules<'a>) -> GrammarRule<'a, Expr> {
    let cx = rules.cx;
    tok(Token::AnonymousFn)
        .ignore_then(item::params(rules))
        .then(item::returns(rules))
        .then(rules.block.clone())
        .map_with(|((params, returns), body), e| {
            let closure = ClosureExpr { form: ClosureForm::Function, params, returns, body };
            cx.node(ExprKind::Closure(Box::new(closure)), e.span())
        })
        .boxed()
}

/// A place that can be assigned to: a name, or fields and indexes that begin at one.
pub(super) fn is_place(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Name(_) | ExprKind::Error | ExprKind::TooDeep => true,
        ExprKind::Field { object, optional: false, .. } | ExprKind::Index { object, optional: false, .. } => {
            is_place(object)
        }
        _ => false,
    }
}
