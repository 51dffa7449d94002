//! `harn repl`: statements typed one after another share their names. Reads a terminal with line editing, history and
//! completion; reads a pipe just as well. With `--rhai` they are statements of Rhai.
//!
//! - [`lines`]: where the text comes from.
//! - [`history`]: where what was typed is kept.

mod history;
mod lines;

use crate::limits::Limits;
use crate::report::{Format, show, wants_color};
use crate::{explain, interrupt};
use lines::{Line, LineSource};
use std::io::Write;
use std::path::Path;
use stdlib::output::Terminal;
use stdlib::{Engine, Interrupt, Piece, RunOptions, Source};

#[derive(clap::Args)]
pub(crate) struct ReplArgs {
    /// Use Rhai instead of Harn
    #[arg(long)]
    rhai: bool,
    #[command(flatten)]
    limits: Limits,
}

/// The language that is typed.
#[derive(Clone, Copy)]
enum Language {
    Harn,
    Rhai,
}

impl Language {
    /// Returns the extension of a piece's name, by which the engine knows the language.
    const fn ending(self) -> &'static str {
        match self {
            Self::Harn => "",
            Self::Rhai => ".rhai",
        }
    }

    const fn prompts(self) -> [&'static str; 2] {
        match self {
            Self::Harn => ["harn> ", "  ... "],
            Self::Rhai => ["rhai> ", "  ... "],
        }
    }

    /// Each language remembers what was typed in it.
    const fn history(self) -> &'static str {
        match self {
            Self::Harn => "history",
            Self::Rhai => "history-rhai",
        }
    }
}

const HELP: &str = "\
Statements run when you enter them, and the value of the last one is printed. Names stay bound.
An incomplete statement continues on the next line.

  :explain CODE   explain a diagnostic code; without a code, list all
  :help           show this text
  :quit           exit, like Ctrl-D
  Ctrl-C          stop the running statement, or discard the input
";

/// The exit code is that of `exit(n)`, else 0: errors are a normal part of trying things out.
pub(crate) fn run(args: ReplArgs) -> i32 {
    let language = if args.rhai { Language::Rhai } else { Language::Harn };
    // The project is that of the working directory.
    let options = match args.limits.options(Path::new("repl.harn"), &Terminal, Format::Text, None) {
        Ok(options) => options,
        Err(found) => {
            show(&Terminal, &found, Format::Text);
            return 1;
        }
    };
    let interrupt = interrupt::listen();
    let engine = Engine::new(RunOptions { interrupt: Some(interrupt.clone()), ..options });
    let mut lines = LineSource::open(language.history());
    if lines.interactive() {
        say(&format!("harn {}. :help lists the commands, Ctrl-D exits.\n", env!("CARGO_PKG_VERSION")));
    }
    let mut session = Session { engine, language, interrupt, typed: String::new(), pieces: 0 };
    let [first, more] = language.prompts();
    loop {
        lines.offer(session.names());
        let line = lines.next(if session.typed.is_empty() { first } else { more });
        if let Some(code) = session.take(line) {
            return code;
        }
    }
}

struct Session {
    engine: Engine,
    language: Language,
    /// The switch by which Ctrl-C reaches the running piece.
    interrupt: Interrupt,
    /// The unfinished piece that has been typed so far.
    typed: String,
    /// The number of pieces: each has a name of its own in diagnostics.
    pieces: u32,
}

impl Session {
    fn names(&self) -> Vec<String> {
        match self.language {
            Language::Harn => self.engine.names(),
            Language::Rhai => self.engine.names_in_rhai(),
        }
    }

    /// Evaluates a line; returns the exit code when the session ends.
    fn take(&mut self, line: Line) -> Option<i32> {
        match line {
            Line::Interrupted => self.typed.clear(),
            Line::End => {
                // What is unfinished never will be finished: say so.
                let code = if self.typed.trim().is_empty() { None } else { self.evaluate(true) };
                return Some(code.unwrap_or(0));
            }
            Line::Text(text) if self.typed.is_empty() && text.trim_start().starts_with(':') => {
                return command(text.trim());
            }
            Line::Text(text) => {
                self.typed.push_str(&text);
                self.typed.push('\n');
                if self.typed.trim().is_empty() {
                    self.typed.clear();
                    return None;
                }
                return self.evaluate(false);
            }
        }
        None
    }

    /// Runs what has been typed, unless more is to come.
    fn evaluate(&mut self, last: bool) -> Option<i32> {
        let name = format!("repl[{}]{}", self.pieces + 1, self.language.ending());
        let source = Source::new(name, self.typed.as_str());
        // An interrupt that arrived while nothing ran does not concern this piece.
        self.interrupt.reset();
        let Piece { value, diagnostics, incomplete, exit, interrupted } = self.engine.piece(&source);
        if incomplete && !last {
            return None;
        }
        self.pieces += 1;
        self.typed.clear();
        if let Some(loops) = interrupted {
            interrupt::report(&loops, Format::Text, false);
        }
        show(&Terminal, &diagnostics, Format::Text);
        if let Some(value) = value {
            say(&format!("{value}\n"));
        }
        exit
    }
}

/// Runs a line that begins with a colon. Returns the exit code for `:quit`.
fn command(line: &str) -> Option<i32> {
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    match name {
        ":quit" | ":q" => return Some(0),
        ":help" | ":h" => say(HELP),
        ":explain" if rest.trim().is_empty() => say(&explain::list()),
        ":explain" => match explain::find(rest) {
            Ok(row) => say(&explain::page(row, wants_color(&std::io::stdout()))),
            Err(near) => say(&format!("unknown code `{}`; the nearest is {near}\n", rest.trim())),
        },
        _ => match lang::diagnostic::nearest(name, [":explain", ":help", ":quit"]) {
            Some(near) => say(&format!("unknown command `{name}`; did you mean `{near}`?\n")),
            None => say(&format!("unknown command `{name}`; :help lists the commands\n")),
        },
    }
    None
}

fn say(text: &str) {
    let mut output = std::io::stdout().lock();
    // If standard output is closed, the next read of a line ends the session.
    let _ = output.write_all(text.as_bytes()).and_then(|()| output.flush());
}
