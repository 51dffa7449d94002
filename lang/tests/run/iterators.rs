//! Iterators where scripts cannot look: slices, limits, fibers that are given up, host values that make one wait.

use super::corrupted::Random;
use super::driver::Bench;
use super::{GROUPS, run};
use lang::builtins::Registry;
use lang::script::{Options, load};
use lang::source::Source;
use lang::value::{Closure, HostBox, HostObject, Status, Value, display};
use lang::vm::{Context, Exit, Fiber, Isolate, Limits, Next, Wait};
use std::any::Any;
use std::cell::Cell;
use std::rc::Rc;

pub(super) fn isolate(limits: Limits) -> Rc<Isolate> {
    Isolate::new(Registry::new(GROUPS), Rc::new(Bench::default()), limits, Vec::new())
}

/// The value of a script that ends with an expression, as a function of the isolate.
pub(super) fn function(isolate: &Rc<Isolate>, text: &str) -> Value {
    let source = Source::new("test.harn", text);
    let loaded = load(isolate, &source, Options::default());
    assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
    let unit = loaded.unit.expect("it compiles");
    let main = Value::Closure(Rc::new(Closure { proto: unit.main, captures: Vec::new() }));
    let mut fiber = Fiber::new(isolate, &Rc::new(Context::default()), main, []).expect("it can be called");
    loop {
        match fiber.run() {
            Exit::Done(value) => return value,
            Exit::Yield => {}
            Exit::Raised(raise) => panic!("{raise:?}"),
            Exit::Wait(_) => panic!("nothing here waits"),
        }
    }
}

pub(super) fn call(isolate: &Rc<Isolate>, function: &Value, args: impl IntoIterator<Item = Value>) -> Fiber {
    Fiber::new(isolate, &Rc::new(Context::default()), function.clone(), args).expect("it can be called")
}

/// Runs to the end; the result and how often others had their turn.
pub(super) fn finish(fiber: &mut Fiber) -> (Value, usize) {
    let mut slices = 0;
    loop {
        match fiber.run() {
            Exit::Done(value) => return (value, slices),
            Exit::Yield => slices += 1,
            Exit::Raised(raise) => panic!("{raise:?}"),
            Exit::Wait(wait) => {
                let result = at_once(wait);
                fiber.wake(result);
            }
        }
    }
}

/// Polls a future that is ready at the second look.
fn at_once(wait: Wait) -> Result<Value, Box<lang::vm::Raise>> {
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    let mut future = std::pin::pin!(wait.get());
    loop {
        if let std::task::Poll::Ready(result) = future.as_mut().poll(&mut cx) {
            return result;
        }
    }
}

/// Adaptors of an iterator, and what makes the same of a list.
const ADAPTORS: [(&str, &str); 13] = [
    (".map({ x -> x * 3 - 1 })", ".map({ x -> x * 3 - 1 })"),
    (".filter({ x -> x % 2 == 0 })", ".filter({ x -> x % 2 == 0 })"),
    (".take(5)", ".take(5)"),
    (".skip(2)", ".skip(2)"),
    (".take_while({ x -> x < 30 })", ".take_while({ x -> x < 30 })"),
    (".skip_while({ x -> x < 4 })", ".skip_while({ x -> x < 4 })"),
    (".flat_map({ x -> [x, x + 1] })", ".flat_map({ x -> [x, x + 1] })"),
    (
        ".flat_map({ x -> (0 to x % 3).iter().map({ y -> y + x }) })",
        ".flat_map({ x -> (0 to x % 3).to_list().map({ y -> y + x }) })",
    ),
    (".enumerate().map({ p -> p.first + p.second })", ".enumerate().map({ p -> p.first + p.second })"),
    (".chunks(3).map({ c -> c.sum() })", ".chunk(3).map({ c -> c.sum() })"),
    (".windows(2).map({ w -> w.sum() })", ".window(2).map({ w -> w.sum() })"),
    (".zip(1 to 50).map({ p -> p.first * p.second })", ".zip(1 to 50).map({ p -> p.first * p.second })"),
    (".chain([7, 8])", ".concat([7, 8])"),
];

/// Consumers of an iterator, and what makes the same of a list.
const CONSUMERS: [(&str, &str); 9] = [
    (".to_list()", ""),
    (".sum()", ".sum()"),
    (".count()", ".count"),
    (".max()", ".max()"),
    (".last()", ".last()"),
    (".reduce(1, { a, x -> (a * 7 + x) % 1009 })", ".reduce(1, { a, x -> (a * 7 + x) % 1009 })"),
    (".any({ x -> x == 8 })", ".any({ x -> x == 8 })"),
    (".all({ x -> x < 20 })", ".all({ x -> x < 20 })"),
    (".find({ x -> x > 5 })", ".find({ x -> x > 5 })"),
];

