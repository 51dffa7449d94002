//! Copies the values that are passed from one task to another.
//!
//! Collections are values: sharing one is no different from copying it. What two tasks could see each other change are
//! variables, and those are reached only through closures that captured them. So a value without such a closure crosses as it
//! is; else the closures get cells of their own, one for each they had, with what these hold at the moment. An iterator goes
//! on from where it is, on both sides by itself. Channels, handles
//! of tasks, atomics and what else the runtime hands out are meant to be shared, and are.

use crate::value::{
    Closure, Dict, DictBox, ItemSource, Iter, List, Pair, Set, Status, StructValue, Value, VariantValue,
};
use crate::vm::{Isolate, Raise, RunCode};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Levels of nesting at which a closure may lie that has to be copied.
const DEPTH: usize = 200;

/// A value as another task gets it.
///
/// # Errors
/// When a closure that must be copied lies too deep.
pub(crate) fn cross(isolate: &Isolate, value: &Value) -> Result<Value, Box<Raise>> {
    Crossing::new(isolate).value(value)
}

/// Values that cross together: a variable that two of them captured is still one variable.
pub(super) struct Crossing<'a> {
    isolate: &'a Isolate,
    cells: HashMap<*const RefCell<Value>, Rc<RefCell<Value>>>,
    /// Collections held in several places, so that each is copied once.
    shared: HashMap<*const (), Option<Value>>,
}

impl<'a> Crossing<'a> {
    pub(super) fn new(isolate: &'a Isolate) -> Self {
        Self { isolate, cells: HashMap::new(), shared: HashMap::new() }
    }

    pub(super) fn value(&mut self, value: &Value) -> Result<Value, Box<Raise>> {
        if !holds_variables(value) {
            return Ok(value.clone());
        }
        Ok(self.copy(value, 0)?.unwrap_or_else(|| value.clone()))
    }

    /// The copy; nothing where it is the same.
    fn copy(&mut self, value: &Value, depth: usize) -> Result<Option<Value>, Box<Raise>> {
        if depth > DEPTH {
            if !holds_variables(value) {
                return Ok(None);
            }
            return Err(Raise::error(
                RunCode::Size,
                format!("closure nested more than {DEPTH} levels deep in a value for another task"),
            ));
        }
        let Some(place) = value.shared_place() else { return self.fresh(value, depth + 1) };
        if let Some(known) = self.shared.get(&place) {
            return Ok(known.clone());
        }
        let copy = self.fresh(value, depth + 1)?;
        self.shared.insert(place, copy.clone());
        Ok(copy)
    }

    fn fresh(&mut self, value: &Value, below: usize) -> Result<Option<Value>, Box<Raise>> {
        Ok(match value {
            Value::Cell(cell) => Some(Value::Cell(self.cell(cell, below)?)),
            Value::Closure(c) => self
                .all(&c.captures, below)?
                .map(|captures| Value::Closure(Rc::new(Closure { proto: c.proto.clone(), captures }))),
            Value::List(l) => self.all(&l.items, below)?.map(|items| Value::List(Rc::new(List { items }))),
            Value::Set(s) => {
                self.all(s.items(), below)?.map(|items| Value::Set(Rc::new(items.into_iter().collect::<Set>())))
            }
            Value::Pair(p) => {
                let (first, second) = (self.copy(&p.first, below)?, self.copy(&p.second, below)?);
                (first.is_some() || second.is_some()).then(|| {
                    let first = first.unwrap_or_else(|| p.first.clone());
                    let second = second.unwrap_or_else(|| p.second.clone());
                    Value::Pair(Rc::new(Pair { first, second }))
                })
            }
            Value::Variant(v) => self
                .all(v.values(), below)?
                .map(|mut fields| Value::Variant(VariantValue::take(v.def().clone(), v.tag(), &mut fields))),
            Value::Struct(s) => self
                .all(s.values(), below)?
                .map(|mut fields| Value::Struct(StructValue::take(s.def().clone(), s.tag(), &mut fields))),
            Value::Dict(d) => self.dict(&d.dict, below)?,
            Value::Iter(i) => Some(self.iter(i, below)?),
            _ => None,
        })
    }

