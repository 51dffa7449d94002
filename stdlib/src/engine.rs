//! Checking and running scripts.
//!
//! - `ending`: the end of a run. `waiting`: its waits for the outside, and its interruption.
//! - `unset`: names of a session without a value. `recording`: runs that are recorded or replayed.
//! - [`TestCase`]: a test of a file. [`Piece`]: what is typed into a REPL. [`Hosted`]: a run that lives on, and answers prompts.

mod embedded;
mod ending;
mod hosted;
mod inspect;
mod mcp;
mod piece;
mod recording;
mod test_run;
mod unset;
mod waiting;

pub use embedded::Evaluated;
pub use ending::RunResult;
use ending::errors;
use eventlog::{EventLog, MemoryLog};
pub use hosted::{
    Hosted, PromptEnd, PromptResult, Request, ReturnedValue, Servable, ServedCall, check_entries, check_served,
};
pub use inspect::{ConversationView, ReminderView};
pub use mcp::SyncedServer;
pub use piece::Piece;
pub use test_run::{TestCase, TestOutcome};
use unset::UnsetNames;

use crate::bind::{RunDriver, conditions_of};
use crate::capability::Capability;
use crate::hosting::Hosting;
use crate::http::HttpMock;
use crate::interrupt::Interrupt;
use crate::limits::RunLimits;
use crate::mcp::{McpServerSpec, McpServers};
use crate::output::{Output, Terminal};
use crate::recording::{Preview, RunRecording, RunStart};
use crate::registry::registry;
use crate::reminder_files::RunReminderFiles;
use crate::rhai_front_end::packs::{PackSpec, Packs};
use crate::rhai_front_end::{self, Constants, FrontEndConfig, RhaiFrontEnd, Session, is_rhai};
use crate::table::input::Input;
use crate::variant::RunVariant;
use crate::world::{Extensions, Live, Observers, Parameters, World};
use lang::check::SessionTypes;
use lang::compile::{Entry, Imported, Unit};
use lang::diagnostic::Diagnostic;
use lang::module::{Loader, Modules, NoFiles};
use lang::resolve::Outer;
use lang::script::{Loaded, Options, load};
use lang::source::SourceRef;
use lang::value::{Closure, Value};
use lang::vm::{Context, Exit, Fiber, Isolate, Proto, Raise, RunCode, Watched, close, resume, run, watch_time};
use providers::model::CapabilityTable;
use runtime::budget::{Budget, BudgetOwner, Ledger};
use runtime::reminder::policy::ReminderPolicy;
use runtime::spans::{Activity, ActivityOptions};
use std::cell::{Cell, OnceCell, RefCell};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

/// The options of a run.
pub struct RunOptions {
    /// Fixes ids, clock and randomness.
    pub seed: Option<u64>,
    /// The value of a pipeline's parameter `task`.
    pub task: Option<String>,
    /// The value of `args()`.
    pub args: Vec<String>,
    /// Capabilities taken away.
    pub denied: Vec<Capability>,
    /// The limits.
    pub limits: RunLimits,
    /// The capabilities of its models, if a project extends the built-in table.
    pub models: Option<CapabilityTable>,
    /// The event log; in memory if absent.
    pub log: Option<Rc<dyn EventLog>>,
    /// The records of its loops in the log; none if absent.
    pub activity: Option<ActivityOptions>,
    /// The recording that it writes or replays; a replay takes seed and clock from it.
    pub recording: Option<RunRecording>,
    /// Keeps the requests to models, which are not sent; tools do not run.
    pub preview: Option<Rc<Preview>>,
    /// The output that it prints to.
    pub output: Rc<dyn Output>,
    /// The observer of its running loops; with one, answers are streamed.
    pub live: Option<Live>,
    /// The switch that stops it from outside.
    pub interrupt: Option<Interrupt>,
    /// Reminder providers of files in Rhai, each in a sandbox of its own.
    pub packs: Vec<PackSpec>,
    /// The MCP servers that a project or a host describes; each is started or contacted when it is first used.
    pub mcp_servers: Vec<McpServerSpec>,
    /// The policy about reminders, for the whole process; `None` leaves the one that is set.
    pub policy: Option<Arc<ReminderPolicy>>,
    /// Reads the files that it imports.
    pub loader: Rc<dyn Loader>,
    /// Whether the script was read from standard input, so that it cannot read from there.
    pub from_stdin: bool,
    /// The variant of the run, if it is one of an evaluation.
    pub variant: Option<RunVariant>,
    /// The folder in which its relative paths begin; that of the process if absent.
    pub cwd: Option<PathBuf>,
    /// The host that serves it, if any.
    pub hosting: Option<Rc<Hosting>>,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            seed: None,
            task: None,
            args: Vec::new(),
            denied: Vec::new(),
            limits: RunLimits::default(),
            models: None,
            log: None,
            activity: None,
            recording: None,
            preview: None,
            output: Rc::new(Terminal),
            live: None,
            interrupt: None,
            packs: Vec::new(),
            mcp_servers: Vec::new(),
            policy: None,
            loader: Rc::new(NoFiles),
            from_stdin: false,
            variant: None,
            cwd: None,
            hosting: None,
        }
    }
}

