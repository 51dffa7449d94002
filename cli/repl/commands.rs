//! The commands of the REPL: lines that begin with a colon.

use super::tables::{columns, reminders, shortened};
use super::{Session, say};
use crate::doc::about;
use crate::explain;
use crate::report::{Format, show, visible, wants_color};
use std::path::Path;
use std::process::Command;
use std::time::Instant;
use stdlib::Source;
use stdlib::output::Terminal;

/// The name, the argument and the effect of each command.
pub(super) const COMMANDS: &[(&str, &str, &str)] = &[
    (":doc", "NAME", "show the signature of a builtin; `NAME?` does the same"),
    (":edit", "", "edit the last statements in $VISUAL or $EDITOR, then run them"),
    (":events", "[PREFIX]", "list the records of the event log whose kind begins with PREFIX"),
    (":explain", "TOPIC", "explain a diagnostic code, a family or words; without a topic, list all"),
    (":help", "", "show this text"),
    (":load", "FILE", "run the statements of a file"),
    (":prompt", "[NAME]", "show the next prompt of a session or transcript, for each provider"),
    (":quit", "", "exit, like Ctrl-D"),
    (":reminders", "", "list the pending reminders with their remaining lifetime"),
    (":reset", "", "forget all names and sessions"),
    (":save", "FILE", "write the statements of this session that had no errors to a file"),
    (":session", "[NAME]", "list sessions and transcripts, or show the messages of one"),
    (":set", "[OPTION VALUE]", "show or change an option: depth N, color on|off"),
    (":time", "EXPR", "run an expression and show how long it took"),
    (":type", "EXPR", "show the type of an expression without running it"),
];

/// Providers whose prompts are shown: one for each way to send reminders.
const PROVIDERS: [&str; 3] = ["anthropic", "openai", "gemini"];

/// Columns of the payload of a record, at least.
const SHORTEST_PAYLOAD: usize = 20;

