//! `harn doc`: the builtins, from the table that scripts are checked by.

use crate::stdout;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use stdlib::{Builtin, builtins, rhai_definitions};

#[derive(clap::Args)]
pub(crate) struct DocArgs {
    /// Write Rhai definition files for editors
    #[arg(long)]
    rhai: bool,
    /// Folder to write to [default: `.rhai/definitions` with --rhai, else standard output]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(crate) fn run(args: &DocArgs) -> i32 {
    let (folder, files) = match (args.rhai, &args.out) {
        (true, out) => (out.as_deref().unwrap_or(Path::new(".rhai/definitions")), rhai_definitions()),
        (false, Some(out)) => (out.as_path(), vec![("builtins.md".to_owned(), page())]),
        (false, None) => {
            return stdout::exit_code(stdout::print(&page()), 0);
        }
    };
    match write(folder, &files) {
        Ok(()) => {
            let written = stdout::print(&format!("{} files in {}\n", files.len(), folder.display()));
            stdout::exit_code(written, 0)
        }
        Err((path, error)) => {
            eprintln!("error: cannot write `{}`: {error}", crate::report::visible(&path.display().to_string()));
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

/// Returns the builtins as Markdown: a section for each namespace and each type that has methods.
fn page() -> String {
    let mut rows: Vec<&Builtin> = builtins().collect();
    rows.sort_by_key(|row| (row.module, row.name));
    let mut page = "# Builtins\n".to_owned();
    let mut section = None;
    for row in rows {
        if section != Some(row.module) {
            section = Some(row.module);
            let _ = match row.module.strip_prefix('<').and_then(|module| module.strip_suffix('>')) {
                Some(of) => writeln!(page, "\n## Methods: {of}"),
                None if row.module.is_empty() => writeln!(page, "\n## Global"),
                None => writeln!(page, "\n## {}", row.module),
            };
        }
        let _ = writeln!(page, "\n### {}\n\n`{}`\n\n{}", row.name, row.sig, doc(row));
    }
    page
}

/// Returns a row's documentation and the capabilities that it needs.
fn doc(row: &Builtin) -> String {
    let mut text = row.doc.lines().map(str::trim).collect::<Vec<_>>().join("\n");
    if !row.caps.is_empty() {
        let rights: Vec<String> = row.caps.iter().map(|right| format!("`{}`", right.name())).collect();
        let _ = write!(text, "\nRequires the capability {}.", rights.join(", "));
    }
    text
}
