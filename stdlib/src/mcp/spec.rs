//! [`McpServerSpec`]: the description of a server.

use super::oauth::OauthSpec;
use crate::options::MCP_SERVER;
use base::data::Data;
use lang::diagnostic::nearest;
use mcp::Era;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

/// The keys of `[mcp.servers.NAME]`: those of a description in a script that are data, without its name.
pub(crate) static TOML_KEYS: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| MCP_SERVER.keys().filter(|key| *key != "name" && !FUNCTIONS.contains(key)).collect());

/// The keys whose values are functions, so not data.
pub(super) const FUNCTIONS: &[&str] = &["elicit", "progress"];

/// The longest name: tools are called `NAME__tool`, and model servers take 64 characters.
const MAX_NAME: usize = 32;
/// The default timeout of a request, in milliseconds.
const TIMEOUT_MS: u64 = 60_000;
/// The default timeout of a handshake, in milliseconds: `npx` and `uvx` may have to fetch the program first.
const START_TIMEOUT_MS: u64 = 60_000;
/// The default number of reminders in a minute.
const PER_MINUTE: u32 = 10;

/// The description of a server.
#[derive(Clone, Debug, PartialEq)]
pub struct McpServerSpec {
    pub(crate) name: Arc<str>,
    pub(crate) transport: ServerTransport,
    /// The tools that are offered; `None` offers all.
    pub(crate) tools: Option<Vec<Arc<str>>>,
    pub(crate) timeout_ms: u64,
    pub(crate) start_timeout_ms: u64,
    pub(crate) era: Option<Era>,
    pub(crate) reminders: ReminderPolicy,
    /// The folder of the project that describes it, in which its tools may be stored.
    pub(crate) folder: Option<PathBuf>,
}

/// The way to a server.
#[derive(Clone, PartialEq)]
pub(crate) enum ServerTransport {
    /// A program.
    Process(ServerProgram),
    /// A URL.
    Http {
        url: Arc<str>,
        /// Names and values; they may be secrets.
        headers: Vec<(String, String)>,
        /// The variable that holds a bearer token.
        token_env: Option<Arc<str>>,
        /// The way to tokens; `None` asks for none.
        oauth: Option<Box<OauthSpec>>,
    },
}

/// The program of a server.
#[derive(Clone, PartialEq)]
pub(crate) struct ServerProgram {
    pub(crate) command: Arc<str>,
    pub(crate) args: Vec<Arc<str>>,
    /// Variables of its environment; values may be secrets.
    pub(crate) env: Vec<(String, String)>,
    /// Variables that it gets from the environment of this process.
    pub(crate) pass_env: Vec<Arc<str>>,
    pub(crate) cwd: Option<Arc<str>>,
}

impl std::fmt::Debug for ServerTransport {
    /// Formats without values that may be secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ServerTransport::Process(program) => write!(f, "Process({:?})", program.command),
            ServerTransport::Http { url, .. } => write!(f, "Http({url:?})"),
        }
    }
}

/// The handling of reminders that a server sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReminderPolicy {
    pub(crate) enabled: bool,
    /// The number of reminders in a minute.
    pub(crate) per_minute: u32,
    /// Whether `role_hint: "developer"` is kept.
    pub(crate) allow_developer: bool,
}

/// A description that cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SpecError {
    /// The key at fault; may be empty.
    pub(crate) key: String,
    pub(crate) message: String,
    pub(crate) help: Option<String>,
}

impl SpecError {
    pub(crate) fn new(key: &str, message: impl Into<String>) -> SpecError {
        SpecError { key: key.to_owned(), message: message.into(), help: None }
    }

    pub(super) fn help(mut self, help: impl Into<String>) -> SpecError {
        self.help = Some(help.into());
        self
    }
}

