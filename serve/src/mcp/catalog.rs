//! [`Catalog`]: the tools, resources and prompts of a script, and what their arguments must be.

use std::sync::Arc;

use base::data::{Data, Entries};
use base::words::nearest;
use runtime::schema::Schema;
use stdlib::{Diagnostic, ServedCall, ServedEntry, ServedKind};

use super::codes::McpServerCode;
use super::fault::{McpFault, RESOURCE_NOT_FOUND, shortened};
use super::template::UriTemplate;
use mcp::Era;

/// The number of entries of a list in one response.
const PAGE: usize = 100;
/// The key of a structured result that is not a dict.
const RESULT: &str = "result";

/// The tools, resources and prompts of a script.
pub(super) struct Catalog {
    offered: Vec<Arc<Offered>>,
}

/// A public function, with what is derived from its description.
pub(super) struct Offered {
    /// The place in the list of the script's public functions.
    place: usize,
    pub(super) entry: ServedEntry,
    parameters: Schema,
    /// The schema of the structured result of a tool; nil if there is none.
    output: Data,
    returns: Option<Schema>,
    /// Whether the structured result is wrapped in a dict.
    is_wrapped: bool,
    uri: Option<UriTemplate>,
}

impl Catalog {
    /// Prepares the public functions of a script.
    ///
    /// # Errors
    /// A schema cannot be used.
    pub(super) fn new(entries: Vec<ServedEntry>) -> Result<Catalog, Vec<Diagnostic>> {
        let offered = entries.into_iter().enumerate().map(|(place, entry)| Offered::new(place, entry).map(Arc::new));
        Ok(Catalog { offered: offered.collect::<Result<_, _>>()? })
    }

    fn of_kind(&self, is_kind: fn(&ServedKind) -> bool) -> impl Iterator<Item = &Arc<Offered>> {
        self.offered.iter().filter(move |offered| is_kind(&offered.entry.kind))
    }

    /// Returns whether the script has any of a kind.
    pub(super) fn has(&self, is_kind: fn(&ServedKind) -> bool) -> bool {
        self.of_kind(is_kind).next().is_some()
    }

    /// Returns a page of the tools.
    pub(super) fn tools(&self, cursor: &Data, era: Era) -> Result<Data, McpFault> {
        page("tools", self.of_kind(is_tool).map(|tool| tool.to_tool(era)), cursor)
    }

    /// Returns a page of the resources with a fixed URI.
    pub(super) fn resources(&self, cursor: &Data) -> Result<Data, McpFault> {
        let fixed = self.of_kind(is_resource).filter(|offered| !offered.is_template());
        page("resources", fixed.map(|offered| offered.to_resource("uri")), cursor)
    }

    /// Returns a page of the resources whose URI has variables.
    pub(super) fn templates(&self, cursor: &Data) -> Result<Data, McpFault> {
        let templates = self.of_kind(is_resource).filter(|offered| offered.is_template());
        page("resourceTemplates", templates.map(|offered| offered.to_resource("uriTemplate")), cursor)
    }

    /// Returns a page of the prompts.
    pub(super) fn prompts(&self, cursor: &Data) -> Result<Data, McpFault> {
        page("prompts", self.of_kind(is_prompt).map(|prompt| prompt.to_prompt()), cursor)
    }

    fn named(&self, is_kind: fn(&ServedKind) -> bool, what: &str, name: &Data) -> Result<&Arc<Offered>, McpFault> {
        let Some(name) = name.as_str() else {
            return Err(McpFault::params(format!("`name` of the {what} is missing")));
        };
        if let Some(found) = self.of_kind(is_kind).find(|offered| &*offered.entry.name == name) {
            return Ok(found);
        }
        let near = nearest(name, self.of_kind(is_kind).map(|offered| &*offered.entry.name));
        let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        Err(McpFault::params(format!("unknown {what} `{}`{near}", shortened(name))))
    }

    /// Returns the tool with a name.
    pub(super) fn tool(&self, name: &Data) -> Result<&Arc<Offered>, McpFault> {
        self.named(is_tool, "tool", name)
    }

    /// Returns the prompt with a name.
    pub(super) fn prompt(&self, name: &Data) -> Result<&Arc<Offered>, McpFault> {
        self.named(is_prompt, "prompt", name)
    }

    /// Returns the resource at a URI, with the arguments that the URI contains.
    pub(super) fn resource(&self, uri: &str, era: Era) -> Result<(&Arc<Offered>, Data), McpFault> {
        let found = self.of_kind(is_resource).find_map(|offered| Some((offered, offered.uri.as_ref()?.values(uri)?)));
        found.ok_or_else(|| {
            let message = format!("resource `{}` not found", shortened(uri));
            let fault = match era {
                Era::Sessions => McpFault::new(RESOURCE_NOT_FOUND, message),
                Era::Stateless => McpFault::params(message),
            };
            fault.with("uri", shortened(uri))
        })
    }

    /// Returns the resource whose template this is.
    pub(super) fn template(&self, uri: &str) -> Option<&Arc<Offered>> {
        self.of_kind(is_resource)
            .find(|offered| matches!(&offered.entry.kind, ServedKind::Resource { uri: known, .. } if &**known == uri))
    }
}

