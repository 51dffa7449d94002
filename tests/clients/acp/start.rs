//! [`AgentCommand`]: `harn serve acp` with a script, in a folder of the test's own.

use super::client::Client;
use crate::harn::{root, scratch};
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The start options of `harn serve acp`.
pub(super) struct AgentCommand {
    script: PathBuf,
    args: Vec<String>,
    folder: PathBuf,
    reads: bool,
    env: Vec<(String, String)>,
}

impl AgentCommand {
    /// Serves a script of `tests/acp/agents`; the folder is the test's own.
    pub(super) fn agent(script: &str, test: &str) -> AgentCommand {
        let folder = scratch(&format!("acp-{test}"));
        AgentCommand {
            script: root().join("tests/acp/agents").join(script),
            args: Vec::new(),
            folder,
            reads: true,
            env: Vec::new(),
        }
    }

    /// Serves this text.
    pub(super) fn script(text: &str, test: &str) -> AgentCommand {
        let folder = scratch(&format!("acp-{test}"));
        let script = folder.join("agent.harn");
        fs::write(&script, text).unwrap();
        AgentCommand { script, args: Vec::new(), folder, reads: true, env: Vec::new() }
    }

    /// Adds options of the command.
    pub(super) fn with(mut self, args: &[&str]) -> AgentCommand {
        self.args.extend(args.iter().map(ToString::to_string));
        self
    }

    /// Adds an event log on disk.
    pub(super) fn logged(self) -> AgentCommand {
        let log = format!("--event-log=sqlite:{}", self.folder.join("log.db").display());
        self.with(&[&log])
    }

    /// Makes the client never read an answer.
    pub(super) fn deaf(mut self) -> AgentCommand {
        self.reads = false;
        self
    }

    /// Sets an environment variable.
    pub(super) fn env(mut self, name: &str, value: &str) -> AgentCommand {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The folder of the test, which is that of its sessions too.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Starts it.
    pub(super) fn spawn(&self) -> Client {
        let mut command = Command::new(env!("CARGO_BIN_EXE_harn"));
        command.args(["serve", "acp"]).arg(&self.script).args(&self.args).current_dir(&self.folder);
        command.env_clear().env("HARN_LLM_PROVIDER", "mock").env("HARN_MEMORY_ROOT", self.folder.join("memory"));
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Client::of(command.spawn().unwrap(), &self.folder, self.reads)
    }

    /// Starts it and says hello.
    pub(super) fn initialized(&self) -> Client {
        let mut client = self.spawn();
        client.initialize(json!({}));
        client
    }
}