impl McpServerSpec {
    /// Rejects the first key that is not one of a server.
    pub(super) fn only_known<'a>(mut keys: impl Iterator<Item = &'a str>) -> Result<(), SpecError> {
        let known = || TOML_KEYS.iter().copied().chain(["name"]);
        let Some(key) = keys.find(|key| !known().any(|known| known == *key)) else { return Ok(()) };
        let error = SpecError::new(key, format!("unknown key `{key}` of an MCP server"));
        Err(match nearest(key, known().chain(FUNCTIONS.iter().copied())) {
            Some(near) => error.help(format!("did you mean `{near}`?")),
            None => error,
        })
    }

    /// Reads the description of a server: the keys of `McpServer` without functions.
    pub(crate) fn from_data(data: &Data) -> Result<McpServerSpec, SpecError> {
        let Data::Dict(entries) = data else {
            let message = format!("an MCP server must be a name or a dict, found {}", data.type_name());
            return Err(SpecError::new("", message).help("write `{name: \"files\", command: \"…\", args: […]}`"));
        };
        McpServerSpec::only_known(entries.keys().map(AsRef::as_ref))?;
        let name = required_name(data)?;
        let transport = match (text(data, "command")?, text(data, "url")?) {
            (Some(command), None) => {
                only(data, &name, "command", &["headers", "token_env", "oauth"])?;
                ServerTransport::Process(ServerProgram {
                    command,
                    args: texts(data, "args")?.unwrap_or_default(),
                    env: pairs(data, "env")?,
                    pass_env: texts(data, "pass_env")?.unwrap_or_default(),
                    cwd: text(data, "cwd")?,
                })
            }
            (None, Some(url)) => {
                only(data, &name, "url", &["args", "env", "pass_env", "cwd"])?;
                if !(url.starts_with("https://") || url.starts_with("http://")) {
                    return Err(SpecError::new("url", "`url` must be an http or https URL"));
                }
                let (headers, token_env) = (pairs(data, "headers")?, text(data, "token_env")?);
                let has_token =
                    token_env.is_some() || headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"));
                if has_token && data.get("oauth").truthy() {
                    let message = format!("the MCP server `{name}` has both `oauth` and a token");
                    return Err(SpecError::new("oauth", message).help("remove one of them"));
                }
                let oauth = OauthSpec::from_data(data.get("oauth"))?.filter(|_| !has_token).map(Box::new);
                ServerTransport::Http { url, headers, token_env, oauth }
            }
            (Some(_), Some(_)) => {
                let message = format!("the MCP server `{name}` has both `command` and `url`");
                return Err(SpecError::new("url", message).help("remove one of them"));
            }
            (None, None) => {
                let message = format!("the MCP server `{name}` has neither `command` nor `url`");
                let help = "add `command`, the program of the server, or `url`, where it is reached";
                return Err(SpecError::new("", message).help(help));
            }
        };
        let era = match text(data, "protocol")? {
            None => None,
            Some(version) => Some(Era::of_version(&version).ok_or_else(|| {
                let message = format!("`protocol` must be \"2026-07-28\" or \"2025-11-25\", found {version:?}");
                SpecError::new("protocol", message)
            })?),
        };
        Ok(McpServerSpec {
            name,
            transport,
            tools: texts(data, "tools")?,
            timeout_ms: count(data, "timeout_ms")?.unwrap_or(TIMEOUT_MS),
            start_timeout_ms: count(data, "start_timeout_ms")?.unwrap_or(START_TIMEOUT_MS),
            era,
            reminders: policy(data.get("reminders"))?,
            folder: None,
        })
    }
}

impl McpServerSpec {
    /// Reads the servers that an ACP client names, in the form of the protocol. Those that cannot be used are logged.
    #[must_use]
    pub(crate) fn of_client(servers: &Data) -> Vec<McpServerSpec> {
        let read = |server: &Data| match McpServerSpec::from_data(&in_own_form(server)) {
            Ok(spec) => Some(spec),
            Err(error) => {
                tracing::warn!("an MCP server of the client cannot be used: {}", error.message);
                None
            }
        };
        servers.as_list().unwrap_or_default().iter().filter_map(read).collect()
    }
}

/// Converts a server from the form of ACP: variables and headers are lists of names and values, and the name may be any text.
fn in_own_form(server: &Data) -> Data {
    let pairs = |key: &str| {
        let pairs = server.get(key).as_list().unwrap_or_default();
        let pair = |pair: &Data| Some((pair.get("name").as_shared_str()?, pair.get("value").clone()));
        Data::dict(pairs.iter().filter_map(pair))
    };
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let name = server.get("name").as_str().unwrap_or_default();
    let name: String = name.chars().map(|c| if fits(c) { c } else { '-' }).take(MAX_NAME).collect();
    let common = Data::dict([("name", Data::from(name))]);
    match server.get("url") {
        Data::Nil => Data::dict_of_present([
            ("command", server.get("command").clone()),
            ("args", server.get("args").clone()),
            ("env", pairs("env")),
            ("name", common.get("name").clone()),
        ]),
        url => common.with("url", url.clone()).with("headers", pairs("headers")),
    }
}

