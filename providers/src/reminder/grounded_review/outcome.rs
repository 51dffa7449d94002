//! The arguments and the result of a tool, from typed payloads and from those that scripts write.

use std::sync::Arc;

use base::data::Data;
use runtime::events::EventKind;
use runtime::hooks::HookEvent;
use runtime::hooks::event::ToolResult;
use runtime::message::ToolCall;

use super::command::{self, Command};
use super::finding::{Finding, Findings};
use super::scan;
use super::{GroundedReview, GroundedReviewConfig};
use crate::reminder::text;

/// The arguments and the result of a tool.
#[derive(Debug, Default)]
pub(super) struct ToolOutcome {
    name: Arc<str>,
    /// The shell line, where the arguments hold one.
    line: Option<String>,
    /// The file or the like that the arguments name.
    target: Option<Arc<str>>,
    text: Arc<str>,
    /// The tool's return value beside its text.
    value: Data,
    ok: Option<bool>,
    error: Option<Arc<str>>,
    /// Whether the command is unknown, so that the output may be used to guess it.
    may_guess: bool,
}

impl ToolOutcome {
    /// Looks at the outcomes that a payload carries.
    pub(super) fn each(event: &HookEvent<'_>, mut look: impl FnMut(ToolOutcome)) {
        if let HookEvent::PostToolUse { call, result, .. } = event {
            return look(ToolOutcome::of_call(call, result));
        }
        for row in event.get("tool_results").as_list().unwrap_or_default() {
            look(ToolOutcome::of_row(row));
        }
        if !event.get("tool").is_nil() || !event.get("tool_name").is_nil() || event.kind() == EventKind::PostToolUse {
            look(ToolOutcome::of_payload(event));
        }
    }

    /// Returns the outcome of a call by the loop.
    fn of_call(call: &ToolCall, result: &ToolResult) -> ToolOutcome {
        let value = result.value.clone();
        let says_no = value.get("ok").as_bool() == Some(false);
        ToolOutcome {
            name: call.name.clone(),
            line: command::line_of(&call.arguments),
            target: target(&call.arguments),
            text: result.text.clone(),
            ok: Some(result.ok && !says_no),
            error: if says_no { said(value.get("error")) } else { None },
            value,
            may_guess: false,
        }
    }

    /// A row of `tool_results`: the fields of a result with the tool's name.
    fn of_row(row: &Data) -> ToolOutcome {
        let names = [row.get("name"), row.get("tool_name"), row.at("tool.name")];
        let name = names.into_iter().find_map(Data::as_shared_str);
        let line = [row, row.get("args"), row.at("tool.args")].into_iter().find_map(command::line_of);
        let target = [row.get("args"), row.at("tool.args")].into_iter().find_map(target);
        ToolOutcome { name: name.unwrap_or_default(), line, target, ..ToolOutcome::of_result(row) }
    }

    fn of_payload(event: &HookEvent<'_>) -> ToolOutcome {
        let tool = event.get("tool");
        let name = tool.as_shared_str().or_else(|| tool.get("name").as_shared_str());
        let name = name.or_else(|| event.get("tool_name").as_shared_str()).unwrap_or_default();
        let args = [tool.get("args").clone(), tool.get("arguments").clone(), event.get("args"), event.get("arguments")];
        let result = event.get("result");
        let own = Data::dict([("command", event.get("command"))]);
        let line = args.iter().chain([&own, &result]).find_map(command::line_of);
        let error = said(&event.get("error"));
        let outcome = ToolOutcome::of_result(&result);
        let may_guess = line.is_none() && args.iter().all(Data::is_nil) && is_shell(&name);
        let target = args.iter().find_map(target);
        ToolOutcome { name, line, target, error: outcome.error.clone().or(error), may_guess, ..outcome }
    }

