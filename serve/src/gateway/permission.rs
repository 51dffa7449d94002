//! [`PermissionBridge`]: forwards permission questions to channels, and takes their answers.
//!
//! The first valid answer wins, by the order of the log: an answer is decided and appended under one lock, and the tool
//! runs once the record is durable. "Always" answers of a channel without the right `permit:session` hold for this
//! channel, as long as it is present.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base::data::Data;
use base::failures::{FailedOperation, report};
use eventlog::{Record, Ticket};
use runtime::message::ToolCall;
use tokio::sync::oneshot;

use super::GatewayLog;
use super::envelope::camel;
use super::record::{ChannelRecordKind, record};
use super::{
    ActionError, Caller, Callers, ChannelEvent, ChannelScope, ForwardedPermission, RecordedChannelEvent,
    ReturnedPermission, ReturnedScope,
};
use crate::a2a::now_ms;
use crate::host::{
    PermissionDecision, PermissionQuestion, PermissionReach, PermissionScope, PermissionSide, PermissionSource,
    RUNTIME, Verdict, Waiting, applies_to, new_permission_request,
};

/// The maximum number of decided questions whose answers are remembered, for channels that answer too late.
const MAX_DECIDED: usize = 10_000;
/// The maximum number of "always" answers that are remembered for channels.
const MAX_STANDING: usize = 10_000;

/// The verdicts that a channel can give, by their words.
const VERDICTS: [(&str, Verdict); 4] = [
    ("allow_once", Verdict::AllowOnce),
    ("allow_always", Verdict::AllowAlways),
    ("reject_once", Verdict::RejectOnce),
    ("reject_always", Verdict::RejectAlways),
];

/// Returns the verdict with a word.
pub(crate) fn verdict(word: &str) -> Option<Verdict> {
    VERDICTS.iter().find(|(known, _)| *known == word).map(|(_, verdict)| verdict.clone())
}

/// Returns the words of the verdicts, for messages.
pub(crate) fn verdict_words() -> String {
    VERDICTS.map(|(word, _)| format!("`{word}`")).join(", ")
}

/// Forwards permission questions to channels.
pub(crate) struct PermissionBridge {
    log: Arc<dyn GatewayLog>,
    callers: Arc<dyn Callers>,
    /// The time after which a question without an answer is refused.
    timeout: Option<Duration>,
    state: Mutex<BridgeState>,
}

#[derive(Default)]
struct BridgeState {
    pending: HashMap<Arc<str>, ForwardedQuestion>,
    decided: HashMap<Arc<str>, DecidedQuestion>,
    order: VecDeque<Arc<str>>,
    /// The "always" answers of channels, each with its session and the calls that it covers.
    standing: Vec<StandingAnswer>,
}

struct ForwardedQuestion {
    question: PermissionQuestion,
    answer: oneshot::Sender<Verdict>,
}

/// A question without a decision.
pub(crate) struct UndecidedQuestion {
    pub(crate) request: Arc<str>,
    pub(crate) question: PermissionQuestion,
}

struct StandingAnswer {
    session_id: Arc<str>,
    channel_id: Arc<str>,
    scope: PermissionScope,
    allow: bool,
}

/// The questions on a log without a decision. No answer is awaited after the process that asked has ended.
#[derive(Default)]
pub(crate) struct UndecidedQuestions(BTreeMap<Arc<str>, (Arc<str>, ForwardedPermission)>);

impl UndecidedQuestions {
    /// Takes the next record of the log.
    pub(crate) fn take(&mut self, record: &Record) {
        let Some(Ok(RecordedChannelEvent { session_id, event, .. })) = RecordedChannelEvent::read(record) else {
            return;
        };
        match (event, session_id) {
            (ChannelEvent::PermissionForwarded(forwarded), Some(session_id)) => {
                self.0.insert(forwarded.request.clone(), (session_id, forwarded));
            }
            (ChannelEvent::PermissionReturned(returned), _) => drop(self.0.remove(&returned.request)),
            _ => {}
        }
    }
}

