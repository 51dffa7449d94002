//! Executes the actions of channels. Nothing of a channel reaches a session in another way.
//!
//! An action is executed once: its record `channel.action` comes first, and its record `channel.result` ends it. A
//! process that ends in between leaves an action without a result. The next process finds out from the log whether it
//! was executed: a prompt by its record `session.life.prompted`, an injection by its record in `session.injection`, a
//! message by its record `channel.event`. The other kinds can be executed again without a further effect.

use std::path::PathBuf;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use base::data::Data;
use base::failures::{self, FailedOperation};
use eventlog::Record;
use runtime::event_log::Topic;
use serde_json::Value;
use tokio::sync::oneshot;

use super::Gateway;
use super::ledger::{ActionOutcome, ActionStatus, LedgerBeginning};
use super::record::{ChannelRecordKind, record};
use super::{Action, ActionError, ActionKind, Caller, ChannelAcknowledgement, ChannelEvent, permission};
use crate::a2a::now_ms;
use crate::acp::injected_blocks;
use crate::bridge::{self, BridgeMethod};
use crate::host::{ActionKey, EndedPrompt, HostError, Mode, NewSession, Prompt, PromptOutcome};
use crate::spawn::spawn;

/// The time for which a prompt waits for a busy session: the log shows the end of a turn shortly before the session
/// takes the next one.
const TURNOVER: Duration = Duration::from_millis(250);

/// The answer to an action.
#[derive(Debug)]
pub(crate) struct ActionReceipt {
    /// The outcome. It is on the log.
    pub(crate) outcome: ActionOutcome,
    /// Whether this is the recorded result of an earlier action with the same id.
    pub(crate) is_repeat: bool,
    /// The refusal, if the action was refused after it was recorded.
    pub(crate) refusal: Option<ActionError>,
    /// The end of the turn that a new prompt has begun.
    #[expect(dead_code, reason = "read by transports that wait for the end of a turn")]
    pub(crate) end: Option<oneshot::Receiver<EndedPrompt>>,
}

impl ActionReceipt {
    /// Returns the response to an action.
    pub(crate) fn to_data(&self, action_id: &Arc<str>) -> Data {
        Data::dict_of_present([
            ("actionId", if action_id.is_empty() { Data::Nil } else { action_id.into() }),
            ("status", self.outcome.status.as_str().into()),
            ("result", self.outcome.result.clone()),
            ("repeated", self.is_repeat.into()),
        ])
    }

    fn done(result: Data) -> ActionReceipt {
        ActionReceipt::of(ActionOutcome::done(result))
    }

    fn of(outcome: ActionOutcome) -> ActionReceipt {
        ActionReceipt { outcome, is_repeat: false, refusal: None, end: None }
    }

    fn refused(error: ActionError) -> ActionReceipt {
        let outcome = ActionOutcome::refused(&error);
        ActionReceipt { refusal: Some(error), ..ActionReceipt::of(outcome) }
    }
}

impl Gateway {
    /// Executes an action of a channel, once. Every refusal is recorded.
    ///
    /// # Errors
    /// The action is refused, and nothing was done.
    pub(crate) async fn submit(
        self: &Arc<Gateway>,
        channel: &Arc<Caller>,
        action: Action,
    ) -> Result<ActionReceipt, ActionError> {
        let (daemon, of_channel) = (self.clone(), channel.clone());
        let submitted = action.clone();
        // A caller that hangs up does not stop what it has begun.
        let executed = spawn(async move { daemon.execute(&of_channel, action).await });
        let executed = executed.await.unwrap_or(Err(HostError::Stopping.into()));
        if let Err(error) = &executed {
            self.refuse(channel, Some(&submitted), submitted.session.as_ref(), error);
        }
        executed
    }

    /// Records the refusal of a channel's request. Beyond a rate, refusals of a channel are counted, and summed up in
    /// one record.
    pub(crate) fn refuse(
        &self,
        channel: &Arc<Caller>,
        action: Option<&Action>,
        session_id: Option<&Arc<str>>,
        error: &ActionError,
    ) {
        let callers = &self.callers;
        if matches!(error, ActionError::RateLimited) || self.host.writes().is_err() {
            // It is one of many, or the log has no room.
            return callers.count_refusal(channel, error.reason());
        }
        if !callers.takes_refusal(channel, error.reason()) {
            return;
        }
        if let (ActionError::Scope(_), Some(action)) = (error, action) {
            self.refuse_permit(channel, action);
        }
        let payload = Data::dict_of_present([
            ("channel_id", Data::from(&channel.id)),
            ("session_id", session_id.into()),
            ("action_id", action.map(|action| &action.action_id).into()),
            ("kind", action.map(|action| action.kind.as_str()).into()),
            ("reason", error.reason().into()),
            ("message", error.to_string().into()),
            ("count", 1.into()),
        ]);
        self.core().refused(payload);
    }

