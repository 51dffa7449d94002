//! The lifecycle of a session on its worker.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use base::data::Data;
use eventlog::{MemoryLog, MemoryRetention, ObservedLog, SharedLog};
use runtime::event_log::RunTaggedLog;
use runtime::loop_status::StopReason;
use runtime::reminder::bridge::InjectionPayload;
use runtime::workers::propagation;
use stdlib::{
    HostExchange, Hosted, Hosting, MCP_PROTOCOL, Output, PromptEnd, PromptResult, Question, Request, ReturnedValue,
    RunOptions, from_core, output,
};
use tokio::sync::oneshot;

use crate::clock::now_ms;
use crate::metrics::CountedLog;

use super::mailbox::{Mailbox, PendingPrompt, QuestionFate, SideRequest};
use super::permission::SessionApprover;
use super::show::SessionReporter;
use super::worker::SessionOpening;
use super::{
    EndedPrompt, HostError, Mode, NewSession, Peer, Prompt, PromptOutcome, ScriptFailure, Served, SessionEvent,
    SessionHandle, new_message_id,
};

/// Runs a session from its opening to its end.
pub(super) async fn live(open: SessionOpening, served: Served, peer: Arc<dyn Peer>) {
    let SessionOpening { new, kept, mailbox, answer } = open;
    let journal = kept.as_ref().map(|kept| kept.journal(&new, &mailbox, &served, &*peer));
    let mode = Arc::new(Mutex::new(new.mode.clone().unwrap_or_else(|| Mode::Ask.as_str().into())));
    let session = HostedSession::new(&new, &mode, mailbox.clone(), &served, peer.clone());
    if let Some((kept, journal)) = kept.as_ref().zip(journal.as_deref()) {
        kept.restore(&session.hosted, journal, &peer).await;
    }
    if let Err(error) = session.start().await {
        if let Some((kept, journal)) = kept.zip(journal) {
            kept.failed(&journal);
        }
        let _ = answer.send(Err(error));
        return session.end().await;
    }
    if let Some((kept, journal)) = kept.zip(journal) {
        kept.opened(&journal);
        // Until then another process may take it, so the claim is held until then.
        let _ = journal.settled().await;
    }
    let inbox = session.hosted.session().inbox(session.log.clone(), now_ms);
    // If the caller has dropped the receiver, it has also closed the mailbox, and the session ends.
    let _ = answer.send(Ok(SessionHandle::new(new, mode, inbox, mailbox.clone())));
    let _giving = SideRequests::new(&session, &mailbox);
    while let Some(asked) = session.next(&mailbox).await {
        session.prompt(asked).await;
    }
    session.end().await;
}

/// Handles requests beside prompts, also while the session is busy, until this is dropped.
struct SideRequests(tokio::task::JoinHandle<()>);

impl SideRequests {
    fn new(session: &HostedSession, mailbox: &Arc<Mailbox>) -> SideRequests {
        let scope = session.hosted.scope();
        let (session, mailbox) = (Rc::downgrade(session.hosted.session()), mailbox.clone());
        SideRequests(tokio::task::spawn_local(async move {
            while let Some(errand) = mailbox.errand().await {
                let Some(session) = session.upgrade() else { return };
                // The receiver is gone if the client is gone.
                match errand {
                    SideRequest::HandOver(heir) => drop(heir.send(propagation::hand_over(&session))),
                    SideRequest::Clear(selector, number) => {
                        let _ = number.send(session.clear_reminders(&scope, &selector));
                    }
                }
            }
        }))
    }
}

