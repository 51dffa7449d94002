//! [`World`]: the state of a run besides its isolate.
//!
//! - [`Console`]: the printed output. `parts`: state of later modules. `sources`: reminders that a project adds.

mod console;
mod parts;
mod sources;

pub(crate) use console::{Console, exit_code_of};
use parts::Parts;
pub(crate) use sources::{PackSource, ReminderFileSource};

use crate::a2a::client::Peers;
use crate::capability::Capability;
use crate::clock::RunClock;
use crate::disk::Disk;
use crate::failed_loop::{self, LoopFailures};
use crate::hosting::Hosting;
use crate::interrupt::{CutShort, Interrupt};
use crate::output::Output;
use crate::random::RandomSource;
use crate::recording::{Models, RecordingMode, RunStart};
use crate::testing::TestContext;
use crate::variant::RunVariant;
use base::call::BlockingPool;
use base::clock::Clock;
use base::data::Data;
use eventlog::EventLog;
use lang::value::Value;
use lang::vm::{Host, Raise};
use providers::fact::Facts;
use providers::model::{CapabilityTable, Routes};
use providers::web::Web;
use runtime::agent_loop::LoopObservation;
use runtime::budget::Budget;
use runtime::capabilities::PlacementPolicy;
use runtime::hooks::Hooks;
use runtime::reminder::overrides::SpecOverrides;
use runtime::reminder_providers::{ReminderBudget, ReminderOptions, ReminderProviders, ReminderVariation};
use runtime::render::fallback::SlotFallbacks;
use runtime::scope::{Driver, Scope};
use runtime::session::{Session, Sessions};
use runtime::spans::Activity;
use runtime::workers::Workers;
use std::any::Any;
use std::cell::{Cell, OnceCell, RefCell};
use std::path::PathBuf;
use std::rc::{Rc, Weak};
use std::sync::Arc;

/// Shown what happens in loops, as it happens.
pub type Live = Rc<dyn Fn(LoopObservation<'_>)>;

/// The state of a run, one part for each concern.
pub struct World {
    this: Weak<World>,
    pub(crate) console: Console,
    pub(crate) observers: Observers,
    pub(crate) stop: StopState,
    pub(crate) agents: Agents,
    pub(crate) services: Services,
    pub(crate) random: RandomSource,
    pub(crate) parameters: Parameters,
    pub(crate) clock: Rc<RunClock>,
    /// The timeout of one handler or provider, in milliseconds.
    pub(crate) hook_timeout_ms: Cell<u64>,
    /// The budget of the reminders in a prompt, unless a loop's options set one.
    pub(crate) reminder_budget: Cell<ReminderBudget>,
    /// The position of reminders, unless a loop's options or the route set one.
    pub(crate) reminder_placement: Cell<Option<PlacementPolicy>>,
    /// The budget of the run; none without limits.
    pub(crate) budget: OnceCell<Rc<Budget>>,
    /// The driver of the run's loops; set once its isolate exists.
    pub(crate) driver: OnceCell<Rc<dyn Driver>>,
    /// The host that serves the run.
    pub(crate) hosting: Option<Rc<Hosting>>,
    /// The test that it runs.
    pub(crate) test: OnceCell<TestContext>,
    /// State that later modules keep in the run.
    parts: Parts,
}

/// The observers of a run.
pub(crate) struct Observers {
    /// The observer of running loops.
    pub(crate) live: Option<Live>,
    pub(crate) log: Rc<dyn EventLog>,
    /// The writer of the activity of loops to the log; none if it is not recorded.
    pub(crate) activity: Option<Activity>,
}

/// The switch that stops a run, and the failures to report at its end.
pub(crate) struct StopState {
    /// The switch that stops the run.
    pub(crate) interrupt: Option<Interrupt>,
    /// The loops that an interruption cut short.
    pub(crate) cut_short: RefCell<Vec<CutShort>>,
    /// Failures of agent loops and workers that the script has not handled.
    pub(crate) failures: Rc<LoopFailures>,
}

/// The agents of a run, and what extends them.
pub(crate) struct Agents {
    pub(crate) sessions: Sessions,
    pub(crate) workers: Workers,
    pub(crate) hooks: Rc<Hooks>,
    pub(crate) providers: Rc<ReminderProviders>,
    /// The routes that have rejected a slot of reminders.
    pub(crate) slots: Rc<SlotFallbacks>,
    /// Reminder providers of files in Rhai.
    pub(crate) packs: Rc<dyn PackSource>,
    /// Reminders that are written as files.
    pub(crate) files: Rc<dyn ReminderFileSource>,
    /// The variant of the run.
    variation: OnceCell<ReminderVariation>,
    overrides: OnceCell<Rc<SpecOverrides>>,
}

/// The access of a run to models, files and the network.
pub(crate) struct Services {
    pub(crate) routes: Rc<Models>,
    pub(crate) facts: Rc<Facts>,
    pub(crate) web: Web,
    /// The state of other agents.
    pub(crate) peers: Peers,
    /// File operations.
    pub(crate) disk: Disk,
    /// The hub of this run, once a script has used it.
    #[cfg(feature = "hub")]
    pub(crate) local_hub: OnceCell<::hub::Hub>,
}

/// The input of a run.
#[derive(Default)]
pub(crate) struct Parameters {
    pub(crate) args: Vec<String>,
    pub(crate) task: Option<String>,
    /// The folder in which relative paths begin, if it is not that of the process.
    pub(crate) cwd: Option<PathBuf>,
}

/// The extensions of a run by its project.
pub(crate) struct Extensions<'a> {
    /// The capabilities of models, if they differ from the built-in table.
    pub(crate) models: Option<CapabilityTable>,
    pub(crate) packs: Rc<dyn PackSource>,
    pub(crate) files: Rc<dyn ReminderFileSource>,
    /// Capabilities taken away.
    pub(crate) denied: &'a [Capability],
}

