//! Kinds of options: what their values are in scripts, and what readers make of them.

use super::{OptionReader, OptionSet};
use crate::bind::ScriptFn;
use crate::convert::to_data;
use crate::limits::DEAREST_BUDGET;
use base::data::Data;
use lang::check::CheckCode;
use lang::diagnostic::code::CodeRef;
use lang::diagnostic::nearest;
use lang::value::{Value, article, display};
use lang::vm::{Cx, Raise, RunCode, TypeValue};
use runtime::capabilities::PlacementPolicy;
use runtime::compaction::Threshold;
use runtime::lifecycle::archive::Strategy;
use runtime::reminder::bridge::DeliveryMode;
use runtime::reminder::{Priority, Propagate, Refresh, RoleHint};
use std::marker::PhantomData;
use std::sync::Arc;

/// A kind of value that an option can have.
pub(crate) trait OptionKind {
    /// The type, as signatures write it.
    const TYPE: &'static str;
    /// The value that a reader gets.
    type Out;

    /// Reads a value that is not nil.
    fn read(at: &OptionPlace<'_, '_>, value: &Value) -> Result<Self::Out, Box<Raise>>;
}

/// A kind whose default is a literal.
pub(crate) trait OptionDefault: OptionKind {
    /// The literal in the row.
    type Literal;

    /// Returns the value of a literal.
    fn of_literal(literal: Self::Literal) -> Self::Out;
}

/// A set of words that an option can be.
pub(crate) trait OptionWord: Sized {
    /// The type, as signatures write it.
    const TYPE: &'static str;
    /// The type of a list of the words.
    #[cfg(feature = "hub")]
    const LIST: &'static str = "list<string>";
    /// The words.
    const WORDS: &'static [&'static str];

    /// Returns the word.
    fn word(self) -> &'static str;

    /// Returns the meaning of a word.
    fn of_word(word: &str) -> Option<Self>;
}

/// The place of an option that is being read.
pub(crate) struct OptionPlace<'r, 'c> {
    pub(super) cx: &'r Cx<'c>,
    /// The index of the argument.
    pub(super) arg: usize,
    /// The option that the dict is the value of; empty for the argument itself.
    pub(super) within: &'r str,
    pub(super) key: &'r str,
}

impl OptionPlace<'_, '_> {
    /// Returns the option with the options around it.
    pub(super) fn path(&self) -> String {
        path(self.within, self.key)
    }

    /// Labels an error as one of this option.
    pub(super) fn about(&self, raise: Box<Raise>) -> Box<Raise> {
        raise.about(self.arg, format!("invalid `{}`", self.path()))
    }

    /// Returns the error of a value that is not what is expected.
    pub(super) fn wrong(&self, expected: &str, found: &Value) -> Box<Raise> {
        self.wrong_by(CheckCode::Type, expected, found)
    }

    fn wrong_by(&self, code: impl Into<CodeRef>, expected: &str, found: &Value) -> Box<Raise> {
        let found = match found {
            // The type may be right and the value not.
            Value::Int(_) | Value::Float(_) => display(found),
            _ => article(found.type_name()),
        };
        self.about(Raise::error(code, format!("`{}` must be {expected}, found {found}", self.path())))
    }

    /// Reads the elements of a list.
    #[cfg(feature = "hub")]
    fn each<T>(
        &self,
        value: &Value,
        expected: &str,
        read: impl Fn(&OptionPlace<'_, '_>, &Value) -> Result<T, Box<Raise>>,
    ) -> Result<Vec<T>, Box<Raise>> {
        let list = value.as_list().ok_or_else(|| self.wrong(expected, value))?;
        let one = |(i, item): (usize, &Value)| {
            let key = format!("{}[{i}]", self.key);
            read(&OptionPlace { cx: self.cx, arg: self.arg, within: self.within, key: &key }, item)
        };
        list.iter().enumerate().map(one).collect()
    }
}

/// Joins the keys of an option and of one inside of it.
pub(super) fn path(within: &str, key: &str) -> String {
    if within.is_empty() { key.to_owned() } else { format!("{within}.{key}") }
}