#[test]
fn chains_give_what_the_methods_of_lists_give() {
    let mut random = Random(29);
    let mut script = String::new();
    for number in 0..400 {
        let (mut lazy, mut eager) = ("(0 to 9).iter()".to_owned(), "(0 to 9).to_list()".to_owned());
        for _ in 0..=random.below(4) {
            let (of_iterator, of_list) = ADAPTORS[random.below(ADAPTORS.len())];
            lazy.push_str(of_iterator);
            eager.push_str(of_list);
        }
        let (of_iterator, of_list) = CONSUMERS[random.below(CONSUMERS.len())];
        script.push_str(&format!("let lazy{number} = {lazy}{of_iterator}\nlet eager{number} = {eager}{of_list}\n"));
        script.push_str(&format!(
            "if lazy{number} != eager{number} {{ println({number}, lazy{number}, eager{number}) }}\n"
        ));
    }
    script.push_str("println(\"compared\")\n");
    assert_eq!(run(&script), "compared\n", "{script}");
}

const WALKS: [&str; 11] = [
    "return { -> (0 to 100_000).map(abs).count() }",
    "return { -> (0 to 100_000).iter().map(abs).filter(to_string).count() }",
    "return { -> (0 to 100_000).iter().count() }",
    "return { -> (0 to 100_000).iter().filter({ x -> false }).chain([1]).count() + 100_000 }",
    "return { -> (0 to 100_000).iter().enumerate().skip(1).chunks(1).count() + 1 }",
    "fn numbers() {\n  var i = 0\n  while i <= 100_000 {\n    yield i\n    i += 1\n  }\n}\nreturn { -> numbers().count() }",
    "fn numbers() { for i in 0 to 100_000 { yield i } }\nreturn { ->\n  var n = 0\n  for i in numbers() { n += 1 }\n  n\n}",
    "return { -> (0 to 100_000).iter().map({ x -> x }).zip(0 to 200_000).to_list().count() }",
    "return { -> (0 to 100_000).map({ x -> x }).count() }",
    "return { -> (0 to 100_000).reduce(0, { n, x -> n + 1 }) }",
    "return { -> (0 to 100_000).to_list().sort({ a, b -> b - a }).count() }",
];

#[test]
fn every_walk_lets_others_have_their_turn() {
    for text in WALKS {
        let isolate = isolate(Limits::default());
        let walk = function(&isolate, text);
        let (value, slices) = finish(&mut call(&isolate, &walk, []));
        assert_eq!(display(&value), "100001", "{text}");
        assert!(slices > 3, "{slices} slices: {text}");
    }
}

#[test]
fn every_walk_ends_when_the_fuel_is_used_up() {
    for text in WALKS {
        let isolate = isolate(Limits { fuel: Some(100_000), ..Limits::default() });
        let walk = function(&isolate, text);
        let mut fiber = call(&isolate, &walk, []);
        let raise = loop {
            match fiber.run() {
                Exit::Raised(raise) => break raise,
                Exit::Yield => {}
                _ => panic!("it should not end by itself: {text}"),
            }
        };
        assert_eq!(raise.code.as_str(), "HARN-RUN-011", "{text}");
    }
}

