//! Requests as text: one after another, or side by side if the terminal is wide enough.

use super::sections::{MessagePart, RequestSections, sections};
use crate::report::visible;
use serde_json::Value;
use stdlib::{PreviewedReminder, PreviewedRequest};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The least width of a column beside another one.
const COLUMN: usize = 48;
/// The text between two columns.
const BETWEEN: &str = " │ ";

/// The look of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineStyle {
    Plain,
    Heading,
    Dim,
    Reminder,
}

/// A line that fits into its column.
#[derive(Debug)]
struct StyledLine {
    text: String,
    style: LineStyle,
}

/// The form of a preview as text.
#[derive(Clone, Copy, Debug)]
pub(super) struct PreviewText {
    /// The width, in columns.
    pub(super) width: usize,
    /// Whether it lists the rules that change each request.
    pub(super) explains: bool,
}

/// Returns the requests of each provider as text.
pub(super) fn text(previews: &[Vec<PreviewedRequest>], form: PreviewText, color: bool) -> String {
    let width = form.width;
    let columns = previews.iter().filter(|requests| !requests.is_empty()).collect::<Vec<_>>();
    let between = BETWEEN.width();
    let column = (width + between) / columns.len().max(1);
    if columns.len() > 1 && column >= COLUMN + between {
        return side_by_side(&columns, PreviewText { width: column - between, ..form }, color);
    }
    let mut out = String::new();
    for requests in columns {
        for (i, request) in requests.iter().enumerate() {
            if !out.is_empty() {
                out.push('\n');
            }
            for line in lines(request, i, form) {
                out.push_str(&painted(&line, color));
                out.push('\n');
            }
        }
    }
    out
}

/// Returns requests with the same number beside each other.
fn side_by_side(columns: &[&Vec<PreviewedRequest>], form: PreviewText, color: bool) -> String {
    let width = form.width;
    let most = columns.iter().map(|requests| requests.len()).max().unwrap_or(0);
    let mut out = String::new();
    for i in 0..most {
        let blocks: Vec<Vec<StyledLine>> =
            columns.iter().map(|requests| requests.get(i).map_or_else(Vec::new, |one| lines(one, i, form))).collect();
        if i > 0 {
            out.push('\n');
        }
        for row in 0..blocks.iter().map(Vec::len).max().unwrap_or(0) {
            let mut line = String::new();
            for (at, block) in blocks.iter().enumerate() {
                if at > 0 {
                    line.push_str(BETWEEN);
                }
                let cell = block.get(row);
                let used = cell.map_or(0, |cell| cell.text.width());
                line.push_str(&cell.map_or_else(String::new, |cell| painted(cell, color)));
                line.extend(std::iter::repeat_n(' ', width.saturating_sub(used)));
            }
            out.push_str(line.trim_end());
            out.push('\n');
        }
    }
    out
}

fn painted(line: &StyledLine, color: bool) -> String {
    let code = match line.style {
        LineStyle::Heading => "1",
        LineStyle::Dim => "2",
        LineStyle::Reminder => "36",
        LineStyle::Plain => return line.text.clone(),
    };
    if color && !line.text.is_empty() { format!("\u{1b}[{code}m{}\u{1b}[0m", line.text) } else { line.text.clone() }
}

/// A column that is being written.
struct ColumnWriter<'a> {
    width: usize,
    lines: Vec<StyledLine>,
    /// The reminders that were not found in the texts so far.
    reminders: Vec<&'a PreviewedReminder>,
}

impl ColumnWriter<'_> {
    fn line(&mut self, style: LineStyle, indent: &str, text: &str) {
        for text in wrap(text, self.width.saturating_sub(indent.width()).max(8)) {
            let text = format!("{indent}{text}");
            self.lines.push(StyledLine { text: text.trim_end().to_owned(), style });
        }
    }

    fn blank(&mut self) {
        self.lines.push(StyledLine { text: String::new(), style: LineStyle::Plain });
    }

    /// Writes a heading with a figure.
    fn heading(&mut self, name: &str, figure: &str) {
        self.blank();
        self.line(LineStyle::Heading, "", &format!("{name} ({figure})"));
    }

    fn part(&mut self, part: &MessagePart) {
        match part {
            MessagePart::Json(json) => self.line(LineStyle::Dim, "    ", json),
            MessagePart::Text(text, besides) => {
                self.text(text);
                if let Some(besides) = besides {
                    self.line(LineStyle::Dim, "    ", besides);
                }
            }
        }
    }

    /// Writes a text; the reminders in it are marked.
    fn text(&mut self, mut text: &str) {
        while let Some((at, reminder)) = self.next_reminder(text) {
            self.plain(&text[..at]);
            let found = self.reminders.remove(reminder);
            self.line(LineStyle::Reminder, "  ▌ ", &format!("[reminder {}]", found.name));
            self.line(LineStyle::Reminder, "  ▌ ", &found.text);
            text = &text[at + found.text.len()..];
        }
        self.plain(text);
    }

    fn plain(&mut self, text: &str) {
        let text = text.trim_matches('\n');
        if !text.is_empty() {
            self.line(LineStyle::Plain, "    ", text);
        }
    }

    /// Returns the first reminder in a text: its place, and its index.
    fn next_reminder(&self, text: &str) -> Option<(usize, usize)> {
        let places = self.reminders.iter().enumerate();
        places.filter_map(|(i, reminder)| Some((text.find(reminder.text.as_ref())?, i))).min()
    }
}

