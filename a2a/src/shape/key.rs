//! The names of fields, as JSON has them. Texts that are written often are made once.

use std::sync::{Arc, LazyLock};

/// The name of a field.
pub(super) struct Key {
    /// The name as it is written on the wire.
    pub(super) name: &'static str,
    /// The name that the JSON of protocol buffers also accepts, if it differs.
    pub(super) snake: Option<&'static str>,
    shared: LazyLock<Arc<str>>,
}

impl Key {
    /// Returns the name as it is written on the wire.
    pub(super) fn shared(&self) -> Arc<str> {
        self.shared.clone()
    }
}

macro_rules! keys {
    ($($key:ident = $name:literal $(or $snake:literal)?,)+) => {
        $(pub(super) static $key: Key =
            Key { name: $name, snake: keys!(@ $($snake)?), shared: LazyLock::new(|| Arc::from($name)) };)+
    };
    (@ $snake:literal) => { Some($snake) };
    (@) => { None };
}

keys! {
    ACCEPTED_OUTPUT_MODES = "acceptedOutputModes" or "accepted_output_modes",
    APPEND = "append",
    ARTIFACT = "artifact",
    ARTIFACT_ID = "artifactId" or "artifact_id",
    ARTIFACT_UPDATE = "artifactUpdate" or "artifact_update",
    ARTIFACTS = "artifacts",
    BLOCKING = "blocking",
    BYTES = "bytes",
    CONFIGURATION = "configuration",
    CONTEXT_ID = "contextId" or "context_id",
    DATA = "data",
    DATA_PART_COMPAT = "data_part_compat",
    DESCRIPTION = "description",
    EXTENSIONS = "extensions",
    FILE = "file",
    FILENAME = "filename",
    FINAL = "final",
    HISTORY = "history",
    HISTORY_LENGTH = "historyLength" or "history_length",
    ID = "id",
    INCLUDE_ARTIFACTS = "includeArtifacts" or "include_artifacts",
    KIND = "kind",
    LAST_CHUNK = "lastChunk" or "last_chunk",
    MEDIA_TYPE = "mediaType" or "media_type",
    MESSAGE = "message",
    MESSAGE_ID = "messageId" or "message_id",
    METADATA = "metadata",
    MIME_TYPE = "mimeType" or "mime_type",
    NAME = "name",
    NEXT_PAGE_TOKEN = "nextPageToken" or "next_page_token",
    PAGE_SIZE = "pageSize" or "page_size",
    PAGE_TOKEN = "pageToken" or "page_token",
    PARTS = "parts",
    PUSH_NOTIFICATION_CONFIG = "pushNotificationConfig" or "push_notification_config",
    RAW = "raw",
    REFERENCE_TASK_IDS = "referenceTaskIds" or "reference_task_ids",
    RETURN_IMMEDIATELY = "returnImmediately" or "return_immediately",
    ROLE = "role",
    STATE = "state",
    STATUS = "status",
    STATUS_TIMESTAMP_AFTER = "statusTimestampAfter" or "status_timestamp_after",
    STATUS_UPDATE = "statusUpdate" or "status_update",
    TASK = "task",
    TASK_ID = "taskId" or "task_id",
    TASK_PUSH_NOTIFICATION_CONFIG = "taskPushNotificationConfig" or "task_push_notification_config",
    TASKS = "tasks",
    TEXT = "text",
    TIMESTAMP = "timestamp",
    TOTAL_SIZE = "totalSize" or "total_size",
    URI = "uri",
    URL = "url",
    VALUE = "value",
}
