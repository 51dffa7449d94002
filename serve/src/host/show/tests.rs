//! Scripts, and the events of their sessions.

use runtime::message::ToolCall;
use runtime::reminder::{ExpireReason, ReminderSource};

use crate::host::testing::{block_on_runtime, host, named, once, says};
use crate::host::{PromptOutcome, ReminderEvent, SessionEvent};

/// Returns the events of one prompt of a script.
fn shown(script: &str) -> Vec<SessionEvent> {
    let (host, watcher) = host(script, 1);
    block_on_runtime(async {
        let ended = once(&host, "s", "go").await;
        assert_eq!(ended.stop, PromptOutcome::Done, "{ended:?}");
        watcher.all().into_iter().map(|(_, event)| event).collect()
    })
}

/// Returns a short form of the relevant events.
fn line(event: &SessionEvent) -> Option<String> {
    Some(match event {
        SessionEvent::UserMessage { content, .. } => format!("user {}", content.to_text()),
        SessionEvent::Text { text, .. } => format!("text {text}"),
        SessionEvent::Thought { text, .. } => format!("thought {text}"),
        SessionEvent::ToolCall { call, .. } => format!("wants {} {}", call.name, call.arguments.to_json()),
        SessionEvent::ToolBegan { .. } => "began".to_owned(),
        SessionEvent::ToolEnded { text, ok: true, .. } => format!("ok {text}"),
        SessionEvent::ToolEnded { text, ok: false, .. } => format!("failed {text}"),
        SessionEvent::Usage { call, .. } => format!("usage {}", call.output_tokens),
        SessionEvent::Reminder(ReminderEvent::Emitted { reminder, turn, .. }) => {
            format!("emitted {} {turn}", reminder.body)
        }
        SessionEvent::Reminder(ReminderEvent::Deduped { dedupe_key, dropped_ids, .. }) => {
            format!("deduped {dedupe_key} {}", dropped_ids.len())
        }
        SessionEvent::Reminder(ReminderEvent::Expired { reason, turn, .. }) => format!("expired {reason} {turn:?}"),
        SessionEvent::Reminder(ReminderEvent::Judged { heeded, judged_by, turn, .. }) => {
            format!("judged {heeded} by {judged_by} {turn}")
        }
        _ => return None,
    })
}

/// Returns the lines of a script's events that begin with one of the words.
fn lines(script: &str, words: &[&str]) -> Vec<String> {
    let wanted = |line: &String| words.iter().any(|word| line.split(' ').next() == Some(word));
    shown(script).iter().filter_map(line).filter(wanted).collect()
}

const TOOLS: &str = r#"
    tool look(path: string) { return "seen ${path}" }
    tool fail() { throw "it is broken" }
    "#;

fn looping(replies: &str, options: &str) -> String {
    format!(
        "{TOOLS}\npipeline default(task) {{\n  llm_mock({replies})\n  \
         agent_loop(task, nil, {{provider: \"mock\", reminders: false, {options}}})\n}}"
    )
}

