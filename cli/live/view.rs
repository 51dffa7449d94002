//! The view of the running loops, as lines and a status.

use super::answer::{HeldText, LastAnswer};
use super::clean::{LineWrapper, cut, one_line, wrapped};
use super::screen::{Screen, ScreenSupport};
use runtime::agent_loop::{LoopEvent, LoopObservation};
use runtime::hooks::event::ToolResult;
use runtime::loop_status::LoopStatus;
use runtime::message::ToolCall;
use runtime::model::Delta;
use runtime::transcript::Transcript;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;
use std::sync::Arc;
use std::time::Instant;

/// The columns that a reminder's name and a call's arguments may take.
const NAME: usize = 60;
const ARGUMENTS: usize = 60;
/// The characters of the reason of a failed call.
const REASON: usize = 4_000;
/// The rows of text that is not printed yet.
const COMING: usize = 6;

/// A loop at work.
#[derive(Default)]
struct LoopView {
    name: String,
    iteration: u32,
    pending: usize,
    lines: LineWrapper,
    tools: Vec<String>,
    doing: &'static str,
    /// The reminders that had a line.
    reminders: HashSet<Arc<str>>,
    /// A piece of the present answer has come.
    streaming: bool,
    /// The text of the present turn, if the script may print it itself.
    held: HeldText,
    /// The loop works for the script itself, not for another loop.
    is_outermost: bool,
}

impl LoopView {
    /// Takes out the rows of the present turn that are not printed.
    fn take_rows(&mut self) -> Vec<String> {
        let mut rows = self.held.release();
        rows.extend(self.lines.end());
        rows
    }

    /// Counts what is pending; the lines of the reminders that are new.
    fn new_reminders(&mut self, transcript: &Transcript) -> Vec<String> {
        self.pending = transcript.pending_count();
        let mut lines = Vec::new();
        for pending in transcript.pending() {
            let reminder = &pending.reminder;
            if !self.reminders.insert(reminder.id.clone()) {
                continue;
            }
            let name = reminder.dedupe_key.as_deref().or(reminder.tags.first().map(|tag| &**tag));
            let name = one_line(name.unwrap_or(&reminder.body));
            let ttl = transcript.ttl_left(pending).map_or("no ttl".to_owned(), |ttl| format!("ttl {ttl}"));
            lines.push(format!("+ {} ({ttl})", cut(&name, NAME)));
        }
        lines
    }
}

/// The lines of a tool call that has its result: one, or the whole reason of its failure in rows of so many columns.
fn tool_lines(call: &ToolCall, result: &ToolResult, most: usize, wrap: bool) -> Vec<String> {
    let name = one_line(&call.name);
    let arguments = one_line(&call.arguments.to_json());
    let arguments = if arguments == "{}" { String::new() } else { format!(" {}", cut(&arguments, ARGUMENTS)) };
    if result.ok {
        let mut line = format!("> {name}{arguments}");
        line.truncate(cut(&line, most).len());
        return vec![line];
    }
    let why = result.text.strip_prefix("error: ").unwrap_or(&result.text).trim();
    wrapped(&format!("> {name}{arguments} failed: {}", start_of(why)), if wrap { most } else { usize::MAX })
}

/// A reason, cut if it is longer than a screen.
fn start_of(why: &str) -> Cow<'_, str> {
    match why.char_indices().nth(REASON) {
        Some((end, _)) => format!("{}…", &why[..end]).into(),
        None => why.into(),
    }
}

/// The loops at work and the screen that shows them.
pub(super) struct View {
    screen: Screen,
    /// The loops by session: each session has one running loop.
    loops: BTreeMap<String, LoopView>,
    /// The number of loops that have begun; loops without a name are named by it.
    begun: u32,
    /// Several were at work at once: until the last has ended each line says whose it is.
    several: bool,
    /// The script prints to the same terminal, so what it prints itself is not shown here as well.
    shared: bool,
    /// Answers that the script may print.
    answers: Vec<LastAnswer>,
    tokens: (u64, u64),
    since: Option<Instant>,
}

