//! Reminders that are written as files: `.harn/reminders/*.md` in the folder of a script and the folders above it.
//!
//! - `front_matter`: the YAML at the top of a file. `template`: the body with its `${…}`.
//! - `code`: the expressions of a file, checked and compiled. `file`: a file as a whole.
//! - `folder`: finding and reading files, and noticing changes.
//! - [`RunReminderFiles`]: the files of a run. [`LoopFiles`]: those of a loop, as providers.

mod code;
mod file;
mod folder;
mod front_matter;
mod of_loop;
mod template;

use crate::codes::ReminderFileCode;

use self::file::ReminderFile;
use self::folder::{Census, ChangeSignals, FoundFile, SearchPath, take_census};
use self::of_loop::LoopFiles;
use crate::fault::Thrown;
use crate::world::ReminderFileSource;
use base::call::{BlockingPool, run_blocking};
use base::codes::Severity as NoteSeverity;
use lang::diagnostic::{Diagnostic, Severity};
use lang::source::{Source, SourceRef};
use lang::vm::Raise;
use runtime::note::Note;
use runtime::reminder_providers::ReminderFiles;
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

/// The reminder files of a run.
#[derive(Default)]
pub(crate) struct RunReminderFiles {
    /// Whether the project turns them on.
    is_default: Cell<bool>,
    /// The folder of the script.
    script: RefCell<PathBuf>,
    /// The files, and those of loops that ask for them by themselves.
    watched: RefCell<[Option<Rc<WatchedFiles>>; 2]>,
}

impl RunReminderFiles {
    pub(crate) fn set_default(&self, is_default: bool) {
        self.is_default.set(is_default);
    }

    /// Sets the script, whose folder is the first that is searched.
    pub(crate) fn begin_in(&self, script: &str) {
        let folder = Path::new(script).parent().map(Path::to_owned).unwrap_or_default();
        if *self.script.borrow() != folder {
            *self.script.borrow_mut() = folder;
            self.clear();
        }
    }

    pub(crate) fn clear(&self) {
        drop(self.watched.take());
    }
}

impl ReminderFileSource for RunReminderFiles {
    fn is_default(&self) -> bool {
        self.is_default.get()
    }

    fn script_folder(&self) -> PathBuf {
        let folder = self.script.borrow().clone();
        if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder }
    }

    fn of_loop(&self, pool: Option<Rc<dyn BlockingPool>>, by_script: bool) -> Rc<dyn ReminderFiles> {
        let mut watched = self.watched.borrow_mut();
        let shared = watched[usize::from(by_script)].get_or_insert_with(|| {
            let path = SearchPath { script: self.script.borrow().clone(), by_script };
            Rc::new(WatchedFiles::new(path))
        });
        Rc::new(LoopFiles::new(shared.clone(), pool))
    }
}

/// The files in the folders of a run, as of the last look.
struct WatchedFiles {
    path: SearchPath,
    /// Notifications of changes; `None` if there are none, so that each look reads the files again.
    signals: OnceCell<Option<Arc<ChangeSignals>>>,
    /// Whether a change was reported that no look has seen.
    is_stale: Cell<bool>,
    state: RefCell<FilesState>,
}

#[derive(Default)]
struct FilesState {
    /// Grows with each look that found a difference.
    generation: u64,
    files: BTreeMap<Arc<str>, KnownFile>,
    /// Remarks to be reported, with the generation in which it was found.
    remarks: Vec<(u64, Remark)>,
}

/// A file by its name.
struct KnownFile {
    /// The text that was read last, or why it cannot be read.
    text: Result<String, String>,
    /// The last version that could be used.
    valid: Option<Rc<ReminderFile>>,
}

/// Something to report about the files. It is kept as long as it applies, for loops that start later.
#[derive(Clone)]
struct Remark {
    /// The file or folder.
    about: Arc<str>,
    found: Diagnostic,
}

impl Remark {
    fn note(&self) -> Note {
        let raise = raise_of(self.found.clone());
        let note = Note::of_fault(self.about.clone(), Thrown::fault(raise));
        let severity = if self.found.severity == Severity::Error { NoteSeverity::Error } else { NoteSeverity::Warning };
        Note { severity, ..note }
    }
}

/// Returns a diagnostic as an error on its way through the core.
fn raise_of(found: Diagnostic) -> Box<Raise> {
    let mut raise = Raise::error(found.code, found.message);
    raise.located = !found.labels.is_empty();
    (raise.labels, raise.notes, raise.help) = (found.labels, found.notes, found.help);
    raise
}

impl WatchedFiles {
    fn new(path: SearchPath) -> Self {
        Self { path, signals: OnceCell::new(), is_stale: Cell::new(true), state: RefCell::default() }
    }

    /// Returns whether the last look is still right.
    fn is_fresh(&self) -> bool {
        match self.signals.get() {
            Some(Some(signals)) if !self.is_stale.get() => !signals.take(),
            _ => false,
        }
    }

    /// Looks at the files, off the thread of the session if there is a pool.
    async fn look(&self, pool: Option<&dyn BlockingPool>) {
        self.is_stale.set(true);
        let signals = self.signals.get_or_init(|| ChangeSignals::open().map(Arc::new)).clone();
        let path = self.path.clone();
        let census = move || take_census(&path, signals.as_deref());
        let census = match pool {
            // Without threads the files are read here.
            Some(pool) => run_blocking(pool, census).await.unwrap_or_else(|_| Census::default()),
            None => census(),
        };
        self.is_stale.set(false);
        self.take_in(census);
    }

