//! Detection of the verification command that a shell line runs. A line is parsed as by a shell, as
//! far as that is needed to find programs: quotes, separators, wrappers like `timeout 60` or `npx`.

use std::cell::RefCell;
use std::collections::BTreeMap;

use base::data::Data;

/// The kind of a verification command, which determines the format of its output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    Cargo,
    Harn,
    Pytest,
    Go,
    Tsc,
    Mypy,
    Pyright,
    Eslint,
}

impl Family {
    /// Returns whether a nonzero exit code is not a failure.
    pub(super) fn is_fine(self, code: i64) -> bool {
        // pytest: no tests were collected.
        self == Family::Pytest && code == 5
    }
}

/// A verification command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Command {
    pub(super) family: Family,
    /// The command as it was written, from its program on, without redirections.
    pub(super) text: String,
    /// Whether it runs tests.
    pub(super) tests: bool,
}

/// The maximum length of a line that is parsed, in bytes.
const LONGEST: usize = 16 << 10;

/// The line in a tool's arguments; nothing where they hold none.
pub(super) fn line_of(args: &Data) -> Option<String> {
    let entries = args.as_dict()?;
    let keys = ["command", "cmd", "commands", "command_line", "script", "argv", "program"];
    let given = keys.iter().filter_map(|key| entries.get(key)).find(|given| !given.is_nil())?;
    let mut line = match given {
        Data::Str(line) => line.to_string(),
        Data::List(words) => joined(words),
        _ => return None,
    };
    // `{command: "cargo", args: ["check"]}`
    if let Some(words) = args.get("args").as_list() {
        line.push(' ');
        line.push_str(&joined(words));
    }
    line.truncate(line.floor_char_boundary(LONGEST));
    Some(line)
}

