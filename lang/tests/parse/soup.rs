//! Token soup: random texts made of the language's own pieces. Nothing may panic, hang or grow without bounds.

use crate::parsed;
use crate::wait::thread_cpu_time;
use std::time::Duration;

const PIECES: &[&str] = &[
    "let ",
    "var ",
    "fn ",
    "f",
    "x",
    "Point",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "${",
    "\"",
    "\"\"\"",
    "r\"",
    "'",
    ",",
    ";",
    "\n",
    "\r\n",
    " ",
    ":",
    "=",
    "==",
    "->",
    "=>",
    "|>",
    "|",
    "||",
    "&&",
    "&",
    "+",
    "-",
    "*",
    "**",
    "/",
    "//",
    "/*",
    "*/",
    "///",
    "%",
    "?",
    "?.",
    "?[",
    "??",
    ".",
    "...",
    "!",
    "@",
    "#",
    "$",
    "\\",
    "\\n",
    "\\u{1F600}",
    "1",
    "2.5",
    "5m",
    "5min",
    "0x",
    "1e",
    "if ",
    "else ",
    "match ",
    "try ",
    "catch ",
    "finally ",
    "for ",
    "in ",
    "not in ",
    "while ",
    "return ",
    "throw ",
    "parallel ",
    "each ",
    "with ",
    "select ",
    "from ",
    "timeout ",
    "default ",
    "struct ",
    "enum ",
    "impl ",
    "interface ",
    "type ",
    "tool ",
    "description ",
    "pipeline ",
    "extends ",
    "override ",
    "import ",
    "pub ",
    "gen ",
    "guard ",
    "require ",
    "defer ",
    "retry ",
    "deadline ",
    "spawn ",
    "mutex ",
    "yield ",
    "emit ",
    "break",
    "to ",
    "exclusive",
    "nil",
    "true",
    "_",
    "ä",
    "日",
    "\u{feff}",
    "\t",
    "<",
    ">",
    "try*",
    ":=",
    "x: int",
    "{ x -> ",
    "{a: 1}",
    "(a, b)",
    "\"a ${b} c\"",
];

/// A small generator of its own: the same soups on every run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % n
    }
}

#[test]
fn soup_neither_panics_nor_hangs() {
    let mut random = Random(42);
    for round in 0..4000 {
        let len = 1 + random.below(60);
        let text: String = (0..len).map(|_| PIECES[random.below(PIECES.len())]).collect();
        let one = thread_cpu_time();
        let parsed = parsed(&text);
        assert!(thread_cpu_time() - one < Duration::from_secs(2), "round {round}: {text:?}");
        for diagnostic in &parsed.diagnostics {
            assert!(!diagnostic.labels.is_empty(), "{text:?}");
            for label in &diagnostic.labels {
                assert!(text.get(label.span.range()).is_some(), "{text:?} {diagnostic:?}");
            }
            let picture = lang::diagnostic::draw::draw(diagnostic, round % 2 == 0);
            assert!(picture.contains(diagnostic.code.as_str()), "{text:?}");
            assert!(lang::diagnostic::json::to_json(diagnostic).is_object());
        }
        assert_eq!(parsed.is_ok(), parsed.diagnostics.is_empty(), "{text:?}");
        if crate::printer::module(&parsed.module).contains("ERROR") {
            assert!(!parsed.diagnostics.is_empty(), "an error node that nobody was told of: {text:?}");
        }
    }
}

#[test]
fn a_script_cut_anywhere_is_survived() {
    let script = include_str!("tour.harn");
    for (at, _) in script.char_indices() {
        let _ = parsed(&script[..at]);
    }
    for (at, c) in script.char_indices().step_by(3) {
        let _ = parsed(&format!("{}{}", &script[..at], &script[at + c.len_utf8()..]));
    }
    let parsed = parsed(script);
    assert!(parsed.diagnostics.is_empty(), "{:#?}", parsed.diagnostics);
}
