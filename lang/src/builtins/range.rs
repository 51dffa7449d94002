//! Ranges, pairs, and the list methods of what is not a list.

use super::under::under;
use super::{Builtin, args, each, grow, list, sort};
use crate::value::{Range, Value};
use crate::vm::{Cx, Raise};
use std::rc::Rc;

crate::builtins! { "<pair>" =>
    /// The first of the two.
    plain "first(self: pair<A, B>) -> A" [pure, property] first;
    /// The second of the two.
    plain "second(self: pair<A, B>) -> B" [pure, property] second;
    /// Both as a list.
    plain "to_list(self: pair<A, B>) -> list<A | B>" [pure] to_list;
}

/// The list methods, for ranges.
pub(super) static RANGE: [&[Builtin]; 4] = [
    &under::<{ list::TABLE.len() }>("<range>", list::TABLE),
    &under::<{ each::TABLE.len() }>("<range>", each::TABLE),
    &under::<{ sort::TABLE.len() }>("<range>", sort::TABLE),
    &under::<{ grow::TABLE.len() }>("<range>", grow::TABLE),
];

/// The list methods, for sets; a set has no places where something could be put in or taken out.
pub(super) static SET: [&[Builtin]; 3] = [
    &under::<{ list::TABLE.len() }>("<set>", list::TABLE),
    &under::<{ each::TABLE.len() }>("<set>", each::TABLE),
    &under::<{ sort::TABLE.len() }>("<set>", sort::TABLE),
];

fn both(args: &[Value]) -> Result<(&Value, &Value), Box<Raise>> {
    match &args[0] {
        Value::Pair(p) => Ok((&p.first, &p.second)),
        _ => Err(args::mismatch(args, 0, "a pair")),
    }
}

fn first(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    both(args).map(|(first, _)| first.clone())
}

fn second(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    both(args).map(|(_, second)| second.clone())
}

fn to_list(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    both(args).map(|(first, second)| Value::list(vec![first.clone(), second.clone()]))
}

/// `range(n)`, `range(from, to)`: half-open.
pub(super) fn make(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let first = args::int(args, 0)?;
    let (from, to) = args::opt_int(args, 1)?.map_or((0, first), |to| (first, to));
    Ok(Value::Range(Rc::new(Range { from, to, exclusive: true })))
}
