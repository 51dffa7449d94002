//! Functions of Rhai's library whose result may be far larger than what they are given. These look first whether the run has
//! room for it: Rhai's own limits would measure every value anew at every step.

use super::errors::to_rhai;
use super::offer::add;
use lang::vm::{Raise, inside, tick};
use rhai::{Array, Blob, Dynamic, EvalAltResult, ImmutableString, Module};
use std::any::TypeId;

type LimitExceeded = Result<Dynamic, Box<EvalAltResult>>;

/// Adds them.
pub(super) fn add_measured(module: &mut Module) {
    let (int, any) = (TypeId::of::<i64>(), TypeId::of::<Dynamic>());
    let (text, character) = (TypeId::of::<ImmutableString>(), TypeId::of::<char>());
    let (array, blob) = (TypeId::of::<Array>(), TypeId::of::<Blob>());
    add(module, "blob", &[int], "blob(len)", " Bytes, all 0.", |_, args| make_blob(args[0], 0));
    add(module, "blob", &[int, int], "blob(len, value)", " Bytes, all the same.", |_, args| {
        make_blob(args[0], args[1].as_int().unwrap_or(0))
    });
    add(module, "pad", &[blob, int, int], "blob.pad(len, value)", " Adds bytes up to a length.", |_, args| {
        pad_blob(args)
    });
    add(module, "pad", &[array, int, any], "array.pad(len, item)", " Adds items up to a length.", |_, args| {
        pad_array(args)
    });
    for with in [text, character] {
        add(module, "pad", &[text, int, with], "string.pad(len, with)", " Adds text up to a length.", |_, args| {
            pad_text(args)
        });
        for what in [text, character] {
            let signature = "string.replace(what, with)";
            add(module, "replace", &[text, what, with], signature, " Replaces all of it.", |_, args| replace(args));
        }
    }
}

/// Refuses what the run has no room for.
fn room(bytes: Option<usize>) -> Result<(), Box<EvalAltResult>> {
    inside(|cx| cx.check_size(bytes)).unwrap_or(Ok(())).map_err(|raise: Box<Raise>| to_rhai(raise))
}

fn length(of: &Dynamic) -> usize {
    usize::try_from(of.as_int().unwrap_or(0).max(0)).unwrap_or(usize::MAX)
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // the lower eight bits, as Rhai has it
fn byte(value: i64) -> u8 {
    (value & 0xff) as u8
}

fn make_blob(len: &Dynamic, value: i64) -> LimitExceeded {
    let len = length(len);
    room(Some(len))?;
    Ok(Dynamic::from_blob(vec![byte(value); len]))
}

fn pad_blob(args: &mut [&mut Dynamic]) -> LimitExceeded {
    let (len, value) = (length(args[1]), byte(args[2].as_int().unwrap_or(0)));
    room(Some(len))?;
    if let Some(mut blob) = args[0].write_lock::<Blob>()
        && blob.len() < len
    {
        blob.resize(len, value);
    }
    Ok(Dynamic::UNIT)
}

fn pad_array(args: &mut [&mut Dynamic]) -> LimitExceeded {
    let (len, item) = (length(args[1]), std::mem::take(args[2]));
    room(len.checked_mul(size_of::<Dynamic>()))?;
    let Some(mut array) = args[0].write_lock::<Array>() else { return Ok(Dynamic::UNIT) };
    while array.len() < len {
        // An item may be large in itself.
        look()?;
        array.push(item.clone());
    }
    Ok(Dynamic::UNIT)
}

/// One step of many.
fn look() -> Result<(), Box<EvalAltResult>> {
    tick().map_err(to_rhai)
}

fn text_of(dynamic: &Dynamic) -> String {
    match dynamic.as_char() {
        Ok(character) => character.to_string(),
        Err(_) => dynamic.as_immutable_string_ref().map_or_else(|_| String::new(), |text| text.to_string()),
    }
}

fn pad_text(args: &mut [&mut Dynamic]) -> LimitExceeded {
    let (len, with) = (length(args[1]), text_of(args[2]));
    let Some(mut text) = args[0].write_lock::<ImmutableString>() else { return Ok(Dynamic::UNIT) };
    let missing = len.saturating_sub(text.chars().count());
    if missing == 0 || with.is_empty() {
        return Ok(Dynamic::UNIT);
    }
    let widest = with.chars().map(char::len_utf8).max().unwrap_or(1);
    room(missing.checked_mul(widest).and_then(|more| more.checked_add(text.len())))?;
    text.make_mut().extend(with.chars().cycle().take(missing));
    Ok(Dynamic::UNIT)
}

fn replace(args: &mut [&mut Dynamic]) -> LimitExceeded {
    let (what, with) = (text_of(args[1]), text_of(args[2]));
    let Some(mut text) = args[0].write_lock::<ImmutableString>() else { return Ok(Dynamic::UNIT) };
    let more = text.matches(what.as_str()).count().checked_mul(with.len());
    room(more.and_then(|more| more.checked_add(text.len())))?;
    *text = text.replace(what.as_str(), &with).into();
    Ok(Dynamic::UNIT)
}
