//! The source of a script: a file, standard input, or the command line.

use crate::console::Console;
use crate::usage;
use globset::{GlobBuilder, GlobMatcher};
use std::io::Read;
use std::path::{Component, Path, PathBuf};
use stdlib::{Diagnostic, Source, SourceRef, decode_source, read_source, unreadable_source};

/// The largest script that is read from standard input, in bytes.
const LARGEST: u64 = 64 << 20;

/// The source of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Script {
    /// A file.
    File(PathBuf),
    /// Standard input.
    Stdin {
        /// Whether it is written in Rhai.
        rhai: bool,
    },
    /// The command line.
    Code {
        /// The text.
        text: String,
        /// Whether it is written in Rhai.
        rhai: bool,
    },
}

impl Script {
    /// The script that a path on the command line names; `-` is standard input.
    pub(crate) fn named(path: PathBuf, rhai: bool) -> Self {
        if path.as_os_str() == "-" { Self::Stdin { rhai } } else { Self::File(path) }
    }

    /// The scripts that a path on the command line means: itself, or all in the folder whose names have one of the endings,
    /// or all files that match a pattern, in the order of their paths.
    ///
    /// # Errors
    /// A folder that cannot be read, or has no such script; an invalid pattern.
    #[allow(clippy::result_large_err, reason = "once a path")]
    pub(crate) fn of_path(path: &Path, rhai: bool, endings: &[&str]) -> Result<Vec<Self>, Diagnostic> {
        let is_pattern = path.as_os_str() != "-" && !path.exists() && path.to_string_lossy().contains(WILDCARDS);
        if !path.is_dir() && !is_pattern {
            return Ok(vec![Self::named(path.to_owned(), rhai)]);
        }
        let name = path.display().to_string();
        let pattern = if is_pattern { Some(matcher(path)?) } else { None };
        let folder = if is_pattern { fixed_part(path) } else { path.to_owned() };
        let mut scripts = Vec::new();
        // Hidden folders and links are left alone; `.gitignore` is obeyed outside of a checkout too.
        for entry in ignore::WalkBuilder::new(folder).require_git(false).sort_by_file_path(Path::cmp).build() {
            let entry = entry.map_err(|error| unreadable_source(&name, &error.to_string()))?;
            let is_script = entry.path().extension().is_some_and(|end| endings.iter().any(|known| end == *known));
            let matches = |pattern: &GlobMatcher| pattern.is_match(without_dot(entry.path()));
            if is_script && entry.file_type().is_some_and(|kind| kind.is_file()) && pattern.as_ref().is_none_or(matches)
            {
                scripts.push(Self::File(entry.into_path()));
            }
        }
        if scripts.is_empty() {
            if is_pattern {
                return Err(unreadable_source(&name, "no script matches the pattern"));
            }
            let endings: Vec<String> = endings.iter().map(|end| format!("`.{end}`")).collect();
            return Err(unreadable_source(&name, "the folder contains no scripts")
                .help(format!("the names of scripts end in {}", endings.join(" or "))));
        }
        Ok(scripts)
    }

    /// Reports `-` given twice: standard input can be read once. Returns the exit code of wrong usage.
    pub(crate) fn refuse_stdin_twice(paths: &[PathBuf], console: &Console) -> Option<i32> {
        if paths.iter().filter(|path| path.as_os_str() == "-").count() < 2 {
            return None;
        }
        console.output.err("error: `-` is given twice, but standard input can be read only once\n");
        console.output.err("  help: pass `-` only once\n");
        Some(2)
    }

    /// The name under which diagnostics show it. Its project and its imports are looked up from there, so a script without
    /// a file belongs to the working directory.
    pub(crate) fn path(&self) -> &Path {
        Path::new(match self {
            Self::File(path) => return path,
            Self::Stdin { rhai: false } => "<stdin>",
            Self::Stdin { rhai: true } => "<stdin>.rhai",
            Self::Code { rhai: false, .. } => "<command line>",
            Self::Code { rhai: true, .. } => "<command line>.rhai",
        })
    }

