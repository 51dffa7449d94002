//! Trust of folders: a `harn.toml` from another author sends no key away, runs no pack and writes
//! nowhere else until the user has trusted it; and a vendor's key is sent to the vendor only,
//! unless the user says so.

use crate::harn::{Outcome, harn_in, scratch};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;

const KEY: &str = "sk-a-key-that-must-not-leave";

/// A proxy without a server, so that a vendor is never reached through it.
const NO_NETWORK: (&str, &str) = ("HTTPS_PROXY", "http://127.0.0.1:9");

/// A server that writes down the requests that reach it, and answers each with an error.
struct Listener {
    address: String,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Listener {
    fn start() -> Listener {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let heads = Arc::new(Mutex::new(Vec::new()));
        let seen = heads.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let head = head(&stream);
                seen.lock().unwrap().push(head);
                let mut stream = stream;
                let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            }
        });
        Listener { address, heads }
    }

    fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

/// The head of a request. The body is read too, for a connection that is closed on unread bytes is reset.
fn head(stream: &TcpStream) -> String {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while reader.read_line(&mut head).is_ok_and(|read| read > 2) {}
    let length = head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    let _ = reader.read_exact(&mut body);
    head
}

/// A folder with a `harn.toml` and a script, and settings of its own.
struct TrustCase {
    folder: PathBuf,
    settings: PathBuf,
}

/// Asks a provider once, and prints why that failed.
fn asking(provider: &str) -> String {
    format!(
        "let r = try {{ llm_call(\"hi\", nil, {{provider: \"{provider}\", llm_retries: 0}}) }}\n\
         println(is_err(r) ? unwrap_err(r).message : \"answered\")\n"
    )
}

impl TrustCase {
    fn new(name: &str, toml: &str, script: &str) -> TrustCase {
        let whole = scratch(&format!("trust-{name}"));
        let case = TrustCase { folder: whole.join("project"), settings: whole.join("settings") };
        fs::create_dir_all(&case.folder).unwrap();
        fs::write(case.folder.join("harn.toml"), toml).unwrap();
        fs::write(case.folder.join("main.harn"), script).unwrap();
        case
    }

    fn harn(&self, args: &[&str], env: &[(&str, &str)]) -> Outcome {
        let settings = self.settings.to_str().unwrap();
        let env: Vec<_> = env.iter().copied().chain([NO_NETWORK, ("HARN_CONFIG_HOME", settings)]).collect();
        harn_in(&self.folder, args, b"", &env)
    }

    fn trust(&self) -> String {
        let outcome = self.harn(&["trust"], &[]);
        assert_eq!((outcome.code, outcome.err.as_str()), (Some(0), ""), "{}", outcome.out);
        outcome.out
    }

    /// Settings of the user that let keys go to an origin.
    fn allow(&self, origin: &str, key: &str) {
        fs::create_dir_all(&self.settings).unwrap();
        fs::write(self.settings.join("config.toml"), format!("[keys]\n{origin:?} = [{key:?}]\n")).unwrap();
    }
}

/// Asserts that a run was warned once, about these settings.
fn warned(outcome: &Outcome, settings: &[&str]) {
    assert_eq!(outcome.drawn("warning"), 1, "{}", outcome.err);
    assert!(
        outcome.err.contains("warning[HARN-CFG-006]") && outcome.err.contains("run `harn trust"),
        "{}",
        outcome.err
    );
    for setting in settings {
        assert!(outcome.err.contains(&format!("`{setting}`")), "{setting} in\n{}", outcome.err);
    }
}

