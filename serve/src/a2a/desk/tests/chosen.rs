//! Ids that callers choose, in two processes with one log.

use runtime::event_log::{SqliteLog, SqliteOptions};

use super::*;

const ECHO: &str = "pipeline default(task) { return task }";

#[tokio::test]
async fn of_two_that_choose_the_same_id_at_once_one_has_the_task() {
    let folder = std::env::temp_dir().join(format!("harn-chosen-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let desk = || {
        let log = SqliteLog::open(folder.join("events.db"), &SqliteOptions::default()).unwrap();
        Desk::open(served("test.harn", ECHO, 2, Some(log)), Settings::default())
            .unwrap_or_else(|found| panic!("{found:?}"))
    };
    let both = [desk(), desk()];
    for n in 0..10 {
        let asker = Asker { version: Version::V0_1, takes_message: false };
        let [one, other] = [0, 1].map(|at| {
            let asked = Message { task_id: Some(format!("t{n}").into()), ..message(&format!("to {at}")) };
            let desk = both[at].clone();
            tokio::spawn(async move { desk.send(request(asked), asker).await.is_ok() })
        });
        let (one, other) = (one.await.unwrap(), other.await.unwrap());
        assert!(one != other, "t{n}: {one} {other}");
        let task = both[usize::from(one)].settled(&format!("t{n}")).await.unwrap();
        assert_eq!(artifact(&task, "answer"), format!("to {}", usize::from(other)));
    }
    for desk in both {
        desk.stop().await;
    }
    let _ = std::fs::remove_dir_all(&folder);
}
