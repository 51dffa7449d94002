//! `harn doc [PATH…]`: the documentation of scripts, or of the builtins, as Markdown or as an HTML page.
//!
//! - `lookup`: one builtin or type. `builtins`, `project`: sections from the table that scripts are checked by, and from doc comments.
//! - `markdown`, `html`: sections as pages.

mod builtins;
mod html;
mod lookup;
mod markdown;
mod project;

pub(crate) use lookup::lookup;

use crate::report::{Format, show, visible};
use crate::stdout;
use clap::ValueEnum;
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
    /// Scripts whose doc comments are documented; a folder means all scripts in it. Names of builtins and of types of options show these alone [default: all
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

/// Returns whether a path is the name of a builtin or type, and not a file.
fn is_name(path: &Path) -> bool {
    let is_script = path.extension().is_some_and(|end| end == "harn" || end == "rhai");
    let written = path.to_str().unwrap_or_default();
    !is_script && !written.is_empty() && !written.starts_with('.') && !written.contains('/') && !path.exists()
}

/// Shows builtins and types by their names.
fn show_builtins(names: &[PathBuf]) -> i32 {
    let (mut text, mut code) = (String::new(), 0);
    for name in names {
        match lookup(&name.to_string_lossy()) {
            Ok(found) => text.push_str(&found),
            Err(message) => {
                eprintln!("error: {message}");
                eprintln!("  help: name a builtin, or a file or folder that exists; `harn doc` lists all builtins");
                code = 2;
            }
        }
    }
    stdout::exit_code(stdout::print(&text), code)
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