pub(super) fn is_tool(kind: &ServedKind) -> bool {
    *kind == ServedKind::Tool
}

pub(super) fn is_resource(kind: &ServedKind) -> bool {
    matches!(kind, ServedKind::Resource { .. })
}

pub(super) fn is_prompt(kind: &ServedKind) -> bool {
    *kind == ServedKind::Prompt
}

impl Offered {
    fn new(place: usize, entry: ServedEntry) -> Result<Offered, Vec<Diagnostic>> {
        let unusable = |what: &str, error: &dyn std::fmt::Display| {
            let message = format!("the {what} of `{}` cannot be a JSON Schema: {error}", entry.name);
            vec![Diagnostic::new(McpServerCode::Internal, message)]
        };
        let parameters = Schema::compile(&entry.parameters).map_err(|error| unusable("parameters", &error))?;
        let (output, is_wrapped) = match entry.kind {
            ServedKind::Tool => output_schema(&entry.returns),
            _ => (Data::Nil, false),
        };
        let returns = if output.is_nil() { None } else { Some(Schema::compile(&output)) };
        let returns = returns.transpose().map_err(|error| unusable("result", &error))?;
        let uri = match &entry.kind {
            ServedKind::Resource { uri, .. } => Some(UriTemplate::new(uri)),
            _ => None,
        };
        Ok(Offered { place, entry, parameters, output, returns, is_wrapped, uri })
    }

    fn is_template(&self) -> bool {
        self.uri.as_ref().is_some_and(UriTemplate::is_template)
    }

    fn description(&self) -> Data {
        if self.entry.description.is_empty() { Data::Nil } else { (&self.entry.description).into() }
    }

    fn to_tool(&self, era: Era) -> Data {
        let execution = match era {
            Era::Sessions => Data::dict([("taskSupport", Data::from("optional"))]),
            Era::Stateless => Data::Nil,
        };
        Data::dict_of_present([
            ("name", Data::from(&self.entry.name)),
            ("description", self.description()),
            ("inputSchema", self.entry.parameters.clone()),
            ("outputSchema", self.output.clone()),
            ("execution", execution),
        ])
    }

    fn to_resource(&self, key: &'static str) -> Data {
        let ServedKind::Resource { uri, mime_type } = &self.entry.kind else { return Data::Nil };
        Data::dict_of_present([
            (key, Data::from(uri)),
            ("name", (&self.entry.name).into()),
            ("description", self.description()),
            ("mimeType", mime_type.as_ref().into()),
        ])
    }

    fn to_prompt(&self) -> Data {
        let required = self.entry.parameters.get("required").as_list().unwrap_or_default();
        let properties = self.entry.parameters.get("properties").as_dict();
        let argument = |(name, schema): (&Arc<str>, &Data)| {
            let is_required = required.iter().any(|known| known.as_str() == Some(name));
            Data::dict_of_present([
                ("name", Data::from(name)),
                ("description", schema.get("description").clone()),
                ("required", is_required.into()),
            ])
        };
        let arguments = properties.into_iter().flat_map(Entries::iter).map(argument);
        Data::dict_of_present([
            ("name", Data::from(&self.entry.name)),
            ("description", self.description()),
            ("arguments", Data::list(arguments)),
        ])
    }

    /// Checks the arguments of a call.
    ///
    /// # Errors
    /// They do not match the schema.
    pub(super) fn call(&self, arguments: &Data) -> Result<ServedCall, String> {
        let arguments = if arguments.is_nil() { Data::empty_dict() } else { arguments.clone() };
        self.parameters.check(&arguments, "arguments").map_err(|error| error.to_string())?;
        Ok(ServedCall { entry: self.place, arguments })
    }

    /// Returns the arguments, which come as text, in the types of the parameters.
    pub(super) fn typed(&self, arguments: &Data) -> Data {
        let mut typed = Data::empty_dict();
        for (name, value) in arguments.as_dict().into_iter().flat_map(Entries::iter) {
            let is_text = matches!(self.entry.parameters.get("properties").get(name).get("type"), Data::Str(kind) if &**kind == "string");
            let read = value.as_str().filter(|_| !is_text).and_then(|text| Data::from_json(text).ok());
            typed.set(name.clone(), read.unwrap_or_else(|| value.clone()));
        }
        typed
    }

    /// Returns the words that an argument can have and that begin with `start`.
    pub(super) fn completions(&self, argument: &str, start: &str) -> Vec<Data> {
        let words = self.entry.parameters.get("properties").get(argument).get("enum").as_list().unwrap_or_default();
        words.iter().filter(|word| word.as_str().is_some_and(|word| word.starts_with(start))).cloned().collect()
    }

    /// Returns the structured result of a tool, or nil.
    ///
    /// # Errors
    /// The value does not match the type of the tool.
    pub(super) fn structured(&self, value: &Data) -> Result<Data, String> {
        let Some(returns) = &self.returns else {
            return Ok(if value.as_dict().is_some() { value.clone() } else { Data::Nil });
        };
        let value = if self.is_wrapped { Data::dict([(RESULT, value.clone())]) } else { value.clone() };
        returns.check(&value, RESULT).map_err(|error| error.to_string())?;
        Ok(value)
    }
}

