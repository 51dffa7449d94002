//! Options of a daemon: its sleep, its watched files.

use super::OptionReader;
use crate::Capability;
use crate::here;
use lang::value::{Value, article};
use lang::vm::{Cx, Raise, RunCode};
use providers::watch::FileWatch;
use runtime::agent_loop::{DaemonOptions, LoopOptions};
use runtime::watch::FileWatcher;
use std::rc::Rc;
use std::sync::Arc;

/// The default sleep of a daemon, in milliseconds.
const WAKE_INTERVAL_MS: u64 = 30_000;

/// Options that only a daemon has a use for.
const OF_DAEMONS: [&str; 2] = ["watch_paths", "consolidate_on_idle"];

/// Reads the options of a daemon into those of a loop, whose compaction has been read.
pub(crate) fn read(cx: &Cx<'_>, options: &OptionReader<'_>, out: &mut LoopOptions) -> Result<(), Box<Raise>> {
    if !options.flag("daemon")?.unwrap_or(false) {
        let idle = OF_DAEMONS.into_iter().find(|key| !matches!(options.value(key), Value::Nil | Value::Bool(false)));
        return match idle {
            None => Ok(()),
            Some(key) => Err(Raise::error(
                RunCode::Value,
                format!(
                    "`{key}` is an option of daemons, and this loop is not a \
                    daemon"
                ),
            )
            .about(options.arg(), format!("invalid `{key}`"))
            .help("add `daemon: true`")),
        };
    }
    out.daemon = Some(DaemonOptions {
        wake_interval_ms: options.count("wake_interval_ms")?.unwrap_or(WAKE_INTERVAL_MS),
        consolidate: super::compaction::on_idle(cx, options, out.compaction.as_ref())?.map(Box::new),
        watch: watch(cx, options)?,
    });
    Ok(())
}

fn watch(cx: &Cx<'_>, options: &OptionReader<'_>) -> Result<Option<Rc<dyn FileWatcher>>, Box<Raise>> {
    let key = "watch_paths";
    let at = |raise: Box<Raise>| raise.about(options.arg(), format!("invalid `{key}`"));
    let wrong = |found: &Value| {
        let message = format!("`{key}` must be a path or a list of paths, found {}", article(found.type_name()));
        at(Raise::error(lang::check::CheckCode::Type, message))
    };
    let patterns: Vec<Arc<str>> = match &options.value(key) {
        Value::Nil => return Ok(None),
        Value::Str(one) => vec![Arc::from(one.as_str())],
        Value::List(many) => {
            let each = many.items.iter().map(|value| value.as_str().map(Arc::from).ok_or_else(|| wrong(value)));
            each.collect::<Result<_, _>>()?
        }
        other => return Err(wrong(other)),
    };
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
