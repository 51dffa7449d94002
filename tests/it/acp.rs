//! `harn serve acp`, driven as an editor does it. Whatever the process sends in any of these is held against the schemas of the
//! protocol ([`schema`]) and ours ([`ours`]).
//!
//! - [`broken`]: that the check of frames can fail.

mod broken;
mod ours;
mod schema;
