//! `harn doc [PATH…]`: the documentation of scripts, or of the builtins, as Markdown or as an HTML page.
//!
//! - `lookup`: one builtin or type; `search`: builtins by words. `builtins`, `project`: sections from the table that scripts are checked by, and from doc comments.
//! - `markdown`, `html`: sections as pages.

mod builtins;
mod html;
mod lookup;
mod markdown;
mod project;
mod search;

use crate::report::{Format, show, visible};
use crate::stdout;
use clap::ValueEnum;
use lookup::lookup;
use search::{elsewhere, search};
use std::path::{Path, PathBuf};
use stdlib::output::Terminal;
use stdlib::rhai_definitions;

/// The format of documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum DocFormat {
    /// Markdown
    Markdown,
    /// A self-contained HTML page with a search field
    Html,
}

#[derive(clap::Args)]
pub(crate) struct DocArgs {
    /// Scripts whose doc comments are documented; a folder means all scripts in it. Names of builtins and of types of options show these alone, other words are searched for [default: all
    /// builtins are documented]
    #[arg(value_name = "PATH", conflicts_with = "rhai")]
    paths: Vec<PathBuf>,
    /// Document the builtins too
    #[arg(long)]
    builtins: bool,
    /// Format of the documentation
    #[arg(long, value_enum, default_value = "markdown", conflicts_with = "rhai")]
    format: DocFormat,
    /// Write Rhai definition files for editors
    #[arg(long)]
    rhai: bool,
    /// Folder to write to [default: `.rhai/definitions` with --rhai, else standard output]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// A part of the documentation.
struct DocSection {
    title: String,
    /// Text below the title.
    intro: String,
    entries: Vec<DocEntry>,
}

/// A documented name.
struct DocEntry {
    name: String,
    signature: String,
    doc: String,
}

pub(crate) fn run(args: &DocArgs) -> i32 {
    if args.rhai {
        return write_all(args.out.as_deref().unwrap_or(Path::new(".rhai/definitions")), &rhai_definitions());
    }
    if !args.paths.is_empty() && args.paths.iter().all(|path| is_name(path)) {
        return show_builtins(&args.paths);
    }
    let mut sections = match project::sections(&args.paths) {
        Ok(sections) => sections,
        Err(found) => {
            show(&Terminal, &found, Format::Text);
            return 1;
        }
    };
    let is_project = !args.paths.is_empty();
    if is_project && sections.is_empty() {
        eprintln!(
            "error: nothing to document: the scripts declare no functions, tools, pipelines, types or `pub` variables"
        );
        eprintln!("  help: write `///` comments above declarations");
        return 1;
    }
    if !is_project || args.builtins {
        sections.extend(builtins::sections());
    }
    let title = if is_project { "Documentation" } else { "Builtins" };
    let (name, page) = match args.format {
        DocFormat::Markdown => (if is_project { "README.md" } else { "builtins.md" }, markdown::page(title, &sections)),
        DocFormat::Html => ("index.html", html::page(title, &sections)),
    };
    match &args.out {
        Some(folder) => write_all(folder, &[(name.to_owned(), page)]),
        None => stdout::exit_code(stdout::print(&page), 0),
    }
}

/// Returns whether a path is the name of a builtin or type, or words about one, and not a file.
fn is_name(path: &Path) -> bool {
    let is_script = path.extension().is_some_and(|end| end == "harn" || end == "rhai");
    let written = path.to_str().unwrap_or_default();
    !is_script && !written.is_empty() && !written.starts_with('.') && !written.contains('/') && !path.exists()
}

/// Returns the documentation of a builtin or type by its name, else the builtins that words or a name of another language fit.
///
/// # Errors
/// Returns the message for what is unknown.
pub(crate) fn about(topic: &str) -> Result<String, String> {
    lookup(topic).or_else(|unknown| {
        let is_word = !topic.contains(char::is_whitespace);
        // A name of several words is misspelt.
        if is_word && topic.contains('_') {
            return elsewhere(topic).ok_or(unknown);
        }
        search(topic).map_err(|no_match| if is_word { unknown } else { no_match })
    })
}

/// Shows builtins and types by their names. If one of them is unknown, all words together are searched for.
fn show_builtins(names: &[PathBuf]) -> i32 {
    let names: Vec<_> = names.iter().map(|name| name.to_string_lossy()).collect();
    let known: Vec<_> = names.iter().filter_map(|name| lookup(name).ok()).collect();
    if known.len() == names.len() {
        return stdout::exit_code(stdout::print(&known.concat()), 0);
    }
    match about(&names.join(" ")) {
        Ok(found) => stdout::exit_code(stdout::print(&found), 0),
        Err(message) => {
            eprintln!("error: {message}");
            eprintln!("  help: `harn doc` lists all builtins");
            2
        }
    }
}

fn write_all(folder: &Path, files: &[(String, String)]) -> i32 {
    match write(folder, files) {
        Ok(()) => {
            let count = if files.len() == 1 { "1 file".to_owned() } else { format!("{} files", files.len()) };
            stdout::exit_code(stdout::print(&format!("{count} in {}\n", visible(&folder.display().to_string()))), 0)
        }
        Err((path, error)) => {
            eprintln!("error: cannot write `{}`: {error}", visible(&path.display().to_string()));
            eprintln!("  help: use a writable folder with `--out DIR`");
            1
        }
    }
}

fn write(folder: &Path, files: &[(String, String)]) -> Result<(), (PathBuf, std::io::Error)> {
    std::fs::create_dir_all(folder).map_err(|error| (folder.to_owned(), error))?;
    for (name, text) in files {
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(|error| (path, error))?;
    }
    Ok(())
}
