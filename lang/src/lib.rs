//! The language: source text in, values out. Knows nothing of agents.
//!
//! A straight road, one room per station:
//! [`source`] → [`lex`] → [`parse`] → [`ast`] → [`module`] → [`resolve`] → [`check`] → [`compile`] → [`vm`], with
//! [`diagnostic`]s as data beside it. [`value`]s are what runs along it, [`builtins`] what a script can call.

pub mod ast;
pub mod builtin_type;
pub mod builtins;
pub mod check;
pub mod compile;
pub mod diagnostic;
mod foreign;
pub mod lex;
pub mod module;
pub mod parse;
pub mod resolve;
pub mod script;
pub mod source;
pub mod value;
pub mod vm;

/// The catalogues of this crate.
pub static CODES: &[&[diagnostic::code::Code]] = &[
    parse::codes::CODES,
    module::codes::CODES,
    resolve::CODES,
    check::codes::CODES,
    check::TYPE_CODES,
    compile::CODES,
    vm::codes::CODES,
    vm::tasks::CODES,
];
