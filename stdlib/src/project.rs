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
//! max_tokens = 600               # what all reminders of a prompt may take
//! max_share = 0.1                # of the context window
//! files = true                   # loops use the files in `.harn/reminders`
//! placement = "auto"             # where prompts show them
//!
//! [reminders.policy]
//! forbid_sources = ["peer"]
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
//! keep = "90d"                   # ended sessions and tasks of servers
//! max_size = "4 GiB"
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
//! [mcp.servers.files]            # a server whose tools loops can use
//! command = "npx"
//! args = ["-y", "@modelcontextprotocol/server-filesystem", "."]
//!
//! [fmt]
//! width = 100                    # of the lines of formatted scripts
//!
//! [[capabilities]]               # what models can take, laid over the built-in table
//! provider = "openai_compatible"
//! model = "local-*"
//! context_window = 32_768
//! ```

mod agent;
mod channels;
mod event_log;
mod mcp;
mod packs;
mod policy;
mod read;
mod settings;
mod trust;
mod user;

pub use agent::{Agent, Provider, Replies, Skill};
pub use channels::{ChannelsProject, OrphanPolicy};
pub use read::project_keys;
pub use trust::{Granted, grants, trust};

use crate::capability::Capability;
use crate::limits::RunLimits;
use crate::log::LogSettings;
use crate::mcp::McpServerSpec;
use crate::read::Files;
use crate::rhai_front_end::packs::{PackSpec, check_pack};
use crate::trust::find;
use lang::diagnostic::Diagnostic;
use lang::source::SourceRef;
use providers::model::CapabilityTable;
use runtime::reminder::policy::ReminderPolicy;
use std::path::{Path, PathBuf};

/// A project's settings of its runs.
#[derive(Clone, Debug, Default)]
pub struct Project {
    /// Limits.
    pub limits: RunLimits,
    /// Rights taken away.
    pub denied: Vec<Capability>,
    /// The capabilities of its models; `None` if it does not set any.
    pub models: Option<CapabilityTable>,
    /// The agent's description of itself.
    pub agent: Agent,
    /// Its provider packs.
    pub packs: Vec<PackSpec>,
    /// Its MCP servers.
    pub mcp_servers: Vec<McpServerSpec>,
    /// The settings of the event log.
    pub log: LogSettings,
    /// The settings of remote channels.
    pub channels: ChannelsProject,
    /// The width of the lines of formatted scripts.
    pub width: Option<u32>,
    /// The policy about reminders.
    pub policy: ReminderPolicy,
    /// A warning about the settings that were ignored because the folder is not trusted.
    pub warning: Option<Diagnostic>,
}

impl Project {
    /// Returns the path of the `harn.toml` that is nearest to a script.
    #[must_use]
    pub fn file_of(script: &Path) -> Option<PathBuf> {
        find(script)
    }

    /// Returns the errors in the text of a `harn.toml` that is stored at `path`, or a warning about settings that are ignored.
    #[must_use]
    pub fn check_text(source: &SourceRef, path: &Path) -> Vec<Diagnostic> {
        read::check(source, path)
    }

    /// Reads the `harn.toml` that is nearest to a script, if there is one, and the managed policy, which takes
    /// precedence.
    ///
    /// # Errors
    /// Returns the errors in the file, or in that of the policy.
    pub fn of(script: &Path) -> Result<Self, Vec<Diagnostic>> {
        let mut project = match find(script) {
            Some(path) => read::read(&path)?.project,
            None => Self::default(),
        };
        project.policy = policy::managed()?.over(project.policy);
        Ok(project)
    }
}

impl Project {
    /// Returns the errors in its packs: their top level runs in the sandbox.
    #[must_use]
    pub fn check_packs(&self) -> Vec<Diagnostic> {
        self.packs.iter().flat_map(|spec| check_pack(&Files::of(&spec.file), spec)).collect()
    }
}
