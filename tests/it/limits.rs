//! Runs that grow without an end: whatever it is that grows, the run ends with its diagnostic, and nothing catches it.
//! Where exactly they end is the allocator's affair, so there are no pictures of it.

use crate::harn::{harn, scratch};
use std::fs;

/// Scripts that want all the memory there is.
const GREEDY: &[(&str, &str)] = &[
    ("string", "var text = \"ab\"\nwhile true { text = text + text }"),
    ("interpolation", "var text = \"ab\"\nwhile true { text = \"${text}${text}\" }"),
    ("list", "var items = []\nwhile true { items = items.push(\"item ${items.count}\") }"),
    ("list-doubled", "var items = [1]\nwhile true { items += items }"),
    ("spread", "var items = [1]\nwhile true { items = [...items, ...items] }"),
    ("dict", "var seen = {}\nvar n = 0\nwhile true {\n  seen[\"key ${n}\"] = n\n  n += 1\n}"),
    ("set", "var seen = set()\nvar n = 0\nwhile true {\n  seen = seen.add(n)\n  n += 1\n}"),
    ("copies", "let base = (1 to 100000).to_list()\nvar copies = []\nwhile true { copies += [base + [0]] }"),
    ("slices", "let base = (1 to 100000).to_list()\nvar slices = []\nwhile true { slices = slices.push(base[1:]) }"),
    ("paths", "var d = {rows: []}\nwhile true { d.rows = d.rows + [\"x\".repeat(100000)] }"),
    ("flat-map", "var xs = [1, 2]\nwhile true { xs = xs.flat_map({ x -> [x, x, x] }) }"),
    (
        "closures",
        "var kept = []\nfor n in 1 to 100000000 {\n  let text = \"${n}\".repeat(1000)\n  kept = kept.push({ -> text })\n}",
    ),
    ("recursion", "fn down(n) { return 1 + down(n + 1) }\ndown(0)"),
    ("chars", "let text = \"x\".repeat(20000000)\nprintln(text.chars().count)"),
    ("json", "let text = \"[\" + \"0,\".repeat(12000000) + \"0]\"\nprintln(json_parse(text).count)"),
];

#[test]
fn whatever_grows_ends_with_the_limit_of_memory() {
    let dir = scratch("limits-memory");
    for (name, script) in GREEDY {
        let path = dir.join(format!("{name}.harn"));
        let caught = format!(
            "println(\"before\")\ntry {{\n{script}\n}} catch {{ println(\"caught\") }} finally {{ println(\"finally\") }}\n"
        );
        fs::write(&path, caught).unwrap();
        let args = ["run", "--max-memory", "32m", "--max-depth", "100000000", path.to_str().unwrap()];
        let outcome = harn(&args);
        assert_eq!((outcome.code, outcome.out.as_str()), (Some(3), "before\n"), "{name}: {}", outcome.err);
        assert_eq!(outcome.drawn("error"), 1, "{name}: {}", outcome.err);
        assert!(
            outcome.err.contains("HARN-LIM-001") && outcome.err.contains("--max-memory"),
            "{name}: {}",
            outcome.err
        );
    }
}

#[test]
fn the_limit_of_memory_is_that_of_what_is_held() {
    let path = scratch("limits-held").join("held.harn");
    // Two gigabytes pass through, in every way in which a value can go.
    let script = "var total = 0\nvar kept = []\nfor i in 1 to 2000 {\n  let text = \"x\".repeat(1000000)\n  kept = [text]\n  \
                  total += kept[0].count\n}\nprintln(total)\n";
    fs::write(&path, script).unwrap();
    let outcome = harn(&["run", "--max-memory", "16m", path.to_str().unwrap()]);
    assert_eq!((outcome.code, outcome.out.as_str()), (Some(0), "2000000000\n"), "{}", outcome.err);
}

#[test]
fn sizes_and_times_are_read_with_their_units() {
    let path = scratch("limits-units").join("empty.harn");
    fs::write(&path, "").unwrap();
    let path = path.to_str().unwrap();
    for (option, value) in
        [("--max-memory", "64 MiB"), ("--max-memory", "1g"), ("--timeout", "500ms"), ("--timeout", "1h")]
    {
        assert_eq!(harn(&["run", option, value, path]).code, Some(0), "{option} {value}");
    }
    for (option, value) in [("--max-memory", "64 apples"), ("--timeout", "10"), ("--max-depth", "0"), ("--fuel", "0")] {
        let outcome = harn(&["run", option, value, path]);
        assert_eq!(outcome.code, Some(2), "{option} {value}: {}", outcome.err);
    }
}
