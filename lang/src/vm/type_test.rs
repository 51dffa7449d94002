//! Whether a value has a written type, asked while running: `catch (e: Type)`.

use crate::value::{EnumDef, InterfaceDef, Str, StructDef, Value};
use std::rc::Rc;

/// A written type, ready to be asked.
#[derive(Clone)]
pub enum TypeTest {
    /// Every value.
    Any,
    /// No value.
    Never,
    /// Values whose type the language or the host calls that.
    Named(Str),
    /// Instances of a struct.
    Struct(Rc<StructDef>),
    /// Variants of an enum.
    Enum(Rc<EnumDef>),
    /// Values with these methods.
    Interface(Rc<InterfaceDef>),
    /// `list<T>`
    List(Box<Self>),
    /// `dict<string, V>`
    Dict(Box<Self>),
    /// `set<T>`
    Set(Box<Self>),
    /// `Result<T, E>`
    Result(Box<Self>, Box<Self>),
    /// `{a: T, b?: U}`; other keys do not matter.
    Shape(Vec<(Str, bool, Self)>),
    /// `"text"`
    Literal(Str),
    /// `A | B`
    Either(Vec<Self>),
    /// Another entry of the function's types, for aliases that hold themselves.
    See(usize),
}

/// Levels of a value that are looked at: a type that holds itself could go on for ever.
const DEPTH: u32 = 200;

/// Whether `value` is of type `types[at]`.
pub(super) fn has_type(types: &[TypeTest], at: usize, value: &Value) -> bool {
    types.get(at).is_some_and(|test| fits(types, test, value, DEPTH))
}

fn fits(types: &[TypeTest], test: &TypeTest, value: &Value, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return true };
    let all = |test: &TypeTest, items: &[Value]| items.iter().all(|v| fits(types, test, v, depth));
    match (test, value) {
        (TypeTest::Any, _) => true,
        (TypeTest::Named(name), _) => named(name, value),
        (TypeTest::Struct(def), Value::Struct(s)) => Rc::ptr_eq(def, s.def()),
        (TypeTest::Enum(def), Value::Variant(v)) => Rc::ptr_eq(def, v.def()),
        (TypeTest::Interface(def), Value::Struct(s)) => {
            def.methods.iter().all(|name| s.def().methods.get(name).is_some_and(|found| found.takes_self))
        }
        (TypeTest::Interface(def), Value::Variant(v)) => {
            def.methods.iter().all(|name| v.def().methods.get(name).is_some_and(|found| found.takes_self))
        }
        (TypeTest::List(item), Value::List(l)) => all(item, &l.items),
        (TypeTest::Set(item), Value::Set(s)) => all(item, s.items()),
        (TypeTest::Dict(item), Value::Dict(d)) => d.dict.iter().all(|(_, v)| fits(types, item, v, depth)),
        (TypeTest::Dict(_), Value::Host(h)) => h.object().type_name() == "dict",
        (TypeTest::Result(ok, err), _) => match value.as_result() {
            Some(Ok(v)) => fits(types, ok, v, depth),
            Some(Err(e)) => fits(types, err, e, depth),
            None => false,
        },
        (TypeTest::Shape(fields), _) => fields.iter().all(|(key, optional, ty)| match entry(value, key) {
            Some(v) => fits(types, ty, &v, depth) || (*optional && v.is_nil()),
            None => *optional && matches!(value, Value::Dict(_) | Value::Struct(_) | Value::Host(_)),
        }),
        (TypeTest::Literal(text), Value::Str(s)) => s == text,
        (TypeTest::Either(parts), _) => parts.iter().any(|part| fits(types, part, value, depth)),
        (TypeTest::See(at), _) => types.get(*at).is_some_and(|test| fits(types, test, value, depth)),
        _ => false,
    }
}

fn entry(value: &Value, key: &Str) -> Option<Value> {
    match value {
        Value::Dict(d) => d.dict.get(key).cloned(),
        Value::Struct(s) => s.get(key).cloned(),
        Value::Host(h) => h.object().get(key),
        _ => None,
    }
}

fn named(name: &Str, value: &Value) -> bool {
    match name.as_str() {
        "dict" => value.type_name() == "dict",
        "float" => matches!(value, Value::Float(_) | Value::Int(_)),
        "fn" => value.is_callable(),
        name => value.type_name() == name,
    }
}