impl World {
    /// Returns the pool for disk work. A run whose time does not follow the system's works on its
    /// own thread, so that a repeated run takes the same steps.
    pub(crate) fn pool(&self) -> Option<Rc<dyn BlockingPool>> {
        self.clock.follows_system().then(|| Rc::new(self.services.disk.pool()) as Rc<dyn BlockingPool>)
    }

    /// Creates a world. Its ids, clock and randomness follow from its start.
    pub(crate) fn new(
        start: RunStart,
        output: Rc<dyn Output>,
        observers: Observers,
        interrupt: Option<Interrupt>,
        parameters: Parameters,
        extensions: Extensions<'_>,
        hosting: Option<Rc<Hosting>>,
    ) -> Rc<World> {
        let RunStart { seed, clock, deck } = start;
        let clock = Rc::new(clock);
        let services = Services::new(extensions.models, deck, &clock);
        let readable = (!extensions.denied.contains(&Capability::FsRead)).then(|| services.facts.clone());
        let failures = LoopFailures::new(output.clone());
        Rc::new_cyclic(|this| World {
            this: this.clone(),
            console: Console::new(output),
            observers,
            stop: StopState { interrupt, cut_short: RefCell::default(), failures },
            agents: Agents::new(seed, readable, extensions.packs, extensions.files),
            services,
            random: RandomSource::new(seed),
            parameters,
            clock,
            hook_timeout_ms: Cell::new(Scope::HOOK_TIMEOUT_MS),
            reminder_budget: Cell::default(),
            reminder_placement: Cell::default(),
            budget: OnceCell::new(),
            driver: OnceCell::new(),
            hosting,
            test: OnceCell::new(),
            parts: Parts::default(),
        })
    }

    /// The world again, for what outlives a call.
    pub(crate) fn rc(&self) -> Option<Rc<World>> {
        self.this.upgrade()
    }

    /// Returns the state that a later module keeps in the run. The first call makes it.
    pub(crate) fn part<T: 'static>(&self, make: impl FnOnce() -> T) -> Rc<T> {
        self.parts.get(make)
    }

    /// The session that is current in all of a served script.
    pub(crate) fn current_session(&self) -> Option<Rc<Session>> {
        let hosting = self.hosting.as_ref()?;
        self.agents.sessions.get(&hosting.session_id).ok()
    }

    /// Returns the path of a script's path: a relative one begins in the working folder of the
    /// served session, else in that of the process.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        match self.hosting.as_ref().and_then(|hosting| hosting.cwd.as_ref()).or(self.parameters.cwd.as_ref()) {
            Some(cwd) => cwd.join(path),
            None => path.into(),
        }
    }

    /// Returns the folder in which relative paths begin.
    pub(crate) fn folder(&self) -> std::io::Result<PathBuf> {
        self.parameters.cwd.clone().map_or_else(std::env::current_dir, Ok)
    }

    /// Returns the path as text, for code that keeps paths as texts.
    pub(crate) fn path_text(&self, path: &str) -> Arc<str> {
        self.path(path).to_string_lossy().into()
    }

    /// Returns whether the run was told to stop.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.stop.interrupt.as_ref().is_some_and(|interrupt| interrupt.exit_code().is_some())
    }

    /// A scope that nothing cancels.
    pub(crate) fn scope(&self) -> Scope {
        let mut scope = Scope::new(self.clock.clone(), self.observers.log.clone());
        scope.hook_timeout_ms = self.hook_timeout_ms.get();
        scope.seed = self.random.seed;
        scope.activity = self.observers.activity.clone();
        scope.budget = self.budget.get().cloned();
        scope.overrides = self.agents.overrides.get().cloned();
        if let Some(driver) = self.driver.get() {
            scope.driver = driver.clone();
        }
        scope
    }

    /// The arguments behind `--`.
    pub(crate) fn args_data(&self) -> Data {
        self.parameters.args.iter().map(|a| Data::from(a.as_str())).collect()
    }
}