/// Returns a request as lines of a width.
fn lines(request: &PreviewedRequest, index: usize, form: PreviewText) -> Vec<StyledLine> {
    let PreviewText { width, explains } = form;
    let body = serde_json::from_str::<Value>(&request.body).unwrap_or_default();
    let RequestSections { system, tools, messages, settings, bytes } = sections(&body);
    let reminders = request.reminders.iter().collect();
    let mut out = ColumnWriter { width, lines: Vec::new(), reminders };
    out.line(LineStyle::Heading, "", &format!("{} · {}", request.provider, request.model));
    out.line(
        LineStyle::Dim,
        "",
        &format!("request {}, turn {}, wire format {}", index + 1, request.turn, request.wire),
    );
    if !system.is_empty() {
        out.heading("system", &size(bytes[0]));
        system.iter().for_each(|part| out.part(part));
    }
    if !tools.is_empty() {
        out.heading("tools", &format!("{}, {}", tools.len(), size(bytes[1])));
        for tool in &tools {
            out.line(LineStyle::Plain, "  ", &format!("{} ({}): {}", tool.name, size(tool.bytes), tool.description));
        }
    }
    out.heading("messages", &format!("{}, {}", messages.len(), size(bytes[2])));
    for message in &messages {
        out.line(LineStyle::Heading, "  ", &message.role);
        message.parts.iter().for_each(|part| out.part(part));
    }
    if !settings.is_empty() {
        out.blank();
        out.line(LineStyle::Heading, "", "settings");
        for (name, json) in &settings {
            out.line(LineStyle::Plain, "  ", &format!("{name}: {json}"));
        }
    }
    if explains {
        explain(request, &mut out);
    }
    summary(request, &mut out);
    out.lines
}

/// Lists the rules that changed the document.
fn explain(request: &PreviewedRequest, out: &mut ColumnWriter<'_>) {
    out.blank();
    out.line(LineStyle::Heading, "", "rules that change this request");
    if request.rules.is_empty() {
        out.line(LineStyle::Plain, "  ", "none: the history is sent as it is");
    }
    for rule in &request.rules {
        out.line(LineStyle::Plain, "  ", &format!("{}: {}", rule.name, rule.done));
        out.line(LineStyle::Dim, "    ", &format!("({})", rule.source));
    }
}

fn summary(request: &PreviewedRequest, out: &mut ColumnWriter<'_>) {
    let total = request.body.len();
    let bytes: usize = request.reminders.iter().map(|reminder| in_json(&reminder.text)).sum();
    out.heading(
        "reminders",
        &format!("{}, {}, {} % of the request", request.reminders.len(), size(bytes), share(bytes, total)),
    );
    for reminder in &request.reminders {
        let life = match reminder.ttl_left {
            Some(0) => "in this request only".to_owned(),
            Some(left) => format!("and in the next {left}"),
            None => "until it is cleared".to_owned(),
        };
        let bytes = size(in_json(&reminder.text));
        out.line(LineStyle::Plain, "  ", &format!("{}: {}, {bytes}, {life}", reminder.name, reminder.slot));
    }
    if request.dropped > 0 {
        out.line(LineStyle::Plain, "  ", &format!("{} dropped: this route has no slot for reminders", request.dropped));
    }
    out.blank();
    out.line(LineStyle::Heading, "", &format!("total: {}", size(total)));
    if let Some(shared) = request.shared {
        let percent = (u128::from(shared) * 100 + u128::from(request.size) / 2) / u128::from(request.size.max(1));
        let text = format!("unchanged prefix: {shared} of {} bytes of the prompt ({percent} %)", request.size);
        out.line(LineStyle::Plain, "", &text);
    }
}

fn size(bytes: usize) -> String {
    if bytes == 1 { "1 byte".to_owned() } else { format!("{bytes} bytes") }
}

/// Returns the bytes of a text within a string of JSON.
pub(super) fn in_json(text: &str) -> usize {
    Value::from(text).to_string().len() - 2
}

/// Returns a part of a whole in percent, rounded.
pub(super) fn share(part: usize, whole: usize) -> usize {
    (part * 100 + whole / 2) / whole.max(1)
}

/// Returns a text in lines of at most `width` columns, with what a terminal would obey as text.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for line in text.split('\n') {
        let line = visible(&line.replace('\t', "    "));
        let (mut current, mut used) = (String::new(), 0);
        for word in line.split_inclusive(' ') {
            let length = word.trim_end().width();
            if used > 0 && used + length > width {
                lines.push(std::mem::take(&mut current));
                used = 0;
            }
            for c in word.chars() {
                let columns = c.width().unwrap_or(0);
                if used + columns > width {
                    lines.push(std::mem::take(&mut current));
                    used = 0;
                    if c == ' ' {
                        continue;
                    }
                }
                current.push(c);
                used += columns;
            }
        }
        lines.push(current);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_fit_and_lose_nothing() {
        assert_eq!(wrap("one two three", 8), ["one two ", "three"]);
        assert_eq!(wrap("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(wrap("a\n\nb", 8), ["a", "", "b"]);
        assert_eq!(wrap("\u{1b}[31mred", 20), ["␛[31mred"]);
        assert!(wrap("漢字漢字", 5).iter().all(|line| line.width() <= 5));
    }

    #[test]
    fn shares_are_rounded() {
        assert_eq!((share(1, 3), share(2, 3), share(0, 0), share(5, 5)), (33, 67, 0, 100));
    }
}
