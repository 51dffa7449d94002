//! JSON: text becomes a value and a value text, with no tree in between.

use super::decode::{self, DecodeStep};
use super::{Native, Step, TypedBy, args, no_item};
use crate::value::{Dict, Range, Str, Value, VariantValue, article};
use crate::vm::{Cx, Meter, Raise, RunCode, Stopped, TypeValue};
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, SerializeSeq, Serializer};
use std::cell::{Cell, RefCell};
use std::fmt;

crate::builtins! { "" =>
    /// The value that a JSON text stands for. An integer of more than 64 bits is a string of its digits. With `as` it is a value of
    /// that type; what does not fit is an error that names its place. With `strict` an unknown key is one as well.
    native "json_parse(text: string, options: JsonOptions = nil) -> any" [typed_by = &[TypedBy::whole("as")]] JSON_PARSE;
    /// The JSON text of a value, keys in order.
    plain "json_stringify(value: any) -> string" json_stringify;
    /// Writes the value on several lines.
    plain "json_stringify_pretty(value: any) -> string" json_stringify_pretty;
    /// Returns the JSON text of a value on several lines.
    ///
    /// ```harn
    /// json_pretty({a: [1]}) // => "{\n  \"a\": [\n    1\n  ]\n}"
    /// ```
    plain "json_pretty(value: any) -> string" json_stringify_pretty;
    /// Returns the value at a JSON pointer (RFC 6901), or nil if there is none.
    ///
    /// ```harn
    /// json_pointer({a: [{b: 7}]}, "/a/0/b") // => 7
    /// json_pointer({a: 1}, "/x") // => nil
    /// ```
    plain "json_pointer(value: any, pointer: string) -> any" json_pointer;
    /// Parses a text with a JSON value on each line. Empty lines are skipped.
    ///
    /// ```harn
    /// jsonl_parse("{\"a\": 1}\n[2]\n") // => [{a: 1}, [2]]
    /// jsonl_parse("1\n{") // => error: line 2: invalid JSON
    /// ```
    plain "jsonl_parse(text: string) -> list" jsonl_parse;
    /// Returns a text with the JSON of each value on a line of its own.
    ///
    /// ```harn
    /// jsonl_stringify([{a: 1}, [2]]) // => "{\"a\":1}\n[2]\n"
    /// ```
    plain "jsonl_stringify(values: list) -> string" jsonl_stringify;
}

/// Levels of nesting that are written: deeper values come from a mistake, and writing recurses.
const DEPTH: u32 = 512;

/// A value from JSON text. Half of a character is U+FFFD, an integer that does not fit the language a text.
///
/// # Errors
/// Raises an error with line and column if the text is not valid JSON.
pub fn parse_json(text: &str) -> Result<Value, Box<Raise>> {
    let keys = Keys { slots: RefCell::new([const { None }; 64]) };
    let read = |text: &str| {
        let mut reader = serde_json::Deserializer::from_str(text);
        let value = JsonReader { keys: &keys }.deserialize(&mut reader)?;
        reader.end().map(|()| value)
    };
    json::read_with(text, read).map_err(|e| Raise::error(RunCode::Value, format!("invalid JSON: {e}")))
}

/// Keys that were read, for the records of a list share theirs: the last one of each length and first letter.
struct Keys {
    slots: RefCell<[Option<Str>; 64]>,
}

impl Keys {
    fn get(&self, text: &str) -> Str {
        let first = text.as_bytes().first().map_or(0, |b| usize::from(*b));
        let mut slots = self.slots.borrow_mut();
        let count = slots.len();
        let slot = &mut slots[(first * 7 + text.len()) % count];
        match slot {
            Some(key) if key.as_str() == text => key.clone(),
            _ => slot.insert(Str::new(text)).clone(),
        }
    }
}

/// Makes one value.
#[derive(Clone, Copy)]
struct JsonReader<'k> {
    keys: &'k Keys,
}

