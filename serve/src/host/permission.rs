//! [`SessionApprover`]: asks the peer whether a tool may run, and remembers answers for the rest of the session.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use base::call::Answer;
use base::data::Data;
use eventlog::{NewRecord, SharedLog};
use runtime::event_log::Topic;
use runtime::message::{ToolCall, ToolSpec};
use runtime::seam::{ApprovalDemand, Approver, PermissionOutcome, Preview, Turn};
use tokio::sync::watch;

use super::permission_decision::{
    PermissionDecision, PermissionReach, PermissionSide, PermissionSource, RUNTIME, new_permission_request,
    permission_record_kind,
};
use super::policy::demand;
use super::{ActionKey, Mode, Peer, PermissionQuestion, PermissionScope, Verdict};

/// The maximum number of remembered answers. A further one applies to its call only.
const MAX_ANSWERS: usize = 1_000;

/// Asks the peer of a session for permissions.
pub(super) struct SessionApprover {
    session_id: Arc<str>,
    mode: Arc<Mutex<Arc<str>>>,
    peer: Arc<dyn Peer>,
    /// The protocol of the peer.
    protocol: Arc<str>,
    log: Arc<dyn SharedLog>,
    /// The peer whose prompt runs: the id of a channel, or that of the session.
    requester: RefCell<Arc<str>>,
    /// Answers for the rest of the session: whether a scope is allowed.
    always: RefCell<HashMap<PermissionScope, bool>>,
    /// Notified when an answer is remembered, for the open questions that it covers.
    remembered: watch::Sender<()>,
}

impl SessionApprover {
    /// Creates the approver of a session. `mode` holds the session's current mode.
    pub(super) fn new(
        session_id: Arc<str>,
        mode: Arc<Mutex<Arc<str>>>,
        peer: Arc<dyn Peer>,
        protocol: &str,
        log: Arc<dyn SharedLog>,
    ) -> SessionApprover {
        let requester = RefCell::new(session_id.clone());
        SessionApprover {
            session_id,
            mode,
            peer,
            protocol: protocol.into(),
            log,
            requester,
            always: RefCell::default(),
            remembered: watch::Sender::new(()),
        }
    }

    /// Notes whose prompt begins: that of a channel's action, or of the session's only client.
    pub(super) fn prompted(&self, action: Option<&ActionKey>) {
        let requester = action.map_or(&self.session_id, |action| &action.channel_id);
        requester.clone_into(&mut self.requester.borrow_mut());
    }

    /// Records a decision about a call.
    fn decide(&self, call: &ToolCall, verdict: &'static str, source: PermissionSource, reach: PermissionReach<'_>) {
        let (decided_by, side) = match source {
            PermissionSource::User => (self.protocol.clone(), PermissionSide::Remote),
            _ => (RUNTIME.into(), PermissionSide::Local),
        };
        let decision = PermissionDecision {
            session_id: &self.session_id,
            request: &new_permission_request(),
            requested_by: &self.requester.borrow(),
            call,
            decided_by,
            side,
            source,
            verdict,
            reach,
        };
        self.log.put(NewRecord {
            topic: Topic::Channel.into(),
            kind: permission_record_kind(),
            payload: decision.to_data().into(),
            headers: Data::Nil,
            occurred_at_ms: crate::clock::now_ms(),
        });
    }

    /// Records the decision of a rule about a call.
    fn decide_by_rule(&self, call: &ToolCall, allow: bool) {
        let verdict = if allow { Verdict::AllowOnce } else { Verdict::RejectOnce };
        self.decide(call, verdict.word(), PermissionSource::Policy, PermissionReach::Once);
    }

    /// Returns the permit for a call that needs no question.
    fn settled(&self, scope: &PermissionScope) -> Option<PermissionOutcome> {
        if Mode::of(&self.mode) == Mode::Auto {
            return Some(PermissionOutcome { allow: true, reason: Some("the mode `auto` allows every tool".into()) });
        }
        let allow = *self.always.borrow().get(scope)?;
        Some(match allow {
            true => PermissionOutcome { allow, reason: Some(always("allowed", scope)) },
            false => PermissionOutcome::deny(always("refused", scope)),
        })
    }