    async fn execute(self: &Arc<Gateway>, channel: &Arc<Caller>, action: Action) -> Result<ActionReceipt, ActionError> {
        let core = self.core();
        if !channel.scopes.has(action.kind.scope()) {
            return Err(ActionError::Scope(action.kind.scope()));
        }
        match action.kind {
            ActionKind::Heartbeat => return Ok(ActionReceipt::done(Data::empty_dict())),
            ActionKind::Ack => return self.acknowledge(channel, &action).await,
            _ => {}
        }
        let session = match &action.session {
            Some(session) => {
                self.reaches(channel, session).await?;
                Some(session.clone())
            }
            None => Some(format!("sess_{}", uuid::Uuid::new_v4().simple()).into()),
        };
        let begun = core.ledger().begin(&channel.id, &action, session)?;
        let session = match begun {
            LedgerBeginning::New(session) => session,
            LedgerBeginning::Repeat(mut outcome) => {
                let known = outcome.wait_for(Option::is_some).await;
                let outcome = known.ok().and_then(|known| known.clone()).ok_or(HostError::Stopping)?;
                return Ok(ActionReceipt { is_repeat: true, ..ActionReceipt::of(outcome) });
            }
            LedgerBeginning::Ended(outcome) => {
                return Ok(ActionReceipt { is_repeat: true, ..ActionReceipt::of(outcome) });
            }
        };
        let session = session.unwrap_or_default();
        let key = ActionKey { channel_id: channel.id.clone(), action_id: action.action_id.clone() };
        let executed = match self.check(channel, &action).await {
            // Until here, nothing has changed.
            Ok(()) => self.execute_new(channel, &action, &session, &key).await,
            Err(error) => Err(error),
        };
        if executed.is_err() {
            core.ledger().forget(&key);
        }
        executed
    }

    /// Records an answer of a channel without the scope, beside the refusal: the question stays open.
    fn refuse_permit(&self, channel: &Caller, action: &Action) {
        if action.kind != ActionKind::Permit {
            return;
        }
        let given = (action.session.as_ref(), action.params.get("request").as_shared_str());
        let word = action.params.get("verdict").as_str().and_then(permission::verdict);
        if let ((Some(session), Some(request)), Some(verdict)) = (given, word) {
            self.core().permissions.refuse(channel, session, &request, verdict.word());
        }
    }

    async fn acknowledge(&self, channel: &Caller, action: &Action) -> Result<ActionReceipt, ActionError> {
        let session = action.session.clone().unwrap_or_default();
        self.host.writes()?;
        self.reaches(channel, &session).await?;
        let cursor = action.params.get("cursor").as_int().and_then(|cursor| u64::try_from(cursor).ok());
        let cursor =
            cursor.ok_or_else(|| ActionError::invalid("cursor", "`cursor` must be an integer of at least 0"))?;
        let ack = ChannelAcknowledgement { channel_id: channel.id.clone(), session_id: Some(session), cursor };
        let ticket = self.core().log.put(ack.to_record(now_ms()));
        self.core().log.settled(ticket).await?;
        Ok(ActionReceipt::done(Data::dict([("cursor", cursor.into())])))
    }