impl View {
    pub(super) fn new(able: ScreenSupport, shared: bool) -> Self {
        Self {
            screen: Screen::new(able),
            loops: BTreeMap::new(),
            begun: 0,
            several: false,
            shared,
            answers: Vec::new(),
            tokens: (0, 0),
            since: None,
        }
    }

    /// Takes in what is seen; what is to be written for it.
    pub(super) fn see(&mut self, sight: &LoopObservation<'_>, columns: usize) -> String {
        let id = sight.turn.session.id().as_ref();
        let mut shown = Vec::new();
        if let LoopEvent::Began = sight.seen {
            if self.loops.is_empty() {
                // The script has had the time to print them.
                self.answers.drain(..).for_each(|answer| shown.push((answer.name, answer.rows)));
            }
            self.begin(id, sight);
        }
        let (several, shared, wrap) = (self.several, self.shared, self.screen.has_rows());
        let Some(looping) = self.loops.get_mut(id) else { return String::new() };
        looping.iteration = sight.iteration;
        let prefix = if several { super::clean::columns(&looping.name) + 3 } else { 0 };
        let most = columns.saturating_sub(prefix + 1).max(1);
        // The rows of the answer, and other lines after them.
        let (mut rows, mut lines) = (Vec::new(), Vec::new());
        let mut goes_on = true;
        match sight.seen {
            LoopEvent::Asked => {
                lines = sight.turn.session.with(|s| looping.new_reminders(&s.transcript));
                lines.iter_mut().for_each(|line| line.truncate(cut(line, most).len()));
                looping.doing = "asking";
                looping.streaming = false;
            }
            LoopEvent::Piece(Delta::Text(text)) => {
                looping.doing = "";
                looping.streaming = true;
                rows = looping.lines.take(text, most);
                if shared {
                    looping.held.take(text, std::mem::take(&mut rows));
                    rows = looping.held.overflow();
                }
                goes_on = false;
            }
            LoopEvent::Piece(Delta::Reasoning(_)) => {
                looping.doing = "thinking";
                goes_on = false;
            }
            LoopEvent::Piece(Delta::Restart { why }) => {
                rows = looping.take_rows();
                // A refusal, such as a 429, comes before the first piece.
                let what = match std::mem::take(&mut looping.streaming) {
                    true => "the response ended early",
                    false => "the request failed",
                };
                let colon = if why.is_empty() { "" } else { ": " };
                let line = format!("({what}{colon}{}; asking the model again)", start_of(why));
                lines = wrapped(&line, if wrap { most } else { usize::MAX });
            }
            LoopEvent::Began
            | LoopEvent::Piece(_)
            | LoopEvent::Interrupted { .. }
            | LoopEvent::ToolWanted { .. }
            | LoopEvent::Delivered(_) => goes_on = false,
            LoopEvent::ToolAnswered { call, result } => lines = tool_lines(call, result, most, wrap),
            LoopEvent::Answered { reply, .. } => {
                self.tokens.0 += reply.usage.input_tokens;
                self.tokens.1 += reply.usage.output_tokens;
                let last = looping.lines.end();
                match shared {
                    true => last.into_iter().for_each(|row| looping.held.push(row)),
                    false => rows.extend(last),
                }
                looping.doing = "";
                goes_on = false;
            }
            LoopEvent::ToolBegan(call) => looping.tools.push(one_line(&call.name)),
            LoopEvent::ToolEnded(call) => {
                let name = one_line(&call.name);
                if let Some(at) = looping.tools.iter().position(|tool| *tool == name) {
                    looping.tools.remove(at);
                }
                goes_on = false;
            }
            LoopEvent::Idle => looping.doing = "idle",
            LoopEvent::Unanswered { .. } => rows = looping.take_rows(),
            LoopEvent::Ended(result) => {
                // The answer of a loop that works for another one is for that loop.
                goes_on = !looping.is_outermost || result.status != LoopStatus::Done;
                if goes_on {
                    rows.extend(looping.lines.end());
                }
            }
        }
        if goes_on {
            rows.splice(0..0, looping.held.release());
        }
        let name = if several { looping.name.clone() } else { String::new() };
        rows.append(&mut lines);
        shown.push((name.clone(), rows));
        if let LoopEvent::Ended(_) = sight.seen {
            if let Some(mut ended) = self.loops.remove(id) {
                ended.lines.end().into_iter().for_each(|row| ended.held.push(row));
                if !ended.held.is_empty() {
                    self.answers.push(LastAnswer::new(name, ended.held));
                }
            }
            if self.loops.is_empty() {
                self.several = false;
            }
        }
        self.show(columns, &shown)
    }

