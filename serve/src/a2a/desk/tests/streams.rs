//! Streams that answer a task with a question.

use std::time::Duration;

use super::*;
use crate::host::testing::front;

/// Returns the events of the stream that a message opens.
async fn heard(desk: &Desk, message: Message) -> Vec<String> {
    let (_, follows) = desk.send(request(message), ASKER).await.unwrap();
    tokio::time::timeout(Duration::from_secs(5), told(follows)).await.expect("the stream ends")
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
    let desk = desk(text);
    front(async {
        let task = say(&desk, message("go")).await;
        is(&task, TaskState::InputRequired);
        let unclear = to(&task, "perhaps");
        for again in [unclear.clone(), unclear] {
            assert_eq!(heard(&desk, again).await, ["task input-required ."]);
        }
        // The second question is the last event, whether it exists by then or not.
        let told = heard(&desk, to(&task, "deny")).await;
        assert!(told.last().is_some_and(|last| last.contains("input-required") && last.ends_with(" .")), "{told:?}");
        let told = heard(&desk, to(&task, "deny")).await;
        assert!(told.last().is_some_and(|last| last.starts_with("completed") && last.ends_with(" .")), "{told:?}");
        assert!(is_clean(&desk).await);
    });
}

#[test]
fn who_subscribes_to_a_task_that_asks_hears_how_it_goes_on() {
    let desk = desk("pipeline default(task) { return task.ask(\"Who?\") }");
    front(async {
        let task = say(&desk, message("go")).await;
        let follows = desk.follow(&task.id).await.unwrap();
        is(&say(&desk, to(&task, "Ada")).await, TaskState::Completed);
        let told = told(follows).await;
        assert_eq!(told.first().map(String::as_str), Some("task input-required"), "{told:?}");
        assert_eq!(told.last().map(String::as_str), Some("completed ."), "{told:?}");
    });
}
