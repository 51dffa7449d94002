//! Tool calls. A tool's annotations describe it for people; the standard tools are known by name, for scripts that
//! wrap them.
//!
//! | annotation | meaning |
//! |---|---|
//! | `title` | the title; by default the tool's name |
//! | `kind` | a protocol kind: `read`, `edit`, `delete`, `move`, `search`, `execute`, `think`, `fetch`, `other` |
//! | `read_only`, `readOnlyHint` | the kind is `read`, if nothing else sets it |
//! | `locations` | the names of the arguments that are paths; by default `path` |
//! | `root` | the base of relative paths; by default the session's folder |

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use agent_client_protocol_schema::v1 as acp;
use base::data::Data;
use runtime::message::ToolCall;
use serde_json::{Value, json};

/// The maximum length of a detail in a title, in characters.
const MOST_DETAIL: usize = 80;
/// The maximum nesting of data that is sent: clients have JSON limits of their own.
const MOST_LEVELS: usize = 64;
/// The arguments that describe a call best, in order of preference.
const TELLING: [&str; 6] = ["command", "path", "pattern", "query", "url", "name"];

/// Returns a call that the model requested.
pub(super) fn begun(call: &ToolCall, annotations: &Data, id: Arc<str>, cwd: &Path) -> acp::ToolCall {
    let kind = kind(&call.name, annotations);
    let root = annotations.get("root").as_str().map_or_else(|| cwd.to_owned(), |root| absolute(cwd, root));
    acp::ToolCall::new(acp::ToolCallId::new(id), title(call, annotations))
        .name(call.name.to_string())
        .kind(kind)
        .status(acp::ToolCallStatus::Pending)
        .locations(locations(call, annotations, &root))
        .content(diff(call, kind, &root).into_iter().map(Into::into).collect())
        .raw_input(raw(&call.arguments))
}

/// Returns the update for a call that runs.
pub(super) fn runs(id: Arc<str>) -> acp::ToolCallUpdate {
    let fields = acp::ToolCallUpdateFields::new().status(acp::ToolCallStatus::InProgress);
    acp::ToolCallUpdate::new(acp::ToolCallId::new(id), fields)
}

/// Returns the update for an ended call. Its content would replace the diff, so with `keeps_diff` it has none.
pub(super) fn ended(id: Arc<str>, text: &str, value: &Data, ok: bool, keeps_diff: bool) -> acp::ToolCallUpdate {
    let status = if ok { acp::ToolCallStatus::Completed } else { acp::ToolCallStatus::Failed };
    // Clients accept only objects.
    let is_text = value.as_str() == Some(text);
    let output = match raw(value) {
        None if !value.is_nil() => None,
        Some(object @ Value::Object(_)) if !is_text => Some(object),
        Some(other) if !is_text => Some(json!({"value": other})),
        _ => Some(json!({"text": text})),
    };
    let mut fields = acp::ToolCallUpdateFields::new().status(status).raw_output(output);
    if !keeps_diff && !text.is_empty() {
        fields = fields.content(vec![text.into()]);
    }
    acp::ToolCallUpdate::new(acp::ToolCallId::new(id), fields)
}

fn raw(data: &Data) -> Option<Value> {
    (!data.is_nil() && data.depth() <= MOST_LEVELS).then(|| Value::from(data))
}

fn kind(name: &str, annotations: &Data) -> acp::ToolKind {
    let said = annotations.get("kind").as_str();
    let word = said.or_else(|| match name {
        "read_file" | "list_files" => Some("read"),
        "search_files" => Some("search"),
        "write_file" | "edit_file" => Some("edit"),
        "shell" => Some("execute"),
        _ if annotations.get("read_only").truthy() || annotations.get("readOnlyHint").truthy() => Some("read"),
        _ => None,
    });
    word.and_then(|word| serde_json::from_value(word.into()).ok()).unwrap_or_default()
}

fn title(call: &ToolCall, annotations: &Data) -> String {
    let name = annotations.get("title").as_str().filter(|title| !title.trim().is_empty()).unwrap_or(&call.name);
    let detail = TELLING.iter().find_map(|key| call.arguments.get(key).as_str()).and_then(|text| text.lines().next());
    match detail.map(str::trim).filter(|detail| !detail.is_empty()) {
        None => name.to_owned(),
        Some(detail) => match detail.char_indices().nth(MOST_DETAIL) {
            Some((end, _)) => format!("{name}: {}…", &detail[..end]),
            None => format!("{name}: {detail}"),
        },
    }
}

fn locations(call: &ToolCall, annotations: &Data, root: &Path) -> Vec<acp::ToolCallLocation> {
    let line = ["line", "first_line"].iter().find_map(|key| call.arguments.get(key).as_int());
    let line = line.and_then(|line| u32::try_from(line).ok());
    let named = annotations.get("locations").as_list();
    let names = named.map_or_else(|| vec!["path"], |names| names.iter().filter_map(Data::as_str).collect());
    let paths = names.into_iter().filter_map(|name| call.arguments.get(name).as_str()).filter(|path| !path.is_empty());
    paths.map(|path| acp::ToolCallLocation::new(absolute(root, path)).line(line)).collect()
}

/// Returns the change that an edit makes, if its arguments show it: a replaced text, or a whole file.
fn diff(call: &ToolCall, kind: acp::ToolKind, root: &Path) -> Option<acp::Diff> {
    let text = |key: &str| call.arguments.get(key).as_str();
    let path = text("path").filter(|path| kind == acp::ToolKind::Edit && !path.is_empty())?;
    let (old, new) = match (text("old"), text("new"), text("content")) {
        (Some(old), Some(new), _) => (Some(old.to_owned()), new),
        (_, _, Some(content)) => (None, content),
        _ => return None,
    };
    Some(acp::Diff::new(absolute(root, path), new).old_text(old))
}

/// Returns a path in the form that clients need: absolute, without `.` and `..`.
fn absolute(root: &Path, path: &str) -> PathBuf {
    let mut out = PathBuf::new();
    for part in root.join(path).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            part => out.push(part),
        }
    }
    out
}
