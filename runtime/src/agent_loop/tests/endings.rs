//! Outcomes of loops.

use crate::hooks::{HookReply, PromptAction, UserPromptSubmit};

use super::*;

#[test]
fn a_turn_without_a_tool_call_ends_the_loop() {
    let bench = LoopBench::new([calls(&["echo"]), says("fine")]);
    let result = bench.run();
    assert_eq!(
        (result.status, result.stop_reason.as_str(), result.text.as_ref()),
        (LoopStatus::Done, "completed", "fine")
    );
    assert_eq!(result.tools, ToolNames { calls: names(&["echo"]), successful: names(&["echo"]), rejected: names(&[]) });
    assert_eq!((result.iterations, result.usage.input_tokens), (2, 20));
    assert_eq!(bench.roles(), [Role::User, Role::Assistant, Role::Tool, Role::Assistant]);
    assert_eq!(bench.session.with(|s| s.turns), 2);
    let data = result.to_data();
    assert_eq!(data.at("llm.iterations").as_int(), Some(2));
    assert_eq!(data.at("tools.mode").as_str(), Some("native"));
}

#[test]
fn turns_count_on_over_loops() {
    let bench = LoopBench::new([says("one"), says("two")]);
    bench.run();
    bench.session.inject_reminder(&bench.scope, short("r"), ReminderSource::InPipeline, None);
    bench.run();
    let fired: Vec<_> = bench.records("turn_number").into_iter().filter(|(word, _)| word == "fired").collect();
    assert_eq!(fired, [("fired".to_owned(), "2".to_owned())]);
}

#[test]
fn iterations_and_tokens_are_limited() {
    let mut bench = LoopBench::new((0..9).map(|_| calls(&["echo"])));
    bench.options.limits.max_iterations = 3;
    let result = bench.run();
    assert_eq!((result.status, result.iterations), (LoopStatus::BudgetExhausted, 3));
    let mut bench = LoopBench::new((0..9).map(|_| calls(&["echo"])));
    bench.options.limits.token_budget = Some(30);
    let result = bench.run();
    assert_eq!((result.stop_reason.as_str(), result.iterations), ("token_budget", 2));
}

#[test]
fn until_done_asks_on_and_gives_up() {
    let mut bench = LoopBench::new([says("thinking"), calls(&["echo"]), says("all set ##DONE##")]);
    bench.options.sentinel.is_required = true;
    let result = bench.run();
    assert_eq!((result.status, result.stop_reason.as_str()), (LoopStatus::Done, "done_sentinel"));
    assert_eq!(result.visible_text.as_ref(), "all set");
    let mut bench = LoopBench::new((0..9).map(|_| says("hm")));
    bench.options.sentinel.is_required = true;
    bench.options.limits.max_nudges = 2;
    let result = bench.run();
    assert_eq!((result.status, result.iterations), (LoopStatus::Stuck, 3));
}

#[test]
fn a_failing_model_leaves_the_transcript_and_charges_nothing() {
    let bench = LoopBench::new([]);
    let error = ModelError { status: Some(500), ..ModelError::new(ModelErrorKind::Server, "the server is down") };
    bench.model.replies.borrow_mut().push_back(Err(error));
    bench.session.inject_reminder(&bench.scope, short("still here"), ReminderSource::InPipeline, None);
    let seen = Rc::new(RefCell::new(Vec::new()));
    let seen_by_hook = seen.clone();
    bench.on(EventKind::SessionError, move |_, event| {
        seen_by_hook.borrow_mut().push(event.get("error.category"));
        Ok(Verdict::allow())
    });
    let passed = Rc::new(RefCell::new(Vec::new()));
    let told = passed.clone();
    bench.on(EventKind::LoopCheckpoint, move |turn, event| {
        assert_eq!(event.get("session_id").as_str(), Some("s"));
        assert_eq!(event.to_data(turn.session.id()).get("session_id").as_str(), Some("s"));
        told.borrow_mut().push(event.get("kind").to_text().to_string());
        Ok(Verdict::allow())
    });
    let result = bench.run();
    assert_eq!(passed.borrow_mut().split_off(0), ["iteration_start", "iteration_end", "loop_exit"]);
    assert_eq!(result.status, LoopStatus::ProviderError);
    assert_eq!(result.error.get("status").as_int(), Some(500));
    assert_eq!(*seen.borrow(), [Data::from("server")]);
    assert_eq!(bench.roles(), [Role::User]);
    assert_eq!(result.transcript.pending_count(), 1);
    bench.run();
    assert_eq!(bench.systems(), ["System reminder:\nstill here", "System reminder:\nstill here"]);
    assert_eq!(bench.session.transcript().pending_count(), 0);
}

