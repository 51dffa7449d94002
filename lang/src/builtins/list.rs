//! Methods of lists.

use super::walk::{Walk, push, same, walk};
use super::{Native, args};
use crate::value::{List, Value};
use crate::vm::{Cx, Raise};
use std::rc::Rc;

crate::builtins! { "<list>" =>
    /// How many elements.
    plain "count(self: list) -> int" [property] count;
    /// Whether there are none.
    plain "empty(self: list) -> bool" [property] empty;
    /// The list with one more element at its end.
    plain "push(self: list, value: any) -> list" [pure] push_value;
    /// What the function gives for each element.
    native "map(self: list, f: fn(any) -> any) -> list" MAP;
    /// The elements for which the function gives something true.
    native "filter(self: list, f: fn(any) -> any) -> list" FILTER;
}

static MAP: &Native = walk!(
    Value::list(Vec::new()),
    |acc, _, answer, _| {
        push(acc, answer);
        Walk::On
    },
    same
);

static FILTER: &Native = walk!(
    Value::list(Vec::new()),
    |acc, item, answer, _| {
        if answer.truthy() {
            push(acc, item.clone());
        }
        Walk::On
    },
    same
);

fn count(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(Value::from(args::list(args, 0)?.len()))
}

fn empty(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(Value::Bool(args::list(args, 0)?.is_empty()))
}

fn push_value(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    args::list(args, 0)?;
    let mut list = std::mem::take(&mut args[0]);
    if let Value::List(l) = &mut list {
        Rc::<List>::make_mut(l).items.push(std::mem::take(&mut args[1]));
    }
    Ok(list)
}
