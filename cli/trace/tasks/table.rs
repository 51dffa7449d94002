//! The tasks of a hub as a table of the HTML page.
use std::fmt::Write;

use base::moment::rfc3339;

use super::{HubTasks, word};
use crate::markup::escape;

/// Writes the section of the tasks.
pub(in super::super) fn table(out: &mut String, hub: &HubTasks) {
    if hub.is_empty() {
        return;
    }
    out.push_str("<section id=\"tasks\">\n<h2>Tasks of a hub</h2>\n<div class=\"scroll\"><table>\n<thead><tr>");
    for head in ["task", "state", "destination", "from", "priority", "submitted", "deadline", "attempts", "status"] {
        let _ = write!(out, "<th scope=\"col\">{head}</th>");
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for task in &hub.tasks {
        let attempts: Vec<String> = task.attempts.iter().map(super::Attempt::in_words).collect();
        let cells = [
            word(task.state),
            task.destination.in_words(),
            task.from.clone(),
            task.priority.clone(),
            rfc3339(task.submitted_ms),
            task.deadline_ms.map(rfc3339).unwrap_or_default(),
            attempts.join("\n"),
            task.status_text.clone(),
        ];
        let cells: String = cells.iter().map(|cell| format!("<td>{}</td>", escape(cell))).collect();
        let _ = writeln!(out, "<tr><th scope=\"row\"><code>{}</code></th>{cells}</tr>", escape(&task.id));
    }
    out.push_str("</tbody>\n</table></div>\n</section>\n");
}
