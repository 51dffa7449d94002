//! [`ToolInfo`]: a tool as its server describes it, as far as the description can be trusted.

use std::sync::Arc;

use base::data::Data;
use runtime::schema::Schema;

use crate::error::excerpt;

/// A tool of a server.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolInfo {
    /// The name, as the server knows it.
    pub name: Arc<str>,
    /// The name for people.
    pub title: Option<Arc<str>>,
    /// The description for the model; may be empty.
    pub description: Arc<str>,
    /// JSON Schema of the arguments: always an object schema.
    pub input_schema: Data,
    /// JSON Schema of the structured result; nil if there is none.
    pub output_schema: Data,
    /// The hints of the server: `readOnlyHint`, `destructiveHint`, `idempotentHint` and `openWorldHint`, as far as they are
    /// truth values. Anything else a server says is dropped, since a server must not set what only a script may.
    pub annotations: Data,
}

/// A tool that cannot be offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedTool {
    /// The name, or the place in the list.
    pub name: Arc<str>,
    /// The reason, as a sentence without a full stop.
    pub why: String,
}

/// The hints that are read.
const HINTS: [&str; 4] = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];
/// The longest description, in bytes. It is in every prompt.
const MAX_DESCRIPTION: usize = 16 << 10;
/// The longest name, in bytes.
const MAX_NAME: usize = 256;

impl ToolInfo {
    /// Reads the entry at `place` of a list of tools.
    ///
    /// # Errors
    /// The tool cannot be offered.
    pub fn read(entry: &Data, place: usize) -> Result<ToolInfo, SkippedTool> {
        let skipped = |name: Arc<str>, why: String| Err(SkippedTool { name, why });
        let Some(name) = entry.get("name").as_shared_str().filter(|name| !name.trim().is_empty()) else {
            return skipped(format!("number {}", place + 1).into(), "it has no name".to_owned());
        };
        if name.len() > MAX_NAME {
            let why = format!("its name has more than {MAX_NAME} bytes");
            return skipped(excerpt(&name).chars().take(40).collect::<String>().into(), why);
        }
        let input_schema = match object_schema(entry.get("inputSchema")) {
            Ok(schema) => schema,
            Err(why) => return skipped(name, why),
        };
        // A schema of results that cannot be used promises nothing.
        let output_schema = entry.get("outputSchema");
        let usable = output_schema.as_dict().is_some() && Schema::compile(output_schema).is_ok();
        let description = entry.get("description").as_str().unwrap_or_default();
        let hints = entry.get("annotations");
        let annotations = HINTS.into_iter().filter(|key| hints.get(key).as_bool().is_some());
        let annotations = Data::dict(annotations.map(|key| (key, hints.get(key).clone())));
        let title = entry.get("title").as_str().or_else(|| hints.get("title").as_str());
        Ok(ToolInfo {
            title: title.filter(|title| !title.trim().is_empty()).map(|title| excerpt(title).into()),
            description: cut(description, MAX_DESCRIPTION).into(),
            input_schema,
            output_schema: if usable { output_schema.clone() } else { Data::Nil },
            annotations,
            name,
        })
    }

    /// Returns the tool as a list has it.
    #[must_use]
    pub fn to_data(&self) -> Data {
        Data::dict_of_present([
            ("name", Data::from(&self.name)),
            ("title", self.title.clone().into()),
            ("description", (&self.description).into()),
            ("inputSchema", self.input_schema.clone()),
            ("outputSchema", self.output_schema.clone()),
            ("annotations", self.annotations.clone()),
        ])
    }
}

/// Checks the schema of arguments.
fn object_schema(schema: &Data) -> Result<Data, String> {
    let Data::Dict(_) = schema else {
        return Err(format!("its `inputSchema` is not an object, but {}", schema.type_name()));
    };
    let schema = match schema.get("type") {
        Data::Str(kind) if &**kind == "object" => schema.clone(),
        Data::Nil => schema.clone().with("type", "object".into()),
        other => return Err(format!("its `inputSchema` has the type {}, not \"object\"", other.to_json())),
    };
    Schema::compile(&schema).map(|_| schema).map_err(|error| format!("its `inputSchema` cannot be used: {error}"))
}

fn cut(text: &str, most: usize) -> &str {
    let mut end = text.len().min(most);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<ToolInfo, SkippedTool> {
        ToolInfo::read(&Data::from_json(json).unwrap(), 2)
    }

    #[test]
    fn a_server_sets_hints_and_nothing_else() {
        let tool = read(
            r#"{"name": "drop", "inputSchema": {"properties": {}}, "outputSchema": {"type": "nonsense"},
            "annotations": {"title": "Drop", "destructiveHint": true, "readOnlyHint": "no", "permission": false, "root": "/"}}"#,
        )
        .unwrap();
        assert_eq!(tool.annotations, Data::dict([("destructiveHint", Data::from(true))]));
        assert_eq!((tool.title.as_deref(), tool.output_schema.is_nil()), (Some("Drop"), true));
        assert_eq!(tool.input_schema.get("type").as_str(), Some("object"));
        assert_eq!(ToolInfo::read(&tool.to_data(), 0).unwrap(), tool);
    }

    #[test]
    fn tools_that_lie_are_left_out_with_a_reason() {
        for (json, name, why) in [
            (r#"{"inputSchema": {}}"#, "number 3", "has no name"),
            (r#"{"name": "a"}"#, "a", "is not an object, but nil"),
            (r#"{"name": "a", "inputSchema": [1]}"#, "a", "is not an object, but list"),
            (r#"{"name": "a", "inputSchema": {"type": "string"}}"#, "a", "has the type \"string\""),
            (
                r#"{"name": "a", "inputSchema": {"type": "object", "properties": {"x": {"type": "strin"}}}}"#,
                "a",
                "cannot be used",
            ),
            (r#"{"name": "a", "inputSchema": {"type": "object", "$ref": "http://x.org/y"}}"#, "a", "cannot be used"),
        ] {
            let skipped = read(json).unwrap_err();
            assert!(&*skipped.name == name && skipped.why.contains(why), "{json}: {skipped:?}");
        }
    }
}
