//! The files of a run, and what becomes of each: read, parsed, resolved, compiled, evaluated.

use super::{Exports, Loader, NoFiles};
use crate::ast;
use crate::ast::{NodeId, NodeMap};
use crate::declaration::BindingId;
use crate::diagnostic::Diagnostic;
use crate::later::{CheckTypes, ThisCrate};
use crate::source::{SourceRef, Span};
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

/// Number of a file in its run.
pub type FileId = u32;

/// The import of a file: its path, and the file that the path leads to.
#[derive(Clone, Copy, Debug)]
pub struct Import {
    /// The id of the path in the importing file.
    pub id: NodeId,
    /// The path in the importing file.
    pub span: Span,
    /// The file; nothing where it could not be had, which has been reported.
    pub file: Option<FileId>,
}

/// Places in which the compiler put the exported names of a file.
#[derive(Clone, Debug, Default)]
pub struct Placed {
    /// Globals by binding.
    pub globals: HashMap<BindingId, u32>,
    /// Functions known by number, by binding.
    pub functions: HashMap<BindingId, u16>,
}

/// Exports that an import statement brings, for the resolver.
#[derive(Clone)]
pub enum Link {
    /// The names of a file.
    File(Rc<Exports>),
    /// Nothing is known of the file but that it is missing, which has been reported: any name may be in it.
    Unknown,
}

/// A file of a run.
pub struct File {
    /// Its number.
    pub id: FileId,
    /// Its text.
    pub source: SourceRef,
    /// Its tree.
    pub ast: ast::Module,
    /// Diagnostics of the parser.
    pub(crate) parsed: Vec<Diagnostic>,
    /// Files that its imports name, in the order of the text.
    pub imports: OnceCell<Vec<Import>>,
    /// Exports; set once the file is resolved.
    pub exports: OnceCell<Rc<Exports>>,
    /// The types of its exports, which only the checker looks into; set once the file is checked.
    pub types: OnceCell<Rc<<ThisCrate as CheckTypes>::Exported>>,
    /// Places of its names; set once it is compiled.
    pub placed: OnceCell<Placed>,
    /// First import of the file; `None` for the script itself.
    pub importer: Option<(FileId, Span)>,
}

impl File {
    /// Returns what its imports bring, by their paths.
    #[must_use]
    pub fn links(&self, modules: &Modules) -> NodeMap<Link> {
        let imports = self.imports.get().map(Vec::as_slice).unwrap_or_default();
        let link = |import: &Import| {
            let exports = import.file.and_then(|id| modules.file(id)?.exports.get().cloned());
            (import.id, exports.map_or(Link::Unknown, Link::File))
        };
        imports.iter().map(link).collect()
    }

    /// Returns the types of what its imports export.
    #[must_use]
    pub fn imported_types(&self, modules: &Modules) -> Vec<Rc<<ThisCrate as CheckTypes>::Exported>> {
        let imports = self.imports.get().map(Vec::as_slice).unwrap_or_default();
        imports.iter().filter_map(|import| modules.file(import.file?)?.types.get().cloned()).collect()
    }
}

/// Every file that a run has loaded, and who loads them.
pub struct Modules {
    loader: Rc<dyn Loader>,
    files: RefCell<Vec<Rc<File>>>,
    known: RefCell<HashMap<String, FileId>>,
}

impl Default for Modules {
    fn default() -> Self {
        Self::new(Rc::new(NoFiles))
    }
}

impl Modules {
    /// A run without files yet.
    #[must_use]
    pub fn new(loader: Rc<dyn Loader>) -> Self {
        Self { loader, files: RefCell::default(), known: RefCell::default() }
    }

    /// A file by its number.
    #[must_use]
    pub fn file(&self, id: FileId) -> Option<Rc<File>> {
        self.files.borrow().get(id as usize).cloned()
    }

    /// Forgets a file, so that the next import reads it again: its errors may be mended, or its evaluation failed.
    pub fn forget(&self, id: FileId) {
        self.known.borrow_mut().retain(|_, known| *known != id);
    }

    pub(super) fn loader(&self) -> &dyn Loader {
        &*self.loader
    }

    pub(super) fn known(&self, identity: &str) -> Option<FileId> {
        self.known.borrow().get(identity).copied()
    }

    /// Parses a text and gives it a number.
    pub(super) fn add(&self, identity: String, source: SourceRef, importer: Option<(FileId, Span)>) -> Rc<File> {
        let parsed = crate::parse::parse(&source);
        let mut files = self.files.borrow_mut();
        let id = FileId::try_from(files.len()).unwrap_or(FileId::MAX);
        let file = Rc::new(File {
            id,
            source,
            ast: parsed.module,
            parsed: parsed.diagnostics,
            imports: OnceCell::new(),
            exports: OnceCell::new(),
            types: OnceCell::new(),
            placed: OnceCell::new(),
            importer,
        });
        files.push(file.clone());
        self.known.borrow_mut().insert(identity, id);
        file
    }
}