#[test]
fn what_a_consumer_leaves_can_be_asked_for() {
    let out = run(r#"
let words = [1, 2, "three", 4, 5].iter().map({ x -> x })
println(try { words.sum() } catch e { e.message }, words.next().value, words.to_list(), words.next())
let one = (1 to 7).iter().filter({ x -> x != 4 })
println(one.zip(one).to_list())
let inner = (1 to 6).iter().map({ x -> x * 10 })
println(inner.any({ x -> x == 20 }), inner.take(2).sum(), inner.chain([1, 2]).count(), inner.count())
let failing = (1 to 4).iter().map({ x -> if x == 3 { throw "three" } else { x } })
println(try { failing.sum() } catch e { e }, failing.to_list())
var it = nil
it = (1 to 3).iter().map({ x -> try { it.next() } catch e { e.code } })
println(it.to_list())
println([(1 to 3), (4 to 5)].iter().flat_map({ r -> r.iter().map({ x -> -x }) }).sum())
println((1 to 10).iter().map({ x -> (0 to x).iter().map({ y -> y * y }).sum() }).sum())
"#);
    assert_eq!(
        out.trim_end(),
        r#"cannot sum: element 2 is a string 4 [5] {done: true, value: nil}
[(1, 2), (3, 5), (6, 7)]
true 70 4 0
three []
[HARN-RUN-025, HARN-RUN-025, HARN-RUN-025]
-15
1210"#
    );
}

#[test]
fn a_list_from_an_iterator_is_no_larger_than_the_limit() {
    let out = run("println(try { (0 to 900_000_000_000).iter().to_list() } catch e { e.code })");
    assert_eq!(out.trim(), "HARN-RUN-017");
    let out = run("println(try { [...(0 to 900_000_000_000).iter().map({ x -> x })] } catch e { e.code })");
    assert_eq!(out.trim(), "HARN-RUN-017");
    let out = run("println(try { (0 to 900_000_000_000).iter().chunks(800_000_000_000).first() } catch e { e.code })");
    assert_eq!(out.trim(), "HARN-RUN-017");
}

#[test]
fn an_iterator_whose_fiber_is_given_up_is_over() {
    let isolate = isolate(Limits::default());
    let text =
        "fn endless() {\n  yield 1\n  while true { }\n}\nreturn [endless(), { g -> g.count() }, { g -> g.next() }]";
    let parts = function(&isolate, text);
    let [generator, count, next] = parts.as_list().expect("a list") else { panic!("three parts") };
    let mut fiber = call(&isolate, count, [generator.clone()]);
    assert!(matches!(fiber.run(), Exit::Yield));
    let Value::Iter(iter) = generator else { panic!("a generator") };
    assert_eq!(iter.status(), Status::Running);

    // Another fiber cannot ask it meanwhile.
    let mut other = call(&isolate, next, [generator.clone()]);
    let Exit::Raised(raise) = other.run() else { panic!("it is at work") };
    assert_eq!(raise.code.as_str(), "HARN-RUN-025");
    assert_eq!(iter.status(), Status::Running);

    drop(fiber);
    assert_eq!(iter.status(), Status::Over);
    let (step, _) = finish(&mut call(&isolate, next, [generator.clone()]));
    assert_eq!(display(&step), "{done: true, value: nil}");
}

#[test]
fn a_generator_outlives_the_call_and_the_function_that_made_it() {
    let isolate = isolate(Limits::default());
    let text = "fn make(start) {\n  var n = start\n  return { ->\n    while true {\n      n += 1\n      yield n\n    }\n  }\n}\nreturn [make(5)(), { g -> g.next().value }]";
    let (generator, next) = {
        let parts = function(&isolate, text);
        let parts = parts.as_list().expect("a list");
        (parts[0].clone(), parts[1].clone())
    };
    for expected in ["6", "7", "8"] {
        let (value, _) = finish(&mut call(&isolate, &next, [generator.clone()]));
        assert_eq!(display(&value), expected);
    }
}

/// Counts to three, and must be waited for every other time.
struct Slow(Cell<i64>);

impl HostObject for Slow {
    fn type_name(&self) -> &'static str {
        "stream"
    }

    fn next(&self) -> Option<Next> {
        let n = self.0.get() + 1;
        self.0.set(n);
        let item = (n <= 3).then_some(Value::Int(n));
        if n % 2 == 0 {
            return Some(Next::Ready(Ok(item)));
        }
        let answer = item.map_or(Value::Nil, |item| Value::pair(item, Value::Bool(true)));
        Some(Next::Later(Wait::new(async move {
            let mut looked = false;
            std::future::poll_fn(|_| {
                if std::mem::replace(&mut looked, true) { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
            })
            .await;
            Ok(answer)
        })))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

#[test]
fn host_streams_are_waited_for_wherever_they_are_asked() {
    let uses = [
        ("{ s ->\n  var seen = []\n  for x in s { seen = seen.push(x) }\n  seen\n}", "[1, 2, 3]"),
        ("{ s -> s.to_list() }", "[1, 2, 3]"),
        ("{ s -> iter(s).map({ x -> x * 10 }).to_list() }", "[10, 20, 30]"),
        ("{ s -> s.zip(s).to_list() }", "[(1, 2)]"),
        ("{ s -> s.flat_map({ x -> (1 to x).iter() }).count() }", "6"),
        (
            "{ s -> [s.next(), s.next(), s.next(), s.next()] }",
            "[{done: false, value: 1}, {done: false, value: 2}, {done: false, value: 3}, {done: true, value: nil}]",
        ),
        ("{ s -> [s.try_next(), s.try_next(), s.try_next(), s.try_next()] }", "[nil, 2, nil, nil]"),
        ("{ s -> [1].iter().chain(s).reduce(0, { a, b -> a + b }) }", "7"),
    ];
    for (text, expected) in uses {
        let isolate = isolate(Limits::default());
        let using = function(&isolate, &format!("return {text}"));
        let (value, _) = finish(&mut call(&isolate, &using, [HostBox::value(Slow(Cell::new(0)))]));
        assert_eq!(display(&value), expected, "{text}");
    }
}
