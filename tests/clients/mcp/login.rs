//! Logging in to servers behind a URL, and what runs do with the tokens.

use super::issuer::{Flaw, Issuer};
use crate::harn::{Outcome, harn_in, root, scratch};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// An issuer, and a folder with settings of its own.
struct Lab {
    issuer: Issuer,
    folder: PathBuf,
}

impl Lab {
    fn new(name: &str, flaw: Flaw) -> Lab {
        let folder = scratch(&format!("login-{name}"));
        Lab { issuer: Issuer::start(flaw), folder }
    }

    fn harn(&self, args: &[&str], more: &[(&str, &str)]) -> Outcome {
        let config = self.folder.join("config").display().to_string();
        let browser = root().join("tests/mcp/browser.py").display().to_string();
        let env = [&[("HARN_CONFIG_HOME", config.as_str()), ("BROWSER", browser.as_str())], more].concat();
        harn_in(&self.folder, args, b"", &env)
    }

    fn login(&self) -> Outcome {
        self.harn(&["mcp", "login", "x", "--url", &self.issuer.url()], &[])
    }

    /// Calls a tool in a run, with further keys of the description.
    fn call(&self, tool: &str, more: &str) -> Outcome {
        let script = format!(
            "println(mcp.call_tool({{name: \"x\", url: \"{}\"{more}}}, \"{tool}\", {{}}).text)\n",
            self.issuer.url()
        );
        fs::write(self.folder.join("main.harn"), script).unwrap();
        fs::create_dir_all(self.folder.join("log")).unwrap();
        let log = ["run", "--timeout", "60s", "--event-log", "sqlite:log/run.db", "main.harn"];
        self.harn(&log, &[("SECRET", "a&b")])
    }

    fn tokens(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(self.folder.join("config/mcp")) else { return Vec::new() };
        entries.map(|entry| entry.unwrap().path()).collect()
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// Returns whether any file below a folder contains a text.
fn contains(folder: &Path, text: &str) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return false };
    entries.flatten().any(|entry| {
        let path = entry.path();
        if path.is_dir() {
            contains(&path, text)
        } else {
            String::from_utf8_lossy(&fs::read(&path).unwrap()).contains(text)
        }
    })
}

#[track_caller]
fn prints(outcome: &Outcome, out: &str) {
    assert_eq!((outcome.out.trim_end(), outcome.code), (out, Some(0)), "{}", outcome.err);
}

#[track_caller]
fn fails(outcome: &Outcome, code: &str, said: &str) {
    let text = outcome.err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(outcome.code == Some(1) && text.contains(code) && text.contains(said), "{said}: {}", outcome.err);
}

#[test]
fn a_run_without_a_login_says_what_to_do() {
    let lab = Lab::new("none", Flaw::None);
    let outcome = lab.call("read", "");
    fails(&outcome, "HARN-MCP-115", "requires a login");
    assert!(outcome.err.contains(&format!("run `harn mcp login x --url {}`", lab.issuer.url())), "{}", outcome.err);
    assert_eq!(lab.issuer.seen("authorize"), [""; 0], "a run opens no browser");
}

#[test]
fn a_login_is_used_by_later_runs_and_ends_with_logout() {
    let lab = Lab::new("good", Flaw::None);
    prints(&lab.login(), "x: logged in, with the scopes read");
    let resource = lab.issuer.url();
    assert_eq!(lab.issuer.seen("authorize"), [format!("authorize code S256 {resource} read")]);
    assert_eq!(lab.issuer.seen("token"), [format!("token authorization_code {resource} ")]);
    let registered = &lab.issuer.seen("register")[0];
    assert!(
        registered.contains("\"application_type\":\"native\"") && registered.contains("http://127.0.0.1:"),
        "{registered}"
    );
    let [file] = lab.tokens().try_into().unwrap();
    assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
    prints(&lab.call("read", ""), "read done");
    assert!(contains(&lab.folder.join("config"), "secret-token"));
    let log = lab.folder.join("log");
    assert!(contains(&log, "SQLite format") && !contains(&log, "secret-"), "no token on the log");
    // The token of one URL is not sent to another.
    let other = Lab { issuer: Issuer::start(Flaw::None), folder: lab.folder.clone() };
    fails(&other.call("read", ""), "HARN-MCP-115", "requires a login");
    let url = lab.issuer.url();
    prints(&lab.harn(&["mcp", "logout", "x", "--url", &url], &[]), "x: logged out");
    assert!(lab.tokens().is_empty() && lab.issuer.seen("revoke")[0].contains("secret-refresh"));
    prints(&lab.harn(&["mcp", "logout", "x", "--url", &url], &[]), "x: was not logged in");
    fails(&lab.call("read", ""), "HARN-MCP-115", "requires a login");
}

#[test]
fn an_authorization_server_with_openid_metadata_is_found() {
    let lab = Lab::new("openid", Flaw::OpenId);
    prints(&lab.login(), "x: logged in, with the scopes read");
    prints(&lab.call("read", ""), "read done");
}