/// Returns a name as messages show it: cut if it is too long for any server.
pub(super) fn shown_name(name: &str) -> String {
    match name.char_indices().nth(2 * MAX_NAME) {
        Some((at, _)) => format!("{}…", &name[..at]),
        None => name.to_owned(),
    }
}

fn required_name(data: &Data) -> Result<Arc<str>, SpecError> {
    let Some(name) = text(data, "name")? else {
        return Err(
            SpecError::new("", "this MCP server has no `name`").help("add a `name`: tools are called `NAME__tool`")
        );
    };
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if !(1..=MAX_NAME).contains(&name.len()) || !name.chars().all(fits) || name.contains("__") {
        let error = SpecError::new("name", format!("{:?} cannot be the name of an MCP server", shown_name(&name)));
        return Err(error.help(format!("use 1 to {MAX_NAME} letters, digits, `-` and single `_`")));
    }
    Ok(name)
}

/// Rejects keys that mean nothing beside another one.
fn only(data: &Data, name: &str, with: &str, others: &[&str]) -> Result<(), SpecError> {
    match others.iter().find(|key| !data.get(key).is_nil()) {
        Some(key) => {
            let message = format!("the MCP server `{name}` has `{key}`, which means nothing with `{with}`");
            Err(SpecError::new(key, message).help(format!("remove `{key}`")))
        }
        None => Ok(()),
    }
}

pub(super) fn wrong(key: &str, expected: &str, found: &Data) -> SpecError {
    SpecError::new(key, format!("`{key}` must be {expected}, found {}", found.type_name()))
}

pub(super) fn text(data: &Data, key: &str) -> Result<Option<Arc<str>>, SpecError> {
    match data.get(key) {
        Data::Nil => Ok(None),
        Data::Str(text) if !text.trim().is_empty() => Ok(Some(text.clone())),
        Data::Str(_) => Err(SpecError::new(key, format!("`{key}` is empty"))),
        other => Err(wrong(key, "a string", other)),
    }
}

pub(super) fn texts(data: &Data, key: &str) -> Result<Option<Vec<Arc<str>>>, SpecError> {
    let value = data.get(key);
    if value.is_nil() {
        return Ok(None);
    }
    let items = value.as_list().map(|items| items.iter().map(Data::as_shared_str).collect::<Option<Vec<_>>>());
    items.flatten().map(Some).ok_or_else(|| wrong(key, "a list of strings", value))
}

fn pairs(data: &Data, key: &str) -> Result<Vec<(String, String)>, SpecError> {
    let value = data.get(key);
    if value.is_nil() {
        return Ok(Vec::new());
    }
    let Some(entries) = value.as_dict() else { return Err(wrong(key, "a dict of strings", value)) };
    let pair = |(name, value): (&Arc<str>, &Data)| match value.as_str() {
        Some(text) => Ok((name.to_string(), text.to_owned())),
        None => Err(SpecError::new(key, format!("`{key}.{name}` must be a string, found {}", value.type_name()))),
    };
    entries.iter().map(pair).collect()
}

pub(super) fn count(data: &Data, key: &str) -> Result<Option<u64>, SpecError> {
    match data.get(key) {
        Data::Nil => Ok(None),
        value => match value.as_int().and_then(|n| u64::try_from(n).ok()).filter(|n| *n > 0) {
            Some(count) => Ok(Some(count)),
            None => Err(wrong(key, "an int above 0", value)),
        },
    }
}

