//! Makes values of written types from data: `Finding.from(data)`.
//!
//! Data is what JSON can say, and values that already have the type. A field is looked up under its name in data, takes its
//! default where it is missing, and is ignored where the type does not know it. With `strict` nothing is ignored or
//! converted. A variant without values is its name, one with values a dict of its name; an enum with `@tag` has a key that
//! says which one it is.
//!
//! A default may be an expression, which only the machine can run. Decoding then ends with the functions to call, and is done
//! again with what they gave; it asks for them in the same order.

use super::type_test::{DEPTH, WrittenTypes, fits};
use super::{Meter, Raise, RunCode, Stopped, TypeTest};
use crate::diagnostic::nearest;
use crate::value::{
    Dict, EnumDef, FieldDefault, Pair, Record, Set, Str, StructDef, Value, VariantDef, article, inspect,
};
use std::fmt::Write;
use std::rc::Rc;

/// Options of decoding.
#[derive(Clone, Copy, Default)]
pub struct DecodeOptions<'d> {
    /// Unknown keys, nil for a default, and floats for ints are errors.
    pub strict: bool,
    /// Values of the defaults that are expressions, in the order in which they were asked for.
    pub defaults: &'d [Value],
}

/// Outcome of decoding.
pub enum Decoded {
    /// The value.
    Value(Value),
    /// Numbers of the functions that compute defaults: decode again with what they return.
    Defaults(Vec<u32>),
}

/// Makes a value of a type from data.
pub(super) fn decode(
    table: &WrittenTypes,
    test: &TypeTest,
    data: &Value,
    options: DecodeOptions<'_>,
) -> Result<Decoded, Box<Raise>> {
    let mut decoder =
        Decoder { table, options, meter: Meter::start(), wanted: Vec::new(), path: Vec::new(), found: None };
    match decoder.value(test, data, DEPTH) {
        Ok(_) if decoder.wanted.len() > options.defaults.len() => Ok(Decoded::Defaults(decoder.wanted)),
        Ok(value) => Ok(Decoded::Value(value)),
        Err(Failed::Mismatch) => Err(decoder.found.map_or_else(Raise::undecoded, DecodeMismatch::raise)),
        Err(Failed::Stopped) => {
            drop(decoder);
            Err(Stopped.raise())
        }
    }
}

impl Raise {
    fn undecoded() -> Box<Self> {
        Self::error(RunCode::Decode, "the data does not have the expected type")
    }
}

/// A step from a value to one inside of it.
#[derive(Clone)]
enum DataStep {
    Key(Str),
    Index(usize),
}

/// A place that does not fit.
struct DecodeMismatch {
    path: Vec<DataStep>,
    /// The value found, in a phrase such as `expected int, found "12"`.
    what: String,
    help: Option<String>,
}

/// Why a value was not made; a mismatch is noted in the decoder.
enum Failed {
    Mismatch,
    Stopped,
}

impl From<Stopped> for Failed {
    fn from(_: Stopped) -> Self {
        Self::Stopped
    }
}

struct Decoder<'t> {
    table: &'t WrittenTypes,
    options: DecodeOptions<'t>,
    meter: Meter,
    /// Functions of the defaults asked for so far.
    wanted: Vec<u32>,
    path: Vec<DataStep>,
    /// The mismatch that is furthest inside.
    found: Option<DecodeMismatch>,
}

type Made = Result<Value, Failed>;

