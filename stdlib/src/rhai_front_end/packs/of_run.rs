//! The packs of a run: those that its project and its command name, and those that options of loops do.

use super::budget::PackSpec;
use super::load::load;
use super::provider::{PackEnvironment, PackProvider};
use crate::capability::Capability;
use crate::codes::PackCode;
use crate::output::Output;
use crate::world::PackSource;
use lang::diagnostic::Diagnostic;
use lang::module::{Loader, NoFiles};
use lang::source::Source;
use lang::vm::Raise;
use runtime::reminder_providers::{ReminderProvider, ReminderProviders};
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

/// The ending of packs.
const ENDING: &str = "rhai";

/// The providers of one file.
type Providers = Rc<Vec<Rc<PackProvider>>>;

/// The packs of a run.
pub(crate) struct Packs {
    loader: OnceCell<Rc<dyn Loader>>,
    /// The packs of the whole run, in order.
    named: Vec<PackSpec>,
    asked: PackEnvironment,
    /// The base of the paths that a script writes.
    folder: RefCell<PathBuf>,
    /// The providers by the file's identity: each file is loaded once a run, and keeps its state.
    loaded: RefCell<HashMap<String, Providers>>,
    /// The providers of the whole run, once they are loaded.
    of_run: RefCell<Vec<Rc<PackProvider>>>,
    started: Cell<bool>,
}

impl Packs {
    pub(crate) fn new(named: Vec<PackSpec>, denied: &[Capability], output: Rc<dyn Output>) -> Self {
        Self {
            loader: OnceCell::new(),
            named,
            asked: PackEnvironment { denied: denied.to_vec(), output: Some(output) },
            folder: RefCell::default(),
            loaded: RefCell::default(),
            of_run: RefCell::default(),
            started: Cell::new(false),
        }
    }

    /// Sets the loader of their files.
    pub(crate) fn read_by(&self, loader: Rc<dyn Loader>) {
        let _ = self.loader.set(loader);
    }

    /// Sets the base of the paths that the script writes: its folder.
    pub(crate) fn begin_in(&self, script: &str) {
        *self.folder.borrow_mut() = Path::new(script).parent().map(Path::to_owned).unwrap_or_default();
    }

    /// Loads the packs of the whole run, once, and registers what they have.
    ///
    /// # Errors
    /// Returns the errors in the packs.
    pub(crate) fn start(&self, providers: &ReminderProviders) -> Result<(), Vec<Diagnostic>> {
        if self.started.replace(true) {
            return Ok(());
        }
        let mut found = Vec::new();
        for spec in &self.named {
            match self.of_file(spec) {
                Ok(new) => found.extend(self.take_up(&new).err().map(|raise| raise.to_diagnostic())),
                Err(wrong) => found.extend(wrong),
            }
        }
        if !found.is_empty() {
            // The next piece of a session does not start without them either.
            self.started.set(false);
            self.of_run.borrow_mut().clear();
            return Err(found);
        }
        self.register(providers);
        Ok(())
    }

    fn take_up(&self, new: &Providers) -> Result<(), Box<Raise>> {
        let mut all = self.of_run.borrow_mut();
        for provider in
            new.iter().filter(|new| !all.iter().any(|known| Rc::ptr_eq(known, new))).cloned().collect::<Vec<_>>()
        {
            if let Some(other) = all.iter().find(|known| known.id() == provider.id()) {
                return Err(taken(&provider, other.file()));
            }
            all.push(provider);
        }
        Ok(())
    }

    /// Returns the specification of a file that options name: with the project's grants, if the
    /// project names it too.
    fn spec_of(&self, written: &str) -> PackSpec {
        let file = self.folder.borrow().join(written);
        let identity = self.identity(&file);
        let known = self.named.iter().find(|named| self.identity(&named.file) == identity);
        known.cloned().unwrap_or_else(|| PackSpec::plain(file))
    }

    fn identity(&self, file: &Path) -> String {
        self.loader().identity(&file.to_string_lossy())
    }

    fn loader(&self) -> &dyn Loader {
        match self.loader.get() {
            Some(loader) => &**loader,
            None => &NoFiles,
        }
    }

    fn of_file(&self, spec: &PackSpec) -> Result<Providers, Vec<Diagnostic>> {
        let identity = self.identity(&spec.file);
        if let Some(known) = self.loaded.borrow().get(&identity) {
            return Ok(known.clone());
        }
        // The user has named the pack, wherever it is.
        let is_named = self.named.iter().any(|named| named.file == spec.file);
        let providers = Rc::new(read_and_load(self.loader(), spec, &self.asked, is_named)?);
        self.loaded.borrow_mut().insert(identity, providers.clone());
        Ok(providers)
    }

