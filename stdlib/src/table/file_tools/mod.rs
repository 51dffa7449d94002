//! Standard file tools for agents. They work below one folder and cannot leave it: [`Root`] opens its paths handle by handle and
//! follows no link.

mod edit;
mod read;
mod search;
mod specs;
mod write;

use super::tool::registry_of;
use crate::capability::Capability;
use crate::confined_folder::{Root, may_change};
use crate::disk::Disk;
use crate::fault::{Thrown, to_raise};
use crate::here;
use crate::tool_value::native_tool;
use crate::world::World;
use base::call::{Answer, Outcome};
use base::data::Data;
use lang::builtins::args;
use lang::diagnostic::nearest;
use lang::value::{Dict, Str, Value};
use lang::vm::{Cx, Raise, RunCode, take_over};
use runtime::hooks::HookEvent;
use runtime::listeners::Listeners;
use runtime::message::{ToolCall, ToolSpec};
use runtime::reminder_providers::files_of;
use runtime::seam::{Output, Preview, Tool, Turn};
use specs::FileToolKind;
use std::path::PathBuf;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

lang::builtins! { "" =>
    /// A registry with `read_file`, `list_files`, `search_files`, `write_file` and `edit_file`, all kept below `root`;
    /// `read_only: true` leaves the last two out.
    ///
    /// ```harn
    /// make_dir("work")
    /// tool_list(file_tools({root: "work", read_only: true})).map({ t -> t.name }).sort() // => ["list_files", "read_file", "search_files"]
    /// ```
    plain "file_tools(options: {root: string, read_only?: bool}) -> dict" [caps = &[Capability::FsRead.right()]] file_tools;
}

const OPTIONS: [&str; 2] = ["root", "read_only"];

fn file_tools(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let options = args::dict(args, 0)?;
    if let Some((key, _)) = options.iter().find(|(key, _)| !OPTIONS.contains(&key.as_str())) {
        let raise = Raise::error(lang::check::CheckCode::Key, format!("unknown option `{key}`")).about(0, "");
        return Err(match nearest(key, OPTIONS) {
            Some(near) => raise.help(format!("did you mean `{near}`?")),
            None => raise,
        });
    }
    let path = options.get_str("root").and_then(Value::as_str).unwrap_or("").to_owned();
    let read_only = options.get_str("read_only").is_some_and(Value::truthy);
    let world = here::world(cx)?;
    // The empty path is not a folder; it must not mean the base of relative paths.
    let place = if path.is_empty() { PathBuf::new() } else { world.path(&path) };
    let root = Root::open(&place).map_err(|why| {
        Raise::error(RunCode::Outside, format!("the root `{path}` cannot be used: {why}")).about(0, "invalid `root`")
    })?;
    // In a preview, tools are offered to the model and do not run.
    if !read_only && cx.isolate.is_denied(Capability::FsWrite) && !world.services.routes.is_preview() {
        let message =
            format!("`file_tools` needs the capability `{}`, which this run does not have", Capability::FsWrite.name());
        return Err(Raise::error(RunCode::Denied, message).help("omit the writing tools with `read_only: true`"));
    }
    let (root, world) = (Arc::new(root), Rc::downgrade(&world));
    let mut tools = Dict::new();
    for kind in FileToolKind::ALL.into_iter().filter(|kind| !(read_only && kind.writes())) {
        let tool = FileTool { spec: kind.spec(&root.path), kind, root: root.clone(), world: world.clone() };
        tools.insert(Str::new(kind.name()), native_tool(Rc::new(tool)));
    }
    Ok(registry_of(tools))
}

struct FileTool {
    spec: ToolSpec,
    kind: FileToolKind,
    root: Arc<Root>,
    world: Weak<World>,
}

/// The result of a tool: the text for the model, and whether it was cut.
type FileToolResult = Result<(String, bool), String>;

/// A call as it is carried out, on whatever thread.
struct Job {
    kind: FileToolKind,
    root: Arc<Root>,
    arguments: Data,
    /// The content of the file to be written, as it was shown in the request for permission.
    shown: Option<Option<Arc<str>>>,
    given_up: GivenUp,
}

impl Job {
    fn run(&self) -> FileToolResult {
        let arguments = &self.arguments;
        let whole = |done: Result<String, String>| done.map(|text| (text, false));
        let text = |key: &str| arguments.get(key).as_str().unwrap_or_default();
        let path = if arguments.get("path").is_nil() { "." } else { text("path") };
        if let Some(shown) = &self.shown
            && read::present(&self.root, path)? != *shown
        {
            return Err(format!(
                "`{path}` was not written, because it changed after the permission was requested: read it again"
            ));
        }
        if self.kind.writes() {
            may_change(&self.root, path)?;
        }
        match self.kind {
            FileToolKind::Read => whole(read::file(&self.root, path, arguments)),
            FileToolKind::List => read::folder(&self.root, path, arguments.get("recursive").truthy(), &self.given_up),
            FileToolKind::Search => search::files(&self.root, path, arguments, &self.given_up),
            FileToolKind::Write => whole(write::whole_file(&self.root, path, text("content"))),
            FileToolKind::Edit => {
                whole(edit::file(&self.root, path, text("old"), text("new"), arguments.get("all").truthy()))
            }
        }
    }
}

