//! Limits of sessions by account, and sessions that no one uses.

use std::time::Duration;

use base::data::Data;
use eventlog::RecordFilter;
use runtime::reminder::ReminderSpec;
use runtime::reminder::bridge::{DeliveryMode, RemindPayload};
use tokio::time::Instant;

use crate::host::idle::IdleSessions;
use crate::host::testing::{block_on_runtime, host, host_of, named, says, served};
use crate::host::{Host, HostError, HostSettings, PromptOutcome};
use crate::store::tests::StoreFolder;
use crate::tokio_wait::find;

/// The id of a session that a log keeps.
const ID: &str = "sess_0123456789abcdef0123456789abcdef";

/// Looks for idle sessions at times that a test chooses.
struct Looks<'a> {
    host: &'a Host,
    idle: IdleSessions,
    begin: Instant,
}

impl Looks<'_> {
    /// Sessions may be idle for 30 minutes.
    fn new(host: &Host) -> Looks<'_> {
        Looks { host, idle: IdleSessions::new(Duration::from_secs(30 * 60)), begin: Instant::now() }
    }

    /// Closes the sessions that have been idle for long at a minute, and returns their ids once they are closed.
    async fn at(&mut self, minute: u64) -> Vec<String> {
        let mut closed = Vec::new();
        let now = self.begin + Duration::from_secs(60 * minute);
        for mailbox in self.host.begin_to_close_idle(&mut self.idle, now) {
            self.host.end(&mailbox).await;
            closed.push(mailbox.id().to_string());
        }
        closed
    }
}

#[test]
fn an_account_takes_its_share_of_the_sessions_and_no_more() {
    let served = served("a.harn", "pipeline default(task) { return task }", 1, None);
    let settings = HostSettings { sessions: 4, ..served.settings };
    let (host, _) = host_of(crate::host::Served { settings, ..served });
    block_on_runtime(async {
        let open = async |id: &str| host.open(named(id)).await.err();
        for (id, refused) in [
            ("a/1", None),
            ("a/2", None),
            ("a/3", Some(HostError::AccountFull(2))),
            ("b/1", None),
            ("b/2", None),
            ("c/1", Some(HostError::Full(4))),
        ] {
            assert_eq!(open(id).await, refused, "{id}");
        }
        assert_eq!(host.has_room("c"), Err(HostError::Full(4)));
        host.close("b/1").await.unwrap();
        assert_eq!((host.has_room("a"), host.has_room("b")), (Err(HostError::AccountFull(2)), Ok(())));
        assert_eq!(open("a/3").await, Some(HostError::AccountFull(2)));
        host.close("a/1").await.unwrap();
        assert_eq!(open("a/3").await, None);
        // A session that was refused, or whose id is taken, keeps no place.
        assert_eq!(open("b/2").await, Some(HostError::Exists("b/2".into())));
        assert_eq!(open("b/3").await, None);
    });
}

#[test]
fn a_limit_of_accounts_can_be_set() {
    let served = served("a.harn", "pipeline default(task) { return task }", 1, None);
    let settings = HostSettings { sessions: 9, account_sessions: Some(1), ..served.settings };
    let (host, _) = host_of(crate::host::Served { settings, ..served });
    block_on_runtime(async {
        host.open(named("a/1")).await.unwrap();
        let refused = host.open(named("a/2")).await.unwrap_err();
        assert_eq!(refused, HostError::AccountFull(1));
        assert!(refused.to_string().contains("close one"), "{refused}");
    });
}

