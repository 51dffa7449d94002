//! Declarations.

use super::failure::TokenClass;
use super::input::{
    Ex, GrammarRule, In, ParseState, RuleInput, by_token, kw, member_separators, name, separators, tok, when, word,
};
use super::literal::plain_string;
use super::pattern::error_pattern;
use super::recover::{before, elements, ends_member, error_expr, skip_some};
use super::rules::Rules;
use super::types::error_type;
use crate::ast::{
    Attribute, AttributeArg, Block, Field, FnDecl, Item, ItemKind, Name, Param, StmtKind, TypeExpr, Variant,
};
use crate::lex::token::{Kw, Token};
use crate::source::Span;
use chumsky::prelude::*;

/// Can a declaration begin with it?
pub(super) fn begins_item(token: Token<'_>) -> bool {
    match token {
        Token::At | Token::Doc(_) | Token::Ident("gen") => true,
        Token::Kw(kw) => kw == Kw::Override || kw.begins_item(),
        _ => false,
    }
}

/// Prefix of a declaration.
enum Before<'a> {
    Doc(&'a str),
    Attribute(Attribute),
}

/// A declaration with its attributes, documentation and `pub`.
pub(super) fn item<'a>(rules: &Rules<'a>) -> GrammarRule<'a, StmtKind> {
    let fn_decl = function(rules, rules.block.clone());
    let kind = by_token(
        [
            fn_decl.clone().map(ItemKind::Fn).boxed(),
            kw(Kw::Override).ignore_then(fn_decl).map(ItemKind::Override).boxed(),
            pipeline(rules),
            tool(rules),
            structure(rules),
            implementation(rules),
            enumeration(rules),
            interface(rules),
            alias(rules),
            import(rules.cx),
            test_block(rules),
        ],
        |token| match token {
            Token::Ident("gen") | Token::Kw(Kw::Fn) => Some(0),
            Token::Kw(Kw::Override) => Some(1),
            Token::Kw(Kw::Pipeline) => Some(2),
            Token::Kw(Kw::Tool) => Some(3),
            Token::Kw(Kw::Struct) => Some(4),
            Token::Kw(Kw::Impl) => Some(5),
            Token::Kw(Kw::Enum) => Some(6),
            Token::Kw(Kw::Interface) => Some(7),
            Token::Kw(Kw::Type) => Some(8),
            Token::Kw(Kw::Import) => Some(9),
            Token::Ident("test") => Some(10),
            _ => None,
        },
        TokenClass::Item,
    );
    decorated(rules, kind).map(|item| StmtKind::Item(Box::new(item))).boxed()
}

fn decorated<'a>(rules: &Rules<'a>, kind: GrammarRule<'a, ItemKind>) -> GrammarRule<'a, Item> {
    let doc = select! { Token::Doc(text) => Before::Doc(text) };
    let before = choice((doc, attribute(rules).map(Before::Attribute))).then_ignore(separators().or_not());
    before
        .repeated()
        .collect::<Vec<_>>()
        .then(kw(Kw::Pub).or_not())
        .then(kind)
        .map_with(|((before, public), kind), e| {
            let mut attributes = Vec::new();
            let mut docs = Vec::new();
            for one in before {
                match one {
                    Before::Doc(text) => docs.push(text),
                    Before::Attribute(attribute) => attributes.push(attribute),
                }
            }
            let doc = (!docs.is_empty()).then(|| docs.into_iter().map(doc_text).collect::<Vec<_>>().join("\n"));
            Item { kind, public: public.is_some(), attributes, doc, span: e.span() }
        })
        .boxed()
}

