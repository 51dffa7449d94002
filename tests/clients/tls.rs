//! Every server with a certificate, as `curl` sees it.
//!
//! The files in `tests/fixtures/tls`: the certificate of an authority, one that it has signed for 127.0.0.1 with its
//! key, and another key.

use crate::harn::{environment, root, scratch};
use crate::packages::require;
use crate::wait::{LIMIT, find};
use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::{self, Message};

const AGENT: &str = "pipeline default(task) { return task }\n";
/// A script with a public function, as MCP needs it.
const TOOLS: &str = "/** Returns a number. */\npub pipeline seven(task) { return 7 }\n";

/// A server, the path of its JSON endpoint, and the code of a certificate that it cannot use.
struct Tested {
    wire: &'static str,
    script: &'static str,
    options: &'static [&'static str],
    code: &'static str,
}

const ALL: [Tested; 4] = [
    Tested { wire: "a2a", script: AGENT, options: &["--listen", "0"], code: "HARN-A2A-020" },
    Tested { wire: "mcp", script: TOOLS, options: &["--http", "0"], code: "HARN-MCP-205" },
    Tested {
        wire: "channels",
        script: AGENT,
        options: &["--listen", "0", "--event-log", "sqlite:log.db"],
        code: "HARN-CHN-007",
    },
    Tested {
        wire: "hub",
        script: "",
        options: &["--listen", "0", "--http", "0", "--store", "memory"],
        code: "HARN-HUB-004",
    },
];

fn file(name: &str) -> String {
    root().join("tests/fixtures/tls").join(name).display().to_string()
}

/// The options for a certificate and its key.
fn tls<'a>(certificate: &'a str, key: &'a str) -> [&'a str; 4] {
    ["--tls-cert", certificate, "--tls-key", key]
}

impl Tested {
    fn command(&self, folder: &Path, more: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_harn"));
        command.env_clear().envs(environment()).current_dir(folder).args(["serve", self.wire]);
        if !self.script.is_empty() {
            fs::write(folder.join("agent.harn"), self.script).unwrap();
            command.arg("agent.harn");
        }
        command.args(self.options).args(more).stdin(Stdio::null());
        command
    }
}

/// A running server. It ends with the test.
struct TlsServer {
    child: Child,
    folder: PathBuf,
    /// The last URL that it says: that of its HTTP port.
    url: String,
    said: Arc<Mutex<String>>,
}

impl TlsServer {
    fn start(test: &str, tested: &Tested, options: &[&str], log: &str) -> TlsServer {
        let folder = scratch(&format!("tls-{test}-{}", tested.wire));
        let mut command = tested.command(&folder, &tls(&file("server.pem"), &file("server.key")));
        command.args(options).env("HARN_LOG", log).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let said = Arc::new(Mutex::new(String::new()));
        let (lines, to) = (BufReader::new(child.stderr.take().unwrap()), said.clone());
        std::thread::spawn(move || {
            for line in lines.lines().map_while(Result::ok) {
                to.lock().unwrap().push_str(&format!("{line}\n"));
            }
        });
        let mut server = TlsServer { child, folder, url: String::new(), said };
        server.url = find("the address of the server", || {
            let said = server.said();
            let line = said.lines().find(|line| line.contains("https://")).map(str::to_owned);
            let url = line.and_then(|line| {
                let at = line.rfind("https://")?;
                let host = line[at + "https://".len()..].split(['/', ' ', ';', ',']).next()?;
                Some(format!("https://{host}"))
            });
            url.ok_or(said)
        });
        server
    }