impl Drop for SideRequests {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A running session.
struct HostedSession {
    hosted: Hosted,
    hosting: Rc<Hosting>,
    shown: Rc<SessionReporter>,
    approver: Rc<SessionApprover>,
    mailbox: Arc<Mailbox>,
    log: Arc<dyn SharedLog>,
}

impl HostedSession {
    fn new(
        new: &NewSession,
        mode: &Arc<Mutex<Arc<str>>>,
        mailbox: Arc<Mailbox>,
        served: &Served,
        peer: Arc<dyn Peer>,
    ) -> HostedSession {
        let id = mailbox.id().clone();
        let log = log_of(served, &id);
        let approver =
            Rc::new(SessionApprover::new(id.clone(), mode.clone(), peer.clone(), served.protocol, log.clone()));
        let room = room(&peer, &id);
        let channels = peer.channels();
        let shown = SessionReporter::new(id.clone(), peer, mailbox.journal().cloned(), served.metrics.clone());
        let hosting = Rc::new(Hosting {
            session_id: id,
            protocol: served.protocol,
            cwd: new.cwd.clone(),
            metadata: new.metadata.clone(),
            mcp_servers: new.mcp_servers.clone(),
            mode: mode.clone(),
            modes: Mode::WORDS,
            room,
            approver: Some(approver.clone()),
            say: shown.clone().say_for_script(),
            channels,
            talk: HostExchange::default(),
        });
        let options = (served.run)();
        let options = RunOptions {
            log: Some(log.here()),
            live: Some(shown.clone().live()),
            output: match served.protocol {
                MCP_PROTOCOL => Rc::new(LoggedOutput(shown.clone())),
                _ => Rc::new(StderrOutput),
            },
            ..options
        };
        let hosted = Hosted::new(options, &hosting, &served.source);
        shown.follow(hosted.session());
        HostedSession { hosted, hosting, shown, approver, mailbox, log }
    }

    /// Runs the script's top level.
    async fn start(&self) -> Result<(), HostError> {
        self.hosted.start(self.mailbox.stopped()).await.map_err(|found| match found.first() {
            Some(first) => HostError::Failed(ScriptFailure::from(first)),
            None => HostError::Closed(self.mailbox.id().clone()),
        })
    }

    /// Waits for the next prompt, while background tasks of the script run; `None` if the session must end.
    async fn next(&self, mailbox: &Mailbox) -> Option<PendingPrompt> {
        let mut next = pin!(self.hosted.beside(mailbox.next()));
        poll_fn(|cx| {
            let polled = next.as_mut().poll(cx);
            mailbox.works_beside(self.hosted.works_beside());
            polled
        })
        .await
    }

    /// Runs the pipeline. A question of the script ends the prompt, and the next prompt continues the run.
    async fn prompt(&self, asked: PendingPrompt) {
        let PendingPrompt { prompt, answer } = asked;
        self.begin(&prompt).await;
        let Prompt {
            text,
            message,
            metadata,
            task_id,
            context_id,
            resumed,
            inherits,
            answers,
            call,
            declines: _,
            action: _,
        } = prompt;
        let mut answers = VecDeque::from(answers);
        propagation::seed(self.hosted.session(), &self.hosted.scope(), &inherits);
        let request = Request { text, message, metadata, task_id, context_id, resumed, call };
        let mut answer = Some(answer);
        // Dropping a question answers it, and a run that must stop may not continue before it knows that.
        let mut withdrawn = Vec::new();
        let mut running = pin!(self.hosted.prompt(request, self.mailbox.stopped()));
        let came = loop {
            let question = tokio::select! {
                biased;
                came = &mut running => break came,
                question = self.hosting.question() => question,
            };
            match answers.pop_front() {
                Some((asked, said)) if asked == question.text => {
                    let _ = question.answer.send(said);
                    continue;
                }
                // The run differs from the earlier one, so the other answers do not apply.
                _ => answers.clear(),
            }
            match self.ask(&question, &mut answer).await {
                QuestionFate::Asked => {}
                QuestionFate::Withdrawn => {
                    withdrawn.push(question);
                    continue;
                }
                QuestionFate::Unanswered => {
                    // A run that only asks during its clean-up must leave time for the timer that ends it.
                    tokio::task::yield_now().await;
                    continue;
                }
            }
            let next = tokio::select! {
                biased;
                came = &mut running => break came,
                next = self.mailbox.answer() => next,
            };
            self.hosted.resume_time();
            match next {
                Some(next) => {
                    answer = Some(next.answer);
                    // Dropping the question answers it with nil.
                    if !next.prompt.declines {
                        self.begin(&next.prompt).await;
                        let _ = question.answer.send(next.prompt.text);
                    }
                }
                None => withdrawn.push(question),
            }
        };
        self.shown.settle();
        let ended = self.kept(self.ended(came)).await;
        // Before the session can be seen to be idle.
        self.mailbox.works_beside(self.hosted.works_beside());
        let late = self.mailbox.ended().map(|late| late.answer);
        match answer.or(late) {
            Some(answer) => tell(Some(answer), ended),
            None => self.mailbox.ended_unheard(ended),
        }
    }

