//! `harn preview FILE`: what models would see, before a token is spent. The script runs up to its requests, which are shown
//! instead of sent.
//!
//! - `sections`: the parts of a vendor's document.
//! - `text`: requests for people. `document`: requests as JSON.

mod document;
mod sections;
mod text;

use crate::console::Console;
use crate::limits::{Limits, one_of, pack};
use crate::report::{Format, show, visible, wants_color};
use crate::script::Script;
use crate::stdout;
use clap::ValueEnum;
use clap::builder::{PathBufValueParser, PossibleValuesParser, TypedValueParser as _};
use lang::vm::RunCode;
use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;
use stdlib::{
    Capability, Diagnostic, Engine, Output, PackSpec, Preview, PreviewedRequest, RunOptions, Severity, SourceRef,
};

/// The capabilities that a preview does not have unless they are allowed.
const DENIED: [Capability; 3] = [Capability::FsWrite, Capability::Process, Capability::Net];
/// The width of text that is not printed to a terminal.
const WIDTH: usize = 100;

/// The format of a preview.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PreviewFormat {
    /// Readable text
    Text,
    /// One JSON document, with the body of each request
    Json,
}

#[derive(clap::Args)]
pub(crate) struct PreviewArgs {
    /// Script to preview; `-` reads it from standard input
    #[arg(required_unless_present = "code")]
    file: Option<PathBuf>,
    /// Preview this text instead of a file
    #[arg(short = 'e', long = "eval", value_name = "CODE", allow_hyphen_values = true, conflicts_with = "file")]
    code: Option<String>,
    /// Read standard input or CODE as a Rhai script
    #[arg(long)]
    rhai: bool,
    /// Providers whose requests are shown, separated by commas [default: the one that `harn run` would use]
    #[arg(long = "provider", value_name = "NAME", value_delimiter = ',', value_parser = PossibleValuesParser::new(Preview::providers()))]
    providers: Vec<String>,
    /// Number of requests to show; all but the last are answered by the mock model
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1000))]
    turns: u16,
    /// Value of the pipeline's `task` parameter
    #[arg(long, value_name = "TEXT")]
    task: Option<String>,
    /// Rhai file with reminder providers, run in a sandbox; can be repeated
    #[arg(long = "pack", value_name = "FILE", value_parser = PathBufValueParser::new().try_map(pack))]
    packs: Vec<PathBuf>,
    /// Capabilities that the script may use although a preview denies them: fs.write, process, net
    #[arg(long, value_name = "CAPABILITY", value_delimiter = ',', value_parser = |written: &str| one_of(written, &DENIED))]
    allow: Vec<Capability>,
    /// Tools that run, separated by commas; all others only appear in the requests
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    run_tools: Vec<String>,
    /// Also show the rules of the route that change each request, and why
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    limits: Limits,
    /// Format of the preview
    #[arg(long, value_enum, default_value = "text")]
    format: PreviewFormat,
    /// Width of the text in columns; providers are shown side by side if each has at least 48 [default: that of the
    /// terminal, else 100]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(20..))]
    width: Option<u16>,
    /// Arguments of the script; write `--` before the first one that starts with `-`
    #[arg(last = true)]
    args: Vec<String>,
}

pub(crate) fn run(mut args: PreviewArgs, console: &Console) -> i32 {
    let script = match args.code.take() {
        Some(text) => Script::Code { text, rhai: args.rhai },
        None => Script::named(args.file.take().unwrap_or_default(), args.rhai),
    };
    let refuse = |found: &[_]| {
        show(&*console.output, found, Format::Text);
        1
    };
    let source = match script.read() {
        Ok(source) => source,
        Err(diagnostic) => return refuse(&[diagnostic]),
    };
    let limits = args.limits;
    let setup = match limits.read(script.path(), &*console.output, Format::Text) {
        // The event log stays in memory: a preview writes nothing.
        Ok((setup, _)) => setup,
        Err(found) => return refuse(&found),
    };
    let names: Vec<Option<&str>> = match args.providers.as_slice() {
        [] => vec![None],
        names => names.iter().map(|name| Some(name.as_str())).collect(),
    };
    let counts = args.format == PreviewFormat::Text;
    let wanted = WantedRequests { most: usize::from(args.turns), tools: args.run_tools, counts };
    let mut previews = Vec::new();
    let mut code = 0;
    for name in names {
        let mut options = setup.options();
        options.denied.extend(DENIED.into_iter().filter(|denied| !args.allow.contains(denied)));
        options.packs.extend(args.packs.iter().cloned().map(PackSpec::plain));
        options.task.clone_from(&args.task);
        options.args.clone_from(&args.args);
        options.from_stdin = matches!(script, Script::Stdin { .. });
        match requests(&source, name, &wanted, options, console) {
            Ok(requests) => previews.push(requests),
            Err(requests) => {
                code = 1;
                previews.push(requests);
            }
        }
    }
    if previews.iter().all(Vec::is_empty) {
        return code.max(1);
    }
    let text = match args.format {
        PreviewFormat::Json => document::document(&source, &previews, args.explain),
        PreviewFormat::Text => {
            let form = text::PreviewText { width: width(args.width), explains: args.explain };
            text::text(&previews, form, wants_color(&std::io::stdout()))
        }
    };
    stdout::exit_code(stdout::forgive(console.output.out(&text)), code)
}

