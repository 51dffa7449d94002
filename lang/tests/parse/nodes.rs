//! Preservation of a text in the tree and its comments, over every script of the repository.
#![allow(clippy::unwrap_used)]

use crate::parsed;
use lang::ast::visit::{self, Visit};
use lang::ast::{Block, Expr, NodeId, Pattern, TypeExpr};
use lang::lex::lex;
use lang::source::{Source, Span};
use std::collections::HashSet;
use std::fs;
use std::path::Path;

/// Every script that parses.
fn scripts() -> Vec<(String, String)> {
    fn collect(folder: &Path, found: &mut Vec<(String, String)>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "harn") {
                let Ok(text) = fs::read_to_string(&path) else { continue };
                if parsed(&text).is_ok() {
                    found.push((path.display().to_string(), text));
                }
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = Vec::new();
    for folder in ["tests", "examples", "lang/tests"] {
        collect(&root.join(folder), &mut found);
    }
    assert!(found.len() > 1_000, "{}", found.len());
    found
}

#[test]
fn tokens_and_comments_leave_only_white_space() {
    for (path, text) in scripts() {
        let source = Source::new("test.harn", text.as_str());
        let lexed = lex(&source);
        let mut kept: Vec<Span> = lexed.tokens.iter().map(|(_, span)| *span).chain(lexed.comments).collect();
        kept.sort_by_key(|span| (span.start, span.end));
        let mut end = 0;
        for span in kept {
            if span.start > end {
                let between = &text[end as usize..span.start as usize];
                // Several separators in a row are one token, and a backslash joins two lines.
                let is_left_out = |c: char| c.is_whitespace() || matches!(c, '\u{feff}' | ';' | '\\');
                assert!(between.chars().all(is_left_out), "{path}: {between:?}");
            }
            end = end.max(span.end);
        }
        assert!(text[end as usize..].trim().is_empty(), "{path}: {:?}", &text[end as usize..]);
    }
}

#[test]
fn comments_are_found_wherever_they_are() {
    let text =
        "#!/usr/bin/env harn\n// a\nlet x = [1, // b\n  /* c /* d */ */ 2]\n/// e\nfn f() { x /** g */ }\n\"// no\"\n";
    let parsed = parsed(text);
    assert_eq!(parsed.diagnostics.len(), 0);
    let found: Vec<&str> = parsed.comments.iter().map(|span| &text[span.range()]).collect();
    assert_eq!(found, ["#!/usr/bin/env harn", "// a", "// b", "/* c /* d */ */", "/// e", "/** g */"]);
}

#[derive(Default)]
struct Ids {
    seen: HashSet<NodeId>,
    nodes: usize,
}

impl Ids {
    fn note(&mut self, id: NodeId) {
        assert_ne!(id, NodeId::NONE);
        assert!(self.seen.insert(id), "{id:?} is used twice");
        self.nodes += 1;
    }
}

impl<'a> Visit<'a> for Ids {
    fn expr(&mut self, e: &'a Expr) {
        self.note(e.id);
        visit::walk_expr(self, e);
    }

    fn pattern(&mut self, pattern: &'a Pattern) {
        self.note(pattern.id);
        visit::walk_pattern(self, pattern);
    }

    fn block(&mut self, block: &'a Block) {
        self.note(block.id);
        visit::walk_block(self, block);
    }

    fn ty(&mut self, ty: &'a TypeExpr) {
        self.note(ty.id);
    }
}

#[test]
fn ids_are_unique_and_dense() {
    for (path, text) in scripts() {
        let parsed = parsed(&text);
        let mut ids = Ids::default();
        visit::walk_module(&mut ids, &parsed.module);
        let largest = ids.seen.iter().max().map_or(0, |id| id.index());
        // Names have ids too, and alternatives that were tried in vain leave gaps.
        assert!(largest <= 100 + 4 * ids.nodes, "{path}: {largest} for {} nodes", ids.nodes);
    }
}

#[test]
fn parentheses_are_kept() {
    let parsed = parsed("let a = ((1 + 2)) * (3)\n");
    #[derive(Default)]
    struct Parens(Vec<u8>);
    impl<'a> Visit<'a> for Parens {
        fn expr(&mut self, e: &'a Expr) {
            self.0.push(e.parens);
            visit::walk_expr(self, e);
        }
    }
    let mut parens = Parens::default();
    visit::walk_module(&mut parens, &parsed.module);
    assert_eq!(parens.0, [0, 2, 0, 0, 1]);
}
