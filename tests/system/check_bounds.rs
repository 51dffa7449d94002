//! `harn check` ends in bounded time and memory, whatever it is given.

use crate::harn::{root, scratch};
use crate::wait::LIMIT;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Seconds on a processor. The slowest takes a tenth of it in a debug build.
const TIME: u32 = 40;
/// Kilobytes of address space.
const MEMORY: u32 = 1_500_000;

/// Checks a text; what it printed on standard error.
fn check(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(format!("{name}.harn"));
    fs::write(&path, text).unwrap();
    let (harn, path) = (env!("CARGO_BIN_EXE_harn"), path.display());
    // The second limit is only reached by a command that waits.
    let command = format!("ulimit -v {MEMORY} -t {TIME}; exec timeout {} '{harn}' check '{path}'", LIMIT.as_secs());
    let output = Command::new("sh").args(["-c", &command]).current_dir(root()).output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        matches!(output.status.code(), Some(0 | 1)),
        "{name}: {:?} {}",
        output.status,
        err.get(..400).unwrap_or(&err)
    );
    err
}

/// One line for each number.
fn lines(n: usize, line: impl Fn(usize) -> String) -> String {
    (0..n).fold(String::new(), |mut text, i| {
        let _ = writeln!(text, "{}", line(i));
        text
    })
}

#[test]
fn types_that_double_are_cut_off() {
    let folder = scratch("check-types");
    let aliases = |name: &str, of: &str| {
        format!("type {name}0 = {of}\n")
            + &*lines(40, |i| {
                format!("type {name}{} = {{a: {name}{i}, b: list<{name}{i}>, c: fn({name}{i}) -> {name}{i}}}", i + 1)
            })
    };
    let text = aliases("A", "int")
        + &*aliases("B", "string")
        + "fn id<T>(x: T) -> T { return x }\nfn f(x: A40) -> B40 { return id(x) }\nlet y: A39 = f(nil)\n\
           let e = try { f(y) } catch (e: A40) { e }\nprintln(f({a: 1, b: 2}), e)\n";
    check(&folder, "aliases", &text);
    let generic = "type P<T> = {x: T, y: T}\n".to_owned()
        + &*format!("fn f(x: {}int{}) {{ return x }}\nprintln(f(1))\n", "P<".repeat(60), ">".repeat(60));
    check(&folder, "generics", &generic);
    let chain = "type C0 = int\n".to_owned()
        + &*lines(20_000, |i| format!("type C{} = {{a: C{i}}}", i + 1))
        + "fn f(x: C20000) { return x }\nprintln(f(1))\n";
    check(&folder, "chain", &chain);
    let nested = |name: &str| {
        format!("let {name}0 = {{k: 1}}\n")
            + &*lines(60, |i| format!("let {name}{} = {{x: {name}{i}, y: ({name}{i}, [{name}{i}])}}", i + 1))
    };
    let text = nested("a")
        + &*nested("b")
        + "var z = a60\nif z == b60 { z = b60 }\nfn f(w: {k: int}) { return w }\nprintln(f(z))\n";
    check(&folder, "nested", &text);
    let data = "let r0 = {body: \"x\", ttl_turns: 1}\n".to_owned()
        + &*lines(40, |i| format!("let r{} = [r{i}, r{i}]", i + 1))
        + "let o0 = {a: 1}\n"
        + &*lines(40, |i| format!("let o{} = {{...o{i}, ...o{i}}}", i + 1))
        + "agent_loop(\"t\", \"s\", {reminders: {config: {stale: r40}}})\nllm_call(\"t\", \"s\", o40)\n";
    check(&folder, "data", &data);
}

