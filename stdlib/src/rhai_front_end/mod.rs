//! Rhai as a second language: `.rhai` files call the same builtins, and the core calls their closures.
//!
//! - [`RhaiFrontEnd`]: a Rhai engine with what it may reach. One is made for a run on its first `.rhai` file, others for packs:
//!   [`FrontEndConfig`] say which rows of the table of builtins it offers, what a script may use up, and what else it knows.
//! - [`RhaiScript`]: a parsed file. [`RhaiFrontEnd::pipeline`] makes a function of the run of it.
//! - `value`: values of the language that Rhai has no type for, as one opaque type. `convert`: all others, both ways.
//! - `function`: closures of Rhai as functions of the run; `once`: what runs once. `offer`, `method`, `member`: the table of builtins as functions,
//!   methods and properties of Rhai; `task`: syntax as functions; `shadow`, `size`, `sorting`: what of Rhai's own library is replaced.
//!   `import`: files that import one another.
//! - [`Session`]: pieces of a REPL that share their names. [`rhai_definitions`]: definition files
//!   for editors.
//! - `errors`: errors of one language in the other. `check`: what is certain to fail, before it runs.
//!
//! # How a call goes
//!
//! Rhai runs on a stack of its own ([`lang::vm::begin`]). A builtin called from it is a call of the
//! table's row on a fiber ([`lang::vm::call`]): capabilities, arity, cancellation and mocked time
//! are those of the run, and if the row must wait, the stack is suspended. [`lang::vm::tick`] is
//! called for every operation: it counts fuel, checks memory, time and the space on the stack, and
//! yields to other tasks. A closure that is converted for the run becomes a callable host value;
//! each call of it begins on a stack of its own in the same way. So nothing waits on the thread's
//! stack, and a hook that sleeps in a loop that a script waits for is not a special case.
//!
//! # A sandbox
//!
//! Packs of reminder providers have engines of their own, which offer less and share nothing with the run: [`packs`].

mod check;
mod config;
mod convert;
mod definitions;
mod errors;
mod front_end;
mod function;
mod import;
mod member;
mod method;
mod offer;
mod once;
pub(crate) mod packs;
mod public_entries;
mod script;
mod session;
mod shadow;
mod size;
mod sorting;
mod task;
mod value;

pub(crate) use check::check;
pub(crate) use config::FrontEndConfig;
pub use definitions::rhai_definitions;
pub(crate) use front_end::RhaiFrontEnd;
pub(crate) use script::Constants;
pub(crate) use session::{Session, Unread, builtins as names_of_builtins};

/// The ending of files in Rhai.
pub(crate) const ENDING: &str = ".rhai";

/// Returns whether a source is written in Rhai: its name says it.
#[must_use]
pub fn is_rhai(source: &lang::source::SourceRef) -> bool {
    source.name().ends_with(ENDING)
}
