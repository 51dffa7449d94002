//! The types that need no declaration, one row each.
//!
//! The checker's type, the test of `catch (e: T)`, the JSON Schema of a tool's parameter and the namespace of the methods
//! all come from the row.

/// A row.
#[derive(Debug)]
pub struct BuiltinType {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub kind: Kind,
    /// `type` in JSON Schema; `None` where the schema allows anything.
    pub schema: Option<&'static str>,
    /// The namespace of its methods.
    pub methods: Option<&'static str>,
}

/// The kinds of built-in types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Any value.
    Any,
    /// No value.
    Never,
    /// `nil`
    Nil,
    /// A bool.
    Bool,
    /// An int.
    Int,
    /// A float; ints are accepted.
    Float,
    /// A string.
    Str,
    /// Bytes.
    Bytes,
    /// A range.
    Range,
    /// A list, with the type of its elements.
    List,
    /// A set, with the type of its elements.
    Set,
    /// A dict, with the types of its keys and values.
    Dict,
    /// A pair, with the types of both parts.
    Pair,
    /// A `Result`, with the types of the value and of the error.
    Result,
    /// A value of the runtime, which only `type_of` tells apart.
    Opaque,
}

const fn row(
    name: &'static str,
    kind: Kind,
    schema: Option<&'static str>,
    methods: Option<&'static str>,
) -> BuiltinType {
    BuiltinType { name, kind, schema, methods }
}

/// The rows. A kind's own row comes before its other names.
pub static BUILTIN_TYPES: &[BuiltinType] = &[
    row("any", Kind::Any, None, None),
    row("bool", Kind::Bool, Some("boolean"), Some("<bool>")),
    row("bytes", Kind::Bytes, None, Some("<bytes>")),
    row("channel", Kind::Opaque, None, None),
    row("dict", Kind::Dict, Some("object"), Some("<dict>")),
    row("float", Kind::Float, Some("number"), Some("<float>")),
    row("generator", Kind::Opaque, None, None),
    row("int", Kind::Int, Some("integer"), Some("<int>")),
    // A span of time is its milliseconds.
    row("duration", Kind::Int, Some("integer"), Some("<int>")),
    row("iter", Kind::Opaque, None, None),
    row("list", Kind::List, Some("array"), Some("<list>")),
    row("never", Kind::Never, None, None),
    row("nil", Kind::Nil, Some("null"), Some("<nil>")),
    row("pair", Kind::Pair, None, Some("<pair>")),
    row("range", Kind::Range, None, Some("<range>")),
    row("set", Kind::Set, Some("array"), Some("<set>")),
    row("stream", Kind::Opaque, None, None),
    row("string", Kind::Str, Some("string"), Some("<string>")),
    row("task", Kind::Opaque, None, None),
    row("transcript", Kind::Opaque, None, None),
    row("unknown", Kind::Any, None, None),
    row("Result", Kind::Result, None, Some("<variant>")),
];

/// The row of a name.
#[must_use]
pub fn builtin_type(name: &str) -> Option<&'static BuiltinType> {
    BUILTIN_TYPES.iter().find(|row| row.name == name)
}

/// The first row of a kind: its own name.
#[must_use]
pub fn of_kind(kind: Kind) -> Option<&'static BuiltinType> {
    BUILTIN_TYPES.iter().find(|row| row.kind == kind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_are_there_once_and_name_a_kind() {
        let names: HashSet<&str> = BUILTIN_TYPES.iter().map(|row| row.name).collect();
        assert_eq!(names.len(), BUILTIN_TYPES.len());
        assert_eq!(of_kind(Kind::Int).map(|row| row.name), Some("int"));
        assert_eq!(of_kind(Kind::Any).map(|row| row.name), Some("any"));
    }
}
