//! Reading scripts from disk, and the files that they import.

use crate::codes::SourceCode;

use base::files;
use lang::diagnostic::Diagnostic;
use lang::diagnostic::nearest;
use lang::module::{Loader, missing};
use lang::source::{Source, SourceRef};
use std::io;
use std::path::{Component, Path, PathBuf};

/// The file that marks the folder of a project.
const PROJECT: &str = "harn.toml";

/// The largest script or pack. Positions are 32 bits wide, and the syntax tree takes many times the size of the text.
const LARGEST: u64 = 64 << 20;

/// Reads a script.
///
/// # Errors
/// Returns the problem with the file, as a diagnostic without a place.
#[allow(clippy::result_large_err)] // once a run
pub fn read_source(path: &Path) -> Result<SourceRef, Diagnostic> {
    let name = path.display().to_string();
    let unreadable = |why: &str| unreadable_source(&name, why);
    let bytes = files::read(path, LARGEST).map_err(|e| {
        let found = unreadable(&reason(&e));
        match e.kind() {
            io::ErrorKind::NotFound => found.help("check the path, which is relative to the working directory"),
            io::ErrorKind::IsADirectory => found.help("name a file in that folder, such as `main.harn`"),
            _ => found,
        }
    })?;
    decode_source(name, bytes)
}

/// The diagnostic for a script that cannot be read.
#[must_use]
pub fn unreadable_source(name: &str, why: &str) -> Diagnostic {
    Diagnostic::new(SourceCode::Unreadable, format!("cannot read `{name}`: {why}"))
}

/// Makes a script of the bytes that were read.
///
/// # Errors
/// Fails if the bytes are not UTF-8.
#[allow(clippy::result_large_err)] // once a run
pub fn decode_source(name: String, bytes: Vec<u8>) -> Result<SourceRef, Diagnostic> {
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Source::new(name, text)),
        Err(e) => {
            let at = e.utf8_error().valid_up_to();
            let line = e.as_bytes()[..at].iter().filter(|&&b| b == b'\n').count() + 1;
            let byte = e.as_bytes().get(at).copied().unwrap_or_default();
            Err(Diagnostic::new(SourceCode::NotText, format!("`{name}` is not UTF-8 text"))
                .note(format!("byte {at} (line {line}) is 0x{byte:02X}, which does not start a UTF-8 character"))
                .help("save the file as UTF-8"))
        }
    }
}

/// Imports the files that the person who runs the script could read, but for those that a link inside of the project leads
/// to elsewhere. Diagnostics do not show the texts of files outside of the project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files {
    /// The folder of the project, without links.
    root: PathBuf,
    /// The working directory, without links.
    here: PathBuf,
}

impl Files {
    /// Returns the loader for a script. Its project is the nearest folder with a `harn.toml` or `.git`, else its own.
    #[must_use]
    pub fn of(script: &Path) -> Files {
        let here = std::env::current_dir().and_then(|here| here.canonicalize()).unwrap_or_default();
        let folder = script.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let folder = folder.canonicalize().unwrap_or_else(|_| here.join(folder));
        let is_root = |folder: &&Path| folder.join(PROJECT).exists() || folder.join(".git").exists();
        let root = folder.ancestors().find(is_root).unwrap_or(&folder).to_owned();
        Files { root, here }
    }

    /// Returns whether a link on the way to a file leads out of the project, or from one foreign folder to another.
    fn leads_away(&self, path: &Path, whole: &Path) -> bool {
        if whole.starts_with(&self.root) {
            return false;
        }
        let folder = path.parent().unwrap_or(Path::new(""));
        let written = normal(&self.here.join(folder));
        let real = self.here.join(folder).canonicalize();
        written.starts_with(&self.root) || !real.is_ok_and(|folder| whole.starts_with(folder))
    }
}

/// The path without `.` and `..`, by its text alone.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            part => normal.push(part),
        }
    }
    normal
}

impl Loader for Files {
    fn load(&self, path: &str) -> Result<SourceRef, Box<Diagnostic>> {
        let at = Path::new(path);
        if at.exists() {
            if at.canonicalize().is_ok_and(|whole| self.leads_away(at, &whole)) {
                let message = format!("cannot read `{path}`: it is a link that points outside of the project");
                return Err(Box::new(
                    Diagnostic::new(SourceCode::Unreadable, message).help("use the path of the link's target"),
                ));
            }
            let source = read_source(at).map_err(Box::new)?;
            let is_own = at.canonicalize().is_ok_and(|whole| whole.starts_with(&self.root));
            return Ok(if is_own { source } else { Source::foreign(source.name(), source.text()) });
        }
        let mut d = missing(path);
        if let Some(near) = neighbour(at) {
            let near = at.with_file_name(format!("{near}.harn"));
            d = d.help(format!("did you mean `{}`?", near.display()));
        } else if at.with_extension("").is_dir() {
            d = d.note(format!("`{}` is a folder; name a file in it", at.with_extension("").display()));
        } else if at.parent().is_some_and(|folder| !folder.as_os_str().is_empty() && !folder.exists()) {
            d = d.note("its folder does not exist either");
        }
        Err(Box::new(d.help("paths are relative to the file that contains the import")))
    }

    fn near(&self, path: &str) -> Option<String> {
        neighbour(Path::new(path))
    }

    fn identity(&self, path: &str) -> String {
        std::fs::canonicalize(path).map_or_else(|_| path.to_owned(), |whole| whole.to_string_lossy().into_owned())
    }
}

/// Returns the name, without its ending, of a script of a similar name in the same folder.
fn neighbour(path: &Path) -> Option<String> {
    let (folder, name) = (path.parent()?, path.file_stem()?.to_str()?);
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let names: Vec<String> = std::fs::read_dir(folder)
        .ok()?
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok()?.strip_suffix(".harn").map(str::to_owned))
        .collect();
    nearest(name, names.iter().map(String::as_str)).map(str::to_owned)
}

fn reason(e: &io::Error) -> String {
    match e.kind() {
        io::ErrorKind::NotFound => "the file does not exist".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::IsADirectory => "it is a directory".to_owned(),
        _ => e.to_string(),
    }
}
