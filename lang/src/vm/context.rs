//! What a fiber carries with it, and what a builtin is given.

use super::{Isolate, Raise};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

/// What the language needs from whoever runs it.
pub trait Host {
    /// `print`, `println`, `log`.
    fn print(&self, text: &str);
    /// `eprintln`.
    fn eprint(&self, text: &str);
    /// Milliseconds since 1970.
    fn now_ms(&self) -> u64;
    /// A random number.
    fn random(&self) -> u64;
    /// For the crate that implements it.
    fn as_any(&self) -> &dyn Any;
}

/// How far a run may go.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Calls in one another.
    pub depth: usize,
    /// Instructions, roughly: backward jumps and calls weigh what they span. Nothing means no limit.
    pub fuel: Option<u64>,
    /// Bytes of the largest string or list (16 per element) that one operation may make.
    pub value_bytes: usize,
    /// Bytes that all values together may hold; counted only where [`super::Counted`] is the allocator.
    pub memory: Option<u64>,
    /// Wall time.
    pub time: Option<Duration>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { depth: 20_000, fuel: None, value_bytes: 1 << 30, memory: None, time: None }
    }
}

/// A wish to stop that fibers look at on calls and backward jumps.
#[derive(Clone, Default)]
pub struct Cancel {
    reason: Rc<RefCell<Option<String>>>,
    set: Rc<Cell<bool>>,
}

impl Cancel {
    /// Asks all who hold it to stop.
    pub fn cancel(&self, reason: &str) {
        self.reason.borrow_mut().get_or_insert_with(|| reason.to_owned());
        self.set.set(true);
    }

    /// Whether somebody asked.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.set.get()
    }

    /// Why.
    #[must_use]
    pub fn reason(&self) -> String {
        self.reason.borrow().clone().unwrap_or_default()
    }
}

/// What travels with a fiber and its children: how deep they are nested, whether they should stop, and what the crate
/// above wants to know of them (the session at hand, for instance).
#[derive(Clone, Default)]
pub struct Context {
    /// Fibers that wait for this one.
    pub depth: u32,
    /// The wish to stop.
    pub cancel: Cancel,
    /// Whatever the crate above put there.
    pub data: Option<Rc<dyn Any>>,
}

impl Context {
    /// The same with other data.
    #[must_use]
    pub fn with_data(&self, data: Rc<dyn Any>) -> Self {
        Self { data: Some(data), ..self.clone() }
    }

    /// The data as the type it was made from.
    #[must_use]
    pub fn data<T: 'static>(&self) -> Option<&T> {
        self.data.as_deref().and_then(|d| d.downcast_ref())
    }
}

/// What a builtin is given besides its arguments.
pub struct Cx<'a> {
    /// The run.
    pub isolate: &'a Rc<Isolate>,
    /// The fiber's.
    pub context: &'a Rc<Context>,
}

impl Cx<'_> {
    /// The host as the type it was made from.
    #[must_use]
    pub fn host<T: 'static>(&self) -> Option<&T> {
        self.isolate.host().as_any().downcast_ref()
    }

    /// Refuses what the run's memory has no room for.
    ///
    /// # Errors
    /// [`super::codes::MEMORY`], which nothing catches.
    pub fn check_room(&self, bytes: usize) -> Result<(), Box<Raise>> {
        self.isolate.check_memory(bytes)
    }

    /// Refuses values of more than the limit before they are made.
    ///
    /// # Errors
    /// [`super::codes::SIZE`].
    pub fn check_size(&self, bytes: Option<usize>) -> Result<(), Box<Raise>> {
        let limit = self.isolate.limits().value_bytes;
        match bytes {
            Some(bytes) if bytes <= limit => self.isolate.check_memory(bytes),
            _ => Err(Raise::error(super::codes::SIZE, format!("the result would be larger than {limit} bytes"))),
        }
    }
}
