//! Whatever takes time in proportion to a value is paid for: each method with a large receiver, and each operation of the
//! language. A method that is not listed here as constant must use fuel in proportion.

use super::{closure, driver::Bench, finish};
use lang::ast::TypeKind;
use lang::builtins::{Builtin, Registry, TABLES};
use lang::script::{Options, load};
use lang::source::Source;
use lang::vm::{Isolate, Limits};
use std::rc::Rc;

/// Elements of the receivers, and bytes of the texts.
const SIZE: usize = 40_000;
/// Calls of each method.
const CALLS: usize = 100;
/// Fuel of a call that does not depend on the size, at most.
const CONSTANT: usize = 60;
/// The least that is paid for a call with a large receiver: a text costs an instruction for each 64 bytes.
const PROPORTIONAL: usize = SIZE / 128;

/// The end of a script with little fuel.
#[derive(Debug, PartialEq)]
enum Ended {
    Done,
    OutOfFuel,
    Failed(String),
}

fn ended(text: &str, fuel: usize) -> Ended {
    let host = Rc::new(Bench::default());
    let limits = Limits { fuel: Some(fuel as u64), ..Limits::default() };
    let isolate = Isolate::new(Registry::new(super::GROUPS), host, limits, Vec::new());
    let loaded = load(&isolate, &Source::new("test.harn", text), Options::default());
    let Some(unit) = loaded.unit else { return Ended::Failed(format!("{:?}", loaded.diagnostics.first())) };
    match finish(&isolate, closure(&unit.main)) {
        Ok(_) => Ended::Done,
        Err(raise) if raise.message.contains("fuel limit") => Ended::OutOfFuel,
        Err(raise) => Ended::Failed(raise.message.clone()),
    }
}

/// Returns the fuel that a text and a loop without a body need.
fn fuel_of(head: &str) -> usize {
    let text = format!("{head}\nfor n in 0 to {CALLS} {{ }}\n");
    let (mut low, mut high) = (0, SIZE * 100);
    assert_eq!(ended(&text, high), Ended::Done, "{head}");
    while high - low > 16 {
        let middle = usize::midpoint(low, high);
        if ended(&text, middle) == Ended::Done { high = middle } else { low = middle }
    }
    high
}

/// Returns what a call of `work` in a loop does with fuel for its constant parts alone, and less than its size needs.
fn with_little(head: &str, base: usize, work: &str) -> Ended {
    let text = format!("{head}\nfor n in 0 to {CALLS} {{ {work} }}\n");
    ended(&text, base + CALLS * (CONSTANT + PROPORTIONAL))
}

/// The receivers by the namespace of their methods, and another value of the type as `other`.
fn receivers() -> Vec<(&'static str, String)> {
    let list = format!("range(0, {SIZE}).map({{ x -> x }})");
    vec![
        ("<list>", format!("let s = {list}\nlet other = {list}")),
        ("<set>", format!("let s = range(0, {SIZE}).to_set()\nlet other = range(0, {SIZE}).to_set()")),
        (
            "<dict>",
            format!(
                "let s = range(0, {0}).map({{ x -> pair(\"k${{x}}\", x) }}).to_dict()\nlet other = s.merge({{z: 1}})",
                SIZE / 4
            ),
        ),
        ("<string>", format!("let s = \"é\".repeat({})\nlet other = \"é\".repeat({0})", SIZE / 2)),
        ("<bytes>", format!("let s = \"x\".repeat({SIZE}).to_bytes()\nlet other = \"x\".repeat({SIZE}).to_bytes()")),
    ]
}

/// Methods whose time does not depend on the size, or that end at the first element.
// `levenshtein` compares equal texts, which it sees at once.
const CONSTANT_TIME: [&str; 29] = [
    "bytes.count",
    "bytes.empty",
    "dict.count",
    "dict.empty",
    "dict.get",
    "dict.has",
    "list.choice",
    "list.count",
    "list.empty",
    "list.first",
    "list.iter",
    "list.last",
    "list.take",
    "list.to_list",
    "set.choice",
    "set.contains",
    "set.count",
    "set.empty",
    "set.first",
    "set.last",
    "set.take",
    "set.to_set",
    "string.count",
    "string.empty",
    "string.iter",
    "string.levenshtein",
    "string.to_float",
    "string.to_int",
    "string.to_string",
];

/// Returns arguments for a method: `other` where it takes a value like the receiver.
fn arguments(row: &Builtin) -> String {
    let given = match row.name {
        "reduce" => "0, { a, b -> a }",
        "sort" => "{ a, b -> a - b }",
        "any" | "find" | "find_index" | "none" => "{ x -> false }",
        "all" | "every" | "take_while" | "skip_while" => "{ x -> true }",
        "map" | "filter" if row.module == "<dict>" => "{ k, v -> v }",
        "remove" if row.module == "<set>" => "1",
        _ => "",
    };
    if !given.is_empty() {
        return given.to_owned();
    }
    let params = lang::check::signature(row.sig).map_or_else(Vec::new, |decl| decl.params);
    let mut args = Vec::new();
    for param in params.iter().skip(1).take_while(|param| !param.rest && param.default.is_none()) {
        args.push(match param.ty.as_ref().map(|ty| &ty.kind) {
            Some(TypeKind::Fn { .. }) => "{ x -> x }",
            Some(TypeKind::Name { name, .. }) if name == "int" => "1",
            Some(TypeKind::Union(parts))
                if parts.iter().all(
                    |part| matches!(&part.kind, TypeKind::Name { name, .. } if name == "int" || name == "float"),
                ) =>
            {
                "1"
            }
            Some(TypeKind::Name { name, .. }) if name == "string" && row.module != "<string>" => "\"k1\"",
            _ => "other",
        });
    }
    args.join(", ")
}

