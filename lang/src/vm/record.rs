//! Structs and variants while running: literals with a spread, methods as values, and what to say where a name is wrong.

use super::call::with_article;
use super::op::Op;
use super::verify::verify;
use super::{Isolate, Proto, Raise, Rebuild, RunCode};
use crate::advice;
use crate::declaration::{Methods, Site};
use crate::diagnostic::nearest;
use crate::value::{Closure, FieldDefault, Method, Record, Str, StructDef, Value};
use std::collections::BTreeSet;
use std::rc::Rc;

/// The functions of the `impl`s of a value's type.
pub(super) fn methods(value: &Value) -> Option<&Methods<Method>> {
    match value {
        Value::Struct(s) => Some(&s.def().methods),
        Value::Variant(v) => Some(&v.def().methods),
        _ => None,
    }
}

/// Returns the key by which a method site remembers a receiver, or null if its methods are builtins.
#[inline(always)]
pub(super) fn shape(value: &Value) -> *const () {
    match value {
        Value::Struct(s) => Rc::as_ptr(s.def()).cast(),
        Value::Variant(v) => Rc::as_ptr(v.def()).cast(),
        _ => std::ptr::null(),
    }
}

/// The method of that name of a value's type.
pub(super) fn method(value: &Value, name: &str) -> Option<Rc<Method>> {
    methods(value)?.get(name).filter(|m| m.takes_self)
}

/// Returns the location at which the type of a value is declared.
pub(super) fn site(value: &Value) -> Option<&Site> {
    match value {
        Value::Struct(s) => Some(&s.def().site),
        Value::Variant(v) => v.def().site.as_ref(),
        _ => None,
    }
}

/// A struct from what a literal spreads and names: `values[0]` is spread, the others are for the fields of the site.
/// Fields that nothing gave and that a function fills are left unbound.
pub(super) fn rebuild(site: &Rebuild, values: &mut [Value]) -> Result<Value, Box<Raise>> {
    let Some((spread, given)) = values.split_first_mut() else { return Ok(Value::Nil) };
    let spread = std::mem::take(spread);
    let mut made = match spread {
        Value::Struct(s) if Rc::ptr_eq(s.def(), &site.def) => s,
        other => from_entries(site, &other)?,
    };
    let slots = made.values_mut();
    for (at, value) in site.given.iter().zip(given) {
        if let Some(slot) = slots.get_mut(usize::from(*at)) {
            *slot = std::mem::take(value);
        }
    }
    Ok(Value::Struct(made))
}

fn from_entries(site: &Rebuild, from: &Value) -> Result<Record<StructDef>, Box<Raise>> {
    let def = &site.def;
    let dict = match from {
        Value::Dict(d) => d.dict.clone(),
        Value::Struct(s) => s.to_dict(),
        Value::Host(h) => h.object().to_value().and_then(|v| v.as_dict().cloned()).ok_or_else(|| no_entries(from))?,
        Value::Nil => crate::value::Dict::new(),
        _ => return Err(no_entries(from)),
    };
    if let Some((key, _)) = dict.iter().find(|(k, _)| def.position(k).is_none()) {
        return Err(no_field(def, key));
    }
    let mut values = Vec::with_capacity(def.fields.len());
    for (at, field) in (0_u16..).zip(&def.fields) {
        values.push(match (dict.get(&field.name), &field.default) {
            (Some(value), _) => value.clone(),
            _ if site.given.contains(&at) => Value::Nil,
            (None, FieldDefault::Constant(value)) => value.clone(),
            (None, FieldDefault::Computed(_)) => Value::Unbound,
            (None, FieldDefault::None) => {
                return Err(Raise::error(
                    RunCode::NotMade,
                    format!("missing field `{}` of `{}`", field.name, def.name),
                )
                .also(&def.site.source, field.span, "declared without a default")
                .help(format!("add `{}: …`, or give the field a default", field.name)));
            }
        });
    }
    Ok(Record::take(def.clone(), 0, &mut values))
}

fn no_entries(value: &Value) -> Box<Raise> {
    Raise::error(
        RunCode::Type,
        format!("expected a dict or a struct to spread into a struct, found {}", with_article(value)),
    )
}

/// A struct has no field of that name.
pub(super) fn no_field(def: &StructDef, name: &str) -> Box<Raise> {
    let raise = Raise::error(RunCode::NotMade, format!("`{}` has no field `{name}`", def.name)).also(
        &def.site.source,
        def.site.span,
        "declared here",
    );
    match nearest(name, def.names().map(Str::as_str)) {
        Some(near) => raise.help(advice::meant(near)),
        None => raise.note(fields(def)),
    }
}

fn fields(def: &StructDef) -> String {
    if def.fields.is_empty() {
        return "it has no fields".to_owned();
    }
    format!("the fields are {}", advice::listed(def.names().map(Str::as_str), "and"))
}

/// `value.method` without a call: a function that has its `self` already.
pub(super) fn bound(isolate: &Isolate, receiver: &Value, function: u16) -> Option<Value> {
    let target = isolate.function(usize::from(function))?;
    let proto = isolate.bound(function, || with_self(&target, function));
    verify(isolate, &BTreeSet::new(), &proto).ok()?;
    Some(Value::Closure(Rc::new(Closure { proto, captures: vec![receiver.clone()] })))
}

/// A function that calls the method of that number with its capture in front of its own arguments.
fn with_self(target: &Proto, function: u16) -> Proto {
    let own = target.params.saturating_sub(1);
    let mut code = Vec::new();
    // The window: the arguments, a rest list, and behind them the window of the call.
    let base = own + 1;
    code.push(Op::GetCapture { dst: base, index: 0 });
    let argc = if target.rest || own >= u16::from(super::op::IN_LIST) - 1 {
        let list = base + 1;
        code.push(Op::List { dst: list, base: list, len: 0 });
        code.push(Op::ListPush { list, value: base });
        code.extend((0..own).map(|value| Op::ListPush { list, value }));
        if target.rest {
            code.push(Op::ListExtend { list, value: own });
        }
        code.push(Op::Take { dst: base, src: list });
        super::op::IN_LIST
    } else {
        code.extend((0..own).map(|i| Op::Take { dst: base + 1 + i, src: i }));
        u8::try_from(own + 1).unwrap_or(0)
    };
    code.push(Op::CallFn { argc, dst: base, base, func: function });
    code.push(Op::Return { src: base });
    Proto {
        name: target.name.clone(),
        source: target.source.clone(),
        params: own,
        required: target.required.saturating_sub(1),
        rest: target.rest,
        exact: if target.rest { u16::MAX } else { own },
        regs: base.saturating_add(target.params.max(1)).saturating_add(3),
        spans: vec![target.span; code.len()],
        code,
        captures: vec![super::Capture::Register(0)],
        span: target.span,
        ..Proto::default()
    }
}

/// Adds a similar name and the declaration of the type to an error about a missing member of a struct or variant.
pub(super) fn explain(raise: Box<Raise>, value: &Value, name: &str) -> Box<Raise> {
    let raise = match site(value) {
        Some(site) => raise.also(&site.source, site.span, "declared here"),
        None => raise,
    };
    let Some(methods) = methods(value) else { return raise };
    if methods.get(name).is_some_and(|m| !m.takes_self) {
        let owner = value.type_name();
        return raise.help(format!("call `{owner}.{name}(…)`; the function has no `self`"));
    }
    raise
}