/// A documentation comment without its marks.
pub(crate) fn doc_text(comment: &str) -> String {
    if let Some(line) = comment.strip_prefix("///") {
        return line.strip_prefix(' ').unwrap_or(line).trim_end().to_owned();
    }
    let inside = comment.trim_start_matches("/**").trim_end_matches("*/");
    let lines = inside.lines().map(|line| {
        let line = line.trim();
        let line = line.strip_prefix('*').unwrap_or(line);
        line.strip_prefix(' ').unwrap_or(line)
    });
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// `@name(value, name: value)`.
fn attribute<'a>(rules: &Rules<'a>) -> GrammarRule<'a, Attribute> {
    let (cx, value) = (rules.cx, rules.expr.clone());
    let arg = custom(move |inp: &mut RuleInput<'a, '_>| {
        let named = inp.save();
        if let Some(Token::Ident(text)) = inp.peek() {
            let start = inp.cursor();
            inp.skip();
            let span = inp.span_since(&start);
            if matches!(inp.peek(), Some(Token::Colon)) {
                inp.skip();
                return Ok(AttributeArg { name: Some(cx.name(text, span)), value: inp.parse(&value)? });
            }
            inp.rewind(named);
        }
        Ok(AttributeArg { name: None, value: inp.parse(&value)? })
    })
    .boxed();
    let args = elements(arg, &[TokenClass::Comma, TokenClass::RParen], |span| AttributeArg {
        name: None,
        value: error_expr(span),
    })
    .delimited_by(tok(Token::LParen), tok(Token::RParen))
    .or_not();
    tok(Token::At)
        .ignore_then(name(rules.cx))
        .then(args)
        .map_with(|(name, args), e| Attribute { name, args: args.unwrap_or_default(), span: e.span() })
        .boxed()
}

/// The attributes of a field or variant.
fn attributes<'a>(rules: &Rules<'a>) -> GrammarRule<'a, Vec<Attribute>> {
    attribute(rules).then_ignore(separators().or_not()).repeated().collect::<Vec<_>>().boxed()
}

/// `test "name" { … }`.
fn test_block<'a>(rules: &Rules<'a>) -> GrammarRule<'a, ItemKind> {
    word("test")
        .ignore_then(plain_string(rules.cx))
        .then(rules.block.clone())
        .map(|(name, body)| {
            let (generics, params) = Default::default();
            ItemKind::Test(FnDecl { name, generics, params, returns: None, body, generator: false })
        })
        .boxed()
}

/// `<T, U: Bound>`; bounds document.
fn generics<'a>(rules: &Rules<'a>) -> GrammarRule<'a, Vec<Name>> {
    let bound = tok(Token::Colon).ignore_then(rules.ty.clone()).or_not();
    name(rules.cx)
        .then_ignore(bound)
        .separated_by(just(Token::Comma))
        .at_least(1)
        .allow_trailing()
        .collect::<Vec<_>>()
        .delimited_by(tok(Token::Lt), tok(Token::Gt))
        .or_not()
        .map(Option::unwrap_or_default)
        .boxed()
}

fn error_param(span: Span) -> Param {
    let pattern = error_pattern(span);
    Param { pattern, ty: None, default: None, rest: false, span }
}

/// `(a, b: int = 1, ...rest)`.
pub(super) fn params<'a>(rules: &Rules<'a>) -> GrammarRule<'a, Vec<Param>> {
    elements(rules.param.clone(), &[TokenClass::Comma, TokenClass::RParen], error_param)
        .delimited_by(tok(Token::LParen), tok(Token::RParen))
        .boxed()
}

pub(super) fn returns<'a>(rules: &Rules<'a>) -> GrammarRule<'a, Option<TypeExpr>> {
    tok(Token::Arrow).ignore_then(rules.ty.clone()).or_not().boxed()
}

/// `where T: Bound, …`; documents.
fn bounds<'a>(rules: &Rules<'a>) -> GrammarRule<'a, ()> {
    let bound = name(rules.cx).then(tok(Token::Colon)).then(rules.ty.clone());
    word("where").then(bound.separated_by(just(Token::Comma)).at_least(1)).or_not().ignored().boxed()
}

