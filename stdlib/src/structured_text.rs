//! Texts in YAML and TOML as values.

use lang::value::{Dict, Str, Value};
use lang::vm::{Cx, Meter, Raise, RunCode, Stopped};
use saphyr_parser::{Event, Parser, ScalarStyle, StrInput, Tag};
use std::collections::BTreeMap;
use toml::{Table, Value as TomlValue};

/// Levels of nesting that are read.
const DEEPEST: usize = 100;

/// Reads the events of the parser.
pub(crate) struct YamlReader<'a> {
    parser: Parser<'a, StrInput<'a>>,
    /// Values with an anchor, by its number. An alias shares them, so that many of them take no memory.
    anchors: BTreeMap<usize, Value>,
    meter: Meter,
    /// The line of the last event.
    line: usize,
}

impl<'a> YamlReader<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { parser: Parser::new_from_str(text), anchors: BTreeMap::new(), meter: Meter::start(), line: 0 }
    }

    fn wrong(&self, why: &str) -> Box<Raise> {
        let message = format!("cannot parse YAML: line {}: {why}", self.line);
        Raise::error(RunCode::Value, message).about(0, "invalid YAML")
    }

    fn next(&mut self) -> Result<Event<'a>, Box<Raise>> {
        self.meter.step().map_err(Stopped::raise)?;
        match self.parser.next_event() {
            None => Ok(Event::StreamEnd),
            Some(Ok((event, span))) => {
                self.line = span.start.line();
                Ok(event)
            }
            Some(Err(error)) => {
                self.line = error.marker().line();
                Err(self
                    .wrong(error.info())
                    .help("quote values that contain `: ` or ` #`, or begin with a special character"))
            }
        }
    }

    pub(crate) fn documents(mut self) -> Result<Vec<Value>, Box<Raise>> {
        let mut documents = Vec::new();
        loop {
            match self.next()? {
                Event::StreamEnd => return Ok(documents),
                Event::Nothing | Event::StreamStart | Event::DocumentStart(_) | Event::DocumentEnd => {}
                event => documents.push(self.node(event, 0)?),
            }
        }
    }

    fn node(&mut self, event: Event<'a>, depth: usize) -> Result<Value, Box<Raise>> {
        if depth > DEEPEST {
            return Err(self.wrong(&format!("more than {DEEPEST} levels of nesting")));
        }
        let (value, anchor) = match event {
            Event::Alias(anchor) => {
                let value = self.anchors.get(&anchor).cloned();
                return value.ok_or_else(|| self.wrong("an alias within the value of its anchor"));
            }
            Event::Scalar(text, style, anchor, tag) => (self.scalar(&text, style, tag.as_deref())?, anchor),
            Event::SequenceStart(anchor, tag) => {
                self.only_core(tag.as_deref())?;
                let mut items = Vec::new();
                loop {
                    match self.next()? {
                        Event::SequenceEnd => break,
                        event => items.push(self.node(event, depth + 1)?),
                    }
                }
                (Value::list(items), anchor)
            }
            Event::MappingStart(anchor, tag) => {
                self.only_core(tag.as_deref())?;
                (self.entries(depth)?, anchor)
            }
            _ => return Err(self.wrong("unexpected end")),
        };
        if anchor > 0 {
            self.anchors.insert(anchor, value.clone());
        }
        Ok(value)
    }

    fn entries(&mut self, depth: usize) -> Result<Value, Box<Raise>> {
        let (mut dict, mut merged) = (Dict::new(), Vec::new());
        loop {
            let event = self.next()?;
            let is_merge = matches!(&event, Event::Scalar(text, ScalarStyle::Plain, ..) if text == "<<");
            let key = match event {
                Event::MappingEnd => break,
                Event::Scalar(text, ..) => Str::new(&text),
                _ => return Err(self.wrong("a key is not a scalar")),
            };
            let event = self.next()?;
            let value = self.node(event, depth + 1)?;
            match value {
                Value::Dict(entries) if is_merge => merged.push(entries),
                Value::List(several) if is_merge => {
                    for one in &several.items {
                        let Value::Dict(entries) = one else { return Err(self.wrong("`<<` merges dicts only")) };
                        merged.push(entries.clone());
                    }
                }
                _ if is_merge => return Err(self.wrong("`<<` merges dicts only")),
                value => {
                    if dict.contains(&key) {
                        return Err(self.wrong(&format!("duplicate key `{}`", short(&key))));
                    }
                    dict.insert(key, value);
                }
            }
        }
        // Own keys count, then those of the first dict.
        for entries in merged {
            for (key, value) in entries.dict.iter() {
                self.meter.step().map_err(Stopped::raise)?;
                if !dict.contains(key) {
                    dict.insert(key.clone(), value.clone());
                }
            }
        }
        Ok(Value::dict(dict))
    }

    fn only_core(&self, tag: Option<&Tag>) -> Result<(), Box<Raise>> {
        match tag {
            Some(tag) if !tag.is_yaml_core_schema() => Err(self.wrong(&format!("unknown tag `{tag}`"))),
            _ => Ok(()),
        }
    }

    fn scalar(&self, text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Result<Value, Box<Raise>> {
        self.only_core(tag)?;
        let wanted = tag.map(|tag| tag.suffix.as_str());
        let value = match wanted {
            Some("str") => return Ok(Value::str(text)),
            None if style != ScalarStyle::Plain => return Ok(Value::str(text)),
            _ => plain_scalar(text),
        };
        let fits = match (wanted, &value) {
            (Some("float"), Value::Int(int)) => return Ok(Value::Float(*int as f64)),
            (None, _)
            | (Some("int"), Value::Int(_))
            | (Some("float"), Value::Float(_))
            | (Some("bool"), Value::Bool(_))
            | (Some("null"), Value::Nil) => true,
            _ => false,
        };
        if fits { Ok(value) } else { Err(self.wrong(&format!("`{}` is not of its tag", short(text)))) }
    }
}

