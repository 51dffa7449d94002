//! Rhai scripts that nest values without an end, and functions of Rhai's library whose callback fails: neither ends the
//! process, and no failure is lost.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;

use crate::harn::{Outcome, harn, scratch};

fn run(name: &str, script: &str, args: &[&str]) -> Outcome {
    let file = scratch(&format!("rhai-contained-{name}")).join("script.rhai");
    fs::write(&file, script).unwrap();
    let mut all = vec!["run"];
    all.extend(args);
    all.push(file.to_str().unwrap());
    harn(&all)
}

#[test]
fn values_that_are_nested_without_an_end_reach_a_limit() {
    let nested = [
        ("captured", "let f = |x| x;\nloop { let g = f; f = |x| g.call(x); }"),
        ("captured-list", "let a = [];\nloop { let b = [a]; let f = || b; a = [f]; }"),
        ("captured-lists", "let f = |x| x;\nloop { let b = [[[[[[[[[[[[[[[[[[[[f]]]]]]]]]]]]]]]]]]]]; f = || b; }"),
        ("captured-maps", "let f = |x| x;\nloop { let b = #{a: #{a: #{a: #{a: f}}}}; f = || b; }"),
        ("pairs", "let a = 1;\nloop { a = pair(a, 1); }"),
        (
            "curried",
            "fn id(a, x) { x }\nlet f = Fn(\"id\").curry(1);\nloop { let g = f; let h = || g; f = h.curry(1); }",
        ),
    ];
    for (name, script) in nested {
        // The second is more than a stack of 256 MiB had room for.
        for limits in [["--fuel", "200000"], ["--max-memory", "192m"]] {
            let ended = run(name, script, &limits);
            assert_eq!(ended.code, Some(3), "{name} {limits:?}: {}", ended.err);
            assert!(ended.err.contains("limit of"), "{name}: {}", ended.err);
        }
    }
}

#[test]
fn lists_and_maps_in_lists_and_maps_reach_a_limit() {
    // Each step copies what is there, so that the depth stays small.
    for (name, script) in [
        ("list", "let a = [];\nloop { a = [a]; }"),
        ("pushed", "let a = [];\nloop { let b = []; b.push(a); a = b; }"),
        ("map", "let a = #{};\nloop { a = #{k: a}; }"),
        ("set", "let a = #{};\nloop { let b = #{}; b.x = a; a = b; }"),
    ] {
        let ended = run(name, script, &["--fuel", "3000"]);
        assert_eq!(ended.code, Some(3), "{name}: {}", ended.err);
    }
}

/// Returns the functions of Rhai's arrays and maps that take a callback, as calls of `it` with `CALLBACK` in its place.
fn callers() -> BTreeSet<(String, String)> {
    let (_, text) = stdlib::rhai_definitions().into_iter().find(|(name, _)| name.contains("__static__")).unwrap();
    let mut taken: Vec<(String, Vec<String>)> = Vec::new();
    for line in text.lines() {
        let Some((name, rest)) = line.strip_prefix("fn ").and_then(|line| line.split_once('(')) else { continue };
        let Some((params, _)) = rest.split_once(')') else { continue };
        let types = params.split(", ").filter_map(|param| Some(param.split_once(": ")?.1.to_owned()));
        taken.push((name.to_owned(), types.collect()));
    }
    let is_callback = |name: &str, types: &[String], at: usize| match types[at].as_str() {
        "Fn" => true,
        // The name of a function: there is the same with the function itself.
        "string" => {
            let mut with_function = types.to_vec();
            with_function[at] = "Fn".to_owned();
            taken.contains(&(name.to_owned(), with_function))
        }
        _ => false,
    };
    let mut calls = BTreeSet::new();
    for (name, types) in &taken {
        let receiver = match types.first().map(String::as_str) {
            Some("array") => "[3, 1, 2, 2]",
            Some("map") => "#{a: 1, b: 2}",
            _ => continue,
        };
        // Their first argument is a list of replies, which they check first.
        if name.starts_with("with_llm_") {
            continue;
        }
        let Some(at) = (1..types.len()).find(|at| is_callback(name, types, *at)) else { continue };
        let args: Vec<&str> = (1..types.len())
            .map(|place| match types[place].as_str() {
                "Fn" if place == at => "FUNCTION",
                "string" if place == at => "NAME",
                "array" => "[1, 2, 3, 4]",
                _ => "0",
            })
            .collect();
        calls.insert((receiver.to_owned(), format!("{name}({})", args.join(", "))));
    }
    calls
}

