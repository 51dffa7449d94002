//! Programs made of bytes: each byte is one choice, so that a smaller list of bytes is a smaller program, and proptest finds
//! the smallest one on which the two evaluators disagree.

use super::{OracleOutcome, evaluate, evaluate_expressions};
use lang::ast::visit::{Visit, walk_expr, walk_module};
use lang::ast::{Expr, ExprKind};
use lang::check::CheckCode;
use lang::diagnostic::Severity;
use lang::source::Source;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::cell::Cell;
use std::rc::Rc;
use stdlib::limits::RunLimits;
use stdlib::{Captured, Engine, RunOptions};

/// The wanted kind of an expression's value; one in sixteen has another kind, so that errors occur
/// too.
#[derive(Clone, Copy, PartialEq)]
enum ValueKind {
    Int,
    Text,
    List,
    Dict,
    Record,
    Variant,
    Function,
}

const KINDS: [ValueKind; 6] =
    [ValueKind::Int, ValueKind::Text, ValueKind::List, ValueKind::Dict, ValueKind::Record, ValueKind::Variant];

/// The declarations before each program.
const TYPES: &str = "\
struct Record { a: any, b: any = 2 }
impl Record {
  fn first(self) { self.a }
  fn with(self, a) { Record {...self, a: a} }
  fn empty() { Record {a: nil, b: []} }
}
fn same(x) { x }
enum Variant { None, One(any), Two(any, any) }
impl Variant {
  fn inside(self) {
    match self {
      Variant.None -> nil
      Variant.One(x) -> x
      Variant.Two(x, y) -> [x, y]
    }
  }
}
";

/// A name that may be used, and whether it may be assigned to.
#[derive(Clone)]
struct KnownName {
    name: String,
    kind: ValueKind,
    var: bool,
}

struct Writer<'c> {
    choices: std::slice::Iter<'c, u8>,
    text: String,
    known: Vec<KnownName>,
    named: usize,
    indent: usize,
    /// Whether a `break` means something here.
    in_loop: bool,
    in_function: bool,
}

