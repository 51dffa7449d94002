//! Six servers under load side by side: after a while, none of them needs more memory.
//!
//! It takes ten minutes, so it is a command of its own:
//! `cargo test --workspace --locked --test clients -- --ignored load`. `HARN_LOAD_MINUTES` sets another time.

use crate::harn::{root, scratch};
use crate::servers::{Piped, Running, command, http, serve};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The most that the memory at the end may be, in hundredths of that after three tenths of the time.
const MOST: u64 = 120;

/// A script that answers at once.
const AGENT: &str = "pipeline default(task) { return \"done: ${task}\" }\n";

/// A worker of a hub, and a client of it.
const WORKER: &str = r#"
let worker = hub.connect(env("HUB_URL")).register({name: "echo"})
println("ready")
for task in worker.tasks() {
  task.accept("at work")
  task.complete(task.text)
}
"#;
const CLIENT: &str = r#"
let client = hub.connect(env("HUB_URL")).register({name: "client"})
while true {
  let task = client.request("hello", {to: "echo"})
  println(task.state)
}
"#;

/// A server under load: its process, and a round of requests after the other.
struct Loaded {
    name: &'static str,
    process: u32,
    rounds: Arc<AtomicU64>,
    client: thread::JoinHandle<()>,
}

impl Loaded {
    fn start(
        name: &'static str,
        process: u32,
        is_over: &Arc<AtomicBool>,
        mut round: impl FnMut() + Send + 'static,
    ) -> Loaded {
        let (rounds, is_over) = (Arc::<AtomicU64>::default(), is_over.clone());
        let counted = rounds.clone();
        let client = thread::spawn(move || {
            while !is_over.load(Ordering::Relaxed) {
                round();
                counted.fetch_add(1, Ordering::Relaxed);
            }
        });
        Loaded { name, process, rounds, client }
    }

    /// Returns its memory, in KiB.
    fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process));
        let status = status.unwrap_or_else(|_| panic!("{} has ended", self.name));
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }
}

