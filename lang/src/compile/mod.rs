//! From the tree to instructions.
//!
//! - [`compile`]: a module's top-level statements become one function, its functions and pipelines one each.
//! - `function`: registers, jumps and spans of the function being written.
//! - `statement`, `assign`, `loops`, `expression`, `condition`, `call`, `pattern`, `record`, `pipeline`, `flow`: one
//!   file per part of the language.
//! - `types`: written types that are asked while running; `border`: values that are checked against them.
//! - `tasks`: `spawn`, `parallel`, `deadline`, `mutex`, `select`.
//! - `test_entries`, `observe`: the tests of a file, and what a run for tests observes.
//! - `tool`, `schema`: what a `tool` declaration builds, and the JSON Schemas of its types.

mod assign;
mod border;
mod call;
mod codes;
mod condition;
mod definition;
mod expression;
mod flow;
mod function;
mod loops;
mod messages;
mod observe;
mod pattern;
mod pipeline;
mod public_entries;
mod record;
mod schema;
mod statement;
mod tasks;
mod test_entries;
mod tool;
mod types;

pub use codes::CompileCode;
pub use public_entries::{PublicEntry, PublicKind};
pub use schema::type_schema;
pub use test_entries::{CompileMode, TestEntry, Tests};

use crate::ast::{FnDecl, Item, ItemKind, Module, Stmt, StmtKind};
use crate::check::Borders;
use crate::diagnostic::{Diagnostic, Severity, TraceFrame};
use crate::module::{FileId, Modules, Origin, Placed};
use crate::resolve::{BindingId, BindingKind, Resolution, Role};
use crate::source::{SourceRef, Span};
use crate::value::Str;
use crate::vm::verify::verify_function;
use crate::vm::{Isolate, Op, Place, Proto};
use function::FnState;
use smol_str::SmolStr;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

/// A compiled file.
pub struct Unit {
    /// The files it imports that have not been evaluated yet, in the order in which they must be.
    pub before: Vec<Imported>,
    /// Its top-level statements.
    pub main: Rc<Proto>,
    /// Its pipelines in the order of the text.
    pub pipelines: Vec<Entry>,
    /// Its entry points for others, if it was compiled for them.
    pub public: Vec<PublicEntry>,
    /// Its tests, if it was compiled for them.
    pub tests: Tests,
    /// The globals its top-level names live in, for a later piece of the same session.
    pub globals: Vec<crate::resolve::Outer>,
}

/// An imported file that is to be evaluated.
pub struct Imported {
    /// Its number.
    pub file: FileId,
    /// Its top-level statements.
    pub main: Rc<Proto>,
    /// The imports that led to it, the nearest first.
    pub trail: Vec<TraceFrame>,
}

/// A pipeline that can be run.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its name.
    pub name: SmolStr,
    /// Its number in the isolate.
    pub function: usize,
    /// The names of its parameters.
    pub params: Vec<SmolStr>,
    /// Whether it may run again where a process ended in the middle of it.
    pub resumable: bool,
    /// Span of its name.
    pub span: Span,
}

/// Compiles a resolved module into `isolate`.
///
/// # Errors
/// Diagnostics of the compiler. If there is one, no code is loaded.
pub fn compile(
    isolate: &Rc<Isolate>,
    (source, module): (&SourceRef, &Module),
    (names, borders): (&Resolution, &Borders),
    modules: &Modules,
    role: Role,
    mode: CompileMode,
) -> Result<(Unit, Placed), Vec<Diagnostic>> {
    let mut compiler = Compiler {
        role,
        mode,
        isolate,
        source,
        names,
        borders,
        modules,
        globals: HashMap::new(),
        functions: HashMap::new(),
        fns: Vec::new(),
        found: Vec::new(),
        pipelines: Vec::new(),
        made: Vec::new(),
        variants: record::Variants::default(),
        extending: pipeline::collect(module),
        overrides: HashMap::new(),
    };
    let unit = compiler.module(module)?;
    Ok((unit, Placed { globals: compiler.globals, functions: compiler.functions }))
}

/// The state of one compilation.
pub(crate) struct Compiler<'a> {
    isolate: &'a Rc<Isolate>,
    source: &'a SourceRef,
    names: &'a Resolution,
    /// The values that are checked while running.
    borders: &'a Borders,
    /// The files it imports from.
    modules: &'a Modules,
    /// Globals by binding.
    globals: HashMap<BindingId, u32>,
    /// Functions known by number, by binding.
    functions: HashMap<BindingId, u16>,
    /// Functions being written, the innermost last.
    fns: Vec<FnState>,
    found: Vec<Diagnostic>,
    pipelines: Vec<Entry>,
    /// Functions with their numbers; nothing reaches them there before all are verified.
    made: Vec<(usize, Rc<Proto>)>,
    /// Variants that are made once.
    variants: record::Variants,
    /// The pipelines of the file.
    extending: pipeline::Pipelines<'a>,
    /// In a pipeline that extends another: the functions that take the place of others.
    overrides: HashMap<BindingId, &'a FnDecl>,
    role: Role,
    mode: CompileMode,
}

