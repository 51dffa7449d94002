//! Content that every wire spells differently, read once: text, images and documents, and what an answer carried along.
//!
//! A block of a message is text, an image or a document in any vendor's spelling, or something that only one vendor knows.
//! Data that a vendor requires back unchanged (signed thinking, encrypted reasoning, thought signatures) is kept so that every
//! other wire knows it for foreign and leaves it out:
//!
//! | vendor | block |
//! |---|---|
//! | Anthropic | as it came, `type` among them |
//! | OpenAI Responses | `{type: "openai_item", item}`, or `{type: "text", text, openai_item}` where the item is text |
//! | Gemini | `{type: "gemini_part", part}`, or `{type: "text", text, gemini_part}` |
//! | Ollama | `{type: "thinking", thinking}`, unsigned |
//! | servers of Chat Completions | `{type: "chat_message", model, reasoning_content?, extra_content?}`, of a message with calls |

use base::data::Data;
use runtime::message::Block;

/// An item of OpenAI's Responses.
pub(super) const OPENAI_ITEM: &str = "openai_item";
/// The additions of a Chat Completions server to a message.
pub(super) const CHAT_MESSAGE: &str = "chat_message";
/// A part of Gemini's.
pub(super) const GEMINI_PART: &str = "gemini_part";

/// The content of a block, independent of the wire.
pub(super) enum BlockContent<'a> {
    /// Text, and the block where it says more.
    Text(&'a str, Option<&'a Data>),
    /// An image or a document.
    Media(Media<'a>),
    /// A block that only one vendor knows, by its `type`.
    Other(&'a str, &'a Data),
}

impl<'a> BlockContent<'a> {
    pub(super) fn of(block: &'a Block) -> BlockContent<'a> {
        let data = match block {
            Block::Text { text, .. } => return BlockContent::Text(text, None),
            Block::Other(data) => data,
        };
        let kind = data.get("type").as_str().unwrap_or_default();
        if let ("text", Some(text)) = (kind, data.get("text").as_str()) {
            return BlockContent::Text(text, Some(data));
        }
        Media::read(data).map_or(BlockContent::Other(kind, data), BlockContent::Media)
    }
}

/// An image or a document.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Media<'a> {
    pub(super) source: MediaSource<'a>,
    /// Whether it is an image; all else counts as a document.
    pub(super) is_image: bool,
    /// The file's name, where one was given.
    pub(super) name: Option<&'a str>,
}

/// The location of the bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum MediaSource<'a> {
    /// Here, as base64.
    Base64 { media_type: &'a str, data: &'a str },
    /// There; the type where it was said.
    Url { url: &'a str, media_type: Option<&'a str> },
}

