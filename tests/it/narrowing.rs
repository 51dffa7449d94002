//! Programs that guard what they use: `check` accepts all of them, and they run without an error.

use crate::harn::{harn, scratch};
use std::fmt::Write as _;
use std::fs;

/// A generator of random numbers: the same ones on every machine.
struct Seeded(u64);

impl Seeded {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % n as u64).unwrap()
    }

    fn one<'t>(&mut self, of: &[&'t str]) -> &'t str {
        of[self.below(of.len())]
    }
}

/// A function that reads a key only where a test says that it is an int.
fn program(random: &mut Seeded, number: usize) -> String {
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

const HELPERS: &str = "fn take(n: int) -> int { return n }
fn is_number(v) { return type_of(v) == \"int\" }
fn is_text(v) { return type_of(v) == \"string\" }
fn has_key(d) { return d.key != nil }
";

#[test]
fn guarded_programs_are_accepted() {
    let mut random = Seeded(19);
    let folder = scratch("narrowing");
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
