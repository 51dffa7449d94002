//! The limits of a run: from the command line first, then from the `harn.toml` of its project.

use crate::otel;
use crate::report::{Format, show};
use eventlog::{ObservedLog, RecordObserver, SharedLog as _};
use runtime::budget::BudgetLimits;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use stdlib::limits::{RunLimits, parse_budget, parse_size, parse_time};
use stdlib::{Capability, Diagnostic, Files, LogSettings, Output, Preview, Project, RunOptions};

/// The limits, capabilities and event log of a run.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Limits {
    #[command(flatten)]
    bounds: RunBounds,
    /// Event log backend: memory or sqlite:PATH [env: HARN_EVENT_LOG] [default: memory]
    #[arg(long, value_name = "BACKEND")]
    event_log: Option<String>,
    /// Also record loops, model calls and tool calls in the event log, for `harn trace --otel`; implied by `--otel`
    #[arg(long)]
    activity: bool,
}

/// The limits and capabilities of a run.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct RunBounds {
    /// Use fixed ids, time and randomness, so that every run prints the same output
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Capabilities to deny, separated by commas: fs.read, fs.write, process, net, env, llm
    #[arg(long, value_name = "CAPABILITY", value_delimiter = ',', value_parser = capability)]
    deny: Vec<Capability>,
    /// Stop the run after about N instructions [default: no limit]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    fuel: Option<u64>,
    /// Limit the memory of all values, for example 512m or 2g [default: 4g]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    max_memory: Option<u64>,
    /// Stop the run after this time, for example 500ms, 30s or 5m [default: no limit]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    timeout: Option<Duration>,
    /// Limit what all model requests use, for example usd=0.50,tokens=200000,turns=20 [default: no limit]
    #[arg(long, value_name = "LIMITS", value_parser = parse_budget)]
    budget: Option<BudgetLimits>,
    /// Limit the depth of nested calls [default: 20000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_depth: Option<u64>,
}

impl RunBounds {
    /// Returns the setup of each run of a script, merged with its project.
    pub(crate) fn setup(self, project: Project, script: &Path) -> RunSetup {
        let said = RunLimits {
            fuel: self.fuel,
            depth: self.max_depth,
            memory: self.max_memory,
            time: self.timeout,
            budget: self.budget,
            ..RunLimits::default()
        };
        RunSetup {
            activity: false,
            seed: self.seed,
            denied: self.deny,
            limits: said.over(project.limits),
            project,
            files: Files::of(script),
        }
    }
}

impl Limits {
    /// Returns the options for the engine, merged with the project of `script`. `tap` sees what the
    /// runtime writes to the event log. Settings that an
    /// untrusted project may not make are reported as a warning.
    ///
    /// # Errors
    /// Returns the errors in the project's file, and that of an event log that cannot be opened.
    pub(crate) fn options(
        self,
        script: &Path,
        to: &dyn Output,
        format: Format,
        tap: Option<RecordObserver>,
    ) -> Result<RunOptions, Vec<Diagnostic>> {
        let (setup, log) = self.read(script, to, format)?;
        setup.options_with_log(&log, tap)
    }

    /// Returns the setup of each run, and the event log that all of them share, for a process that
    /// runs the script more than once.
    ///
    /// # Errors
    /// Returns the errors in the project's file, and that of an unknown backend of event logs.
    pub(crate) fn read(
        self,
        script: &Path,
        to: &dyn Output,
        format: Format,
    ) -> Result<(RunSetup, LogSettings), Vec<Diagnostic>> {
        let project = Project::of(script)?;
        show(to, project.warning.as_slice(), format);
        let of_environment = std::env::var("HARN_EVENT_LOG").ok();
        let log = project.log.clone().said(&[self.event_log.as_deref(), of_environment.as_deref()])?;
        let setup = RunSetup { activity: self.activity, ..self.bounds.setup(project, script) };
        Ok((setup, log))
    }
}

/// The setup of each run of a script. It is sent to other threads; the options that it makes are
/// not.
#[derive(Clone)]
pub(crate) struct RunSetup {
    /// Whether what loops do is written to the event log, though nothing is exported.
    pub(crate) activity: bool,
    seed: Option<u64>,
    denied: Vec<Capability>,
    limits: RunLimits,
    pub(crate) project: Project,
    files: Files,
}

impl RunSetup {
    /// Returns the options for one run with an open event log.
    ///
    /// # Errors
    /// Returns the error of an event log that cannot be opened.
    pub(crate) fn options_with_log(
        &self,
        log: &LogSettings,
        tap: Option<RecordObserver>,
    ) -> Result<RunOptions, Vec<Diagnostic>> {
        let activity = (self.activity || tap.is_some()).then(otel::activity);
        let open = || match tap {
            Some(tap) => Ok(ObservedLog::new(log.open_shared(&[])?, tap).here()),
            None => log.open(&[]),
        };
        let log = match self.limits.time {
            Some(time) => eventlog::within(time, open)?,
            None => open()?,
        };
        Ok(RunOptions { log: Some(log), activity, ..self.options() })
    }

    /// Returns the options for one run, without an event log.
    pub(crate) fn options(&self) -> RunOptions {
        RunOptions {
            seed: self.seed,
            // What either takes away is away.
            denied: self.denied.iter().chain(&self.project.denied).copied().collect(),
            limits: self.limits,
            models: self.project.models.clone(),
            packs: self.project.packs.clone(),
            mcp_servers: self.project.mcp_servers.clone(),
            policy: Some(Arc::new(self.project.policy.clone())),
            loader: Rc::new(self.files.clone()),
            ..RunOptions::default()
        }
    }
}

pub(crate) fn capability(written: &str) -> Result<Capability, String> {
    one_of(written, &Capability::ALL)
}

/// Reads the name of one of some capabilities.
pub(crate) fn one_of(written: &str, known: &[Capability]) -> Result<Capability, String> {
    let names: Vec<&str> = known.iter().map(|known| known.name()).collect();
    known.iter().copied().find(|known| known.name() == written).ok_or_else(|| {
        match lang::diagnostic::nearest(written, names.iter().copied()) {
            Some(near) => format!("unknown capability; did you mean `{near}`?"),
            None => format!("unknown capability; use one of {}", names.join(", ")),
        }
    })
}

/// Takes the path of a file with reminder providers. A provider of models is not one.
pub(crate) fn pack(path: PathBuf) -> Result<PathBuf, String> {
    let written = path.to_str().unwrap_or_default();
    let is_model_provider = Preview::providers().contains(&written) && !path.exists();
    if is_model_provider {
        return Err(format!(
            "a pack is a Rhai file with reminder providers; to select a provider of models, set \
             HARN_LLM_PROVIDER={written}"
        ));
    }
    Ok(path)
}