impl Writer<'_> {
    /// A choice among `n`; the first, when there are no more.
    fn pick(&mut self, n: usize) -> usize {
        self.choices.next().map_or(0, |c| usize::from(*c) % n)
    }

    fn is_over(&self) -> bool {
        self.choices.as_slice().is_empty()
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(&"  ".repeat(self.indent));
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn fresh(&mut self, letter: &str) -> String {
        self.named += 1;
        format!("{letter}{}", self.named)
    }

    fn some(&mut self, fits: impl Fn(&KnownName) -> bool) -> Option<KnownName> {
        let fitting: Vec<KnownName> = self.known.iter().filter(|k| fits(k)).cloned().collect();
        if fitting.is_empty() {
            return None;
        }
        let at = self.pick(fitting.len());
        Some(fitting[at].clone())
    }

    /// Statements in braces or at the top; names made there are gone behind it.
    fn statements(&mut self, depth: usize) {
        let before = self.known.len();
        for _ in 0..=self.pick(4) {
            if self.is_over() {
                break;
            }
            self.statement(depth);
        }
        self.known.truncate(before);
    }

    fn nested(&mut self, head: &str, depth: usize) {
        self.line(&format!("{head} {{"));
        self.indent += 1;
        self.statements(depth + 1);
        self.indent -= 1;
        self.line("}");
    }

    fn statement(&mut self, depth: usize) {
        let choice = if depth > 3 { self.pick(6) } else { self.pick(18) };
        match choice {
            0 => {
                let value = self.any(0);
                self.line(&format!("println({value})"));
            }
            1 | 2 => self.binding(),
            3 => self.assignment(),
            4 if self.in_loop => {
                let condition = self.expr(ValueKind::Int, 1);
                let word = ["break", "continue"][self.pick(2)];
                self.line(&format!("if {condition} > 3 {{ {word} }}"));
            }
            5 if self.in_function => {
                let value = self.any(1);
                self.line(&format!("if {value} {{ return {value} }}"));
            }
            6 | 7 => {
                let condition = self.condition();
                self.nested(&format!("if {condition}"), depth);
                if self.pick(2) == 1 {
                    self.nested("else", depth);
                }
            }
            8 | 9 => self.for_loop(depth),
            10 => self.while_loop(depth),
            11 => self.function(depth),
            12 | 13 => self.try_block(depth),
            14 => self.match_value(depth),
            15 => {
                let value = self.any(1);
                self.line(&format!("defer {{ println(\"deferred\", {value}) }}"));
            }
            16 => {
                let value = self.any(1);
                self.line(&format!("throw {value}"));
            }
            _ => {
                let value = self.any(0);
                self.line(&format!("println(to_string({value}).count)"));
            }
        }
    }

    fn binding(&mut self) {
        let var = self.pick(3) != 0;
        if self.pick(4) == 0 {
            return self.destructuring(var);
        }
        let kind = KINDS[self.pick(KINDS.len())];
        let value = self.expr(kind, 0);
        let name = self.fresh("v");
        self.line(&format!("{} {name} = {value}", if var { "var" } else { "let" }));
        self.known.push(KnownName { name, kind, var });
    }

    /// Binds two names by a pattern.
    fn destructuring(&mut self, var: bool) {
        let kinds = [KINDS[self.pick(KINDS.len())], KINDS[self.pick(KINDS.len())]];
        let [one, two] = kinds.map(|kind| self.expr(kind, 1));
        let [a, b] = [self.fresh("v"), self.fresh("v")];
        let (pattern, value) = match self.pick(4) {
            0 => (format!("[{a}, {b}]"), format!("[{one}, {two}]")),
            1 => (format!("({a}, {b})"), format!("({one}, {two})")),
            2 => (format!("{{{a}, k: {b} = {two}}}"), format!("{{{a}: {one}}}")),
            _ => (format!("[{a}, ...{b}]"), format!("[{one}, {two}]")),
        };
        self.line(&format!("{} {pattern} = {value}", if var { "var" } else { "let" }));
        for (name, kind) in [a, b].into_iter().zip(kinds) {
            self.known.push(KnownName { name, kind, var });
        }
    }

    fn assignment(&mut self) {
        let Some(KnownName { name, kind, .. }) = self.some(|k| k.var) else { return self.binding() };
        let line = match (kind, self.pick(6)) {
            (ValueKind::List | ValueKind::Dict | ValueKind::Record, 4 | 5) => return self.path_assignments(&name),
            (ValueKind::Int, 1) => {
                format!("{name} {} {}", ["+=", "-=", "*=", "/="][self.pick(4)], self.expr(ValueKind::Int, 1))
            }
            (ValueKind::Int, 2) => {
                format!(
                    "{name} {} {}",
                    ["+=", "-=", "*=", "/=", "%="][self.pick(5)],
                    ["1", "2", "0.5", "(-3)"][self.pick(4)]
                )
            }
            (ValueKind::List, 0) => format!("{name}[same({})] = {}", self.expr(ValueKind::Int, 1), self.any(1)),
            (ValueKind::Dict, 0) => format!("{name}[same({})] = {}", self.expr(ValueKind::Text, 1), self.any(1)),
            (ValueKind::Text, 1) => format!("{name} += {}", self.expr(ValueKind::Text, 1)),
            (ValueKind::List, 1) => format!("{name} = {name}.push({})", self.any(1)),
            (ValueKind::List, 2) => format!("{name}[0] = {}", self.any(1)),
            (ValueKind::List, 3) => format!("{name} += {}", self.expr(ValueKind::List, 1)),
            (ValueKind::Dict | ValueKind::Record, 1) => format!("{name}.a = {}", self.any(1)),
            (ValueKind::Dict, 2) => format!("{name}[\"b\"] = {}", self.any(1)),
            (ValueKind::Record, 2) => format!("{name}.b += {}", self.any(1)),
            (kind, _) => format!("{name} = {}", self.expr(kind, 0)),
        };
        self.line(&line);
    }

    /// Assigns through two and three keys, with and without another holder of what is changed.
    fn path_assignments(&mut self, name: &str) {
        let (inner, value) = (self.expr(ValueKind::Int, 1), self.any(1));
        let record = ["{a: 1.5, b: {c: 2}}", "Record {a: 3, b: {c: 0.5}}"][self.pick(2)];
        self.line(&format!("{name} = [{record}, [{inner}, {value}]]"));
        let held = self.fresh("v");
        if self.pick(2) == 0 {
            let part = ["", "[0]", "[0].b", "[1]"][self.pick(4)];
            self.line(&format!("let {held} = {name}{part}"));
            self.line(&format!("defer {{ println(to_string({held})) }}"));
        }
        for _ in 0..=self.pick(4) {
            let path = ["[0].a", "[0].b.c", "[0].b.new", "[1][0]", "[-1][1]", "[1][7]"][self.pick(6)];
            let op = ["=", "+=", "-=", "*=", "/="][self.pick(5)];
            let value = self.expr(ValueKind::Int, 1);
            self.line(&format!("{name}{path} {op} {value}"));
        }
        self.line(&format!("println(to_string({name}))"));
    }

    fn for_loop(&mut self, depth: usize) {
        let over = match self.pick(4) {
            0 => "1 to 4".to_owned(),
            1 => "0 to 3 exclusive".to_owned(),
            2 => self.expr(ValueKind::Text, 1),
            _ => self.expr(ValueKind::List, 1),
        };
        let name = self.fresh("i");
        let (outer, before) = (std::mem::replace(&mut self.in_loop, true), self.known.len());
        self.known.push(KnownName { name: name.clone(), kind: ValueKind::Int, var: false });
        self.nested(&format!("for {name} in {over}"), depth);
        self.known.truncate(before);
        self.in_loop = outer;
    }

    fn while_loop(&mut self, depth: usize) {
        let name = self.fresh("n");
        self.line(&format!("var {name} = 0"));
        let outer = std::mem::replace(&mut self.in_loop, true);
        let turns = 1 + self.pick(5);
        let test = ["<", "<=", "!="][self.pick(3)];
        let until = match self.pick(3) {
            0 => {
                let until = self.fresh("n");
                self.line(&format!("let {until} = {turns}"));
                until
            }
            _ => turns.to_string(),
        };
        self.line(&format!("while {name} {test} {until} {{"));
        self.indent += 1;
        self.line(&format!("{name} += 1"));
        self.statements(depth + 1);
        self.indent -= 1;
        self.line("}");
        self.in_loop = outer;
    }

    fn function(&mut self, depth: usize) {
        let name = self.fresh("f");
        let (a, b) = (self.fresh("p"), self.fresh("p"));
        let head = match self.pick(3) {
            0 => format!("fn {name}({a}, {b} = 2)"),
            1 => format!("fn {name}({a}, ...{b})"),
            _ => format!("fn {name}({a}, {b})"),
        };
        let before = self.known.len();
        let (in_loop, in_function) =
            (std::mem::replace(&mut self.in_loop, false), std::mem::replace(&mut self.in_function, true));
        self.known.push(KnownName { name: a.clone(), kind: ValueKind::Int, var: false });
        self.line(&format!("{head} {{"));
        self.indent += 1;
        self.statements(depth + 1);
        if self.pick(4) == 0 {
            let list = self.expr(ValueKind::List, 2);
            self.line(&format!("if type_of({a}) == \"int\" && {a} == 7 {{ return {list}.map({name}) }}"));
        }
        let last = self.any(1);
        self.line(&last);
        self.indent -= 1;
        self.line("}");
        self.known.truncate(before);
        (self.in_loop, self.in_function) = (in_loop, in_function);
        self.known.push(KnownName { name, kind: ValueKind::Function, var: false });
    }

    fn try_block(&mut self, depth: usize) {
        let form = self.pick(4);
        if form == 0 {
            let name = self.fresh("r");
            self.nested(&format!("let {name} = try"), depth);
            self.line(&format!("println(is_ok({name}))"));
            return;
        }
        self.nested("try", depth);
        if form != 1 {
            let name = self.fresh("e");
            self.line(&format!("catch ({name}) {{"));
            self.indent += 1;
            self.line(&format!("println(\"caught\", type_of({name}))"));
            self.statements(depth + 1);
            self.indent -= 1;
            self.line("}");
        }
        if form != 2 {
            self.nested("finally", depth);
        }
    }

    fn match_value(&mut self, depth: usize) {
        let value = self.any(1);
        self.line(&format!("match {value} {{"));
        self.indent += 1;
        let name = self.fresh("m");
        for head in ["0 | 1 ->", "\"a\" ->", "Variant.None ->"] {
            self.nested(head, depth);
        }
        self.nested(&format!("[{name}, ..._] ->"), depth);
        self.nested(&format!("Variant.One({name}) | Variant.Two(_, {name}) ->"), depth);
        self.nested(&format!("{{a: {name}, b: 2}} ->"), depth);
        let guard = self.expr(ValueKind::Int, 2);
        self.nested(&format!("{name} if type_of({name}) == \"int\" && {name} > {guard} ->"), depth);
        if self.pick(4) != 0 {
            self.nested("_ ->", depth);
        }
        self.indent -= 1;
        self.line("}");
    }

    fn condition(&mut self) -> String {
        let (a, b) = (self.any(1), self.any(2));
        match self.pick(6) {
            4 => {
                let op = ["<", "<=", ">", ">=", "==", "!="][self.pick(6)];
                format!(
                    "same({}) {op} {}",
                    self.expr(ValueKind::Int, 2),
                    ["2", "(-1)", "2.0", "1.5", "100000"][self.pick(5)]
                )
            }
            5 => {
                let op = ["<=", ">", ">=", "!="][self.pick(4)];
                format!("same({}) {op} same({})", self.expr(ValueKind::Int, 2), self.expr(ValueKind::Int, 2))
            }
            0 => a,
            1 => format!("{a} == {b}"),
            2 => format!("{a} && !{b}"),
            _ => format!("{} < {}", self.expr(ValueKind::Int, 2), self.expr(ValueKind::Int, 2)),
        }
    }

    fn any(&mut self, depth: usize) -> String {
        let kind = KINDS[self.pick(KINDS.len())];
        self.expr(kind, depth)
    }

    fn expr(&mut self, kind: ValueKind, depth: usize) -> String {
        if self.pick(16) == 15 {
            let other = KINDS[self.pick(KINDS.len())];
            return self.of_kind(other, depth + 1);
        }
        self.of_kind(kind, depth)
    }

    fn of_kind(&mut self, kind: ValueKind, depth: usize) -> String {
        if depth > 2 {
            if let Some(known) = self.some(|k| k.kind == kind)
                && self.pick(2) == 0
            {
                return known.name;
            }
            return self.literal(kind);
        }
        match kind {
            ValueKind::Int => self.int(depth + 1),
            ValueKind::Text => self.string(depth + 1),
            ValueKind::List => self.list(depth + 1),
            ValueKind::Dict | ValueKind::Function => self.dict(depth + 1),
            ValueKind::Record => self.record(depth + 1),
            ValueKind::Variant => self.variant(depth + 1),
        }
    }

    fn literal(&mut self, kind: ValueKind) -> String {
        let options: &[&str] = match kind {
            ValueKind::Int => &["0", "1", "2", "7", "(-3)", "2.5", "9223372036854775807", "true", "nil"],
            ValueKind::Text => &["\"a\"", "\"\"", "\"héé\"", "\"a,b\""],
            ValueKind::List => &["[]", "[1, 2, 3]", "[\"b\", \"a\"]", "[[1], [2]]"],
            ValueKind::Dict | ValueKind::Function => &["{}", "{a: 1}", "{b: [1], a: {c: 2}}"],
            ValueKind::Record => &["Record.empty()", "(Record {a: 1})", "(Record {b: [1], a: {c: 2}})"],
            ValueKind::Variant => &["Variant.None", "Variant.One(1)", "Variant.Two(\"a\", [1])"],
        };
        options[self.pick(options.len())].to_owned()
    }

    fn int(&mut self, depth: usize) -> String {
        match self.pick(16) {
            12 => {
                let op = ["+", "-", "*", "/", "%"][self.pick(5)];
                let literal = ["1", "2", "(-7)", "300", "0.5", "(-1.5)", "40000"][self.pick(7)];
                let other = format!("same({})", self.expr(ValueKind::Int, depth));
                if self.pick(2) == 0 {
                    format!("({other} {op} {literal})")
                } else {
                    format!("({literal} {op} {other})")
                }
            }
            13 => format!("(-same({}))", self.expr(ValueKind::Int, depth)),
            14 => {
                let list = self.expr(ValueKind::List, depth);
                format!("{list}.push({}).map({{ x -> {{a: x}} }})[{}].a", self.any(depth), self.pick(3))
            }
            15 => format!("same({})[{}]", self.expr(ValueKind::List, depth), self.expr(ValueKind::Int, depth)),
            10 => format!("{}.first()", self.expr(ValueKind::Record, depth)),
            11 => format!("{}.a", self.expr(ValueKind::Record, depth)),
            0 | 1 => self.literal(ValueKind::Int),
            2 | 3 => self.some(|k| k.kind == ValueKind::Int).map_or_else(|| self.literal(ValueKind::Int), |k| k.name),
            4 => {
                let op = ["+", "-", "*", "/", "%", "**"][self.pick(6)];
                format!("({} {op} {})", self.expr(ValueKind::Int, depth), self.expr(ValueKind::Int, depth))
            }
            5 => format!("{}.count()", self.expr(ValueKind::List, depth)),
            6 => format!("({} ?? {})", self.any(depth), self.expr(ValueKind::Int, depth)),
            7 => format!(
                "({} ? {} : {})",
                self.any(depth),
                self.expr(ValueKind::Int, depth),
                self.expr(ValueKind::Int, depth)
            ),
            8 => match self.some(|k| k.kind == ValueKind::Function) {
                Some(f) if !self.in_function => format!("{}({}, {})", f.name, self.any(depth), self.any(depth)),
                _ => format!("{}?.a", self.expr(ValueKind::Dict, depth)),
            },
            _ => format!("{}.reduce(0, {{ s, x -> s + len(to_string(x)) }})", self.expr(ValueKind::List, depth)),
        }
    }

    fn string(&mut self, depth: usize) -> String {
        match self.pick(7) {
            0 | 1 => self.literal(ValueKind::Text),
            2 => self.some(|k| k.kind == ValueKind::Text).map_or_else(|| self.literal(ValueKind::Text), |k| k.name),
            3 => format!("\"<${{{}}}>\"", self.any(depth)),
            4 => format!("({} + {})", self.expr(ValueKind::Text, depth), self.expr(ValueKind::Text, depth)),
            5 => format!("{}.join(\"-\")", self.expr(ValueKind::List, depth)),
            _ => format!("{}.upper().reverse()", self.expr(ValueKind::Text, depth)),
        }
    }

    fn list(&mut self, depth: usize) -> String {
        match self.pick(14) {
            11 => match self.some(|k| k.kind == ValueKind::Function) {
                Some(f) if !self.in_function => {
                    format!("{}.map({})", self.expr(ValueKind::List, depth), f.name)
                }
                _ => self.literal(ValueKind::List),
            },
            12 => format!("{}.sort_by({{ x -> len(to_string(x)) }})", self.expr(ValueKind::List, depth)),
            13 => format!("\"{} b  a\".split()", ["a", "", "é", "a a"][self.pick(4)]),
            10 => format!("[{}.inside()]", self.expr(ValueKind::Variant, depth)),
            0 | 1 => self.literal(ValueKind::List),
            2 => self.some(|k| k.kind == ValueKind::List).map_or_else(|| self.literal(ValueKind::List), |k| k.name),
            3 => format!("[{}, ...{}]", self.any(depth), self.expr(ValueKind::List, depth)),
            4 => {
                // What a closure catches is a variable, not its value.
                let seen = self.some(|k| k.kind != ValueKind::Function).map_or("0".to_owned(), |k| k.name);
                format!("{}.map({{ x -> [x, {seen}] }})", self.expr(ValueKind::List, depth))
            }
            5 => format!("{}.filter({{ x -> x != {} }})", self.expr(ValueKind::List, depth), self.any(depth)),
            6 => format!("{}[{}:{}]", self.expr(ValueKind::List, depth), self.pick(3), self.pick(4)),
            7 => format!("{}.chars()", self.expr(ValueKind::Text, depth)),
            8 => format!("{}.keys()", self.expr(ValueKind::Dict, depth)),
            _ => format!("{}.push({})", self.expr(ValueKind::List, depth), self.any(depth)),
        }
    }

    fn dict(&mut self, depth: usize) -> String {
        match self.pick(7) {
            6 => format!("{{...{}}}", self.expr(ValueKind::Record, depth)),
            0 | 1 => self.literal(ValueKind::Dict),
            2 => self.some(|k| k.kind == ValueKind::Dict).map_or_else(|| self.literal(ValueKind::Dict), |k| k.name),
            3 => format!("{{a: {}, ...{}}}", self.any(depth), self.expr(ValueKind::Dict, depth)),
            4 => format!("({} + {})", self.expr(ValueKind::Dict, depth), self.expr(ValueKind::Dict, depth)),
            _ => format!("{}.map_values({{ x -> [x] }})", self.expr(ValueKind::Dict, depth)),
        }
    }

    fn record(&mut self, depth: usize) -> String {
        match self.pick(5) {
            0 | 1 => self.literal(ValueKind::Record),
            2 => self.some(|k| k.kind == ValueKind::Record).map_or_else(|| self.literal(ValueKind::Record), |k| k.name),
            3 => format!("(Record {{a: {}, b: {}}})", self.any(depth), self.any(depth)),
            _ => format!("{}.with({})", self.expr(ValueKind::Record, depth), self.any(depth)),
        }
    }

    fn variant(&mut self, depth: usize) -> String {
        match self.pick(5) {
            0 | 1 => self.literal(ValueKind::Variant),
            2 => {
                self.some(|k| k.kind == ValueKind::Variant).map_or_else(|| self.literal(ValueKind::Variant), |k| k.name)
            }
            3 => format!("Variant.One({})", self.any(depth)),
            _ => format!("Variant.Two({}, {})", self.any(depth), self.any(depth)),
        }
    }
}

