//! Values that are far larger than the memory they take, given to every builtin and operator: each call ends soon, in little
//! memory, with a result or a diagnostic.
//!
//! The calls are made from the table of builtins. One process makes them one after the other until a limit ends it; the next
//! process continues after the call that was running then.

use crate::harn::{root, scratch};
use crate::wait::ended;
use lang::ast::BinaryOp;
use std::fmt::Write;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use stdlib::builtins;

/// Rows that are not called here, each with its reason. `*` means all of a namespace.
const LEFT_OUT: &[(&str, &str, &str)] = &[
    ("", "exit", "it ends the run"),
    ("<control>", "*", "they are what the syntax is made of, and no names that it has"),
];

const OPERATORS: [BinaryOp; 14] = [
    BinaryOp::Add,
    BinaryOp::Sub,
    BinaryOp::Mul,
    BinaryOp::Div,
    BinaryOp::Rem,
    BinaryOp::Pow,
    BinaryOp::Eq,
    BinaryOp::Ne,
    BinaryOp::Lt,
    BinaryOp::Le,
    BinaryOp::Gt,
    BinaryOp::Ge,
    BinaryOp::In,
    BinaryOp::NotIn,
];

/// Values that doubled in each of 64 steps.
const DOUBLED: &str = "var h = [1]\nfor i in range(0, 64) { h = [h, h] }\nvar other = [1]\n\
                       for i in range(0, 64) { other = [other, other] }\n";
const RANGE: &str = "var h = 0 to 9223372036854775807\nvar other = 1 to 9223372036854775807\n";
const TEXT: &str = "var h = \"x\".repeat(100000000)\nvar other = h\n";

/// The result of an ended process.
struct MeasuredExit {
    code: Option<i32>,
    out: String,
    err: String,
    /// Time on the processor, in milliseconds.
    cpu_ms: u64,
    /// The most memory it held, in KiB.
    most_kib: u64,
}

/// Runs a script under the limits, among them so many seconds.
fn run(file: &Path, seconds: u32) -> MeasuredExit {
    let [out, err] = ["out", "err"].map(|extension| file.with_extension(extension));
    let mut command = Command::new(env!("CARGO_BIN_EXE_harn"));
    command
        .args(["run", "--seed", "1", "--timeout", &format!("{seconds}s"), "--max-memory", "256m"])
        .args(["--deny", "fs.read,fs.write,process,net,env"])
        .arg(file)
        .current_dir(root())
        .env_clear()
        .env("HARN_LLM_PROVIDER", "mock")
        .stdin(Stdio::null())
        .stdout(File::create(&out).unwrap())
        .stderr(File::create(&err).unwrap());
    let mut child = command.spawn().unwrap();
    let (mut cpu_ms, mut most_kib) = (0, 0);
    let code = ended(&mut child, |child| {
        (cpu_ms, most_kib) = used(child.id()).map_or((cpu_ms, most_kib), |(cpu, most)| (cpu, most.max(most_kib)));
    });
    // A call may print all of a huge text: the beginning of each line is kept.
    let read = |path: &Path| -> String {
        let lines = BufReader::new(File::open(path).unwrap()).split(b'\n').map(Result::unwrap);
        lines.map(|line| String::from_utf8_lossy(&line[..line.len().min(1000)]).into_owned() + "\n").collect()
    };
    MeasuredExit { code, out: read(&out), err: read(&err), cpu_ms, most_kib }
}

/// Returns a process's usage so far: CPU time in milliseconds, and peak memory in KiB.
fn used(process: u32) -> Option<(u64, u64)> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
    // `utime` and `stime`, in hundredths of a second.
    let ticks: u64 = fields.get(11..13)?.iter().filter_map(|field| field.parse::<u64>().ok()).sum();
    Some((ticks * 10, most.trim().trim_end_matches(" kB").parse().ok()?))
}

/// The call that was at work when the process ended.
fn last(err: &str) -> &str {
    err.lines().rev().find_map(|line| line.strip_prefix("> ")).unwrap_or("before the first call")
}