impl<'a> Compiler<'a> {
    fn module(&mut self, module: &'a Module) -> Result<Unit, Vec<Diagnostic>> {
        self.place_globals();
        self.names.bindings.iter().filter_map(|b| b.def.as_ref()).for_each(|d| self.isolate.definitions().keep(d));
        let decls: Vec<(&Item, &FnDecl)> = module.body.iter().filter_map(top_function).collect();
        let mut numbers = Vec::with_capacity(decls.len());
        for (_, decl) in &decls {
            let number = self.isolate.add_function(Rc::new(Proto::default()));
            numbers.push(number);
            if let Some(id) = self.names.made(decl.name.id) {
                match u16::try_from(number) {
                    Ok(number) => {
                        self.functions.insert(id, number);
                    }
                    Err(_) => self.too_large(decl.name.span, "functions"),
                }
            }
        }
        let members = self.number_members(module);
        self.members(members);
        self.fns.push(FnState::new(None, None));
        self.fn_mut().proto.source = Some(self.source.clone());
        self.fn_mut().proto.name = Some(Str::new(if self.role == Role::Imported { "<module>" } else { "<main>" }));
        // Functions used as values must be there before the first statement runs.
        for ((item, decl), number) in decls.iter().zip(&numbers) {
            let proto = if test_entries::is_of_tests(item) {
                self.uncovered(|compiler| compiler.top_function(item, decl))
            } else {
                self.top_function(item, decl)
            };
            self.made.push((*number, proto.clone()));
            self.publish(item, decl, *number, proto);
        }
        let tests = match self.role {
            Role::Script if self.mode.tests => self.tests(module, &numbers),
            _ => Tests::default(),
        };
        let public = match self.role {
            Role::Script if self.mode.public => self.public_entries(module, &numbers),
            _ => Vec::new(),
        };
        // A piece of a session gives the value of its last expression; a script only what it returns.
        if self.role == Role::Piece {
            self.tail_statements(&module.body);
        } else {
            self.statements(&module.body, None);
        }
        if self.role == Role::Script {
            // Tells the end of the text from a `return`, after which no pipeline is run.
            let end = self.temp();
            self.load(crate::value::Value::Unbound, end, Span::default());
            self.emit(Op::Return { src: end }, Span::default());
        }
        self.emit(Op::ReturnNil, Span::default());
        let main = self.finish_fn();
        if self.found.iter().any(|d| d.severity == Severity::Error) {
            self.found.sort_by_key(Diagnostic::position);
            return Err(std::mem::take(&mut self.found));
        }
        self.verify(&main)?;
        for (number, proto) in std::mem::take(&mut self.made) {
            self.isolate.set_function(number, proto);
        }
        self.isolate.keep(&main);
        let pipelines = std::mem::take(&mut self.pipelines);
        Ok(Unit { before: Vec::new(), main, pipelines, public, tests, globals: self.exported() })
    }

    /// Checks all that was compiled, before any of it can run.
    fn verify(&self, main: &Proto) -> Result<(), Vec<Diagnostic>> {
        let made: BTreeSet<usize> = self.made.iter().map(|(number, _)| *number).collect();
        let mut functions = self.made.iter().map(|(_, proto)| &**proto).chain([main]);
        let checked = functions.try_for_each(|proto| verify_function(self.isolate, &made, proto));
        checked.map_err(|refused| vec![messages::not_verified(self.source, refused)])
    }

    fn place_globals(&mut self) {
        let fresh: Vec<BindingId> = (0_u32..)
            .zip(&self.names.bindings)
            .filter(|(_, b)| b.global && b.slot.is_none() && !b.imported())
            .map(|(id, _)| id)
            .collect();
        let first = self.isolate.add_globals(fresh.len());
        for (slot, id) in (first..).zip(fresh) {
            self.globals.insert(id, slot);
        }
        for (id, binding) in (0_u32..).zip(&self.names.bindings) {
            if let Some(slot) = binding.slot {
                self.globals.insert(id, slot);
            }
            if let Some(origin) = binding.origin {
                self.place_import(id, origin);
            }
        }
    }

    /// A name of another file lives where that file put it.
    fn place_import(&mut self, id: BindingId, origin: Origin) {
        let Some(file) = self.modules.file(origin.file) else { return };
        let Some(placed) = file.placed.get() else { return };
        if let Some(slot) = placed.globals.get(&origin.binding) {
            self.globals.insert(id, *slot);
        }
        if let Some(number) = placed.functions.get(&origin.binding) {
            self.functions.insert(id, *number);
        }
    }

