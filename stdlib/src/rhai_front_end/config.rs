//! The capabilities and limits of a Rhai script.

use lang::builtins::Builtin;
use lang::module::Loader;
use lang::vm::{Limits, Raise};
use std::rc::Rc;

/// Asked at every operation; its error ends the script.
pub(crate) type Watch = Rc<dyn Fn() -> Result<(), Box<Raise>>>;

/// A filter of the rows of builtins that are offered.
pub(crate) type Offers = fn(&'static Builtin) -> bool;

/// The configuration of a [`super::RhaiFrontEnd`].
pub(crate) struct FrontEndConfig {
    /// The filter of the rows of builtins.
    pub(crate) offers: Offers,
    /// Reads the files that it imports; without one it imports nothing.
    pub(crate) loader: Option<Rc<dyn Loader>>,
    /// Whether it may run text as code.
    pub(crate) evaluates: bool,
    /// Calls in one another.
    pub(crate) depth: usize,
    /// Bytes of the longest string; nothing for no limit but that of memory.
    pub(crate) string_bytes: Option<usize>,
    /// Elements of the largest array or map, those within it included; nothing for no limit but that of memory.
    pub(crate) elements: Option<usize>,
    /// Asked at every operation, beside what the run looks at.
    pub(crate) watch: Option<Watch>,
    /// Functions of its own, which win over all others.
    pub(crate) own: Option<rhai::Module>,
}

impl FrontEndConfig {
    /// Returns the configuration for a run: everything is available, within the run's own limits.
    pub(crate) fn of_run(limits: &Limits, loader: Rc<dyn Loader>) -> Self {
        Self {
            offers: |_| true,
            loader: Some(loader),
            evaluates: true,
            depth: limits.depth,
            string_bytes: None,
            elements: None,
            watch: None,
            own: None,
        }
    }
}
