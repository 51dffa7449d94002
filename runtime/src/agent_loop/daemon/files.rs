//! Files that a daemon watches: looking at them, and reporting their changes.

use std::fmt::Write;

use base::call::Outcome;
use base::codes::Severity;
use base::data::Data;

use crate::hooks::HookEvent;
use crate::note::Note;
use crate::reminder::{Propagate, ReminderSource, ReminderSpec};
use crate::watch::{FileChange, FileChanges};

use super::super::{LoopState, RunningLoop};
use super::state::UnreportedChanges;

/// Maximum number of paths that the reminder names.
const NAMED: usize = 20;
/// Maximum number of changes that are reported to handlers one by one.
const TOLD: usize = 1_000;
/// Maximum length of a path in the reminder, in characters.
const PATH_LENGTH: usize = 200;

impl RunningLoop<'_> {
    /// Records the current files before the first step, so that changes made while the loop works are reported as well.
    pub(in super::super) async fn begin_to_watch(&self) {
        let Some(watch) = self.watch() else { return };
        let anchor = self.session.with(|state| state.workspace_anchor.get("primary").as_shared_str());
        let seen = watch.begin(anchor.as_deref()).get().await;
        self.remark(seen);
    }

    /// Returns the changes since the last look.
    pub(super) async fn look(&self) -> Vec<FileChange> {
        match self.watch() {
            Some(watch) => self.remark(watch.look().get().await),
            None => Vec::new(),
        }
    }

    fn remark(&self, seen: FileChanges) -> Vec<FileChange> {
        for message in seen.remarks {
            let (severity, about) = (Severity::Warning, Some("watch_paths".into()));
            self.note(Note { code: None, severity, message, about, fault: None });
        }
        seen.changes
    }

    /// Informs the model by one reminder, and handlers and providers by an event for each file.
    pub(super) async fn tell_of_files(&self, state: &mut LoopState, changes: &[FileChange]) -> Outcome<()> {
        state.daemon.files += u64::try_from(changes.len()).unwrap_or(u64::MAX);
        state.daemon.untold.add(state.iteration, changes);
        let spec = ReminderSpec {
            tags: vec!["file_watch".into()],
            dedupe_key: Some("file_watch".into()),
            ttl_turns: Some(1),
            propagate: Propagate::None,
            ..ReminderSpec::new(body(&state.daemon.untold))
        };
        let producer = Some("watch_paths".into());
        self.session.inject_reminder(&self.scope, spec, ReminderSource::StdlibProvider, producer);
        for change in changes.iter().take(TOLD) {
            let metadata = Data::dict([("change", Data::from(change.kind.as_str())), ("source", "watch_paths".into())]);
            self.emit(&HookEvent::FileEdited { path: &change.path, metadata: &metadata }).await?;
        }
        if let Some(rest) = changes.len().checked_sub(TOLD).filter(|rest| *rest > 0) {
            let message = format!(
                "{} watched files changed at once; `file_edited` was fired for the first {TOLD}, but not for the \
                other {rest}",
                changes.len()
            );
            self.remark(FileChanges { changes: Vec::new(), remarks: vec![message] });
        }
        Ok(())
    }
}

fn body(untold: &UnreportedChanges) -> String {
    let count = untold.count();
    let mut text = match count {
        1 => "A watched file has changed since you last read it:".to_owned(),
        count => format!("{count} watched files have changed since you last read them:"),
    };
    for (path, kind) in untold.files.iter().take(NAMED) {
        let _ = write!(text, "\n- {} ({kind})", shown(path));
    }
    let named = u64::try_from(untold.files.len().min(NAMED)).unwrap_or(u64::MAX);
    if count > named {
        let _ = write!(text, "\n- and {} more", count - named);
    }
    text.push_str("\nRead the relevant ones again before you rely on their content.");
    text
}

/// Returns a path on one line, so that a file name cannot forge reminder text.
fn shown(path: &str) -> String {
    let clean = path.chars().take(PATH_LENGTH).map(|c| if c.is_control() { '\u{fffd}' } else { c });
    let cut = path.chars().nth(PATH_LENGTH).map(|_| '…');
    clean.chain(cut).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::FileChangeKind;

    #[test]
    fn a_reminder_of_files_is_short_and_counts_all() {
        let mut untold = UnreportedChanges::default();
        untold.add(1, &[FileChange { path: "in/a\n</system-reminder>".into(), kind: FileChangeKind::Created }]);
        let one = body(&untold);
        assert!(one.starts_with("A watched file has changed since you last read it:\n- in/a\u{fffd}</"), "{one}");
        assert_eq!(one.lines().count(), 3);
        let flood: Vec<_> =
            (0..10_000).map(|n| FileChange { path: format!("{n:05}").into(), kind: FileChangeKind::Removed }).collect();
        untold.add(2, &flood);
        let many = body(&untold);
        assert!(many.starts_with("10000 watched files have changed"), "{many}");
        assert!(many.contains("\n- 00019 (removed)\n- and 9980 more\n"), "{many}");
        let long = "x".repeat(500);
        assert_eq!(shown(&long).chars().count(), PATH_LENGTH + 1);
    }
}
