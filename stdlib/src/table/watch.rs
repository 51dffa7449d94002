//! Changes of files, as a stream.

use crate::capability::Capability;
use crate::here;
use crate::options::{OptionSet, WatchOptions};
use crate::values::{ItemSource, ItemStream, NextItem};
use crate::world::World;
use base::codes::Severity;
use lang::builtins::Right;
use lang::value::{Value, article};
use lang::vm::{Cx, Raise, RunCode, Wait};
use providers::watch::FileWatch;
use runtime::note::Note;
use runtime::watch::{FileChange, FileWatcher};
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

const READ: &[Right] = &[Capability::FsRead.right()];

lang::builtins! { "" =>
    /// Watches files, and returns their changes as a stream of `{path, kind}`, where `kind` is `"created"`, `"modified"` or
    /// `"removed"`. A path is a file, a folder with all below it, or a pattern such as `"src/**/*.rs"`; `!` before one excludes. Changes
    /// count from the call on. Several changes of a file before they are read are one.
    ///
    /// ```harn
    /// let changes = watch("*.txt")
    /// write_file("a.txt", "one")
    /// changes.first() // => {kind: "created", path: "a.txt"}
    /// write_file("b.txt", "two")
    /// write_file("a.txt", "three")
    /// changes.take(2).to_list() // => [{kind: "modified", path: "a.txt"}, {kind: "created", path: "b.txt"}]
    /// ```
    waits "watch(paths: string | list<string>, options: WatchOptions = nil) -> stream<{path: string, kind: string}>" [caps = READ] watch;
}

/// Time without a further signal after which files are compared: editors write a file in several steps.
const QUIET: Duration = Duration::from_millis(50);

/// Time after which files are compared although the system has signalled nothing.
const WITHOUT_SIGNAL: Duration = Duration::from_secs(5);

/// The changes of watched files.
struct FileChangeSource {
    watch: Rc<FileWatch>,
    world: Rc<World>,
    /// Changes that have not been read.
    waiting: VecDeque<FileChange>,
    /// Time without a change after which the stream ends.
    idle: Option<Duration>,
    ended: bool,
}

impl ItemSource for FileChangeSource {
    fn ready(&mut self) -> Option<NextItem> {
        if let Some(change) = self.waiting.pop_front() {
            return Some(Ok(Some(shown(&change))));
        }
        self.ended.then_some(Ok(None))
    }

    async fn next(&mut self) -> NextItem {
        let (watch, world) = (self.watch.clone(), self.world.clone());
        let _outside = world.clock.outside();
        let changed = async {
            loop {
                // What is there already needs no signal.
                let seen = watch.look().get().await;
                show(&world, seen.remarks);
                if !seen.changes.is_empty() {
                    return seen.changes;
                }
                // Not all file systems have signals.
                let _ = tokio::time::timeout(WITHOUT_SIGNAL, watch.signal()).await;
                while tokio::time::timeout(QUIET, watch.signal()).await.is_ok() {}
            }
        };
        let changes = match self.idle {
            None => changed.await,
            Some(idle) => tokio::time::timeout(idle, changed).await.unwrap_or_default(),
        };
        self.ended = changes.is_empty();
        self.waiting.extend(changes);
        self.ready().unwrap_or(Ok(None))
    }
}

/// Shows remarks about the watching, such as a path that does not exist yet.
fn show(world: &World, remarks: Vec<String>) {
    for message in remarks {
        let (severity, about) = (Severity::Warning, Some("watch".into()));
        world.console.show(&Note { code: None, severity, message, about, fault: None });
    }
}

fn shown(change: &FileChange) -> Value {
    Value::record([("path", Value::str(&change.path)), ("kind", Value::str(change.kind.as_str()))])
}

fn watch(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let WatchOptions { idle_ms } = WatchOptions::read(cx, args, 1)?;
    let text = |value: &Value| match value {
        Value::Str(text) => Ok(Arc::from(text.as_str())),
        other => {
            let message = format!("expected a path or a list of paths, found {}", article(other.type_name()));
            Err(Raise::error(RunCode::Type, message).about(0, ""))
        }
    };
    let patterns = match &args[0] {
        Value::List(several) => several.items.iter().map(text).collect::<Result<Vec<_>, _>>()?,
        one => vec![text(one)?],
    };
    if patterns.is_empty() {
        return Err(Raise::error(RunCode::Value, "expected at least one path").about(0, ""));
    }
    let watch = FileWatch::new(patterns);
    let watch = watch.map_err(|error| Raise::error(RunCode::Value, error.to_string()).about(0, ""))?;
    let world = here::world(cx)?;
    let watch = Rc::new(watch.below(Some(world.path("."))));
    Ok(Wait::new(async move {
        let begun = watch.begin(None).get().await;
        show(&world, begun.remarks);
        let idle = idle_ms.map(Duration::from_millis);
        Ok(ItemStream::value(FileChangeSource { watch, world, waiting: VecDeque::new(), idle, ended: false }))
    }))
}