fn policy(value: &Data) -> Result<ReminderPolicy, SpecError> {
    let mut policy = ReminderPolicy { enabled: false, per_minute: PER_MINUTE, allow_developer: false };
    match value {
        Data::Nil => {}
        Data::Bool(enabled) => policy.enabled = *enabled,
        Data::Dict(entries) => {
            policy.enabled = true;
            for (key, value) in entries.iter() {
                match (&**key, value) {
                    ("per_minute", _) => {
                        let count = count(&Data::Dict(entries.clone()), "per_minute")?.unwrap_or(PER_MINUTE.into());
                        policy.per_minute = u32::try_from(count).unwrap_or(u32::MAX);
                    }
                    ("allow_developer", Data::Bool(allow)) => policy.allow_developer = *allow,
                    ("allow_developer", other) => return Err(wrong("allow_developer", "a bool", other)),
                    (other, _) => {
                        let error = SpecError::new("reminders", format!("unknown key `{other}` of `reminders`"));
                        return Err(error.help("the keys are `per_minute` and `allow_developer`"));
                    }
                }
            }
        }
        other => return Err(wrong("reminders", "a bool or a dict", other)),
    }
    Ok(policy)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<McpServerSpec, SpecError> {
        McpServerSpec::from_data(&Data::from_json(json).unwrap())
    }

    #[test]
    fn a_program_and_a_url_are_described() {
        let spec = read(
            r#"{"name": "files", "command": "npx", "args": ["-y"], "env": {"A": "b"}, "reminders": {"per_minute": 3}}"#,
        );
        let spec = spec.unwrap();
        assert_eq!((spec.timeout_ms, spec.reminders.enabled, spec.reminders.per_minute), (60_000, true, 3));
        let ServerTransport::Process(program) = &spec.transport else { panic!("{spec:?}") };
        assert_eq!((program.args.len(), program.env.len()), (1, 1));
        let spec =
            read(r#"{"name": "db", "url": "https://x.org/mcp", "protocol": "2025-11-25", "headers": {"X": "secret"}}"#)
                .unwrap();
        assert_eq!((spec.era, spec.reminders.enabled), (Some(Era::Sessions), false));
        assert!(!format!("{spec:?}").contains("secret"));
    }

    #[test]
    fn mistakes_are_named() {
        for (json, key, said) in [
            ("7", "", "must be a name or a dict"),
            ("{}", "", "has no `name`"),
            (r#"{"name": "a"}"#, "", "neither `command` nor `url`"),
            (r#"{"name": "a__b", "command": "x"}"#, "name", "cannot be the name"),
            (r#"{"name": "a b", "command": "x"}"#, "name", "cannot be the name"),
            (r#"{"name": "a", "command": "x", "url": "https://x"}"#, "url", "both"),
            (r#"{"name": "a", "command": "x", "headers": {}}"#, "headers", "means nothing"),
            (r#"{"name": "a", "url": "https://x", "env": {}}"#, "env", "means nothing"),
            (r#"{"name": "a", "url": "https://x", "oauth": 1}"#, "oauth", "bool or a dict"),
            (r#"{"name": "a", "url": "https://x", "oauth": {"id": "x"}}"#, "oauth", "unknown key `id`"),
            (r#"{"name": "a", "url": "https://x", "oauth": {"grant": "password"}}"#, "oauth", "client_credentials"),
            (
                r#"{"name": "a", "url": "https://x", "oauth": {"grant": "client_credentials"}}"#,
                "oauth",
                "client_secret_env",
            ),
            (r#"{"name": "a", "url": "https://x", "oauth": {"redirect_port": 70000}}"#, "oauth", "70000"),
            (r#"{"name": "a", "url": "https://x", "oauth": true, "token_env": "T"}"#, "oauth", "both"),
            (r#"{"name": "a", "command": "x", "oauth": true}"#, "oauth", "means nothing"),
            (r#"{"name": "a", "url": "ftp://x"}"#, "url", "http"),
            (r#"{"name": "a", "comand": "x"}"#, "comand", "unknown key"),
            (r#"{"name": "a", "command": "x", "args": "y"}"#, "args", "list of strings"),
            (r#"{"name": "a", "command": "x", "env": {"A": 1}}"#, "env", "`env.A` must be a string"),
            (r#"{"name": "a", "command": "x", "timeout_ms": 0}"#, "timeout_ms", "above 0"),
            (r#"{"name": "a", "command": "x", "protocol": "1"}"#, "protocol", "2026-07-28"),
            (r#"{"name": "a", "command": "x", "reminders": {"x": 1}}"#, "reminders", "unknown key `x`"),
        ] {
            let error = read(json).unwrap_err();
            assert!(error.key == key && error.message.contains(said), "{json}: {error:?}");
        }
    }
}
