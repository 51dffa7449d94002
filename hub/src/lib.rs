//! A broker for tasks between agents.
//!
//! | module | content |
//! |---|---|
//! | [`proto`] | the messages and services of the wire |

pub mod proto;
