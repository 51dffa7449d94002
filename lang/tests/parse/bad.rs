//! Diagnostics of invalid scripts: one per mistake, at the place of the mistake.

use crate::parsed;
use crate::wait::thread_cpu_time;

/// The codes and the texts under the main labels.
fn findings(text: &str) -> Vec<(&'static str, String)> {
    let parsed = parsed(text);
    let one = |d: &lang::diagnostic::Diagnostic| {
        let label = &d.labels[0];
        (d.code.as_str(), label.source.slice(label.span).to_owned())
    };
    parsed.diagnostics.iter().map(one).collect()
}

/// Each text has exactly one finding, at the given text.
#[test]
fn single_mistakes() {
    let table = [
        ("let x = (1 + 2\nlet y = 3", "HARN-LEX-004", "("),
        ("foo(a, { x -> bar(x }, 2)", "HARN-LEX-004", "("),
        ("fn f() {\n  if a {\n    b\n  }\n", "HARN-LEX-004", "{"),
        ("let d = {a: 1", "HARN-LEX-004", "{"),
        ("let d = {a: 1\nlet y = f(2)\n", "HARN-LEX-004", "{"),
        ("f({a: 1)\nlet b = 2", "HARN-LEX-004", "{"),
        ("foo(1, 2\nbar(3)", "HARN-LEX-004", "("),
        ("let a = [1, 2)", "HARN-LEX-005", ")"),
        ("let a = 1)", "HARN-LEX-005", ")"),
        ("fn f() { 1 }\n}", "HARN-LEX-005", "}"),
        (")))))", "HARN-LEX-005", ")))))"),
        ("let s = \"abc", "HARN-LEX-002", "\""),
        ("let s = \"abc\nlet t = f(1)", "HARN-LEX-002", "\""),
        ("let s = \"\"\"abc\nlet t = 1", "HARN-LEX-002", "\"\"\""),
        ("let s = r\"abc\nlet t = 1", "HARN-LEX-002", "r\""),
        ("let s = \"a ${b\"\nlet t = 1", "HARN-LEX-004", "${"),
        ("let s = \"a ${b\nlet t = 1", "HARN-LEX-004", "${"),
        ("let s = \"a ${b + } c\"", "HARN-PAR-002", "}"),
        ("let s = \"a \\q b\"", "HARN-LEX-010", "\\q"),
        ("let s = \"ä \\u{zz} b\"", "HARN-LEX-011", "\\u{zz}"),
        ("let s = 'abc'", "HARN-LEX-012", "'abc'"),
        ("let s = “abc”", "HARN-LEX-012", "“abc”"),
        ("let s = “abc", "HARN-LEX-001", "“"),
        ("let s = `abc`", "HARN-LEX-012", "`abc`"),
        ("let s = `abc", "HARN-LEX-001", "`"),
        ("let x = a & b", "HARN-LEX-001", "&"),
        ("let x = $$$ 1", "HARN-LEX-001", "$$$"),
        ("# a comment\nlet x = 1", "HARN-LEX-001", "#"),
        ("let größe = 1\nlet b = 2", "HARN-LEX-014", "größe"),
        ("let x = 5min", "HARN-LEX-008", "5min"),
        ("let x = 3abc + 1", "HARN-LEX-008", "3abc"),
        ("let x = 9223372036854775808000", "HARN-LEX-007", "9223372036854775808000"),
        ("/* a\nlet b = 1", "HARN-LEX-003", "/*"),
        ("let x = 1 +", "HARN-PAR-002", ""),
        ("fn f() { let x = 1 + }", "HARN-PAR-002", "}"),
        ("let x = f(1 2)", "HARN-PAR-003", "2"),
        ("let x = [1, , 2]", "HARN-PAR-002", ","),
        ("let d = {\n a: 1\n b: 2\n}", "HARN-PAR-003", ""),
        ("let d = f({a = 1, b: 2})", "HARN-PAR-003", "="),
        ("let a = 1 let b = 2", "HARN-PAR-004", "let"),
        ("function foo(a) { return 1 }", "HARN-PAR-024", "function"),
        ("if a { 1 } elif b { 2 }", "HARN-PAR-024", "elif"),
        ("let c = a and b", "HARN-PAR-024", "and"),
        ("print \"hello\"", "HARN-PAR-004", "\""),
        ("let t = a? b : c", "HARN-PAR-004", "b"),
        ("let x := 1", "HARN-PAR-004", ":="),
        ("let mut x = 1", "HARN-PAR-024", "mut"),
        ("if x = 1 { f() }", "HARN-PAR-019", "="),
        ("while x = 1 { f() }", "HARN-PAR-019", "="),
        ("if { 1 }", "HARN-PAR-002", "{"),
        ("x++\nlet b = 2", "HARN-PAR-002", "+"),
        ("for (i in xs) { f(i) }", "HARN-PAR-024", "("),
        ("match x { 1 => 2 }", "HARN-PAR-001", "=>"),
        ("let = 3", "HARN-PAR-007", "="),
        ("let type = 3", "HARN-PAR-018", "type"),
        ("fn match() { 1 }", "HARN-PAR-018", "match"),
        ("fn f(a, to) { 1 }", "HARN-PAR-018", "to"),
        ("1 = 2", "HARN-PAR-009", "1"),
        ("f(x) = 2", "HARN-PAR-009", "f(x)"),
        ("a + b += 2", "HARN-PAR-009", "a + b"),
        ("xs.map() { x -> x }", "HARN-PAR-016", "{"),
        ("let p = (1, 2, 3)", "HARN-PAR-010", "(1, 2, 3)"),
        ("let p = ()", "HARN-PAR-002", ")"),
        ("5 exclusive", "HARN-PAR-011", "5 exclusive"),
        ("let f = fn g(x) { x }", "HARN-PAR-002", "fn"),
        ("else { 1 }", "HARN-PAR-001", "else"),
        ("pub 3", "HARN-PAR-017", "3"),
        ("struct P { x: int y: int }", "HARN-PAR-003", "y"),
        ("enum E { A B }", "HARN-PAR-003", "B"),
        ("let a: = 1", "HARN-PAR-008", "="),
        ("fn f(a: ) { 1 }", "HARN-PAR-008", ")"),
        ("import foo", "HARN-PAR-024", "foo"),
        ("a.", "HARN-PAR-006", ""),
        ("a |> ", "HARN-PAR-002", ""),
    ];
    for (text, code, at) in table {
        assert_eq!(findings(text), [(code, at.to_owned())], "{text}\n{:#?}", parsed(text).diagnostics);
    }
}

