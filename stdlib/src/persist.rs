//! Loops that outlive their process: `persist_path` and `resume_path` of `agent_loop`.
//!
//! If both name one file, it is the loop's own: it exists all the time, one process at a time works
//! with it, and the first run begins without one. A `resume_path` of another file is resumed once,
//! like the snapshot of a worker.

use crate::capability::Capability;
use crate::convert::to_data;
use crate::fault::{of_session, of_snapshot};
use crate::here;
use crate::log::read_log;
use crate::options::{AgentLoopOptions, OptionReader};
use crate::world::World;
use base::clock::Clock;
use base::data::Data;
use base::lock::LockFile;
use eventlog::{EventLog, LogReader};
use lang::vm::{Cx, Raise, RunCode};
use runtime::agent_loop::snapshot::{
    self, Recipe, Snapshot, SnapshotError, SnapshotStorage, WorkerMode, settle_with_log,
};
use runtime::agent_loop::{LoopOptions, LoopParts, LoopStorage, ResumedLoop};
use runtime::scope::Scope;
use runtime::session::{Session, SessionError};
use std::collections::BTreeSet;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

/// The paths of the two options.
pub(crate) struct PersistPaths {
    to: Option<Arc<str>>,
    from: Option<Arc<str>>,
}

/// The plan of the two options. Every error has been found; nothing has changed yet except that the
/// locks are held.
#[derive(Default)]
pub(crate) struct Plan {
    persist: Option<LoopStorage>,
    left: Option<LeftLoop>,
    storage: SnapshotStorage,
    arg: usize,
}

/// A loop that another process has left.
struct LeftLoop {
    snapshot: Snapshot,
    /// The file that is to be claimed, and its lock; nothing where the loop goes on writing to the same file.
    claim: Option<(Arc<str>, LockFile)>,
}

/// The argument of `agent_loop` that has its options.
const OPTIONS: usize = 2;

/// Options that a worker does not need a second time: the session holds what they said. Tools go by their names.
const NOT_AGAIN: &[&str] =
    &["background", "messages", "parent_session_id", "reminder_propagation", "session_id", "task", "tools"];

/// Reads the two options; `None` if neither is given.
pub(crate) fn paths(cx: &Cx<'_>, options: &AgentLoopOptions) -> Result<Option<PersistPaths>, Box<Raise>> {
    let path = |path: &Option<Arc<str>>, key| -> Result<Option<Arc<str>>, Box<Raise>> {
        if path.as_ref().is_some_and(|path| path.trim().is_empty()) {
            let raise = Raise::error(RunCode::Value, format!("`{key}` is blank"));
            return Err(raise.about(OPTIONS, format!("invalid `{key}`")));
        }
        path.as_ref().map(|path| Ok(here::world(cx)?.path_text(path))).transpose()
    };
    let (to, from) = (path(&options.persist_path, "persist_path")?, path(&options.resume_path, "resume_path")?);
    permitted(cx, to.is_some(), from.is_some())?;
    Ok((to.is_some() || from.is_some()).then_some(PersistPaths { to, from }))
}

impl PersistPaths {
    /// Takes the locks, and reads what another process has left.
    pub(crate) async fn plan(
        self,
        world: &World,
        options: &OptionReader<'_>,
        given: &AgentLoopOptions,
        system: Option<&str>,
    ) -> Result<Plan, Box<Raise>> {
        let PersistPaths { to, from } = self;
        let storage = SnapshotStorage::new(world.pool());
        let at = |key: &'static str| {
            move |error: SnapshotError| of_snapshot(&error).about(options.arg(), format!("invalid `{key}`"))
        };
        let lock = match &to {
            None => None,
            Some(to) => Some(storage.lock(Path::new(&**to)).await.map_err(at("persist_path"))?),
        };
        let left = match &from {
            None => None,
            Some(from) if to.as_ref().is_some_and(|to| is_same(to, from)) => {
                match storage.read(Path::new(&**from)).await {
                    // The first run of all.
                    Err(SnapshotError::Missing(_)) => None,
                    read => Some(LeftLoop { snapshot: read.map_err(at("resume_path"))?, claim: None }),
                }
            }
            Some(from) => {
                let path = Path::new(&**from);
                // First the file: a mistyped path leaves no lock behind.
                storage.read(path).await.map_err(at("resume_path"))?;
                let lock = storage.lock(path).await.map_err(at("resume_path"))?;
                let snapshot = storage.read(path).await.map_err(at("resume_path"))?;
                Some(LeftLoop { snapshot, claim: Some((from.clone(), lock)) })
            }
        };
        if let Some(left) = &left {
            fits(left, given).map_err(at("resume_path"))?;
        }
        let pool = world.pool();
        let persist = to.zip(lock).map(|(to, lock)| LoopStorage::new(to, recipe(options, system), lock, pool));
        Ok(Plan { persist, left, storage, arg: options.arg() })
    }
}

