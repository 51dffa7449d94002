//! [`TaskUpdate`]: what a script tells the person that it works for, besides what its loops show.

use base::data::Data;
use base::words::words;
use runtime::reminder::bridge::RemindPayload;
use std::sync::Arc;

/// A message of a script to the user.
#[derive(Clone, Debug, PartialEq)]
pub enum TaskUpdate {
    /// A status.
    Status {
        /// The text.
        text: Arc<str>,
        /// The progress: a dict of `completed_portion`, `data`, `can_resume` and `resume_token`, as
        /// far as the script sets them; else nil.
        partial: Data,
    },
    /// The title of its work.
    Title(Arc<str>),
    /// Its plan; each plan replaces the last.
    Plan(Vec<PlanEntry>),
    /// The session has another mode.
    Mode(Arc<str>),
    /// An artifact, or more of it.
    Artifact(TaskArtifact),
    /// A reminder for the client's agent.
    Remind(Box<RemindPayload>),
}

/// An artifact for the user, or more of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TaskArtifact {
    /// Its name.
    pub name: Arc<str>,
    /// Its content, or the continuation of it.
    pub parts: Vec<Part>,
    /// Its id; the name if the script does not set one.
    pub id: Option<Arc<str>>,
    /// Its description.
    pub description: Option<Arc<str>>,
    /// Whether the parts come behind those that it has; else they take their place.
    pub append: bool,
    /// Whether nothing more comes of it.
    pub last_chunk: bool,
    /// A dict, or nil.
    pub metadata: Data,
}

/// A piece of an artifact or of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// Text.
    Text(Arc<str>),
    /// Data.
    Data(Data),
    /// A file.
    File {
        /// Its name.
        name: Option<Arc<str>>,
        /// Its media type.
        mime_type: Option<Arc<str>>,
        /// Its content in base64, or nothing where `uri` says where it is.
        bytes: Option<Arc<str>>,
        /// Its location.
        uri: Option<Arc<str>>,
    },
}

/// One thing that the agent means to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanEntry {
    /// The text of the entry.
    pub content: Arc<str>,
    /// The priority.
    pub priority: Priority,
    /// The status.
    pub status: Progress,
}

words! {
    /// The priority of a plan's entry.
    pub enum Priority {
        /// Much.
        High = "high",
        /// The default.
        Medium = "medium",
        /// Little.
        Low = "low",
    }
}

words! {
    /// The status of a plan's entry.
    pub enum Progress {
        /// The entry is not started.
        Pending = "pending",
        /// Begun.
        InProgress = "in_progress",
        /// Done.
        Completed = "completed",
    }
}

impl TaskUpdate {
    /// Returns the message as lines of text, for a run that is not served.
    pub(crate) fn to_text(&self) -> String {
        match self {
            Self::Status { text, partial } => format!("{text}{}\n{}", portion(partial), data_of(partial)),
            Self::Title(title) => format!("# {title}\n"),
            Self::Mode(mode) => format!("({mode})\n"),
            Self::Plan(entries) => entries.iter().map(line).collect(),
            Self::Remind(payload) => format!("reminder: {}\n", payload.spec.body),
            Self::Artifact(TaskArtifact { name, parts, description, append, .. }) => {
                let parts: String = parts.iter().map(Part::to_text).collect();
                let about = description.iter().map(|text| format!(" {text}"));
                let more = if *append { " (more)" } else { "" };
                format!("{name}{more}:{}\n{parts}", about.collect::<String>())
            }
        }
    }
}

/// Returns the completed portion, to follow the status text.
fn portion(partial: &Data) -> String {
    let done = partial.get("completed_portion").as_float();
    done.map(|done| format!(" ({:.0} %)", done * 100.0)).unwrap_or_default()
}

fn data_of(partial: &Data) -> String {
    match partial.get("data") {
        Data::Nil => String::new(),
        data => format!("{}\n", data.to_json_pretty()),
    }
}

fn line(entry: &PlanEntry) -> String {
    let mark = match entry.status {
        Progress::Pending => ' ',
        Progress::InProgress => '~',
        Progress::Completed => 'x',
    };
    format!("[{mark}] {}\n", entry.content)
}

impl Part {
    fn to_text(&self) -> String {
        match self {
            Self::Text(text) => format!("{text}\n"),
            Self::Data(data) => format!("{}\n", data.to_json_pretty()),
            Self::File { name, mime_type, bytes, uri } => {
                let about = [name, mime_type, uri].into_iter().flatten().map(ToString::to_string);
                let size = bytes.as_ref().map(|bytes| format!("{} bytes", bytes.trim_end_matches('=').len() * 3 / 4));
                format!("({})\n", about.chain(size).collect::<Vec<_>>().join(", "))
            }
        }
    }
}
