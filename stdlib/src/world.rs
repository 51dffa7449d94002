//! The state that one run holds of the core.

use crate::Capability;
use crate::a2a::client::Peers;
use crate::catalogue::from_core;
use crate::clock::RunClock;
use crate::disk::Disk;
use crate::fault::AgentCode;
use crate::hosting::Hosting;
use crate::interrupt::Interrupt;
use crate::output::Output;
use crate::progress::CutShort;
use crate::recording::{Models, RecordingMode, RunStart};
use crate::rhai_front_end::packs::{PackSpec, Packs};
use crate::table::input::Input;
use crate::values::{UnreadFailures, failed_loop};
use lang::diagnostic::Diagnostic;
use lang::value::Value;
use lang::vm::{Host, Raise};
use providers::fact::Facts;
use providers::model::{CapabilityTable, Routes};
use providers::web::Web;
use runtime::activity::Activity;
use runtime::agent_loop::LoopObservation;
use runtime::clock::Clock;
use runtime::data::Data;
use runtime::event_log::EventLog;
use runtime::hooks::Hooks;
use runtime::ids::{IdStream, SharedIds};
use runtime::note::{Note, Severity};
use runtime::reminder::providers::ReminderProviders;
use runtime::seam::{BlockingPool, Driver, Scope};
use runtime::seen_texts::SeenTexts;
use runtime::session::{Session, Sessions};
use runtime::workers::Workers;
use std::any::Any;
use std::cell::{Cell, OnceCell, RefCell};
use std::path::PathBuf;
use std::rc::{Rc, Weak};
use std::sync::Arc;