    fn cell(&mut self, cell: &Rc<RefCell<Value>>, depth: usize) -> Result<Rc<RefCell<Value>>, Box<Raise>> {
        if let Some(known) = self.cells.get(&Rc::as_ptr(cell)) {
            return Ok(known.clone());
        }
        let fresh = Rc::new(RefCell::new(Value::Nil));
        self.isolate.note_cell(&fresh);
        // Known before its content is copied: a function may be held by the variable that it captured.
        self.cells.insert(Rc::as_ptr(cell), fresh.clone());
        let held = cell.borrow().clone();
        let copied = self.copy(&held, depth)?.unwrap_or(held);
        fresh.replace(copied);
        Ok(fresh)
    }

    fn all(&mut self, values: &[Value], depth: usize) -> Result<Option<Vec<Value>>, Box<Raise>> {
        let mut copies: Option<Vec<Value>> = None;
        for (i, value) in values.iter().enumerate() {
            if let Some(copy) = self.copy(value, depth)? {
                copies.get_or_insert_with(|| values.to_vec())[i] = copy;
            }
        }
        Ok(copies)
    }

    fn iter(&mut self, iter: &Rc<Iter>, depth: usize) -> Result<Value, Box<Raise>> {
        if iter.status() == Status::Running {
            let message =
                format!("cannot pass this {} to another task while it produces an item", iter.flavor().name());
            return Err(Raise::error(RunCode::Running, message));
        }
        let body = match &*iter.body().borrow() {
            ItemSource::Items { source, position } => {
                ItemSource::Items { source: self.owned(source, depth)?, position: *position }
            }
            ItemSource::Script { code, closure, pc, registers } => {
                let closure = match closure {
                    Some(closure) => match self.owned(&Value::Closure(closure.clone()), depth)? {
                        Value::Closure(closure) => Some(closure),
                        _ => None,
                    },
                    None => None,
                };
                let registers = self.owned_all(registers, depth)?;
                ItemSource::Script { code: code.clone(), closure, pc: *pc, registers }
            }
            ItemSource::Native { machine, registers } => {
                ItemSource::Native { machine, registers: self.owned_all(registers, depth)? }
            }
            ItemSource::Over(result) => ItemSource::Over(self.owned(result, depth)?),
        };
        let copy = self.isolate.iterator(iter.flavor(), body);
        if let Value::Iter(copy) = &copy {
            copy.set_status(iter.status());
        }
        Ok(copy)
    }

    fn owned(&mut self, value: &Value, depth: usize) -> Result<Value, Box<Raise>> {
        Ok(self.copy(value, depth)?.unwrap_or_else(|| value.clone()))
    }

    fn owned_all(&mut self, values: &[Value], depth: usize) -> Result<Vec<Value>, Box<Raise>> {
        values.iter().map(|value| self.owned(value, depth)).collect()
    }

    fn dict(&mut self, dict: &Dict, depth: usize) -> Result<Option<Value>, Box<Raise>> {
        let mut copy: Option<Dict> = None;
        for (key, value) in dict.iter() {
            if let Some(value) = self.copy(value, depth)? {
                copy.get_or_insert_with(|| dict.clone()).insert(key.clone(), value);
            }
        }
        Ok(copy.map(|dict| Value::Dict(Rc::new(DictBox { dict }))))
    }
}

/// Whether a captured variable, or an iterator, can be reached from a value. No depth is too deep, and what is shared is looked at once.
pub(super) fn holds_variables(value: &Value) -> bool {
    let mut open: Vec<&Value> = vec![value];
    let mut seen: HashSet<*const ()> = HashSet::new();
    while let Some(next) = open.pop() {
        if let Value::Cell(_) | Value::Iter(_) = next {
            return true;
        }
        if next.shared_place().is_some_and(|place| !seen.insert(place)) {
            continue;
        }
        let holder = |v: &&Value| v.holds_values();
        match next {
            Value::Closure(c) => open.extend(c.captures.iter().filter(holder)),
            Value::List(l) => open.extend(l.items.iter().filter(holder)),
            Value::Dict(d) => open.extend(d.dict.iter().map(|(_, v)| v).filter(holder)),
            Value::Set(s) => open.extend(s.items().iter().filter(holder)),
            Value::Pair(p) => open.extend([&p.first, &p.second]),
            Value::Variant(v) => open.extend(v.values().iter().filter(holder)),
            Value::Struct(s) => open.extend(s.values().iter().filter(holder)),
            _ => {}
        }
    }
    false
}
