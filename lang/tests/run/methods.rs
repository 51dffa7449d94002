//! The builtin functions and methods of the core, each through a script.

use super::run;

/// Runs one expression and compares what `println` shows of it.
#[track_caller]
fn gives(expression: &str, expected: &str) {
    let out = run(&format!("println({expression})"));
    assert_eq!(out.trim_end_matches('\n'), expected, "{expression}");
}

/// Runs one expression that must fail and looks for words in the error. It is caught, so that the checker lets it run.
#[track_caller]
fn fails(expression: &str, code: &str, words: &str) {
    let out = run(&format!("try {{ println({expression}) }} catch e {{ println(e.code, e.message) }}"));
    assert!(out.contains(code) && out.contains(words), "{expression}\n{out}");
}

#[test]
fn a_list_that_grows_too_large_stays_as_it_was() {
    let script = "var xs = []\ntry { while true { xs = xs.push(1) } } catch { println(len(xs) > 1000) }";
    assert_eq!(run(script), "true\n");
    fails("{ -> var xs = []\nwhile true { xs = xs.insert(0, 1).concat(xs) } }()", "HARN-RUN-017", "would exceed");
}

#[test]
fn strings() {
    gives("\"héllo\".count", "5");
    gives("\"\".empty()", "true");
    gives("\"a-b-c\".replace(\"-\", \"+\")", "a+b+c");
    gives("\"abc\".replace(\"\", \".\")", ".a.b.c.");
    gives("\"a,b,,c\".split(\",\")", "[a, b, , c]");
    gives("\" the  quick\\nfox \".split()", "[the, quick, fox]");
    gives("\"äb\".split(\"\")", "[ä, b]");
    gives(
        "\"[\" + \"  x \".trim() + \"|\" + \"  x \".trim_start() + \"|\" + \"  x \".trim_end() + \"]\"",
        "[x|x |  x]",
    );
    gives("[\"abc\".starts_with(\"ab\"), \"abc\".ends_with(\"ab\"), \"abc\".contains(\"bc\")]", "[true, false, true]");
    gives("[\"ÄbC\".lower(), \"äbc\".upper(), \"AB\".lowercase(), \"ab\".uppercase()]", "[äbc, ÄBC, ab, AB]");
    gives(
        "[\"héllo\".substring(1, 3), \"hello\".substring(3), \"hello\".substring(-2, 1), \"hi\".substring(9, 2)]",
        "[éll, lo, l, ]",
    );
    gives("\"a\\nb\\r\\nc\\n\".lines()", "[a, b, c]");
    gives("\"hé\".chars()", "[h, é]");
    gives("[\"hé\".char_at(1), \"hé\".char_at(-2), \"hé\".char_at(2)]", "[é, h, nil]");
    gives("[\"héhé\".index_of(\"hé\"), \"héhé\".last_index_of(\"hé\"), \"x\".index_of(\"y\")]", "[0, 2, -1]");
    gives("[\"ab\".repeat(3), \"ab\".repeat(0), \"añb\".reverse()]", "[ababab, , bña]");
    gives("[\"7\".pad_left(3, \"0\"), \"ä\".pad_right(4, \"xy\"), \"long\".pad_left(2)]", "[007, äxyx, long]");
    gives("[\" 42 \".to_int(), \"4.5\".to_int(), \"4.5\".to_float(), \"x\".to_float()]", "[42, nil, 4.5, nil]");
}

#[test]
fn strings_that_fail() {
    fails("\"ab\".repeat(0 - 1)", "HARN-RUN-013", "at least 0");
    fails("\"ab\".repeat(999999999999)", "HARN-RUN-017", "would exceed");
    fails("\"ab\".pad_left(999999999999)", "HARN-RUN-017", "would exceed");
    fails("\"ab\".pad_left(5, \"\")", "HARN-RUN-013", "empty string");
    fails("\"ab\".contains(1)", "HARN-RUN-002", "expected a string, found an int");
    fails("join(range(0, 9000000000000000000), \"\")", "HARN-RUN-017", "would exceed");
}

