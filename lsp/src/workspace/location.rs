//! URIs and paths. A file has one location, however a client spells it.

use lsp_types::Uri;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use url::Url;

/// Identity of a document: a file on disk, or a text that only the editor has.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Location {
    /// A file, without links on the way to it.
    Disk(PathBuf),
    /// Another URI, such as that of an untitled document.
    Editor(String),
}

impl Location {
    pub(crate) fn of_uri(uri: &Uri) -> Self {
        match path_of(uri) {
            Some(path) => Self::of_path(&path),
            None => Self::Editor(uri.as_str().to_owned()),
        }
    }

    pub(crate) fn of_path(path: &Path) -> Self {
        if let Ok(whole) = path.canonicalize() {
            return Self::Disk(whole);
        }
        // A file that does not exist yet has the place that it would have.
        let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
        Self::Disk(match (folder, path.file_name()) {
            (Some(folder), Some(name)) => folder.join(name),
            _ => path.to_owned(),
        })
    }

    pub(crate) fn is_project_file(&self) -> bool {
        matches!(self, Self::Disk(path) if path.file_name().is_some_and(|name| name == "harn.toml"))
    }

    /// Returns the name of its text in diagnostics, from which imports are relative.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Disk(path) => path.display().to_string(),
            Self::Editor(uri) => uri.clone(),
        }
    }

    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::Disk(path) => Some(path),
            Self::Editor(_) => None,
        }
    }

    /// Returns the URI of the location.
    pub(crate) fn uri(&self) -> Option<Uri> {
        match self {
            Self::Disk(path) => uri_of(path),
            Self::Editor(uri) => Uri::from_str(uri).ok(),
        }
    }
}

/// Returns the path of a `file` URI.
pub(crate) fn path_of(uri: &Uri) -> Option<PathBuf> {
    let url = Url::parse(uri.as_str()).ok()?;
    if url.scheme() == "file" { url.to_file_path().ok() } else { None }
}

/// Returns the URI of an absolute path.
pub(crate) fn uri_of(path: &Path) -> Option<Uri> {
    // Characters such as `[` are allowed in the paths of URLs, but not in those of URIs.
    let url = Url::from_file_path(path).ok()?;
    let strict = url.as_str().replace('[', "%5B").replace(']', "%5D").replace('^', "%5E").replace('|', "%7C");
    Uri::from_str(&strict).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_survive_the_way_to_a_uri_and_back() {
        for path in ["/a/b c.harn", "/ä/[x]|^{y}`%20.harn", "/a#b?c.harn", "/a\\b\"<>.harn"] {
            let uri = uri_of(Path::new(path)).unwrap_or_else(|| panic!("{path}"));
            assert_eq!(path_of(&uri).as_deref(), Some(Path::new(path)), "{}", uri.as_str());
        }
        assert_eq!(path_of(&Uri::from_str("untitled:Untitled-1").unwrap()), None);
        assert_eq!(path_of(&Uri::from_str("file:///a%20b").unwrap()).as_deref(), Some(Path::new("/a b")));
    }
}
