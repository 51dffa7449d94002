//! `harn repl`: statements typed one after another share their names. Reads a terminal with line editing, history and
//! completion; reads a pipe just as well. With `--rhai` they are statements of Rhai.
//!
//! - [`lines`]: the editor of lines. [`highlight`]: their colors. [`history`]: the file of earlier ones.
//! - [`commands`]: lines that begin with a colon. [`tables`]: tables that they print.

mod commands;
mod highlight;
mod history;
mod lines;
mod tables;

use crate::interrupt;
use crate::limits::{Limits, RunSetup};
use crate::live::{LiveMode, LiveView};
use crate::report::{Format, show, wants_color};
use eventlog::EventLog;
use lines::{Line, LineSource};
use runtime::spans::ActivityOptions;
use std::io::Write;
use std::path::Path;
use std::rc::Rc;
use stdlib::output::Terminal;
use stdlib::{Engine, Interrupt, NameSource, Piece, RunOptions, Severity, Source};

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

/// Levels of nesting that a printed value shows on a terminal, unless `:set depth` says otherwise.
const DEPTH: usize = 6;

/// The exit code is that of `exit(n)`, else 0: errors are a normal part of trying things out.
pub(crate) fn run(args: ReplArgs) -> i32 {
    let language = if args.rhai { Language::Rhai } else { Language::Harn };
    // The project is that of the working directory.
    let (setup, log) = match args.limits.read(Path::new("repl.harn"), &Terminal, Format::Text) {
        Ok(read) => read,
        Err(found) => {
            show(&Terminal, &found, Format::Text);
            return 1;
        }
    };
    let options = match setup.options_with_log(&log, None) {
        Ok(options) => options,
        Err(found) => {
            show(&Terminal, &found, Format::Text);
            return 1;
        }
    };
    let live = LiveView::new(LiveMode::Auto, Format::Text);
    let recipe =
        EngineRecipe { setup, log: options.log, activity: options.activity, interrupt: interrupt::listen(), live };
    let engine = recipe.engine();
    let color = wants_color(&std::io::stdout());
    let mut lines = LineSource::open(language, &engine, color);
    let depth = if lines.interactive() { DEPTH } else { usize::MAX };
    engine.show_depth(depth);
    let mut session =
        Session { engine, recipe, language, typed: String::new(), pieces: 0, accepted: Vec::new(), color, depth };
    if lines.interactive() {
        say(&format!("harn {}. :help lists the commands, Ctrl-D exits.\n", env!("CARGO_PKG_VERSION")));
    }
    let [first, more] = language.prompts();
    loop {
        lines.update(|helper| {
            helper.engine = session.engine.clone();
            helper.color = session.color;
        });
        let line = lines.next(if session.typed.is_empty() { first } else { more });
        if let Some(code) = session.take(line) {
            return code;
        }
    }
}

/// Makes the engine of a session, and another one for `:reset`.
struct EngineRecipe {
    setup: RunSetup,
    /// The event log of all of them.
    log: Option<Rc<dyn EventLog>>,
    activity: Option<ActivityOptions>,
    /// The switch by which Ctrl-C reaches the running piece.
    interrupt: Interrupt,
    /// The view of running loops, on a terminal.
    live: Option<LiveView>,
}

impl EngineRecipe {
    fn engine(&self) -> Rc<Engine> {
        let options = RunOptions {
            log: self.log.clone(),
            activity: self.activity,
            interrupt: Some(self.interrupt.clone()),
            ..self.setup.options()
        };
        let options = match &self.live {
            Some(live) => RunOptions { live: Some(live.live()), output: live.output(), ..options },
            None => options,
        };
        Rc::new(Engine::new(options))
    }
}

struct Session {
    engine: Rc<Engine>,
    recipe: EngineRecipe,
    language: Language,
    /// The unfinished piece that has been typed so far.
    typed: String,
    /// The number of pieces: each has a name of its own in diagnostics.
    pieces: u32,
    /// The pieces that had no errors, for `:save` and `:edit`.
    accepted: Vec<String>,
    /// Whether values are printed in color.
    color: bool,
    /// Levels of nesting that a printed value shows.
    depth: usize,
}

impl Session {
    const fn is_rhai(&self) -> bool {
        matches!(self.language, Language::Rhai)
    }

    /// Returns the ending of the files of the language.
    const fn ending(&self) -> &'static str {
        if self.is_rhai() { ".rhai" } else { ".harn" }
    }

    /// Whether a line is `NAME?` with the name of a builtin, or with a name or word for which `:doc` finds one. For a name of the
    /// session, and any other, `?` unwraps a result.
    fn asks_for_doc(&self, line: &str) -> bool {
        let Some(name) = line.trim().strip_suffix('?') else { return false };
        let is_word = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
        stdlib::builtins().any(|row| !row.is_method() && row.full_name() == name)
            || is_word
                && !self.engine.bound(name).iter().any(|bound| bound.text == name)
                && crate::doc::about(name).is_ok()
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
                return self.command(text.trim());
            }
            Line::Text(text) if self.typed.is_empty() && matches!(text.trim(), "exit" | "quit") => {
                say("Ctrl-D or :quit exits\n");
            }
            Line::Text(text) if self.typed.is_empty() && self.asks_for_doc(&text) => {
                say(&commands::doc(text.trim().trim_end_matches('?')));
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

    /// Runs a whole text at once.
    fn run_text(&mut self, text: &str) -> Option<i32> {
        self.typed = format!("{text}\n");
        self.evaluate(true)
    }

    /// Starts again with another engine.
    fn reset(&mut self) {
        self.engine = self.recipe.engine();
        self.engine.show_depth(self.depth);
        self.accepted.clear();
    }

    /// Runs what has been typed, unless more is to come.
    fn evaluate(&mut self, last: bool) -> Option<i32> {
        let ending = if self.is_rhai() { ".rhai" } else { "" };
        let name = format!("repl[{}]{ending}", self.pieces + 1);
        let source = Source::new(name, self.typed.as_str());
        // An interrupt that arrived while nothing ran does not concern this piece.
        self.recipe.interrupt.reset();
        let Piece { value, diagnostics, incomplete, exit, interrupted } = self.engine.piece(&source);
        if incomplete && !last {
            return None;
        }
        if let Some(live) = &self.recipe.live {
            live.end_before(value.as_deref().unwrap_or_default());
        }
        self.pieces += 1;
        let typed = std::mem::take(&mut self.typed);
        if let Some(loops) = &interrupted {
            interrupt::report(loops, Format::Text, self.recipe.live.is_some());
        } else if !diagnostics.iter().any(|d| d.severity == Severity::Error) {
            self.accepted.push(typed);
        }
        show(&Terminal, &diagnostics, Format::Text);
        if let Some(value) = value {
            say(&format!("{}\n", if self.color { highlight::paint(&value) } else { value }));
        }
        exit
    }
}

fn say(text: &str) {
    let mut output = std::io::stdout().lock();
    // If standard output is closed, the next read of a line ends the session.
    let _ = output.write_all(text.as_bytes()).and_then(|()| output.flush());
}