#[test]
fn lists_without_functions() {
    gives("[[3, 1].count, [].empty, [3, 1].first, [3, 1].last(), [].first]", "[2, true, 3, 1, nil]");
    gives("[[1, 2].contains(2.0), [1, 2].index_of(2), [1].index_of(9)]", "[true, 1, -1]");
    gives("[[1, 2, 3, 4].slice(1, 3), [1, 2, 3].slice(-2), [1, 2].slice(5, 1)]", "[[2, 3], [2, 3], []]");
    gives("[[1, 2, 3].take(2), [1, 2, 3].skip(2), [1].take(9), [1].skip(9)]", "[[1, 2], [3], [1], []]");
    gives("[1, 2, 3].zip([\"a\", \"b\"])", "[(1, a), (2, b)]");
    gives("[\"a\", \"b\"].enumerate()", "[(0, a), (1, b)]");
    gives("[1, 2, 1.0, \"1\", 2].unique()", "[1, 2, 1]");
    gives("[[1, [2]], 3, []].flatten()", "[1, [2], 3]");
    gives(
        "[[1, 2, 3].chunk(2), [1, 2, 3].window(2), [1, 2, 3, 4, 5].window(2, 2), [1].window(2)]",
        "[[[1, 2], [3]], [[1, 2], [2, 3]], [[1, 2], [3, 4]], []]",
    );
    gives("[nil, 1, false, nil].compact()", "[1, false]");
    gives("[\"b\", \"a\", \"b\", 1].tally()", "{\"1\": 1, a: 1, b: 2}");
    gives("[[1, 2].sum(), [1, 2.5].sum(), [].sum()]", "[3, 3.5, 0]");
    gives("[[3, 1.5, 2].min(), [\"b\", \"c\"].max(), [].min(), [[1, 2], [1]].min()]", "[1.5, c, nil, [1]]");
    gives("[[1, \"a\", nil].join(\"-\"), [1, 2].join()]", "[1-a-nil, 12]");
    gives("[[1, 2].reverse(), [1, 2].push(3), [1, 2].pop(), [].pop()]", "[[2, 1], [1, 2, 3], [1], []]");
    gives(
        "[[1, 3].insert(1, 2), [1].insert(1, 2), [1, 2].insert(-1, 9), [1, 2, 3].remove_at(-1), [1].concat([2])]",
        "[[1, 2, 3], [1, 2], [1, 9, 2], [1, 2], [1, 2]]",
    );
    gives(
        "[(1 to 3).to_list(), [1, 1].to_set(), [pair(\"a\", 1), [\"b\", 2], {key: \"c\", value: 3}].to_dict()]",
        "[[1, 2, 3], set(1), {a: 1, b: 2, c: 3}]",
    );
}

#[test]
fn lists_that_fail() {
    fails("[1, \"a\"].sum()", "HARN-RUN-002", "element 1 is a string");
    fails("[1, 2].chunk(0)", "HARN-RUN-013", "the size of a chunk must be at least 1, found 0");
    fails("[1, 2].window(1, 0)", "HARN-RUN-013", "the step must be at least 1, found 0");
    fails("[1, 2].take(0 - 1)", "HARN-RUN-013", "at least 0");
    fails("[1].insert(2, 0)", "HARN-RUN-004", "index 2 is out of range");
    fails("[1].remove_at(1)", "HARN-RUN-004", "has one element");
    fails("[1, \"a\"].max()", "HARN-RUN-002", "cannot order");
    fails("[1].to_dict()", "HARN-RUN-002", "element 0 is not an entry");
    fails("[1].map(2)", "HARN-RUN-002", "expected a function, found an int");
    fails("[1].reduce({ a, b -> a + b }, 0)", "HARN-RUN-002", "expected a function, found an int");
    fails("[1].zip(3)", "HARN-RUN-002", "expected a list, set or range");
}