    /// Checks the parameters, before the action is recorded.
    async fn check(&self, channel: &Caller, action: &Action) -> Result<(), ActionError> {
        self.host.writes()?;
        match action.kind {
            ActionKind::Open => {
                new_session(action, &self.mode).map(drop)?;
                self.host.accepts()?;
                Ok(self.host.has_room(&channel.account)?)
            }
            ActionKind::Prompt => {
                prompt(action)?;
                let session = action.session.as_deref().and_then(|id| self.host.session(id).ok());
                self.host.accepts()?;
                let Some(session) = session else { return Ok(()) };
                let free = tokio::time::timeout(TURNOVER, session.turn_over()).await;
                free.map_err(|_| HostError::Busy(session.id().clone()).into())
            }
            ActionKind::Inject => {
                let (method, params) = injection(action)?;
                Ok(bridge::check(method, &params)?)
            }
            ActionKind::Permit => {
                let request = action.needed("request")?;
                let word = action.needed("verdict")?;
                if permission::verdict(&word).is_none() {
                    let words = permission::verdict_words();
                    return Err(ActionError::invalid("verdict", format!("unknown verdict; use one of {words}")));
                }
                let session = action.session.as_deref().unwrap_or_default();
                let is_known = self.core().permissions.knows(session, &request);
                if is_known { Ok(()) } else { Err(ActionError::UnknownRequest) }
            }
            ActionKind::Mode => mode_of(&action.needed("mode")?).map(drop),
            ActionKind::Message => action.needed("text").map(drop),
            ActionKind::Cancel => action.text("reason").map(drop),
            ActionKind::Load | ActionKind::Close | ActionKind::Ack | ActionKind::Heartbeat => Ok(()),
        }
    }

    async fn execute_new(
        self: &Arc<Gateway>,
        channel: &Arc<Caller>,
        action: &Action,
        session: &Arc<str>,
        key: &ActionKey,
    ) -> Result<ActionReceipt, ActionError> {
        let core = self.core();
        if action.kind == ActionKind::Open {
            core.accounts.set(session, &channel.account);
        }
        let accepted = core.log.put(action_record(channel, action, session));
        core.log.settled(accepted).await?;
        if action.kind == ActionKind::Prompt {
            return match self.begin_prompt(&channel.account, action, session, key).await {
                Ok(end) => {
                    let accepted = ActionOutcome { status: ActionStatus::Accepted, result: Data::empty_dict() };
                    core.ledger().complete(key, accepted.clone());
                    Ok(ActionReceipt { end: Some(end), ..ActionReceipt::of(accepted) })
                }
                Err(error) => self.refused_late(channel, action, session, key, error).await,
            };
        }
        match self.perform(channel, action, session, key).await {
            Ok(result) => {
                let outcome = ActionOutcome::done(result);
                self.finish(key, Some(session), outcome.clone()).await?;
                Ok(ActionReceipt::of(outcome))
            }
            Err(error) => self.refused_late(channel, action, session, key, error).await,
        }
    }

    /// Records the refusal of an action that was recorded before its session refused it.
    async fn refused_late(
        &self,
        channel: &Arc<Caller>,
        action: &Action,
        session: &Arc<str>,
        key: &ActionKey,
        error: ActionError,
    ) -> Result<ActionReceipt, ActionError> {
        self.refuse(channel, Some(action), Some(session), &error);
        let receipt = ActionReceipt::refused(error);
        self.finish(key, Some(session), receipt.outcome.clone()).await?;
        Ok(receipt)
    }

    /// Records the outcome of an action, and waits until it is durable.
    pub(crate) async fn finish(
        &self,
        key: &ActionKey,
        session: Option<&Arc<str>>,
        outcome: ActionOutcome,
    ) -> Result<(), ActionError> {
        let payload = Data::dict_of_present([
            ("channel_id", Data::from(&key.channel_id)),
            ("action_id", (&key.action_id).into()),
            ("session_id", session.into()),
            ("status", outcome.status.as_str().into()),
            ("result", outcome.result.clone()),
        ]);
        let core = self.core();
        let session = session.map(|id| &**id);
        let ticket = core.log.put(record(ChannelRecordKind::Result, session, payload, now_ms()));
        core.log.settled(ticket).await?;
        core.ledger().complete(key, outcome);
        Ok(())
    }