fn joined(words: &[Data]) -> String {
    let quoted = |word: &Data| {
        let word = word.to_text();
        let plain = !word.is_empty() && !word.contains(|c: char| c.is_whitespace() || "|&;'\"".contains(c));
        if plain { word.to_string() } else { format!("'{}'", word.replace('\'', "\"")) }
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// The verification commands of a line, in their order.
pub(super) fn known(line: &str) -> Vec<Command> {
    nested(line, 0)
}

fn nested(line: &str, depth: usize) -> Vec<Command> {
    let mut found = Vec::new();
    for words in segments(line) {
        let words = unwrapped(&words);
        let Some(program) = words.first().map(|word| base(word)) else { continue };
        let script = match program {
            "bash" | "sh" | "zsh" | "dash" => {
                words.iter().position(|word| word.starts_with('-') && word.ends_with('c'))
            }
            _ => None,
        };
        match script.and_then(|at| words.get(at + 1)) {
            Some(script) if depth < 3 => found.extend(nested(script, depth + 1)),
            _ => found.extend(of_words(program, words)),
        }
    }
    found
}

/// Whether a line runs one program and nothing else.
pub(super) fn is_single(line: &str) -> bool {
    let segments = segments(line);
    segments.len() == 1 && !matches!(segments[0].first().map(|word| base(word)), Some("bash" | "sh" | "zsh" | "dash"))
}

/// The command that a tool's own name says: `cargo_check`, `run_pytest`. A loop calls the same few tools again and again, so
/// what their names say is remembered.
pub(super) fn of_tool(name: &str) -> Option<Command> {
    /// Models write names that no tool has: so many, and so long ones, are remembered.
    const MOST: usize = 256;
    const LONGEST_NAME: usize = 128;
    thread_local! {
        static SAID: RefCell<BTreeMap<String, Option<Command>>> = const { RefCell::new(BTreeMap::new()) };
    }
    if name.len() > LONGEST_NAME {
        return said_by(name);
    }
    SAID.with_borrow_mut(|said| {
        if let Some(known) = said.get(name) {
            return known.clone();
        }
        if said.len() >= MOST {
            said.clear();
        }
        let command = said_by(name);
        said.insert(name.to_owned(), command.clone());
        command
    })
}

fn said_by(name: &str) -> Option<Command> {
    let last = name.rsplit("__").next().unwrap_or(name);
    let name = last.replace(['_', '-', '.', ':'], " ").to_lowercase();
    let name = ["run ", "exec ", "execute "].iter().find_map(|verb| name.strip_prefix(verb)).unwrap_or(&name);
    known(name).into_iter().next()
}

/// The command in the first line of a text, as terminals show it.
pub(super) fn typed_in(text: &str) -> Option<Command> {
    let first = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let line = ["$ ", "> ", "+ ", "% "].iter().find_map(|prompt| first.strip_prefix(prompt)).unwrap_or(first);
    known(&line[..line.floor_char_boundary(512)]).into_iter().next()
}

fn of_words(program: &str, words: &[String]) -> Option<Command> {
    let sub = subcommand(&words[1..]);
    let is_one_of = |list: &[&str]| sub.is_some_and(|sub| list.contains(&sub));
    let (family, tests) = match program {
        "cargo" if is_one_of(&["test", "t", "nextest"]) => (Family::Cargo, true),
        "cargo" if is_one_of(&["check", "c", "clippy", "build", "b", "doc", "bench", "rustc"]) => {
            (Family::Cargo, false)
        }
        "harn" if is_one_of(&["check", "lint"]) => (Family::Harn, false),
        "harn" if is_one_of(&["test"]) => (Family::Harn, true),
        "pytest" | "py.test" => (Family::Pytest, true),
        "go" if is_one_of(&["test"]) => (Family::Go, true),
        "go" if is_one_of(&["vet", "build"]) => (Family::Go, false),
        "tsc" | "vue-tsc" | "tsgo" => (Family::Tsc, false),
        "mypy" | "dmypy" => (Family::Mypy, false),
        "pyright" | "basedpyright" => (Family::Pyright, false),
        "eslint" => (Family::Eslint, false),
        _ => return None,
    };
    let redirects =
        |word: &str| word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '&').starts_with(['>', '<']);
    let mut text = program.to_owned();
    for word in words[1..].iter().take_while(|word| !redirects(word)) {
        text.push(' ');
        text.push_str(word);
    }
    Some(Command { family, text, tests })
}

/// The first word that is neither an option nor the value of one.
fn subcommand(words: &[String]) -> Option<&str> {
    const WITH_VALUE: &[&str] = &["--manifest-path", "--config", "--color", "-Z", "-C", "--target-dir", "--format"];
    let mut words = words.iter().map(String::as_str);
    while let Some(word) = words.next() {
        if WITH_VALUE.contains(&word) {
            words.next();
        } else if !word.starts_with(['-', '+']) {
            return Some(word);
        }
    }
    None
}

/// Returns the words without those that only start the program: variables, `sudo`, `timeout 60`,
/// `npx --no`, `python -m`.
fn unwrapped(words: &[String]) -> &[String] {
    const WRAPPERS: &[&str] = &[
        "sudo", "time", "env", "nice", "nohup", "command", "exec", "stdbuf", "timeout", "npx", "bunx", "pnpx", "npm",
        "pnpm", "yarn", "bun", "uv", "uvx", "poetry", "pipenv", "rye", "hatch", "pdm", "xvfb-run", "rtk", "!", "if",
        "then", "do",
    ];
    const RUNNERS: &[&str] = &["exec", "dlx", "run", "x"];
    let is_variable = |word: &str| {
        word.split_once('=')
            .is_some_and(|(name, _)| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_'))
    };
    let is_time = |word: &str| word.starts_with(|c: char| c.is_ascii_digit()) && word.len() < 8;
    let mut rest = words;
    let mut wrapped = false;
    while let Some(word) = rest.first() {
        let name = base(word);
        if name.starts_with("python") && rest.get(1).is_some_and(|option| option == "-m") {
            rest = &rest[2..];
            wrapped = false;
        } else if WRAPPERS.contains(&name) || is_variable(word) || (wrapped && RUNNERS.contains(&name)) {
            rest = &rest[1..];
            wrapped = true;
        } else if wrapped && (word.starts_with('-') || is_time(word)) {
            rest = &rest[1..];
        } else {
            break;
        }
    }
    rest
}

/// A program's name without its folder.
fn base(word: &str) -> &str {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    [".exe", ".cmd"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name)
}

/// The words of each command of a line, quotes taken away.
fn segments(line: &str) -> Vec<Vec<String>> {
    let mut all = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut last = ' ';
    let mut chars = line[..line.floor_char_boundary(LONGEST)].chars().peekable();
    while let Some(c) = chars.next() {
        match quote {
            Some(q) if c == q => quote = None,
            Some(_) => word.get_or_insert_default().push(c),
            None => match c {
                '\'' | '"' => {
                    quote = Some(c);
                    word.get_or_insert_default();
                }
                '\\' => {
                    // A line that goes on, or a character that means nothing special.
                    if let Some(next) = chars.next().filter(|next| *next != '\n') {
                        word.get_or_insert_default().push(next);
                    }
                }
                // `2>&1`, `&>log`
                '&' if last == '>' || chars.peek() == Some(&'>') => word.get_or_insert_default().push(c),
                ';' | '|' | '&' | '\n' | '(' | ')' => {
                    all.last_mut().into_iter().for_each(|words| words.extend(word.take()));
                    all.push(Vec::new());
                }
                c if c.is_whitespace() => all.last_mut().into_iter().for_each(|words| words.extend(word.take())),
                c => word.get_or_insert_default().push(c),
            },
        }
        last = c;
    }
    all.last_mut().into_iter().for_each(|words| words.extend(word.take()));
    all.retain(|words| !words.is_empty());
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(line: &str) -> Vec<String> {
        known(line).into_iter().map(|command| command.text).collect()
    }

    #[test]
    fn verification_commands_are_found_in_shell_lines() {
        for (line, expected) in [
            ("cargo check", &["cargo check"][..]),
            (
                "cd /repo && RUST_BACKTRACE=1 cargo +nightly test -p lang 2>&1 | tail -50",
                &["cargo +nightly test -p lang"],
            ),
            (
                "cargo --manifest-path a/Cargo.toml clippy -- -D warnings",
                &["cargo --manifest-path a/Cargo.toml clippy -- -D warnings"],
            ),
            ("timeout 600 cargo t; npx --no-install tsc --noEmit", &["cargo t", "tsc --noEmit"]),
            ("python3 -m pytest -q tests", &["pytest -q tests"]),
            ("uv run pytest", &["pytest"]),
            ("bash -lc \"go vet ./... && go test ./...\"", &["go vet ./...", "go test ./..."]),
            ("/usr/bin/harn lint src", &["harn lint src"]),
            ("pnpm exec eslint .", &["eslint ."]),
            ("if cargo check; then echo fine; fi", &["cargo check"]),
            ("cargo test \\\n  --workspace > log.txt 2>&1", &["cargo test --workspace"]),
        ] {
            assert_eq!(texts(line), expected, "{line}");
        }
    }

    #[test]
    fn what_only_speaks_of_them_is_none() {
        for line in [
            "cat build.log",
            "grep -r 'cargo check' .",
            "echo cargo test",
            "git commit -m 'cargo test passes; pytest too'",
            "cargo fmt",
            "cargo run -- check",
            "cargo install pytest",
            "go run .",
            "rg pytest",
            "harn run a.harn",
            "sed -n 1,9p tsc.rs",
            "",
        ] {
            assert!(texts(line).is_empty(), "{line}: {:?}", texts(line));
        }
    }

    #[test]
    fn a_line_comes_from_arguments_of_many_shapes() {
        let line = |json: &str| line_of(&Data::from_json(json).unwrap());
        assert_eq!(line(r#"{"command":"cargo check"}"#).as_deref(), Some("cargo check"));
        assert_eq!(line(r#"{"command":"cargo","args":["check","-q"]}"#).as_deref(), Some("cargo check -q"));
        assert_eq!(line(r#"{"cmd":["bash","-lc","go test ./..."]}"#).as_deref(), Some("bash -lc 'go test ./...'"));
        assert_eq!(line(r#"{"path":"a"}"#), None);
        assert_eq!(line("null"), None);
        assert!(line(&format!(r#"{{"cmd":"{}"}}"#, "ä".repeat(100_000))).unwrap().len() <= LONGEST);
    }

    #[test]
    fn tools_and_terminals_name_their_command() {
        for (name, expected) in [
            ("cargo_check", Some("cargo check")),
            ("run_pytest", Some("pytest")),
            ("mcp__rust__cargo-test", Some("cargo test")),
            ("bash", None),
            ("checker", None),
        ] {
            assert_eq!(of_tool(name).map(|command| command.text).as_deref(), expected, "{name}");
        }
        assert_eq!(typed_in("\n$ go test ./...\nFAIL").unwrap().text, "go test ./...");
        assert!(typed_in("see cargo check").is_none() && typed_in("").is_none());
        assert!(is_single("cargo check") && !is_single("cargo check | tail") && !is_single("sh -c 'cargo check'"));
    }
}
