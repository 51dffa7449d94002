//! JSON Schemas that scripts write, in full or in the short form: a dict of names and types.

use crate::codes::SchemaCode;

use crate::convert::to_data;
use lang::builtin_type::BUILTIN_TYPES;
use lang::builtins::Registry;
use lang::compile::type_schema;
use lang::diagnostic::nearest;
use lang::value::{Dict, Str, Value, article};
use lang::vm::Raise;
use runtime::schema::compiled;

/// Types whose values only the host reads.
pub(crate) const HOST_TYPES: &[&str] = &["cookie_jar", "transcript"];

/// Words of JSON Schema that make a dict one; without any of them it is a dict of names and types.
const KEYWORDS: [&str; 8] =
    ["properties", "$ref", "$defs", "$schema", "anyOf", "oneOf", "allOf", "additionalProperties"];
/// Words that make the dict of a property a schema; without any of them it is a dict of names and types again.
const PROPERTY_WORDS: [&str; 34] = [
    "type",
    "enum",
    "const",
    "description",
    "default",
    "title",
    "examples",
    "properties",
    "required",
    "items",
    "prefixItems",
    "minItems",
    "maxItems",
    "uniqueItems",
    "contains",
    "additionalProperties",
    "patternProperties",
    "propertyNames",
    "minProperties",
    "maxProperties",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "$ref",
];
/// The names of the types in JSON Schema.
const JSON_TYPES: [&str; 7] = ["string", "integer", "number", "boolean", "array", "object", "null"];

/// Returns the schema of a tool's arguments: a given schema unchanged, or one made of a dict of
/// names and types. Nil and an empty dict accept everything.
pub(crate) fn of_parameters(written: Option<&Value>) -> Result<Value, Box<Raise>> {
    let schema = match written {
        None | Some(Value::Nil) => Value::dict(Dict::new()),
        Some(Value::Dict(d)) if is_schema(&d.dict) => Value::Dict(d.clone()),
        Some(Value::Dict(d)) => short(&d.dict)?,
        Some(other) => {
            let message = format!("a schema must be a dict, found {}", article(other.type_name()));
            return Err(Raise::error(SchemaCode::Schema, message)
                .help("write names and types: `{path: \"string\", line: \"int?\"}`"));
        }
    };
    let schema = object(schema);
    check(&schema)?;
    Ok(schema)
}

/// The schema of a result: a type, a schema, or a dict of names and types.
pub(crate) fn of_returns(written: &Value) -> Result<Value, Box<Raise>> {
    let schema = match written {
        Value::Str(text) => of_type("returns", text)?.0,
        Value::Dict(d) if d.dict.is_empty() || is_schema(&d.dict) || is_plain(&d.dict) => written.clone(),
        Value::Dict(d) => short(&d.dict)?,
        other => {
            return Err(Raise::error(
                SchemaCode::Schema,
                format!("`returns` must be a type or a schema, found {}", article(other.type_name())),
            ));
        }
    };
    check(&schema)?;
    Ok(schema)
}

/// Rejects an invalid schema.
pub(crate) fn check(schema: &Value) -> Result<(), Box<Raise>> {
    compiled(&to_data(schema)?).map(drop).map_err(|e| Raise::error(SchemaCode::Schema, e.to_string()))
}

/// Returns whether a dict is a schema and not a dict of names and types.
pub(crate) fn is_schema(dict: &Dict) -> bool {
    dict.get_str("type").and_then(Value::as_str) == Some("object")
        || KEYWORDS
            .iter()
            .any(|word| dict.get_str(word).is_some_and(|v| !matches!(v, Value::Str(_)) || word.starts_with('$')))
}

/// `{type: "array", …}` is a schema; `{type: "string"}` might be one or a field of that name, and a result is rather the first.
fn is_plain(dict: &Dict) -> bool {
    dict.get_str("type").and_then(Value::as_str).is_some_and(|word| JSON_TYPES.contains(&word))
        || dict.get_str("enum").is_some_and(|v| v.as_list().is_some())
}

/// Arguments are always an object; model servers want to read so.
fn object(schema: Value) -> Value {
    let Value::Dict(d) = &schema else { return schema };
    let has = |key: &str| d.dict.get_str(key).is_some();
    if has("type") || has("$ref") || has("anyOf") || has("oneOf") || has("allOf") {
        return schema;
    }
    let mut dict = d.dict.clone();
    dict.insert(Str::new("type"), Value::str("object"));
    if !has("properties") {
        dict.insert(Str::new("properties"), Value::dict(Dict::new()));
    }
    Value::dict(dict)
}

