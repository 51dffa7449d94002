//! Errors in arguments: what `clap` found, and tips that name the right command or option.

use crate::report::visible;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, Error};
use lang::diagnostic::nearest;
use std::ffi::OsString;
use std::path::Path;

/// Words that people use for a command, and its name.
const COMMANDS: &[(&str, &str)] = &[
    ("a2a", "serve a2a"),
    ("acp", "serve acp"),
    ("build", "check"),
    ("builtins", "doc"),
    ("bytecode", "dis"),
    ("channels", "channel"),
    ("compile", "check"),
    ("completion", "completions"),
    ("console", "repl"),
    ("create", "new"),
    ("disassemble", "dis"),
    ("docs", "doc"),
    ("error", "explain"),
    ("events", "trace"),
    ("exec", "run"),
    ("execute", "run"),
    ("format", "fmt"),
    ("hub", "serve hub"),
    ("init", "new"),
    ("interactive", "repl"),
    ("lint", "check"),
    ("log", "trace"),
    ("logs", "trace"),
    ("manual", "man"),
    ("prompt", "preview"),
    ("reminders", "trace"),
    ("server", "serve"),
    ("shell", "repl"),
    ("start", "run"),
    ("typecheck", "check"),
    ("validate", "check"),
    ("verify", "check"),
];

/// Words that people use for an option, and the option.
const OPTIONS: &[(&str, &str)] = &[
    ("--accept", "--update"),
    ("--addr", "--listen"),
    ("--address", "--listen"),
    ("--bail", "--fail-fast"),
    ("--bind", "--listen"),
    ("--code", "--eval"),
    ("--cov", "--coverage"),
    ("--db", "--event-log"),
    ("--deny-warning", "--deny-warnings"),
    ("--depth", "--max-depth"),
    ("--dry-run", "--check"),
    ("--error-on-warnings", "--deny-warnings"),
    ("--execute", "--eval"),
    ("--exitfirst", "--fail-fast"),
    ("--failfast", "--fail-fast"),
    ("--grep", "--filter"),
    ("--host", "--listen"),
    ("--html", "--coverage-html"),
    ("--input", "--task"),
    ("--json", "--format"),
    ("--junit", "--format"),
    ("--lcov", "--coverage"),
    ("--log", "--event-log"),
    ("--match", "--filter"),
    ("--mem", "--max-memory"),
    ("--memory", "--max-memory"),
    ("--name", "--filter"),
    ("--no-capture", "--show-output"),
    ("--nocapture", "--show-output"),
    ("--only", "--filter"),
    ("--out-dir", "--out"),
    ("--output", "--out"),
    ("--port", "--listen"),
    ("--prompt", "--task"),
    ("--quiet", "--live"),
    ("--reporter", "--format"),
    ("--run", "--filter"),
    ("--sarif", "--format"),
    ("--snapshot-update", "--update"),
    ("--test", "--filter"),
    ("--test-name-pattern", "--filter"),
    ("--time", "--timeout"),
    ("--trace", "--otel"),
    ("--update-snapshots", "--update"),
    ("--verbose", "--show-output"),
    ("--warnings-as-errors", "--deny-warnings"),
    ("--werror", "--deny-warnings"),
    ("-c", "--eval"),
    ("-f", "--filter"),
    ("-k", "--filter"),
    ("-n", "--filter"),
    ("-o", "--out"),
    ("-q", "--live"),
    ("-s", "--show-output"),
    ("-t", "--filter"),
    ("-u", "--update"),
    ("-w", "--watch"),
    ("-x", "--fail-fast"),
];

/// Advice on options that no command has.
const SETTINGS: &[(&str, &str)] = &[
    ("--allow", "a run has all capabilities; `--deny CAPABILITY` removes some"),
    ("--api-key", "set the key with the variable of the provider, for example ANTHROPIC_API_KEY"),
    ("--config", "settings are read from the `harn.toml` nearest to the script"),
    ("--debug", "set HARN_LOG=debug for log lines"),
    ("--model", "set the model with HARN_LLM_MODEL=NAME, or with the option `model` of the call"),
    ("--verbose", "set HARN_LOG=debug for log lines"),
    ("--write", "`harn fmt` writes the files unless `--check` or `--diff` is given"),
    ("-v", "set HARN_LOG=debug for log lines; `harn --version` prints the version"),
    ("-w", "`harn fmt` writes the files unless `--check` or `--diff` is given"),
];

