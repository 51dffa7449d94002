//! Fields, indexes, slices, assigned paths, and walking collections: the slow roads.

use super::call::with_article;
use super::fiber::Fiber;
use super::native::{BuiltinRun, Next};
use super::{Cx, FieldSite, KeySource, PathKey, Place, Proto, Raise, RunCode, Wait, operate, record};
use crate::advice::{self, Subject};
use crate::declaration::{Builtin, Methods, Registry};
use crate::diagnostic::nearest;
use crate::value::meter::{charge_copy, charge_text, copied};
use crate::value::{DictBox, HostBox, Iter, List, Str, StructValue, Tag, Value, inspect};
use std::rc::Rc;

/// An item of a walk.
pub(super) enum IterItem {
    /// The next one.
    Some(Value),
    /// There is none.
    End,
    /// It comes later.
    Wait(Wait),
}

/// `object.name` for whatever is not a dict.
pub(super) fn field(cx: &mut Cx<'_>, object: &Value, name: &Str) -> Result<Value, Box<Raise>> {
    match object {
        Value::Dict(d) => match d.dict.get(name) {
            Some(v) => Ok(v.clone()),
            None => Ok(property(cx, object, name)?.unwrap_or_default()),
        },
        Value::Struct(_) | Value::Variant(_) => own_member(cx, object, name),
        Value::Host(h) => match h.object().get(name) {
            Some(v) => Ok(v),
            None => match property(cx, object, name)? {
                Some(v) => Ok(v),
                // Its result may have the field.
                None if Subject::from(object) == Subject::Task => Err(no_member(cx, object, name)),
                None => Ok(Value::Nil),
            },
        },
        Value::Nil => Err(Raise::error(RunCode::Member, format!("nil has no field `{name}`"))
            .labelled("this is nil")
            .of_nil(true)
            .help(advice::member_of_nil(name, false))),
        _ => match property(cx, object, name)? {
            Some(v) => Ok(v),
            None => Err(no_member(cx, object, name)),
        },
    }
}

/// Returns the value under a key, for other languages: a string names a field, an int an element.
///
/// # Errors
/// Returns the error that a read in a script raises, if there is no such value.
pub fn read(cx: &mut Cx<'_>, object: &Value, key: &Value) -> Result<Value, Box<Raise>> {
    match key {
        Value::Str(name) if !matches!(object, Value::Dict(_)) => field(cx, object, name),
        _ => index(object, key)?.ok_or_else(|| out_of_range(object, key)),
    }
}

/// A walk over what a value holds, as an iterator.
///
/// # Errors
/// When it cannot be walked.
pub fn iterate(value: Value) -> Result<Value, Box<Raise>> {
    match prepare(value)? {
        iter @ Value::Iter(_) => Ok(iter),
        other => Ok(Iter::over(other)),
    }
}

