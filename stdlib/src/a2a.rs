//! The Agent2Agent protocol, as far as scripts use it: `client` asks other agents. The protocol itself is the crate `a2a`.

pub(crate) mod client;