impl<'de> DeserializeSeed<'de> for JsonReader<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for JsonReader<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Nil)
    }

    fn visit_bool<E>(self, b: bool) -> Result<Value, E> {
        Ok(Value::Bool(b))
    }

    fn visit_i64<E>(self, i: i64) -> Result<Value, E> {
        Ok(Value::Int(i))
    }

    /// An integer that is too large for the language is the text of its digits: a float would be another number.
    fn visit_u64<E>(self, u: u64) -> Result<Value, E> {
        Ok(i64::try_from(u).map_or_else(|_| Value::from(u.to_string()), Value::Int))
    }

    fn visit_f64<E>(self, f: f64) -> Result<Value, E> {
        Ok(Value::Float(f))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::str(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = from.next_element_seed(self)? {
            items.push(item);
        }
        Ok(Value::list(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let mut dict = Dict::new();
        while let Some(key) = from.next_key_seed(KeySeed { keys: self.keys })? {
            dict.insert(key, from.next_value_seed(self)?);
        }
        Ok(Value::dict(dict))
    }
}

/// Makes one key.
struct KeySeed<'k> {
    keys: &'k Keys,
}

impl<'de> DeserializeSeed<'de> for KeySeed<'_> {
    type Value = Str;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Str, D::Error> {
        from.deserialize_str(self)
    }
}

impl Visitor<'_> for KeySeed<'_> {
    type Value = Str;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Str, E> {
        Ok(self.keys.get(text))
    }
}

/// Writes one value.
struct JsonWriter<'v> {
    value: &'v Value,
    /// Levels that may still be opened.
    depth: u32,
    writing: &'v Writing,
}

/// State that the writers of one text share.
struct Writing {
    /// Why writing ended early.
    failed: Cell<Option<Box<Raise>>>,
    meter: RefCell<Meter>,
    /// Values written but not yet counted by the meter, which counts [`Writing::AT_ONCE`] of them at a time.
    uncounted: Cell<usize>,
}

impl Writing {
    const AT_ONCE: usize = 64;
}

impl JsonWriter<'_> {
    fn fail<E: serde::ser::Error>(&self, raise: Box<Raise>) -> E {
        self.writing.failed.set(Some(raise));
        E::custom("")
    }

    /// Counts one value.
    #[inline]
    fn step<E: serde::ser::Error>(&self) -> Result<(), E> {
        let uncounted = self.writing.uncounted.get() + 1;
        self.writing.uncounted.set(uncounted % Writing::AT_ONCE);
        if uncounted < Writing::AT_ONCE { Ok(()) } else { self.count(|meter| meter.steps(uncounted)) }
    }

    /// Tells the meter, and keeps why writing must stop.
    #[cold]
    fn count<E: serde::ser::Error>(&self, how: impl FnOnce(&mut Meter) -> Result<(), Stopped>) -> Result<(), E> {
        how(&mut self.writing.meter.borrow_mut()).map_err(|stopped| self.fail(stopped.raise()))
    }

    /// Counts a text that is written.
    fn count_text<E: serde::ser::Error>(&self, text: &str) -> Result<(), E> {
        if text.len() < Meter::TEXT_STEP { Ok(()) } else { self.count(|meter| meter.text(text.len())) }
    }

    fn range<S: Serializer>(&self, to: S, range: Range) -> Result<S::Ok, S::Error> {
        if range.len() > Range::MOST_ITEMS {
            return Err(self.fail(crate::vm::long_range(range)));
        }
        let mut list = to.serialize_seq(Some(range.len()))?;
        for item in (0..range.len()).filter_map(|i| range.at(i)) {
            self.step()?;
            list.serialize_element(&item)?;
        }
        list.end()
    }

    fn items<'i, S: Serializer>(
        &self,
        to: S,
        items: impl ExactSizeIterator<Item = &'i Value>,
    ) -> Result<S::Ok, S::Error> {
        let mut list = to.serialize_seq(Some(items.len()))?;
        for value in items {
            list.serialize_element(&JsonWriter { value, depth: self.depth - 1, writing: self.writing })?;
        }
        list.end()
    }

    /// Writes what decoding reads: a variant without values as its name, one with values as a dict of its name, or with the tag
    /// of its enum beside the fields of its value.
    fn variant<S: Serializer>(&self, to: S, variant: &VariantValue) -> Result<S::Ok, S::Error> {
        let def = variant.def();
        let Some(own) = def.variants.get(variant.tag() as usize) else { return to.serialize_unit() };
        let name = Value::Str(own.in_data.clone());
        let mut dict = Dict::new();
        let value = match variant.values() {
            [] => None,
            [one] => Some(one.clone()),
            several => Some(Value::list(crate::value::meter::copied(several))),
        };
        match (&def.tag, value) {
            (None, None) => return to.serialize_str(&own.in_data),
            (None, Some(value)) => {
                dict.insert(own.in_data.clone(), value);
            }
            (Some(tag), None) => {
                dict.insert(tag.clone(), name);
            }
            (Some(tag), Some(Value::Struct(fields))) => {
                let names = fields.def().fields.iter().map(|field| field.in_data.clone());
                dict = names.zip(fields.values().iter().cloned()).collect();
                dict.insert(tag.clone(), name);
            }
            (Some(tag), Some(Value::Dict(entries))) => {
                dict = entries.dict.clone();
                dict.insert(tag.clone(), name);
            }
            (Some(_), Some(other)) => {
                let message = format!("cannot write a {} beside the tag of `{}` as JSON", other.type_name(), def.name);
                return Err(self.fail(Raise::error(RunCode::Type, message)));
            }
        }
        self.entries(to, dict.iter())
    }

    fn entries<'i, S: Serializer>(
        &self,
        to: S,
        entries: impl Iterator<Item = (&'i Str, &'i Value)>,
    ) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        for (key, value) in entries {
            self.count_text(key.as_str())?;
            map.serialize_entry(key.as_str(), &JsonWriter { value, depth: self.depth - 1, writing: self.writing })?;
        }
        map.end()
    }
}