#[test]
fn a_token_is_renewed_when_it_expires_or_is_rejected() {
    let lab = Lab::new("short", Flaw::ShortLived);
    prints(&lab.login(), "x: logged in, with the scopes read");
    prints(&lab.call("read", ""), "read done");
    prints(&lab.call("read", ""), "read done");
    assert!(lab.issuer.seen("token refresh_token").len() >= 2, "each token is renewed by the last refresh token");
    let lab = Lab::new("rejected", Flaw::None);
    prints(&lab.login(), "x: logged in, with the scopes read");
    lab.issuer.revoke(false);
    prints(&lab.call("read", ""), "read done");
    assert_eq!(lab.issuer.seen("token refresh_token").len(), 1);
    lab.issuer.revoke(true);
    fails(&lab.call("read", ""), "HARN-MCP-115", "requires a new login");
    let lab = Lab::new("forgets", Flaw::Forgets);
    prints(&lab.login(), "x: logged in, with the scopes read");
    lab.issuer.revoke(false);
    fails(&lab.call("read", ""), "HARN-MCP-115", "requires a new login: the stored token is no longer valid");
}

#[test]
fn a_tool_that_needs_more_scopes_says_so_and_the_next_login_asks_for_them() {
    let lab = Lab::new("scopes", Flaw::None);
    prints(&lab.login(), "x: logged in, with the scopes read");
    fails(&lab.call("admin", ""), "HARN-MCP-115", "needs a login with more scopes: admin");
    prints(&lab.login(), "x: logged in, with the scopes read, admin");
    prints(&lab.call("admin", ""), "admin done");
}

#[test]
fn a_service_gets_its_tokens_by_itself_and_asks_for_more_scopes() {
    let lab = Lab::new("service", Flaw::None);
    let oauth = ", oauth: {grant: \"client_credentials\", client_id: \"service\", client_secret_env: \"SECRET\"}";
    prints(&lab.call("read", oauth), "read done");
    prints(&lab.call("admin", oauth), "admin done");
    let scopes: Vec<String> =
        lab.issuer.seen("token").iter().filter_map(|line| line.splitn(4, ' ').nth(3).map(str::to_owned)).collect();
    assert_eq!(scopes, ["read", "read", "admin read"]);
    assert!(lab.tokens().is_empty(), "they are not stored");
    let wrong = oauth.replace("\"service\"", "\"other\"");
    fails(&lab.call("read", &wrong), "HARN-MCP-116", "invalid_client");
}

#[test]
fn a_hostile_authorization_server_gets_no_code_and_no_token() {
    for (flaw, said) in [
        (Flaw::WrongIssuer, "says that it is"),
        (Flaw::PlainTokenEndpoint, "is not an https URL"),
        (Flaw::ScriptAsPage, "its authorization endpoint \"javascript:alert(1)\" is not an https URL"),
        (Flaw::MixUp, "the login was answered by another authorization server"),
        (Flaw::NoIssuer, "does not name its authorization server (`iss`)"),
        (Flaw::NoProofKey, "does not support PKCE with S256"),
        (Flaw::OtherResource, "its metadata is that of another server"),
        (Flaw::Redirects, "HTTP status 307"),
        (Flaw::Huge, "is larger than 1 MiB"),
        (Flaw::Denies, "the login failed: access_denied"),
        (Flaw::OddToken, "is not a bearer token"),
        (Flaw::Injects, "no usable `access_token`"),
        (Flaw::NoRegistration, "does not register clients by itself"),
    ] {
        let lab = Lab::new(&format!("hostile-{flaw:?}"), flaw);
        let outcome = lab.login();
        fails(&outcome, "HARN-MCP-116", said);
        assert_eq!((lab.issuer.reached(), lab.tokens().len()), (Vec::new(), 0), "{flaw:?}");
        let may_ask = matches!(flaw, Flaw::OddToken | Flaw::Injects);
        assert_eq!(!lab.issuer.seen("token").is_empty(), may_ask, "{flaw:?}: {:?}", lab.issuer.seen(""));
    }
}

#[test]
fn a_forged_answer_to_a_login_is_refused_and_the_real_one_counts() {
    let lab = Lab::new("forged", Flaw::Forges);
    prints(&lab.login(), "x: logged in, with the scopes read");
    assert_eq!(lab.issuer.seen("forged"), ["forged 400"]);
}

#[test]
fn only_a_server_behind_a_url_has_a_login() {
    let lab = Lab::new("program", Flaw::None);
    fs::write(lab.folder.join("harn.toml"), "[mcp.servers.local]\ncommand = \"true\"\n").unwrap();
    let trusted = lab.harn(&["trust", "."], &[]);
    assert_eq!(trusted.code, Some(0), "{}", trusted.err);
    fails(&lab.harn(&["mcp", "login", "local"], &[]), "HARN-MCP-101", "is a program, which needs no login");
    fails(&lab.harn(&["mcp", "login", "other"], &[]), "HARN-MCP-102", "unknown MCP server `other`");
    let settings =
        format!("[mcp.servers.x]\nurl = \"{}\"\noauth = {{ scopes = [\"read\", \"write\"] }}\n", lab.issuer.url());
    fs::write(lab.folder.join("harn.toml"), settings).unwrap();
    assert_eq!(lab.harn(&["trust", "."], &[]).code, Some(0));
    prints(&lab.harn(&["mcp", "login", "x"], &[]), "x: logged in, with the scopes read, write");
    fs::write(lab.folder.join("main.harn"), "println(mcp.call_tool(\"x\", \"read\").text)\n").unwrap();
    prints(&lab.harn(&["run", "main.harn"], &[]), "read done");
}
