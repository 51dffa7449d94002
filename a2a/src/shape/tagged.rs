//! Parts of 0.3, which say by `kind` what they are.

use runtime::data::Data;

use super::ShapeError;
use super::fields::Fields;
use super::key::{self, Key};
use super::object::Object;
use crate::{Content, Part, base64};

/// Reads a part.
pub(super) fn read_part(part: &Object<'_>) -> Result<Part, ShapeError> {
    let metadata = part.dict(&key::METADATA)?;
    let kind = part.word(&key::KIND, &["text", "file", "data"], |data| match data.as_str()? {
        "text" => Some(PartKind::Text),
        "file" => Some(PartKind::File),
        "data" => Some(PartKind::Data),
        _ => None,
    })?;
    match kind {
        None => Err(untagged(part)),
        Some(PartKind::Text) => {
            let text = part.any_text(&key::TEXT)?.ok_or_else(|| part.missing(&key::TEXT))?;
            Ok(Part { metadata, ..Part::text(text) })
        }
        Some(PartKind::File) => Ok(Part { metadata, ..part.needed_object(&key::FILE, read_file)? }),
        Some(PartKind::Data) => {
            let data = part.dict(&key::DATA)?;
            if data.is_nil() {
                return Err(part.missing(&key::DATA));
            }
            let (data, metadata) = unwrapped(data, metadata);
            Ok(Part { metadata, ..Part::data(data) })
        }
    }
}

enum PartKind {
    Text,
    File,
    Data,
}

fn untagged(part: &Object<'_>) -> ShapeError {
    let mut shape_error = part.missing(&key::KIND);
    if shape_error.suggestion.is_none() {
        shape_error.message.push_str(": a part is `text`, `file` or `data`");
        if [&key::TEXT, &key::RAW, &key::URL, &key::DATA].iter().any(|key| part.has(key)) {
            shape_error
                .message
                .push_str(" (parts without it belong to version 1.0, which a request selects with `A2A-Version`)");
        }
    }
    shape_error
}

fn read_file(file: &Object<'_>) -> Result<Part, ShapeError> {
    let content = match (file.any_text(&key::BYTES)?, file.text(&key::URI)?) {
        (Some(_), Some(_)) => return Err(file.shape_error("has both `bytes` and `uri`, but only one is allowed")),
        (Some(bytes), None) => {
            Content::Raw(base64::plain(bytes).ok_or_else(|| file.wrong(&key::BYTES, "must be base64"))?)
        }
        (None, Some(uri)) => Content::Url(uri),
        (None, None) => {
            let shape_error = file.missing(&key::URI);
            return Err(if shape_error.suggestion.is_some() {
                shape_error
            } else {
                file.shape_error("needs `bytes` or `uri`")
            });
        }
    };
    let (filename, media_type) = (file.text(&key::NAME)?, file.text(&key::MIME_TYPE)?);
    Ok(Part { filename, media_type, ..Part::new(content) })
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

/// Version 0.3 has objects for data only. Any other value is stored in `value`, and the metadata say so: the SDKs of 1.0 do the
/// same when they speak 0.3.
fn unwrapped(data: Data, mut metadata: Data) -> (Data, Data) {
    let is_wrapped = metadata.get(key::DATA_PART_COMPAT.name).as_bool() == Some(true);
    let value = data.as_dict().and_then(|entries| entries.get(key::VALUE.name));
    let (Some(value), true) = (value, is_wrapped) else { return (data, metadata) };
    let value = value.clone();
    if let Data::Dict(entries) = &mut metadata {
        std::sync::Arc::make_mut(entries).remove(key::DATA_PART_COMPAT.name);
        if entries.is_empty() {
            metadata = Data::Nil;
        }
    }
    (value, metadata)
}
