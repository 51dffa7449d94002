//! Written types: `int`, `list<T>`, `fn(T) -> U`, `{a: T, b?: U}`, `"literal"`, `A | B`, `T?`.

use super::failure::Want;
use super::input::{Ex, In, Rule, kw, name, tok};
use super::literal::plain_string;
use super::recover::{ends_element, recovering};
use crate::ast::{Name, TypeExpr, TypeKind};
use crate::lex::token::{Kw, Token};
use crate::source::Span;
use chumsky::prelude::*;

/// A type, made of types.
pub(super) fn ty<'a>(ty: Rule<'a, TypeExpr>) -> Rule<'a, TypeExpr> {
    let primary = choice((named(ty.clone()), function(ty.clone()), shape(ty.clone()), literal(), grouped(ty)))
        .labelled(Want::Type)
        .boxed();
    let optional = primary
        .foldl_with(one_of([Token::Question, Token::Ternary]).repeated(), |inner, _, e| TypeExpr {
            kind: TypeKind::Optional(Box::new(inner)),
            span: e.span(),
        })
        .boxed();
    tok(Token::Bar)
        .or_not()
        .ignore_then(optional.separated_by(just(Token::Bar)).at_least(1).collect::<Vec<_>>())
        .map_with(|mut types, e| match types.pop() {
            Some(only) if types.is_empty() => only,
            Some(last) => {
                types.push(last);
                TypeExpr { kind: TypeKind::Union(types), span: e.span() }
            }
            None => error_type(e.span()),
        })
        .boxed()
}

fn error_type(span: Span) -> TypeExpr {
    TypeExpr { kind: TypeKind::Error, span }
}

/// `int`, `list<T>`, `nil`.
fn named<'a>(ty: Rule<'a, TypeExpr>) -> Rule<'a, TypeExpr> {
    let args = ty
        .separated_by(just(Token::Comma))
        .at_least(1)
        .allow_trailing()
        .collect::<Vec<_>>()
        .delimited_by(tok(Token::Lt), tok(Token::Gt))
        .or_not();
    let nil = select! { Token::Kw(Kw::Nil) = e => Name { text: "nil".into(), span: e.span() } };
    choice((name(), nil))
        .then(args)
        .map_with(|(name, args), e| TypeExpr {
            kind: TypeKind::Name { name: name.text, args: args.unwrap_or_default() },
            span: e.span(),
        })
        .boxed()
}

/// `fn(T) -> U`.
fn function<'a>(ty: Rule<'a, TypeExpr>) -> Rule<'a, TypeExpr> {
    let params = recovering(ty.clone(), ends_element, &[Want::Comma, Want::RParen], error_type)
        .separated_by(just(Token::Comma))
        .allow_trailing()
        .collect()
        .delimited_by(tok(Token::LParen), tok(Token::RParen));
    kw(Kw::Fn)
        .ignore_then(params)
        .then_ignore(tok(Token::Arrow))
        .then(ty)
        .map_with(|(params, returns), e| TypeExpr {
            kind: TypeKind::Fn { params, returns: Box::new(returns) },
            span: e.span(),
        })
        .boxed()
}

/// One key of a shape, or its `...`.
enum Part {
    Field(Box<(Name, bool, TypeExpr)>),
    Open,
}

/// `{a: T, b?: U, ...}`.
fn shape<'a>(ty: Rule<'a, TypeExpr>) -> Rule<'a, TypeExpr> {
    let key = choice((name(), plain_string()));
    let optional = one_of([Token::Question, Token::Ternary]).or_not().map(|mark| mark.is_some());
    let field = key
        .then(optional)
        .then_ignore(tok(Token::Colon))
        .then(ty)
        .map(|((name, optional), ty)| Some(Part::Field(Box::new((name, optional, ty)))));
    let part = choice((tok(Token::Ellipsis).map(|()| Some(Part::Open)), field)).boxed();
    recovering(part, ends_element, &[Want::Comma, Want::RBrace], |_| None)
        .separated_by(just(Token::Comma))
        .allow_trailing()
        .collect::<Vec<_>>()
        .delimited_by(tok(Token::LDict), tok(Token::RBrace))
        .map_with(|parts, e| {
            let open = parts.iter().any(|p| matches!(p, Some(Part::Open)));
            let fields = parts
                .into_iter()
                .filter_map(|p| match p {
                    Some(Part::Field(field)) => Some(*field),
                    _ => None,
                })
                .collect();
            TypeExpr { kind: TypeKind::Shape { fields, open }, span: e.span() }
        })
        .boxed()
}

/// `"literal"`.
fn literal<'a>() -> impl Parser<'a, In<'a>, TypeExpr, Ex> + Clone {
    plain_string().map(|text| TypeExpr { kind: TypeKind::Literal(text.text), span: text.span })
}

/// `(T)`.
fn grouped<'a>(ty: Rule<'a, TypeExpr>) -> impl Parser<'a, In<'a>, TypeExpr, Ex> + Clone {
    ty.delimited_by(tok(Token::LParen), tok(Token::RParen))
}
