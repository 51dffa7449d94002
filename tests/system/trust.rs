//! Trust of folders: a `harn.toml` from another author sends no key away, runs no pack and writes
//! nowhere else until the user has trusted it; and a vendor's key is sent to the vendor only,
//! unless the user says so.

use crate::harn::{Outcome, harn_in, root, scratch};
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

/// A key, a value of it that takes effect in an untrusted folder, and one that is ignored there; empty if there is none.
type KeyValues = (&'static str, &'static str, &'static str);

/// The keys of each table of `harn.toml`.
const VALUES: &[(&str, &[KeyValues])] = &[
    (
        "[limits]",
        &[
            ("fuel", "1", ""),
            ("depth", "20_000", "20_001"),
            ("memory", "\"4g\"", "\"5g\""),
            ("timeout", "\"1h\"", ""),
            ("deny", "[\"net\"]", ""),
        ],
    ),
    ("[capabilities]", &[("deny", "[\"net\"]", "")]),
    (
        "[reminders]",
        &[
            ("max_body", "\"64k\"", "\"65k\""),
            ("max_tokens", "1", ""),
            ("max_share", "0.1", ""),
            ("placement", "\"tail\"", ""),
            ("files", "false", "true"),
            ("policy", "{forbid_ids = [\"a\"]}", "{force = [{body = \"a\"}]}"),
        ],
    ),
    (
        "[reminders.policy]",
        &[
            ("force", "", "[{body = \"a\"}]"),
            ("forbid_ids", "[\"a\"]", ""),
            ("forbid_tags", "[\"a\"]", ""),
            ("forbid_sources", "[\"host\"]", ""),
            ("mark_untrusted", "false", ""),
            ("sources", "{host = {max_body = 1}}", ""),
        ],
    ),
    ("[reminders.policy.sources.SOURCE]", &[("max_body", "1", ""), ("role_hint", "[\"system\"]", "")]),
    ("[hooks]", &[("timeout_ms", "30_000", "30_001")]),
    (
        "[event_log]",
        &[
            ("home", "\"sqlite:a.db\"", "\"sqlite:../a.db\""),
            ("synchronous", "\"full\"", ""),
            ("lock_timeout", "\"5s\"", "\"6s\""),
            ("max_file", "\"9g\"", ""),
            ("keep", "", "\"90d\""),
            ("max_size", "", "\"1 GiB\""),
            ("keep_records", "262_144", "262_145"),
            ("keep_bytes", "\"256m\"", "\"257m\""),
        ],
    ),
    ("[providers]", &[("packs", "", "[\"a.rhai\"]")]),
    (
        "packs",
        &[
            ("file", "", "\"a.rhai\""),
            ("allow", "", "[\"fs.read\"]"),
            ("timeout_ms", "", "1"),
            ("max_operations", "", "1"),
            ("max_depth", "", "1"),
            ("max_string", "", "1"),
            ("max_elements", "", "1"),
            ("max_memory", "", "\"1m\""),
            ("max_reminders", "", "1"),
        ],
    ),
    ("[providers.NAME]", &[("base_url", "", "\"https://a.example\""), ("key_env", "", "\"GPU_KEY\"")]),
    (
        "[[capabilities]]",
        &[
            ("provider", "\"mock\"", ""),
            ("model", "\"a\"", ""),
            ("wire", "\"gemini\"", ""),
            ("prefers_role_developer", "true", ""),
            ("prefers_xml_scaffolding", "true", ""),
            ("prompt_caching", "true", ""),
            ("automatic_caching", "true", ""),
            ("mid_conversation_system", "true", ""),
            ("adaptive_thinking", "true", ""),
            ("always_thinking", "true", ""),
            ("bound_thinking", "true", ""),
            ("alternating_roles", "true", ""),
            ("call_id_length", "9", ""),
            ("context_window", "1", ""),
            ("output_limit", "1", ""),
            ("native_tools", "false", ""),
            ("system_text", "false", ""),
            ("placement", "\"tail\"", ""),
            ("price", "{input = 1, output = 1}", ""),
        ],
    ),
    (
        "[agent]",
        &[
            ("name", "\"a\"", ""),
            ("description", "\"a\"", ""),
            ("version", "\"1\"", ""),
            ("url", "", "\"https://a.example\""),
            ("documentation_url", "\"https://a.example\"", ""),
            ("icon_url", "\"https://a.example\"", ""),
            ("provider", "{organization = \"a\", url = \"https://a.example\"}", ""),
            ("skills", "[{id = \"a\"}]", ""),
            ("input_modes", "[\"text/plain\"]", ""),
            ("replies", "\"task\"", ""),
        ],
    ),
    ("[agent.provider]", &[("organization", "\"a\"", ""), ("url", "\"https://a.example\"", "")]),
    (
        "[[agent.skills]]",
        &[
            ("id", "\"a\"", ""),
            ("name", "\"a\"", ""),
            ("description", "\"a\"", ""),
            ("tags", "[\"a\"]", ""),
            ("examples", "[\"a\"]", ""),
            ("input_modes", "[\"text/plain\"]", ""),
            ("output_modes", "[\"text/plain\"]", ""),
        ],
    ),
    ("[mcp]", &[("servers", "", "{a = {command = \"a\"}}")]),
    (
        "[mcp.servers.NAME]",
        &[
            ("command", "", "\"a\""),
            ("args", "", "[\"a\"]"),
            ("env", "", "{A = \"a\"}"),
            ("pass_env", "", "[\"A\"]"),
            ("cwd", "", "\"a\""),
            ("url", "", "\"https://a.example\""),
            ("headers", "", "{a = \"a\"}"),
            ("token_env", "", "\"A_TOKEN\""),
            ("oauth", "", "false"),
            ("tools", "", "[\"a\"]"),
            ("timeout_ms", "", "1"),
            ("start_timeout_ms", "", "1"),
            ("protocol", "", "\"2025-11-25\""),
            ("reminders", "", "true"),
        ],
    ),
    ("[fmt]", &[("width", "20", "")]),
    (
        "[channels]",
        &[("orphan", "\"cancel\"", ""), ("heartbeat", "\"20s\"", "\"21s\""), ("permission_timeout", "\"1h\"", "")],
    ),
];

/// Returns a `harn.toml` with one key, and those that it cannot be without.
fn settings_with(table: &str, key: &str, value: &str) -> String {
    let (head, needed): (&str, &[(&str, &str)]) = match table {
        "[reminders.policy.sources.SOURCE]" => ("[reminders.policy.sources.host]", &[]),
        "packs" => {
            let file = if key == "file" { "" } else { "file = \"a.rhai\", " };
            return format!("[providers]\npacks = [{{{file}{key} = {value}}}]\n");
        }
        "[providers.NAME]" => ("[providers.openai_compatible]", &[]),
        "[[capabilities]]" => ("[[capabilities]]", &[("provider", "\"mock\"")]),
        "[agent.provider]" => ("[agent.provider]", &[("organization", "\"a\""), ("url", "\"https://a.example\"")]),
        "[[agent.skills]]" => ("[[agent.skills]]", &[("id", "\"a\"")]),
        "[mcp.servers.NAME]" if ["url", "headers", "token_env", "oauth"].contains(&key) => {
            ("[mcp.servers.a]", &[("url", "\"https://a.example\"")])
        }
        "[mcp.servers.NAME]" => ("[mcp.servers.a]", &[("command", "\"a\"")]),
        table => (table, &[]),
    };
    let needed = needed.iter().filter(|(other, _)| *other != key);
    let keys = needed.copied().chain([(key, value)]).map(|(key, value)| format!("{key} = {value}\n"));
    format!("{head}\n{}", keys.collect::<String>())
}

/// Returns the cell "untrusted folder" of a key in the reference of the configuration.
fn documented(table: &str, key: &str) -> String {
    let page = fs::read_to_string(root().join("docs/reference/configuration.md")).unwrap();
    let (_, section) = page.split_once(&format!("\n## `{table}`\n")).unwrap_or_else(|| panic!("no section {table}"));
    let section = section.split("\n## ").next().unwrap();
    let cells = |line: &str| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
    let head = section.lines().find(|line| line.starts_with("| key |")).map(cells).unwrap();
    let column = head.iter().position(|cell| cell == "untrusted folder").unwrap_or_else(|| panic!("{table}"));
    let row = section.lines().find(|line| line.starts_with(&format!("| `{key}` |"))).map(cells);
    row.unwrap_or_else(|| panic!("no row `{key}` in {table}"))[column].clone()
}

#[test]
fn the_reference_says_of_each_key_what_an_untrusted_folder_may_change() {
    let known: Vec<_> = VALUES.iter().map(|(table, rows)| (*table, rows.iter().map(|row| row.0).collect())).collect();
    let keys: Vec<(&str, Vec<&str>)> =
        stdlib::project_keys().into_iter().map(|(table, keys)| (table, keys.to_vec())).collect();
    assert_eq!(known, keys, "each key has values here and a row in the reference");
    let folder = scratch("trust-keys");
    for (table, rows) in VALUES {
        for (key, taken, ignored) in *rows {
            let cell = documented(table, key);
            let expected: &[&str] = match (taken.is_empty(), ignored.is_empty()) {
                (false, true) => &["applies"],
                (true, false) => &["ignored"],
                _ => &["up to the default", "inside of the folder", "only `false`", "the table below"],
            };
            assert!(expected.contains(&cell.as_str()), "{table} {key}: {cell}");
            for (value, is_taken) in [(taken, true), (ignored, false)] {
                if value.is_empty() {
                    continue;
                }
                let text = settings_with(table, key, value);
                let found =
                    stdlib::Project::check_text(&stdlib::Source::new("harn.toml", &*text), &folder.join("harn.toml"));
                let codes: Vec<&str> = found.iter().map(|found| found.code.as_str()).collect();
                let wanted: &[&str] = if is_taken { &[] } else { &["HARN-CFG-006"] };
                assert_eq!(codes, wanted, "{text}: {found:?}");
            }
        }
    }
}

#[test]
fn the_name_of_a_folder_trusts_no_other_and_is_shown_as_it_is() {
    let case = TrustCase::new("names-of-folders", "[agent]\nurl = \"https://victim.example\"\n", "println(1)\n");
    let whole = case.folder.parent().unwrap().canonicalize().unwrap();
    let digest = {
        // The record of a folder begins with the digest of its file.
        case.trust();
        let record = fs::read_to_string(case.settings.join("trusted")).unwrap();
        case.harn(&["trust", "--revoke"], &[]);
        record[..64].to_owned()
    };
    let line = format!("{digest} {}", case.folder.canonicalize().unwrap().display());
    let settings = case.settings.to_str().unwrap();
    let at = |folder: &Path, args: &[&str]| harn_in(folder, args, b"", &[("HARN_CONFIG_HOME", settings)]);
    let other = |name: &str| {
        let folder = whole.join(name);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("harn.toml"), "[agent]\nurl = \"https://a.example\"\n").unwrap();
        fs::write(folder.join("main.harn"), "println(1)\n").unwrap();
        folder
    };
    // Folders of the path follow the line break, up to that of the other project.
    let folder = other(&format!("pkg\n{line}"));
    let refused = at(&folder, &["trust"]);
    assert_eq!((refused.code, refused.out.as_str(), refused.drawn("error")), (Some(1), "", 1), "{}", refused.err);
    assert!(
        refused.err.contains("its path contains a line break") && refused.err.contains("pkg\\n"),
        "{}",
        refused.err
    );
    warned(&case.harn(&["run", "main.harn"], &[]), &["agent.url"]);
    assert_eq!(case.harn(&["trust", "--list"], &[]).out.lines().count(), 1);
    // Characters that a terminal obeys are shown as escapes, and a name is not a part of a command.
    for (name, escaped) in
        [("a\u{1b}[2Jb", "a\\u{1b}[2Jb"), ("a\u{202e}b\r", "a\\u{202e}b\\r"), ("a;rm -rf b", "a;rm -rf b")]
    {
        let folder = other(name);
        let outcome = at(&folder, &["run", "main.harn"]);
        assert!(outcome.err.contains("run `harn trust"), "{}", outcome.err);
        let outcome = at(&whole, &["run", &format!("{name}/main.harn")]);
        assert!(outcome.err.contains("run `harn trust` in its folder"), "{}", outcome.err);
        for args in
            [&["trust"][..], &["trust", "--show"], &["trust", "--list"], &["trust", "--revoke"], &["trust", "--revoke"]]
        {
            let outcome = at(&folder, args);
            assert_eq!((outcome.code, outcome.err.as_str()), (Some(0), ""), "{args:?}");
            assert!(outcome.out.contains(escaped), "{args:?}: {}", outcome.out);
            assert!(!outcome.out.contains(['\u{1b}', '\u{202e}', '\r']), "{args:?}: {:?}", outcome.out);
        }
    }
}

