//! Properties of the formatter, over every script of the repository and programs that are made of them.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed, which is what it is for")]

use lang::lex::token::Token;
use lang::source::Source;
use std::fs;
use std::path::{Path, PathBuf};

fn scripts(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            scripts(&path, into);
        } else if path.extension().is_some_and(|end| end == "harn") {
            into.push(path);
        }
    }
}

/// The texts of all scripts.
fn texts() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut paths = Vec::new();
    for folder in ["tests", "examples", "docs"] {
        scripts(&root.join(folder), &mut paths);
    }
    paths.sort();
    paths.iter().filter_map(|path| fs::read_to_string(path).ok()).collect()
}

/// The tokens of a text and its comments, without what layout may change.
fn parts(text: &str) -> Vec<String> {
    let source = Source::new("test.harn", text.replace("\r\n", "\n"));
    let lexed = lang::lex::lex(&source);
    let layout =
        |token: Token<'_>| matches!(token, Token::Newline | Token::Semi | Token::Comma | Token::LParen | Token::RParen);
    let tokens = lexed.tokens.iter().filter(|(token, _)| !layout(*token)).map(|(_, span)| *span);
    let mut all: Vec<_> = tokens.chain(lexed.comments.iter().copied()).collect();
    all.sort_unstable();
    all.dedup();
    let line = |line: &str| line.trim().trim_start_matches('*').trim().to_owned();
    let shown =
        |text: &str| if text.starts_with("/*") { text.lines().map(line).collect() } else { text.trim_end().to_owned() };
    all.into_iter().map(|span| shown(source.slice(span))).collect()
}

/// Formats a text and checks that it keeps its tokens and comments, and is formatted then. Returns whether it has no errors.
fn check(text: &str, width: u32) -> bool {
    let Ok(once) = fmt::format(&Source::new("test.harn", text), width) else { return false };
    let (before, after) = (parts(text), parts(&once));
    if before != after {
        let at = before.iter().zip(&after).position(|(a, b)| a != b).unwrap_or(before.len().min(after.len()));
        panic!("{:?} became {:?} in\n{text}\n---\n{once}", before.get(at), after.get(at));
    }
    match fmt::format(&Source::new("test.harn", once.as_str()), width) {
        Ok(twice) => assert_eq!(once, twice, "the second time is another of\n{text}"),
        Err(found) => panic!("{}\n{text}\n---\n{once}", lang::diagnostic::draw::draw(&found[0], false)),
    }
    for line in once.lines() {
        assert!(line.trim_end() == line || once.contains("\"\"\"") || once.contains("/*"), "{line:?} ends in spaces");
    }
    true
}

#[test]
fn every_script_keeps_its_tokens_and_is_formatted_once() {
    let texts = texts();
    let good = texts.iter().filter(|text| check(text, 100)).count();
    assert!(good > 1000, "only {good} of {} scripts have no errors", texts.len());
}

#[test]
fn narrow_and_wide_lines_keep_the_tokens_too() {
    for text in texts() {
        for width in [20, 60, 1000] {
            check(&text, width);
        }
    }
}

/// A reproducible source of randomness (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % end.max(1) as u64).unwrap_or(0)
    }
}

/// A text with other white space: line breaks come and go wherever they separate nothing.
fn shaken(text: &str, random: &mut Random) -> String {
    let source = Source::new("test.harn", text);
    let lexed = lang::lex::lex(&source);
    let mut out = String::new();
    let mut end = 0;
    let mut inside = 0usize;
    for (token, span) in &lexed.tokens {
        let gap = &text[end..span.start as usize];
        let free = inside == 0 && !matches!(token, Token::Newline | Token::Semi);
        if free && gap == " " && random.below(4) == 0 {
            out.push_str("\n  ");
        } else if free && !gap.contains("//") && gap.contains('\n') && random.below(2) == 0 {
            out.push(' ');
        } else {
            out.push_str(gap);
        }
        out.push_str(source.slice(*span));
        end = span.end as usize;
        match token {
            Token::StrStart(_) => inside += 1,
            Token::StrEnd => inside -= 1,
            _ => {}
        }
    }
    out + &text[end..]
}

#[test]
fn scripts_with_other_white_space_keep_their_tokens() {
    let texts = texts();
    let mut random = Random(1);
    let mut good = 0;
    while good < 2_000 {
        let text = &texts[random.below(texts.len())];
        if text.len() < 20_000 {
            good += usize::from(check(&shaken(text, &mut random), [40, 100][random.below(2)]));
        }
    }
}

#[test]
fn deep_trees_are_formatted() {
    for text in [
        format!("let x = {}1\n", "1 + ".repeat(900)),
        format!("let x = {}1{}\n", "[".repeat(150), "]".repeat(150)),
        format!("let x = {}1{}\n", "f(".repeat(150), ")".repeat(150)),
        format!("let x = a{}\n", ".b()".repeat(400)),
        format!("let x = {}1\n", "a ? b : ".repeat(150)),
        format!("{}1{}\n", "if a { ".repeat(150), " }".repeat(150)),
        format!("let x = {}a\n", "-".repeat(150)),
    ] {
        assert!(check(&text, 100), "{}", &text[..40]);
    }
}