#[test]
fn an_untrusted_folder_sends_no_key_away() {
    let server = Listener::start();
    for (name, provider, entry, variable) in [
        ("base", "anthropic", format!("base_url = {:?}", server.address), "ANTHROPIC_API_KEY"),
        (
            "aws",
            "openai_compatible",
            format!("base_url = {:?}\nkey_env = \"GITHUB_TOKEN\"", server.address),
            "GITHUB_TOKEN",
        ),
    ] {
        for ending in ["harn", "rhai"] {
            let toml = format!("[providers.{provider}]\n{entry}\n");
            let case = TrustCase::new(&format!("{name}-{ending}"), &toml, &asking(provider));
            let call = format!("llm_call(\"hi\", (), #{{provider: \"{provider}\", llm_retries: 0}});");
            fs::write(case.folder.join("main.rhai"), format!("try {{ {call} }} catch (e) {{ print(e.message) }}\n"))
                .unwrap();
            let script = format!("main.{ending}");
            let denied = "--deny=env,net,process,fs.read,fs.write";
            let outcome = case.harn(&["run", denied, &script], &[(variable, KEY)]);
            warned(&outcome, &[&format!("providers.{provider}.base_url")]);
            assert!(!outcome.out.contains("answered"), "{}", outcome.out);
            assert_eq!(server.heads(), Vec::<String>::new(), "{script}: a request arrived");
            assert!(!outcome.err.contains(KEY) && !outcome.out.contains(KEY));
        }
    }
}

#[test]
fn a_vendors_key_goes_elsewhere_only_where_the_user_says_so() {
    let server = Listener::start();
    let toml = format!("[providers.anthropic]\nbase_url = {:?}\n", server.address);
    let case = TrustCase::new("vendor", &toml, &asking("anthropic"));
    let env = [("ANTHROPIC_API_KEY", KEY)];
    // Trust of the folder is not enough for a key that belongs to a vendor.
    case.trust();
    let outcome = case.harn(&["run", "main.harn"], &env);
    assert_eq!(outcome.drawn("warning"), 0, "{}", outcome.err);
    assert!(outcome.out.contains("the key of ANTHROPIC_API_KEY is not sent to"), "{}", outcome.out);
    assert_eq!(server.heads().len(), 0);
    // The user's own settings are.
    case.allow(&server.address, "ANTHROPIC_API_KEY");
    case.harn(&["run", "main.harn"], &env);
    assert_eq!(server.heads().len(), 1);
    assert!(server.heads()[0].contains(&format!("x-api-key: {KEY}")), "{:?}", server.heads());
    // So is the variable of the environment, whatever the project says.
    let other = Listener::start();
    let outcome = case.harn(&["run", "main.harn"], &[env[0], ("ANTHROPIC_BASE_URL", &other.address)]);
    assert_eq!((server.heads().len(), other.heads().len()), (1, 1), "{}", outcome.err);
    assert!(other.heads()[0].contains(KEY));
    // Another vendor's key is not this provider's.
    let toml = format!("[providers.anthropic]\nbase_url = {:?}\nkey_env = \"OPENAI_API_KEY\"\n", other.address);
    let case = TrustCase::new("vendor-other", &toml, &asking("anthropic"));
    case.trust();
    let outcome = case.harn(&["run", "main.harn"], &[("OPENAI_API_KEY", KEY)]);
    assert!(outcome.out.contains("the key of OPENAI_API_KEY is not sent to"), "{}", outcome.out);
    assert_eq!(other.heads().len(), 1);
}

#[test]
fn a_key_of_no_vendor_goes_where_the_trusted_file_says() {
    let server = Listener::start();
    let toml = format!("[providers.openai_compatible]\nbase_url = \"{}/v1\"\nkey_env = \"GPU_KEY\"\n", server.address);
    let case = TrustCase::new("named", &toml, &asking("openai_compatible"));
    let shown = case.trust();
    assert!(shown.contains(&format!("providers.openai_compatible.base_url = {}/v1", server.address)), "{shown}");
    assert!(shown.contains("providers.openai_compatible.key_env = GPU_KEY"), "{shown}");
    let outcome = case.harn(&["run", "main.harn"], &[("GPU_KEY", KEY)]);
    assert_eq!(server.heads().len(), 1, "{}", outcome.out);
    assert!(server.heads()[0].contains(&format!("authorization: Bearer {KEY}")), "{:?}", server.heads());
    // A server of this machine is not reported.
    assert!(!outcome.err.contains("note:"), "{}", outcome.err);
}

