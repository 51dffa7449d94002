use super::*;
use futures_util::FutureExt as _;

/// Returns all records of a task, for cutting after each of them.
fn history() -> Vec<Arc<Record>> {
    let folder = TaskFolder::new();
    let mut worker = TaskWorker::new(folder.store());
    worker.work();
    records(&worker.store)
}

#[test]
fn killed_behind_whichever_record_a_task_is_over_or_was_never_there() {
    let records = history();
    let created = records.iter().position(|record| &*record.kind == "a2a.task.created").unwrap();
    let mut seen = Vec::new();
    for n in 0..=records.len() {
        let folder = TaskFolder::new();
        cut(&folder, &records[..n]);
        let before = folder.store().load(TASK).unwrap();
        let store = folder.store();
        let waits = before.as_ref().is_some_and(|before| before.task.status.state == TaskState::InputRequired);
        assert_eq!(store.left(false).unwrap().len(), usize::from(waits), "a question waits on");
        let Some(restored) = store.load(TASK).unwrap() else {
            assert!(n <= created, "killed behind {n} records");
            continue;
        };
        let task = restored.task;
        let before = before.unwrap().task;
        assert_eq!(task.status.state.is_terminal(), !waits);
        // A task that waits runs again, so its earlier answer is in the history.
        let made = |task: &Task| (task.history.clone(), task.artifacts.clone());
        assert!(waits || made(&task) == made(&before), "what it had made is kept");
        assert!(!task.history.is_empty());
        if n == records.len() {
            assert_eq!(task.status.state, TaskState::Completed);
        } else if waits {
            assert_eq!(task.status, before.status);
        } else {
            assert_eq!(task.status.state, TaskState::Failed);
            assert!(said(&task).contains("while the task was running"), "{}", said(&task));
            let data = task.status.message.as_ref().unwrap().parts[1].content.clone();
            assert_eq!(data, Content::Data(Data::dict([("code", Data::from("HARN-LOG-017"))])));
        }
        seen.push((before.history.len(), before.artifacts.len()));
        // The next process finds nothing to do.
        let count = super::records(&store).len();
        assert_eq!(folder.store().left(false).unwrap(), []);
        assert_eq!(super::records(&store).len(), count);
    }
    seen.dedup();
    assert_eq!(seen, [(1, 0), (1, 1), (2, 1), (2, 2), (3, 2)]);
}

#[test]
fn what_may_run_again_is_taken_over_by_one_process() {
    let records = history();
    let created = records.iter().position(|record| &*record.kind == "a2a.task.created").unwrap();
    for n in created + 1..records.len() {
        let folder = TaskFolder::new();
        cut(&folder, &records[..n]);
        let (one, other) = (folder.store(), folder.store());
        let [restored] = one.left(true).unwrap().try_into().unwrap();
        assert!(!restored.task.status.state.is_terminal());
        assert_eq!(restored.session_id.as_deref(), Some("sess_c"));
        assert_eq!(other.left(true).unwrap(), [], "it is at work there");
        assert_eq!(other.left(false).unwrap(), []);
        let mut worker = TaskWorker { store: one, now_ms: 9_000 };
        let mut task = Task::clone(&restored.task);
        worker.status(&mut task, TaskState::Completed, Some("again"), Data::Nil);
        let found = other.load(TASK).unwrap().unwrap().task;
        assert_eq!((found.status.state, said(&found)), (TaskState::Completed, "again".to_owned()));
    }
}

#[test]
fn what_runs_again_answers_anew_and_what_it_had_said_is_in_its_history() {
    let folder = TaskFolder::new();
    let mut worker = TaskWorker::new(folder.store());
    let task = worker.begin(TASK, "c", TaskOrigin::default());
    worker.artifact(&task, ANSWER, vec![Part::text("half")], false, false);
    worker.artifact(&task, "made", vec![Part::text("kept")], false, true);
    // The last record is on the log.
    worker.status(&mut task.clone(), TaskState::Working, None, Data::Nil);
    drop(worker);
    let of = |task: &Task| {
        let said: Vec<_> = task.history.iter().map(|message| (message.role, message.text())).collect();
        let made: Vec<_> = task.artifacts.iter().map(|made| made.artifact_id.to_string()).collect();
        (said, made)
    };
    let expected = (vec![(Role::User, "do it".into()), (Role::Agent, "half".into())], vec!["made".to_owned()]);
    for _ in 0..2 {
        let store = folder.store();
        let [restored] = store.left(true).unwrap().try_into().unwrap();
        assert_eq!(of(&restored.task), expected);
        // A read meanwhile sees the same task, and so does the process that runs it again.
        assert_eq!(*store.load(TASK).unwrap().unwrap().task, *restored.task);
    }
    // It continues from there.
    let store = folder.store();
    let [restored] = store.left(true).unwrap().try_into().unwrap();
    let mut worker = TaskWorker { store, now_ms: 9_000 };
    worker.artifact(&restored.task, ANSWER, vec![Part::text("whole")], false, true);
    let task = worker.store.load(TASK).unwrap().unwrap().task;
    assert_eq!(task.artifacts[1].parts, [Part::text("whole")]);
}

