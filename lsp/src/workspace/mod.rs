//! The files of the client's folders, and what is known of each.
//!
//! - `text`: texts with their lines. `location`: URIs and paths.
//! - `file`: the state of one file. `analysis`: what is known of a text.
//! - `imports`: the files that a file reaches, and cycles of imports. `loader`: files on disk below open documents.
//! - `settings`: what `harn.toml` says. `preferences`: what the client says. `discover`: the scripts below the folders.
//!
//! A [`Workspace`] changes only between two messages: documents are opened, edited and closed, files on disk change. A feature sees
//! it as a [`Snapshot`], in which analyses are made when they are first needed. An analysis is kept until its text, the settings of
//! its project, or what one of its imports exports changes.

mod analysis;
mod discover;
mod file;
mod imports;
mod location;
mod preferences;
mod settings;
mod snapshot;
mod surface;
mod text;

pub(crate) use analysis::{Analysis, Language};
pub(crate) use imports::ImportLink;
pub(crate) use location::path_of;
pub(crate) use preferences::Preferences;
pub(crate) use snapshot::{ClientSupport, Snapshot};
pub(crate) use text::{Encoding, LinedText, TextChange};

use crate::error::LspError;
use analysis::Inputs;
use file::FileState;
use imports::{ImportGraph, ImportPath};
use lang::ast::Name;
use lang::diagnostic::Diagnostic;
use lang::module::{FileId, imported_paths};
use lang::parse::{Parsed, parse};
use lang::source::{Source, SourceRef};
use location::Location;
use lsp_types::{SemanticToken, Uri};
use settings::ProjectSettings;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::str::FromStr as _;
use surface::Surface;

/// The bytes of closed files whose trees are kept. More are read again when they are needed.
const KEPT_BYTES: usize = 1 << 20;

/// The open documents and the files on disk.
pub(crate) struct Workspace {
    encoding: Encoding,
    /// The folders of the client.
    roots: RefCell<Vec<PathBuf>>,
    files: RefCell<Vec<FileState>>,
    by_location: RefCell<HashMap<Location, FileId>>,
    settings: RefCell<HashMap<PathBuf, Rc<ProjectSettings>>>,
    /// Changes with everything that an analysis can depend on.
    generation: Cell<u64>,
    /// The scripts below the folders, in the order of their paths; found when they are first needed.
    discovered: RefCell<Option<Rc<[FileId]>>>,
    /// Number of analyses made so far.
    made: Cell<u64>,
    /// The tokens that the client has of each document.
    tokens: RefCell<HashMap<FileId, SentTokens>>,
    /// The open documents of which an edit could not be read.
    lost: RefCell<BTreeSet<FileId>>,
}

impl Default for Workspace {
    fn default() -> Self {
        Self::new(Encoding::default(), Vec::new())
    }
}

impl Workspace {
    pub(crate) fn new(encoding: Encoding, roots: Vec<PathBuf>) -> Self {
        Self {
            encoding,
            roots: RefCell::new(roots),
            files: RefCell::default(),
            by_location: RefCell::default(),
            settings: RefCell::default(),
            generation: Cell::new(1),
            discovered: RefCell::default(),
            made: Cell::new(0),
            tokens: RefCell::default(),
            lost: RefCell::default(),
        }
    }

    pub(crate) const fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// Returns the number of analyses made so far.
    pub(crate) fn analyses_made(&self) -> u64 {
        self.made.get()
    }

    fn changed(&self) {
        self.generation.set(self.generation.get() + 1);
    }

    // Changes between two messages.

    /// Opens a document.
    pub(crate) fn open(&self, uri: &Uri, language: &str, version: i32, text: String) -> FileId {
        let id = self.file_at(Location::of_uri(uri));
        let mut files = self.files.borrow_mut();
        if let Some(file) = files.get_mut(id as usize) {
            file.uri = uri.clone();
            file.open(language, version, text, self.encoding);
        }
        drop(files);
        self.lost.borrow_mut().remove(&id);
        self.changed();
        id
    }

    /// Edits an open document.
    ///
    /// # Errors
    /// The document is not open.
    pub(crate) fn edit(&self, uri: &Uri, version: i32, mut changes: Vec<TextChange>) -> Result<FileId, LspError> {
        let id = self.open_file(uri)?;
        if self.lost.borrow().contains(&id) {
            // Only a whole text says again what the editor holds.
            let Some(whole) = changes.iter().rposition(TextChange::is_whole) else { return Ok(id) };
            changes.drain(..whole);
            self.lost.borrow_mut().remove(&id);
        }
        if let Some(file) = self.files.borrow_mut().get_mut(id as usize) {
            file.edit(version, changes);
        }
        self.changed();
        Ok(id)
    }