#[test]
fn a_name_that_is_not_that_of_a_key_is_refused() {
    for name in ["AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "SSH_KEY", "DB_PASSWORD_KEY", "HOME", "SIGNING_KEY"] {
        let toml = format!("[providers.openai_compatible]\nbase_url = \"http://127.0.0.1:9\"\nkey_env = \"{name}\"\n");
        let case = TrustCase::new("names", &toml, &asking("openai_compatible"));
        for command in [&["run", "main.harn"][..], &["check", "main.harn"], &["trust"]] {
            let outcome = case.harn(command, &[(name, KEY)]);
            assert_eq!((outcome.code, outcome.drawn("error")), (Some(1), 1), "{name}: {}", outcome.err);
            assert!(outcome.err.contains("is not allowed as the name of a model's key"), "{}", outcome.err);
        }
    }
}

#[test]
fn a_key_that_leaves_the_machine_is_reported_and_travels_under_tls() {
    let case = TrustCase::new("note", "", &format!("{{\n{0}}}\n{{\n{0}}}\n", asking("openai_compatible")));
    let env = |base| [("OPENAI_COMPATIBLE_API_KEY", KEY), ("OPENAI_COMPATIBLE_BASE_URL", base)];
    let outcome = case.harn(&["run", "main.harn"], &env("https://gateway.invalid/v1?x=1"));
    let note = "note: sending the key of OPENAI_COMPATIBLE_API_KEY to https://gateway.invalid\n";
    assert_eq!(outcome.err, note, "{}", outcome.out);
    let outcome = case.harn(&["run", "main.harn"], &env("http://gateway.invalid/v1"));
    assert_eq!(outcome.err, "");
    assert!(outcome.out.contains("over unencrypted http"), "{}", outcome.out);
}

#[test]
fn a_changed_file_needs_trust_anew() {
    let case = TrustCase::new("changed", "[providers]\npacks = [\"pack.rhai\"]\n", "println(\"ran\")\n");
    fs::write(case.folder.join("pack.rhai"), "this is not Rhai").unwrap();
    let run = || case.harn(&["run", "main.harn"], &[]);
    // A pack that would not even parse is neither read by a run nor by a check.
    for command in ["run", "check"] {
        let outcome = case.harn(&[command, "main.harn"], &[]);
        warned(&outcome, &["providers.packs"]);
        assert_eq!(outcome.code, Some(0), "{}", outcome.err);
    }
    assert!(case.trust().contains("  providers.packs = pack.rhai\n"));
    assert!(run().err.contains("error[HARN-PCK"), "{}", run().err);
    let list = || case.harn(&["trust", "--list"], &[]).out;
    let folder = case.folder.canonicalize().unwrap().display().to_string();
    assert_eq!(list(), format!("settings: {}\n{folder}\n", case.settings.display()));
    // One more byte.
    fs::write(case.folder.join("harn.toml"), "[providers]\npacks = [\"pack.rhai\"]\n\n").unwrap();
    warned(&run(), &["providers.packs"]);
    assert!(list().contains(&format!("{folder} (harn.toml has changed: run `harn trust` again)")), "{}", list());
    case.trust();
    assert_eq!(run().code, Some(1));
    let revoked = case.harn(&["trust", "--revoke", "."], &[]);
    assert_eq!((revoked.code, revoked.out), (Some(0), format!("revoked {folder}\n")));
    warned(&run(), &["providers.packs"]);
    assert_eq!(list(), format!("settings: {}\n", case.settings.display()));
}

#[test]
fn lower_limits_and_denied_capabilities_hold_untrusted_and_higher_ones_do_not() {
    let toml = "[limits]\nfuel = 10_000_000\ndepth = 1_000_000\nmemory = \"64g\"\ndeny = [\"env\"]\n[hooks]\ntimeout_ms = 600_000\n\
                [reminders]\nmax_body = \"1g\"\n[agent]\nurl = \"https://evil.example\"\n[event_log]\nkeep_bytes = \"9g\"\n";
    let case = TrustCase::new("limits", toml, "println(is_err(try { env(\"HOME\") }))\n");
    let outcome = case.harn(&["run", "main.harn"], &[]);
    let raised = [
        "limits.depth",
        "limits.memory",
        "hooks.timeout_ms",
        "reminders.max_body",
        "agent.url",
        "event_log.keep_bytes",
    ];
    warned(&outcome, &raised);
    assert_eq!((outcome.code, outcome.out.as_str()), (Some(0), "true\n"), "{}", outcome.err);
    let quiet =
        TrustCase::new("quiet", "[limits]\nfuel = 1000\nmemory = \"64m\"\ndeny = [\"net\"]\n", "while true { }\n");
    let outcome = quiet.harn(&["run", "main.harn"], &[]);
    assert_eq!((outcome.code, outcome.drawn("warning")), (Some(3), 0), "{}", outcome.err);
}

