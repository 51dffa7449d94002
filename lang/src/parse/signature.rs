//! Signatures of builtins: heads of functions that stand alone.
//!
//! They are read by the rules for types and parameters. The rules for expressions and statements are left out, since a grammar is built
//! for each signature; a default is a literal.

use super::failure::TokenClass;
use super::input::{GrammarRule, In, ParseState, kw, name, tok};
use super::literal::{plain_string, simple};
use super::recover::elements;
use super::{pattern, types};
use crate::ast::{Expr, ExprKind, FnDecl, Param, PatternKind, StrPart};
use crate::lex::token::{Kw, Token};
use crate::lex::{self, Lexed};
use crate::source::{Source, Span};
use chumsky::prelude::*;

/// Parses a signature, such as `name(a: int, b: string? = nil, ...rest) -> list<string>`. Returns nothing if it is not well formed.
#[must_use]
pub fn signature(sig: &str) -> Option<FnDecl> {
    let (own_name, rest) = sig.split_at(sig.find('(')?);
    // The name may be a word that no function of a script could have (`emit`).
    let source = Source::new("<signature>", format!("fn named{rest} {{}}"));
    let Lexed { tokens, diagnostics, .. } = lex::lex(&source);
    if !diagnostics.is_empty() {
        return None;
    }
    let end = u32::try_from(source.text().len()).unwrap_or(u32::MAX);
    let cx = ParseState::default();
    let mut decl = head(&cx).parse(In::new(&tokens, end)).into_result().ok()?;
    decl.name.text = own_name.into();
    Some(decl)
}

/// `fn name(…) -> T {}`.
fn head<'a>(cx: &'a ParseState) -> GrammarRule<'a, FnDecl> {
    let ty = recursive(|ty| types::ty(cx, ty.boxed())).boxed();
    let bound = name(cx).map(|name| cx.pattern(PatternKind::Bind(name.text), name.span)).boxed();
    let param = pattern::param(bound, ty.clone(), default(cx));
    let params = elements(param, &[TokenClass::Comma, TokenClass::RParen], error_param)
        .delimited_by(tok(Token::LParen), tok(Token::RParen));
    let returns = tok(Token::Arrow).ignore_then(ty).or_not();
    let body = tok(Token::LBody).then(tok(Token::RBrace)).map_with(|_, e| cx.block(Vec::new(), e.span()));
    kw(Kw::Fn)
        .ignore_then(name(cx))
        .then(params)
        .then(returns)
        .then(body)
        .map(|(((name, params), returns), body)| FnDecl {
            name,
            generics: Vec::new(),
            params,
            returns,
            body,
            generator: false,
        })
        .then_ignore(end())
        .boxed()
}

/// A number, a word, a string, `[]` or `{}`; the sign of a number is not kept.
fn default<'a>(cx: &'a ParseState) -> GrammarRule<'a, Expr> {
    let text = plain_string(cx).map(|text| {
        let parts = if text.text.is_empty() { Vec::new() } else { vec![StrPart::Text(text.text.to_string())] };
        cx.node(ExprKind::Str(parts), text.span)
    });
    let list = tok(Token::LBracket).then(tok(Token::RBracket));
    let list = list.map_with(|_, e| cx.node(ExprKind::List(Vec::new()), e.span()));
    let dict = tok(Token::LDict).then(tok(Token::RBrace));
    let dict = dict.map_with(|_, e| cx.node(ExprKind::Dict(Vec::new()), e.span()));
    tok(Token::Minus).or_not().ignore_then(choice((simple(cx), text, list, dict))).boxed()
}

fn error_param(span: Span) -> Param {
    let pattern = pattern::error_pattern(span);
    Param { pattern, ty: None, default: None, rest: false, span }
}

#[cfg(test)]
mod tests {
    use super::signature;

    #[test]
    fn a_signature_is_read_as_a_head() {
        let decl =
            signature("emit(self: {a: int, b?: \"x\" | nil, ...}, f: fn(T) -> U = nil, ...rest: any) -> list<T>?")
                .unwrap();
        assert_eq!(decl.name.text, "emit");
        assert!(decl.takes_self() && decl.params[1].default.is_some() && decl.params[2].rest && decl.returns.is_some());
        assert!(signature("f(a = {}, b = [], c = \"\", d = 30s, e = -1)").is_some());
    }

    #[test]
    fn what_is_no_signature_is_refused() {
        for text in ["f", "f(", "f(a: )", "f() -> ", "f(a: int) { 1 }", "f() {} fn g()", "f(a: list<int)", "f(a = g())"]
        {
            assert!(signature(text).is_none(), "{text}");
        }
    }
}