/// Shown what happens in loops, as it happens.
pub type Live = Rc<dyn Fn(LoopObservation<'_>)>;

/// Sessions, hooks, providers, routes, log and clock of a run.
pub struct World {
    this: Weak<World>,
    pub(crate) output: Rc<dyn Output>,
    /// The observer of running loops.
    pub(crate) live: Option<Live>,
    /// The switch that stops the run.
    pub(crate) interrupt: Option<Interrupt>,
    /// The loops that were cut short by that.
    pub(crate) cut_short: RefCell<Vec<CutShort>>,
    pub(crate) clock: Rc<RunClock>,
    pub(crate) log: Rc<dyn EventLog>,
    /// Whether what loops do is written to it.
    pub(crate) activity: Option<Activity>,
    pub(crate) sessions: Sessions,
    pub(crate) workers: Workers,
    pub(crate) hooks: Rc<Hooks>,
    pub(crate) providers: Rc<ReminderProviders>,
    /// Provider packs.
    pub(crate) packs: Packs,
    pub(crate) facts: Rc<Facts>,
    pub(crate) routes: Rc<Models>,
    pub(crate) web: Web,
    /// The state of other agents.
    pub(crate) peers: Peers,
    pub(crate) input: Input,
    /// Its file operations.
    pub(crate) disk: Disk,
    /// Failures of agent loops that the script has not read.
    pub(crate) unread: UnreadFailures,
    /// The first error of writing to standard output.
    pub(crate) unwritten: RefCell<Option<std::io::Error>>,
    pub(crate) ids: SharedIds,
    pub(crate) args: Vec<String>,
    pub(crate) task: Option<String>,
    /// The seed of the run.
    seed: u64,
    random: Cell<u64>,
    /// The timeout of one handler or provider, in milliseconds.
    pub(crate) hook_timeout_ms: Cell<u64>,
    /// The host that serves the run.
    pub(crate) hosting: Option<Rc<Hosting>>,
    /// The driver of the run's loops; set once its isolate exists.
    pub(crate) driver: OnceCell<Rc<dyn Driver>>,
    /// Notes shown once each.
    shown: RefCell<SeenTexts>,
}

impl World {
    /// Returns the pool for disk work. A run whose time does not follow the system's works on its
    /// own thread, so that a repeated run takes the same steps.
    pub(crate) fn pool(&self) -> Option<Rc<dyn BlockingPool>> {
        self.clock.follows_system().then(|| Rc::new(self.disk.pool()) as Rc<dyn BlockingPool>)
    }

    /// A world; its ids, clock and randomness follow from its beginning.
    #[allow(clippy::too_many_arguments)] // one for each thing that a run may be given
    pub(crate) fn new(
        beginning: RunStart,
        output: Rc<dyn Output>,
        live: Option<Live>,
        interrupt: Option<Interrupt>,
        args: Vec<String>,
        task: Option<String>,
        models: Option<CapabilityTable>,
        log: Rc<dyn EventLog>,
        activity: Option<Activity>,
        denied: &[Capability],
        packs: Vec<PackSpec>,
        hosting: Option<Rc<Hosting>>,
    ) -> Rc<World> {
        let RunStart { seed: chosen, clock, deck } = beginning;
        let clock = Rc::new(clock);
        // The table is part of the program and has a test of its own.
        let table = || models.unwrap_or_else(|| CapabilityTable::built_in().unwrap_or_default());
        let facts =
            Rc::new(Facts::new(std::env::var_os("HARN_MEMORY_ROOT").filter(|r| !r.is_empty()).map(PathBuf::from)));
        // A provider does not ask for permissions.
        let readable = (!denied.contains(&Capability::FsRead)).then(|| facts.clone());
        let packs = Packs::new(packs, denied, output.clone());
        let routes = Routes::new(table, |name| std::env::var(name).ok());
        let routes = if matches!(deck, RecordingMode::Previews(_)) { routes.without_servers() } else { routes };
        Rc::new_cyclic(|this| World {
            this: this.clone(),
            output,
            live,
            interrupt,
            cut_short: RefCell::default(),
            clock: clock.clone(),
            log,
            activity,
            sessions: Sessions::new(chosen),
            workers: Workers::default(),
            hooks: Rc::new(Hooks::new()),
            providers: Rc::new(ReminderProviders::new(providers::reminder::canonical(readable))),
            packs,
            facts,
            web: Web::new(|name| std::env::var(name).ok()),
            peers: Peers::default(),
            input: Input::default(),
            disk: Disk::default(),
            unread: UnreadFailures::default(),
            unwritten: RefCell::default(),
            routes: Rc::new(Models::new(routes, clock.clone(), deck)),
            ids: SharedIds::new(IdStream::new(chosen, "run")),
            args,
            task,
            seed: chosen,
            random: Cell::new(chosen),
            hook_timeout_ms: Cell::new(Scope::HOOK_TIMEOUT_MS),
            hosting,
            driver: OnceCell::new(),
            shown: RefCell::new(SeenTexts::new(MAX_SHOWN)),
        })
    }

    /// The world again, for what outlives a call.
    pub(crate) fn rc(&self) -> Option<Rc<World>> {
        self.this.upgrade()
    }

    /// The session that is current in all of a served script.
    pub(crate) fn current_session(&self) -> Option<Rc<Session>> {
        let hosting = self.hosting.as_ref()?;
        self.sessions.get(&hosting.session_id).ok()
    }

    /// Returns the path of a script's path: a relative one begins in the working folder of the
    /// served session, else in that of the process.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        match self.hosting.as_ref().and_then(|hosting| hosting.cwd.as_ref()) {
            Some(cwd) => cwd.join(path),
            None => path.into(),
        }
    }

    /// Returns the path as text, for code that keeps paths as texts.
    pub(crate) fn path_text(&self, path: &str) -> Arc<str> {
        self.path(path).to_string_lossy().into()
    }

    /// Returns whether the run was told to stop.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupt.as_ref().is_some_and(|interrupt| interrupt.exit_code().is_some())
    }

    /// A scope that nothing cancels.
    pub(crate) fn scope(&self) -> Scope {
        let mut scope = Scope::new(self.clock.clone(), self.log.clone());
        scope.hook_timeout_ms = self.hook_timeout_ms.get();
        scope.seed = self.seed;
        if let Some(driver) = self.driver.get() {
            scope.driver = driver.clone();
        }
        scope
    }

    /// Shows a note on standard error, each one once.
    pub(crate) fn show(&self, note: &Note) {
        let key = format!("{:?} {:?} {}", note.code, note.about, note.message);
        if self.shown.borrow_mut().insert(key) {
            self.output.diagnostic(&as_diagnostic(note));
        }
    }

    /// Says something once.
    pub(crate) fn say_once(&self, text: &str) {
        if self.shown.borrow_mut().insert(text.to_owned()) {
            self.output.err(&format!("{text}\n"));
        }
    }

    /// The arguments behind `--`.
    pub(crate) fn args_data(&self) -> Data {
        self.args.iter().map(|a| Data::from(a.as_str())).collect()
    }
}

