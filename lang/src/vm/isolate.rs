//! State that the scripts of one run share.
#![allow(unsafe_code)]

use super::coverage::Coverage;
use super::fiber::Spare;
use super::fuel::Fuel;
use super::memory::Account;
use super::nesting::Nesting;
use super::pace::Pace;
use super::tasks::{Globals, Tasks};
use super::watch::Watch;
use super::{Definitions, Host, Limits, Proto, Task};
use crate::declaration::{Registry, Right};
use crate::value::{Closure, Dict, Flavor, ItemSource, Iter, Str, Value};
use std::cell::{Cell, OnceCell, RefCell, UnsafeCell};
use std::collections::HashMap;
use std::rc::{Rc, Weak};

/// Something that holds values and may, through them, hold itself.
pub(crate) trait Holder {
    /// Lets go of what it holds.
    fn clear(&self);
}

/// Globals, functions, the host, limits. Nothing in it is ever removed, so that code may point into it.
pub struct Isolate {
    globals: UnsafeCell<Vec<Value>>,
    functions: UnsafeCell<Vec<Rc<Proto>>>,
    /// Every function ever loaded, kept for frames that point at it.
    kept: RefCell<Vec<Rc<Proto>>>,
    cells: RefCell<Vec<Weak<RefCell<Value>>>>,
    iters: RefCell<Vec<Weak<Iter>>>,
    holders: RefCell<Vec<Weak<dyn Holder>>>,
    /// Values that all tasks share by name.
    named: RefCell<HashMap<String, Value>>,
    registry: Registry,
    host: Rc<dyn Host>,
    limits: Limits,
    denied: Vec<Right>,
    pub(super) fuel: Fuel,
    account: Account,
    pace: Pace,
    watch: Watch,
    names: RefCell<std::collections::HashSet<Str>>,
    definitions: Definitions,
    /// Functions as values, so that one function is always the same value.
    values: RefCell<HashMap<u16, Value>>,
    /// The code of methods that have their `self`.
    bound: RefCell<HashMap<u16, Rc<Proto>>>,
    /// The keys of what `next` gives.
    step: OnceCell<[Str; 2]>,
    tasks: Tasks,
    nesting: Nesting,
    /// Registers and frames that no fiber uses, for the next one.
    spare: RefCell<Vec<Spare>>,
    /// The variables of the main task, while another's are in `globals`.
    own_globals: Rc<Globals>,
    /// Owner of the variables in `globals`.
    seen_globals: RefCell<Rc<Globals>>,
    /// Globals that are known to reach no captured variable.
    plain_globals: RefCell<Vec<Value>>,
    /// Number of globals.
    global_count: Cell<usize>,
    coverage: Coverage,
}

impl Isolate {
    /// A new run.
    #[must_use]
    pub fn new(registry: Registry, host: Rc<dyn Host>, limits: Limits, denied: Vec<Right>) -> Rc<Self> {
        let own_globals = Rc::<Globals>::default();
        Rc::new(Self {
            seen_globals: RefCell::new(own_globals.clone()),
            own_globals,
            plain_globals: RefCell::default(),
            global_count: Cell::new(0),
            coverage: Coverage::default(),
            tasks: Tasks::default(),
            nesting: Nesting::default(),
            spare: RefCell::default(),
            globals: UnsafeCell::default(),
            functions: UnsafeCell::default(),
            kept: RefCell::default(),
            cells: RefCell::default(),
            iters: RefCell::default(),
            holders: RefCell::default(),
            named: RefCell::default(),
            registry,
            host,
            limits,
            denied,
            fuel: Fuel::default(),
            account: Account::default(),
            pace: Pace::default(),
            watch: Watch::default(),
            names: RefCell::default(),
            definitions: Definitions::default(),
            values: RefCell::default(),
            bound: RefCell::default(),
            step: OnceCell::new(),
        })
    }

    /// The builtins.
    #[must_use]
    pub fn registry(&self) -> Registry {
        self.registry
    }

    /// Returns the counters of lines.
    #[must_use]
    pub fn coverage(&self) -> &Coverage {
        &self.coverage
    }

    /// The host.
    #[must_use]
    pub fn host(&self) -> &Rc<dyn Host> {
        &self.host
    }

    /// The limits.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The capabilities that the run was denied.
    #[must_use]
    pub fn denied(&self) -> &[Right] {
        &self.denied
    }

    /// Whether the run was denied a capability.
    #[must_use]
    pub fn is_denied(&self, right: impl Into<Right>) -> bool {
        self.denied.contains(&right.into())
    }

