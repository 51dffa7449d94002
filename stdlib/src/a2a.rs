//! What agents say to each other in the Agent2Agent protocol: one model, as version 1.0 has it, and its spelling in each
//! version. Whoever serves it and whoever calls it use the same.
//!
//! - `client`: asking other agents.
//! - [`model`]: tasks, messages, parts, artifacts, and what a stream tells of them.
//! - `base64`: what files are written in.
//! - [`request`]: what a caller asks for.
//! - [`shape`]: the spelling of each [`Version`], read and written. [`Misfit`]: what does not fit.

pub(crate) mod base64;
pub(crate) mod client;
pub mod model;
pub mod request;
pub mod shape;

pub use model::{Artifact, ArtifactUpdate, Content, Frame, Message, Part, Role, Status, StatusUpdate, Task, TaskState};
pub use request::{Configuration, GetTask, ListTasks, SendMessage, TaskPage};
pub use shape::{Misfit, Version};