/// Defines kinds whose values are read by a function that returns `None` for a wrong one.
macro_rules! kinds {
    ($(
        $(#[doc = $doc:literal])+
        $name:ident: $ty:literal -> $out:ty, $expected:literal, |$value:ident| $read:expr;
    )+) => {$(
        $(#[doc = $doc])+
        pub(crate) struct $name;

        impl OptionKind for $name {
            const TYPE: &'static str = $ty;
            type Out = $out;

            fn read(at: &OptionPlace<'_, '_>, $value: &Value) -> Result<$out, Box<Raise>> {
                $read.ok_or_else(|| at.wrong($expected, $value))
            }
        }
    )+};
}

kinds! {
    /// A text.
    Text: "string" -> Arc<str>, "a string", |value| value.as_str().map(Arc::from);
    /// A list of texts.
    Texts: "list<string>" -> Vec<Arc<str>>, "a list of strings", |value| texts(value);
    /// A text, or several.
    OneOrMore: "string | list<string>" -> Vec<Arc<str>>, "a string or a list of strings", |value| match value.as_str() {
        Some(text) => Some(vec![Arc::from(text)]),
        None => texts(value),
    };
    /// A bool.
    Flag: "bool" -> bool, "a bool", |value| if let Value::Bool(flag) = value { Some(*flag) } else { None };
    /// A number.
    Number: "float" -> f64, "a number", |value| value.as_number();
    /// An int.
    Int: "int" -> i64, "an int", |value| value.as_int();
    /// A number of milliseconds.
    Ms: "ms" -> u64, "a number of at least 0", |value| value.as_int().and_then(|ms| u64::try_from(ms).ok());
    /// A list whose elements are read elsewhere.
    Items: "list" -> Vec<Value>, "a list", |value| value.as_list().map(<[Value]>::to_vec);
}

fn texts(value: &Value) -> Option<Vec<Arc<str>>> {
    value.as_list()?.iter().map(|text| text.as_str().map(Arc::from)).collect()
}

impl OptionDefault for Text {
    type Literal = &'static str;

    fn of_literal(literal: &'static str) -> Arc<str> {
        literal.into()
    }
}

impl OptionDefault for Flag {
    type Literal = bool;

    fn of_literal(literal: bool) -> bool {
        literal
    }
}

impl OptionDefault for Number {
    type Literal = f64;

    fn of_literal(literal: f64) -> f64 {
        literal
    }
}

impl OptionDefault for Ms {
    type Literal = u64;

    fn of_literal(literal: u64) -> u64 {
        literal
    }
}

/// A number of at least 0.
pub(crate) struct Count<T = u64>(PhantomData<T>);

impl<T: TryFrom<i64>> OptionKind for Count<T> {
    const TYPE: &'static str = "count";
    type Out = T;

    fn read(at: &OptionPlace<'_, '_>, value: &Value) -> Result<T, Box<Raise>> {
        let count = value.as_int().filter(|count| *count >= 0).and_then(|count| T::try_from(count).ok());
        count.ok_or_else(|| at.wrong("a number of at least 0", value))
    }
}

impl<T: TryFrom<i64>> OptionDefault for Count<T> {
    type Literal = T;

    fn of_literal(literal: T) -> T {
        literal
    }
}

/// US dollars, read as nano-dollars.
pub(crate) struct Dollars;

impl OptionKind for Dollars {
    const TYPE: &'static str = "dollars";
    type Out = u64;

    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)] // the range is checked
    fn read(at: &OptionPlace<'_, '_>, value: &Value) -> Result<u64, Box<Raise>> {
        match value.as_number() {
            Some(dollars) if (0.0..=DEAREST_BUDGET as f64).contains(&dollars) => Ok((dollars * 1e9).round() as u64),
            _ => Err(at.wrong(&format!("US dollars from 0 to {DEAREST_BUDGET}"), value)),
        }
    }
}

/// A share of the context window, or a number of tokens.
pub(crate) struct Fullness;

impl OptionKind for Fullness {
    const TYPE: &'static str = "share | tokens";
    type Out = Threshold;

