//! Programs that guard what they use: `check` accepts all of them, and they run without an error.

use crate::harn::{harn, scratch};
use std::fmt::Write as _;
use std::fs;

/// A generator of random numbers: the same ones on every machine.
struct SeededRandom(u64);

impl SeededRandom {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % n as u64).unwrap()
    }

    fn one<'t>(&mut self, of: &[&'t str]) -> &'t str {
        of[self.below(of.len())]
    }
}

/// A function that reads a key only where a test says that it is an int.
fn program(random: &mut SeededRandom, number: usize) -> String {
    // Whether the key is there and of which type; `P` is the path to it, `O` the dict that holds it.
    let value = random.one(&["", "key: nil, ", "key: 7, ", "key: \"text\", "]);
    let (literal, holder) = match random.below(3) {
        0 => (format!("{{{value}name: \"a\"}}"), "cfg"),
        1 => (format!("{{sub: {{{value}name: \"a\"}}}}"), "cfg.sub"),
        _ => (format!("{{sub: {{part: {{{value}n: 1}}}}, on: true}}"), "cfg.sub.part"),
    };
    let path = match random.below(3) {
        0 => format!("{holder}[\"key\"]"),
        1 => format!("{holder}[k]"),
        _ => format!("{holder}.key"),
    };
    let is_text = value.contains("text");
    let test = if is_text {
        random.one(&["type_of(P) == \"int\"", "\"int\" == type_of(P)"])
    } else {
        random.one(&[
            "P != nil",
            "nil != P",
            "!(P == nil)",
            "P",
            "type_of(P) == \"int\"",
            "O.has(\"key\") && P != nil",
            "\"key\" in O && P != nil",
            "O.keys().contains(\"key\") && P != nil",
            "O.get(\"key\") != nil",
            "is_number(P)",
            "P != nil && P > 0",
            "has_key(O)",
        ])
    };
    let used = random.one(&["P + 1", "1 - P", "take(P)", "P * P", "-P", "[P].sum()", "[1].map({ x -> x + P }).first"]);
    let form = random.one(&[
        "  if T { return U }\n  return 0\n",
        "  if !(T) { return 0 }\n  return U\n",
        "  guard T else { return 0 }\n  return U\n",
        "  return T ? U : 0\n",
        "  var n = 0\n  if T { n = U } else { n = 1 }\n  return n\n",
        "  let found = T\n  if found { return U }\n  return 0\n",
        "  guard T else { return 0 }\n  fn inner() { return U }\n  return inner()\n",
        "  if T {\n    let g = { -> U }\n    return g()\n  }\n  return 0\n",
        "  var turns = 0\n  while T && turns < 2 {\n    turns = turns + (U) - (U) + 1\n  }\n  return turns\n",
        "  return match true {\n    _ if T -> U\n    _ -> 0\n  }\n",
        "  if true && (T) { return U }\n  return 0\n",
        "  if !(T) || U == 0 { return 1 }\n  return U\n",
    ]);
    let body = form.replace('T', test).replace('U', used).replace('P', &path).replace('O', holder);
    format!("fn p{number}(k = \"key\") {{\n  let cfg = {literal}\n{body}}}\n")
}