/// A question with its decision.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DecidedQuestion {
    session_id: Arc<str>,
    /// The id of the channel that decided, or `runtime`.
    pub(crate) decided_by: Arc<str>,
    /// The word of the verdict.
    pub(crate) verdict: &'static str,
}

/// The result of an answer.
#[derive(Debug, PartialEq)]
pub(crate) struct AnswerOutcome {
    /// The decision.
    pub(crate) decision: DecidedQuestion,
    /// Whether this answer decided.
    pub(crate) is_first: bool,
}

/// Returns the decision of a channel about a question, for the call alone.
fn by_channel<'a>(
    request: &'a Arc<str>,
    question: &'a PermissionQuestion,
    channel_id: Arc<str>,
    verdict: &'static str,
) -> PermissionDecision<'a> {
    PermissionDecision {
        session_id: &question.session_id,
        request,
        requested_by: &question.requested_by,
        call: &question.call,
        decided_by: channel_id,
        side: PermissionSide::Remote,
        source: PermissionSource::User,
        verdict,
        reach: PermissionReach::Once,
    }
}

impl PermissionBridge {
    pub(crate) fn new(
        log: Arc<dyn GatewayLog>,
        callers: Arc<dyn Callers>,
        timeout: Option<Duration>,
    ) -> Arc<PermissionBridge> {
        Arc::new(PermissionBridge { log, callers, timeout, state: Mutex::default() })
    }

    /// Locks the state. Every operation leaves it consistent.
    fn lock(&self) -> MutexGuard<'_, BridgeState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forwards a question to the channels that may answer. Dropping the future withdraws it.
    pub(crate) fn ask(self: &Arc<PermissionBridge>, question: PermissionQuestion) -> Waiting<Verdict> {
        self.begin(question).1
    }

    /// Forwards a question like [`PermissionBridge::ask`], beside a peer that is asked in its own protocol. Its answer
    /// is that of the channel `by`.
    pub(crate) fn ask_beside(
        self: &Arc<PermissionBridge>,
        question: PermissionQuestion,
        mut answer: Waiting<Verdict>,
        by: impl FnOnce() -> Arc<Caller> + Send + 'static,
    ) -> Waiting<Verdict> {
        let session_id = question.session_id.clone();
        let (request, mut asked) = self.begin(question);
        let bridge = self.clone();
        Box::pin(async move {
            let given = tokio::select! {
                biased;
                verdict = &mut asked => return verdict,
                given = &mut answer => given,
            };
            // Another channel can still answer a question that the peer does not understand.
            if !matches!(given, Verdict::Cancelled | Verdict::Unusable(_))
                && let Err(error) = bridge.answer(&by(), &session_id, &request, given).await
            {
                let message = format_args!("cannot record the permission decision of a peer: {error}");
                report(FailedOperation::Write, "permission decision", message);
            }
            asked.await
        })
    }