    fn permit(&self, scope: PermissionScope, verdict: Verdict) -> PermissionOutcome {
        match verdict {
            Verdict::AllowOnce => PermissionOutcome { allow: true, reason: Some("the user allowed it".into()) },
            Verdict::AllowAlways => {
                let reason = Some(always("allowed", &scope));
                match self.remember(scope, true) {
                    true => PermissionOutcome { allow: true, reason },
                    false => PermissionOutcome { allow: true, reason: Some("the user allowed it".into()) },
                }
            }
            Verdict::RejectOnce => PermissionOutcome::deny("the user refused it"),
            Verdict::RejectAlways => {
                let reason = always("refused", &scope);
                match self.remember(scope, false) {
                    true => PermissionOutcome::deny(reason),
                    false => PermissionOutcome::deny("the user refused it"),
                }
            }
            Verdict::Cancelled => PermissionOutcome::deny("the permission request was cancelled"),
            Verdict::Unusable(why) => PermissionOutcome::deny(why),
        }
    }

    /// Remembers an answer for the rest of the session. Returns false if too many are remembered: the question will be
    /// asked again.
    fn remember(&self, scope: PermissionScope, allow: bool) -> bool {
        let mut always = self.always.borrow_mut();
        let has_room = always.len() < MAX_ANSWERS || always.contains_key(&scope);
        if has_room {
            always.insert(scope, allow);
            self.remembered.send_replace(());
        }
        has_room
    }

    /// Records the answer, before the tool runs.
    fn record(&self, turn: Turn<'_>, call: &ToolCall, scope: &PermissionScope, verdict: &Verdict) {
        let is_always = matches!(verdict, Verdict::AllowAlways | Verdict::RejectAlways);
        let payload = Data::dict([
            ("session_id", Data::from(&self.session_id)),
            ("tool_call_id", (&call.id).into()),
            ("tool", (&call.name).into()),
            ("answer", verdict.word().into()),
            ("scope", if is_always { scope.to_data() } else { Data::Nil }),
        ]);
        turn.scope.log.append(NewRecord {
            topic: Topic::Permission.into(),
            kind: Topic::Permission.kind("answered").into(),
            payload: payload.into(),
            headers: Data::Nil,
            occurred_at_ms: turn.scope.clock.now_ms(),
        });
        if !self.peer.records_decisions() {
            let reach = if is_always { PermissionReach::Session(scope) } else { PermissionReach::Once };
            self.decide(call, verdict.word(), PermissionSource::of(verdict), reach);
        }
    }
}

/// A question without an answer. Dropping it withdraws the question, and records that.
struct OpenQuestion<'a> {
    approver: &'a SessionApprover,
    call: &'a ToolCall,
    is_open: bool,
}

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        if self.is_open && !self.approver.peer.records_decisions() {
            let word = Verdict::Cancelled.word();
            self.approver.decide(self.call, word, PermissionSource::Policy, PermissionReach::Once);
        }
    }
}

fn always(decided: &str, scope: &PermissionScope) -> Arc<str> {
    match scope {
        PermissionScope::Tool { tool } => format!("the user has {decided} every call of `{tool}`").into(),
        scope => format!("the user has always {decided} {scope}").into(),
    }
}

impl Approver for SessionApprover {
    fn demand(&self, tool: &ToolSpec, call: &ToolCall) -> ApprovalDemand {
        let demand = demand(Mode::of(&self.mode), tool);
        if matches!(demand, ApprovalDemand::Refused(_)) {
            self.decide_by_rule(call, false);
        }
        demand
    }

    fn ask<'a>(
        &'a self,
        turn: Turn<'a>,
        tool: &'a ToolSpec,
        call: &'a ToolCall,
        preview: Option<&'a Preview>,
        reason: &'a Arc<str>,
    ) -> Answer<'a, PermissionOutcome> {
        let scope = PermissionScope::of(tool, call);
        if let Some(permit) = self.settled(&scope) {
            self.decide_by_rule(call, permit.allow);
            return Answer::Now(permit);
        }
        let mut remembered = self.remembered.subscribe();
        let mut answer = self.peer.permit(PermissionQuestion {
            session_id: self.session_id.clone(),
            requested_by: self.requester.borrow().clone(),
            call: call.clone(),
            annotations: tool.annotations.clone(),
            reason: reason.clone(),
            scope: scope.clone(),
            old_text: preview.and_then(|preview| preview.old_text.clone()),
        });
        let open = OpenQuestion { approver: self, call, is_open: true };
        Answer::later(async move {
            let mut open = open;
            let verdict = loop {
                tokio::select! {
                    biased;
                    verdict = &mut answer => break verdict,
                    // The sender lives as long as this.
                    _ = remembered.changed() => {
                        if let Some(permit) = self.settled(&scope) {
                            open.is_open = false;
                            // The question is withdrawn.
                            drop(answer);
                            self.decide_by_rule(call, permit.allow);
                            return permit;
                        }
                    }
                }
            };
            open.is_open = false;
            self.record(turn, call, &scope, &verdict);
            self.permit(scope, verdict)
        })
    }
}

