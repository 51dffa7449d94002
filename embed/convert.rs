//! Values of a script as values of Rust, and back.

use lang::value::{Dict, Str, Value};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::{BTreeMap, HashMap};
use stdlib::{to_data, to_value};

/// A value does not fit the type that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversionError {
    /// The problem, for instance "expected int, found string".
    message: String,
}

impl ConversionError {
    /// An error with a message of your own.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }

    fn expected(what: &str, found: &Value) -> Self {
        Self::new(format!("expected {what}, found {}", found.type_name()))
    }

    fn within(self, at: impl std::fmt::Display) -> Self {
        Self::new(format!("{at}: {}", self.message))
    }
}

impl std::fmt::Display for ConversionError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ConversionError {}

/// Converts a value of a script into a value of Rust.
///
/// Numbers, strings, `bool`, `Option` (for `nil`), `Vec`, maps with string keys and [`serde_json::Value`] are converted
/// directly. For structs and enums of your own use [`from_value`].
pub trait FromValue: Sized {
    /// Converts the value.
    ///
    /// # Errors
    /// The value has another type.
    fn from_value(value: &Value) -> Result<Self, ConversionError>;
}

/// Converts a value of Rust into a value of a script. The counterpart of [`FromValue`].
pub trait IntoValue {
    /// Converts the value.
    fn into_value(self) -> Value;
}

/// Converts a value into any type that serde can deserialize. Structs of a script become dicts of their fields.
///
/// ```
/// #[derive(serde::Deserialize, Debug, PartialEq)]
/// struct Point {
///     x: i64,
///     y: i64,
/// }
///
/// let engine = harn::Engine::new();
/// let point: Point = harn::from_value(&engine.run("struct Point { x: int, y: int }\nPoint {x: 1, y: 2}")?)?;
/// assert_eq!(point, Point { x: 1, y: 2 });
/// # Ok::<(), harn::Error>(())
/// ```
///
/// # Errors
/// The value is or holds a function, a stream or another value that is not data, or the type does not fit.
pub fn from_value<T: DeserializeOwned>(value: &Value) -> Result<T, ConversionError> {
    let data = to_data(value).map_err(|raise| ConversionError::new(raise.to_diagnostic().message))?;
    serde_json::from_str(&data.to_json()).map_err(|error| ConversionError::new(error.to_string()))
}

/// Converts any type that serde can serialize into a value.
///
/// # Errors
/// The type cannot be serialized as JSON, for instance a map whose keys are not strings.
pub fn into_value<T: Serialize>(value: &T) -> Result<Value, ConversionError> {
    let wrong = |error: &dyn std::fmt::Display| ConversionError::new(error.to_string());
    let text = serde_json::to_string(value).map_err(|error| wrong(&error))?;
    let data = base::data::Data::from_json(&text).map_err(|error| wrong(&error))?;
    Ok(to_value(&data))
}

impl FromValue for Value {
    fn from_value(value: &Value) -> Result<Self, ConversionError> {
        Ok(value.clone())
    }
}

impl IntoValue for Value {
    fn into_value(self) -> Value {
        self
    }
}

impl FromValue for () {
    fn from_value(_: &Value) -> Result<Self, ConversionError> {
        Ok(())
    }
}

impl IntoValue for () {
    fn into_value(self) -> Value {
        Value::Nil
    }
}

impl FromValue for bool {
    fn from_value(value: &Value) -> Result<Self, ConversionError> {
        match value {
            Value::Bool(b) => Ok(*b),
            other => Err(ConversionError::expected("bool", other)),
        }
    }
}

impl IntoValue for bool {
    fn into_value(self) -> Value {
        Value::Bool(self)
    }
}

macro_rules! ints {
    ($($int:ty),*) => {$(
        impl FromValue for $int {
            fn from_value(value: &Value) -> Result<Self, ConversionError> {
                let Value::Int(n) = value else { return Err(ConversionError::expected("int", value)) };
                Self::try_from(*n)
                    .map_err(|_| ConversionError::new(format!("{n} does not fit in {}", stringify!($int))))
            }
        }
    )*};
}

ints!(i8, i16, i32, i64, u8, u16, u32, u64, usize, isize);

macro_rules! small_ints {
    ($($int:ty),*) => {$(
        impl IntoValue for $int {
            fn into_value(self) -> Value {
                Value::Int(i64::from(self))
            }
        }
    )*};
}

// Those whose every value fits: a script's int has 64 bits and a sign.
small_ints!(i8, i16, i32, i64, u8, u16, u32);

impl FromValue for f64 {
    fn from_value(value: &Value) -> Result<Self, ConversionError> {
        value.as_number().ok_or_else(|| ConversionError::expected("float", value))
    }
}