/// One run, or one REPL session: an isolate and its world.
pub struct Engine {
    isolate: Rc<Isolate>,
    world: Rc<World>,
    /// Reminder providers of files in Rhai.
    packs: Rc<Packs>,
    /// Reminders that are written as files.
    files: Rc<RunReminderFiles>,
    /// Another one after a piece that was interrupted.
    context: RefCell<Rc<Context>>,
    names: RefCell<Vec<Outer>>,
    /// The types of the names.
    types: RefCell<SessionTypes>,
    /// The names of a session that have no value, since their statement was not carried out.
    unset: UnsetNames,
    modules: Modules,
    /// Reads files for `modules`, and for scripts in Rhai.
    loader: Rc<dyn Loader>,
    /// Made on the first script in Rhai.
    front_end: OnceCell<Rc<RhaiFrontEnd>>,
    /// The state that the pieces in Rhai share; created with the first.
    session: OnceCell<Rc<Session>>,
    /// Made on the first wait: a script that never waits pays nothing for it.
    runtime: OnceCell<Option<tokio::runtime::LocalRuntime>>,
    /// Its time, where it is limited.
    watched: RefCell<Option<Watched>>,
    /// The id of the run in the records of what it does, while it runs.
    activity: RefCell<Option<String>>,
    /// Levels of nesting that the text of a piece's value shows.
    shown_depth: Cell<usize>,
}