impl fmt::Debug for SessionApprover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionApprover").field("session_id", &self.session_id).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;
    use std::sync::Mutex;

    use base::clock::ManualClock;
    use base::ids::IdStream;
    use eventlog::{EventLog as _, MemoryLog, RecordFilter};
    use futures_util::FutureExt as _;
    use runtime::scope::Scope;
    use runtime::session::Session;

    use super::super::{SessionEvent, Waiting};
    use super::*;

    /// Returns configured verdicts, and remembers the questions.
    struct VerdictPeer {
        verdicts: Mutex<Vec<Verdict>>,
        asked: Mutex<Vec<String>>,
    }

    impl Peer for VerdictPeer {
        fn show(&self, _: &Arc<str>, _: SessionEvent) {}

        fn room(&self, _: &Arc<str>) -> Waiting<()> {
            Box::pin(async {})
        }

        fn permit(&self, question: PermissionQuestion) -> Waiting<Verdict> {
            let told = format!("{} {} {}", question.session_id, question.call.name, question.reason);
            self.asked.lock().unwrap().push(told);
            let mut verdicts = self.verdicts.lock().unwrap();
            if verdicts.is_empty() {
                return Box::pin(std::future::pending());
            }
            let verdict = verdicts.remove(0);
            Box::pin(async move { verdict })
        }
    }

    struct PermissionBench {
        peer: Arc<VerdictPeer>,
        mode: Arc<Mutex<Arc<str>>>,
        approver: SessionApprover,
        log: MemoryLog,
    }

    impl PermissionBench {
        fn new(verdicts: impl Into<Vec<Verdict>>) -> PermissionBench {
            let peer = Arc::new(VerdictPeer { verdicts: Mutex::new(verdicts.into()), asked: Mutex::default() });
            let mode = Arc::new(Mutex::new("ask".into()));
            let log = MemoryLog::new();
            let approver = SessionApprover::new("s".into(), mode.clone(), peer.clone(), "acp", Arc::new(log.clone()));
            PermissionBench { peer, mode, approver, log }
        }

        fn ask(&self, tool: &str) -> (bool, String) {
            self.ask_with(tool, Data::Nil)
        }

        fn ask_with(&self, tool: &str, arguments: Data) -> (bool, String) {
            let scope = Scope::new(Rc::new(ManualClock::new(0)), Rc::new(self.log.clone()));
            let session = Session::new("s", IdStream::new(1, "s"), 0);
            let turn = Turn { session: &session, number: 1, scope: &scope };
            let (spec, call) = (ToolSpec::new(tool, "", Data::Nil), ToolCall::new("c", tool, arguments));
            let reason = "why".into();
            let permit = self.approver.ask(turn, &spec, &call, None, &reason).get().now_or_never().unwrap();
            (permit.allow, permit.reason.unwrap_or_default().to_string())
        }

        /// Returns a field of every decision on the log.
        fn decided(&self, path: &str) -> Vec<String> {
            let records = self.log.read(&RecordFilter::topic(Topic::Channel), 99).unwrap();
            assert!(records.iter().all(|record| &*record.kind == "channel.permission"));
            records.iter().map(|record| record.payload.to_data().at(path).to_text().to_string()).collect()
        }

        fn asked(&self) -> usize {
            self.peer.asked.lock().unwrap().len()
        }
    }

    #[test]
    fn what_is_said_for_always_is_not_asked_again_for_this_tool() {
        let bench = PermissionBench::new([
            Verdict::AllowOnce,
            Verdict::AllowAlways,
            Verdict::RejectAlways,
            Verdict::RejectOnce,
        ]);
        assert_eq!(bench.ask("a"), (true, "the user allowed it".to_owned()));
        assert!(bench.ask("a").0 && bench.ask("a").0);
        assert_eq!(bench.asked(), 2);
        let never = (false, "the user has refused every call of `b`".to_owned());
        assert_eq!((bench.ask("b"), bench.ask("b")), (never.clone(), never));
        assert_eq!((bench.asked(), bench.ask("c").0, bench.asked()), (3, false, 4));
        assert_eq!(bench.peer.asked.lock().unwrap()[0], "s a why");
    }

    #[test]
    fn what_is_said_for_always_settles_the_equal_questions_that_are_open() {
        for (verdict, allow) in [(Verdict::AllowAlways, true), (Verdict::RejectAlways, false)] {
            let bench = PermissionBench::new([]);
            let scope = Scope::new(Rc::new(ManualClock::new(0)), Rc::new(bench.log.clone()));
            let session = Session::new("s", IdStream::new(1, "s"), 0);
            let turn = Turn { session: &session, number: 1, scope: &scope };
            let (reason, [equal, other]) = ("why".into(), ["a", "b"].map(|tool| ToolSpec::new(tool, "", Data::Nil)));
            let calls = ["a", "b"].map(|tool| ToolCall::new(format!("c-{tool}"), tool, Data::Nil));
            let mut asked = Box::pin(bench.approver.ask(turn, &equal, &calls[0], None, &reason).get());
            let mut stays = Box::pin(bench.approver.ask(turn, &other, &calls[1], None, &reason).get());
            assert!((&mut asked).now_or_never().is_none() && (&mut stays).now_or_never().is_none());
            bench.peer.verdicts.lock().unwrap().push(verdict.clone());
            assert_eq!(bench.ask("a").0, allow);
            assert_eq!((&mut asked).now_or_never().map(|permit| permit.allow), Some(allow));
            assert!((&mut stays).now_or_never().is_none(), "an answer for `a` decides nothing about `b`");
            assert_eq!(bench.decided("source"), ["user", "policy"]);
            assert_eq!(bench.decided("applies_to.tool_call_id"), ["c", "c-a"]);
            drop(stays);
            assert_eq!(bench.decided("verdict")[2], "cancelled");
        }
    }

    #[test]
    fn always_covers_the_commands_first_word_and_is_on_the_log() {
        let bench = PermissionBench::new([Verdict::AllowAlways, Verdict::RejectOnce, Verdict::RejectOnce]);
        let shell = |command: &str| bench.ask_with("shell", Data::dict([("command", Data::from(command))])).0;
        assert!(shell("ls") && shell("ls -l"));
        assert_eq!(bench.asked(), 1);
        assert!(!shell("rm x") && !shell("ls; rm x"), "an answer for `ls` does not let `rm` run");
        assert_eq!(bench.asked(), 3);
        let records = bench.log.read(&RecordFilter::topic(Topic::Permission), 9).unwrap();
        let read = |key: &str| records.iter().map(|it| it.payload.to_data().get(key).to_json()).collect::<Vec<_>>();
        assert_eq!(read("answer"), [r#""allow_always""#, r#""reject_once""#, r#""reject_once""#]);
        assert_eq!(read("scope"), [r#"{"command":"ls","tool":"shell"}"#, "null", "null"]);
    }

    #[test]
    fn the_peer_that_requested_a_permission_is_recorded() {
        let bench = PermissionBench::new([Verdict::AllowOnce, Verdict::AllowOnce]);
        bench.ask("a");
        bench.ask("a");
        assert_eq!(bench.decided("requested_by"), ["s", "s"]);
        let requests = bench.decided("request");
        assert!(requests[0] != requests[1] && requests.iter().all(|id| id.starts_with("perm-")), "{requests:?}");
    }

    #[test]
    fn the_call_that_a_decision_applies_to_is_recorded() {
        let bench = PermissionBench::new([Verdict::AllowOnce]);
        bench.ask("a");
        let applies_to = ["session_id", "tool", "tool_call_id"].map(|key| bench.decided(&format!("applies_to.{key}")));
        assert_eq!(applies_to, [["s"], ["a"], ["c"]]);
    }

    #[test]
    fn the_side_that_decided_is_recorded() {
        let bench = PermissionBench::new([Verdict::RejectAlways]);
        bench.ask("a");
        bench.ask("a");
        assert_eq!(bench.decided("side"), ["remote", "local"]);
        assert_eq!(bench.decided("decided_by"), ["acp", "runtime"]);
        assert_eq!(bench.decided("verdict"), ["reject_always", "reject_once"]);
    }

    #[test]
    fn the_source_of_a_decision_is_recorded() {
        let bench = PermissionBench::new([Verdict::AllowOnce, Verdict::Cancelled, Verdict::Unusable("why".into())]);
        for _ in 0..3 {
            bench.ask("a");
        }
        *bench.mode.lock().unwrap() = "auto".into();
        bench.ask("a");
        *bench.mode.lock().unwrap() = "plan".into();
        let mut editor = ToolSpec::new("a", "", Data::Nil);
        editor.annotations = Data::dict([("kind", Data::from("edit"))]);
        let demand = bench.approver.demand(&editor, &ToolCall::new("c", "a", Data::Nil));
        assert!(matches!(demand, ApprovalDemand::Refused(_)));
        assert_eq!(bench.decided("source"), ["user", "user", "policy", "policy", "policy"]);
        assert_eq!(bench.decided("verdict"), ["allow_once", "cancelled", "unusable", "allow_once", "reject_once"]);
    }

    #[test]
    fn a_withdrawn_question_is_recorded() {
        let bench = PermissionBench::new([]);
        let scope = Scope::new(Rc::new(ManualClock::new(0)), Rc::new(bench.log.clone()));
        let session = Session::new("s", IdStream::new(1, "s"), 0);
        let turn = Turn { session: &session, number: 1, scope: &scope };
        let (spec, call) = (ToolSpec::new("a", "", Data::Nil), ToolCall::new("c", "a", Data::Nil));
        let reason = "why".into();
        let mut asked = Box::pin(bench.approver.ask(turn, &spec, &call, None, &reason).get());
        assert!(asked.as_mut().now_or_never().is_none());
        assert!(bench.decided("verdict").is_empty());
        drop(asked);
        assert_eq!((bench.decided("verdict"), bench.decided("side")), (vec!["cancelled".into()], vec!["local".into()]));
    }

    #[test]
    fn whether_a_decision_is_channel_scoped_is_recorded() {
        let bench = PermissionBench::new([Verdict::AllowOnce, Verdict::AllowAlways]);
        bench.ask("a");
        bench.ask("a");
        assert_eq!(bench.decided("scope.holds"), ["once", "session"]);
        assert_eq!(bench.decided("scope.covers.tool"), ["", "a"]);
        assert_eq!(bench.decided("scope.channel_scoped"), ["false", "false"]);
    }

    #[test]
    fn what_is_no_answer_is_a_refusal_with_its_reason() {
        let bench =
            PermissionBench::new([Verdict::Cancelled, Verdict::Unusable("the client has no such option".into())]);
        assert_eq!(bench.ask("a"), (false, "the permission request was cancelled".to_owned()));
        assert_eq!(bench.ask("a"), (false, "the client has no such option".to_owned()));
    }

    #[test]
    fn the_mode_of_the_moment_counts() {
        let bench = PermissionBench::new([Verdict::RejectAlways]);
        assert!(!bench.ask("a").0);
        *bench.mode.lock().unwrap() = "auto".into();
        assert_eq!((bench.ask("a").0, bench.asked()), (true, 1));
        *bench.mode.lock().unwrap() = "of-its-own".into();
        assert_eq!((bench.ask("a").0, bench.asked()), (false, 1));
    }

    #[test]
    fn a_flood_of_answers_is_not_remembered_beyond_the_bound() {
        let bench = PermissionBench::new(vec![Verdict::AllowAlways; MAX_ANSWERS + 2]);
        for n in 0..MAX_ANSWERS {
            assert!(bench.ask(&format!("tool{n}")).0);
        }
        assert_eq!(bench.ask("more"), (true, "the user allowed it".to_owned()), "it holds once");
        bench.ask("more");
        assert_eq!(bench.peer.asked.lock().unwrap().len(), MAX_ANSWERS + 2, "so it is asked again");
        assert_eq!(bench.ask("tool7"), (true, "the user has allowed every call of `tool7`".to_owned()));
    }
}
