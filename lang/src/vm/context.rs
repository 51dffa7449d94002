//! Context of a fiber, and the context that a builtin gets.

use super::tasks::{Globals, OpenBlocks, Task};
use super::{Halt, Isolate, Local, Path, Raise};
use crate::value::Value;
use std::any::Any;
use std::rc::Rc;
use std::time::Duration;

/// Services that the language needs from its host.
pub trait Host {
    /// `print`, `println`, `log`.
    ///
    /// # Errors
    /// Error that ends the run if the text cannot be written.
    fn print(&self, text: &str) -> Result<(), Box<Raise>>;
    /// `eprintln`.
    fn eprint(&self, text: &str);
    /// Milliseconds since 1970.
    fn now_ms(&self) -> u64;
    /// A random number.
    fn random(&self) -> u64;
    /// Ready once [`Host::now_ms`] has reached `at_ms`. A host without timers never is.
    fn alarm(&self, _at_ms: u64) -> Local<()> {
        Box::pin(std::future::pending())
    }
    /// No fiber can go on by itself now. A host whose time is mocked moves it to the next timer; with `outside` only for a
    /// fiber that sleeps, because what comes from outside may still make the alarms needless.
    fn idle(&self, _outside: bool) -> Idle {
        Idle::Never
    }
    /// Whether somebody outside wants the run to end. Asked now and then while a fiber runs.
    fn is_interrupted(&self) -> bool {
        false
    }
    /// Returns whether a builtin may be called although a capability that it needs is denied, because what it makes is not used
    /// in this run.
    fn exempts(&self, _builtin: &str) -> bool {
        false
    }
    /// Says how the work ended whose result `value` is, for values of the host that are no `Result` and can fail: `?`, `try*` and
    /// `unwrap` return such a value, or raise the error.
    fn outcome(&self, _value: &Value) -> Option<Result<(), Box<Raise>>> {
        None
    }
    /// For the crate that implements it.
    fn as_any(&self) -> &dyn Any;
}

/// A host with nothing behind it: nothing is printed, and no time passes.
pub struct NoHost;

impl Host for NoHost {
    fn print(&self, _: &str) -> Result<(), Box<Raise>> {
        Ok(())
    }

    fn eprint(&self, _: &str) {}

    fn now_ms(&self) -> u64 {
        0
    }

    fn random(&self) -> u64 {
        0
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Answer of a host when no task can continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idle {
    /// Time was moved, and somebody woken.
    Moved,
    /// A timer is running and will wake somebody.
    Later,
    /// No timer will ever wake anybody.
    Never,
}

/// Limits of a run.
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
    /// Tasks alive at one time.
    pub tasks: usize,
    /// Help of errors about reached limits.
    pub suggestions: &'static Suggestions,
}

/// Suggestions for errors about a reached limit or a missing capability. The embedder knows the settings that raise them.
#[derive(Debug)]
pub struct Suggestions {
    /// For nested calls.
    pub depth: &'static str,
    /// For fuel.
    pub fuel: &'static str,
    /// For memory.
    pub memory: &'static str,
    /// For time.
    pub time: &'static str,
    /// For a missing right.
    pub right: &'static str,
}

static SUGGESTIONS: Suggestions = Suggestions {
    depth: "check for infinite recursion",
    fuel: "check for an infinite loop, or raise the limit",
    memory: "check for a value that keeps growing, or raise the limit",
    time: "raise the limit",
    right: "remove the call",
};

impl Default for Limits {
    fn default() -> Self {
        Self {
            depth: 20_000,
            fuel: None,
            value_bytes: 1 << 30,
            memory: None,
            time: None,
            tasks: 100_000,
            suggestions: &SUGGESTIONS,
        }
    }
}

/// Context that is inherited by a fiber's children: the task they run in, and the data of the crate above (the current
/// session, for instance).
#[derive(Clone, Default)]
pub struct Context {
    /// The task: cancellation and deadlines reach the fiber through it.
    pub task: Rc<Task>,
    /// The variables at the top of the file as this task has them; nothing means those of the run.
    pub(super) globals: Option<Rc<Globals>>,
    /// Resources that the fiber must close; a clone starts with none.
    pub(crate) open: OpenBlocks,
    /// Signal that stops only this call of a function.
    pub halt: Option<Halt>,
    /// Whatever the crate above put there.
    pub data: Option<Rc<dyn Any>>,
    /// Path of its line of work among all of the run.
    pub path: Path,
}

impl Context {
    /// Returns a copy with other data.
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

/// Context of a builtin call besides its arguments.
pub struct Cx<'a> {
    /// The run.
    pub isolate: &'a Rc<Isolate>,
    /// The fiber's.
    pub context: &'a Rc<Context>,
}

/// Size that a builtin may go through without a charge: a check would cost more.
pub(super) const LARGE: usize = 256;

impl Cx<'_> {
    /// The host as the type it was made from.
    #[must_use]
    pub fn host<T: 'static>(&self) -> Option<&T> {
        self.isolate.host().as_any().downcast_ref()
    }

    /// Counts what a builtin goes through beyond a call, as an instruction for `per` of it, such as bytes: fuel pays for it, and
    /// what is to stop the run is looked at soon after. What is small is free.
    #[inline(always)]
    pub fn charge_part(&self, size: usize, per: usize) {
        if size >= LARGE {
            self.isolate.charge_large(size / per.max(1));
        }
    }

    /// Charges like [`Cx::charge_part`], with `each` instructions for each part, such as an element.
    #[inline(always)]
    pub fn charge(&self, size: usize, each: usize) {
        if size >= LARGE {
            self.isolate.charge_large(size.saturating_mul(each));
        }
    }

    /// Refuses what the run's memory has no room for.
    ///
    /// # Errors
    /// [`super::RunCode::Memory`], which nothing catches.
    pub fn check_room(&self, bytes: usize) -> Result<(), Box<Raise>> {
        self.isolate.check_memory(bytes)
    }

    /// Refuses a copy of so many bytes before it is made, where the run's memory has no room for it. What is small is not looked at.
    ///
    /// # Errors
    /// [`super::RunCode::Memory`], which nothing catches.
    #[inline(always)]
    pub fn check_copy(&self, bytes: usize) -> Result<(), Box<Raise>> {
        if bytes < LARGE { Ok(()) } else { self.isolate.check_memory(bytes) }
    }

    /// Refuses values of more than the limit before they are made.
    ///
    /// # Errors
    /// [`super::RunCode::Size`].
    pub fn check_size(&self, bytes: Option<usize>) -> Result<(), Box<Raise>> {
        let limit = self.isolate.limits().value_bytes;
        match bytes {
            Some(bytes) if bytes <= limit => self.isolate.check_memory(bytes),
            _ => Err(Raise::error(super::RunCode::Size, format!("the result would exceed {limit} bytes"))),
        }
    }
}
