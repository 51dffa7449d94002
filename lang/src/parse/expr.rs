//! Expressions: operands, what is attached to them, operators by precedence.

use super::control;
use super::failure::{Failure, Problem, Want};
use super::input::{Ex, In, Rule, kw, name, tok, when};
use super::literal::{arguments, dict, group, list, simple, string, structure};
use super::recover::{ends_element, ends_parameter, recovering};
use super::rules::Rules;
use crate::ast::{
    BinaryOp, Block, Closure, Expr, ExprKind, ListItem, LogicOp, Name, Param, Pattern, PatternKind, UnaryOp,
};
use crate::lex::token::{Kw, Token};
use crate::source::Span;
use chumsky::pratt::{Associativity, infix, left, postfix, prefix, right};
use chumsky::prelude::*;

/// An expression. The powers follow the table of the language's reference, loosest first.
pub(super) fn expr<'a>(rules: &Rules<'a>) -> Rule<'a, Expr> {
    let cx = rules.cx;
    let fold = move |l: Expr, op: Infix, r: Expr, e: &mut Extra<'a, '_>| cx.node(op.apply(l, r), e.span());
    let branch = tok(Token::Ternary).ignore_then(rules.expr.clone()).then_ignore(tok(Token::Colon));
    let level = |power: Associativity, first: fn(Token<'_>) -> Option<Op>| infix(power, operator(first), fold);
    operand(rules)
        .pratt((
            prefix(24, prefix_op(), move |op: PrefixOp, inner, e| cx.node(op.apply(inner), e.span())),
            postfix(26, attached(rules), move |inner, op: Attached, e| cx.node(op.apply(inner), e.span())),
            vec![
                level(right(22), power),
                level(left(20), product),
                level(left(18), coalesce),
                level(left(16), sum),
                level(left(14), comparison),
                level(left(12), equality),
                level(left(10), and),
                level(left(8), or),
                infix(right(6), branch.map(Infix::Ternary).boxed(), fold),
                level(left(4), to),
                level(left(2), pipe),
            ],
            postfix(3, kw(Kw::Exclusive), exclusive),
        ))
        .boxed()
}

/// An operator between two operands.
#[derive(Clone, Copy)]
enum Op {
    Binary(BinaryOp),
    Logic(LogicOp),
    Range,
    Pipe,
}

/// What stands between two operands.
enum Infix {
    Op(Op, Span),
    Ternary(Expr),
}

impl Infix {
    fn apply(self, l: Expr, r: Expr) -> ExprKind {
        let (l, r) = (Box::new(l), Box::new(r));
        match self {
            Self::Op(Op::Binary(op), at) => ExprKind::Binary(op, at, l, r),
            Self::Op(Op::Logic(op), _) => ExprKind::Logic(op, l, r),
            Self::Op(Op::Range, _) => ExprKind::Range { from: l, to: r, exclusive: false },
            Self::Op(Op::Pipe, _) => ExprKind::Pipe(l, r),
            Self::Ternary(then) => ExprKind::Ternary(l, Box::new(then), r),
        }
    }
}

/// The operators of one level. All levels have one type, which is what keeps the grammar cheap to compile.
fn operator<'a>(op: fn(Token<'_>) -> Option<Op>) -> Rule<'a, Infix> {
    any()
        .map_with(move |token, e| op(token).map(|op| Infix::Op(op, e.span())))
        .filter(Option::is_some)
        .map(|op| op.unwrap_or(Infix::Op(Op::Pipe, Span::default())))
        .boxed()
}

fn power(token: Token<'_>) -> Option<Op> {
    (token == Token::StarStar).then_some(Op::Binary(BinaryOp::Pow))
}

fn product(token: Token<'_>) -> Option<Op> {
    Some(Op::Binary(match token {
        Token::Star => BinaryOp::Mul,
        Token::Slash => BinaryOp::Div,
        Token::Percent => BinaryOp::Rem,
        _ => return None,
    }))
}

fn coalesce(token: Token<'_>) -> Option<Op> {
    (token == Token::Coalesce).then_some(Op::Logic(LogicOp::Coalesce))
}

fn sum(token: Token<'_>) -> Option<Op> {
    Some(Op::Binary(match token {
        Token::Plus => BinaryOp::Add,
        Token::Minus => BinaryOp::Sub,
        _ => return None,
    }))
}

fn comparison(token: Token<'_>) -> Option<Op> {
    Some(Op::Binary(match token {
        Token::Lt => BinaryOp::Lt,
        Token::Le => BinaryOp::Le,
        Token::Gt => BinaryOp::Gt,
        Token::Ge => BinaryOp::Ge,
        Token::Kw(Kw::In) => BinaryOp::In,
        Token::NotIn => BinaryOp::NotIn,
        _ => return None,
    }))
}

fn equality(token: Token<'_>) -> Option<Op> {
    Some(Op::Binary(match token {
        Token::EqEq => BinaryOp::Eq,
        Token::NotEq => BinaryOp::Ne,
        _ => return None,
    }))
}

fn and(token: Token<'_>) -> Option<Op> {
    (token == Token::AndAnd).then_some(Op::Logic(LogicOp::And))
}

fn or(token: Token<'_>) -> Option<Op> {
    (token == Token::OrOr).then_some(Op::Logic(LogicOp::Or))
}

fn to(token: Token<'_>) -> Option<Op> {
    (token == Token::Kw(Kw::To)).then_some(Op::Range)
}