/// The most time of the processor that a call may take, in milliseconds. A walk over the bytes of a text, which release builds
/// do a hundred times faster, may run on in a debug build.
const MOST_MS: u64 = if cfg!(debug_assertions) { 9_000 } else { 3_000 };

fn check(ended: &MeasuredExit, what: &str) {
    assert!(matches!(ended.code, Some(0 | 1 | 3)), "{what} ended with {:?}: {}", ended.code, ended.err);
    assert!(ended.cpu_ms <= MOST_MS, "{what} took {} ms", ended.cpu_ms);
    assert!(ended.most_kib <= 400 << 10, "{what} held {} KiB", ended.most_kib);
}

/// Returns a task of a hub.
const LEASED: &str = r#"fn leased() {
  let broker = hub.local({agent: "me"})
  broker.publish("x", {queue: "walks"})
  return broker.claim("walks")
}
"#;

/// A receiver of the methods of a type.
fn receiver(module: &str) -> &'static str {
    match module {
        "<list>" => "[h, other]",
        "<dict>" => "{a: h, b: other}",
        "<string>" => "\"${h}\"",
        "<int>" => "7",
        "<float>" => "1.5",
        "<bytes>" => "\"ab\".to_bytes()",
        "<set>" => "set(h, other)",
        "<range>" => "(0 to 9223372036854775807)",
        "<iter>" => "iter([h, other])",
        "<generator>" => "made()",
        "<stream>" => "streamed()",
        "<pair>" => "pair(h, other)",
        "<type>" => "list<any>",
        "<variant>" => "Ok(h)",
        "<hub>" => "hub.local({agent: \"me\"})",
        "<hub_task>" => "leased()",
        // No daemon serves the script.
        "<channel_connection>" => "channel.open()",
        _ => panic!("there is no receiver for {module}"),
    }
}

/// Every way in which the value is given to something.
fn calls() -> Vec<(String, String)> {
    let mut calls = vec![("interpolation".to_owned(), "\"${h}\"".to_owned())];
    for op in OPERATORS {
        for (a, b) in
            [("h", "h"), ("h", "other"), ("h", "[other, h]"), ("{a: h}", "{a: other}"), ("set(h)", "set(other)")]
        {
            calls.push((format!("{a} {} {b}", op.symbol()), format!("{a} {} {b}", op.symbol())));
        }
    }
    for row in builtins() {
        if LEFT_OUT.iter().any(|(module, name, _)| *module == row.module && ["*", row.name].contains(name)) {
            continue;
        }
        let most = usize::from(if row.arity.rest { row.arity.max.max(2) } else { row.arity.max });
        // The value itself, where it is an option, and where it is handed to a function.
        for given in ["h", "options", "{ x, y -> h }"] {
            let mut args = vec![given; most];
            let call = if row.is_method() {
                args[0] = receiver(row.module);
                if row.property && most == 1 {
                    format!("({}).{}", args[0], row.name)
                } else {
                    format!("({}).{}({})", args[0], row.name, args[1..].join(", "))
                }
            } else {
                format!("{}({})", row.full_name(), args.join(", "))
            };
            calls.push((format!("{} with {given}", row.full_name()), call));
            if most == usize::from(row.is_method()) {
                break;
            }
        }
        // The other arguments are as they should be, as far as that can be said: only the first is not.
        if !row.is_method() && most > 1 && row.arity.min <= 1 {
            calls.push((format!("{} with one", row.full_name()), format!("{}(h)", row.full_name())));
        }
    }
    calls
}

