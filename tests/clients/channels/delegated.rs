//! Tasks that a script of the daemon has given to a peer.

use super::daemon::DaemonFolder;
use crate::a2a::client::{agent, result, task};
use crate::wait::until;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const ARTIFACT: &str = r#", "artifacts": [{"artifactId": "r", "name": "report", "parts": [{"text": "All good."}]}]"#;

#[test]
fn the_end_of_a_task_that_no_script_follows_is_noticed() {
    let is_done = Arc::new(AtomicBool::new(false));
    let done = is_done.clone();
    let peer = agent("{}", move |asked| {
        let task = match done.load(Ordering::SeqCst) {
            true => task("COMPLETED", ARTIFACT),
            false => task("WORKING", ""),
        };
        if asked.method() == "SendMessage" { result(&format!(r#"{{"task": {task}}}"#)) } else { result(&task) }
    });
    let folder = DaemonFolder::new("delegated");
    let secret = folder.channel("phone", "view,prompt", &[]);
    let daemon = folder.start();
    let client = daemon.client(&secret);
    let session = client.open();
    let mut events = client.events(&session, None);
    client.prompt(&session, &format!("delegate {}", peer.url));
    let linked = events.next_of("channel.peer_task.linked");
    assert_eq!(events.next_of("model.completed")["payload"]["text"], "working");
    events.next_of("turn.completed");
    // The daemon asks again while the task has no news.
    let asked = || peer.calls().iter().filter(|call| call.method() == "GetTask").count();
    until("the daemon asks again", || asked() >= 2);
    is_done.store(true, Ordering::SeqCst);
    let completed = loop {
        let updated = events.next_of("channel.peer_task.updated");
        if updated["payload"]["state"] == "completed" {
            break updated;
        }
    };
    assert_eq!(completed["taskId"], linked["taskId"]);
    assert_eq!(completed["payload"]["artifactRefs"].as_array().unwrap().len(), 1);
    assert_eq!(folder.records("channel.artifact").len(), 1);
}