/// The requests to show.
struct WantedRequests {
    /// Their number.
    most: usize,
    /// The tools that run.
    tools: Vec<String>,
    /// Whether fewer requests are noted; readers of JSON count them.
    counts: bool,
}

/// The output of a previewed script. Diagnostics are shown, other text only if the script fails.
#[derive(Default)]
struct QuietOutput {
    err: RefCell<String>,
    found: RefCell<Vec<Diagnostic>>,
}

impl Output for QuietOutput {
    fn out(&self, _: &str) -> std::io::Result<()> {
        Ok(())
    }

    fn err(&self, text: &str) {
        self.err.borrow_mut().push_str(text);
    }

    fn diagnostic(&self, diagnostic: &Diagnostic) {
        self.found.borrow_mut().push(diagnostic.clone());
    }
}

/// Returns the requests of a run. They are an error if the run failed, or made none.
fn requests(
    source: &SourceRef,
    provider: Option<&str>,
    wanted: &WantedRequests,
    options: RunOptions,
    console: &Console,
) -> Result<Vec<PreviewedRequest>, Vec<PreviewedRequest>> {
    let most = wanted.most;
    let preview = match Preview::new(provider, most) {
        Ok(preview) => Rc::new(preview.with_tools(wanted.tools.clone())),
        Err(error) => {
            console.output.err(&format!("error: {error}\n"));
            return Err(Vec::new());
        }
    };
    let printed = Rc::new(QuietOutput::default());
    let options = RunOptions { preview: Some(preview.clone()), output: printed.clone(), ..options };
    let ran = Engine::new(options).run(source);
    let requests = preview.requests();
    show_problems(&preview, &printed, console);
    if preview.is_over() {
        return Ok(requests);
    }
    let failed = ran.exit_code != 0;
    if failed {
        console.output.err(&printed.err.borrow());
        show(&*console.output, &allowing(ran.diagnostics), Format::Text);
    } else if wanted.counts && !requests.is_empty() {
        let count = if requests.len() == 1 { "1 request".to_owned() } else { format!("{} requests", requests.len()) };
        console.output.err(&format!("note: the script ended after {count}; {most} were asked for\n"));
    }
    if requests.is_empty() {
        console.output.err("error: no request to preview: the script ended before it sent one to a model\n");
        console
            .output
            .err("  help: loops with `llm_caller` send none; `--task` and `--allow` may let the script continue\n");
        return Err(requests);
    }
    if failed { Err(requests) } else { Ok(requests) }
}

/// Shows the errors of handlers and providers, each once, and names of tools that no loop has.
fn show_problems(preview: &Preview, printed: &QuietOutput, console: &Console) {
    let is_error = |found: &Diagnostic| found.severity == Severity::Error;
    let mut found: Vec<Diagnostic> = preview.diagnostics().into_iter().filter(is_error).collect();
    for later in printed.found.take().into_iter().filter(is_error) {
        if !found.iter().any(|known| known.code == later.code && known.message == later.message) {
            found.push(later);
        }
    }
    show(&*console.output, &allowing(found), Format::Text);
    for tool in preview.missing_tools() {
        console.output.err(&format!("warning: no loop of this preview offers the tool `{}`\n", visible(&tool)));
    }
}

/// Names the option of a preview that gives a script a capability.
fn allowing(mut found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    for diagnostic in found.iter_mut().filter(|found| found.code == RunCode::Denied) {
        diagnostic.help = vec![
            "a preview denies `fs.write`, `process` and `net`; `--allow process` lets the script start processes"
                .to_owned(),
        ];
    }
    found
}

fn width(asked: Option<u16>) -> usize {
    let terminal = || terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| usize::from(width.0));
    asked.map(usize::from).or_else(terminal).unwrap_or(WIDTH).max(20)
}