fn every_call_ends(name: &str, head: &str) {
    let folder = scratch(&format!("walks-{name}"));
    let calls = calls();
    assert!(calls.len() > 500, "{}", calls.len());
    let (mut at, mut processes, mut seconds) = (0, 0, 1);
    while at < calls.len() {
        // As parameters the values are of no known type: `check` would refuse many of the calls.
        let mut script = format!("fn made() {{ yield 1 }}\n{LEASED}gen fn streamed() {{ emit 1 }}\n{head}");
        script.push_str("fn all(h: any, other: any, options: any) {\n");
        for (i, (_, call)) in calls.iter().enumerate().skip(at) {
            writeln!(script, "eprintln(\"> {i}\")\ntry {{ let r = {call} }} catch (e) {{ }}").unwrap();
        }
        script.push_str("}\nall(h, other, {text: h, content: h, messages: h})\n");
        let file = folder.join("calls.harn");
        fs::write(&file, script).unwrap();
        let ended = run(&file, seconds);
        let reached = last(&ended.err).parse::<usize>().ok();
        // On a busy machine, the time may be over before the first call.
        if reached.is_none() && ended.err.contains("error[HARN-LIM-002]") && seconds < 60 {
            seconds *= 2;
            continue;
        }
        let what = reached.map_or("the start", |i| &calls[i].0);
        check(&ended, what);
        assert!(ended.code == Some(0) || reached.is_some(), "{name}: {}", ended.err);
        // A call may end the run: because of a limit, or because it rejects the task.
        let is_told = ended.err.contains("error[HARN-LIM") || ended.err.contains("\nrejected: ");
        assert!(ended.code == Some(0) || is_told, "{name}, {what}: {}", ended.err);
        at = if ended.code == Some(0) { calls.len() } else { reached.map_or(calls.len(), |i| i + 1) };
        processes += 1;
    }
    println!("{name}: {} calls, {processes} processes", calls.len());
}

#[test]
fn every_builtin_and_operator_ends_with_a_value_that_doubled_64_times() {
    every_call_ends("doubled", DOUBLED);
}

#[test]
fn every_builtin_and_operator_ends_with_a_huge_range() {
    every_call_ends("range", RANGE);
}

#[test]
fn every_builtin_and_operator_ends_with_a_huge_text() {
    every_call_ends("text", TEXT);
}

/// Scripts that must end by themselves, with their output.
const EXACT: &[(&str, &str, &str)] = &[
    ("same", "println(h == h, h == other, h != [h])", "true true true\n"),
    ("in", "println(h in [other], [other].contains(h), [1, other].index_of(h))", "true true 1\n"),
    ("unique", "println([h, other, h].unique().count, set(h, other).count)", "1 1\n"),
    (
        "sum",
        "let r = 0 to 9223372036854775807\nprintln((1 to 4294967295).sum(), r.min(), r.max(), min(r), max(r))",
        "9223372034707292160 0 9223372036854775807 0 9223372036854775807\n",
    ),
    ("spread", "try { let xs = [...(0 to 9223372036854775807)] } catch (e) { println(e.code) }", "HARN-RUN-017\n"),
    (
        "json-of-a-range",
        "try { json_stringify(0 to 9223372036854775807) } catch (e) { println(e.code, e.help) }",
        "HARN-RUN-017 use its bounds instead: `{from: …, to: …}`\n",
    ),
    (
        "data-of-a-range",
        "try { llm_mock({tool_calls: [{id: \"1\", name: \"n\", arguments: {a: 0 to 9223372036854775807}}]}) } catch (e) { println(e.code) }",
        "HARN-RUN-017\n",
    ),
    ("range-of-json", "println(json_stringify(1 to 3))", "[1,2,3]\n"),
];

#[test]
fn comparing_shared_parts_and_summing_ranges_takes_no_time() {
    let folder = scratch("walks-exact");
    for (name, script, wanted) in EXACT {
        let file = folder.join(format!("{name}.harn"));
        fs::write(&file, format!("{DOUBLED}{script}\n")).unwrap();
        let ended = run(&file, 60);
        check(&ended, name);
        assert_eq!((ended.code, ended.out.as_str()), (Some(0), *wanted), "{name}: {}", ended.err);
    }
}

