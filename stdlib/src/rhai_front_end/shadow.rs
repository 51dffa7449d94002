//! Replacements of functions in Rhai's standard library that would bypass the run.

use super::offer::{add, run};
use super::size::add_measured;
use super::sorting::add_sorting;
use super::value::Opaque;
use lang::builtins::Builtin;
use rhai::{Dynamic, Engine, EvalAltResult, Module, Position, Token};
use std::any::TypeId;

/// Their names, with their parameters: `sleep` holds up the whole thread, `timestamp` knows no other clock than the system's,
/// `exit` in a file that is imported ends no more than that.
fn shadowed() -> [(&'static str, Vec<TypeId>); 5] {
    [
        ("sleep", vec![TypeId::of::<i64>()]),
        ("sleep", vec![TypeId::of::<f64>()]),
        ("timestamp", vec![]),
        ("exit", vec![]),
        ("exit", vec![TypeId::of::<Dynamic>()]),
    ]
}

/// Returns functions that take precedence over Rhai's own. If the row of that name is not offered,
/// there is no such function.
pub(super) fn shadows(rows: &[&'static Builtin]) -> Module {
    let mut module = Module::new();
    for (name, types) in shadowed() {
        let row = rows.iter().find(|row| row.module.is_empty() && row.name == name).copied();
        if row.is_none() && name == "exit" {
            // `exit` ends the script, and there is no run to end.
            continue;
        }
        let (signature, doc) = row.map_or(("", ""), |row| (row.sig, row.summary()));
        add(&mut module, name, &types, signature, doc, move |context, args| match row {
            // The first may be a variable of the script.
            Some(row) => run(context, row, args.iter().map(|arg| (**arg).clone())),
            None => Err(EvalAltResult::ErrorFunctionNotFound(name.to_owned(), Position::NONE).into()),
        });
    }
    add_measured(&mut module);
    add_sorting(&mut module);
    add_kind(&mut module);
    module
}

/// Adds `type_of`: Rhai has one name for all values of a Rust type, so the parser is configured to
/// call this.
fn add_kind(module: &mut Module) {
    let doc = " Returns the name of a value's type.";
    add(module, TYPE_OF, &[TypeId::of::<Dynamic>()], "type_of(value)", doc, |context, args| {
        let name = match args[0].read_lock::<Opaque>() {
            Some(opaque) => match opaque.value().type_name() {
                // What reads like a dict is a map here.
                "dict" => "map".to_owned(),
                name => name.to_owned(),
            },
            None => context.engine().map_type_name(args[0].type_name()).to_owned(),
        };
        Ok(name.into())
    });
}

/// The internal name of `type_of`.
const TYPE_OF: &str = "type_of_";

/// Lets scripts write `type_of` for [`TYPE_OF`].
#[allow(deprecated)] // Rhai's word for what may change
pub(super) fn rename_tokens(engine: &mut Engine) {
    engine.on_parse_token(|token, _, _| match token {
        Token::Reserved(word) if word.as_str() == "type_of" => Token::Identifier(Box::new(TYPE_OF.into())),
        other => other,
    });
}