impl Agents {
    /// Creates the state without agents. Providers read `facts` without asking for permissions.
    fn new(
        seed: u64,
        facts: Option<Rc<Facts>>,
        packs: Rc<dyn PackSource>,
        files: Rc<dyn ReminderFileSource>,
    ) -> Agents {
        Agents {
            sessions: Sessions::new(seed),
            workers: Workers::default(),
            hooks: Rc::new(Hooks::new()),
            providers: Rc::new(ReminderProviders::new(providers::reminder::canonical(facts))),
            slots: Rc::default(),
            packs,
            files,
            variation: OnceCell::new(),
            overrides: OnceCell::new(),
        }
    }
}

impl Agents {
    /// Makes the run a variant. A run is one variant from its start.
    pub(crate) fn set_variant(&self, variant: RunVariant) {
        let _ = self.variation.set(variant.variation);
        if !variant.overrides.is_empty() {
            let _ = self.overrides.set(Rc::new(variant.overrides));
        }
    }

    /// Returns options of a loop as the variant of the run has them.
    pub(crate) fn vary(&self, mut options: ReminderOptions) -> ReminderOptions {
        if let Some(variation) = self.variation.get() {
            options.vary(variation);
        }
        options
    }

    /// Loads the packs that the options name: a guard that is missing in silence is none.
    pub(crate) fn bring_packs(&self, options: &mut ReminderOptions) -> Result<(), Box<Raise>> {
        if !options.packs.is_empty() {
            options.brought = self.packs.named_by(&options.packs, &self.providers)?.into();
        }
        Ok(())
    }
}

impl Services {
    fn new(models: Option<CapabilityTable>, deck: RecordingMode, clock: &Rc<RunClock>) -> Services {
        // The table is part of the program and has a test of its own.
        let table = || models.unwrap_or_else(|| CapabilityTable::built_in().unwrap_or_default());
        let routes = Routes::new(table, |name| std::env::var(name).ok());
        let routes = if matches!(deck, RecordingMode::Previews(_)) { routes.without_servers() } else { routes };
        let memory_root = std::env::var_os("HARN_MEMORY_ROOT").filter(|root| !root.is_empty());
        Services {
            routes: Rc::new(Models::new(routes, clock.clone(), deck)),
            facts: Rc::new(Facts::new(memory_root.map(PathBuf::from))),
            web: Web::new(|name| std::env::var(name).ok()),
            peers: Peers::default(),
            disk: Disk::default(),
            #[cfg(feature = "hub")]
            local_hub: OnceCell::new(),
        }
    }
}

impl Host for World {
    fn print(&self, text: &str) -> Result<(), Box<Raise>> {
        self.console.print(text)
    }

    fn eprint(&self, text: &str) {
        self.console.output.err(text);
    }

    fn now_ms(&self) -> u64 {
        self.clock.now_ms()
    }

    fn alarm(&self, at_ms: u64) -> lang::vm::Local<()> {
        let clock = self.clock.clone();
        Box::pin(async move { clock.alarm(at_ms).await })
    }

    fn idle(&self, outside: bool) -> lang::vm::Idle {
        self.stop.failures.report_pending();
        self.clock.idle(outside)
    }

    fn is_interrupted(&self) -> bool {
        World::is_interrupted(self)
    }

    fn random(&self) -> u64 {
        self.random.next()
    }

    fn exempts(&self, builtin: &str) -> bool {
        // The tool is offered to the model and does not run.
        builtin == "shell_tool" && self.services.routes.is_preview()
    }

    fn outcome(&self, value: &Value) -> Option<Result<(), Box<Raise>>> {
        failed_loop::outcome(value)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
