//! Scripts through the whole road: text in, printed output out.

mod basics;
mod cycles;
mod exits;
mod iterators;
mod methods;
mod modules;

use lang::builtins::{Registry, TABLES};
use lang::diagnostic::Diagnostic;
use lang::script::{Options, load};
use lang::source::Source;
use lang::value::{Value, inspect};
use lang::vm::{Context, Exit, Fiber, Host, Isolate, Limits};
use std::any::Any;
use std::cell::RefCell;
use std::rc::Rc;

#[derive(Default)]
struct Capture {
    out: RefCell<String>,
}

impl Host for Capture {
    fn print(&self, text: &str) {
        self.out.borrow_mut().push_str(text);
    }
    fn eprint(&self, text: &str) {
        self.out.borrow_mut().push_str(text);
    }
    fn now_ms(&self) -> u64 {
        0
    }
    fn random(&self) -> u64 {
        4
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

static GROUPS: &[&[&[lang::builtins::Builtin]]] = &[TABLES];

/// What a script prints; diagnostics are drawn behind it.
fn run(text: &str) -> String {
    let host = Rc::new(Capture::default());
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
    let main = Value::Closure(Rc::new(lang::value::Closure { proto: unit.main, captures: Vec::new() }));
    let result = finish(&isolate, main);
    let result = match (result, unit.pipelines.first()) {
        (Ok(_), Some(entry)) => {
            let proto = isolate.function(entry.function).expect("a pipeline is a function");
            finish(&isolate, Value::Closure(Rc::new(lang::value::Closure { proto, captures: Vec::new() })))
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

fn finish(isolate: &Rc<Isolate>, function: Value) -> Result<Value, Box<lang::vm::Raise>> {
    let mut fiber = Fiber::new(isolate, &Rc::new(Context::default()), function, [])?;
    loop {
        match fiber.run() {
            Exit::Done(value) => return Ok(value),
            Exit::Raised(raise) => return Err(raise),
            Exit::Yield => {}
            Exit::Wait(_) => panic!("nothing here waits"),
        }
    }
}

/// A diagnostic in one line: drawing has tests of its own.
fn show(d: &Diagnostic) -> String {
    let at = d.labels.first().map_or(String::new(), |l| {
        let p = l.source.position(l.span.start);
        format!(" at {}:{}", p.line, p.column)
    });
    format!("{}: {}{at}\n", d.code, d.message)
}
