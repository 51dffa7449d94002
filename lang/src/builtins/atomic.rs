//! Numbers and values that tasks share: `atomic`, and cells with a name.

use super::args;
use super::options::CELL_OPTIONS;
use crate::ast::BinaryOp;
use crate::value::{Dict, HostBox, HostObject, Str, Value, equal, release};
use crate::vm::tasks::cross;
use crate::vm::{Cx, Holder, Raise, RunCode, operate};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

crate::builtins! { "" =>
    /// A value that tasks share. Each operation on it is one step that no other task comes between.
    plain "atomic(initial: any = 0) -> any" atomic;
    /// The value at the moment.
    plain "atomic_get(atomic: any) -> any" atomic_get;
    /// Adds a number; the value before.
    plain "atomic_add(atomic: any, by: any = 1) -> any" atomic_add;
    /// Sets the value; the value before.
    plain "atomic_set(atomic: any, value: any) -> any" atomic_set;
    /// A cell that all tasks of the run find under its scope and key; made with `initial` where there is none yet.
    plain "shared_cell(options: CellOptions) -> any" shared_cell;
    /// The value at the moment.
    plain "shared_get(cell: any) -> any" shared_get;
    /// Sets the value.
    plain "shared_set(cell: any, value: any) -> nil" shared_set;
    /// `{value, version}`: the version changes whenever the cell is set.
    plain "shared_snapshot(cell: any) -> {_type: string, value: any, version: int, ...}" shared_snapshot;
    /// Sets the value if the cell still is as expected, which is a value or a snapshot; whether it was.
    plain "shared_cas(cell: any, expected: any, value: any) -> bool" shared_cas;
}

/// A value that tasks share.
#[derive(Default)]
struct Shared {
    value: RefCell<Value>,
    version: Cell<i64>,
}

impl Shared {
    fn new(cx: &Cx<'_>, value: Value) -> Rc<Self> {
        let shared = Rc::new(Self { value: RefCell::new(value), version: Cell::new(0) });
        let holder: Rc<dyn Holder> = shared.clone();
        cx.isolate.note_holder(&holder);
        shared
    }

    /// Copy that another task gets.
    fn get(&self, cx: &Cx<'_>) -> Result<Value, Box<Raise>> {
        cross(cx.isolate, &self.value.borrow())
    }

    fn set(&self, value: Value) -> Value {
        self.version.set(self.version.get() + 1);
        self.value.replace(value)
    }
}

impl Holder for Shared {
    fn clear(&self) {
        release(self.value.take());
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.clear();
    }
}

/// The two kinds of handle.
struct SharedHandle {
    shared: Rc<Shared>,
    kind: &'static str,
}

impl HostObject for SharedHandle {
    fn type_name(&self) -> &'static str {
        self.kind
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn handle<'a>(args: &'a [Value], kind: &'static str, expected: &str) -> Result<&'a Rc<Shared>, Box<Raise>> {
    match args.first().and_then(Value::as_host::<SharedHandle>) {
        Some(handle) if handle.kind == kind => Ok(&handle.shared),
        _ => Err(args::mismatch(args, 0, expected)),
    }
}

fn an_atomic(args: &[Value]) -> Result<&Rc<Shared>, Box<Raise>> {
    handle(args, "atomic", "an atomic").map_err(|raise| raise.help("create one with `atomic(0)`"))
}

fn a_cell(args: &[Value]) -> Result<&Rc<Shared>, Box<Raise>> {
    handle(args, "shared_cell", "a shared cell")
        .map_err(|raise| raise.help("create one with `shared_cell({key: \"…\"})`"))
}

fn atomic(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let initial = if args[0].is_nil() { Value::Int(0) } else { cross(cx.isolate, &args[0])? };
    Ok(HostBox::value(SharedHandle { shared: Shared::new(cx, initial), kind: "atomic" }))
}

fn atomic_get(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    an_atomic(args)?.get(cx)
}

fn atomic_add(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    if args[1].is_nil() {
        args[1] = Value::Int(1);
    }
    args::number(args, 1)?;
    let shared = an_atomic(args)?;
    let before = shared.get(cx)?;
    if before.as_number().is_none() {
        return Err(Raise::error(RunCode::Type, "cannot add to an atomic that does not hold a number").about(0, ""));
    }
    let limit = cx.isolate.limits().value_bytes;
    let sum = operate::binary(BinaryOp::Add, before.clone(), &args[1], limit).map_err(|(_, raise)| raise)?;
    shared.set(sum);
    Ok(before)
}

fn atomic_set(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let value = cross(cx.isolate, &args[1])?;
    Ok(an_atomic(args)?.set(value))
}

fn shared_cell(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let options = args::dict(args, 0)?;
    if let Some((key, _)) = options.iter().find(|(key, _)| !CELL_OPTIONS.has(key)) {
        let raise = Raise::error(RunCode::Value, format!("unknown option `{key}` of `shared_cell`"));
        return Err(raise.about(0, "").help("the options are `scope`, `key` and `initial`"));
    }
    let scope = text(options, "scope")?.unwrap_or_else(|| Str::new("run"));
    let Some(key) = text(options, "key")? else {
        return Err(
            Raise::error(RunCode::Value, "missing option `key` of `shared_cell`").about(0, "no `key` in this dict")
        );
    };
    let initial = options.get_str("initial").cloned().unwrap_or_default();
    let name = format!("cell {:?} {:?}", scope.as_str(), key.as_str());
    cx.isolate.named(&name, || {
        let shared = Shared::new(cx, cross(cx.isolate, &initial)?);
        Ok(HostBox::value(SharedHandle { shared, kind: "shared_cell" }))
    })
}

fn text(options: &Dict, key: &str) -> Result<Option<Str>, Box<Raise>> {
    match options.get_str(key) {
        None | Some(Value::Nil) => Ok(None),
        Some(Value::Str(s)) => Ok(Some(s.clone())),
        Some(_) => Err(Raise::error(RunCode::Type, format!("`{key}` must be a string")).about(0, "")),
    }
}

fn shared_get(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    a_cell(args)?.get(cx)
}

fn shared_set(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let value = cross(cx.isolate, &args[1])?;
    release(a_cell(args)?.set(value));
    Ok(Value::Nil)
}

/// Key that marks a dict as a snapshot.
const SNAPSHOT: &str = "shared_snapshot";

fn shared_snapshot(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let cell = a_cell(args)?;
    let version = Value::Int(cell.version.get());
    Ok(Value::record([("_type", Value::str(SNAPSHOT)), ("value", cell.get(cx)?), ("version", version)]))
}

fn shared_cas(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let cell = a_cell(args)?;
    let as_expected = match &args[1] {
        Value::Dict(d) if d.dict.get_str("_type").and_then(Value::as_str) == Some(SNAPSHOT) => {
            d.dict.get_str("version").and_then(Value::as_int) == Some(cell.version.get())
        }
        expected => equal(&cell.value.borrow(), expected),
    };
    if as_expected {
        release(cell.set(cross(cx.isolate, &args[2])?));
    }
    Ok(Value::Bool(as_expected))
}
