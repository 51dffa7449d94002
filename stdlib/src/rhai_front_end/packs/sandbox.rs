//! The engine of a pack: Rhai's functions of data, bounded ones of harn, and nothing that reaches outside.

use super::meter::Meter;
use super::{builtins, seen, texts, written};
use crate::capability::Capability;
use rhai::module_resolvers::DummyModuleResolver;
use rhai::packages::{
    ArithmeticPackage, BasicArrayPackage, BasicBlobPackage, BasicIteratorPackage, BasicMapPackage, BasicMathPackage,
    BasicStringPackage, BitFieldPackage, LogicPackage, MoreStringPackage, Package,
};
use rhai::{Dynamic, Engine, OptimizationLevel};
use std::cell::RefCell;
use std::rc::Rc;

/// The longest text of a pack, in bytes: reading one is not measured.
pub(super) const LONGEST_PACK: usize = 64 << 10;

/// The maximum nesting of a pack's expressions and blocks.
const NESTING: usize = 48;

/// The maximum kept output of one evaluation, in bytes.
const PRINTED: usize = 4 << 10;

/// The output of a pack in one evaluation.
#[derive(Default)]
pub(super) struct Printed(RefCell<String>);

impl Printed {
    fn line(&self, text: &str) {
        let mut kept = self.0.borrow_mut();
        let room = PRINTED.saturating_sub(kept.len());
        // Control characters are not text.
        kept.extend(text.chars().take(room).map(|c| if c.is_control() && c != '\t' { ' ' } else { c }));
        if room > 0 {
            kept.push('\n');
        }
    }

    /// Returns the output since the last call, line by line.
    pub(super) fn take(&self) -> String {
        self.0.take()
    }
}

/// An engine for one pack.
pub(super) fn engine(meter: &Rc<Meter>, printed: &Rc<Printed>, granted: &[Capability]) -> Engine {
    let mut engine = Engine::new_raw();
    packages(&mut engine);
    limits(&mut engine, meter);
    // Nothing is worked out before the text has been looked at, and nothing that is not counted.
    engine.set_optimization_level(OptimizationLevel::None);
    engine.set_module_resolver(DummyModuleResolver::new());
    engine.set_max_modules(0);
    for word in ["eval", "import", "export"] {
        engine.disable_symbol(word);
    }
    let to = printed.clone();
    engine.on_print(move |text| to.line(text));
    let to = printed.clone();
    engine.on_debug(move |text, _, _| to.line(text));
    texts::register(&mut engine, meter);
    written::register(&mut engine, meter);
    seen::register(&mut engine, meter);
    builtins::register(&mut engine, meter, granted);
    engine
}

/// Rhai's standard library without what waits, ends the script, tells the time or looks at functions.
fn packages(engine: &mut Engine) {
    engine.register_global_module(ArithmeticPackage::new().as_shared_module());
    engine.register_global_module(LogicPackage::new().as_shared_module());
    engine.register_global_module(BitFieldPackage::new().as_shared_module());
    engine.register_global_module(BasicMathPackage::new().as_shared_module());
    engine.register_global_module(BasicStringPackage::new().as_shared_module());
    engine.register_global_module(MoreStringPackage::new().as_shared_module());
    engine.register_global_module(BasicIteratorPackage::new().as_shared_module());
    engine.register_global_module(BasicArrayPackage::new().as_shared_module());
    engine.register_global_module(BasicBlobPackage::new().as_shared_module());
    engine.register_global_module(BasicMapPackage::new().as_shared_module());
}

fn limits(engine: &mut Engine, meter: &Rc<Meter>) {
    let budget = meter.budget();
    engine.set_max_expr_depths(NESTING, NESTING);
    engine.set_max_call_levels(budget.depth);
    engine.set_max_string_size(budget.string);
    engine.set_max_array_size(budget.elements);
    engine.set_max_map_size(budget.elements);
    engine.set_max_variables(1_000);
    engine.set_max_functions(1_000);
    let asked = meter.clone();
    engine.on_progress(move |_| asked.is_over().then_some(Dynamic::UNIT));
}