#[test]
fn every_method_of_a_large_value_is_paid_for() {
    let mut free = Vec::new();
    for (module, head) in receivers() {
        let pairs = format!("let s = range(0, {SIZE}).map({{ x -> pair(\"k\", x) }})");
        for row in TABLES.iter().copied().flatten().filter(|row| row.module == module) {
            let head = if row.name == "to_dict" && module == "<list>" { &pairs } else { &head };
            // A set of pairs is as large; the receiver of the table is a list.
            if row.name == "to_dict" && module == "<set>" {
                continue;
            }
            let call = format!("let t = s.{}({})", row.name, arguments(row));
            match with_little(head, fuel_of(head), &call) {
                Ended::OutOfFuel => {}
                Ended::Done => free.push(row.full_name()),
                Ended::Failed(why) => panic!("{call} of {}: {why}", row.sig),
            }
        }
    }
    free.sort_unstable();
    assert_eq!(free, CONSTANT_TIME);
}

#[test]
fn every_operation_on_a_large_value_is_paid_for() {
    let mut free = Vec::new();
    for (module, operations) in [
        (
            "<list>",
            vec![
                "let t = [...s]",
                "let t = max(...s)",
                "let t = s[1:]",
                "let [a, ...b] = s",
                "var t = s\nt[0] = 1",
                "var t = s\nt = t.push(1)",
                "var t = [s]\nt[0][0] = 1",
                "let t = s == other",
                "let t = -1 in s",
                "let t = s + other",
                "let t = \"${s}\"",
                "let t = [1, ...s, 2]",
                "match s { [0, ...rest] -> { } _ -> { } }",
            ],
        ),
        (
            "<dict>",
            vec![
                "let t = {...s}",
                "let {k1, ...rest} = s",
                "var t = s\nt[\"x\"] = 1",
                "var t = s\nt.x = 1",
                "let t = s == other",
                "let t = s + other",
                "let t = \"${s}\"",
                "for entry in s { break }",
            ],
        ),
        ("<set>", vec!["let t = s == other", "let t = [...s]", "for item in s { break }", "let t = \"${s}\""]),
        (
            "<string>",
            vec![
                "let t = s[1:]",
                "let t = s[19999]",
                "let t = s + other",
                "let t = s == other",
                "let t = s < other",
                "let t = \"x${s}\"",
                "let t = \"x\" in s",
                "let t = s * 2",
            ],
        ),
        ("<bytes>", vec!["let t = s[1:]", "let t = s == other", "for item in s { break }"]),
    ] {
        let (_, head) = receivers().into_iter().find(|(name, _)| *name == module).unwrap();
        let base = fuel_of(&head);
        for operation in operations {
            match with_little(&head, base, operation) {
                Ended::OutOfFuel => {}
                other => free.push(format!("{module} {operation}: {other:?}")),
            }
        }
    }
    assert!(free.is_empty(), "{free:#?}");
}

/// Functions that change a value on a path `n` times, from every kind of place.
const BUILT: [(&str, &str); 6] = [
    ("a local variable", "fn f(n) { var s = {xs: []}\n for i in 1 to n { s.xs = s.xs.push(i) }\n s.xs.count }"),
    ("a global variable", "var s = {xs: []}\nfn f(n) { for i in 1 to n { s.xs = s.xs.push(i) }\n s.xs.count }"),
    (
        "a captured variable",
        "fn f(n) { var s = {xs: []}\n let add = { i -> s.xs = s.xs.push(i) }\n for i in 1 to n { add(i) }\n s.xs.count }",
    ),
    (
        "a struct",
        "struct S { xs: list }\nfn f(n) { var s = S {xs: []}\n for i in 1 to n { s.xs = s.xs.push(i) }\n s.xs.count }",
    ),
    (
        "several keys",
        "fn f(n) { var s = [{a: {b: []}}]\n var k = \"a\"\n for i in 1 to n { s[0][k].b = s[0][k].b.push(i) }\n s[0].a.b.count }",
    ),
    ("another method", "fn f(n) { var s = {d: {}}\n for i in 1 to n { s.d = s.d.set(\"k${i}\", i) }\n s.d.count }"),
];

#[test]
fn a_value_on_a_path_is_not_copied_to_be_changed() {
    const TIMES: usize = 20_000;
    for (what, built) in BUILT {
        let ended = ended(&format!("{built}\nf({TIMES})"), TIMES * CONSTANT);
        assert_eq!(ended, Ended::Done, "{what}");
    }
}