#[test]
fn lists_with_functions() {
    gives("[1, 2, 3].map({ x -> x * 2 }).filter({ x -> x > 2 })", "[4, 6]");
    gives("[[1, 2, 3].reduce(10, { a, b -> a + b }), [].reduce(7, { a, b -> 0 })]", "[16, 7]");
    gives("[[1, 2, 3].find({ x -> x > 1 }), [1].find({ x -> x > 1 })]", "[2, nil]");
    gives("[[1, 2].find_index({ x -> x > 1 }), [1].find_index({ x -> x > 1 })]", "[1, -1]");
    gives(
        "[[1, 2].any({ x -> x > 1 }), [1, 2].all({ x -> x > 1 }), [1, 2].every({ x -> x > 0 }), [1].none({ x -> x > 1 }), [1].none({ x -> x }), [].all({ x -> false })]",
        "[true, false, true, true, false, true]",
    );
    gives("[1, 2].flat_map({ x -> x == 1 ? [x, x] : x })", "[1, 1, 2]");
    gives("[[1, 2, 9, 1].take_while({ x -> x < 5 }), [1, 2, 9, 1].skip_while({ x -> x < 5 })]", "[[1, 2], [9, 1]]");
    gives("[1, 2, 3].partition({ x -> x > 1 })", "([2, 3], [1])");
    gives("[1, 2, 3].group_by({ x -> x % 2 == 0 ? \"even\" : \"odd\" })", "{even: [2], odd: [1, 3]}");
    gives("[1, 2, 3].group_by({ x -> x % 2 })", "{\"0\": [2], \"1\": [1, 3]}");
    gives(
        "[[\"aaa\", \"b\", \"c\"].min_by({ s -> s.count }), [\"a\", \"bb\"].max_by({ s -> s.count }), [].min_by({ s -> s })]",
        "[b, bb, nil]",
    );
    gives("[[\"1\", \"x\"].map(to_int), [1, 2].for_each({ x -> x })]", "[[1, nil], nil]");
    gives("[1, 2].map({ x -> [3, 4].map({ y -> x * y }) })", "[[3, 4], [6, 8]]");
}

#[test]
fn what_a_function_throws_comes_out() {
    let out =
        run("let r = try { [1, 2].map({ x -> x == 2 ? [1].reduce(0, { a, b -> throw \"deep\" }) : x }) }\nprintln(r)");
    assert_eq!(out.trim_end(), "Result.Err(deep)");
    fails("[1, \"a\"].min_by({ x -> x })", "HARN-RUN-002", "cannot order");
}

#[test]
fn sorting() {
    gives(
        "[[3, 1, 2].sort(), [\"b\", \"a\"].sort(), [2, 1.5, 1].sort(), [true, false].sort(), [].sort()]",
        "[[1, 2, 3], [a, b], [1, 1.5, 2], [false, true], []]",
    );
    gives("[[2, \"b\"], [1, \"z\"], [2, \"a\"], [1]].sort()", "[[1], [1, z], [2, a], [2, b]]");
    gives("[0.0 / 0.0, 2, 1.5].sort()", "[1.5, 2, NaN]");
    gives("[3, 1, 2, 5, 4].sort({ a, b -> b - a })", "[5, 4, 3, 2, 1]");
    gives("[3, 1, 2].sort({ a, b -> a < b })", "[1, 2, 3]");
    gives("[\"bb\", \"a\", \"cc\", \"d\"].sort({ a, b -> a.count - b.count })", "[a, d, bb, cc]");
    gives("[\"bb\", \"a\", \"cc\", \"d\"].sort({ a, b -> a.count < b.count })", "[a, d, bb, cc]");
    gives("[\"bb\", \"a\", \"cc\", \"d\"].sort_by({ s -> s.count })", "[a, d, bb, cc]");
    gives("[\"bb\", \"a\"].sort_by({ s -> s })", "[a, bb]");
    gives(
        "[{n: 2, s: \"x\"}, {n: 1, s: \"z\"}, {n: 2, s: \"a\"}].sort_by({ d -> [d.n, d.s] }).map({ d -> d.s })",
        "[z, a, x]",
    );
    let out = run("let xs = [3, 1, 2]\nlet ys = xs.sort()\nlet zs = xs.sort_by({ x -> -x })\nprintln(xs, ys, zs)");
    assert_eq!(out.trim_end(), "[3, 1, 2] [1, 2, 3] [3, 2, 1]");
    fails("[1, \"a\"].sort()", "HARN-RUN-002", "cannot order a string and an int");
    fails("[1, nil].sort()", "HARN-RUN-002", "cannot order nil and an int");
    fails("[{a: 1}, {a: 2}].sort()", "HARN-RUN-002", "values of type dict cannot be ordered");
    fails("[1, 2].sort_by({ x -> x == 1 ? \"a\" : 1 })", "HARN-RUN-002", "cannot order");
    fails("[1, 2].sort({ a, b -> \"x\" })", "HARN-RUN-002", "comparator returned a string");
}