    /// Notes that an edit of a document could not be read: its text is not that of the editor any more. `None` means that of any open
    /// document. Returns those that were not noted before.
    pub(crate) fn lose(&self, uri: Option<&str>) -> Vec<Uri> {
        let named = uri.and_then(|uri| self.open_file(&Uri::from_str(uri).ok()?).ok());
        let ids = if uri.is_some() { Vec::from_iter(named) } else { self.open_files() };
        let new: Vec<FileId> = ids.into_iter().filter(|id| self.lost.borrow_mut().insert(*id)).collect();
        let files = self.files.borrow();
        new.into_iter().filter_map(|id| files.get(id as usize)).map(|file| file.uri.clone()).collect()
    }

    /// Returns whether the text of an open document is not that of the editor.
    pub(crate) fn is_lost(&self, id: FileId) -> bool {
        self.lost.borrow().contains(&id)
    }

    /// Returns whether that is so for a document, or for any if none is named.
    pub(crate) fn concerns_lost(&self, uri: Option<&str>) -> bool {
        let lost = self.lost.borrow();
        if lost.is_empty() {
            return false;
        }
        let Some(uri) = uri.and_then(|uri| Uri::from_str(uri).ok()) else { return true };
        self.open_file(&uri).is_ok_and(|id| lost.contains(&id))
    }

    /// Closes a document: the file on disk counts again.
    ///
    /// # Errors
    /// The document is not open.
    pub(crate) fn close(&self, uri: &Uri) -> Result<FileId, LspError> {
        let id = self.open_file(uri)?;
        if let Some(file) = self.files.borrow_mut().get_mut(id as usize) {
            file.close();
        }
        self.tokens.borrow_mut().remove(&id);
        self.lost.borrow_mut().remove(&id);
        self.changed();
        Ok(id)
    }

    /// Forgets what was read of a file on disk. `listed` says whether a file may have appeared or disappeared.
    pub(crate) fn disk_changed(&self, uri: &Uri, listed: bool) {
        let location = Location::of_uri(uri);
        if location.is_project_file() {
            self.settings.borrow_mut().clear();
        }
        if listed {
            self.discovered.replace(None);
        }
        let id = self.by_location.borrow().get(&location).copied();
        if let Some(id) = id
            && let Some(file) = self.files.borrow_mut().get_mut(id as usize)
        {
            file.forget_disk();
        }
        self.changed();
    }

    /// Forgets the texts of closed files that differ from those on disk, for clients that do not report changes.
    pub(crate) fn reread_disk(&self) {
        self.settings.borrow_mut().clear();
        self.discovered.replace(None);
        self.files.borrow_mut().iter_mut().for_each(FileState::forget_if_stale);
        self.changed();
    }

    /// Replaces the folders of the client.
    pub(crate) fn change_roots(&self, removed: &[PathBuf], added: Vec<PathBuf>) {
        let mut roots = self.roots.borrow_mut();
        roots.retain(|root| !removed.contains(root));
        roots.extend(added);
        self.discovered.replace(None);
    }

    /// Forgets the trees of the closed files that were not needed for the longest time.
    pub(crate) fn trim(&self) {
        let mut files = self.files.borrow_mut();
        let mut closed: Vec<(u64, usize, usize)> = Vec::new();
        let mut bytes = 0;
        for (at, file) in files.iter().enumerate() {
            let held = file.held_bytes();
            if held > 0 {
                bytes += held;
                closed.push((file.used.get(), at, held));
            }
        }
        if bytes <= KEPT_BYTES {
            return;
        }
        closed.sort_unstable();
        for (_, at, held) in closed {
            if bytes <= KEPT_BYTES {
                return;
            }
            files[at].forget_tree();
            bytes -= held;
        }
    }

    // Files.

    /// Returns the file at a location; a new one is not read yet.
    fn file_at(&self, location: Location) -> FileId {
        if let Some(id) = self.by_location.borrow().get(&location) {
            return *id;
        }
        let mut files = self.files.borrow_mut();
        let id = FileId::try_from(files.len()).unwrap_or(FileId::MAX);
        files.push(FileState::new(&location));
        self.by_location.borrow_mut().insert(location, id);
        id
    }