    /// Begins a turn. The session records, durably, that the action began, before the script runs.
    pub(crate) async fn begin_prompt(
        self: &Arc<Gateway>,
        account: &Arc<str>,
        action: &Action,
        session: &Arc<str>,
        key: &ActionKey,
    ) -> Result<oneshot::Receiver<EndedPrompt>, ActionError> {
        let handle = self.session(account, session).await?;
        let prompt = Prompt { action: Some(key.clone()), ..prompt(action)? };
        let mut turn = Box::pin(async move { handle.prompt(prompt).await });
        // The first step hands the prompt to the session, or is refused.
        let first = std::future::poll_fn(|cx| Poll::Ready(turn.as_mut().poll(cx))).await;
        let refusal = first_refusal(&first);
        let (report, end) = oneshot::channel();
        let (daemon, key, session) = (self.clone(), key.clone(), session.clone());
        let ended = async move {
            let ended = match first {
                Poll::Ready(ended) => ended,
                Poll::Pending => turn.await,
            };
            let outcome = match &ended {
                Ok(ended) => ended_outcome(ended),
                Err(error) => ActionOutcome::refused(&ActionError::Host(error.clone())),
            };
            if let Err(error) = daemon.finish(&key, Some(&session), outcome).await {
                let message = format_args!("cannot record the end of a turn: {error}");
                failures::report(FailedOperation::Write, "end of a turn", message);
            }
            ended
        };
        match refusal {
            Some(error) => Err(error),
            None => {
                spawn(async move {
                    if let Ok(ended) = ended.await {
                        // Most channels do not wait: they read the events.
                        let _ = report.send(ended);
                    }
                });
                Ok(end)
            }
        }
    }

    /// Executes an action that is not a prompt.
    async fn perform(
        &self,
        channel: &Arc<Caller>,
        action: &Action,
        session: &Arc<str>,
        key: &ActionKey,
    ) -> Result<Data, ActionError> {
        match action.kind {
            ActionKind::Open => {
                let new = NewSession { id: Some(session.clone()), ..new_session(action, &self.mode)? };
                // A process may have ended after it opened the session, and before it recorded that.
                let handle = match self.host.open(new).await {
                    Err(HostError::Exists(_)) => self.host.session(session)?,
                    opened => opened?,
                };
                self.core().fan_out.open(session);
                Ok(Data::dict([("sessionId", Data::from(session)), ("mode", handle.mode().into())]))
            }
            ActionKind::Load => {
                let handle = self.session(&channel.account, session).await?;
                Ok(Data::dict([
                    ("sessionId", Data::from(session)),
                    ("mode", handle.mode().into()),
                    ("busy", handle.is_busy().into()),
                ]))
            }
            ActionKind::Inject => {
                self.session(&channel.account, session).await?;
                let (method, params) = injection(action)?;
                let meta = Data::dict([("harn", Data::dict([("action", Data::from(key.to_string()))]))]);
                let params = params.with("sessionId", session.into()).with("_meta", meta);
                let accepted = bridge::call(method, &params, &self.host);
                if accepted.is_err() {
                    self.host.metrics().injections.refused.add();
                }
                Ok(Data::from(accepted?.settled().await?))
            }
            ActionKind::Permit => {
                let request = action.needed("request")?;
                let word = action.needed("verdict")?;
                let verdict = permission::verdict(&word).ok_or(ActionError::UnknownRequest)?;
                let answered = self.core().permissions.answer(channel, session, &request, verdict).await?;
                Ok(Data::dict([
                    ("decided", Data::from(answered.is_first)),
                    ("decidedBy", (&answered.decision.decided_by).into()),
                    ("verdict", answered.decision.verdict.into()),
                ]))
            }
            ActionKind::Cancel => {
                let reason = action.text("reason")?.unwrap_or_else(|| "a channel cancelled the prompt".into());
                let cancelled = self.host.session(session).is_ok_and(|handle| handle.cancel(reason));
                Ok(Data::dict([("cancelled", cancelled.into())]))
            }
            ActionKind::Mode => {
                let mode = mode_of(&action.needed("mode")?)?;
                self.session(&channel.account, session).await?.set_mode(mode.as_str());
                Ok(Data::dict([("mode", Data::from(mode.as_str()))]))
            }
            ActionKind::Close => {
                match self.host.close(session).await {
                    // A stored session that is not open is closed already.
                    Ok(()) | Err(HostError::UnknownSession(_)) => {}
                    Err(error) => return Err(error.into()),
                }
                Ok(Data::empty_dict())
            }
            ActionKind::Message => {
                let data = action.params.get("data").clone();
                let event =
                    ChannelEvent::Message { text: action.needed("text")?, data, action: Some(key.to_string().into()) };
                let ticket = self.core().event(&channel.id, Some(session), event);
                self.core().log.settled(ticket).await?;
                Ok(Data::empty_dict())
            }
            ActionKind::Prompt | ActionKind::Ack | ActionKind::Heartbeat => Ok(Data::empty_dict()),
        }
    }
}

/// Returns the refusal of a prompt that did not begin.
fn first_refusal(first: &Poll<Result<EndedPrompt, HostError>>) -> Option<ActionError> {
    match first {
        Poll::Ready(Err(error)) => Some(ActionError::Host(error.clone())),
        _ => None,
    }
}