impl<'t> Decoder<'t> {
    fn value(&mut self, test: &'t TypeTest, data: &Value, depth: u32) -> Made {
        let Some(depth) = depth.checked_sub(1) else {
            return self.fail(format!("nested more than {DEPTH} levels deep"));
        };
        self.meter.step()?;
        match test {
            TypeTest::Any => return Ok(data.clone()),
            TypeTest::See(at) => {
                return match self.table.tests.get(*at) {
                    Some(test) => self.value(test, data, depth),
                    None => self.mismatch(test, data),
                };
            }
            TypeTest::Either(parts) => return self.either(test, parts, data, depth),
            TypeTest::Interface(_) | TypeTest::Lazy(_) => {
                return if fits(&self.table.tests, test, data) { Ok(data.clone()) } else { self.mismatch(test, data) };
            }
            _ => {}
        }
        // What the host hands out reads like a dict or a list.
        if let Value::Host(host) = data
            && !matches!(test, TypeTest::Named(_))
            && let Some(plain) = host.object().to_value()
        {
            return self.value(test, &plain, depth);
        }
        match (test, data) {
            (TypeTest::Named(name), _) => self.scalar(test, name, data, depth),
            (TypeTest::Literal(text), Value::Str(s)) if s == text => Ok(data.clone()),
            (TypeTest::List(item), Value::List(list)) => self.items(item, &list.items, depth).map(Value::list),
            (TypeTest::Set(item), Value::List(list)) => self.set(item, &list.items, depth),
            (TypeTest::Set(item), Value::Set(set)) => self.set(item, set.items(), depth),
            (TypeTest::Dict(of), Value::Dict(dict)) => self.dict(of, &dict.dict, depth),
            (TypeTest::Shape(fields, open), Value::Dict(dict)) => self.shape(fields, *open, &dict.dict, depth),
            (TypeTest::Struct(def), Value::Struct(made)) if Rc::ptr_eq(def, made.def()) => Ok(data.clone()),
            (TypeTest::Struct(def), Value::Dict(dict)) => self.structure(def, &dict.dict, None, depth),
            (TypeTest::Enum(def), Value::Variant(made)) if Rc::ptr_eq(def, made.def()) => Ok(data.clone()),
            (TypeTest::Enum(def), _) => self.variant(test, def, data, depth),
            (TypeTest::Result(ok, err), _) => self.result(test, ok, err, data, depth),
            _ => self.mismatch(test, data),
        }
    }

    fn scalar(&mut self, test: &'t TypeTest, name: &Str, data: &Value, depth: u32) -> Made {
        match (name.as_str(), data) {
            ("int", Value::Float(f)) if !self.options.strict && is_whole(*f) => {
                #[allow(clippy::cast_possible_truncation)] // it is whole and in range
                return Ok(Value::Int(*f as i64));
            }
            ("float", Value::Int(i)) => {
                #[allow(clippy::cast_precision_loss)]
                // an int that no float can be stays an int, which is a float as well
                let f = *i as f64;
                #[allow(clippy::cast_possible_truncation)]
                let is_exact = is_whole(f) && f as i64 == *i;
                return Ok(if is_exact { Value::Float(f) } else { data.clone() });
            }
            ("pair", Value::List(list)) if list.items.len() == 2 => {
                let both = self.items(&TypeTest::Any, &list.items, depth)?;
                let [first, second] = <[Value; 2]>::try_from(both).unwrap_or_default();
                return Ok(Value::Pair(Rc::new(Pair { first, second })));
            }
            _ => {}
        }
        if let Value::Str(text) = data {
            self.meter.text(text.len())?;
        }
        if fits(&self.table.tests, test, data) { Ok(data.clone()) } else { self.mismatch(test, data) }
    }

    fn items(&mut self, item: &'t TypeTest, data: &[Value], depth: u32) -> Result<Vec<Value>, Failed> {
        let mut items = Vec::with_capacity(data.len());
        for (index, value) in data.iter().enumerate() {
            items.push(self.inside(DataStep::Index(index), |decoder| decoder.value(item, value, depth))?);
        }
        Ok(items)
    }

    fn set(&mut self, item: &'t TypeTest, data: &[Value], depth: u32) -> Made {
        let items = self.items(item, data, depth)?;
        Ok(Value::Set(Rc::new(items.into_iter().collect::<Set>())))
    }

    fn dict(&mut self, of: &'t TypeTest, data: &Dict, depth: u32) -> Made {
        let mut made = Dict::with_capacity(data.len());
        for (key, value) in data.iter() {
            let value = self.inside(DataStep::Key(key.clone()), |decoder| decoder.value(of, value, depth))?;
            made.insert(key.clone(), value);
        }
        Ok(Value::dict(made))
    }

    fn shape(&mut self, fields: &'t [(Str, bool, TypeTest)], open: bool, data: &Dict, depth: u32) -> Made {
        let mut made = if open { data.clone() } else { Dict::with_capacity(fields.len()) };
        self.meter.steps(fields.len() + data.len())?;
        for (key, optional, test) in fields {
            match data.get(key) {
                None if *optional => {}
                Some(Value::Nil) if *optional => {
                    made.insert(key.clone(), Value::Nil);
                }
                Some(value) => {
                    let value = self.inside(DataStep::Key(key.clone()), |decoder| decoder.value(test, value, depth))?;
                    made.insert(key.clone(), value);
                }
                None if self.takes_nil(test, depth) => {
                    made.insert(key.clone(), Value::Nil);
                }
                None => return self.missing(key, test),
            }
        }
        if !open {
            self.known_keys(data, None, || fields.iter().map(|(key, ..)| key))?;
        }
        Ok(Value::dict(made))
    }

