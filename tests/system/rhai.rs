//! Scripts in Rhai that are made here, or need real time.

use crate::harn::{harn, scratch};

/// Returns the output of a script with the system's clock.
fn printed(name: &str, script: &str) -> String {
    let file = scratch(&format!("rhai-{name}")).join("script.rhai");
    std::fs::write(&file, script).unwrap();
    let outcome = harn(&["run", file.to_str().unwrap()]);
    format!("{}{}", outcome.out, outcome.err)
}

#[test]
fn a_long_file_does_what_a_short_one_does() {
    let mut script = "fn twice(n) { n * 2 }\nlet kept = 5;\nlet name = switch kept {\n".to_owned();
    for n in 0..5_000 {
        script.push_str(&format!("  {n} => \"case {n} of many\",\n"));
    }
    script.push_str(
        "};\nprint(name);\nprint([1, 2].group_by(|n| twice(n) + kept));\nlet f = |n| { sleep(1); kept += n; kept };\n\
         print([1, 2].map(f));\nprint([3].min_by(f));\nfn main(args) { print(args); exit(3); }\n",
    );
    assert!(script.len() > 100_000);
    let file = scratch("rhai-long").join("script.rhai");
    std::fs::write(&file, script).unwrap();
    let outcome = harn(&["run", file.to_str().unwrap()]);
    assert_eq!(outcome.out, "case 5 of many\n#{\"7\": [1], \"9\": [2]}\n[6, 8]\n3\n[]\n", "{}", outcome.err);
    assert_eq!((outcome.code, outcome.err.as_str()), (Some(3), ""));
}

#[test]
fn a_long_chain_of_closures_is_dropped_without_a_deep_stack() {
    let script = "let f = || 0;\nfor i in 0..100000 { let g = f; f = || g; }\n\
                  register_session_hook(\"session_end\", f);\nprint(\"kept\");";
    assert_eq!(printed("chain", script), "kept\n");
}

#[test]
fn a_loop_without_an_end_lets_others_have_their_turn() {
    let script = "let done = atomic(0);\nspawn_(|| { sleep(20); atomic_set(done, 1); });\nwhile atomic_get(done) == 0 {}\n\
                  print(\"seen\");";
    assert_eq!(printed("turns", script), "seen\n");
}

#[test]
fn a_loop_without_an_end_is_ended_by_a_deadline() {
    let script = "try { deadline(20, || { while true {} }); } catch (e) { print(e.message); }";
    assert_eq!(printed("deadline", script), "deadline of 20ms exceeded\n");
}

#[test]
fn a_loop_without_an_end_is_ended_when_its_task_is_cancelled() {
    let script = "let task = spawn_(|| { try { while true {} } catch { print(\"caught\"); } });\nsleep(5);\ncancel(task);\n\
                  try { await_(task); } catch (e) { print(e.code); }";
    assert_eq!(printed("cancel", script), "HARN-RUN-033\n");
}
