//! The settings of a project for its scripts, and the diagnostics of its other files: `harn.toml` and reminder files.

use super::location::Location;
use lang::declaration::Right;
use lang::diagnostic::Diagnostic;
use lang::source::SourceRef;
use lsp_types::Uri;
use std::cell::OnceCell;
use std::path::Path;
use std::rc::Rc;
use stdlib::limits::RunLimits;
use stdlib::{Captured, Engine, Files, Loader, Project, RunOptions, check_reminder_text, is_reminder_file};

/// Returns the diagnostics of an open `harn.toml`. Nothing is said about other files in TOML.
pub(super) fn check_toml(source: &SourceRef, uri: &Uri) -> Vec<Diagnostic> {
    let location = Location::of_uri(uri);
    match location.path().filter(|_| location.is_project_file()) {
        Some(path) => Project::check_text(source, path),
        None => Vec::new(),
    }
}

/// Returns the diagnostics of an open reminder file. Nothing is said about other files in Markdown.
pub(super) fn check_markdown(source: &SourceRef, uri: &Uri) -> Vec<Diagnostic> {
    match Location::of_uri(uri).path() {
        Some(path) if is_reminder_file(path) => check_reminder_text(source),
        _ => Vec::new(),
    }
}

/// The settings of a project.
pub(crate) struct ProjectSettings {
    limits: RunLimits,
    capabilities: Vec<stdlib::Capability>,
    /// Capabilities that its scripts do not have.
    pub(crate) denied: Vec<Right>,
    /// The width of formatted lines.
    pub(crate) width: u32,
    files: Option<Files>,
    /// Checks scripts in Rhai; created with the first.
    engine: OnceCell<Engine>,
}

impl ProjectSettings {
    /// Reads the settings of the project of a file.
    pub(super) fn of(path: Option<&Path>) -> Self {
        // The errors of `harn.toml` are reported by the commands that run scripts.
        let project = path.and_then(|path| Project::of(path).ok()).unwrap_or_default();
        Self {
            limits: project.limits,
            denied: project.denied.iter().map(|capability| capability.right()).collect(),
            capabilities: project.denied,
            width: project.width.unwrap_or(fmt::WIDTH),
            files: path.map(Files::of),
            engine: OnceCell::new(),
        }
    }

    /// Returns the reason why a file cannot be imported, if there is one.
    pub(super) fn why_missing(&self, path: &str) -> Option<Diagnostic> {
        match &self.files {
            Some(files) => files.load(path).err().map(|diagnostic| *diagnostic),
            None => Some(lang::module::refused(path, "the importing text is not saved as a file")),
        }
    }

    /// Returns the diagnostics of a script in Rhai.
    pub(super) fn check_rhai(&self, source: &SourceRef) -> Vec<Diagnostic> {
        let make = || {
            let loader: Rc<dyn Loader> = match &self.files {
                Some(files) => Rc::new(files.clone()),
                None => Rc::new(lang::module::NoFiles),
            };
            Engine::new(RunOptions {
                loader,
                limits: self.limits,
                denied: self.capabilities.clone(),
                output: Rc::new(Captured::default()),
                ..RunOptions::default()
            })
        };
        self.engine.get_or_init(make).check(source)
    }
}
