//! [`Said`]: what a script tells the person that it works for, besides what its loops show.

use runtime::words::words;
use std::sync::Arc;

/// What a script tells the person that it works for.
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    /// What it is at.
    Status(Arc<str>),
    /// What its work is called.
    Title(Arc<str>),
    /// What it means to do; each plan takes the place of the last.
    Plan(Vec<PlanEntry>),
    /// The session has another mode.
    Mode(Arc<str>),
    /// Something made for the person.
    Artifact {
        /// What it is called.
        name: Arc<str>,
        /// What it holds.
        parts: Vec<Part>,
    },
}

/// A piece of an artifact or of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// Text.
    Text(Arc<str>),
    /// Data.
    Data(runtime::data::Data),
    /// A file.
    File {
        /// What it is called.
        name: Option<Arc<str>>,
        /// Its media type.
        mime_type: Option<Arc<str>>,
        /// Its content in base64, or nothing where `uri` says where it is.
        bytes: Option<Arc<str>>,
        /// Where it is.
        uri: Option<Arc<str>>,
    },
}

/// One thing that the agent means to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanEntry {
    /// What.
    pub content: Arc<str>,
    /// How much it matters.
    pub priority: Priority,
    /// How far it has come.
    pub status: Progress,
}

words! {
    /// How much an entry of a plan matters.
    pub enum Priority {
        /// Much.
        High = "high",
        /// As usual.
        Medium = "medium",
        /// Little.
        Low = "low",
    }
}

words! {
    /// How far an entry of a plan has come.
    pub enum Progress {
        /// Not begun.
        Pending = "pending",
        /// Begun.
        InProgress = "in_progress",
        /// Done.
        Completed = "completed",
    }
}

impl Said {
    /// As lines of text, for a run that nobody serves.
    pub(crate) fn to_text(&self) -> String {
        match self {
            Self::Status(text) => format!("{text}\n"),
            Self::Title(title) => format!("# {title}\n"),
            Self::Mode(mode) => format!("({mode})\n"),
            Self::Plan(entries) => entries.iter().map(line).collect(),
            Self::Artifact { name, parts } => {
                let parts: String = parts.iter().map(Part::to_text).collect();
                format!("{name}:\n{parts}")
            }
        }
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
