//! Tasks from their message to their end.

use super::*;
use crate::host::testing::block_on_runtime;

#[test]
fn a_message_becomes_a_task_whose_answer_is_an_artifact() {
    let manager = manager("pipeline default(task) { return \"you said ${task}\" }");
    block_on_runtime(async {
        let (id, follows) = manager.send(request(message("hello")), ASKER).await.unwrap();
        let task = manager.settled(&id).await.unwrap();
        is(&task, TaskState::Completed);
        assert_eq!(artifact(&task, "answer"), "you said hello");
        assert_eq!(history(&task), ["user: hello"]);
        // A subscriber gets the pieces before the whole answer exists.
        let expected = ["task submitted", "working", "artifact answer whole: you said hello", "completed ."];
        assert_eq!(lines_of(follows).await, expected);
        assert_eq!(lines_of(manager.follow(&id).await.unwrap()).await, ["task completed ."]);
        until_clean(&manager).await;
        manager.stop().await;
    });
}

#[test]
fn what_a_pipeline_returns_decides_what_the_answer_is() {
    let text = "pipeline default(task) {\n\
                if task == \"data\" { return {answer: 42} }\n\
                if task == \"loop\" { llm_mock({text: \"done\"}); return agent_loop(task, nil, {provider: \"mock\"}) }\n\
                if task == \"both\" { llm_mock({text: \"done\"}); agent_loop(task, nil, {provider: \"mock\"}); return [1] }\n\
                if task == \"nothing\" { return nil }\n\
                if task == \"throw\" { throw \"hidden\" }\n}";
    let manager = manager(text);
    block_on_runtime(async {
        let mut of = std::collections::BTreeMap::new();
        for task in ["data", "loop", "both", "nothing", "throw"] {
            of.insert(task, say(&manager, message(task)).await);
        }
        for (task, answer) in [("data", r#"{"answer":42}"#), ("loop", "done"), ("both", "[1]"), ("nothing", "")] {
            is(&of[task], TaskState::Completed);
            assert_eq!(artifact(&of[task], "answer"), answer, "{task}");
        }
        assert_eq!(history(&of["both"]), ["user: both", "agent: done"], "an earlier answer is a part of what was said");
        is(&of["throw"], TaskState::Failed);
        let failure = of["throw"].status.message.as_ref().unwrap();
        assert!(!failure.text().contains("hidden"), "what a script throws may hold a secret: {failure:?}");
        let model::Content::Data(data) = &failure.parts[1].content else { panic!() };
        let keys: Vec<String> = data.as_dict().unwrap().keys().map(ToString::to_string).collect();
        assert_eq!(keys, ["code", "correlation_id"], "no source, no path, no stack");
        assert_eq!(data.get("code").as_str(), Some("HARN-RUN-001"));
        assert!(failure.text().contains(data.get("correlation_id").as_str().unwrap()), "{failure:?}");
        until_clean(&manager).await;
    });
}

#[test]
fn whatever_a_pipeline_returns_is_an_answer() {
    let text = "struct Point { x: int, y: int }\n\
                pipeline default(task) {\n\
                if task == \"struct\" { return Point {x: 1, y: 2} }\n\
                if task == \"ok\" { return Ok(42) }\n\
                return json_parse(task)\n}";
    let manager = manager(text);
    block_on_runtime(async {
        for (returned, answer) in [
            ("42", "42"),
            ("0", "0"),
            ("-1", "-1"),
            ("2.5", "2.5"),
            ("true", "true"),
            ("false", "false"),
            ("[]", "[]"),
            ("{}", "{}"),
            ("[null]", "[null]"),
            ("struct", r#"{"x":1,"y":2}"#),
            ("ok", "42"),
            ("null", ""),
        ] {
            let task = say(&manager, message(returned)).await;
            is(&task, TaskState::Completed);
            assert_eq!(artifact(&task, "answer"), answer, "{returned}");
            assert_eq!(task.artifacts.len(), usize::from(returned != "null"), "{returned}");
        }
        manager.stop().await;
    });
}

#[test]
fn the_context_says_where_a_task_comes_from() {
    let text = "pipeline default(task, context) {\n\
                return \"${task} ${context.protocol} ${context.task_id} ${context.context_id} ${json_stringify(context.message.parts)} \
                ${json_stringify(context.metadata)}\"\n}";
    let manager = manager(text);
    block_on_runtime(async {
        let message = Message {
            context_id: Some("mine".into()),
            parts: vec![Part::data(Data::dict([("a", Data::from(1))]))],
            metadata: Data::dict([("x", Data::from(1))]),
            ..message("")
        };
        let metadata = Data::dict([("x", Data::from(0)), ("y", 2.into())]);
        let (id, _) = manager.send(SendMessage { metadata, ..request(message) }, ASKER).await.unwrap();
        let task = manager.settled(&id).await.unwrap();
        let expected = format!(r#"{{"a":1}} test {id} mine [{{"data":{{"a":1}}}}] {{"x":1,"y":2}}"#);
        assert_eq!((artifact(&task, "answer"), &*task.context_id), (expected, "mine"));
    });
}

#[test]
fn a_question_waits_for_the_next_message_to_the_task() {
    let manager = manager("pipeline default(task) { return \"${task.ask(\"Who?\")} and ${task.ask(\"Who else?\")}\" }");
    block_on_runtime(async {
        let (id, follows) = manager.send(request(message("go")), ASKER).await.unwrap();
        let task = manager.settled(&id).await.unwrap();
        is(&task, TaskState::InputRequired);
        assert_eq!(said(&task), "Who?");
        assert_eq!(lines_of(follows).await, ["task submitted", "working", "input-required Who? ."]);
        let first = to(&task, "Ada");
        let task = say(&manager, first.clone()).await;
        is(&task, TaskState::InputRequired);
        assert_eq!(said(&task), "Who else?");
        assert_eq!(say(&manager, first).await, task, "the same once more is harmless");
        let task = say(&manager, to(&task, "Bob")).await;
        is(&task, TaskState::Completed);
        assert_eq!(artifact(&task, "answer"), "Ada and Bob");
        assert_eq!(history(&task), ["user: go", "agent: Who?", "user: Ada", "agent: Who else?", "user: Bob"]);
        until_clean(&manager).await;
    });
}

#[test]
fn a_task_is_cancelled_wherever_it_is() {
    let text = "pipeline default(task) {\n\
                if task == \"ask\" { task.ask(\"Who?\") }\n\
                try { sleep(60000) } finally { task.status(\"cleaned up\") }\n}";
    let manager = manager(text);
    block_on_runtime(async {
        for text in ["ask", "sleep", "at once"] {
            let (id, follows) = manager.send(request(message(text)), ASKER).await.unwrap();
            if text == "ask" {
                manager.settled(&id).await.unwrap();
            }
            if text == "sleep" {
                while manager.task(&id).await.unwrap().status.state != TaskState::Working {
                    tokio::task::yield_now().await;
                }
            }
            let task = manager.cancel(&id).await.unwrap();
            is(&task, TaskState::Canceled);
            let lines = lines_of(follows).await;
            assert!(text == "ask" || lines.last().unwrap() == "canceled .", "{lines:?}");
            let again = manager.cancel(&id).await;
            assert_eq!(again, Err(crate::a2a::Refusal::NotCancelable { task_id: id, state: TaskState::Canceled }));
        }
        until_clean(&manager).await;
    });
}

#[test]
fn what_a_script_tells_of_its_task_is_told_of_it() {
    let text = "pipeline default(task) {\n\
                task.title(\"Lists\")\n\
                task.status(\"half\", {completed_portion: 0.5, data: [1], can_resume: true, resume_token: \"r\"})\n\
                task.artifact({name: \"list\", id: \"l\", description: \"A list\", parts: [\"a\"], last_chunk: false, metadata: {k: 1}})\n\
                task.artifact({name: \"list\", id: \"l\", parts: [{data: {b: 2}}], append: true, last_chunk: true})\n\
                if task == \"reject\" { task.reject(\"CAPACITY_EXCEEDED\", \"come back later\") }\n\
                if task == \"why\" { task.reject(\"This is no work for me.\") }\n}";
    let manager = manager(text);
    block_on_runtime(async {
        let (id, follows) = manager.send(request(message("go")), ASKER).await.unwrap();
        let task = manager.settled(&id).await.unwrap();
        is(&task, TaskState::Completed);
        let expected = [
            "task submitted",
            "working",
            r#"working {"harn.title":"Lists"}"#,
            r#"working half[1] {"harn.partial":{"can_resume":true,"completed_portion":0.5,"resume_token":"r"}}"#,
            "artifact l: a",
            r#"more of l whole: {"b":2}"#,
            "completed .",
        ];
        assert_eq!(lines_of(follows).await, expected);
        assert_eq!(artifact(&task, "l"), r#"a{"b":2}"#);
        assert_eq!(history(&task), ["user: go", "agent: half[1]"]);
        assert_eq!(task.artifacts[0].description.as_deref(), Some("A list"));
        assert_eq!(task.artifacts[0].metadata, Data::dict([("k", Data::from(1))]));

        let task = say(&manager, message("reject")).await;
        is(&task, TaskState::Rejected);
        let refusal = task.status.message.as_ref().unwrap();
        assert_eq!(refusal.text(), "Task rejected: CAPACITY_EXCEEDED: come back later");
        let model::Content::Data(data) = &refusal.parts[1].content else { panic!() };
        assert_eq!(data.get("rejection_reason").as_str(), Some("CAPACITY_EXCEEDED"));
        assert_eq!(data.get("agent_id").as_str(), Some("agent"));
        let task = say(&manager, message("why")).await;
        assert_eq!(said(&task), "Task rejected: This is no work for me.");
        until_clean(&manager).await;
    });
}