    /// A struct from a dict; `tag` is a key that is not a field.
    fn structure(&mut self, def: &Rc<StructDef>, data: &Dict, tag: Option<&Str>, depth: u32) -> Made {
        let table = self.table;
        let types = table.structs.get(&Rc::as_ptr(def)).map_or(&[][..], |types| types);
        self.meter.steps(def.fields.len() + data.len())?;
        let mut values = Vec::with_capacity(def.fields.len());
        for (at, field) in def.fields.iter().enumerate() {
            let test = types.get(at).unwrap_or(&TypeTest::Any);
            let given = data.get(&field.in_data);
            let given = match given {
                // Null often stands for what is missing.
                Some(Value::Nil)
                    if !self.options.strict
                        && !matches!(field.default, FieldDefault::None)
                        && !self.takes_nil(test, depth) =>
                {
                    None
                }
                given => given,
            };
            values.push(match (given, &field.default) {
                (Some(value), _) => {
                    let part = DataStep::Key(field.in_data.clone());
                    self.inside(part, |decoder| decoder.value(test, value, depth))?
                }
                (None, FieldDefault::Constant(value)) => value.clone(),
                (None, FieldDefault::Computed(function)) => self.computed(function.get()),
                (None, FieldDefault::None) if self.takes_nil(test, depth) => Value::Nil,
                (None, FieldDefault::None) => return self.missing(&field.in_data, test),
            });
        }
        self.known_keys(data, tag, || def.fields.iter().map(|field| &field.in_data))?;
        Ok(Value::Struct(Record::take(def.clone(), 0, &mut values)))
    }

    /// The value of a default that is an expression; nil as long as it was not computed.
    fn computed(&mut self, function: u32) -> Value {
        let value = self.options.defaults.get(self.wanted.len()).cloned().unwrap_or_default();
        self.wanted.push(function);
        value
    }

    fn variant(&mut self, test: &'t TypeTest, def: &Rc<EnumDef>, data: &Value, depth: u32) -> Made {
        if let Some(tag) = &def.tag {
            return match data {
                Value::Dict(dict) => self.tagged(def, tag, &dict.dict, depth),
                Value::Str(_) => self.untagged(test, def, data, depth),
                _ => self.mismatch(test, data),
            };
        }
        self.untagged(test, def, data, depth)
    }

    /// A variant without values as its name, one with values as a dict of its name.
    fn untagged(&mut self, test: &'t TypeTest, def: &Rc<EnumDef>, data: &Value, depth: u32) -> Made {
        let (name, given) = match data {
            Value::Str(name) => (name.clone(), None),
            Value::Dict(dict) => match dict.dict.iter().next() {
                Some((name, given)) if dict.dict.len() == 1 => (name.clone(), Some(given)),
                _ => return self.mismatch(test, data),
            },
            _ => return self.mismatch(test, data),
        };
        self.meter.steps(def.variants.len())?;
        let Some((number, variant)) = numbered(def, &name) else { return self.no_variant(def, &name) };
        match (given, variant.arity) {
            (None | Some(Value::Nil), 0) => Ok(made(def, number, &mut [])),
            (None, _) => self.fail(format!("expected a dict `{{{name}: …}}`, found {}", shown(data))),
            (Some(given), _) => {
                self.inside(DataStep::Key(name), |decoder| decoder.values(def, number, variant, given, None, depth))
            }
        }
    }

    /// A variant that a key of a dict names; the others are the fields of its value.
    fn tagged(&mut self, def: &Rc<EnumDef>, tag: &Str, data: &Dict, depth: u32) -> Made {
        self.meter.steps(def.variants.len())?;
        let name = match data.get(tag) {
            Some(Value::Str(name)) => name.clone(),
            Some(other) => {
                let what = format!("expected {}, found {}", names(def), shown(other));
                return self.inside(DataStep::Key(tag.clone()), |decoder| decoder.fail(what));
            }
            None => return self.missing_key(tag, &names(def)),
        };
        let Some((number, variant)) = numbered(def, &name) else {
            return self.inside(DataStep::Key(tag.clone()), |decoder| decoder.no_variant(def, &name));
        };
        if variant.arity == 0 {
            self.known_keys(data, Some(tag), std::iter::empty::<&Str>)?;
            return Ok(made(def, number, &mut []));
        }
        let value = Value::dict(data.clone());
        self.values(def, number, variant, &value, Some(tag), depth)
    }

