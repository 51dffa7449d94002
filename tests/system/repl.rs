//! A session of `harn repl` through a pipe: no prompts, values on standard output, pictures on standard error.

use crate::harn::{Outcome, harn_with_input, scratch};

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
    assert!(session(":explain undefined variable\n").out.contains("HARN-NAM-001  error    unknown name\n"));
    assert!(session(":explain rmd050\n").out.contains("unknown code `rmd050`"));
    let found = session(":explain rmd-005\n:quit\nprintln(\"never\")\n");
    assert_eq!(found.code, Some(0));
    assert!(found.out.starts_with("HARN-RMD-005 (error)"), "{}", found.out);
    assert!(!found.out.contains("never"));
    assert!(session(":help\n").out.contains(":explain TOPIC"));
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

#[test]
fn the_last_value_has_a_name() {
    let found = session("20 + 1\n_ * 2\n[1, 2] |> _.count\n_\nlet x = 1\n_\n");
    assert_eq!((found.out.as_str(), found.err.as_str()), ("21\n42\n2\n2\n2\n", ""));
    // Before the first value there is none.
    let found = session("_\n");
    assert_eq!(found.drawn("error"), 1, "{}", found.err);
}

#[test]
fn types_and_signatures_are_shown_without_running() {
    let found = session(":type println(1)\nlet xs = [1]\n:type xs\n:type [1].count + 0.5\n:type nope\n");
    assert_eq!(found.out, "nil\nlist\nfloat\n", "{}", found.err);
    assert_eq!(found.drawn("error"), 1, "{}", found.err);
    for line in [":doc agent_session_open\n", "agent_session_open?\n"] {
        let out = session(line).out;
        assert!(out.starts_with("agent_session_open(id: string? = nil"), "{out}");
    }
    assert!(session(":doc transcript.inject_reminder\n").out.starts_with("transcript.inject_reminder("));
    assert!(session(":doc starts_with\n").out.contains("string.starts_with("));
    assert!(session("let s = \"a\"\n:doc s.upper\n").out.starts_with("string.upper("));
    assert_eq!(session("exit\nquit\n1 + 1\n").out, "Ctrl-D or :quit exits\nCtrl-D or :quit exits\n2\n");
    assert_eq!(session(":doc printn\n").out, "unknown builtin `printn`; did you mean `print`?\n");
    for line in [":doc strptime\n", "strptime?\n"] {
        assert!(session(line).out.starts_with("strptime: use `date_parse(text"), "{}", session(line).out);
    }
    for line in [":doc average\n", "average?\n"] {
        assert!(session(line).out.starts_with("mean\n"), "{}", session(line).out);
    }
    assert!(session(":doc parse a date\n").out.starts_with("date_parse\n"));
    // A name of the session is a value.
    assert_eq!(session("let average = Ok(7)\naverage?\n").out, "7\n");
    assert!(session(":doc\n").out.starts_with(":doc NAME: "));
}

#[test]
fn reminders_are_a_table_with_their_remaining_lifetime() {
    let found = session(
        ":reminders\nlet id = agent_session_open(\"review\")\n\
         agent_session_inject_reminder(id, {body: \"Be brief.\\nReally.\", ttl_turns: 2, tags: [\"style\"]}).deduped_count\n\
         let t = transcript.inject_reminder(transcript(), {body: \"Stay.\", preserve_on_compact: true, dedupe_key: \"k\", propagate: \"none\"}).transcript\n\
         :reminders\n:session\n",
    );
    assert_eq!(
        found.out,
        "no pending reminders\n0\n\
         in      reminder  lifetime       compaction  sub-agents  text\n\
         review  style     2 prompts      discarded   session     Be brief. Really.\n\
         t       k         until cleared  survives    none        Stay.\n\
         name    kind        messages  reminders\n\
         review  session     0         1\n\
         t       transcript  0         1\n",
        "{}",
        found.err
    );
}

#[test]
fn the_next_prompt_is_shown_for_each_provider() {
    let found = session(
        ":prompt\nlet id = agent_session_open(\"review\")\nagent_session_inject(id, {role: \"user\", content: \"Look.\"})\n\
         agent_session_inject_reminder(id, {body: \"Be brief.\", ttl_turns: 2}).deduped_count\n:prompt\n:prompt nobody\n",
    );
    assert!(found.out.starts_with("no sessions\n"), "{}", found.out);
    for provider in ["anthropic", "openai", "gemini"] {
        assert!(found.out.lines().any(|line| line.starts_with("── ") && line.contains(provider)), "{}", found.out);
    }
    assert!(found.out.contains("[user]\nLook.") && found.out.contains("Be brief."), "{}", found.out);
    assert!(found.out.ends_with("unknown session or transcript `nobody`\n"), "{}", found.out);
}