#[test]
fn a_blocked_prompt_never_reaches_the_model() {
    let bench = LoopBench::new([]);
    bench.on(EventKind::UserPromptSubmit, |_, _| {
        Ok(HookReply::<UserPromptSubmit>::act(PromptAction::Refuse { reason: "not today".into() }).into())
    });
    let result = bench.run();
    assert_eq!((result.status, result.stop_reason.as_str()), (LoopStatus::Blocked, "user_prompt_submit_blocked"));
    assert_eq!(result.error.get("message").as_str(), Some("not today"));
    assert_eq!((bench.model.asked.borrow().len(), bench.roles().len()), (0, 0));
}

#[test]
fn cancelling_keeps_what_was_done_and_answers_open_calls() {
    let mut bench = LoopBench::new([calls(&["stop", "echo"])]);
    bench.parts.tools.push(tool("stop", |turn, _| {
        turn.scope.cancel.cancel("enough");
        Ok(Output::of("stopping".into()))
    }));
    let ended = Rc::new(Cell::new(false));
    let told = ended.clone();
    bench.on(EventKind::SessionEnd, move |_, event| {
        told.set(event.get("final_status").as_str() == Some("cancelled"));
        Ok(Verdict::allow())
    });
    let result = bench.run();
    assert_eq!((result.status, result.stop_reason.as_str()), (LoopStatus::Cancelled, "cancelled"));
    let messages = bench.session.transcript();
    let texts: Vec<_> = messages.messages().iter().map(|message| message.text().to_string()).collect();
    assert_eq!(texts, ["do it", "", "stopping", "not run: cancelled: enough"]);
    assert!(ended.get());
}

#[test]
fn loops_nest_only_so_deep() {
    let mut bench = LoopBench::new([]);
    bench.scope.caller.depth = Scope::MAX_DEPTH;
    assert_eq!(bench.try_run().unwrap_err().kind(), CallErrorKind::Limit);
}

#[test]
fn a_loop_that_waits_is_small() {
    let bench = LoopBench::new([]);
    let future = agent_loop(&bench.session, &bench.scope, &bench.parts, bench.options.clone());
    let size = size_of_val(&future);
    assert!(size <= 8 * 1024, "{size} bytes");
}

#[test]
fn a_failed_model_call_is_recorded_with_its_own_kind() {
    let mut bench = LoopBench::new([]);
    let error = ModelError::new(ModelErrorKind::RateLimit, "slow down");
    bench.model.replies.borrow_mut().push_back(Err(error));
    bench.scope.activity = Some(crate::spans::Activity::new(crate::spans::ActivityOptions::default()));
    bench.run();
    let records = bench.log.read(&RecordFilter::topic(crate::event_log::Topic::Activity), usize::MAX).unwrap();
    let ended = records.iter().find(|record| record.kind.as_ref() == "session.activity.model_ended").unwrap();
    assert_eq!(
        (ended.payload.get("ok"), ended.payload.get("error").as_str()),
        (&Data::from(false), Some("rate_limit"))
    );
}

/// An answer that ended for a vendor's reason.
fn ended(reply: ModelReply, word: &str) -> ModelReply {
    ModelReply { stop_reason: Some(word.into()), ..reply }
}