    fn read(at: &OptionPlace<'_, '_>, value: &Value) -> Result<Threshold, Box<Raise>> {
        let expected = "a share of the context window such as 0.8, or a number of tokens";
        match value.as_number() {
            None => Err(at.wrong(expected, value)),
            Some(share) if share > 0.0 && share <= 1.0 => Ok(Threshold::Share(share)),
            Some(_) => {
                let tokens = value.as_int().and_then(|tokens| u64::try_from(tokens).ok()).filter(|tokens| *tokens > 1);
                // The type is right and the number is not.
                tokens.map(Threshold::Tokens).ok_or_else(|| at.wrong_by(RunCode::Value, expected, value))
            }
        }
    }
}

/// A function.
pub(crate) struct Callback;

impl OptionKind for Callback {
    const TYPE: &'static str = "fn(any) -> any";
    type Out = ScriptFn;

    fn read(at: &OptionPlace<'_, '_>, value: &Value) -> Result<ScriptFn, Box<Raise>> {
        ScriptFn::of(at.cx, value).ok_or_else(|| at.wrong("a function", value))
    }
}

/// A value that is read elsewhere.
pub(crate) struct Raw;

impl OptionKind for Raw {
    const TYPE: &'static str = "any";
    type Out = Value;

    fn read(_: &OptionPlace<'_, '_>, value: &Value) -> Result<Value, Box<Raise>> {
        Ok(value.clone())
    }
}

/// Data of any kind.
pub(crate) struct AnyData;

impl OptionKind for AnyData {
    const TYPE: &'static str = "any";
    type Out = Data;

    fn read(at: &OptionPlace<'_, '_>, value: &Value) -> Result<Data, Box<Raise>> {
        to_data(value).map_err(|raise| at.about(raise))
    }
}

/// A dict of data.
pub(crate) struct Entries;

impl OptionKind for Entries {
    const TYPE: &'static str = "dict";
    type Out = Data;

    fn read(at: &OptionPlace<'_, '_>, value: &Value) -> Result<Data, Box<Raise>> {
        match value.as_dict() {
            Some(_) => AnyData::read(at, value),
            None => Err(at.wrong("a dict", value)),
        }
    }
}

/// Headers of a request.
pub(crate) struct Headers;

impl OptionKind for Headers {
    const TYPE: &'static str = "dict<string, string>";
    type Out = Vec<(String, String)>;

    fn read(at: &OptionPlace<'_, '_>, value: &Value) -> Result<Self::Out, Box<Raise>> {
        let headers = value.as_dict().ok_or_else(|| at.wrong("a dict", value))?;
        let header = |(name, value): (&lang::value::Str, &Value)| match value {
            Value::Str(value) => Ok((name.to_string(), value.to_string())),
            _ => {
                let message = format!("the header `{name}` must be a string, not {}", article(value.type_name()));
                Err(at.about(Raise::error(CheckCode::Type, message)))
            }
        };
        headers.iter().map(header).collect()
    }
}

/// A type as a script wrote it, and its schema.
#[derive(Clone)]
pub(crate) struct WrittenSchema {
    pub(crate) written: Value,
    pub(crate) schema: Data,
}

/// A type, or JSON Schema.
pub(crate) struct Schema;

impl OptionKind for Schema {
    const TYPE: &'static str = "dict";
    type Out = WrittenSchema;

    fn read(at: &OptionPlace<'_, '_>, value: &Value) -> Result<WrittenSchema, Box<Raise>> {
        if value.as_host::<TypeValue>().is_none() && value.as_dict().is_none() {
            return Err(at.wrong("a type or a dict", value));
        }
        crate::schema::check(value).map_err(|raise| at.about(raise))?;
        let schema = to_data(value).map_err(|raise| at.about(raise))?;
        Ok(WrittenSchema { written: value.clone(), schema })
    }
}

/// One of several words.
pub(crate) struct Word<W>(PhantomData<W>);

impl<W: OptionWord> OptionKind for Word<W> {
    const TYPE: &'static str = W::TYPE;
    type Out = W;

