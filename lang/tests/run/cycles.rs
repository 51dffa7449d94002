//! Cycles of reference counts: what a script ties into a knot is let go when its run ends.

use super::iterators::{call, finish, function, isolate};
use lang::value::{HostBox, HostObject};
use lang::vm::Limits;
use std::any::Any;
use std::rc::Rc;

/// Tells whether it is still held, through the count of what it holds.
struct Witness(#[allow(dead_code)] Rc<()>);

impl HostObject for Witness {
    fn type_name(&self) -> &'static str {
        "witness"
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Returns the number of witnesses that are left after a run, when its isolate is gone too.
fn left_over(text: &str) -> usize {
    let count = Rc::new(());
    let isolate = isolate(Limits::default());
    let body = function(&isolate, &format!("return {text}"));
    let (value, _) = finish(&mut call(&isolate, &body, [HostBox::value(Witness(count.clone()))]));
    drop((value, body));
    drop(isolate);
    Rc::strong_count(&count) - 1
}

#[test]
fn knots_are_untied_at_the_end_of_a_run() {
    let knots = [
        // A closure in the variable that it captures.
        "{ w ->\n  var f = nil\n  f = { n -> n == 0 ? w : f(n - 1) }\n  f(3)\n  nil\n}",
        // Two closures that hold each other.
        "{ w ->\n  var even = nil\n  var odd = nil\n  even = { n -> n == 0 ? w : odd(n - 1) }\n  odd = { n -> even(n) }\n  even(4)\n  nil\n}",
        // Functions in a block that call each other.
        "{ w ->\n  fn a(n) { return n == 0 ? w : b(n - 1) }\n  fn b(n) { return a(n) }\n  a(2)\n  nil\n}",
        // A closure in a collection in its variable.
        "{ w ->\n  var d = {}\n  d.f = { -> [w, d] }\n  d.list = [d, { -> d }]\n  nil\n}",
        // A generator that captures the variable that holds it, before its first item, in the middle, and at its end.
        "{ w ->\n  var g = nil\n  let make = { ->\n    yield w\n    yield g\n  }\n  g = make()\n  nil\n}",
        "{ w ->\n  var g = nil\n  let make = { ->\n    let mine = [w, g]\n    yield mine\n    yield g\n  }\n  g = make()\n  g.next()\n  nil\n}",
        "{ w ->\n  var g = nil\n  let make = { ->\n    yield w\n    return g\n  }\n  g = make()\n  g.count()\n  nil\n}",
        // A variable of a generator's own body that holds it.
        "{ w ->\n  let make = { me ->\n    var own = me\n    let show = { -> [own, w] }\n    yield { x -> own = x }\n    yield show\n  }\n  let g = make(nil)\n  let set = g.next().value\n  set(g)\n  nil\n}",
        // An iterator that its own adaptor's function holds.
        "{ w ->\n  var it = nil\n  it = [1, 2].iter().map({ x -> [x, w, it] })\n  nil\n}",
        "{ w ->\n  var it = [w].iter()\n  it = it.flat_map({ x -> [x, { -> it }] }).enumerate()\n  it.next()\n  nil\n}",
        "{ w ->\n  var it = nil\n  it = [1, 2, 3].iter().map({ x -> [w, it] }).windows(2)\n  it.next()\n  it = nil\n}",
        // An error on its way out.
        "{ w ->\n  var f = nil\n  try {\n    f = { -> throw [w, f] }\n    f()\n  } catch e { f = { -> e } }\n  nil\n}",
    ];
    let mut failed = Vec::new();
    for text in knots {
        failed.extend((left_over(text) > 0).then_some(text));
    }
    assert!(failed.is_empty(), "held for ever:\n{}", failed.join("\n"));
}

#[test]
fn what_is_tied_to_nothing_is_let_go_at_once() {
    let count = Rc::new(());
    let isolate = isolate(Limits::default());
    let body = function(
        &isolate,
        "return { w ->\n  let make = { -> yield w }\n  let g = make()\n  g.next()\n  [w].iter().map({ x -> [x, w] }).first()\n  nil\n}",
    );
    finish(&mut call(&isolate, &body, [HostBox::value(Witness(count.clone()))]));
    assert_eq!(Rc::strong_count(&count), 1);
}
