//! The tasks of a hub as text.
use std::fmt::Write;

use base::moment::rfc3339;

use super::super::names::{clean, count, first_line, fit, grouped};
use super::super::paint::Paint;
use super::{Attempt, Destination, HubTasks, TaskLife, word};
use hub::proto::a2a::TaskState;

/// Writes every task, after a summary.
pub(in super::super) fn tasks(out: &mut String, hub: &HubTasks, paint: Paint, columns: usize) {
    if hub.is_empty() {
        return;
    }
    summary(out, hub, paint);
    for task in &hub.tasks {
        out.push('\n');
        write_task(out, task, paint, columns);
    }
    out.push('\n');
}

/// Writes the unfinished tasks, after their number.
pub(in super::super) fn unfinished(out: &mut String, hub: &HubTasks, paint: Paint, columns: usize) {
    if hub.is_empty() {
        return;
    }
    let open: Vec<&TaskLife> = hub.tasks.iter().filter(|task| !task.is_over()).collect();
    let _ = writeln!(out, "{} of {} unfinished", grouped(open.len() as u64), count(hub.len(), "task"));
    for task in open {
        out.push('\n');
        write_task(out, task, paint, columns);
    }
}

fn summary(out: &mut String, hub: &HubTasks, paint: Paint) {
    let attempts = hub.tasks.iter().map(|task| task.attempts.len()).sum();
    let _ = writeln!(out, "{} · {} · {}", paint.bold("hub"), count(hub.len(), "task"), count(attempts, "attempt"));
    let states = hub.states().into_iter().map(|(state, number)| {
        let state = TaskState::try_from(state).unwrap_or_default();
        format!("{} {}", grouped(number as u64), word(state))
    });
    let _ = writeln!(out, "  {}", states.collect::<Vec<_>>().join(" + "));
    for (destination, (waiting, held)) in hub.queues() {
        let (waiting, held) = (grouped(waiting as u64), grouped(held as u64));
        let _ = writeln!(out, "  {}: {waiting} waiting, {held} held by workers", destination.in_words());
    }
    let open = || hub.tasks.iter().filter(|task| !task.is_over());
    let leases = open().filter_map(TaskLife::held).filter(|attempt| attempt.lease.is_some()).count();
    let deadlines = open().filter(|task| task.deadline_ms.is_some()).count();
    if let Some(at_ms) = hub.compacted_ms {
        let said = format!("compacted: records before the checkpoint of {} were removed", rfc3339(at_ms));
        let _ = writeln!(out, "  {}", paint.dim(&said));
    }
    if leases + deadlines > 0 {
        let _ = writeln!(out, "  open: {}, {}", count(leases, "lease"), count(deadlines, "deadline"));
    }
}

fn write_task(out: &mut String, task: &TaskLife, paint: Paint, columns: usize) {
    let state = word(task.state);
    let state = match task.state {
        TaskState::Completed => paint.green(&state),
        TaskState::Failed => paint.red(&state),
        _ => state,
    };
    let mut facts = vec![state, task.destination.in_words()];
    facts.extend(task.dead_letter.then(|| "dead letter".to_owned()));
    let _ = writeln!(out, "{} · {}", paint.bold(&format!("task {}", clean(&task.id))), facts.join(" · "));
    let mut facts = vec![format!("from {} at {}", clean(&task.from), rfc3339(task.submitted_ms))];
    facts.push(format!("priority {}", task.priority));
    if !task.kind.is_empty() {
        facts.push(format!("type {}", clean(&task.kind)));
    }
    if task.destination != Destination::Copies {
        facts.push(format!("at most {}", count(task.max_attempts as usize, "attempt")));
    }
    facts.extend(task.deadline_ms.map(|at_ms| format!("deadline {}", rfc3339(at_ms))));
    if !task.parent_id.is_empty() {
        facts.push(format!("part of {}", clean(&task.parent_id)));
    }
    let _ = writeln!(out, "  {}", paint.dim(&facts.join(" · ")));
    if task.removed_attempts > 0 {
        let said = format!("{} before the checkpoint", count(task.removed_attempts as usize, "attempt"));
        let _ = writeln!(out, "  {}", paint.dim(&said));
    }
    for attempt in &task.attempts {
        let said = attempt.in_words();
        let _ = writeln!(out, "  {}", fit(&said, columns.saturating_sub(2)));
    }
    // Those of attempts are shown there.
    let held = |agent: &str| task.attempts.iter().any(|attempt| attempt.worker == agent);
    for rejection in task.rejections.iter().filter(|rejection| !held(&rejection.agent)) {
        let said = format!("rejected by {}: {}", clean(&rejection.agent), clean(first_line(&rejection.reason)));
        let _ = writeln!(out, "  {}", fit(&said, columns.saturating_sub(2)));
    }
    if !task.resume_token.is_empty() && !task.is_over() {
        let _ = writeln!(out, "  resume token {}", fit(&clean(&task.resume_token), columns.saturating_sub(15)));
    }
    if let (Some(at_ms), false) = (task.finished_ms, task.attempts.iter().any(|attempt| attempt.ends_at(task))) {
        let said = outcome(&word(task.state), &task.status_text);
        let said = format!("after {}: {said}", seconds(at_ms.saturating_sub(task.submitted_ms)));
        let _ = writeln!(out, "  {}", fit(&said, columns.saturating_sub(2)));
    }
    if let Some(at_ms) = task.forgotten_ms {
        let _ = writeln!(out, "  {}", paint.dim(&format!("deleted by the hub's retention at {}", rfc3339(at_ms))));
    }
}

impl Destination {
    pub(super) fn in_words(&self) -> String {
        match self {
            Destination::Queue(queue) => format!("queue {}", clean(queue)),
            Destination::Inbox(agent) => format!("inbox of {}", clean(agent)),
            Destination::Copies => "broadcast".to_owned(),
        }
    }
}

impl Attempt {
    /// Returns whether the end of this attempt is that of its task.
    fn ends_at(&self, task: &TaskLife) -> bool {
        task.is_over() && self.end.as_ref().is_some_and(|end| Some(end.at_ms) == task.finished_ms)
    }

    /// Returns its worker, its lease and how it ended.
    pub(super) fn in_words(&self) -> String {
        let mut said = format!("attempt {} by {}", self.number, clean(&self.worker));
        match &self.lease {
            None => said.push_str(", no lease"),
            Some(lease) => {
                let _ = write!(said, ", lease {}", seconds(lease.ms));
                if lease.renewals > 0 {
                    let _ = write!(said, ", {}", count(lease.renewals as usize, "renewal"));
                }
            }
        }
        match &self.end {
            None => match &self.lease {
                Some(lease) => format!("{said}: in progress, lease ends at {}", rfc3339(lease.until_ms)),
                None => said + ": in progress",
            },
            Some(end) => {
                let after = seconds(end.at_ms.saturating_sub(self.claimed_ms));
                format!("{said}: {}", outcome(&format!("{} after {after}", end.how), &end.reason))
            }
        }
    }
}

/// Returns an end with its reason.
fn outcome(how: &str, reason: &str) -> String {
    match first_line(reason) {
        "" => how.to_owned(),
        reason => format!("{how}: {}", clean(reason)),
    }
}

/// Returns a duration in seconds.
fn seconds(ms: u64) -> String {
    format!("{}.{:03} s", grouped(ms / 1_000), ms % 1_000)
}
