//! A broker for tasks between agents.
//!
//! | module | content |
//! |---|---|
//! | [`broker`] | the state machine, without I/O |
//! | [`proto`] | the messages and services of the wire |
//! | [`store`] | stores of its changes |
//!
//! [`Hub`] is the broker for many threads: it executes commands, stores their changes and delivers events.

pub mod broker;
mod front;
pub mod proto;
pub mod store;

pub use front::{Delivery, EventSubscription, Hub, HubClock, SubscribeRequest, SubscriptionEnd, SubscriptionKind};
