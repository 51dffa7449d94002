//! The project that a command means if it is called without a path: the folder of the nearest `harn.toml`, else the working
//! directory.

use std::path::{Path, PathBuf};
use stdlib::Project;

/// The names of a project's main file; the first one that exists is run.
const MAIN: [&str; 2] = ["main.harn", "main.rhai"];

/// Advice for a command without a path that finds nothing to work on.
pub(crate) const NAME_A_PATH: &str = "name a file or a folder, or run the command in the folder of a project";

/// Returns the folder of the project as a path from the working directory.
pub(crate) fn folder() -> PathBuf {
    let here = Path::new(".");
    let Some(file) = Project::file_of(Path::new(MAIN[0])) else { return here.to_owned() };
    let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) else { return here.to_owned() };
    // One further up is found by its whole path.
    let working = std::env::current_dir().and_then(std::fs::canonicalize).unwrap_or_default();
    match working.strip_prefix(folder) {
        Ok(below) => below.components().map(|_| "..").collect(),
        Err(_) => folder.to_owned(),
    }
}

/// Returns the paths of a command; without any, the folder of the project.
pub(crate) fn or_project(paths: Vec<PathBuf>) -> Vec<PathBuf> {
    if paths.is_empty() { vec![folder()] } else { paths }
}

/// Returns the main file of the project.
///
/// # Errors
/// Returns a message if the project has none.
pub(crate) fn main_file() -> Result<PathBuf, String> {
    let folder = folder();
    let path = |name: &str| if folder == Path::new(".") { PathBuf::from(name) } else { folder.join(name) };
    let main = path(MAIN[0]);
    MAIN.iter().map(|name| path(name)).find(|path| path.is_file()).ok_or_else(|| {
        let example = first_script(&folder).unwrap_or_else(|| path("report.harn"));
        format!(
            "error: no script to run: `{}` does not exist\n  help: name a script, for example `harn run {}`; `-` reads standard \
             input\n",
            main.display(),
            example.display()
        )
    })
}

/// Returns the first script of a folder that is not a file of tests.
fn first_script(folder: &Path) -> Option<PathBuf> {
    let is_script = |name: &str| {
        let stem = name.strip_suffix(".harn").or_else(|| name.strip_suffix(".rhai"));
        stem.is_some_and(|stem| !stem.ends_with("_test"))
    };
    let names = std::fs::read_dir(folder).ok()?.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let first = names.filter(|name| is_script(name)).min()?;
    Some(if folder == Path::new(".") { first.into() } else { folder.join(first) })
}