fn short(text: &str) -> &str {
    text.char_indices().nth(40).map_or(text, |(at, _)| &text[..at])
}

/// Reads a plain scalar by the core schema.
pub(crate) fn plain_scalar(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Nil,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        ".nan" | ".NaN" | ".NAN" => return Value::Float(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => return Value::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => return Value::Float(f64::NEG_INFINITY),
        _ => {}
    }
    let radix = |prefix, radix| text.strip_prefix(prefix).and_then(|digits| i64::from_str_radix(digits, radix).ok());
    if let Some(int) = radix("0x", 16).or_else(|| radix("0o", 8)).or_else(|| text.parse().ok()) {
        return Value::Int(int);
    }
    let is_number = text.bytes().any(|byte| byte.is_ascii_digit())
        && text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    match text.parse::<f64>() {
        Ok(float) if is_number => Value::Float(float),
        _ => Value::str(text),
    }
}

pub(crate) fn documents(cx: &Cx<'_>, text: &str) -> Result<Vec<Value>, Box<Raise>> {
    // Values are larger than their texts.
    cx.check_room(text.len().saturating_mul(8))?;
    cx.charge(text.len(), 4);
    YamlReader::new(text).documents()
}

/// Returns the data at the top of a text, and what follows it.
pub(crate) fn front_matter_of<'t>(cx: &Cx<'_>, text: &'t str) -> Result<(Value, &'t str), Box<Raise>> {
    let rest = text.strip_prefix('\u{feff}').unwrap_or(text);
    Ok(match split(rest) {
        None => (Value::dict(Dict::new()), rest),
        Some(("---", data, body)) => match documents(cx, data)?.pop().unwrap_or_default() {
            Value::Nil => (Value::dict(Dict::new()), body),
            data @ Value::Dict(_) => (data, body),
            _ => return Err(Raise::error(RunCode::Value, "front matter must be keys with values").about(0, "")),
        },
        Some((_, data, body)) => (toml_table(cx, data)?, body),
    })
}

/// Returns the fence of the front matter, the front matter, and what follows it.
fn split(text: &str) -> Option<(&str, &str, &str)> {
    let (first, rest) = text.split_once('\n')?;
    let fence = first.trim_end();
    if !matches!(fence, "---" | "+++") {
        return None;
    }
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == fence {
            return Some((fence, &rest[..at], &rest[at + line.len()..]));
        }
        at += line.len();
    }
    None
}

/// Returns the table of a text in TOML.
pub(crate) fn toml_table(cx: &Cx<'_>, text: &str) -> Result<Value, Box<Raise>> {
    // Values are larger than their texts.
    cx.check_room(text.len().saturating_mul(8))?;
    cx.charge(text.len(), 4);
    let table: Table = text.parse().map_err(|error: toml::de::Error| {
        let at = error.span().map_or(0, |span| span.start);
        let line = text.get(..at).unwrap_or(text).matches('\n').count() + 1;
        let message = format!("cannot parse TOML: line {line}: {}", error.message());
        Raise::error(RunCode::Value, message).about(0, "invalid TOML")
    })?;
    from_table(table, &mut Meter::start())
}

fn from_table(table: Table, meter: &mut Meter) -> Result<Value, Box<Raise>> {
    let mut dict = Dict::with_capacity(table.len());
    for (key, value) in table {
        dict.insert(Str::new(&key), from_toml(value, meter)?);
    }
    Ok(Value::dict(dict))
}

fn from_toml(value: TomlValue, meter: &mut Meter) -> Result<Value, Box<Raise>> {
    meter.step().map_err(Stopped::raise)?;
    Ok(match value {
        TomlValue::String(text) => Value::from(text),
        TomlValue::Integer(int) => Value::Int(int),
        TomlValue::Float(float) => Value::Float(float),
        TomlValue::Boolean(bool) => Value::Bool(bool),
        TomlValue::Datetime(date) => Value::from(date.to_string()),
        TomlValue::Array(items) => {
            Value::list(items.into_iter().map(|item| from_toml(item, meter)).collect::<Result<_, _>>()?)
        }
        TomlValue::Table(table) => return from_table(table, meter),
    })
}
