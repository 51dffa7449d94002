//! The state of one file: its text, and what was made of it.

use super::analysis::{Analysis, Language};
use super::imports::ImportPath;
use super::location::Location;
use super::settings::ProjectSettings;
use super::source_named;
use super::surface::Surface;
use super::text::{Encoding, LinedText, TextChange};
use lang::ast::Name;
use lang::module::imported_paths;
use lang::parse::{Parsed, parse};
use lsp_types::Uri;
use std::cell::Cell;
use std::fs;
use std::path::Path;
use std::rc::Rc;
use std::str::FromStr;
use std::time::SystemTime;
use stdlib::read_source;

/// The time and size of a file on disk.
type Stamp = (Option<SystemTime>, u64);

/// The owner of a file's text.
enum Holder {
    /// The client, since it has opened the document.
    Editor { version: i32 },
    /// The disk.
    Disk {
        /// The time and size of the file when it was read; `None` if it was not read yet or does not exist.
        stamp: Option<Stamp>,
    },
}

/// A file.
pub(super) struct FileState {
    /// The URI as the client spells it.
    pub(super) uri: Uri,
    location: Location,
    name: String,
    pub(super) language: Language,
    holder: Holder,
    text: Option<Rc<LinedText>>,
    parsed: Option<Rc<Parsed>>,
    /// The paths of its imports, kept longer than the tree.
    imports: Option<Rc<[ImportPath]>>,
    pub(super) analysis: Option<Rc<Analysis>>,
    /// Its exports, kept longer than the analysis.
    pub(super) surface: Option<Rc<Surface>>,
    /// The dependencies of the surface.
    inputs: Vec<Option<Rc<Surface>>>,
    settings: Option<Rc<ProjectSettings>>,
    /// Whether the surface is that of the current text.
    is_of_text: bool,
    /// The generation of the workspace for which the analysis was found to be current.
    pub(super) checked_at: u64,
    /// The last generation in which it was needed.
    pub(super) used: Cell<u64>,
}

