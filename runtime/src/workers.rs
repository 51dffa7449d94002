//! Workers: loops that work for another one. A worker has a session of its own below its parent's, inherits reminders when
//! it begins, and is told of by events that handlers observe.
//!
//! ```text
//! running → completed | failed | cancelled
//!    ↕ suspended (at the border of an iteration; what the loop needs to go on is plain data)
//! ```
//!
//! | module | offers |
//! |---|---|
//! | [`status`] | the states and which may follow which |
//! | [`propagation`] | what a child inherits |
//! | [`worker`] | a worker: what it is made of, what it came to |
//! | [`directory`] | all workers of a run |
//! | [`events`] | telling of a worker |
//! | [`work`] | from the first step to the last |
//! | [`suspend`] | being suspended |
//! | [`resume`] | going on, or beginning anew with a digest |
//! | [`snapshot`] | a suspended worker as a file |
//! | [`steer`] | giving a worker something to read, closing it |
//! | [`error`] | what can go wrong |

pub mod directory;
pub mod error;
pub mod events;
pub mod propagation;
pub mod resume;
pub mod snapshot;
pub mod status;
pub mod steer;
pub mod suspend;
pub mod work;
pub mod worker;

pub use directory::Workers;
pub use error::WorkerError;
pub use resume::{Resumption, resume};
pub use snapshot::{Snapshot, SnapshotError};
pub use status::{WorkerMode, WorkerStatus};
pub use steer::{GiveError, Given, close, give};
pub use work::{begin, work};
pub use worker::{Suspension, Worker};
