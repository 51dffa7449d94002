//! Parsing the content of a block into calls.

use base::data::Data;
use serde::Deserialize;

use crate::message::ToolCall;

use super::scan::OPEN;

/// Number of bytes of a broken call in which its name is searched.
const NAME_WITHIN: usize = 1_000;

/// Returns the calls in a block: one object, several, or a list of them. Invalid JSON becomes a call whose arguments
/// are the text unchanged, so that the model is told about the error.
pub(super) fn read(raw: &str) -> Vec<ToolCall> {
    let mut found = Vec::new();
    let repaired = json::repaired(raw);
    let mut rest = bare(&repaired);
    while !rest.is_empty() {
        let mut reader = serde_json::Deserializer::from_str(rest).into_iter::<DepthLimited>();
        match reader.next() {
            Some(Ok(DepthLimited(value))) => {
                let end = reader.byte_offset();
                take(&value, &mut found);
                rest = bare(rest.get(end..).unwrap_or_default());
                // A second block began before the first was closed.
                rest = bare(rest.strip_prefix(OPEN).unwrap_or(rest)).trim_start_matches([',', ';']).trim_start();
            }
            Some(Err(_)) if found.is_empty() => return vec![broken(bare(raw))],
            // Prose after a call is not a call.
            _ => break,
        }
    }
    if found.is_empty() { vec![broken(raw.trim())] } else { found }
}

/// JSON within the supported nesting depth.
struct DepthLimited(Data);

impl<'de> Deserialize<'de> for DepthLimited {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<DepthLimited, D::Error> {
        Data::deserialize(deserializer).map(DepthLimited)
    }
}

/// Returns the text without surrounding white space and fences.
fn bare(text: &str) -> &str {
    let text = text.trim();
    let text = match text.strip_prefix("```") {
        Some(rest) => rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_').trim_start(),
        None => text,
    };
    text.strip_suffix("```").unwrap_or(text).trim_end()
}

fn take(value: &Data, found: &mut Vec<ToolCall>) {
    if let Some(items) = value.as_list() {
        items.iter().for_each(|item| found.push(call(item)));
    } else {
        found.push(call(value));
    }
}

/// Reads `{name, arguments}`, and the synonyms that models use for these keys.
fn call(value: &Data) -> ToolCall {
    let inner = if value.get("function").as_dict().is_some() { value.get("function") } else { value };
    let first = |keys: &[&str]| keys.iter().map(|key| inner.get(key)).find(|found| !found.is_nil()).cloned();
    let name = first(&["name", "tool", "tool_name", "function"]).and_then(|name| name.as_shared_str());
    let arguments = first(&["arguments", "args", "parameters", "input"]).unwrap_or_else(Data::empty_dict);
    // Some models write the arguments as a string of JSON.
    let arguments = match &arguments {
        Data::Str(text) => Data::from_json(text).ok().filter(|data| data.as_dict().is_some()).unwrap_or(arguments),
        _ => arguments,
    };
    ToolCall::new("", name.unwrap_or_else(|| "".into()), arguments)
}

fn broken(raw: &str) -> ToolCall {
    ToolCall::new("", name_in(raw).unwrap_or_default(), Data::from(raw))
}

/// Returns the name in an unreadable call.
fn name_in(raw: &str) -> Option<&str> {
    let mut end = raw.len().min(NAME_WITHIN);
    while !raw.is_char_boundary(end) {
        end -= 1;
    }
    let rest = raw[..end].split_once("\"name\"")?.1.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
    rest.split_once('"').map(|(name, _)| name)
}
