//! The builtins of a pack: functions of data that answer immediately, and those that its project
//! grants it.
//!
//! They run in an isolate of the pack's own: nothing in it leads to the run, and its limits are those of the pack.

use super::budget::Budget;
use super::data::{PackConverter, PackValueError};
use super::meter::{Limit, Meter};
use crate::capability::Capability;
use crate::convert::{to_data, to_value};
use crate::limits::SUGGESTIONS;
use crate::table::file::AT_ONCE;
use crate::table::registry;
use lang::builtins::{Builtin, BuiltinRun, PlainFn};
use lang::value::Value;
use lang::vm::{Context, Cx, Isolate, Limits, NoHost, Raise, Why};
use rhai::{Dynamic, Engine, EvalAltResult, ImmutableString, Map, Position};
use std::any::TypeId;
use std::rc::Rc;

/// Global builtins that every pack has. Those that Rhai has under the same name are Rhai's.
pub(super) const GLOBAL: &[&str] =
    &["base64_decode", "base64_encode", "join", "json_parse", "json_stringify", "json_stringify_pretty", "sha256"];

/// A pack has no types whose defaults would have to be computed.
const JSON_AT_ONCE: (&str, PlainFn) = ("json_parse", lang::builtins::json_parse_at_once);

/// Methods of strings that Rhai lacks.
pub(super) const OF_STRINGS: &[&str] = &[
    "char_at",
    "last_index_of",
    "lines",
    "lower",
    "lowercase",
    "pad_left",
    "pad_right",
    "repeat",
    "substring",
    "trim_end",
    "trim_start",
    "upper",
    "uppercase",
];

/// Methods of lists that Rhai lacks.
pub(super) const OF_LISTS: &[&str] = &["first", "flatten", "last", "skip", "slice", "sum", "unique"];

/// The builtins that can be granted: those that answer immediately and need no run around them.
pub(super) const GRANTED: &[&str] =
    &["append_file", "delete_file", "env", "env_or", "file_exists", "list_dir", "mkdir", "read_file", "write_file"];

/// The most arguments after which a builtin that takes any number takes no more.
const MOST_ARGUMENTS: u8 = 8;

/// The isolate in which the builtins of a pack run.
struct PackIsolate {
    isolate: Rc<Isolate>,
    context: Rc<Context>,
    meter: Rc<Meter>,
}

/// The rows that a pack has with these grants.
pub(super) fn rows(granted: &[Capability]) -> impl Iterator<Item = (&'static Builtin, PlainFn)> {
    let named = |module: &'static str, names: &'static [&'static str]| {
        names.iter().filter_map(move |name| registry().find(module, name))
    };
    let data = named("", GLOBAL).chain(named("<string>", OF_STRINGS)).chain(named("<list>", OF_LISTS));
    let with_rights = named("", GRANTED)
        .filter(|row| row.caps.iter().all(|right| granted.iter().any(|known| known.right() == *right)));
    data.filter(|row| row.caps.is_empty()).chain(with_rights.filter(|row| !row.caps.is_empty())).filter_map(|row| {
        match row.run {
            BuiltinRun::Plain(run) => Some((row, run)),
            // A pack cannot wait: its files are read and written at once.
            BuiltinRun::Waits(_) | BuiltinRun::Native(_) if row.module.is_empty() => {
                let at_once = AT_ONCE.iter().chain([&JSON_AT_ONCE]).find(|(name, _)| *name == row.name);
                at_once.map(|&(_, run)| (row, run))
            }
            BuiltinRun::Waits(_) | BuiltinRun::Native(_) => None,
        }
    })
}

/// Offers them.
pub(super) fn register(engine: &mut Engine, meter: &Rc<Meter>, granted: &[Capability]) {
    let room = Rc::new(PackIsolate {
        isolate: Isolate::new(registry(), Rc::new(NoHost), limits(meter.budget()), Vec::new()),
        context: Rc::default(),
        meter: meter.clone(),
    });
    for (row, run) in rows(granted) {
        let most = if row.arity.rest { MOST_ARGUMENTS } else { row.arity.max };
        for count in row.arity.min..=most {
            let mut types = vec![TypeId::of::<Dynamic>(); usize::from(count)];
            if let Some(own) = types.first_mut() {
                match row.module {
                    "<string>" => *own = TypeId::of::<ImmutableString>(),
                    "<list>" => *own = TypeId::of::<rhai::Array>(),
                    _ => {}
                }
            }
            let room = room.clone();
            engine.register_raw_fn(row.name, &types, move |_, args| room.call(row, run, args));
        }
    }
    super::regex::register(engine, meter);
}

