//! When two values are the same, and which comes first.

use super::meter::charge_text;
use super::{Meter, Set, Stopped, Str, Value};
use std::cmp::Ordering;
use std::collections::HashSet;
use std::rc::Rc;

/// Structural equality; ints and floats compare by value, closures only when identical. Where the walk must stop (see
/// [`Meter`]), the answer is false and means nothing.
#[must_use]
#[inline]
pub fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Int(x), Value::Int(y)) => x == y,
        (Value::Str(x), Value::Str(y)) => {
            if x.len() == y.len() {
                charge_text(x.len());
            }
            x == y
        }
        _ => compare(a, b, &mut Meter::start()).unwrap_or(false),
    }
}

fn compare(a: &Value, b: &Value, meter: &mut Meter) -> Result<bool, Stopped> {
    // Host values are read as the dicts they look like; what is kept here keeps those alive while they are compared.
    let mut work = Vec::new();
    if let (Value::Set(_), Value::Set(_)) = (a, b) {
        work.push((a.clone(), b.clone()));
    } else if !same_shape(a, b, &mut work, meter)? {
        return Ok(false);
    } else if work.is_empty() {
        return Ok(true);
    }
    let mut frames = vec![PendingPairs::new(work)];
    loop {
        let Some(frame) = frames.last_mut() else { return Ok(true) };
        match frame.step(meter)? {
            CompareStep::On => {}
            CompareStep::Same => {
                frames.pop();
                let Some(outer) = frames.last_mut() else { return Ok(true) };
                outer.found();
            }
            CompareStep::Differ => loop {
                frames.pop();
                let Some(outer) = frames.last_mut() else { return Ok(false) };
                if let Some(work) = outer.try_next() {
                    frames.push(PendingPairs::new(work));
                    break;
                }
            },
            CompareStep::Try(work) => frames.push(PendingPairs::new(work)),
        }
    }
}

/// Bytes of a text that are compared in a step.
const BYTES: usize = 64;

/// Pairs that a frame compares before it remembers which ones it has compared.
const FORGETFUL: usize = 256;

/// Pairs of values that must all be the same. Members of sets have no partner that is known beforehand: a frame above
/// this one tries whether one of them fits. So nothing recurses on the native stack, however deep sets lie in sets.
struct PendingPairs {
    work: Vec<(Value, Value)>,
    search: Option<MemberSearch>,
    steps: usize,
    /// Pairs of shared collections that were taken up: all pairs of the frame must be the same, so each is compared once.
    seen: HashSet<(*const (), *const ())>,
}

/// Looks for the members of one set in another.
struct MemberSearch {
    /// Items still to be found.
    members: Vec<Value>,
    among: Rc<Set>,
    /// The one that is looked for, and members of the other set that may be its equal.
    wanted: Value,
    candidates: Vec<Value>,
}

enum CompareStep {
    /// There is more to compare.
    On,
    /// All were the same.
    Same,
    /// Two were not.
    Differ,
    /// These decide whether a member is found.
    Try(Vec<(Value, Value)>),
}

impl PendingPairs {
    fn new(work: Vec<(Value, Value)>) -> Self {
        Self { work, search: None, steps: 0, seen: HashSet::new() }
    }

    /// Whether the frame has taken up the same two collections before.
    fn is_known(&mut self, a: &Value, b: &Value) -> bool {
        self.steps += 1;
        self.steps > FORGETFUL && a.shared_place().zip(b.shared_place()).is_some_and(|places| !self.seen.insert(places))
    }

    fn step(&mut self, meter: &mut Meter) -> Result<CompareStep, Stopped> {
        meter.step()?;
        if let Some(search) = &mut self.search {
            let Some(wanted) = search.members.pop() else {
                self.search = None;
                return Ok(CompareStep::On);
            };
            search.candidates = search.among.candidates(&wanted);
            search.wanted = wanted;
            meter.steps(search.candidates.len())?;
            return Ok(self.try_next().map_or(CompareStep::Differ, CompareStep::Try));
        }
        let Some((a, b)) = self.work.pop() else { return Ok(CompareStep::Same) };
        if self.is_known(&a, &b) {
            return Ok(CompareStep::On);
        }
        if let (Value::Set(x), Value::Set(y)) = (&a, &b) {
            if x.len() != y.len() {
                return Ok(CompareStep::Differ);
            }
            self.search = Some(MemberSearch {
                members: x.items().to_vec(),
                among: y.clone(),
                wanted: Value::Nil,
                candidates: Vec::new(),
            });
            return Ok(CompareStep::On);
        }
        Ok(if same_shape(&a, &b, &mut self.work, meter)? { CompareStep::On } else { CompareStep::Differ })
    }

    /// Returns the pairs that must be equal for the next candidate to match, or `None` if no candidate is left.
    fn try_next(&mut self) -> Option<Vec<(Value, Value)>> {
        let search = self.search.as_mut()?;
        let candidate = search.candidates.pop()?;
        Some(vec![(search.wanted.clone(), candidate)])
    }