/// Prints what is wrong with the arguments, or the help that was asked for, and exits. What an argument would make a
/// terminal do is shown as text.
pub(crate) fn refuse(mut error: Error, tree: Command, line: &[OsString]) -> ! {
    if error.use_stderr() {
        advise(&mut error, tree, line);
    }
    let hostile = |arg: &OsString| arg.to_string_lossy().chars().any(|c| stdlib::shown(c) != Some(c));
    if !error.use_stderr() || !line.iter().any(hostile) {
        error.exit();
    }
    for line in error.render().to_string().lines() {
        eprintln!("{}", visible(line));
    }
    std::process::exit(error.exit_code())
}

/// Adds tips to an error.
fn advise(error: &mut Error, mut tree: Command, line: &[OsString]) {
    tree.build();
    let words: Vec<&str> = line.iter().skip(1).map(|word| word.to_str().unwrap_or_default()).collect();
    let said = |kind| match error.get(kind) {
        Some(ContextValue::String(said)) => Some(said.clone()),
        _ => None,
    };
    let tips = match error.kind() {
        ErrorKind::InvalidSubcommand => said(ContextKind::InvalidSubcommand).map(|word| {
            let in_serve = words.first() == Some(&"serve") && word != "serve";
            if in_serve { for_served(&word) } else { for_command(&word, &tree) }
        }),
        ErrorKind::UnknownArgument => said(ContextKind::InvalidArg).map(|option| for_option(&option, &tree, &words)),
        ErrorKind::InvalidValue => said(ContextKind::InvalidValue).map(|value| for_value(&value, &words)),
        ErrorKind::MissingRequiredArgument => Some(for_missing(&words)),
        _ => None,
    };
    let tips = tips.unwrap_or_default();
    if tips.is_empty() {
        return;
    }
    // What is known is better than what only looks alike.
    if error.kind() == ErrorKind::InvalidSubcommand {
        error.remove(ContextKind::SuggestedSubcommand);
    }
    let mut all = match error.remove(ContextKind::Suggested) {
        Some(ContextValue::StyledStrs(before)) => before,
        _ => Vec::new(),
    };
    all.extend(tips.iter().map(|tip| StyledStr::from(visible(tip))));
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(all));
}

fn has_command(tree: &Command, name: &str) -> bool {
    let first = name.split(' ').next().unwrap_or(name);
    tree.get_subcommands().any(|command| command.get_name() == first)
}

/// Returns tips for a word that is not a command: it may mean one, or be a script.
fn for_command(word: &str, tree: &Command) -> Vec<String> {
    if word == "-" {
        return vec!["`harn run -` reads a script from standard input".to_owned()];
    }
    if let Some((_, name)) = COMMANDS.iter().find(|(written, name)| *written == word && has_command(tree, name)) {
        return vec![format!("use `harn {name}`")];
    }
    for file in [word.to_owned(), format!("{word}.harn"), format!("{word}.rhai")] {
        if Path::new(&file).is_file() {
            return vec![format!("to run the script, use `harn run {file}`")];
        }
    }
    if !word.contains(['.', '/']) {
        let names = tree.get_subcommands().map(Command::get_name);
        return nearest(word, names).map(|name| format!("did you mean `harn {name}`?")).into_iter().collect();
    }
    match near_script(Path::new(word)) {
        Some(near) => vec![format!("did you mean the script `{near}`? `harn run {near}` runs it")],
        None => vec!["`harn run FILE` runs a script; names of scripts end in `.harn` or `.rhai`".to_owned()],
    }
}

/// Returns the script in the folder of a path whose name is nearest to that of the path.
fn near_script(path: &Path) -> Option<String> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let entries = std::fs::read_dir(folder.unwrap_or(Path::new("."))).ok()?;
    let names: Vec<String> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|end| end == "harn" || end == "rhai"))
        .filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()))
        .collect();
    let near = nearest(path.file_name()?.to_str()?, names.iter().map(String::as_str))?;
    Some(path.with_file_name(near).display().to_string())
}

/// Returns the help of a script that does not exist: the nearest name in its folder.
pub(crate) fn for_missing_script(path: &Path) -> Option<String> {
    near_script(path).map(|near| format!("did you mean `{}`?", visible(&near)))
}

