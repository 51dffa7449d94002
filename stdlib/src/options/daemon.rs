//! Options of a daemon: its sleep, its watched files.

use super::{SharedLoopOptions, Switch};
use crate::capability::Capability;
use crate::here;
use lang::vm::{Cx, Raise, RunCode};
use providers::watch::FileWatch;
use runtime::agent_loop::{DaemonOptions, LoopOptions};
use runtime::watch::FileWatcher;
use std::rc::Rc;

/// Reads the options of a daemon into those of a loop, whose compaction has been read. `arg` is the argument of the options.
pub(crate) fn read(
    cx: &Cx<'_>,
    given: &SharedLoopOptions,
    arg: usize,
    out: &mut LoopOptions,
) -> Result<(), Box<Raise>> {
    if !given.daemon {
        // Only a daemon has a use for them.
        let idle = match &given.consolidate_on_idle {
            _ if given.watch_paths.is_some() => Some("watch_paths"),
            None | Some(Switch::Flag(false)) => None,
            Some(_) => Some("consolidate_on_idle"),
        };
        return match idle {
            None => Ok(()),
            Some(key) => Err(Raise::error(
                RunCode::Value,
                format!("`{key}` is an option of daemons, and this loop is not a daemon"),
            )
            .about(arg, format!("invalid `{key}`"))
            .help("add `daemon: true`")),
        };
    }
    out.daemon = Some(DaemonOptions {
        wake_interval_ms: given.wake_interval_ms,
        consolidate: super::compaction::on_idle(cx, given, arg, out.compaction.as_ref())?.map(Box::new),
        watch: watch(cx, given, arg)?,
    });
    Ok(())
}

fn watch(cx: &Cx<'_>, given: &SharedLoopOptions, arg: usize) -> Result<Option<Rc<dyn FileWatcher>>, Box<Raise>> {
    let at = |raise: Box<Raise>| raise.about(arg, "invalid `watch_paths`");
    let patterns = given.watch_paths.clone().unwrap_or_default();
    if patterns.is_empty() {
        return Ok(None);
    }
    if cx.isolate.is_denied(Capability::FsRead) {
        let message = "`watch_paths` needs the capability `fs.read`, which this run does not have";
        return Err(at(Raise::error(RunCode::Denied, message)).help(
            "run without `--deny` for this capability, or \
            remove `watch_paths`",
        ));
    }
    let watch = FileWatch::new(patterns).map_err(|error| at(Raise::error(RunCode::Value, error.to_string())))?;
    let folder = here::world(cx)?.hosting.as_ref().and_then(|hosting| hosting.cwd.clone());
    Ok(Some(Rc::new(watch.below(folder))))
}