/// Returns the result of an action if its effect is on the log: a record names it.
pub(crate) fn effect_of(record: &Record, action: &str) -> Option<Data> {
    let payload = &*record.payload;
    let names = |path: &str| payload.at(path).as_str() == Some(action);
    let own = |path: &str, key: &'static str| Data::dict([(key, payload.at(path).clone())]);
    match Topic::named(&record.topic)? {
        Topic::Life if names("action") => Some(Data::empty_dict()),
        Topic::Injection if names("_meta.harn.action") || names("meta.harn.action") => Some(own("id", "injectionId")),
        Topic::Channel if names("payload.data._meta.action") => Some(Data::empty_dict()),
        _ => None,
    }
}

fn action_record(channel: &Caller, action: &Action, session: &Arc<str>) -> eventlog::NewRecord {
    let payload = Data::dict_of_present([
        ("channel_id", Data::from(&channel.id)),
        ("action_id", (&action.action_id).into()),
        ("kind", action.kind.as_str().into()),
        ("session_id", session.into()),
        ("account_ref", if action.kind == ActionKind::Open { (&channel.account).into() } else { Data::Nil }),
        ("digest", action.digest().into()),
        ("params", action.params.clone()),
    ]);
    record(ChannelRecordKind::Action, Some(session), payload, now_ms())
}

fn new_session(action: &Action, mode: &Arc<str>) -> Result<NewSession, ActionError> {
    let cwd = action.text("cwd")?.map(|cwd| PathBuf::from(&*cwd));
    if cwd.as_ref().is_some_and(|cwd| !cwd.is_absolute()) {
        return Err(ActionError::invalid("cwd", "`cwd` must be an absolute path"));
    }
    let mode = match action.text("mode")? {
        Some(word) => mode_of(&word)?.as_str().into(),
        None => mode.clone(),
    };
    Ok(NewSession { cwd, metadata: metadata(action)?, mode: Some(mode), ..NewSession::default() })
}

fn prompt(action: &Action) -> Result<Prompt, ActionError> {
    let text = action.needed("text")?;
    let message = Data::dict([("role", Data::from("user")), ("content", (&text).into())]);
    Ok(Prompt { text: text.to_string(), message, metadata: metadata(action)?, ..Prompt::default() })
}

fn metadata(action: &Action) -> Result<Data, ActionError> {
    match action.params.get("metadata") {
        metadata @ (Data::Nil | Data::Dict(_)) => Ok(metadata.clone()),
        _ => Err(ActionError::invalid("metadata", "`metadata` must be an object")),
    }
}

/// Returns the injection of an action: a reminder or a message, whose blocks are converted to text.
fn injection(action: &Action) -> Result<(BridgeMethod, Data), ActionError> {
    let of = |key: &'static str| match action.params.get(key) {
        Data::Nil => Ok(None),
        params @ Data::Dict(_) if params.get("_meta").is_nil() => Ok(Some(params.clone())),
        _ => Err(ActionError::invalid(key, format!("`{key}` must be an object without `_meta`"))),
    };
    match (of("reminder")?, of("message")?) {
        (Some(reminder), None) => Ok((BridgeMethod::InjectReminder, reminder)),
        (None, Some(message)) => {
            let converted = injected_blocks(Value::from(&message));
            let message = converted.map_err(|error| ActionError::invalid(error.field_path(), error.message()))?;
            Ok((BridgeMethod::Inject, Data::from(message)))
        }
        _ => Err(ActionError::invalid("reminder", "an injection has either a `reminder` or a `message`")),
    }
}

fn mode_of(word: &str) -> Result<Mode, ActionError> {
    word.parse().map_err(|unknown: base::words::UnknownWord| {
        ActionError::invalid("mode", format!("unknown mode; use one of {}", unknown.expected))
    })
}

/// Returns the outcome of a turn, with the words of the record `session.life.answered`.
fn ended_outcome(ended: &EndedPrompt) -> ActionOutcome {
    if let PromptOutcome::Failed(failure) = &ended.stop {
        return ActionOutcome::failed("script_failed", &failure.to_string());
    }
    ActionOutcome::done(Data::dict_of_present([
        ("stop", Data::from(ended.stop.word())),
        ("reason", ended.stop.reason().into()),
        ("data", ended.value.clone()),
    ]))
}
