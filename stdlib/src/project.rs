//! `harn.toml`: what a project says about its runs.
//!
//! ```toml
//! [limits]
//! fuel = 50_000_000
//! depth = 5_000
//! memory = "512 MiB"
//! timeout = "30s"
//! deny = ["process", "net"]      # or: [capabilities] deny = […]
//!
//! [reminders]
//! max_body = "64 KiB"
//!
//! [agent]                        # what it says of itself where it is served
//! name = "rebase-worker"
//! description = "Rebases branches."
//! version = "1.2.0"
//! url = "https://agents.example.com/rebase"
//! provider = {organization = "Example", url = "https://example.com"}
//!
//! [[agent.skills]]
//! id = "rebase"
//! tags = ["git"]
//!
//! [event_log]
//! home = "sqlite:events.db"      # from the folder of this file
//! synchronous = "full"
//! lock_timeout = "10s"
//! max_file = "10 GiB"
//! keep_records = 100_000         # of a log in memory
//! keep_bytes = "64 MiB"
//!
//! [hooks]
//! timeout_ms = 5_000             # how long one handler or provider may take
//!
//! [providers]
//! packs = ["guard.rhai", {file = "repo.rhai", allow = ["fs.read"], timeout_ms = 100}]
//!
//! [providers.openai_compatible]  # where a provider lives
//! base_url = "http://gpu.local:8000/v1"
//! key_env = "GPU_KEY"            # the variable that holds the key
//!
//! [[capabilities]]               # what models can take, laid over the built-in table
//! provider = "openai_compatible"
//! model = "local-*"
//! context_window = 32_768
//! ```

mod agent;
mod event_log;
mod packs;
mod read;
mod trust;
mod user;

pub use agent::{Agent, Provider, Replies, Skill};
pub use trust::{Granted, TrustedFolder, revoke, trust, trusted};
pub use user::config_folder;

use crate::limits::RunLimits;
use crate::log::LogSettings;
use crate::read::Files;
use crate::rhai_voice::packs::{PackSpec, check_pack};
use lang::builtins::Capability;
use lang::diagnostic::Diagnostic;
use lang::diagnostic::Severity::{Error, Warning};
use lang::diagnostic::code::Code;
use providers::model::CapabilityTable;
use std::path::{Path, PathBuf};

/// The file's name.
const NAME: &str = "harn.toml";

/// It is no TOML.
pub(crate) const NOT_TOML: &str = "HARN-CFG-001";
/// A key that does not exist.
pub(crate) const KEY: &str = "HARN-CFG-002";
/// A value that makes no sense.
pub(crate) const VALUE: &str = "HARN-CFG-003";
/// It cannot be read.
pub(crate) const UNREADABLE: &str = "HARN-CFG-004";
/// A row about models has a fault.
pub(crate) const MODELS: &str = "HARN-CFG-005";

/// Settings of a folder that is not trusted.
pub(crate) const UNTRUSTED: &str = "HARN-CFG-006";

