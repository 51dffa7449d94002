//! Handlers around tools and turns.

use crate::hooks::{
    HookReply, PostToolUse, PostTurn, PreToolUse, PromptAction, ToolCallAction, ToolResultAction, TurnAction,
    UserPromptSubmit,
};

use super::*;

fn refused(reason: &str) -> Verdict {
    HookReply::<PreToolUse>::act(ToolCallAction::Refuse { reason: reason.into() }).into()
}

#[test]
fn a_post_hooks_reminder_is_in_the_next_prompt_only() {
    let bench = LoopBench::new([calls(&["echo"]), calls(&["nothing"]), says("ok")]);
    let post = handler(|_, event| {
        let mut verdict = Verdict::allow();
        if event.get("tool.name").as_str() == Some("echo") && event.get("result.ok").truthy() {
            verdict.effects.push(short("seen once"));
        }
        Ok(verdict)
    });
    bench.on_tool(None, Some(post));
    bench.run();
    assert_eq!(bench.systems(), ["", "System reminder:\nseen once", ""]);
    let injected = bench.log.read(&RecordFilter::topic(crate::event_log::Topic::Reminder), usize::MAX).unwrap();
    let first = &injected[0].payload;
    assert_eq!((first.get("source").as_str(), first.get("task_id").as_str()), (Some("hook"), Some("c0")));
}

