//! Content blocks: messages of the user, artifacts.

use agent_client_protocol_schema::v1 as acp;
use base::data::Data;
use runtime::message::Block;
use serde_json::{Map, Value, json};

use crate::host::{Part, TaskArtifact};

/// Returns the user's message as one chunk per block. A block of an unknown kind is shown as text.
pub(super) fn of_message(content: &Data) -> Vec<acp::ContentChunk> {
    let block = |block: &Data| {
        let known = serde_json::from_value(Value::from(block)).ok();
        known.unwrap_or_else(|| {
            Block::Other(block.clone()).as_text().map_or_else(|| block.to_json(), str::to_owned).into()
        })
    };
    match content {
        Data::Nil => Vec::new(),
        Data::List(blocks) => blocks.iter().map(|one| acp::ContentChunk::new(block(one))).collect(),
        Data::Dict(_) => vec![acp::ContentChunk::new(block(content))],
        text => vec![acp::ContentChunk::new(text.to_text().as_ref().into())],
    }
}

/// Returns an artifact as one chunk per part; each names its artifact.
pub(super) fn of_artifact(made: &TaskArtifact) -> Vec<acp::ContentChunk> {
    let (name, parts) = (&*made.name, &made.parts);
    let of = parts.len();
    let chunk = |(index, part): (usize, &Part)| {
        let mut about = json!({"name": name, "part": index, "parts": of});
        let texts = [("id", &made.id), ("description", &made.description)];
        for (key, text) in texts.into_iter().filter_map(|(key, text)| Some((key, text.as_deref()?))) {
            about[key] = text.into();
        }
        if made.append || !made.last_chunk {
            about["append"] = made.append.into();
            about["lastChunk"] = made.last_chunk.into();
        }
        if !made.metadata.is_nil() {
            about["metadata"] = Value::from(&made.metadata);
        }
        let block = match part {
            Part::Text(text) => text.as_ref().into(),
            Part::Data(data) => {
                about["data"] = Value::from(data);
                format!("```json\n{}\n```", data.to_json_pretty()).into()
            }
            Part::File { name: file, mime_type, bytes, uri } => {
                let file = file.as_deref().unwrap_or(name);
                of_file(file, mime_type.as_deref(), bytes.as_deref(), uri.as_deref())
            }
        };
        marked(acp::ContentChunk::new(block), "artifact", about)
    };
    parts.iter().enumerate().map(chunk).collect()
}

fn of_file(name: &str, mime_type: Option<&str>, bytes: Option<&str>, uri: Option<&str>) -> acp::ContentBlock {
    let Some(bytes) = bytes else {
        let link = acp::ResourceLink::new(name, uri.unwrap_or(name));
        return acp::ContentBlock::ResourceLink(link.mime_type(mime_type.map(str::to_owned)));
    };
    match mime_type {
        Some(image) if image.starts_with("image/") => {
            acp::ContentBlock::Image(acp::ImageContent::new(bytes, image).uri(uri.map(str::to_owned)))
        }
        Some(audio) if audio.starts_with("audio/") => acp::ContentBlock::Audio(acp::AudioContent::new(bytes, audio)),
        _ => {
            let uri = uri.map_or_else(|| format!("artifact:{name}"), str::to_owned);
            let blob = acp::BlobResourceContents::new(bytes, uri).mime_type(mime_type.map(str::to_owned));
            let resource = acp::EmbeddedResourceResource::BlobResourceContents(blob);
            acp::ContentBlock::Resource(acp::EmbeddedResource::new(resource))
        }
    }
}

/// Marks the kind of a chunk in `_meta.harn`, for clients that show it differently.
pub(super) fn marked(chunk: acp::ContentChunk, key: &str, value: Value) -> acp::ContentChunk {
    let mut harn = Map::new();
    harn.insert(key.to_owned(), value);
    let mut meta = Map::new();
    meta.insert("harn".to_owned(), harn.into());
    chunk.meta(meta)
}