    /// Returns an open document.
    pub(crate) fn open_file(&self, uri: &Uri) -> Result<FileId, LspError> {
        let id = self.by_location.borrow().get(&Location::of_uri(uri)).copied();
        let is_open = |id: &FileId| self.is_open(*id);
        id.filter(is_open).ok_or_else(|| LspError::unknown_document(uri.as_str()))
    }

    /// Returns an open document, or a script on disk below the folders or imported from there.
    fn known_file(&self, uri: &Uri) -> Result<FileId, LspError> {
        if let Ok(id) = self.open_file(uri) {
            return Ok(id);
        }
        let known = self.by_location.borrow().get(&Location::of_uri(uri)).copied();
        let known = known.or_else(|| {
            self.scripts();
            self.by_location.borrow().get(&Location::of_uri(uri)).copied()
        });
        known.filter(|id| self.text(*id).is_some()).ok_or_else(|| LspError::unknown_document(uri.as_str()))
    }

    pub(crate) fn is_open(&self, id: FileId) -> bool {
        self.files.borrow().get(id as usize).is_some_and(FileState::is_open)
    }

    /// Returns the open documents in the order in which they were first seen.
    pub(crate) fn open_files(&self) -> Vec<FileId> {
        let files = self.files.borrow();
        (0..).zip(files.iter()).filter(|(_, file)| file.is_open()).map(|(id, _)| id).collect()
    }

    /// Returns the scripts below the folders and the open documents, each once.
    fn scripts(&self) -> Rc<[FileId]> {
        if let Some(found) = &*self.discovered.borrow() {
            return found.clone();
        }
        let paths = discover::scripts(&self.roots.borrow());
        let found: Rc<[FileId]> = paths.into_iter().map(|path| self.file_at(Location::of_path(&path))).collect();
        self.discovered.replace(Some(found.clone()));
        found
    }

    pub(crate) fn uri(&self, id: FileId) -> Option<Uri> {
        self.files.borrow().get(id as usize).map(|file| file.uri.clone())
    }

    /// Returns the text of a file, which is read if it was not. `None` if it cannot be read.
    fn text(&self, id: FileId) -> Option<Rc<LinedText>> {
        self.files.borrow_mut().get_mut(id as usize)?.text(self.encoding)
    }

    fn path(&self, id: FileId) -> Option<PathBuf> {
        self.files.borrow().get(id as usize)?.path().map(Path::to_owned)
    }

    /// Returns the settings of the project of a file.
    fn settings_of(&self, id: FileId) -> Rc<ProjectSettings> {
        let path = self.path(id);
        let folder = path.as_deref().and_then(Path::parent).unwrap_or(Path::new("")).to_owned();
        if let Some(known) = self.settings.borrow().get(&folder) {
            return known.clone();
        }
        let settings = Rc::new(ProjectSettings::of(path.as_deref()));
        self.settings.borrow_mut().insert(folder, settings.clone());
        settings
    }

    // Analyses.

    /// Returns what is known of a file. `None` if it cannot be read.
    pub(crate) fn analysis(&self, id: FileId) -> Option<Rc<Analysis>> {
        self.text(id)?;
        let generation = self.generation.get();
        if let Some(known) = self.current(id, generation) {
            return Some(known);
        }
        let graph = ImportGraph::from(self, id);
        for file in graph.order() {
            self.refresh(*file, &graph, *file == id);
        }
        self.current(id, generation)
    }

    /// Returns the analysis of a file if it is known to be current.
    fn current(&self, id: FileId, generation: u64) -> Option<Rc<Analysis>> {
        let files = self.files.borrow();
        let file = files.get(id as usize)?;
        file.used.set(generation);
        file.analysis.clone().filter(|_| file.checked_at == generation)
    }

