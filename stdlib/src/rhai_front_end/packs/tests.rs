//! Randomly generated packs, and the computation of a hostile one.

use super::budget::{Budget, PackSpec};
use super::meter::{Limit, Meter};
use super::provider::guarded;
use super::sandbox::{Printed, engine};
use crate::engine::Engine;
use crate::engine::RunOptions;
use crate::output::Captured;
use lang::diagnostic::Diagnostic;
use lang::module::Loader;
use lang::source::Source;
use lang::source::SourceRef;
use std::rc::Rc;
use std::time::Duration;

/// Counts the memory of packs.
#[global_allocator]
static ALLOCATOR: lang::vm::Counted = lang::vm::Counted;

/// Returns the limit that a text reaches within a budget, and the number of operations.
fn spent(text: &str, budget: Budget) -> (Option<Limit>, u64) {
    let meter = Rc::new(Meter::new(budget));
    let engine = engine(&meter, &Rc::<Printed>::default(), &[]);
    let ast = engine.compile(text).unwrap_or_else(|e| panic!("{text}: {e}"));
    let ran = guarded(&meter, || engine.run_ast(&ast).is_err()).unwrap_or_else(|| panic!("{text}: a panic"));
    assert!(ran, "{text}: it ended by itself");
    (meter.hit(), meter.operations())
}

#[test]
fn operations_are_counted_over_everything_that_a_text_does() {
    let budget = || Budget { operations: 5_000, time: Duration::from_secs(3600), ..Budget::default() };
    for text in [
        "loop {}",
        "while true {}",
        "for i in 0..9223372036854775807 {}",
        "loop { try { loop {} } catch {} }",
        "loop { try { throw 1 } catch {} }",
        "let xs = []; xs.pad(1000, 0); loop { xs.for_each(|x| x + 1); }",
        "let xs = []; xs.pad(100, 0); xs.for_each(|x| { let ys = []; ys.pad(100, x); ys.for_each(|y| y + 1) });",
        "let xs = []; xs.pad(1000, 0); loop { xs.sort(|a, b| b - a); }",
        "let m = #{a: 1}; loop { m.a += 1; }",
        "fn f() { 1 } loop { f(); }",
        "loop { \"abc\".len(); }",
        "loop { switch 3 { 1 => 1, _ => 2 } }",
    ] {
        let (hit, operations) = spent(text, budget());
        assert_eq!((hit, operations), (Some(Limit::Operations), 5_001), "{text}");
    }
}

#[test]
fn the_other_limits_end_a_text_as_well() {
    let endless = || Budget { operations: u64::MAX, time: Duration::from_secs(3600), ..Budget::default() };
    let text =
        "fn more(n) { let t = \"\" + n; t.pad(1000000, \"x\"); if n == 0 { 0 } else { more(n - 1) + t.len() } }\n";
    let four = "let a = more(20);";
    let small = Budget { memory: 8 << 20, ..endless() };
    assert_eq!(spent(&format!("{text}{four}"), small).0, Some(Limit::Memory));
    assert_eq!(spent("loop {}", Budget { time: Duration::from_millis(1), ..endless() }).0, Some(Limit::Time));
    // What nests without calls of the pack's own is ended by the room on the stack.
    let nested = "let a = []; let b = []; for i in 0..9000 { a = [a]; b = [b]; } a == b; throw 1";
    assert!(matches!(spent(nested, endless()).0, Some(Limit::Depth) | None));
}

/// Checks the list of everything that a pack can call, so that a function of a new version is
/// reviewed before it is offered.
#[test]
fn what_a_pack_may_call_is_a_list_that_somebody_has_read() {
    let meter = Rc::new(Meter::new(Budget::default()));
    let engine = engine(&meter, &Rc::<Printed>::default(), &[]);
    let signatures = engine.gen_fn_signatures(true);
    let mut names: Vec<&str> = signatures.iter().filter_map(|s| s.split('(').next()).map(str::trim).collect();
    names.sort_unstable();
    names.dedup();
    let known: Vec<&str> = include_str!("offered.txt").split_whitespace().collect();
    assert_eq!(names, known, "judge what is new, then add it to offered.txt");
    for gone in ["sleep", "exit", "timestamp", "elapsed", "eval", "get_fn_metadata_list", "take", "parse_json"] {
        assert!(!names.contains(&gone), "{gone}");
    }
}

/// A file that is only in memory.
struct OneFile(String);

impl Loader for OneFile {
    fn load(&self, path: &str) -> Result<SourceRef, Box<Diagnostic>> {
        Ok(Source::new(path, self.0.as_str()))
    }
}

