//! Continues what an earlier process has left: actions without a result.

use std::sync::Arc;

use base::data::Data;
use base::failures::{FailedOperation, report};
use eventlog::Query;
use runtime::event_log::Topic;

use super::daemon::ChannelDaemon;
use super::in_process::is_own;
use super::ingress::effect_of;
use super::ledger::{ActionOutcome, ActionStatus};
use super::{Action, ActionError, ActionKind};
use crate::gateway;
use crate::host::ActionKey;
use crate::store::INTERRUPTED;

/// The message for a turn whose process has ended.
pub(super) const INTERRUPTION: &str = "the process ended during the turn; what it had done is in the session";

/// An action without a result.
struct UnfinishedAction {
    key: ActionKey,
    action: Action,
    session: Arc<str>,
    cursor: u64,
}

impl ChannelDaemon {
    /// Gives every action that an earlier process has left its result: executes prompts that had not begun, and reports
    /// those that were interrupted. An action of another kind that had no effect is forgotten; its channel, which had no
    /// answer, sends it again.
    pub(super) async fn recover(self: &Arc<ChannelDaemon>) {
        let unfinished: Vec<UnfinishedAction> = {
            let ledger = self.core().ledger();
            let all = ledger.unfinished().into_iter();
            all.map(|(key, kind, open)| UnfinishedAction {
                action: Action {
                    action_id: key.action_id.clone(),
                    session: open.session.clone(),
                    kind,
                    params: open.params.clone(),
                },
                session: open.session.clone().unwrap_or_default(),
                cursor: open.cursor,
                key,
            })
            .collect()
        };
        for left in unfinished {
            if let Err(error) = self.recover_action(&left).await {
                let message =
                    format_args!("cannot continue the action `{}` of an earlier process: {error}", left.key.action_id);
                report(FailedOperation::Claim, "action of an earlier process", message);
            }
        }
    }

    async fn recover_action(self: &Arc<ChannelDaemon>, left: &UnfinishedAction) -> Result<(), ActionError> {
        let UnfinishedAction { key, action, session, cursor } = left;
        if let Some(result) = self.effect(session, *cursor, key).await? {
            self.core().ledger().resume(key);
            let outcome = match action.kind {
                ActionKind::Prompt => ActionOutcome::failed(INTERRUPTED, INTERRUPTION),
                _ => ActionOutcome::done(result),
            };
            return self.finish(key, Some(session), outcome).await;
        }
        if action.kind != ActionKind::Prompt {
            return Ok(());
        }
        self.core().ledger().resume(key);
        let Some(account) = self.account_of(&key.channel_id, session).await? else {
            let outcome = ActionOutcome::failed("revoked", "the channel is no longer valid");
            return self.finish(key, Some(session), outcome).await;
        };
        match self.begin_prompt(&account, action, session, key).await {
            Ok(_) => {
                let accepted = ActionOutcome { status: ActionStatus::Accepted, result: Data::empty_dict() };
                self.core().ledger().complete(key, accepted);
                Ok(())
            }
            Err(error) => {
                let outcome = ActionOutcome::refused(&error);
                self.finish(key, Some(session), outcome).await
            }
        }
    }

    /// Returns the account of the channel that acted on a session; `None` if the channel has expired or was revoked.
    ///
    /// # Errors
    /// The log cannot be read.
    async fn account_of(&self, channel_id: &str, session: &str) -> Result<Option<Arc<str>>, ActionError> {
        match is_own(channel_id) {
            // It reached the session when the action was accepted, and a session keeps its account.
            true => self.core().account_of(session).await,
            false => Ok(self.core().channel(channel_id).map(|channel| channel.account.clone())),
        }
    }

    /// Returns the result of an action whose effect is on the log.
    async fn effect(&self, session: &str, after: u64, key: &ActionKey) -> Result<Option<Data>, ActionError> {
        let topics = [Topic::Life, Topic::Injection, Topic::Channel].map(Topic::into).to_vec();
        let query = Query { subject: Some(session.into()), topics, after, ..Query::default() };
        let (action, mut found) = (key.to_string(), None);
        gateway::each(&*self.core().log, query, |record| {
            found = found.take().or_else(|| effect_of(record, &action));
        })
        .await?;
        Ok(found)
    }
}
