//! Builder of an engine.

use crate::engine::Engine;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;
use stdlib::limits::RunLimits;
use stdlib::{Capability, Captured, Files, Output, RunOptions};

/// Builds an [`Engine`].
///
/// ```
/// use std::time::Duration;
///
/// let engine = harn::Engine::builder()
///     .deny([harn::Capability::Net, harn::Capability::Process])
///     .memory_limit(64 << 20)
///     .time_limit(Duration::from_secs(2))
///     .build();
/// let error = engine.run("while true {}").unwrap_err();
/// assert_eq!(error.code(), Some("HARN-LIM-002"));
/// ```
#[derive(Default)]
pub struct EngineBuilder {
    denied: Vec<Capability>,
    limits: RunLimits,
    seed: Option<u64>,
    task: Option<String>,
    args: Vec<String>,
    output: Option<Rc<dyn Output>>,
    folder: Option<PathBuf>,
}

impl EngineBuilder {
    /// Denies capabilities. Scripts have all of them otherwise, as with `harn run`.
    #[must_use]
    pub fn deny(mut self, capabilities: impl IntoIterator<Item = Capability>) -> Self {
        self.denied.extend(capabilities);
        self
    }

    /// Limits the memory that the engine's scripts hold, in bytes. The default is 4 GiB. It counts only where
    /// [`CountingAllocator`](crate::CountingAllocator) is the global allocator of the program.
    #[must_use]
    pub fn memory_limit(mut self, bytes: u64) -> Self {
        self.limits.memory = Some(bytes);
        self
    }

    /// Limits the time of each run and each call. Unlimited by default.
    #[must_use]
    pub fn time_limit(mut self, time: Duration) -> Self {
        self.limits.time = Some(time);
        self
    }

    /// Limits the instructions of all runs and calls together, approximately. Unlimited by default.
    #[must_use]
    pub fn fuel(mut self, instructions: u64) -> Self {
        self.limits.fuel = Some(instructions);
        self
    }

    /// Fixes ids, clock and randomness, so that two engines do the same.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Sets what the builtin `args` returns.
    #[must_use]
    pub fn args(mut self, args: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.args = args.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the task that a script reads as `task`.
    #[must_use]
    pub fn task(mut self, task: impl Into<String>) -> Self {
        self.task = Some(task.into());
        self
    }

    /// Sends what scripts print to `output`. The default is the standard output and error of the process.
    #[must_use]
    pub fn output(mut self, output: Rc<dyn Output>) -> Self {
        self.output = Some(output);
        self
    }

    /// Collects what scripts print; the second value reads it.
    #[must_use]
    pub fn captured(self) -> (Self, Rc<Captured>) {
        let captured = Rc::new(Captured::default());
        (self.output(captured.clone()), captured)
    }

    /// Lets scripts import files below `folder`. Without it they import none.
    #[must_use]
    pub fn imports(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// Makes the engine.
    #[must_use]
    pub fn build(self) -> Engine {
        let mut options = RunOptions {
            seed: self.seed,
            task: self.task,
            args: self.args,
            denied: self.denied,
            limits: self.limits,
            ..RunOptions::default()
        };
        if let Some(output) = self.output {
            options.output = output;
        }
        // Imports are looked up beside a script of this name.
        let name = self.folder.map(|folder| folder.join("script.harn"));
        if let Some(name) = &name {
            options.loader = Rc::new(Files::of(name));
        }
        Engine::with(options, name)
    }
}