/// Returns the program that the choices make.
pub(crate) fn program(choices: &[u8]) -> String {
    let mut writer = Writer {
        choices: choices.iter(),
        text: TYPES.to_owned(),
        known: Vec::new(),
        named: 0,
        indent: 0,
        in_loop: false,
        in_function: false,
    };
    while !writer.is_over() {
        writer.statement(0);
    }
    for known in std::mem::take(&mut writer.known) {
        if known.kind != ValueKind::Function {
            writer.line(&format!("println({})", known.name));
        }
    }
    writer.text
}

/// Returns the VM's outcome of a program, or `None` if the checker rejects it.
fn run(text: &str) -> Option<OracleOutcome> {
    let output = Rc::new(Captured::default());
    let limits = RunLimits { fuel: Some(50_000_000), ..RunLimits::default() };
    let engine = Engine::new(RunOptions { limits, output: output.clone(), ..RunOptions::default() });
    let source = Source::new("generated.harn", text);
    if lang::script::has_errors(&engine.check(&source)) {
        return None;
    }
    let ran = engine.run(&source);
    Some(OracleOutcome::Ran { out: output.stdout(), failed: lang::script::has_errors(&ran.diagnostics) })
}

/// Number of programs: `PROPTEST_CASES` sets it.
#[test]
fn agrees_with_generated_programs() {
    let (compared, refused, uncovered) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let mut config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = 1500;
    }
    let cases = config.cases;
    let outcome = TestRunner::new(config).run(&prop::collection::vec(any::<u8>(), 0..240), |choices| {
        let text = program(&choices);
        match (run(&text), evaluate("generated.harn", &text)) {
            (None, _) => refused.set(refused.get() + 1),
            (_, OracleOutcome::Uncovered(_)) => uncovered.set(uncovered.get() + 1),
            (Some(vm), plain) => {
                compared.set(compared.get() + 1);
                prop_assert_eq!(&vm, &plain, "left: the VM, right: the second evaluator\n{}", text);
            }
        }
        Ok(())
    });
    println!("{} compared, {} refused by check, {} not covered", compared.get(), refused.get(), uncovered.get());
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
    assert!(compared.get() * 2 > cases, "only {} of {cases} programs were compared", compared.get());
}