/// The method of that name, as a call of `value.name(…)` finds it among the builtins.
#[must_use]
pub fn method_of(cx: &Cx<'_>, value: &Value, name: &str) -> Option<&'static Builtin> {
    find_method(cx.isolate.registry(), value, name)
}

/// The error of a call of a method that the value does not have.
#[must_use]
pub fn missing_method(cx: &Cx<'_>, value: &Value, name: &str) -> Box<Raise> {
    no_method(cx, value, &Str::new(name))
}

/// A field of a struct, or a method as a value.
fn own_member(cx: &mut Cx<'_>, object: &Value, name: &Str) -> Result<Value, Box<Raise>> {
    if let Value::Struct(s) = object
        && let Some(value) = s.get(name)
    {
        return Ok(value.clone());
    }
    if let Some(function) = record::method(object, name).map(|method| method.function)
        && let Some(value) = record::bound(cx.isolate, object, function)
    {
        return Ok(value);
    }
    property(cx, object, name)?.ok_or_else(|| no_member(cx, object, name))
}

/// Returns the index of the struct's value that a site reads, and remembers it for the next time.
pub(super) fn slot(s: &StructValue, site: &FieldSite) -> Option<usize> {
    let shape = Rc::as_ptr(s.def());
    if site.shape.get() == shape {
        return Some(site.hint.get() as usize);
    }
    let at = s.def().position(&site.name)?;
    site.found(shape, at);
    Some(at)
}

/// A method that may be read without parentheses.
fn property(cx: &mut Cx<'_>, object: &Value, name: &Str) -> Result<Option<Value>, Box<Raise>> {
    let row = find_method(cx.isolate.registry(), object, name).filter(|row| row.property);
    let Some(BuiltinRun::Plain(function)) = row.map(|row| row.run) else { return Ok(None) };
    let mut args = [object.clone(), Value::Nil, Value::Nil, Value::Nil];
    let max = row.map_or(1, |row| usize::from(row.arity.max)).clamp(1, args.len());
    function(cx, &mut args[..max]).map(Some)
}

/// `object.name(…)` where there is no such method.
pub(super) fn no_method(cx: &Cx<'_>, object: &Value, name: &Str) -> Box<Raise> {
    if let Value::Dict(d) = object
        && let Some(found) = d.dict.get(name)
    {
        let message = format!("key `{name}` of this dict is {}, not a function", with_article(found));
        return Raise::error(RunCode::Call, message).about(0, "");
    }
    if object.is_nil() {
        return Raise::error(RunCode::Member, format!("nil has no method `{name}`"))
            .about(0, "this is nil")
            .of_nil(true)
            .help(advice::member_of_nil(name, true));
    }
    no_member(cx, object, name).about(0, "")
}

fn no_member(cx: &Cx<'_>, object: &Value, name: &Str) -> Box<Raise> {
    let message = format!("{} has no method or field `{name}`", with_article(object));
    let raise = record::explain(Raise::error(RunCode::Member, message), object, name);
    let methods: Vec<_> = record::methods(object).map(Methods::all).unwrap_or_default();
    let own = methods.iter().filter(|m| m.takes_self).map(|m| m.name.as_str());
    let registry = cx.isolate.registry();
    let rows = modules(object).into_iter().flat_map(|module| registry.module(&module).collect::<Vec<_>>());
    let names: Vec<&str> = match object {
        Value::Struct(s) => s.def().names().map(Str::as_str).chain(own).chain(rows.map(|row| row.name)).collect(),
        Value::Dict(d) => {
            let functions = d.dict.iter().filter(|(_, value)| value.is_callable());
            functions.map(|(key, _)| key.as_str()).chain(rows.map(|row| row.name)).collect()
        }
        _ => own.chain(rows.map(|row| row.name)).collect(),
    };
    let raise = match advice::near_member(name, &names) {
        Some(near) if near == name.as_str() => return raise.help(advice::uncalled(near)),
        near => raise.help_by_some(near.map(advice::meant)),
    };
    let is_function = registry.find("", name).is_some_and(|row| row.arity.takes_any());
    raise.help_by_some(is_function.then(|| advice::function(name))).help_by_some(advice::stand_in(object.into()))
}

/// Returns the modules of the table of builtins in which the methods of a value are looked up.
fn modules(value: &Value) -> Vec<String> {
    match value {
        Value::Host(h) => vec![format!("<{}>", h.object().type_name()), reads_like(h).to_owned()],
        other => vec![other.tag().module().to_owned()],
    }
}

/// Returns the module of the list or dict that a host value reads like.
fn reads_like(host: &HostBox) -> &'static str {
    if host.object().is_list() { Tag::List.module() } else { Tag::Dict.module() }
}

/// The method of that name: of the value's type; of a host value's own type, else of the list or dict that it reads like.
pub(super) fn find_method(registry: Registry, value: &Value, name: &str) -> Option<&'static Builtin> {
    let Value::Host(h) = value else { return registry.find(value.tag().module(), name) };
    let own = registry.find(&format!("<{}>", h.object().type_name()), name);
    own.or_else(|| registry.find(reads_like(h), name))
}

/// Returns the position of `index` in a sequence of `len`; negative ones count from the end.
fn offset(index: i64, len: usize) -> Option<usize> {
    // A range may have more elements than an int can count.
    let at = if index < 0 { i128::from(index) + len as i128 } else { i128::from(index) };
    usize::try_from(at).ok().filter(|at| *at < len)
}