/// `{path: "string", lines: "list<int>?", mode: {type: "string", enum: […], required: false}}` as a schema that allows no other
/// names; an empty dict allows any.
fn short(written: &Dict) -> Result<Value, Box<Raise>> {
    if written.is_empty() {
        return Ok(Value::dict(Dict::new()));
    }
    let mut properties = Dict::new();
    let mut required = Vec::new();
    for (name, ty) in written.iter() {
        let (property, optional) = match ty {
            Value::Str(text) => of_type(name, text)?,
            Value::Dict(d) => of_property(name, &d.dict)?,
            other => {
                let message = format!("`{name}` must be a type or a schema, found {}", article(other.type_name()));
                return Err(Raise::error(SchemaCode::Schema, message).help(format!("for example `{name}: \"string\"`")));
            }
        };
        if !optional {
            required.push(Value::Str(name.clone()));
        }
        properties.insert(name.clone(), property);
    }
    Ok(Value::record([
        ("type", Value::str("object")),
        ("properties", Value::dict(properties)),
        ("required", Value::list(required)),
        ("additionalProperties", Value::Bool(false)),
    ]))
}

/// A property's schema, whose `type` may be one of the language's, and whose `required: false` makes it optional.
fn of_property(name: &str, written: &Dict) -> Result<(Value, bool), Box<Raise>> {
    if !written.is_empty() && !written.iter().any(|(key, _)| PROPERTY_WORDS.contains(&key.as_str())) {
        return Ok((short(written)?, false));
    }
    let mut out = written.clone();
    let marked = match written.get_str("required") {
        Some(Value::Bool(required)) => {
            out.remove(&Str::new("required"));
            Some(!required)
        }
        _ => None,
    };
    let mut optional = marked.unwrap_or_else(|| written.get_str("default").is_some());
    if let Some(text) = written.get_str("type").and_then(Value::as_str).filter(|text| !JSON_TYPES.contains(text)) {
        let (schema, may_miss) = of_type(name, text)?;
        optional = marked.unwrap_or(optional || may_miss);
        out.remove(&Str::new("type"));
        for (key, value) in schema.as_dict().into_iter().flat_map(Dict::iter) {
            if !out.contains(key) {
                out.insert(key.clone(), value.clone());
            }
        }
    }
    Ok((Value::dict(out), optional))
}

/// The schema of a type in the language's words, or in those of JSON Schema; whether it may be left out.
fn of_type(name: &str, written: &str) -> Result<(Value, bool), Box<Raise>> {
    let (word, optional) = match written.strip_suffix('?') {
        Some(word) => (word, true),
        None => (written, false),
    };
    if JSON_TYPES.contains(&word) {
        return Ok((Value::record([("type", Value::str(word))]), optional));
    }
    type_schema(written, Registry::new(&[]).with_types(HOST_TYPES)).ok_or_else(|| {
        let unknown = UnknownType::of(name, written);
        Raise::error(SchemaCode::Schema, unknown.message).help(unknown.help)
    })
}

/// The words about a type that a schema cannot have.
pub(crate) struct UnknownType {
    pub(crate) message: String,
    pub(crate) help: String,
    /// The type that was probably meant.
    pub(crate) meant: Option<String>,
}

impl UnknownType {
    fn of(name: &str, written: &str) -> Self {
        let (word, optional) = written.strip_suffix('?').map_or((written, ""), |word| (word, "?"));
        let types = BUILTIN_TYPES.iter().filter(|row| row.schema.is_some()).map(|row| row.name);
        let near = nearest(word, types.chain(["any"]).chain(JSON_TYPES));
        let help = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => "write a Harn type: `int`, `list<string>`, `\"a\" | \"b\"`, `{line: int}`".to_owned(),
        };
        let message = format!("`{name}` has the unknown type {written:?}");
        Self { message, help, meant: near.map(|near| format!("{near}{optional}")) }
    }
}

/// Returns what is wrong with the type of a property.
pub(crate) fn unknown_type(name: &str, written: &str) -> Option<UnknownType> {
    of_type(name, written).is_err().then(|| UnknownType::of(name, written))
}
