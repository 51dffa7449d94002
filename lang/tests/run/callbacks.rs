//! Closures that builtins call: their results go back without leaving the loop, which nothing must be able to tell.

use super::run;

#[track_caller]
fn prints(text: &str, expected: &str) {
    let out = run(text);
    assert_eq!(out.trim_end(), expected.trim_end(), "\n{text}\n{out}");
}

#[test]
fn every_builtin_goes_on_with_the_result() {
    prints(
        r#"
let xs = [3, 1, 2]
var seen = []
println(xs.map({ x -> x * 2 }), xs.filter({ x -> x > 1 }), xs.reduce(0, { a, x -> a * 10 + x }))
xs.for_each({ x -> seen = seen.push(x) })
println(seen, xs.find({ x -> x < 3 }), xs.find_index({ x -> x == 2 }), xs.any({ x -> x == 2 }), xs.all({ x -> x < 3 }))
println(xs.flat_map({ x -> [x, x] }), xs.partition({ x -> x > 1 }), xs.group_by({ x -> x % 2 }))
println(xs.sort({ a, b -> b - a }), xs.sort_by({ x -> -x }), xs.min_by({ x -> -x }), xs.take_while({ x -> x != 2 }))
println({a: 1, b: 2}.map({ k, v -> "${k}${v}" }), {a: 1, b: 2}.filter({ k, v -> v > 1 }))
"#,
        "[6, 2, 4] [3, 2] 312
[3, 1, 2] 1 2 true false
[3, 3, 1, 1, 2, 2] ([3, 2], [1]) {\"0\": [2], \"1\": [3, 1]}
[3, 2, 1] [3, 2, 1] 3 [3, 1]
{a: a1, b: b2} {b: 2}",
    );
}

#[test]
fn a_callback_may_take_fewer_arguments_or_all_that_are_left() {
    prints(
        r#"
fn either(x, y = 7) { x + y }
println([1, 2, 3].map({ -> 5 }), [1, 2, 3].map(either), [3, 1, 2].reduce(0, { -> 4 }))
fn all(...xs) { xs }
println([1, 2].map(all), {a: 1, b: 2}.map({ k -> k }))
println(try { [1, 2].map({ a, b -> a }) } catch e { e.code })
"#,
        "[5, 5, 5] [8, 9, 10] 4\n[[1], [2]] {a: 1, b: 2}\nHARN-RUN-006",
    );
}

#[test]
fn an_argument_that_a_callback_does_not_take_is_left_out() {
    prints(
        r#"
var rows = {a: [1], b: [2], c: [3]}
let copy = rows.map({ _, row -> row }).map({ key -> key })
rows.a[0] += 1
println(copy, rows)
"#,
        "{a: [1], b: [2], c: [3]} {a: [2], b: [2], c: [3]}",
    );
}

#[test]
fn a_callback_that_raises_leaves_all_windows_as_they_were() {
    prints(
        r#"
fn tries(limit) {
  let text = "kept"
  let got = try {
    [1, 2, 3, 4].map({ x -> [x].map({ y -> if y == limit { throw "at ${y}" } else { y * 10 } }) })
  } catch e { e }
  return [text, got]
}
for limit in [3, 1, 9] { println(tries(limit)) }
println([1, 2, 3].map({ x -> try { [x, 0].reduce(6, { a, b -> a / b }) } catch e { e.code } }))
println(try { [2, 1, 3].sort({ a, b -> throw "no order" }) } catch e { e })
println(try { [1, 2].map({ x -> x + 9223372036854775806 }) } catch e { e.code })
"#,
        "[kept, at 3]
[kept, at 1]
[kept, [[10], [20], [30], [40]]]
[HARN-RUN-003, HARN-RUN-003, HARN-RUN-003]
no order
HARN-RUN-018",
    );
}

#[test]
fn a_builtin_that_raises_for_a_result_ends_like_its_callback() {
    // The keys cannot be ordered: the error comes from the builtin, after the last callback has returned.
    prints(
        r#"
fn sorted() {
  let kept = [1, 2]
  let got = try { [1, 2, 3].sort_by({ x -> if x == 2 { "two" } else { x } }) } catch e { e.code }
  return [kept, got]
}
println(sorted())
"#,
        "[[1, 2], HARN-RUN-002]",
    );
}

#[test]
fn callbacks_call_builtins_and_themselves() {
    prints(
        r#"
fn total(tree) { tree.value + tree.kids.map({ kid -> total(kid) }).reduce(0, { a, b -> a + b }) }
println(total({value: 1, kids: [{value: 2, kids: []}, {value: 3, kids: [{value: 4, kids: []}]}]}))
fn deep(n) { if n == 0 { 0 } else { [n].map({ x -> deep(x - 1) + 1 })[0] } }
println(deep(40))
println([[3, 1], [2, 0]].map({ xs -> xs.sort({ a, b -> a - b }).map({ x -> [x, xs.count].map({ y -> y + 1 }) }) }))
let adders = (1 to 3).map({ n -> { x -> x + n } })
println([10, 20].map({ x -> adders.map({ f -> f(x) }) }))
println([1, 2, 3].filter({ x ->
  for y in [1, 2, 3] { if y == x { return y != 2 } }
  false
}))
fn down(n, acc) { if n == 0 { acc } else { down(n - 1, acc + 1) } }
println([3, 1000, 0].map({ n -> down(n, 0) }))
"#,
        "10\n40\n[[[2, 3], [4, 3]], [[1, 3], [3, 3]]]\n[[11, 12, 13], [21, 22, 23]]\n[1, 3]\n[3, 1000, 0]",
    );
}

#[test]
fn a_callback_may_wait_now_and_then() {
    prints(
        r#"
let slow = { x ->
  if x % 2 == 0 { sleep(5) }
  x * 10
}
let other = spawn { (1 to 3).map({ x ->
  sleep(3)
  println("other ${x}")
  x
}) }
println((1 to 6).map(slow), (1 to 4).reduce(0, { a, x -> a + slow(x) }))
println([3, 4, 1, 2].sort({ a, b -> slow(a) - slow(b) }))
println(await(other))
"#,
        "other 1\nother 2\nother 3\n[10, 20, 30, 40, 50, 60] 100\n[1, 2, 3, 4]\n[1, 2, 3]",
    );
}

#[test]
fn a_walk_without_an_end_in_sight_can_be_cancelled() {
    prints(
        r#"
for walk in [
  { -> (1 to 900_000_000_000).for_each({ x -> x }) },
  { -> (1 to 900_000_000_000).reduce(0, { a, x -> a + x % 2 }) },
  { -> (1 to 900_000_000_000).find({ x -> x < 0 }) },
] {
  let begun = atomic(false)
  let task = spawn {
    atomic_set(begun, true)
    try { walk() } finally { println("over") }
  }
  while !atomic_get(begun) {}
  cancel(task)
  println(try { await(task) } catch e { "cancelled" })
}
"#,
        "over\ncancelled\nover\ncancelled\nover\ncancelled",
    );
}

#[test]
fn what_a_callback_changes_is_not_what_is_walked() {
    prints(
        r#"
fn f() {
  var xs = [[1], [2], [3]]
  let ys = xs.map({ x ->
    xs[0][0] += 100
    xs = xs.push([x[0]])
    x[0]
  })
  return [ys, xs]
}
println(f())
var rows = [{n: 2, s: "b"}, {n: 1, s: "a"}]
let sorted = rows.sort({ a, b ->
  rows[0].n += 10
  a.n - b.n
})
println(sorted, rows)
"#,
        "[[1, 2, 3], [[301], [2], [3], [1], [2], [3]]]
[{n: 1, s: a}, {n: 2, s: b}] [{n: 12, s: b}, {n: 1, s: a}]",
    );
}
