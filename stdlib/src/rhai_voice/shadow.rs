//! Functions of Rhai's standard library that would get round the run: those of the table stand in their place.

use super::Voice;
use super::offer::{add, run};
use lang::builtins::Builtin;
use rhai::{EvalAltResult, Module, Position};
use std::any::TypeId;
use std::rc::Weak;

/// Their names, with their parameters: `sleep` holds up the whole thread, `timestamp` knows no other clock than the system's.
fn shadowed() -> [(&'static str, Vec<TypeId>); 3] {
    [("sleep", vec![TypeId::of::<i64>()]), ("sleep", vec![TypeId::of::<f64>()]), ("timestamp", vec![])]
}

/// Functions that stand before Rhai's own. Where the row of that name is not offered, there is no such function.
pub(super) fn shadows(voice: &Weak<Voice>, rows: &[&'static Builtin]) -> Module {
    let mut module = Module::new();
    for (name, types) in shadowed() {
        let row = rows.iter().find(|row| row.module.is_empty() && row.name == name).copied();
        let voice = voice.clone();
        let (signature, doc) = row.map_or(("", ""), |row| (row.sig, row.doc));
        add(&mut module, name, &types, signature, doc, move |context, args| match row {
            // The first may be a variable of the script.
            Some(row) => run(&voice, context, row, args.iter().map(|arg| (**arg).clone())),
            None => Err(EvalAltResult::ErrorFunctionNotFound(name.to_owned(), Position::NONE).into()),
        });
    }
    module
}