    /// The values of a variant: one alone, several as a list.
    fn values(
        &mut self,
        def: &Rc<EnumDef>,
        number: u32,
        variant: &VariantDef,
        given: &Value,
        tag: Option<&Str>,
        depth: u32,
    ) -> Made {
        let table = self.table;
        let types = table.enums.get(&Rc::as_ptr(def)).and_then(|types| types.get(number as usize));
        let types: &[TypeTest] = types.map_or(&[], |types| types);
        let arity = variant.arity;
        if arity == 1 {
            let test = types.first().unwrap_or(&TypeTest::Any);
            let value = match (test, given, tag) {
                (TypeTest::Struct(of), Value::Dict(dict), Some(tag)) => {
                    self.structure(of, &dict.dict, Some(tag), depth.saturating_sub(1))?
                }
                (_, Value::Dict(dict), Some(tag)) => {
                    let mut dict = dict.dict.clone();
                    dict.remove(tag);
                    self.value(test, &Value::dict(dict), depth)?
                }
                _ => self.value(test, given, depth)?,
            };
            return Ok(made(def, number, &mut [value]));
        }
        let Value::List(list) = given else {
            return self.fail(format!("expected a list of {arity} values, found {}", shown(given)));
        };
        if list.items.len() != arity {
            return self.fail(format!("expected {arity} values, found {}", list.items.len()));
        }
        let mut values = Vec::with_capacity(arity);
        for (index, value) in list.items.iter().enumerate() {
            let test = types.get(index).unwrap_or(&TypeTest::Any);
            values.push(self.inside(DataStep::Index(index), |decoder| decoder.value(test, value, depth))?);
        }
        Ok(made(def, number, &mut values))
    }

    fn result(&mut self, test: &'t TypeTest, ok: &'t TypeTest, err: &'t TypeTest, data: &Value, depth: u32) -> Made {
        let one = match data {
            Value::Dict(dict) if dict.dict.len() == 1 => dict.dict.iter().next(),
            _ => None,
        };
        match (data.as_result(), one) {
            (Some(Ok(value)), _) => self.value(ok, value, depth).map(Value::ok),
            (Some(Err(error)), _) => self.value(err, error, depth).map(Value::err),
            (None, Some((key, value))) if key.as_str() == "Ok" => {
                self.inside(DataStep::Key(key.clone()), |decoder| decoder.value(ok, value, depth)).map(Value::ok)
            }
            (None, Some((key, value))) if key.as_str() == "Err" => {
                self.inside(DataStep::Key(key.clone()), |decoder| decoder.value(err, value, depth)).map(Value::err)
            }
            _ => self.mismatch(test, data),
        }
    }

    /// The first of several types that takes the data as it is, else the first that can be made of it.
    fn either(&mut self, test: &'t TypeTest, parts: &'t [TypeTest], data: &Value, depth: u32) -> Made {
        if parts.iter().any(|part| is_plain(part) && fits(&self.table.tests, part, data)) {
            return Ok(data.clone());
        }
        let (level, wanted) = (self.path.len(), self.wanted.len());
        let before = self.found.take();
        for part in parts {
            match self.value(part, data, depth) {
                Err(Failed::Mismatch) => self.wanted.truncate(wanted),
                made => {
                    self.found = before;
                    return made;
                }
            }
        }
        // The one that went furthest says best what is wrong.
        if self.found.as_ref().is_some_and(|found| found.path.len() > level) {
            return Err(Failed::Mismatch);
        }
        self.found = before;
        self.mismatch(test, data)
    }

    fn takes_nil(&self, test: &TypeTest, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        match test {
            TypeTest::Any => true,
            TypeTest::Named(name) => name.as_str() == "nil",
            TypeTest::Either(parts) => parts.iter().any(|part| self.takes_nil(part, depth)),
            TypeTest::See(at) => self.table.tests.get(*at).is_some_and(|test| self.takes_nil(test, depth)),
            _ => false,
        }
    }

    /// With `strict`, refuses a key that the type does not know.
    fn known_keys<'k, I: Iterator<Item = &'k Str>>(
        &mut self,
        data: &Dict,
        tag: Option<&Str>,
        known: impl Fn() -> I,
    ) -> Result<(), Failed> {
        if !self.options.strict {
            return Ok(());
        }
        for (key, _) in data.iter() {
            self.meter.steps(known().size_hint().0 + 1)?;
            if tag != Some(key) && !known().any(|name| name == key) {
                let near = nearest(key, known().map(Str::as_str)).map(|near| format!("did you mean `{near}`?"));
                return self.inside(DataStep::Key(key.clone()), |decoder| {
                    decoder.note("unknown key".to_owned(), near);
                    Err(Failed::Mismatch)
                });
            }
        }
        Ok(())
    }