impl<'a> Media<'a> {
    /// Reads an image or a document as Anthropic, OpenAI, Gemini or MCP spell it.
    pub(super) fn read(data: &'a Data) -> Option<Media<'a>> {
        let kind = data.get("type").as_str();
        let name = data.get("filename").as_str().or_else(|| data.get("title").as_str());
        match kind {
            Some(kind @ ("image" | "document")) => {
                let source = match data.get("source").get("type").as_str() {
                    Some("base64") => here(data.get("source"), "media_type", "data")?,
                    Some("url") => of_url(data.get("source").get("url").as_str()?),
                    // MCP has no `source`.
                    None => here(data, "mimeType", "data")?,
                    Some(_) => return None,
                };
                Some(Media { source, is_image: kind == "image", name })
            }
            Some("image_url") => {
                let url = data.get("image_url");
                Some(Media { source: of_url(url.as_str().or_else(|| url.get("url").as_str())?), is_image: true, name })
            }
            Some("input_image") => {
                Some(Media { source: of_url(data.get("image_url").as_str()?), is_image: true, name })
            }
            Some("file") => {
                let file = data.get("file");
                let source = of_url(file.get("file_data").as_str()?);
                Some(Media { source, is_image: false, name: file.get("filename").as_str() })
            }
            Some("input_file") => {
                let source = data.get("file_data").as_str().or_else(|| data.get("file_url").as_str())?;
                Some(Media { source: of_url(source), is_image: false, name })
            }
            None => of_part(data),
            Some(_) => None,
        }
    }

    /// Returns the URL of the media, or a `data:` URL with its content.
    pub(super) fn url(&self) -> String {
        match self.source {
            MediaSource::Url { url, .. } => url.to_owned(),
            MediaSource::Base64 { media_type, data } => format!("data:{media_type};base64,{data}"),
        }
    }
}

/// Gemini's `inlineData` and `fileData`.
fn of_part(data: &Data) -> Option<Media<'_>> {
    let either = |one, other| if data.get(one).is_nil() { data.get(other) } else { data.get(one) };
    let (inline, file) = (either("inlineData", "inline_data"), either("fileData", "file_data"));
    let source = if inline.is_nil() {
        let media_type = file.get("mimeType").as_str();
        MediaSource::Url { url: file.get("fileUri").as_str()?, media_type }
    } else {
        here(inline, "mimeType", "data")?
    };
    let (MediaSource::Base64 { media_type: kind, .. } | MediaSource::Url { media_type: Some(kind), .. }) = source
    else {
        return Some(Media { source, is_image: true, name: None });
    };
    Some(Media { source, is_image: kind.starts_with("image/"), name: None })
}

fn here<'a>(data: &'a Data, media_type: &str, bytes: &str) -> Option<MediaSource<'a>> {
    Some(MediaSource::Base64 { media_type: data.get(media_type).as_str()?, data: data.get(bytes).as_str()? })
}

fn of_url(url: &str) -> MediaSource<'_> {
    let inline = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
    match inline {
        Some((media_type, data)) => MediaSource::Base64 { media_type, data },
        None => MediaSource::Url { url, media_type: None },
    }
}

/// Returns the placeholder for media that a wire cannot carry, so that the model knows of it.
pub(super) fn not_shown(media: &Media<'_>) -> String {
    let what = if media.is_image { "an image" } else { "a document" };
    format!("[{what} that cannot be shown here]")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_image_is_the_same_in_every_spelling() {
        let inline = MediaSource::Base64 { media_type: "image/png", data: "iVBO" };
        let there = MediaSource::Url { url: "https://x/a.png", media_type: None };
        for (block, source) in [
            (json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBO"}}), inline),
            (json!({"type": "image", "source": {"type": "url", "url": "https://x/a.png"}}), there),
            (json!({"type": "image", "mimeType": "image/png", "data": "iVBO"}), inline),
            (json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBO"}}), inline),
            (json!({"type": "image_url", "image_url": {"url": "https://x/a.png"}}), there),
            (json!({"type": "input_image", "image_url": "https://x/a.png"}), there),
            (json!({"inlineData": {"mimeType": "image/png", "data": "iVBO"}}), inline),
            (json!({"fileData": {"fileUri": "https://x/a.png"}}), there),
        ] {
            let data = Data::from(block.clone());
            assert_eq!(Media::read(&data), Some(Media { source, is_image: true, name: None }), "{block}");
        }
    }

    #[test]
    fn a_document_has_a_name() {
        let inline = MediaSource::Base64 { media_type: "application/pdf", data: "JVBE" };
        for block in [
            json!({"type": "document", "title": "a.pdf",
                "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBE"}}),
            json!({"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBE"}}),
            json!({"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBE"}),
        ] {
            let data = Data::from(block.clone());
            let expected = Media { source: inline, is_image: false, name: Some("a.pdf") };
            assert_eq!(Media::read(&data), Some(expected), "{block}");
        }
        for block in [json!({"type": "audio"}), json!({"type": "image", "source": {"type": "file"}}), json!({})] {
            assert_eq!(Media::read(&Data::from(block.clone())), None, "{block}");
        }
    }
}
