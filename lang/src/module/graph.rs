//! The files that a script reaches, in the order in which they are evaluated: what is imported comes first.
//!
//! The visit keeps its own stack, so that a long chain of files costs the native stack nothing.

use super::file::{File, FileId, Import, Modules};
use super::{ModuleCode, messages, path};
use crate::ast::{ItemKind, Module, Name, NodeAt};
use crate::diagnostic::Diagnostic;
use crate::diagnostic::fix::{Applicability, Edit};
use crate::source::{SourceRef, Span};
use std::rc::Rc;

/// A run may load so many files.
const MOST_FILES: usize = 4096;

/// So many cycles are told; what is left of them is told when these are mended.
const MOST_CYCLES: usize = 16;
/// So many files of a cycle are shown.
const MOST_SHOWN: usize = 6;

/// Files that a script reaches by imports.
pub(crate) struct Graph {
    /// The files that are new in the run, in the order of evaluation; the script itself is the last.
    pub(crate) files: Vec<Rc<File>>,
    /// Files that are missing, cycles.
    pub(crate) found: Vec<Diagnostic>,
}

/// A file whose imports are being followed.
struct OpenFile {
    file: Rc<File>,
    /// Imports that are not followed yet, the next one last.
    todo: Vec<(NodeAt, String)>,
    done: Vec<Import>,
}

struct ImportVisit<'a> {
    modules: &'a Modules,
    /// From the script down to the file at hand.
    stack: Vec<OpenFile>,
    files: Vec<Rc<File>>,
    found: Vec<Diagnostic>,
    /// Number of files, finished or not.
    count: usize,
    cycles: usize,
}

/// Follows the imports of a script.
pub(crate) fn reach(modules: &Modules, source: &SourceRef) -> Graph {
    let mut walk =
        ImportVisit { modules, stack: Vec::new(), files: Vec::new(), found: Vec::new(), count: 0, cycles: 0 };
    let script = modules.add(modules.loader().identity(source.name()), source.clone(), None);
    walk.open(script);
    while let Some(mut top) = walk.stack.pop() {
        let Some((path, written)) = top.todo.pop() else {
            // Set once: a file is opened once.
            let _ = top.file.imports.set(top.done);
            walk.files.push(top.file);
            continue;
        };
        let from = top.file.clone();
        walk.stack.push(top);
        let (file, fresh) = walk.follow(&from, path.span, &written);
        if let Some(top) = walk.stack.last_mut() {
            top.done.push(Import { id: path.id, span: path.span, file });
        }
        if let Some(fresh) = fresh {
            walk.open(fresh);
        }
    }
    Graph { files: walk.files, found: walk.found }
}

impl ImportVisit<'_> {
    fn open(&mut self, file: Rc<File>) {
        self.count += 1;
        let todo = paths(&file).into_iter().rev().collect();
        self.stack.push(OpenFile { file, todo, done: Vec::new() });
    }

    /// The file of an import, and the same again where it is new.
    fn follow(&mut self, from: &Rc<File>, span: Span, written: &str) -> (Option<FileId>, Option<Rc<File>>) {
        let path = path::target(from.source.name(), written);
        let identity = self.modules.loader().identity(&path);
        if let Some(id) = self.modules.known(&identity) {
            if let Some(at) = self.stack.iter().position(|open| open.file.id == id) {
                if self.cycles < MOST_CYCLES {
                    self.cycles += 1;
                    let cycle = self.cycle(at, from, span);
                    self.found.push(cycle);
                }
                return (None, None);
            }
            // A script that was loaded before, as `harn check FOLDER` does, was compiled to run and not to be imported.
            if self.modules.file(id).is_some_and(|file| file.importer.is_some()) {
                return (Some(id), None);
            }
        }
        if self.count >= MOST_FILES {
            // One import too many is told once; each further one would be.
            if self.count == MOST_FILES {
                self.count += 1;
                self.found.push(messages::too_many_files(&from.source, span, MOST_FILES));
            }
            return (None, None);
        }
        match self.modules.loader().load(&path) {
            Ok(source) => {
                let file = self.modules.add(identity, source, Some((from.id, span)));
                (Some(file.id), Some(file))
            }
            Err(diagnostic) => {
                let near = self.modules.loader().near(&path).filter(|_| diagnostic.code == ModuleCode::Missing);
                let renamed = near.and_then(|near| messages::renamed_file(from.source.slice(span), &near));
                let d = diagnostic.label(&from.source, span, "imported here");
                let edits = renamed.map(|renamed| vec![Edit::new(span, renamed)]);
                self.found.push(d.fix_by_some(Applicability::Unsafe, edits));
                (None, None)
            }
        }
    }

    /// The file at hand imports one that is still waiting for it.
    fn cycle(&self, at: usize, from: &Rc<File>, span: Span) -> Diagnostic {
        let round = &self.stack[at..];
        let first = round[0].file.source.name();
        if round.len() == 1 {
            return messages::imports_itself(&from.source, span);
        }
        let mut names: Vec<&str> = round.iter().take(MOST_SHOWN).map(|open| open.file.source.name()).collect();
        let left_out = format!("{} more", round.len() - names.len());
        if round.len() > names.len() {
            names.push(&left_out);
        }
        names.push(first);
        // Each file but the last has just opened the next one.
        let between = round[..round.len() - 1].iter().take(MOST_SHOWN);
        let between = between.filter_map(|open| open.done.last().map(|import| (&open.file.source, import.span)));
        messages::cycle(&from.source, span, &names, between)
    }
}

/// The paths of the files that a file imports, in the order of the text.
fn paths(file: &File) -> Vec<(NodeAt, String)> {
    imported_paths(&file.ast).map(|path| (path.at(), path.text.to_string())).collect()
}

/// Returns the paths of the files that a text imports, in their order. Standard modules are not files, so they are left out.
pub fn imported_paths(module: &Module) -> impl Iterator<Item = &Name> {
    module.body.iter().filter_map(|stmt| match stmt.item()? {
        ItemKind::Import { path, .. } if !path::is_standard(&path.text) => Some(path),
        _ => None,
    })
}