#[test]
fn an_answer_comes_in_pieces_or_whole_and_once() {
    for stream in ["stream: true", "stream: false"] {
        let events = shown(&looping(r#"{text: "one two three"}"#, stream));
        let texts = events.iter().filter_map(|event| match event {
            SessionEvent::Text { message_id, text } => Some((message_id, text.as_ref())),
            _ => None,
        });
        let (ids, texts): (Vec<_>, Vec<_>) = texts.unzip();
        assert_eq!(texts.concat(), "one two three", "{stream}");
        assert!(ids.windows(2).all(|two| two[0] == two[1]), "one message: {ids:?}");
        assert!(matches!(events.last(), Some(SessionEvent::Usage { .. })), "{events:?}");
    }
}

#[test]
fn the_word_by_which_a_model_says_that_it_is_done_is_not_shown() {
    for stream in ["stream: true", "stream: false"] {
        let replies = r###"{text: "All is # well. ##DONE##"}"###;
        let events = shown(&looping(replies, &format!("loop_until_done: true, {stream}")));
        let texts = events.iter().filter_map(|event| match event {
            SessionEvent::Text { text, .. } => Some(text.as_ref()),
            _ => None,
        });
        assert_eq!(texts.collect::<String>().trim(), "All is # well.", "{stream}");
    }
}

#[test]
fn each_answer_is_a_message_and_thoughts_are_others() {
    for stream in [true, false] {
        let replies = r#"{reasoning: "hm well", text: "one two"}"#;
        let events = shown(&looping(replies, &format!("stream: {stream}")));
        let told = |wanted: &str| {
            events
                .iter()
                .filter_map(line)
                .filter_map(|line| line.strip_prefix(wanted).map(str::to_owned))
                .collect::<String>()
        };
        assert_eq!((told("thought ").as_str(), told("text ").as_str()), ("hm well", "one two"));
    }
    let script = r#"pipeline default(task) {
        var asked = 0
        agent_loop(task, nil, {reminders: false, tools: [{name: "t", description: "", parameters: {}, handler: { _ -> "ok" }}], llm_caller: { r ->
            asked += 1
            if asked == 1 { return {text: "first", reasoning: "hm", tool_calls: [{id: "a", name: "t", arguments: {}}]} }
            return "second"
        }})
    }"#;
    let events = shown(script);
    let mut ids = Vec::new();
    for event in &events {
        if let SessionEvent::Text { message_id, .. } | SessionEvent::Thought { message_id, .. } = event {
            ids.push(message_id.clone());
        }
    }
    let said: Vec<_> = events.iter().filter_map(line).filter(|line| !line.starts_with("usage")).collect();
    assert_eq!(said, ["thought hm", "text first", "wants t {}", "began", "ok ok", "text second"]);
    let all = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!((ids.len(), all), (3, 3), "each has an id of its own");
}

#[test]
fn each_call_of_a_batch_is_shown_to_its_end() {
    let calls = r#"{tool_calls: [
        {name: "look", arguments: {path: "a"}}, {name: "fail", arguments: {}}, {name: "lok", arguments: {}},
        {name: "look", arguments: {way: "b"}}]}"#;
    let script = looping(calls, "tools: [look, fail]");
    let events = shown(&script);
    let wanted: Vec<ToolCall> = events
        .iter()
        .filter_map(|event| if let SessionEvent::ToolCall { call, .. } = event { Some(call.clone()) } else { None })
        .collect();
    assert_eq!(wanted.len(), 4);
    for call in &wanted {
        let place = |found: &dyn Fn(&SessionEvent) -> bool| events.iter().position(found);
        let asked = place(&|event| matches!(event, SessionEvent::ToolCall { call: c, .. } if c.id == call.id));
        let ended = place(&|event| matches!(event, SessionEvent::ToolEnded { id, .. } if *id == call.id));
        assert!(asked < ended, "{call:?}");
    }
    let ends = lines(&script, &["ok", "failed", "began"]);
    assert_eq!(ends.iter().filter(|line| *line == "began").count(), 2, "what is refused never began: {ends:?}");
    let ends: Vec<_> = ends.into_iter().filter(|line| line != "began").collect();
    assert_eq!(ends[..2], ["ok seen a", "failed error: it is broken"]);
    assert!(ends[2].starts_with("failed not run: unknown tool `lok`; did you mean"), "{ends:?}");
    assert!(ends[3].starts_with("failed not run: "), "{ends:?}");
}