/// The rows.
pub(crate) static CODES: &[Code] = &[
    Code {
        code: NOT_TOML,
        severity: Error,
        title: "a `harn.toml` that is no TOML",
        meaning: "The file beside the script or above it cannot be read as TOML, so nothing is run: its limits would be \
                  missing.",
        fails: "",
        mended: "",
    },
    Code {
        code: KEY,
        severity: Error,
        title: "a key that `harn.toml` does not have",
        meaning: "The file may hold `[limits]` with `fuel`, `depth`, `memory`, `timeout` and `deny`, `[capabilities]` with \
                  `deny`, `[[capabilities]]` rows about models, and `[event_log]` with `home`, `synchronous`, \
                  `lock_timeout`, `max_file`, `keep_records` and `keep_bytes`, `[hooks]` with `timeout_ms`, `[reminders]` with `max_body`, `[agent]` with what an agent says of itself, `[providers]` with `packs`, and `[providers.NAME]` with `base_url` and `key_env`. A misspelt limit would be no limit.",
        fails: "",
        mended: "",
    },
    Code {
        code: VALUE,
        severity: Error,
        title: "a value in `harn.toml` that makes no sense",
        meaning: "`fuel` and `depth` are whole numbers above 0, `memory` and `max_body` are sizes such as \"512 MiB\", `timeout` a time such \
                  as \"30s\", `timeout_ms` a whole number, `deny` a list of rights: fs.read, fs.write, process, net, env, llm. Of `[event_log]`, `synchronous` is \
                  \"normal\" or \"full\", `lock_timeout` a time, `max_file` and `keep_bytes` are sizes, `keep_records` is a \
                  number. `[agent]` holds texts, URLs of http or https, and skills that have an `id` each.",
        fails: "",
        mended: "",
    },
    Code {
        code: UNREADABLE,
        severity: Error,
        title: "a `harn.toml` that cannot be read",
        meaning: "There is such a file beside the script or above it, and it may not be read, or is no UTF-8 text.",
        fails: "",
        mended: "",
    },
    Code {
        code: MODELS,
        severity: Error,
        title: "what is said of models or providers has a fault",
        meaning: "Each `[[capabilities]]` row in `harn.toml` names a `provider`, a glob of models, and what they can take. \
                  Each `[providers.NAME]` says where a provider lives: `base_url`, and `key_env`, the variable that holds its \
                  key, never the key itself. Such a variable ends in `_KEY` or `_TOKEN`.",
        fails: "",
        mended: "",
    },
    Code {
        code: UNTRUSTED,
        severity: Warning,
        title: "settings of an untrusted folder",
        meaning: "A `harn.toml` can come from anybody. Until you run `harn trust` in its folder it may lower limits and deny \
                  capabilities; it may not name servers, keys, packs, the address of an agent or an event log outside of \
                  its folder, nor raise a limit. The warning lists the settings that were ignored. Trust holds for the file as it \
                  is: after each change it is given anew.",
        fails: "",
        mended: "",
    },
    Code {
        code: trust::RECORD,
        severity: Error,
        title: "a record of trusted folders that cannot be used",
        meaning: "`harn trust` keeps its record in the folder of your settings: `HARN_CONFIG_HOME`, else `harn` in \
                  `XDG_CONFIG_HOME`, else `~/.config/harn`. The message says what the system said.",
        fails: "",
        mended: "",
    },
    Code {
        code: user::SETTINGS,
        severity: Error,
        title: "invalid user settings",
        meaning: "`config.toml` in the folder of your settings holds `[keys]`: for an origin, the variables whose keys may go \
                  there. It is read when a trusted `harn.toml` says where providers live.",
        fails: "",
        mended: "",
    },
];

/// What a project says about its runs.
#[derive(Clone, Debug, Default)]
pub struct Project {
    /// Limits.
    pub limits: RunLimits,
    /// Rights taken away.
    pub denied: Vec<Capability>,
    /// What its models can take; nothing where it says nothing of them.
    pub models: Option<CapabilityTable>,
    /// What its agent says of itself.
    pub agent: Agent,
    /// Its provider packs.
    pub packs: Vec<PackSpec>,
    /// Where its event log is kept.
    pub log: LogSettings,
    /// What was ignored because the folder is not trusted, as one warning.
    pub warning: Option<Diagnostic>,
}

impl Project {
    /// What the `harn.toml` says that is nearest to a script, if there is one.
    ///
    /// # Errors
    /// Everything that is wrong with the file.
    pub fn of(script: &Path) -> Result<Self, Vec<Diagnostic>> {
        find(script).map_or_else(|| Ok(Self::default()), |path| Ok(read::read(&path)?.project))
    }
}

impl Project {
    /// Everything that is wrong with its packs: their top level runs in their sandbox.
    #[must_use]
    pub fn check_packs(&self) -> Vec<Diagnostic> {
        self.packs.iter().flat_map(|spec| check_pack(&Files::of(&spec.file), spec)).collect()
    }
}

/// The file beside the script, or in the nearest folder above it. The search goes no further than the first folder that
/// holds `.git`.
fn find(script: &Path) -> Option<PathBuf> {
    let beside = script.with_file_name(NAME);
    if beside.exists() {
        return Some(beside);
    }
    let folder = script.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let whole = std::fs::canonicalize(folder).ok()?;
    let mut folder = whole.as_path();
    loop {
        let found = folder.join(NAME);
        if found.exists() {
            return Some(found);
        }
        if folder.join(".git").exists() {
            return None;
        }
        folder = folder.parent()?;
    }
}