/// Two ways to write one path are one file.
fn is_same(one: &str, other: &str) -> bool {
    let whole = |path: &str| std::path::absolute(path).unwrap_or_else(|_| path.into());
    one == other || whole(one) == whole(other)
}

fn permitted(cx: &Cx<'_>, writes: bool, reads: bool) -> Result<(), Box<Raise>> {
    let denied = |right| cx.isolate.is_denied(right);
    // Resuming a file claims it, which is a change.
    let (key, right) = match () {
        () if reads && denied(Capability::FsRead) => ("resume_path", Capability::FsRead),
        () if reads && denied(Capability::FsWrite) => ("resume_path", Capability::FsWrite),
        () if writes && denied(Capability::FsWrite) => ("persist_path", Capability::FsWrite),
        () => return Ok(()),
    };
    let message = format!("`{key}` needs the capability `{}`, which this run does not have", right.name());
    let raise = Raise::error(RunCode::Denied, message).about(OPTIONS, format!("invalid `{key}`"));
    Err(raise.help("run without `--deny` for this capability"))
}

/// Returns the options for a snapshot: those that are data, and the names of the others.
pub(crate) fn recipe_of(options: &OptionReader<'_>) -> (Data, Vec<Arc<str>>) {
    let mut data = Vec::new();
    let mut needs = Vec::new();
    let entries = options.entries().filter(|(key, value)| !value.is_nil() && !NOT_AGAIN.contains(&key.as_str()));
    for (key, value) in entries {
        let key: Arc<str> = Arc::from(key.as_str());
        match to_data(value) {
            Ok(value) => data.push((key, value)),
            Err(_) => needs.push(key),
        }
    }
    (Data::dict(data), needs)
}

fn recipe(options: &OptionReader<'_>, system: Option<&str>) -> Recipe {
    let (mut data, needs) = recipe_of(options);
    if let Some(system) = system {
        data.set("system", system.into());
    }
    Recipe { options: data, needs, folder: None }
}

/// Whether the file is what the call asks for.
fn fits(left: &LeftLoop, given: &AgentLoopOptions) -> Result<(), SnapshotError> {
    let snapshot = &left.snapshot;
    if snapshot.mode != WorkerMode::Loop {
        return Err(SnapshotError::Unfit(format!(
            "this is the snapshot of the worker `{}`, not of a loop; use `resume_agent(path)` to resume it",
            snapshot.name
        )));
    }
    match &given.shared.model.session_id {
        Some(wanted) if *wanted != snapshot.session.id => Err(SnapshotError::Unfit(format!(
            "this loop belongs to the session `{}`, not to `{wanted}`; omit `session_id`, or use that session",
            snapshot.session.id
        ))),
        _ => Ok(()),
    }
}

impl Plan {
    /// Whether a loop goes on that another process has left.
    pub(crate) fn resumes(&self) -> bool {
        self.left.is_some()
    }

