//! The option `deadline`: it is sent to the agent, and limits the wait for the agent.

use crate::a2a::client::{ErrorKind, PeerError};
use crate::clock::RunClock;
use crate::codes::PeerCode;
use base::clock::Clock;
use base::data::Data;
use base::moment::from_rfc3339;
use base::moment::rfc3339;
use lang::value::{Value, article};
use lang::vm::Raise;
use std::future::pending;

/// The time after its deadline that an agent has to report its progress, in milliseconds. An agent
/// of harn gives running work 2 seconds to end.
const GRACE_MS: u64 = 5_000;

/// A deadline. Both moments are in milliseconds since 1970.
#[derive(Clone, Copy)]
pub(crate) struct Deadline {
    /// The deadline that is sent to the agent.
    at_ms: u64,
    /// The end of the wait, fixed when the call begins: no answer extends it.
    until_ms: u64,
}

impl Deadline {
    /// Reads the option of a call that begins now. A deadline that has passed already leaves the agent its grace to say so.
    pub(super) fn read(given: Option<&Value>, arg: usize, clock: &RunClock) -> Result<Option<Deadline>, Box<Raise>> {
        let Some(given) = given else { return Ok(None) };
        let at_ms = match given {
            Value::Int(ms) => u64::try_from(*ms).ok(),
            Value::Str(text) => from_rfc3339(text),
            _ => None,
        };
        let Some(at_ms) = at_ms else {
            let found = match given {
                Value::Str(text) => format!("{:?}", text.as_str()),
                Value::Int(ms) => ms.to_string(),
                other => article(other.type_name()),
            };
            let message = format!("`deadline` is not a time: {found}");
            return Err(Raise::error(PeerCode::Unsendable, message).about(arg, "invalid `deadline`").help(
                "write milliseconds since 1970, such as `now_ms() + 60000`, or RFC 3339: \
                    \"2030-01-01T12:00:00Z\"",
            ));
        };
        let until_ms = at_ms.max(clock.now_ms()).saturating_add(GRACE_MS);
        Ok(Some(Deadline { at_ms, until_ms }))
    }

    /// Returns whether the wait is over.
    pub(crate) fn is_over(self, clock: &RunClock) -> bool {
        clock.now_ms() >= self.until_ms
    }

    /// Returns the error to raise when the wait is over.
    pub(crate) fn error(self, who: &str) -> PeerError {
        let message = format!("{who} did not finish the task by its deadline, {}", rfc3339(self.at_ms));
        PeerError::new(ErrorKind::Deadline, message)
            .fact("deadline_ms", i64::try_from(self.at_ms).map_or(Data::Nil, Data::from))
            .help("`a2a.get` returns the state of the task and `a2a.cancel` cancels it; or set a later deadline")
    }
}

/// Does some work, unless a deadline and its grace pass before it is done.
pub(crate) async fn by<T>(
    deadline: Option<Deadline>,
    clock: &RunClock,
    work: impl Future<Output = T>,
) -> Result<T, Deadline> {
    let over = async {
        match deadline {
            Some(deadline) => {
                clock.alarm(deadline.until_ms).await;
                deadline
            }
            None => pending().await,
        }
    };
    tokio::select! {
        biased;
        done = work => Ok(done),
        deadline = over => Err(deadline),
    }
}