/// Returns tips for `harn serve WORD`.
fn for_served(word: &str) -> Vec<String> {
    let is_script = Path::new(word).extension().is_some_and(|end| end == "harn" || end == "rhai");
    match word {
        _ if is_script => {
            let acp = format!("`harn serve acp {word}` serves it to an editor");
            vec![format!("{acp}, `harn serve a2a {word}` to other agents")]
        }
        "http" | "web" | "agent" => vec!["use `harn serve a2a`".to_owned()],
        "stdio" | "editor" | "zed" => vec!["use `harn serve acp`".to_owned()],
        _ => Vec::new(),
    }
}

/// Returns the tip for `harn new TEMPLATE NAME` and `harn new NAME TEMPLATE`.
fn for_template(command: &Command, words: &[&str]) -> Option<String> {
    let template = command.get_arguments().find(|arg| arg.get_id() == "template")?.get_possible_values();
    let mut given = words.iter().skip(1).filter(|word| !word.starts_with('-'));
    let (first, second) = (given.next()?, given.next()?);
    let is_template = |word: &str| template.iter().any(|value| value.get_name() == word);
    let (name, template) = match (is_template(first), is_template(second)) {
        (true, _) => (second, first),
        (false, true) => (first, second),
        (false, false) => return None,
    };
    Some(format!("use `harn new {name} --template {template}`"))
}

/// Returns tips for an option that its command does not have, or for an argument that is too many.
fn for_option(option: &str, tree: &Command, words: &[&str]) -> Vec<String> {
    let option = option.split('=').next().unwrap_or(option);
    let command = command_of(tree, words);
    if !option.starts_with('-') && words.first() == Some(&"new") {
        return for_template(command, words).into_iter().collect();
    }
    let has = |command: &Command, option: &str| {
        command.get_arguments().any(|arg| {
            let long = arg.get_long().is_some_and(|long| option.strip_prefix("--") == Some(long));
            long || arg.get_short().is_some_and(|short| option == format!("-{short}"))
        })
    };
    let with_option: Vec<String> =
        leaves(tree).into_iter().filter(|(_, leaf)| has(leaf, option)).map(|(name, _)| name).collect();
    let at_root = words.first().is_some_and(|word| word.starts_with('-'));
    if at_root {
        return with_option
            .first()
            .map(|name| format!("options follow the command: `{name} {option} …`"))
            .into_iter()
            .collect();
    }
    let synonym = OPTIONS.iter().find(|(written, name)| *written == option && has(command, name));
    if let Some((_, name)) = synonym {
        return vec![match *name {
            "--format" if option == "--reporter" => "use `--format`".to_owned(),
            "--format" => format!("use `--format {}`", option.trim_start_matches('-')),
            "--live" => "use `--live never`".to_owned(),
            name => format!("use `{name}`"),
        }];
    }
    if let Some((_, advice)) = SETTINGS.iter().find(|(written, _)| *written == option) {
        return vec![(*advice).to_owned()];
    }
    match with_option.as_slice() {
        [] => Vec::new(),
        names => {
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            vec![format!("`{option}` is an option of {}", names.join(", "))]
        }
    }
}

/// Returns the command that the words name.
fn command_of<'a>(tree: &'a Command, words: &[&str]) -> &'a Command {
    let mut command = tree;
    for word in words {
        match command.find_subcommand(word) {
            Some(next) => command = next,
            None => break,
        }
    }
    command
}

/// Returns the commands without subcommands, each with its whole name.
fn leaves(tree: &Command) -> Vec<(String, &Command)> {
    fn visit<'a>(command: &'a Command, name: &str, found: &mut Vec<(String, &'a Command)>) {
        for next in command.get_subcommands().filter(|next| next.get_name() != "help") {
            let name = format!("{name} {}", next.get_name());
            if next.has_subcommands() {
                visit(next, &name, found);
            } else {
                found.push((name, next));
            }
        }
    }
    let mut found = Vec::new();
    visit(tree, "harn", &mut found);
    found
}

/// Returns tips for the invalid value of an option.
fn for_value(value: &str, words: &[&str]) -> Vec<String> {
    let is_pack = Path::new(value).extension().is_some_and(|end| end == "rhai");
    match words.first() {
        Some(&"preview") if is_pack => vec![format!("`--pack {value}` loads a file with reminder providers")],
        _ => Vec::new(),
    }
}

/// Returns tips for a command without its argument.
fn for_missing(words: &[&str]) -> Vec<String> {
    match words.first() {
        Some(&"eval") => vec!["`harn eval` compares variants of reminders; to run code, use `harn run -e`".to_owned()],
        _ => Vec::new(),
    }
}
