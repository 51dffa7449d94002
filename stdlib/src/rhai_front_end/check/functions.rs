//! The functions that a file can call, by name and number of arguments.

use crate::rhai_front_end::RhaiFrontEnd;
use crate::rhai_front_end::errors::names::{self, KnownFunction};
use crate::rhai_front_end::errors::tokens::Tokens;
use crate::rhai_front_end::offer::name_in_rhai;
use lang::builtins::Builtin;
use rhai::Engine;
use std::collections::{BTreeMap, BTreeSet};

/// Words that look like calls of functions and are none.
const SYNTAX: &[&str] =
    &["Fn", "call", "curry", "eval", "is_def_fn", "is_def_var", "is_shared", "type_of", "print", "debug", "this"];

/// The possible meaning of a name in a call.
pub(super) enum Meaning {
    /// Part of the syntax, or it cannot be known.
    Unknown,
    /// A builtin of the table.
    Builtin(&'static Builtin),
    /// A function of Rhai's own, or of the file.
    Other,
    /// None that takes so many.
    Takes,
    /// There is none.
    Nothing,
}

/// The functions that a script can call.
pub(super) struct Functions {
    /// The numbers of arguments by namespace and name.
    all: BTreeMap<(String, String), BTreeSet<usize>>,
    /// The functions of Rhai itself and of the file, which take precedence over builtins.
    first: BTreeSet<(String, usize)>,
    /// Builtins by the names that they have in Rhai.
    rows: BTreeMap<(&'static str, String), &'static Builtin>,
    pub(super) known: Vec<KnownFunction>,
}

impl Functions {
    pub(super) fn of(plain: &Engine, front_end: &RhaiFrontEnd, tokens: &Tokens<'_>) -> Self {
        let mut all: BTreeMap<(String, String), BTreeSet<usize>> = BTreeMap::new();
        let mut first = BTreeSet::new();
        for known in names::functions(plain) {
            first.insert((known.name, known.parameters));
        }
        let known = names::functions(front_end.engine());
        for function in &known {
            all.entry((function.namespace.clone(), function.name.clone())).or_default().insert(function.parameters);
        }
        for (name, parameters, _) in tokens.functions() {
            all.entry((String::new(), name.to_owned())).or_default().insert(parameters);
            first.insert((name.to_owned(), parameters));
        }
        let rows = crate::table::registry().all().filter(|row| !row.is_method());
        let rows = rows.map(|row| ((row.module, name_in_rhai(row.name)), row)).collect();
        Self { all, first, rows, known }
    }

    /// Returns the meaning of a call with `count` arguments.
    pub(super) fn meaning(&self, namespace: &str, name: &str, count: usize) -> Meaning {
        if namespace.is_empty() && SYNTAX.contains(&name) {
            return Meaning::Unknown;
        }
        let Some(counts) = self.all.get(&(namespace.to_owned(), name.to_owned())) else { return Meaning::Nothing };
        if namespace.is_empty() && self.first.contains(&(name.to_owned(), count)) {
            return Meaning::Other;
        }
        if !counts.contains(&count) {
            return Meaning::Takes;
        }
        let row = self.rows.iter().find(|((module, of), _)| *module == namespace && of == name);
        row.map_or(Meaning::Other, |(_, row)| Meaning::Builtin(row))
    }

    /// Whether a namespace is one of the table's.
    pub(super) fn has_namespace(&self, namespace: &str) -> bool {
        self.all.keys().any(|(of, _)| of == namespace)
    }
}
