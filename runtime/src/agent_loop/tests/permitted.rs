//! Permissions that a script leaves open are asked of the approver.

use std::task::{Poll, Waker};

use base::call::LocalFuture;

use crate::message::ToolSpec;
use crate::seam::{ApprovalDemand, Approver, Permissions, Preview};

use super::*;

/// An approver that demands to be asked about configured tools and answers on command.
#[derive(Debug, Default)]
struct Person {
    /// Demands by tool name; other tools have none.
    demands: Vec<(&'static str, ApprovalDemand)>,
    asked: RefCell<Vec<String>>,
    answers: RefCell<Vec<(Arc<str>, PermissionOutcome)>>,
    wakers: RefCell<Vec<Waker>>,
}

impl Person {
    fn wanting(names: &[&'static str]) -> Person {
        let demands = names.iter().map(|name| (*name, ApprovalDemand::Asked("it must be asked".into()))).collect();
        Person { demands, ..Person::default() }
    }

    fn answer(&self, call: &str, permit: PermissionOutcome) {
        self.answers.borrow_mut().push((call.into(), permit));
        self.wakers.take().into_iter().for_each(Waker::wake);
    }
}

impl Approver for Person {
    fn demand(&self, tool: &ToolSpec, _: &ToolCall) -> ApprovalDemand {
        let found = self.demands.iter().find(|(name, _)| *name == &*tool.name);
        found.map_or(ApprovalDemand::Nothing, |(_, demand)| demand.clone())
    }

    fn ask<'a>(
        &'a self,
        _: Turn<'a>,
        _: &'a ToolSpec,
        call: &'a ToolCall,
        _: Option<&'a Preview>,
        reason: &'a Arc<str>,
    ) -> Answer<'a, PermissionOutcome> {
        self.asked.borrow_mut().push(format!("{} {reason}", call.id));
        Answer::later(std::future::poll_fn(move |cx| {
            let mut answers = self.answers.borrow_mut();
            match answers.iter().position(|(id, _)| *id == call.id) {
                Some(at) => Poll::Ready(answers.remove(at).1),
                None => {
                    self.wakers.borrow_mut().push(cx.waker().clone());
                    Poll::Pending
                }
            }
        }))
    }
}

/// A script with the same ruling for every tool.
#[derive(Debug)]
struct FixedRuling(PermissionRuling);

impl Permissions for FixedRuling {
    fn wanted(&self, _: &ToolCall) -> Option<Arc<str>> {
        Some("the script wants it".into())
    }

    fn ask<'a>(&'a self, _: Turn<'a>, _: &'a ToolCall, _: &'a Arc<str>) -> Answer<'a, Outcome<PermissionRuling>> {
        Answer::Now(Ok(self.0.clone()))
    }
}

/// Returns the bench's loop as a future, which a test can poll for a while.
fn begun(bench: &LoopBench) -> LocalFuture<'_, Outcome<LoopResult>> {
    Box::pin(agent_loop(&bench.session, &bench.scope, &bench.parts, bench.options.clone()))
}

fn goes_on(run: &mut LocalFuture<'_, Outcome<LoopResult>>) -> Poll<Outcome<LoopResult>> {
    run.as_mut().poll(&mut std::task::Context::from_waker(Waker::noop()))
}

fn with(person: &Rc<Person>, names: &[&str]) -> LoopBench {
    let mut bench = LoopBench::new([calls(names), says("ok")]);
    bench.options.approver = Some(person.clone());
    bench
}

/// Returns the answers that the model reads.
fn results(bench: &LoopBench) -> Vec<String> {
    let transcript = bench.session.transcript();
    let answers = transcript.messages().iter().filter(|message| message.role == Role::Tool);
    answers.map(|message| message.text().to_string()).collect()
}

#[test]
fn several_calls_of_a_batch_are_asked_about_at_once_and_each_runs_once_it_may() {
    let person = Rc::new(Person::wanting(&["echo"]));
    let bench = with(&person, &["echo", "echo", "echo"]);
    let mut run = begun(&bench);
    assert!(goes_on(&mut run).is_pending());
    assert_eq!(person.asked.borrow().len(), 3);
    person.answer("c2", PermissionOutcome::allow());
    person.answer("c1", PermissionOutcome::deny("no"));
    assert!(goes_on(&mut run).is_pending());
    person.answer("c0", PermissionOutcome::allow());
    assert!(goes_on(&mut run).is_ready());
    assert_eq!(results(&bench), ["echoed", "not run: permission denied: no", "echoed"]);
}

#[test]
fn a_message_that_interrupts_takes_the_question_back_and_skips_the_batch() {
    for parallel in [true, false] {
        let person = Rc::new(Person::wanting(&["echo"]));
        let mut bench = with(&person, &["echo", "echo"]);
        bench.options.parallel_tool_calls = parallel;
        let mut run = begun(&bench);
        assert!(goes_on(&mut run).is_pending());
        let queue = bench.session.queue().clone();
        let push = |body, mode| queue.lock().unwrap().push_reminder(spec(body), mode, 1_000).unwrap();
        push("later", DeliveryMode::FinishStep);
        assert!(goes_on(&mut run).is_pending(), "what may wait takes no question back");
        push("stop that", DeliveryMode::InterruptImmediate);
        assert!(goes_on(&mut run).is_ready());
        assert_eq!(results(&bench), ["not run: interrupted: the host sent a message. Read it, then decide again."; 2]);
        assert!(bench.systems()[1].contains("stop that"), "{:?}", bench.systems());
        assert_eq!(person.asked.borrow().len(), if parallel { 2 } else { 1 });
    }
}

