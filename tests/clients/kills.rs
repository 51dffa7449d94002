//! Servers that are killed at any moment: nothing that they have acknowledged is lost, and nothing is done twice.
//!
//! Each of the four is killed a few times. `HARN_KILLS=250 cargo test --workspace --locked --test clients kills` kills each as
//! often as that; `HARN_SEED` is the beginning of the random numbers.

use crate::harn::scratch;
use crate::servers::{Piped, Running, command, serve, try_http};
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, mpsc};
use std::thread;

/// A script that leaves a line of its own work.
const AGENT: &str =
    "pipeline default(task) {\n  append_file(\"ran.txt\", \"${task}\\n\")\n  return \"done: ${task}\"\n}\n";

/// The number of clients that send at once.
const CLIENTS: usize = 3;

/// The most requests that are acknowledged before a kill.
const MOST: u64 = 12;

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap())
}

/// Random numbers: a linear congruential generator is enough to choose moments.
struct Moments(u64);

impl Moments {
    fn begin(name: &str) -> Moments {
        let seed = setting("HARN_SEED", 1);
        println!("{name}: HARN_SEED={seed}");
        Moments(name.bytes().fold(seed, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into())))
    }

    fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }
}

/// The requests to a server: those that it has acknowledged, each with what it answered, and those to send.
#[derive(Default)]
struct Requests {
    acknowledged: Mutex<BTreeMap<String, Value>>,
    /// Requests without an answer, which are sent again.
    open: Mutex<VecDeque<String>>,
    begun: AtomicUsize,
}

impl Requests {
    fn next(&self) -> String {
        let open = self.open.lock().unwrap().pop_front();
        open.unwrap_or_else(|| format!("request-{}", self.begun.fetch_add(1, Ordering::Relaxed)))
    }

    /// Takes the answer to a request. One that was acknowledged before must have the same answer.
    fn acknowledge(&self, id: String, answer: Value) {
        let mut all = self.acknowledged.lock().unwrap();
        if let Some(earlier) = all.get(&id) {
            assert_eq!(earlier, &answer, "{id} was done twice");
        }
        all.insert(id, answer);
    }
}

/// A server with a port. `send` sends the request with an id, and returns what identifies the work in its answer.
fn kill_again_and_again(
    name: &str,
    start: impl Fn() -> (Running, String),
    send: impl Fn(&str, &str) -> io::Result<Value> + Sync,
) -> Requests {
    let (mut moments, requests) = (Moments::begin(name), Requests::default());
    for _ in 0..setting("HARN_KILLS", 3) {
        let (mut server, address) = start();
        let (told, acknowledged) = mpsc::channel();
        thread::scope(|scope| {
            for _ in 0..CLIENTS {
                let (told, requests, send, address) = (told.clone(), &requests, &send, &address);
                scope.spawn(move || {
                    loop {
                        let id = requests.next();
                        match send(address, &id) {
                            Ok(answer) => requests.acknowledge(id, answer),
                            Err(_) => return requests.open.lock().unwrap().push_back(id),
                        }
                        let _ = told.send(());
                    }
                });
            }
            drop(told);
            for _ in 0..moments.next(MOST) {
                acknowledged.recv().expect("a client has ended before the server was killed");
            }
            // Into the middle of the next request, or of its answer.
            for _ in 0..moments.next(20_000) {
                std::hint::spin_loop();
            }
            server.0.kill().unwrap();
            server.0.wait().unwrap();
        });
    }
    let (_server, address) = start();
    let open = std::mem::take(&mut *requests.open.lock().unwrap());
    let known: Vec<String> = requests.acknowledged.lock().unwrap().keys().cloned().collect();
    for id in open.into_iter().chain(known) {
        let answer = send(&address, &id).unwrap_or_else(|error| panic!("{id}: {error}"));
        requests.acknowledge(id, answer);
    }
    let count = requests.acknowledged.lock().unwrap().len();
    assert_eq!(count, requests.begun.load(Ordering::Relaxed));
    println!("{name}: {count} requests");
    requests
}

