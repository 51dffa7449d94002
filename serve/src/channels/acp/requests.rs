//! The requests of a client of ACP, as actions.

use std::path::PathBuf;
use std::sync::Arc;

use base::data::Data;
use jsonrpc::{Answer, Id};
use serde_json::{Value, json};

use super::super::daemon::ChannelDaemon;
use super::super::{Action, ActionError, ActionKind, ActionStatus, ChannelScope};
use super::{AcpChannel, Attachment, MAX_SESSIONS, SubmittedPrompt, WorkDone};
use crate::acp::error::ErrorResponse;
use crate::acp::params::Params;
use crate::acp::update::{ReminderUpdates, WantedUpdates};
use crate::acp::{content, initialize, list_request, mode, named_servers, permission, session_metadata};
use crate::gateway::{self, ActionReceipt};
use crate::host::{HostError, Verdict};
use crate::spawn::spawn_in;

impl AcpChannel {
    pub(super) fn initialize(&mut self, params: &Value) -> Result<Value, ErrorResponse> {
        let client = initialize::read(params)?;
        self.wants = WantedUpdates::of(&client, ReminderUpdates::Never);
        let harn = client.meta.as_ref().and_then(|meta| meta.get("harn"));
        self.wants_events = harn.and_then(|harn| harn.get("channelEvents")).and_then(Value::as_bool) == Some(true);
        self.is_initialized = true;
        let broken = |error: serde_json::Error| ErrorResponse::broken(error.to_string());
        let mut answer = initialize::answer(true, &Value::Null).map_err(broken)?;
        answer["agentCapabilities"]["_meta"]["harn"]["channel"] = json!({
            "channelId": &*self.channel.id,
            "connectionId": &*self.connection_id,
            "resume": true,
            "scopes": self.channel.scopes.words().collect::<Vec<_>>(),
        });
        Ok(answer)
    }

    /// Creates an action. The client's own id of it makes a repeat harmless.
    pub(super) fn action(
        &mut self,
        kind: ActionKind,
        session: Option<Arc<str>>,
        params: Data,
        request: &Value,
    ) -> Action {
        self.last_action += 1;
        let given = request.pointer("/_meta/harn/actionId").and_then(Value::as_str);
        let action_id = match given {
            Some(id) if !id.is_empty() && id.len() <= 100 => format!("acp:{id}").into(),
            _ => format!("{}:{}", self.connection_id, self.last_action).into(),
        };
        Action { action_id, session, kind, params }
    }

    fn has_room(&self) -> Result<(), ErrorResponse> {
        match self.sessions.len() < MAX_SESSIONS {
            true => Ok(()),
            false => Err(ErrorResponse::not_now("sessions_full", "this connection has too many sessions")),
        }
    }

    pub(super) fn open(&mut self, id: Id, params: &Value) -> Result<(), ErrorResponse> {
        self.has_room()?;
        let read = Params::of(params)?;
        let cwd = read.absolute("cwd")?.to_owned();
        named_servers(&read)?;
        let given = Data::dict_of_present([
            ("cwd", Data::from(&*cwd.to_string_lossy())),
            ("metadata", session_metadata(&read)?),
        ]);
        let action = self.action(ActionKind::Open, None, given, params);
        let (daemon, channel) = (self.daemon.clone(), self.channel.clone());
        spawn_in(&mut self.work, async move {
            let opened = async {
                let head = head(&daemon).await?;
                let result = done(daemon.gateway.submit(&channel, action).await)?;
                let session_id = result.get("sessionId").as_shared_str().unwrap_or_default();
                Ok((session_id, mode_of(&result), head))
            };
            match opened.await {
                Ok((session_id, modes, after)) => {
                    let answer = json!({"sessionId": &*session_id, "modes": modes});
                    let attachment = Attachment { session_id, cwd, after, resumed: false, head: after };
                    WorkDone::Attach { id, answer, loads: false, attachment }
                }
                Err(error) => WorkDone::Answered(id, Err(error)),
            }
        });
        Ok(())
    }

    /// Loads a session: its events are sent from the beginning, or only those from now on.
    pub(super) fn load(&mut self, id: Id, params: &Value, shows: bool) -> Result<(), ErrorResponse> {
        self.has_room()?;
        let read = Params::of(params)?;
        let (session_id, cwd): (Arc<str>, _) = (read.str("sessionId")?.into(), read.absolute("cwd")?.to_owned());
        named_servers(&read)?;
        let action = self.action(ActionKind::Load, Some(session_id.clone()), Data::empty_dict(), params);
        self.attaching.entry(session_id.clone()).or_default().requests += 1;
        let (daemon, channel) = (self.daemon.clone(), self.channel.clone());
        spawn_in(&mut self.work, async move {
            let loaded = async {
                let result = done(daemon.gateway.submit(&channel, action).await)?;
                Ok((mode_of(&result), head(&daemon).await?))
            };
            match loaded.await {
                Ok((modes, head)) => {
                    let after = if shows { 0 } else { head };
                    let attachment = Attachment { session_id, cwd, after, resumed: false, head };
                    WorkDone::Attach { id, answer: json!({"modes": modes}), loads: shows, attachment }
                }
                Err(error) => WorkDone::NotAttached { id, session_id, error },
            }
        });
        Ok(())
    }

