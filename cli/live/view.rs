//! The view of the running loops, as lines and a status.

use super::clean::{LineWrapper, cut, one_line};
use super::screen::{Screen, ScreenSupport};
use runtime::agent_loop::{LoopEvent, LoopObservation};
use runtime::hooks::event::ToolResult;
use runtime::message::ToolCall;
use runtime::model::Delta;
use runtime::transcript::Transcript;
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;
use std::sync::Arc;
use std::time::Instant;

/// The columns that a reminder's name and a call's arguments may take.
const NAME: usize = 60;
const ARGUMENTS: usize = 60;

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
}

impl LoopView {
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

/// The line of a tool call that has its result.
fn tool_line(call: &ToolCall, result: &ToolResult) -> String {
    let name = one_line(&call.name);
    let arguments = one_line(&call.arguments.to_json());
    let arguments = if arguments == "{}" { String::new() } else { format!(" {}", cut(&arguments, ARGUMENTS)) };
    if result.ok {
        return format!("> {name}{arguments}");
    }
    let why = result.text.lines().next().unwrap_or_default();
    let why = one_line(why.strip_prefix("error: ").unwrap_or(why));
    format!("> {name}{arguments} failed: {why}")
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
    tokens: (u64, u64),
    since: Option<Instant>,
}

impl View {
    pub(super) fn new(able: ScreenSupport) -> Self {
        Self {
            screen: Screen::new(able),
            loops: BTreeMap::new(),
            begun: 0,
            several: false,
            tokens: (0, 0),
            since: None,
        }
    }

    /// Takes in what is seen; what is to be written for it.
    pub(super) fn see(&mut self, sight: &LoopObservation<'_>, columns: usize) -> String {
        let id = sight.turn.session.id().as_ref();
        if let LoopEvent::Began = sight.seen {
            self.begin(id, sight);
        }
        let Some(looping) = self.loops.get_mut(id) else { return String::new() };
        looping.iteration = sight.iteration;
        let mut done = Vec::new();
        match sight.seen {
            LoopEvent::Asked => {
                done = sight.turn.session.with(|s| looping.new_reminders(&s.transcript));
                looping.doing = "asking";
                looping.streaming = false;
            }
            LoopEvent::Piece(Delta::Text(text)) => {
                let prefix = if self.several { super::clean::columns(&looping.name) + 3 } else { 0 };
                looping.doing = "";
                looping.streaming = true;
                done = looping.lines.take(text, columns.saturating_sub(prefix + 1).max(1));
            }
            LoopEvent::Piece(Delta::Reasoning(_)) => looping.doing = "thinking",
            LoopEvent::Piece(Delta::Restart) => {
                done.extend(looping.lines.end());
                // A refusal, such as a 429, comes before the first piece.
                done.push(match std::mem::take(&mut looping.streaming) {
                    true => "(the response ended early; asking the model again)".to_owned(),
                    false => "(the request failed; asking the model again)".to_owned(),
                });
            }
            LoopEvent::Began
            | LoopEvent::Piece(_)
            | LoopEvent::Interrupted { .. }
            | LoopEvent::ToolWanted { .. }
            | LoopEvent::Delivered(_) => {}
            LoopEvent::ToolAnswered { call, result } => done.push(tool_line(call, result)),
            LoopEvent::Answered { reply, .. } => {
                self.tokens.0 += reply.usage.input_tokens;
                self.tokens.1 += reply.usage.output_tokens;
                done.extend(looping.lines.end());
                looping.doing = "";
            }
            LoopEvent::ToolBegan(call) => looping.tools.push(one_line(&call.name)),
            LoopEvent::ToolEnded(call) => {
                let name = one_line(&call.name);
                if let Some(at) = looping.tools.iter().position(|tool| *tool == name) {
                    looping.tools.remove(at);
                }
            }
            LoopEvent::Idle => looping.doing = "idle",
            LoopEvent::Unanswered { .. } | LoopEvent::Ended(_) => done.extend(looping.lines.end()),
        }
        let name = if self.several { looping.name.clone() } else { String::new() };
        if let LoopEvent::Ended(_) = sight.seen {
            self.loops.remove(id);
            if self.loops.is_empty() {
                self.several = false;
            }
        }
        let most = columns.saturating_sub(1).max(1);
        if !matches!(
            sight.seen,
            LoopEvent::Piece(_) | LoopEvent::Answered { .. } | LoopEvent::Unanswered { .. } | LoopEvent::Ended(_)
        ) {
            done.iter_mut().for_each(|line| line.truncate(cut(line, most).len()));
        }
        self.redraw(columns, |screen, out| done.iter().for_each(|line| screen.line(&name, line, out)), !done.is_empty())
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
        self.loops.insert(id.to_owned(), LoopView { name, ..LoopView::default() });
        self.several |= self.loops.len() > 1;
    }

    /// The script prints; what is to be written before it.
    pub(super) fn before_print(&mut self) -> String {
        let mut out = String::new();
        self.screen.wipe(&mut out);
        out
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

    /// Returns the text that removes the rows at the end. What runs next, such as another line of a session, counts anew.
    pub(super) fn end(&mut self) -> String {
        let mut out = self.before_print();
        let several = self.several;
        for looping in self.loops.values_mut() {
            let name = if several { looping.name.as_str() } else { "" };
            if let Some(line) = looping.lines.end() {
                self.screen.line(name, &line, &mut out);
            }
        }
        self.loops.clear();
        (self.tokens, self.since) = ((0, 0), None);
        self.screen.set("", "");
        out
    }

    /// Whether anything moves.
    pub(super) fn is_live(&self) -> bool {
        !self.loops.is_empty()
    }

    fn redraw(&mut self, columns: usize, print: impl FnOnce(&mut Screen, &mut String), printed: bool) -> String {
        let coming = match self.loops.values().next() {
            Some(only) if !self.several => only.lines.rest().to_owned(),
            _ => String::new(),
        };
        let status = self.status();
        let mut out = String::new();
        if !self.screen.set(&coming, &status) && !printed {
            return out;
        }
        self.screen.wipe(&mut out);
        print(&mut self.screen, &mut out);
        self.screen.draw(columns, &mut out);
        out
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
        let mut view = View::new(ScreenSupport { cursor: false, color: false });
        (view.tokens, view.since) = ((5, 6), Some(Instant::now()));
        view.end();
        assert_eq!((view.tokens, view.since), ((0, 0), None));
    }
}