fn folder_of(name: &str) -> PathBuf {
    let folder = scratch(name).canonicalize().unwrap();
    fs::write(folder.join("agent.harn"), AGENT).unwrap();
    folder
}

/// Returns how often the script has run for each request.
fn runs(folder: &Path) -> BTreeMap<String, usize> {
    let mut runs = BTreeMap::new();
    for line in fs::read_to_string(folder.join("ran.txt")).unwrap_or_default().lines() {
        *runs.entry(line.to_owned()).or_default() += 1;
    }
    runs
}

fn assert_ran_once(folder: &Path) {
    let twice: Vec<_> = runs(folder).into_iter().filter(|(_, count)| *count > 1).collect();
    assert!(twice.is_empty(), "ran more than once: {twice:?}");
}

fn read(body: &str) -> io::Result<Value> {
    // An answer that was cut off.
    serde_json::from_str(body).map_err(|error| io::Error::new(ErrorKind::UnexpectedEof, error))
}

#[test]
fn tasks_of_a_killed_agent_are_kept_and_run_once() {
    let folder = folder_of("kills-a2a");
    let log = format!("sqlite:{}", folder.join("events.db").display());
    let start = || {
        let (server, mut addresses) =
            serve(&folder, &["serve", "a2a", "agent.harn", "--listen", "0", "--event-log", &log], 1);
        (server, addresses.remove(0))
    };
    let done = AtomicUsize::new(0);
    kill_again_and_again("a2a", start, |address, id| {
        let message = json!({"role": "ROLE_USER", "messageId": id, "parts": [{"text": id}]});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}});
        let (_, body) = try_http(address, "POST", "/", "A2A-Version: 1.0\r\n", &body.to_string())?;
        let answer = read(&body)?;
        let task = &answer["result"]["task"];
        let state = task["status"]["state"].as_str().unwrap_or_else(|| panic!("{answer}"));
        // One that was cut off by a kill has failed, and does not run again.
        match state {
            "TASK_STATE_COMPLETED" => assert!(task.to_string().contains(&format!("done: {id}")), "{task}"),
            _ => assert_eq!(state, "TASK_STATE_FAILED", "{task}"),
        }
        done.fetch_add(usize::from(state == "TASK_STATE_COMPLETED"), Ordering::Relaxed);
        Ok(json!([task["id"], state]))
    });
    assert!(done.load(Ordering::Relaxed) > 0, "no task was completed");
    assert_ran_once(&folder);
}

#[test]
fn actions_of_a_killed_daemon_are_kept_and_executed_once() {
    let folder = folder_of("kills-channels");
    let log = format!("sqlite:{}", folder.join("events.db").display());
    let added = command(&folder, &["channel", "add", "kills", "--can", "view,prompt,admin", "--event-log", &log])
        .stdout(Stdio::piped())
        .output()
        .unwrap();
    let secret = format!("Authorization: Bearer {}\r\n", String::from_utf8(added.stdout).unwrap().trim());
    let start = || {
        let args = ["serve", "channels", "agent.harn", "--listen", "0", "--max-rate", "100000", "--event-log", &log];
        let (server, mut addresses) = serve(&folder, &args, 1);
        (server, addresses.remove(0))
    };
    let act = |address: &str, action: Value| -> io::Result<Value> {
        let (head, body) = try_http(address, "POST", "/actions", &secret, &action.to_string())?;
        assert!(head.starts_with("HTTP/1.1 20"), "{head} {body}");
        Ok(read(&body)?["result"].take())
    };
    kill_again_and_again("channels", start, |address, id| {
        let open = json!({"kind": "open", "actionId": format!("open-{id}"), "params": {}});
        let session = act(address, open)?["sessionId"].take();
        assert!(session.is_string(), "{id}");
        let params = json!({"text": id});
        act(address, json!({"kind": "prompt", "actionId": id, "sessionId": session, "params": params}))?;
        Ok(session)
    });
    assert!(!runs(&folder).is_empty(), "no prompt has run");
    assert_ran_once(&folder);
}