fn pipe(token: Token<'_>) -> Option<Op> {
    (token == Token::Pipe).then_some(Op::Pipe)
}

type Extra<'a, 'b> = chumsky::input::MapExtra<'a, 'b, In<'a>, Ex>;

/// `1 to 5 exclusive`: looser than `to`, so that it is seen once the range is whole.
fn exclusive<'a>(inner: Expr, (): (), e: &mut Extra<'a, '_>) -> Expr {
    let span = e.span();
    match inner.kind {
        ExprKind::Range { from, to, exclusive: false } => {
            Expr::new(ExprKind::Range { from, to, exclusive: true }, span)
        }
        kind => {
            e.emit(Failure::problem(Problem::ExclusiveWithoutRange, span));
            Expr { kind, ..inner }
        }
    }
}

/// What stands before an operand.
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

fn prefix_op<'a>() -> impl Parser<'a, In<'a>, PrefixOp, Ex> + Clone {
    select! {
        Token::Bang => PrefixOp::Unary(UnaryOp::Not),
        Token::Minus => PrefixOp::Unary(UnaryOp::Neg),
        Token::TryStar => PrefixOp::TryStar,
    }
}

/// What is attached to an operand.
enum Attached {
    Field { name: Name, optional: bool },
    Index { index: Expr, optional: bool },
    Slice { from: Option<Expr>, to: Option<Expr> },
    Call(Vec<ListItem>),
    Try,
}

impl Attached {
    fn apply(self, inner: Expr) -> ExprKind {
        let object = Box::new(inner);
        match self {
            Self::Field { name, optional } => ExprKind::Field { object, name, optional },
            Self::Index { index, optional } => ExprKind::Index { object, index: Box::new(index), optional },
            Self::Slice { from, to } => ExprKind::Slice { object, from: from.map(Box::new), to: to.map(Box::new) },
            Self::Call(args) => ExprKind::Call { callee: object, args },
            Self::Try => ExprKind::Try(object),
        }
    }
}

/// `.f ?.f [i] ?[i] [a:b] f(…) e?`
fn attached<'a>(rules: &Rules<'a>) -> Rule<'a, Attached> {
    let expr = &rules.expr;
    let dot = select! { Token::Dot => false, Token::QDot => true };
    let field = dot.then(name()).map(|(optional, name)| Attached::Field { name, optional });
    let call = arguments(expr.clone()).map(Attached::Call);
    let upto = tok(Token::Colon).ignore_then(expr.clone().or_not());
    let slice = upto.clone().map(|to| Attached::Slice { from: None, to });
    let index = expr.clone().then(upto.or_not()).map(|(first, to)| match to {
        Some(to) => Attached::Slice { from: Some(first), to },
        None => Attached::Index { index: first, optional: false },
    });
    let inside = recovering(choice((slice, index)).boxed(), ends_element, &[Want::RBracket], |span| Attached::Index {
        index: super::recover::error_expr(span),
        optional: false,
    });
    let plain = inside.delimited_by(tok(Token::LBracket), tok(Token::RBracket));
    let optional = recovering(expr.clone(), ends_element, &[Want::RBracket], super::recover::error_expr)
        .delimited_by(tok(Token::QBracket), tok(Token::RBracket))
        .map(|index| Attached::Index { index, optional: true });
    let try_it = tok(Token::Question).map(|()| Attached::Try);
    let first =
        |t| matches!(t, Token::Dot | Token::QDot | Token::LParen | Token::LBracket | Token::QBracket | Token::Question);
    when(first, choice((field, call, plain, optional, try_it)).boxed())
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
        | Token::LBody
        | Token::Bang
        | Token::Minus
        | Token::TryStar => true,
        Token::Kw(kw) => matches!(kw, Kw::Nil | Kw::True | Kw::False | Kw::Break | Kw::Continue) || control::begins(kw),
        _ => false,
    }
}

fn operand<'a>(rules: &Rules<'a>) -> Rule<'a, Expr> {
    let cx = rules.cx;
    let block = rules.block.clone().map_with(|block, e| cx.node(ExprKind::Block(block), e.span()));
    choice((
        structure(cx, &rules.expr),
        simple(),
        string(cx, rules.expr.clone()),
        group(cx, rules.expr.clone()),
        list(cx, rules.expr.clone()),
        dict(cx, &rules.expr),
        closure(rules).map_with(|closure, e| cx.node(ExprKind::Closure(Box::new(closure)), e.span())),
        when(|t| t == Token::LBody, block.boxed()),
        control::control(rules),
    ))
    .labelled(Want::Expr)
    .boxed()
}

fn error_param(span: Span) -> Param {
    let pattern = Pattern { kind: PatternKind::Error, span };
    Param { pattern, ty: None, default: None, rest: false, span }
}

/// `{ a, b = 1, ...rest -> … }`; a `parallel` may leave the parameters out.
pub(super) fn closure<'a>(rules: &Rules<'a>) -> Rule<'a, Closure> {
    let params = recovering(rules.param.clone(), ends_parameter, &[Want::Comma, Want::Arrow], error_param)
        .separated_by(just(Token::Comma))
        .allow_trailing()
        .collect::<Vec<_>>()
        .then_ignore(tok(Token::Arrow));
    let rule =
        params.or_not().then(rules.stmts.clone()).delimited_by(tok(Token::LClosure), tok(Token::RBrace)).map_with(
            |(params, stmts), e| Closure { params: params.unwrap_or_default(), body: Block { stmts, span: e.span() } },
        );
    when(|t| t == Token::LClosure, rule.boxed())
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
