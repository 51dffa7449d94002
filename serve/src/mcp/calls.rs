//! [`Calls`]: calls of the script. Each runs in an instance of the script of its own.

use std::sync::Arc;

use runtime::data::Data;
use stdlib::ServedCall;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::fault::{McpFault, UNAVAILABLE};
use super::peer::{CallFeed, McpPeer};
use crate::count_limit::CountLimit;
use crate::host::{Host, HostError, NewSession, Prompt, PromptOutcome, ScriptFailure};

/// Runs calls of the script.
#[derive(Clone)]
pub(super) struct Calls {
    pub(super) host: Host,
    pub(super) peer: Arc<McpPeer>,
    pub(super) mode: Arc<str>,
    pub(super) limit: CountLimit,
}

/// The reason why a call has no result.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum CallError {
    /// The script or the host refused or failed: a message for the client.
    Failed(String),
    /// It was cancelled.
    Cancelled,
}

/// A running call. Dropping it cancels the call.
pub(super) struct RunningCall {
    work: JoinHandle<Result<Data, CallError>>,
    cancel: watch::Sender<bool>,
}

impl Calls {
    /// Starts a call of the function `name`.
    ///
    /// # Errors
    /// The server is stopping, or too many calls are running.
    pub(super) fn start(
        &self,
        name: &Arc<str>,
        call: ServedCall,
        feed: Arc<CallFeed>,
    ) -> Result<RunningCall, McpFault> {
        self.host.accepts().map_err(|_| McpFault::new(UNAVAILABLE, "the server is stopping"))?;
        let Some(permit) = self.limit.take() else {
            let message =
                format!("too many calls: {} are running, which is the limit; try again later", self.limit.most());
            return Err(McpFault::new(UNAVAILABLE, message));
        };
        let (cancel, cancelled) = watch::channel(false);
        let (calls, name) = (self.clone(), name.clone());
        let work = tokio::spawn(async move {
            let result = calls.run(&name, call, feed, cancelled).await;
            drop(permit);
            result
        });
        Ok(RunningCall { work, cancel })
    }

    async fn run(
        &self,
        name: &str,
        call: ServedCall,
        feed: Arc<CallFeed>,
        mut cancelled: watch::Receiver<bool>,
    ) -> Result<Data, CallError> {
        let id: Arc<str> = format!("call_{}", uuid::Uuid::new_v4().simple()).into();
        self.peer.follow(id.clone(), feed);
        let new = NewSession { id: Some(id.clone()), mode: Some(self.mode.clone()), ..NewSession::default() };
        let prompt = Prompt { call: Some(call), ..Prompt::default() };
        let work = async { self.host.open(new).await?.prompt(prompt).await };
        let ended = tokio::select! {
            biased;
            ended = work => Some(ended),
            // An error means that the caller has dropped the call.
            _ = cancelled.wait_for(|cancelled| *cancelled) => None,
        };
        // The instance ends in the background, with its clean-up; the client need not wait for it.
        let (host, peer, closing) = (self.host.clone(), self.peer.clone(), id.clone());
        let over = async move {
            let _ = host.close(&closing).await;
            peer.forget(&closing);
        };
        let Some(ended) = ended else {
            over.await;
            return Err(CallError::Cancelled);
        };
        tokio::spawn(over);
        let ended = ended.map_err(|error| failed_host(name, &error))?;
        for diagnostic in &ended.diagnostics {
            tracing::warn!(function = name, code = diagnostic.code.as_str(), "{}", diagnostic.message);
        }
        match ended.stop {
            PromptOutcome::Done | PromptOutcome::MaxTokens | PromptOutcome::MaxTurns => Ok(ended.value),
            PromptOutcome::Cancelled => Err(CallError::Cancelled),
            PromptOutcome::Refused(reason) => Err(CallError::Failed(reason.to_string())),
            PromptOutcome::Failed(failure) => Err(CallError::Failed(message(name, &failure))),
            PromptOutcome::Asked(_) => {
                Err(CallError::Failed(format!("`{name}` asks a question, which it cannot do for an MCP client")))
            }
        }
    }
}

fn failed_host(name: &str, error: &HostError) -> CallError {
    CallError::Failed(match error {
        HostError::Failed(failure) => message(name, failure),
        HostError::Full(_) | HostError::Stopping => error.to_string(),
        other => {
            tracing::error!(function = name, "the call failed: {other}");
            format!("`{name}` failed")
        }
    })
}

/// Returns the message for a client: the script's own words, or only the code. The log has the rest, which may contain
/// source text and paths.
fn message(name: &str, failure: &ScriptFailure) -> String {
    match &failure.words {
        Some(words) => words.to_string(),
        None => {
            tracing::error!(function = name, "the call failed:\n{}", failure.drawn);
            format!("`{name}` failed with {}", failure.code.as_str())
        }
    }
}

impl RunningCall {
    /// Waits for the end of the call.
    pub(super) async fn ended(&mut self) -> Result<Data, CallError> {
        match (&mut self.work).await {
            Ok(result) => result,
            Err(_) => Err(CallError::Cancelled),
        }
    }

    /// Returns a handle that cancels the call.
    pub(super) fn canceller(&self) -> watch::Sender<bool> {
        self.cancel.clone()
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        self.cancel.send_replace(true);
    }
}