    /// Connects a client that trusts the authority.
    fn connect(&self) -> StreamOwned<ClientConnection, TcpStream> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_file(file("ca.pem")).unwrap()).unwrap();
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let config = config.with_safe_default_protocol_versions().unwrap().with_root_certificates(roots);
        let connection =
            ClientConnection::new(Arc::new(config.with_no_client_auth()), "127.0.0.1".try_into().unwrap()).unwrap();
        let stream = TcpStream::connect(self.url.trim_start_matches("https://")).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        StreamOwned::new(connection, stream)
    }

    fn said(&self) -> String {
        self.said.lock().unwrap().clone()
    }

    /// Sends a request with `curl`, which trusts the authority.
    fn curl(&self, path: &str, more: &[&str]) -> Output {
        let mut command = Command::new("curl");
        command.args(["--silent", "--show-error", "--noproxy", "*", "--max-time", "60"]).args(more);
        command.arg("--cacert").arg(file("ca.pem")).arg(format!("{}{path}", self.url)).output().unwrap()
    }
}

impl Drop for TlsServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn every_server_speaks_tls_with_its_certificate() {
    require("curl", "--version", "is a client with TLS", "curl");
    for tested in &ALL {
        let server = TlsServer::start("every", tested, &[], "info");
        let wire = tested.wire;
        let seen = server.curl("/healthz", &["--write-out", "%{http_version} %{ssl_verify_result}"]);
        assert!(seen.status.success(), "{wire}: {}", String::from_utf8_lossy(&seen.stderr));
        // It is offered HTTP/2 too.
        assert_eq!(text(&seen), "ok\n1.1 0", "{wire}");
        let metrics = text(&server.curl("/metrics", &[]));
        let is_open = wire != "channels";
        assert_eq!(metrics.contains("harn_http_request_duration_seconds_count{route=\"/healthz\""), is_open, "{wire}");
        // A client that does not trust the authority, and one without TLS, get nothing.
        let strange = Command::new("curl").args(["--silent", "--noproxy", "*"]).arg(&server.url).output().unwrap();
        assert_eq!(strange.status.code(), Some(60), "{wire}: {}", text(&strange));
        let mut plain = TcpStream::connect(server.url.trim_start_matches("https://")).unwrap();
        plain.set_read_timeout(Some(LIMIT)).unwrap();
        plain.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        let mut answer = Vec::new();
        let _ = plain.read_to_end(&mut answer);
        assert!(!answer.starts_with(b"HTTP"), "{wire}: {}", String::from_utf8_lossy(&answer));
    }
}

#[test]
fn a_request_and_its_response_cross_tls_whole() {
    require("curl", "--version", "is a client with TLS", "curl");
    let server = TlsServer::start("long", &ALL[0], &[], "info");
    let long = "x".repeat(300_000);
    let body = format!(
        r#"{{"jsonrpc": "2.0", "id": 1, "method": "SendStreamingMessage", "params": {{"message":
            {{"messageId": "m", "role": "ROLE_USER", "parts": [{{"text": "{long}"}}]}}}}}}"#
    );
    let folder = scratch("tls-whole");
    fs::write(folder.join("body"), body).unwrap();
    let data = format!("@{}", folder.join("body").display());
    let headers = ["-H", "Content-Type: application/json", "-H", "A2A-Version: 1.0", "--data-binary", &data];
    let events = text(&server.curl("/", &headers));
    assert!(events.contains("TASK_STATE_COMPLETED") && events.contains(&long), "{} bytes", events.len());
    let card = text(&server.curl("/.well-known/agent-card.json", &[]));
    assert!(card.contains(&format!("\"url\":\"{}/\"", server.url)), "{card}");
}

