//! Continues what an earlier process has left: actions without a result.

use std::sync::Arc;

use base::data::Data;
use base::failures::{FailedOperation, report};
use eventlog::Query;
use runtime::event_log::Topic;

use super::Gateway;
use super::ingress::effect_of;
use super::ledger::{ActionOutcome, ActionStatus};
use super::log;
use super::{Action, ActionError, ActionKind};
use crate::host::ActionKey;
use crate::store::INTERRUPTED;

/// The message for a turn whose process has ended.
pub(crate) const INTERRUPTION: &str = "the process ended during the turn; what it had done is in the session";

/// An action without a result.
struct UnfinishedAction {
    key: ActionKey,
    action: Action,
    session: Arc<str>,
    cursor: u64,
}

impl Gateway {
    /// Gives every action that an earlier process has left its result: executes prompts that had not begun, and reports
    /// those that were interrupted. An action of another kind that had no effect is forgotten; its channel, which had no
    /// answer, sends it again. `is_valid` tells whether a caller still may act.
    pub(crate) async fn recover(self: &Arc<Gateway>, is_valid: impl Fn(&str) -> bool) {
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
            if let Err(error) = self.recover_action(&left, is_valid(&left.key.channel_id)).await {
                let message =
                    format_args!("cannot continue the action `{}` of an earlier process: {error}", left.key.action_id);
                report(FailedOperation::Claim, "action of an earlier process", message);
            }
        }
    }

    async fn recover_action(self: &Arc<Gateway>, left: &UnfinishedAction, is_valid: bool) -> Result<(), ActionError> {
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
        // The caller reached the session when the action was accepted, and a session keeps its account.
        let account = self.core().account_of(session).await?.filter(|_| is_valid);
        let Some(account) = account else {
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

    /// Returns the result of an action whose effect is on the log.
    async fn effect(&self, session: &str, after: u64, key: &ActionKey) -> Result<Option<Data>, ActionError> {
        let topics = [Topic::Life, Topic::Injection, Topic::Channel].map(Topic::into).to_vec();
        let query = Query { subject: Some(session.into()), topics, after, ..Query::default() };
        let (action, mut found) = (key.to_string(), None);
        log::each(&*self.core().log, query, |record| {
            found = found.take().or_else(|| effect_of(record, &action));
        })
        .await?;
        Ok(found)
    }
}
