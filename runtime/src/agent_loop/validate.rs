//! Validation of a call's arguments.

use base::data::{Data, Entries};

use crate::schema::{Mismatches, Schema};

/// Checks that arguments fit a tool's parameters; the error explains the mismatch to the model.
pub(super) fn fits(arguments: &Data, schema: &Schema, parameters: &Data) -> Result<(), String> {
    let entries = match arguments {
        Data::Dict(entries) => entries,
        Data::Str(text) => return Err(not_json(text)),
        other => return Err(format!("the arguments must be a JSON object, got {}", other.type_name())),
    };
    let Err(misfits) = check(schema, arguments) else { return Ok(()) };
    // Models write `null` for omitted values.
    match without_left_out(entries, parameters) {
        Some(given) => check(schema, &given).map_err(|misfits| misfits.to_string()),
        None => Err(misfits.to_string()),
    }
}

fn check(schema: &Schema, arguments: &Data) -> Result<(), Mismatches> {
    schema.check(arguments, "the arguments")
}

/// Returns the arguments without optional ones that are `null`; `None` if there are none.
fn without_left_out(entries: &Entries, parameters: &Data) -> Option<Data> {
    let required = parameters.get("required").as_list().unwrap_or_default();
    let stays = |name: &str, value: &Data| {
        let known = !parameters.get("properties").get(name).is_nil();
        !value.is_nil() || !known || required.iter().any(|needed| needed.as_str() == Some(name))
    };
    let given: Entries =
        entries.iter().filter(|(name, value)| stays(name, value)).map(|(n, v)| (n.clone(), v.clone())).collect();
    (given.len() < entries.len()).then(|| Data::from(given))
}

/// Describes where the text that a model wrote stops being JSON.
fn not_json(text: &str) -> String {
    match Data::from_json(text) {
        Err(error) => format!("the arguments are {error}; send one JSON object"),
        Ok(_) => "the arguments must be a JSON object, got a string".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(arguments: &str, parameters: &str) -> String {
        let (arguments, parameters) = (Data::from_json(arguments).unwrap(), Data::from_json(parameters).unwrap());
        let schema = Schema::compile(&parameters).unwrap();
        fits(&arguments, &schema, &parameters).err().unwrap_or_else(|| "fits".to_owned())
    }

    #[test]
    fn arguments_are_one_object() {
        let any = r#"{"type":"object"}"#;
        assert_eq!(said("{}", any), "fits");
        assert_eq!(said("[]", any), "the arguments must be a JSON object, got list");
        assert!(
            said(r#""{\"a\": 1,""#, any).starts_with("the arguments are not valid JSON: EOF"),
            "{}",
            said(r#""{\"a\": 1,""#, any)
        );
        assert_eq!(said(r#""7""#, any), "the arguments must be a JSON object, got a string");
    }

    #[test]
    fn null_is_left_out_where_it_may_be() {
        let schema = r#"{"properties":{"path":{"type":"string"},"n":{"type":"integer"}},"required":["path"],"additionalProperties":false}"#;
        assert_eq!(said(r#"{"path":"a","n":null}"#, schema), "fits");
        assert_eq!(said(r#"{"path":null,"n":null}"#, schema), "`path` must be string, got null");
        assert_eq!(said(r#"{"path":"a","m":null}"#, schema), "unknown key `m`; the keys are `n`, `path`");
        let all = said(r#"{"pth":"a","n":"x"}"#, schema);
        for part in ["`path` is missing (you sent `pth`)", "unknown key `pth`", "`n` must be integer, got \"x\""] {
            assert!(all.contains(part), "{all}");
        }
    }
}
