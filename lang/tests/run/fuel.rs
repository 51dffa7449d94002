//! Fuel: a run pays for its own work, whatever else its thread has done.

use super::{closure, driver::Bench, finish};
use lang::builtins::Registry;
use lang::script::{Options, load};
use lang::source::Source;
use lang::vm::{Isolate, Limits};
use std::rc::Rc;

/// Prints texts of so many bytes until the fuel is used up. Returns the number of lines.
fn lines_until_the_end(bytes: usize) -> usize {
    let host = Rc::new(Bench::default());
    let limits = Limits { fuel: Some(20_000), ..Limits::default() };
    let isolate = Isolate::new(Registry::new(super::GROUPS), host.clone(), limits, Vec::new());
    let text = format!("let text = \"x\".repeat({bytes})\nfor n in 0 to 20000 {{ println(n, text) }}\n");
    let loaded = load(&isolate, &Source::new("test.harn", text), Options::default());
    let unit = loaded.unit.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
    let raise = finish(&isolate, closure(&unit.main)).expect_err("the fuel is used up");
    assert!(raise.message.contains("fuel limit"), "{}", raise.message);
    host.out.borrow().lines().count()
}

#[test]
fn a_run_does_not_pay_for_the_walks_of_another() {
    let alone = lines_until_the_end(4_000);
    for before in [70, 640, 6_400, 50_000] {
        lines_until_the_end(before);
        assert_eq!(lines_until_the_end(4_000), alone, "after texts of {before} bytes");
    }
}

#[test]
fn a_walk_pays_for_its_steps_and_no_more() {
    // Making the text takes 2,500. Each line takes a step for 64 bytes, and some 8 for the loop.
    assert_eq!(lines_until_the_end(40_000), (20_000 - 2_500) / (625 + 8));
}
