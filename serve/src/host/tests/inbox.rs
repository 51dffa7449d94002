//! Injections into a session from another thread.

use base::data::Data;

use crate::host::testing::{block_on_runtime, host, named, says};
use crate::host::{HostError, NewSession, PromptOutcome, ReminderEvent, SessionEvent};
use crate::tokio_wait::until;
use runtime::lifecycle::Selector;
use runtime::reminder::bridge::{DeliveryMode, RemindPayload};
use runtime::reminder::{ExpireReason, ReminderSpec};

fn reminder(body: &str, mode: DeliveryMode) -> RemindPayload {
    RemindPayload { spec: ReminderSpec::new(body), mode, meta: Data::Nil }
}

#[test]
fn what_is_put_in_wakes_a_daemon_that_sleeps() {
    let folder = std::env::temp_dir().join(format!("harn-daemon-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    // It would sleep for an hour; the test times out long before.
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
    block_on_runtime(async {
        let new = NewSession { cwd: Some(folder.clone()), ..named("s") };
        let session = host.open(new).await.unwrap();
        let working = session.clone();
        let prompt = tokio::spawn(async move { working.prompt(says("Watch.")).await });
        until("the loop is idle", || folder.join("idle").exists()).await;
        let inbox = session.inbox().unwrap();
        assert_eq!(
            inbox.accept_reminder(reminder("get up", DeliveryMode::InterruptImmediate)).unwrap().deduped_count,
            0
        );
        assert_eq!(inbox.durable().await, Ok(()));
        // Two answers and a nap are all that it may do.
        assert_eq!(prompt.await.unwrap().unwrap().stop, PromptOutcome::Done);
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
    block_on_runtime(async {
        let session = host.open(named("s")).await.unwrap();
        let inbox = session.inbox().unwrap().clone();
        inbox.accept_reminder(reminder("wet paint", DeliveryMode::FinishStep)).unwrap();
        assert_eq!(inbox.pending().len(), 1);
        session.prompt(says("Walk.")).await.unwrap();
        assert_eq!(watcher.text("s"), "I know.");
        inbox.accept_reminder(reminder("unread", DeliveryMode::FinishStep)).unwrap();
        host.close("s").await.unwrap();
        let unread = watcher.all().into_iter().rev().find_map(|(_, event)| match event {
            SessionEvent::Reminder(ReminderEvent::Expired { reason, .. }) => Some(reason),
            _ => None,
        });
        assert_eq!(unread, Some(ExpireReason::Cleared), "what no loop has taken is over with the session");
        assert_eq!(session.inbox().err(), Some(HostError::Closed("s".into())));
        assert!(inbox.accept_reminder(reminder("late", DeliveryMode::FinishStep)).is_err());
        host.stop().await;
    });
}

#[test]
fn delivered_and_queued_reminders_are_cleared_while_the_session_works() {
    let folder = std::env::temp_dir().join(format!("harn-clear-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (host, watcher) = host(
        "pipeline default(task, context) {\n\
         let told = { asked ->\n\
           write_file(path_join(context.cwd, \"began\"), \"\")\n\
           while !file_exists(path_join(context.cwd, \"gate\")) { sleep(2) }\n\
           return \"I know.\"\n\
         }\n\
         return agent_loop(task, nil, {llm_caller: told}).text\n}",
        1,
    );
    block_on_runtime(async {
        let session = host.open(NewSession { cwd: Some(folder.clone()), ..named("s") }).await.unwrap();
        let inbox = session.inbox().unwrap().clone();
        let tagged = |body: &str, mode| {
            let spec = ReminderSpec { tags: vec!["paint".into()], ..ReminderSpec::new(body) };
            RemindPayload { spec, mode, meta: Data::Nil }
        };
        inbox.accept_reminder(tagged("wet", DeliveryMode::FinishStep)).unwrap();
        let working = session.clone();
        let prompt = tokio::spawn(async move { working.prompt(says("Walk.")).await });
        until("the prompt has begun", || folder.join("began").exists()).await;
        let queued = inbox.accept_reminder(tagged("dry", DeliveryMode::FinishStep)).unwrap().id;
        let selector = Selector { tag: Some("paint".into()), ..Selector::default() };
        let (cleared, delivered) = session.clear_reminders(selector).unwrap();
        assert_eq!((cleared, delivered.await), (vec![queued], Ok(1)));
        assert!(inbox.pending().is_empty());
        let ended = watcher.all().into_iter().filter_map(|(_, event)| match event {
            SessionEvent::Reminder(ReminderEvent::Expired { reason, .. }) => Some(reason),
            _ => None,
        });
        // The event of the queued reminder is reported by the caller.
        assert_eq!(ended.collect::<Vec<_>>(), [ExpireReason::Cleared]);
        std::fs::write(folder.join("gate"), "").unwrap();
        prompt.await.unwrap().unwrap();
        host.stop().await;
    });
    std::fs::remove_dir_all(folder).unwrap();
}
