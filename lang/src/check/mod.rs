//! Finds code that is certain to fail before the run, and never guesses.
//!
//! - `types`: what is known of a value; `items`: what the file declares.
//! - `infer`: the types of expressions, and what fails because of them.
//! - `members`: struct literals, variants, functions of types.
//! - `attributes`; `interfaces`: `impl Interface for Type`.
//! - `matches`: `match` and alternatives; `cover`: which values patterns cover.
//! - `keys`: fixes that rename a key to one that is there.
//! - `recursion`: functions that always call themselves, and those that hide the builtin they call.
//! - `tools`: tools without a description.
//! - `hidden`: characters that change the order of the text on the screen.
//! - [`ExportedTypes`], [`ImportedTypes`]: the types of what is in other files.
//! - [`TypeTable`]: the types of a file, for tools that answer questions about a position.
//! - `calls`: collects every call of a builtin, for the lints of their rows.
//! - [`view`]: a call as the lints of a builtin's row see it.
//! - [`CheckCode`]: the catalogue.

mod attributes;
mod calls;
mod codes;
mod cover;
mod hidden;
mod imported;
mod infer;
mod interfaces;
mod items;
mod keys;
mod matches;
mod members;
mod messages;
mod recursion;
mod table;
mod tools;
pub(crate) mod types;
pub mod view;

pub use crate::parse::signature;
pub use codes::CheckCode;
pub use imported::{ExportedTypes, ImportedTypes, SessionTypes};
pub use infer::Borders;
pub(crate) use infer::{Border, BorderKind};
pub use table::{KeyView, TypeTable, TypeView};
pub use view::{CallView, DictView, returned};

use crate::ast::visit::{Visit, walk_block, walk_expr, walk_item, walk_module, walk_pattern, walk_stmt};
use crate::ast::{Block, Expr, Item, Module, NodeMap, Pattern, Stmt};
use crate::declaration::{Registry, Right};
use crate::diagnostic::Diagnostic;
use crate::module::{Exports, FileId};
use crate::resolve::{Resolution, Role, Surroundings, resolve};
use crate::source::SourceRef;
use attributes::Attributes;
use calls::{Call, Calls};
use interfaces::Interfaces;
use items::Declared;
use matches::Matches;
use members::Members;
use recursion::Recursion;
use tools::Tools;

/// Returns the type of the last expression of a resolved module, as a script would write it.
#[must_use]
pub fn type_of(
    source: &SourceRef,
    module: &Module,
    names: &Resolution,
    registry: Registry,
    imported: &ImportedTypes,
) -> String {
    infer::infer(source, module, Declared::new(names, registry, imported), false, &mut Vec::new()).last.to_string()
}

/// Returns the types of the expressions and bindings of a resolved module.
#[must_use]
pub fn types(
    source: &SourceRef,
    module: &Module,
    names: &Resolution,
    registry: Registry,
    imported: &ImportedTypes,
) -> TypeTable {
    let world = Declared::new(names, registry, imported);
    let inferred = infer::infer(source, module, world, true, &mut Vec::new());
    TypeTable::new(inferred.expressions.unwrap_or_default(), inferred.bases)
}

/// A resolved module, and what it imports.
#[derive(Clone, Copy)]
pub struct ResolvedModule<'a> {
    /// The text.
    pub source: &'a SourceRef,
    /// Its tree.
    pub module: &'a Module,
    /// The meanings of its names.
    pub names: &'a Resolution,
    /// The types of what it imports.
    pub imported: &'a ImportedTypes,
}

/// The types that a check has found.
pub struct CheckOutcome {
    /// The types that other files can import.
    pub exported: ExportedTypes,
    /// The types of expressions and bindings; empty unless they are kept.
    pub types: TypeTable,
    /// The places that are checked while running.
    pub borders: Borders,
}

/// Checks a resolved module, the file `file` with these exports. With `keep`, the types of expressions are kept.
pub fn check(
    of: ResolvedModule<'_>,
    (file, exports): (FileId, &Exports),
    registry: Registry,
    denied: &[Right],
    keep: bool,
    found: &mut Vec<Diagnostic>,
) -> CheckOutcome {
    let ResolvedModule { source, module, names, imported } = of;
    hidden::check(source, found);
    let mut passes = Passes {
        members: Members::new(source, names),
        matches: Matches::new(source, names),
        interfaces: Interfaces::new(source, names),
        attributes: Attributes::new(source),
        calls: Calls::new(names),
        recursion: Recursion::new(source, names, registry),
        tools: Tools::new(source),
    };
    walk_module(&mut passes, module);
    let Passes { members, matches, interfaces, attributes, calls, recursion, tools } = passes;
    found.extend([members.found, matches.found, interfaces.found, attributes.found].into_iter().flatten());
    found.extend([recursion.found, tools.found].into_iter().flatten());
    let before = found.len();
    let inferred = infer::infer(source, module, Declared::new(names, registry, imported), keep, found);
    once(found, before);
    lint(source, &calls, &inferred.linted, denied, found);
    keys::keep_unique(source, module, found);
    let exported = imported::exported_types(file, &inferred.world, (&inferred.bases, &inferred.results), exports);
    let types = TypeTable::new(inferred.expressions.unwrap_or_default(), inferred.bases);
    CheckOutcome { exported, types, borders: inferred.borders }
}