    /// Continues the events of a session after a cursor.
    pub(super) fn resume(&mut self, id: Id, params: &Value) -> Result<(), ErrorResponse> {
        self.has_room()?;
        let read = Params::of(params)?;
        let session_id: Arc<str> = read.str("sessionId")?.into();
        let cwd = PathBuf::from(read.optional_str("cwd")?.unwrap_or("/"));
        let after = params["after"].as_u64();
        let after = after.ok_or_else(|| read.refuse("after", "must be an integer of at least 0"))?;
        self.attaching.entry(session_id.clone()).or_default().requests += 1;
        let (daemon, channel) = (self.daemon.clone(), self.channel.clone());
        spawn_in(&mut self.work, async move {
            let reached = async {
                if !channel.scopes.has(ChannelScope::View) {
                    return Err(ActionError::Scope(ChannelScope::View));
                }
                daemon.gateway.reaches(&channel, &session_id).await?;
                Ok(gateway::log::head(&*daemon.core().gateway.log).await?)
            };
            match reached.await {
                Ok(head) => {
                    let attachment = Attachment { session_id, cwd, after, resumed: true, head };
                    WorkDone::Attach { id, answer: json!({"after": after}), loads: false, attachment }
                }
                Err(error) => {
                    daemon.gateway.refuse(&channel, None, Some(&session_id), &error);
                    WorkDone::NotAttached { id, session_id, error: refusal(&error) }
                }
            }
        });
        Ok(())
    }

    pub(super) fn prompt(&mut self, id: Id, params: &Value) -> Result<(), ErrorResponse> {
        let read = Params::of(params)?;
        let session_id: Arc<str> = read.str("sessionId")?.into();
        if !self.sessions.contains_key(&session_id) {
            self.has_room()?;
        }
        let text = content::read(&read, "prompt")?.text;
        let given = Data::dict([("text", Data::from(text))]);
        let action = self.action(ActionKind::Prompt, Some(session_id.clone()), given, params);
        match self.attaching.get_mut(&session_id) {
            Some(attaching) => attaching.prompts.push((id, action)),
            None => self.reach_or_submit(id, session_id, action),
        }
        Ok(())
    }

    /// Submits the prompts that have waited for a session, once no request attaches it any more.
    pub(super) fn submit_waiting(&mut self, session_id: &Arc<str>) {
        let Some(attaching) = self.attaching.get_mut(session_id) else { return };
        attaching.requests -= 1;
        if attaching.requests > 0 {
            return;
        }
        let prompts = self.attaching.remove(session_id).map(|attaching| attaching.prompts);
        for (id, action) in prompts.unwrap_or_default() {
            self.reach_or_submit(id, session_id.clone(), action);
        }
    }

    /// Submits a prompt. A session that is not attached is attached first.
    fn reach_or_submit(&mut self, id: Id, session_id: Arc<str>, action: Action) {
        if self.sessions.contains_key(&session_id) {
            return self.submit_prompt(id, session_id, action);
        }
        let (daemon, channel) = (self.daemon.clone(), self.channel.clone());
        spawn_in(&mut self.work, async move {
            // A client that may not prompt is not attached either.
            let permitted = match channel.scopes.has(action.kind.scope()) {
                true => daemon.gateway.reaches(&channel, &session_id).await,
                false => Err(ActionError::Scope(action.kind.scope())),
            };
            let head = match permitted {
                Ok(()) => head(&daemon).await,
                Err(error) => {
                    daemon.gateway.refuse(&channel, Some(&action), Some(&session_id), &error);
                    Err(refusal(&error))
                }
            };
            match head {
                Ok(head) => WorkDone::Reached { id, action, session_id, head },
                Err(error) => WorkDone::Answered(id, Err(error)),
            }
        });
    }

    /// Submits a prompt. It is remembered first, since its end can be on the log before it is known to be accepted.
    pub(super) fn submit_prompt(&mut self, id: Id, session_id: Arc<str>, action: Action) {
        let Some(attached) = self.sessions.get_mut(&session_id) else { return };
        let name = format!("{}/{}", self.channel.id, action.action_id);
        attached.prompts.push(SubmittedPrompt { id: id.clone(), action: name, turn_id: None, is_repeat: false });
        let (daemon, channel) = (self.daemon.clone(), self.channel.clone());
        spawn_in(&mut self.work, async move {
            let receipt = daemon.gateway.submit(&channel, action).await;
            WorkDone::Prompted { id, session_id, receipt }
        });
    }