    fn no_variant(&mut self, def: &EnumDef, name: &str) -> Made {
        let near = nearest(name, def.variants.iter().map(|v| v.in_data.as_str()));
        let what = format!("expected {}, found {}", names(def), inspect(&Value::str(name)));
        self.note(what, near.map(|near| format!("did you mean \"{near}\"?")));
        Err(Failed::Mismatch)
    }

    fn missing(&mut self, key: &Str, test: &TypeTest) -> Made {
        let expected = test.written(&self.table.tests);
        self.missing_key(key, &expected)
    }

    fn missing_key(&mut self, key: &Str, expected: &str) -> Made {
        let what = format!("missing, expected {expected}");
        self.inside(DataStep::Key(key.clone()), |decoder| decoder.fail(what))
    }

    fn mismatch(&mut self, test: &TypeTest, data: &Value) -> Made {
        let expected = match test {
            TypeTest::Enum(def) => names(def),
            _ => test.written(&self.table.tests),
        };
        self.fail(format!("expected {expected}, found {}", shown(data)))
    }

    fn fail(&mut self, what: String) -> Made {
        self.note(what, None);
        Err(Failed::Mismatch)
    }

    fn note(&mut self, what: String, help: Option<String>) {
        if self.found.as_ref().is_none_or(|found| found.path.len() < self.path.len()) {
            self.found = Some(DecodeMismatch { path: self.path.clone(), what, help });
        }
    }

    fn inside<T>(&mut self, part: DataStep, work: impl FnOnce(&mut Self) -> Result<T, Failed>) -> Result<T, Failed> {
        self.path.push(part);
        let done = work(self);
        self.path.pop();
        done
    }
}

impl DecodeMismatch {
    fn raise(self) -> Box<Raise> {
        let mut path = String::new();
        for part in &self.path {
            let _ = match part {
                DataStep::Index(index) => write!(path, "[{index}]"),
                DataStep::Key(key) if !is_name(key) => write!(path, "[{}]", inspect(&Value::Str(key.clone()))),
                DataStep::Key(key) if path.is_empty() => write!(path, "{key}"),
                DataStep::Key(key) => write!(path, ".{key}"),
            };
        }
        let message = if path.is_empty() { self.what } else { format!("{path}: {}", self.what) };
        Raise::error(RunCode::Decode, message).field("path", Value::from(path)).help_by_some(self.help)
    }
}

/// Whether a type says of data all that there is to say, so that data of this type is taken as it is.
fn is_plain(test: &TypeTest) -> bool {
    matches!(test, TypeTest::Named(_) | TypeTest::Lazy(_) | TypeTest::Literal(_))
}

fn numbered<'d>(def: &'d EnumDef, name: &Str) -> Option<(u32, &'d VariantDef)> {
    (0_u32..).zip(&def.variants).find(|(_, variant)| variant.in_data == *name)
}

fn made(def: &Rc<EnumDef>, number: u32, values: &mut [Value]) -> Value {
    Value::Variant(Record::take(def.clone(), number, values))
}

/// The names of an enum's variants, a few of them.
fn names(def: &EnumDef) -> String {
    const MOST: usize = 8;
    let names = def.variants.iter().take(MOST).map(|variant| inspect(&Value::Str(variant.in_data.clone())));
    let mut names: Vec<String> = names.collect();
    if def.variants.len() > MOST {
        names.push("…".to_owned());
    }
    names.join(" | ")
}

/// Data in a few words.
fn shown(data: &Value) -> String {
    const LONGEST: usize = 40;
    match data {
        Value::Str(text) if text.chars().nth(LONGEST).is_some() => {
            let start: String = text.chars().take(LONGEST).collect();
            format!("{}…", inspect(&Value::from(start)))
        }
        Value::Nil | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Str(_) => inspect(data),
        other => article(other.type_name()),
    }
}

/// Whether a key can be written after a dot.
pub(super) fn is_name(key: &str) -> bool {
    key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Whether a float is an int of the language.
fn is_whole(f: f64) -> bool {
    // 2^63 itself is out of range.
    f.fract() == 0.0 && (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&f)
}