/// Providers that get the same messages, and those: role and text.
type SharedPrompt = (Vec<&'static str>, Vec<(String, String)>);

pub(super) fn help() -> String {
    let mut text = "Statements run when you enter them, and the value of the last one is printed. Names stay bound;\n\
                    `_` is the last value. An incomplete statement continues on the next line.\n\n"
        .to_owned();
    for (name, argument, what) in COMMANDS {
        text.push_str(&format!("  {:<24}{what}\n", format!("{name} {argument}")));
    }
    text.push_str("  Ctrl-C                  stop the running statement, or discard the input\n");
    text.push_str("  Tab, Ctrl-R             complete a name (`q` leaves a long list); search the history\n");
    text
}

impl Session {
    /// Runs a line that begins with a colon. Returns the exit code for `:quit`.
    pub(super) fn command(&mut self, line: &str) -> Option<i32> {
        let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        match name {
            ":quit" | ":q" => return Some(0),
            ":help" | ":h" => say(&help()),
            ":explain" if rest.is_empty() => say(&explain::list()),
            ":explain" => {
                let words: Vec<&str> = rest.split_whitespace().collect();
                say(&explain::topic(&words, false, wants_color(&std::io::stdout())).unwrap_or_else(|unknown| unknown));
            }
            ":type" | ":doc" | ":time" | ":load" | ":save" if rest.is_empty() => usage(name),
            ":type" => self.show_type(rest),
            ":doc" => say(&doc(rest.trim_end_matches('?'))),
            ":reminders" => say(&reminders(&self.engine.conversations())),
            ":session" => say(&self.sessions(rest)),
            ":prompt" => say(&self.prompt(rest)),
            ":events" => self.events(rest),
            ":time" => {
                let start = Instant::now();
                let code = self.run_text(rest);
                say(&format!("took {:.1} ms\n", start.elapsed().as_secs_f64() * 1000.0));
                return code;
            }
            ":load" => match std::fs::read_to_string(rest) {
                Ok(text) => return self.run_text(&text),
                Err(error) => say(&format!("cannot read {}: {error}\n", visible(rest))),
            },
            ":save" => self.save(rest),
            ":edit" => return self.edit(),
            ":reset" => self.reset(),
            ":set" => self.set(rest),
            _ => match lang::diagnostic::nearest(name, COMMANDS.iter().map(|(name, ..)| *name)) {
                Some(near) => say(&format!("unknown command `{}`; did you mean `{near}`?\n", visible(name))),
                None => say(&format!("unknown command `{}`; :help lists the commands\n", visible(name))),
            },
        }
        None
    }

    fn show_type(&self, text: &str) {
        if self.is_rhai() {
            return say("types are known only in Harn\n");
        }
        match self.engine.type_of(&Source::new("repl", text)) {
            Ok(ty) => say(&format!("{ty}\n")),
            Err(found) => show(&Terminal, &found, Format::Text),
        }
    }

    fn sessions(&self, name: &str) -> String {
        if !name.is_empty() {
            return match self.engine.conversation_text(name) {
                Some(text) if text.trim().is_empty() => "no messages\n".to_owned(),
                Some(text) => clean(&text) + "\n",
                None => format!("unknown session or transcript `{}`\n", visible(name)),
            };
        }
        let conversations = self.engine.conversations();
        if conversations.is_empty() {
            return "no sessions\n".to_owned();
        }
        let mut rows = vec![["name", "kind", "messages", "reminders"].map(str::to_owned).to_vec()];
        rows.extend(conversations.iter().map(|conversation| {
            let kind = if conversation.is_session { "session" } else { "transcript" };
            let (messages, reminders) = (conversation.messages.to_string(), conversation.reminders.len().to_string());
            vec![visible(&conversation.name), kind.to_owned(), messages, reminders]
        }));
        columns(&rows)
    }

    /// The next prompt. Providers that get the same are shown together.
    fn prompt(&self, name: &str) -> String {
        let known: Vec<String> =
            self.engine.conversations().into_iter().map(|conversation| conversation.name).collect();
        let name = match (name, known.as_slice()) {
            ("", [only]) => only,
            ("", []) => return "no sessions\n".to_owned(),
            ("", names) => return format!("name one of them: {}\n", visible(&names.join(", "))),
            (name, _) => name,
        };
        let mut prompts: Vec<SharedPrompt> = Vec::new();
        for provider in PROVIDERS {
            let Some(prompt) = self.engine.next_prompt(name, provider) else {
                return format!("unknown session or transcript `{}`\n", visible(name));
            };
            match prompts.iter_mut().find(|(_, known)| *known == prompt) {
                Some((providers, _)) => providers.push(provider),
                None => prompts.push((vec![provider], prompt)),
            }
        }
        let mut text = String::new();
        for (providers, prompt) in prompts {
            text.push_str(&format!("── {}\n", providers.join(", ")));
            for (role, body) in prompt {
                text.push_str(&format!("[{role}]\n{}\n", clean(body.trim_end())));
            }
        }
        text
    }

    fn events(&mut self, prefix: &str) {
        if self.is_rhai() {
            return say(":events works only in Harn\n");
        }
        let code = format!(
            "event_log.read({{kind_prefix: {:?}}}).map({{ r -> \"${{r.topic}}\\t${{r.kind}}\\t${{json_stringify(r.payload)}}\" }})\
             .join(\"\\n\")\n",
            prefix.replace('$', "")
        );
        let lines = match self.engine.evaluate(&Source::new(":events", code)) {
            stdlib::Evaluated::Ran { result: Ok(value), .. } => lang::value::display(&value),
            _ => return say("the event log cannot be read\n"),
        };
        if lines.is_empty() {
            return say("no records\n");
        }
        let mut rows: Vec<Vec<String>> =
            lines.lines().map(|line| line.splitn(3, '\t').map(visible).collect()).collect();
        let width =
            |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
        let before = width(0).unwrap_or(0) + width(1).unwrap_or(0) + 4;
        let payload = terminal_width().saturating_sub(before).max(SHORTEST_PAYLOAD);
        for cell in rows.iter_mut().filter_map(|row| row.get_mut(2)) {
            *cell = shortened(cell, payload);
        }
        say(&columns(&rows));
    }

    fn save(&self, file: &str) {
        let text: String = self.accepted.iter().map(|piece| format!("{}\n", piece.trim_end())).collect();
        let pieces = self.accepted.len();
        match crate::whole_file::write_whole(Path::new(file), &text) {
            Ok(()) => say(&format!("wrote {pieces} statements to {}\n", visible(file))),
            Err(error) => say(&format!("cannot write {}: {error}\n", visible(file))),
        }
    }

    /// Runs the text of an editor.
    fn edit(&mut self) -> Option<i32> {
        let editor =
            ["VISUAL", "EDITOR"].iter().find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
        let Some(editor) = editor else {
            say("set VISUAL or EDITOR to the command of an editor\n");
            return None;
        };
        let file = std::env::temp_dir().join(format!("harn-repl-{}{}", std::process::id(), self.ending()));
        let last = self.accepted.last().cloned().unwrap_or_default();
        let edited = write_new(&file, &last).and_then(|()| {
            let mut words = editor.split_whitespace();
            let status = Command::new(words.next().unwrap_or("")).args(words).arg(&file).status()?;
            let failed = || std::io::Error::other("the editor reported an error");
            if status.success() { std::fs::read_to_string(&file) } else { Err(failed()) }
        });
        let _ = std::fs::remove_file(&file);
        match edited {
            Ok(text) if text.trim().is_empty() => None,
            Ok(text) => self.run_text(&text),
            Err(error) => {
                say(&format!("cannot edit: {error}\n"));
                None
            }
        }
    }

    fn set(&mut self, rest: &str) {
        match rest.split_whitespace().collect::<Vec<_>>().as_slice() {
            [] => {
                let color = if self.color { "on" } else { "off" };
                say(&format!("depth {}\ncolor {color}\n", self.depth));
            }
            ["depth", depth] if depth.parse().is_ok_and(|depth: usize| depth > 0) => {
                self.depth = depth.parse().unwrap_or(self.depth);
                self.engine.show_depth(self.depth);
            }
            ["color", "on"] => self.color = true,
            ["color", "off"] => self.color = false,
            _ => usage(":set"),
        }
    }
}

/// Writes a file that must not exist: nothing is written through a link that is there already.
fn write_new(file: &Path, text: &str) -> std::io::Result<()> {
    use std::io::Write as _;
    std::fs::OpenOptions::new().write(true).create_new(true).open(file)?.write_all(text.as_bytes())
}

fn clean(text: &str) -> String {
    text.lines().map(visible).collect::<Vec<_>>().join("\n")
}

/// Returns the signature and the text of a builtin.
pub(super) fn doc(name: &str) -> String {
    about(name).unwrap_or_else(|message| message + "\n")
}

fn terminal_width() -> usize {
    terminal_size::terminal_size_of(std::io::stdout()).map_or(100, |(width, _)| usize::from(width.0))
}

fn usage(command: &str) {
    if let Some((name, argument, what)) = COMMANDS.iter().find(|(name, ..)| *name == command) {
        say(&format!("{name} {argument}: {what}\n"));
    }
}
