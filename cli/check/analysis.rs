//! The diagnostics of many scripts.
//!
//! Scripts of one project are checked in parallel. A thread checks its scripts with one engine, which analyses a file that
//! several of them import once.

use crate::parallel::in_parallel;
use crate::progress::ProgressLine;
use crate::script::Script;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use stdlib::limits::RunLimits;
use stdlib::{
    Capability, Diagnostic, Engine, Files, Project, RunOptions, SourceRef, check_reminder_file, reminder_files_of,
};

/// Bytes of scripts after which an engine is replaced: it keeps the trees of the files that it has read.
const LARGEST: usize = 16 << 20;

/// Returns the diagnostics of the reminder files that scripts can use, and of those that are named by themselves.
pub(super) fn check_reminder_files(scripts: &[Script]) -> Vec<Diagnostic> {
    let (named, scripts): (Vec<&Script>, Vec<&Script>) = scripts.iter().partition(|script| is_reminder_file(script));
    let whole = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let mut files: BTreeSet<PathBuf> = named.iter().map(|script| whole(script.path())).collect();
    let folders: BTreeSet<&Path> = scripts.iter().filter_map(|script| script.path().parent()).collect();
    files.extend(folders.iter().flat_map(|folder| reminder_files_of(&folder.join("script"))));
    files.iter().flat_map(|file| check_reminder_file(file)).collect()
}

/// Returns whether a path on the command line is that of a reminder file.
fn is_reminder_file(script: &Script) -> bool {
    matches!(script, Script::File(path) if path.extension().is_some_and(|extension| extension == "md"))
}

/// Returns the diagnostics of all scripts, in their order. What several of them import can occur more than once.
pub(super) fn check(scripts: &[Script], denied: &[Capability], owns_process: bool) -> Vec<Diagnostic> {
    let progress = ProgressLine::new("checking", Some(scripts.len()), owns_process);
    let mut found = vec![Vec::new(); scripts.len()];
    for (settings, members) in projects(scripts, denied) {
        let check = |engine: &mut ThreadEngine, (_, script): &(usize, &Script)| {
            progress.step(&script.path().display().to_string());
            settings.check(script, engine)
        };
        let of_project = in_parallel(&members, || None, check);
        for (place, diagnostics) in members.iter().map(|(place, _)| *place).zip(of_project) {
            found[place] = diagnostics;
        }
        if let Some((first, _)) = members.first() {
            found[*first].splice(0..0, settings.found);
        }
    }
    found.into_iter().flatten().collect()
}

/// The settings that scripts of one project are checked with.
pub(super) struct ProjectSettings {
    limits: RunLimits,
    denied: Vec<Capability>,
    /// Diagnostics of the project itself.
    pub(super) found: Vec<Diagnostic>,
}

/// The engine of a thread, the files that its scripts can import, and the bytes that it has read.
type ThreadEngine = Option<(Files, Engine, usize)>;

impl ProjectSettings {
    pub(super) fn of(script: &Script, denied: &[Capability]) -> Self {
        let (mut project, mut found) = match Project::of(script.path()) {
            Ok(project) => (project, Vec::new()),
            Err(found) => (Project::default(), found),
        };
        found.extend(project.warning.take());
        found.extend(project.check_packs());
        let denied = project.denied.iter().chain(denied).copied().collect();
        Self { limits: project.limits, denied, found }
    }

    fn check(&self, script: &Script, engine: &mut ThreadEngine) -> Vec<Diagnostic> {
        let source = match script.read() {
            Ok(source) => source,
            Err(diagnostic) => return vec![diagnostic],
        };
        let files = Files::of(script.path());
        if engine.as_ref().is_none_or(|(known, _, read)| *known != files || *read > LARGEST) {
            *engine = Some((files.clone(), self.engine(files), 0));
        }
        let Some((_, engine, read)) = engine else { return Vec::new() };
        *read += source.text().len();
        engine.check(&source)
    }

    /// Checks a text in the place of a script.
    pub(super) fn check_text(&self, script: &Script, source: &SourceRef) -> Vec<Diagnostic> {
        self.engine(Files::of(script.path())).check(source)
    }

    fn engine(&self, files: Files) -> Engine {
        Engine::new(RunOptions {
            loader: Rc::new(files),
            limits: self.limits,
            denied: self.denied.clone(),
            ..RunOptions::default()
        })
    }
}

/// A script, and its place among all.
type Member<'a> = (usize, &'a Script);

/// The scripts by project. Each project is read once; some of its settings are those of the process.
pub(super) fn projects<'a>(scripts: &'a [Script], denied: &[Capability]) -> Vec<(ProjectSettings, Vec<Member<'a>>)> {
    let mut projects: Vec<(Option<PathBuf>, Vec<Member<'a>>)> = Vec::new();
    // A reminder file is not a script.
    for (place, script) in scripts.iter().enumerate().filter(|(_, script)| !is_reminder_file(script)) {
        let file = Project::file_of(script.path()).map(|file| file.canonicalize().unwrap_or(file));
        match projects.iter_mut().find(|(known, _)| *known == file) {
            Some((_, members)) => members.push((place, script)),
            None => projects.push((file, vec![(place, script)])),
        }
    }
    let settings = |members: &[Member<'_>]| members.first().map(|(_, first)| ProjectSettings::of(first, denied));
    projects.into_iter().filter_map(|(_, members)| Some((settings(&members)?, members))).collect()
}