/// `fn name<T>(…) -> T`, and `body`.
fn function<'a>(rules: &Rules<'a>, body: impl Parser<'a, In<'a>, Block, Ex> + Clone + 'a) -> GrammarRule<'a, FnDecl> {
    word("gen")
        .or_not()
        .then_ignore(kw(Kw::Fn))
        .then(name(rules.cx))
        .then(generics(rules))
        .then(params(rules))
        .then(returns(rules))
        .then_ignore(bounds(rules))
        .then(body)
        .map(|(((((generator, name), generics), params), returns), body)| FnDecl {
            name,
            generics,
            params,
            returns,
            body,
            generator: generator.is_some(),
        })
        .boxed()
}

/// `pipeline name(…) -> T extends base {…}`.
fn pipeline<'a>(rules: &Rules<'a>) -> GrammarRule<'a, ItemKind> {
    let extends = || kw(Kw::Extends).ignore_then(name(rules.cx)).or_not();
    kw(Kw::Pipeline)
        .ignore_then(name(rules.cx))
        .then(params(rules).or_not())
        .then(extends())
        .then(returns(rules))
        .then(extends())
        .then(rules.block.clone())
        .map(|(((((name, params), early), returns), late), body)| ItemKind::Pipeline {
            decl: FnDecl {
                name,
                generics: Vec::new(),
                params: params.unwrap_or_default(),
                returns,
                body,
                generator: false,
            },
            extends: early.or(late),
        })
        .boxed()
}

/// `tool name(…) -> T { description "…" body }`.
fn tool<'a>(rules: &Rules<'a>) -> GrammarRule<'a, ItemKind> {
    let cx = rules.cx;
    let first = |t| matches!(t, Token::StrStart(_) | Token::Raw(_));
    let text = when(first, rules.expr.clone());
    let description = separators().or_not().ignore_then(word("description")).ignore_then(text).or_not();
    let body = description
        .then(rules.stmts.clone())
        .delimited_by(tok(Token::LBody), tok(Token::RBrace))
        .map_with(|(description, stmts), e| (description, cx.block(stmts, e.span())));
    kw(Kw::Tool)
        .ignore_then(name(rules.cx))
        .then(generics(rules))
        .then(params(rules))
        .then(returns(rules))
        .then(body)
        .map(|((((name, generics), params), returns), (description, body))| ItemKind::Tool {
            decl: FnDecl { name, generics, params, returns, body, generator: false },
            description,
        })
        .boxed()
}

/// Members between line breaks or commas, each recovering for itself, with their braces.
fn members<'a, T: 'a>(member: GrammarRule<'a, T>) -> GrammarRule<'a, Vec<T>> {
    members_up_to(member, ends_member)
}

/// Functions of a type; one may follow the other's `}` on the same line.
fn functions<'a, T: 'a>(function: GrammarRule<'a, T>) -> GrammarRule<'a, Vec<T>> {
    members_up_to(function, |token| ends_member(token) || begins_item(token) || token == Token::Kw(Kw::Pub))
}

fn members_up_to<'a, T: 'a>(member: GrammarRule<'a, T>, ends: fn(Token<'_>) -> bool) -> GrammarRule<'a, Vec<T>> {
    let one = member
        .then_ignore(before(ends, &[TokenClass::Comma, TokenClass::RBrace]))
        .map(Some)
        .recover_with(via_parser(skip_some(ends).map(|_| None)));
    // A comma follows a member.
    separators()
        .or_not()
        .ignore_then(one.then_ignore(member_separators()).repeated().collect::<Vec<_>>())
        .delimited_by(tok(Token::LBody), tok(Token::RBrace))
        .map(|members| members.into_iter().flatten().collect())
        .boxed()
}

/// `struct P<T> { x: int = 0, y: int }`.
fn structure<'a>(rules: &Rules<'a>) -> GrammarRule<'a, ItemKind> {
    let ty = tok(Token::Colon).ignore_then(rules.ty.clone()).or_not();
    let default = tok(Token::Assign).ignore_then(rules.expr.clone()).or_not();
    let field = attributes(rules)
        .then_ignore(kw(Kw::Pub).or_not())
        .then(name(rules.cx))
        .then(ty)
        .then(default)
        .map(|(((attributes, name), ty), default)| Field { attributes, name, ty, default })
        .boxed();
    kw(Kw::Struct)
        .ignore_then(name(rules.cx))
        .then(generics(rules))
        .then(members(field))
        .map(|((name, generics), fields)| ItemKind::Struct { name, generics, fields })
        .boxed()
}

