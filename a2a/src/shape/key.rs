//! The names of fields that are written. Each is allocated once.

use std::sync::{Arc, LazyLock};

/// The name of a field.
pub(super) struct Key {
    /// The name as it is written on the wire.
    pub(super) name: &'static str,
    shared: LazyLock<Arc<str>>,
}

impl Key {
    /// Returns the name as it is written on the wire.
    pub(super) fn shared(&self) -> Arc<str> {
        self.shared.clone()
    }
}

macro_rules! keys {
    ($($key:ident = $name:literal,)+) => {
        $(pub(super) static $key: Key = Key { name: $name, shared: LazyLock::new(|| Arc::from($name)) };)+
    };
}

keys! {
    ACCEPTED_OUTPUT_MODES = "acceptedOutputModes",
    APPEND = "append",
    ARTIFACT = "artifact",
    ARTIFACT_ID = "artifactId",
    ARTIFACT_UPDATE = "artifactUpdate",
    ARTIFACTS = "artifacts",
    BLOCKING = "blocking",
    BYTES = "bytes",
    CONFIGURATION = "configuration",
    CONTEXT_ID = "contextId",
    DATA = "data",
    DATA_PART_COMPAT = "data_part_compat",
    DESCRIPTION = "description",
    EXTENSIONS = "extensions",
    FILE = "file",
    FILENAME = "filename",
    FINAL = "final",
    HISTORY = "history",
    HISTORY_LENGTH = "historyLength",
    ID = "id",
    KIND = "kind",
    LAST_CHUNK = "lastChunk",
    MEDIA_TYPE = "mediaType",
    MESSAGE = "message",
    MESSAGE_ID = "messageId",
    METADATA = "metadata",
    MIME_TYPE = "mimeType",
    NAME = "name",
    NEXT_PAGE_TOKEN = "nextPageToken",
    PAGE_SIZE = "pageSize",
    PARTS = "parts",
    RAW = "raw",
    REFERENCE_TASK_IDS = "referenceTaskIds",
    RETURN_IMMEDIATELY = "returnImmediately",
    ROLE = "role",
    STATE = "state",
    STATUS = "status",
    STATUS_UPDATE = "statusUpdate",
    TASK = "task",
    TASK_ID = "taskId",
    TASKS = "tasks",
    TEXT = "text",
    TIMESTAMP = "timestamp",
    TOTAL_SIZE = "totalSize",
    URI = "uri",
    URL = "url",
    VALUE = "value",
}
