//! Tasks: what scripts alone cannot show.

use super::driver::{block_on, block_on_with};
use super::run;
use lang::vm::{Context, Fiber, close, drive, run_by};
use std::rc::Rc;

#[track_caller]
fn prints(text: &str, expected: &str) {
    let out = run(text);
    assert_eq!(out.trim_end(), expected.trim_end(), "\n{out}");
}

#[test]
fn ten_thousand_tasks_wait_side_by_side() {
    prints("let xs = parallel 10000 { i -> sleep(10000 - i)\n i }\nprintln(xs.sum())", "49995000");
}

#[test]
fn tasks_run_while_others_wait() {
    prints(
        "let a = spawn { sleep(20)\n println(\"a\")\n 1 }\nlet b = spawn { sleep(10)\n println(\"b\")\n 2 }\nprintln(await(a) + await(b))",
        "b\na\n3",
    );
}

/// Everything that waits, in three workers side by side; each `+` line has its `-` line, whatever happens in between.
const WORKERS: &str = r#"
let ch = channel("ch", 9)
let tight = channel("tight", 1)
let quiet = channel("quiet", 1)
let sent = atomic(0)
let received = atomic(0)

fn guarded(name) {
  mutex {
    println("+ guard ${name}")
    defer { println("- guard ${name}") }
    sleep(2)
  }
}

fn worker(i) {
  println("+ worker ${i}")
  defer { println("- worker ${i}") }
  guarded(i)
  for m in 1 to 3 {
    send(tight, m)
    atomic_add(sent, 1)
  }
  for m in 1 to 2 {
    send(ch, m)
    atomic_add(sent, 1)
    sleep(1)
    receive(ch)
    atomic_add(received, 1)
  }
  try {
    deadline 5 {
      guarded("under a deadline ${i}")
      sleep(10)
    }
  } catch e { println("passed ${i}") }
  let inner = spawn { guarded("inner ${i}") }
  try { await(inner) } finally {
    sleep(1)
    println("finally ${i}")
  }
  select {
    m from quiet { println("never") }
    timeout 3 { println("timeout ${i}") }
  }
  parallel each [1, 2] { x -> guarded("item ${i} ${x}") }
}

fn drain() {
  for m in tight {
    atomic_add(received, 1)
    sleep(1)
  }
}

let workers = [1, 2, 3].map({ i -> spawn { worker(i) } })
let sink = spawn { drain() }
workers.for_each({ w -> await(w) })
close_channel(tight)
await(sink)

pipeline after() {
  guarded("after")
  var left = 0
  while try_receive(ch) != nil { left += 1 }
  while try_receive(tight) != nil { left += 1 }
  println("balance ${atomic_get(sent) - atomic_get(received) - left}")
}
"#;

/// Runs the workers, one step at a time, and cancels the main task before step `k`; what was printed, and whether the end
/// was reached before.
fn cancelled_at(k: u64) -> (String, bool) {
    let (isolate, host, unit) = super::loaded(WORKERS);
    let context = Rc::new(Context::default());
    let fiber = Fiber::new(&isolate, &context, super::closure(&unit.main), []).expect("main takes nothing");
    let mut finished = true;
    let main = run_by(&isolate, &context.task, 1, drive(fiber));
    let outcome = block_on_with(main, |polls| {
        if polls == k {
            finished = false;
            context.task.cancel(&isolate, "the test says so");
        }
    });
    // What was done at that moment is done.
    assert!(outcome.is_ok() || !finished, "step {k}: {outcome:?}");
    block_on(close(&isolate, &context.task));
    let entry = unit.pipelines.first().expect("there is one");
    let proto = isolate.function(entry.function).expect("it is compiled");
    super::finish(&isolate, super::closure(&proto)).expect("what comes after works");
    let out = host.out.borrow().clone();
    (out, finished)
}

