use super::*;

fn append(store: &TaskStore, kind: &str, json: &str) {
    let topic = kind.rsplit_once('.').unwrap().0;
    store.0.store.log_of(TASK).append(NewRecord {
        topic: topic.into(),
        kind: kind.into(),
        payload: Data::from_json(json).unwrap().with("task_id", TASK.into()).into(),
        headers: Data::Nil,
        occurred_at_ms: 1,
    });
}

const BRIEF: &str = r#""context_id":"c","process":"0-0""#;

#[test]
fn what_is_not_known_is_passed_over_and_what_is_not_whole_is_named() {
    let brief = |more: &str| format!("{{{BRIEF},{more}}}");
    for (kind, json, why) in [
        ("a2a.task.dreamt", "{}".to_owned(), None),
        ("a2a.content.smelt", r#"{"of":"coffee"}"#.to_owned(), None),
        ("a2a.colour.red", "{}".to_owned(), None),
        ("a2a.content.injected", "{}".to_owned(), None),
        ("a2a.task.status", "{}".to_owned(), Some("is not a string")),
        ("a2a.task.status", brief(r#""state":"working""#), Some("`frame`")),
        ("a2a.task.status", brief(r#""state":"working","frame":{"task":{}}"#), Some("`frame")),
        ("a2a.content.message", r#"{"frame":{"message":{"role":"ROLE_USER"}}}"#.to_owned(), Some("`frame.message")),
        ("a2a.content.artifact", r#"{"frame":{"statusUpdate":7}}"#.to_owned(), Some("`frame.statusUpdate`")),
        ("a2a.content.begun", r#"{"frame":[]}"#.to_owned(), Some("had already started")),
        ("a2a.task.created", brief(r#""state":"failed""#), Some("had already started")),
    ] {
        let folder = TaskFolder::new();
        let mut worker = TaskWorker::new(folder.store());
        let mut task = worker.begin(TASK, "c", TaskOrigin::default());
        append(&worker.store, kind, &json);
        worker.status(&mut task, TaskState::Completed, Some("done"), Data::Nil);
        let other = worker.begin("other", "c", TaskOrigin::default());
        let next = folder.store();
        let found = next.load(TASK).unwrap().unwrap().task;
        match (found.metadata.get(fold::DAMAGED).as_str(), why) {
            (None, None) => assert_eq!(*found, task, "{kind}"),
            (Some(said), Some(why)) => {
                assert!(said.contains(why) && said.contains(kind) && said.contains("cursor 3"), "{kind}: {said}");
                assert_eq!((&found.status, &found.history), (&task.status, &task.history), "the rest is there");
            }
            (said, why) => panic!("{kind}: {said:?}, {why:?}"),
        }
        assert_eq!(*next.load("other").unwrap().unwrap().task, other, "another task is not concerned");
        assert_eq!(next.page(&ListTasks::default()).unwrap().tasks.len(), 2);
    }
}

#[test]
fn a_task_that_is_damaged_and_was_left_in_the_middle_is_over_all_the_same() {
    for (kind, json) in [
        ("a2a.task.status", format!(r#"{{{BRIEF},"state":"pondering"}}"#)),
        ("a2a.task.status", format!(r#"{{{BRIEF},"state":"input-required","frame":3}}"#)),
        ("a2a.content.begun", r#"{"frame":0}"#.to_owned()),
    ] {
        let folder = TaskFolder::new();
        let mut worker = TaskWorker::new(folder.store());
        worker.begin(TASK, "c", TaskOrigin::default());
        append(&worker.store, kind, &json);
        drop(worker);
        let store = folder.store();
        store.left(false).unwrap();
        let task = store.load(TASK).unwrap().unwrap().task;
        assert_eq!(task.status.state, TaskState::Failed, "{kind} {json}");
        assert!(task.metadata.get(fold::DAMAGED).as_str().is_some());
    }
}

#[test]
fn who_begins_a_task_first_has_it() {
    let folder = TaskFolder::new();
    let (mut first, mut second) = (TaskWorker::new(folder.store()), TaskWorker::new(folder.store()));
    let mut task = first.begin("x", "c", TaskOrigin::default());
    second.begin("x", "of another", TaskOrigin::default());
    let page = folder.store().page(&ListTasks { context_id: Some("c".into()), ..ListTasks::default() }).unwrap();
    assert_eq!(page.tasks.len(), 1);
    first.status(&mut task, TaskState::Completed, None, Data::Nil);
    let found = folder.store().load("x").unwrap().unwrap();
    assert_eq!((&found.task.history, &found.task.context_id), (&task.history, &task.context_id));
    assert_eq!((found.session_id.as_deref(), found.task.status.state), (Some("sess_c"), TaskState::Completed));
    assert!(found.task.metadata.get(fold::DAMAGED).as_str().is_some());
}
