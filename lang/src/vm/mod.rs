//! The machine: registers, fibers, and the loop that runs them.
//!
//! - [`Op`]: the instructions, from one table. [`Proto`]: a compiled function. [`listing`]: compiled functions as text.
//! - [`verify`]: checks compiled functions before they run, so that the loop need not.
//! - [`Isolate`]: what the scripts of one run share: globals, functions, the host.
//! - [`Fiber`]: one line of execution. [`Fiber::run`] goes on until it is done, must wait, or its slice is over.
//! - `slice`: how a run begins and pauses. `fast`: the loop, with the common case of the common instructions. `dispatch`:
//!   every instruction in full. `operate`, `access`, `pattern`, `method`, `record`: what it calls. `call`: windows and
//!   frames. `iterate`: iterators.
//! - [`Raise`]: what interrupts a run; `unwind` finds the handler and writes the stack trace, `caught` throws again.
//! - [`drive`]: runs a fiber as a future; [`Function`]: a script's function that the runtime may call; [`Wait`]: what a
//!   builtin that must wait hands back. [`StreamSource`]: what a stream reads from.
//! - [`TypeTest`]: whether a value has a type. [`TypeValue`]: a type as a value; `decode`: values of it from data.
//! - [`Coverage`]: the lines that have run.
//! - [`Meter`]: what a walk over values costs.
//! - `coroutine`: code of another language, which waits on a native stack of its own.
//! - [`tasks`]: fibers beside one another. [`Path`]: their names.

mod access;
mod assign;
mod border;
mod call;
mod callback;
mod caught;
mod codes;
mod context;
mod coroutine;
mod coverage;
mod decode;
mod definitions;
mod dispatch;
mod drive;
mod elements;
mod fast;
mod fiber;
mod fuel;
mod halt;
mod isolate;
mod iterate;
mod listing;
mod memory;
mod meter;
mod method;
pub mod native;
mod nesting;
pub mod op;
pub(crate) mod operate;
mod pace;
mod path;
mod pattern;
mod proto;
mod raise;
mod record;
mod slice;
mod stream_source;
pub(crate) mod tasks;
mod type_test;
mod type_value;
mod unwind;
pub mod verify;
mod wait;
mod watch;

pub use crate::value::{Meter, Stopped};
pub(crate) use access::walkable;
pub use access::{iterate, method_of, missing_method, read};
pub use border::{BorderSite, Exempt};
pub use codes::RunCode;
pub use context::{Context, Cx, Host, Idle, Limits, NoHost, Suggestions};
pub use coroutine::{begin, call, inside, outside, roomy, tick};
pub use coverage::{Coverage, LineCount};
pub use decode::{DecodeOptions, Decoded};
pub use definitions::Definitions;
pub use drive::{Function, drive, resume, yield_once};
pub(crate) use elements::element;
pub use elements::{elements, long_range};
pub use fiber::{Exit, Fiber};
pub use halt::Halt;
pub(crate) use isolate::Holder;
pub use isolate::Isolate;
pub use listing::listing;
pub use memory::{Counted, allocated, take_over};
pub use native::{Callable, Next};
pub use op::Op;
#[cfg(test)]
pub(crate) use operate::binary;
pub(crate) use operate::{overflow, power};
pub use pace::RuntimeStep;
pub use path::Path;
pub use proto::{
    CallSite, Capture, ChangedPlace, Failure, FieldSite, Handler, HandlerKind, KeySource, MethodSite, PathKey,
    PathSite, Place, Proto, Rebuild, Str0, Test,
};
pub(crate) use raise::TASK;
pub use raise::{About, Raise, RaisePayload, Why};
pub use stream_source::StreamSource;
pub use tasks::{
    Deadline, Task, begin_anew, close, end_grace, end_run, interrupt, run, run_beside, run_by, spawn_work,
};
pub use type_test::{TypeTest, WrittenTypes};
pub use type_value::TypeValue;
pub(crate) use unwind::{held, held_why};
pub use wait::{Called, Local, On, Outcome, Wait};
pub use watch::{Watched, watch_time};
