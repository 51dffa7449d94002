//! Files that import one another.
//!
//! - [`Loader`]: who reads files. The language itself reads none.
//! - [`path`]: which file the path of an import means.
//! - [`Modules`]: every file of a run, each parsed and evaluated once.
//! - `graph`: the files that a script reaches, in the order in which they are evaluated.
//! - [`Exports`]: what a file offers to those that import it.

mod exports;
mod file;
mod graph;
mod messages;
pub mod path;

mod codes;

pub use codes::ModuleCode;
pub use exports::{Export, Exports, Origin, Private, Takes};
pub use file::{File, FileId, Import, Link, Modules, Placed};
pub use graph::imported_paths;
pub(crate) use graph::reach;
pub use messages::{cycle, imports_itself, missing, refused};

use crate::diagnostic::Diagnostic;
use crate::source::SourceRef;

/// Reads the files that scripts import. What a script may import is the loader's to decide.
pub trait Loader {
    /// The text at a path, which starts where the paths of the host's sources start.
    ///
    /// # Errors
    /// Why there is none, without a place: [`missing`] where nothing is there, [`refused`] where the host forbids it.
    fn load(&self, path: &str) -> Result<SourceRef, Box<Diagnostic>>;

    /// Returns the name, without its ending, of a file next to a path where there is none: the one that was probably meant.
    fn near(&self, _path: &str) -> Option<String> {
        None
    }

    /// Equal for two paths that lead to the same file.
    fn identity(&self, path: &str) -> String {
        path.to_owned()
    }
}

/// For hosts without files.
pub struct NoFiles;

impl Loader for NoFiles {
    fn load(&self, path: &str) -> Result<SourceRef, Box<Diagnostic>> {
        Err(Box::new(refused(path, "scripts can import only standard modules here")))
    }
}
