//! Converts the content blocks of a user's message to the text of a task.

use base::data::Data;
use base::words::nearest;
use serde_json::Value;

use super::error::ErrorResponse;
use super::params::Params;

/// The accepted kinds of blocks.
const TAKEN: [&str; 3] = ["text", "resource_link", "resource"];

/// The content of a user's message.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct UserContent {
    /// The text of the task. Links keep their position, as `[name](uri)`; embedded content comes after the text.
    pub(crate) text: String,
    /// The message as it was sent.
    pub(crate) message: Data,
}

/// Reads the blocks under `key`.
///
/// # Errors
/// A block is malformed, lacks required content, or has a kind that is not accepted.
pub(crate) fn read(params: &Params<'_>, key: &str) -> Result<UserContent, ErrorResponse> {
    let blocks = params.objects(key)?;
    if blocks.is_empty() {
        return Err(params.refuse(key, "must contain at least one block"));
    }
    let mut text = String::new();
    let mut held = String::new();
    for block in &blocks {
        match block.str("type")? {
            "text" => piece(&mut text, block.str("text")?, "\n"),
            "resource_link" => {
                let name = block.str("name")?;
                piece(&mut text, &link(name, block.str("uri")?), " ");
            }
            "resource" => resource(block, &mut text, &mut held)?,
            other => return Err(not_taken(block, other)),
        }
    }
    text.push_str(&held);
    let content = params.get(key).cloned().map_or(Data::Nil, Data::from);
    Ok(UserContent { text, message: Data::dict([("role", Data::from("user")), ("content", content)]) })
}

/// Adds an embedded resource: a link at its position, and its text after the task. Binary content is only mentioned.
fn resource(block: &Params<'_>, text: &mut String, held: &mut String) -> Result<(), ErrorResponse> {
    let resource = block.object_at("resource")?;
    let uri = resource.str("uri")?;
    let name = uri.rsplit('/').find(|part| !part.is_empty()).unwrap_or(uri);
    piece(text, &link(name, uri), " ");
    match (resource.optional_str("text")?, resource.optional_str("blob")?) {
        (Some(content), _) => held.push_str(&format!("\n\n<resource uri=\"{uri}\">\n{content}\n</resource>")),
        (None, Some(_)) => {
            let sort = resource.optional_str("mimeType")?.unwrap_or("unknown");
            held.push_str(&format!("\n\n<resource uri=\"{uri}\">binary content of the type {sort}</resource>"));
        }
        (None, None) => return Err(resource.refuse("text", "is missing; a resource needs `text` or `blob`")),
    }
    Ok(())
}

fn link(name: &str, uri: &str) -> String {
    format!("[{name}]({uri})")
}

/// Appends a piece, with `between` before it unless there is already white space.
fn piece(text: &mut String, piece: &str, between: &str) {
    if !(text.is_empty() || text.ends_with(char::is_whitespace) || piece.starts_with(char::is_whitespace)) {
        text.push_str(between);
    }
    text.push_str(piece);
}

fn not_taken(block: &Params<'_>, sort: &str) -> ErrorResponse {
    let taken = TAKEN.map(|sort| format!("`{sort}`")).join(", ");
    if let "image" | "audio" = sort {
        let problem = format!("is `{sort}`, which this agent's capabilities do not include; use {taken}");
        return block.refuse("type", &problem).reason("content_not_supported");
    }
    let written: String = sort.chars().take(80).collect();
    block.refuse("type", &format!("is `{written}`; it must be one of {taken}")).suggestion(nearest(sort, TAKEN))
}

/// Reads the `_meta` of a message.
///
/// # Errors
/// It is not an object.
pub(crate) fn meta(params: &Params<'_>) -> Result<Data, ErrorResponse> {
    Ok(params.optional_object("_meta")?.map_or(Data::Nil, |meta| Data::from(Value::Object(meta.object().clone()))))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn text(blocks: &Value) -> Result<String, ErrorResponse> {
        let params = json!({"prompt": blocks});
        read(&Params::of(&params).unwrap(), "prompt").map(|content| content.text)
    }

    #[test]
    fn links_stand_in_the_sentence_and_what_is_embedded_behind_it() {
        let told = text(&json!([
            {"type": "text", "text": "Compare "},
            {"type": "resource_link", "name": "a.rs", "uri": "file:///p/a.rs"},
            {"type": "text", "text": " and"},
            {"type": "resource", "resource": {"uri": "file:///p/b.rs", "text": "fn b() {}"}},
            {"type": "resource", "resource": {"uri": "file:///p/c.png", "blob": "AAAA", "mimeType": "image/png"}},
            {"type": "text", "text": "Now."},
        ]));
        assert_eq!(
            told.unwrap(),
            "Compare [a.rs](file:///p/a.rs) and [b.rs](file:///p/b.rs) [c.png](file:///p/c.png)\nNow.\n\n\
             <resource uri=\"file:///p/b.rs\">\nfn b() {}\n</resource>\n\n\
             <resource uri=\"file:///p/c.png\">binary content of the type image/png</resource>"
        );
    }

    #[test]
    fn each_wrong_block_is_named() {
        let cases = [
            (json!([]), "prompt", "`prompt` must contain at least one block"),
            (json!([{"text": "x"}]), "prompt[0].type", "`prompt[0].type` is missing; it must be a string"),
            (json!([{"type": "text"}]), "prompt[0].text", "`prompt[0].text` is missing; it must be a string"),
            (
                json!([{"type": "txet"}]),
                "prompt[0].type",
                "`prompt[0].type` is `txet`; it must be one of `text`, `resource_link`, `resource`; did you mean `text`?",
            ),
            (
                json!([{"type": "image", "data": "", "mimeType": "image/png"}]),
                "prompt[0].type",
                "`prompt[0].type` is `image`, which this agent's capabilities do not include; use `text`, `resource_link`, `resource`",
            ),
            (
                json!([{"type": "resource", "resource": {"uri": "x"}}]),
                "prompt[0].resource.text",
                "`prompt[0].resource.text` is missing; a resource needs `text` or `blob`",
            ),
        ];
        for (blocks, field, message) in cases {
            let error = text(&blocks).unwrap_err().into_json();
            assert_eq!((error["data"]["field"].as_str(), error["message"].as_str()), (Some(field), Some(message)));
        }
    }
}
