//! Bridge injections at each seam.

use super::*;

/// Injects an item while the model produces its n-th answer.
fn push_during(bench: &LoopBench, nth: usize, body: &'static str, mode: DeliveryMode) {
    let queue = bench.session.queue().clone();
    *bench.model.meanwhile.borrow_mut() = Some(Box::new(move |count| {
        if count == nth {
            queue.lock().unwrap().push_reminder(spec(body), mode, 1_000).unwrap();
        }
    }));
}

#[test]
fn an_interrupt_takes_the_place_of_the_tool_batch() {
    let bench = LoopBench::new([calls(&["echo", "echo"]), says("ok")]);
    push_during(&bench, 1, "stop that", DeliveryMode::InterruptImmediate);
    let result = bench.run();
    assert_eq!(bench.systems(), ["", "System reminder:\nstop that"]);
    assert_eq!(
        result.tools,
        ToolNames { calls: names(&["echo"; 2]), successful: names(&[]), rejected: names(&["echo"; 2]) }
    );
    let transcript = bench.session.transcript();
    let answers: Vec<_> = transcript.messages().iter().filter(|m| m.role == Role::Tool).collect();
    let ids: Vec<_> = answers.iter().filter_map(|m| m.tool_call_id.as_deref()).collect();
    assert_eq!(ids, ["c0", "c1"], "no call is left without an answer");
    assert!(answers.iter().all(|m| m.text().starts_with("not run: interrupted: the host") && m.is_error));
}

#[test]
fn a_finished_step_is_not_interrupted() {
    let bench = LoopBench::new([calls(&["echo"]), says("ok")]);
    push_during(&bench, 1, "later", DeliveryMode::FinishStep);
    let result = bench.run();
    assert_eq!(result.tools.successful.len(), 1);
    assert_eq!(bench.systems(), ["", "System reminder:\nlater"]);
}

#[test]
fn a_late_reminder_prolongs_the_loop_by_one_iteration() {
    for mode in [DeliveryMode::FinishStep, DeliveryMode::InterruptImmediate] {
        let bench = LoopBench::new([says("done already"), says("seen it")]);
        push_during(&bench, 1, "wait", mode);
        let result = bench.run();
        assert_eq!((result.iterations, result.text.as_ref()), (2, "seen it"), "{mode}");
        // No request ends with the model's own message, which would be continued.
        let last = bench.model.asked.borrow()[1].conversation().last().cloned().unwrap();
        assert_eq!((last.role, last.text().as_ref()), (Role::User, "Go on."));
        assert_eq!(bench.systems()[1], "System reminder:\nwait");
    }
}

#[test]
fn a_loop_that_is_stopped_leaves_what_waits_in_the_queue() {
    for mode in [DeliveryMode::FinishStep, DeliveryMode::InterruptImmediate] {
        let mut bench = LoopBench::new([says("stopped"), says("seen it")]);
        let (queue, cancel) = (bench.session.queue().clone(), bench.scope.cancel.clone());
        *bench.model.meanwhile.borrow_mut() = Some(Box::new(move |count| {
            if count == 1 {
                queue.lock().unwrap().push_reminder(spec("wait"), mode, 1_000).unwrap();
                cancel.cancel("enough");
            }
        }));
        assert_eq!(bench.run().status, LoopStatus::Cancelled, "{mode}");
        assert_eq!(bench.session.queue().lock().unwrap().pending().len(), 1, "{mode}");
        assert_eq!(bench.session.transcript().pending_count(), 0, "{mode}");
        bench.scope.cancel = crate::cancel::Cancel::new();
        bench.run();
        assert_eq!(bench.systems()[1], "System reminder:\nwait", "{mode}");
    }
}

#[test]
fn a_late_reminder_does_not_break_the_limit() {
    let mut bench = LoopBench::new([says("done")]);
    bench.options.limits.max_iterations = 1;
    push_during(&bench, 1, "too late", DeliveryMode::FinishStep);
    let result = bench.run();
    assert_eq!((result.status, result.iterations), (LoopStatus::Done, 1));
    assert_eq!(result.transcript.pending_count(), 1, "it waits for the next loop");
}

#[test]
fn an_audit_is_never_seen() {
    let bench = LoopBench::new([says("done")]);
    bench.push(spec("audit only"), DeliveryMode::AuditOnly);
    let result = bench.run();
    assert_eq!((bench.systems(), result.iterations), (vec![String::new()], 1));
    assert_eq!((result.transcript.pending_count(), result.transcript.event_count()), (0, 1));
    assert_eq!(bench.records("source"), [("audited".to_owned(), "bridge".to_owned())]);
}

#[test]
fn what_waits_for_an_idle_session_comes_with_the_next_prompt() {
    let bench = LoopBench::new([says("done")]);
    bench.push(short("while you were away"), DeliveryMode::FinishStep);
    bench.run();
    assert_eq!(bench.systems(), ["System reminder:\nwhile you were away"]);
    let words: Vec<_> = bench.records("reason").into_iter().map(|(word, _)| word).collect();
    assert_eq!(words, ["injected", "fired", "expired"]);
}

#[test]
fn a_message_of_the_user_may_come_in_between() {
    let bench = LoopBench::new([says("done"), says("again")]);
    let queue = bench.session.queue().clone();
    *bench.model.meanwhile.borrow_mut() = Some(Box::new(move |count| {
        if count == 1 {
            let message = Arc::new(Message::user("one more thing"));
            queue.lock().unwrap().push_message(message, DeliveryMode::FinishStep, 1).unwrap();
        }
    }));
    assert_eq!(bench.run().iterations, 2);
    assert_eq!(bench.roles(), [Role::User, Role::Assistant, Role::User, Role::Assistant]);
}

#[test]
fn every_pass_is_told() {
    let bench = LoopBench::new([calls(&["echo"]), says("ok")]);
    let seen = Rc::new(RefCell::new(Vec::new()));
    let told = seen.clone();
    bench.on(EventKind::LoopCheckpoint, move |_, event| {
        let mark = if event.get("dispatch_skipped").truthy() { "!" } else { "" };
        told.borrow_mut().push(format!("{}{}{mark}", event.get("iteration").to_text(), event.get("kind").to_text()));
        Ok(Verdict::allow())
    });
    let only = Rc::new(Cell::new(0));
    let count = only.clone();
    let seams: Rc<[Seam]> = [Seam::IterationEnd].into();
    let hook = handler(move |_, _| {
        count.set(count.get() + 1);
        Ok(Verdict::allow())
    });
    bench
        .parts
        .hooks
        .add_session(SessionHook { seams: Some(seams), ..SessionHook::new(EventKind::LoopCheckpoint, hook) });
    push_during(&bench, 1, "x", DeliveryMode::InterruptImmediate);
    bench.run();
    let expected = [
        "1iteration_start",
        "1pre_tool_dispatch!",
        "1post_tool_dispatch",
        "1iteration_end",
        "2iteration_start",
        "2post_tool_dispatch",
        "2iteration_end",
        "2loop_exit",
    ];
    assert_eq!(*seen.borrow(), expected);
    assert_eq!(only.get(), 2);
}