    fn take_in(&self, census: Census) {
        let mut state = self.state.borrow_mut();
        let state = &mut *state;
        let next = state.generation + 1;
        let mut remarks = Vec::new();
        for folder in census.untrusted {
            let shown = folder.display().to_string();
            let found =
                Diagnostic::new(ReminderFileCode::Untrusted, format!("ignored the reminder files of `{shown}`"))
                    .help(format!("read them; if you trust the folder, run `harn trust {shown}`"));
            remarks.push(Remark { about: shown.into(), found });
        }
        for folder in census.crowded {
            let shown = folder.display().to_string();
            let most = folder::MOST_FILES;
            let found =
                Diagnostic::new(ReminderFileCode::TooMany, format!("`{shown}` has more than {most} reminder files"))
                    .help(format!("remove some: only the first {most} by name are used"));
            remarks.push(Remark { about: shown.into(), found });
        }
        let mut known = std::mem::take(&mut state.files);
        let mut has_changed = census.files.len() != known.len();
        for found in census.files {
            let before = known.remove(&found.name);
            if before.as_ref().is_some_and(|before| before.text == found.text) {
                // Its remark, if there is one, is still true.
                remarks.extend(
                    state.remarks.iter().filter(|(_, remark)| remark.about == found.name).map(|(_, r)| r.clone()),
                );
                state.files.extend(before.map(|before| (found.name, before)));
                continue;
            }
            has_changed = true;
            let (file, remark) = update(&found, before);
            remarks.extend(remark);
            state.files.insert(found.name, file);
        }
        let age = |remark: &Remark| {
            let same = |(_, known): &&(u64, Remark)| {
                known.about == remark.about && known.found.message == remark.found.message
            };
            state.remarks.iter().find(same).map_or(next, |(generation, _)| *generation)
        };
        let aged: Vec<(u64, Remark)> = remarks.into_iter().map(|remark| (age(&remark), remark)).collect();
        has_changed |= !known.is_empty() || aged.iter().any(|(generation, _)| *generation == next);
        state.remarks = aged;
        if has_changed || state.generation == 0 {
            state.generation = next;
        }
    }
}

/// Reads a file that is new or has changed.
fn update(found: &FoundFile, before: Option<KnownFile>) -> (KnownFile, Option<Remark>) {
    let valid = before.and_then(|before| before.valid);
    let (read, wrong) = match &found.text {
        Ok(text) => {
            let source = Source::new(found.path.display().to_string(), text.clone());
            ReminderFile::read(&found.name, &source)
        }
        Err(why) => (None, vec![unreadable(&found.path, why)]),
    };
    let text = found.text.clone();
    if let Some(file) = read {
        return (KnownFile { text, valid: Some(Rc::new(file)) }, None);
    }
    let first = wrong.into_iter().find(|d| d.severity == Severity::Error);
    let first = first.unwrap_or_else(|| unreadable(&found.path, "it cannot be used"));
    let found_wrong = match &valid {
        None => first,
        Some(_) => {
            let message = format!("invalid change to `{}`: using its last valid version", found.path.display());
            let mut kept = Diagnostic::new(ReminderFileCode::Kept, message).note(first.message);
            (kept.labels, kept.help) = (first.labels, first.help);
            kept
        }
    };
    (KnownFile { text, valid }, Some(Remark { about: found.name.clone(), found: found_wrong }))
}

fn unreadable(path: &Path, why: &str) -> Diagnostic {
    Diagnostic::new(ReminderFileCode::Invalid, format!("cannot read `{}`: {why}", path.display()))
        .help("a reminder file is UTF-8 text of at most 64 KiB")
}

/// Returns the reminder files that a loop of a script may use, without regard to trust.
#[must_use]
pub fn reminder_files_of(script: &Path) -> Vec<PathBuf> {
    let folders = folder::candidates(script.parent().unwrap_or(Path::new("")));
    let files = folders.iter().flat_map(|at| {
        let inside = at.join(folder::FOLDER[0]).join(folder::FOLDER[1]);
        let names = folder::names_in(&inside).unwrap_or_default();
        names.into_iter().map(move |name| inside.join(name))
    });
    files.collect()
}

/// Checks a reminder file.
#[must_use]
pub fn check_reminder_file(path: &Path) -> Vec<Diagnostic> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let folder = path.parent().and_then(Path::parent).and_then(Path::parent).unwrap_or(Path::new(""));
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let found = folder::read(&folder, path, &name);
    match &found.text {
        Ok(text) => check_reminder_text(&Source::new(found.path.display().to_string(), text)),
        Err(why) => vec![unreadable(&found.path, why)],
    }
}

/// Checks the text of a reminder file.
#[must_use]
pub fn check_reminder_text(source: &SourceRef) -> Vec<Diagnostic> {
    ReminderFile::read(source.name(), source).1
}

/// Returns whether a path is one of a reminder file: `.harn/reminders/NAME.md`.
#[must_use]
pub fn is_reminder_file(path: &Path) -> bool {
    let is_named =
        |folder: Option<&Path>, name: &str| folder.and_then(Path::file_name).is_some_and(|found| found == name);
    let inside = path.parent();
    path.extension().is_some_and(|end| end == "md")
        && is_named(inside, folder::FOLDER[1])
        && is_named(inside.and_then(Path::parent), folder::FOLDER[0])
}
