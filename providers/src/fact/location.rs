//! The location of facts: `<root>/<namespace>/events.jsonl`. A namespace is one or more names
//! joined by `/`; it can neither be written nor linked so that it leads out of its root.

use std::fs;
use std::path::{Path, PathBuf};

use super::{FactCode, FactError};

/// The location of a store of facts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FactLocation {
    root: PathBuf,
    namespace: String,
}

impl FactLocation {
    /// The namespace of who names none.
    pub const NAMESPACE: &str = "project/facts";
    /// The root of who names none, below the working directory.
    pub const ROOT: &str = ".harn/memory";
    const MOST_NAMES: usize = 8;
    const LONGEST: usize = 200;

    /// A place; the namespace is checked as it is written.
    ///
    /// # Errors
    /// A namespace that is empty, absolute, has empty names, `.`, `..` or characters that folders should not have.
    pub fn new(root: impl Into<PathBuf>, namespace: &str) -> Result<FactLocation, FactError> {
        Self::check(namespace)?;
        Ok(FactLocation { root: root.into(), namespace: namespace.to_owned() })
    }

    /// Whether a namespace may be one.
    ///
    /// # Errors
    /// Fails like [`FactLocation::new`].
    pub fn check(namespace: &str) -> Result<(), FactError> {
        let wrong = |why: &str| {
            let shown: String = namespace.chars().take(80).collect();
            Err(FactError::new(FactCode::Namespace, "namespace", format!("invalid namespace {shown:?}: {why}"))
                .help("use names of letters, digits, `-`, `_` and `.`, joined by `/`: \"project/facts\""))
        };
        let names: Vec<&str> = namespace.split('/').collect();
        let fits = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
        if namespace.len() > Self::LONGEST || names.len() > Self::MOST_NAMES {
            return wrong(&format!("it can have at most {} names and {} bytes", Self::MOST_NAMES, Self::LONGEST));
        }
        if names.iter().any(|name| name.is_empty()) {
            return wrong("a name in it is empty");
        }
        if names.iter().any(|name| name.chars().all(|c| c == '.')) {
            return wrong("it would be outside of its root");
        }
        if !namespace.chars().all(|c| c == '/' || fits(c)) {
            return wrong("it contains a character that is not allowed");
        }
        Ok(())
    }

    /// The file.
    #[must_use]
    pub fn file(&self) -> PathBuf {
        self.root.join(&self.namespace).join("events.jsonl")
    }

    /// Its root.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Refuses links on the way from the root to the file: they may lead anywhere.
    ///
    /// The usual root belongs to the project, so it must not lead out of the working directory either; a root that the user
    /// or a script names is theirs to choose.
    pub(super) fn check_links(&self) -> Result<(), FactError> {
        if self.root == Path::new(Self::ROOT) && leads_away(&self.root) {
            let message = format!("`{}` is a link that points outside of the project", Self::ROOT);
            return Err(FactError::new(FactCode::Namespace, "root", message)
                .help("set HARN_MEMORY_ROOT to the folder that you want to use"));
        }
        let mut path = self.root.clone();
        for name in self.namespace.split('/').chain(["events.jsonl"]) {
            path.push(name);
            if fs::symlink_metadata(&path).is_ok_and(|found| found.file_type().is_symlink()) {
                let message = format!("`{}` is a link and may point outside of the root", path.display());
                return Err(FactError::new(FactCode::Namespace, "namespace", message)
                    .help("use the target of the link as `root`"));
            }
        }
        Ok(())
    }
}

/// Returns whether links lead from a folder below the working directory to one outside, or to nowhere.
fn leads_away(root: &Path) -> bool {
    let linked = root.ancestors().any(|part| fs::symlink_metadata(part).is_ok_and(|found| found.is_symlink()));
    let inside = || Some(root.canonicalize().ok()?.starts_with(Path::new(".").canonicalize().ok()?));
    linked && inside() != Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn namespaces_stay_below_their_root() {
        for namespace in ["project/facts", "a", "team-7/v1.2/ünïcode_x", "..a"] {
            let place = FactLocation::new("/r", namespace).unwrap();
            assert_eq!(place.file(), Path::new("/r").join(namespace).join("events.jsonl"));
        }
        let long = "a".repeat(201);
        let deep = ["a"; 9].join("/");
        for namespace in [
            "",
            "/",
            "/etc",
            "a/",
            "a//b",
            ".",
            "..",
            "../x",
            "a/../../x",
            "a/./b",
            "...",
            "a\\..\\b",
            "C:x",
            "a b",
            "a\0b",
            "a\nb",
            "~",
            &long,
            &deep,
        ] {
            let error = FactLocation::new("/r", namespace).unwrap_err();
            assert_eq!(error.code, FactCode::Namespace, "{namespace:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_below_the_root_are_refused_and_the_root_may_be_one() {
        let root = crate::testing::scratch("fact-links");
        let outside = crate::testing::scratch("fact-links-outside");
        std::os::unix::fs::symlink(&outside, root.join("linked")).unwrap();
        std::fs::create_dir_all(root.join("real")).unwrap();
        std::os::unix::fs::symlink(outside.join("x"), root.join("real/events.jsonl")).unwrap();
        for namespace in ["linked", "linked/deeper", "real"] {
            let error = FactLocation::new(&root, namespace).unwrap().check_links().unwrap_err();
            assert_eq!(error.code, FactCode::Namespace, "{namespace}");
        }
        assert!(FactLocation::new(root.join("linked"), "fine").unwrap().check_links().is_ok());
    }
}
