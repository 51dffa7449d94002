//! Workers: loops that work for another one. A worker has a session of its own below its parent's, inherits reminders
//! when it begins, and emits events that handlers observe.
//!
//! ```text
//! running → completed | failed | cancelled
//!    ↕ suspended (at the start of an iteration; the state that the loop needs to go on is plain data)
//! ```
//!
//! | module | offers |
//! |---|---|
//! | [`status`] | the states and their transitions |
//! | [`propagation`] | reminders that a child inherits |
//! | [`worker`] | a worker: its parts and its result |
//! | [`directory`] | all workers of a run |
//! | [`events`] | events of a worker |
//! | [`work`](mod@work) | from the first step to the last |
//! | [`suspend`] | suspension |
//! | [`resume`](mod@resume) | resuming, or restarting with a digest |
//! | [`steer`] | sending input to a worker, closing it |
//! | [`error`] | errors |

pub mod directory;
pub mod error;
pub mod events;
pub mod propagation;
pub mod resume;
pub mod status;
pub mod steer;
pub mod suspend;
pub mod work;
pub mod worker;

pub use directory::Workers;
pub use error::WorkerError;
pub use resume::{Resumption, resume};
pub use status::WorkerStatus;
pub use steer::{GiveError, InputOutcome, close, give};
pub use work::{begin, work};
pub use worker::Worker;