    fn read(at: &OptionPlace<'_, '_>, value: &Value) -> Result<W, Box<Raise>> {
        let expected = || {
            let words: Vec<String> = W::WORDS.iter().map(|word| format!("{word:?}")).collect();
            match words.split_last() {
                Some((last, [])) => last.clone(),
                Some((last, others)) => format!("{} or {last}", others.join(", ")),
                None => String::new(),
            }
        };
        let Some(word) = value.as_str() else { return Err(at.wrong(&expected(), value)) };
        W::of_word(word).ok_or_else(|| {
            let message = format!("`{}` must be {}, found {word:?}", at.path(), expected());
            let raise = at.about(Raise::error(CheckCode::Type, message));
            match nearest(word, W::WORDS.iter().copied()) {
                Some(near) => raise.help(format!("did you mean {near:?}?")),
                None => raise,
            }
        })
    }
}

/// A list of words.
#[cfg(feature = "hub")]
pub(crate) struct WordList<W>(PhantomData<W>);

#[cfg(feature = "hub")]
impl<W: OptionWord> OptionKind for WordList<W> {
    const TYPE: &'static str = W::LIST;
    type Out = Vec<W>;

    fn read(at: &OptionPlace<'_, '_>, value: &Value) -> Result<Vec<W>, Box<Raise>> {
        at.each(value, "a list of strings", Word::<W>::read)
    }
}

/// Implements [`OptionWord`] for enums of the core.
macro_rules! core_words {
    ($($name:ident),+) => {$(
        impl OptionWord for $name {
            const TYPE: &'static str = $name::TYPE;
            const WORDS: &'static [&'static str] = $name::WORDS;

            fn word(self) -> &'static str {
                self.as_str()
            }

            fn of_word(word: &str) -> Option<Self> {
                word.parse().ok()
            }
        }
    )+};
}
core_words!(DeliveryMode, PlacementPolicy, Priority, Propagate, Refresh, RoleHint, Strategy);

/// Options in a dict of their own.
pub(crate) struct Nested<T>(PhantomData<T>);

impl<T: OptionSet> OptionKind for Nested<T> {
    const TYPE: &'static str = T::TABLE.name;
    type Out = T;

    fn read(at: &OptionPlace<'_, '_>, value: &Value) -> Result<T, Box<Raise>> {
        let dict = value.as_dict().ok_or_else(|| at.wrong("a dict", value))?;
        T::of(at.cx, &OptionReader::inside(dict, at.arg, at.path(), T::TABLE)?)
    }
}

/// A list of dicts with options.
#[cfg(feature = "hub")]
pub(crate) struct Each<T>(PhantomData<T>);

#[cfg(feature = "hub")]
impl<T: OptionSet> OptionKind for Each<T> {
    const TYPE: &'static str = "list<dict>";
    type Out = Vec<T>;

    fn read(at: &OptionPlace<'_, '_>, value: &Value) -> Result<Vec<T>, Box<Raise>> {
        at.each(value, "a list", Nested::<T>::read)
    }
}

/// A bool, or options.
pub(crate) struct FlagOr<T>(PhantomData<T>);

/// The value of an option that is a bool or a dict.
pub(crate) enum Switch<T> {
    Flag(bool),
    Options(T),
}

impl<T: OptionSet> OptionKind for FlagOr<T> {
    const TYPE: &'static str = "bool | dict";
    type Out = Switch<T>;

    fn read(at: &OptionPlace<'_, '_>, value: &Value) -> Result<Switch<T>, Box<Raise>> {
        match value {
            Value::Bool(flag) => Ok(Switch::Flag(*flag)),
            Value::Dict(_) => Nested::<T>::read(at, value).map(Switch::Options),
            _ => Err(at.wrong("a bool or a dict", value)),
        }
    }
}

/// A function, or options.
pub(crate) struct CallbackOr<T>(PhantomData<T>);

/// The value of an option that is a function or a dict.
pub(crate) enum Handler<T> {
    Function(ScriptFn),
    Options(T),
}

impl<T: OptionSet> OptionKind for CallbackOr<T> {
    const TYPE: &'static str = "dict | fn(any) -> any";
    type Out = Handler<T>;

    fn read(at: &OptionPlace<'_, '_>, value: &Value) -> Result<Handler<T>, Box<Raise>> {
        match ScriptFn::of(at.cx, value) {
            Some(function) => Ok(Handler::Function(function)),
            None if value.as_dict().is_some() => Nested::<T>::read(at, value).map(Handler::Options),
            None => Err(at.wrong("a function or a dict", value)),
        }
    }
}