/// `object[index]`; nothing when the index is out of range.
pub(super) fn index(object: &Value, index: &Value) -> Result<Option<Value>, Box<Raise>> {
    match (object, index) {
        (Value::List(l), Value::Int(i)) => Ok(offset(*i, l.items.len()).map(|at| l.items[at].clone())),
        (Value::Dict(d), Value::Str(k)) => Ok(Some(d.dict.get(k).cloned().unwrap_or_default())),
        (Value::Str(s), Value::Int(i)) if s.is_ascii_text() => {
            Ok(offset(*i, s.len()).map(|at| Value::str(&s[at..=at])))
        }
        (Value::Str(s), Value::Int(i)) => {
            let Some(at) = offset(*i, s.char_count()) else { return Ok(None) };
            charge_copy(at / 16);
            Ok(s.chars().nth(at).map(|c| Value::str(c.encode_utf8(&mut [0; 4]))))
        }
        (Value::Range(r), Value::Int(i)) => Ok(offset(*i, r.len()).and_then(|at| r.at(at)).map(Value::Int)),
        (Value::Bytes(b), Value::Int(i)) => Ok(offset(*i, b.len()).map(|at| Value::Int(i64::from(b[at])))),
        (Value::Pair(p), Value::Int(0)) => Ok(Some(p.first.clone())),
        (Value::Pair(p), Value::Int(1)) => Ok(Some(p.second.clone())),
        (Value::Struct(s), Value::Str(k)) => match s.get(k) {
            Some(v) => Ok(Some(v.clone())),
            None => Err(record::no_field(s.def(), k)),
        },
        (Value::Host(_), _) if Subject::from(object) == Subject::Task => Err(not_indexable(object)),
        (Value::Host(h), Value::Str(k)) => Ok(Some(h.object().get(k).unwrap_or_default())),
        (Value::Host(h), Value::Int(i)) => Ok(h.object().at(*i)),
        (Value::Nil, _) => Err(not_indexable(object).labelled("this is nil")),
        (Value::List(_) | Value::Str(_) | Value::Range(_) | Value::Dict(_) | Value::Host(_), other) => {
            let wants = if matches!(object, Value::Dict(_)) { "a string" } else { "an int" };
            Err(Raise::error(
                RunCode::Type,
                format!("{} must be indexed by {wants}, not by {}", with_article(object), with_article(other)),
            ))
        }
        _ => Err(not_indexable(object)),
    }
}

fn not_indexable(object: &Value) -> Box<Raise> {
    Raise::error(RunCode::Type, format!("{} cannot be indexed", with_article(object)))
        .help_by_some(advice::indexed(object.into()))
}

/// The error for an index that is out of range.
pub(super) fn out_of_range(object: &Value, index: &Value) -> Box<Raise> {
    let len = match object {
        Value::List(l) => l.items.len(),
        Value::Str(s) => s.char_count(),
        Value::Range(r) => r.len(),
        Value::Bytes(b) => b.len(),
        Value::Host(h) => h.object().size().unwrap_or(0),
        _ => 0,
    };
    let holds = match len {
        0 => "is empty".to_owned(),
        1 => "has one element".to_owned(),
        n => format!("has {n} elements"),
    };
    Raise::error(
        RunCode::Index,
        format!("index {} is out of range: the {} {holds}", inspect(index), object.type_name()),
    )
    .help("use `?[…]` to get nil instead; `[-1]` is the last element")
}

/// `object[from:to]`: bounds are clamped, negative ones count from the end.
pub(super) fn slice(object: &Value, from: &Value, to: &Value) -> Result<Value, Box<Raise>> {
    let bound = |value: &Value, default: usize, len: usize| match value {
        Value::Nil => Ok(default),
        Value::Int(i) => {
            let len_signed = i64::try_from(len).unwrap_or(i64::MAX);
            let at = if *i < 0 { i.saturating_add(len_signed) } else { *i };
            Ok(usize::try_from(at.max(0)).unwrap_or(0).min(len))
        }
        other => {
            Err(Raise::error(RunCode::Type, format!("the bounds of a slice must be ints, not {}", with_article(other))))
        }
    };
    let bounds = |len: usize| Ok::<_, Box<Raise>>((bound(from, 0, len)?, bound(to, len, len)?));
    match object {
        Value::List(l) => {
            let (a, b) = bounds(l.items.len())?;
            Ok(Value::list(copied(l.items.get(a..b).unwrap_or(&[]))))
        }
        Value::Str(s) if s.is_ascii_text() => {
            let (a, b) = bounds(s.len())?;
            Ok(Value::str(s.get(a..b).unwrap_or("")))
        }
        Value::Str(s) => {
            let (a, b) = bounds(s.char_count())?;
            charge_text(s.len());
            Ok(Value::from(s.chars().skip(a).take(b.saturating_sub(a)).collect::<String>()))
        }
        Value::Bytes(bytes) => {
            let (a, b) = bounds(bytes.len())?;
            charge_text(b.saturating_sub(a));
            Ok(Value::Bytes(Rc::new(bytes.get(a..b).unwrap_or(&[]).to_vec())))
        }
        Value::Range(r) => {
            let (a, b) = bounds(r.len())?;
            charge_copy(b.saturating_sub(a));
            Ok(Value::list((a..b.max(a)).filter_map(|i| r.at(i)).map(Value::Int).collect()))
        }
        other => Err(Raise::error(RunCode::Type, format!("{} cannot be sliced", with_article(other)))
            .help_by_some(advice::stand_in(other.into()))),
    }
}