impl IntoValue for f64 {
    fn into_value(self) -> Value {
        Value::Float(self)
    }
}

impl FromValue for String {
    fn from_value(value: &Value) -> Result<Self, ConversionError> {
        value.as_str().map(str::to_owned).ok_or_else(|| ConversionError::expected("string", value))
    }
}

impl IntoValue for String {
    fn into_value(self) -> Value {
        Value::from(self)
    }
}

impl IntoValue for &str {
    fn into_value(self) -> Value {
        Value::str(self)
    }
}

impl<T: FromValue> FromValue for Option<T> {
    fn from_value(value: &Value) -> Result<Self, ConversionError> {
        if value.is_nil() { Ok(None) } else { T::from_value(value).map(Some) }
    }
}

impl<T: IntoValue> IntoValue for Option<T> {
    fn into_value(self) -> Value {
        self.map_or(Value::Nil, T::into_value)
    }
}

impl<T: FromValue> FromValue for Vec<T> {
    fn from_value(value: &Value) -> Result<Self, ConversionError> {
        let items = value.as_list().ok_or_else(|| ConversionError::expected("list", value))?;
        let item = |(i, item)| T::from_value(item).map_err(|error| error.within(format_args!("item {i}")));
        items.iter().enumerate().map(item).collect()
    }
}

impl<T: IntoValue> IntoValue for Vec<T> {
    fn into_value(self) -> Value {
        Value::list(self.into_iter().map(T::into_value).collect())
    }
}

fn entries<T: FromValue, M: FromIterator<(String, T)>>(value: &Value) -> Result<M, ConversionError> {
    let dict = value.as_dict().ok_or_else(|| ConversionError::expected("dict", value))?;
    let entry = |(key, value): (&Str, &Value)| match T::from_value(value) {
        Ok(value) => Ok((key.as_str().to_owned(), value)),
        Err(error) => Err(error.within(format_args!("key `{key}`"))),
    };
    dict.iter().map(entry).collect()
}

fn dict<T: IntoValue>(entries: impl IntoIterator<Item = (String, T)>) -> Value {
    Value::dict(entries.into_iter().map(|(key, value)| (Str::new(&key), value.into_value())).collect::<Dict>())
}

impl<T: FromValue> FromValue for HashMap<String, T> {
    fn from_value(value: &Value) -> Result<Self, ConversionError> {
        entries(value)
    }
}

impl<T: IntoValue> IntoValue for HashMap<String, T> {
    fn into_value(self) -> Value {
        dict(self)
    }
}

impl<T: FromValue> FromValue for BTreeMap<String, T> {
    fn from_value(value: &Value) -> Result<Self, ConversionError> {
        entries(value)
    }
}

impl<T: IntoValue> IntoValue for BTreeMap<String, T> {
    fn into_value(self) -> Value {
        dict(self)
    }
}

impl FromValue for serde_json::Value {
    fn from_value(value: &Value) -> Result<Self, ConversionError> {
        from_value(value)
    }
}

impl IntoValue for serde_json::Value {
    fn into_value(self) -> Value {
        match self {
            Self::Null => Value::Nil,
            Self::Bool(b) => Value::Bool(b),
            Self::Number(n) => n.as_i64().map_or_else(|| Value::Float(n.as_f64().unwrap_or(f64::NAN)), Value::Int),
            Self::String(text) => Value::from(text),
            Self::Array(items) => items.into_value(),
            Self::Object(entries) => dict(entries),
        }
    }
}

/// The arguments of a call: a tuple of up to six values, or a `Vec` of [`Value`]s. One argument is written `(1,)`.
pub trait IntoArgs {
    /// Converts the arguments.
    fn into_args(self) -> Vec<Value>;
}

impl IntoArgs for Vec<Value> {
    fn into_args(self) -> Vec<Value> {
        self
    }
}

impl IntoArgs for () {
    fn into_args(self) -> Vec<Value> {
        Vec::new()
    }
}

macro_rules! tuples {
    ($(($($name:ident)+))*) => {$(
        impl<$($name: IntoValue),+> IntoArgs for ($($name,)+) {
            #[allow(non_snake_case, reason = "a type parameter names its value")]
            fn into_args(self) -> Vec<Value> {
                let ($($name,)+) = self;
                vec![$($name.into_value()),+]
            }
        }
    )*};
}

tuples! { (A) (A B) (A B C) (A B C D) (A B C D E) (A B C D E F) }

/// The message for an argument of the wrong type.
pub(crate) fn wrong_argument(function: &str, index: usize, error: &ConversionError) -> String {
    format!("`{function}`: argument {}: {error}", index + 1)
}
