//! Assignments through several keys: what is held once is changed in place, which nothing must be able to tell.

use super::run;

#[track_caller]
fn prints(text: &str, expected: &str) {
    let out = run(text);
    assert_eq!(out.trim_end(), expected.trim_end(), "\n{text}\n{out}");
}

#[test]
fn a_holder_of_any_part_keeps_what_it_has() {
    prints(
        r#"
struct Point { x: any, y: any }
fn f() {
  var rows = [{p: Point {x: 1, y: [1.5, 2]}}, {p: Point {x: 2, y: []}}]
  let whole = rows
  rows[0].p.x += 1
  let row = rows[0]
  rows[0].p.x *= 5
  let point = rows[0].p
  rows[0].p.y[0] -= 0.5
  let list = rows[0].p.y
  rows[0].p.y[1] = "two"
  rows[-1].p.x -= 7
  println(whole)
  println(row, point, list)
  println(rows)
}
f()
"#,
        "[{p: Point {x: 1, y: [1.5, 2]}}, {p: Point {x: 2, y: []}}]
{p: Point {x: 2, y: [1.5, 2]}} Point {x: 10, y: [1.5, 2]} [1.0, 2]
[{p: Point {x: 10, y: [1.0, two]}}, {p: Point {x: -5, y: []}}]",
    );
}

#[test]
fn a_value_may_be_what_it_is_put_into() {
    prints(
        r#"
fn f() {
  var xs = [{a: {b: 1}}, 2]
  xs[0].a = xs
  println(xs)
  xs[0].a = xs[0]
  println(xs)
  xs[0].a.a = xs[0].a
  println(xs)
  xs[0].a.a = nil
  println(xs)
}
f()
"#,
        "[{a: [{a: {b: 1}}, 2]}, 2]
[{a: {a: [{a: {b: 1}}, 2]}}, 2]
[{a: {a: {a: [{a: {b: 1}}, 2]}}}, 2]
[{a: {a: nil}}, 2]",
    );
}

#[test]
fn a_site_meets_collections_of_every_shape() {
    prints(
        r#"
struct A { n: any, m: any }
struct B { m: any, n: any }
fn bump(value, key) {
  var all = [value]
  all[0][key] += 1
  return all[0]
}
var key = "n"
for value in [A {n: 1, m: 2}, B {m: 3, n: 4}, {n: 5}, {m: 1, n: 6}, A {n: 7, m: 8}, {x: 0, y: 0, n: 9.5}] {
  println(bump(value, key), bump(value, ["n"].join("")))
}
println(bump([1, 2], 1), bump([1, 2], -2))
fn grow() {
  var d = {in: {}}
  for i in 1 to 20 { d.in["k${i}"] = i }
  for i in 1 to 20 { d.in["k${i}"] *= 2 }
  d.in = d.in.remove("k1", "k2")
  for i in 3 to 20 { d.in["k${i}"] -= 1 }
  return d.in.values()
}
println(grow())
"#,
        "A {n: 2, m: 2} A {n: 2, m: 2}
B {m: 3, n: 5} B {m: 3, n: 5}
{n: 6} {n: 6}
{m: 1, n: 7} {m: 1, n: 7}
A {n: 8, m: 8} A {n: 8, m: 8}
{n: 10.5, x: 0, y: 0} {n: 10.5, x: 0, y: 0}
[1, 3] [2, 2]
[19, 21, 23, 25, 27, 29, 31, 33, 35, 37, 39, 5, 7, 9, 11, 13, 15, 17]",
    );
}

#[test]
fn an_assignment_that_fails_changes_nothing() {
    prints(
        r#"
struct P { n: any }
fn f() {
  var xs = [{a: 9223372036854775807, p: P {n: 1}, t: "t"}, [0]]
  println(try { xs[0].p.n /= 0 } catch e { e.code })
  println(try { xs[0].t -= 1 } catch e { e.code })
  println(try { xs[0].gone += 1 } catch e { e.code })
  println(try { xs[0].p.gone = 1 } catch e { e.code })
  println(try { xs[1][1] = 1 } catch e { e.code })
  println(try { xs[2].a = 1 } catch e { e.code })
  println(try { xs[0].t.u = 1 } catch e { e.code })
  println(try { xs[-3].a = 1 } catch e { e.code })
  println(xs)
}
f()
"#,
        "HARN-RUN-003
HARN-RUN-002
HARN-RUN-005
HARN-RUN-020
HARN-RUN-004
HARN-RUN-004
HARN-RUN-002
HARN-RUN-004
[{a: 9223372036854775807, p: P {n: 1}, t: t}, [0]]",
    );
}

