//! The builtins with all that `check` asks.

use crate::lint::check_packs_by;
use crate::read::Files;
use crate::rhai_front_end::packs::{PackSpec, check_pack};
use crate::table;
use lang::builtins::Registry;
use lang::diagnostic::Diagnostic;
use std::path::{Path, PathBuf};

/// Returns the builtins, and the named types of their signatures.
#[must_use]
pub fn registry() -> Registry {
    check_packs_by(check_named);
    table::registry()
}

/// Returns the errors in a pack that a script names.
fn check_named(script: &Path, file: PathBuf) -> Vec<Diagnostic> {
    check_pack(&Files::of(script), &PackSpec::plain(file))
}
