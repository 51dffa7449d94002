//! Contexts: tasks that share a session, and tasks that do not.

use super::*;
use crate::host::testing::block_on_runtime;

fn in_context(text: &str, context: &str) -> Message {
    Message { context_id: Some(context.into()), ..message(text) }
}

const COUNTS: &str = "var count = 0\n\
                      pipeline default(task) {\n\
                      count = count + 1\n\
                      if task == \"ask\" { task.ask(\"Who?\") }\n\
                      return \"${count}\"\n}";

#[test]
fn the_tasks_of_a_context_share_a_session_and_those_of_others_do_not() {
    let manager = manager(COUNTS);
    block_on_runtime(async {
        for (context, answer) in [("a", "1"), ("b", "1"), ("a", "2"), ("a", "3"), ("b", "2")] {
            let task = say(&manager, in_context("go", context)).await;
            assert_eq!((artifact(&task, "answer").as_str(), &*task.context_id), (answer, context));
        }
        let alone = say(&manager, message("go")).await;
        assert_eq!(artifact(&alone, "answer"), "1");
        assert_eq!(manager.0.contexts.counts(), (3, 3));
        until_clean(&manager).await;
    });
}

#[test]
fn a_task_of_a_context_at_work_has_a_session_of_its_own() {
    let manager = manager(COUNTS);
    block_on_runtime(async {
        let waits = say(&manager, in_context("ask", "a")).await;
        let beside = say(&manager, in_context("go", "a")).await;
        is(&beside, TaskState::Completed);
        assert_eq!(artifact(&beside, "answer"), "1");
        let done = say(&manager, to(&waits, "Ada")).await;
        assert_eq!(artifact(&done, "answer"), "1");
        assert_eq!(artifact(&say(&manager, in_context("go", "a")).await, "answer"), "2", "the context's own went on");
        until_clean(&manager).await;
        assert_eq!(manager.0.host.sessions().len(), 1);
    });
}

#[test]
fn the_longest_idle_context_is_closed_where_too_many_are() {
    let manager = desk_with(COUNTS, TaskSettings { idle_sessions: 2, ..TaskSettings::default() });
    block_on_runtime(async {
        for (context, answer) in [("a", "1"), ("b", "1"), ("a", "2"), ("c", "1"), ("a", "3"), ("b", "1")] {
            let task = say(&manager, in_context("go", context)).await;
            assert_eq!(artifact(&task, "answer"), answer, "{context}");
        }
        assert_eq!(manager.0.contexts.counts(), (2, 2));
        until_clean(&manager).await;
    });
}

#[test]
fn a_session_that_broke_off_makes_way_for_another() {
    let manager = manager(
        "var count = 0\npipeline default(task) { count = count + 1\nif task == \"exit\" { exit(3) }\nreturn \"${count}\" }",
    );
    block_on_runtime(async {
        assert_eq!(artifact(&say(&manager, in_context("go", "a")).await, "answer"), "1");
        let failed = say(&manager, in_context("exit", "a")).await;
        is(&failed, TaskState::Failed);
        // A script that ends itself in a task still works for the next one.
        assert_eq!(artifact(&say(&manager, in_context("go", "a")).await, "answer"), "3");
        let session = manager.0.host.sessions().pop().unwrap();
        manager.0.host.close(session.id()).await.unwrap();
        assert_eq!(artifact(&say(&manager, in_context("go", "a")).await, "answer"), "1");
        until_clean(&manager).await;
    });
}

#[test]
fn a_task_belongs_to_one_context() {
    let manager = manager(COUNTS);
    block_on_runtime(async {
        let task = say(&manager, in_context("ask", "a")).await;
        let wrong = Message { context_id: Some("b".into()), ..to(&task, "Ada") };
        let refused = manager.send(request(wrong), ASKER).await.err().unwrap();
        assert_eq!(refused, Refusal::OtherContext { task_id: task.id.clone(), context_id: "b".into() });
        let right = Message { context_id: Some("a".into()), ..to(&task, "Ada") };
        is(&say(&manager, right).await, TaskState::Completed);
    });
}

#[test]
fn a_sub_task_inherits_what_is_propagated_to_all() {
    let text = "pipeline default(task) {\n\
                if task == \"parent\" {\n\
                agent_session_inject(agent_session_current_id(), {kind: \"system_reminder\", body: \"for all\", propagate: \"all\", ttl_turns: 5})\n\
                agent_session_inject(agent_session_current_id(), {kind: \"system_reminder\", body: \"for me\", propagate: \"none\", ttl_turns: 5})\n\
                task.ask(\"?\")\n}\n\
                llm_mock({text: \"done\"})\n\
                agent_loop(task, nil, {provider: \"mock\"})\n\
                return json_stringify(llm_mock_calls())\n}";
    let manager = manager(text);
    block_on_runtime(async {
        let parent = say(&manager, message("parent")).await;
        is(&parent, TaskState::InputRequired);
        for child in [
            Message { reference_task_ids: vec![parent.id.clone(), "unknown".into()], ..message("child") },
            Message { metadata: Data::dict([("parent_task_id", Data::from(&parent.id))]), ..message("child") },
        ] {
            let task = say(&manager, child).await;
            is(&task, TaskState::Completed);
            let asked = artifact(&task, "answer");
            assert_eq!((asked.matches("for all").count(), asked.matches("for me").count()), (1, 0), "{asked}");
        }
        let other = say(&manager, message("child")).await;
        assert!(!artifact(&other, "answer").contains("for all"));
        manager.cancel(&parent.id).await.unwrap();
        until_clean(&manager).await;
    });
}