    /// Records the beginning of a prompt. One of an action does not begin before that is durable.
    async fn begin(&self, prompt: &Prompt) {
        self.approver.prompted(prompt.action.as_ref());
        self.shown.prompted(prompt);
        if prompt.action.is_some()
            && let Some(journal) = self.mailbox.journal()
        {
            // A log that cannot be written is reported at the end of the prompt.
            let _ = journal.settled().await;
        }
    }

    /// Asks the user a question, which ends the current prompt, unless that must stop.
    async fn ask(&self, question: &Question, answer: &mut Option<oneshot::Sender<EndedPrompt>>) -> QuestionFate {
        let fate = self.mailbox.fate();
        if fate != QuestionFate::Asked {
            return fate;
        }
        self.hosted.pause_time();
        self.shown.show(SessionEvent::Question { message_id: new_message_id(), text: question.text.clone() });
        let stop = PromptOutcome::Asked(question.text.clone());
        let ended = self
            .kept(EndedPrompt { stop, value: Data::Nil, closing: None, uncleaned: None, diagnostics: Vec::new() })
            .await;
        // It may have been cancelled meanwhile.
        let fate = self.mailbox.asked();
        match fate {
            QuestionFate::Asked => tell(answer.take(), ended),
            QuestionFate::Withdrawn | QuestionFate::Unanswered => self.hosted.resume_time(),
        }
        fate
    }

    /// Records the end of a prompt, and waits until it is durable, before it is reported.
    async fn kept(&self, mut ended: EndedPrompt) -> EndedPrompt {
        if let Some(journal) = self.mailbox.journal() {
            journal.answered(self.hosted.session(), &ended.stop);
            if let Err(error) = journal.settled().await {
                ended
                    .diagnostics
                    .push(stdlib::Diagnostic::new(from_core(error.code()), error.to_string()).help(error.help()));
            }
        }
        ended
    }

    /// Converts the end of a pipeline. Sends its result as an event first.
    fn ended(&self, came: PromptResult) -> EndedPrompt {
        let PromptResult { end, mut closing, uncleaned, mut diagnostics } = came;
        diagnostics.splice(..0, uncleaned.clone());
        let (stop, value) = match end {
            PromptEnd::Cancelled => (PromptOutcome::Cancelled, Data::Nil),
            PromptEnd::Refused(reason) => (PromptOutcome::Refused(reason), Data::Nil),
            PromptEnd::Failed(diagnostic) => {
                (PromptOutcome::Failed(ScriptFailure::from(diagnostic.as_ref())), Data::Nil)
            }
            PromptEnd::Declined(words, diagnostic) => {
                let failure = ScriptFailure { words: Some(words), ..ScriptFailure::from(diagnostic.as_ref()) };
                (PromptOutcome::Failed(failure), Data::Nil)
            }
            PromptEnd::Returned(ReturnedValue::Nothing) => (PromptOutcome::Done, Data::Nil),
            PromptEnd::Returned(ReturnedValue::Text(text)) => {
                self.shown.say(text);
                (PromptOutcome::Done, Data::Nil)
            }
            PromptEnd::Returned(ReturnedValue::Data(data)) => {
                self.shown.give(data.clone());
                (PromptOutcome::Done, data)
            }
            PromptEnd::Returned(ReturnedValue::Result(data)) => (PromptOutcome::Done, data),
            PromptEnd::Returned(ReturnedValue::Loop { text, status, stop_reason }) => {
                if let Some(text) = text {
                    self.shown.say(text);
                }
                (of_loop(status, stop_reason), Data::Nil)
            }
        };
        closing = closing.filter(|_| stop == PromptOutcome::Done);
        if !self.hosted.hosting().has_closing()
            && let Some(text) = closing.take()
        {
            self.shown.say(text);
        }
        EndedPrompt { stop, value, closing, uncleaned, diagnostics }
    }