    fn begin(self: &Arc<PermissionBridge>, question: PermissionQuestion) -> (Arc<str>, Waiting<Verdict>) {
        let request = new_permission_request();
        if let Some((channel_id, allow)) = self.standing(&question) {
            let verdict = if allow { Verdict::AllowOnce } else { Verdict::RejectOnce };
            let decision = PermissionDecision {
                side: PermissionSide::Local,
                source: PermissionSource::Policy,
                reach: PermissionReach::Channel(&question.scope),
                ..by_channel(&request, &question, channel_id, verdict.word())
            };
            let ticket = self.record(&decision);
            let settled = self.log.settled(ticket);
            let decided = async move {
                // A log that cannot be written is reported at the end of the prompt.
                let _ = settled.await;
                verdict
            };
            return (request, Box::pin(decided));
        }
        let (answer, answered) = oneshot::channel();
        let expires_at_ms =
            self.timeout.map(|timeout| now_ms().saturating_add(u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX)));
        let forwarded = ForwardedPermission {
            request: request.clone(),
            requested_by: question.requested_by.clone(),
            applies_to: applies_to(&question.session_id, &question.call),
            forwarded_to: self.callers.present_with(ChannelScope::Permit, &question.session_id),
            reason: Some(question.reason.clone()),
            covers: question.scope.to_data(),
            expires_at_ms,
        };
        let event = RecordedChannelEvent {
            channel_id: None,
            session_id: Some(question.session_id.clone()),
            event: ChannelEvent::PermissionForwarded(forwarded),
        };
        {
            let mut state = self.lock();
            self.log.put(event.to_record(now_ms()));
            state.pending.insert(request.clone(), ForwardedQuestion { question, answer });
        }
        let asked = AskedQuestion { bridge: self.clone(), request: request.clone() };
        (request, Box::pin(asked.answered(answered)))
    }

    /// Returns the questions of an ended process as expired: its tool calls are over, and a turn that runs again asks
    /// anew.
    pub(crate) fn expire(&self, left: UndecidedQuestions) {
        let mut state = self.lock();
        for (request, (session_id, forwarded)) in left.0 {
            let text = |key: &str| forwarded.applies_to.get(key).as_shared_str().unwrap_or_default();
            let question = PermissionQuestion {
                session_id,
                requested_by: forwarded.requested_by.clone(),
                call: ToolCall::new(text("tool_call_id"), text("tool"), Data::Nil),
                annotations: Data::Nil,
                reason: forwarded.reason.clone().unwrap_or_default(),
                scope: PermissionScope::Tool { tool: text("tool") },
                old_text: None,
            };
            self.end_question(&mut state, &request, &question, PermissionSource::Timeout, Verdict::Cancelled.word());
        }
    }

    /// Returns the channel whose "always" answer covers a question, if it is still present, and the answer.
    fn standing(&self, question: &PermissionQuestion) -> Option<(Arc<str>, bool)> {
        let mut state = self.lock();
        state.standing.retain(|it| self.callers.is_present(&it.channel_id));
        let covers = |it: &&StandingAnswer| it.session_id == question.session_id && it.scope == question.scope;
        state.standing.iter().find(covers).map(|it| (it.channel_id.clone(), it.allow))
    }

    /// Takes an answer of a channel with the right `permit`. An "always" answer also decides the other open questions of
    /// the session that it covers. Returns once all that is durable; the tools run after that.
    ///
    /// # Errors
    /// The session has no such question, or the log cannot be written.
    pub(crate) async fn answer(
        &self,
        channel: &Caller,
        session_id: &str,
        request: &Arc<str>,
        verdict: Verdict,
    ) -> Result<AnswerOutcome, ActionError> {
        let (waiting, decision, ticket, verdict, covered) = {
            let mut state = self.lock();
            if let Some(decision) = state.decided.get(request).filter(|it| *it.session_id == *session_id) {
                return Ok(AnswerOutcome { decision: decision.clone(), is_first: false });
            }
            if !state.is_pending(session_id, request) {
                return Err(ActionError::UnknownRequest);
            }
            let Some(pending) = state.pending.remove(request) else { return Err(ActionError::UnknownRequest) };
            let is_always = matches!(verdict, Verdict::AllowAlways | Verdict::RejectAlways);
            let for_session = is_always && channel.scopes.has(ChannelScope::PermitSession);
            let scope = &pending.question.scope;
            let reach = match (is_always, for_session) {
                (false, _) => PermissionReach::Once,
                (true, false) => PermissionReach::Channel(scope),
                (true, true) => PermissionReach::Session(scope),
            };
            let by_channel = |request, question, verdict| by_channel(request, question, channel.id.clone(), verdict);
            let decided = by_channel(request, &pending.question, verdict.word());
            let mut ticket = self.record(&PermissionDecision { reach, ..decided });
            let decision = state.decide(request, &pending.question, channel.id.clone(), verdict.word());
            let allow = matches!(verdict, Verdict::AllowOnce | Verdict::AllowAlways);
            let once = if allow { Verdict::AllowOnce } else { Verdict::RejectOnce };
            if is_always && !for_session {
                state.remember(&pending.question, channel, allow);
            }
            let covered = if is_always { state.take_equal(&pending.question) } else { Vec::new() };
            for (request, equal) in &covered {
                let scope = &equal.question.scope;
                let reach = if for_session { PermissionReach::Once } else { PermissionReach::Channel(scope) };
                let (side, source) = (PermissionSide::Local, PermissionSource::Policy);
                let decided = by_channel(request, &equal.question, once.word());
                ticket = ticket.max(self.record(&PermissionDecision { side, source, reach, ..decided }));
                state.decide(request, &equal.question, channel.id.clone(), once.word());
            }
            let verdict = if is_always && !for_session { once.clone() } else { verdict };
            (
                pending.answer,
                decision,
                ticket,
                verdict,
                covered.into_iter().map(move |(_, it)| (it.answer, once.clone())),
            )
        };
        self.log.settled(ticket).await?;
        // If nothing waits, the session is over or was cancelled. The covered questions come first: the answer for the
        // session would decide them too.
        for (waiting, verdict) in covered.chain([(waiting, verdict)]) {
            let _ = waiting.send(verdict);
        }
        Ok(AnswerOutcome { decision, is_first: true })
    }

    /// Returns whether a session has a question, decided or not.
    pub(crate) fn knows(&self, session_id: &str, request: &str) -> bool {
        let state = self.lock();
        let is_decided = || state.decided.get(request).is_some_and(|it| *it.session_id == *session_id);
        state.is_pending(session_id, request) || is_decided()
    }

    /// Records an answer of a channel that may not answer, for people who examine the log. The question stays open, and
    /// no channel gets an event.
    pub(crate) fn refuse(&self, channel: &Caller, session_id: &str, request: &Arc<str>, answer: &'static str) {
        let state = self.lock();
        let Some(pending) = state.pending.get(request).filter(|it| *it.question.session_id == *session_id) else {
            return;
        };
        // It allows nothing.
        let unusable = by_channel(request, &pending.question, channel.id.clone(), "unusable");
        let refused = PermissionDecision { source: PermissionSource::Auth, ..unusable };
        let payload = refused.to_data().with("answer", answer.into());
        self.log.put(record(ChannelRecordKind::Permission, Some(session_id), payload, now_ms()));
    }

    /// Returns a question, if it has no decision yet.
    pub(crate) fn open_question(&self, request: &Arc<str>) -> Option<UndecidedQuestion> {
        let question = self.lock().pending.get(request)?.question.clone();
        Some(UndecidedQuestion { request: request.clone(), question })
    }

    /// Returns the questions of a session without a decision.
    pub(crate) fn open_questions(&self, session_id: &str) -> Vec<UndecidedQuestion> {
        let state = self.lock();
        let of_session = state.pending.iter().filter(|(_, it)| *it.question.session_id == *session_id);
        let open = of_session
            .map(|(request, it)| UndecidedQuestion { request: request.clone(), question: it.question.clone() });
        open.collect()
    }

    /// Returns the questions of a session without a decision, as a channel that connects needs them.
    pub(crate) fn pending(&self, session_id: &str) -> Data {
        Data::list(self.open_questions(session_id).into_iter().map(|UndecidedQuestion { request, question }| {
            Data::dict([
                ("request", Data::from(request)),
                ("requestedBy", (&question.requested_by).into()),
                ("appliesTo", camel(&applies_to(&question.session_id, &question.call))),
                ("covers", question.scope.to_data()),
                ("reason", question.reason.into()),
            ])
        }))
    }

    /// Ends a question without an answer.
    fn end(&self, request: &Arc<str>, source: PermissionSource, verdict: &'static str) {
        let mut state = self.lock();
        let Some(pending) = state.pending.remove(request) else { return };
        self.end_question(&mut state, request, &pending.question, source, verdict);
    }

    /// Records that the runtime decided a question.
    fn end_question(
        &self,
        state: &mut BridgeState,
        request: &Arc<str>,
        question: &PermissionQuestion,
        source: PermissionSource,
        verdict: &'static str,
    ) {
        let decided = by_channel(request, question, RUNTIME.into(), verdict);
        self.record(&PermissionDecision { side: PermissionSide::Local, source, ..decided });
        state.decide(request, question, RUNTIME.into(), verdict);
    }

    /// Appends the records of a decision: the decision, and the event for channels.
    fn record(&self, decision: &PermissionDecision<'_>) -> Ticket {
        let session_id = decision.session_id;
        self.log.put(record(ChannelRecordKind::Permission, Some(session_id), decision.to_data(), now_ms()));
        let returned = ReturnedPermission {
            request: decision.request.clone(),
            requested_by: decision.requested_by.clone(),
            applies_to: applies_to(session_id, decision.call),
            decided_by: decision.decided_by.clone(),
            side: decision.side,
            source: decision.source,
            scope: ReturnedScope {
                holds: decision.reach.word().into(),
                channel_scoped: decision.reach.is_of_channel(),
                covers: decision.reach.covers(),
            },
            verdict: decision.verdict.into(),
        };
        let by_channel = (&*decision.decided_by != RUNTIME).then(|| decision.decided_by.clone());
        let event = RecordedChannelEvent {
            channel_id: by_channel,
            session_id: Some(session_id.clone()),
            event: ChannelEvent::PermissionReturned(returned),
        };
        self.log.put(event.to_record(now_ms()))
    }
}