    /// A result as a script writes it: text, or `{text, ok, error, …}`.
    fn of_result(result: &Data) -> ToolOutcome {
        let is_error = result.get("is_error").as_bool() == Some(true) || result.get("status").as_str() == Some("error");
        ToolOutcome {
            text: result.as_shared_str().unwrap_or_else(|| {
                let fields = ["text", "output", "content"].iter().map(|key| result.get(key));
                fields.filter_map(Data::as_shared_str).next().unwrap_or_default()
            }),
            value: if result.get("value").is_nil() { result.clone() } else { result.get("value").clone() },
            ok: if is_error { Some(false) } else { result.get("ok").as_bool() },
            error: said(result.get("error")),
            ..ToolOutcome::default()
        }
    }

    /// The dedupe key: one for each tool and target.
    pub(super) fn key(&self) -> String {
        let target = self.target.as_deref().or(self.line.as_deref());
        let mut key = GroundedReview::ID.to_owned();
        for part in [Some(self.name.as_ref()).filter(|name| !name.is_empty()), target].into_iter().flatten() {
            key.push(':');
            key.push_str(&text::line(part, 120));
        }
        key
    }

    /// Adds what the outcome proves.
    pub(super) fn findings(&self, config: &GroundedReviewConfig, findings: &mut Findings) {
        let commands = if config.text_scan { self.commands() } else { Vec::new() };
        // So it is with most calls.
        if commands.is_empty() && !self.may_guess && !self.is_error() {
            return;
        }
        // The content of a file is not evidence, and a missing file is not a failure of the work.
        if is_display(&self.name) || is_refusal(&self.text) {
            return;
        }
        let found = if config.text_scan { self.scan(commands, config) } else { Vec::new() };
        // The lines of a verification command say more than that it failed.
        match found.is_empty() {
            true => findings.extend(self.tool_error()),
            false => findings.extend(found),
        }
    }

    fn is_error(&self) -> bool {
        self.ok == Some(false) || self.error.is_some()
    }

    fn tool_error(&self) -> Option<Finding> {
        if !self.is_error() {
            return None;
        }
        let name = if self.name.is_empty() { "a tool" } else { self.name.as_ref() };
        let said = self.error.as_deref().unwrap_or(&self.text).trim();
        let said = said.strip_prefix("error: ").unwrap_or(said);
        let message = if said.is_empty() { format!("`{name}` failed") } else { format!("`{name}` failed: {said}") };
        Some(Finding::new(Finding::TOOL_ERROR, &message))
    }

    /// The verification commands that were run, as far as what was asked says so.
    fn commands(&self) -> Vec<Command> {
        match &self.line {
            Some(line) => command::known(line),
            None => command::of_tool(&self.name).into_iter().collect(),
        }
    }

    fn scan(&self, mut commands: Vec<Command>, config: &GroundedReviewConfig) -> Vec<Finding> {
        let (text, exit) = self.output();
        if commands.is_empty() && self.may_guess {
            commands.extend(command::typed_in(&text).or_else(|| scan::guess(&text)));
        }
        let alone = self.line.as_deref().is_none_or(command::is_single);
        // A pipe hides how its first command ended; alone it cannot lie.
        if alone && exit == Some(0) && !config.include_warnings {
            return Vec::new();
        }
        let mut found = scan::scan(&text, &commands, config.include_warnings);
        if let ([command], Some(code), true) = (commands.as_slice(), exit, alone && found.is_empty()) {
            found.extend(failed(command, code));
        }
        found
    }

    /// Returns the output and the exit code; tools that run programs often return both as a dict,
    /// or as its JSON.
    fn output(&self) -> (String, Option<i64>) {
        /// Longer texts are not read as JSON.
        const MOST: usize = 4 << 20;
        let parsed = (self.text.starts_with('{') && self.text.len() <= MOST).then(|| Data::from_json(&self.text).ok());
        let parsed = parsed.flatten().unwrap_or_default();
        let number = |data: &Data| ["exit_code", "exit_status", "code"].iter().find_map(|key| data.get(key).as_int());
        let exit = number(&self.value).or_else(|| number(&parsed));
        for data in [&self.value, &parsed] {
            let streams = ["stdout", "stderr", "output"].iter().filter_map(|key| data.get(key).as_str());
            let streams: Vec<&str> = streams.filter(|text| !text.is_empty()).collect();
            if !streams.is_empty() {
                return (streams.join("\n"), exit);
            }
        }
        (self.text.to_string(), exit)
    }
}

