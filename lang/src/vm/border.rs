//! Values that enter a place with a written type.

use super::decode::is_name;
use super::type_test::{TypeTest, fits};
use super::{Raise, RunCode};
use crate::source::{SourceRef, Span};
use crate::value::{Str, Tag, Value, article, inspect};

/// A check of a value that enters a place with a written type.
#[derive(Clone)]
pub struct BorderSite {
    /// The type.
    pub test: TypeTest,
    /// The tags of the values that have it whatever they hold, a bit each.
    pub tags: u32,
    /// The type as a script would write it.
    pub expected: Str,
    /// The parameter that the value is for, with its number, if the check is that of the function itself.
    pub parameter: Option<(Str, u16)>,
    /// The values that pass whatever the type is.
    pub exempt: Exempt,
    /// The place where the type is written.
    pub written: Option<(SourceRef, Span)>,
}

/// Values that pass a check whatever its type is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exempt {
    /// None.
    Nothing,
    /// Errors: a function may return one in place of its result.
    Errors,
    /// Values without keys: the instruction that takes the keys refuses them.
    NotDicts,
}

impl BorderSite {
    /// Returns the tags of the values that certainly have a type.
    #[must_use]
    pub fn tags_of(test: &TypeTest) -> u32 {
        let bit = |tag: Tag| 1 << tag as u32;
        match test {
            TypeTest::Named(name) => match name.as_str() {
                "nil" => bit(Tag::Nil),
                "bool" => bit(Tag::Bool),
                "int" => bit(Tag::Int),
                "float" => bit(Tag::Int) | bit(Tag::Float),
                "string" => bit(Tag::Str),
                "bytes" => bit(Tag::Bytes),
                "range" => bit(Tag::Range),
                "pair" => bit(Tag::Pair),
                _ => 0,
            },
            TypeTest::Lazy(_) => bit(Tag::Iter) | bit(Tag::Generator) | bit(Tag::Stream),
            TypeTest::List(of) if matches!(**of, TypeTest::Any) => bit(Tag::List) | bit(Tag::Range),
            TypeTest::Set(of) if matches!(**of, TypeTest::Any) => bit(Tag::Set),
            TypeTest::Dict(of) if matches!(**of, TypeTest::Any) => bit(Tag::Dict),
            TypeTest::Either(parts) => parts.iter().map(Self::tags_of).fold(0, |all, one| all | one),
            _ => 0,
        }
    }

    /// Returns the tags that the instruction itself holds, as [`Value::is_one_of`] takes them: it accepts the most common values
    /// without a look at the site.
    #[must_use]
    pub fn plain(&self) -> u16 {
        let set = |tag: Tag| self.tags & (1 << tag as u32) != 0;
        Value::tags_where(set)
    }

    /// Returns whether a value has the type by its tag alone.
    fn has_tag(&self, value: &Value) -> bool {
        self.tags & (1 << value.tag() as u32) != 0
    }

    /// Checks a value.
    pub(super) fn check(&self, value: &Value) -> Result<(), Box<Raise>> {
        let is_exempt = match self.exempt {
            Exempt::Nothing => false,
            Exempt::Errors => matches!(value.as_result(), Some(Err(_))),
            Exempt::NotDicts => !matches!(value, Value::Dict(_) | Value::Struct(_) | Value::Host(_)),
        };
        // A range reads like a list of ints.
        let is_list =
            matches!((&self.test, value), (TypeTest::List(of), Value::Range(_)) if fits(&[], of, &Value::Int(0)));
        if is_exempt || is_list || self.has_tag(value) || fits(&[], &self.test, value) {
            return Ok(());
        }
        Err(self.raise(value))
    }

