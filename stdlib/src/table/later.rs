//! Builtins that the language has and this version does not: calling one is told apart from a misspelt name.

/// Their names, as scripts write them.
pub(crate) static LATER: &[&str] = &[];