impl serde::Serialize for JsonWriter<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if self.depth == 0 {
            let message = format!("value nested more than {DEPTH} levels deep");
            return Err(self.fail(Raise::error(RunCode::Value, message)));
        }
        self.step()?;
        match self.value {
            Value::Nil | Value::Unbound => to.serialize_unit(),
            Value::Bool(b) => to.serialize_bool(*b),
            Value::Int(i) => to.serialize_i64(*i),
            // What is no number becomes null: JSON has no NaN and no infinity.
            Value::Float(f) => to.serialize_f64(*f),
            Value::Str(s) => {
                self.count_text(s)?;
                to.serialize_str(s)
            }
            Value::List(l) => self.items(to, l.items.iter()),
            Value::Set(s) => self.items(to, s.items().iter()),
            Value::Pair(p) => self.items(to, [&p.first, &p.second].into_iter()),
            Value::Range(r) => self.range(to, **r),
            Value::Dict(d) => self.entries(to, d.dict.iter()),
            Value::Struct(s) => {
                let names = s.def().fields.iter().map(|field| &field.in_data);
                self.entries(to, names.zip(s.values()))
            }
            Value::Variant(v) if v.def().site.is_some() => self.variant(to, v),
            Value::Host(h) if let Some(value) = h.object().to_value() => {
                JsonWriter { value: &value, depth: self.depth, writing: self.writing }.serialize(to)
            }
            other => {
                let message = format!("a {} cannot be written as JSON", other.type_name());
                Err(self.fail(Raise::error(RunCode::Type, message)))
            }
        }
    }
}

