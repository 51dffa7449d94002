//! Values of the second evaluator: cloned freely, compared and printed by plain recursion.

use super::scope::Scope;
use lang::ast::{Block, Param};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::rc::Rc;

/// A value. Collections are copied completely when they change.
#[derive(Clone)]
pub(crate) enum Value<'a> {
    Nil,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(Rc<str>),
    List(Rc<Vec<Value<'a>>>),
    Dict(Rc<BTreeMap<String, Value<'a>>>),
    Set(Rc<Vec<Value<'a>>>),
    Range(i64, i64, bool),
    Pair(Rc<(Value<'a>, Value<'a>)>),
    Function(Rc<Function<'a>>),
    Builtin(Rc<str>),
    Struct(Rc<str>, Rc<Vec<(String, Value<'a>)>>),
    Variant(Rc<str>, Rc<str>, Rc<Vec<Value<'a>>>),
    /// A variant that has values and waits for them.
    Constructor(Rc<str>, Rc<str>, usize),
    /// The value that `catch` binds for an error of the language; only its code is known here.
    Fault(&'static str),
}

/// A function or closure with the scope it was made in.
pub(crate) struct Function<'a> {
    pub(crate) params: &'a [Param],
    pub(crate) body: &'a Block,
    pub(crate) scope: Rc<Scope<'a>>,
    /// Its parameters may be left out.
    pub(crate) pipeline: bool,
}

impl<'a> Value<'a> {
    pub(crate) fn str(text: impl AsRef<str>) -> Self {
        Self::Str(text.as_ref().into())
    }

    pub(crate) fn list(items: Vec<Value<'a>>) -> Self {
        Self::List(Rc::new(items))
    }

    pub(crate) fn dict(entries: impl IntoIterator<Item = (String, Value<'a>)>) -> Self {
        Self::Dict(Rc::new(entries.into_iter().collect()))
    }

    pub(crate) fn pair(first: Value<'a>, second: Value<'a>) -> Self {
        Self::Pair(Rc::new((first, second)))
    }

    pub(crate) fn ok(value: Value<'a>) -> Self {
        Self::Variant("Result".into(), "Ok".into(), Rc::new(vec![value]))
    }

    pub(crate) fn err(value: Value<'a>) -> Self {
        Self::Variant("Result".into(), "Err".into(), Rc::new(vec![value]))
    }

    /// Returns the value of an `Ok` or an `Err`, and whether it is an `Ok`.
    pub(crate) fn as_result(&self) -> Option<(bool, Value<'a>)> {
        match self {
            Self::Variant(of, name, fields) if &**of == "Result" => Some((&**name == "Ok", fields.first()?.clone())),
            _ => None,
        }
    }

    /// The set of these, in the order in which they first occur.
    pub(crate) fn set(items: impl IntoIterator<Item = Value<'a>>) -> Self {
        let mut members: Vec<Value<'a>> = Vec::new();
        for item in items {
            if !members.iter().any(|m| equal(m, &item)) {
                members.push(item);
            }
        }
        Self::Set(Rc::new(members))
    }

    pub(crate) fn truthy(&self) -> bool {
        match self {
            Self::Nil => false,
            Self::Bool(b) => *b,
            Self::Int(i) => *i != 0,
            Self::Float(f) => *f != 0.0,
            Self::Str(s) => !s.is_empty(),
            Self::List(items) | Self::Set(items) => !items.is_empty(),
            Self::Dict(entries) => !entries.is_empty(),
            _ => true,
        }
    }

    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Self::Nil => "nil",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Float(_) => "float",
            Self::Str(_) => "string",
            Self::List(_) => "list",
            Self::Dict(_) | Self::Fault(_) => "dict",
            Self::Set(_) => "set",
            Self::Range(..) => "range",
            Self::Pair(_) => "pair",
            Self::Function(_) => "closure",
            Self::Builtin(_) | Self::Constructor(..) => "builtin",
            Self::Struct(..) => "struct",
            Self::Variant(..) => "enum",
        }
    }
}

/// `a == b`: structural, numbers by value, functions by identity.
pub(crate) fn equal<'a>(a: &Value<'a>, b: &Value<'a>) -> bool {
    use Value::{
        Bool, Builtin, Constructor, Dict, Float, Function, Int, List, Nil, Pair, Range, Set, Str, Struct, Variant,
    };
    let all = |x: &[Value<'a>], y: &[Value<'a>]| x.len() == y.len() && x.iter().zip(y).all(|(a, b)| equal(a, b));
    match (a, b) {
        (Nil, Nil) => true,
        (Bool(x), Bool(y)) => x == y,
        (Int(_) | Float(_), Int(_) | Float(_)) => order(a, b) == Some(Ordering::Equal),
        (Str(x), Str(y)) | (Builtin(x), Builtin(y)) => x == y,
        (List(x), List(y)) => all(x, y),
        (Set(x), Set(y)) => x.len() == y.len() && x.iter().all(|a| y.iter().any(|b| equal(a, b))),
        (Dict(x), Dict(y)) => {
            x.len() == y.len() && x.iter().zip(y.iter()).all(|((j, a), (k, b))| j == k && equal(a, b))
        }
        (Range(a, b, c), Range(x, y, z)) => (a, b, c) == (x, y, z),
        (Pair(x), Pair(y)) => equal(&x.0, &y.0) && equal(&x.1, &y.1),
        (Function(x), Function(y)) => Rc::ptr_eq(x, y),
        (Struct(n, x), Struct(m, y)) => n == m && x.iter().zip(y.iter()).all(|(a, b)| equal(&a.1, &b.1)),
        (Variant(e, n, x), Variant(f, m, y)) => e == f && n == m && all(x, y),
        (Constructor(e, n, _), Constructor(f, m, _)) => e == f && n == m,
        _ => false,
    }
}

/// The order of two numbers or two strings; nothing for all else, and for a NaN.
pub(crate) fn order(a: &Value<'_>, b: &Value<'_>) -> Option<Ordering> {
    match (a, b) {
        (Value::Int(x), Value::Int(y)) => Some(x.cmp(y)),
        (Value::Float(x), Value::Float(y)) => x.partial_cmp(y),
        (Value::Int(x), Value::Float(y)) => exactly(*x, *y),
        (Value::Float(x), Value::Int(y)) => exactly(*y, *x).map(Ordering::reverse),
        (Value::Str(x), Value::Str(y)) => Some(x.as_bytes().cmp(y.as_bytes())),
        _ => None,
    }
}

/// An int beside a float, neither rounded: by their whole parts, then by what the float has behind the point.
#[allow(clippy::cast_possible_truncation, reason = "floats within 2^100 have a whole part that fits")]
fn exactly(x: i64, y: f64) -> Option<Ordering> {
    let bound = 2f64.powi(100);
    if y.is_nan() {
        return None;
    }
    let y = y.clamp(-bound, bound);
    Some(i128::from(x).cmp(&(y.trunc() as i128)).then(0.0.partial_cmp(&y.fract())?))
}

/// Returns the text that `println` shows, or `None` for an error of the language, whose words are
/// not known here.
pub(crate) fn show(value: &Value<'_>) -> Option<String> {
    let commas = |items: &[Value<'_>]| Some(items.iter().map(show).collect::<Option<Vec<_>>>()?.join(", "));
    let entry = |key: &str, value: &Value<'_>| {
        let mut chars = key.chars();
        let plain = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
            && chars.all(|c| c.is_ascii_alphanumeric() || c == '_');
        Some(if plain { format!("{key}: {}", show(value)?) } else { format!("{key:?}: {}", show(value)?) })
    };
    Some(match value {
        Value::Nil => "nil".into(),
        Value::Bool(b) => b.to_string(),
        Value::Int(i) => i.to_string(),
        // Rust's own debug form changes to an exponent at the same places as the language does.
        // Rust writes an exponent below 1e-4, the language below 1e-5.
        Value::Float(f) if (1e-5..1e-4).contains(&f.abs()) => f.to_string(),
        Value::Float(f) => format!("{f:?}"),
        Value::Str(s) => s.to_string(),
        Value::List(items) => format!("[{}]", commas(items)?),
        Value::Set(items) => format!("set({})", commas(items)?),
        Value::Dict(entries) => {
            let entries: Option<Vec<_>> = entries.iter().map(|(k, v)| entry(k, v)).collect();
            format!("{{{}}}", entries?.join(", "))
        }
        Value::Range(from, to, exclusive) => format!("{from} to {to}{}", if *exclusive { " exclusive" } else { "" }),
        Value::Pair(pair) => format!("({}, {})", show(&pair.0)?, show(&pair.1)?),
        Value::Function(_) => "<closure>".into(),
        Value::Struct(name, fields) => {
            let fields: Option<Vec<_>> = fields.iter().map(|(k, v)| entry(k, v)).collect();
            format!("{name} {{{}}}", fields?.join(", "))
        }
        Value::Variant(of, name, fields) if fields.is_empty() => format!("{of}.{name}"),
        Value::Variant(of, name, fields) => format!("{of}.{name}({})", commas(fields)?),
        Value::Builtin(_) | Value::Constructor(..) | Value::Fault(_) => return None,
    })
}