#[test]
fn what_was_not_run_says_why() {
    let calls = r#"{tool_calls: [{name: "look", arguments: {path: "a"}}]}"#;
    let denied = looping(calls, r#"tools: [look], permissions: {deny: ["look"]}"#);
    let [end] = &lines(&denied, &["ok", "failed", "began"])[..] else { panic!() };
    assert!(end.starts_with("failed not run: "), "{end}");

    // A host's injection comes between the answer and its tools.
    let skipped = format!(
        "{TOOLS}\npipeline default(task) {{\n\
         let id = agent_session_current_id()\n\
         var asked = 0\n\
         agent_loop(task, nil, {{reminders: false, tools: [look], llm_caller: {{ r ->\n\
           asked += 1\n\
           if asked > 1 {{ return \"I wait.\" }}\n\
           agent_session_push_bridge_injection(id, {{content: \"Wait.\", mode: \"interrupt_immediate\"}})\n\
           return {{text: \"\", tool_calls: [{{id: \"1\", name: \"look\", arguments: {{path: \"a\"}}}}]}}\n\
         }} }})\n}}"
    );
    let told = lines(&skipped, &["user", "ok", "failed", "began", "text"]);
    let why = "failed not run: interrupted: the host sent a message. Read it, then decide again.";
    assert_eq!(told, ["user Wait.", why, "text I wait."]);
}

#[test]
fn those_who_work_for_the_agent_are_a_call_and_no_text() {
    let script = r#"
        tool ask_scout() { return sub_agent_run("look", {llm_caller: { r -> return "secret words" }}).text }
        tool ask_named() { return sub_agent_run("look", {name: "n", llm_caller: { r -> return "secret words" }}).text }
        pipeline default(task) {
            llm_mock({tool_calls: [{name: "ask_scout", arguments: {}}, {name: "ask_named", arguments: {}}]})
            llm_mock({text: "done"})
            agent_loop(task, nil, {provider: "mock", tools: [ask_scout, ask_named], reminders: false})
        }"#;
    assert_eq!(lines(script, &["text"]).concat().replace("text ", ""), "done");
    assert_eq!(lines(script, &["ok", "began"]).len(), 4);
}

#[test]
fn a_reminder_is_emitted_before_the_text_of_each_turn_that_carries_it() {
    let script = r#"
        tool look() { return "x" }
        register_reminder_provider({id: "guard", subscribes_to: ["session_start"], evaluate: { ctx -> 
            return {reminder: {body: "Careful.", dedupe_key: "k", ttl_turns: 2}} }})
        pipeline default(task) {
            let session = agent_session_current_id()
            agent_session_inject(session, transcript_reminder_event({body: "Old.", dedupe_key: "k"}))
            llm_mock({text: "a", tool_calls: [{name: "look", arguments: {}}]})
            llm_mock({text: "b", tool_calls: [{name: "look", arguments: {}}]})
            llm_mock({text: "c"})
            agent_loop(task, nil, {provider: "mock", tools: [look], reminders: {providers: ["guard", "-idle_nudge"]}})
        }"#;
    let wanted = ["text", "emitted", "deduped", "expired"];
    let told = lines(script, &wanted);
    assert_eq!(
        told,
        [
            "deduped k 1",
            "emitted Careful. 1",
            "text a",
            "emitted Careful. 2",
            "text b",
            "expired ttl Some(2)",
            "text c"
        ]
    );
    let made = shown(script).into_iter().find_map(|event| match event {
        SessionEvent::Reminder(ReminderEvent::Emitted { reminder, .. }) => {
            Some((reminder.source, reminder.producer.clone()))
        }
        _ => None,
    });
    assert_eq!(made, Some((ReminderSource::StdlibProvider, Some("guard".into()))));
}

#[test]
fn the_hook_that_made_a_reminder_is_named() {
    let script = r#"
        fn remind(event) { return {reminder: {body: "From a hook.", ttl_turns: 1}} }
        register_session_hook("session_start", remind)
        pipeline default(task) { llm_mock({text: "a"}); agent_loop(task, nil, {provider: "mock"}) }"#;
    let made = shown(script).into_iter().find_map(|event| match event {
        SessionEvent::Reminder(ReminderEvent::Emitted { reminder, .. }) => {
            Some((reminder.source, reminder.producer.clone()))
        }
        _ => None,
    });
    let Some((ReminderSource::Hook, Some(name))) = made else { panic!("{made:?}") };
    assert!(!name.is_empty());
}

#[test]
fn reminders_of_copies_and_of_others_are_not_the_sessions_own() {
    let script = r#"
        tool ask() { return sub_agent_run("look", {name: "n", provider: "mock"}).text }
        pipeline default(task) {
            let id = agent_session_current_id()
            agent_session_inject(id, transcript_reminder_event({body: "For all.", propagate: "all", dedupe_key: "k"}))
            let copy = transcript.inject_reminder(agent_session_snapshot(id), {body: "Elsewhere.", dedupe_key: "k"})
            transcript.clear_reminders(copy.transcript, {dedupe_key: "k"})
            llm_mock({text: "inner"})
            llm_mock({text: "outer"})
            sub_agent_run("look", {name: "n", provider: "mock", parent_session_id: id})
            agent_loop(task, nil, {provider: "mock", reminders: false})
        }"#;
    assert_eq!(lines(script, &["text", "emitted", "deduped", "expired"]), ["emitted For all. 1", "text outer"]);
}

#[test]
fn a_reminder_that_is_cleared_or_compacted_away_is_over() {
    let script = r#"
        pipeline default(task) {
            let id = agent_session_current_id()
            agent_session_inject(id, transcript_reminder_event({body: "a", tags: ["t"]}))
            agent_session_inject(id, {role: "user", content: "one"})
            agent_session_inject(id, {role: "assistant", content: "two"})
            agent_session_compact(id, {strategy: "truncate", keep_last: 1})
        }"#;
    let ends: Vec<_> = shown(script)
        .into_iter()
        .filter_map(|event| match event {
            SessionEvent::Reminder(ReminderEvent::Expired { reason, turn, .. }) => Some((reason, turn)),
            _ => None,
        })
        .collect();
    assert_eq!(ends, [(ExpireReason::Compaction, None)]);
}

#[test]
fn what_the_script_tells_is_shown_in_its_place() {
    let script = r#"
        pipeline default(task) {
            task.title("Sorting")
            task.status("reading")
            task.plan(["read", {content: "sort", priority: "high", status: "in_progress"}])
            llm_mock({text: "hm"})
            agent_loop(task, nil, {provider: "mock", reminders: false})
            task.artifact({name: "list", parts: ["a", {data: [1]}, {file: {uri: "file:///l"}}]})
            return task.mode()
        }"#;
    let words: Vec<_> = shown(script)
        .iter()
        .map(|event| match event {
            SessionEvent::Title(title) => format!("title {title}"),
            SessionEvent::Status { text, .. } => format!("status {text}"),
            SessionEvent::Plan(entries) => format!("plan {} {}", entries[1].priority, entries[1].status),
            SessionEvent::Artifact { made, .. } => format!("artifact {} {}", made.name, made.parts.len()),
            other => line(other).unwrap_or_default(),
        })
        .filter(|line| !line.starts_with("usage"))
        .collect();
    let expected =
        ["title Sorting", "status reading", "plan high in_progress", "text hm", "artifact list 3", "text ask"];
    assert_eq!(words, expected);
}

#[test]
fn a_question_is_answered_by_the_next_prompt_and_a_rejection_ends_the_pipeline() {
    let script = r#"
        pipeline default(task) {
            let answer = task.ask("Which, ${task}?")
            if answer == "none" { task.reject("Then there is nothing to do.") }
            return "took ${answer}"
        }"#;
    let (host, watcher) = host(script, 1);
    block_on_runtime(async {
        let session = host.open(named("s")).await.unwrap();
        for (answer, end) in
            [("a", PromptOutcome::Done), ("none", PromptOutcome::Refused("Then there is nothing to do.".into()))]
        {
            let asked = session.prompt(says("sir")).await.unwrap();
            assert_eq!(asked.stop, PromptOutcome::Asked("Which, sir?".into()));
            assert_eq!(session.prompt(says(answer)).await.unwrap().stop, end);
        }
        let asked = |(_, event): &(_, SessionEvent)| matches!(event, SessionEvent::Question { .. });
        assert_eq!(watcher.all().iter().filter(|shown| asked(shown)).count(), 2);
        assert_eq!(watcher.text("s"), "took a");
    });
}

#[test]
fn a_verdict_is_shown_with_its_turn() {
    let script = r#"
        tool look() { return "x" }
        pipeline default(task) {
            agent_session_inject_reminder(agent_session_current_id(),
                {body: "Look twice.", ttl_turns: 2, expect: { turn -> turn.tool_calls.count == 2 }})
            let call = {name: "look", arguments: {}}
            llm_mock({text: "a", tool_calls: [call]})
            llm_mock({text: "b", tool_calls: [call, call]})
            llm_mock({text: "c"})
            agent_loop(task, nil, {provider: "mock", tools: [look], reminders: false})
        }"#;
    assert_eq!(lines(script, &["judged"]), ["judged false by function 1", "judged true by function 2"]);
}