    /// Prints rows, and draws the others again.
    fn show(&mut self, columns: usize, shown: &[(String, Vec<String>)]) -> String {
        let print = |screen: &mut Screen, out: &mut String| {
            for (name, rows) in shown {
                rows.iter().for_each(|row| screen.line(name, row, out));
            }
        };
        self.redraw(columns, print, shown.iter().any(|(_, rows)| !rows.is_empty()))
    }

    fn begin(&mut self, id: &str, sight: &LoopObservation<'_>) {
        self.begun += 1;
        self.since.get_or_insert_with(Instant::now);
        let scope = sight.turn.scope;
        let given = scope
            .caller
            .agent_id
            .as_deref()
            .or_else(|| scope.caller.persona.as_deref().filter(|name| *name != "agent"));
        let is_drawn = id.len() == 36 && id.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
        let name = match given {
            Some(name) => one_line(name),
            None if is_drawn => format!("loop {}", self.begun),
            None => one_line(id),
        };
        let is_outermost = scope.caller.depth <= 1;
        self.loops.insert(id.to_owned(), LoopView { name, is_outermost, ..LoopView::default() });
        self.several |= self.loops.len() > 1;
    }

    /// The script prints a text; what is to be written before it.
    pub(super) fn before_print(&mut self, text: &str) -> String {
        let mut out = String::new();
        self.screen.wipe(&mut out);
        self.answers.retain_mut(|answer| !answer.is_printed_by(text));
        // A question to the user hides the rows until its line ends.
        if !text.is_empty() && !text.ends_with('\n') {
            self.print_answers(&mut out);
        }
        out
    }

    /// Prints the answers that the script has not printed.
    fn print_answers(&mut self, out: &mut String) {
        for answer in self.answers.drain(..) {
            answer.rows.iter().for_each(|row| self.screen.line(&answer.name, row, out));
        }
    }

    /// The script has printed; what is to be written behind it.
    pub(super) fn after_print(&mut self, text: &str, columns: usize) -> String {
        self.screen.printed(text);
        self.redraw(columns, |_, _| {}, true)
    }

    /// Time has passed; what is to be written.
    pub(super) fn tick(&mut self, columns: usize) -> String {
        self.redraw(columns, |_, _| {}, false)
    }

    /// Returns the text that removes the rows at the end, before `text` is printed. What runs next, such as another line of a
    /// session, counts anew.
    pub(super) fn end(&mut self, text: &str) -> String {
        let mut out = String::new();
        self.screen.wipe(&mut out);
        self.answers.retain_mut(|answer| !answer.is_printed_by(text));
        self.print_answers(&mut out);
        let several = self.several;
        for looping in self.loops.values_mut() {
            let rows = looping.take_rows();
            let name = if several { looping.name.as_str() } else { "" };
            rows.iter().for_each(|row| self.screen.line(name, row, &mut out));
        }
        self.loops.clear();
        (self.tokens, self.since) = ((0, 0), None);
        self.screen.set(Vec::new(), "");
        out
    }

    /// Whether anything moves.
    pub(super) fn is_live(&self) -> bool {
        !self.loops.is_empty()
    }

