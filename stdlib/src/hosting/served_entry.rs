//! [`ServedEntry`]: a public function of a script, which a host calls by itself.

use base::data::Data;
use std::sync::Arc;

/// A public function of a script.
#[derive(Debug, Clone, PartialEq)]
pub struct ServedEntry {
    /// The purpose.
    pub kind: ServedKind,
    /// The name.
    pub name: Arc<str>,
    /// The description; may be empty.
    pub description: Arc<str>,
    /// The JSON Schema of the arguments: an object.
    pub parameters: Data,
    /// The JSON Schema of the result; nil if nothing is known about it.
    pub returns: Data,
}

/// The purpose of a public function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServedKind {
    /// It is called.
    Tool,
    /// It returns content at a URI.
    Resource {
        /// The URI, with `{name}` for each argument.
        uri: Arc<str>,
        /// The media type.
        mime_type: Option<Arc<str>>,
    },
    /// It returns a message for a model.
    Prompt,
}
