//! A broker for tasks between agents.
//!
//! | module | content |
//! |---|---|
//! | [`broker`] | the state machine, without I/O |
//! | [`grpc`] | the gRPC services |
//! | [`proto`] | the messages and services of the wire |
//! | [`store`] | stores of its changes |
//!
//! [`Hub`] is the broker for many threads: it executes commands, stores their changes and delivers events. [`hub_card`]
//! is its card.

pub mod broker;
mod card;
mod front;
pub mod grpc;
pub mod proto;
pub mod store;

pub use card::hub_card;
pub use front::{
    ChangeObserver, Delivery, DeliveryOrder, EventSubscription, FollowEnd, FollowerPlace, Hub, HubClock, StoreStats,
    SubscribeRequest, SubscriptionEnd, SubscriptionKind, TaskFollower, TimeSource,
};
