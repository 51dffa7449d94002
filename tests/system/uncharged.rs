//! Operations that copy or walk a whole value use fuel in proportion to it: a loop of few large ones ends at the limit of fuel.

use crate::harn::{root, scratch};
use std::fs;
use std::process::{Command, Output};

const LIST: &str = "var s = range(0, 200000).map({ x -> x })\nlet other = s.map({ x -> x })";
const DICT: &str = "var d = range(0, 50000).map({ x -> pair(\"k${x}\", x) }).to_dict()";
const SET: &str = "let st = range(0, 200000).to_set()";
const TEXT: &str = "var s = \"x\".repeat(20000000)\nlet u = \"é\".repeat(10000000)";

/// Operations that go through all of a value, each with what makes the value.
const OPERATIONS: &[(&str, &str)] = &[
    (LIST, "let t = [...s]"),
    (LIST, "let t = max(...s)"),
    (LIST, "let t = s[1:]"),
    (LIST, "let t = s.concat([1])"),
    (LIST, "let t = s.pop()"),
    (LIST, "let t = s.insert(0, 1)"),
    (LIST, "let t = s.remove_at(0)"),
    (LIST, "s = s.insert(0, 1)"),
    (LIST, "s = s.remove_at(0)"),
    (LIST, "let [a, ...b] = s"),
    (LIST, "let t = s\ns = s.push(1)"),
    (LIST, "let t = s\ns[0] = 1"),
    (LIST, "let t = s + [1]"),
    (LIST, "let t = s.take(199999)"),
    (LIST, "let t = s == other"),
    (DICT, "let t = {...d}"),
    (DICT, "let {k1, ...r} = d"),
    (DICT, "let t = d\nd[\"x\"] = 1"),
    (DICT, "for e in d { break }"),
    (SET, "let t = st.add(-1)"),
    (SET, "let t = st.remove(1)"),
    (SET, "let t = st.is_subset(st)"),
    (SET, "let t = st.union([1])"),
    (SET, "let t = st.intersect(st)"),
    (SET, "let t = st.difference(st)"),
    (SET, "let t = [...st]"),
    (SET, "for e in st { break }"),
    (TEXT, "let t = s[1:]"),
    (TEXT, "let t = u[1:]"),
    (TEXT, "let t = u.char_at(9999999)"),
    (TEXT, "let t = u.substring(9999998)"),
    (TEXT, "let t = s.starts_with(s)"),
    (TEXT, "let t = s.ends_with(s)"),
    (TEXT, "let t = path_join(s, s)"),
    (TEXT, "let t = s + \"y\""),
    (TEXT, "let t = format(\"{}\", s)"),
    (TEXT, "let t = s.capitalize()"),
    (TEXT, "let t = s.pad(30000000)"),
    (TEXT, "let t = url_encode(s)"),
    (TEXT, "let t = hex_encode(s)"),
    (LIST, "let t = shuffle(s)"),
    (LIST, "let t = median(s)"),
];

/// Instructions of a run: more than any of the values takes to make, and than 400 instructions of the loop.
const FUEL: &str = "4000000";

fn run(name: &str, make: &str, operation: &str) -> Output {
    let file = scratch(&format!("uncharged-{name}")).join("a.harn");
    fs::write(
        &file,
        format!("{make}\nprint(\"made\")\nfor i in range(0, 1000) {{\n{operation}\n}}\nprint(\"ended\")\n"),
    )
    .unwrap();
    Command::new(env!("CARGO_BIN_EXE_harn"))
        .args(["run", "--fuel", FUEL, "--max-memory", "2g"])
        .arg(&file)
        .current_dir(root())
        .env_clear()
        .env("HARN_LLM_PROVIDER", "mock")
        .output()
        .unwrap()
}

#[test]
fn what_goes_through_a_whole_value_uses_fuel() {
    let mut free = Vec::new();
    for (index, (make, operation)) in OPERATIONS.iter().enumerate() {
        let output = run(&index.to_string(), make, operation);
        let [out, err] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned());
        if out != "made" || !err.contains("fuel limit of 4000000 instructions reached") {
            free.push(format!("{operation}: {out}{}", err.lines().take(8).collect::<Vec<_>>().join("\n")));
        }
    }
    assert!(free.is_empty(), "these use no fuel for what they go through:\n{}", free.join("\n"));
}

#[test]
fn a_loop_without_large_values_stays_below_that_limit() {
    let output = run("small", "var s = [1]", "let t = [...s]\ns[0] = i");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "madeended");
}
