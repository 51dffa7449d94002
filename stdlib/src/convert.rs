//! Values of the language and data of the core, into one another.

use base::data::{Data, Entries};
use lang::value::article;
use lang::value::{Dict, Range, Str, Value};
use lang::vm::{Meter, Raise, RunCode, Stopped};
use runtime::reminder::{ReminderField, Surface};
use std::sync::Arc;

mod keys;
mod transcript;

pub(crate) use keys::of_value as key;
pub(crate) use transcript::TranscriptValue;

/// Data as a value.
pub fn to_value(data: &Data) -> Value {
    match data {
        Data::Nil => Value::Nil,
        Data::Bool(b) => Value::Bool(*b),
        Data::Int(i) => Value::Int(*i),
        Data::Float(f) => Value::Float(*f),
        Data::Str(s) => Value::str(s),
        Data::List(items) => Value::list(items.iter().map(to_value).collect()),
        Data::Dict(entries) => Value::dict(entries.iter().map(|(k, v)| (key(k), to_value(v))).collect::<Dict>()),
    }
}

/// A value as data.
///
/// # Errors
/// Fails if the value contains something that is not data, such as a closure or a stream; the
/// message has the path to it. A range becomes the list of its items and must not be too long for
/// one.
pub fn to_data(value: &Value) -> Result<Data, Box<Raise>> {
    to_data_naming(value, None)
}

/// Returns the name of a function, which takes its place in data.
type NameFunction<'n> = &'n dyn Fn(&Value) -> Option<Arc<str>>;

/// The keys of a reminder whose values are functions.
const CONDITIONS: [&str; 3] = [
    ReminderField::CONDITIONS[0].name(Surface::Script),
    ReminderField::CONDITIONS[1].name(Surface::Script),
    ReminderField::CONDITIONS[2].name(Surface::Script),
];

/// A value as data like [`to_data`], with names in place of the conditions of reminders.
pub(crate) fn to_data_naming(value: &Value, name: Option<NameFunction<'_>>) -> Result<Data, Box<Raise>> {
    Converter { meter: Meter::start(), lossy: false, name }.convert(value, 0).map_err(|flaw| flaw.raise())
}

/// A value as data with closures and the like left out, for those who only want to look at it.
pub(crate) fn to_data_lossy(value: &Value) -> Data {
    Converter { meter: Meter::start(), lossy: true, name: None }.convert(value, 0).unwrap_or_default()
}

/// The reason why a value is not data. The path is put together on the way out, so that valid
/// values do not pay for it.
struct Flaw {
    kind: FlawKind,
    path: String,
}

enum FlawKind {
    /// A value of that type is not data.
    Type(String),
    /// It is nested too deep.
    Depth,
    /// A range has too many items.
    Range(Range),
    /// The conversion was stopped.
    Stopped(Stopped),
}

impl From<FlawKind> for Box<Flaw> {
    fn from(kind: FlawKind) -> Box<Flaw> {
        Box::new(Flaw { kind, path: String::new() })
    }
}

impl From<Stopped> for Box<Flaw> {
    fn from(stopped: Stopped) -> Box<Flaw> {
        FlawKind::Stopped(stopped).into()
    }
}

impl Flaw {
    fn within(mut self: Box<Self>, step: impl FnOnce() -> String) -> Box<Self> {
        if let FlawKind::Type(_) = self.kind {
            self.path.insert_str(0, &step());
        }
        self
    }

    fn raise(&self) -> Box<Raise> {
        let found = match &self.kind {
            FlawKind::Type(found) => found,
            FlawKind::Depth => {
                let message = format!("the value is nested more than {} levels deep", Data::MAX_DEPTH);
                return Raise::error(RunCode::Value, message);
            }
            FlawKind::Range(range) => return lang::builtins::long_range(*range),
            FlawKind::Stopped(stopped) => return stopped.raise(),
        };
        let at = match self.path.strip_prefix('.').unwrap_or(&self.path) {
            "" => String::new(),
            path => format!(" at `{path}`"),
        };
        let message = format!("{}{at} cannot be converted to data", article(found));
        Raise::error(RunCode::Type, message)
    }
}

