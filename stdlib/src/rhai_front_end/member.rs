//! Operations on values that Rhai has no type for: reading, iterating, comparing, printing.

use super::RhaiFrontEnd;
use super::convert::{ConversionContext, to_dynamic, to_value};
use super::errors::to_rhai;
use super::offer::add;
use super::value::Opaque;
use lang::value::{Tag, Value, display, equal, inspect};
use lang::vm::{Raise, RunCode, call, inside, iterate, read};
use rhai::{Dynamic, EvalAltResult, Module};
use std::any::TypeId;
use std::rc::{Rc, Weak};

/// Adds them.
pub(super) fn add_members(module: &mut Module) {
    let (opaque, any) = (TypeId::of::<Opaque>(), TypeId::of::<Dynamic>());
    // Rhai reads properties through it as well, since there are no getters.
    add(module, "index$get$", &[opaque, any], "value[key]", " The field or element with this key.", |context, args| {
        let Some(front_end) = RhaiFrontEnd::of(context) else { return Ok(Dynamic::UNIT) };
        let from = ConversionContext { front_end: &front_end, context };
        let value = value_of(args[0]);
        let key = to_value(std::mem::take(args[1]), from).map_err(to_rhai)?;
        let found = inside(|cx| read(cx, &value, &key)).unwrap_or_else(|| Err(nobody()));
        found.map(|value| to_dynamic(value, &front_end)).map_err(to_rhai)
    });
    let set = |context: &rhai::NativeCallContext<'_>, args: &mut [&mut Dynamic]| {
        let object = value_of(args[0]);
        // Rhai writes back what a method was called on, whether the method changed it or not.
        if let Some(front_end) = RhaiFrontEnd::of(context) {
            let from = ConversionContext { front_end: &front_end, context };
            let key = to_value(std::mem::take(args[1]), from).map_err(to_rhai)?;
            let new = to_value(std::mem::take(args[2]), from).map_err(to_rhai)?;
            if let Some(Ok(old)) = inside(|cx| read(cx, &object, &key))
                && equal(&old, &new)
            {
                return Ok(Dynamic::UNIT);
            }
        }
        let name = object.type_name();
        Err(to_rhai(
            Raise::error(RunCode::Type, format!("a {name} cannot be changed"))
                .help("use a builtin, which returns the changed value"),
        ))
    };
    add(module, "index$set$", &[opaque, any, any], "value[key] = value", " Values of the run cannot be changed.", set);
    for name in ["to_string", "print"] {
        add(module, name, &[opaque], "to_string(value)", " Returns the value as text.", |_, args| {
            Ok(display(&value_of(args[0])).into())
        });
    }
    for name in ["to_debug", "debug"] {
        add(module, name, &[opaque], "to_debug(value)", " Returns the value as text.", |_, args| {
            Ok(inspect(&value_of(args[0])).into())
        });
    }
    for (name, wanted) in [("==", true), ("!=", false)] {
        add(module, name, &[opaque, opaque], "a == b", " Compares two values.", move |_, args| {
            Ok((equal(&value_of(args[0]), &value_of(args[1])) == wanted).into())
        });
    }
}

/// Returns the iterators over such values. They receive no context, so each engine has its own.
pub(super) fn walks(front_end: &Weak<RhaiFrontEnd>) -> Module {
    let (own, mut module) = (front_end.clone(), Module::new());
    module.set_iter_result(TypeId::of::<Opaque>(), move |dynamic| Box::new(OpaqueIterator::new(dynamic, &own)));
    module
}

fn value_of(dynamic: &Dynamic) -> Value {
    dynamic.read_lock::<Opaque>().map(|opaque| opaque.value().clone()).unwrap_or_default()
}

fn nobody() -> Box<Raise> {
    Raise::error(RunCode::Outside, "this value can be read only during its run")
}

/// A walk over such a value.
struct OpaqueIterator {
    front_end: Weak<RhaiFrontEnd>,
    iter: Result<Value, Option<Box<Raise>>>,
}

impl OpaqueIterator {
    fn new(dynamic: Dynamic, front_end: &Weak<RhaiFrontEnd>) -> Self {
        let value = dynamic.try_cast::<Opaque>().map(Opaque::into_value).unwrap_or_default();
        Self { front_end: front_end.clone(), iter: iterate(value).map_err(Some) }
    }

    fn step(&mut self, front_end: &Rc<RhaiFrontEnd>) -> Result<Option<Dynamic>, Box<Raise>> {
        let iter = match &mut self.iter {
            Ok(iter) => iter.clone(),
            Err(raise) => return raise.take().map_or(Ok(None), Err),
        };
        let next = inside(|cx| cx.isolate.registry().find(Tag::Iter.module(), "next")).flatten();
        let Some(next) = next else { return Ok(None) };
        let step = call(Value::Builtin(next), vec![iter])?;
        let entries = step.as_dict();
        let over = entries.and_then(|step| step.get_str("done")).is_none_or(Value::truthy);
        let value = entries.and_then(|step| step.get_str("value")).cloned().unwrap_or_default();
        Ok((!over).then(|| to_dynamic(value, front_end)))
    }
}

impl Iterator for OpaqueIterator {
    type Item = Result<Dynamic, Box<EvalAltResult>>;

    fn next(&mut self) -> Option<Self::Item> {
        let front_end = self.front_end.upgrade()?;
        let step = self.step(&front_end);
        if step.is_err() {
            self.iter = Err(None);
        }
        step.map_err(to_rhai).transpose()
    }
}