    fn redraw(&mut self, columns: usize, print: impl FnOnce(&mut Screen, &mut String), printed: bool) -> String {
        let coming = self.coming();
        let status = self.status();
        let mut out = String::new();
        if !self.screen.set(coming, &status) && !printed {
            return out;
        }
        self.screen.wipe(&mut out);
        print(&mut self.screen, &mut out);
        self.screen.draw(columns, &mut out);
        out
    }

    /// Returns the last rows of the text that is not printed yet.
    fn coming(&self) -> Vec<String> {
        let named = |name: &str, row: &str| if name.is_empty() { row.to_owned() } else { format!("{name} | {row}") };
        let mut rows: Vec<String> = Vec::new();
        for answer in &self.answers {
            rows.extend(answer.rows.iter().rev().take(COMING).rev().map(|row| named(&answer.name, row)));
        }
        if self.several && !self.shared {
            return rows;
        }
        for looping in self.loops.values() {
            let name = if self.several { looping.name.as_str() } else { "" };
            let most = COMING / self.loops.len().clamp(1, COMING);
            let rest = Some(looping.lines.rest()).filter(|rest| !rest.is_empty());
            let last: Vec<&str> =
                rest.into_iter().chain(looping.held.rows().iter().rev().map(String::as_str)).take(most).collect();
            rows.extend(last.into_iter().rev().map(|row| named(name, row)));
        }
        rows.split_off(rows.len().saturating_sub(COMING))
    }

    fn status(&self) -> String {
        let mut parts = Vec::new();
        let mut loops = self.loops.values();
        match (loops.next(), loops.next()) {
            (None, _) => return String::new(),
            (Some(only), None) => {
                // Before it asks it is at the beginning of its first.
                let mut turn = format!("turn {}", only.iteration.max(1));
                if self.several {
                    turn = format!("{} {turn}", only.name);
                }
                parts.push(turn);
            }
            _ => parts.push(format!("{} loops", self.loops.len())),
        }
        parts.push(format!("{} in, {} out", short(self.tokens.0), short(self.tokens.1)));
        match self.loops.values().map(|looping| looping.pending).sum::<usize>() {
            0 => {}
            1 => parts.push("1 reminder".to_owned()),
            n => parts.push(format!("{n} reminders")),
        }
        let tools: Vec<&str> = self.loops.values().flat_map(|looping| &looping.tools).map(String::as_str).collect();
        match (tools.as_slice(), self.loops.values().next().map(|only| only.doing)) {
            ([], Some(doing)) if !doing.is_empty() && self.loops.len() == 1 => parts.push(doing.to_owned()),
            ([], _) => {}
            (tools, _) => parts.push(tools.join(", ")),
        }
        if let Some(since) = self.since {
            parts.push(elapsed(since.elapsed().as_secs()));
        }
        parts.join(" · ")
    }
}

/// A number in few signs.
fn short(n: u64) -> String {
    match n {
        0..1_000 => n.to_string(),
        1_000..1_000_000 => format!("{}.{}k", n / 1_000, n % 1_000 / 100),
        _ => format!("{}.{}M", n / 1_000_000, n % 1_000_000 / 100_000),
    }
}

fn elapsed(seconds: u64) -> String {
    let mut out = String::new();
    if seconds >= 60 {
        let _ = write!(out, "{}m ", seconds / 60);
    }
    let _ = write!(out, "{}s", seconds % 60);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!([0, 999, 1_234, 56_789, 2_500_000].map(short), ["0", "999", "1.2k", "56.7k", "2.5M"]);
        assert_eq!([5, 65].map(elapsed), ["5s", "1m 5s"]);
    }

    #[test]
    fn each_line_of_a_session_counts_anew() {
        let mut view = View::new(ScreenSupport { cursor: false, color: false }, false);
        (view.tokens, view.since) = ((5, 6), Some(Instant::now()));
        view.end("");
        assert_eq!((view.tokens, view.since), ((0, 0), None));
    }
}
