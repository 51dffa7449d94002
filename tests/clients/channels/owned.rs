//! A log has one daemon; commands that read it or enrol channels go on beside it.

use super::daemon::DaemonFolder;
use std::fs;
use std::os::unix::fs::symlink;

#[test]
fn a_second_daemon_of_a_log_is_refused_until_the_first_one_has_ended() {
    let folder = DaemonFolder::new("owned");
    let secret = folder.channel("phone", "view,prompt", &[]);
    let daemon = folder.start();
    let path = folder.log_path();
    let other = path.with_file_name("other.db");
    symlink(&path, &other).unwrap();
    for written in [&path, &other] {
        let log = format!("sqlite:{}", written.display());
        let mut second = folder.command();
        let second = second.args(["serve", "channels", "agent.harn", "--listen", "0", "--event-log", &log]).output();
        let second = second.unwrap();
        let said = String::from_utf8_lossy(&second.stderr);
        assert_eq!(second.status.code(), Some(1), "{said}");
        assert!(said.contains("HARN-LOG-018") && said.contains(&written.display().to_string()), "{said}");
        assert!(said.contains(&format!("in use by another server (process {})", daemon.id())), "{said}");
    }
    // A hub on the file of a daemon would be a second owner too.
    let store = folder.log_option();
    let hub = folder.command().args(["serve", "hub", "--listen", "0", "--http", "0", "--store", &store]).output();
    assert_eq!(hub.unwrap().status.code(), Some(1));
    // The first one goes on.
    daemon.client(&secret).open();
    daemon.kill();
    folder.start().client(&secret).open();
}

#[test]
fn channels_are_enrolled_and_scripts_run_beside_a_daemon() {
    let folder = DaemonFolder::new("owned-beside");
    let daemon = folder.start();
    let secret = folder.channel("phone", "view,prompt", &[]);
    daemon.client(&secret).open();
    let script = folder.log_path().with_file_name("run.harn");
    fs::write(&script, "event_log.emit(\"tested\", \"tested.beside\", {n: 1})\n").unwrap();
    let run = || {
        let mut command = folder.command();
        command.args(["run"]).arg(&script).args(["--event-log", &folder.log_option()]).spawn().unwrap()
    };
    for mut running in [run(), run()] {
        assert!(running.wait().unwrap().success());
    }
    assert_eq!(folder.records("tested.beside").len(), 2);
    let trace = folder.command().arg("trace").arg(folder.log_path()).output().unwrap();
    assert!(trace.status.success(), "{}", String::from_utf8_lossy(&trace.stderr));
    folder.revoke("phone");
}
