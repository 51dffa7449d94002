//! Functions of text whose result may be far larger than what they were given: each measures before it makes anything.

use super::meter::{Limit, Meter};
use rhai::{Array, Dynamic, Engine, EvalAltResult, ImmutableString, Position};
use std::rc::Rc;

type TextResult<T> = Result<T, Box<EvalAltResult>>;

fn over<T>(meter: &Meter, limit: Limit) -> TextResult<T> {
    meter.end(limit);
    Err(EvalAltResult::ErrorTerminated(Dynamic::UNIT, Position::NONE).into())
}

/// The pieces of a text, unless there are more than a value may have.
fn pieces<'a>(meter: &Meter, pieces: impl Iterator<Item = &'a str>) -> TextResult<Array> {
    let most = meter.budget().elements;
    let mut array = Array::new();
    for piece in pieces {
        if array.len() == most {
            return over(meter, Limit::Elements);
        }
        array.push(ImmutableString::from(piece).into());
    }
    Ok(array)
}

/// Returns the number of pieces of a split by count.
fn count(segments: i64) -> usize {
    usize::try_from(segments).unwrap_or(1).max(1)
}

fn replaced(meter: &Meter, text: &mut ImmutableString, old: &str, new: &str) -> TextResult<()> {
    if old.is_empty() {
        // Rhai's own puts `new` between all characters.
        return put_between(meter, text, new);
    }
    let times = text.matches(old).count();
    let size = (text.len() - times * old.len()).saturating_add(times.saturating_mul(new.len()));
    if size > meter.budget().string {
        return over(meter, Limit::String);
    }
    *text = text.replace(old, new).into();
    Ok(())
}

fn put_between(meter: &Meter, text: &mut ImmutableString, new: &str) -> TextResult<()> {
    let places = text.chars().count() + 1;
    if text.len().saturating_add(places.saturating_mul(new.len())) > meter.budget().string {
        return over(meter, Limit::String);
    }
    *text = text.replace("", new).into();
    Ok(())
}

/// Puts bounded functions in the place of Rhai's own.
pub(super) fn register(engine: &mut Engine, meter: &Rc<Meter>) {
    replacing(engine, meter);
    splitting(engine, meter);
    splitting_by_count(engine, meter);
}

fn replacing(engine: &mut Engine, meter: &Rc<Meter>) {
    let m = meter.clone();
    engine.register_fn("replace", move |t: &mut ImmutableString, old: &str, new: &str| replaced(&m, t, old, new));
    let m = meter.clone();
    engine.register_fn("replace", move |t: &mut ImmutableString, old: &str, new: char| {
        replaced(&m, t, old, new.encode_utf8(&mut [0; 4]))
    });
    let m = meter.clone();
    engine.register_fn("replace", move |t: &mut ImmutableString, old: char, new: &str| {
        replaced(&m, t, old.encode_utf8(&mut [0; 4]), new)
    });
    let m = meter.clone();
    engine.register_fn("replace", move |t: &mut ImmutableString, old: char, new: char| {
        replaced(&m, t, old.encode_utf8(&mut [0; 4]), new.encode_utf8(&mut [0; 4]))
    });
}

fn splitting(engine: &mut Engine, meter: &Rc<Meter>) {
    let m = meter.clone();
    engine.register_fn("split", move |t: &mut ImmutableString| pieces(&m, t.split_whitespace()));
    let m = meter.clone();
    engine.register_fn("split", move |t: &mut ImmutableString, by: &str| pieces(&m, t.split(by)));
    let m = meter.clone();
    engine.register_fn("split", move |t: &mut ImmutableString, by: char| pieces(&m, t.split(by)));
    let m = meter.clone();
    engine.register_fn("split_rev", move |t: &mut ImmutableString, by: &str| pieces(&m, t.rsplit(by)));
    let m = meter.clone();
    engine.register_fn("split_rev", move |t: &mut ImmutableString, by: char| pieces(&m, t.rsplit(by)));
    let m = meter.clone();
    engine.register_fn("to_chars", move |t: &mut ImmutableString| -> TextResult<Array> {
        let most = m.budget().elements;
        let chars: Array = t.chars().take(most.saturating_add(1)).map(Dynamic::from).collect();
        if chars.len() > most { over(&m, Limit::Elements) } else { Ok(chars) }
    });
}

fn splitting_by_count(engine: &mut Engine, meter: &Rc<Meter>) {
    let m = meter.clone();
    engine.register_fn("split", move |t: &mut ImmutableString, by: &str, n: i64| pieces(&m, t.splitn(count(n), by)));
    let m = meter.clone();
    engine.register_fn("split", move |t: &mut ImmutableString, by: char, n: i64| pieces(&m, t.splitn(count(n), by)));
    let m = meter.clone();
    engine
        .register_fn("split_rev", move |t: &mut ImmutableString, by: &str, n: i64| pieces(&m, t.rsplitn(count(n), by)));
    let m = meter.clone();
    engine
        .register_fn("split_rev", move |t: &mut ImmutableString, by: char, n: i64| pieces(&m, t.rsplitn(count(n), by)));
}
