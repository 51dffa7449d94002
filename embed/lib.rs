//! harn in a Rust program: an [`Engine`] runs scripts, calls their functions, and lets them call yours.
//!
//! ```
//! use harn::Engine;
//!
//! let engine = Engine::new();
//! engine.register("area", |width: f64, height: f64| width * height)?;
//! engine.run("fn describe(w, h) { return \"${area(w, h)} m²\" }")?;
//! let text: String = engine.call("describe", (2.5, 4.0))?;
//! assert_eq!(text, "10.0 m²");
//! # Ok::<(), harn::Error>(())
//! ```
//!
//! `docs/guide/embedding.md` shows structs, agents, reminders and limits.

mod builder;
mod convert;
mod engine;
mod error;
mod function;

pub use builder::EngineBuilder;
pub use convert::{ConversionError, FromValue, IntoArgs, IntoValue, from_value, into_value};
pub use engine::Engine;
pub use error::Error;
pub use function::{Function, IntoOutcome};

pub use lang::value::Value;
pub use serde_json::json;
pub use stdlib::Counted as CountingAllocator;
pub use stdlib::{Capability, Captured, Diagnostic, Output, Severity};

/// The pages of the guide whose programs are run as tests.
#[cfg(doctest)]
#[doc = include_str!("../docs/guide/embedding.md")]
mod guide {}