impl Engine {
    /// A fresh run.
    #[must_use]
    pub fn new(options: RunOptions) -> Self {
        if let Some(bytes) = options.limits.max_body {
            runtime::reminder::limits::set_max_body(usize::try_from(bytes).unwrap_or(usize::MAX));
        }
        if let Some(policy) = options.policy {
            runtime::reminder::policy::set(policy);
        }
        let log = options.log.unwrap_or_else(|| Rc::new(MemoryLog::new()));
        let packs = Rc::new(Packs::new(options.packs, &options.denied, options.output.clone()));
        let files = Rc::<RunReminderFiles>::default();
        let world = World::new(
            RunStart::of(options.seed, options.recording, options.preview),
            options.output,
            Observers { live: options.live, log, activity: options.activity.map(Activity::new) },
            options.interrupt,
            Parameters { args: options.args, task: options.task, cwd: options.cwd },
            Extensions { models: options.models, packs: packs.clone(), files: files.clone(), denied: &options.denied },
            options.hosting,
        );
        McpServers::describe(&world, options.mcp_servers);
        if let Some(time) = options.limits.hook {
            world.hook_timeout_ms.set(u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
        }
        world.reminder_budget.set(options.limits.reminders);
        if let Some(variant) = options.variant {
            world.agents.set_variant(variant);
        }
        files.set_default(options.limits.reminder_files.unwrap_or(false));
        world.reminder_placement.set(options.limits.placement);
        if let Some(limits) = options.limits.budget {
            let _ = world.budget.set(Budget::new(BudgetOwner::Run, limits, None, Ledger::default()));
        }
        let limits = options.limits.machine();
        let denied = options.denied.iter().map(|capability| capability.right()).collect();
        let isolate = Isolate::new(registry(), world.clone(), limits, denied);
        let waiting = Rc::downgrade(&isolate);
        world.services.routes.set_place(move || waiting.upgrade()?.waiting_place());
        // The driver is not set before.
        let _ = world.driver.set(Rc::new(RunDriver::of(&isolate)));
        packs.read_by(options.loader.clone());
        if options.from_stdin {
            Input::of(&world).was_script();
        }
        let modules = Modules::new(options.loader.clone());
        let (context, names, types, unset, front_end, session, runtime, watched, activity) = Default::default();
        let loader = options.loader;
        let shown_depth = Cell::new(usize::MAX);
        Self {
            isolate,
            world,
            packs,
            files,
            context,
            names,
            types,
            unset,
            modules,
            loader,
            front_end,
            session,
            runtime,
            watched,
            activity,
            shown_depth,
        }
    }

    /// Returns the diagnostics that can be found without running.
    #[must_use]
    pub fn check(&self, source: &SourceRef) -> Vec<Diagnostic> {
        if is_rhai(source) {
            return rhai_front_end::check(self.front_end(), source, self.isolate.denied());
        }
        self.load(source, Options::default()).diagnostics
    }

    /// Returns the instructions that a Harn script is compiled to, as text.
    ///
    /// # Errors
    /// The diagnostics of a script that does not compile.
    pub fn disassemble(&self, source: &SourceRef) -> Result<String, Vec<Diagnostic>> {
        let loaded = self.load(source, Options::default());
        let Some(unit) = loaded.unit else { return Err(loaded.diagnostics) };
        let globals: Vec<_> = unit.globals.iter().map(|global| (global.slot, global.name.as_str())).collect();
        Ok(lang::vm::listing(&self.isolate, &unit.main, &globals))
    }

    fn front_end(&self) -> &Rc<RhaiFrontEnd> {
        self.front_end
            .get_or_init(|| RhaiFrontEnd::new(FrontEndConfig::of_run(self.isolate.limits(), self.loader.clone())))
    }

    fn load(&self, source: &SourceRef, options: Options<'_>) -> Loaded {
        let loaded = load(&self.isolate, source, Options { modules: Some(&self.modules), ..options });
        let diagnostics = loaded.diagnostics.into_iter().map(Diagnostic::without_foreign_text).collect();
        Loaded { diagnostics, ..loaded }
    }

    /// Checks and runs a script: what it imports, its top-level statements, then its pipeline `default`, else `main`, else the first.
    #[must_use]
    pub fn run(&self, source: &SourceRef) -> RunResult {
        let run_id = self.begin_activity(source, "run", None);
        // The id is drawn only if the span is enabled.
        let span = tracing::info_span!("run", run_id = run_id.unwrap_or_else(crate::log::activity_id));
        span.in_scope(|| self.run_in_span(source))
    }

    fn run_in_span(&self, source: &SourceRef) -> RunResult {
        if is_rhai(source) {
            return match self.front_end().parse(source) {
                Ok(script) => {
                    if let Err(found) = self.start_packs(source) {
                        return self.unfit(found);
                    }
                    let pipeline = self.front_end().pipeline(script, self.constants());
                    self.start_watch();
                    self.finish(self.call(pipeline, Vec::new()), Vec::new())
                }
                Err(diagnostics) => self.unfit(diagnostics),
            };
        }
        let loaded = self.load(source, Options::default());
        let diagnostics = errors(loaded.diagnostics);
        match loaded.unit {
            Some(unit) => match self.start_packs(source) {
                Ok(()) => self.finish(self.execute(&unit), diagnostics),
                Err(found) => self.unfit(found),
            },
            None => self.unfit(diagnostics),
        }
    }

    /// Loads the packs. A run does not start without a guard that it was configured with.
    fn start_packs(&self, source: &SourceRef) -> Result<(), Vec<Diagnostic>> {
        self.packs.begin_in(source.name());
        self.files.begin_in(source.name());
        self.packs.start(&self.world.agents.providers)
    }

    /// Records that a run begins, if activity is recorded. Returns the id of the run in that case.
    fn begin_activity(&self, source: &SourceRef, protocol: &str, task_id: Option<&str>) -> Option<String> {
        let activity = self.world.observers.activity.as_ref()?;
        let id = crate::log::activity_id();
        let name = Path::new(source.name()).file_name().unwrap_or_default().to_string_lossy();
        activity.run_began(&self.world.scope(), &id, &name, protocol, task_id);
        self.activity.replace(Some(id.clone()));
        Some(id)
    }

    /// Writes down that it has ended.
    fn end_activity(&self, ok: bool) {
        if let (Some(activity), Some(id)) = (&self.world.observers.activity, self.activity.take()) {
            activity.run_ended(&self.world.scope(), &id, ok);
        }
    }

    fn context(&self) -> Rc<Context> {
        self.context.borrow().clone()
    }

    fn execute(&self, unit: &Unit) -> Result<Value, Box<Raise>> {
        self.start_watch();
        self.evaluate_files(&unit.before)?;
        let returned = self.call(closure(&unit.main), Vec::new())?;
        // A `return` or a failed `?` at the top ends the run, the pipeline included.
        if !matches!(returned, Value::Unbound) {
            return Ok(returned);
        }
        let Some(entry) = entry(&unit.pipelines) else { return Ok(Value::Nil) };
        let Some(proto) = self.isolate.function(entry.function) else { return Ok(Value::Nil) };
        let args = entry.params.iter().map(|name| self.parameter(name)).collect();
        self.call(closure(&proto), args)
    }

    /// The run's time begins.
    fn start_watch(&self) {
        // The one before ends first: it would end this one.
        self.watched.take();
        let watched = watch_time(&self.isolate, &self.context().task, |time| Box::pin(tokio::time::sleep(time)));
        self.watched.replace(watched);
    }

    /// Evaluates imported files, each once a run.
    fn evaluate_files(&self, files: &[Imported]) -> Result<(), Box<Raise>> {
        for (i, file) in files.iter().enumerate() {
            let returned = self.call(closure(&file.main), Vec::new()).and_then(|value| whole(file, &value));
            returned.map_err(|raise| self.unevaluated(&files[i..], raise))?;
        }
        Ok(())
    }

    /// The first of these files failed: none of them counts as evaluated.
    fn unevaluated(&self, files: &[Imported], mut raise: Box<Raise>) -> Box<Raise> {
        raise.trace.extend(files.iter().take(1).flat_map(|file| file.trail.iter().cloned()));
        files.iter().for_each(|file| self.modules.forget(file.file));
        raise
    }

    /// Returns the constants in scope of a Rhai script.
    fn constants(&self) -> Constants {
        let args = ("args", crate::convert::to_value(&self.world.args_data()));
        if self.world.hosting.is_some() {
            // The others are those of a prompt.
            return vec![args];
        }
        vec![("task", self.parameter("task")), ("context", self.parameter("context")), args]
    }

    /// Returns the value of a pipeline's parameter.
    fn parameter(&self, name: &str) -> Value {
        match name {
            "task" => self.world.parameters.task.as_deref().map_or(Value::Nil, Value::str),
            "context" => Value::record([
                ("protocol", Value::str("run")),
                ("task", self.world.parameters.task.as_deref().map_or(Value::Nil, Value::str)),
                ("args", crate::convert::to_value(&self.world.args_data())),
                ("cwd", self.world.folder().map_or(Value::Nil, |d| Value::from(d.to_string_lossy().into_owned()))),
            ]),
            _ => Value::Nil,
        }
    }

    fn call(&self, function: Value, args: Vec<Value>) -> Result<Value, Box<Raise>> {
        let context = self.context();
        let mut fiber = Fiber::new(&self.isolate, &context, function, args)?;
        loop {
            match fiber.run() {
                Exit::Done(value) => return Ok(value),
                Exit::Raised(raise) => return Err(raise),
                // No other task is ready.
                Exit::Yield if !self.isolate.is_busy() => {}
                exit => return self.call_waiting(&context, fiber, exit),
            }
        }
    }

    /// Continues a call that waits, until it is done. It is apart from [`Engine::call`], since most calls do not wait and its
    /// frame is large.
    #[cold]
    #[inline(never)]
    fn call_waiting(&self, context: &Context, fiber: Fiber, exit: Exit) -> Result<Value, Box<Raise>> {
        // On the heap: each of the futures around it would hold two copies on the stack.
        let rest = Box::pin(resume(fiber, exit));
        let main = self.world.services.routes.unless_broken(run(&self.isolate, &context.task, rest));
        // The reason is reported at the end.
        let main = async { main.await.unwrap_or_else(|| Err(Raise::exit(1))) };
        self.block_on(main).unwrap_or_else(|| Err(no_runtime()))
    }

    /// Cancels the tasks that are left, and waits until they have cleaned up.
    fn close(&self) {
        if self.world.hosting.is_some() {
            // The host has closed it, or it broke off; other runs wait on its thread.
            self.isolate.abandon_tasks();
        } else if self.isolate.is_busy() {
            let context = self.context();
            let _ = self.block_on(close(&self.isolate, &context.task));
            self.isolate.abandon_tasks();
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // A session that ends leaves nothing running.
        self.close();
        // What a script registered holds its isolate, whose host is the world that it was registered in.
        self.world.agents.hooks.clear_tool();
        self.world.agents.hooks.clear_session();
        self.world.agents.hooks.clear_persona();
        self.world.agents.providers.clear();
        conditions_of(&self.world).clear();
        self.packs.clear();
        self.files.clear();
        self.world.agents.workers.clear();
        McpServers::of(&self.world).clear();
        HttpMock::of(&self.world).clear();
        if let Some(session) = self.session.get() {
            session.close();
        }
        if let Some(front_end) = self.front_end.get() {
            front_end.close();
        }
        // A file that does not answer keeps no run from ending.
        if let Some(runtime) = self.runtime.take().flatten() {
            runtime.shutdown_background();
        }
    }
}

/// Checks the top level of an imported file: a `?` that met an `Err` left the file half evaluated.
fn whole(file: &Imported, value: &Value) -> Result<(), Box<Raise>> {
    let Some(Err(error)) = value.as_result() else { return Ok(()) };
    let raise = Raise::thrown(error.clone()).labelled("the error is in this file");
    Err(match file.trail.first().and_then(|frame| frame.at.as_ref()) {
        Some((source, span)) => raise.at(source, *span),
        None => raise,
    })
}

fn closure(proto: &Rc<Proto>) -> Value {
    Value::Closure(Rc::new(Closure { proto: proto.clone(), captures: Vec::new() }))
}

fn no_runtime() -> Box<Raise> {
    Raise::error(RunCode::Outside, "could not start the async runtime")
}

fn entry(pipelines: &[Entry]) -> Option<&Entry> {
    let named = |name: &str| pipelines.iter().find(|p| p.name == name);
    named("default").or_else(|| named("main")).or_else(|| pipelines.first())
}

#[cfg(test)]
mod cached_tests;

#[cfg(test)]
mod tests {
    use super::*;
    use lang::source::Source;
    use std::time::Duration;

    #[test]
    fn a_run_is_let_go_with_what_it_registered() {
        let scripts = [
            "println(1)",
            "register_session_hook(\"session_end\", { e -> nil })",
            "register_tool_hook({pattern: \"*\", pre: { c -> nil }})",
            "register_reminder_provider({id: \"mine\", subscribes_to: [\"post_turn\"], evaluate: { c -> nil }})",
            "var f = nil\nf = { -> f }\nregister_session_hook(\"session_end\", { e -> f() })",
            "let w = spawn_agent({task: \"x\", reminders: false, llm_caller: { a -> \"done\" }})\nwait_agent(w)",
            "let w = spawn_agent({task: \"x\", reminders: false, llm_caller: { a -> sleep(60000) }})\nlet t = \
             agent_lifecycle_tools(tool_registry(), {subagents: [w]})",
            "sub_agent_run(\"x\", {reminders: false, llm_caller: { a -> \"done\" }})",
            "fn g() { yield 1 }\nlet it = g()\nit.next()\nregister_session_hook(\"session_end\", { e -> it.next() })",
        ];
        let in_rhai = [
            "print(1)",
            "register_session_hook(\"session_end\", |e| ())",
            "let f = (); f = |x| f.call(x); register_session_hook(\"session_end\", f);",
            "const TOOLS = tool_define(tool_registry(), \"t\", \"d\", #{handler: Fn(\"own\")}); fn own(a) { global::TOOLS } \
             register_tool_hook(#{pattern: \"*\", pre: Fn(\"own\")});",
            "let tools = tool_registry(); let own = || tools; tools = tool_define(tools, \"t\", \"d\", #{handler: own}); \
             register_tool_hook(#{pattern: \"*\", pre: |c| own.call()});",
            "let w = spawn_agent(#{task: \"x\", reminders: false, llm_caller: |a| { sleep(60000); \"never\" }});",
            "let t = spawn_(|| { sleep(60000); 1 });",
            "let t = spawn_(|| { let w = spawn_agent(#{task: \"x\", reminders: false, llm_caller: |a| { sleep(60000); 1 \
             }}); wait_agent(w) }); sleep(1);",
        ];
        let scripts = scripts.into_iter().map(|text| ("test.harn", text));
        for (name, text) in scripts.chain(in_rhai.into_iter().map(|text| ("test.rhai", text))) {
            let engine = Engine::new(RunOptions::default());
            let ran = engine.run(&Source::new(name, text));
            assert_eq!(ran.exit_code, 0, "{text}\n{:?}", ran.diagnostics);
            let isolate = Rc::downgrade(&engine.isolate);
            drop(engine);
            assert_eq!(isolate.strong_count(), 0, "{text}");
        }
    }

    #[test]
    fn a_run_that_used_up_its_limits_is_let_go_with_whatever_was_waiting_in_it() {
        let waits = "let waits = spawn_(|| { [1].group_by(|x| sleep(600000)) }); sleep(1);\n";
        let nested = "register_session_hook(\"session_start\", |e| { [1].map(|x| sleep(600000)); });\n\
                      agent_loop(\"x\", (), #{llm_caller: |a| \"y\", reminders: false});";
        let time = RunLimits { time: Some(Duration::from_millis(30)), ..RunLimits::default() };
        let fuel = RunLimits { fuel: Some(5_000), ..RunLimits::default() };
        for (limits, code, end) in [
            (fuel, RunCode::Fuel, "while true {}"),
            (fuel, RunCode::Fuel, "[1].group_by(|x| { while true {} });"),
            (time, RunCode::Time, "while true {}"),
            (time, RunCode::Time, "try { while true {} } catch {} while true {}"),
            (time, RunCode::Time, "sleep(600000);"),
            (time, RunCode::Time, nested),
        ] {
            let engine = Engine::new(RunOptions { limits, ..RunOptions::default() });
            let ran = engine.run(&Source::new("test.rhai", format!("{waits}{end}")));
            assert!(ran.diagnostics.iter().any(|found| found.code == code), "{end}\n{:?}", ran.diagnostics);
            let isolate = Rc::downgrade(&engine.isolate);
            drop(engine);
            assert_eq!(isolate.strong_count(), 0, "{end}");
        }
    }

    #[test]
    fn a_closure_of_rhai_is_called_after_the_script_that_made_it_is_over() {
        let output = Rc::new(crate::output::Captured::default());
        let engine = Engine::new(RunOptions { output: output.clone(), ..RunOptions::default() });
        let made = "let name = \"kept\"; fn twice(n) { n * 2 }\n\
                    register_session_hook(\"session_end\", |e| { sleep(1); print(name + [1, 2].map(|n| twice(n))); });";
        let ran = engine.run(&Source::new("made.rhai", made));
        assert_eq!(ran.exit_code, 0, "{:?}", ran.diagnostics);
        for (name, call) in [
            ("calls.harn", "agent_loop(\"go\", nil, {llm_caller: { a -> \"done\" }, reminders: false})"),
            ("calls.rhai", "agent_loop(\"go\", (), #{llm_caller: |a| \"done\", reminders: false})"),
        ] {
            let ran = engine.run(&Source::new(name, call));
            assert_eq!(ran.exit_code, 0, "{:?}", ran.diagnostics);
        }
        assert_eq!(output.stdout(), "kept[2, 4]\nkept[2, 4]\n");
    }
}
