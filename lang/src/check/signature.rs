//! Signatures of builtins as the language itself reads them: for tests and for whoever wants their tree.

use crate::ast::{FnDecl, Item, ItemKind, StmtKind};
use crate::lex::token::KEYWORDS;
use crate::parse::parse;
use crate::source::Source;

/// Reads a signature in the language's own syntax.
#[must_use]
pub fn signature(sig: &str) -> Option<FnDecl> {
    let sig = sig.replacen("(self: ", "(receiver: ", 1);
    let (name, rest) = sig.split_at(sig.find('(')?);
    // The name may be a word that no function of a script could have (`emit`).
    let name = if KEYWORDS.contains(&name) { "named" } else { name };
    let source = Source::new("<signature>", format!("fn {name}{rest} {{}}"));
    let parsed = parse(&source);
    if !parsed.diagnostics.is_empty() {
        return None;
    }
    parsed.module.body.into_iter().next().and_then(|stmt| match stmt.kind {
        StmtKind::Item(Item { kind: ItemKind::Fn(decl), .. }) => Some(decl),
        _ => None,
    })
}