/// Makes a value ready for `for`.
pub(super) fn prepare(value: Value) -> Result<Value, Box<Raise>> {
    walkable(value).map_err(|value| {
        Raise::error(RunCode::Type, format!("{} is not iterable", with_article(&value)))
            .of_nil(value.is_nil())
            .help_by_some(advice::iterated((&value).into()))
    })
}

/// Returns the value that [`item`] can iterate over in place of a value, or the value itself if it has no items.
pub(crate) fn walkable(value: Value) -> Result<Value, Value> {
    match &value {
        Value::List(_) | Value::Range(_) | Value::Str(_) | Value::Iter(_) => Ok(value),
        Value::Set(s) => Ok(Value::list(copied(s.items()))),
        Value::Dict(d) => Ok(entries(d)),
        Value::Bytes(b) => {
            charge_copy(b.len());
            Ok(Value::list(b.iter().map(|b| Value::Int(i64::from(*b))).collect()))
        }
        Value::Host(h) if h.object().is_list() => Ok(value),
        Value::Host(h) => match h.object().to_value() {
            Some(Value::Dict(d)) => Ok(entries(&d)),
            Some(other) => Ok(other),
            None => Ok(value),
        },
        _ => Err(value),
    }
}

fn entries(d: &DictBox) -> Value {
    // Each becomes a dict of its own.
    charge_copy(d.dict.len().saturating_mul(8));
    let (key, value) = (Str::new("key"), Str::new("value"));
    Value::list(
        d.dict
            .iter()
            .map(|(k, v)| {
                let entry = [(key.clone(), Value::Str(k.clone())), (value.clone(), v.clone())];
                Value::dict(entry.into_iter().collect())
            })
            .collect(),
    )
}

/// The item at `position` of a prepared value, and the position behind it.
pub(super) fn item(value: &Value, position: i64) -> Result<(IterItem, i64), Box<Raise>> {
    let at = usize::try_from(position).unwrap_or(usize::MAX);
    let found = match value {
        Value::List(l) => l.items.get(at).cloned(),
        Value::Range(r) => r.at(at).map(Value::Int),
        Value::Str(s) => {
            // The position of a string's walk is a byte offset.
            let Some(c) = s.get(at..).and_then(|rest| rest.chars().next()) else {
                return Ok((IterItem::End, position));
            };
            let next = position.saturating_add(i64::try_from(c.len_utf8()).unwrap_or(1));
            return Ok((IterItem::Some(Value::str(c.encode_utf8(&mut [0; 4]))), next));
        }
        Value::Host(h) if h.object().is_list() => h.object().at(position),
        Value::Host(h) => match h.object().next() {
            Some(Next::Ready(result)) => result?,
            Some(Next::Later(wait)) => return Ok((IterItem::Wait(wait), position)),
            None => {
                let message = format!("{} is not iterable", with_article(value));
                return Err(Raise::error(RunCode::Type, message).help_by_some(advice::iterated(value.into())));
            }
        },
        _ => None,
    };
    // Only corrupted code has a position that is no place: its register may hold any number.
    Ok((found.map_or(IterItem::End, IterItem::Some), position.saturating_add(1)))
}