/// The passes that look at nodes one by one; they share one visit of the tree.
struct Passes<'a> {
    members: Members<'a>,
    matches: Matches<'a>,
    interfaces: Interfaces<'a>,
    attributes: Attributes<'a>,
    calls: Calls<'a>,
    recursion: Recursion<'a>,
    tools: Tools<'a>,
}

impl<'a> Visit<'a> for Passes<'a> {
    fn stmt(&mut self, stmt: &'a Stmt) {
        self.calls.stmt(stmt);
        walk_stmt(self, stmt);
    }

    fn item(&mut self, item: &'a Item) {
        self.interfaces.item(item);
        self.attributes.item(item);
        self.recursion.item(item);
        self.tools.item(item);
        walk_item(self, item);
    }

    fn expr(&mut self, e: &'a Expr) {
        self.members.expr(e);
        self.matches.expr(e);
        self.calls.expr(e);
        walk_expr(self, e);
    }

    fn block(&mut self, block: &'a Block) {
        self.attributes.depth += 1;
        walk_block(self, block);
        self.attributes.depth -= 1;
    }

    fn pattern(&mut self, pattern: &'a Pattern) {
        self.members.pattern(pattern);
        self.matches.pattern(pattern);
        walk_pattern(self, pattern);
    }
}

/// Collects the calls of builtins alone.
struct CallsOnly<'a>(Calls<'a>);

impl<'a> Visit<'a> for CallsOnly<'a> {
    fn stmt(&mut self, stmt: &'a Stmt) {
        self.0.stmt(stmt);
        walk_stmt(self, stmt);
    }

    fn expr(&mut self, e: &'a Expr) {
        self.0.expr(e);
        walk_expr(self, e);
    }
}

/// Checks the calls of builtins in a module that was made of a text in another language: what their signatures take, and
/// what their rows look at. Nothing else of it is judged; names have been looked up there.
pub fn check_calls(
    source: &SourceRef,
    module: &Module,
    registry: Registry,
    denied: &[Right],
    found: &mut Vec<Diagnostic>,
) {
    hidden::check(source, found);
    let around = Surroundings { outer: &[], links: NodeMap::default(), role: Role::Script };
    let (names, _) = resolve(source, module, registry, &around);
    let mut of_types = Vec::new();
    let imported = ImportedTypes::default();
    let inferred = infer::infer(source, module, Declared::new(&names, registry, &imported), false, &mut of_types);
    once(&mut of_types, 0);
    let of_calls = [CheckCode::Type, CheckCode::Key, CheckCode::Missing, CheckCode::Arity];
    found.extend(of_types.into_iter().filter(|d| of_calls.iter().any(|code| d.code == *code)));
    let mut calls = CallsOnly(Calls::new(&names));
    walk_module(&mut calls, module);
    lint(source, &calls.0, &inferred.linted, denied, found);
    keys::keep_unique(source, module, found);
}

/// Arguments that the rows of the builtins inspect.
fn lint<'a>(
    source: &'a SourceRef,
    calls: &'a Calls<'a>,
    methods: &'a [Call<'a>],
    denied: &'a [Right],
    found: &mut Vec<Diagnostic>,
) {
    let before = found.len();
    for call in calls.all.iter().chain(methods) {
        if let Some(lint) = call.row.lint {
            lint(&CallView::new(source, call, calls, denied), found);
        }
    }
    // A lint says more about a value than that its type is wrong.
    let linted: std::collections::HashSet<u32> = found[before..].iter().map(Diagnostic::position).collect();
    let mut at = 0;
    found.retain(|d| {
        at += 1;
        at > before || d.code != CheckCode::Type || !linted.contains(&d.position())
    });
}

/// A literal that is handed to two functions may be wrong for both in the same way; once is enough.
fn once(found: &mut Vec<Diagnostic>, from: usize) {
    let mut seen = std::collections::HashSet::new();
    let mut i = 0;
    found.retain(|d| {
        i += 1;
        i <= from || seen.insert((d.code, d.position(), d.message.clone()))
    });
}
