//! `harn serve a2a`, driven as its callers do it. Whatever the process answers in any of these is held against the types of the
//! protocol's SDKs ([`strict`]) and our schemas ([`ours`]); [`wire`] says which answer has to be of which.
//!
//! - [`broken`]: that these checks can fail.
//! - [`shapes`]: values of the model through the types of the SDKs and back.
//! - [`sdk`]: the clients of the protocol's own SDKs, in Python and Node.
//! - [`cards`]: the card by version and extension. [`places`]: how many there may be of something.
//! - [`page`]: the requests that the reference shows.
//! - [`bad_input`]: what no client should send. [`flood`]: too much of what it may.
//! - [`lifetime`]: how a process ends. [`failures`]: what a caller learns of a failed task.
//! - [`operated`]: metrics, drain and log lines. [`traced`]: traces of tasks.
//! - [`closing`]: the message with which a task ends.
//! - [`messages`]: an agent that answers with messages in place of tasks.
//! - [`kept`]: tasks over two processes.
//! - [`client`]: scripts that ask other agents, of all versions and all kinds of trouble.
//! - [`example`]: the guide's agents.
//!
//! [`server`] starts one, [`http`] speaks with it byte by byte.

// What `json!` makes is given away.
#![allow(clippy::needless_pass_by_value)]

mod bad_input;
mod broken;
mod cards;
pub(crate) mod client;
mod closing;
mod example;
mod failures;
mod flood;
mod http;
mod kept;
mod lifetime;
mod messages;
mod operated;
mod ours;
mod page;
mod places;
mod sdk;
mod server;
mod shapes;
mod strict;
mod traced;
mod wire;