/// Returns the schema of a structured result, and whether it wraps the value: the structured result of a tool is an object.
fn output_schema(returns: &Data) -> (Data, bool) {
    let kind = returns.get("type").as_str();
    match kind {
        Some("object") => (returns.clone(), false),
        // Text is the content of a result and needs no other form.
        Some("string") | None if returns.as_dict().is_none_or(|schema| !schema.contains_key("anyOf")) => {
            (Data::Nil, false)
        }
        _ => {
            let mut inner = returns.clone();
            let definitions = returns.get("$defs").clone();
            if let Data::Dict(_) = definitions {
                inner = Data::dict(
                    inner
                        .as_dict()
                        .into_iter()
                        .flat_map(Entries::iter)
                        .filter(|(key, _)| &***key != "$defs")
                        .map(|(key, value)| (key.clone(), value.clone())),
                );
            }
            let wrapped = Data::dict_of_present([
                ("type", Data::from("object")),
                ("properties", Data::dict([(RESULT, inner)])),
                ("required", Data::list([RESULT.into()])),
                ("$defs", definitions),
            ]);
            (wrapped, true)
        }
    }
}

/// Returns a page of a list. The cursor is the place of its first entry.
fn page(key: &'static str, all: impl Iterator<Item = Data>, cursor: &Data) -> Result<Data, McpFault> {
    let start = match cursor {
        Data::Nil => 0,
        Data::Str(text) => text.parse::<usize>().map_err(|_| McpFault::params("invalid `cursor`"))?,
        _ => return Err(McpFault::params("invalid `cursor`: it must be a string")),
    };
    let mut rest = all.skip(start);
    let entries: Vec<Data> = rest.by_ref().take(PAGE).collect();
    let next = rest.next().map(|_| (start + PAGE).to_string());
    Ok(Data::dict_of_present([(key, Data::list(entries)), ("nextCursor", next.into())]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, kind: ServedKind, parameters: &str, returns: &str) -> ServedEntry {
        let (parameters, returns) = (Data::from_json(parameters).unwrap(), Data::from_json(returns).unwrap());
        ServedEntry { kind, name: name.into(), description: "".into(), parameters, returns }
    }

    fn catalog(entries: Vec<ServedEntry>) -> Catalog {
        Catalog::new(entries).unwrap_or_else(|found| panic!("{found:?}"))
    }

    #[test]
    fn lists_are_read_page_by_page() {
        let all = (0..250).map(|n| entry(&format!("t{n}"), ServedKind::Tool, r#"{"type": "object"}"#, "null"));
        let catalog = catalog(all.collect());
        let mut cursor = Data::Nil;
        let mut names = Vec::new();
        for wanted in [100, 100, 50] {
            let page = catalog.tools(&cursor, Era::Stateless).unwrap();
            let tools = page.get("tools").as_list().unwrap();
            assert_eq!(tools.len(), wanted);
            names.extend(tools.iter().map(|tool| tool.get("name").to_text().to_string()));
            cursor = page.get("nextCursor").clone();
        }
        assert!(cursor.is_nil());
        assert_eq!((names.len(), names[249].as_str()), (250, "t249"));
        assert!(catalog.tools(&"x".into(), Era::Stateless).is_err());
    }

    #[test]
    fn a_result_that_is_no_object_is_wrapped() {
        let number = r#"{"type": "integer"}"#;
        let catalog = catalog(vec![
            entry("count", ServedKind::Tool, r#"{"type": "object"}"#, number),
            entry("say", ServedKind::Tool, r#"{"type": "object"}"#, r#"{"type": "string"}"#),
            entry("any", ServedKind::Tool, r#"{"type": "object"}"#, "null"),
        ]);
        let tool = |name: &str| catalog.tool(&name.into()).unwrap();
        assert_eq!(tool("count").structured(&7.into()).unwrap().to_json(), r#"{"result":7}"#);
        assert!(tool("count").structured(&"x".into()).is_err());
        assert!(tool("say").structured(&"x".into()).unwrap().is_nil());
        assert!(tool("any").structured(&7.into()).unwrap().is_nil());
        assert_eq!(
            catalog.tool(&"cont".into()).err().map(|fault| fault.message).as_deref(),
            Some("unknown tool `cont`; did you mean `count`?")
        );
    }

    #[test]
    fn text_becomes_the_type_of_a_parameter() {
        let parameters = r#"{"type": "object", "properties": {"n": {"type": "integer"}, "s": {"type": "string"}}}"#;
        let catalog = catalog(vec![entry("p", ServedKind::Prompt, parameters, "null")]);
        let typed = catalog.prompt(&"p".into()).unwrap().typed(&Data::from_json(r#"{"n": "7", "s": "7"}"#).unwrap());
        assert_eq!(typed.to_json(), r#"{"n":7,"s":"7"}"#);
    }
}
