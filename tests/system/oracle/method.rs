//! The builtins and methods that the second evaluator knows: the core, written for plainness.

use super::value::{Value, equal, order, show};
use super::{Evaluated, Oracle, Stop, operator, throw_code, uncovered};
use lang::ast::BinaryOp;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::rc::Rc;

const TYPE: &str = "HARN-RUN-002";

fn text<'a>(value: &Value<'a>) -> Result<String, Stop<'a>> {
    show(value).map_or_else(|| uncovered("the text of this"), Ok)
}

#[allow(clippy::cast_possible_wrap, reason = "no collection here is that long")]
fn int<'a>(n: usize) -> Value<'a> {
    Value::Int(n as i64)
}

/// A global builtin.
pub(crate) fn builtin<'a>(oracle: &mut Oracle<'a>, name: &str, args: &[Value<'a>]) -> Evaluated<'a> {
    match (name, args) {
        ("print" | "println" | "log", values) => {
            let shown = values.iter().map(text).collect::<Result<Vec<_>, _>>()?.join(" ");
            let (mark, end) = (if name == "log" { "[harn] " } else { "" }, if name == "print" { "" } else { "\n" });
            oracle.out.push_str(&format!("{mark}{shown}{end}"));
            Ok(Value::Nil)
        }
        ("eprintln", _) => Ok(Value::Nil),
        ("len", [value]) => match value {
            Value::Nil | Value::Bool(_) | Value::Int(_) | Value::Float(_) => throw_code(TYPE),
            value => Ok(int(Oracle::items(value)?.len())),
        },
        ("type_of", [Value::Struct(..) | Value::Variant(..) | Value::Constructor(..) | Value::Builtin(_)]) => {
            uncovered("the type of this")
        }
        ("type_of", [value]) => Ok(Value::str(value.type_name())),
        ("to_string" | "str", [value]) => Ok(Value::str(text(value)?)),
        ("Ok", [value]) => Ok(Value::ok(value.clone())),
        ("Err", [value]) => Ok(Value::err(value.clone())),
        ("pair", [a, b]) => Ok(Value::pair(a.clone(), b.clone())),
        ("range", [Value::Int(to)]) => Ok(Value::Range(0, *to, true)),
        ("range", [Value::Int(from), Value::Int(to)]) => Ok(Value::Range(*from, *to, true)),
        ("set", [whole @ (Value::List(_) | Value::Set(_) | Value::Range(..))]) => Ok(Value::set(Oracle::items(whole)?)),
        ("set", values) => Ok(Value::set(values.iter().cloned())),
        ("abs", [value]) => match value {
            Value::Int(i) if *i < 0 => operator::negate(value),
            Value::Int(_) => Ok(value.clone()),
            Value::Float(f) => Ok(Value::Float(f.abs())),
            _ => throw_code(TYPE),
        },
        ("min" | "max", [a, b]) => match order(a, b) {
            Some(found) => Ok(if (found == Ordering::Greater) == (name == "min") { b.clone() } else { a.clone() }),
            None => uncovered("the least of these"),
        },
        ("assert", [value, ..]) if value.truthy() => Ok(Value::Nil),
        ("assert_eq", [a, b, ..]) if equal(a, b) => Ok(Value::Nil),
        ("assert_ne", [a, b, ..]) if !equal(a, b) => Ok(Value::Nil),
        ("assert" | "assert_eq" | "assert_ne", [_, ..]) => throw_code("HARN-RUN-009"),
        (
            "is_ok" | "is_err" | "unwrap" | "unwrap_or" | "unwrap_err" | "keys" | "values" | "entries" | "join"
            | "split" | "trim",
            [receiver, rest @ ..],
        ) => method(oracle, receiver, name, rest.to_vec()),
        _ => uncovered(&format!("the builtin {name}")),
    }
}

/// A method of a value.
pub(crate) fn method<'a>(
    oracle: &mut Oracle<'a>,
    receiver: &Value<'a>,
    name: &str,
    args: Vec<Value<'a>>,
) -> Evaluated<'a> {
    match receiver {
        Value::Str(text) => of_string(text, name, &args),
        Value::Dict(entries) => of_dict(oracle, entries, name, &args),
        Value::List(items) => of_list(oracle, items, name, &args),
        Value::Range(..) => {
            let items = Oracle::items(receiver)?;
            of_list(oracle, &items, name, &args)
        }
        Value::Set(items) => of_set(oracle, items, name, &args),
        Value::Pair(pair) => match name {
            "first" => Ok(pair.0.clone()),
            "second" => Ok(pair.1.clone()),
            _ => uncovered("this method of a pair"),
        },
        _ => match (receiver.as_result(), name) {
            (Some((ok, _)), "is_ok") => Ok(Value::Bool(ok)),
            (Some((ok, _)), "is_err") => Ok(Value::Bool(!ok)),
            (Some((true, value)), "unwrap" | "unwrap_or") | (Some((false, value)), "unwrap_err") => Ok(value),
            (Some((false, _)), "unwrap_or") => args.into_iter().next().map_or_else(|| throw_code("HARN-RUN-006"), Ok),
            _ => uncovered("this method"),
        },
    }
}

