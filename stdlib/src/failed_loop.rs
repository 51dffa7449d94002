//! [`FailedLoop`]: the result of an agent loop or a worker that failed. It reads like the dict that others return, and notes
//! whether the script handles the failure, so that a run that ignores it does not end as a success.
//!
//! - `failure`: the failure itself, which is reported once, and the failures of a run. `reading`: what a value says about the
//!   loop whose result it is.

mod failure;
mod reading;

pub(crate) use failure::{FailureSubject, LoopFailures, Told, last_words};
pub(crate) use reading::{as_dict, ended, outcome, returned};

use failure::LoopFailure;
use lang::value::{Dict, HostBox, HostObject, Str, Value};
use std::any::Any;
use std::rc::Rc;

/// The keys that a script reads to handle a failure: the failure itself, its reason, and the flag of a sub-agent. `status` is not
/// among them, because it is printed as often as it is tested.
const HANDLING: [&str; 3] = ["error", "stop_reason", "ok"];

/// The result of an agent loop or a worker that failed.
pub(crate) struct FailedLoop {
    /// The dict that it reads like.
    result: Value,
    failure: Rc<LoopFailure>,
}

impl FailedLoop {
    /// Returns `result` as a value that notes when its failure is handled.
    pub(crate) fn value(result: Value, failure: Rc<LoopFailure>) -> Value {
        HostBox::value(Self { result, failure })
    }

    /// Marks the failure as handled, and reports it.
    pub(crate) fn let_go(&self) {
        self.failure.handle();
    }

    fn dict(&self) -> Option<&Dict> {
        self.result.as_dict()
    }
}

impl HostObject for FailedLoop {
    fn type_name(&self) -> &'static str {
        "dict"
    }

    fn get(&self, key: &str) -> Option<Value> {
        let found = self.dict()?.get_str(key).cloned();
        if found.is_some() && HANDLING.contains(&key) {
            self.failure.handle();
        }
        found
    }

    fn matched(&self) {
        self.failure.handle();
    }

    fn size(&self) -> Option<usize> {
        self.dict().map(Dict::len)
    }

    fn keys(&self) -> Vec<Str> {
        self.dict().into_iter().flat_map(Dict::iter).map(|(key, _)| key.clone()).collect()
    }

    /// Returns the whole result, to be printed, compared, converted or iterated. A copy does not handle the failure.
    fn to_value(&self) -> Option<Value> {
        Some(self.result.clone())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