/// `impl P {…}`, `impl I for P {…}`.
fn implementation<'a>(rules: &Rules<'a>) -> GrammarRule<'a, ItemKind> {
    let method = function(rules, rules.block.clone()).map(ItemKind::Fn).labelled(TokenClass::Fn).boxed();
    let target = || name(rules.cx).then_ignore(generics(rules));
    kw(Kw::Impl)
        .ignore_then(generics(rules))
        .ignore_then(target())
        .then(kw(Kw::For).ignore_then(target()).or_not())
        .then(functions(decorated(rules, method)))
        .map(|((first, second), methods)| match second {
            Some(target) => ItemKind::Impl { target, interface: Some(first), methods },
            None => ItemKind::Impl { target: first, interface: None, methods },
        })
        .boxed()
}

/// `enum E { A, B(int, string), C(r: float) }`.
fn enumeration<'a>(rules: &Rules<'a>) -> GrammarRule<'a, ItemKind> {
    let label = name(rules.cx).then(tok(Token::Colon)).or_not();
    let field = label.ignore_then(rules.ty.clone()).boxed();
    let fields = elements(field, &[TokenClass::Comma, TokenClass::RParen], error_type)
        .delimited_by(tok(Token::LParen), tok(Token::RParen))
        .or_not();
    let variant = attributes(rules)
        .then(name(rules.cx))
        .then(fields)
        .map(|((attributes, name), fields)| Variant { attributes, name, fields: fields.unwrap_or_default() })
        .boxed();
    kw(Kw::Enum)
        .ignore_then(name(rules.cx))
        .then(generics(rules))
        .then(members(variant))
        .map(|((name, generics), variants)| ItemKind::Enum { name, generics, variants })
        .boxed()
}

/// `interface I { fn m(self) -> T }`.
fn interface<'a>(rules: &Rules<'a>) -> GrammarRule<'a, ItemKind> {
    let cx = rules.cx;
    let body = rules.block.clone().or_not().map_with(|body, e| body.unwrap_or_else(|| cx.block(Vec::new(), e.span())));
    let doc = select! { Token::Doc(_) => () };
    let method = doc.then(separators().or_not()).repeated().ignore_then(function(rules, body)).boxed();
    kw(Kw::Interface)
        .ignore_then(name(rules.cx))
        .then(generics(rules))
        .then(functions(method))
        .map(|((name, generics), methods)| ItemKind::Interface { name, generics, methods })
        .boxed()
}

/// `type Name = T`.
fn alias<'a>(rules: &Rules<'a>) -> GrammarRule<'a, ItemKind> {
    kw(Kw::Type)
        .ignore_then(name(rules.cx))
        .then(generics(rules))
        .then_ignore(tok(Token::Assign))
        .then(rules.ty.clone())
        .map(|((name, generics), ty)| ItemKind::TypeAlias { name, generics, ty })
        .boxed()
}

/// `import "path"`, `import {a, b as c} from "path"`.
fn import<'a>(cx: &'a ParseState) -> GrammarRule<'a, ItemKind> {
    let one = name(cx).then(word("as").ignore_then(name(cx)).or_not()).map(Some).boxed();
    let names = elements(one, &[TokenClass::Comma, TokenClass::RBrace], |_| None)
        .delimited_by(tok(Token::LDict), tok(Token::RBrace))
        .map(|names: Vec<_>| names.into_iter().flatten().collect::<Vec<_>>())
        .then_ignore(kw(Kw::From));
    kw(Kw::Import)
        .ignore_then(names.or_not())
        .then(plain_string(cx))
        .map(|(names, path)| ItemKind::Import { names, path })
        .boxed()
}