/// One conversion.
struct Converter<'n> {
    meter: Meter,
    lossy: bool,
    /// Names the conditions of reminders; without it they are not data.
    name: Option<NameFunction<'n>>,
}

type Converted = Result<Data, Box<Flaw>>;

impl Converter<'_> {
    fn convert(&mut self, value: &Value, depth: usize) -> Converted {
        self.meter.step()?;
        if depth > Data::MAX_DEPTH {
            return Err(FlawKind::Depth.into());
        }
        match value {
            Value::Nil | Value::Unbound => Ok(Data::Nil),
            Value::Bool(b) => Ok(Data::Bool(*b)),
            Value::Int(i) => Ok(Data::Int(*i)),
            Value::Float(f) => Ok(Data::Float(*f)),
            Value::Str(s) => {
                self.meter.text(s.len())?;
                Ok(Data::Str(Arc::from(s.as_str())))
            }
            Value::List(l) => self.list(&l.items, depth),
            Value::Set(s) => self.list(s.items(), depth),
            Value::Pair(p) => self.list(&[p.first.clone(), p.second.clone()], depth),
            Value::Range(r) => self.range(**r),
            Value::Dict(d) => self.entries(d.dict.iter(), depth),
            Value::Struct(s) => self.entries(s.entries(), depth),
            Value::Host(h) => match h.downcast::<TranscriptValue>() {
                Some(t) => Ok(t.transcript.to_data()),
                None => match h.object().to_value() {
                    Some(v) => self.convert(&v, depth + 1),
                    None => self.not_data(value),
                },
            },
            _ => self.not_data(value),
        }
    }

    fn list(&mut self, items: &[Value], depth: usize) -> Converted {
        self.meter.room(items.len().saturating_mul(size_of::<Data>()))?;
        let item = |(i, item)| self.convert(item, depth + 1).map_err(|flaw| flaw.within(|| format!("[{i}]")));
        items.iter().enumerate().map(item).collect::<Result<Vec<_>, _>>().map(Data::from)
    }

    fn range(&mut self, range: Range) -> Converted {
        if range.len() > Range::MOST_ITEMS {
            return Err(FlawKind::Range(range).into());
        }
        self.meter.room(range.len().saturating_mul(size_of::<Data>()))?;
        self.meter.steps(range.len())?;
        Ok(Data::from((0..range.len()).filter_map(|i| range.at(i)).map(Data::Int).collect::<Vec<_>>()))
    }

    fn entries<'v>(&mut self, items: impl ExactSizeIterator<Item = (&'v Str, &'v Value)>, depth: usize) -> Converted {
        let count = items.len();
        let mut items = items.map(|(k, v)| -> Result<_, Box<Flaw>> {
            let named = self.name.filter(|_| CONDITIONS.contains(&k.as_str())).and_then(|name| name(v));
            let v = match named {
                Some(name) => Data::Str(name),
                None => self.convert(v, depth + 1).map_err(|flaw| flaw.within(|| format!(".{k}")))?,
            };
            Ok((keys::of_data(k), v))
        });
        // Few are put in one by one; more are laid out at once.
        if count > Entries::FEW {
            let all = items.collect::<Result<Vec<_>, _>>()?;
            return Ok(Data::from(all.into_iter().collect::<Entries>()));
        }
        let mut few = Entries::with_capacity(count);
        items.try_for_each(|item| item.map(|(k, v)| drop(few.insert(k, v))))?;
        Ok(Data::from(few))
    }

    fn not_data(&self, value: &Value) -> Converted {
        if self.lossy { Ok(Data::Nil) } else { Err(FlawKind::Type(value.type_name().to_owned()).into()) }
    }
}