#[test]
fn a_cancellation_at_any_point_leaves_nothing_half_done() {
    let mut points = 0;
    for k in 1.. {
        let (out, finished) = cancelled_at(k);
        let count = |line: &str| out.lines().filter(|l| *l == line).count();
        for line in out.lines().filter(|l| l.starts_with("+ ")) {
            let closed = format!("-{}", &line[1..]);
            assert_eq!((count(line), count(&closed)), (1, 1), "cancelled at step {k}: {line}\n{out}");
        }
        assert!(out.contains("balance 0\n"), "cancelled at step {k}\n{out}");
        if finished {
            assert!(count("finally 1") == 1 && count("timeout 3") == 1 && count("- guard item 3 2") == 1, "{out}");
            break;
        }
        points = k;
    }
    assert!(points > 60, "only {points} points");
}

#[test]
fn work_grows_with_the_number_of_tasks_and_no_faster() {
    let polls = |n: usize| {
        let text = format!(
            "let ch = channel(\"ch\", 0)\nlet h = spawn {{ var n = 0\n for x in ch {{ n += x }}\n n }}\nparallel {n} {{ i -> sleep(5)\n send(ch, 1) }}\nclose_channel(ch)\nprintln(await(h))"
        );
        let (isolate, host, unit) = super::loaded(&text);
        let context = Rc::new(Context::default());
        let fiber = Fiber::new(&isolate, &context, super::closure(&unit.main), []).expect("main takes nothing");
        let mut polls = 0;
        block_on_with(run_by(&isolate, &context.task, 1, drive(fiber)), |n| polls = n).expect("nothing fails");
        assert_eq!(host.out.borrow().trim(), n.to_string());
        polls
    };
    let (few, many) = (polls(100), polls(1000));
    assert!(many < few * 11, "{few} polls for 100 tasks, {many} for 1000");
    assert!(many < 10_000, "{many} polls for 1000 tasks");
}

#[test]
fn a_fiber_that_is_dropped_unlocks_what_it_holds() {
    prints(
        "fn guarded(ms) { mutex { sleep(ms)\n \"inside\" } }\ncall_and_drop({ -> deadline 10 { guarded(1000) } })\nprintln(guarded(1))\nsleep(50)\nprintln(\"no deadline is left\")",
        "inside\nno deadline is left",
    );
}

#[test]
fn values_of_any_shape_cross() {
    prints(
        "var deep = nil\nfor i in 1 to 100000 { deep = [deep] }\nlet h = spawn { deep.count() }\nprintln(await(h))",
        "1",
    );
    prints(
        "fn f() {\n  var n = 0\n  let up = { -> n += 1\n n }\n  var shared = [up, up]\n  for i in 1 to 40 { shared = [shared, shared] }\n  let h = spawn {\n    up()\n    var s = shared\n    for i in 1 to 40 { s = s[0] }\n    s[1]()\n  }\n  return [await(h), n]\n}\nprintln(f())",
        "[2, 0]",
    );
    let out = run(
        "fn f() {\n  var n = 0\n  var deep = { -> n += 1 }\n  for i in 1 to 1000 { deep = [deep] }\n  await(spawn { deep })\n}\nf()",
    );
    assert!(out.contains("HARN-RUN-017"), "{out}");
}

#[test]
fn a_chain_of_handles_is_dropped_without_a_deep_stack() {
    prints(
        "var h = spawn { nil }\nfor i in 1 to 20000 {\n  let last = h\n  h = spawn { last }\n  await(h)\n}\nh = nil\nprintln(\"done\")",
        "done",
    );
}

#[test]
fn a_deadlock_while_cleaning_up_ends_with_the_grace() {
    prints(
        "let ch = channel(\"ch\", 1)\nspawn { defer { receive(ch) }\n sleep(100000) }\nsleep(1)\nprintln(\"main is done\")",
        "main is done",
    );
}

#[test]
fn the_deadlock_says_who_waits_where() {
    let out = run("let ch = channel(\"jobs\", 1)\nlet h = spawn {\n  receive(ch)\n}\nawait(h)");
    assert!(
        out.contains("HARN-RUN-031: deadlock: all tasks are waiting, and nothing can wake any of them at 5:1"),
        "{out}"
    );
}