#[test]
#[ignore = "takes ten minutes"]
fn six_servers_keep_their_memory() {
    let minutes: f64 = std::env::var("HARN_LOAD_MINUTES").map_or(10.0, |text| text.parse().unwrap());
    let folder = scratch("load").canonicalize().unwrap();
    std::fs::write(folder.join("agent.harn"), AGENT).unwrap();
    let is_over = Arc::<AtomicBool>::default();
    let mut loaded = Vec::new();

    let (mut acp, process) = Piped::start(&folder, &["serve", "acp", "agent.harn"], false);
    acp.call("initialize", &json!({"protocolVersion": 1, "clientCapabilities": {}}));
    let cwd = folder.clone();
    loaded.push(Loaded::start("acp", process, &is_over, move || {
        let opened = acp.call("session/new", &json!({"cwd": cwd, "mcpServers": []}));
        for _ in 0..3 {
            let prompt = json!([{"type": "text", "text": "hello"}]);
            acp.call("session/prompt", &json!({"sessionId": opened["sessionId"], "prompt": prompt}));
        }
        acp.call("session/close", &json!({"sessionId": opened["sessionId"]}));
    }));

    let (lsp_root, file) = (folder.clone(), format!("file://{}/agent.harn", folder.display()));
    let (mut lsp, process) = Piped::start(&folder, &["lsp"], true);
    lsp.call(
        "initialize",
        &json!({"processId": null, "rootUri": format!("file://{}", lsp_root.display()), "capabilities": {}}),
    );
    lsp.notify("initialized", &json!({}));
    loaded.push(Loaded::start("lsp", process, &is_over, move || {
        let document = json!({"uri": file, "languageId": "harn", "version": 1, "text": AGENT});
        lsp.notify("textDocument/didOpen", &json!({"textDocument": document}));
        for version in 2..6 {
            let text = format!("{AGENT}fn added_{version}(x) {{ return x + {version} }}\n");
            let changed =
                json!({"textDocument": {"uri": file, "version": version}, "contentChanges": [{"text": text}]});
            lsp.notify("textDocument/didChange", &changed);
            let at = json!({"textDocument": {"uri": file}, "position": {"line": 0, "character": 12}});
            lsp.call("textDocument/hover", &at);
        }
        lsp.notify("textDocument/didClose", &json!({"textDocument": {"uri": file}}));
    }));

    let (a2a, addresses) = serve(&folder, &["serve", "a2a", "agent.harn", "--listen", "0"], 1);
    loaded.push(Loaded::start("a2a", a2a.0.id(), &is_over, move || {
        let message = json!({"role": "ROLE_USER", "messageId": "m", "parts": [{"text": "hello"}]});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}});
        let (_, answer) = http(&addresses[0], "POST", "/", "A2A-Version: 1.0\r\n", &body.to_string());
        assert!(answer.contains("TASK_STATE_COMPLETED"), "{answer}");
    }));

    let orders = root().join("examples/mcp/orders.harn");
    let (mcp, addresses) = serve(&folder, &["serve", "mcp", orders.to_str().unwrap(), "--http", "127.0.0.1:0"], 1);
    loaded.push(Loaded::start("mcp", mcp.0.id(), &is_over, move || {
        let ask = |method: &str, params: Value, more: &str| {
            let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
            let headers =
                format!("Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2025-11-25\r\n{more}");
            http(&addresses[0], "POST", "/mcp", &headers, &body)
        };
        let client = json!({"name": "load", "version": "1"});
        let begun = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
        let (head, answer) = ask("initialize", begun, "");
        let session = head.lines().find(|line| line.to_ascii_lowercase().starts_with("mcp-session-id:"));
        let session = format!("{}\r\n", session.unwrap_or_else(|| panic!("{head} {answer}")));
        let call = json!({"name": "count_orders", "arguments": {"paid": true}});
        let (_, answer) = ask("tools/call", call, &session);
        assert!(answer.contains("\"result\""), "{answer}");
        http(&addresses[0], "DELETE", "/mcp", &session, "");
    }));

    let log = format!("sqlite:{}", folder.join("events.db").display());
    let added = command(&folder, &["channel", "add", "load", "--can", "view,prompt,admin", "--event-log", &log])
        .stdout(Stdio::piped())
        .output()
        .unwrap();
    let secret = format!("Authorization: Bearer {}\r\n", String::from_utf8(added.stdout).unwrap().trim());
    let rate = ["--max-rate", "100000"];
    let args = ["serve", "channels", "agent.harn", "--listen", "0", "--event-log", &log];
    let (channels, addresses) = serve(&folder, &[&args[..], &rate].concat(), 1);
    let actions = AtomicU64::new(0);
    loaded.push(Loaded::start("channels", channels.0.id(), &is_over, move || {
        let act = |session: Option<&Value>, kind: &str, params: Value| {
            let id = actions.fetch_add(1, Ordering::Relaxed).to_string();
            let mut action = json!({"kind": kind, "actionId": id, "params": params});
            if let Some(session) = session {
                action["sessionId"] = session.clone();
            }
            let (head, body) = http(&addresses[0], "POST", "/actions", &secret, &action.to_string());
            assert!(head.starts_with("HTTP/1.1 20"), "{head} {body}");
            serde_json::from_str::<Value>(&body).unwrap()
        };
        let opened = act(None, "open", json!({}));
        let session = &opened["result"]["sessionId"];
        act(Some(session), "prompt", json!({"text": "hello"}));
        act(Some(session), "close", json!({}));
    }));

    // A hub keeps what is past up to limits. Small ones are reached before the first measurement on a slow machine, too.
    let limits = ["--max-kept", "3m", "--max-events", "1024"];
    let args = ["serve", "hub", "--listen", "0", "--http", "0", "--store", "memory"];
    let (hub, addresses) = serve(&folder, &[&args[..], &limits].concat(), 2);
    let url = format!("http://{}", addresses[0]);
    let script = |name: &str, text: &str| {
        std::fs::write(folder.join(name), text).unwrap();
        let mut command = command(&folder, &["run", name]);
        let mut child = Running(command.env("HUB_URL", &url).stdout(Stdio::piped()).spawn().unwrap());
        let lines = BufReader::new(child.0.stdout.take().unwrap()).lines();
        (child, lines)
    };
    let (_worker, mut ready) = script("worker.harn", WORKER);
    assert_eq!(ready.next().unwrap().unwrap(), "ready");
    let (_client, mut answered) = script("client.harn", CLIENT);
    loaded.push(Loaded::start("hub", hub.0.id(), &is_over, move || {
        assert_eq!(answered.next().unwrap().unwrap(), "completed");
    }));

    let begun = Instant::now();
    let wait_until = |part: f64| {
        let until = Duration::from_secs_f64(minutes * 60.0 * part);
        thread::sleep(until.saturating_sub(begun.elapsed()));
        loaded.iter().map(|server| (server.memory(), server.rounds.load(Ordering::Relaxed))).collect::<Vec<_>>()
    };
    let (early, late) = (wait_until(0.3), wait_until(1.0));
    is_over.store(true, Ordering::Relaxed);
    let mut grown = Vec::new();
    for ((server, (before, began)), (after, rounds)) in loaded.iter().zip(early).zip(late) {
        println!("{}: {before} KiB, then {after} KiB; {rounds} rounds", server.name);
        assert!(rounds > began, "{} stands still after {began} rounds", server.name);
        if after * 100 > before * MOST {
            grown.push(format!("{}: {before} KiB, then {after} KiB", server.name));
        }
    }
    // The servers still run: a request that failed is a fault, also a late one.
    for Loaded { name, client, .. } in loaded {
        client.join().unwrap_or_else(|_| panic!("a request to {name} failed"));
    }
    assert!(grown.is_empty(), "{grown:?}");
}
