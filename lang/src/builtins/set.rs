//! Methods that only sets have.

use super::items::items;
use super::{args, items};
use crate::value::{Set, Value};
use crate::vm::{Cx, Meter, Raise};
use std::borrow::Cow;
use std::rc::Rc;

crate::builtins! { "<set>" =>
    /// The set with one more member.
    plain "add(self: set<T>, value: U) -> set<T | U>" [pure] add;
    /// The set without a member.
    plain "remove(self: set<T>, value: any) -> set<T>" [pure] remove;
    /// The members of either.
    plain "union(self: set<T>, other: list<U> | set<U>) -> set<T | U>" [pure] union;
    /// The members of both.
    plain "intersect(self: set<T>, other: any) -> set<T>" [pure] intersect;
    /// The members that the other does not have.
    plain "difference(self: set<T>, other: any) -> set<T>" [pure] difference;
    /// The members of either that are not members of both.
    plain "symmetric_difference(self: set<T>, other: list<U> | set<U>) -> set<T | U>" [pure] symmetric_difference;
    /// Whether the other has all its members.
    plain "is_subset(self: set, other: any) -> bool" [pure] is_subset;
    /// Whether it has all members of the other.
    plain "is_superset(self: set, other: any) -> bool" [pure] is_superset;
    /// Whether they have no member in common.
    plain "is_disjoint(self: set, other: any) -> bool" [pure] is_disjoint;
}

fn own(args: &[Value]) -> Result<&Set, Box<Raise>> {
    match &args[0] {
        Value::Set(s) => Ok(s),
        _ => Err(args::mismatch(args, 0, "a set")),
    }
}

/// The other set; lists and ranges are taken for sets.
fn other<'a>(cx: &Cx<'_>, args: &'a [Value]) -> Result<Cow<'a, Set>, Box<Raise>> {
    match &args[1] {
        Value::Set(s) => Ok(Cow::Borrowed(s)),
        _ => Ok(Cow::Owned(items(cx, args, 1)?.iter().cloned().collect())),
    }
}

/// The receiver, changed: in place where it is held once. It is taken, unless it is no set.
fn change(cx: &Cx<'_>, args: &mut [Value], how: impl FnOnce(&mut Set)) -> Result<Value, Box<Raise>> {
    own(args)?;
    if let Value::Set(set) = &args[0]
        && Rc::strong_count(set) > 1
    {
        // An element, and its place in the index.
        cx.check_copy(set.len().saturating_mul(2 * size_of::<Value>()))?;
    }
    let mut set = std::mem::take(&mut args[0]);
    if let Value::Set(s) = &mut set {
        how(Rc::make_mut(s));
    }
    Ok(set)
}

fn keep(set: &Set, which: impl Fn(&Value) -> bool) -> Value {
    Value::Set(Rc::new(set.items().iter().filter(|v| !Meter::is_stopped() && which(v)).cloned().collect()))
}

fn add(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let value = args[1].clone();
    change(cx, args, |set| {
        set.add(value);
    })
}

fn remove(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    if !own(args)?.contains(&args[1]) {
        return Ok(std::mem::take(&mut args[0]));
    }
    let value = std::mem::take(&mut args[1]);
    change(cx, args, |set| {
        set.remove(&value);
    })
}

fn union(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let more = items(cx, args, 1)?.into_owned();
    change(cx, args, |set| {
        for value in more {
            if Meter::is_stopped() {
                break;
            }
            set.add(value);
        }
    })
}

fn intersect(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let other = other(cx, args)?;
    cx.charge(own(args)?.len(), 4);
    Ok(keep(own(args)?, |v| other.contains(v)))
}

fn difference(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let other = other(cx, args)?;
    cx.charge(own(args)?.len(), 4);
    Ok(keep(own(args)?, |v| !other.contains(v)))
}

fn symmetric_difference(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let other = other(cx, args)?;
    let own = own(args)?;
    cx.charge(own.len().saturating_add(other.len()), 4);
    let mine = own.items().iter().filter(|v| !Meter::is_stopped() && !other.contains(v));
    let theirs = other.items().iter().filter(|v| !Meter::is_stopped() && !own.contains(v));
    Ok(Value::Set(Rc::new(mine.chain(theirs).cloned().collect())))
}

fn is_subset(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let other = other(cx, args)?;
    cx.charge(own(args)?.len(), 4);
    Ok(Value::Bool(own(args)?.items().iter().all(|v| other.contains(v) && !Meter::is_stopped())))
}

fn is_superset(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let own = own(args)?;
    Ok(Value::Bool(items(cx, args, 1)?.iter().all(|v| own.contains(v) && !Meter::is_stopped())))
}

fn is_disjoint(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let own = own(args)?;
    Ok(Value::Bool(!items(cx, args, 1)?.iter().any(|v| own.contains(v) || Meter::is_stopped())))
}

/// `set(1, 2)`, or the elements of the one list, set or range that is given.
pub(super) fn make(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let members: Set = match &*args {
        [Value::Iter(_)] => {
            return Err(args::mismatch(args, 0, "the members of a set").help("convert it to a set with `.to_set()`"));
        }
        [one] if items::len(one).is_some() => items(cx, args, 0)?.iter().cloned().collect(),
        many => many.iter().cloned().collect(),
    };
    Ok(Value::Set(Rc::new(members)))
}