impl Fiber {
    /// `object.field = src`, the slow road.
    pub(super) fn set_field(&mut self, code: &Proto, object: u16, src: u16, field: u16) -> Result<(), Box<Raise>> {
        let key = Value::Str(code.fields[usize::from(field)].name.clone());
        let (object, src) = (self.register(object), self.register(src));
        let value = std::mem::take(&mut self.stack[src]);
        *child(&mut self.stack[object], &key, true)? = value;
        Ok(())
    }

    /// `object[index] = src`, the slow road.
    pub(super) fn set_index(&mut self, object: u16, index: u16, value: Value) -> Result<(), Box<Raise>> {
        let [object, index] = [object, index].map(|reg| self.register(reg));
        self.afford_copy(&self.stack[object])?;
        let key = self.stack[index].clone();
        // The error is about the collection, not about the whole statement.
        *child(&mut self.stack[object], &key, true).map_err(|raise| {
            let label = raise.label.clone();
            raise.about(0, label)
        })? = value;
        Ok(())
    }

    /// Sets a key of a dict that is held once in register `object`. False if it is not, and nothing has happened.
    #[inline(never)]
    pub(super) fn set_key(&mut self, object: &mut Value, key: &Value, src: &mut Value) -> Result<bool, Box<Raise>> {
        if let (Value::Dict(dict), Value::Str(key)) = (object, key)
            && let Some(dict) = Rc::get_mut(dict)
        {
            let slot = dict.dict.slot(key);
            slot.store(std::mem::take(src));
            self.weigh()?;
            return Ok(true);
        }
        Ok(false)
    }

    /// Does what [`Self::set_key`] does with a copy of a constant.
    #[inline(never)]
    pub(super) fn set_key_const(&mut self, object: &mut Value, key: &Value, value: &Value) -> Result<bool, Box<Raise>> {
        self.set_key(object, key, &mut value.clone())
    }

    /// Carries out an assignment of `value` to a path.
    pub(super) fn assign_path(&mut self, code: &Proto, path: u16, value: Value) -> Result<(), Box<Raise>> {
        let site = &code.paths[usize::from(path)];
        let limit = self.isolate.limits().value_bytes;
        let mut root = self.take_place(site.root);
        if let Err(raise) = self.afford_copy(&root) {
            self.put_place(site.root, root);
            return Err(raise);
        }
        let base = self.register(0);
        let key = |key: &PathKey| match &key.source {
            KeySource::Register(reg) => self.stack[base + usize::from(*reg)].clone(),
            KeySource::Name(name) => name.clone(),
        };
        let operand = (value.tag(), value.as_int());
        let result = assign(&mut root, site.keys.iter().map(key), value, site.op, limit);
        self.put_place(site.root, root);
        result.map_err(|(at, raise)| {
            let mut raise = raise;
            let Some(source) = &code.source else { return raise };
            // The last key is missing, so the operator has no left operand.
            if let (Some(op), Some(path)) = (site.op, site.spans.last())
                && raise.code == RunCode::Member
                && at + 1 == site.keys.len()
                && let Some(neutral) = neutral(op, operand.0)
            {
                let value = operand.1.map_or_else(|| "…".to_owned(), |n| n.to_string());
                raise = raise.help(advice::missing_key(source.slice(*path), op, neutral, &value));
            }
            if let Some(span) = site.spans.get(at) {
                raise.locate(source, *span);
            }
            raise
        })
    }

    /// Takes a variable's value out of its place.
    pub(super) fn take_place(&mut self, place: Place) -> Value {
        match place {
            Place::Global(slot) => {
                let value = self.isolate.global(slot);
                self.isolate.set_global(slot, Value::Nil);
                value
            }
            Place::Register(reg) => {
                let at = self.register(reg);
                std::mem::take(&mut self.stack[at])
            }
            _ => self.cell(place).map(|cell| cell.take()).unwrap_or_default(),
        }
    }

    /// Puts a variable's value back.
    pub(super) fn put_place(&mut self, place: Place, value: Value) {
        match place {
            Place::Global(slot) => self.isolate.set_global(slot, value),
            Place::Register(reg) => {
                let at = self.register(reg);
                self.stack[at] = value;
            }
            _ => {
                if let Some(cell) = self.cell(place) {
                    let old = cell.replace(value);
                    drop(old);
                }
            }
        }
    }

    fn register(&self, reg: u16) -> usize {
        self.frames.last().map_or(0, |f| f.base) + usize::from(reg)
    }