/// Values that have one of two forms, and the tests that tell them apart: every form lists what
/// only the first, and what only the second has.
const EITHER: &[(&str, &str, &[&str])] = &[
    (
        "{ok: true, value: 7}",
        "{ok: false, error: \"no\"}",
        &[
            "  return r.ok ? r.value + 1 : r.error.count\n",
            "  return !r.ok ? r.error.count : r.value - 1\n",
            "  return (r.ok == true) ? r.value + 1 : r.error.count\n",
            "  if r.ok { return -r.value }\n  return r.error.count\n",
            "  if !r.ok { return r.error.count }\n  return take(r.value)\n",
            "  guard r.ok else { return r.error.count }\n  return r.value * 2\n",
            "  return match r.ok {\n    true -> r.value + 1\n    false -> r.error.count\n  }\n",
            "  return match r {\n    {ok: true, value} -> value + 1\n    {error} -> error.count\n  }\n",
            "  if r.has(\"value\") { return r.value - 1 }\n  return r.error.count\n",
            "  if \"error\" in r { return r.error.count }\n  return r.value - 1\n",
            "  if r.value != nil { return r.value - 1 }\n  return r.error.count\n",
            "  if r.error { return r.error.count }\n  return r.value - 1\n",
            "  let fine = r.ok\n  return fine ? r.value + 1 : r.error.count\n",
            "  let {ok, value, error} = r\n  return ok ? value + 1 : error.count\n",
            "  let g = { e -> e.ok ? e.value + 1 : e.error.count }\n  return g(r)\n",
            "  return [r].filter({ e -> e.ok }).map({ e -> e.value + 1 }).count\n",
        ],
    ),
    (
        "{kind: \"start\", n: 1}",
        "{kind: \"end\", text: \"t\"}",
        &[
            "  if r.kind == \"start\" { return r.n + 1 }\n  return r.text.count\n",
            "  if r.kind != \"start\" { return r.text.count }\n  return r.n - 1\n",
            "  return \"end\" == r.kind ? r.text.count : r.n - 1\n",
            "  return match r.kind {\n    \"start\" -> r.n * 2\n    \"end\" -> r.text.count\n    _ -> 0\n  }\n",
            "  return match r {\n    {kind: \"start\", n} -> n + 1\n    {kind: \"end\", text} -> text.count\n    _ -> 0\n  }\n",
            "  if [\"start\"].contains(r.kind) { return r.n + 1 }\n  return r.text.count\n",
            "  let kind = r.kind\n  if kind == \"start\" { return r.n + 1 }\n  return r.text.count\n",
            "  for e in [r] {\n    if e.kind == \"end\" { continue }\n    return e.n + 1\n  }\n  return 0\n",
        ],
    ),
    (
        "7",
        "\"text\"",
        &[
            "  return type_of(r) == \"int\" ? r + 1 : r.count\n",
            "  if type_of(r) != \"int\" { return r.count }\n  return take(r)\n",
            "  return match type_of(r) {\n    \"int\" -> r - 1\n    _ -> r.count\n  }\n",
            "  let kind = type_of(r)\n  if kind == \"string\" { return r.count }\n  return r - 1\n",
            "  guard type_of(r) == \"int\" else { return r.count }\n  return -r\n",
            "  if is_number(r) { return r - 1 }\n  return r.count\n",
            "  return match r {\n    n if type_of(n) == \"int\" -> n - 1\n    text -> text.count\n  }\n",
        ],
    ),
    (
        "{n: 7}",
        "nil",
        &[
            "  return r != nil ? r.n + 1 : 0\n",
            "  if r { return r.n - 1 }\n  return 0\n",
            "  if r == nil { return 0 }\n  return r.n - 1\n",
            "  return (r?.n ?? 0) + 1\n",
            "  return match r {\n    nil -> 0\n    other -> other.n + 1\n  }\n",
            "  return match r {\n    {n} -> n - 1\n    _ -> 0\n  }\n",
            "  guard r != nil else { return 0 }\n  return { -> r.n - 1 }()\n",
            "  guard r else { return 0 }\n  return take(r.n)\n",
            "  let sure = r ?? {n: 1}\n  return sure.n - 1\n",
            "  while r != nil { return r.n + 1 }\n  return 0\n",
        ],
    ),
];

/// A function with a value of two kinds, which it tells apart before it looks into it.
fn either(random: &mut SeededRandom, number: usize) -> String {
    let (first, second, forms) = EITHER[random.below(EITHER.len())];
    let (one, other) = if random.below(2) == 0 { (first, second) } else { (second, first) };
    let start = match random.below(5) {
        0 => format!("  let r = flag ? {one} : {other}\n"),
        1 => format!("  var r = {one}\n  if !flag {{ r = {other} }}\n"),
        2 => format!("  let r = if flag {{ {one} }} else {{ {other} }}\n"),
        3 => format!("  let made = {{ -> flag ? {one} : {other} }}\n  let r = made()\n"),
        _ => format!("  let r = [{one}, {other}][flag ? 0 : 1]\n"),
    };
    let body = random.one(forms);
    format!("fn p{number}(flag = {}) {{\n{start}{body}}}\n", random.below(2) == 0)
}

const HELPERS: &str = "fn take(n: int) -> int { return n }
fn is_number(v) { return type_of(v) == \"int\" }
fn is_text(v) { return type_of(v) == \"string\" }
fn has_key(d) { return d.key != nil }
";

#[test]
fn guarded_programs_are_accepted() {
    accepted("narrowing", program);
}

#[test]
fn programs_that_tell_two_kinds_apart_are_accepted() {
    accepted("either", either);
}

/// Runs and checks a thousand programs.
fn accepted(name: &str, program: fn(&mut SeededRandom, usize) -> String) {
    let mut random = SeededRandom(19);
    let folder = scratch(name);
    for file in 0..40 {
        let mut text = HELPERS.to_owned();
        for number in 0..25 {
            text.push_str(&program(&mut random, number));
        }
        for number in 0..25 {
            let _ = writeln!(text, "p{number}()");
        }
        let path = folder.join(format!("{file}.harn"));
        fs::write(&path, &text).unwrap();
        let path = path.to_string_lossy();
        let ran = harn(&["run", &*path]);
        assert_eq!(ran.code, Some(0), "{path} does not run:\n{}", ran.err);
        let checked = harn(&["check", &*path]);
        assert!(checked.err.is_empty(), "{path}:\n{}", checked.err);
    }
}
