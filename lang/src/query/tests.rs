use super::*;
use crate::ast::NodeMap;
use crate::check::{ImportedTypes, types};
use crate::declaration::Registry;
use crate::parse::parse;
use crate::resolve::{Role, Surroundings, resolve};
use crate::source::{Source, Span};

const fn registry() -> Registry {
    const GROUPS: &[&[&[crate::declaration::Builtin]]] = &[crate::builtins::TABLES];
    Registry::new(GROUPS)
}

/// Marks each name that means the same as the one at `~`, which is removed: `[name]`, with `:` after a definition.
fn marked(text: &str) -> String {
    let at = u32::try_from(text.find('~').unwrap()).unwrap();
    let source = Source::new("test.harn", text.replacen('~', "", 1));
    let parsed = parse(&source);
    let around = Surroundings { outer: &[], links: NodeMap::default(), role: Role::Script };
    let (names, _) = resolve(&source, &parsed.module, registry(), &around);
    let types = types(&source, &parsed.module, &names, registry(), &ImportedTypes::default());
    let all = occurrences(&parsed.module, &names, &types, registry());
    let holds = |span: Span| span.start <= at && at <= span.end;
    let symbol = &all.iter().find(|occurrence| holds(occurrence.span)).unwrap().symbol;
    let mut out = String::new();
    let mut end = 0;
    for occurrence in all.iter().filter(|occurrence| occurrence.symbol == *symbol) {
        let role = match occurrence.role {
            OccurrenceRole::Definition => ":",
            OccurrenceRole::Write => "=",
            OccurrenceRole::Import => "^",
            OccurrenceRole::Read => "",
        };
        let short = match occurrence.shorthand {
            Some(Shorthand::Key) => "k",
            Some(Shorthand::Value) => "v",
            None => "",
        };
        out.push_str(&source.text()[end..occurrence.span.range().start]);
        out.push_str(&format!("[{}{role}{short}]", source.slice(occurrence.span)));
        end = occurrence.span.range().end;
    }
    out.push_str(&source.text()[end..]);
    out
}

#[test]
fn a_binding_occurs_where_it_is_bound_read_and_assigned() {
    assert_eq!(
        marked("var ~n = 1\nn += 1\nfn f(n) { return n }\nprintln(n, {n}, \"${n}\")"),
        "var [n:] = 1\n[n=] += 1\nfn f(n) { return n }\nprintln([n], {[nv]}, \"${[n]}\")"
    );
    assert_eq!(marked("fn f({a, b: c}) { return ~a + c }"), "fn f({[a:v], b: c}) { return [a] + c }");
    assert_eq!(
        marked(
            "pipeline base() { fn step() { 1 }\n step() }\npipeline next() extends ~base { override fn step() { 2 } }"
        ),
        "pipeline [base:]() { fn step() { 1 }\n step() }\npipeline next() extends [base] { override fn step() { 2 } }"
    );
    assert_eq!(
        marked(
            "pipeline base() { fn ~step() { 1 }\n step() }\npipeline next() extends base { override fn step() { 2 } }"
        ),
        "pipeline base() { fn [step:]() { 1 }\n [step]() }\npipeline next() extends base { override fn [step:]() { 2 } }"
    );
}

#[test]
fn members_are_found_by_the_type_of_their_receiver() {
    assert_eq!(
        marked(
            "struct P { ~x: int }\nstruct Q { x: int }\nlet p = P {x: 1}\nlet q = Q {x: 2}\nprintln(p.x, q.x)\nlet P {x} = p"
        ),
        "struct P { [x:]: int }\nstruct Q { x: int }\nlet p = P {[x]: 1}\nlet q = Q {x: 2}\nprintln(p.[x], q.x)\nlet P {[xk]} = p"
    );
    assert_eq!(
        marked("struct P { x: int }\nimpl P { fn ~twice(self) { return self.x * 2 } }\nlet p = P {x: 1}\np.twice()"),
        "struct P { x: int }\nimpl P { fn [twice:](self) { return self.x * 2 } }\nlet p = P {x: 1}\np.[twice]()"
    );
    assert_eq!(
        marked("enum E { A, ~B(int) }\nlet e = E.B(1)\nmatch e { E.A -> 1, E.B(n) -> n }"),
        "enum E { A, [B:](int) }\nlet e = E.[B](1)\nmatch e { E.A -> 1, E.[B](n) -> n }"
    );
    assert_eq!(
        marked("let xs = [1]\nxs.~map({ x -> x })\n[2].map({ x -> x })"),
        "let xs = [1]\nxs.[map]({ x -> x })\n[2].[map]({ x -> x })"
    );
}

