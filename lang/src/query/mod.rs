//! Answers to questions about a position or a name of a file, for editors. Nothing here runs when a script does.
//!
//! - [`occurrences`]: every name of a file and what it means.
//! - [`visible`]: the bindings that a position can use.
//! - [`members_between`], [`members`], [`static_members`]: what can follow a dot.
//! - [`declaration`]: declarations by their names, with their heads as text.
//! - [`Cursor`]: the brackets around a position, read from tokens alone, so that the text need not parse.

mod cursor;
pub mod declaration;
mod members;
mod named_type;
mod occurrence;
mod scope;

pub use cursor::{Callee, Cursor, Surrounding};
pub use members::{MemberKind, MemberView, members, members_between, static_members};
pub use occurrence::{MemberSymbol, Occurrence, OccurrenceRole, Shorthand, Symbol, TypeOwner, occurrences};
pub use scope::visible;

#[cfg(test)]
mod tests;
