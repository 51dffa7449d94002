//! A first look at a call's arguments: what a tool's schema demands plainly. It spares a tool the obvious mistakes of a
//! model; it is no JSON Schema validator.

use crate::data::Data;
use crate::words::nearest;

/// Whether arguments fit a tool's parameters; why not, in words for the model.
pub(super) fn fits(arguments: &Data, schema: &Data) -> Result<(), String> {
    let entries = match arguments {
        Data::Dict(entries) => entries,
        Data::Str(_) => return Err("the arguments are not valid JSON; send one JSON object".to_owned()),
        other => return Err(format!("the arguments must be a JSON object, got {}", other.type_name())),
    };
    let properties = schema.get("properties");
    for required in schema.get("required").as_list().unwrap_or_default().iter().filter_map(Data::as_str) {
        if !entries.contains_key(required) {
            let given = entries.keys().map(AsRef::as_ref).filter(|key| properties.get(key).is_nil());
            let hint = nearest(required, given).map_or_else(String::new, |near| format!(" (you sent `{near}`)"));
            return Err(format!("the argument `{required}` is missing{hint}"));
        }
    }
    for (name, value) in entries.iter() {
        let wanted = properties.get(name).get("type");
        if !is_of(value, wanted) {
            return Err(format!("the argument `{name}` must be {}, got {}", wanted.to_text(), value.type_name()));
        }
    }
    Ok(())
}

/// Whether a value is of a schema's `type`: a word or a list of words. What is not a type we know is let through.
fn is_of(value: &Data, wanted: &Data) -> bool {
    match wanted {
        Data::List(any) => any.iter().any(|one| is_of(value, one)),
        Data::Str(word) => match word.as_ref() {
            "string" => matches!(value, Data::Str(_)),
            "integer" => value.as_int().is_some(),
            "number" => value.as_float().is_some(),
            "boolean" => matches!(value, Data::Bool(_)),
            "array" => matches!(value, Data::List(_)),
            "object" => matches!(value, Data::Dict(_)),
            "null" => value.is_nil(),
            _ => true,
        },
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_mistakes_are_told_in_plain_words() {
        let schema = r#"{"type":"object","properties":{"path":{"type":"string"},"n":{"type":["integer","null"]}},"required":["path"]}"#;
        let schema = Data::from_json(schema).unwrap();
        let check = |json: &str| fits(&Data::from_json(json).unwrap(), &schema);
        assert_eq!(check(r#"{"path":"a","n":null,"extra":1}"#), Ok(()));
        assert_eq!(check(r#"{"pth":"a"}"#).unwrap_err(), "the argument `path` is missing (you sent `pth`)");
        assert_eq!(check(r#"{"path":1}"#).unwrap_err(), "the argument `path` must be string, got int");
        assert_eq!(
            check(r#"{"path":"a","n":1.5}"#).unwrap_err(),
            r#"the argument `n` must be ["integer","null"], got float"#
        );
        assert!(check(r#""{oops""#).unwrap_err().contains("not valid JSON"));
    }
}
