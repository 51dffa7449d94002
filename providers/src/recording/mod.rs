//! Recordings: a run's requests to models and their answers, as a folder of files that a person can read.
//!
//! ```text
//! tape.json                 which script, which seed, when it began
//! routes.json               which model each choice of provider and model came to
//! calls/main-0001.json      the first call of the main line of work: request, pieces, outcome, how long it took
//! calls/main.each1.0-0001.json
//! end.json                  how many calls there are; missing where the run did not come to its end
//! ```
//!
//! A call is named by the line of work that made it and its place among the calls of that line, never by the order in which
//! answers came. A call's file is written when the call is over, under another name first, so a crash loses at most the calls
//! in flight. Of a long conversation each file holds only what the call before it in its line did not send.
//!
//! | offers | for |
//! |---|---|
//! | [`Recorder`] | writing a recording |
//! | [`Recording`] | reading one |
//! | [`Manifest`], [`RecordedRoute`] | the run, and the routes it found |
//! | [`RecordedRequest`], [`LastRequest`] | a request in no vendor's shape, and what a line of work sent before it |
//! | [`CallOutcome`], [`RecordedPiece`] | what came back |
//! | [`difference`] | what is not the same in two requests |
//! | [`RecordingError`] | what is wrong with a folder |

mod call;
mod difference;
mod document;
mod error;
mod manifest;
mod outcome;
mod piece;
mod recorder;
mod replay;
mod request;
mod route;
mod secrets;

pub use call::RecordedCall;
pub use difference::difference;
pub use document::digest_of;
pub use error::RecordingError;
pub use manifest::Manifest;
pub use outcome::CallOutcome;
pub use piece::{RecordedPiece, TimedPiece};
pub use recorder::{BegunCall, CallResult, Recorder};
pub use replay::{MissingAnswer, Recording};
pub use request::{LastRequest, RecordedRequest};
pub use route::RecordedRoute;
pub use secrets::Secrets;

/// The version of the format that is written, and the newest that can be read.
pub const VERSION: i64 = 1;

#[cfg(test)]
mod tests;