    /// Analyses a file whose imports are current, unless nothing that it depends on has changed. Without `wanted`, what it exports
    /// is enough.
    fn refresh(&self, id: FileId, graph: &ImportGraph, wanted: bool) {
        let generation = self.generation.get();
        let (settings, links) = (self.settings_of(id), graph.links(id));
        let inputs: Vec<Option<Rc<Surface>>> = links.iter().map(|link| self.surface(link.usable()?)).collect();
        let mut files = self.files.borrow_mut();
        let Some(file) = files.get_mut(id as usize) else { return };
        file.used.set(generation);
        if file.is_current(&settings, &inputs) && (!wanted || file.analysis.is_some()) {
            file.checked_at = generation;
            return;
        }
        let (Some(text), Some(parsed)) = (file.text(self.encoding), file.parsed(self.encoding)) else {
            return file.lose();
        };
        let (uri, version, language) = (file.uri.clone(), file.version(), file.language);
        drop(files);
        let cycles = graph.cycles(id, text.source(), self);
        let of = Inputs { id, uri, version, language, text, parsed, links, cycles, settings, inputs };
        let analysis = Analysis::new(of);
        self.made.set(self.made.get() + 1);
        if let Some(file) = self.files.borrow_mut().get_mut(id as usize) {
            file.keep(analysis, generation);
        }
    }

    /// Returns what a file exports, as it was last analysed.
    fn surface(&self, id: FileId) -> Option<Rc<Surface>> {
        self.files.borrow().get(id as usize)?.surface.clone()
    }

    /// Returns the file that a path in an import of a file means, whether or not it exists.
    fn imported_file(&self, from: FileId, written: &str) -> Option<FileId> {
        let path = lang::module::path::target(self.files.borrow().get(from as usize)?.name(), written);
        Some(self.file_at(Location::of_path(Path::new(&path))))
    }

    /// Returns the tree of a file, which need not be analysed for it. `None` if it cannot be read.
    fn tree(&self, id: FileId) -> Option<FileTree> {
        let mut files = self.files.borrow_mut();
        let file = files.get_mut(id as usize)?;
        file.used.set(self.generation.get());
        let (text, parsed) = (file.text(self.encoding)?, file.parsed(self.encoding)?);
        Some(FileTree { uri: file.uri.clone(), text, parsed })
    }

    /// Returns the diagnostics that a document would have with another text.
    fn check(&self, document: &Analysis, source: &SourceRef) -> Vec<Diagnostic> {
        match document.language {
            Language::Harn => {}
            Language::Rhai => return document.settings.check_rhai(source),
            Language::Toml => return settings::check_toml(source, &document.uri),
            Language::Markdown => return settings::check_markdown(source, &document.uri),
        }
        let parsed = Rc::new(parse(source));
        let link = |path: &Name| {
            let known = document.links.iter().find(|link| link.path.written == path.text);
            let file = match known {
                Some(link) => link.file,
                None => self.imported_file(document.id, &path.text),
            };
            let path = ImportPath { at: path.at(), written: path.text.clone() };
            ImportLink { path, file, is_cycle: known.is_some_and(|link| link.is_cycle) }
        };
        let links: Vec<ImportLink> = imported_paths(&parsed.module).map(link).collect();
        let inputs = links.iter().map(|link| self.analysis(link.usable()?).and_then(|_| self.surface(link.usable()?)));
        let of = Inputs {
            id: document.id,
            uri: document.uri.clone(),
            version: document.version,
            language: document.language,
            text: Rc::new(LinedText::new(source.clone(), self.encoding)),
            parsed,
            inputs: inputs.collect(),
            links,
            // They are errors in this text as well, and no fix of the text changes them.
            cycles: Vec::new(),
            settings: document.settings.clone(),
        };
        Analysis::new(of).diagnostics
    }

    fn file_name(&self, id: FileId) -> Option<String> {
        self.files.borrow().get(id as usize).map(|file| file.name().to_owned())
    }

    /// Returns the paths of the imports of a file.
    fn import_paths(&self, id: FileId) -> Rc<[ImportPath]> {
        self.files.borrow_mut().get_mut(id as usize).map(|file| file.imports(self.encoding)).unwrap_or_default()
    }

    /// Returns the file that a source is the text of, by its name.
    pub(crate) fn file_named(&self, name: &str) -> Option<FileId> {
        let files = self.files.borrow();
        (0..).zip(files.iter()).find(|(_, file)| file.name() == name).map(|(id, _)| id)
    }
}

/// The tokens of a document that the client has.
#[derive(Clone)]
pub(crate) struct SentTokens {
    /// The name under which the client refers to them.
    pub(crate) result_id: String,
    pub(crate) tokens: Rc<[SemanticToken]>,
}

/// The tree of a file.
pub(crate) struct FileTree {
    pub(crate) uri: Uri,
    pub(crate) text: Rc<LinedText>,
    pub(crate) parsed: Rc<Parsed>,
}

/// Makes a source that is named like a path.
fn source_named(name: &str, text: String) -> SourceRef {
    Source::new(name, text)
}