    pub(super) fn set_mode(&mut self, id: Id, params: &Value) -> Result<(), ErrorResponse> {
        let word = mode::read(&Params::of(params)?)?;
        self.simple(id, params, ActionKind::Mode, Data::dict([("mode", Data::from(word))]))
    }

    /// Executes an action whose answer is empty.
    pub(super) fn simple(
        &mut self,
        id: Id,
        params: &Value,
        kind: ActionKind,
        given: Data,
    ) -> Result<(), ErrorResponse> {
        let session_id: Arc<str> = Params::of(params)?.str("sessionId")?.into();
        let action = self.action(kind, Some(session_id), given, params);
        let (daemon, channel) = (self.daemon.clone(), self.channel.clone());
        spawn_in(&mut self.work, async move {
            let done = done(daemon.gateway.submit(&channel, action).await);
            WorkDone::Answered(id, done.map(|_| json!({})))
        });
        Ok(())
    }

    pub(super) fn list(&mut self, id: Id, params: Value) -> Result<(), ErrorResponse> {
        let (daemon, channel) = (self.daemon.clone(), self.channel.clone());
        spawn_in(&mut self.work, async move {
            let listed = async {
                if !channel.scopes.has(ChannelScope::View) {
                    let error = ActionError::Scope(ChannelScope::View);
                    daemon.gateway.refuse(&channel, None, None, &error);
                    return Err(refusal(&error));
                }
                let (cwd, cursor) = list_request(&params)?;
                let page = daemon.gateway.host.list(cwd.as_deref(), cursor).await?;
                let accounts = &daemon.core().gateway.accounts;
                let own = page.rows.iter().filter(|row| accounts.owns_listed(&channel.account, row));
                let rows: Vec<Value> = own.map(crate::acp::listed).collect();
                let mut answer = json!({"sessions": rows});
                if let Some(next) = page.next {
                    answer["nextCursor"] = next.into();
                }
                Ok(answer)
            };
            WorkDone::Answered(id, listed.await)
        });
        Ok(())
    }

    /// Takes an answer of the client to a question.
    pub(super) fn answered(&mut self, answer: Answer<Value>) {
        let id = answer.id.and_then(|id| id.as_json().parse::<i64>().ok());
        let Some(asked) = id.and_then(|id| self.asked.remove(&id)) else { return };
        let given = match answer.result {
            Some(result) => permission::verdict(Ok(result)),
            None => return,
        };
        // Another channel may still answer a question that this client cancels or does not understand.
        if matches!(given, Verdict::Cancelled | Verdict::Unusable(_)) {
            return;
        }
        let params = Data::dict([("request", Data::from(&asked.request)), ("verdict", given.word().into())]);
        let action = self.action(ActionKind::Permit, Some(asked.session_id), params, &Value::Null);
        let (daemon, channel) = (self.daemon.clone(), self.channel.clone());
        spawn_in(&mut self.work, async move {
            // A refusal is on the log, and the decision is an event.
            let _ = daemon.gateway.submit(&channel, action).await;
            WorkDone::Nothing
        });
    }
}

/// Returns the cursor of the last record of the log.
async fn head(daemon: &ChannelDaemon) -> Result<u64, ErrorResponse> {
    gateway::log::head(&*daemon.core().gateway.log).await.map_err(|error| refusal(&error.into()))
}

/// Returns the result of an action that was executed.
fn done(receipt: Result<ActionReceipt, ActionError>) -> Result<Data, ErrorResponse> {
    let ActionReceipt { outcome, refusal: refused, .. } = receipt.map_err(|error| refusal(&error))?;
    if let Some(error) = refused {
        return Err(refusal(&error));
    }
    match outcome.status {
        ActionStatus::Failed => Err(failed(&outcome.result)),
        ActionStatus::Accepted | ActionStatus::Done => Ok(outcome.result),
    }
}

pub(super) fn failed(result: &Data) -> ErrorResponse {
    let reason = result.get("reason").as_str().unwrap_or("failed");
    ErrorResponse::not_now(reason, result.get("message").as_str().unwrap_or("the action failed"))
}

pub(super) fn refusal(error: &ActionError) -> ErrorResponse {
    match error {
        ActionError::Host(error) => HostError::clone(error).into(),
        ActionError::Invalid { field, message } => ErrorResponse::params(field, message.clone()),
        ActionError::Injection(error) => error.clone().into(),
        error => ErrorResponse::not_now(error.reason(), error.to_string()),
    }
}

fn mode_of(result: &Data) -> Value {
    mode::state(&result.get("mode").as_shared_str().unwrap_or_else(|| "ask".into()))
}
