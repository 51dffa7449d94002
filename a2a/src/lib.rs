//! The Agent2Agent protocol without a transport: one model, with the shapes of version 1.0, and its spelling in each version.
//! Servers and clients use the same.
//!
//! - [`model`]: tasks, messages, parts, artifacts, and the frames of a stream.
//! - [`base64`]: the encoding of files.
//! - [`request`]: the parameters of requests.
//! - [`peer_task`]: tasks of peers, linked to local tasks.
//! - [`shape`]: the spelling of each [`Version`], read and written. [`ShapeError`]: a field that does not fit.

pub mod base64;
pub mod model;
pub mod peer_task;
pub mod request;
pub mod shape;

pub use model::{Artifact, ArtifactUpdate, Content, Frame, Message, Part, Role, Status, StatusUpdate, Task, TaskState};
pub use request::{Configuration, GetTask, ListTasks, SendMessage, TaskPage};
pub use shape::{ShapeError, Version};