    fn cell(&self, place: Place) -> Option<Rc<std::cell::RefCell<Value>>> {
        let value = match place {
            Place::Cell(reg) => self.stack[self.register(reg)].clone(),
            Place::CaptureCell(index) => self.capture(index)?,
            _ => return None,
        };
        if let Value::Cell(cell) = value { Some(cell) } else { None }
    }
}

/// Returns the text of the value with which an operator returns its other operand, which is of this type.
const fn neutral(op: crate::ast::BinaryOp, of: Tag) -> Option<&'static str> {
    use crate::ast::BinaryOp::{Add, Div, Mul, Pow, Sub};
    Some(match (op, of) {
        (Add | Sub, Tag::Int) => "0",
        (Add | Sub, Tag::Float) => "0.0",
        (Mul | Div | Pow, Tag::Int) => "1",
        (Mul | Div | Pow, Tag::Float) => "1.0",
        (Add, Tag::Str) => "\"\"",
        (Add, Tag::List) => "[]",
        (Add, Tag::Dict) => "{}",
        _ => return None,
    })
}

/// Walks down by unique references and changes the last slot; children are never taken out, so that an error leaves no
/// hole. The number with an error is that of the key it is about.
fn assign(
    root: &mut Value,
    keys: impl ExactSizeIterator<Item = Value>,
    value: Value,
    op: Option<crate::ast::BinaryOp>,
    limit: usize,
) -> Result<(), (usize, Box<Raise>)> {
    let mut slot = root;
    let count = keys.len();
    for (at, key) in keys.enumerate() {
        let last = at + 1 == count;
        slot = child(slot, &key, last && op.is_none()).map_err(|raise| (at, raise))?;
    }
    let Some(op) = op else {
        *slot = value;
        return Ok(());
    };
    match operate::binary(op, std::mem::take(slot), &value, limit) {
        Ok(result) => {
            *slot = result;
            Ok(())
        }
        Err((old, raise)) => {
            *slot = old;
            Err((count, raise))
        }
    }
}

fn child<'a>(slot: &'a mut Value, key: &Value, fresh: bool) -> Result<&'a mut Value, Box<Raise>> {
    // A host value that is a dict to the script becomes one of its own when it is changed.
    if let Value::Host(h) = slot
        && h.object().type_name() == "dict"
        && let Some(own) = h.object().to_value()
    {
        *slot = own;
    }
    let len = if let Value::List(l) = slot { l.items.len() } else { 0 };
    match (slot, key) {
        (Value::Dict(d), Value::Str(k)) => {
            let found = d.dict.position(k);
            let dict = &mut Rc::make_mut(d).dict;
            match found {
                Some(at) => Ok(dict.at_place(at)),
                None if fresh => Ok(dict.slot(k)),
                None => {
                    let keys: Vec<&str> = dict.iter().map(|(key, _)| key.as_str()).collect();
                    let near = nearest(k, keys.iter().copied()).map(advice::meant);
                    let raise = Raise::error(RunCode::Member, format!("key `{k}` not found in this dict"));
                    Err(raise.help_by_some(near))
                }
            }
        }
        (Value::List(l), Value::Int(i)) => match offset(*i, len) {
            Some(at) => Ok(&mut Rc::<List>::make_mut(l).items[at]),
            None => Err(Raise::error(
                RunCode::Index,
                format!("index {i} is out of range: the list has {len} element{}", if len == 1 { "" } else { "s" }),
            )
            .help("use `xs.push(v)` to make the list longer")),
        },
        (Value::Struct(s), Value::Str(k)) => match s.def().position(k) {
            Some(at) => Ok(&mut s.values_mut()[at]),
            None => Err(record::no_field(s.def(), k)),
        },
        (Value::Host(h), _) => Err(Raise::error(RunCode::Type, format!("cannot modify a {}", h.object().type_name()))
            .help("copy it to a dict first: `{...value}`")),
        (found, Value::Str(k)) => Err(Raise::error(
            RunCode::Type,
            format!("{} has no field `{k}` that can be assigned to", with_article(found)),
        )),
        (found, other) => {
            let message =
                format!("{} has no element at {} that can be assigned to", with_article(found), inspect(other));
            Err(Raise::error(RunCode::Type, message))
        }
    }
}
