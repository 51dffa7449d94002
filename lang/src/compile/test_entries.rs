//! The tests of a file: what `test "name"` blocks and functions with attributes compile to.

use super::Compiler;
use crate::ast::*;
use crate::source::Span;
use smol_str::SmolStr;
use std::rc::Rc;

/// The purposes of a compilation, beside running the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CompileMode {
    /// Its tests are compiled, and a failed `assert` shows the values of its parts.
    pub tests: bool,
    /// The lines that run are counted.
    pub coverage: bool,
    /// Its entry points for others are described.
    pub public: bool,
}

/// The tests of a file, and the functions around each of them, in the order of the text.
#[derive(Clone, Debug, Default)]
pub struct Tests {
    /// The tests.
    pub all: Vec<TestEntry>,
    /// Numbers of the functions that run before each test.
    pub before: Vec<usize>,
    /// Numbers of the functions that run after each test.
    pub after: Vec<usize>,
}

/// A test that can be run.
#[derive(Clone, Debug)]
pub struct TestEntry {
    /// Its name: that of the function, or the text of the block.
    pub name: SmolStr,
    /// Its number in the isolate.
    pub function: usize,
    /// Number of the function that returns the list of its cases.
    pub cases: Option<usize>,
    /// The number of its parameters.
    pub params: usize,
    /// The folder of the recording that answers its model calls.
    pub recording: Option<String>,
    /// Span of its name.
    pub span: Span,
}

impl<'a> Compiler<'a> {
    /// Compiles the tests of a file; `numbers` are those of its top-level functions.
    pub(super) fn tests(&mut self, module: &'a Module, numbers: &[usize]) -> Tests {
        let mut tests = Tests::default();
        let mut numbers = numbers.iter();
        for stmt in &module.body {
            let StmtKind::Item(item) = &stmt.kind else { continue };
            match &item.kind {
                ItemKind::Test(decl) => {
                    let function = self.isolate.add_function(Rc::default());
                    let proto = self.uncovered(|compiler| compiler.function(decl, None, false));
                    self.made.push((function, proto));
                    let (name, span) = (decl.name.text.clone(), decl.name.span);
                    tests.all.push(TestEntry { name, function, cases: None, params: 0, recording: None, span });
                }
                ItemKind::Fn(decl) | ItemKind::Pipeline { decl, .. } | ItemKind::Tool { decl, .. } => {
                    let Some(function) = numbers.next().copied() else { continue };
                    if item.attribute(BEFORE).is_some() {
                        tests.before.push(function);
                    }
                    if item.attribute(AFTER).is_some() {
                        tests.after.push(function);
                    }
                    if let Some(attribute) = item.attribute(TEST) {
                        let cases = attribute.arg("cases").map(|cases| self.cases(cases));
                        let recording = attribute.arg("recording").and_then(Expr::plain_text).map(str::to_owned);
                        let (name, span) = (decl.name.text.clone(), decl.name.span);
                        tests.all.push(TestEntry { name, function, cases, params: decl.params.len(), recording, span });
                    }
                }
                _ => {}
            }
        }
        tests
    }

    fn cases(&mut self, cases: &'a Expr) -> usize {
        let number = self.isolate.add_function(Rc::default());
        let proto = self.uncovered(|compiler| compiler.default_proto(cases, "<cases>", cases.span));
        self.made.push((number, proto));
        number
    }

    /// Compiles code whose lines are not counted: tests measure other code.
    pub(super) fn uncovered<R>(&mut self, compile: impl FnOnce(&mut Self) -> R) -> R {
        let coverage = std::mem::take(&mut self.mode.coverage);
        let result = compile(self);
        self.mode.coverage = coverage;
        result
    }
}

/// Whether a declaration belongs to the tests of its file.
pub(super) fn is_of_tests(item: &Item) -> bool {
    [TEST, BEFORE, AFTER].iter().any(|name| item.attribute(name).is_some())
}