#[test]
fn killed_behind_whichever_record_what_was_answered_is_said_once() {
    let folder = TaskFolder::new();
    let mut worker = TaskWorker::new(folder.store());
    let task = worker.begin(TASK, "c", TaskOrigin::default());
    worker.artifact(&task, ANSWER, vec![Part::text("one")], false, false);
    // Another message of the agent becomes the answer.
    let one = Message::new(Role::Agent, "a1", vec![Part::text("one")]);
    worker.note(&task, &TaskChange::Answered(one.into()));
    worker.artifact(&task, ANSWER, vec![Part::text("two")], false, false);
    worker.status(&mut task.clone(), TaskState::Working, None, Data::Nil);
    drop(worker);
    folder.store().left(true).unwrap();
    let records = records(&folder.store());
    let words: Vec<_> = records.iter().filter_map(|record| record.kind.rsplit('.').next()).collect();
    assert_eq!(words, ["begun", "created", "artifact", "message", "artifact", "status", "message", "resumed"]);
    let mut seen = Vec::new();
    for n in 2..=records.len() {
        let folder = TaskFolder::new();
        cut(&folder, &records[..n]);
        for again in 0..2 {
            let [restored] = folder.store().left(true).unwrap().try_into().unwrap();
            let said: Vec<_> = restored.task.history.iter().skip(1).map(|message| message.text()).collect();
            assert!(restored.task.artifacts.is_empty(), "killed behind {n} records");
            if again == 0 {
                seen.push(said);
            } else {
                assert_eq!(seen.last(), Some(&said), "killed behind {n} records");
            }
        }
    }
    let (one, both) = (vec!["one".to_owned()], vec!["one".to_owned(), "two".to_owned()]);
    assert_eq!(seen, [vec![], one.clone(), one, both.clone(), both.clone(), both.clone(), both]);
}

#[test]
fn what_must_have_been_over_by_now_has_failed_by_that() {
    let folder = TaskFolder::new();
    let begun = TaskOrigin { deadline_ms: Some(5), ..TaskOrigin::default() };
    TaskWorker::new(folder.store()).begin(TASK, "c", begun);
    let store = folder.store();
    assert_eq!(store.left(true).unwrap(), [], "also where it might run again");
    let task = store.load(TASK).unwrap().unwrap().task;
    assert_eq!((task.status.state, said(&task).as_str()), (TaskState::Failed, "Deadline exceeded"));
}

#[test]
fn the_tasks_of_a_process_that_lives_are_left_alone() {
    let folder = TaskFolder::new();
    let mut first = TaskWorker::new(folder.store());
    let mut task = first.begin(TASK, "c", TaskOrigin::default());
    let second = folder.store();
    assert_eq!(second.left(false).unwrap(), []);
    assert_eq!(second.left(true).unwrap(), []);
    second.left(false).unwrap();
    assert_eq!(second.load_or_end(TASK).unwrap().unwrap().task.status.state, TaskState::Submitted);
    first.status(&mut task, TaskState::Working, None, Data::Nil);
    assert_eq!(second.load_or_end(TASK).unwrap().unwrap().task.status.state, TaskState::Working);
    drop(first);
    // A request for the task finds its end.
    assert_eq!(second.load_or_end(TASK).unwrap().unwrap().task.status.state, TaskState::Failed);
    assert_eq!(folder.store().load(TASK).unwrap().unwrap().task.status.state, TaskState::Failed);
}

#[test]
fn a_process_that_ends_in_good_order_leaves_its_tasks_to_the_next_where_they_may_run_again() {
    for resumable in [false, true] {
        let folder = TaskFolder::new();
        let mut first = TaskWorker::new(folder.store());
        first.store.left(resumable).unwrap();
        let mut cancelled = first.begin(TASK, "c", TaskOrigin::default());
        let mut done = first.begin("done", "c", TaskOrigin::default());
        let mut failed = first.begin("failed", "c", TaskOrigin::default());
        assert_eq!(first.store.leave(TASK, false), resumable);
        first.status(&mut done, TaskState::Completed, None, Data::Nil);
        first.status(&mut failed, TaskState::Failed, None, Data::Nil);
        first.status(&mut cancelled, TaskState::Canceled, None, Data::Nil);
        assert!(!first.store.leave("done", true), "it is over");
        drop(first);
        let next = folder.store();
        let again: Vec<_> = next.left(resumable).unwrap().into_iter().map(|again| again.task.id.clone()).collect();
        let wanted: &[Arc<str>] = if resumable { &[TASK.into()] } else { &[] };
        assert_eq!(again, wanted);
        let state = |id: &str| next.load(id).unwrap().unwrap().task.status.state;
        assert_eq!((state("done"), state("failed")), (TaskState::Completed, TaskState::Failed));
        assert_eq!(state(TASK), if resumable { TaskState::Submitted } else { TaskState::Canceled });
    }
}

#[tokio::test(start_paused = true)]
async fn a_change_by_another_process_or_its_end_is_a_signal() {
    let folder = TaskFolder::new();
    let mut first = TaskWorker::new(folder.store());
    let mut task = first.begin(TASK, "c", TaskOrigin::default());
    let second = folder.store();
    let changed = || second.changed(TASK, &second.load(TASK).unwrap().unwrap().position);
    let mut waits = changed();
    for _ in 0..100 {
        assert!((&mut waits).now_or_never().is_none());
        tokio::task::yield_now().await;
    }
    first.status(&mut task, TaskState::Working, None, Data::Nil);
    waits.await.unwrap();
    let waits = changed();
    first.artifact(&task, "made", vec![Part::text("x")], false, true);
    drop(first);
    waits.await.unwrap();
    assert_eq!(second.load_or_end(TASK).unwrap().unwrap().task.status.state, TaskState::Failed);
}