    /// Reads it.
    ///
    /// # Errors
    /// Returns the diagnostic of a file or text that cannot be read.
    #[allow(clippy::result_large_err, reason = "once a run")]
    pub(crate) fn read(&self) -> Result<SourceRef, Diagnostic> {
        let name = self.path().display().to_string();
        match self {
            Self::File(path) => read_source(path).map_err(|diagnostic| match usage::for_missing_script(path) {
                Some(help) if !path.exists() => diagnostic.help(help),
                _ => diagnostic,
            }),
            Self::Code { text, .. } => Ok(Source::new(name, text.as_str())),
            Self::Stdin { .. } => {
                let mut bytes = Vec::new();
                let read = std::io::stdin().lock().take(LARGEST + 1).read_to_end(&mut bytes);
                match read {
                    Err(error) => Err(unreadable_source(&name, &error.to_string())),
                    Ok(_) if bytes.len() as u64 > LARGEST => Err(unreadable_source(&name, "it is larger than 64 MiB")),
                    Ok(_) => decode_source(name, bytes),
                }
            }
        }
    }
}

/// Characters that make a path a pattern, unless a file has that name.
const WILDCARDS: [char; 4] = ['*', '?', '[', '{'];

#[allow(clippy::result_large_err, reason = "once a path")]
fn matcher(pattern: &Path) -> Result<GlobMatcher, Diagnostic> {
    let text = without_dot(pattern).display().to_string();
    let glob = GlobBuilder::new(&text).literal_separator(true).build();
    glob.map(|glob| glob.compile_matcher()).map_err(|error| unreadable_source(&text, &error.kind().to_string()))
}

fn without_dot(path: &Path) -> &Path {
    path.strip_prefix(".").unwrap_or(path)
}

/// The folder of a pattern before its first wildcard.
pub(crate) fn fixed_part(pattern: &Path) -> PathBuf {
    let is_fixed = |part: &Component<'_>| !part.as_os_str().to_string_lossy().contains(WILDCARDS);
    let folder: PathBuf = pattern.parent().into_iter().flat_map(Path::components).take_while(is_fixed).collect();
    if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder }
}

/// The command line of `harn FILE ARGS…`, as in a `#!/usr/bin/env harn` script, rewritten as `harn run FILE -- ARGS…`:
/// everything after the file belongs to the script.
pub(crate) fn expand_shebang(mut line: Vec<std::ffi::OsString>) -> Vec<std::ffi::OsString> {
    let Some(first) = line.get(1).map(Path::new) else { return line };
    let is_script = first.extension().is_some_and(|end| end == "harn" || end == "rhai");
    let is_path = first.components().count() > 1;
    if is_script || is_path && first.is_file() {
        // A name that begins with `-` would be an option.
        let file = if first.as_os_str().as_encoded_bytes().starts_with(b"-") {
            Path::new(".").join(first)
        } else {
            first.into()
        };
        line.splice(1..2, ["run".into(), file.into_os_string(), "--".into()]);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_searched_from_its_fixed_part() {
        for (pattern, folder) in [("*.harn", "."), ("a/b/*.harn", "a/b"), ("a/*/c.harn", "a"), ("/x/**", "/x")] {
            assert_eq!(fixed_part(Path::new(pattern)), Path::new(folder), "{pattern}");
        }
    }

    #[test]
    fn a_file_in_the_place_of_a_command_takes_all_arguments() {
        let line = |words: &[&str]| words.iter().map(Into::into).collect::<Vec<std::ffi::OsString>>();
        let found = expand_shebang(line(&["harn", "tool.harn", "--deny", "net", "a"]));
        assert_eq!(found, line(&["harn", "run", "tool.harn", "--", "--deny", "net", "a"]));
        assert_eq!(expand_shebang(line(&["harn", "-t.harn", "--"])), line(&["harn", "run", "./-t.harn", "--", "--"]));
        for words in [&["harn"][..], &["harn", "run", "a.harn"], &["harn", "--help"], &["harn", "rnu"]] {
            assert_eq!(expand_shebang(line(words)), line(words));
        }
    }
}