#[test]
fn events_are_listed_by_their_kind() {
    let found = session(":events\nevent_log.emit(\"mine\", \"built\", {ok: true})\n:events bu\n:events nothing\n");
    assert_eq!(found.out, "no records\n1\nmine  built  {\"ok\":true}\nno records\n", "{}", found.err);
}

#[test]
fn statements_are_saved_and_loaded_and_forgotten() {
    let folder = crate::harn::scratch("repl-save");
    let run = |input: &str, env: &[(&str, &str)]| crate::harn::harn_in(&folder, &["repl"], input.as_bytes(), env);
    let found = run("let a = 20\nbroken(\nlet b = [\n1\n]\nnope\n:save kept.harn\n", &[]);
    assert!(found.out.ends_with("statements to kept.harn\n"), "{}", found.out);
    let found = run("fn f(n) {\n return n\n}\nlet a = 20\nnope\n:save kept.harn\n", &[]);
    assert_eq!(found.out, "wrote 2 statements to kept.harn\n", "{}", found.err);
    assert_eq!(std::fs::read_to_string(folder.join("kept.harn")).unwrap(), "fn f(n) {\n return n\n}\nlet a = 20\n");
    let found = run(":load kept.harn\nf(a)\n:reset\na\n:load gone.harn\n", &[]);
    assert!(found.out.starts_with("20\ncannot read gone.harn: "), "{}", found.out);
    assert_eq!(found.drawn("error"), 1, "{}", found.err);
    std::fs::write(folder.join("editor.sh"), "sed -i s/20/30/ \"$1\"\n").unwrap();
    let found = run("let a = 20\n:edit\na\n", &[("VISUAL", "sh editor.sh")]);
    assert_eq!((found.out.as_str(), found.err.as_str()), ("30\n", ""));
    assert_eq!(run(":edit\n", &[]).out, "set VISUAL or EDITOR to the command of an editor\n");
}

#[test]
fn options_and_time_are_shown() {
    let found = session(":set depth 1\n[[1]]\n:set depth none\n:time 1 + 1\n");
    let lines: Vec<&str> = found.out.lines().collect();
    assert_eq!(lines[0], "[[…]]", "{}", found.out);
    assert!(lines[1].starts_with(":set [OPTION VALUE]"), "{}", found.out);
    assert_eq!(lines[2], "2");
    assert!(lines[3].starts_with("took ") && lines[3].ends_with(" ms"), "{}", found.out);
}

#[test]
fn a_failed_loop_is_reported_after_its_statement_once() {
    let failing = "{reminders: false, llm_caller: { asked -> throw \"out of order\" }}";
    let input = format!(
        "let r = agent_loop(\"go\", nil, {failing})\nr.status\nr.error.category\n(agent_loop(\"go\", nil, {failing})?).text\n"
    );
    let found = session(&input);
    assert_eq!((found.code, found.out.as_str()), (Some(0), "\"error\"\n\"script\"\n"), "{}", found.err);
    assert_eq!((found.drawn("warning"), found.drawn("error")), (1, 1), "{}", found.err);
    // The second loop is an error of its statement.
    assert_eq!(found.err.matches("the agent loop failed: out of order").count(), 2, "{}", found.err);
}

#[test]
fn a_name_whose_statement_was_not_carried_out_says_so() {
    let found = session("let n = 1 / 0\nn + 1\nlet n = 4\nn + 1\nlet k = 1\nlet k = [k][1]\nk\n");
    assert_eq!((found.code, found.out.as_str()), (Some(0), "5\n"), "{}", found.err);
    for name in ["n", "k"] {
        let message = format!("`{name}` was not set: its statement failed");
        assert_eq!(found.err.matches(&message).count(), 1, "{message}: {}", found.err);
        let help = format!("help: enter its statement again, for example `let {name} = …`");
        assert!(found.err.contains(&help), "{help}: {}", found.err);
    }
    // One that was not run, and an assignment that gives a value after all.
    let found = session("let m = nope()\nm\nvar v = [1][3]\nv = 3\nv\nunknown\n");
    assert_eq!(found.out, "3\n", "{}", found.err);
    assert!(found.err.contains("`m` was not set: its statement has errors and was not run"), "{}", found.err);
    assert!(!found.err.contains("`v` was not set"), "{}", found.err);
    assert!(found.err.contains("unknown name `unknown`"), "{}", found.err);
    // A file that is imported does not see the names of the session.
    let folder = scratch("repl-unset");
    std::fs::write(folder.join("imported.harn"), "println(q)\n").unwrap();
    let imports = format!("import \"{}\"\n", folder.join("imported.harn").display());
    let found = session(&format!("let q = [1][3]\n{imports}"));
    assert!(found.err.contains("unknown name `q`") && !found.err.contains("`q` was not set"), "{}", found.err);
    // A statement that is refused changes nothing.
    let found = session("let m = 1\nlet m = nope()\nm\n");
    assert_eq!(found.out, "1\n", "{}", found.err);
}