    fn exported(&self) -> Vec<crate::resolve::Outer> {
        (0_u32..)
            .zip(&self.names.bindings)
            .filter(|(_, b)| b.top && b.slot.is_none())
            .filter_map(|(id, b)| {
                // Another name for a builtin lives nowhere.
                let slot = if b.builtin.is_some() { 0 } else { *self.globals.get(&id)? };
                let (name, variable) = (b.name.clone(), b.kind == BindingKind::Var);
                let (origin, builtin, def) = (b.origin, b.builtin, b.def.clone());
                Some(crate::resolve::Outer { name, variable, slot, origin, builtin, def })
            })
            .collect()
    }

    fn top_function(&mut self, item: &'a Item, decl: &'a FnDecl) -> Rc<Proto> {
        let own = self.names.made(decl.name.id);
        match item.kind {
            ItemKind::Pipeline { .. } => self.pipeline(decl, own),
            _ => self.function(decl, own, false),
        }
    }

    /// Makes a compiled top-level function reachable: as a pipeline, a value, a tool.
    fn publish(&mut self, item: &'a Item, decl: &'a FnDecl, number: usize, proto: Rc<Proto>) {
        if let ItemKind::Pipeline { .. } = &item.kind {
            let params = self.pipeline_params(decl);
            let (name, resumable, span) = (decl.name.text.clone(), item.is_resumable(), decl.name.span);
            self.pipelines.push(Entry { name, function: number, params, resumable, span });
        }
        let Some(id) = self.names.made(decl.name.id) else { return };
        let binding = self.names.binding(id);
        let tool = matches!(item.kind, ItemKind::Tool { .. });
        if !binding.read && !binding.global && !tool {
            return;
        }
        // Used by its number where it is called; as a value it is this one closure, always the same.
        let reg = self.temp();
        let at = self.fn_mut().proto.protos.len();
        self.fn_mut().proto.protos.push(proto);
        self.emit(Op::Closure { dst: reg, proto: u32::try_from(at).unwrap_or(0) }, decl.name.span);
        if let ItemKind::Tool { decl, description } = &item.kind {
            self.tool_value(decl, description.as_ref(), item.doc.as_deref(), reg);
        }
        match self.globals.get(&id).copied() {
            Some(slot) => {
                self.emit(Op::SetGlobal { src: reg, slot }, decl.name.span);
                self.free_to(reg);
            }
            None => self.fn_mut().bind_register(id, reg),
        }
    }

    // Reporting

    fn report(&mut self, d: Diagnostic) {
        self.found.push(d);
    }

    fn too_large(&mut self, span: Span, what: &str) {
        self.report(messages::too_large(self.source, span, what));
    }

    fn nonsense(&mut self, span: Span, message: &str, help: &str) {
        self.report(messages::nonsense(self.source, span, message, help));
    }

    // Where bindings live

    fn place_of(&mut self, id: BindingId) -> Place {
        if let Some(slot) = self.globals.get(&id) {
            return Place::Global(*slot);
        }
        let boxed = self.names.binding(id).boxed();
        if let Some(reg) = self.fn_ref().register_of(id) {
            return if boxed { Place::Cell(reg) } else { Place::Register(reg) };
        }
        // The resolver made sure that it is in a function around this one.
        Place::CaptureCell(self.capture(self.fns.len() - 1, id))
    }

    fn capture(&mut self, level: usize, id: BindingId) -> u16 {
        if let Some(i) = self.fns[level].captured.iter().position(|c| *c == id) {
            // One too many has been reported.
            return u16::try_from(i).unwrap_or(0);
        }
        let from = match level.checked_sub(1) {
            None => {
                // The file's own names are globals, so there is nothing around it to capture from.
                let binding = self.names.binding(id);
                self.report(messages::no_capture(self.source, &binding.name, binding.span));
                return 0;
            }
            Some(outer) => match self.fns[outer].register_of(id) {
                Some(reg) => crate::vm::Capture::Register(reg),
                None => crate::vm::Capture::Outer(self.capture(outer, id)),
            },
        };
        let state = &mut self.fns[level];
        state.captured.push(id);
        state.proto.captures.push(from);
        let at = state.captured.len() - 1;
        let span = self.names.binding(id).span;
        self.index(at, span, "variables of other functions")
    }
}

fn top_function(stmt: &Stmt) -> Option<(&Item, &FnDecl)> {
    let StmtKind::Item(item) = &stmt.kind else { return None };
    match &item.kind {
        ItemKind::Fn(decl) | ItemKind::Pipeline { decl, .. } | ItemKind::Tool { decl, .. } => Some((item, decl)),
        _ => None,
    }
}