fn of_string<'a>(text: &str, name: &str, args: &[Value<'a>]) -> Evaluated<'a> {
    let strings = |parts: Vec<String>| Value::list(parts.into_iter().map(Value::str).collect());
    let place = |found: Option<usize>| {
        found.map_or(Value::Int(-1), |at| int(text.get(..at).map_or(0, |before| before.chars().count())))
    };
    Ok(match (name, args) {
        ("count", []) => int(text.chars().count()),
        ("empty", []) => Value::Bool(text.is_empty()),
        ("contains", [Value::Str(part)]) => Value::Bool(text.contains(&**part)),
        ("replace", [Value::Str(old), Value::Str(new)]) if !old.is_empty() => Value::str(text.replace(&**old, new)),
        ("split", [Value::Str(by)]) if !by.is_empty() => strings(text.split(&**by).map(str::to_owned).collect()),
        ("trim", []) => Value::str(text.trim()),
        ("trim_start", []) => Value::str(text.trim_start()),
        ("trim_end", []) => Value::str(text.trim_end()),
        ("starts_with", [Value::Str(part)]) => Value::Bool(text.starts_with(&**part)),
        ("ends_with", [Value::Str(part)]) => Value::Bool(text.ends_with(&**part)),
        ("lowercase" | "lower", []) => Value::str(text.to_lowercase()),
        ("uppercase" | "upper", []) => Value::str(text.to_uppercase()),
        ("lines", []) => strings(text.lines().map(str::to_owned).collect()),
        ("chars", []) => strings(text.chars().map(String::from).collect()),
        ("index_of", [Value::Str(part)]) => place(text.find(&**part)),
        ("last_index_of", [Value::Str(part)]) => place(text.rfind(&**part)),
        ("repeat", [Value::Int(n)]) => return operator::binary(BinaryOp::Mul, &Value::str(text), &Value::Int(*n)),
        ("reverse", []) => Value::str(text.chars().rev().collect::<String>()),
        _ => return uncovered("this method of a string"),
    })
}

fn of_dict<'a>(
    oracle: &mut Oracle<'a>,
    entries: &Rc<BTreeMap<String, Value<'a>>>,
    name: &str,
    args: &[Value<'a>],
) -> Evaluated<'a> {
    Ok(match (name, args) {
        ("keys", []) => Value::list(entries.keys().map(Value::str).collect()),
        ("values", []) => Value::list(entries.values().cloned().collect()),
        ("entries", []) => Value::list(Oracle::items(&Value::Dict(entries.clone()))?),
        ("count", []) => int(entries.len()),
        ("empty", []) => Value::Bool(entries.is_empty()),
        ("has", [Value::Str(key)]) => Value::Bool(entries.contains_key(&**key)),
        ("get", [Value::Str(key)]) => entries.get(&**key).cloned().unwrap_or(Value::Nil),
        ("get", [Value::Str(key), fallback]) => entries.get(&**key).unwrap_or(fallback).clone(),
        ("merge", [other @ Value::Dict(_)]) => {
            return operator::binary(BinaryOp::Add, &Value::Dict(entries.clone()), other);
        }
        ("remove", keys) => {
            let mut left = (**entries).clone();
            for key in keys {
                let Value::Str(key) = key else { return throw_code(TYPE) };
                left.remove(&**key);
            }
            Value::Dict(Rc::new(left))
        }
        ("map_values", [f]) => {
            let mut mapped = BTreeMap::new();
            for (key, value) in entries.iter() {
                mapped.insert(key.clone(), oracle.call(f, vec![value.clone()], true)?);
            }
            Value::Dict(Rc::new(mapped))
        }
        ("filter", [f]) => {
            let mut kept = BTreeMap::new();
            for (key, value) in entries.iter() {
                let args = match f {
                    Value::Function(function) if function.params.len() < 2 => vec![value.clone()],
                    _ => vec![Value::str(key), value.clone()],
                };
                if oracle.call(f, args, true)?.truthy() {
                    kept.insert(key.clone(), value.clone());
                }
            }
            Value::Dict(Rc::new(kept))
        }
        _ => return uncovered("this method of a dict"),
    })
}

