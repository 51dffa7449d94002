//! A process at the other end of two pipes.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// The timeout of a wait.
const LIMIT: Duration = Duration::from_secs(60);

/// An answer, and when it was there.
pub(crate) struct Answer {
    pub(crate) id: u64,
    pub(crate) frame: Value,
    pub(crate) at: Instant,
}

/// A process, its answers as they come; whatever else it sends is passed over.
pub(crate) struct Agent {
    child: Child,
    stdin: Option<ChildStdin>,
    answers: Receiver<Answer>,
    next: u64,
    folder: PathBuf,
}

impl Agent {
    /// Serves a script of `benches/acp/programs`, with these options.
    pub(crate) fn harn(script: &str, args: &[&str]) -> Agent {
        let folder = std::env::temp_dir().join(format!("harn-bench-acp-{}-{}", std::process::id(), fresh()));
        std::fs::create_dir_all(&folder).expect("a folder for the session");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/acp/programs").join(script);
        let mut command = Command::new(env!("CARGO_BIN_EXE_harn"));
        command.args(["serve", "acp"]).arg(script).args(args).current_dir(&folder);
        command.env_remove("HARN_EVENT_LOG").env("HARN_LLM_PROVIDER", "mock");
        let mut agent = Agent::start(command, folder);
        agent.ask("initialize", json!({"protocolVersion": 1, "clientCapabilities": {}}));
        agent
    }

    /// The process that only answers.
    pub(crate) fn echo() -> Agent {
        let mut command = Command::new(std::env::current_exe().expect("the path of the bench"));
        command.arg(super::echo::WORD);
        Agent::start(command, std::env::temp_dir())
    }

    fn start(mut command: Command, folder: PathBuf) -> Agent {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the process starts");
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take().expect("a pipe"));
        let (sender, answers) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines() {
                let (Ok(line), at) = (line, Instant::now()) else { return };
                let Ok(frame) = serde_json::from_str::<Value>(&line) else { panic!("no frame: {line}") };
                let is_answer = frame.get("method").is_none();
                if let (true, Some(id)) = (is_answer, frame["id"].as_u64())
                    && sender.send(Answer { id, frame, at }).is_err()
                {
                    return;
                }
            }
        });
        Agent { child, stdin, answers, next: 0, folder }
    }

    /// The folder of its sessions.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// A new session.
    pub(crate) fn session(&mut self) -> String {
        let opened = self.ask("session/new", json!({"cwd": self.folder, "mcpServers": []}));
        opened["result"]["sessionId"].as_str().unwrap_or_else(|| panic!("no session: {opened}")).to_owned()
    }

    /// Sends a prompt; the id of the request.
    pub(crate) fn prompt(&mut self, session: &str, text: &str) -> u64 {
        let params = json!({"sessionId": session, "prompt": [{"type": "text", "text": text}]});
        let (id, line) = self.line("session/prompt", &params);
        self.write(&line);
        id
    }

    /// The line of a request, and its id.
    pub(crate) fn line(&mut self, method: &str, params: &Value) -> (u64, String) {
        let id = self.next;
        self.next += 1;
        (id, format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})))
    }

    /// Writes lines.
    pub(crate) fn write(&mut self, lines: &str) {
        let stdin = self.stdin.as_mut().expect("it is not closed yet");
        stdin.write_all(lines.as_bytes()).and_then(|()| stdin.flush()).expect("the process reads");
    }

    /// Its input, to be written to by another thread.
    pub(crate) fn take_stdin(&mut self) -> ChildStdin {
        self.stdin.take().expect("it is not closed yet")
    }

    /// The next answer.
    pub(crate) fn answer(&self) -> Answer {
        self.answers.recv_timeout(LIMIT).expect("an answer")
    }

    /// A request and its answer, where nothing else is asked meanwhile.
    #[allow(clippy::needless_pass_by_value)] // what `json!` makes is given away
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let (id, line) = self.line(method, &params);
        self.write(&line);
        loop {
            let answer = self.answer();
            if answer.id == id {
                return answer.frame;
            }
        }
    }

    /// The most resident memory so far, in KiB; 0 where the system does not say.
    pub(crate) fn peak_kib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        drop(self.stdin.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
        if self.folder != std::env::temp_dir() {
            let _ = std::fs::remove_dir_all(&self.folder);
        }
    }
}

/// A number that no other folder of this process has.
fn fresh() -> usize {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static LAST: AtomicUsize = AtomicUsize::new(0);
    LAST.fetch_add(1, Ordering::Relaxed)
}
