//! The language: source text in, values out. Knows nothing of agents.
//!
//! A pipeline with one module for each stage:
//! [`source`] → [`lex`] → [`parse`] → [`ast`] → [`module`] → [`resolve`] → [`check`] → [`compile`] → [`vm`]. [`diagnostic`]s and
//! [`declaration`]s are data that all stages share, [`value`]s are what the machine works on, and [`builtins`] are what a script can call.

mod advice;
mod article;
pub mod ast;
pub mod builtin_type;
pub mod builtins;
pub mod check;
pub mod compile;
pub mod declaration;
pub mod diagnostic;
mod foreign;
mod hash;
pub mod later;
pub mod lex;
pub mod module;
pub mod parse;
pub mod query;
pub mod repair;
pub mod resolve;
pub mod script;
pub mod source;
pub mod value;
pub mod vm;

pub use foreign::{globals_elsewhere, methods_elsewhere, name_elsewhere};

/// The catalogues of this crate.
pub static CODES: &[&[diagnostic::code::Code]] = &[
    lex::LexCode::rows(),
    parse::ParseCode::rows(),
    module::ModuleCode::rows(),
    resolve::ResolveCode::rows(),
    check::CheckCode::rows(),
    compile::CompileCode::rows(),
    vm::RunCode::rows(),
];