    /// Room for `count` more globals; the first one's number.
    pub fn add_globals(&self, count: usize) -> u32 {
        // SAFETY: one thread, and no reference into the vector outlives an instruction.
        let globals = unsafe { &mut *self.globals.get() };
        let first = globals.len();
        globals.resize(first + count, Value::Unbound);
        self.global_count.set(first + count);
        u32::try_from(first).unwrap_or(u32::MAX)
    }

    /// Room for a function; its number.
    pub fn add_function(&self, proto: Rc<Proto>) -> usize {
        // SAFETY: as above.
        let functions = unsafe { &mut *self.functions.get() };
        functions.push(proto);
        functions.len() - 1
    }

    /// Returns the number of functions.
    #[must_use]
    pub fn function_count(&self) -> usize {
        // SAFETY: as above.
        unsafe { (&*self.functions.get()).len() }
    }

    /// Returns the number of globals.
    #[must_use]
    pub fn global_count(&self) -> usize {
        self.global_count.get()
    }

    /// Puts a function where [`Self::add_function`] made room.
    pub fn set_function(&self, number: usize, proto: Rc<Proto>) {
        // SAFETY: as above.
        let functions = unsafe { &mut *self.functions.get() };
        if let Some(slot) = functions.get_mut(number) {
            // The placeholder may be running nowhere, but what was loaded stays.
            self.kept.borrow_mut().push(std::mem::replace(slot, proto));
        }
        if let Ok(number) = u16::try_from(number) {
            self.values.borrow_mut().remove(&number);
            self.bound.borrow_mut().remove(&number);
        }
    }

    /// The function of a number.
    #[must_use]
    pub fn function(&self, number: usize) -> Option<Rc<Proto>> {
        // SAFETY: as above.
        unsafe { (&*self.functions.get()).get(number).cloned() }
    }

    /// Keeps a loaded module's code.
    pub fn keep(&self, proto: &Rc<Proto>) {
        self.kept.borrow_mut().push(proto.clone());
    }

    /// The definitions of declared types.
    #[must_use]
    pub fn definitions(&self) -> &Definitions {
        &self.definitions
    }

    /// The function of a number as a value.
    #[must_use]
    pub fn function_value(&self, number: u16) -> Value {
        if let Some(value) = self.values.borrow().get(&number) {
            return value.clone();
        }
        let Some(proto) = self.function(usize::from(number)) else { return Value::Nil };
        let value = Value::Closure(Rc::new(Closure { proto, captures: Vec::new() }));
        self.values.borrow_mut().insert(number, value.clone());
        value
    }

    /// The code of a method that has its `self`, made once.
    pub(super) fn bound(&self, number: u16, make: impl FnOnce() -> Proto) -> Rc<Proto> {
        self.bound.borrow_mut().entry(number).or_insert_with(|| Rc::new(make())).clone()
    }

    /// The one block that all code of this run uses for a name.
    #[must_use]
    pub fn intern(&self, text: &str) -> Str {
        let mut names = self.names.borrow_mut();
        if let Some(found) = names.get(text) {
            return found.clone();
        }
        let name = Str::new(text);
        names.insert(name.clone());
        name
    }

    /// Result of `next` of an iterator.
    pub(crate) fn step(&self, value: Value, done: bool) -> Value {
        let [done_key, value_key] = self.step.get_or_init(|| [self.intern("done"), self.intern("value")]);
        let mut step = Dict::with_capacity(2);
        step.insert(done_key.clone(), Value::Bool(done));
        step.insert(value_key.clone(), value);
        Value::dict(step)
    }

    /// A global's value.
    #[must_use]
    pub fn global(&self, slot: u32) -> Value {
        // SAFETY: as above.
        unsafe { (&*self.globals.get()).get(slot as usize).cloned().unwrap_or_default() }
    }

    /// Sets a global.
    pub fn set_global(&self, slot: u32, value: Value) {
        // SAFETY: as above. The old value is dropped after the slot is written, when no reference into the vector is left: a drop
        // may run code of the host.
        let old = unsafe { (&mut *self.globals.get()).get_mut(slot as usize).map(|s| std::mem::replace(s, value)) };
        drop(old);
    }

    /// Result of a finished fiber.
    pub(super) fn take_spare(&self) -> Option<Spare> {
        self.spare.borrow_mut().pop()
    }

    /// Keeps a few.
    pub(super) fn leave_spare(&self, spare: Spare) {
        const KEPT: usize = 8;
        let mut kept = self.spare.borrow_mut();
        if kept.len() < KEPT {
            kept.push(spare);
        }
    }

    /// Returns the nesting of the runtime's calls.
    pub(super) fn nesting(&self) -> &Nesting {
        &self.nesting
    }

    /// The tasks of the run.
    pub(super) fn tasks(&self) -> &Tasks {
        &self.tasks
    }

