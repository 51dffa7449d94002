//! The tasks of peers that are linked to local tasks, as text and as a table of the HTML page.

use super::names::{clean, count};
use super::paint::Paint;
use crate::markup::escape;
use serve::channels::{PeerTaskLink, PeerTaskState};
use std::fmt::Write;

/// Writes every link, after their number.
pub(super) fn links<'a>(out: &mut String, links: impl Iterator<Item = &'a PeerTaskLink>, paint: Paint) {
    let links: Vec<&PeerTaskLink> = links.collect();
    if links.is_empty() {
        return;
    }
    let _ = writeln!(out, "{} · {}", paint.bold("peers"), count(links.len(), "linked task"));
    for link in links {
        let state = match link.state {
            PeerTaskState::Completed => paint.green(link.state.as_str()),
            PeerTaskState::Failed => paint.red(link.state.as_str()),
            state => state.as_str().to_owned(),
        };
        let mut facts = vec![state, format!("{} {}", link.direction, clean(&link.remote_task_id))];
        facts.extend(link.agent_card_ref.as_ref().map(|card| format!("at {}", clean(card))));
        let _ = writeln!(out, "  {} · {}", paint.bold(&clean(&link.task_id)), facts.join(" · "));
        let mut facts = vec![format!("status {}", link.status()), format!("peer says {}", link.native_status)];
        facts.extend(link.cause.map(|cause| format!("cause {cause}")));
        facts.extend(link.remote_context_id.as_ref().map(|context| format!("context {}", clean(context))));
        facts.extend(link.parent_task_id.as_ref().map(|parent| format!("part of {}", clean(parent))));
        facts.extend(link.session_id.as_ref().map(|session| format!("session {}", clean(session))));
        if !link.artifact_refs.is_empty() {
            facts.push(count(link.artifact_refs.len(), "artifact"));
        }
        let _ = writeln!(out, "    {}", paint.dim(&facts.join(" · ")));
    }
    out.push('\n');
}

/// Writes the links as a table.
pub(super) fn table(out: &mut String, links: &[PeerTaskLink]) {
    if links.is_empty() {
        return;
    }
    out.push_str("<h2>Tasks of peers</h2>\n<table>\n<tr>");
    for column in ["local task", "remote task", "context", "peer", "state", "status", "peer says", "artifacts"] {
        let _ = write!(out, "<th>{column}</th>");
    }
    out.push_str("</tr>\n");
    for link in links {
        let artifacts = link.artifact_refs.len().to_string();
        let cells = [
            link.task_id.as_ref(),
            link.remote_task_id.as_ref(),
            link.remote_context_id.as_deref().unwrap_or_default(),
            link.agent_card_ref.as_deref().unwrap_or_default(),
            link.state.as_str(),
            link.status().as_str(),
            link.native_status.as_str(),
            artifacts.as_str(),
        ];
        out.push_str("<tr>");
        for cell in cells {
            let _ = write!(out, "<td>{}</td>", escape(cell));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</table>\n");
}