#[test]
fn a_merge_sort_agrees_with_the_native_one_at_every_length() {
    let out = run(
        "var x = 12345\nfor n in 0 to 70 {\n  var xs = []\n  for i in range(n) {\n    x = (x * 1103515245 + 12345) % 2147483648\n    xs = xs.push(x % 50)\n  }\n  let pairs = xs.enumerate()\n  let a = pairs.sort({ p, q -> p.second - q.second })\n  let b = pairs.sort_by({ p -> p.second })\n  if a != b { println(\"differs at\", n, a, b) }\n}\nprintln(\"done\")",
    );
    assert_eq!(out.trim_end(), "done");
}

#[test]
fn a_comparator_that_lies_ends_and_keeps_every_element() {
    for lie in [
        "{ a, b -> 1 }",
        "{ a, b -> -1 }",
        "{ a, b -> true }",
        "{ a, b -> n += 1\n n % 3 == 0 }",
        "{ a, b -> 0.0 / 0.0 }",
    ] {
        let out = run(&format!(
            "var n = 0\nlet xs = range(100).sort({lie})\nprintln(xs.count, xs.sort() == range(100).to_list())"
        ));
        assert_eq!(out.trim_end(), "100 true", "{lie}");
    }
}

#[test]
fn dicts() {
    gives(
        "[{b: 1, a: 2}.keys(), {b: 1, a: 2}.values(), {b: 1}.entries(), {b: 1}.count, {}.empty]",
        "[[a, b], [2, 1], [{key: b, value: 1}], 1, true]",
    );
    gives("[keys({b: 1, a: 2}), values({b: 1}), entries({}), {count: 9}.count]", "[[a, b], [1], [], 9]");
    gives(
        "[{a: nil}.has(\"a\"), {a: 1}.has(\"b\"), {a: 1}.get(\"a\"), {a: 1}.get(\"b\"), {a: 1}.get(\"b\", 5), {a: nil}.get(\"a\", 5)]",
        "[true, false, 1, nil, 5, nil]",
    );
    gives(
        "[{a: 1, b: 2}.merge({b: 3, c: 4}), {a: 1}.set(\"b\", 2), {a: 1}.with(\"a\", 2), {a: 1, b: 2, c: 3}.remove(\"b\"), {a: 1, b: 2}.remove(\"a\", \"b\", \"z\")]",
        "[{a: 1, b: 3, c: 4}, {a: 1, b: 2}, {a: 2}, {a: 1, c: 3}, {}]",
    );
    gives("{b: 2, a: 1}.map_values({ v -> v * 10 })", "{a: 10, b: 20}");
    gives("{a: 1, b: 2, c: 3}.filter({ key, value -> value > 1 && key != \"c\" })", "{b: 2}");
    let out = run("let d = {a: 1}\nvar e = d\ne = e.set(\"b\", 2)\ne = e.remove(\"a\")\nprintln(d, e)");
    assert_eq!(out.trim_end(), "{a: 1} {b: 2}");
    fails("{a: 1}.get(1)", "HARN-RUN-002", "expected a string, found an int");
    fails("{a: 1}.merge([1])", "HARN-RUN-002", "expected a dict, found a list");
    fails("keys(5)", "HARN-RUN-002", "expected a dict, found an int");
}

#[test]
fn what_fails_in_place_leaves_the_variable_alone() {
    for (start, change) in [
        ("{a: 1}", "x.merge(5)"),
        ("{a: 1}", "x.remove(\"a\", 5)"),
        ("[1, 2]", "x.insert(9, 0)"),
        ("[1, 2]", "x.concat(5)"),
        ("[1, nil]", "x.take(\"a\")"),
        ("1 to 3", "x.remove_at(9)"),
        ("set(1)", "x.union(5)"),
        ("\"ab\"", "x.pad_right(9, \"\")"),
    ] {
        let out =
            run(&format!("var x = {start}\ntry {{ x = {change} }} catch e {{ println(\"failed\", x == ({start})) }}"));
        assert_eq!(out.trim_end(), "failed true", "{change}");
    }
}

