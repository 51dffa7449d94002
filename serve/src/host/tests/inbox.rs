//! What is put into a session from the front's thread.

use std::time::Duration;

use crate::host::testing::{front, host, named, says};
use crate::host::{HostError, NewSession, Stop};
use runtime::data::Data;
use runtime::reminder::ReminderSpec;
use runtime::reminder::bridge::{Mode, RemindPayload};

fn reminder(body: &str, mode: Mode) -> RemindPayload {
    RemindPayload { spec: ReminderSpec::new(body), mode, meta: Data::Nil }
}

#[test]
fn what_is_put_in_wakes_a_daemon_that_sleeps() {
    let folder = std::env::temp_dir().join(format!("harn-daemon-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    // It would sleep for an hour, and the test fails long before.
    let (host, watcher) = host(
        "pipeline default(task, context) {\n\
         let idle = path_join(context.cwd, \"idle\")\n\
         register_session_hook(\"session_idle\", { event -> write_file(idle, \"\") })\n\
         let result = agent_loop(task, \"You watch.\", {\n\
           daemon: true, wake_interval_ms: 3600000, max_iterations: 3,\n\
           llm_caller: { asked -> if asked.system.contains(\"get up\") { return \"I am up.\" } else { return \"I rest.\" } },\n\
         })\n\
         return result.text\n}",
        1,
    );
    front(async {
        let new = NewSession { cwd: Some(folder.clone()), ..named("s") };
        let session = host.open(new).await.unwrap();
        let working = session.clone();
        let prompt = tokio::spawn(async move { working.prompt(says("Watch.")).await });
        while !folder.join("idle").exists() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        let inbox = session.inbox().unwrap();
        assert_eq!(inbox.accept_reminder(reminder("get up", Mode::InterruptImmediate)).unwrap().deduped_count, 0);
        assert_eq!(inbox.durable().await, Ok(()));
        // Two answers and a nap are all that it may do.
        assert_eq!(prompt.await.unwrap().unwrap().stop, Stop::Done);
        assert_eq!(watcher.text("s"), "I rest.I am up.");
        assert!(inbox.pending().is_empty(), "it was delivered");
        host.stop().await;
    });
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_session_at_rest_keeps_what_it_gets_and_one_that_is_closed_takes_nothing() {
    let (host, watcher) = host(
        "pipeline default(task) {\n\
         let told = { asked -> if asked.system.contains(\"wet paint\") { return \"I know.\" } else { return \"Of what?\" } }\n\
         return agent_loop(task, nil, {llm_caller: told}).text\n}",
        1,
    );
    front(async {
        let session = host.open(named("s")).await.unwrap();
        let inbox = session.inbox().unwrap().clone();
        inbox.accept_reminder(reminder("wet paint", Mode::FinishStep)).unwrap();
        assert_eq!(inbox.pending().len(), 1);
        session.prompt(says("Walk.")).await.unwrap();
        assert_eq!(watcher.text("s"), "I know.");
        host.close("s").await.unwrap();
        assert_eq!(session.inbox().err(), Some(HostError::Closed("s".into())));
        assert!(inbox.accept_reminder(reminder("late", Mode::FinishStep)).is_err());
        host.stop().await;
    });
}
