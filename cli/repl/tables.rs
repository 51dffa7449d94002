//! Tables of the REPL.

use crate::report::visible;
use stdlib::ConversationView;
use unicode_width::UnicodeWidthStr as _;

/// Columns of the text of a reminder.
const BODY: usize = 44;

/// Returns the pending reminders of all conversations.
pub(super) fn reminders(conversations: &[ConversationView]) -> String {
    let heads = ["in", "reminder", "lifetime", "compaction", "sub-agents", "text"];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    for conversation in conversations {
        for reminder in &conversation.reminders {
            let lifetime = match reminder.ttl_left {
                Some(1) => "1 prompt".to_owned(),
                Some(left) => format!("{left} prompts"),
                None => "until cleared".to_owned(),
            };
            let compaction = if reminder.preserved { "survives" } else { "discarded" };
            rows.push(vec![
                visible(&conversation.name),
                shortened(&visible(&reminder.name), 24),
                lifetime,
                compaction.to_owned(),
                reminder.propagate.clone(),
                shortened(&visible(&reminder.body.replace('\n', " ")), BODY),
            ]);
        }
    }
    if rows.len() == 1 { "no pending reminders\n".to_owned() } else { columns(&rows) }
}

/// Returns rows with aligned cells.
pub(super) fn columns(rows: &[Vec<String>]) -> String {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.width()).max();
    let widths: Vec<usize> = (0..count).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            line.push_str(cell);
            line.push_str(&" ".repeat(width - cell.width() + 2));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Returns at most `most` characters of a text.
pub(super) fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most { text.to_owned() } else { text.chars().take(most - 1).chain(['…']).collect() }
}