#[test]
fn a_text_that_does_not_parse_has_the_names_around_the_mistake() {
    assert_eq!(
        marked("fn f(a) {\n  let b = ~a\n  let c = (\n  return a\n}\nf(1)"),
        "fn f([a:]) {\n  let b = [a]\n  let c = (\n  return [a]\n}\nf(1)"
    );
}

/// Returns the names that `~` can use.
fn seen(text: &str) -> String {
    let at = u32::try_from(text.find('~').unwrap()).unwrap();
    let source = Source::new("test.harn", text.replacen('~', "", 1));
    let parsed = parse(&source);
    let around = Surroundings { outer: &[], links: NodeMap::default(), role: Role::Script };
    let (names, _) = resolve(&source, &parsed.module, registry(), &around);
    let found = visible(&parsed.module, &names, at);
    found.iter().map(|id| names.binding(*id).name.as_str()).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_position_sees_what_is_bound_around_it() {
    assert_eq!(seen("let a = 1\nfn f(b) {\n  let c = 1\n  ~\n  let d = 2\n}\nlet e = 3"), "c b f a");
    assert_eq!(seen("for x in [1] {\n  let y = { z -> ~ }\n}"), "z x");
    assert_eq!(seen("match 1 { n -> ~n }\nlet later = 1"), "n");
    assert_eq!(seen("try { 1 } catch (e) { ~ }"), "e");
    assert_eq!(seen("let a = 1\nfn f(a) { ~ }"), "a f");
}

#[test]
fn a_cursor_knows_the_brackets_around_it() {
    let call = |text: &str| {
        let cursor = Cursor::of(text);
        let (callee, argument, keys) = cursor.call().map(|(c, a, k)| (c.clone(), a, k.join(" "))).unwrap();
        (callee.namespace.map_or(String::new(), |n| format!("{n}.")) + &callee.name, argument, keys)
    };
    assert_eq!(call("f(1, {a: [2, {b: "), ("f".into(), 1, "a [] b".into()));
    assert_eq!(call("t.f({"), ("t.f".into(), 0, String::new()));
    assert_eq!(call("f({a: 1, "), ("f".into(), 0, String::new()));
    assert_eq!(call("f({a: 1,\n  b: \"x"), ("f".into(), 0, "b".into()));
    assert_eq!(call("f({\n  unfinished\n  b: \"x"), ("f".into(), 0, "b".into()));
    assert_eq!(call("f({a: c ? d : e"), ("f".into(), 0, "a".into()));
    assert_eq!(call("f(g(1), h[2], "), ("f".into(), 2, String::new()));
    assert_eq!(Cursor::of("f({ x -> ").call(), None);
    assert_eq!(Cursor::of("fn f(").call(), None);
    let keys = |text: &str| match Cursor::of(text).around.first() {
        Some(Surrounding::Dict { key: None, keys, name }) => (keys.join(" "), name.clone()),
        other => panic!("{text}: {other:?}"),
    };
    assert_eq!(keys("f({a: 1, b: {c: 1}, "), ("a b".into(), None));
    assert_eq!(keys("let p = P {x: 1, y"), ("x".into(), Some("P".into())));
    assert_eq!(keys("let p = P {"), (String::new(), Some("P".into())));
}

#[test]
fn a_cursor_knows_what_the_word_is_part_of() {
    let cursor = Cursor::of("let a = \"x ${b.c");
    assert!(!cursor.in_string && cursor.before == "." && cursor.word == 15);
    assert!(Cursor::of("import {a} from \"lib/").in_import);
    assert!(Cursor::of("import {a, b").in_import && Cursor::of("import \"x").in_string);
    assert!(!Cursor::of("import \"x\"\nfo").in_import);
    assert!(Cursor::of("// the wo").in_comment && !Cursor::of("/* x */ wo").in_comment);
    assert!(Cursor::of("let a = 1\nret").begins_statement && Cursor::of("fn f() { ret").begins_statement);
    assert!(!Cursor::of("let a = ret").begins_statement && !Cursor::of("f(\n  ret").begins_statement);
}

#[test]
fn a_declaration_has_its_head_and_documentation() {
    let source = Source::new(
        "t",
        "/// Adds.\n@deprecated(\"no\")\npub fn add(a: int,\n  b: int) -> int { return a + b }\nstruct P { x: int = 1 }",
    );
    let parsed = parse(&source);
    let find = |name: &str| {
        let start = u32::try_from(source.text().find(name).unwrap()).unwrap();
        let span = Span::new(start, start + u32::try_from(name.len()).unwrap());
        let view = declaration::at(&source, &parsed.module, span).unwrap();
        (declaration::text(&source, &view), view.item.doc.clone())
    };
    assert_eq!(find("add"), ("pub fn add(a: int, b: int) -> int".into(), Some("Adds.".into())));
    assert_eq!(find("x").0, "x: int = 1");
    assert_eq!(find("P").0, "struct P { x: int = 1 }");
}