fn of_set<'a>(oracle: &mut Oracle<'a>, items: &[Value<'a>], name: &str, args: &[Value<'a>]) -> Evaluated<'a> {
    let has = |items: &[Value<'a>], item: &Value<'a>| items.iter().any(|i| equal(i, item));
    Ok(match (name, args) {
        ("add", [item]) => Value::set(items.iter().chain([item]).cloned()),
        ("remove", [item]) => Value::set(items.iter().filter(|i| !equal(i, item)).cloned()),
        ("union", [Value::Set(other)]) => Value::set(items.iter().chain(other.iter()).cloned()),
        ("intersect", [Value::Set(other)]) => Value::set(items.iter().filter(|i| has(other, i)).cloned()),
        ("difference", [Value::Set(other)]) => Value::set(items.iter().filter(|i| !has(other, i)).cloned()),
        ("is_subset", [Value::Set(other)]) => Value::Bool(items.iter().all(|i| has(other, i))),
        ("count" | "empty" | "contains" | "to_list" | "map", _) => return of_list(oracle, items, name, args),
        _ => return uncovered("this method of a set"),
    })
}

fn of_list<'a>(oracle: &mut Oracle<'a>, items: &[Value<'a>], name: &str, args: &[Value<'a>]) -> Evaluated<'a> {
    oracle.copied(items.len())?;
    let items = items.to_vec();
    Ok(match (name, args) {
        ("count", []) => int(items.len()),
        ("empty", []) => Value::Bool(items.is_empty()),
        ("first", []) => items.first().cloned().unwrap_or(Value::Nil),
        ("last", []) => items.last().cloned().unwrap_or(Value::Nil),
        ("push", [value]) => Value::list(items.into_iter().chain([value.clone()]).collect()),
        ("pop", []) => Value::list(items.iter().take(items.len().saturating_sub(1)).cloned().collect()),
        ("contains", [value]) => Value::Bool(items.iter().any(|i| equal(i, value))),
        ("index_of", [value]) => items.iter().position(|i| equal(i, value)).map_or(Value::Int(-1), int),
        ("take", [Value::Int(n)]) if *n >= 0 => Value::list(items.into_iter().take(index(*n)).collect()),
        ("skip", [Value::Int(n)]) if *n >= 0 => Value::list(items.into_iter().skip(index(*n)).collect()),
        ("reverse", []) => Value::list(items.into_iter().rev().collect()),
        ("to_list", []) => Value::list(items),
        ("to_set" | "unique", []) => match Value::set(items) {
            Value::Set(members) if name == "unique" => Value::List(members),
            set => set,
        },
        ("compact", []) => Value::list(items.into_iter().filter(|i| !matches!(i, Value::Nil)).collect()),
        ("zip", [other]) => {
            let pairs = items.into_iter().zip(Oracle::items(other)?).map(|(a, b)| Value::pair(a, b));
            Value::list(pairs.collect())
        }
        ("enumerate", []) => Value::list(items.into_iter().enumerate().map(|(i, v)| Value::pair(int(i), v)).collect()),
        ("chunk", [Value::Int(n)]) if *n > 0 => {
            Value::list(items.chunks(index(*n)).map(|c| Value::list(c.to_vec())).collect())
        }
        ("flatten", []) => Value::list(flat(items)?),
        ("join", []) => Value::str(items.iter().map(text).collect::<Result<Vec<_>, _>>()?.concat()),
        ("join", [Value::Str(by)]) => Value::str(items.iter().map(text).collect::<Result<Vec<_>, _>>()?.join(by)),
        ("sum", []) => {
            let mut sum = Value::Int(0);
            for item in &items {
                if !matches!(item, Value::Int(_) | Value::Float(_)) {
                    return throw_code(TYPE);
                }
                sum = operator::binary(BinaryOp::Add, &sum, item)?;
            }
            sum
        }
        ("sort", []) => Value::list(sorted(items.into_iter().map(|i| (i.clone(), i)).collect())?),
        _ => return with_function(oracle, items, name, args),
    })
}

