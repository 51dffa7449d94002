//! [`Said`]: what a script tells the person that it works for, besides what its loops show.

use runtime::data::Data;
use runtime::words::words;
use std::sync::Arc;

/// What a script tells the person that it works for.
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    /// What it is at.
    Status {
        /// In words.
        text: Arc<str>,
        /// How far it has come: a dict of `completed_portion`, `data`, `can_resume` and `resume_token`, as far as the script
        /// says; else nil.
        partial: Data,
    },
    /// What its work is called.
    Title(Arc<str>),
    /// What it means to do; each plan takes the place of the last.
    Plan(Vec<PlanEntry>),
    /// The session has another mode.
    Mode(Arc<str>),
    /// Something made for the person, or more of it.
    Artifact(Made),
}

/// Something made for the person, or more of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Made {
    /// What it is called.
    pub name: Arc<str>,
    /// What it holds, or what comes behind that.
    pub parts: Vec<Part>,
    /// What it is known by; its name where the script does not say.
    pub id: Option<Arc<str>>,
    /// What it is.
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
            Self::Status { text, partial } => format!("{text}{}\n{}", portion(partial), data_of(partial)),
            Self::Title(title) => format!("# {title}\n"),
            Self::Mode(mode) => format!("({mode})\n"),
            Self::Plan(entries) => entries.iter().map(line).collect(),
            Self::Artifact(Made { name, parts, description, append, .. }) => {
                let parts: String = parts.iter().map(Part::to_text).collect();
                let about = description.iter().map(|text| format!(" {text}"));
                let more = if *append { " (more)" } else { "" };
                format!("{name}{more}:{}\n{parts}", about.collect::<String>())
            }
        }
    }
}

/// How much is done, behind what is said of it.
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
