//! A second evaluator, to check the first one against: it walks the tree, looks names up in maps, copies what it changes
//! and knows nothing of registers, moves or caches. It shares the parser with the VM and nothing else.
//!
//! It covers the sequential core. What it does not know it says ([`Stop::Uncovered`]), and then the script counts for
//! nothing; [`agrees_with_scripts`] wants it to know most of `tests/lang`.

mod call;
mod expression;
pub(crate) mod generate;
mod method;
mod operator;
mod pattern;
mod scope;
mod statement;
mod value;

use crate::harn::root;
use lang::ast::{Field, FnDecl, Module, Variant};
use lang::source::Source;
use scope::Scope;
use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::rc::{Rc, Weak};
use std::{fs, thread};
use value::Value;

/// Native stack for one evaluation, which recurses freely.
const STACK: usize = 512 << 20;
/// Statements, expressions and copied elements that one script may take here.
const STEPS: u64 = 1_000_000;

/// The reason why an evaluation ends early.
pub(crate) enum Stop<'a> {
    Throw(Value<'a>),
    Return(Value<'a>),
    Break,
    Continue,
    /// It met something that it does not know.
    Uncovered(String),
}

/// A value, or what stopped it.
pub(crate) type Evaluated<'a> = Result<Value<'a>, Stop<'a>>;

/// An error of the language.
pub(crate) fn throw_code<'a, T>(code: &'static str) -> Result<T, Stop<'a>> {
    Err(Stop::Throw(Value::Fault(code)))
}

/// Returns the stop for syntax that this evaluator does not know.
pub(crate) fn uncovered<'a, T>(what: &str) -> Result<T, Stop<'a>> {
    Err(Stop::Uncovered(what.to_owned()))
}

/// One evaluation.
#[derive(Default)]
pub(crate) struct Oracle<'a> {
    out: String,
    steps: u64,
    /// Calls that are not finished.
    depth: usize,
    pipelines: Vec<&'a FnDecl>,
    structs: HashMap<String, &'a [Field]>,
    enums: HashMap<String, &'a [Variant]>,
    methods: HashMap<(String, String), Value<'a>>,
    /// The spans of the expressions that had a value.
    evaluated: BTreeSet<(u32, u32)>,
    /// Scopes of calls, to be emptied at the end.
    scopes: Vec<Weak<Scope<'a>>>,
}

/// The outcome of a script.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum OracleOutcome {
    /// The output, and whether an error ended the script.
    Ran { out: String, failed: bool },
    /// The syntax that is not covered.
    Uncovered(String),
}

impl<'a> Oracle<'a> {
    fn step(&mut self) -> Result<(), Stop<'a>> {
        self.copied(1)
    }

    /// Counts elements that are copied.
    fn copied(&mut self, elements: usize) -> Result<(), Stop<'a>> {
        self.steps += elements as u64;
        if self.steps > STEPS { uncovered("a long run") } else { Ok(()) }
    }

    /// The file's statements, then its pipeline.
    fn module(&mut self, module: &'a Module) -> Evaluated<'a> {
        let top = Rc::new(Scope::default());
        self.scopes.push(Rc::downgrade(&top));
        let result = self.body(&module.body, &top);
        let result = result.and_then(|value| match self.chosen() {
            Some(decl) => self.pipeline(decl, &top),
            None => Ok(value),
        });
        for scope in std::mem::take(&mut self.scopes) {
            if let Some(scope) = scope.upgrade() {
                scope.clear();
            }
        }
        result
    }

    fn chosen(&self) -> Option<&'a FnDecl> {
        let named = |name: &str| self.pipelines.iter().find(|p| p.name.text == name);
        named("default").or_else(|| named("main")).or(self.pipelines.first()).copied()
    }

    fn pipeline(&mut self, decl: &'a FnDecl, top: &Rc<Scope<'a>>) -> Evaluated<'a> {
        let scope = Scope::inside(top);
        for param in &decl.params {
            if param.default.is_some() || param.rest {
                return uncovered("this parameter of a pipeline");
            }
            self.bind(&param.pattern, Value::Nil, &scope)?;
        }
        match self.block(&decl.body, &scope) {
            Err(Stop::Return(value)) => Ok(value),
            other => other,
        }
    }
}

/// Evaluates a script that has no syntax error.
pub(crate) fn evaluate(name: &str, text: &str) -> OracleOutcome {
    evaluate_expressions(name, text).0
}

/// Evaluates a script like [`evaluate`], on a stack large enough. Returns the spans of the expressions that had a value as well.
pub(crate) fn evaluate_expressions(name: &str, text: &str) -> (OracleOutcome, BTreeSet<(u32, u32)>) {
    let source = Source::new(name, text);
    let evaluation = move || {
        let parsed = lang::parse::parse(&source);
        if !parsed.is_ok() {
            return (OracleOutcome::Uncovered("a syntax error".into()), BTreeSet::new());
        }
        let mut oracle = Oracle::default();
        let result = oracle.module(&parsed.module);
        let out = std::mem::take(&mut oracle.out);
        let outcome = match result {
            Ok(_) | Err(Stop::Return(_)) => OracleOutcome::Ran { out, failed: false },
            Err(Stop::Throw(_)) => OracleOutcome::Ran { out, failed: true },
            Err(Stop::Break | Stop::Continue) => OracleOutcome::Uncovered("a loop that is left from outside".into()),
            Err(Stop::Uncovered(what)) => OracleOutcome::Uncovered(what),
        };
        (outcome, std::mem::take(&mut oracle.evaluated))
    };
    let thread = thread::Builder::new().stack_size(STACK).spawn(evaluation);
    thread.unwrap().join().unwrap()
}

fn scripts(folder: &Path, found: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            scripts(&path, found);
        } else if path.extension().is_some_and(|e| e == "harn") && path.with_extension("out").exists() {
            found.push(path);
        }
    }
}

/// Each script of `tests/lang` whose every construct is known here prints what its `.out` says; the VM is held to the same
/// file by `tests/it`.
#[test]
fn agrees_with_scripts() {
    let mut files = Vec::new();
    scripts(&root().join("tests/lang"), &mut files);
    files.sort();
    let (mut covered, mut wrong, mut left) = (0, Vec::new(), Vec::new());
    for file in &files {
        let name = file.strip_prefix(root()).unwrap().display().to_string();
        let wanted = fs::read_to_string(file.with_extension("out")).unwrap();
        match evaluate(&name, &fs::read_to_string(file).unwrap()) {
            OracleOutcome::Uncovered(what) => left.push(format!("{name}: {what}")),
            OracleOutcome::Ran { out, .. } if out == wanted => covered += 1,
            OracleOutcome::Ran { out, .. } => {
                wrong.push(format!("{name}\n{}", crate::diff::diff(&wanted, &out).unwrap_or_default()));
            }
        }
    }
    println!("{covered} of {} scripts are covered; left:\n{}", files.len(), left.join("\n"));
    assert!(
        wrong.is_empty(),
        "{} scripts disagree (-expected, +second evaluator)\n\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(covered * 100 >= files.len() * LEAST_COVERED, "only {covered} of {} scripts are covered", files.len());
}

/// Scripts of a hundred that the second evaluator must cover, the rest being about agents, files, tasks and modules.
const LEAST_COVERED: usize = 40;
