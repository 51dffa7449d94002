//! Parts of 0.3, which say by `kind` what they are.

use std::sync::Arc;

use base::data::{Data, Entries};
use serde::de::Error;
use serde::{Deserialize, Deserializer};

use super::ShapeError;
use super::error::Place;
use super::fields::Fields;
use super::key::{self, Key};
use super::value::{Base64Text, OpenDict, present};
use crate::{Content, Part};

/// The problem of a file without content.
pub(super) const NO_CONTENT: &str = "needs `bytes` or `uri`";

/// A part.
pub(super) struct TaggedPart(Part);

impl From<TaggedPart> for Part {
    fn from(part: TaggedPart) -> Part {
        part.0
    }
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct TaggedFields {
    kind: Option<PartKind>,
    text: Option<Arc<str>>,
    file: Option<TaggedFile>,
    data: Option<OpenDict>,
    metadata: Option<OpenDict>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum PartKind {
    Text,
    File,
    Data,
}

impl<'de> Deserialize<'de> for TaggedPart {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<TaggedPart, D::Error> {
        let fields = TaggedFields::deserialize(deserializer)?;
        let metadata = OpenDict::or_nil(fields.metadata);
        Ok(TaggedPart(match fields.kind.ok_or_else(|| D::Error::missing_field("kind"))? {
            PartKind::Text => {
                let text = fields.text.ok_or_else(|| D::Error::missing_field("text"))?;
                Part { metadata, ..Part::text(text) }
            }
            PartKind::File => {
                let file = fields.file.ok_or_else(|| D::Error::missing_field("file"))?;
                Part { metadata, ..file.0 }
            }
            PartKind::Data => {
                let data = fields.data.ok_or_else(|| D::Error::missing_field("data"))?;
                let (data, metadata) = unwrapped(OpenDict::or_nil(Some(data)), metadata);
                Part { metadata, ..Part::data(data) }
            }
        }))
    }
}

/// Returns whether a member is that of another kind of part.
pub(super) fn is_ignored(name: &str, entries: &Entries) -> bool {
    let kinds = ["text", "file", "data"];
    let kind = entries.get("kind").and_then(Data::as_str);
    kinds.contains(&name) && kind.is_some_and(|kind| kinds.contains(&kind) && kind != name)
}

/// Returns the error for a part without a kind.
pub(super) fn untagged(part: &Place<'_>) -> ShapeError {
    let mut error = part.missing("kind");
    if error.suggestion.is_none() {
        error.message.push_str(": a part is `text`, `file` or `data`");
        if ["text", "raw", "url", "data"].iter().any(|name| part.has(name)) {
            error
                .message
                .push_str(" (parts without it belong to version 1.0, which a request selects with `A2A-Version`)");
        }
    }
    error
}

/// The file of a part.
struct TaggedFile(Part);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object")]
struct TaggedFileFields {
    bytes: Option<Base64Text>,
    uri: Option<Arc<str>>,
    name: Option<Arc<str>>,
    #[serde(alias = "mime_type")]
    mime_type: Option<Arc<str>>,
}

impl<'de> Deserialize<'de> for TaggedFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<TaggedFile, D::Error> {
        let fields = TaggedFileFields::deserialize(deserializer)?;
        let content = match (fields.bytes, present(fields.uri)) {
            (Some(_), Some(_)) => return Err(D::Error::custom("has both `bytes` and `uri`, but only one is allowed")),
            (Some(bytes), None) => Content::Raw(bytes.0),
            (None, Some(uri)) => Content::Url(uri),
            (None, None) => return Err(D::Error::custom(NO_CONTENT)),
        };
        let (filename, media_type) = (present(fields.name), present(fields.mime_type));
        Ok(TaggedFile(Part { filename, media_type, ..Part::new(content) }))
    }
}

/// Writes a part.
pub(super) fn part(part: &Part) -> Data {
    let mut metadata = part.metadata.clone();
    let fields = match &part.content {
        Content::Text(text) => Fields::new().with(&key::KIND, "text").with(&key::TEXT, text),
        Content::Raw(bytes) => {
            Fields::new().with(&key::KIND, "file").with(&key::FILE, file(part, &key::BYTES, bytes.into()))
        }
        Content::Url(uri) => Fields::new().with(&key::KIND, "file").with(&key::FILE, file(part, &key::URI, uri.into())),
        Content::Data(data) => {
            let fields = Fields::new().with(&key::KIND, "data");
            if data.as_dict().is_some() {
                fields.with(&key::DATA, data.clone())
            } else {
                metadata.set(key::DATA_PART_COMPAT.shared(), Data::Bool(true));
                fields.with(&key::DATA, Fields::new().with(&key::VALUE, data.clone()).done())
            }
        }
    };
    fields.with_present(&key::METADATA, metadata).done()
}

fn file(part: &Part, holder: &Key, content: Data) -> Data {
    Fields::new()
        .with(holder, content)
        .with_present(&key::NAME, part.filename.as_ref())
        .with_present(&key::MIME_TYPE, part.media_type.as_ref())
        .done()
}

/// Returns the data and the metadata of a data part. Version 0.3 has objects for data only. Any other value is stored in `value`, and the metadata say so: the SDKs of 1.0 do the
/// same when they speak 0.3.
fn unwrapped(data: Data, mut metadata: Data) -> (Data, Data) {
    let is_wrapped = metadata.get(key::DATA_PART_COMPAT.name).as_bool() == Some(true);
    let value = data.as_dict().and_then(|entries| entries.get(key::VALUE.name));
    let (Some(value), true) = (value, is_wrapped) else { return (data, metadata) };
    let value = value.clone();
    if let Data::Dict(entries) = &mut metadata {
        Arc::make_mut(entries).remove(key::DATA_PART_COMPAT.name);
        if entries.is_empty() {
            metadata = Data::Nil;
        }
    }
    (value, metadata)
}
