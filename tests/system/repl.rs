//! A session of `harn repl` through a pipe: no prompts, values on standard output, pictures on standard error.

use crate::harn::{Outcome, harn_with_input};

fn session(input: &str) -> Outcome {
    harn_with_input(&["repl", "--seed", "1"], input.as_bytes(), &[])
}

#[test]
fn statements_share_their_names_and_values_are_printed() {
    let found = session("let a = 20\nvar b = a + 1\nb += 1\nb\nfn twice(x) { return x * 2 }\ntwice(b)\n");
    assert_eq!((found.code, found.out.as_str(), found.err.as_str()), (Some(0), "22\n44\n", ""));
}

#[test]
fn an_unfinished_statement_goes_on_in_the_next_line() {
    let found = session("let xs = [\n1,\n2,\n]\nif xs.count == 2 {\nprintln(\"two\")\n}\n");
    assert_eq!((found.code, found.out.as_str(), found.err.as_str()), (Some(0), "two\n", ""));
}

#[test]
fn an_error_is_drawn_and_the_session_goes_on() {
    let found = session("let n = 4\nn / 0\nn + totl\nn + 1\n");
    assert_eq!((found.code, found.out.as_str()), (Some(0), "5\n"));
    assert_eq!(found.drawn("error"), 2, "{}", found.err);
    assert!(found.err.contains("HARN-RUN-003") && found.err.contains("HARN-NAM-001"), "{}", found.err);
}

#[test]
fn what_is_never_finished_is_said() {
    let found = session("println(1)\nprintln((2)\n");
    assert_eq!((found.code, found.out.as_str()), (Some(0), "1\n"));
    assert_eq!(found.drawn("error"), 1, "{}", found.err);
}

#[test]
fn commands_explain_help_and_leave() {
    let found = session(":explain rmd-005\n:quit\nprintln(\"never\")\n");
    assert_eq!(found.code, Some(0));
    assert!(found.out.starts_with("HARN-RMD-005 (error)"), "{}", found.out);
    assert!(!found.out.contains("never"));
    assert!(session(":help\n").out.contains(":explain CODE"));
    assert_eq!(session(":quti\n").out, "unknown command `:quti`; did you mean `:quit`?\n");
}

#[test]
fn exit_ends_the_session_with_its_code() {
    let found = session("println(1)\nexit(7)\nprintln(2)\n");
    assert_eq!((found.code, found.out.as_str()), (Some(7), "1\n"));
}

#[test]
fn a_transcript_can_be_looked_at_step_by_step() {
    let input = "let t = transcript.inject_reminder(transcript(), {body: \"Be brief.\", ttl_turns: 1}).transcript\n\
                 transcript.reminders(t).count\n\
                 transcript.clear_reminders(t, {tag: \"none\"}).removed_count\n";
    let found = session(input);
    assert_eq!((found.out.as_str(), found.err.as_str()), ("1\n0\n", ""));
}

#[test]
fn what_a_refused_piece_says_of_a_method_is_not_called() {
    let found = session(
        "struct S { a: int }\nimpl S { fn old(self) { return 1 } }\nlet s = S {a: 1}\nimpl S { fn old(self) { return nope } }\ns.old()\n\
         impl S { fn new(self) { return nope } }\ntry { s.new() } catch (e) { nil }\ns.old() + 1\nimpl S { fn old(self) { return 5 } }\n\
         s.old()\n",
    );
    assert_eq!((found.code, found.out.as_str()), (Some(0), "1\n2\n5\n"), "{}", found.err);
}