#[test]
fn all_of_a_server_is_shown_before_it_is_trusted() {
    let toml = "[mcp.servers.files]\ncommand = \"npx\"\nargs = [\"-y\", \"two words\", \"\"]\ncwd = \"sub\"\n\
                pass_env = [\"GH_TOKEN\"]\nenv = {NODE_OPTIONS = \"--require ./a.js\\u001b[2J\\n  trusted = yes\"}\n\
                tools = [\"read\"]\nreminders = {per_minute = 3}\n\
                [mcp.servers.web]\nurl = \"https://a.example\"\nheaders = {\"X-A\" = \"b\"}\ntoken_env = \"A_TOKEN\"\n";
    let case = TrustCase::new("servers", toml, "println(1)\n");
    let want = "  mcp.servers.files = npx -y \"two words\" \"\"\n  mcp.servers.files.env.NODE_OPTIONS = \"--require ./a.js\\u{1b}[2J\\n  trusted = yes\"\n  \
                mcp.servers.files.pass_env = GH_TOKEN\n  mcp.servers.files.cwd = sub\n  mcp.servers.files.tools = read\n  \
                mcp.servers.files.reminders.per_minute = 3\n  \
                mcp.servers.web = https://a.example\n  mcp.servers.web.headers.X-A = b\n  mcp.servers.web.token_env = A_TOKEN\n";
    let shown = case.harn(&["trust", "--show"], &[]);
    let (head, settings) = shown.out.split_once('\n').unwrap();
    assert!(head.starts_with("would trust ") && shown.code == Some(0), "{head} {}", shown.err);
    assert_eq!(settings, want);
    // Nothing has changed, and the warning names the servers only.
    let outcome = case.harn(&["run", "main.harn"], &[]);
    warned(&outcome, &["mcp.servers.files", "mcp.servers.web"]);
    assert!(!outcome.err.contains("NODE_OPTIONS`"), "{}", outcome.err);
    assert_eq!(case.trust().split_once('\n').unwrap().1, want);
    assert_eq!(case.harn(&["run", "main.harn"], &[]).err, "");
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

/// The log may be one that the user has named.
#[test]
fn an_untrusted_folder_cannot_let_servers_remove_sessions() {
    let text = "[event_log]\nkeep = \"1h\"\nmax_size = \"1 MiB\"\n";
    let case = TrustCase::new("log-kept", text, "println(1)\n");
    warned(&case.harn(&["run", "main.harn"], &[]), &["event_log.keep", "event_log.max_size"]);
    case.trust();
    let outcome = case.harn(&["run", "main.harn"], &[]);
    assert_eq!((outcome.code, outcome.err.as_str()), (Some(0), ""));
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