impl BridgeState {
    fn is_pending(&self, session_id: &str, request: &str) -> bool {
        self.pending.get(request).is_some_and(|it| *it.question.session_id == *session_id)
    }

    /// Takes the open questions of a session that an "always" answer to another question covers.
    fn take_equal(&mut self, decided: &PermissionQuestion) -> Vec<(Arc<str>, ForwardedQuestion)> {
        let is_equal =
            |it: &ForwardedQuestion| it.question.session_id == decided.session_id && it.question.scope == decided.scope;
        self.pending.extract_if(|_, it| is_equal(it)).collect()
    }

    fn decide(
        &mut self,
        request: &Arc<str>,
        question: &PermissionQuestion,
        decided_by: Arc<str>,
        verdict: &'static str,
    ) -> DecidedQuestion {
        let decision = DecidedQuestion { session_id: question.session_id.clone(), decided_by, verdict };
        self.decided.insert(request.clone(), decision.clone());
        self.order.push_back(request.clone());
        if self.order.len() > MAX_DECIDED
            && let Some(oldest) = self.order.pop_front()
        {
            self.decided.remove(&oldest);
        }
        decision
    }

    /// Remembers an "always" answer of a channel. Beyond the limit, the question is asked again.
    fn remember(&mut self, question: &PermissionQuestion, channel: &Caller, allow: bool) {
        if self.standing.len() < MAX_STANDING {
            self.standing.push(StandingAnswer {
                session_id: question.session_id.clone(),
                channel_id: channel.id.clone(),
                scope: question.scope.clone(),
                allow,
            });
        }
    }
}

/// A question that waits for its answer. Dropping it withdraws the question.
struct AskedQuestion {
    bridge: Arc<PermissionBridge>,
    request: Arc<str>,
}

impl AskedQuestion {
    async fn answered(self, answered: oneshot::Receiver<Verdict>) -> Verdict {
        let timeout = async {
            match self.bridge.timeout {
                Some(timeout) => tokio::time::sleep(timeout).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            // The answer is dropped only with the question.
            verdict = answered => verdict.unwrap_or(Verdict::Cancelled),
            () = timeout => {
                self.bridge.end(&self.request, PermissionSource::Timeout, "unusable");
                let seconds = self.bridge.timeout.unwrap_or_default().as_secs_f64();
                Verdict::Unusable(format!("no channel answered within {seconds} s").into())
            }
        }
    }
}

impl Drop for AskedQuestion {
    fn drop(&mut self) {
        self.bridge.end(&self.request, PermissionSource::Policy, Verdict::Cancelled.word());
    }
}
