//! Options of tasks: what a script shows to the user, and what it reports.

use super::{Entries, Flag, Raw, Text};
use crate::hosting::{Priority, Progress};

options! {
    /// The contents of an artifact.
    ArtifactContents {
        parts: Raw as "list<string | MessagePart>" = (required), "The parts: texts, data and files.";
        id: Text, "Id by which later parts are added.";
        description: Text, "Description of the artifact.";
        append: Flag = (shown "false"), "Add the parts to those that were sent.";
        last_chunk: Flag, "Whether no further parts follow. Default: unless `append` is given.";
        metadata: Entries = (shown "{}"), "Any data.";
    }

    /// Something made for the user.
    ArtifactOptions = "TaskArtifact" (contents: ArtifactContents) {
        name: Text = required, "The name of the artifact.";
    }
}

#[cfg(feature = "hub")]
options! {
    /// An artifact of a task of a hub.
    HubArtifactOptions = "HubArtifact" (contents: ArtifactContents) {
        name: Text, "The name of the artifact.";
    }
}

lang::option_tables! {
    /// An entry of a plan.
    pub(crate) PLAN_ENTRY: "PlanEntry" {
        content: "string" = required, "The text of the entry.";
        priority: (Priority::TYPE) = "medium", "The priority of the entry.";
        status: (Progress::TYPE) = "pending", "The state of the entry.";
    }

    /// A part of a message or an artifact: one of `text`, `data` and `file`.
    pub(crate) MESSAGE_PART: "MessagePart" {
        text: "string", "A text.";
        data: "any", "Data.";
        file: "FilePart", "A file.";
    }

    /// A file in a message or an artifact, with its content or its address.
    pub(crate) FILE_PART: "FilePart" {
        name: "string", "The name of the file.";
        mime_type: "string", "The media type.";
        bytes: "string", "The content, in base64.";
        uri: "string", "The address, in place of the content.";
    }

    /// A message to another agent.
    pub(crate) PEER_MESSAGE: "PeerMessage" {
        parts: "list<string | MessagePart>" = required, "The parts: texts, data and files.";
        metadata: "dict" = {}, "Any data.";
    }

    /// The progress of a task.
    pub(crate) PARTIAL_RESULT: "PartialResult" {
        completed_portion: "portion", "The completed share, from 0 to 1.";
        data: "any", "Any data.";
        can_resume: "bool", "Whether the task can be resumed.";
        resume_token: "string", "Token by which the task is resumed.";
    }
}
