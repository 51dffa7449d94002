//! Functions that cross: closures of Rhai as functions of the run, and those of the run as function pointers of Rhai.

use super::RhaiFrontEnd;
use super::convert::{ConversionContext, to_dynamic, to_value};
use super::errors::{outcome_of, to_rhai};
use super::value::Opaque;
use lang::source::{SourceRef, Span};
use lang::value::{HostBox, HostObject, Value};
use lang::vm::{Callable, Cx, Outcome, Raise, RunCode, Wait, begin, call, roomy};
use rhai::{Dynamic, EvalAltResult, FnPtr, GlobalRuntimeState, NativeCallContext, Position};
use std::any::Any;
use std::cell::RefCell;
use std::rc::Rc;

/// A closure of Rhai as a function of the run.
pub(crate) struct RhaiFunction(Rc<Holder>);

/// The data needed for a call. Emptied when the run ends, since a closure's captures may hold the
/// closure.
pub(super) struct Holder(RefCell<Option<Rc<ClosureParts>>>);

impl Holder {
    pub(super) fn clear(&self) {
        self.0.take();
    }
}

struct ClosureParts {
    front_end: Rc<RhaiFrontEnd>,
    pointer: FnPtr,
    /// The functions and imports that were there where it crossed.
    global: GlobalRuntimeState,
    /// The possible numbers of arguments, besides those bound; empty if unknown.
    arities: Vec<usize>,
    place: Option<(SourceRef, Span)>,
}

impl Drop for ClosureParts {
    fn drop(&mut self) {
        // A closure may have captured one that captured one, and so on; Rhai drops them by recursion.
        if self.pointer.is_curried() {
            let captured: Vec<Dynamic> = self.pointer.iter_curry_mut().map(std::mem::take).collect();
            roomy(|| drop(captured));
        }
    }
}

impl RhaiFunction {
    /// A closure as a value of the run.
    pub(super) fn value(pointer: FnPtr, from: ConversionContext<'_>) -> Value {
        // One of the run on its way back.
        if let [only] = pointer.curry()
            && pointer.fn_name() == OF_THE_RUN
            && let Some(opaque) = only.read_lock::<Opaque>()
        {
            return opaque.value().clone();
        }
        let mut global = from.context.global_runtime_state().clone();
        global.level = 0;
        let (arities, place) = known(&pointer, &global, from.front_end);
        let held = ClosureParts { front_end: from.front_end.clone(), pointer, global, arities, place };
        let holder = Rc::new(Holder(RefCell::new(Some(Rc::new(held)))));
        from.front_end.note(&holder);
        HostBox::value(Self(holder))
    }

    /// The pointer that it was made of.
    pub(super) fn pointer(&self) -> Option<FnPtr> {
        self.0.0.borrow().as_ref().map(|held| held.pointer.clone())
    }
}

/// Returns the arities and the location of the function that a pointer names, from the current
/// libraries.
fn known(
    pointer: &FnPtr,
    global: &GlobalRuntimeState,
    front_end: &RhaiFrontEnd,
) -> (Vec<usize>, Option<(SourceRef, Span)>) {
    let (mut arities, mut place) = (Vec::new(), None);
    for module in global.lib.iter().rev() {
        for (.., name, _, function) in module.iter_script_fn_info() {
            if name != pointer.fn_name() {
                continue;
            }
            if let Some(own) = function.params.len().checked_sub(pointer.curry().len()) {
                arities.push(own);
            }
            place = place.or_else(|| front_end.place(module.id(), function.body.start_position()));
        }
    }
    arities.sort_unstable();
    arities.dedup();
    (arities, place)
}

impl HostObject for RhaiFunction {
    fn type_name(&self) -> &'static str {
        "closure"
    }

    fn callable(&self) -> Option<&dyn Callable> {
        Some(self)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Callable for RhaiFunction {
    fn parameters(&self) -> Option<usize> {
        self.0.0.borrow().as_ref().and_then(|held| held.arities.last().copied())
    }

    fn call(&self, cx: &mut Cx<'_>, args: Vec<Value>) -> Result<Wait, Box<Raise>> {
        let held = self.0.0.borrow().clone();
        match held {
            Some(held) => begin(cx, move || held.run(args)),
            None => Err(Raise::cancelled("the run of this function has ended")),
        }
    }

    fn place(&self) -> Option<(SourceRef, Span)> {
        self.0.0.borrow().as_ref()?.place.clone()
    }
}

impl ClosureParts {
    fn run(&self, mut args: Vec<Value>) -> Outcome {
        self.fit(&mut args)?;
        let mut args: Vec<Dynamic> = args.into_iter().map(|arg| to_dynamic(arg, &self.front_end)).collect();
        let context = NativeCallContext::new_with_all_fields(
            self.front_end.engine(),
            self.pointer.fn_name(),
            self.global.source(),
            &self.global,
            Position::NONE,
        );
        let from = ConversionContext { front_end: &self.front_end, context: &context };
        outcome_of(self.pointer.call_raw(&context, None, &mut args), from)
    }

    /// Leaves out what it does not take, as calls by the runtime do.
    fn fit(&self, args: &mut Vec<Value>) -> Result<(), Box<Raise>> {
        let Some(fewest) = self.arities.first() else { return Ok(()) };
        if let Some(most) = self.arities.iter().rev().find(|takes| **takes <= args.len()) {
            args.truncate(*most);
            return Ok(());
        }
        let count = |n: usize| if n == 1 { "1 argument".to_owned() } else { format!("{n} arguments") };
        let was = if args.len() == 1 { "was" } else { "were" };
        let message = format!("this function takes {}, but {} {was} given", count(*fewest), args.len());
        let raise = Raise::error(RunCode::Arity, message);
        Err(match &self.place {
            Some((source, span)) => raise.at(source, *span),
            None => raise,
        })
    }
}

/// The name of pointers to functions of the run.
const OF_THE_RUN: &str = "harn_function";

/// A function of the run as a pointer of Rhai, which `f.call(x)`, `call(f, x)` and Rhai's own functions take.
#[allow(deprecated)] // Rhai's word for what may change
pub(super) fn pointer_of(function: Value, front_end: &Rc<RhaiFrontEnd>) -> Dynamic {
    let own = Opaque::new(function);
    let front_end = Rc::downgrade(front_end);
    let made = FnPtr::from_fn(OF_THE_RUN, move |context, args| {
        let mut args = args.iter_mut().map(|arg| std::mem::take(*arg));
        let function = args.next().and_then(Dynamic::try_cast::<Opaque>).map(Opaque::into_value);
        let (Some(function), Some(front_end)) = (function, front_end.upgrade()) else {
            return Err(EvalAltResult::ErrorFunctionNotFound(OF_THE_RUN.to_owned(), Position::NONE).into());
        };
        let from = ConversionContext { front_end: &front_end, context: &context };
        let args = args.map(|arg| to_value(arg, from)).collect::<Result<Vec<_>, _>>().map_err(to_rhai)?;
        call(function, args).map(|value| to_dynamic(value, &front_end)).map_err(to_rhai)
    });
    match made {
        Ok(mut pointer) => {
            pointer.set_curry([Dynamic::from(own)]);
            pointer.into()
        }
        Err(_) => Dynamic::from(own),
    }
}
