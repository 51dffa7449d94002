//! A comment between any two tokens stays between them.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed, which is what it is for")]

use lang::lex::lex;
use lang::lex::token::Token;
use lang::source::{Source, Span};

/// Programs that hold every construct.
const PROGRAMS: &[&str] = &[
    "let x: int = a + b * c - d ** 2\nvar {a, b: other, c = 1, ...rest} = d\nconst [p, _, ...q] = xs\n",
    "x = 1\nd.a[0] += 2\nlet y = -a ?? !b && c || d in e\nlet z = a not in b\n",
    "let f = { a, b = 1, ...r -> a + b }\nlet g = { -> nil }\nlet h = { x ->\n  p(x)\n  x\n}\n",
    "if a { b } else if c { d } else { e }\nwhile a { break }\nfor (k, v) in d { continue }\n",
    "match v {\n  1 | 2 -> a\n  \"x\" if b -> { c }\n  E.B(x, _) -> d\n  {k: \"y\", n} -> e\n  [a, ...r] -> f\n  P {x} -> g\n  1 to 5 -> h\n  (a, b) -> i\n  -1 -> j\n  _ -> k\n}\n",
    "try { a } catch (e: T) { b } finally { c }\ntry { a } catch e { b }\nlet r = try { a }\ntry* b\n",
    "guard a else { return }\nrequire a, \"b\"\ndefer { c() }\nthrow a\nretry 3 { b }\ndeadline 5s { c }\nmutex { d }\n",
    "parallel 3 { i -> i }\nparallel each xs with {max_concurrent: 2} { x -> x }\nspawn { a }\n",
    "select {\n  m from ch { a }\n  timeout 5s { b }\n  default { c }\n}\n",
    "/// Doc.\n@deprecated(\"x\")\npub fn f<T: A>(a: int, b: string? = nil, ...r) -> list<T> where T: B { emit a }\ngen fn g() { yield 1 }\n",
    "struct P<T> { pub x: int = 1, y: T }\nenum E { A, B(int, r: string) }\ninterface I { fn m(self) -> int\n fn n(self) }\nimpl I for P { fn m(self) { 1 } }\n",
    "type A = \"x\" | int? | {a: int, b?: fn(int, T) -> nil, ...}\nimport \"p\"\nimport {a, b as c} from \"q\"\n",
    "pipeline p(task) -> int extends base { override fn f() { 1 } }\ntool t(a: int) -> string { description \"d\"\n a }\n",
    "let x = a.b?.c[1]?[2][1:2][:3][4:](d, ...e)?.f\nlet y = c ? a : b\nlet z = s |> f(_, 1) |> g\nlet w = 1 to 5 exclusive\n",
    "let d = {a: 1, \"b c\": [1, ...xs], [k]: (a, b), ...more, name, E: P {x: 1}}\nlet s = \"a ${b} c\"\nlet t = \"\"\"\n  a\n\"\"\"\n",
    "let a = (b + c) * (d)\nlet e = ((f))\nlet g = (h(1).i(2).j(3))\nxs.map({ x -> x }).filter({ y -> y })\n",
];

/// The tokens and comments of a text in their order, without what layout may change.
fn parts(text: &str) -> Option<Vec<String>> {
    let source = Source::new("test.harn", text);
    if !lang::parse::parse(&source).is_ok() {
        return None;
    }
    let lexed = lex(&source);
    let layout =
        |token: Token<'_>| matches!(token, Token::Newline | Token::Semi | Token::Comma | Token::LParen | Token::RParen);
    let mut all: Vec<Span> = lexed.tokens.iter().filter(|(token, _)| !layout(*token)).map(|(_, span)| *span).collect();
    all.extend(lexed.comments);
    all.sort_unstable();
    all.dedup();
    Some(all.into_iter().map(|span| source.slice(span).trim_end().to_owned()).collect())
}

/// Returns the offsets between two tokens of a text.
fn gaps(text: &str) -> Vec<usize> {
    let source = Source::new("test.harn", text);
    let tokens = lex(&source).tokens;
    let mut inside = 0usize;
    let mut gaps = vec![0];
    for (token, span) in tokens {
        match token {
            Token::StrStart(_) => inside += 1,
            Token::StrEnd => inside -= 1,
            _ => {}
        }
        if inside == 0 {
            gaps.push(span.end as usize);
        }
    }
    gaps.dedup();
    gaps
}

/// Whether the texts have the same parts but for the comments with an `@`.
fn same_tokens(commented: &[String], plain: &[String]) -> bool {
    commented.iter().filter(|part| !part.contains('@')).eq(plain)
}

fn assert_kept(text: &str) {
    for width in [30, 100] {
        let source = Source::new("test.harn", text);
        let once = fmt::format(&source, width).unwrap();
        assert_eq!(parts(text), parts(&once), "{text}\n--- became\n{once}");
        let twice = fmt::format(&Source::new("test.harn", once.as_str()), width).unwrap();
        assert_eq!(once, twice, "{text}");
    }
}

#[test]
fn one_comment_stays_between_its_tokens() {
    let mut tried = 0;
    for program in PROGRAMS {
        let plain = parts(program).unwrap_or_else(|| panic!("{program}"));
        for gap in gaps(program) {
            for comment in ["/*@*/", " /*@*/ ", "//@\n", " //@\n", "\n//@\n", "\n\n/*@*/\n\n", "/*@\n@*/"] {
                let text = format!("{}{comment}{}", &program[..gap], &program[gap..]);
                // A line break, or something behind the operand of `?`, may make another program of it.
                if parts(&text).is_some_and(|commented| same_tokens(&commented, &plain)) {
                    assert_kept(&text);
                    tried += 1;
                }
            }
        }
    }
    assert!(tried > 3000, "only {tried} texts were tried");
}

#[test]
fn comments_everywhere_stay_in_their_order() {
    let mut tried = 0;
    for program in PROGRAMS {
        let plain = parts(program).unwrap_or_else(|| panic!("{program}"));
        for form in [|n: usize| format!("/*@{n}*/"), |n: usize| format!(" /*@{n}\n@*/ ")] {
            let mut text = (*program).to_owned();
            for (number, gap) in gaps(program).into_iter().enumerate().rev() {
                let more = format!("{}{}{}", &text[..gap], form(number), &text[gap..]);
                if parts(&more).is_some_and(|commented| same_tokens(&commented, &plain)) {
                    text = more;
                }
            }
            assert_kept(&text);
            tried += text.matches("/*@").count();
        }
    }
    assert!(tried > 500, "only {tried} comments were tried");
}