#[test]
fn five_mistakes_are_five_findings() {
    let text = "\
let a = 1 +
fn f(x) {
  let b = [1 2]
  if x = 1 { return 2 }
}
register({
  post: { ctx ->
    let c = ctx.result.
    return {reminder: {body: }}
  },
})
let s = \"never closed
log(s)
";
    let codes: Vec<_> = findings(text).into_iter().map(|(code, _)| code).collect();
    assert_eq!(
        codes,
        ["HARN-PAR-002", "HARN-PAR-003", "HARN-PAR-019", "HARN-PAR-006", "HARN-PAR-002", "HARN-LEX-002"],
        "{:#?}",
        parsed(text).diagnostics
    );
}

#[test]
fn what_is_whole_survives_a_mistake() {
    let parsed = parsed("let a = 1\nlet b = \nfn f() { let c = ; c }\nlet d = 4\n");
    assert_eq!(parsed.module.body.len(), 4, "{:#?}", parsed.diagnostics);
}

#[test]
fn messages_help() {
    for (text, words) in [
        ("function foo() { }", "fn name"),
        ("if a { } elif b { }", "else if"),
        ("let c = a and b", "&&"),
        ("let x := 1", "let x ="),
        ("if x = 1 { }", "=="),
        ("f({a = 1, b = 2})", "`:`"),
        ("f(1 2)", "put a `,`"),
        ("xs.map() { x -> x }", "between the parentheses"),
        ("let s = 'a'", "\"a\""),
        ("let x = 1\nx++\n", "x += 1"),
        ("let t = a? b : c", "space before the `?`"),
        ("# note", "//"),
        ("match v { 1 -> {a: 1} }", "({a: 1})"),
        ("foo {a: 1}", "capital"),
        ("struct P { x int }", "`:` between"),
        ("for (i in xs) { f(i) }", "for x in xs"),
    ] {
        let parsed = parsed(text);
        let help: Vec<_> = parsed.diagnostics.iter().flat_map(|d| &d.help).collect();
        assert!(help.iter().any(|h| h.contains(words)), "{text}: {help:?}");
    }
}

#[test]
fn a_call_that_goes_on_wrong_shows_its_opener() {
    let parsed = parsed("foo(1 2)");
    let diagnostic = &parsed.diagnostics[0];
    assert_eq!(diagnostic.labels[1].span.start, 3);
    assert_eq!(diagnostic.labels[1].text, "the call opened here");
}