fn limits(budget: &Budget) -> Limits {
    Limits {
        depth: budget.depth,
        value_bytes: budget.string.max(budget.elements.saturating_mul(size_of::<Value>())),
        memory: None,
        suggestions: &SUGGESTIONS,
        ..Limits::default()
    }
}

impl PackIsolate {
    fn call(
        &self,
        row: &'static Builtin,
        run: PlainFn,
        args: &mut [&mut Dynamic],
    ) -> Result<Dynamic, Box<EvalAltResult>> {
        let budget = self.meter.budget();
        let mut crossing = PackConverter::new(budget);
        let mut values = Vec::with_capacity(usize::from(row.arity.max));
        for arg in args.iter() {
            values.push(to_value(&crossing.outward(arg).map_err(|stuck| self.stuck(&stuck))?));
        }
        while values.len() < usize::from(row.arity.max) {
            values.push(Value::Nil);
        }
        let mut cx = Cx { isolate: &self.isolate, context: &self.context };
        let given = run(&mut cx, &mut values).map_err(|raise| self.raised(&raise))?;
        let data = to_data(&given).map_err(|raise| self.raised(&raise))?;
        PackConverter::new(budget).inward(&data).map_err(|stuck| self.stuck(&stuck))
    }

    fn stuck(&self, stuck: &PackValueError) -> Box<EvalAltResult> {
        match stuck {
            PackValueError::Over(limit) => self.over(*limit),
            PackValueError::NoData(what) => format!("this function takes data, not {what}").into(),
            PackValueError::TooDeep => "value nested too deeply".into(),
        }
    }

    fn over(&self, limit: Limit) -> Box<EvalAltResult> {
        self.meter.end(limit);
        EvalAltResult::ErrorTerminated(Dynamic::UNIT, Position::NONE).into()
    }

    /// An error of a builtin, as `catch` sees it: `e.code`, `e.message`.
    fn raised(&self, raise: &Raise) -> Box<EvalAltResult> {
        if raise.code == lang::vm::RunCode::Size {
            return self.over(Limit::String);
        }
        if raise.why == Why::Exhausted {
            return self.over(Limit::Memory);
        }
        let mut map = Map::new();
        map.insert("code".into(), raise.code.as_str().into());
        map.insert("message".into(), raise.message.clone().into());
        EvalAltResult::ErrorRuntime(map.into(), Position::NONE).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn names(granted: &[Capability]) -> BTreeSet<&'static str> {
        rows(granted).map(|(row, _)| row.name).collect()
    }

    #[test]
    fn every_row_on_the_lists_is_there_answers_at_once_and_needs_no_right() {
        for (module, list) in [("", GLOBAL), ("<string>", OF_STRINGS), ("<list>", OF_LISTS)] {
            for name in list {
                let row = registry().find(module, name).unwrap_or_else(|| panic!("no {module} {name}"));
                assert!(row.caps.is_empty(), "{name} needs a right");
                let at_once = matches!(row.run, BuiltinRun::Plain(_)) || *name == JSON_AT_ONCE.0;
                assert!(at_once, "{name} waits or calls closures");
            }
        }
    }

    #[test]
    fn a_right_brings_exactly_the_builtins_that_need_it_and_no_other() {
        let plain = names(&[]);
        let with = |rights: &[Capability]| names(rights).difference(&plain).copied().collect::<Vec<_>>();
        assert_eq!(with(&[Capability::FsRead]), ["file_exists", "list_dir", "read_file"]);
        assert_eq!(with(&[Capability::FsWrite]), ["append_file", "delete_file", "mkdir", "write_file"]);
        assert_eq!(with(&[Capability::Env]), ["env", "env_or"]);
        assert_eq!(with(&[Capability::Net, Capability::Process, Capability::Llm]), Vec::<&str>::new());
    }

    /// A row that reaches outside and answers at once can be granted, or says why not: a new one is not forgotten.
    #[test]
    fn what_reaches_outside_and_is_not_granted_needs_a_run() {
        let missing: Vec<&str> = registry()
            .all()
            .filter(|row| {
                !row.caps.is_empty() && matches!(row.run, BuiltinRun::Plain(_)) && !GRANTED.contains(&row.name)
            })
            .map(|row| row.name)
            .collect();
        // Tools and streams live in a run.
        assert_eq!(missing, ["file_tools", "shell_tool", "http_paginate", "llm_stream"]);
    }
}
