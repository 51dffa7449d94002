//! Programs spliced from the scripts of the tests: each is checked, formatted, and runs to an end.
//!
//! In most of the mutants statements, blocks, lists, arguments, literals and names of one script are replaced by those of
//! other scripts, repeated, swapped or left out, so that they still compile. The others are changed as [text](crate::text).

use crate::corpus::{files, texts};
use crate::properties;
use crate::random::Random;
use crate::subject::{Mutant, Mutator, Subject, Target, Verdict};
use crate::text;
use lang::lex::lex;
use lang::lex::token::Token;
use lang::source::Source;
use std::ops::Range;

/// The longest mutant; what grows with each change would fill the time with long programs.
const LONGEST: usize = 20_000;

pub(crate) const SCRIPTS: Subject = Subject { name: "scripts", cases: 4_000, balance: 6, mutator, target };

fn mutator() -> Mutator {
    let mut programs = texts("tests/lang", "harn");
    programs.extend(stdlib::catalogue().into_iter().flat_map(|row| [row.fails, row.mended]).map(str::to_owned));
    assert!(programs.len() > 200, "found {} scripts", programs.len());
    let whole = files("tests/lang", "harn");
    Box::new(move |random| {
        if random.one_in(4) {
            let text = random.one_of(&whole).cloned().unwrap_or_default();
            return Mutant::of(text::mutant(random, &text, &whole, LONGEST));
        }
        Mutant::of(mutant(random, &programs))
    })
}

fn target() -> Box<dyn Target> {
    Box::new(Scripts)
}

struct Scripts;

impl Target for Scripts {
    fn feed(&mut self, mutant: &Mutant) -> Result<Verdict, String> {
        let text = &mutant.pieces[0];
        formatted(text)?;
        let runs = properties::mutant("input.harn", text);
        Ok(if runs { Verdict::Accepted } else { Verdict::Rejected })
    }
}

/// Formats a script that can be parsed; what comes out must be one as well.
fn formatted(text: &[u8]) -> Result<(), String> {
    let Ok(text) = std::str::from_utf8(text) else { return Ok(()) };
    let Ok(formatted) = fmt::format(&Source::new("input.harn", text), fmt::WIDTH) else { return Ok(()) };
    let again = fmt::format(&Source::new("formatted.harn", formatted.as_str()), fmt::WIDTH);
    again.map(drop).map_err(|found| format!("{found:?} in the formatted script:\n{formatted}"))
}

/// The kind of a program part; a part is mostly replaced by one of its kind.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PartKind {
    /// A statement or a line of a list, with everything in its brackets.
    Line,
    /// A group in brackets, with them.
    Group(char),
    /// A string, a number or a name.
    Atom,
}

struct ProgramPart {
    kind: PartKind,
    range: Range<usize>,
}

/// The parts of a program, nested ones too.
fn parts(text: &str) -> Vec<ProgramPart> {
    let source = Source::new("mutant.harn", text);
    let lexed = lex(&source);
    let mut found = Vec::new();
    // For each bracket that is open, where it and its line began.
    let mut open = vec![(0, None)];
    for (token, span) in &lexed.tokens {
        let range = span.range();
        let (_, line) = open.last_mut().expect("the outermost");
        match token {
            Token::Newline | Token::Semi => {
                if let Some(start) = line.take() {
                    found.push(ProgramPart { kind: PartKind::Line, range: start..range.start });
                }
                continue;
            }
            _ => {
                line.get_or_insert(range.start);
            }
        }
        match token {
            Token::LParen
            | Token::LBracket
            | Token::QBracket
            | Token::LBody
            | Token::LClosure
            | Token::LDict
            | Token::InterpStart
            | Token::StrStart(_) => open.push((range.start, None)),
            Token::RParen | Token::RBracket | Token::RBrace | Token::InterpEnd | Token::StrEnd if open.len() > 1 => {
                let (start, line) = open.pop().expect("one more than the outermost");
                if let Some(begin) = line {
                    found.push(ProgramPart { kind: PartKind::Line, range: begin..range.start });
                }
                let kind = match &text[start..range.end] {
                    group if group.starts_with('"') => PartKind::Atom,
                    group => PartKind::Group(group.chars().next().unwrap_or(' ')),
                };
                found.push(ProgramPart { kind, range: start..range.end });
            }
            Token::Ident(_) | Token::Int(_) | Token::Float(_) => {
                found.push(ProgramPart { kind: PartKind::Atom, range });
            }
            _ => {}
        }
    }
    found.retain(|part| text.get(part.range.clone()).is_some_and(|part| !part.trim().is_empty()));
    found
}

/// One change; nothing where the program has no part to change.
fn changed(random: &mut Random, text: &str, donors: &[String]) -> Option<String> {
    let own = parts(text);
    let part = random.one_of(&own)?;
    let donor = random.one_of(donors)?;
    let theirs = parts(donor);
    let any_kind = random.below(8) == 0;
    let alike: Vec<_> = theirs.iter().filter(|other| any_kind || other.kind == part.kind).collect();
    let (before, old, after) = (&text[..part.range.start], &text[part.range.clone()], &text[part.range.end..]);
    let line_end = |text: &str| if part.kind == PartKind::Line { format!("{text}\n") } else { format!("{text}, ") };
    Some(match random.below(12) {
        0 => format!("{before}{after}"),
        1 => format!("{before}{}{old}{after}", line_end(old)),
        2 => {
            let other = random.one_of(&own)?;
            if other.range.start < part.range.end {
                return None;
            }
            let (between, moved) = (&text[part.range.end..other.range.start], &text[other.range.clone()]);
            format!("{before}{moved}{between}{old}{}", &text[other.range.end..])
        }
        3 => format!("{before}{donor}\n{after}"),
        4 => {
            const EDGES: &[&str] = &[
                "9223372036854775807",
                "-9223372036854775808",
                "0",
                "-1",
                "nil",
                "\"\"",
                "[]",
                "{}",
                "1.0e308",
                "(1 to 9223372036854775807)",
                "{ -> nil }",
                "\"\\u{1F600}\"",
                "[[[]]]",
                "Err(nil)",
                "set()",
            ];
            format!("{before}{}{after}", random.one_of(EDGES)?)
        }
        5 | 6 => format!("{before}{}{old}{after}", line_end(&donor[random.one_of(&alike)?.range.clone()])),
        _ => format!("{before}{}{after}", &donor[random.one_of(&alike)?.range.clone()]),
    })
}

fn mutant(random: &mut Random, programs: &[String]) -> String {
    let mut text = random.one_of(programs).cloned().unwrap_or_default();
    if random.below(2) == 0 {
        text = format!("{text}\n{}", programs[random.below(programs.len())]);
    }
    for _ in 0..=random.below(3) {
        // Parts of the program itself name what there is, so that more of the mutants run.
        let own = [text.clone()];
        let donors = if random.below(3) == 0 { programs } else { &own };
        text = changed(random, &text, donors).filter(|text| text.len() < LONGEST).unwrap_or(text);
    }
    text
}