#[test]
fn the_repl_is_told_that_a_text_ends_early() {
    for text in [
        "f(",
        "let a = {",
        "fn f() {\n let x = 1",
        "let s = \"\"\"a\nb",
        "/* a",
        "let a =",
        "a +",
        "if x",
        "a |>",
        "[1,",
    ] {
        assert!(parsed(text).incomplete, "{text}: {:?}", parsed(text).diagnostics);
    }
    for text in ["f()", "let s = \"a", "f)", "a + + b\nc", "let let", "5min", ""] {
        assert!(!parsed(text).incomplete, "{text}");
    }
}

#[test]
fn depth_is_a_finding() {
    for text in [
        "(".repeat(1_000_000),
        "[".repeat(300),
        "{".repeat(300),
        "f(".repeat(300),
        "\"${".repeat(300),
        "{ -> ".repeat(300),
        "-".repeat(100_000),
        "!".repeat(100_000),
        "a ** ".repeat(100_000),
        "a ? b : ".repeat(100_000),
        "return ".repeat(100_000),
        "if ".repeat(100_000),
        "if a + ".repeat(100_000),
        "throw a + ".repeat(100_000),
        "let a: ".to_owned() + &"list<".repeat(100_000),
        "let a: ".to_owned() + &"fn() -> ".repeat(100_000),
        "1 + ".repeat(100_000) + "1",
        "a".to_owned() + &".b".repeat(100_000),
        "if a { } ".to_owned() + &"else if a { } ".repeat(20_000),
    ] {
        let found = findings(&text);
        assert_eq!(found.len(), 1, "{}… {found:?}", &text[..20]);
        assert!(matches!(found[0].0, "HARN-LEX-006" | "HARN-PAR-015"), "{}… {found:?}", &text[..20]);
    }
}

#[test]
fn depth_that_is_allowed_is_fine() {
    for text in [
        "[".repeat(200) + &"]".repeat(200),
        "(".repeat(200) + "1" + &")".repeat(200),
        "if a { ".repeat(200) + &"}".repeat(200),
        "fn f() { ".repeat(200) + &"}".repeat(200),
        "1 + ".repeat(900) + "1",
        "-".repeat(100) + "1",
        "a ? b : ".repeat(100) + "c",
    ] {
        assert_eq!(findings(&text), [], "{}…", &text[..20]);
    }
}

#[test]
fn large_nonsense_is_read_quickly() {
    for text in [
        "$ ",
        "' ",
        "“ ",
        ") ",
        "({ ) ",
        "a a\n",
        "1 +\n",
        "f(\n",
        "/// x\n",
        "\"${\n",
        "ä ",
        "{a = ",
        "{ a = 1, ",
        "x? ",
        "[a\n",
        "; ",
        "@a ",
        "| ",
        "a < ",
        "if a {} else ",
        "\\",
        "let x = (1\n",
        "\"\\q\" ",
    ] {
        let start = thread_cpu_time();
        let parsed = parsed(&text.repeat(200_000 / text.len()));
        assert!(parsed.diagnostics.len() < 500, "{text}: {}", parsed.diagnostics.len());
        let took = thread_cpu_time() - start;
        assert!(took.as_secs() < 5, "{text}: {took:?}");
    }
}

/// The list of the language's reference, which the lexer's own must equal.
#[test]
fn reserved_words_name_nothing() {
    let reserved = "pipeline extends override let var const if else for in while match retry parallel defer return import \
                    true false nil try catch throw finally fn spawn type enum struct interface impl pub from to exclusive \
                    tool guard require each settle deadline yield emit mutex break continue select";
    let mut words: Vec<&str> = reserved.split_whitespace().collect();
    for word in &words {
        // A constant is a pattern, which binds nothing; the compiler says so.
        if !["true", "false", "nil"].contains(word) {
            assert_eq!(findings(&format!("let {word} = 1\n")), [("HARN-PAR-018", (*word).to_owned())]);
        }
        assert_eq!(findings(&format!("println(x.{word}, {{{word}: 1}})\n")), [], "behind a dot and as a key");
    }
    let mut known = lang::lex::token::KEYWORDS.to_vec();
    known.sort_unstable();
    words.sort_unstable();
    assert_eq!(known, words);
    for word in ["gen", "with", "as", "stream", "where", "not", "timeout", "default"] {
        assert_eq!(findings(&format!("let {word} = 1\nprintln({word})\n")), [], "{word}");
    }
}