#[test]
fn pre_hooks_deny_and_change() {
    let mut bench = LoopBench::new([calls(&["show", "echo"]), says("ok")]);
    bench.parts.tools.push(tool("show", |_, call| Ok(Output::of(call.arguments.clone()))));
    let pre = handler(|_, event| {
        Ok(match event.get("tool.name").as_str() {
            Some("echo") => refused("no echoes"),
            _ => HookReply::<PreToolUse>::act(ToolCallAction::ReplaceArguments(Data::dict([("a", Data::from(1))])))
                .into(),
        })
    });
    bench.on_tool(Some(pre), None);
    let result = bench.run();
    let transcript = bench.session.transcript();
    let texts: Vec<_> = transcript.messages().iter().skip(2).take(2).map(|m| m.text().to_string()).collect();
    assert_eq!(texts, [r#"{"a":1}"#, "not run: no echoes"]);
    assert_eq!(
        result.tools,
        ToolNames { calls: names(&["show", "echo"]), successful: names(&["show"]), rejected: names(&["echo"]) }
    );
}

#[test]
fn a_guard_that_breaks_does_not_open_the_gate() {
    let bench = LoopBench::new([calls(&["echo"]), says("ok")]);
    bench.on_tool(Some(handler(|_, _| Err(call_error(NestingTooDeep)))), None);
    let result = bench.run();
    assert_eq!(result.tools.rejected.len(), 1);
    assert_eq!(result.diagnostics.len(), 1);
}

#[test]
fn output_is_cut_and_a_post_hook_may_replace_it() {
    let mut bench = LoopBench::new([calls(&["echo", "long"]), says("ok")]);
    bench.parts.tools.push(tool("long", |_, _| Ok(Output::of("ééééé".into()))));
    bench.options.limits.max_tool_output_chars = Some(3);
    let seen = Rc::new(RefCell::new(Vec::new()));
    let told = seen.clone();
    let post = handler(move |_, event| {
        told.borrow_mut().push(event.get("result.truncated").truthy());
        let is_echo = event.get("tool.name").as_str() == Some("echo");
        Ok(if is_echo {
            HookReply::<PostToolUse>::act(ToolResultAction::Replace("replaced".into())).into()
        } else {
            Verdict::allow()
        })
    });
    bench.on_tool(None, Some(post));
    bench.run();
    let transcript = bench.session.transcript();
    let texts: Vec<_> = transcript.messages().iter().skip(2).take(2).map(|m| m.text().to_string()).collect();
    assert_eq!(texts, ["replaced", "ééé\n[output truncated: 2 more characters]"]);
    assert_eq!(*seen.borrow(), [true, true]);
}

#[test]
fn mistakes_of_the_model_and_of_tools_become_answers() {
    let mut bench = LoopBench::new([calls(&["ecko", "broken"]), says("ok")]);
    bench.parts.tools.push(tool("broken", |_, _| Err(call_error(NestingTooDeep))));
    let result = bench.run();
    let transcript = bench.session.transcript();
    let texts: Vec<_> = transcript.messages().iter().skip(2).take(2).map(|m| m.text().to_string()).collect();
    assert_eq!(texts[0], "not run: unknown tool `ecko`; did you mean `echo`?");
    assert!(texts[1].starts_with("error: agent loops nested more than"), "{}", texts[1]);
    assert_eq!((result.status, result.tools.rejected.len()), (LoopStatus::Done, 1));
}

#[test]
fn hooks_may_come_back_to_the_session_and_register_others() {
    let bench = LoopBench::new([calls(&["echo"]), says("ok")]);
    let hooks = bench.parts.hooks.clone();
    bench.on(EventKind::PostTurn, move |turn, event| {
        turn.session.inject_reminder(turn.scope, spec("by hand"), ReminderSource::InPipeline, None);
        hooks.add_session(SessionHook::new(EventKind::PostTurn, handler(|_, _| Ok(Verdict::allow()))));
        assert_eq!(event.get("has_tool_calls"), Data::from(event.get("iteration").as_int() == Some(1)));
        Ok(Verdict::allow())
    });
    let result = bench.run();
    assert_eq!(result.transcript.pending_count(), 2);
    assert_eq!(bench.parts.hooks.session().len(), 3);
}

#[test]
fn a_malformed_reminder_is_told_of_and_strict_raises() {
    let mut bench = LoopBench::new([says("ok"), says("ok")]);
    let returned = Data::from_json(r#"{"reminder":{"body":"x","propogate":"all"}}"#).unwrap();
    bench.on(EventKind::SessionStart, move |_, event| Ok(Verdict::from_data(event.kind(), &returned)));
    let result = bench.run();
    assert_eq!(result.diagnostics[0].code.map(base::codes::CodeRef::as_str), Some("HARN-RMD-001"));
    assert!(result.diagnostics[0].message.starts_with("unknown reminder option `propogate`"));
    assert_eq!(bench.records("reason"), [("dropped".to_owned(), "invalid".to_owned())]);
    bench.options.reminders.strict = true;
    assert_eq!(bench.try_run().unwrap_err().code().map(base::codes::CodeRef::as_str), Some("HARN-RMD-001"));
}

#[derive(Debug)]
struct OnlyEcho;

impl crate::seam::Permissions for OnlyEcho {
    fn wanted(&self, _: &ToolCall) -> Option<Arc<str>> {
        Some("it touches the workspace".into())
    }

    fn ask<'a>(&'a self, _: Turn<'a>, call: &'a ToolCall, _: &'a Arc<str>) -> Answer<'a, Outcome<PermissionRuling>> {
        let permit = if call.name.as_ref() == "echo" {
            PermissionOutcome::allow()
        } else {
            PermissionOutcome::deny("not this one")
        };
        Answer::Now(Ok(PermissionRuling::Final(permit)))
    }
}

#[test]
fn a_permission_is_asked_for_and_told_of() {
    let mut bench = LoopBench::new([calls(&["echo", "erase"]), says("ok")]);
    bench.parts.tools.push(tool("erase", |_, _| panic!("ran without permission")));
    bench.options.permissions = Some(Rc::new(OnlyEcho));
    let seen = Rc::new(RefCell::new(Vec::new()));
    for event in [EventKind::PermissionAsked, EventKind::PermissionReplied] {
        let told = seen.clone();
        bench.on(event, move |turn, event| {
            let call = turn.scope.caller.task_id.clone().unwrap_or_default();
            told.borrow_mut().push(format!("{call} {}", event.get("decision").to_text()));
            Ok(Verdict::allow())
        });
    }
    assert_eq!(
        bench.run().tools,
        ToolNames { calls: names(&["echo", "erase"]), successful: names(&["echo"]), rejected: names(&["erase"]) }
    );
    assert_eq!(*seen.borrow(), ["c0 ", "c0 allow", "c1 ", "c1 deny"]);
}

#[test]
fn the_callback_after_a_turn_may_end_the_loop() {
    let mut bench = LoopBench::new((0..9).map(|_| calls(&["echo"])));
    bench.parts.post_turn = Some(handler(|_, event| {
        Ok(if event.get("iteration").as_int() == Some(2) {
            HookReply::<PostTurn>::act(TurnAction::End).into()
        } else {
            Verdict::allow()
        })
    }));
    assert_eq!((bench.run().iterations, bench.run().stop_reason), (2, StopReason::PostTurnCallback));
}

#[test]
fn a_prompt_may_be_changed() {
    let bench = LoopBench::new([]);
    bench.on(EventKind::UserPromptSubmit, |_, _| {
        Ok(HookReply::<UserPromptSubmit>::act(PromptAction::Replace("do it well".into())).into())
    });
    bench.run();
    assert_eq!(bench.session.transcript().messages()[0].text().as_ref(), "do it well");
}