    /// Lets go of all.
    pub(crate) fn clear(&self) {
        self.of_run.take();
        self.loaded.take();
    }
}

impl PackSource for Packs {
    fn named_by(
        &self,
        files: &[Arc<str>],
        known: &ReminderProviders,
    ) -> Result<Vec<Rc<dyn ReminderProvider>>, Box<Raise>> {
        let mut brought: Vec<Rc<PackProvider>> = Vec::new();
        for file in files {
            let spec = self.spec_of(file.as_ref());
            if self.asked.denied.contains(&Capability::FsRead)
                && !self.loaded.borrow().contains_key(&self.identity(&spec.file))
            {
                let message = format!(
                    "the pack `{}` cannot be read: this run does not have the capability \
                    `fs.read`",
                    file.as_ref()
                );
                return Err(Raise::error(PackCode::Load, message)
                    .help("name it with `--pack` or in harn.toml, or run with `fs.read`"));
            }
            for provider in self.of_file(&spec).map_err(|found| raised(file.as_ref(), found))?.iter() {
                if self.of_run.borrow().iter().chain(&brought).any(|known| Rc::ptr_eq(known, provider)) {
                    continue;
                }
                let other =
                    brought.iter().find(|other| other.id() == provider.id()).map(|other| other.file().to_owned());
                let other = other.or_else(|| self.owner(provider.id()));
                let other = other.or_else(|| known.is_custom(provider.id()).then(|| "the script".to_owned()));
                if let Some(other) = other {
                    return Err(taken(provider, &other));
                }
                brought.push(provider.clone());
            }
        }
        Ok(brought.into_iter().map(|provider| provider as Rc<dyn ReminderProvider>).collect())
    }

    fn register(&self, providers: &ReminderProviders) {
        for provider in self.of_run.borrow().iter() {
            providers.register(provider.clone());
        }
    }

    fn owner(&self, id: &str) -> Option<String> {
        self.of_run.borrow().iter().find(|known| known.id() == id).map(|known| known.file().to_owned())
    }
}

/// Returns the errors in a pack, without a run: its top level runs in its sandbox and prints
/// nothing.
#[must_use]
pub(crate) fn check_pack(loader: &dyn Loader, spec: &PackSpec) -> Vec<Diagnostic> {
    let asked = PackEnvironment { denied: Vec::new(), output: None };
    read_and_load(loader, spec, &asked, false).err().unwrap_or_default()
}

fn read_and_load(
    loader: &dyn Loader,
    spec: &PackSpec,
    asked: &PackEnvironment,
    may_quote: bool,
) -> Result<Vec<Rc<PackProvider>>, Vec<Diagnostic>> {
    let name = spec.file.to_string_lossy();
    // Errors quote the text, and a script can name any file.
    if spec.file.extension().is_none_or(|ending| ending != ENDING) {
        let message = format!("the pack `{name}` cannot be loaded: it is not a Rhai script");
        return Err(vec![Diagnostic::new(PackCode::Load, message).help("name a file that ends in `.rhai`")]);
    }
    let source = loader.load(&name).map_err(|why| {
        // The loader speaks of imports.
        let message = why.message.trim_end_matches(" to import");
        let mut found = Diagnostic::new(PackCode::Load, format!("the pack `{name}` cannot be loaded: {message}"));
        found.notes = why.notes;
        found.help = why.help.into_iter().filter(|help| help.starts_with("did you mean")).collect();
        let places = "a path is relative to the folder of `harn.toml` or of the script, or, with `--pack`, to \
            the working directory";
        vec![found.help(places)]
    })?;
    if may_quote {
        return load(&Source::new(source.name(), source.text()), spec, asked);
    }
    load(&source, spec, asked).map_err(|found| found.into_iter().map(Diagnostic::without_foreign_text).collect())
}

/// Returns the raise for an invalid pack that options name.
fn raised(file: &str, found: Vec<Diagnostic>) -> Box<Raise> {
    let mut found = found.into_iter();
    let Some(first) = found.next() else {
        return Raise::error(PackCode::Load, format!("the pack `{file}` cannot be loaded"));
    };
    let mut raise = Raise::error(first.code, first.message);
    // The main place is the one that names the pack.
    raise.labels = first.labels;
    raise.notes = first.notes;
    raise.notes.extend(found.map(|more| more.message));
    raise.help = first.help;
    raise
}

fn taken(provider: &PackProvider, by: &str) -> Box<Raise> {
    let (source, span) = provider.place();
    let message =
        format!("duplicate provider: the pack `{}` registers `{}`, and so does {by}", source.name(), provider.id());
    Raise::error(PackCode::Refused, message).labelled("registered here").at(source, span).help("load only one of them")
}