#[test]
fn numbers_are_combined_as_elsewhere() {
    prints(
        r#"
fn f(a, b) {
  var d = {in: {add: a, sub: a, mul: a, div: a}}
  d.in.add += b
  d.in.sub -= b
  d.in.mul *= b
  d.in.div /= b
  return d.in == {add: a + b, sub: a - b, mul: a * b, div: a / b}
}
for a in [6, 7, -7, 1.5, -0.0] { for b in [2, 0.5, -3] { if !f(a, b) { println("differs", a, b) } } }
println(try { f(1, 0) } catch e { e.code })
fn g() {
  var d = {in: {x: 1.0, s: "a", l: [1], most: 9223372036854775806, least: -9223372036854775807, n: 2}}
  d.in.x /= 0.0
  d.in.s += "b"
  d.in.l += [2]
  d.in.most += 1
  d.in.least -= 1
  d.in.n *= 4611686018427387903
  return d
}
println(g())
"#,
        "HARN-RUN-003\n{in: {l: [1, 2], least: -9223372036854775808, most: 9223372036854775807, n: 9223372036854775806, s: ab, x: inf}}",
    );
}

#[test]
fn captured_and_global_variables_have_paths_too() {
    prints(
        r#"
var counts = {a: {n: 0}}
fn f() {
  var own = {a: {n: 0}}
  let bump = { x ->
    own.a.n += x
    counts.a.n += x
    own.a.n
  }
  let got = [1, 2, 3].map(bump)
  own.a.n *= 2
  return [got, own]
}
println(f(), counts)
"#,
        "[[1, 3, 6], {a: {n: 12}}] {a: {n: 6}}",
    );
}

#[test]
fn a_method_changes_a_value_on_a_path_for_nobody_else() {
    prints(
        r#"
struct Point { x: any }
impl Point {
  fn seen(self) { Point {x: [self.x, state.p]} }
}
var state = {xs: [1], p: Point {x: 1}, rows: [[1], [2]], d: {f: { -> [7] }}}
fn f() {
  var s = {xs: [1], deep: [{ys: set(1)}]}
  let (old, whole) = (s.xs, s)
  s.xs = s.xs.push(2)
  println(old, whole.xs, s.xs)
  s.xs = s.xs.push(s.xs.count).push(s)
  println(s.xs.count, s.xs[3].xs)
  s.xs = s.xs.push(s)
  println(s.xs[4].xs.count)
  let i = 0
  s.deep[i].ys = s.deep[i].ys.add(s.deep[i].ys.count)
  s.deep[-1].ys = s.deep[-1].ys.add(5)
  s["xs"] = s["xs"].take(1)
  println(s)
}
f()
state.xs = state.xs.push(2)
state.p = state.p.seen()
state.rows[1] = state.rows[1].push(state.rows[0])
state.d = state.d.f()
println(state)
"#,
        "[1] [1] [1, 2]
4 [1, 2]
4
{deep: [{ys: set(1, 5)}], xs: [1]}
{d: [7], p: Point {x: [1, Point {x: 1}]}, rows: [[1], [2, [1]]], xs: [1, 2]}",
    );
}

#[test]
fn a_method_that_fails_on_a_path_leaves_the_value_there() {
    for (start, change) in [
        ("[1, 2]", "s.x.insert(9, 0)"),
        ("[1, 2]", "s.x.concat(5)"),
        ("[1, 2]", "s.x.push()"),
        ("[1, 2]", "s.x.psh(1)"),
        ("{a: 1}", "s.x.merge(5)"),
        ("1", "s.x.push(1)"),
    ] {
        let text = format!(
            "var s = {{x: {start}}}\ntry {{ s.x = {change} }} catch e {{ println(\"failed\", s == {{x: {start}}}) }}"
        );
        prints(&text, "failed true");
    }
    prints("var s = {x: 1}\ntry { s.y = s.y.push(1) } catch e { println(s) }", "{x: 1}");
    prints("var s = [[1]]\ntry { s[3] = s[3].push(1) } catch e { println(s) }", "[[1]]");
}
