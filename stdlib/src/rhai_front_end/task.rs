//! Functions for syntax of the language that Rhai lacks: tasks, `parallel`, deadlines.

use super::errors::{raised_in, to_rhai};
use super::offer::{add, run};
use lang::builtins::Builtin;
use lang::vm::{Deadline, Raise, RunCode, Why, inside};
use rhai::{Dynamic, EvalAltResult, FnPtr, Module, NativeCallContext};
use std::any::TypeId;

/// The rows of the syntax that have a form as a function: their names in the table and in Rhai, and their parameters.
const FORMS: [(&str, &str, Form, &str, &str); 4] = [
    ("task_start", "spawn_", Form::Body, "spawn_(f)", " Starts a function in a new task; `await_` waits for it."),
    (
        "parallel_each",
        "parallel_each",
        Form::Items,
        "parallel_each(items, f)",
        " Starts a task for each item and returns the results in order.",
    ),
    (
        "parallel_count",
        "parallel_count",
        Form::Items,
        "parallel_count(n, f)",
        " Starts `n` tasks and returns the results in order.",
    ),
    (
        "parallel_settle",
        "parallel_settle",
        Form::Items,
        "parallel_settle(items, f)",
        " Starts a task for each item and returns a result or an error of each, in order.",
    ),
];

/// The parameters of such a function.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    /// A function.
    Body,
    /// Items, options if there are any, and a function.
    Items,
}

/// Returns the descriptions: name, parameters and doc, for each number of arguments.
pub(super) fn described() -> impl Iterator<Item = (&'static str, Vec<&'static str>, &'static str)> {
    let forms = FORMS.into_iter().flat_map(|(_, name, form, _, doc)| {
        let params: &[&[&str]] = match (form, name) {
            (Form::Body, _) => &[&["f: Fn", "?"]],
            (Form::Items, "parallel_count") => {
                &[&["n: int", "f: Fn", "array"], &["n: int", "options: map", "f: Fn", "array"]]
            }
            (Form::Items, _) => &[&["items: ?", "f: Fn", "array"], &["items: ?", "options: map", "f: Fn", "array"]],
        };
        params.iter().map(move |params| (name, params.to_vec(), doc))
    });
    forms.chain([("deadline", vec!["ms: int", "f: Fn", "?"], DEADLINE_DOC)])
}

const DEADLINE_DOC: &str = " Calls a function with a timeout in milliseconds.";

/// Adds those whose rows are offered.
pub(super) fn add_tasks(rows: &[&'static Builtin], module: &mut Module) {
    let any = TypeId::of::<Dynamic>();
    let row_of = |name: &str| rows.iter().find(|row| row.module == "<control>" && row.name == name).copied();
    for (name, written, form, signature, doc) in FORMS {
        let Some(row) = row_of(name) else { continue };
        for count in if form == Form::Body { 1..=1 } else { 2..=3 } {
            add(module, written, &vec![any; count], signature, doc, move |context, args| {
                let mut args: Vec<Dynamic> = args.iter_mut().map(|arg| std::mem::take(*arg)).collect();
                if args.len() == 2 {
                    args.insert(1, Dynamic::UNIT);
                }
                run(context, row, args.into_iter())
            });
        }
    }
    if row_of("deadline_open").is_some() {
        let types = [TypeId::of::<i64>(), TypeId::of::<FnPtr>()];
        add(module, "deadline", &types, "deadline(ms, f)", DEADLINE_DOC, deadline);
    }
}

fn deadline(context: &NativeCallContext<'_>, args: &mut [&mut Dynamic]) -> Result<Dynamic, Box<EvalAltResult>> {
    let ms = u64::try_from(args[0].as_int().unwrap_or(0)).unwrap_or(0);
    let Some(body) = args[1].read_lock::<FnPtr>().map(|body| body.clone()) else { return Ok(Dynamic::UNIT) };
    let message = format!("deadline of {} exceeded", lang::builtins::args::duration_text(ms));
    let open = inside(|cx| Deadline::open(cx.isolate, &cx.context.task, ms, message));
    let number = open.as_ref().map(Deadline::number);
    let done = body.call_raw(context, None, []);
    drop(open);
    done.map_err(|error| match raised_in(&error) {
        Some(raise) if number.is_some_and(|number| raise.why == Why::Deadline(number)) => {
            to_rhai(Raise::error(RunCode::Deadline, raise.message.clone()).labelled("did not finish in time"))
        }
        _ => error,
    })
}