#[test]
fn sets_and_ranges() {
    gives("[set(1, 2, 1.0), set([3, 3]), set(), set(1 to 3)]", "[set(1, 2), set(3), set(), set(1, 2, 3)]");
    gives(
        "[set(1).add(2), set(1, 2).remove(1), set(1).remove(9), set(1, 2).contains(2), set(1).count, set().empty]",
        "[set(1, 2), set(2), set(1), true, 1, true]",
    );
    gives(
        "[set(1, 2).union([2, 3]), set(1, 2).intersect(set(2, 3)), set(1, 2).difference(set(2)), set(1, 2).symmetric_difference(set(2, 3))]",
        "[set(1, 2, 3), set(2), set(1), set(1, 3)]",
    );
    gives(
        "[set(1).is_subset([1, 2]), set(1, 2).is_superset(set(1)), set(1).is_disjoint(set(2)), set(2, 1).to_list()]",
        "[true, true, true, [2, 1]]",
    );
    gives(
        "[set(2, 1).map({ x -> x * 2 }), set(2, 1).sort(), set(2, 1).filter({ x -> x > 1 })]",
        "[[4, 2], [1, 2], [2]]",
    );
    gives(
        "[(1 to 5).count, (1 to 5 exclusive).last, (5 to 1).empty, (1 to 9).first, (1 to 3).contains(3), (1 to 3).contains(4)]",
        "[5, 4, true, 1, true, false]",
    );
    gives(
        "[(1 to 3).map({ x -> x * x }), (1 to 4).sum(), (1 to 3).reverse(), range(3), range(2, 4).to_list(), (1 to 2).push(9)]",
        "[[1, 4, 9], 10, [3, 2, 1], 0 to 3 exclusive, [2, 3], [1, 2, 9]]",
    );
    gives("(0 to 9000000000000000000).find({ x -> x > 3 })", "4");
    gives(
        "[(0 to 9000000000000000000).take(2), (0 to 9000000000000000000).index_of(8000000000000000000)]",
        "[[0, 1], 8000000000000000000]",
    );
    fails("(0 to 9000000000000000000).to_list()", "HARN-RUN-017", "would exceed");
    fails("[1].flat_map({ x -> 0 to 9000000000000000000 })", "HARN-RUN-017", "would exceed");
    for method in ["map", "filter", "take_while", "partition", "group_by", "sort_by"] {
        let script = format!("(1 to 9000000000000000000).{method}({{ x -> true }})");
        fails(&script, "HARN-RUN-017", "would exceed");
    }
    fails("set(1).push(2)", "HARN-RUN-005", "no method");
}

#[test]
fn numbers() {
    gives(
        "[abs(-3), abs(-2.5), min(3, 1, 2), max([1, 5]), floor(2.7), ceil(2.1), round(2.5), round(-2.5), round(3.14159, 2)]",
        "[3, 2.5, 1, 5, 2, 3, 3, -3, 3.14]",
    );
    gives("[sqrt(9), pow(2, 10), pow(2, -1), pow(2.0, 3), pow(10.0, 30)]", "[3.0, 1024, 0.5, 8.0, 1e30]");
    gives(
        "[exp(0), ln(1), log2(8), log10(1000), sin(0), cos(0), round(pi(), 4), is_nan(0.0 / 0.0)]",
        "[1.0, 0.0, 3.0, 3.0, 0.0, 1.0, 3.1416, true]",
    );
    gives("[floor(1e300), floor(9.3e18)]", "[1e300, 9.3e18]");
    fails("abs(-9223372036854775807 - 1)", "HARN-RUN-018", "overflow");
    fails("[9223372036854775807, 1].sum()", "HARN-RUN-018", "overflow");
    fails("pow(10, 30)", "HARN-RUN-018", "overflow");
    gives("[5.to_string() + \"!\", 2.7.to_int(), 2.to_float(), 2.5.round(), (-3).abs()]", "[5!, 2, 2.0, 3, 3]");
    fails("sqrt(\"a\")", "HARN-", "found");
    fails("max()", "HARN-RUN-006", "at least one value");
}

