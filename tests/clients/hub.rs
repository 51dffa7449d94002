//! `harn serve hub`, driven by agents in Python whose protos are written after the documentation of the wire and compiled by
//! `grpcio-tools`.
//!
//! - [`chaos`]: workers and hubs that are killed. [`wire`]: slow subscribers, TLS, dead letters and the limit of connections.

mod chaos;
mod wire;

use crate::harn::{root, scratch};
use crate::packages::python;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::Duration;

/// The folder of the agents, below the root.
const AGENTS: &str = "tests/hub/python";

/// A running hub.
struct RunningHub {
    child: Child,
    grpc: String,
    http: String,
    /// Kept open: a hub that cannot write its log lines would notice.
    _log: BufReader<ChildStderr>,
}

impl RunningHub {
    fn start(folder: &Path, args: &[&str]) -> RunningHub {
        let mut command = Command::new(env!("CARGO_BIN_EXE_harn"));
        command.args(["serve", "hub", "--listen", "0", "--http", "0"]).args(args).current_dir(folder);
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        log.read_line(&mut line).unwrap();
        let mut addresses = line.split_whitespace().filter(|word| word.starts_with("http"));
        let (Some(grpc), Some(http)) = (addresses.next(), addresses.next()) else {
            log.read_to_string(&mut line).unwrap();
            panic!("the hub does not serve: {line}");
        };
        let grpc = grpc.trim_end_matches(',').trim_start_matches("http://").trim_start_matches("https://").to_owned();
        RunningHub { child, grpc, http: http.to_owned(), _log: log }
    }

    /// Returns the body of a response of the HTTP port.
    fn get(&self, path: &str, headers: &str) -> String {
        let address = self.http.trim_start_matches("http://").trim_end_matches('/');
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    }

    /// Ends it with SIGKILL.
    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Stops it by a signal, and returns its exit code.
    fn stop(mut self) -> Option<i32> {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        self.child.wait().unwrap().code()
    }
}

/// Agents in Python, with the code that is generated from their protos.
struct PythonAgents {
    python: PathBuf,
    folder: PathBuf,
}

impl PythonAgents {
    fn new(test: &str) -> PythonAgents {
        let python = python("hub", &format!("{AGENTS}/requirements.txt"));
        let folder = scratch(&format!("hub-{test}"));
        let generated = folder.join("generated");
        fs::create_dir_all(&generated).unwrap();
        let mut compile = Command::new(&python);
        compile.args(["-m", "grpc_tools.protoc", "-I"]).arg(root().join(AGENTS));
        for kind in ["--python_out", "--grpc_python_out"] {
            compile.arg(format!("{kind}={}", generated.display()));
        }
        let compiled = compile.args(["a2a.proto", "agenthub.proto"]).output().unwrap();
        assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
        PythonAgents { python, folder }
    }

    /// Runs a script against a hub; it must report these parts as passed.
    fn run(&self, script: &str, hub: &RunningHub, parts: &[&str]) {
        let script = root().join(AGENTS).join(script);
        let mut command = Command::new(&self.python);
        command.arg("-B").arg(script).args([&hub.grpc, &hub.http]);
        command.env("PYTHONPATH", self.folder.join("generated"));
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        let expected: String = parts.iter().map(|part| format!("ok {part}\n")).collect();
        assert_eq!(said, expected, "{}", String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success());
    }
}

#[test]
fn agents_in_python_run_every_pattern_and_a_hub_keeps_their_tasks() {
    let agents = PythonAgents::new("patterns");
    let store = ["--store", "sqlite:hub.db"];
    let hub = RunningHub::start(&agents.folder, &store);
    let parts = ["request-response", "broadcast", "pipeline", "hierarchical", "competitive", "refusals", "over HTTP"];
    agents.run("patterns.py", &hub, &parts);
    let completed = |hub: &RunningHub| {
        let metrics = hub.get("/metrics", "");
        let line = metrics.lines().find(|line| line.starts_with("harn_hub_tasks{state=\"completed\"}"));
        line.map(ToOwned::to_owned).unwrap_or(metrics)
    };
    let before = completed(&hub);
    assert_eq!(before, "harn_hub_tasks{state=\"completed\"} 11");
    assert!(hub.get("/readyz", "").ends_with("ready\n"));
    assert_eq!(hub.stop(), Some(143));
    let again = RunningHub::start(&agents.folder, &store);
    assert_eq!(completed(&again), before);
    assert_eq!(again.stop(), Some(143));
}

#[test]
fn every_field_and_enum_has_the_number_of_the_published_wire() {
    let agents = PythonAgents::new("wire");
    let hub = RunningHub::start(&agents.folder, &["--store", "memory"]);
    agents.run("wire.py", &hub, &["numbers", "by hand", "every field"]);
    assert_eq!(hub.stop(), Some(143));
}

/// Writes a file that only its owner can read.
fn private(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}