    #[cold]
    fn raise(&self, value: &Value) -> Box<Raise> {
        let found = shown(value);
        let inside = inner_mismatch(&self.test, value);
        let headline = inside.as_ref().map_or_else(
            || format!("expected {}, found {found}", self.expected),
            |inner| format!("`{}`: expected {}, found {}", inner.path, inner.expected, inner.found),
        );
        let raise = Raise::error(RunCode::Type, headline).labelled(match &self.parameter {
            Some((name, _)) => format!("`{name}` is {found}"),
            None => format!("this is {found}"),
        });
        let raise = if inside.is_some() { raise.note(format!("the type is {}", self.expected)) } else { raise };
        let raise = match &self.written {
            Some((source, span)) => raise.also(source, *span, "declared here"),
            None => raise,
        };
        let parses = matches!(value, Value::Str(_)) && self.tags & (1 << Tag::Int as u32 | 1 << Tag::Float as u32) != 0;
        let converts = if self.tags & (1 << Tag::Float as u32) != 0 { "to_float" } else { "to_int" };
        let raise = raise.help_by_some(match (&self.test, value) {
            _ if parses => Some(format!("use `{converts}` to convert it")),
            (TypeTest::Struct(def), Value::Dict(_)) => Some(format!("use `{}.from` to make one of a dict", def.name)),
            (_, Value::Nil) => Some(format!("check for nil first, or declare `{}`", optional(&self.expected))),
            _ => None,
        });
        raise.of_nil(value.is_nil())
    }
}

/// A part of a value that does not fit.
struct InnerMismatch {
    path: String,
    expected: String,
    found: String,
}

/// Returns the part that makes a value unfit, if it is one inside of it.
fn inner_mismatch(test: &TypeTest, value: &Value) -> Option<InnerMismatch> {
    /// Steps that a path shows.
    const LONGEST: usize = 16;
    let (mut path, mut test, mut value) = (String::new(), test.clone(), value.clone());
    for _ in 0..LONGEST {
        let Some((step, part, inner)) = unfit_part(&test, &value) else { break };
        path.push_str(if path.is_empty() { step.trim_start_matches('.') } else { &step });
        (test, value) = (part, inner);
    }
    (!path.is_empty()).then(|| InnerMismatch { path, expected: test.written(&[]), found: shown(&value) })
}

/// Returns the first part that does not fit: the step to it, its type and its value.
fn unfit_part(test: &TypeTest, value: &Value) -> Option<(String, TypeTest, Value)> {
    match (test, value) {
        (TypeTest::List(of), Value::List(list)) => {
            let at = list.items.iter().position(|item| !fits(&[], of, item))?;
            Some((format!("[{at}]"), (**of).clone(), list.items[at].clone()))
        }
        (TypeTest::Dict(of), Value::Dict(dict)) => {
            let (key, value) = dict.dict.iter().find(|(_, value)| !fits(&[], of, value))?;
            Some((step(key), (**of).clone(), value.clone()))
        }
        (TypeTest::Shape(fields, _), Value::Dict(dict)) => {
            let unfit = |(key, optional, ty): &&(Str, bool, TypeTest)| {
                let value = dict.dict.get(key).cloned().unwrap_or_default();
                !(*optional && value.is_nil() || fits(&[], ty, &value))
            };
            let (key, _, ty) = fields.iter().find(unfit)?;
            Some((step(key), ty.clone(), dict.dict.get(key).cloned().unwrap_or_default()))
        }
        (TypeTest::Either(parts), _) => {
            let mut inner = parts.iter().filter_map(|part| unfit_part(part, value));
            inner.next().filter(|_| inner.next().is_none())
        }
        _ => None,
    }
}

fn step(key: &Str) -> String {
    if is_name(key) { format!(".{key}") } else { format!("[{}]", inspect(&Value::Str(key.clone()))) }
}

/// A value in a few words.
fn shown(value: &Value) -> String {
    match value {
        Value::Nil | Value::Bool(_) | Value::Int(_) | Value::Float(_) => inspect(value),
        Value::Str(text) if text.len() <= 40 => inspect(value),
        _ => article(value.type_name()),
    }
}

/// The type with nil, as a script writes it.
fn optional(ty: &str) -> String {
    if ty.contains(" | ") { format!("{ty} | nil") } else { format!("{ty}?") }
}
