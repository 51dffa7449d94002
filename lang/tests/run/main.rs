//! Scripts through the whole road: text in, printed output out.

mod basics;
mod callbacks;
mod charged;
mod corrupted;
mod cycles;
mod driver;
mod exits;
mod fuel;
mod iterators;
mod methods;
mod modules;
mod paths;
mod pipelines;
mod tasks;

use driver::Bench;
use lang::builtins::{Registry, TABLES};
use lang::compile::Unit;
use lang::diagnostic::Diagnostic;
use lang::script::{Options, load};
use lang::source::Source;
use lang::value::{Value, inspect};
use lang::vm::{Context, Fiber, Isolate, Limits, Outcome, Proto};
use std::rc::Rc;

static GROUPS: &[&[&[lang::builtins::Builtin]]] = &[TABLES, driver::OWN];

/// Returns the output of a script, followed by its rendered diagnostics.
fn run(text: &str) -> String {
    let host = Rc::new(Bench::default());
    // A limit that is reached soon.
    let limits = Limits { value_bytes: 1 << 24, ..Limits::default() };
    let isolate = Isolate::new(Registry::new(GROUPS), host.clone(), limits, Vec::new());
    let source = Source::new("test.harn", text);
    let loaded = load(&isolate, &source, Options::default());
    let mut out = String::new();
    for d in loaded.diagnostics.iter().filter(|d| d.severity == lang::diagnostic::Severity::Error) {
        out.push_str(&show(d));
    }
    let Some(unit) = loaded.unit else { return out };
    let result = finish(&isolate, closure(&unit.main));
    let result = match (result, unit.pipelines.first()) {
        (Ok(_), Some(entry)) => {
            let proto = isolate.function(entry.function).expect("a pipeline is a function");
            finish(&isolate, closure(&proto))
        }
        (result, _) => result,
    };
    out.push_str(&host.out.borrow());
    match result {
        Ok(value) if value.is_nil() => {}
        Ok(value) => out.push_str(&format!("=> {}\n", inspect(&value))),
        Err(raise) => out.push_str(&show(&raise.to_diagnostic())),
    }
    out
}

/// A script that compiles, and what it runs on.
fn loaded(text: &str) -> (Rc<Isolate>, Rc<Bench>, Unit) {
    let host = Rc::new(Bench::default());
    let isolate = Isolate::new(Registry::new(GROUPS), host.clone(), Limits::default(), Vec::new());
    let found = load(&isolate, &Source::new("test.harn", text), Options::default());
    let unit = found.unit.unwrap_or_else(|| panic!("{:?}", found.diagnostics));
    (isolate, host, unit)
}

fn closure(proto: &Rc<Proto>) -> Value {
    Value::Closure(Rc::new(lang::value::Closure { proto: proto.clone(), captures: Vec::new() }))
}

fn finish(isolate: &Rc<Isolate>, function: Value) -> Outcome {
    let context = Rc::new(Context::default());
    let fiber = Fiber::new(isolate, &context, function, [])?;
    let outcome = driver::block_on(lang::vm::run(isolate, &context.task, lang::vm::drive(fiber)));
    driver::block_on(lang::vm::close(isolate, &context.task));
    outcome
}

/// A diagnostic in one line: drawing has tests of its own.
fn show(d: &Diagnostic) -> String {
    let at = d.labels.first().map_or(String::new(), |l| {
        let p = l.source.position(l.span.start);
        format!(" at {}:{}", p.line, p.column)
    });
    format!("{}: {}{at}\n", d.code, d.message)
}
