use super::*;
use crate::wait::thread_cpu_time;

#[test]
fn a_task_comes_back_as_it_was() {
    let folder = TaskFolder::new();
    let task = TaskWorker::new(folder.store()).work();
    let restored = folder.store().load(TASK).unwrap().unwrap();
    assert_eq!(*restored.task, task);
    assert_eq!(restored.session_id.as_deref(), Some("sess_c"));
    let begun = TaskOrigin {
        metadata: Data::dict([("k", 1.into())]),
        deadline_ms: Some(u64::MAX >> 1),
        is_alone: true,
        peer: None,
    };
    assert_eq!(restored.begun, begun);
    assert_eq!(restored.injected, [Data::dict([("id", Data::from("r1"))])]);
}

#[test]
fn ids_that_callers_choose_are_no_runs_of_others() {
    let folder = TaskFolder::new();
    let mut worker = TaskWorker::new(folder.store());
    let ids = [TASK, "task_1", "sess_00", "task_:x", "x", "\"}", "ä?*/../.", &"~".repeat(128)];
    let tasks: Vec<_> = ids.iter().map(|id| worker.begin(id, "c", TaskOrigin::default())).collect();
    for task in &tasks {
        assert_eq!(*worker.store.load(&task.id).unwrap().unwrap().task, *task);
    }
    assert_eq!(worker.store.load("task_").unwrap(), None);
    let runs: std::collections::HashSet<_> = ids.iter().map(|id| record::run_of(id)).collect();
    assert_eq!(runs.len(), ids.len());
    assert!(runs.iter().all(|run| run.starts_with("task_")));
    let mut found = 0;
    worker.store.0.store.log().look(|file| file.of_run("sess_00", |_| found += 1)).unwrap();
    assert_eq!(found, 0);
}

#[test]
fn pieces_of_an_answer_are_gathered_and_none_is_lost_for_long() {
    let folder = TaskFolder::new();
    let mut worker = TaskWorker::new(folder.store());
    let task = worker.begin(TASK, "c", TaskOrigin::default());
    let before = records(&worker.store).len();
    for n in 0..4_000 {
        worker.artifact(&task, ANSWER, vec![Part::text("0123456789")], n > 0, false);
    }
    let written = records(&worker.store).len() - before;
    assert!((2..10).contains(&written), "{written} records");
    let stored = worker.store.load(TASK).unwrap().unwrap().task;
    assert!(stored.artifacts[0].parts.len() == 1);
    let lost = 40_000 - a2a::model::text_of(&stored.artifacts[0].parts).len();
    assert!(lost <= 10_000, "{lost} bytes are not written");
    // Any other change first writes the gathered pieces.
    worker.note(&task, &TaskChange::Injected(Data::Nil));
    let stored = worker.store.load(TASK).unwrap().unwrap().task;
    assert_eq!(a2a::model::text_of(&stored.artifacts[0].parts).len(), 40_000);
    // A piece that has waited long is written with the next one.
    let count = records(&worker.store).len();
    worker.artifact(&task, ANSWER, vec![Part::text("a")], true, false);
    worker.now_ms += 1_000;
    assert_eq!(records(&worker.store).len(), count);
    worker.artifact(&task, ANSWER, vec![Part::text("b")], true, false);
    assert_eq!(records(&worker.store).len(), count + 1);
}

#[test]
fn nothing_is_written_of_a_task_behind_its_end() {
    let folder = TaskFolder::new();
    let mut worker = TaskWorker::new(folder.store());
    let mut task = worker.work();
    let count = records(&worker.store).len();
    worker.status(&mut task, TaskState::Working, None, Data::Nil);
    worker.note(&task, &TaskChange::Injected(Data::Nil));
    assert_eq!(records(&worker.store).len(), count);
    assert!(worker.store.open().is_empty());
}

#[test]
fn as_much_comes_back_of_what_was_said_and_put_in_as_is_kept_of_a_task_that_runs() {
    let folder = TaskFolder::new();
    let mut worker = TaskWorker::new(folder.store());
    let task = worker.begin(TASK, "c", TaskOrigin::default());
    for n in 0..1_500 {
        let message = Message::new(Role::Agent, format!("a{n}"), vec![Part::text(format!("{n}"))]);
        worker.store.note(&task.id, 2_000, &TaskChange::Said(message.into()));
        worker.store.note(&task.id, 2_000, &TaskChange::Injected(n.into()));
    }
    let restored = worker.store.load(TASK).unwrap().unwrap();
    let history: Vec<_> = restored.task.history.iter().map(|message| message.text()).collect();
    assert_eq!((history.len(), &*history[0], &*history[1], &*history[999]), (1_000, "do it", "501", "1499"));
    assert_eq!((restored.injected.len(), restored.injected.last()), (1_024, Some(&1_499.into())));
    let large = Message::new(Role::Agent, "l", vec![Part::text("x".repeat(1 << 20))]);
    for _ in 0..20 {
        worker.store.note(&task.id, 3_000, &TaskChange::Said(large.clone().into()));
    }
    let history = worker.store.load(TASK).unwrap().unwrap().task.history.clone();
    assert_eq!((history.len(), history[0].text().as_str()), (16, "do it"));
}

#[test]
fn a_long_answer_is_read_in_one_go() {
    let folder = TaskFolder::new();
    let mut worker = TaskWorker::new(folder.store());
    let task = worker.begin(TASK, "c", TaskOrigin::default());
    let piece = "x".repeat(8 << 10);
    let note = |parts, append| {
        let (task_id, context_id) = (task.id.clone(), task.context_id.clone());
        let artifact = Arc::new(artifact(ANSWER, parts));
        let (last_chunk, metadata) = (false, Data::Nil);
        let update = ArtifactUpdate { task_id, context_id, artifact, append, last_chunk, metadata };
        worker.store.note(&task.id, 2_000, &TaskChange::Artifact(update));
    };
    for n in 0..4_000 {
        note(vec![Part::text(&*piece)], n > 0);
    }
    note(vec![Part::data(Data::from(7))], true);
    note(vec![Part::text("a")], true);
    note(vec![Part::text("b")], true);
    worker.store.note(&task.id, 2_000, &TaskChange::Injected(Data::Nil));
    let all = records(&worker.store);
    let start = thread_cpu_time();
    let mut fold = TaskFold::new(TASK);
    all.iter().for_each(|record| fold.take(record));
    let task = fold.done().unwrap().task;
    // If each piece copied all text before it, this would take half a minute.
    let took = thread_cpu_time() - start;
    assert!(took.as_secs() < 5, "{took:?}");
    let parts = &task.artifacts[0].parts;
    assert_eq!((parts.len(), &parts[1..]), (3, &[Part::data(Data::from(7)), Part::text("ab")][..]));
    assert_eq!(a2a::model::text_of(&parts[..1]).len(), 4_000 * piece.len());
}