impl FileState {
    pub(super) fn new(location: &Location) -> Self {
        let name = location.name();
        let uri = location.uri().or_else(|| Uri::from_str("untitled:").ok());
        Self {
            #[allow(clippy::expect_used, reason = "the text is a constant")]
            uri: uri.expect("a valid URI"),
            location: location.clone(),
            language: Language::of_name(&name),
            name,
            holder: Holder::Disk { stamp: None },
            text: None,
            parsed: None,
            imports: None,
            analysis: None,
            surface: None,
            inputs: Vec::new(),
            settings: None,
            is_of_text: false,
            checked_at: 0,
            used: Cell::new(0),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn path(&self) -> Option<&Path> {
        self.location.path()
    }

    pub(super) fn is_open(&self) -> bool {
        matches!(self.holder, Holder::Editor { .. })
    }

    pub(super) fn version(&self) -> Option<i32> {
        match self.holder {
            Holder::Editor { version } => Some(version),
            Holder::Disk { .. } => None,
        }
    }

    pub(super) fn open(&mut self, language: &str, version: i32, text: String, encoding: Encoding) {
        self.language = Language::of_document(language, &self.name);
        self.holder = Holder::Editor { version };
        self.set_text(Some(LinedText::new(source_named(&self.name, text), encoding)));
    }

    pub(super) fn edit(&mut self, version: i32, changes: Vec<TextChange>) {
        self.holder = Holder::Editor { version };
        let changed = self.text.as_ref().map(|text| text.changed(changes));
        self.set_text(changed);
    }

    pub(super) fn close(&mut self) {
        self.language = Language::of_name(&self.name);
        self.holder = Holder::Disk { stamp: None };
        self.set_text(None);
    }

    /// The file on disk has changed, appeared or disappeared.
    pub(super) fn forget_disk(&mut self) {
        if let Holder::Disk { stamp } = &mut self.holder {
            *stamp = None;
            self.set_text(None);
        }
    }

    /// Forgets the text if the file on disk is another one than that which was read.
    pub(super) fn forget_if_stale(&mut self) {
        let now = self.path().and_then(stamp_of);
        if matches!(&self.holder, Holder::Disk { stamp } if *stamp != now) {
            self.forget_disk();
        }
    }

    fn set_text(&mut self, text: Option<LinedText>) {
        self.text = text.map(Rc::new);
        self.parsed = None;
        self.imports = None;
        self.analysis = None;
        self.is_of_text = false;
        self.checked_at = 0;
    }

    /// Forgets all that can be made again, but for what it exports.
    pub(super) fn forget_tree(&mut self) {
        self.analysis = None;
        self.parsed = None;
        self.checked_at = 0;
        if let Holder::Disk { .. } = self.holder {
            self.text = None;
        }
    }

    /// Returns the bytes of the text of a closed file whose tree is kept.
    pub(super) fn held_bytes(&self) -> usize {
        let held = !self.is_open() && (self.parsed.is_some() || self.analysis.is_some());
        self.text.as_ref().filter(|_| held).map_or(0, |text| text.text().len())
    }

    /// Returns the text, which is read if it was not.
    pub(super) fn text(&mut self, encoding: Encoding) -> Option<Rc<LinedText>> {
        if self.text.is_none()
            && let Holder::Disk { stamp } = &mut self.holder
        {
            let path = self.location.path()?;
            let now = stamp_of(path)?;
            let source = read_source(path).ok()?;
            let known = stamp.replace(now);
            // A file that was changed without a report is not the one whose exports are known.
            self.is_of_text &= known == Some(now);
            self.text = Some(Rc::new(LinedText::new(source, encoding)));
        }
        self.text.clone()
    }

    /// Returns the tree, which is empty in a language of its own.
    pub(super) fn parsed(&mut self, encoding: Encoding) -> Option<Rc<Parsed>> {
        if self.parsed.is_none() {
            let text = self.text(encoding)?;
            self.parsed = Some(Rc::new(match self.language {
                Language::Harn => parse(text.source()),
                Language::Rhai | Language::Toml | Language::Markdown => Parsed::default(),
            }));
        }
        self.parsed.clone()
    }

    /// Returns the paths of its imports.
    pub(super) fn imports(&mut self, encoding: Encoding) -> Rc<[ImportPath]> {
        if self.imports.is_none() {
            let Some(parsed) = self.parsed(encoding) else { return Rc::default() };
            let path = |name: &Name| ImportPath { at: name.at(), written: name.text.clone() };
            self.imports = Some(imported_paths(&parsed.module).map(path).collect());
        }
        self.imports.clone().unwrap_or_default()
    }

    /// Returns whether the surface is that of the text, of these settings and of these imports.
    pub(super) fn is_current(&self, settings: &Rc<ProjectSettings>, inputs: &[Option<Rc<Surface>>]) -> bool {
        self.is_of_text && self.depends_on(settings, inputs)
    }

    fn depends_on(&self, settings: &Rc<ProjectSettings>, inputs: &[Option<Rc<Surface>>]) -> bool {
        let same = |known: &Option<Rc<Surface>>, now: &Option<Rc<Surface>>| match (known, now) {
            (Some(known), Some(now)) => Rc::ptr_eq(known, now),
            (None, None) => true,
            _ => false,
        };
        self.settings.as_ref().is_some_and(|known| Rc::ptr_eq(known, settings))
            && self.inputs.len() == inputs.len()
            && self.inputs.iter().zip(inputs).all(|(known, now)| same(known, now))
    }

    /// Keeps an analysis of the current text.
    pub(super) fn keep(&mut self, analysis: Analysis, generation: u64) {
        let same_inputs = self.depends_on(&analysis.settings, &analysis.inputs);
        let known = self.surface.take().filter(|known| same_inputs && known.is_same(&analysis.surface));
        self.surface = Some(known.unwrap_or_else(|| analysis.surface.clone()));
        self.inputs.clone_from(&analysis.inputs);
        self.settings = Some(analysis.settings.clone());
        self.is_of_text = true;
        self.checked_at = generation;
        self.analysis = Some(Rc::new(analysis));
    }

    /// Forgets everything about a file that cannot be read.
    pub(super) fn lose(&mut self) {
        self.set_text(None);
        self.surface = None;
    }
}

fn stamp_of(path: &Path) -> Option<Stamp> {
    let found = fs::metadata(path).ok()?;
    found.is_file().then(|| (found.modified().ok(), found.len()))
}