#[test]
fn tasks_of_a_killed_hub_are_kept_once() {
    let folder = folder_of("kills-hub");
    let start = || serve(&folder, &["serve", "hub", "--listen", "0", "--http", "0"], 2);
    // The receiver of all tasks. The hub keeps it.
    fs::write(folder.join("register.harn"), "hub.connect(env(\"HUB_URL\")).register({name: \"worker\"})\n").unwrap();
    {
        let (_server, addresses) = start();
        let mut registers = command(&folder, &["run", "register.harn"]);
        let registered = registers.env("HUB_URL", format!("http://{}", addresses[0])).status();
        assert!(registered.unwrap().success());
    }
    let start = || {
        let (server, mut addresses) = start();
        (server, addresses.remove(1))
    };
    kill_again_and_again("hub", start, |address, id| {
        let message = json!({"role": "ROLE_USER", "messageId": id, "parts": [{"text": id}]});
        let metadata = json!({"to_agent_id": "worker"});
        let params = json!({"message": message, "metadata": metadata, "configuration": {"returnImmediately": true}});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": params});
        let (_, body) = try_http(address, "POST", "/", "A2A-Version: 1.0\r\n", &body.to_string())?;
        let answer = read(&body)?;
        assert!(answer["result"]["task"]["id"].is_string(), "{answer}");
        Ok(answer["result"]["task"]["id"].clone())
    });
}

#[test]
fn turns_of_a_killed_agent_of_an_editor_are_shown_again_once() {
    let folder = folder_of("kills-acp");
    let log = format!("sqlite:{}", folder.join("events.db").display());
    let args = ["serve", "acp", "agent.harn", "--event-log", &log];
    let begin = json!({"protocolVersion": 1, "clientCapabilities": {}});
    let mut moments = Moments::begin("acp");
    let (mut session, mut begun) = (None, 0);
    let mut answered: Vec<String> = Vec::new();
    for _ in 0..setting("HARN_KILLS", 3) {
        let (mut editor, process) = Piped::start(&folder, &args, false);
        editor.call("initialize", &begin);
        let id = load(&mut editor, &folder, &mut session, &answered);
        let (told, acknowledged) = mpsc::channel();
        let (wait, spins) = (moments.next(MOST), moments.next(20_000));
        thread::scope(|scope| {
            scope.spawn(move || {
                for _ in 0..wait {
                    // The client ends only after the server.
                    let _ = acknowledged.recv();
                }
                for _ in 0..spins {
                    std::hint::spin_loop();
                }
                assert!(Command::new("kill").args(["-9", &process.to_string()]).status().unwrap().success());
            });
            loop {
                let text = format!("prompt-{begun}.");
                begun += 1;
                let prompt = json!({"sessionId": id, "prompt": [{"type": "text", "text": text}]});
                if editor.try_call("session/prompt", &prompt, &mut |_| ()).is_err() {
                    break;
                }
                answered.push(text);
                let _ = told.send(());
            }
        });
    }
    let (mut editor, _) = Piped::start(&folder, &args, false);
    editor.call("initialize", &begin);
    load(&mut editor, &folder, &mut session, &answered);
    println!("acp: {} prompts", answered.len());
    assert_ran_once(&folder);
}

/// Loads the session, or opens it the first time. What it shows has the answer to each answered prompt, once.
fn load(editor: &mut Piped, folder: &Path, session: &mut Option<String>, answered: &[String]) -> String {
    let Some(id) = session else {
        let opened = editor.call("session/new", &json!({"cwd": folder, "mcpServers": []}));
        let id = opened["sessionId"].as_str().unwrap().to_owned();
        *session = Some(id.clone());
        return id;
    };
    let mut shown = String::new();
    let params = json!({"sessionId": &*id, "cwd": folder, "mcpServers": []});
    let loaded = editor.try_call("session/load", &params, &mut |message| {
        let update = &message["params"]["update"];
        if update["sessionUpdate"] == "agent_message_chunk" {
            shown.push_str(update["content"]["text"].as_str().unwrap_or_default());
        }
    });
    loaded.unwrap();
    for text in answered {
        assert_eq!(shown.matches(&format!("done: {text}")).count(), 1, "{text} in {shown}");
    }
    id.clone()
}
