use super::*;
use futures_util::FutureExt as _;

fn ids(page: &TaskPage) -> Vec<&str> {
    page.tasks.iter().map(|task| task.id.as_ref()).collect()
}

fn pages(store: &TaskStore, asked: &ListTasks) -> Vec<Vec<String>> {
    let mut asked = asked.clone();
    let mut pages = Vec::new();
    loop {
        let page = store.page(&asked).unwrap();
        pages.push(ids(&page).into_iter().map(ToOwned::to_owned).collect());
        if page.next_page_token.is_empty() {
            return pages;
        }
        asked.page_token = Some(page.next_page_token.into());
    }
}

#[test]
fn those_that_changed_last_come_first_a_page_at_a_time() {
    let folder = TaskFolder::new();
    let mut worker = TaskWorker::new(folder.store());
    let mut tasks: Vec<_> = (0..5).map(|n| worker.begin(&format!("t{n}"), "c", TaskOrigin::default())).collect();
    let two = ListTasks { page_size: Some(2), ..ListTasks::default() };
    let first = worker.store.page(&two).unwrap();
    assert_eq!((ids(&first), first.page_size, first.total_size), (vec!["t4", "t3"], 2, 5));
    worker.status(&mut tasks[1], TaskState::Completed, None, Data::Nil);
    worker.begin("t5", "c", TaskOrigin::default());
    // A task that changes meanwhile appears on no page twice.
    let asked = ListTasks { page_token: Some(first.next_page_token.into()), ..two.clone() };
    assert_eq!(pages(&worker.store, &asked), [vec!["t2", "t0"]]);
    let all = [vec!["t5", "t1"], vec!["t4", "t3"], vec!["t2", "t0"]];
    assert_eq!(pages(&worker.store, &two), all);
    // Another process sees the same pages, and so does the next one.
    assert_eq!(pages(&folder.store(), &two), all);
}

#[test]
fn a_list_is_of_a_context_of_a_state_or_of_a_time() {
    let folder = TaskFolder::new();
    let mut worker = TaskWorker::new(folder.store());
    for n in 0..6 {
        let mut task = worker.begin(&format!("t{n}"), if n % 2 == 0 { "even" } else { "odd" }, TaskOrigin::default());
        if n < 3 {
            worker.status(&mut task, TaskState::Completed, None, Data::Nil);
        }
    }
    let all = ListTasks::default();
    let of = |asked: &ListTasks| {
        let page = worker.store.page(asked).unwrap();
        assert_eq!(page.total_size as usize, page.tasks.len());
        ids(&page).join(" ")
    };
    assert_eq!(of(&ListTasks { context_id: Some("odd".into()), ..all.clone() }), "t5 t3 t1");
    assert_eq!(of(&ListTasks { state: Some(TaskState::Completed), ..all.clone() }), "t2 t1 t0");
    let both = ListTasks { context_id: Some("even".into()), state: Some(TaskState::Submitted), ..all.clone() };
    assert_eq!(of(&both), "t4");
    assert_eq!(of(&ListTasks { changed_since_ms: Some(1_009), ..all.clone() }), "t5");
    assert_eq!(of(&ListTasks { context_id: Some("none".into()), ..all.clone() }), "");
    assert_eq!(of(&ListTasks { page_token: Some("".into()), ..all }), "t5 t4 t3 t2 t1 t0");
}

#[test]
fn a_token_that_no_page_gave_is_refused() {
    let store = TaskFolder::new().store();
    for token in ["x", "-1", "+1", "1 ", "ffffffffffffffffff"] {
        let asked = ListTasks { page_token: Some(token.into()), ..ListTasks::default() };
        assert_eq!(store.page(&asked).unwrap_err(), StoreError::PageToken(token.into()));
    }
}