/// Whether the wait for a call is over. Calls that visit many files check it between two of them.
#[derive(Clone, Default)]
struct GivenUp(Arc<AtomicBool>);

impl GivenUp {
    fn check(&self) -> Result<(), String> {
        if self.0.load(Ordering::Relaxed) { Err(INTERRUPTED.to_owned()) } else { Ok(()) }
    }
}

const INTERRUPTED: &str = "interrupted";

/// A guard that gives a call up when the wait for it ends.
struct GiveUpGuard(GivenUp);

impl Drop for GiveUpGuard {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

/// Returns the output of a call.
fn output_of(done: FileToolResult) -> Output {
    match done {
        Ok((text, truncated)) => Output { truncated, ..Output::of(Data::from(text)) },
        Err(why) => Output::error(why),
    }
}

impl FileTool {
    fn answer<'a>(
        &'a self,
        turn: Turn<'a>,
        call: &'a ToolCall,
        shown: Option<Option<Arc<str>>>,
    ) -> Answer<'a, Outcome<Output>> {
        let (kind, root, arguments) = (self.kind, self.root.clone(), call.arguments.clone());
        let job = Job { kind, root, arguments, shown, given_up: GivenUp::default() };
        let world = self.world.upgrade().filter(|world| world.clock.follows_system());
        let Some(world) = world else {
            let output = output_of(job.run());
            if !self.kind.writes() || !output.ok {
                return Answer::Now(Ok(output));
            }
            return Answer::later(async move { self.told(turn, call, output).await });
        };
        Answer::later(async move {
            let output = tokio::select! {
                output = on_pool(&world.services.disk, job) => output,
                _ = turn.scope.cancel.cancelled() => Output::error(INTERRUPTED),
            };
            if self.kind.writes() && output.ok { self.told(turn, call, output).await } else { Ok(output) }
        })
    }

    /// Reports a changed file, and then returns the output of the call.
    async fn told(&self, turn: Turn<'_>, call: &ToolCall, output: Output) -> Outcome<Output> {
        self.tell(turn, call.arguments.get("path").to_text()).await.map(|()| output)
    }

    /// Reports a changed file, as `notify_file_edited` does.
    async fn tell(&self, turn: Turn<'_>, path: Arc<str>) -> Outcome<()> {
        let Some(world) = self.world.upgrade() else { return Ok(()) };
        let (reminders, providers) = here::reminders_of_loop(turn.scope, &world).map_err(Thrown::fault)?;
        let (hooks, config, strict) = (&world.agents.hooks, &reminders.config, reminders.strict);
        let listeners = Listeners { hooks, providers: &providers, files: files_of(turn.scope), config, strict };
        let metadata = Data::dict([("tool", Data::from(self.kind.name()))]);
        let event = HookEvent::FileEdited { path: &path, metadata: &metadata };
        listeners.emit(turn, &event).get().await.map(drop).map_err(|e| Thrown::fault(to_raise(&e)))
    }
}

impl Tool for FileTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call<'a>(&'a self, turn: Turn<'a>, call: &'a ToolCall) -> Answer<'a, Outcome<Output>> {
        self.answer(turn, call, None)
    }

    fn preview(&self, call: &ToolCall) -> Result<Option<Preview>, String> {
        if !self.kind.writes() {
            return Ok(None);
        }
        let path = call.arguments.get("path").as_str().unwrap_or_default();
        Ok(Some(Preview { old_text: read::present(&self.root, path)? }))
    }

    fn call_previewed<'a>(
        &'a self,
        turn: Turn<'a>,
        call: &'a ToolCall,
        preview: &'a Preview,
    ) -> Answer<'a, Outcome<Output>> {
        self.answer(turn, call, Some(preview.old_text.clone()))
    }
}

async fn on_pool(disk: &Disk, job: Job) -> Output {
    let waiting = GiveUpGuard(job.given_up.clone());
    let mut turn = disk.turn(job.kind.writes()).await;
    let done = turn.run(job, |job| Ok(job.run())).await;
    drop(waiting);
    match done {
        Ok((_job, done)) => {
            let (Ok((text, _)) | Err(text)) = &done;
            take_over(text.capacity());
            output_of(done)
        }
        Err(e) => Output::error(format!("could not start a thread: {e}")),
    }
}
