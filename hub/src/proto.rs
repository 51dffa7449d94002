//! The messages and services of `proto/`.
//!
//! | module | package | content |
//! |---|---|---|
//! | [`a2a`] | `a2a` | tasks, messages, artifacts and cards |
//! | [`agenthub`] | `agenthub` | the published service |
//! | [`worker`] | `harn.hub.v1` | claims, leases, progress, acknowledgement and dead letters |

// `tests/generated.rs` makes the code, so that a build needs no compiler of protos. The generator copies the comments of the protos, and generates more than they describe.
#![allow(missing_docs, clippy::all, clippy::pedantic, clippy::restriction, unreachable_pub)]

pub mod a2a {
    include!("../proto/generated/a2a.rs");
}

pub mod agenthub {
    include!("../proto/generated/agenthub.rs");
}

pub use harn::hub::v1 as worker;

/// The generated code of a package names those of others by its depth.
mod harn {
    pub(super) mod hub {
        pub mod v1 {
            include!("../proto/generated/harn.hub.v1.rs");
        }
    }
}