#[test]
fn results() {
    gives(
        "[Ok(1), Err(\"no\"), is_ok(Ok(1)), is_err(Ok(1)), is_ok(5), unwrap(Ok(2)), unwrap_or(Err(1), 3), unwrap_or(nil, 4), unwrap_err(Err(\"e\"))]",
        "[Result.Ok(1), Result.Err(no), true, false, false, 2, 3, 4, e]",
    );
    gives("[Ok(1).unwrap(), Err(1).unwrap_or(2), Err(1).is_err()]", "[1, 2, true]");
    fails("unwrap(Err(\"boom\"))", "HARN-RUN-013", "boom");
    fails("unwrap(nil)", "HARN-RUN-013", "nil");
    fails("unwrap_err(Ok(1))", "HARN-RUN-013", "`unwrap_err` of an `Ok`");
    fails("unwrap(5)", "HARN-RUN-002", "expected a result, found an int");
    let out = run("try { unwrap(Err({code: 7})) } catch e { println(e.error.code) }");
    assert_eq!(out.trim_end(), "7");
}

#[test]
fn regular_expressions() {
    gives(r#"[regex_match(r"\d+", "a1"), regex_match(r"^\d+$", "a1")]"#, "[[1], nil]");
    gives(
        r#"regex_replace(r"(\w+)@(?P<host>\w+)", r"${host} at $1", "me@here, you@there")"#,
        "here at me, there at you",
    );
    gives(
        r#"regex_captures(r"(?P<k>\w)=(\d)?", "a=1 b=")"#,
        "[{groups: [a, 1], k: a, match: a=1}, {groups: [b, nil], k: b, match: b=}]",
    );
    gives(r#"regex_captures("x", "aaa")"#, "[]");
    fails(r#"regex_match("(a", "a")"#, "HARN-RUN-013", "unclosed group");
    fails(r#"regex_match("a{1000}{1000}{1000}", "a")"#, "HARN-RUN-013", "too large");
    let out =
        run("var n = 0\nfor i in 1 to 100 { if regex_match(\"^a{${i}}$\", \"a\".repeat(i)) { n += 1 } }\nprintln(n)");
    assert_eq!(out.trim_end(), "100", "more patterns than are kept");
}

#[test]
fn hashes_and_encodings() {
    gives("sha256(\"abc\")", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    gives(
        "[base64_encode(\"hällo\"), base64_decode(\"aMOkbGxv\"), base64_decode(\"aMOk\\nbGxv\")]",
        "[aMOkbGxv, hällo, hällo]",
    );
    gives(
        "[base64_decode(\"//8=\").to_list(), \"é\".to_bytes().to_list(), \"é\".to_bytes().to_string(), base64_encode(base64_decode(\"//8=\"))]",
        "[[255, 255], [195, 169], é, //8=]",
    );
    fails("base64_decode(\"a*b\")", "HARN-RUN-013", "invalid Base64");
    fails("base64_decode(\"//8=\").to_string()", "HARN-RUN-013", "UTF-8");
}

#[test]
fn globals_and_pipes() {
    gives("\"a,b\" |> split(_, \",\") |> join(_, \"+\")", "a+b");
    gives(
        "[trim(\" x \"), join([1, 2], \", \"), split(\"a b\"), pair(1, 2).first, pair(1, 2).second]",
        "[x, 1, 2, [a, b], 1, 2]",
    );
}

#[test]
fn every_row_can_be_read_and_stands_once() {
    let mut seen = std::collections::HashSet::new();
    for row in lang::builtins::TABLES.iter().flat_map(|table| table.iter()) {
        let decl = lang::check::signature(row.sig).unwrap_or_else(|| panic!("{}: {}", row.full_name(), row.sig));
        assert_eq!(decl.name.text, row.name);
        let positional = decl.params.iter().filter(|p| !p.rest).count();
        assert_eq!(positional, usize::from(row.arity.max), "{}", row.sig);
        assert!(seen.insert((row.module, row.name)), "{} stands twice", row.full_name());
    }
    for table in lang::builtins::TABLES {
        assert!(table.iter().all(|row| row.module == table[0].module), "lookup asks only a table's first row");
    }
}
