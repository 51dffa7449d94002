//! The watched paths: folders with everything below them, files, globs; a pattern that begins with
//! `!` excludes.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use globset::{GlobBuilder, GlobMatcher};

/// Folders that programs keep their own affairs in. They are watched only where a pattern names them.
const OWN_AFFAIRS: [&str; 2] = [".git", ".harn"];

/// The reason why a pattern cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// It is blank.
    #[error("a watched path is blank")]
    Blank,
    /// The pattern is not a glob.
    #[error("invalid glob `{pattern}`: {why}")]
    Glob {
        /// The pattern as it was written.
        pattern: Arc<str>,
        /// The problem with it.
        why: String,
    },
    /// There is nothing but exclusions.
    #[error("these patterns match nothing, because all of them start with `!`")]
    Nothing,
}

/// The watched paths.
pub(super) struct Patterns {
    base: PathBuf,
    included: Vec<IncludedPattern>,
    excluded: Vec<GlobMatcher>,
}

struct IncludedPattern {
    /// The folder or file that contains all matches.
    root: PathBuf,
    /// The glob of the matches below it; `None` means everything.
    glob: Option<GlobMatcher>,
    /// Whether the pattern names a folder that is otherwise ignored.
    names_affairs: bool,
}

impl Patterns {
    pub(super) fn read(written: &[Arc<str>], base: &Path) -> Result<Patterns, PatternError> {
        let mut patterns = Patterns { base: base.to_path_buf(), included: Vec::new(), excluded: Vec::new() };
        for pattern in written {
            if pattern.trim_start_matches('!').trim().is_empty() {
                return Err(PatternError::Blank);
            }
            match pattern.strip_prefix('!') {
                Some(excluded) => patterns.exclude(excluded)?,
                None => patterns.include(pattern)?,
            }
        }
        if patterns.included.is_empty() {
            return Err(PatternError::Nothing);
        }
        Ok(patterns)
    }

    fn include(&mut self, pattern: &Arc<str>) -> Result<(), PatternError> {
        let whole = self.absolute(pattern);
        let is_literal = |part: &Component<'_>| !has_wildcard(&part.as_os_str().to_string_lossy());
        let root: PathBuf = whole.components().take_while(is_literal).collect();
        let glob = if root == whole { None } else { Some(glob(&whole.to_string_lossy())?) };
        let names_affairs = OWN_AFFAIRS.iter().any(|name| pattern.split('/').any(|part| part == *name));
        self.included.push(IncludedPattern { root, glob, names_affairs });
        Ok(())
    }

    /// A glob, or a folder with all below it.
    fn exclude(&mut self, pattern: &str) -> Result<(), PatternError> {
        let whole = self.absolute(pattern).to_string_lossy().into_owned();
        self.excluded.push(glob(&whole)?);
        self.excluded.push(glob(&format!("{}/**", whole.trim_end_matches('/')))?);
        Ok(())
    }

    /// A path without `.` and `..`, from the base.
    fn absolute(&self, path: &str) -> PathBuf {
        let mut whole = PathBuf::new();
        for part in self.base.join(path).components() {
            match part {
                Component::CurDir => {}
                Component::ParentDir => {
                    whole.pop();
                }
                part => whole.push(part),
            }
        }
        whole
    }

    /// Returns the folders and files that contain all matches, each once.
    pub(super) fn roots(&self) -> impl Iterator<Item = &Path> {
        let is_below = |one: &IncludedPattern, other: &IncludedPattern| {
            one.root != other.root && one.root.starts_with(&other.root)
        };
        let roots = self.included.iter().enumerate().filter(move |(i, one)| {
            let first = self.included.iter().position(|other| other.root == one.root) == Some(*i);
            first && !self.included.iter().any(|other| is_below(one, other))
        });
        roots.map(|(_, one)| one.root.as_path())
    }

    /// Whether a file is watched.
    pub(super) fn watches(&self, path: &Path) -> bool {
        let meant = |one: &IncludedPattern| match &one.glob {
            Some(glob) => glob.is_match(path),
            None => path.starts_with(&one.root),
        };
        self.included.iter().any(meant) && !self.excludes(path)
    }