#[test]
fn an_idle_session_is_closed_with_its_record_and_loaded_again() {
    let folder = StoreFolder::new();
    let text = "pipeline default(task) {\n\
         let told = { asked -> if asked.system.contains(\"wet paint\") { return \"I know.\" } else { return \"Of what?\" } }\n\
         return agent_loop(task, \"You walk.\", {llm_caller: told}).text\n}";
    let log = folder.log();
    let (host, watcher) = host_of(served("a.harn", text, 1, Some(log.clone())));
    let ends = || {
        let records = log.look(|file| file.read(&RecordFilter::default(), 1_000)).unwrap();
        records.iter().filter(|record| &*record.kind == "session.life.closed").count()
    };
    block_on_runtime(async {
        let mut looks = Looks::new(&host);
        let none: &[String] = &[];
        let session = host.open(named(ID)).await.unwrap();
        assert_eq!((looks.at(0).await, looks.at(29).await), (none.into(), none.into()));
        assert_eq!(session.prompt(says("Walk.")).await.unwrap().stop, PromptOutcome::Done);
        // The turn began the time anew.
        assert_eq!((looks.at(31).await, looks.at(60).await), (none.into(), none.into()));
        watcher.attend(true);
        assert_eq!((looks.at(61).await, looks.at(200).await), (none.into(), none.into()));
        watcher.attend(false);
        let reminder =
            RemindPayload { spec: ReminderSpec::new("wet paint"), mode: DeliveryMode::FinishStep, meta: Data::Nil };
        assert!(host.awake(ID).await.is_ok());
        session.inbox().unwrap().accept_reminder(reminder).unwrap();
        assert_eq!((looks.at(201).await, looks.at(230).await, ends()), (none.into(), none.into(), 0));
        assert_eq!((looks.at(231).await, ends()), (vec![ID.to_owned()], 1));
        assert!(host.session(ID).is_err() && watcher.is_over(ID));
        assert!(matches!(session.prompt(says("x")).await, Err(HostError::Closed(_))));

        let session = host.resume(ID, None, Data::Nil).await.unwrap();
        assert_eq!(session.prompt(says("Walk.")).await.unwrap().stop, PromptOutcome::Done);
        assert!(watcher.text(ID).ends_with("I know."), "what was injected meanwhile: {}", watcher.text(ID));
        // The time of a session that was loaded again begins with its load.
        assert_eq!((looks.at(232).await, looks.at(261).await), (none.into(), none.into()));
        host.stop().await;
    });
}

#[test]
fn a_request_to_a_session_that_is_being_closed_waits_and_loads_it() {
    let folder = StoreFolder::new();
    let (host, _) = host_of(served("a.harn", "pipeline default(task) { return task }", 1, Some(folder.log())));
    block_on_runtime(async {
        host.open(named(ID)).await.unwrap();
        let (mut idle, begin) = (IdleSessions::new(Duration::from_secs(1)), Instant::now());
        assert!(host.begin_to_close_idle(&mut idle, begin).is_empty());
        let closing = host.begin_to_close_idle(&mut idle, begin + Duration::from_secs(1));
        assert_eq!(closing.len(), 1);
        // The end is still to be waited for.
        assert_eq!(host.awake(ID).await.err(), Some(HostError::UnknownSession(ID.into())));
        host.resume(ID, None, Data::Nil).await.unwrap();
        host.end(&closing[0]).await;
        assert!(host.awake(ID).await.is_ok(), "the end of the earlier one does not end the later one");
    });
}

#[test]
fn a_session_that_has_work_is_not_closed() {
    let (host, watcher) = host(
        "var job = nil\n\
         pipeline default(task) {\n\
           if task == \"ask\" { return task.ask(\"Who?\") }\n\
           if task == \"spawn\" { job = spawn { sleep(86400000) } }\n\
           if task == \"cancel\" { cancel(job) }\n\
           return \"ok\"\n}",
        1,
    );
    block_on_runtime(async {
        let mut looks = Looks::new(&host);
        let session = host.open(named("s")).await.unwrap();
        assert!(matches!(session.prompt(says("ask")).await.unwrap().stop, PromptOutcome::Asked(_)));
        assert_eq!((looks.at(0).await.len(), looks.at(100).await.len()), (0, 0), "a question has no answer");
        session.answer(says("Ada")).await.unwrap();
        session.prompt(says("spawn")).await.unwrap();
        assert_eq!((looks.at(101).await.len(), looks.at(200).await.len()), (0, 0), "a background task runs");
        session.prompt(says("cancel")).await.unwrap();
        let reminder = RemindPayload { spec: ReminderSpec::new("x"), mode: DeliveryMode::FinishStep, meta: Data::Nil };
        session.inbox().unwrap().accept_reminder(reminder).unwrap();
        assert_eq!((looks.at(201).await.len(), looks.at(300).await.len()), (0, 0), "no log keeps the reminder");
        session.inbox().unwrap().clear(&runtime::lifecycle::Selector::default());
        // The worker notices soon that the task has ended.
        let mut minute = 301;
        find("a session that is closed", async || {
            let closed = looks.at(minute).await;
            minute += 31;
            if closed.is_empty() { Err(format!("minute {minute}")) } else { Ok(()) }
        })
        .await;
        assert!(watcher.is_over("s"));
    });
}
