//! Written types: `int`, `list<T>`, `fn(T) -> U`, `{a: T, b?: U}`, `"literal"`, `A | B`, `T?`.

use super::failure::TokenClass;
use super::input::{Ex, GrammarRule, In, ParseState, kw, name, tok};
use super::literal::plain_string;
use super::recover::{ends_element, recovering};
use crate::ast::{Name, NodeId, TypeExpr, TypeKind};
use crate::lex::token::{Kw, Token};
use crate::source::Span;
use chumsky::prelude::*;

/// A type, made of types.
pub(super) fn ty<'a>(cx: &'a ParseState, ty: GrammarRule<'a, TypeExpr>) -> GrammarRule<'a, TypeExpr> {
    let primary =
        choice((named(cx, ty.clone()), function(cx, ty.clone()), shape(cx, ty.clone()), literal(cx), grouped(ty)))
            .labelled(TokenClass::Type)
            .boxed();
    let optional = primary
        .foldl_with(one_of([Token::Question, Token::Ternary]).repeated(), |inner, _, e| {
            cx.ty(TypeKind::Optional(Box::new(inner)), e.span())
        })
        .boxed();
    tok(Token::Bar)
        .or_not()
        .ignore_then(optional.separated_by(just(Token::Bar)).at_least(1).collect::<Vec<_>>())
        .map_with(|mut types, e| match types.pop() {
            Some(only) if types.is_empty() => only,
            Some(last) => {
                types.push(last);
                cx.ty(TypeKind::Union(types), e.span())
            }
            None => error_type(e.span()),
        })
        .boxed()
}

pub(super) fn error_type(span: Span) -> TypeExpr {
    TypeExpr { kind: TypeKind::Error, span, id: NodeId::NONE }
}

/// `int`, `list<T>`, `nil`.
fn named<'a>(cx: &'a ParseState, ty: GrammarRule<'a, TypeExpr>) -> GrammarRule<'a, TypeExpr> {
    let args = ty
        .separated_by(just(Token::Comma))
        .at_least(1)
        .allow_trailing()
        .collect::<Vec<_>>()
        .delimited_by(tok(Token::Lt), tok(Token::Gt))
        .or_not();
    let nil = select! { Token::Kw(Kw::Nil) = e => cx.name("nil", e.span()) };
    choice((name(cx), nil))
        .then(args)
        .map_with(|(name, args), e| cx.ty(TypeKind::Name { name: name.text, args: args.unwrap_or_default() }, e.span()))
        .boxed()
}

/// `fn(T) -> U`.
fn function<'a>(cx: &'a ParseState, ty: GrammarRule<'a, TypeExpr>) -> GrammarRule<'a, TypeExpr> {
    let params = recovering(ty.clone(), ends_element, &[TokenClass::Comma, TokenClass::RParen], error_type)
        .separated_by(just(Token::Comma))
        .allow_trailing()
        .collect()
        .delimited_by(tok(Token::LParen), tok(Token::RParen));
    kw(Kw::Fn)
        .ignore_then(params)
        .then_ignore(tok(Token::Arrow))
        .then(ty)
        .map_with(|(params, returns), e| cx.ty(TypeKind::Fn { params, returns: Box::new(returns) }, e.span()))
        .boxed()
}

/// One key of a shape, or its `...`.
enum ShapePart {
    Field(Box<(Name, bool, TypeExpr)>),
    Open,
}

/// `{a: T, b?: U, ...}`.
fn shape<'a>(cx: &'a ParseState, ty: GrammarRule<'a, TypeExpr>) -> GrammarRule<'a, TypeExpr> {
    let key = choice((name(cx), plain_string(cx)));
    let optional = one_of([Token::Question, Token::Ternary]).or_not().map(|mark| mark.is_some());
    let field = key
        .then(optional)
        .then_ignore(tok(Token::Colon))
        .then(ty)
        .map(|((name, optional), ty)| Some(ShapePart::Field(Box::new((name, optional, ty)))));
    let part = choice((tok(Token::Ellipsis).map(|()| Some(ShapePart::Open)), field)).boxed();
    recovering(part, ends_element, &[TokenClass::Comma, TokenClass::RBrace], |_| None)
        .separated_by(just(Token::Comma))
        .allow_trailing()
        .collect::<Vec<_>>()
        .delimited_by(tok(Token::LDict), tok(Token::RBrace))
        .map_with(|parts, e| {
            let open = parts.iter().any(|p| matches!(p, Some(ShapePart::Open)));
            let fields = parts
                .into_iter()
                .filter_map(|p| match p {
                    Some(ShapePart::Field(field)) => Some(*field),
                    _ => None,
                })
                .collect();
            cx.ty(TypeKind::Shape { fields, open }, e.span())
        })
        .boxed()
}

/// `"literal"`.
fn literal<'a>(cx: &'a ParseState) -> impl Parser<'a, In<'a>, TypeExpr, Ex> + Clone {
    plain_string(cx).map(|text| cx.ty(TypeKind::Literal(text.text), text.span))
}

/// `(T)`.
fn grouped<'a>(ty: GrammarRule<'a, TypeExpr>) -> impl Parser<'a, In<'a>, TypeExpr, Ex> + Clone {
    ty.delimited_by(tok(Token::LParen), tok(Token::RParen))
}
