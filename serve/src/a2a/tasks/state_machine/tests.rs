//! Tests of a task's state machine.

use a2a::{Content, Part, Role};
use eventlog::LogCode;
use stdlib::CodeRef;
use tokio::sync::oneshot;

use super::super::history::{MOST_SAID, MOST_SAID_BYTES};
use super::*;
use crate::host::{
    EndedPrompt, PermissionQuestion, PermissionScope, PromptOutcome, ScriptFailure, SessionEvent, TaskArtifact, Verdict,
};
use runtime::message::ToolCall;

fn machine() -> TaskStateMachine {
    let first = Message::new(Role::User, "m0", vec![Part::text("go")]);
    TaskStateMachine::new(Task {
        id: "t".into(),
        context_id: "c".into(),
        status: Status { state: TaskState::Submitted, message: None, at_ms: Some(0) },
        artifacts: Vec::new(),
        history: vec![Arc::new(first)],
        metadata: Data::Nil,
    })
}

fn working() -> TaskStateMachine {
    let mut machine = machine();
    machine.opened(1);
    machine
}

fn says(id: &str, text: &str) -> Message {
    Message::new(Role::User, id, vec![Part::text(text)])
}

fn ended(stop: PromptOutcome) -> TaskEnd {
    TaskEnd::Ended(Box::new(EndedPrompt {
        stop,
        value: Data::Nil,
        closing: None,
        uncleaned: None,
        diagnostics: Vec::new(),
    }))
}

fn question() -> TaskQuestion {
    TaskQuestion::Question("which?".into())
}

fn permission(number: u64) -> (TaskQuestion, oneshot::Receiver<Verdict>) {
    let (verdict, answer) = oneshot::channel();
    let question = PermissionQuestion {
        session_id: "s".into(),
        requested_by: "s".into(),
        call: ToolCall::new("c1", "write_file", Data::empty_dict()),
        annotations: Data::Nil,
        reason: "it writes".into(),
        scope: PermissionScope::Tool { tool: "write_file".into() },
        old_text: None,
    };
    (TaskQuestion::Permission { number, question, verdict }, answer)
}

fn text(id: &str, text: &str) -> SessionEvent {
    SessionEvent::Text { message_id: id.into(), text: text.into() }
}

fn states(out: &[TaskEffect]) -> Vec<TaskState> {
    let state = |out: &TaskEffect| match out {
        TaskEffect::Change(TaskChange::Status(update)) => Some(update.status.state),
        _ => None,
    };
    out.iter().filter_map(state).collect()
}

