//! Streams that answer a task with a question.

use super::*;
use crate::host::testing::block_on_runtime;

/// Returns the events of the stream that a message opens.
async fn heard(manager: &TaskManager, message: Message) -> Vec<String> {
    let (_, follows) = manager.send(request(message), ASKER).await.unwrap();
    tokio::time::timeout(crate::tokio_wait::LIMIT, lines_of(follows)).await.expect("the stream ends")
}

#[test]
fn a_stream_that_answers_a_task_which_asks_on_ends() {
    let text = "fn of(reg, name) {\n\
                return tool_define(reg, name, \"A tool.\", {handler: { args -> name }, parameters: {}, annotations: {permission: \"it costs\"}})\n}\n\
                var tools = of(of(tool_registry(), \"pay\"), \"tip\")\n\
                pipeline default(task, context) {\n\
                llm_mock({tool_calls: [\"pay\", \"tip\"].map({ name -> {id: name, name: name, arguments: {}} })})\n\
                llm_mock({text: \"done\"})\n\
                agent_loop(task, nil, {provider: \"mock\", tools: tools, reminders: false})\n\
                return \"done\"\n}";
    let manager = manager(text);
    block_on_runtime(async {
        let task = say(&manager, message("go")).await;
        is(&task, TaskState::InputRequired);
        let unclear = to(&task, "perhaps");
        for again in [unclear.clone(), unclear] {
            assert_eq!(heard(&manager, again).await, ["task input-required ."]);
        }
        // The second question is the last event, whether it exists by then or not.
        let lines = heard(&manager, to(&task, "deny")).await;
        assert!(lines.last().is_some_and(|last| last.contains("input-required") && last.ends_with(" .")), "{lines:?}");
        let lines = heard(&manager, to(&task, "deny")).await;
        assert!(lines.last().is_some_and(|last| last.starts_with("completed") && last.ends_with(" .")), "{lines:?}");
        until_clean(&manager).await;
    });
}

#[test]
fn who_subscribes_to_a_task_that_asks_hears_how_it_goes_on() {
    let manager = manager("pipeline default(task) { return task.ask(\"Who?\") }");
    block_on_runtime(async {
        let task = say(&manager, message("go")).await;
        let follows = manager.follow(&task.id).await.unwrap();
        is(&say(&manager, to(&task, "Ada")).await, TaskState::Completed);
        let lines = lines_of(follows).await;
        assert_eq!(lines.first().map(String::as_str), Some("task input-required"), "{lines:?}");
        assert_eq!(lines.last().map(String::as_str), Some("completed ."), "{lines:?}");
    });
}
