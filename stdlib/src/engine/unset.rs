//! Names of a session whose statement was not carried out: a later piece that reads one learns why it has no value.

use super::{Engine, Piece};
use lang::ast::{ItemKind, Module, StmtKind};
use lang::diagnostic::Diagnostic;
use lang::resolve::ResolveCode;
use lang::source::SourceRef;
use lang::value::Value;
use lang::vm::RunCode;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

/// Outcome of the statement that was to set a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StatementEnd {
    /// It was not run.
    Invalid,
    /// It raised an error.
    Failed,
    /// It was stopped.
    Interrupted,
}

impl StatementEnd {
    const fn words(self) -> &'static str {
        match self {
            Self::Invalid => "its statement has errors and was not run",
            Self::Failed => "its statement failed",
            Self::Interrupted => "its statement was interrupted",
        }
    }
}

/// The names without a value, and why.
#[derive(Default)]
pub(super) struct UnsetNames {
    names: RefCell<HashMap<String, StatementEnd>>,
    /// The names of the pieces: an imported file does not see the names of the session.
    pieces: RefCell<HashSet<String>>,
}

impl Engine {
    /// Explains the errors of a piece about names that an earlier one was to set, and remembers the names that this one was to
    /// set and that have no value. `ran` says whether it was run.
    pub(super) fn with_unset(
        &self,
        source: &SourceRef,
        mut piece: Piece,
        ran: bool,
        names: Vec<String>,
        has_value: impl Fn(&str) -> bool,
    ) -> Piece {
        if piece.incomplete {
            return piece;
        }
        self.unset.pieces.borrow_mut().insert(source.name().to_owned());
        self.explain_unset(&mut piece.diagnostics);
        let end = match (ran, &piece.interrupted) {
            (false, _) => StatementEnd::Invalid,
            (true, Some(_)) => StatementEnd::Interrupted,
            (true, None) => StatementEnd::Failed,
        };
        let mut unset = self.unset.names.borrow_mut();
        unset.extend(names.into_iter().map(|name| (name, end)));
        // A later statement or assignment gives a value, too.
        unset.retain(|name, _| !has_value(name));
        piece
    }

    /// Returns whether a name of the session has a value.
    pub(super) fn has_value(&self, name: &str) -> bool {
        let names = self.names.borrow();
        let bound = names.iter().find(|outer| outer.name == name);
        bound.is_some_and(|outer| {
            outer.def.is_some() || outer.builtin.is_some() || !matches!(self.isolate.global(outer.slot), Value::Unbound)
        })
    }

    /// Rewrites the errors about names that an earlier piece was to set.
    fn explain_unset(&self, found: &mut [Diagnostic]) {
        let (unset, pieces) = (self.unset.names.borrow(), self.unset.pieces.borrow());
        for diagnostic in found {
            let is_about_name = [ResolveCode::Undefined.code(), RunCode::Unbound.code()].contains(&diagnostic.code);
            let Some(label) = diagnostic.labels.first_mut().filter(|_| is_about_name) else { continue };
            if !pieces.contains(label.source.name()) {
                continue;
            }
            let name = label.source.slice(label.span).to_owned();
            let Some(end) = unset.get(&name) else { continue };
            "not set".clone_into(&mut label.text);
            diagnostic.message = format!("`{name}` was not set: {}", end.words());
            diagnostic.help = vec![format!("enter its statement again, for example `let {name} = …`")];
            diagnostic.notes.clear();
            diagnostic.fixes.clear();
        }
    }
}

/// Returns the names that the statements of a piece bind.
pub(super) fn names_of(source: &SourceRef) -> Vec<String> {
    bound_by(&lang::parse::parse(source).module)
}

fn bound_by(module: &Module) -> Vec<String> {
    let mut names = Vec::new();
    for stmt in &module.body {
        match &stmt.kind {
            StmtKind::Let { pattern, .. } => pattern.names(&mut |name, _| names.push(name.to_string())),
            StmtKind::Item(item) => match &item.kind {
                ItemKind::Fn(decl) | ItemKind::Tool { decl, .. } => names.push(decl.name.text.to_string()),
                _ => {}
            },
            _ => {}
        }
    }
    names
}
