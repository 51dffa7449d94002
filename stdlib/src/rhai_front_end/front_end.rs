//! A Rhai engine with what it may reach.

use super::config::{FrontEndConfig, Offers};
use super::errors::terminated;
use super::function::Holder;
use super::import::Resolver;
use super::member::{add_members, walks};
use super::method::add_methods;
use super::offer::modules;
use super::shadow::{rename_tokens, shadows};
use super::task::add_tasks;
use super::value::Opaque;
use crate::table::registry;
use lang::builtins::Builtin;
use lang::source::{SourceRef, Span};
use lang::vm::{inside, interrupt, tick};
use rhai::packages::{Package, StandardPackage};
use rhai::{Dynamic, Engine, Module, NativeCallContext, OptimizationLevel, Position, Shared};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::{Rc, Weak};

/// Levels of an expression, and blocks in blocks: the parser needs the native stack for them.
const EXPRESSION_DEPTH: usize = 100;

/// An engine and what its scripts reach.
pub(crate) struct RhaiFrontEnd {
    engine: Engine,
    offers: Offers,
    /// The files that were read, by their names in errors.
    sources: RefCell<BTreeMap<String, SourceRef>>,
    /// Its closures out in the run.
    holders: RefCell<Vec<Weak<Holder>>>,
}

/// The owner of an engine, for the functions that engines share.
#[derive(Clone)]
struct OwnFrontEnd(Weak<RhaiFrontEnd>);

impl RhaiFrontEnd {
    /// An engine with these surroundings.
    pub(crate) fn new(surroundings: FrontEndConfig) -> Rc<Self> {
        Rc::new_cyclic(|this| {
            let offers = surroundings.offers;
            let engine = engine(this, surroundings);
            Self { engine, offers, sources: RefCell::default(), holders: RefCell::default() }
        })
    }

    /// The one whose engine calls a function.
    pub(super) fn of(context: &NativeCallContext<'_>) -> Option<Rc<Self>> {
        context.engine().default_tag().read_lock::<OwnFrontEnd>()?.0.upgrade()
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Whether its scripts may call a row.
    pub(super) fn offers(&self, row: &'static Builtin) -> bool {
        (self.offers)(row)
    }

    /// Remembers a file for errors.
    pub(super) fn know(&self, source: &SourceRef) {
        self.sources.borrow_mut().insert(source.name().to_owned(), source.clone());
    }

    /// The file of that name.
    pub(super) fn source(&self, name: &str) -> Option<SourceRef> {
        self.sources.borrow().get(name).cloned()
    }

    /// Remembers a closure that went out.
    pub(super) fn note(&self, holder: &Rc<Holder>) {
        let mut holders = self.holders.borrow_mut();
        if holders.len() == holders.capacity() {
            holders.retain(|holder| holder.strong_count() > 0);
        }
        holders.push(Rc::downgrade(holder));
    }

    /// A position in a file.
    pub(super) fn place(&self, name: Option<&str>, at: Position) -> Option<(SourceRef, Span)> {
        let source = self.source(name?)?;
        let span = super::errors::span_at(&source, at)?;
        Some((source, span))
    }

    /// Lets go of its closures, wherever they are: what one captured may hold the closure itself, or the run.
    pub(crate) fn close(&self) {
        let holders = self.holders.take();
        holders.iter().filter_map(Weak::upgrade).for_each(|holder| holder.clear());
    }
}

/// The modules that all engines of a thread share if they offer the same rows: creating them takes
/// longer than most scripts.
#[derive(Clone)]
struct Offer {
    namespaces: Vec<(&'static str, Shared<Module>)>,
    /// The last is looked at first.
    globals: [Shared<Module>; 3],
}

impl Offer {
    fn of(offers: Offers) -> Self {
        thread_local! {
            static MADE: RefCell<Vec<(Offers, Offer)>> = const { RefCell::new(Vec::new()) };
        }
        let found = MADE.with_borrow(|made| {
            let same = made.iter().find(|(known, _)| std::ptr::fn_addr_eq(*known, offers));
            same.map(|(_, offer)| offer.clone())
        });
        found.unwrap_or_else(|| {
            let offer = Self::make(&registry().all().filter(|row| offers(row)).collect::<Vec<_>>());
            MADE.with_borrow_mut(|made| made.push((offers, offer.clone())));
            offer
        })
    }

    fn make(rows: &[&'static Builtin]) -> Self {
        let mut global = Module::new();
        let mut namespaces = Vec::new();
        for (name, mut module) in modules(rows) {
            if name.is_empty() {
                global.combine(module);
            } else {
                module.build_index();
                namespaces.push((name, module.into()));
            }
        }
        add_methods(rows, &mut global);
        add_members(&mut global);
        add_tasks(rows, &mut global);
        global.build_index();
        let mut before = shadows(rows);
        before.build_index();
        // What comes later is looked at first: Rhai's own functions stay as people know them.
        Self { namespaces, globals: [global.into(), StandardPackage::new().as_shared_module(), before.into()] }
    }
}

fn engine(this: &Weak<RhaiFrontEnd>, surroundings: FrontEndConfig) -> Engine {
    let mut engine = Engine::new_raw();
    // It would put constants in the place of their names, also where they are assigned to, and panic.
    engine.set_optimization_level(OptimizationLevel::None);
    engine.set_max_strings_interned(rhai::default_limits::MAX_STRINGS_INTERNED);
    engine.register_type_with_name::<Opaque>("value");
    engine.set_default_tag(Dynamic::from(OwnFrontEnd(this.clone())));
    let Offer { namespaces, globals } = Offer::of(surroundings.offers);
    for (name, module) in namespaces {
        engine.register_static_module(name, module);
    }
    for module in globals {
        engine.register_global_module(module);
    }
    let mut walks = walks(this);
    walks.build_index();
    engine.register_global_module(walks.into());
    if let Some(mut own) = surroundings.own {
        own.build_index();
        engine.register_global_module(own.into());
    }
    rename_tokens(&mut engine);
    engine.set_max_call_levels(surroundings.depth);
    engine.set_max_expr_depths(EXPRESSION_DEPTH, EXPRESSION_DEPTH);
    engine.set_max_string_size(surroundings.string_bytes.unwrap_or(0));
    engine.set_max_array_size(surroundings.elements.unwrap_or(0));
    engine.set_max_map_size(surroundings.elements.unwrap_or(0));
    if !surroundings.evaluates {
        engine.disable_symbol("eval");
    }
    engine.set_module_resolver(Resolver::new(this.clone(), surroundings.loader));
    let watch = surroundings.watch;
    engine.on_progress(move |_| {
        let looked = tick().and_then(|()| watch.as_ref().map_or(Ok(()), |watch| watch()));
        looked.err().map(terminated)
    });
    engine.on_print(|text| {
        inside(|cx| {
            // Rhai cannot report a failure here, so the run is told to stop.
            if cx.isolate.host().print(&format!("{text}\n")).is_err() {
                interrupt(cx.isolate, &cx.context.task, "cannot write to standard output");
            }
        });
    });
    engine.on_debug(|text, _, _| {
        inside(|cx| cx.isolate.host().eprint(&format!("{text}\n")));
    });
    engine
}
