//! Results of servers as text for a model.

use base::data::Data;

/// Returns the text of the content blocks of a result: text as it is, anything else as a line that names it.
#[must_use]
pub fn text_of(blocks: &[Data]) -> String {
    let mut text = String::new();
    for block in blocks {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&of_block(block));
    }
    text
}

fn of_block(block: &Data) -> String {
    let word = |key: &str| block.get(key).as_str().unwrap_or_default();
    match word("type") {
        "text" => word("text").to_owned(),
        kind @ ("image" | "audio") => {
            // Four characters of base64 are three bytes.
            let bytes = block.get("data").as_str().unwrap_or_default().len() / 4 * 3;
            format!("[{kind} of type {}, {bytes} bytes]", or_unknown(word("mimeType")))
        }
        "resource" => of_resource(block.get("resource")),
        "resource_link" => {
            let name = [word("title"), word("name")].into_iter().find(|name| !name.is_empty()).unwrap_or_default();
            format!("[resource {}{}]", word("uri"), if name.is_empty() { String::new() } else { format!(": {name}") })
        }
        other => format!("[content of the unknown type {other:?}]"),
    }
}

/// Returns the text of a resource, or a line that names it.
pub(crate) fn of_resource(resource: &Data) -> String {
    match resource.get("text").as_str() {
        Some(text) => text.to_owned(),
        None => {
            let uri = resource.get("uri").as_str().unwrap_or_default();
            let bytes = resource.get("blob").as_str().unwrap_or_default().len() / 4 * 3;
            let kind = or_unknown(resource.get("mimeType").as_str().unwrap_or_default());
            format!("[resource {uri} of type {kind}, {bytes} bytes]")
        }
    }
}

fn or_unknown(kind: &str) -> &str {
    if kind.is_empty() { "unknown" } else { kind }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_become_lines() {
        let blocks = Data::from_json(
            r#"[{"type": "text", "text": "two"}, {"type": "image", "data": "AAAA", "mimeType": "image/png"},
            {"type": "resource", "resource": {"uri": "a:1", "text": "inside"}},
            {"type": "resource", "resource": {"uri": "a:2", "blob": "AAAAAAAA"}},
            {"type": "resource_link", "uri": "a:3", "name": "third"}, {"type": "new"}, 7]"#,
        )
        .unwrap();
        let wanted = "two\n[image of type image/png, 3 bytes]\ninside\n[resource a:2 of type unknown, 6 bytes]\n\
            [resource a:3: third]\n[content of the unknown type \"new\"]\n[content of the unknown type \"\"]";
        assert_eq!(text_of(blocks.as_list().unwrap()), wanted);
    }
}