#[test]
fn an_untrusted_event_log_stays_in_its_folder() {
    let script = "event_log.emit(\"a\", \"x\")\n";
    let inside = TrustCase::new("log-inside", "[event_log]\nhome = \"sqlite:events.db\"\n", script);
    let outcome = inside.harn(&["run", "main.harn"], &[]);
    assert_eq!((outcome.code, outcome.err.as_str()), (Some(0), ""));
    assert!(inside.folder.join("events.db").exists());
    let outside = scratch("trust-log-target");
    for (name, home) in [
        ("parent", "../x.db".to_owned()),
        ("absolute", outside.join("x.db").display().to_string()),
        ("link", "linked.db".to_owned()),
        ("folder", "linked/x.db".to_owned()),
    ] {
        let case = TrustCase::new("log-outside", &format!("[event_log]\nhome = \"sqlite:{home}\"\n"), script);
        let link = |target: &Path, name: &str| std::os::unix::fs::symlink(target, case.folder.join(name)).unwrap();
        link(&outside.join("x.db"), "linked.db");
        link(&outside, "linked");
        let outcome = case.harn(&["run", "--deny", "fs.write", "main.harn"], &[]);
        warned(&outcome, &["event_log.home"]);
        assert_eq!(outcome.code, Some(0), "{name}: {}", outcome.err);
        assert!(!outside.join("x.db").exists() && !case.folder.join("../x.db").exists(), "{name}");
        case.trust();
        let outcome = case.harn(&["run", "--deny", "fs.write", "main.harn"], &[]);
        assert_eq!((outcome.code, outcome.err.as_str()), (Some(0), ""), "{name}");
        assert!(outside.join("x.db").exists() || case.folder.join("../x.db").exists(), "{name}");
        let _ = fs::remove_file(outside.join("x.db"));
    }
}

#[test]
fn sessions_and_servers_ignore_the_same() {
    let case = TrustCase::new("repl", "[event_log]\nhome = \"sqlite:../x.db\"\n", "");
    let settings = case.settings.to_str().unwrap();
    let outcome = harn_in(&case.folder, &["repl"], b"1 + 1\n", &[("HARN_CONFIG_HOME", settings)]);
    warned(&outcome, &["event_log.home"]);
    assert_eq!(outcome.out, "2\n");
    fs::write(case.folder.join("agent.harn"), "pipeline main(task) { task }\n").unwrap();
    // Its input has ended, so it ends at once.
    let outcome = case.harn(&["serve", "acp", "agent.harn"], &[]);
    warned(&outcome, &["event_log.home"]);
    assert!(!case.folder.join("../x.db").exists());
}

#[test]
fn settings_that_cannot_be_used_are_one_error() {
    let case = TrustCase::new("settings", "[providers.ollama]\nbase_url = \"http://127.0.0.1:9\"\n", "println(1)\n");
    case.trust();
    fs::write(case.settings.join("config.toml"), "[kyes]\n").unwrap();
    let outcome = case.harn(&["run", "main.harn"], &[]);
    assert_eq!((outcome.code, outcome.drawn("error")), (Some(1), 1), "{}", outcome.err);
    assert!(
        outcome.err.contains("error[HARN-CFG-008]") && outcome.err.contains("unknown table `kyes`"),
        "{}",
        outcome.err
    );
    let outcome = harn_in(&case.folder, &["trust"], b"", &[("HARN_CONFIG_HOME", "/dev/null/settings")]);
    assert_eq!((outcome.code, outcome.drawn("error")), (Some(1), 1), "{}", outcome.err);
}