#[test]
fn what_was_deleted_from_the_log_is_in_no_list() {
    let folder = TaskFolder::new();
    let mut worker = TaskWorker::new(folder.store());
    worker.begin("old", "c", TaskOrigin::default());
    assert_eq!(ids(&worker.store.page(&ListTasks::default()).unwrap()), ["old"]);
    let upto = i64::try_from(records(&worker.store).last().unwrap().cursor).unwrap();
    let file = rusqlite_of(&folder);
    file.execute("DELETE FROM records WHERE cursor <= ?", [upto]).unwrap();
    worker.begin("new", "c", TaskOrigin::default());
    worker.begin("newer", "c", TaskOrigin::default());
    assert_eq!(ids(&worker.store.page(&ListTasks::default()).unwrap()), ["newer", "new"]);
    assert_eq!(ids(&folder.store().page(&ListTasks::default()).unwrap()), ["newer", "new"]);
}

fn rusqlite_of(folder: &TaskFolder) -> rusqlite::Connection {
    rusqlite::Connection::open(folder.0.join("events.db")).unwrap()
}

#[test]
fn a_list_holds_no_more_of_a_task_than_is_asked_for() {
    let folder = TaskFolder::new();
    let task = TaskWorker::new(folder.store()).work();
    let store = folder.store();
    let listed = |asked: &ListTasks| {
        let [listed] = store.page(asked).unwrap().tasks.try_into().unwrap();
        assert_eq!((&listed.status, &listed.metadata), (&task.status, &task.metadata));
        Task::clone(&listed)
    };
    let short = listed(&ListTasks::default());
    assert_eq!((short.history, short.artifacts), (Vec::new(), Vec::new()));
    let made = listed(&ListTasks { include_artifacts: true, history_length: Some(0), ..ListTasks::default() });
    assert_eq!((made.history, &made.artifacts), (Vec::new(), &task.artifacts));
    let said = listed(&ListTasks { history_length: Some(2), ..ListTasks::default() });
    assert_eq!((&said.history[..], said.artifacts), (&task.history[task.history.len() - 2..], Vec::new()));
    let all = listed(&ListTasks { include_artifacts: true, history_length: Some(u32::MAX), ..ListTasks::default() });
    assert_eq!(all, task);
}

#[test]
fn a_page_ends_early_where_its_tasks_take_much() {
    let folder = TaskFolder::new();
    let mut worker = TaskWorker::new(folder.store());
    for (n, mib) in [3, 3, 12, 3, 3].into_iter().enumerate() {
        let mut task = worker.begin(&format!("t{n}"), "c", TaskOrigin::default());
        let parts = vec![Part::text("x".repeat(mib << 20))];
        worker.artifact(&task, "made", parts, false, true);
        worker.status(&mut task, TaskState::Completed, None, Data::Nil);
    }
    let store = folder.store();
    let made = ListTasks { include_artifacts: true, ..ListTasks::default() };
    assert_eq!(pages(&store, &made), [vec!["t4", "t3"], vec!["t2"], vec!["t1", "t0"]]);
    assert_eq!(store.page(&made).unwrap().total_size, 5);
    let one = ListTasks { page_size: Some(1), ..made };
    assert_eq!(pages(&store, &one).len(), 5);
    // Parts that are not requested do not count.
    assert_eq!(pages(&store, &ListTasks::default()).len(), 1);
    let said = ListTasks { history_length: Some(9), ..ListTasks::default() };
    assert_eq!(pages(&store, &said).len(), 1);
}

#[tokio::test]
async fn one_list_is_read_at_a_time() {
    let folder = TaskFolder::new();
    let store = folder.store();
    let another = store.0.lists.clone().acquire_owned().await.unwrap();
    let mut page = store.list(&ListTasks::default(), Arc::new(|_: &str| true)).unwrap();
    for _ in 0..100 {
        assert!((&mut page).now_or_never().is_none());
        tokio::task::yield_now().await;
    }
    drop(another);
    assert_eq!(page.await.unwrap().tasks, Vec::new());
}