/// An event of a task, and its name.
type Happening = (&'static str, fn(&mut TaskStateMachine) -> Vec<TaskEffect>);

/// Returns all events that a task can have.
fn all() -> Vec<Happening> {
    vec![
        ("opened", |machine| machine.opened(2)),
        ("text", |machine| machine.show(text("a", "x"), 2)),
        ("data", |machine| machine.show(SessionEvent::Data { message_id: "d".into(), data: 1.into() }, 2)),
        ("status", |machine| {
            machine.show(SessionEvent::Status { message_id: "m".into(), text: "s".into(), partial: Data::Nil }, 2)
        }),
        ("title", |machine| machine.show(SessionEvent::Title("t".into()), 2)),
        ("plan", |machine| machine.show(SessionEvent::Plan(Vec::new()), 2)),
        ("made", |machine| {
            machine.show(
                SessionEvent::Artifact {
                    message_id: "m".into(),
                    made: TaskArtifact { name: "n".into(), ..TaskArtifact::default() },
                },
                2,
            )
        }),
        ("tool", |machine| {
            machine.show(SessionEvent::ToolCall { call: ToolCall::new("c", "t", Data::Nil), annotations: Data::Nil }, 2)
        }),
        ("ask", |machine| machine.ask(question(), 2)),
        ("permit", |machine| machine.ask(permission(1).0, 2)),
        ("take back", |machine| machine.take_back(1, 2)),
        ("reply", |machine| match machine.reply(&says("m9", "allow"), 2) {
            MessageOutcome::Taken(out) => out,
            MessageOutcome::Known | MessageOutcome::Unasked => Vec::new(),
        }),
        ("cancel", |machine| {
            machine.halt(HaltReason::Cancelled);
            Vec::new()
        }),
        ("deadline", |machine| {
            machine.halt(HaltReason::Deadline);
            Vec::new()
        }),
        ("done", |machine| machine.end(ended(PromptOutcome::Done), "a", 2)),
        ("cancelled", |machine| machine.end(ended(PromptOutcome::Cancelled), "a", 2)),
        ("refused", |machine| machine.end(ended(PromptOutcome::Refused("no".into())), "a", 2)),
        ("halted", |machine| machine.end(TaskEnd::Halted, "a", 2)),
        ("lost", |machine| machine.end(TaskEnd::Lost, "a", 2)),
    ]
}

#[test]
fn only_a_task_that_ends_well_has_the_closing_message() {
    for (stop, state, expected) in [
        (PromptOutcome::Done, TaskState::Completed, "All sorted."),
        (
            PromptOutcome::MaxTurns,
            TaskState::Completed,
            "The agent has reached its turn limit; the answer contains its results so far.",
        ),
        (PromptOutcome::Refused("No.".into()), TaskState::Rejected, "Task rejected: No."),
    ] {
        let mut machine = working();
        let closing = Some("All sorted.".into());
        let ended = EndedPrompt { stop, value: Data::Nil, closing, uncleaned: None, diagnostics: Vec::new() };
        machine.end(TaskEnd::Ended(Box::new(ended)), "a", 1);
        let task = machine.task();
        let text = task.status.message.as_ref().map(|message| message.text());
        assert_eq!((task.status.state, text.as_deref()), (state, Some(expected)));
    }
}

#[test]
fn a_cancelled_task_blames_its_clean_up_for_nothing_else() {
    let diagnostic = |text: &str| stdlib::Diagnostic::new(stdlib::from_core(LogCode::NotWritten), text);
    for uncleaned in [None, Some("no")] {
        let mut machine = working();
        machine.halt(HaltReason::Cancelled);
        let says = uncleaned.map(|_| "the task was cancelled, and its clean-up failed: ");
        let uncleaned = uncleaned.map(diagnostic);
        let mut diagnostics: Vec<_> = uncleaned.clone().into_iter().collect();
        diagnostics.push(diagnostic("the disk is full"));
        let stop = PromptOutcome::Cancelled;
        let out = machine.end(
            TaskEnd::Ended(Box::new(EndedPrompt { stop, value: Data::Nil, closing: None, uncleaned, diagnostics })),
            "a",
            1,
        );
        let task = machine.task();
        assert_eq!(task.status.state, TaskState::Canceled);
        let text = task.status.message.as_ref().map(|message| message.text());
        assert_eq!(text.is_some(), says.is_some());
        assert!(
            text.iter().all(|text| text.starts_with(says.unwrap_or_default()) && !text.contains("no more")),
            "{text:?}"
        );
        assert!(!task.metadata.to_json().contains("the disk is full"), "{:?}", task.metadata);
        assert!(log(&out).contains("the disk is full"), "{out:?}");
    }
}

/// Returns the details that go to the server's log.
fn log(out: &[TaskEffect]) -> String {
    let details = out.iter().filter_map(|out| match out {
        TaskEffect::Log(details) => Some(details.as_str()),
        _ => None,
    });
    details.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_failure_keeps_its_details_on_this_machine() {
    let failure = |words: Option<&str>| ScriptFailure {
        code: CodeRef::new(stdlib::find("HARN-RUN-001").unwrap()),
        message: "uncaught error: token s3cret".into(),
        drawn: "error at /srv/agent.harn: token s3cret".into(),
        words: words.map(Into::into),
    };
    for (words, begins) in [(None, "the task failed: "), (Some("no such ticket"), "no such ticket")] {
        let mut machine = working();
        let out = machine.end(ended(PromptOutcome::Failed(failure(words))), "a", 1);
        let task = machine.task();
        let message = task.status.message.clone().unwrap();
        let shown = format!("{message:?}");
        assert!(message.text().starts_with(begins) && !shown.contains("s3cret") && !shown.contains("/srv"), "{shown}");
        let a2a::Content::Data(data) = &message.parts[1].content else { panic!() };
        let id = data.get("correlation_id").as_str().unwrap().to_owned();
        assert_eq!(data.get("code").as_str(), Some("HARN-RUN-001"));
        assert!(log(&out).starts_with(&format!("error {id}\n")) && log(&out).contains("/srv/agent.harn: token s3cret"));
    }
}

#[test]
fn nothing_changes_a_task_that_is_over() {
    for stop in [PromptOutcome::Done, PromptOutcome::Cancelled, PromptOutcome::Refused("no".into())] {
        for (name, happens) in all() {
            let mut machine = working();
            machine.show(text("a", "answer"), 1);
            machine.end(ended(stop.clone()), "a", 1);
            let before = machine.task();
            assert!(before.status.state.is_terminal());
            assert_eq!(happens(&mut machine), Vec::new(), "{name} after {stop:?}");
            assert_eq!(machine.task(), before, "{name} after {stop:?}");
        }
    }
}

#[test]
fn whatever_happens_in_whatever_order_a_task_ends_once_and_then_stays() {
    // All triples, from the initial and from the working state.
    let all = all();
    for begin in [machine as fn() -> TaskStateMachine, working] {
        for a in &all {
            for b in &all {
                for c in &all {
                    let mut machine = begin();
                    let mut seen = Vec::new();
                    for (_, happens) in [a, b, c] {
                        seen.extend(states(&happens(&mut machine)));
                    }
                    seen.extend(states(&machine.end(TaskEnd::Halted, "a", 3)));
                    let names = (a.0, b.0, c.0);
                    let ends = seen.iter().filter(|state| state.is_terminal()).count();
                    assert_eq!(ends, 1, "{names:?}: {seen:?}");
                    assert!(seen.last().unwrap().is_terminal(), "{names:?}: {seen:?}");
                    assert!(machine.is_over() && machine.asking.is_empty() && machine.reply.is_none(), "{names:?}");
                }
            }
        }
    }
}

#[test]
fn what_came_first_decides_between_an_end_and_a_halt() {
    let end = |halts: &[HaltReason], stop: PromptOutcome| {
        let mut machine = working();
        for halt in halts {
            machine.halt(*halt);
        }
        machine.end(ended(stop), "a", 2);
        machine.state()
    };
    // The answer came before the stop.
    assert_eq!(end(&[HaltReason::Cancelled], PromptOutcome::Done), TaskState::Completed);
    assert_eq!(end(&[HaltReason::Deadline], PromptOutcome::Done), TaskState::Completed);
    assert_eq!(end(&[HaltReason::Cancelled], PromptOutcome::Cancelled), TaskState::Canceled);
    assert_eq!(end(&[HaltReason::Deadline], PromptOutcome::Cancelled), TaskState::Failed);
    assert_eq!(end(&[HaltReason::Cancelled, HaltReason::Deadline], PromptOutcome::Cancelled), TaskState::Canceled);
    assert_eq!(end(&[HaltReason::Deadline, HaltReason::Cancelled], PromptOutcome::Cancelled), TaskState::Failed);
    assert_eq!(end(&[], PromptOutcome::Cancelled), TaskState::Failed, "its session was closed");
}

#[test]
fn the_second_of_two_answers_to_one_question_is_not_taken() {
    let mut machine = working();
    assert_eq!(states(&machine.ask(question(), 2)), [TaskState::InputRequired]);
    let MessageOutcome::Taken(out) = machine.reply(&says("m1", "this"), 3) else { panic!() };
    assert_eq!(states(&out), [TaskState::Working]);
    assert_eq!(machine.reply(&says("m2", "that"), 3), MessageOutcome::Unasked);
    assert_eq!(machine.reply(&says("m1", "this"), 3), MessageOutcome::Known, "the same message once more is harmless");
    assert_eq!(machine.take_reply().unwrap().text(), "this");
    assert!(machine.take_reply().is_none());
    let said: Vec<_> = machine.task().history.iter().map(|message| message.text()).collect();
    assert_eq!(said, ["go", "which?", "this"]);
}

#[test]
fn a_permission_question_too_many_is_denied() {
    let mut machine = working();
    let most = super::asking::MAX_QUESTIONS as u64;
    let mut pending: Vec<_> = (0..most)
        .map(|number| {
            let (asking, verdict) = permission(number);
            machine.ask(asking, 1);
            verdict
        })
        .collect();
    let (asking, mut denied) = permission(most);
    assert_eq!(machine.ask(asking, 1), []);
    assert_eq!(denied.try_recv(), Err(oneshot::error::TryRecvError::Closed));
    assert!(pending.iter_mut().all(|verdict| verdict.try_recv() == Err(oneshot::error::TryRecvError::Empty)));
    // The script itself can still ask.
    machine.ask(TaskQuestion::Question("which?".into()), 2);
    assert_eq!(machine.asking.len(), super::asking::MAX_QUESTIONS + 1);
}

#[test]
fn permissions_are_asked_one_after_the_other_and_taken_back() {
    let mut machine = working();
    let (first, mut first_answer) = permission(1);
    let (second, mut second_answer) = permission(2);
    let (third, _gone) = permission(3);
    assert_eq!(states(&machine.ask(first, 2)), [TaskState::InputRequired]);
    assert_eq!(machine.ask(second, 2), []);
    assert_eq!(machine.ask(third, 2), []);
    assert_eq!(machine.take_back(3, 2), [], "no client has seen it");
    let MessageOutcome::Taken(out) = machine.reply(&says("m1", "perhaps"), 3) else { panic!() };
    assert_eq!(states(&out), [TaskState::InputRequired], "it is asked again");
    assert!(first_answer.try_recv().is_err());
    let MessageOutcome::Taken(out) = machine.reply(&says("m2", " Allow_Always "), 3) else { panic!() };
    assert_eq!(states(&out), [TaskState::InputRequired], "the next is asked");
    assert_eq!(first_answer.try_recv(), Ok(Verdict::AllowAlways));
    assert_eq!(states(&machine.take_back(2, 4)), [TaskState::Working]);
    assert!(second_answer.try_recv().is_err());
    assert_eq!(machine.take_back(2, 4), []);
}

#[test]
fn a_verdict_is_one_of_four_words() {
    let of = |parts: Vec<Part>| {
        let mut machine = working();
        let (asking, mut answer) = permission(1);
        machine.ask(asking, 2);
        machine.reply(&Message::new(Role::User, "m1", parts), 3);
        answer.try_recv().ok()
    };
    let data = |json: &str| Part::data(Data::from_json(json).unwrap());
    assert_eq!(of(vec![Part::text("allow")]), Some(Verdict::AllowOnce));
    assert_eq!(of(vec![Part::text("deny\n")]), Some(Verdict::RejectOnce));
    assert_eq!(of(vec![Part::text("deny_always")]), Some(Verdict::RejectAlways));
    assert_eq!(of(vec![data(r#"{"permission": "allow"}"#)]), Some(Verdict::AllowOnce));
    assert_eq!(of(vec![data(r#""allow""#), Part::text("allow")]), Some(Verdict::AllowOnce));
    assert_eq!(of(vec![data(r#"{"permission": true}"#)]), None);
    assert_eq!(of(vec![Part::text("allow"), Part::text("deny")]), None, "it contradicts itself");
    assert_eq!(of(vec![Part::text("please allow it")]), None);
    assert_eq!(of(Vec::new()), None);
}

#[test]
fn an_answer_streams_and_is_whole_at_the_end() {
    let mut machine = working();
    let mut effects = Vec::new();
    for event in [text("a", "first"), text("b", "sec"), text("b", "ond"), text("b", "")] {
        effects.extend(machine.show(event, 2));
    }
    effects.extend(machine.end(ended(PromptOutcome::Done), "a", 3));
    let line = |out: &TaskEffect| match out {
        TaskEffect::Change(TaskChange::Artifact(update)) => {
            let Content::Text(text) = &update.artifact.parts[0].content else { panic!() };
            Some(format!("{text} {} {}", update.append, update.last_chunk))
        }
        TaskEffect::Change(TaskChange::Said(message) | TaskChange::Answered(message)) => {
            Some(format!("said {}", message.text()))
        }
        _ => None,
    };
    let lines: Vec<_> = effects.iter().filter_map(line).collect();
    assert_eq!(lines, ["first false false", "said first", "sec false false", "ond true false", "second false true"]);
    let task = machine.task();
    assert_eq!((task.artifacts.len(), a2a::model::text_of(&task.artifacts[0].parts)), (1, "second".to_owned()));
    assert_eq!(task.history.len(), 2);
}

/// Returns the answer as a subscriber assembles it.
fn followed(effects: &[TaskEffect]) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for out in effects {
        let TaskEffect::Change(TaskChange::Artifact(update)) = out else { continue };
        if !update.append {
            parts.clear();
        }
        for part in &update.artifact.parts {
            match (&part.content, parts.last_mut().map(|part| &mut part.content)) {
                (Content::Text(more), Some(Content::Text(text))) => *text = format!("{text}{more}").into(),
                _ => parts.push(part.clone()),
            }
        }
    }
    parts
}

#[test]
fn data_of_an_answer_stands_where_it_came_and_on_its_own() {
    let data = |n: i64| SessionEvent::Data { message_id: "a".into(), data: Data::dict([("n", n.into())]) };
    let part = |n: i64| Part::data(Data::dict([("n", n.into())]));
    for stop in [PromptOutcome::Done, PromptOutcome::Cancelled] {
        let mut machine = working();
        let mut effects = Vec::new();
        for event in [text("a", "one "), text("a", "two"), data(1), data(2), text("a", "thr"), text("a", "ee")] {
            effects.extend(machine.show(event, 2));
        }
        let wanted = [Part::text("one two"), part(1), part(2), Part::text("three")];
        assert_eq!(followed(&effects), wanted);
        assert_eq!(machine.task().artifacts[0].parts, wanted);
        effects.extend(machine.end(ended(stop), "a", 3));
        assert_eq!(followed(&effects), wanted);
        assert_eq!(machine.task().artifacts[0].parts, wanted);
    }
}

#[test]
fn what_an_answer_weighed_is_given_back_where_it_begins_anew() {
    let mut machine = working();
    let big: Data = "x".repeat(10 << 20).as_str().into();
    for n in 0..20 {
        // Two of them are below the limit, all of them are not.
        for _ in 0..2 {
            machine.show(SessionEvent::Data { message_id: format!("m{n}").into(), data: big.clone() }, 2);
        }
        machine.show(text(&format!("m{n}"), "and text"), 2);
    }
    assert_eq!(machine.halted(), None);
    machine.show(text("last", ""), 2);
    machine.show(text("last", "."), 2);
    assert_eq!(machine.made, 1);
}

#[test]
fn what_the_model_thinks_is_told_to_nobody() {
    let mut machine = working();
    let before = machine.task();
    assert!(
        machine.show(SessionEvent::Thought { message_id: "m".into(), text: "They know nothing.".into() }, 2).is_empty()
    );
    assert_eq!(machine.task(), before);
    assert!(!machine.show(text("m", "Hello."), 3).is_empty());
}

#[test]
fn pieces_of_an_artifact_come_behind_each_other() {
    let mut machine = working();
    let made = |text: &str, append, last_chunk| {
        let parts = vec![crate::host::Part::Text(text.into())];
        SessionEvent::Artifact {
            message_id: "m".into(),
            made: TaskArtifact { name: "list".into(), parts, append, last_chunk, ..TaskArtifact::default() },
        }
    };
    let frames: Vec<_> = [made("a", true, false), made("b", true, true), made("c", false, true)]
        .into_iter()
        .flat_map(|event| machine.show(event, 2))
        .map(|out| match out {
            TaskEffect::Change(TaskChange::Artifact(update)) => (update.append, update.last_chunk),
            _ => panic!(),
        })
        .collect();
    // The first piece, as nothing came before it.
    assert_eq!(frames, [(false, false), (true, true), (false, true)]);
    assert_eq!(a2a::model::text_of(&machine.task().artifacts[0].parts), "c");
}

#[test]
fn what_grows_beyond_all_bounds_ends() {
    let mut machine = working();
    let piece: Arc<str> = "x".repeat(1 << 20).into();
    for _ in 0..100 {
        machine.show(SessionEvent::Text { message_id: "a".into(), text: piece.clone() }, 2);
    }
    assert_eq!(machine.halted(), Some(HaltReason::TooMuch));
    assert!(machine.weight() <= artifacts::MOST + (1 << 20), "{}", machine.weight());
    machine.end(ended(PromptOutcome::Cancelled), "a", 3);
    let task = machine.task();
    assert_eq!(task.status.state, TaskState::Failed);
    assert!(task.status.message.as_ref().unwrap().text().contains("64 MiB"));
}

#[test]
fn a_long_history_keeps_its_beginning_and_its_end() {
    let mut machine = working();
    for number in 0..2_000 {
        machine.show(
            SessionEvent::Status { message_id: "m".into(), text: format!("{number}").into(), partial: Data::Nil },
            2,
        );
    }
    machine.end(ended(PromptOutcome::Done), "a", 3);
    let task = machine.task();
    let said: Vec<_> = task.history.iter().map(|message| message.text()).collect();
    assert_eq!((said.len(), &*said[0], &*said[1], &*said[999]), (MOST_SAID, "go", "1001", "1999"));
    let mut machine = working();
    for _ in 0..40 {
        machine.show(
            SessionEvent::Status { message_id: "m".into(), text: "x".repeat(1 << 20).into(), partial: Data::Nil },
            2,
        );
    }
    assert!(machine.said <= MOST_SAID_BYTES, "{}", machine.said);
}

#[test]
fn a_session_that_cannot_be_had_ends_its_task() {
    let end = |error: crate::host::HostError| {
        let mut machine = machine();
        machine.end(TaskEnd::Gone(error), "a", 2);
        let task = machine.task();
        (task.status.state, task.status.message.as_ref().map(|message| message.text()).unwrap_or_default())
    };
    let (state, why) = end(crate::host::HostError::Full(7));
    assert_eq!(state, TaskState::Rejected);
    assert!(why.starts_with("Task rejected: CAPACITY_EXCEEDED: too many sessions: 7 are open"), "{why}");
    let (state, why) =
        end(crate::host::HostError::Broken { id: "s".into(), why: "internal error of the runtime: boom".into() });
    assert_eq!(state, TaskState::Failed);
    assert!(why.starts_with("the task failed: ") && !why.contains("boom"), "{why}");
    let (state, why) = end(crate::host::HostError::Stopping);
    assert_eq!((state, &*why), (TaskState::Failed, "the server was stopped; the results so far are kept"));
}

#[test]
fn only_what_a_stop_of_the_server_cuts_off_may_go_on_elsewhere() {
    for (halt, cut) in [
        (HaltReason::Stopping, true),
        (HaltReason::Cancelled, false),
        (HaltReason::Deadline, false),
        (HaltReason::TooMuch, false),
    ] {
        let mut machine = machine();
        machine.halt(halt);
        machine.halt(HaltReason::Stopping);
        assert_eq!(machine.is_stopped(&TaskEnd::Halted), cut, "{halt:?}");
        assert_eq!(machine.is_stopped(&ended(PromptOutcome::Cancelled)), cut, "{halt:?}");
        assert!(!machine.is_stopped(&ended(PromptOutcome::Done)), "{halt:?}");
        machine.end(TaskEnd::Halted, "a", 2);
        assert!(!machine.is_stopped(&TaskEnd::Halted), "it is over");
    }
    assert!(!machine().is_stopped(&TaskEnd::Halted), "no caller asked it to stop");
}
