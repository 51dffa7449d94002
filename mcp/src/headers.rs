//! The headers of requests over HTTP, by which proxies route them.

use base::data::Data;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Returns the headers that repeat parts of a request of the version without sessions.
pub(crate) fn of_request(method: &str, params: &Data, mirrored: &[(String, String)]) -> Vec<(String, String)> {
    let name = match method {
        "tools/call" | "prompts/get" => params.get("name").as_str(),
        "resources/read" => params.get("uri").as_str(),
        _ => None,
    };
    let mut headers = vec![("mcp-method".to_owned(), method.to_owned())];
    headers.extend(name.map(|name| ("mcp-name".to_owned(), value(name))));
    headers.extend(mirrored.iter().map(|(name, text)| (format!("mcp-param-{name}"), value(text))));
    headers
}

/// Returns the arguments that a tool's schema wants as headers (`x-mcp-header`), with the names of those headers.
pub(crate) fn mirrored(schema: &Data, arguments: &Data) -> Vec<(String, String)> {
    let mut found = Vec::new();
    collect(schema, arguments, &mut found, 0);
    found
}

/// The deepest property that is looked at.
const DEEPEST: usize = 16;

fn collect(schema: &Data, arguments: &Data, found: &mut Vec<(String, String)>, depth: usize) {
    for (key, property) in schema.get("properties").as_dict().into_iter().flat_map(base::data::Entries::iter) {
        let argument = arguments.get(key);
        if let Some(header) = property.get("x-mcp-header").as_str()
            && is_token(header)
            && matches!(argument, Data::Str(_) | Data::Bool(_) | Data::Int(_) | Data::Float(_))
        {
            found.push((header.to_owned(), argument.to_text().to_string()));
        }
        if depth < DEEPEST && !property.get("properties").is_nil() {
            collect(property, argument, found, depth + 1);
        }
    }
}

/// A token of RFC 9110.
fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}

/// Returns a text as the value of a header, in base64 if it could not be one as it is.
fn value(text: &str) -> String {
    let plain = text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) && text.trim() == text && !text.is_empty();
    if plain && !(text.starts_with("=?base64?") && text.ends_with("?=")) {
        return text.to_owned();
    }
    format!("=?base64?{}?=", STANDARD.encode(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_marked_arguments_become_headers() {
        let schema = Data::from_json(
            r#"{"properties": {"region": {"type": "string", "x-mcp-header": "Region"}, "n": {"type": "integer"},
            "at": {"type": "object", "properties": {"day": {"type": "integer", "x-mcp-header": "Day"}}},
            "bad": {"type": "string", "x-mcp-header": "not a token"}}}"#,
        )
        .unwrap();
        let arguments = Data::from_json(r#"{"region": "Köln", "n": 1, "at": {"day": 3}, "bad": "x"}"#).unwrap();
        let found = mirrored(&schema, &arguments);
        let params = Data::dict([("name", Data::from("look"))]);
        let headers = of_request("tools/call", &params, &found);
        let shown: Vec<String> = headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        let wanted =
            ["mcp-method: tools/call", "mcp-name: look", "mcp-param-Day: 3", "mcp-param-Region: =?base64?S8O2bG4=?="];
        assert_eq!(shown, wanted);
    }

    #[test]
    fn values_that_are_not_header_values_are_encoded() {
        assert_eq!(
            (value("a b"), value(" a"), value("=?base64?x?=")),
            ("a b".to_owned(), "=?base64?IGE=?=".to_owned(), "=?base64?PT9iYXNlNjQ/eD89?=".to_owned(),)
        );
    }
}
