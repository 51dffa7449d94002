//! Whether a value has a written type, asked while running: `catch (e: Type)`.

use super::{Meter, Stopped};
use crate::value::{EnumDef, Flavor, InterfaceDef, Str, StructDef, Value, inspect};
use std::collections::HashMap;
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
    /// Iterators, generators and streams, whichever of them a script names.
    Lazy(Str),
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
    /// `{a: T, b?: U}`, and whether it ends in `...`. Other keys do not matter to a test.
    Shape(Vec<(Str, bool, Self)>, bool),
    /// `"text"`
    Literal(Str),
    /// `A | B`
    Either(Vec<Self>),
    /// Another entry of the function's types, for aliases that hold themselves.
    See(usize),
}

/// Types of a function, or all that a type as a value needs.
#[derive(Default)]
pub struct WrittenTypes {
    /// The types, aliases as entries of their own.
    pub tests: Vec<TypeTest>,
    /// The types of the fields of each struct, by the address of its definition, which a test holds.
    pub structs: HashMap<*const StructDef, Box<[TypeTest]>>,
    /// The types of the values of each variant of an enum.
    pub enums: HashMap<*const EnumDef, Box<[Box<[TypeTest]>]>>,
}

/// Levels of a value that are looked at: a type that holds itself could go on for ever.
pub(super) const DEPTH: u32 = 200;

/// Whether `value` is of type `types[at]`. A test that the limits of the run stop says no; the machine raises why before the
/// script sees that.
pub(super) fn has_type(types: &[TypeTest], at: usize, value: &Value) -> bool {
    types.get(at).is_some_and(|test| fits(types, test, value))
}

/// Whether a value is of a type.
pub(super) fn fits(types: &[TypeTest], test: &TypeTest, value: &Value) -> bool {
    let mut fit = Fit { types, meter: Meter::start() };
    fit.test(test, value, DEPTH).unwrap_or(false)
}

/// One walk over a value.
struct Fit<'t> {
    types: &'t [TypeTest],
    meter: Meter,
}

impl<'t> Fit<'t> {
    fn test(&mut self, test: &'t TypeTest, value: &Value, depth: u32) -> Result<bool, Stopped> {
        let Some(depth) = depth.checked_sub(1) else { return Ok(true) };
        self.meter.step()?;
        Ok(match (test, value) {
            (TypeTest::Any, _) | (TypeTest::Lazy(_), Value::Iter(_)) => true,
            (TypeTest::Named(name), _) => named(name, value),
            (TypeTest::Lazy(_), Value::Host(h)) => h.object().type_name() == Flavor::Stream.name(),
            (TypeTest::Struct(def), Value::Struct(s)) => Rc::ptr_eq(def, s.def()),
            (TypeTest::Enum(def), Value::Variant(v)) => Rc::ptr_eq(def, v.def()),
            (TypeTest::Interface(def), Value::Struct(s)) => {
                def.methods.iter().all(|name| s.def().methods.get(name).is_some_and(|found| found.takes_self))
            }
            (TypeTest::Interface(def), Value::Variant(v)) => {
                def.methods.iter().all(|name| v.def().methods.get(name).is_some_and(|found| found.takes_self))
            }
            (TypeTest::List(item), Value::List(l)) => self.all(item, l.items.iter(), depth)?,
            (TypeTest::Set(item), Value::Set(s)) => self.all(item, s.items().iter(), depth)?,
            (TypeTest::Dict(item), Value::Dict(d)) => self.all(item, d.dict.iter().map(|(_, v)| v), depth)?,
            (TypeTest::Dict(_), Value::Host(h)) => h.object().type_name() == "dict",
            (TypeTest::Result(ok, err), _) => match value.as_result() {
                Some(Ok(v)) => self.test(ok, v, depth)?,
                Some(Err(e)) => self.test(err, e, depth)?,
                None => false,
            },
            (TypeTest::Shape(fields, _), _) => {
                for (key, optional, ty) in fields {
                    let has = match entry(value, key) {
                        Some(v) => self.test(ty, &v, depth)? || (*optional && v.is_nil()),
                        None => *optional && matches!(value, Value::Dict(_) | Value::Struct(_) | Value::Host(_)),
                    };
                    if !has {
                        return Ok(false);
                    }
                }
                true
            }
            (TypeTest::Literal(text), Value::Str(s)) => s == text,
            (TypeTest::Either(parts), _) => {
                for part in parts {
                    if self.test(part, value, depth)? {
                        return Ok(true);
                    }
                }
                false
            }
            (TypeTest::See(at), _) => match self.types.get(*at) {
                Some(test) => self.test(test, value, depth)?,
                None => false,
            },
            _ => false,
        })
    }

    fn all<'v>(
        &mut self,
        test: &'t TypeTest,
        items: impl Iterator<Item = &'v Value>,
        depth: u32,
    ) -> Result<bool, Stopped> {
        if matches!(test, TypeTest::Any) {
            return Ok(true);
        }
        for item in items {
            if !self.test(test, item, depth)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl TypeTest {
    /// Returns the type as a script would write it; an alias inside of itself is `…`.
    pub(super) fn written(&self, types: &[Self]) -> String {
        self.written_within(types, 8)
    }

    fn written_within(&self, types: &[Self], depth: u32) -> String {
        let Some(depth) = depth.checked_sub(1) else { return "…".to_owned() };
        let inner = |test: &Self| test.written_within(types, depth);
        match self {
            Self::Any => "any".to_owned(),
            Self::Never => "never".to_owned(),
            Self::Named(name) | Self::Lazy(name) => name.to_string(),
            Self::Struct(def) => def.name.to_string(),
            Self::Enum(def) => def.name.to_string(),
            Self::Interface(def) => def.name.to_string(),
            Self::List(item) => format!("list<{}>", inner(item)),
            Self::Dict(item) => format!("dict<string, {}>", inner(item)),
            Self::Set(item) => format!("set<{}>", inner(item)),
            Self::Result(ok, err) => format!("Result<{}, {}>", inner(ok), inner(err)),
            Self::Shape(fields, open) => {
                let mut parts: Vec<String> = fields
                    .iter()
                    .map(|(name, optional, ty)| format!("{name}{}: {}", if *optional { "?" } else { "" }, inner(ty)))
                    .collect();
                parts.extend(open.then(|| "...".to_owned()));
                format!("{{{}}}", parts.join(", "))
            }
            Self::Literal(text) => inspect(&Value::Str(text.clone())),
            Self::Either(parts) => match parts.as_slice() {
                [one, nil] if nil.is_nil() && !matches!(one, Self::Either(_)) => format!("{}?", inner(one)),
                _ => parts.iter().map(inner).collect::<Vec<_>>().join(" | "),
            },
            Self::See(at) => types.get(*at).map_or_else(|| "…".to_owned(), inner),
        }
    }

    fn is_nil(&self) -> bool {
        matches!(self, Self::Named(name) if name.as_str() == "nil")
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
