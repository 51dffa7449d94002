//! The option `deadline`: the agent is told of it, and the wait for the agent ends by it.

use crate::a2a::client::{ErrorKind, PeerCode, PeerError};
use crate::clock::RunClock;
use crate::options::Reader;
use crate::{from_rfc3339, rfc3339};
use lang::value::{Value, article};
use lang::vm::Raise;
use runtime::clock::Clock;
use runtime::data::Data;
use std::future::pending;

/// How long after its deadline an agent may take to say how far it came, in milliseconds. One of harn gives what runs 2 seconds to
/// end.
const GRACE_MS: u64 = 5_000;

/// By when something must be done. Both moments are in milliseconds since 1970.
#[derive(Clone, Copy)]
pub(crate) struct Deadline {
    /// What the agent is told.
    at_ms: u64,
    /// How long it is waited for, fixed when the call begins: nothing that it says meanwhile buys it more.
    until_ms: u64,
}

impl Deadline {
    /// Reads the option of a call that begins now. A deadline that has passed already leaves the agent its grace to say so.
    pub(super) fn read(reader: &Reader<'_>, clock: &RunClock) -> Result<Option<Deadline>, Box<Raise>> {
        let given = reader.value("deadline");
        let at_ms = match &given {
            Value::Nil => return Ok(None),
            Value::Int(ms) => u64::try_from(*ms).ok(),
            Value::Str(text) => from_rfc3339(text),
            _ => None,
        };
        let Some(at_ms) = at_ms else {
            let found = match &given {
                Value::Str(text) => format!("{:?}", text.as_str()),
                Value::Int(ms) => ms.to_string(),
                other => article(other.type_name()),
            };
            let message = format!("`deadline` is not a time: {found}");
            return Err(Raise::error(PeerCode::Unsendable, message).about(reader.arg(), "invalid `deadline`").help(
                "write milliseconds since 1970, such as `now_ms() + 60000`, or RFC 3339: \
                    \"2030-01-01T12:00:00Z\"",
            ));
        };
        let until_ms = at_ms.max(clock.now_ms()).saturating_add(GRACE_MS);
        Ok(Some(Deadline { at_ms, until_ms }))
    }

    /// Whether nobody is waited for any longer.
    pub(crate) fn is_over(self, clock: &RunClock) -> bool {
        clock.now_ms() >= self.until_ms
    }

    /// What is raised when nobody is waited for any longer.
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
