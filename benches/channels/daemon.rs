//! The daemon, and clients that speak HTTP byte by byte.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

/// The agent: it makes as many artifacts as the prompt says.
const AGENT: &str = r#"
pipeline default(task) {
  for n in range(0, to_int(task)) {
    task.artifact({name: "a", parts: ["x"]})
  }
  return "made"
}
"#;

/// A running daemon in a folder of its own.
pub(crate) struct Daemon {
    child: Child,
    address: String,
    /// The secrets of its channels.
    secrets: Vec<String>,
    folder: PathBuf,
}

impl Daemon {
    /// Starts it with a number of channels, of which the first acts.
    pub(crate) fn start(channels: usize) -> Daemon {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let name = format!("harn-bench-channels-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).expect("a folder for the bench");
        std::fs::write(folder.join("agent.harn"), AGENT).expect("the agent can be written");
        let log = format!("sqlite:{}", folder.join("events.db").display());
        let harn = || {
            let mut command = Command::new(env!("CARGO_BIN_EXE_harn"));
            command.current_dir(&folder).env("HARN_EVENT_LOG", &log).stdin(Stdio::null());
            command
        };
        let all = "view,prompt,inject,admin";
        let add = |number: usize| {
            let name = format!("bench-{number}");
            let added = harn().args(["channel", "add", &name, "--can", all]).output().expect("`harn channel add` runs");
            assert!(added.status.success(), "{}", String::from_utf8_lossy(&added.stderr));
            String::from_utf8_lossy(&added.stdout).trim().to_owned()
        };
        let secrets = (0..channels).map(add).collect();
        let serve = ["serve", "channels", "agent.harn", "--listen", "0", "--max-rate", "1000000"];
        let mut child = harn().args(serve).stderr(Stdio::piped()).spawn().expect("the daemon starts");
        let mut said = BufReader::new(child.stderr.take().expect("its standard error"));
        let mut line = String::new();
        said.read_line(&mut line).expect("the daemon says where it listens");
        let address = line.trim().rsplit_once("http://").map(|(_, address)| address.to_owned());
        std::thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
        Daemon { child, address: address.unwrap_or_else(|| panic!("{line}")), secrets, folder }
    }

    /// Sends an action, and returns the body of its response.
    pub(crate) fn act(&self, action: &str) -> String {
        let mut stream = self.connect();
        let head = format!(
            "POST /actions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Authorization: Bearer {}\r\nContent-Length: {}\r\n\r\n{action}",
            self.secrets[0],
            action.len()
        );
        stream.write_all(head.as_bytes()).expect("the daemon takes the action");
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("the daemon answers");
        text.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default()
    }

    /// Opens a session.
    pub(crate) fn open(&self) -> String {
        let opened = self.act(r#"{"actionId": "open", "kind": "open"}"#);
        let id = opened.split("\"sessionId\":\"").nth(1).and_then(|rest| rest.split('"').next());
        id.unwrap_or_else(|| panic!("{opened}")).to_owned()
    }

    /// Connects a channel to the events of a session.
    pub(crate) fn events(&self, channel: usize, session: &str, after: Option<u64>) -> TcpStream {
        let mut stream = self.connect();
        let after = after.map_or_else(String::new, |after| format!("&after={after}"));
        let head = format!(
            "GET /events?session={session}{after} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n\r\n",
            self.secrets[channel]
        );
        stream.write_all(head.as_bytes()).expect("the daemon takes the request");
        stream
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).expect("the daemon accepts");
        stream.set_nodelay(true).expect("the option is known");
        stream
    }

    /// Returns the resident memory in bytes.
    pub(crate) fn resident(&self) -> usize {
        let path = format!("/proc/{}/statm", self.child.id());
        let pages = std::fs::read_to_string(path).ok().and_then(|text| text.split(' ').nth(1)?.parse::<usize>().ok());
        pages.unwrap_or(0) * 4096
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