/// The most texts that are remembered as shown.
const MAX_SHOWN: usize = 4_096;

/// Returns the diagnostic of a note. A raise has a place; a note alone does not.
fn as_diagnostic(note: &Note) -> Diagnostic {
    let severity = match note.severity {
        Severity::Error => lang::diagnostic::Severity::Error,
        Severity::Warning => lang::diagnostic::Severity::Warning,
        Severity::Info => lang::diagnostic::Severity::Info,
    };
    let mut d = match &note.fault {
        Some(fault) => crate::fault::to_raise(fault).to_diagnostic(),
        None => Diagnostic::new(note.code.map_or(AgentCode::Note.code(), from_core), note.message.clone()),
    };
    d.severity = severity;
    if let Some(about) = &note.about {
        // An uncaught error of a handler does not end the run.
        d = match d.message.strip_prefix("uncaught error: ") {
            Some(said) => {
                d.message = format!("`{about}` failed: {said}");
                d.note("the run continues without it")
            }
            None => d.note(format!("reported for `{about}`")),
        };
    }
    d
}

/// The exit code of a run that could not write to standard output. One whose reader is gone ends as those do that the signal
/// ends, which is 128 and its number.
pub(crate) fn exit_code_of(unwritten: &std::io::Error) -> i32 {
    const SIGPIPE: i32 = 13;
    if unwritten.kind() == std::io::ErrorKind::BrokenPipe { 128 + SIGPIPE } else { 1 }
}

/// A seed from the system, without a crate for it: hash maps are seeded from the same source.
pub(crate) fn entropy() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(std::process::id())
}

impl Host for World {
    fn print(&self, text: &str) -> Result<(), Box<Raise>> {
        self.output.out(text).map_err(|error| {
            let raise = Raise::exit(exit_code_of(&error));
            self.unwritten.borrow_mut().get_or_insert(error);
            raise
        })
    }

    fn eprint(&self, text: &str) {
        self.output.err(text);
    }

    fn now_ms(&self) -> u64 {
        self.clock.now_ms()
    }

    fn alarm(&self, at_ms: u64) -> lang::vm::Local<()> {
        let clock = self.clock.clone();
        Box::pin(async move { clock.alarm(at_ms).await })
    }

    fn idle(&self, outside: bool) -> lang::vm::Idle {
        self.clock.idle(outside)
    }

    fn is_interrupted(&self) -> bool {
        World::is_interrupted(self)
    }

    fn random(&self) -> u64 {
        // SplitMix64: the whole sequence follows from the seed.
        let mut z = self.random.get().wrapping_add(0x9E37_79B9_7F4A_7C15);
        self.random.set(z);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn exempts(&self, builtin: &str) -> bool {
        // The tool is offered to the model and does not run.
        builtin == "shell_tool" && self.routes.is_preview()
    }

    fn outcome(&self, value: &Value) -> Option<Result<(), Box<Raise>>> {
        failed_loop::outcome(value)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
