//! Values as text. Rhai's own goes down into a value as deep as it is nested, however little of the stack is left, and
//! measures the text when it is there; this one stops at both.

use super::meter::{Limit, Meter};
use rhai::{Array, Dynamic, Engine, EvalAltResult, ImmutableString, Map, NativeCallContext, Position};
use std::fmt::Write;
use std::rc::Rc;

/// Puts bounded functions in the place of Rhai's own.
pub(super) fn register(engine: &mut Engine, meter: &Rc<Meter>) {
    for (name, quoted) in [("to_string", false), ("print", false), ("to_debug", true), ("debug", true)] {
        let m = meter.clone();
        engine.register_fn(name, move |context: NativeCallContext, list: &mut Array| {
            text(&context, &m, |writer| writer.list(list))
        });
        let m = meter.clone();
        engine.register_fn(name, move |context: NativeCallContext, map: &mut Map| {
            text(&context, &m, |writer| writer.map(map))
        });
        let m = meter.clone();
        engine.register_fn(name, move |context: NativeCallContext, value: Dynamic| {
            text(&context, &m, |writer| writer.value(&value, quoted))
        });
    }
    let m = meter.clone();
    engine.register_fn("to_json", move |map: &mut Map| -> Result<ImmutableString, Box<EvalAltResult>> {
        let value = Dynamic::from_map(map.clone());
        match super::data::PackConverter::new(m.budget()).outward(&value) {
            Ok(data) => Ok(data.to_json().into()),
            Err(super::data::PackValueError::Over(limit)) => {
                m.end(limit);
                Err(EvalAltResult::ErrorTerminated(Dynamic::UNIT, Position::NONE).into())
            }
            Err(_) => Err("this map contains values that JSON cannot represent".into()),
        }
    });
}

/// Never fails: where one does, Rhai falls back to its own. The next operation ends what used up its budget here.
fn text(
    context: &NativeCallContext<'_>,
    meter: &Meter,
    write: impl FnOnce(&mut Writer<'_>) -> Option<()>,
) -> ImmutableString {
    let mut writer = Writer { meter, out: String::new(), engine: context.engine() };
    if write(&mut writer).is_none() {
        return ImmutableString::new();
    }
    writer.out.into()
}

struct Writer<'a> {
    meter: &'a Meter,
    out: String,
    engine: &'a Engine,
}

impl Writer<'_> {
    /// Checks the limits; returns `None` once the text is too long or too deep.
    fn room(&self) -> Option<()> {
        if self.out.len() > self.meter.budget().string {
            self.meter.end(Limit::String);
            return None;
        }
        self.meter.has_stack().then_some(())
    }

    fn list(&mut self, list: &[Dynamic]) -> Option<()> {
        self.room()?;
        self.out.push('[');
        for (i, item) in list.iter().enumerate() {
            if i > 0 {
                self.out.push_str(", ");
            }
            self.value(item, true)?;
        }
        self.out.push(']');
        Some(())
    }

    fn map(&mut self, map: &Map) -> Option<()> {
        self.room()?;
        self.out.push_str("#{");
        for (i, (key, item)) in map.iter().enumerate() {
            let comma = if i > 0 { ", " } else { "" };
            let _ = write!(self.out, "{comma}{key:?}: ");
            self.value(item, true)?;
        }
        self.out.push('}');
        Some(())
    }

    fn value(&mut self, value: &Dynamic, quoted: bool) -> Option<()> {
        self.room()?;
        if let Some(list) = value.read_lock::<Array>() {
            return self.list(&list);
        }
        if let Some(map) = value.read_lock::<Map>() {
            return self.map(&map);
        }
        // What is left is not nested. Text grows when it is quoted, at most tenfold.
        let text = match quoted {
            true => format!("{value:?}"),
            false => value.to_string(),
        };
        // The name of a type that scripts know by another.
        self.out.push_str(if value.is_variant() { self.engine.map_type_name(&text) } else { &text });
        self.room()
    }
}