    async fn end(self) {
        let session = self.hosted.session().clone();
        // Tell the owners of its inbox, or injections accepted from now on would be lost.
        let unread = {
            let mut queue = session.queue().lock().unwrap_or_else(PoisonError::into_inner);
            if self.mailbox.journal().is_some() {
                // The next process that opens the session continues with the queue.
                queue.seal();
                Vec::new()
            } else {
                queue.close()
            }
        };
        let scope = self.hosted.scope();
        for item in unread.iter().filter(|item| matches!(item.payload, InjectionPayload::Reminder(_))) {
            session.log_expired(&scope, item);
        }
        for diagnostic in self.hosted.close().await {
            StderrOutput.diagnostic(&diagnostic);
        }
        if let Some(journal) = self.mailbox.journal() {
            journal.see(&session);
        }
    }
}

/// Reports the end of a prompt. The receiver is gone if the client is gone.
fn tell(answer: Option<oneshot::Sender<EndedPrompt>>, ended: EndedPrompt) {
    if let Some(answer) = answer {
        let _ = answer.send(ended);
    }
}

/// Returns the end of a prompt whose pipeline returned the result of a loop.
fn of_loop(status: runtime::loop_status::LoopStatus, stop_reason: Option<StopReason>) -> PromptOutcome {
    use runtime::loop_status::LoopStatus as Status;
    match status {
        Status::BudgetExhausted if matches!(stop_reason, Some(StopReason::TokenBudget | StopReason::Budget)) => {
            PromptOutcome::MaxTokens
        }
        Status::BudgetExhausted => PromptOutcome::MaxTurns,
        Status::CutOff => PromptOutcome::MaxTokens,
        _ => PromptOutcome::Done,
    }
}

/// The limits of a session's own log: many may exist, and only the session's script reads it.
const OWN: MemoryRetention = MemoryRetention { records: 16_384, bytes: 4 << 20 };

/// Returns the log that all sessions share, on which each is a run of its own across processes, or a new log in
/// memory.
fn log_of(served: &Served, id: &str) -> Arc<dyn SharedLog> {
    let log: Arc<dyn SharedLog> = match &served.log {
        Some(log) => Arc::new(RunTaggedLog::new(log.clone(), id)),
        None => Arc::new(MemoryLog::keeping(OWN)),
    };
    let log = match &served.taps {
        Some(taps) => Arc::new(ObservedLog::new(log, taps(id))),
        None => log,
    };
    Arc::new(CountedLog::new(log, served.metrics.clone()))
}

/// Returns a function that waits until the peer has room.
fn room(peer: &Arc<dyn Peer>, id: &Arc<str>) -> Rc<dyn Fn() -> base::call::LocalFuture<'static, ()>> {
    let (peer, id) = (peer.clone(), id.clone());
    Rc::new(move || peer.room(&id))
}

/// Sends the output of a served script to standard error: standard output may belong to the protocol.
struct StderrOutput;

impl Output for StderrOutput {
    fn out(&self, text: &str) -> std::io::Result<()> {
        self.err(text);
        Ok(())
    }

    fn err(&self, text: &str) {
        output::Terminal.err(text);
    }

    fn diagnostic(&self, diagnostic: &stdlib::Diagnostic) {
        output::Terminal.diagnostic(diagnostic);
    }
}

/// Sends the output to standard error, and the lines of `log` to the client too.
struct LoggedOutput(Rc<SessionReporter>);

/// The start of a line that the builtin `log` prints.
const LOG: &str = "[harn] ";

impl Output for LoggedOutput {
    fn out(&self, text: &str) -> std::io::Result<()> {
        if let Some(text) = text.strip_prefix(LOG) {
            self.0.show(SessionEvent::Log(text.trim_end().into()));
        }
        StderrOutput.out(text)
    }

    fn err(&self, text: &str) {
        StderrOutput.err(text);
    }

    fn diagnostic(&self, diagnostic: &stdlib::Diagnostic) {
        StderrOutput.diagnostic(diagnostic);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eventlog::{NewRecord, RecordFilter};

    #[test]
    fn a_log_of_its_own_is_small() {
        let log = log_of(&crate::host::testing::served("test.harn", "", 1, None), "s").here();
        let append = |text: &str| {
            let payload = Data::from(text).into();
            let (topic, kind) = ("t".into(), "t.k".into());
            log.append(NewRecord { topic, kind, payload, headers: Data::Nil, occurred_at_ms: 1 });
        };
        let kept = || log.read(&RecordFilter::topic("t"), usize::MAX).unwrap().len();
        (0..20_000).for_each(|_| append("a"));
        assert!((1..=16_384).contains(&kept()), "{}", kept());
        (0..8).for_each(|_| append(&"x".repeat(1 << 20)));
        assert!((1..=4).contains(&kept()), "{}", kept());
    }
}
