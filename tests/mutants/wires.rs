//! Requests of every wire: ACP and MCP over standard input, MCP, A2A and the hub over HTTP, channels over HTTP and WebSockets.
//!
//! A mutant is the name of a wire and what a client sends: lines, or the bytes of a connection each. After it, the server must
//! answer a good request.

use crate::data;
use crate::http::{LIMIT, PATIENCE, checked, exchange, get, head_end, placed, post, replaced};
use crate::random::Random;
use crate::rpc::{answers, read};
use crate::served::{Served, command, lines_of, removed};
use crate::subject::{Mutant, Mutator, Subject, Target, Verdict};
use crate::text;
use crate::wire_requests::{ACTION, SECRET, SESSION, TASK, Wire, initialize_params, mcp_meta, rpc, wires};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fs;
use std::io::Write;
use std::process::ChildStdin;
use std::sync::mpsc::Receiver;

const LONGEST: usize = 40_000;

pub(crate) const WIRES: Subject = Subject { name: "wires", cases: 800, balance: 20, mutator, target };

/// After so many mutants, a server is replaced by a new one.
const MOST_MUTANTS: u32 = 250;

/// An agent that does what the first word of a prompt says.
const AGENT: &str = "\
pipeline default(task, context) {
  let words = task.split(\" \")
  match words[0] {
    \"ask\" -> { return \"You like ${task.ask(\"Which colour?\")}.\" }
    \"fail\" -> { throw \"It broke.\" }
    \"reject\" -> { task.reject(\"No.\") }
    \"artifact\" -> {
      task.artifact({name: \"a\", parts: [\"one\", {data: {n: 1}}]})
      return \"Made.\"
    }
    \"status\" -> {
      task.status(\"half done\", {completed_portion: 0.5})
      return \"Read.\"
    }
    \"tool\" -> {
      llm_mock_clear()
      llm_mock({tool_calls: [{id: \"call-1\", name: \"pay\", arguments: {}}]})
      llm_mock({text: \"paid\"})
      let tools = tool_define(tool_registry(), \"pay\", \"Pays.\", {
        parameters: {},
        handler: { args -> \"paid\" },
        annotations: {permission: \"it costs money\"},
      })
      return agent_loop(task, nil, {provider: \"mock\", tools: tools}).text
    }
    \"loop\" -> { return agent_loop(task, nil, {llm_caller: { asked -> \"I say: ${task}\" }}).text }
    _ -> { return \"did ${task}\" }
  }
}
";

/// A server of MCP.
const TOOLS: &str = "\
/// Counts.
pub tool count(of: string, most: int = 3) -> int { return of.count }
/// Asks and fails.
pub pipeline fail(why: string) -> string { throw why }
/// Reports its progress.
pub pipeline slow(steps: int = 2) -> string {
  for n in range(0, 2) { task.status(\"step ${n}\", {completed_portion: 0.5}) }
  mcp.remind({body: \"Done.\", ttl_turns: 1})
  return \"done\"
}
/// All.
@resource(\"things://all\")
pub fn all_things() { return [1, 2] }
/// One.
@resource(\"things://{id}\", mime_type: \"text/plain\")
pub fn one_thing(id: int) { return \"${id}\" }
";

fn mutator() -> Mutator {
    let with_donors = |wire: Wire| {
        let donors: Vec<Vec<u8>> = wire.sessions.iter().flatten().cloned().collect();
        (wire, donors)
    };
    let wires: Vec<(Wire, Vec<Vec<u8>>)> = wires().into_iter().map(with_donors).collect();
    Box::new(move |random| {
        let (wire, donors) = random.one_of(&wires).expect("six");
        mutant(random, wire, donors)
    })
}

/// Changes a good session of a wire, or two of them. `donors` are all requests of the wire.
fn mutant(random: &mut Random, wire: &Wire, donors: &[Vec<u8>]) -> Mutant {
    let mut session = random.one_of(&wire.sessions).cloned().unwrap_or_default();
    if random.one_in(3) {
        session.extend(random.one_of(&wire.sessions).cloned().unwrap_or_default());
    }
    for _ in 0..=random.below(3) {
        let at = random.below(session.len());
        let donor = random.one_of(donors).cloned().unwrap_or_default();
        session[at] = match random.below(8) {
            0 => donor,
            1..=4 => with_body(&session[at], |body| {
                let mut value: Value = serde_json::from_slice(body).ok()?;
                let other = body_of(&donor).and_then(|body| serde_json::from_slice(body).ok()).unwrap_or_default();
                data::changed(random, &mut value, &other);
                Some(value.to_string().into_bytes())
            }),
            5 => with_body(&session[at], |body| Some(text::mutant(random, body, donors, LONGEST))),
            _ => text::mutant(random, &session[at], donors, LONGEST),
        };
    }
    if wire.is_lines {
        // A line break within a message makes two lines of it, as it does for a client.
        session = session.iter().flat_map(|line| line.split(|&byte| byte == b'\n')).map(<[u8]>::to_vec).collect();
    }
    session.insert(0, wire.name.as_bytes().to_vec());
    Mutant { pieces: session }
}

fn body_of(request: &[u8]) -> Option<&[u8]> {
    Some(head_end(request).map_or(request, |end| &request[end..]))
}

/// Changes the body of a request, and says its new length; of a line, all.
fn with_body(request: &[u8], change: impl FnOnce(&[u8]) -> Option<Vec<u8>>) -> Vec<u8> {
    let end = head_end(request).unwrap_or(0);
    let Some(body) = change(&request[end..]) else { return request.to_vec() };
    if end == 0 {
        return body;
    }
    let head = String::from_utf8_lossy(&request[..end]).into_owned();
    let lines = head.split_inclusive("\r\n").map(|line| match line.starts_with("Content-Length: ") {
        true => format!("Content-Length: {}\r\n", body.len()),
        false => line.to_owned(),
    });
    [lines.collect::<String>().into_bytes(), body].concat()
}

fn target() -> Box<dyn Target> {
    fs::create_dir_all(".git").unwrap();
    fs::write("agent.harn", AGENT).unwrap();
    fs::write("tools.harn", TOOLS).unwrap();
    Box::new(Servers::default())
}

#[derive(Default)]
struct Servers {
    running: HashMap<String, Server>,
}

/// A server and its client.
struct Server {
    served: Served,
    client: ServerClient,
    fed: u32,
}

enum ServerClient {
    Lines { client: LineClient, is_acp: bool },
    Http(HttpClient),
}

impl Target for Servers {
    fn feed(&mut self, mutant: &Mutant) -> Result<Verdict, String> {
        let Some((name, requests)) = mutant.pieces.split_first() else { return Ok(Verdict::Rejected) };
        let name = String::from_utf8_lossy(name).into_owned();
        if self.running.get(&name).is_some_and(|server| server.fed >= MOST_MUTANTS) {
            self.running.remove(&name);
        }
        if !self.running.contains_key(&name) {
            let Some(server) = start(&name)? else { return Ok(Verdict::Rejected) };
            self.running.insert(name.clone(), server);
        }
        let server = self.running.get_mut(&name).ok_or("no server")?;
        server.fed += 1;
        let fed = match &mut server.client {
            ServerClient::Lines { client, is_acp } => client.feed(requests, *is_acp),
            ServerClient::Http(client) => client.feed(requests),
        };
        match (fed, server.served.is_well()) {
            (Ok(verdict), Ok(())) => Ok(verdict),
            (_, Err(why)) | (Err(why), _) => Err(why),
        }
    }
}

fn start(name: &str) -> Result<Option<Server>, String> {
    let agent = |kind: &'static str| ["serve", kind, "agent.harn"];
    let arguments: Vec<&str> = match name {
        "acp" => agent("acp").to_vec(),
        "mcp" => vec!["serve", "mcp", "tools.harn"],
        "mcp_http" => vec!["serve", "mcp", "tools.harn", "--http", "127.0.0.1:0"],
        "a2a" => [&agent("a2a")[..], &["--listen", "127.0.0.1:0", "--max-tasks", "100000"]].concat(),
        "hub" => vec!["serve", "hub", "--listen", "0", "--http", "0", "--store", "memory"],
        "channels" => {
            let more = ["--listen", "0", "--a2a", "--max-rate", "100000", "--max-sessions", "100000"];
            [&agent("channels")[..], &more, &["--event-log", "sqlite:channels.db"]].concat()
        }
        _ => return Ok(None),
    };
    let mut secret = String::new();
    if name == "channels" {
        removed("channels.db");
        let can = "view,prompt,inject,permit,permit:session,admin";
        let add = ["channel", "add", "phone", "--can", can, "--event-log", "sqlite:channels.db"];
        let added = command(&add).output().map_err(|error| error.to_string())?;
        secret = String::from_utf8_lossy(&added.stdout).trim().to_owned();
    }
    let mut served = Served::start(&arguments)?;
    if let ("acp" | "mcp", Some(input), Some(output)) = (name, served.input.take(), served.output.take()) {
        let client = LineClient { input, lines: lines_of(output), asked: 0, seen: Vec::new() };
        return Ok(Some(Server { served, client: ServerClient::Lines { client, is_acp: name == "acp" }, fed: 0 }));
    }
    let address = served.addresses()?.last().cloned().unwrap_or_default();
    let good = match name {
        "a2a" => get("/.well-known/agent-card.json", ""),
        "mcp_http" => {
            let ask = rpc(1, "tools/list", json!({"_meta": mcp_meta()}));
            let headers = "Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
                           Mcp-Method: tools/list\r\n";
            post("/mcp", headers, &ask.to_string())
        }
        _ => get("/healthz", ""),
    };
    let client = HttpClient { address, good, values: vec![(SECRET, secret)], sent: 0 };
    Ok(Some(Server { served, client: ServerClient::Http(client), fed: 0 }))
}

/// The client of a server over standard input and output.
struct LineClient {
    input: ChildStdin,
    lines: Receiver<Vec<u8>>,
    asked: u64,
    /// Messages other than the answers.
    seen: Vec<Value>,
}

impl LineClient {
    fn write(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.input.write_all(bytes).and_then(|()| self.input.flush()).map_err(|error| error.to_string())
    }

    /// Sends a request, and returns its answer.
    fn ask(&mut self, method: &str, params: &Value) -> Result<Value, String> {
        self.asked += 1;
        let id = format!("asked-{}", self.asked);
        self.write(
            format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).as_bytes(),
        )?;
        loop {
            let line = self.lines.recv_timeout(LIMIT).map_err(|error| format!("no answer to `{method}`: {error}"))?;
            let Some(message) = read(&line)? else { continue };
            if message["id"] == id.as_str() && message.get("method").is_none() {
                return Ok(message);
            }
            self.seen.push(message);
        }
    }

    /// Sends the lines of a mutant between good requests.
    fn feed(&mut self, requests: &[Vec<u8>], is_acp: bool) -> Result<Verdict, String> {
        let mut session = String::new();
        if is_acp {
            self.ask("initialize", &initialize_params())?;
            let cwd = std::env::current_dir().unwrap_or_default();
            let opened = self.ask("session/new", &json!({"cwd": cwd, "mcpServers": []}))?;
            session = opened["result"]["sessionId"].as_str().ok_or(format!("no session: {opened}"))?.to_owned();
        }
        self.seen.clear();
        let sent: Vec<u8> = requests.iter().flat_map(|line| [line, &b"\n"[..]].concat()).collect();
        self.write(&replaced(&sent, SESSION.as_bytes(), session.as_bytes()))?;
        if is_acp {
            // The mutant may have closed it.
            self.ask("session/close", &json!({"sessionId": session}))?;
        }
        let (method, params) = match is_acp {
            true => ("session/list", json!({})),
            false => ("tools/list", json!({"_meta": mcp_meta()})),
        };
        let answer = self.ask(method, &params)?;
        if !answer["result"].is_object() {
            return Err(format!("a good request is refused: {answer}"));
        }
        let found = answers(&self.seen)?;
        Ok(if found.results > 0 { Verdict::Accepted } else { Verdict::Rejected })
    }
}

/// The client of a server over HTTP.
struct HttpClient {
    address: String,
    /// A request that is answered with 200.
    good: Vec<u8>,
    values: Vec<(&'static str, String)>,
    /// The number of requests so far.
    sent: u64,
}

impl HttpClient {
    fn feed(&mut self, requests: &[Vec<u8>]) -> Result<Verdict, String> {
        let mut verdict = Verdict::Rejected;
        for request in requests {
            self.sent += 1;
            let values = [&self.values[..], &[(ACTION, format!("action-{}", self.sent))]].concat();
            let answer = exchange(&self.address, &placed(request, &values), PATIENCE)?;
            self.note(&answer);
            if checked(&answer)? == Verdict::Accepted {
                verdict = Verdict::Accepted;
            }
        }
        let answer = exchange(&self.address, &self.good, LIMIT)?;
        match answer.starts_with(b"HTTP/1.1 200 ") {
            true => Ok(verdict),
            false => Err(format!("a good request is refused: {}", String::from_utf8_lossy(&answer))),
        }
    }

    /// Keeps the last ids that the server has given, so that later mutants name what there is.
    fn note(&mut self, answer: &[u8]) {
        let Some(body) = body_of(answer).and_then(|body| serde_json::from_slice::<Value>(body).ok()) else { return };
        for (word, path) in [
            (TASK, "/result/task/id"),
            (TASK, "/result/id"),
            (TASK, "/task/id"),
            (TASK, "/result/taskId"),
            (SESSION, "/result/sessionId"),
        ] {
            if let Some(id) = body.pointer(path).and_then(Value::as_str) {
                self.values.retain(|(known, _)| *known != word);
                self.values.push((word, id.to_owned()));
            }
        }
    }
}