/// Returns the calls with functions and names of functions of up to three parameters, whose body is given.
fn variants(call: &str, body: &str) -> Vec<(String, String)> {
    let params = ["", "x", "x, y", "x, y, z"];
    let filled = |(count, params): (usize, &&str)| {
        let head = format!("fn callback_{count}({params}) {{ {body} }}");
        let function = format!("|{params}| {{ {body} }}");
        (head, call.replace("FUNCTION", &function).replace("NAME", &format!("\"callback_{count}\"")))
    };
    params.iter().enumerate().map(filled).collect()
}

#[test]
fn no_function_of_rhai_loses_the_error_of_its_callback() {
    let calls = callers();
    let names: BTreeSet<&str> = calls.iter().filter_map(|(_, call)| call.split('(').next()).collect();
    for name in ["sort", "sort_by", "order", "dedup", "map", "filter", "reduce", "retain", "drain", "zip"] {
        assert!(names.contains(name), "{name} of {names:?}");
    }
    assert!(calls.len() > 40, "{}", calls.len());
    let mut script = String::new();
    for (number, (receiver, call)) in calls.iter().enumerate() {
        // Which numbers of parameters a callback can have, only the call shows: it must have been called with one of them.
        for (count, (_, call)) in variants(call, "print(\"called CASE\"); throw \"lost\"").into_iter().enumerate() {
            let case = format!("{number}-{count}");
            let call = call.replace("CASE", &case).replace("callback_", &format!("callback_{number}_"));
            writeln!(script, "try {{ let it = {receiver}; it.{call}; print(\"ended {case}\"); }} catch (e) {{ }}")
                .unwrap();
        }
        for (count, (head, _)) in variants(call, "print(\"called CASE\"); throw \"lost\"").into_iter().enumerate() {
            let head = head.replace("CASE", &format!("{number}-{count}"));
            writeln!(script, "{}", head.replace("callback_", &format!("callback_{number}_"))).unwrap();
        }
    }
    let found = run("errors", &script, &[]);
    assert_eq!(found.code, Some(0), "{}", found.err);
    for (number, (_, call)) in calls.iter().enumerate() {
        let cases: Vec<String> = (0..4).map(|count| format!("{number}-{count}")).collect();
        let has = |what: &str, case: &String| found.out.lines().any(|line| line == format!("{what} {case}"));
        assert!(cases.iter().any(|case| has("called", case)), "{call} does not call its callback");
        for case in cases {
            assert!(!(has("called", &case) && has("ended", &case)), "{call} lost the error of its callback");
        }
    }
}

#[test]
fn no_function_of_rhai_loses_a_limit_or_an_exit_in_its_callback() {
    for (number, (receiver, call)) in callers().into_iter().enumerate() {
        for (body, args, code) in [("loop {}", ["--fuel", "20000"], 3), ("exit(7)", ["--fuel", "20000"], 7)] {
            let codes: Vec<_> = variants(&call, body)
                .into_iter()
                .map(|(head, call)| {
                    let script = format!("{head}\nlet it = {receiver};\nit.{call};\nprint(\"went on\");");
                    let ended = run(&format!("limits-{number}"), &script, &args);
                    (ended.code, ended.out)
                })
                .collect();
            assert!(codes.iter().any(|(found, _)| *found == Some(code)), "{call} with {body}: {codes:?}");
        }
    }
}

#[test]
fn a_sort_is_stable_and_changes_nothing_if_it_fails() {
    let script = "let a = [[2, 0], [1, 0], [2, 1], [1, 1]];\nprint(a.order(|x, y| x[0] - y[0]));\n\
                  print(a.order(|x, y| x[0] < y[0]));\nlet n = 0;\n\
                  try { a.sort(|x, y| { n += 1; if n > 2 { throw \"no\" } x[0] - y[0] }); } catch { }\nprint(a);\n\
                  try { a.sort(|x, y| \"x\"); } catch (e) { print(e); }";
    let found = run("stable", script, &[]);
    let sorted = "[[1, 0], [1, 1], [2, 0], [2, 1]]\n";
    let message = "a comparer must return an integer or a bool, found string\n";
    assert_eq!(found.out, format!("{sorted}{sorted}[[2, 0], [1, 0], [2, 1], [1, 1]]\n{message}"), "{}", found.err);
}