/// A verification command that says by its exit code alone that something is wrong.
fn failed(command: &Command, code: i64) -> Option<Finding> {
    let fails = code != 0 && !command.family.is_fine(code);
    fails.then(|| {
        let message = format!("exit code {code}, without a line in a known format; read its output");
        Finding::new(Finding::COMMAND_FAILURE, &message).by(&command.text)
    })
}

/// Returns the text of an `error` field: a string, or a dict with a message.
fn said(error: &Data) -> Option<Arc<str>> {
    let text = match error {
        Data::Dict(_) => match error.get("message") {
            Data::Nil => error.to_text(),
            message => message.to_text(),
        },
        Data::Str(text) => text.clone(),
        Data::Bool(true) => "error".into(),
        _ => return None,
    };
    (!text.trim().is_empty()).then_some(text)
}

/// The words of a tool's name, the last part where a prefix names its server.
fn words(name: &str) -> Vec<String> {
    let last = name.rsplit("__").next().unwrap_or(name);
    let mut words = vec![String::new()];
    for c in last.chars() {
        if c.is_uppercase() && words.last().is_some_and(|word| word.ends_with(char::is_lowercase)) {
            words.push(String::new());
        }
        if !c.is_alphanumeric() {
            words.push(String::new());
        } else if let Some(word) = words.last_mut() {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The file or the like that arguments name.
fn target(args: &Data) -> Option<Arc<str>> {
    let keys = ["path", "file", "file_path", "filename", "url", "target"];
    let entries = args.as_dict()?;
    keys.iter().find_map(|key| entries.get(key)?.as_shared_str()).filter(|text| !text.trim().is_empty())
}

/// Whether a call was refused: by the loop, or by the guard of a standard tool. Nothing was run, so nothing failed.
fn is_refusal(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    let first = first.strip_prefix("error: ").unwrap_or(first);
    first.starts_with("not run: ")
        || first.starts_with('`')
            && (first.contains("` is refused: ") || first.contains("` is not allowed. Allowed commands: "))
}

/// Returns whether a tool shows the content of files.
fn is_display(name: &str) -> bool {
    const ALONE: &[&str] =
        &["read", "view", "cat", "head", "tail", "less", "more", "bat", "ls", "grep", "rg", "ripgrep", "glob", "tree"];
    const VERBS: &[&str] =
        &["show", "display", "print", "open", "list", "search", "find", "get", "fetch", "dump", "diff"];
    const THINGS: &[&str] = &[
        "file",
        "files",
        "dir",
        "dirs",
        "directory",
        "directories",
        "folder",
        "folders",
        "lines",
        "source",
        "code",
        "content",
        "contents",
        "text",
        "log",
        "logs",
        "diff",
        "symbol",
        "symbols",
    ];
    let words = words(name);
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    has(ALONE) || has(VERBS) && has(THINGS)
}

/// Returns whether a tool runs commands; one without a name may.
fn is_shell(name: &str) -> bool {
    const SHELLS: &[&str] = &[
        "bash",
        "sh",
        "zsh",
        "shell",
        "exec",
        "execute",
        "run",
        "command",
        "terminal",
        "process",
        "powershell",
        "console",
    ];
    let words = words(name);
    words.is_empty() || words.iter().any(|word| SHELLS.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_that_show_files_are_known_by_their_names() {
        for name in [
            "read_file",
            "Read",
            "view",
            "cat",
            "file_read",
            "mcp__fs__read_file",
            "readFile",
            "list_dir",
            "grep",
            "search_files",
            "show_diff",
        ] {
            assert!(is_display(name), "{name}");
        }
        for name in
            ["bash", "cargo_check", "get_diagnostics", "run_tests", "edit_file", "write_file", "thread_dump", ""]
        {
            assert!(!is_display(name), "{name}");
        }
        assert!(is_shell("run_command") && is_shell("Bash") && is_shell("") && !is_shell("lookup"));
    }
}
