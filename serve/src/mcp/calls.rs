//! [`Calls`]: calls of the script. Each runs in an instance of the script of its own.

use std::sync::Arc;

use base::data::Data;
use stdlib::ServedCall;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use super::fault::{McpFault, UNAVAILABLE};
use super::peer::{CallFeed, McpPeer};
use super::question::PendingQuestion;
use crate::count_limit::CountLimit;
use crate::host::{EndedPrompt, Host, HostError, NewSession, Prompt, PromptOutcome, ScriptFailure, SessionHandle};
use crate::spawn::spawn;

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
    questions: mpsc::Receiver<PendingQuestion>,
    cancel: watch::Sender<bool>,
}

/// A step of a running call.
pub(super) enum CallStep {
    /// The script asks the user, and continues with the answer.
    Asked(PendingQuestion),
    /// The call has ended.
    Ended(Result<Data, CallError>),
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
        self.host.accepts().map_err(|error| {
            let message = match error {
                HostError::Store(error) => error.client_message(),
                _ => "the server is stopping".to_owned(),
            };
            McpFault::new(UNAVAILABLE, message)
        })?;
        let Some(permit) = self.limit.take() else {
            let message =
                format!("too many calls: {} are running, which is the limit; try again later", self.limit.most());
            return Err(McpFault::new(UNAVAILABLE, message));
        };
        let (cancel, cancelled) = watch::channel(false);
        let (asking, questions) = mpsc::channel(1);
        let (calls, name) = (self.clone(), name.clone());
        let work = spawn(async move {
            let result = calls.run(&name, call, feed, asking, cancelled).await;
            drop(permit);
            result
        });
        Ok(RunningCall { work, questions, cancel })
    }

    async fn run(
        &self,
        name: &str,
        call: ServedCall,
        feed: Arc<CallFeed>,
        asking: mpsc::Sender<PendingQuestion>,
        mut cancelled: watch::Receiver<bool>,
    ) -> Result<Data, CallError> {
        let id: Arc<str> = format!("call_{}", uuid::Uuid::new_v4().simple()).into();
        self.peer.follow(id.clone(), feed);
        let new = NewSession { id: Some(id.clone()), mode: Some(self.mode.clone()), ..NewSession::default() };
        let prompt = Prompt { call: Some(call), ..Prompt::default() };
        let work = async {
            let session = self.host.open(new).await?;
            let mut ended = session.prompt(prompt).await?;
            while let PromptOutcome::Asked(text) = &ended.stop {
                match answered(&session, &asking, text.clone()).await {
                    Some(next) => ended = next?,
                    None => break,
                }
            }
            Ok(ended)
        };
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
        spawn(over);
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
                let why = "the client cannot answer: it lacks the capability `elicitation` or a stream of events";
                Err(CallError::Failed(format!("`{name}` asks a question, and {why}")))
            }
        }
    }
}

/// Asks the user, and waits for the next end of the prompt: the next question, or the end of the call. Returns `None` if the
/// client cannot be asked.
async fn answered(
    session: &SessionHandle,
    asking: &mpsc::Sender<PendingQuestion>,
    text: Arc<str>,
) -> Option<Result<EndedPrompt, HostError>> {
    let (question, answer) = PendingQuestion::new(text);
    asking.send(question).await.ok()?;
    let answer = tokio::select! {
        biased;
        // The call ended before the answer, for example because it has used up its time.
        ended = session.unheard() => return Some(ended),
        answer = answer => answer.ok()?,
    };
    let ended = match answer {
        Some(text) => session.answer(Prompt { text, ..Prompt::default() }).await,
        None => session.decline().await,
    };
    Some(match ended {
        // The question ended at this moment.
        Err(HostError::NotAsking(_)) => session.unheard().await,
        ended => ended,
    })
}

fn failed_host(name: &str, error: &HostError) -> CallError {
    CallError::Failed(match error {
        HostError::Failed(failure) => message(name, failure),
        HostError::Full(_) | HostError::AccountFull(_) | HostError::Stopping => error.to_string(),
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
    /// Waits for the next step of the call.
    pub(super) async fn next(&mut self) -> CallStep {
        tokio::select! {
            biased;
            Some(question) = self.questions.recv() => CallStep::Asked(question),
            ended = &mut self.work => CallStep::Ended(ended.unwrap_or(Err(CallError::Cancelled))),
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