#[test]
fn a_token_says_who_calls_and_a_claim_has_one_winner() {
    let agents = PythonAgents::new("tokens");
    let tokens: String =
        ["anna", "ben", "cleo"].iter().map(|name| format!("{name} {name}-0123456789abcdef\n")).collect();
    private(&agents.folder.join("tokens"), &tokens);
    let hub = RunningHub::start(&agents.folder, &["--store", "memory", "--token-file", "tokens"]);
    agents.run("tokens.py", &hub, &["identities", "claims"]);
    assert!(hub.get("/metrics", "").starts_with("HTTP/1.1 401 "));
    let token = "Authorization: Bearer anna-0123456789abcdef\r\n";
    assert!(hub.get("/metrics", token).contains("\nharn_hub_agents 3\n"));
    assert!(hub.get("/healthz", "").ends_with("ok\n"));
    assert_eq!(hub.stop(), Some(143));
}

#[test]
fn a_hub_that_cannot_start_says_why() {
    let folder = scratch("hub-refused");
    private(&folder.join("bad"), "anna short\n");
    let open = folder.join("open");
    fs::write(&open, "anna anna-0123456789abcdef\n").unwrap();
    fs::set_permissions(&open, fs::Permissions::from_mode(0o640)).unwrap();
    fs::write(folder.join("pem"), "no certificate\n").unwrap();
    for (args, code) in [
        (&["--listen", "localhost:http"][..], "HARN-HUB-001"),
        (&["--listen", "0.0.0.0:0", "--http", "0", "--store", "memory"], "HARN-HUB-002"),
        (&["--listen", "0", "--http", "0.0.0.0:0", "--store", "memory"], "HARN-HUB-002"),
        (&["--token-file", "bad"], "the token is shorter than 16 characters"),
        (&["--token-file", "open"], "other users can read or change it"),
        (&["--token-file", "missing"], "HARN-HUB-003"),
        (
            &["--listen", "0", "--http", "0", "--store", "memory", "--tls-cert", "pem", "--tls-key", "pem"],
            "HARN-HUB-004",
        ),
        (&["--listen", "0", "--http", "0", "--store", "sqlite:pem"], "HARN-HUB-005"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_harn"));
        let output = command.args(["serve", "hub"]).args(args).current_dir(&folder).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {said}");
        assert!(said.contains(code), "{args:?}: {said}");
    }
}

/// The examples of scripts at a hub.
const EXAMPLES: &str = "examples/hub";

/// Runs each example and compares what it prints with the file beside it.
fn examples_print_what_they_say(hub_url: Option<&str>) {
    let mut count = 0;
    for entry in fs::read_dir(root().join(EXAMPLES)).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "harn") {
            continue;
        }
        count += 1;
        let mut command = Command::new(env!("CARGO_BIN_EXE_harn"));
        command.arg("run").arg(&path).stdin(Stdio::null()).env_remove("HUB_URL");
        command.envs(hub_url.map(|url| ("HUB_URL", url)));
        let output = command.output().unwrap();
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{}: {out}{err}", path.display());
        assert_eq!(out, fs::read_to_string(path.with_extension("out")).unwrap(), "{}", path.display());
    }
    assert!(count >= 5, "{EXAMPLES} has the five patterns");
}

#[test]
fn scripts_run_the_patterns_at_the_hub_of_their_run() {
    examples_print_what_they_say(None);
}

#[test]
fn scripts_run_the_patterns_at_a_served_hub() {
    let folder = scratch("hub_scripts");
    let hub = RunningHub::start(&folder, &["--store", "sqlite:hub.db"]);
    examples_print_what_they_say(Some(&format!("http://{}", hub.grpc)));
    assert_eq!(hub.stop(), Some(143));
}

#[test]
fn a_script_acts_as_the_agent_of_its_token() {
    let folder = scratch("hub_script_token");
    fs::write(folder.join("tokens"), "worker 0123456789abcdef0123456789abcdef\n").unwrap();
    let hub = RunningHub::start(&folder, &["--store", "memory", "--token-file", "tokens"]);
    let script = "let url = env(\"HUB_URL\")\n\
        let worker = hub.connect(url, {token: \"0123456789abcdef0123456789abcdef\"}).register({name: \"any\"})\n\
        println(worker.agent)\n\
        try { hub.connect(url, {agent: \"x\", token: \"wrong\"}).agents() } catch (e) { println(e.code) }\n\
        try { hub.connect(\"http://127.0.0.1:1\", {agent: \"x\", timeout_ms: 100}).agents() } catch (e) { println(e.code) }\n";
    fs::write(folder.join("token.harn"), script).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_harn"));
    command.arg("run").arg(folder.join("token.harn")).env("HUB_URL", format!("http://{}", hub.grpc));
    let output = command.output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "worker\nHARN-HUB-104\nHARN-HUB-101\n", "{err}");
    assert_eq!(hub.stop(), Some(143));
}