/// Collects the spans of calls, operators and members.
struct Operations(Vec<(u32, u32)>);

impl<'a> Visit<'a> for Operations {
    fn expr(&mut self, e: &'a Expr) {
        let is_operation = matches!(
            e.kind,
            ExprKind::Call { .. }
                | ExprKind::Binary(..)
                | ExprKind::Unary(..)
                | ExprKind::Index { .. }
                | ExprKind::Slice { .. }
                | ExprKind::Field { .. }
        );
        if is_operation {
            self.0.push((e.span.start, e.span.end));
        }
        walk_expr(self, e);
    }
}

/// Returns an error of `check` about an operation that had a result in a run.
fn false_alarm(text: &str) -> Option<String> {
    let source = Source::new("generated.harn", text);
    let found = Engine::new(RunOptions::default()).check(&source);
    // A function that takes too much is an error also where it is never called, as with an empty list.
    let errors: Vec<_> = found.iter().filter(|d| d.severity == Severity::Error && d.code != CheckCode::Arity).collect();
    if errors.is_empty() {
        return None;
    }
    let mut operations = Operations(Vec::new());
    let parsed = lang::parse::parse(&source);
    walk_module(&mut operations, &parsed.module);
    let (_, evaluated) = evaluate_expressions("generated.harn", text);
    errors.into_iter().find_map(|d| {
        let label = d.labels.first()?;
        // The operation fails, not the value that is labelled in it.
        let around = |(start, end): &&(u32, u32)| {
            let inside = *start <= label.span.start && label.span.end <= *end;
            inside && (*start, *end) != (label.span.start, label.span.end)
        };
        let failing = operations.0.iter().filter(around).min_by_key(|(start, end)| end - start)?;
        evaluated.contains(failing).then(|| format!("{}: {}", d.message, &text[failing.0 as usize..failing.1 as usize]))
    })
}

/// `check` reports only what fails whenever it runs: no operation that it calls an error has a result.
#[test]
fn check_refuses_nothing_that_works() {
    let mut config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = 2000;
    }
    let outcome = TestRunner::new(config).run(&prop::collection::vec(any::<u8>(), 0..240), |choices| {
        let text = program(&choices);
        prop_assert_eq!(false_alarm(&text), None, "{}", text);
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}
