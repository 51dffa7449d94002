//! A session of `harn repl --rhai` through a pipe: no prompts, values on standard output, pictures on standard error.

use crate::harn::{Outcome, harn_in, harn_with_input, root, scratch};
use std::io::Write;
use std::process::{Command, Stdio};

fn session(input: &str) -> Outcome {
    harn_with_input(&["repl", "--rhai", "--seed", "1"], input.as_bytes(), &[])
}

/// Each piece and what it prints; nothing on standard error.
fn agrees(input: &str, out: &str) {
    let found = session(input);
    assert_eq!((found.code, found.out.as_str(), found.err.as_str()), (Some(0), out, ""), "{input}");
}

#[test]
fn variables_stay_between_pieces_and_values_are_printed() {
    agrees("let a = 20;\nlet b = a + 1;\nb += 1;\nb\nlet a = \"new\";\na\n", "22\n\"new\"\n");
    agrees("const A = 1;\nA + 1\n[A, #{b: ()}, 2.5, 'c']\n", "2\n[1, {b: nil}, 2.5, \"c\"]\n");
}

#[test]
fn functions_stay_and_the_newest_counts() {
    agrees("fn twice(x) { x * 2 }\ntwice(4)\nfn four(x) { twice(twice(x)) }\nfour(1)\n", "8\n4\n");
    agrees("fn f() { 1 }\nf()\nfn f() { 2 }\nf()\nfn f(x) { x }\nf() + f(3)\n", "1\n2\n5\n");
}

#[test]
fn closures_stay_with_what_they_captured() {
    agrees("let n = 1;\nlet add = |x| x + n;\nn = 10;\nadd.call(5)\n[1, 2].map(add)\n", "15\n[11, 12]\n");
    let input = "let seen = [];\nregister_session_hook(\"session_start\", |e| { seen.push(e.task); });\n\
                 agent_loop(\"go\", (), #{provider: \"mock\"}).status\nseen\n";
    agrees(input, "\"done\"\n[\"go\"]\n");
}

#[test]
fn imports_stay() {
    let folder = scratch("repl-rhai-imports");
    std::fs::write(folder.join("shapes.rhai"), "fn area(a, b) { a * b }\nexport const SIDES = 4;\n").unwrap();
    let input = "import \"shapes\" as shapes;\nshapes::area(2, 3)\nshapes::SIDES\n";
    let found = harn_in(&folder, &["repl", "--rhai"], input.as_bytes(), &[]);
    assert_eq!((found.out.as_str(), found.err.as_str()), ("6\n4\n", ""));
}

#[test]
fn an_unfinished_piece_goes_on_in_the_next_line() {
    agrees("let xs = [\n1,\n2,\n];\nif xs.len() == 2 {\nprintln(\"two\");\n}\n", "two\n");
    agrees("fn f(\nx\n) {\nx + 1\n}\nf(\n1\n)\n", "2\n");
    agrees("let t = `one\n${1 +\n1}`;\nt\nlet m = #{\na: 1\n};\nm.a +\n1\n", "\"one\\n2\"\n2\n");
    agrees("let f = |x| {\nx + 1\n};\nf.call(1)\nlet y =\n3;\ny\n", "2\n3\n");
}

#[test]
fn an_error_is_drawn_and_the_session_goes_on() {
    let found =
        session("let n = 4;\nn / 0\nn + totl\nn + )\nthrow \"mine\"\nagent_session_length(\"nobody\")\nn + 1\n");
    assert_eq!((found.code, found.out.as_str()), (Some(0), "5\n"), "{}", found.err);
    assert_eq!(found.drawn("error"), 5, "{}", found.err);
    assert!(found.err.contains("mine") && found.err.contains("HARN-SES-001"), "{}", found.err);
    assert!(found.err.contains("repl[3].rhai:1:5"), "{}", found.err);
}

#[test]
fn what_was_bound_before_an_error_stays() {
    let found = session("let a = 1; let b = 2; throw 3;\na + b\n");
    assert_eq!((found.code, found.out.as_str()), (Some(0), "3\n"), "{}", found.err);
}

#[test]
fn an_error_in_a_function_of_an_earlier_piece_shows_that_piece() {
    let found = session("fn deep(x) {\n  agent_session_length(x)\n}\nlet a = 1;\ndeep(\"nobody\")\n");
    assert!(found.err.contains("repl[1].rhai:2:"), "{}", found.err);
}

#[test]
fn what_is_never_finished_is_said() {
    let found = session("println(1);\nprintln((2)\n");
    assert_eq!((found.code, found.out.as_str()), (Some(0), "1\n"));
    assert_eq!(found.drawn("error"), 1, "{}", found.err);
}

#[test]
fn commands_and_exit_are_those_of_the_other_language() {
    let found = session(":explain rmd-005\n:quit\nprintln(\"never\")\n");
    assert!(found.out.starts_with("HARN-RMD-005 (error)") && !found.out.contains("never"), "{}", found.out);
    let found = session("println(1);\nexit(7);\nprintln(2);\n");
    assert_eq!((found.code, found.out.as_str()), (Some(7), "1\n"));
}

#[test]
fn a_transcript_can_be_looked_at_step_by_step() {
    let input = "let t = transcript::inject_reminder(transcript(), #{body: \"Be brief.\", ttl_turns: 1}).transcript;\n\
                 transcript::reminders(t).len()\n\
                 transcript::clear_reminders(t, #{tag: \"none\"}).removed_count\n\
                 sleep(60000); now_ms() - 1735689600000\n";
    agrees(input, "1\n0\n60000\n");
}

/// Ctrl-C ends the piece that runs, its endless loop or its wait, and nothing else.
#[test]
fn a_signal_ends_a_piece_and_not_the_session() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_harn"));
    command.args(["repl", "--rhai"]).current_dir(root()).env("HARN_LLM_PROVIDER", "mock");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"let kept = 1;\nprintln(\"begun\"); loop { kept += 0; }\n").unwrap();
    let mut output = child.stdout.take().unwrap();
    let mut begun = [0; 6];
    std::io::Read::read_exact(&mut output, &mut begun).unwrap();
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    input.write_all(b"kept + 41\nprintln(\"waiting\"); sleep(600000)\n").unwrap();
    let mut waiting = [0; 11];
    std::io::Read::read_exact(&mut output, &mut waiting).unwrap();
    assert_eq!(&waiting, b"42\nwaiting\n");
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    input.write_all(b"kept + 2\n").unwrap();
    drop(input);
    let mut rest = String::new();
    std::io::Read::read_to_string(&mut output, &mut rest).unwrap();
    assert_eq!((rest.as_str(), child.wait().unwrap().code()), ("3\n", Some(0)));
}

#[test]
fn a_name_whose_statement_failed_says_so() {
    let found = session("let n = 1 / 0;\nn + 1\nlet n = 4;\nn + 1\n");
    assert_eq!((found.code, found.out.as_str()), (Some(0), "5\n"), "{}", found.err);
    assert!(found.err.contains("`n` was not set: its statement failed"), "{}", found.err);
}
