//! Errors of a recording.

use super::VERSION;
use std::path::{Path, PathBuf};

/// The reason why a recording cannot be written or read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecordingError {
    /// The folder for a new recording holds something.
    #[error("cannot record into {}: the folder is not empty", .0.display())]
    NotEmpty(PathBuf),
    /// The folder is not empty: it contains a recording.
    #[error("cannot record into {}: it already contains a recording", .0.display())]
    Recorded(PathBuf),
    /// A file or folder cannot be written.
    #[error("cannot write {}: {why}", path.display())]
    Unwritten {
        /// The file.
        path: PathBuf,
        /// The operating system's message.
        why: String,
    },
    /// The folder does not exist, or is not a recording.
    #[error("{} is not a recording: {why}", path.display())]
    NotRecording {
        /// The folder.
        path: PathBuf,
        /// The missing part.
        why: String,
    },
    /// It was written by a later version.
    #[error("the recording {} has version {found}; this harn reads versions up to {VERSION}", path.display())]
    Newer {
        /// The folder.
        path: PathBuf,
        /// Its version.
        found: i64,
    },
    /// A file of it cannot be read as what it should be.
    #[error("the recording is damaged: {}: {why}", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// The problem.
        why: String,
    },
    /// A file of it was changed after it was written.
    #[error("{} was edited after it was recorded", .0.display())]
    Edited(PathBuf),
}

impl RecordingError {
    pub(super) fn unwritten(path: &Path, error: &std::io::Error) -> RecordingError {
        RecordingError::Unwritten { path: path.to_owned(), why: error.to_string() }
    }

    pub(super) fn broken(path: &Path, why: impl Into<String>) -> RecordingError {
        RecordingError::Broken { path: path.to_owned(), why: why.into() }
    }

    /// Returns the way to fix it.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            RecordingError::NotEmpty(_) => "use a new or empty folder".to_owned(),
            RecordingError::Recorded(path) => {
                let path = path.display();
                format!("use another folder, remove this one first, or replay it: `harn run --replay {path} SCRIPT`")
            }
            RecordingError::Unwritten { .. } => {
                "check the permissions of the folder and the free space on the disk".to_owned()
            }
            RecordingError::NotRecording { .. } => {
                "a recording is a folder that `harn run --record DIR SCRIPT` wrote".to_owned()
            }
            RecordingError::Newer { .. } => "replay it with the version that wrote it, or record it again".to_owned(),
            RecordingError::Broken { .. } => "record it again with `--record`".to_owned(),
            RecordingError::Edited(_) => {
                "record it again with `--record`; to replay the edited file, remove its `digest` entry".to_owned()
            }
        }
    }
}