/// The text that `write` makes of a value.
fn written(
    value: &Value,
    write: impl FnOnce(&JsonWriter<'_>) -> Result<String, serde_json::Error>,
) -> Result<String, Box<Raise>> {
    let writing = Writing { failed: Cell::new(None), meter: RefCell::new(Meter::start()), uncounted: Cell::new(0) };
    write(&JsonWriter { value, depth: DEPTH, writing: &writing }).map_err(|e| {
        writing.failed.take().unwrap_or_else(|| Raise::error(RunCode::Value, format!("invalid JSON: {e}")))
    })
}

/// The JSON text of a value, keys in order.
///
/// # Errors
/// When it holds something that JSON has no form for (a closure, a channel), or is nested too deep.
pub fn json_text(value: &Value) -> Result<String, Box<Raise>> {
    written(value, |value| serde_json::to_string(value))
}

/// Writes a value as JSON on several lines.
///
/// # Errors
/// Fails as [`json_text`] does.
pub fn json_text_pretty(value: &Value) -> Result<String, Box<Raise>> {
    written(value, |value| serde_json::to_string_pretty(value))
}

static JSON_PARSE: &Native = &Native { enter: json_parse, resume: computed, item: no_item, slots: decode::SLOTS + 3 };

/// The register of the type, the first of those after the arguments; the data is in the next.
const TYPE: usize = 2;

fn json_parse(cx: &mut Cx<'_>, window: &mut [Value]) -> Result<Step, Box<Raise>> {
    let ty = args::opt_dict(window, 1)?.and_then(|options| options.get_str("as")).cloned().unwrap_or_default();
    let strict = decode::is_strict(window, 1)?;
    let data = parsed(cx, window)?;
    match &ty {
        Value::Nil => return Ok(Step::Return(data)),
        Value::Host(host) if host.downcast::<TypeValue>().is_some() => {}
        other => {
            let message = format!("`as` must be a type, found {}", article(other.type_name()));
            return Err(Raise::error(RunCode::Type, message).about(1, "invalid `as`"));
        }
    }
    window[TYPE] = ty;
    window[TYPE + 1] = data;
    decoded(decode::begin(cx, &mut window[TYPE..], strict))
}

fn computed(cx: &mut Cx<'_>, window: &mut [Value], answer: Value) -> Result<Step, Box<Raise>> {
    let strict = decode::is_strict(window, 1)?;
    decoded(decode::go_on(cx, &mut window[TYPE..], strict, answer))
}

fn decoded(step: DecodeStep) -> Result<Step, Box<Raise>> {
    match step {
        DecodeStep::Call(callee) => Ok(Step::Call { callee: TYPE + callee, args: TYPE + callee, argc: 0 }),
        DecodeStep::Done(done) => done.map(Step::Return).map_err(|raise| raise.about(0, "of another type")),
    }
}

/// Parses a text at once, for callers that cannot compute the defaults of a type.
///
/// # Errors
/// Raises an error with line and column if the text is not valid JSON.
pub fn json_parse_at_once(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    parsed(cx, args)
}

fn parsed(cx: &mut Cx<'_>, args: &[Value]) -> Result<Value, Box<Raise>> {
    // Values are larger than their texts.
    let bytes = args::str(args, 0)?.len();
    cx.check_room(bytes.saturating_mul(4))?;
    cx.charge(bytes, 4);
    parse_json(args::str(args, 0)?).map_err(|raise| raise.about(0, "not JSON"))
}

fn json_stringify(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let text = json_text(&args[0]).map_err(|raise| raise.about(0, ""))?;
    cx.charge(text.len(), 2);
    cx.check_size(Some(text.len()))?;
    Ok(Value::from(text))
}

fn json_stringify_pretty(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let text = json_text_pretty(&args[0]).map_err(|raise| raise.about(0, ""))?;
    cx.charge(text.len(), 2);
    cx.check_size(Some(text.len()))?;
    Ok(Value::from(text))
}

fn json_pointer(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let pointer = args::str(args, 1)?;
    cx.charge_part(pointer.len(), 4);
    if pointer.is_empty() {
        return Ok(args[0].clone());
    }
    let Some(parts) = pointer.strip_prefix('/') else {
        return Err(Raise::error(RunCode::Value, "a JSON pointer begins with `/`")
            .about(1, "")
            .help("write the keys and indexes with `/` before each: `/items/0/name`"));
    };
    let mut found = args[0].clone();
    for part in parts.split('/') {
        let key = part.replace("~1", "/").replace("~0", "~");
        let index = || key.parse::<usize>().ok().filter(|_| key == "0" || !key.starts_with('0'));
        let next = match &found {
            Value::Dict(entries) => entries.dict.get_str(&key).cloned(),
            Value::Struct(own) => own.to_dict().get_str(&key).cloned(),
            Value::Host(host) => match index() {
                Some(index) if host.object().is_list() => super::items::at(&found, index),
                _ => host.object().get(&key),
            },
            other => index().and_then(|index| super::items::at(other, index)),
        };
        match next {
            Some(value) => found = value,
            None => return Ok(Value::Nil),
        }
    }
    Ok(found)
}

fn jsonl_parse(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let text = args::str(args, 0)?;
    // Values are larger than their texts.
    cx.check_room(text.len().saturating_mul(4))?;
    cx.charge(text.len(), 4);
    let mut values = Vec::new();
    for (i, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let value = parse_json(line).map_err(|mut raise| {
            raise.message = format!("line {}: {}", i + 1, raise.message);
            raise.about(0, "not JSON Lines")
        })?;
        super::items::push(cx, &mut values, value)?;
    }
    Ok(Value::list(values))
}

fn jsonl_stringify(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let mut out = String::new();
    for value in super::items::items(cx, args, 0)?.iter() {
        let line = json_text(value).map_err(|raise| raise.about(0, ""))?;
        cx.charge(line.len(), 2);
        cx.check_size(out.len().checked_add(line.len() + 1))?;
        out.push_str(&line);
        out.push('\n');
    }
    Ok(Value::from(out))
}