#[test]
fn large_literals_and_matches_are_linear() {
    let folder = scratch("check-large");
    check(&folder, "keys", &format!("let d = {{\n{}}}\nprintln(d.k5)\n", lines(300_000, |i| format!("k{i}: {i},"))));
    check(&folder, "shapes", &format!("let d = [\n{}]\nprintln(d[0])\n", lines(20_000, |i| format!("{{k{i}: {i}}},"))));
    check(
        &folder,
        "spreads",
        &("let a0 = {k: 1}\n".to_owned() + &*lines(1_000, |i| format!("let a{} = {{...a{i}, k{i}: {i}}}", i + 1))),
    );
    check(
        &folder,
        "arms",
        &format!(
            "fn f(x) {{ return match x {{\n{}_ -> 0\n}} }}\nprintln(f(3))\n",
            lines(10_000, |i| format!("{i} -> {i}"))
        ),
    );
    let variants = format!("enum E {{\n{}}}\n", lines(5_000, |i| format!("V{i}")));
    check(
        &folder,
        "variants",
        &(variants
            + &*format!(
                "fn f(x) {{ return match x {{\n{}}} }}\nprintln(f(E.V3))\n",
                lines(5_000, |i| format!("E.V{i} -> {i}"))
            )),
    );
    check(
        &folder,
        "returns",
        &format!(
            "fn f(x) {{\n{}}}\nprintln(f(1))\n",
            lines(5_000, |i| format!("if x == {i} {{ return {{a{i}: {i}}} }}"))
        ),
    );
    check(
        &folder,
        "pattern",
        &format!("let {{{}}} = {{a1: 1}}\nprintln(a1)\n", (0..10_000).map(|i| format!("a{i}, ")).collect::<String>()),
    );
    check(&folder, "string", &format!("let s = \"{}\"\nprintln(s.count)\n", "a".repeat(10_000_000)));
}

#[test]
fn what_is_too_large_is_said_at_its_place() {
    let folder = scratch("check-too-large");
    // Each number is beyond the 65,535 that an operand can hold.
    let parts = "${a}".repeat(66_000);
    let names = lines(66_000, |i| format!("  let x{i} = {i}"));
    for (name, text, place) in [
        ("parts", format!("let a = 1\nprintln(\"{parts}\")\n"), ":2:9 ]"),
        ("variables", format!("fn f() {{\n{names}}}\nf()\n"), ":655"),
    ] {
        let err = check(&folder, name, &text);
        assert!(err.contains("error[HARN-CMP-002]: too many") && err.contains(place), "{}", &err[..400]);
    }
}

#[test]
fn long_bodies_are_linear() {
    let folder = scratch("check-long");
    check(
        &folder,
        "branches",
        &format!(
            "fn f(c) {{\n{}return a1\n}}\nprintln(f(true))\n",
            lines(5_000, |i| format!("var a{i} = {i}\nif c {{ a{i} = \"x\" }}"))
        ),
    );
    check(
        &folder,
        "breaks",
        &format!(
            "fn f(x) {{\nwhile true {{\n{}}}\n}}\nprintln(f(1))\n",
            lines(3_000, |i| format!("var v{i} = 1\nv{i} = 2\nif x == {i} {{ break }}"))
        ),
    );
    check(
        &folder,
        "functions",
        &(lines(10_000, |i| {
            format!("fn f{i}(x: int) -> int {{ return f{}(x) + f{}(x) }}", (i * 7 + 1) % 10_000, (i * 3 + 2) % 10_000)
        }) + "println(f1(1))\n"),
    );
    check(
        &folder,
        "methods",
        &format!(
            "struct S {{ a: int }}\nimpl S {{\n{}}}\nprintln(S {{a: 1}})\n",
            lines(20_000, |i| format!("fn m{}(self) {{ return self.m{i}() }}", i + 1))
        ),
    );
    check(
        &folder,
        "loops",
        &lines(5_000, |i| {
            format!("agent_loop(\"t\", \"s\", {{max_iterations: {i}, reminders: {{config: {{x{i}: {{a: 1}}}}}}}})")
        }),
    );
}

#[test]
fn at_most_a_thousand_findings_are_drawn() {
    let folder = scratch("check-findings");
    for (name, line) in
        [("names", "println(b{i})"), ("types", "println(1 + \"a\")"), ("warnings", "fn f{i}() { let a = 1 }")]
    {
        let text = "\n".repeat(50_000) + &*lines(20_000, |i| line.replace("{i}", &i.to_string()));
        let err = check(&folder, name, &text);
        let drawn = err.lines().filter(|l| l.starts_with("error[") || l.starts_with("warning[")).count();
        assert_eq!(drawn, 1_000, "{name}");
        assert!(err.contains("more diagnostics are not shown"), "{name}");
    }
    // An error is drawn before any warning.
    let err =
        check(&folder, "mixed", &(lines(2_000, |i| format!("fn f{i}() {{ let a = 1 }}")) + "println(1 + \"a\")\n"));
    assert!(err.contains("HARN-TYP-020"));
}
