//! Programs spliced from the scripts of `tests/lang`: whatever comes out is checked, and runs to an end, without a panic.
//!
//! A mutant is one script in which statements, blocks, lists, arguments, literals and names are replaced by those of other
//! scripts, repeated, swapped or left out. `HARN_CASES` says how many, `HARN_SEED` which is the first, `HARN_SHOW_MUTANT`
//! prints each before it runs.

use crate::harn::root;
use crate::properties::{asked, scripts};
use lang::lex::lex;
use lang::lex::token::Token;
use lang::source::Source;
use std::ops::Range;
use std::panic::catch_unwind;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

/// Mutants of the ordinary suite.
const CASES: u64 = 5_000;

/// The timeout of a mutant, in a debug build on a busy machine.
const LONGEST: Duration = Duration::from_secs(60);

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

    fn one_of<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        all.get(self.below(all.len()))
    }
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

fn mutant(seed: u64, programs: &[String]) -> String {
    let mut random = Random(seed);
    let mut text = random.one_of(programs).cloned().unwrap_or_default();
    if random.below(2) == 0 {
        text = format!("{text}\n{}", programs[random.below(programs.len())]);
    }
    for _ in 0..=random.below(3) {
        // Parts of the program itself name what there is, so that more of the mutants run.
        let own = [text.clone()];
        let donors = if random.below(3) == 0 { programs } else { &own };
        // What grows with each change would fill the time with long programs.
        text = changed(&mut random, &text, donors).filter(|text| text.len() < 20_000).unwrap_or(text);
    }
    text
}

#[test]
fn programs_spliced_from_scripts_are_survived() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let (cases, first) = (number("HARN_CASES").unwrap_or(CASES), number("HARN_SEED").unwrap_or(1));
    let shown = std::env::var_os("HARN_SHOW_MUTANT").is_some();
    let mut paths = Vec::new();
    scripts(&root().join("tests/lang"), &mut paths);
    paths.sort();
    let programs: Vec<_> = paths.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
    assert!(programs.len() > 200, "found {} scripts", programs.len());
    let threads = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let (next, failed) = (AtomicU64::new(first), Mutex::new(Vec::new()));
    let (ran, compiled) = (AtomicU64::new(0), AtomicU64::new(0));
    let worker = || {
        while let seed = next.fetch_add(1, Relaxed)
            && seed < first + cases
        {
            let text = mutant(seed, &programs);
            if shown {
                eprintln!("== seed {seed}\n{text}");
            }
            let began = Instant::now();
            let survived = catch_unwind(|| asked::mutant(text.as_bytes()));
            ran.fetch_add(1, Relaxed);
            match survived {
                Ok(runs) if began.elapsed() < LONGEST => {
                    compiled.fetch_add(u64::from(runs), Relaxed);
                }
                outcome => failed.lock().unwrap().push((seed, outcome.is_err(), began.elapsed())),
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..threads {
            thread::Builder::new().stack_size(8 << 20).spawn_scoped(scope, worker).unwrap();
        }
    });
    let failed = failed.into_inner().unwrap();
    let (ran, compiled) = (ran.into_inner(), compiled.into_inner());
    println!("{ran} mutants, {compiled} of them ran");
    assert!(
        failed.is_empty(),
        "seed, panicked, time: {failed:?}; HARN_SEED=… HARN_CASES=1 HARN_SHOW_MUTANT=1 shows one"
    );
    // A mutator that only breaks the syntax tests the parser alone.
    assert!(ran == cases && compiled > cases / 6, "{compiled} of {ran} ran");
}