#[test]
fn an_answer_that_was_cut_off_is_not_done() {
    for (word, stop_reason) in [
        ("max_tokens", "max_tokens"),
        ("length", "max_tokens"),
        ("MAX_TOKENS", "max_tokens"),
        ("model_context_window_exceeded", "context_window"),
    ] {
        let bench = LoopBench::new([ended(says("The first half of"), word)]);
        let result = bench.run();
        assert_eq!((result.status, result.stop_reason.as_str()), (LoopStatus::CutOff, stop_reason), "{word}");
        let data = result.to_data();
        assert_eq!(data.get("answer_end").as_str(), Some(stop_reason));
        assert!(!result.has_failed(), "{word}");
        assert_eq!(result.text.as_ref(), "The first half of");
    }
    let mut bench = LoopBench::new((0..9).map(|_| ended(says(""), "length")));
    bench.options.limits.max_nudges = 1;
    let result = bench.run();
    assert_eq!(
        (result.status, result.iterations),
        (LoopStatus::CutOff, 2),
        "an answer without text is asked for again"
    );
}

#[test]
fn a_refusal_ends_the_loop_with_the_vendors_words() {
    for (word, stop_reason) in
        [("refusal", "refusal"), ("content_filter", "content_filter"), ("SAFETY", "content_filter")]
    {
        let bench = LoopBench::new([ended(says(""), word), says("never asked")]);
        let result = bench.run();
        assert_eq!((result.status, result.stop_reason.as_str()), (LoopStatus::Refused, stop_reason));
        assert!(result.has_failed() && result.iterations == 1);
        assert!(result.error.get("message").to_text().contains(word), "{}", result.error);
    }
    let refusal =
        ModelReply { extra: [("refusal".into(), "I will not.".into())].into_iter().collect(), ..says("I will not.") };
    let result = LoopBench::new([ended(refusal, "stop")]).run();
    assert_eq!(result.status, LoopStatus::Refused);
    assert!(result.error.get("message").to_text().contains("I will not."), "{}", result.error);
}

#[test]
fn the_call_that_a_limit_cut_off_is_not_run() {
    for parallel in [false, true] {
        let mut bench = LoopBench::new([ended(calls(&["echo", "echo"]), "max_tokens"), says("fine")]);
        bench.options.parallel_tool_calls = parallel;
        let result = bench.run();
        assert_eq!(result.status, LoopStatus::Done);
        assert_eq!((result.tools.successful.len(), result.tools.rejected.len()), (1, 1));
        let results: Vec<String> = bench.session.with(|s| {
            let results = s.transcript.messages().iter().filter(|message| message.role == Role::Tool);
            results.map(|message| message.text().to_string()).collect()
        });
        assert!(results[0] == "echoed" && results[1].contains("output limit"), "{results:?}");
    }
}

#[test]
fn an_answer_that_the_vendor_pauses_goes_on_in_the_same_turn() {
    let bench = LoopBench::new([ended(says("I search"), "pause_turn"), ended(says("Found."), "end_turn")]);
    bench.session.inject_reminder(&bench.scope, short("stay calm"), ReminderSource::InPipeline, None);
    let result = bench.run();
    assert_eq!((result.status, result.text.as_ref(), result.iterations), (LoopStatus::Done, "Found.", 1));
    assert_eq!(result.usage.input_tokens, 20);
    let asked = bench.model.asked.borrow();
    let [first, second] = [&asked[0], &asked[1]].map(Request::conversation);
    assert_eq!(second.len(), first.len() + 1);
    assert!(first.iter().zip(&second).all(|(one, two)| one == two), "what came before stays");
    assert_eq!(second.last().map(|message| message.role), Some(Role::Assistant));
    let fired = bench.records("turn_number").into_iter().filter(|(word, _)| word == "fired").count();
    assert_eq!(fired, 1, "a reminder is shown once in a turn");
    let paused = LoopBench::new((0..40).map(|_| ended(says("Still"), "pause_turn"))).run();
    assert_eq!((paused.status, paused.stop_reason.as_str()), (LoopStatus::CutOff, "paused"));
}
