//! The Agent2Agent protocol, as far as scripts use it: `client` asks other agents, `linked`
//! remembers which of their tasks belong to local ones. The protocol itself is the crate `a2a`.

pub(crate) mod client;
pub(crate) mod linked;
pub(crate) mod reconcile;