/// A random number generator with the same numbers on every machine.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((z ^ (z >> 31)) % n as u64).unwrap_or(0)
    }

    fn of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len())]
    }

    fn name(&mut self) -> &'static str {
        self.of(&["a", "b", "c", "ctx", "xs"])
    }

    fn expression(&mut self, depth: usize) -> String {
        if depth == 0 {
            let word = self.of(&[
                "1",
                "0",
                "-1",
                "9223372036854775807",
                "2.5",
                "\"text\"",
                "'c'",
                "true",
                "()",
                "[]",
                "#{}",
                "0..9",
            ]);
            return if self.below(2) == 0 { word.to_owned() } else { self.name().to_owned() };
        }
        let d = depth - 1;
        match self.below(16) {
            0 => format!("[{}, {}]", self.expression(d), self.expression(d)),
            1 => format!("#{{k: {}, evaluate: {}}}", self.expression(d), self.expression(d)),
            2 => format!(
                "({} {} {})",
                self.expression(d),
                self.of(&["+", "-", "*", "/", "%", "**", "<<", "==", "<", "&&", "??", "in"]),
                self.expression(d)
            ),
            3 => format!("{}[{}]", self.expression(d), self.expression(d)),
            4 => format!("{}.{}", self.expression(d), self.of(&["k", "payload", "session", "messages", "len", "id"])),
            // Refused nearly everywhere, so not too often.
            5 if self.below(20) == 0 => format!("|{}| {}", self.name(), self.expression(d)),
            6 => format!("{}.{}({})", self.expression(d), self.of(&METHODS), self.expression(d)),
            7 => format!("{}.{}(|{}| {})", self.expression(d), self.of(&METHODS), self.name(), self.expression(d)),
            8 => format!(
                "{}({})",
                self.of(&["f", "g", "blob", "range", "json_parse", "sha256", "print", "to_debug", "regex_match"]),
                self.expression(d)
            ),
            9 => format!("`{}${{{}}}`", self.of(&["x", "\\n", ""]), self.expression(d)),
            10 => format!("if {} {{ {} }} else {{ {} }}", self.expression(d), self.expression(d), self.expression(d)),
            11 => format!(
                "switch {} {{ 1 => {}, \"x\" => {}, _ => {} }}",
                self.expression(d),
                self.expression(d),
                self.expression(d),
                self.expression(d)
            ),
            12 => format!("{{ {} {} }}", self.statement(d), self.expression(d)),
            13 => format!("{}.replace({}, {})", self.expression(d), self.expression(d), self.expression(d)),
            14 => format!("loop {{ break {}; }}", self.expression(d)),
            _ => self.expression(0),
        }
    }

    fn statement(&mut self, depth: usize) -> String {
        let d = depth.saturating_sub(1);
        match self.below(9) {
            0 => format!("let {} = {};", self.name(), self.expression(d)),
            1 => format!("{} = {};", self.name(), self.expression(d)),
            2 => format!("{} += {};", self.name(), self.expression(d)),
            3 => format!("while {} {{ {} }}", self.expression(d), self.expression(d)),
            4 => format!("for {} in {} {{ {} }}", self.name(), self.expression(d), self.expression(d)),
            5 => format!("try {{ {}; }} catch (e) {{ {}; }}", self.expression(d), self.expression(d)),
            6 => format!("throw {};", self.expression(d)),
            7 => format!("{}[{}] = {};", self.name(), self.expression(d), self.expression(d)),
            _ => format!("{};", self.expression(d)),
        }
    }

    fn pack(&mut self) -> String {
        let top = if self.below(4) == 0 { self.statement(2) } else { String::new() };
        let body: String = (0..self.below(5)).map(|_| self.statement(3) + "\n").collect();
        let last = self.expression(3);
        format!(
            "fn f(x) {{ {} }}\nfn g(x) {{ {} }}\nlet a = 1; let b = []; let c = \"t\"; let xs = [3, 1, 2];\n{top}\n\
             register_reminder_provider(#{{id: \"made-up\", subscribes_to: [\"post_turn\"], evaluate: |ctx| {{\n{body}{last}\n}}}});\n",
            self.expression(2),
            self.expression(2)
        )
    }
}

/// Methods that the texts call.
const METHODS: [&str; 20] = [
    "map",
    "filter",
    "push",
    "pad",
    "for_each",
    "reduce",
    "sort",
    "index_of",
    "split",
    "to_string",
    "to_debug",
    "repeat",
    "contains",
    "insert",
    "drain",
    "zip",
    "join",
    "dedup",
    "keys",
    "to_json",
];

#[test]
fn a_thousand_made_up_packs_cannot_panic_stop_or_change_a_run() {
    let script = "let r = agent_loop(\"go\", nil, {llm_caller: { a -> \"answer\" }})\nprintln(r.text)\n";
    let budget = Budget { operations: 20_000, time: Duration::from_secs(20), memory: 16 << 20, ..Budget::default() };
    let (mut loaded, mut failed) = (0, 0);
    for seed in 0..1_000 {
        let text = Dice(seed).pack();
        let output = Rc::new(Captured::default());
        let options = RunOptions {
            seed: Some(1),
            output: output.clone(),
            loader: Rc::new(OneFile(text.clone())),
            packs: vec![PackSpec { budget: budget.clone(), ..PackSpec::plain("made-up.rhai") }],
            ..RunOptions::default()
        };
        let ran = Engine::new(options).run(&Source::new("main.harn", script));
        let said = format!("{:?} {}", ran.diagnostics, output.stderr());
        assert!(!said.contains("caused an internal error"), "seed {seed}:\n{text}\n{said}");
        match ran.exit_code {
            0 => assert_eq!(output.stdout(), "answer\n", "seed {seed}:\n{text}"),
            code => assert_eq!((code, output.stdout().as_str()), (1, ""), "seed {seed}:\n{text}\n{said}"),
        }
        loaded += usize::from(ran.exit_code == 0);
        failed += usize::from(ran.exit_code == 0 && said.contains("HARN-PCK"));
    }
    // The grammar makes packs that run, and such that go wrong while they do.
    assert!(loaded > 100 && failed > 30, "{loaded} were loaded, {failed} of them went wrong");
}