    /// Whether anything runs beside the main fiber: tasks, or timers of deadlines.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.tasks.is_busy()
    }

    /// Drops the tasks that are left, without running any more of them.
    pub fn abandon_tasks(&self) {
        self.tasks.clear();
    }

    /// The tasks that failed while nobody awaited them, in the order in which they ended.
    #[must_use]
    pub fn unseen_failures(&self) -> Vec<Box<super::Raise>> {
        self.tasks.unseen().iter().filter_map(|task| Task::unseen_error(task)).collect()
    }

    /// The variables of the main task.
    pub(super) fn own_globals(&self) -> &Rc<Globals> {
        &self.own_globals
    }

    /// Puts a task's variables where code finds them; whose were there before.
    pub(super) fn swap_globals(&self, wanted: Rc<Globals>) -> Rc<Globals> {
        let mut seen = self.seen_globals.borrow_mut();
        if Rc::ptr_eq(&seen, &wanted) {
            return wanted;
        }
        // SAFETY: one thread, and no reference into the vector outlives an instruction; no fiber is inside one here.
        let globals = unsafe { &mut *self.globals.get() };
        std::mem::swap(globals, &mut seen.values.borrow_mut());
        std::mem::swap(globals, &mut wanted.values.borrow_mut());
        // What was loaded since knows more of them.
        if globals.len() < self.global_count.get() {
            globals.resize(self.global_count.get(), Value::Unbound);
        }
        std::mem::replace(&mut *seen, wanted)
    }

    /// Reads the variables of a task, wherever they are.
    pub(super) fn see_globals<T>(&self, of: &Rc<Globals>, read: impl FnOnce(&[Value]) -> T) -> T {
        if Rc::ptr_eq(&self.seen_globals.borrow(), of) {
            // SAFETY: as above; `read` copies and runs no code of the script.
            return read(unsafe { &*self.globals.get() });
        }
        read(&of.values.borrow())
    }

    pub(super) fn plain_globals(&self) -> std::cell::RefMut<'_, Vec<Value>> {
        self.plain_globals.borrow_mut()
    }

    pub(super) fn globals(&self) -> *mut Vec<Value> {
        self.globals.get()
    }

    pub(super) fn functions(&self) -> *mut Vec<Rc<Proto>> {
        self.functions.get()
    }

    /// Remembers a captured variable, so that cycles through it can be broken at the end.
    pub(super) fn note_cell(&self, cell: &Rc<RefCell<Value>>) {
        note(&self.cells, cell);
    }

    /// A new iterator with registers of its own, which may come to hold the iterator itself.
    pub(crate) fn iterator(&self, flavor: Flavor, body: ItemSource) -> Value {
        let iter = Rc::new(Iter::new(flavor, body));
        note(&self.iters, &iter);
        Value::Iter(iter)
    }

    pub(super) fn watch(&self) -> &Watch {
        &self.watch
    }

    pub(super) fn pace(&self) -> &Pace {
        &self.pace
    }

    pub(super) fn account(&self) -> &Account {
        &self.account
    }

    /// Remembers what holds values, for the same reason.
    pub(crate) fn note_holder(&self, holder: &Rc<dyn Holder>) {
        let mut holders = self.holders.borrow_mut();
        if holders.len() == holders.capacity() {
            holders.retain(|h| h.strong_count() > 0);
        }
        holders.push(Rc::downgrade(holder));
    }

    /// Returns the value that the run holds under a name, and makes it if there is none.
    pub(crate) fn named(
        &self,
        name: &str,
        make: impl FnOnce() -> Result<Value, Box<super::Raise>>,
    ) -> Result<Value, Box<super::Raise>> {
        if let Some(found) = self.named.borrow().get(name) {
            return Ok(found.clone());
        }
        let made = make()?;
        self.named.borrow_mut().insert(name.to_owned(), made.clone());
        Ok(made)
    }
}

/// Adds to a list of what may be part of a cycle; what is gone leaves it before it grows.
fn note<T>(list: &RefCell<Vec<Weak<T>>>, new: &Rc<T>) {
    let mut list = list.borrow_mut();
    if list.len() == list.capacity() {
        list.retain(|one| one.strong_count() > 0);
    }
    list.push(Rc::downgrade(new));
}

impl Drop for Isolate {
    fn drop(&mut self) {
        for holder in self.holders.get_mut().drain(..) {
            if let Some(holder) = holder.upgrade() {
                holder.clear();
            }
        }
        // A closure held by the variable it captures would never be freed by counting.
        for cell in self.cells.get_mut().drain(..) {
            if let Some(cell) = cell.upgrade() {
                let old = cell.replace(Value::Nil);
                drop(old);
            }
        }
        // So would an iterator that holds itself.
        for iter in self.iters.get_mut().drain(..) {
            if let Some(iter) = iter.upgrade() {
                iter.finish(Value::Nil);
            }
        }
    }
}