/// Calls that a limit ends, or that are refused.
const ENDED: &[(&str, &str)] = &[
    ("to-string", "println(to_string(h))"),
    ("println", "println(h)"),
    ("join", "println([h].join(\",\"))"),
    ("sort", "println([h, other].sort().count)"),
    ("json", "println(json_stringify(h))"),
    ("data", "llm_mock({tool_calls: [{id: \"1\", name: \"n\", arguments: {a: h}}]})"),
    (
        "regex-many-searches",
        r#"var parts = []
var x = 12345
for i in 0 to 20000 exclusive {
  x = (x * 1103515245 + 12345) % 2147483648
  parts = parts.push((x / 65536) % 2 == 0 ? "a" : "b")
}
println(regex_match(r"a(?:[ab]*a[ab]{300}z)?", parts.join("")).count)"#,
    ),
    ("regex-marks", r#"println(regex_replace("", r"$none" * 4000000, "a" * 2000).count)"#),
    ("regex-pattern", r#"println(regex_match("x".repeat(100000000), "x"))"#),
    ("print", "let t = \"x\".repeat(100000000)\nprint(t, t)"),
    ("path-join", "let t = \"x\".repeat(100000000)\nprintln(path_join(t, t).count)"),
    ("hook-event", r#"register_session_hook("x".repeat(100000000), { event -> nil })"#),
    ("hook-pattern", r#"register_tool_hook({pattern: "x".repeat(100000000), pre: { event -> nil }})"#),
    ("session", r#"agent_session_push_bridge_injection("x".repeat(100000000), {body: "b", mode: "finish_step"})"#),
    ("regex-search", r#"println(regex_match("[ab]*a[ab]{5000}\\d", "ab".repeat(500000)))"#),
    ("regex-groups", r#"println(regex_captures("(a)".repeat(6000), "a".repeat(600000)).count)"#),
    ("regex-rows", r#"println(regex_captures("(a)".repeat(150), "a".repeat(6000000)).count)"#),
    ("regex-parts", r#"println(regex_replace("([ab]*)a([ab]{4000})\\d", "$1", "ab".repeat(500000)).count)"#),
    ("regex", "println(regex_replace(\"(a+)\", \"$1\".repeat(10000), \"a\".repeat(1000000)).count)"),
];

#[test]
fn what_cannot_end_is_ended_by_a_limit() {
    let folder = scratch("walks-ended");
    for (name, script) in ENDED {
        let file = folder.join(format!("{name}.harn"));
        fs::write(&file, format!("{DOUBLED}{script}\n")).unwrap();
        let ended = run(&file, 1);
        check(&ended, name);
        assert_ne!(ended.code, Some(0), "{name}: {}", ended.out);
        let codes = ["HARN-LIM-001", "HARN-LIM-002", "HARN-RUN-013", "HARN-RUN-017", "HARN-SES-001"];
        let is_told = codes.iter().any(|code| ended.err.contains(&format!("error[{code}]")));
        assert!(is_told, "{name}: {}", ended.err);
        assert!(ended.out.len() < 100, "{name}: a part of it was printed");
    }
}

#[test]
fn an_uncaught_value_is_printed_cut() {
    let folder = scratch("walks-uncaught");
    for (name, thrown) in [
        ("doubled", "h"),
        ("pair", "pair(h, h)"),
        ("dict", "{message: \"x\".repeat(10000000)}"),
        ("text", "\"x\".repeat(10000000)"),
        ("err", "Err(h)"),
    ] {
        let file = folder.join(format!("{name}.harn"));
        fs::write(&file, format!("{DOUBLED}throw {thrown}\n")).unwrap();
        let ended = run(&file, 60);
        check(&ended, name);
        assert_eq!(ended.code, Some(1), "{name}: {}", ended.err);
        assert!(ended.err.contains("HARN-RUN-001") || ended.err.contains("uncaught"), "{name}: {}", ended.err);
        assert!(ended.err.len() < 100_000, "{name}: {} bytes", ended.err.len());
    }
}
