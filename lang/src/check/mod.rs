//! What is certain to fail, found before the run: never a guess.
//!
//! - `calls`: collects every call of a builtin or of a function of the file.
//! - `types`: what a literal is, against what a signature asks for.
//! - `members`: struct literals, variants, functions of types.
//! - `attributes`; `interfaces`: `impl Interface for Type`.
//! - `matches`: `match` and alternatives; `cover`: which values patterns cover.
//! - [`view`]: a call as the lints of a builtin's row see it.
//! - [`codes`]: the catalogue.

mod attributes;
mod calls;
pub mod codes;
mod cover;
mod interfaces;
mod matches;
mod members;
mod types;
pub mod view;

pub use types::signature;
pub use view::{CallView, DictView, returned};

use crate::ast::Module;
use crate::builtins::Registry;
use crate::diagnostic::Diagnostic;
use crate::resolve::Resolution;
use crate::source::SourceRef;

/// Checks a resolved module.
pub fn check(source: &SourceRef, module: &Module, names: &Resolution, registry: Registry, found: &mut Vec<Diagnostic>) {
    members::check(source, module, names, found);
    matches::check(source, module, names, found);
    interfaces::check(source, module, names, found);
    attributes::check(source, module, found);
    let calls = calls::collect(module, names);
    let mut types = types::Types::new(source, registry, &calls);
    for call in &calls.all {
        types.call(call, found);
    }
    for call in &calls.all {
        if let calls::Callee::Builtin(row) = call.callee
            && let Some(lint) = row.lint
        {
            lint(&CallView::new(source, call, &calls), found);
        }
    }
}
