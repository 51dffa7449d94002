//! What every adapter shares: requests of clients go into a log as actions, and clients see the log, read forward.
//!
//! - [`GatewayLog`]: the log of a gateway, whatever stores it.

mod log;

pub(crate) use log::{GatewayLog, each, head};