#[test]
fn a_certificate_that_cannot_be_used_is_reported_with_its_path() {
    let folder = scratch("tls-refused");
    fs::write(folder.join("nonsense"), "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n").unwrap();
    let (certificate, key, other) = (file("server.pem"), file("server.key"), file("other.key"));
    let refused = |tested: &Tested, options: &[&str]| {
        let output = tested.command(&folder, options).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    for tested in &ALL {
        for (certificate, key, said) in [
            ("missing.pem", &*key, "cannot read `missing.pem`: "),
            (&*certificate, "missing.key", "cannot read `missing.key`: "),
            (&*key, &*key, "server.key` is not a certificate chain in PEM"),
            (&*certificate, &*certificate, "server.pem` is not a private key in PEM"),
            (&*certificate, &*other, "other.key` does not belong to the certificate `"),
            ("nonsense", &*key, "cannot use the certificate `nonsense` with its key: "),
        ] {
            let (code, err) = refused(tested, &tls(certificate, key));
            assert_eq!(code, Some(1), "{}: {err}", tested.wire);
            assert!(err.contains(tested.code) && err.contains(said), "{} {said}: {err}", tested.wire);
        }
        assert_eq!(refused(tested, &["--tls-cert", &certificate]).0, Some(2), "{}", tested.wire);
    }
    let (code, err) = refused(&Tested { options: &[], ..ALL[1] }, &tls(&certificate, &key));
    assert!(code == Some(1) && err.contains("need `--http`"), "{err}");
}

#[test]
fn channels_need_no_insecure_address_with_a_certificate() {
    let tested = Tested { options: &["--listen", "0.0.0.0:0", "--event-log", "sqlite:log.db"], ..ALL[2] };
    let server = TlsServer::start("public", &tested, &[], "info");
    assert!(server.url.starts_with("https://0.0.0.0:"), "{}", server.said());
}

#[test]
fn a_websocket_crosses_tls() {
    let server = TlsServer::start("websocket", &ALL[2], &[], "info");
    let mut add = Command::new(env!("CARGO_BIN_EXE_harn"));
    add.env_clear().envs(environment()).current_dir(&server.folder);
    add.args(["channel", "add", "phone", "--can", "view,prompt", "--event-log", "sqlite:log.db"]);
    let secret = text(&add.output().unwrap());
    let address = server.url.trim_start_matches("https://");
    let mut request = format!("wss://{address}/acp").into_client_request().unwrap();
    request.headers_mut().insert("authorization", format!("Bearer {}", secret.trim()).parse().unwrap());
    let mut socket = tungstenite::client(request, server.connect()).unwrap().0;
    let long = "x".repeat(100_000);
    let mut session = String::new();
    for (id, method) in [(1, "initialize"), (2, "session/new"), (3, "session/prompt")] {
        let params = match id {
            1 => json!({"protocolVersion": 1, "clientCapabilities": {}}),
            2 => json!({"cwd": "/", "mcpServers": []}),
            _ => json!({"sessionId": session, "prompt": [{"type": "text", "text": long}]}),
        };
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        socket.send(message.to_string().into()).unwrap();
        let answer = loop {
            let Message::Text(text) = socket.read().unwrap() else { continue };
            let message: Value = serde_json::from_str(&text).unwrap();
            if message["id"] == id {
                break message;
            }
        };
        let said = server.said();
        assert!(answer.get("result").is_some(), "{answer} {said}");
        session = answer["result"]["sessionId"].as_str().unwrap_or(&session).to_owned();
    }
}

#[test]
fn each_request_has_a_line_with_its_route_and_without_what_the_client_chose() {
    require("curl", "--version", "is a client with TLS", "curl");
    let server = TlsServer::start("lines", &ALL[0], &["--token", "a-secret-token"], "info,serve::http::access=debug");
    server.curl("/healthz?secret=in-the-query", &[]);
    server.curl("/secret-path", &["-X", "FROB"]);
    server.curl("/", &["-X", "POST", "-H", "Authorization: Bearer another-secret"]);
    let said = find("three lines", || {
        let said = server.said();
        if said.lines().filter(|line| line.contains("route=")).count() == 3 { Ok(said) } else { Err(said) }
    });
    for (method, route, status) in [("GET", "/healthz", 200), ("other", "other", 404), ("POST", "/", 401)] {
        let start = format!("harn: debug: request method=\"{method}\" route=\"{route}\" status={status} ms=");
        let line = said.lines().find(|line| line.starts_with(&start));
        assert!(line.is_some_and(|line| line.contains(" bytes=") && line.ends_with("client=\"loopback\"")), "{said}");
    }
    assert!(!said.contains("secret"), "{said}");
    // Without the filter, requests are not logged.
    let quiet = TlsServer::start("quiet", &ALL[0], &[], "info");
    quiet.curl("/healthz", &[]);
    assert!(!quiet.said().contains("route="), "{}", quiet.said());
}
