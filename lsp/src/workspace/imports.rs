//! The files that a file reaches by imports, and the cycles among them.
//!
//! An import of a cycle leads nowhere, whichever of its files is looked at first: each of them reports its own imports of the cycle.

use super::Workspace;
use lang::ast::NodeAt;
use lang::diagnostic::Diagnostic;
use lang::module::{FileId, cycle, imports_itself};
use lang::source::{SourceRef, Span};
use smol_str::SmolStr;
use std::collections::{HashMap, HashSet, VecDeque};

/// The most files of a cycle that a message names.
const MOST_SHOWN: usize = 6;

/// The path of an import.
#[derive(Debug, Clone)]
pub(crate) struct ImportPath {
    /// The path in the tree.
    pub(crate) at: NodeAt,
    /// The path as it is written.
    pub(crate) written: SmolStr,
}

/// The import of a file, and where it leads.
#[derive(Debug, Clone)]
pub(crate) struct ImportLink {
    pub(crate) path: ImportPath,
    /// The file that the path means, which may not exist.
    pub(crate) file: Option<FileId>,
    /// Whether the import is part of a cycle, so that it brings nothing.
    pub(crate) is_cycle: bool,
}

impl ImportLink {
    /// Returns the file whose names the import brings.
    pub(super) fn usable(&self) -> Option<FileId> {
        self.file.filter(|_| !self.is_cycle)
    }
}

/// A file and the files that it reaches.
pub(super) struct ImportGraph {
    /// Each after the files that it imports, but for those of a cycle.
    order: Vec<FileId>,
    imports: HashMap<FileId, Vec<(ImportPath, Option<FileId>)>>,
    /// Files that reach one another have the same number.
    components: HashMap<FileId, usize>,
}

/// A file whose imports are being followed.
struct OpenFile {
    id: FileId,
    index: usize,
    /// The smallest index that it is known to reach.
    low: usize,
    todo: Vec<FileId>,
}

impl ImportGraph {
    /// Follows the imports of a file: Tarjan's algorithm, with a stack of its own.
    pub(super) fn from(workspace: &Workspace, start: FileId) -> Self {
        let mut graph = Self { order: Vec::new(), imports: HashMap::new(), components: HashMap::new() };
        let mut indexes: HashMap<FileId, usize> = HashMap::new();
        let mut waiting: Vec<FileId> = Vec::new();
        let mut stack = vec![graph.opened(workspace, start, 0)];
        indexes.insert(start, 0);
        waiting.push(start);
        while let Some(top) = stack.last_mut() {
            let Some(next) = top.todo.pop() else {
                let Some(done) = stack.pop() else { break };
                graph.order.push(done.id);
                if let Some(parent) = stack.last_mut() {
                    parent.low = parent.low.min(done.low);
                }
                if done.low == done.index {
                    let first = waiting.iter().position(|id| *id == done.id).unwrap_or(waiting.len());
                    let component = graph.components.len();
                    graph.components.extend(waiting.drain(first..).map(|id| (id, component)));
                }
                continue;
            };
            match indexes.get(&next) {
                None => {
                    let index = indexes.len();
                    indexes.insert(next, index);
                    waiting.push(next);
                    let opened = graph.opened(workspace, next, index);
                    stack.push(opened);
                }
                // A file that has a component is not part of a cycle with this one.
                Some(index) if !graph.components.contains_key(&next) => top.low = top.low.min(*index),
                Some(_) => {}
            }
        }
        graph
    }

    fn opened(&mut self, workspace: &Workspace, id: FileId, index: usize) -> OpenFile {
        let paths = workspace.import_paths(id);
        let imports: Vec<_> =
            paths.iter().map(|path| (path.clone(), workspace.imported_file(id, &path.written))).collect();
        let todo = imports.iter().rev().filter_map(|(_, file)| *file).collect();
        self.imports.insert(id, imports);
        OpenFile { id, index, low: index, todo }
    }

    /// Returns the files, each after those that it imports.
    pub(super) fn order(&self) -> &[FileId] {
        &self.order
    }

    /// Returns the imports of a file.
    pub(super) fn links(&self, id: FileId) -> Vec<ImportLink> {
        let imports = self.imports.get(&id).map(Vec::as_slice).unwrap_or_default();
        let link = |(path, file): &(ImportPath, Option<FileId>)| ImportLink {
            path: path.clone(),
            file: *file,
            is_cycle: file.is_some_and(|file| self.components.get(&file) == self.components.get(&id)),
        };
        imports.iter().map(link).collect()
    }

    /// Returns the diagnostics of the imports of a file that are part of cycles.
    pub(super) fn cycles(&self, id: FileId, source: &SourceRef, workspace: &Workspace) -> Vec<Diagnostic> {
        let links = self.links(id);
        let cyclic = links.iter().filter(|link| link.is_cycle);
        let diagnostic = |link: &ImportLink| match link.file {
            Some(file) if file != id => self.cycle(id, file, source, link.path.at.span, workspace),
            _ => imports_itself(source, link.path.at.span),
        };
        cyclic.map(diagnostic).collect()
    }

    fn cycle(
        &self,
        from: FileId,
        first: FileId,
        source: &SourceRef,
        import: Span,
        workspace: &Workspace,
    ) -> Diagnostic {
        let way = self.way(first, from);
        let name = |id: &FileId| workspace.file_name(*id).unwrap_or_default();
        let own = name(&from);
        let shown: Vec<String> = way.iter().map(|(id, _)| name(id)).take(MOST_SHOWN - 1).collect();
        let left_out = format!("{} more", way.len() - shown.len());
        let mut names = vec![own.as_str()];
        names.extend(shown.iter().map(String::as_str));
        if way.len() > shown.len() {
            names.push(&left_out);
        }
        names.push(&own);
        let places: Vec<(SourceRef, Span)> = way
            .iter()
            .take(MOST_SHOWN)
            .filter_map(|(id, span)| Some((workspace.text(*id)?.source().clone(), *span)))
            .collect();
        cycle(source, import, &names, places.iter().map(|(source, span)| (source, *span)))
    }

    /// Returns the files on a shortest way from one to another, without the last, each with its import of the next.
    fn way(&self, from: FileId, to: FileId) -> Vec<(FileId, Span)> {
        let mut before: HashMap<FileId, (FileId, Span)> = HashMap::new();
        let mut seen = HashSet::from([from]);
        let mut queue = VecDeque::from([from]);
        while let Some(id) = queue.pop_front() {
            for (path, file) in self.imports.get(&id).map(Vec::as_slice).unwrap_or_default() {
                let Some(file) = file.filter(|file| seen.insert(*file)) else { continue };
                before.insert(file, (id, path.at.span));
                queue.push_back(file);
            }
        }
        let mut way = Vec::new();
        let mut at = to;
        while let Some(step) = before.get(&at) {
            way.push(*step);
            at = step.0;
        }
        way.reverse();
        way
    }
}