    /// The session to work in, where another process has left one.
    pub(crate) fn session(&self, world: &World) -> Result<Option<Rc<Session>>, Box<Raise>> {
        let Some(left) = &self.left else { return Ok(None) };
        let id = &left.snapshot.session.id;
        let session = world.agents.sessions.open(Some(id), world.clock.now_ms());
        // A script may have opened it, to say where it works; but it has no conversation of its own yet.
        if session.is_busy() || !session.is_fresh() {
            let error = SessionError::Exists(id.clone());
            return Err(of_session(&error).about(self.arg, "invalid `resume_path`"));
        }
        Ok(Some(session))
    }

    /// Puts what was left in place: the session's content, what the loop remembers, what is new for it.
    pub(crate) async fn apply(
        self,
        world: &World,
        session: &Rc<Session>,
        scope: &Scope,
        parts: &LoopParts,
        options: &mut LoopOptions,
    ) -> Result<(), Box<Raise>> {
        options.continuity.persist = self.persist.map(Rc::new);
        let Some(LeftLoop { snapshot, claim }) = self.left else { return Ok(()) };
        let refuse = |error: SnapshotError| of_snapshot(&error).about(self.arg, "invalid `resume_path`");
        let restored = snapshot.session.clone().restore().map_err(refuse)?;
        let known = pending_by_log(world, &scope.log, session.id()).await?;
        if let Some((path, _lock)) = &claim {
            self.storage.claim(Path::new(&**path)).await.map_err(refuse)?;
        }
        // Others may have come to it meanwhile.
        if session.is_busy() || !session.is_fresh() {
            if let Some((path, _lock)) = &claim {
                self.storage.unclaim(Path::new(&**path)).await;
            }
            let error = SessionError::Exists(session.id().clone());
            return Err(of_session(&error).about(self.arg, "invalid `resume_path`"));
        }
        let settled = settle_with_log(&restored, known);
        session.take_over(&restored);
        session.log_lifecycle(scope, settled);
        for refusal in session.drop_forbidden(scope) {
            world.console.show(&refusal.note_of_earlier());
        }
        let mut remarks = differences(&snapshot, parts, options);
        match session.close_open_calls() {
            0 => {}
            open => remarks.push(format!(
                "the process that saved this loop was running tools: {open} of its calls have no \
                    result"
            )),
        }
        // One that was over is not gone on with: what comes is a new loop in the same conversation.
        let is_new = |task: &Arc<str>| !task.is_empty() && *task != snapshot.task && *task != snapshot.state.task;
        let input = Some(options.task.clone()).filter(|task| snapshot.ended.is_none() && is_new(task));
        if snapshot.ended.is_none() {
            options.continuity.from = Some(Box::new(snapshot.state));
        }
        options.continuity.resumed = Some(Box::new(ResumedLoop { suspension: snapshot.suspension, input, remarks }));
        Ok(())
    }
}

/// Returns the ids of the reminders that are pending in a session by the event log.
pub(crate) async fn pending_by_log(
    world: &World,
    log: &Rc<dyn EventLog>,
    session_id: &Arc<str>,
) -> Result<BTreeSet<Arc<str>>, Box<Raise>> {
    let (log, session_id) = (log.reader(), session_id.clone());
    let read = move |log: &LogReader| snapshot::pending_by_log(log, &session_id);
    let known = read_log(world, log, read).await?;
    Ok(known)
}

/// Returns remarks on the script's changes since the snapshot. The script takes precedence; but the
/// change may be unintended.
fn differences(snapshot: &Snapshot, parts: &LoopParts, options: &LoopOptions) -> Vec<String> {
    let mut remarks = Vec::new();
    let before = snapshot.options.get("system").as_shared_str();
    if before != options.model.request.system.primary {
        remarks.push(
            "the system prompt differs from the one that this loop was saved with; the new one is used".to_owned(),
        );
    }
    let has = |name: &Arc<str>| parts.tools.iter().any(|tool| tool.spec().name == *name);
    for gone in snapshot.tools.iter().filter(|name| !has(name)) {
        remarks.push(format!("the tool `{gone}` was available when this loop was saved, but is not available now"));
    }
    remarks
}
