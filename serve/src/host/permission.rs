//! [`SessionApprover`]: asking the peer whether a tool may run, and what it has said for the rest of the session.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use runtime::message::{ToolCall, ToolSpec};
use runtime::seam::{Answer, Approver, Demand, Permit, Turn};

use super::policy::demand;
use super::{Mode, Peer, PermissionQuestion, Verdict};

/// Whoever a session is served to, as the one who is asked for permissions.
pub(super) struct SessionApprover {
    session_id: Arc<str>,
    mode: Arc<Mutex<Arc<str>>>,
    peer: Arc<dyn Peer>,
    /// What is allowed or refused for the rest of the session, by tool.
    always: RefCell<HashMap<Arc<str>, bool>>,
}

impl SessionApprover {
    /// For one session; `mode` is the one it has at any time.
    pub(super) fn new(session_id: Arc<str>, mode: Arc<Mutex<Arc<str>>>, peer: Arc<dyn Peer>) -> SessionApprover {
        SessionApprover { session_id, mode, peer, always: RefCell::default() }
    }

    /// What needs no question.
    fn settled(&self, tool: &str) -> Option<Permit> {
        if Mode::of(&self.mode) == Mode::Auto {
            return Some(Permit { allow: true, reason: Some("nothing is asked in the mode `auto`".into()) });
        }
        let allow = *self.always.borrow().get(tool)?;
        Some(match allow {
            true => Permit { allow, reason: Some(format!("the user has allowed every call of `{tool}`").into()) },
            false => Permit::deny(never(tool)),
        })
    }

    fn permit(&self, tool: &Arc<str>, verdict: Verdict) -> Permit {
        let remember = |allow| self.always.borrow_mut().insert(tool.clone(), allow);
        match verdict {
            Verdict::AllowOnce => Permit { allow: true, reason: Some("the user has allowed it".into()) },
            Verdict::AllowAlways => {
                remember(true);
                Permit { allow: true, reason: Some(format!("the user has allowed every call of `{tool}`").into()) }
            }
            Verdict::RejectOnce => Permit::deny("the user has refused it"),
            Verdict::RejectAlways => {
                remember(false);
                Permit::deny(never(tool))
            }
            Verdict::Cancelled => Permit::deny("the question was cancelled"),
            Verdict::Unusable(why) => Permit::deny(why),
        }
    }
}

fn never(tool: &str) -> String {
    format!("the user has refused every call of `{tool}`")
}

impl Approver for SessionApprover {
    fn demand(&self, tool: &ToolSpec, _: &ToolCall) -> Demand {
        demand(Mode::of(&self.mode), tool)
    }

    fn ask<'a>(
        &'a self,
        _: Turn<'a>,
        tool: &'a ToolSpec,
        call: &'a ToolCall,
        reason: &'a Arc<str>,
    ) -> Answer<'a, Permit> {
        if let Some(permit) = self.settled(&tool.name) {
            return Answer::Now(permit);
        }
        let (session_id, call) = (self.session_id.clone(), call.clone());
        let (annotations, reason) = (tool.annotations.clone(), reason.clone());
        let answer = self.peer.permit(PermissionQuestion { session_id, call, annotations, reason });
        Answer::later(async move { self.permit(&tool.name, answer.await) })
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

    use futures_util::FutureExt as _;
    use runtime::clock::ManualClock;
    use runtime::data::Data;
    use runtime::event_log::MemoryLog;
    use runtime::ids::IdStream;
    use runtime::seam::Scope;
    use runtime::session::Session;

    use super::super::{Event, Waiting};
    use super::*;

    /// Answers with what it was told, and remembers what it was asked.
    struct Fake {
        verdicts: Mutex<Vec<Verdict>>,
        asked: Mutex<Vec<String>>,
    }

    impl Peer for Fake {
        fn show(&self, _: &Arc<str>, _: Event) {}

        fn room(&self, _: &Arc<str>) -> Waiting<()> {
            Box::pin(async {})
        }

        fn permit(&self, question: PermissionQuestion) -> Waiting<Verdict> {
            let told = format!("{} {} {}", question.session_id, question.call.name, question.reason);
            self.asked.lock().unwrap().push(told);
            let verdict = self.verdicts.lock().unwrap().remove(0);
            Box::pin(async move { verdict })
        }
    }

    struct Bench {
        peer: Arc<Fake>,
        mode: Arc<Mutex<Arc<str>>>,
        approver: SessionApprover,
    }

    impl Bench {
        fn new(verdicts: impl Into<Vec<Verdict>>) -> Bench {
            let peer = Arc::new(Fake { verdicts: Mutex::new(verdicts.into()), asked: Mutex::default() });
            let mode = Arc::new(Mutex::new("ask".into()));
            let approver = SessionApprover::new("s".into(), mode.clone(), peer.clone());
            Bench { peer, mode, approver }
        }

        fn ask(&self, tool: &str) -> (bool, String) {
            let scope = Scope::new(Rc::new(ManualClock::new(0)), Rc::new(MemoryLog::new()));
            let session = Session::new("s", IdStream::new(1, "s"), 0);
            let turn = Turn { session: &session, number: 1, scope: &scope };
            let (spec, call) = (ToolSpec::new(tool, "", Data::Nil), ToolCall::new("c", tool, Data::Nil));
            let reason = "why".into();
            let permit = self.approver.ask(turn, &spec, &call, &reason).get().now_or_never().unwrap();
            (permit.allow, permit.reason.unwrap_or_default().to_string())
        }

        fn asked(&self) -> usize {
            self.peer.asked.lock().unwrap().len()
        }
    }

    #[test]
    fn what_is_said_for_always_is_not_asked_again_for_this_tool() {
        let bench = Bench::new([Verdict::AllowOnce, Verdict::AllowAlways, Verdict::RejectAlways, Verdict::RejectOnce]);
        assert_eq!(bench.ask("a"), (true, "the user has allowed it".to_owned()));
        assert!(bench.ask("a").0 && bench.ask("a").0);
        assert_eq!(bench.asked(), 2);
        let never = (false, "the user has refused every call of `b`".to_owned());
        assert_eq!((bench.ask("b"), bench.ask("b")), (never.clone(), never));
        assert_eq!((bench.asked(), bench.ask("c").0, bench.asked()), (3, false, 4));
        assert_eq!(bench.peer.asked.lock().unwrap()[0], "s a why");
    }

    #[test]
    fn what_is_no_answer_is_a_refusal_with_its_reason() {
        let bench = Bench::new([Verdict::Cancelled, Verdict::Unusable("the client has no such option".into())]);
        assert_eq!(bench.ask("a"), (false, "the question was cancelled".to_owned()));
        assert_eq!(bench.ask("a"), (false, "the client has no such option".to_owned()));
    }

    #[test]
    fn the_mode_of_the_moment_counts() {
        let bench = Bench::new([Verdict::RejectAlways]);
        assert!(!bench.ask("a").0);
        *bench.mode.lock().unwrap() = "auto".into();
        assert_eq!((bench.ask("a").0, bench.asked()), (true, 1));
        *bench.mode.lock().unwrap() = "of-its-own".into();
        assert_eq!((bench.ask("a").0, bench.asked()), (false, 1));
    }
}