    /// A member has its equal; a set holds no second one.
    fn found(&mut self) {
        if let Some(search) = &mut self.search {
            search.candidates.clear();
        }
    }
}

/// Whether two values look alike from outside; `work` gets the pairs of parts that must be the same.
fn same_shape(a: &Value, b: &Value, work: &mut Vec<(Value, Value)>, meter: &mut Meter) -> Result<bool, Stopped> {
    Ok(match (a, b) {
        (Value::Nil | Value::Unbound, Value::Nil | Value::Unbound) => true,
        (Value::Bool(x), Value::Bool(y)) => x == y,
        (Value::Int(x), Value::Int(y)) => x == y,
        (Value::Float(x), Value::Float(y)) => x == y,
        (Value::Int(i), Value::Float(f)) | (Value::Float(f), Value::Int(i)) => {
            order_int_and_float(*i, *f) == Some(Ordering::Equal)
        }
        (Value::Str(x), Value::Str(y)) => {
            meter.steps(x.len() / BYTES)?;
            x == y
        }
        (Value::Bytes(x), Value::Bytes(y)) => {
            meter.steps(x.len() / BYTES)?;
            x == y
        }
        (Value::List(x), Value::List(y)) => zip(&x.items, &y.items, work, meter)?,
        (Value::Range(x), Value::Range(y)) => x.len() == y.len() && (x.is_empty() || x.from == y.from),
        (Value::Pair(x), Value::Pair(y)) => {
            work.push((x.first.clone(), y.first.clone()));
            work.push((x.second.clone(), y.second.clone()));
            true
        }
        (Value::Dict(x), Value::Dict(y)) => {
            meter.room(x.dict.len().saturating_mul(size_of::<(Value, Value)>()))?;
            meter.steps(x.dict.len())?;
            x.dict.len() == y.dict.len()
                && x.dict.iter().all(|(k, v)| match y.dict.get(k) {
                    Some(w) => {
                        work.push((v.clone(), w.clone()));
                        true
                    }
                    None => false,
                })
        }
        (Value::Closure(x), Value::Closure(y)) => Rc::ptr_eq(x, y),
        (Value::Builtin(x), Value::Builtin(y)) => std::ptr::eq(*x, *y),
        (Value::Iter(x), Value::Iter(y)) => Rc::ptr_eq(x, y),
        (Value::Variant(x), Value::Variant(y)) => {
            Rc::ptr_eq(x.def(), y.def()) && x.tag() == y.tag() && zip(x.values(), y.values(), work, meter)?
        }
        (Value::Struct(x), Value::Struct(y)) => {
            Rc::ptr_eq(x.def(), y.def()) && zip(x.values(), y.values(), work, meter)?
        }
        (Value::Host(x), Value::Host(y)) if Rc::ptr_eq(x, y) => true,
        (Value::Host(h), other) | (other, Value::Host(h)) => match h.object().to_value() {
            Some(value) => {
                work.push((value, other.clone()));
                true
            }
            None => false,
        },
        _ => false,
    })
}

/// Compares what holds no other values; what does is left to do.
fn zip(x: &[Value], y: &[Value], work: &mut Vec<(Value, Value)>, meter: &mut Meter) -> Result<bool, Stopped> {
    if x.len() != y.len() {
        return Ok(false);
    }
    meter.steps(x.len())?;
    let mut asked = 0;
    for (a, b) in x.iter().zip(y) {
        if a.holds_values() || b.holds_values() {
            if work.len() == work.capacity() && work.len() > asked {
                // The list of what is left doubles.
                asked = work.len();
                meter.room(asked.saturating_mul(2 * size_of::<(Value, Value)>()))?;
            }
            work.push((a.clone(), b.clone()));
        } else if !same_shape(a, b, work, meter)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Exact: turning the int into a float could make two different ints equal one float. Nothing for NaN.
#[allow(clippy::cast_possible_truncation)]
pub(crate) fn order_int_and_float(i: i64, f: f64) -> Option<Ordering> {
    const BEYOND: f64 = 9_223_372_036_854_775_808.0;
    if f >= BEYOND {
        return Some(Ordering::Less);
    }
    if f < -BEYOND {
        return Some(Ordering::Greater);
    }
    Some(i.cmp(&(f.trunc() as i64)).then(0.0_f64.partial_cmp(&f.fract())?))
}

/// Compares numbers and strings (and lists and pairs of them); returns `None` for values without an order.
#[must_use]
pub fn order(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Int(x), Value::Int(y)) => Some(x.cmp(y)),
        (Value::Float(x), Value::Float(y)) => x.partial_cmp(y),
        (Value::Int(x), Value::Float(y)) => order_int_and_float(*x, *y),
        (Value::Float(x), Value::Int(y)) => order_int_and_float(*y, *x).map(Ordering::reverse),
        (Value::Str(x), Value::Str(y)) => Some(Str::cmp(x, y)),
        (Value::Bool(x), Value::Bool(y)) => Some(x.cmp(y)),
        _ => None,
    }
}
