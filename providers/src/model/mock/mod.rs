//! The mock model: it answers with what was scripted, and deterministically where nothing was.
//!
//! - [`Mock::push`] queues a reply. A call takes the first queued reply whose `match` fits the prompt, else the first one
//!   without a `match`. The prompt is the text of the last user message of the history.
//! - [`Mock::add_script`] makes a queue of its own, [`Mock::remove_script`] takes it away with what is left of it. Calls whose
//!   scope names a script are answered from it alone, so what runs side by side does not mix.
//! - Unscripted, the answer is `mock: ` and the first line of the prompt (cut at 200 characters), without tool calls.
//! - Tokens that a reply does not state are estimated: one for four bytes.
//! - A reply with a delay is taken when it is asked for and answers when the run's clock has moved so far, so the order of
//!   the calls decides who gets which.
//! - A streamed answer comes in pieces that end at words, its delay spread over them. One with text and an error says the text
//!   and then breaks off.
//! - A scripted error ends the call at once. Only where the request itself asks for retries are transient ones tried again,
//!   so that a script which queues one failure sees it.
//!
//! | offers | for |
//! |---|---|
//! | [`Mock`] | the model |
//! | [`MockReply`], [`MockError`] | a scripted answer, and why a value is none |
//! | [`MockCall`] | what was sent |

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use base::call::{Answer, Outcome, call_error};
use runtime::message::{Role, ToolCall};
use runtime::model::{Delta, ModelError, ModelErrorKind, ModelReply, Request};
use runtime::seam::Turn;
use runtime::usage::Usage;

mod call;
mod pieces;
mod queue;
mod reply;
mod tally;

pub use call::MockCall;
pub use reply::{MockError, MockReply};

use super::http::retry;
use pieces::tell_in_pieces;
use queue::Queue;
use tally::Tally;

/// The mock model.
#[derive(Debug, Default)]
pub struct Mock(RefCell<MockState>);

#[derive(Debug, Default)]
struct MockState {
    queue: Queue,
    scripts: BTreeMap<u64, Queue>,
    scripts_made: u64,
    calls: Vec<MockCall>,
    tally: Tally,
    ids_given: u64,
}

impl Mock {
    /// A mock that nothing was scripted for.
    #[must_use]
    pub fn new() -> Mock {
        Mock::default()
    }

    /// Queues a reply.
    pub fn push(&self, reply: MockReply) {
        self.0.borrow_mut().queue.push(reply);
    }

    /// Makes a script; calls whose scope names it are answered from it alone.
    pub fn add_script(&self, replies: impl IntoIterator<Item = MockReply>) -> u64 {
        let state = &mut *self.0.borrow_mut();
        state.scripts_made += 1;
        state.scripts.insert(state.scripts_made, replies.into_iter().collect());
        state.scripts_made
    }

    /// Removes a script and returns its unused replies.
    pub fn remove_script(&self, id: u64) -> Vec<MockReply> {
        self.0.borrow_mut().scripts.remove(&id).map(Queue::into_rest).unwrap_or_default()
    }

    /// Returns the number of calls for which a script had no reply.
    #[must_use]
    pub fn calls_without_reply(&self, script: u64) -> usize {
        self.0.borrow().scripts.get(&script).map_or(0, |queue| queue.missed)
    }

    /// Returns the received requests, oldest first.
    #[must_use]
    pub fn calls(&self) -> Vec<MockCall> {
        self.0.borrow().calls.clone()
    }

    /// Forgets queued replies and recorded calls. Scripts belong to those who put them there and stay.
    pub fn clear(&self) {
        let state = &mut *self.0.borrow_mut();
        state.queue = Queue::default();
        state.calls.clear();
        state.tally = Tally::default();
        state.ids_given = 0;
    }