/// The methods of lists that call a function.
fn with_function<'a>(oracle: &mut Oracle<'a>, items: Vec<Value<'a>>, name: &str, args: &[Value<'a>]) -> Evaluated<'a> {
    if let ("reduce", [start, f]) = (name, args) {
        let mut sum = start.clone();
        for item in items {
            sum = oracle.call(f, vec![sum, item], true)?;
        }
        return Ok(sum);
    }
    let [f @ (Value::Function(_) | Value::Builtin(_) | Value::Constructor(..))] = args else {
        return uncovered("this method of a list");
    };
    // Those that may stop early.
    if let "find" | "find_index" | "any" | "all" | "every" | "none" = name {
        let wanted = !matches!(name, "all" | "every");
        let mut found = None;
        for (i, item) in items.iter().enumerate() {
            if oracle.call(f, vec![item.clone()], true)?.truthy() == wanted {
                found = Some((i, item.clone()));
                break;
            }
        }
        return Ok(match name {
            "find" => found.map_or(Value::Nil, |(_, item)| item),
            "find_index" => found.map_or(Value::Int(-1), |(i, _)| int(i)),
            "any" => Value::Bool(found.is_some()),
            _ => Value::Bool(found.is_none()),
        });
    }
    if !matches!(
        name,
        "map" | "filter" | "flat_map" | "for_each" | "sort_by" | "min_by" | "max_by" | "partition" | "group_by"
    ) {
        return uncovered("this method of a list");
    }
    let mut answers = Vec::new();
    for item in items {
        let answer = oracle.call(f, vec![item.clone()], true)?;
        answers.push((answer, item));
    }
    let those = |wanted: bool, answers: &[(Value<'a>, Value<'a>)]| {
        Value::list(answers.iter().filter(|(a, _)| a.truthy() == wanted).map(|(_, item)| item.clone()).collect())
    };
    Ok(match name {
        "map" => Value::list(answers.into_iter().map(|(answer, _)| answer).collect()),
        "filter" => those(true, &answers),
        "partition" => Value::pair(those(true, &answers), those(false, &answers)),
        "flat_map" => Value::list(flat(answers.into_iter().map(|(answer, _)| answer).collect())?),
        "for_each" => Value::Nil,
        "group_by" => {
            let mut groups: BTreeMap<String, Vec<Value<'a>>> = BTreeMap::new();
            for (key, item) in answers {
                groups.entry(text(&key)?).or_default().push(item);
            }
            Value::dict(groups.into_iter().map(|(key, items)| (key, Value::list(items))))
        }
        "sort_by" => Value::list(sorted(answers)?),
        _ => {
            let mut best: Option<(Value<'a>, Value<'a>)> = None;
            let better = if name == "min_by" { Ordering::Less } else { Ordering::Greater };
            for (key, item) in answers {
                if best.as_ref().map_or(Ok(true), |(b, _)| comparable(&key, b).map(|found| found == better))? {
                    best = Some((key, item));
                }
            }
            best.map_or(Value::Nil, |(_, item)| item)
        }
    })
}

fn comparable<'a>(a: &Value<'a>, b: &Value<'a>) -> Result<Ordering, Stop<'a>> {
    order(a, b).map_or_else(|| uncovered("the order of these"), Ok)
}

/// Stable, by insertion.
fn sorted<'a>(keyed: Vec<(Value<'a>, Value<'a>)>) -> Result<Vec<Value<'a>>, Stop<'a>> {
    let mut done: Vec<(Value<'a>, Value<'a>)> = Vec::new();
    for (key, item) in keyed {
        let mut at = done.len();
        while at > 0 && comparable(&done[at - 1].0, &key)? == Ordering::Greater {
            at -= 1;
        }
        done.insert(at, (key, item));
    }
    Ok(done.into_iter().map(|(_, item)| item).collect())
}

fn flat<'a>(items: Vec<Value<'a>>) -> Result<Vec<Value<'a>>, Stop<'a>> {
    let mut out = Vec::new();
    for item in items {
        match item {
            Value::List(_) | Value::Set(_) | Value::Range(..) => out.extend(Oracle::items(&item)?),
            other => out.push(other),
        }
    }
    Ok(out)
}

fn index(n: i64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}