    /// Whether to look into a folder.
    pub(super) fn enters(&self, folder: &Path) -> bool {
        let own = folder.file_name().is_some_and(|name| OWN_AFFAIRS.iter().any(|own| name == *own));
        let named = || self.included.iter().any(|one| one.names_affairs && related(&one.root, folder));
        (!own || named()) && !self.excludes(folder)
    }

    fn excludes(&self, path: &Path) -> bool {
        self.excluded.iter().any(|glob| glob.is_match(path))
    }

    /// Returns a path as it is reported: relative to the base if it is below it.
    pub(super) fn shown(&self, path: &Path) -> String {
        let relative = path.strip_prefix(&self.base).ok().filter(|path| !path.as_os_str().is_empty());
        relative.unwrap_or(path).to_string_lossy().into_owned()
    }
}

fn related(one: &Path, other: &Path) -> bool {
    one.starts_with(other) || other.starts_with(one)
}

fn has_wildcard(part: &str) -> bool {
    part.contains(['*', '?', '[', '{'])
}

/// A star does not cross a folder, two do.
fn glob(pattern: &str) -> Result<GlobMatcher, PatternError> {
    let built = GlobBuilder::new(pattern).literal_separator(true).build();
    let fault = |error: globset::Error| PatternError::Glob { pattern: pattern.into(), why: error.kind().to_string() };
    built.map(|glob| glob.compile_matcher()).map_err(fault)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patterns(written: &[&str]) -> Result<Patterns, PatternError> {
        Patterns::read(&written.iter().map(|p| Arc::from(*p)).collect::<Vec<_>>(), Path::new("/w"))
    }

    #[test]
    fn a_folder_means_all_below_it_and_a_glob_what_it_matches() {
        let p = patterns(&["in", "docs/**/*.md", "!in/tmp", "!**/*.swp", "./a/../one.txt"]).unwrap();
        for (path, wanted) in [
            ("/w/in/a", true),
            ("/w/in/b/c.txt", true),
            ("/w/in/tmp/x", false),
            ("/w/in/a.swp", false),
            ("/w/docs/a.md", true),
            ("/w/docs/b/a.md", true),
            ("/w/docs/a.txt", false),
            ("/w/one.txt", true),
            ("/w/two.txt", false),
        ] {
            assert_eq!(p.watches(Path::new(path)), wanted, "{path}");
        }
        assert_eq!(p.roots().collect::<Vec<_>>(), [Path::new("/w/in"), Path::new("/w/docs"), Path::new("/w/one.txt")]);
        assert_eq!((p.shown(Path::new("/w/in/a")), p.shown(Path::new("/x/a"))), ("in/a".into(), "/x/a".into()));
    }

    #[test]
    fn own_affairs_are_left_out_unless_they_are_named() {
        let all = patterns(&["."]).unwrap();
        assert!(
            !all.enters(Path::new("/w/.git")) && !all.enters(Path::new("/w/a/.harn")) && all.enters(Path::new("/w/a"))
        );
        assert!(patterns(&[".harn/memory"]).unwrap().enters(Path::new("/w/.harn")));
    }

    #[test]
    fn a_root_below_another_is_not_walked_twice() {
        let p = patterns(&["a/b", "a", "a/*.md", "a"]).unwrap();
        assert_eq!(p.roots().collect::<Vec<_>>(), [Path::new("/w/a")]);
    }

    #[test]
    fn what_watches_nothing_is_refused() {
        assert_eq!(patterns(&["!a"]).err(), Some(PatternError::Nothing));
        assert_eq!(patterns(&[]).err(), Some(PatternError::Nothing));
        for blank in ["", "  ", "!"] {
            assert_eq!(patterns(&[blank]).err(), Some(PatternError::Blank));
        }
        assert!(patterns(&["a["]).err().unwrap().to_string().contains("invalid glob"));
    }
}
