//! Files in Rhai that import one another.

use super::errors::{diagnostics_of, raise_from, to_rhai};
use super::script::{is_compiled, text_of};
use super::{ENDING, RhaiFrontEnd};
use crate::capability::Capability;
use lang::module::{Loader, path};
use lang::vm::{Raise, RunCode, inside};
use rhai::grain::Compiler;
use rhai::{Engine, EvalAltResult, GlobalRuntimeState, Module, ModuleResolver, Position, Scope};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::{Rc, Weak};

/// Reads files by the run's loader; each is evaluated once.
pub(super) struct Resolver {
    front_end: Weak<RhaiFrontEnd>,
    loader: Option<Rc<dyn Loader>>,
    /// The modules by identity; `None` while one is being evaluated.
    known: RefCell<BTreeMap<String, Option<Rc<Module>>>>,
}

impl Resolver {
    pub(super) fn new(front_end: Weak<RhaiFrontEnd>, loader: Option<Rc<dyn Loader>>) -> Self {
        Self { front_end, loader, known: RefCell::default() }
    }

    fn load(
        &self,
        engine: &Engine,
        importer: Option<&str>,
        written: &str,
        pos: Position,
    ) -> Result<Rc<Module>, Box<EvalAltResult>> {
        let refused = |raise: Box<Raise>| at(to_rhai(raise), pos);
        let (Some(front_end), Some(loader)) = (self.front_end.upgrade(), &self.loader) else {
            return Err(refused(Raise::error(
                lang::module::ModuleCode::Refused,
                format!("`{written}` cannot be imported: imports are not permitted in this script"),
            )));
        };
        if inside(|cx| cx.isolate.is_denied(Capability::FsRead)).unwrap_or(false) {
            let message = "`import` needs the capability `fs.read`, which this run does not have";
            return Err(refused(Raise::error(RunCode::Denied, message).help(
                "run without `--deny` for this \
                capability",
            )));
        }
        let target = path::target_with(importer.unwrap_or(""), written, ENDING);
        let identity = loader.identity(&target);
        if let Some(known) = self.known.borrow().get(&identity) {
            return match known {
                Some(module) => Ok(module.clone()),
                None => Err(refused(Raise::error(
                    lang::module::ModuleCode::Cycle,
                    format!("`{target}` imports itself, directly or through other files"),
                ))),
            };
        }
        let source = loader.load(&target).map_err(|found| refused(raise_from(*found)))?;
        front_end.know(&source);
        let mut ast = engine.compile(text_of(&source)).map_err(|error| {
            let found = diagnostics_of(&error, &source).into_iter().next();
            refused(found.map_or_else(|| Raise::error(RunCode::Outside, error.to_string()), raise_from))
        })?;
        ast.set_source(source.name());
        self.known.borrow_mut().insert(identity.clone(), None);
        let made = if is_compiled(&source) {
            Module::eval_grain_as_new(Scope::new(), Compiler::new().compile(&ast).into_shared(), engine)
        } else {
            Module::eval_ast_as_new(Scope::new(), &ast, engine)
        };
        match made {
            Ok(module) => {
                let module = Rc::new(module);
                self.known.borrow_mut().insert(identity, Some(module.clone()));
                Ok(module)
            }
            Err(error) => {
                self.known.borrow_mut().remove(&identity);
                Err(EvalAltResult::ErrorInModule(source.name().to_owned(), error, pos).into())
            }
        }
    }
}

impl ModuleResolver for Resolver {
    fn resolve(
        &self,
        engine: &Engine,
        source: Option<&str>,
        path: &str,
        pos: Position,
    ) -> Result<Rc<Module>, Box<EvalAltResult>> {
        self.load(engine, source, path, pos)
    }

    fn resolve_raw(
        &self,
        engine: &Engine,
        global: &mut GlobalRuntimeState,
        _: &mut Scope<'_>,
        path: &str,
        pos: Position,
    ) -> Result<Rc<Module>, Box<EvalAltResult>> {
        self.load(engine, global.source(), path, pos)
    }
}

fn at(mut error: Box<EvalAltResult>, pos: Position) -> Box<EvalAltResult> {
    if error.position().is_none() {
        error.set_position(pos);
    }
    error
}