#[test]
fn one_call_at_a_time_is_asked_about_where_calls_run_one_after_the_other() {
    let person = Rc::new(Person::wanting(&["echo"]));
    let mut bench = with(&person, &["echo", "echo"]);
    bench.options.parallel_tool_calls = false;
    let mut run = begun(&bench);
    assert!(goes_on(&mut run).is_pending());
    assert_eq!(*person.asked.borrow(), ["c0 it must be asked"]);
    person.answer("c0", PermissionOutcome::allow());
    assert!(goes_on(&mut run).is_pending());
    assert_eq!(person.asked.borrow().len(), 2);
    person.answer("c1", PermissionOutcome::allow());
    assert!(goes_on(&mut run).is_ready());
}

#[test]
fn a_script_that_decides_is_not_asked_about_and_one_that_does_not_is() {
    for (ruling, asked, ran) in [
        (PermissionRuling::Final(PermissionOutcome::allow()), None, true),
        (PermissionRuling::Final(PermissionOutcome::deny("never")), None, false),
        (PermissionRuling::Open(None), Some("c0 the script wants it"), true),
        (PermissionRuling::Open(Some("it is Friday".into())), Some("c0 it is Friday"), true),
    ] {
        let person = Rc::new(Person::wanting(&["echo"]));
        person.answer("c0", PermissionOutcome::allow());
        let mut bench = with(&person, &["echo"]);
        bench.options.permissions = Some(Rc::new(FixedRuling(ruling)));
        assert_eq!(bench.run().tools.successful.len(), usize::from(ran));
        assert_eq!(person.asked.borrow().first().map(String::as_str), asked);
    }
}

#[test]
fn what_must_not_run_does_not_whatever_the_script_says() {
    let demands = vec![("echo", ApprovalDemand::Refused("only plans".into()))];
    let person = Rc::new(Person { demands, ..Person::default() });
    let mut bench = with(&person, &["echo"]);
    bench.options.permissions = Some(Rc::new(FixedRuling(PermissionRuling::Final(PermissionOutcome::allow()))));
    bench.run();
    assert_eq!(results(&bench), ["not run: permission denied: only plans"]);
    assert!(person.asked.borrow().is_empty());
}

#[test]
fn what_is_left_open_is_refused_where_nobody_is_there() {
    let mut bench = LoopBench::new([calls(&["echo"]), says("ok")]);
    bench.options.permissions = Some(Rc::new(FixedRuling(PermissionRuling::Open(None))));
    bench.run();
    assert_eq!(results(&bench), ["not run: permission denied: no approver is attached"]);
}

#[test]
fn a_person_may_take_longer_than_a_handler_and_a_cancelled_loop_waits_for_none() {
    let clock = Rc::new(ManualClock::new(1_000));
    let person = Rc::new(Person::wanting(&["echo"]));
    let mut bench = with(&person, &["echo", "echo"]);
    bench.scope.clock = clock.clone();
    let mut run = begun(&bench);
    assert!(goes_on(&mut run).is_pending());
    clock.advance(9 * 3_600_000);
    assert!(goes_on(&mut run).is_pending(), "nine hours are no reason");
    bench.scope.cancel.cancel("the editor is closed");
    assert!(goes_on(&mut run).is_ready());
    let refused = "not run: permission denied: cancelled: the editor is closed";
    assert_eq!(results(&bench), [refused, refused]);
}

#[test]
fn handlers_hear_of_question_and_answer_whoever_gave_it() {
    let person = Rc::new(Person::wanting(&["echo"]));
    let bench = with(&person, &["echo", "echo"]);
    let seen = Rc::new(RefCell::new(Vec::new()));
    for event in [EventKind::PermissionAsked, EventKind::PermissionReplied] {
        let told = seen.clone();
        bench.on(event, move |turn, event| {
            let call = turn.scope.caller.task_id.clone().unwrap_or_default();
            let (decision, reason) = (event.get("decision").to_text(), event.get("reason").to_text());
            told.borrow_mut().push(format!("{call} {decision} {reason}"));
            Ok(Verdict::allow())
        });
    }
    let mut run = begun(&bench);
    assert!(goes_on(&mut run).is_pending());
    person.answer("c1", PermissionOutcome::deny("no"));
    person.answer("c0", PermissionOutcome::allow());
    assert!(goes_on(&mut run).is_ready());
    let asked = ["c0  it must be asked", "c1  it must be asked"];
    assert_eq!(seen.borrow()[..2], asked);
    assert_eq!(seen.borrow()[2..], ["c0 allow it must be asked", "c1 deny no"]);
}