    /// Answers as `model`.
    pub(super) fn call<'a>(
        &'a self,
        turn: Turn<'a>,
        request: &'a Request,
        model: &Arc<str>,
        live: &'a dyn Fn(Delta<'_>),
    ) -> Answer<'a, Outcome<ModelReply>> {
        let streams = request.stream.then_some(live);
        let first = self.answer_once(turn, request, model);
        let retries = request.retries.unwrap_or(0);
        // Nothing is waited for, as in most tests.
        if streams.is_none() && first.delay_ms == 0 && (retries == 0 || first.outcome.is_ok()) {
            return Answer::Now(first.outcome.map_err(call_error));
        }
        let model = model.clone();
        Answer::later(async move {
            if retries == 0 {
                return first.come(turn, request.timeout_ms, streams).await.map_err(call_error);
            }
            let mut first = Some(first);
            retry::with_retries(turn, retries, streams.unwrap_or(&|_| {}), async |_| {
                let answer = first.take().unwrap_or_else(|| self.answer_once(turn, request, &model));
                answer.come(turn, request.timeout_ms, streams).await
            })
            .await
        })
    }

    fn answer_once(&self, turn: Turn<'_>, request: &Request, model: &Arc<str>) -> PendingAnswer {
        let state = &mut *self.0.borrow_mut();
        state.calls.push(MockCall {
            request: request.clone(),
            model: model.clone(),
            session_id: turn.session.id().clone(),
            turn: turn.number,
        });
        let script = turn.scope.script.and_then(|id| state.scripts.get_mut(&id));
        let queue = script.unwrap_or(&mut state.queue);
        let scripted = queue.take(|| prompt(request));
        queue.missed += usize::from(scripted.is_none());
        let scripted = scripted.unwrap_or_else(|| MockReply::text(unscripted(&prompt(request))));
        let delay_ms = scripted.delay_ms.unwrap_or(0);
        if let Some(error) = scripted.error {
            let said = scripted.text.map(|text| ModelReply { text, ..ModelReply::default() });
            return PendingAnswer { delay_ms, said, outcome: Err(ModelError { model: Some(model.clone()), ..error }) };
        }
        let input_tokens = scripted.input_tokens.unwrap_or_else(|| state.tally.count(turn.session.id(), request));
        let tool_calls = with_ids(scripted.tool_calls, &mut state.ids_given);
        let usual_end: &Arc<str> = if tool_calls.is_empty() { &END_TURN } else { &TOOL_USE };
        let text = scripted.text.unwrap_or_default();
        let output_tokens = scripted.output_tokens.unwrap_or_else(|| output_estimate(&text, &tool_calls));
        let reply = ModelReply {
            stop_reason: Some(scripted.stop_reason.unwrap_or_else(|| usual_end.clone())),
            text,
            reasoning: scripted.reasoning.filter(|reasoning| !reasoning.is_empty()),
            tool_calls,
            usage: Usage { input_tokens, output_tokens, ..Usage::default() },
            model: scripted.model.unwrap_or_else(|| model.clone()),
            provider: MOCK.clone(),
            ..ModelReply::default()
        };
        PendingAnswer { delay_ms, said: None, outcome: Ok(reply) }
    }
}

/// Strings that every answer contains, created once.
static MOCK: LazyLock<Arc<str>> = LazyLock::new(|| "mock".into());
static END_TURN: LazyLock<Arc<str>> = LazyLock::new(|| "end_turn".into());
static TOOL_USE: LazyLock<Arc<str>> = LazyLock::new(|| "tool_use".into());

/// An answer that is known, and how long it is waited for.
struct PendingAnswer {
    delay_ms: u64,
    /// The partial reply before a failure.
    said: Option<ModelReply>,
    outcome: Result<ModelReply, ModelError>,
}

impl PendingAnswer {
    /// Delivers the answer, in pieces if `live` is set, within the timeout of the attempt, if any.
    async fn come(
        self,
        turn: Turn<'_>,
        timeout_ms: Option<u64>,
        live: Option<&dyn Fn(Delta<'_>)>,
    ) -> Result<ModelReply, ModelError> {
        let clock = &turn.scope.clock;
        let limit = async {
            match timeout_ms {
                Some(ms) => clock.alarm(clock.now_ms().saturating_add(ms)).await,
                None => std::future::pending().await,
            }
        };
        let coming = async {
            match (live, self.outcome.as_ref().ok().or(self.said.as_ref())) {
                (Some(live), Some(reply)) => tell_in_pieces(turn.scope, self.delay_ms, reply, live).await,
                _ if self.delay_ms > 0 => clock.sleep_until(clock.now_ms().saturating_add(self.delay_ms)).await,
                _ => {}
            }
        };
        tokio::select! {
            biased;
            () = coming => self.outcome,
            () = limit => Err(late(timeout_ms.unwrap_or_default())),
        }
    }
}

fn late(timeout_ms: u64) -> ModelError {
    let message = format!("the mock timed out after {timeout_ms} ms; raise `timeout_ms`");
    ModelError::new(ModelErrorKind::Timeout, message)
}

fn prompt(request: &Request) -> Arc<str> {
    let last = request.messages.iter().rev().find(|message| message.role == Role::User);
    last.map(|message| message.text()).unwrap_or_default()
}

fn unscripted(prompt: &str) -> String {
    let line = prompt.lines().find(|line| !line.trim().is_empty()).unwrap_or("(no prompt)").trim();
    format!("mock: {}", line.chars().take(200).collect::<String>())
}

fn with_ids(mut calls: Vec<ToolCall>, given: &mut u64) -> Vec<ToolCall> {
    for call in calls.iter_mut().filter(|call| call.id.is_empty()) {
        *given += 1;
        call.id = format!("call_{given}").into();
    }
    calls
}

fn output_estimate(text: &str, calls: &[ToolCall]) -> u64 {
    let calls: usize = calls.iter().map(|call| call.name.len() + call.arguments.json_len()).sum();
    (text.len() + calls).div_ceil(4) as u64
}

#[cfg(test)]
mod tests;
