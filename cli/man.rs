//! `harn man [COMMAND]`: the manual pages of the command, as text on a terminal and in roff elsewhere.

mod text;

use crate::pager;
use crate::report::{visible, wants_color};
use crate::stdout;
use clap::Command;
use clap_mangen::Man;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub(crate) struct ManArgs {
    /// Command whose page is shown, for example `run` or `serve acp` [default: the page of harn itself]
    #[arg(value_name = "COMMAND", conflicts_with = "out")]
    command: Vec<String>,
    /// Write the pages of all commands to this folder, which is created if necessary
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(crate) fn run(args: &ManArgs, mut tree: Command) -> i32 {
    // A `help` command of each command is not worth a page.
    tree = tree.disable_help_subcommand(true);
    tree.build();
    if let Some(folder) = &args.out {
        return write_all(&tree, folder);
    }
    let mut command = &tree;
    for word in &args.command {
        let Some(next) = command.find_subcommand(word) else {
            let names: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
            eprintln!("error: unknown command `{}`", visible(&args.command.join(" ")));
            match lang::diagnostic::nearest(word, names.iter().copied()) {
                Some(near) => eprintln!("  help: did you mean `{near}`?"),
                None if names.is_empty() => eprintln!("  help: `{}` has no commands", command.get_name()),
                None => eprintln!("  help: use one of {}", names.join(", ")),
            }
            return 2;
        };
        command = next;
    }
    match page(command) {
        Ok(page) => stdout::exit_code(show(&page), 0),
        Err(error) => failed("standard output", &error),
    }
}

/// The most columns of a page on a terminal.
const WIDEST: usize = 100;

/// Shows a page as text on a terminal, and prints it in roff elsewhere.
fn show(page: &str) -> std::io::Result<()> {
    let out = std::io::stdout();
    if !out.is_terminal() {
        return stdout::print(page);
    }
    let columns = terminal_size::terminal_size_of(&out).map_or(80, |(width, _)| usize::from(width.0));
    pager::show(&text::text(page, columns.clamp(40, WIDEST), wants_color(&out)))
}

/// Returns the page of one command in roff.
fn page(command: &Command) -> std::io::Result<String> {
    let mut page = Vec::new();
    Man::new(command.clone()).render(&mut page)?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}

fn write_all(tree: &Command, folder: &Path) -> i32 {
    let mut pages = Vec::new();
    if let Err(error) = std::fs::create_dir_all(folder).and_then(|()| collect(tree, "harn", &mut pages)) {
        return failed(&folder.display().to_string(), &error);
    }
    for (name, page) in &pages {
        let path = folder.join(format!("{name}.1"));
        if let Err(error) = std::fs::write(&path, page) {
            return failed(&path.display().to_string(), &error);
        }
    }
    let written = stdout::print(&format!("{} pages in {}\n", pages.len(), visible(&folder.display().to_string())));
    stdout::exit_code(written, 0)
}

/// Collects the pages of a command and those below it, with their names.
fn collect(command: &Command, name: &str, pages: &mut Vec<(String, String)>) -> std::io::Result<()> {
    pages.push((name.to_owned(), page(command)?));
    for next in command.get_subcommands() {
        collect(next, &format!("{name}-{}", next.get_name()), pages)?;
    }
    Ok(())
}

fn failed(what: &str, error: &std::io::Error) -> i32 {
    eprintln!("error: cannot write to `{}`: {error}", visible(what));
    eprintln!("  help: use a writable folder with `--out DIR`");
    1
}
