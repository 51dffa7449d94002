//! A folder that nothing below can lead out of. Each step of a path is opened relative to the handle of the one before, and a
//! link is never followed: so it does not matter who swaps what between a look and an opening.

use nix::dir::Dir;
use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, openat};
use nix::sys::stat::{FileStat, Mode, SFlag, fstat, fstatat, mkdirat};
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

/// The longest path and the longest name, in bytes.
const LONGEST_PATH: usize = 4096;
const LONGEST_NAME: usize = 255;

/// The folder.
pub(crate) struct Root {
    handle: OwnedFd,
    /// The path at which it was opened, for reports about a file.
    pub(crate) path: String,
}

/// The folder that holds a file, and the name in it.
pub(crate) struct FilePlace {
    pub(crate) parent: OwnedFd,
    pub(crate) name: String,
}

const FOLDER: OFlag = OFlag::O_RDONLY.union(OFlag::O_DIRECTORY).union(OFlag::O_NOFOLLOW).union(OFlag::O_CLOEXEC);

impl Root {
    /// Takes hold of a folder. It stays this one, whatever its path leads to later.
    pub(crate) fn open(path: &Path) -> Result<Root, String> {
        // A root that is itself a link is what the author means.
        let real = std::fs::canonicalize(path).map_err(|e| crate::system::reason(&e, "folder"))?;
        let file = File::open(&real).map_err(|e| crate::system::reason(&e, "folder"))?;
        if !file.metadata().is_ok_and(|meta| meta.is_dir()) {
            return Err("it is not a folder".to_owned());
        }
        Ok(Root { handle: file.into(), path: real.to_string_lossy().into_owned() })
    }

    /// Returns the place of a path, without looking at its last name. With `make`, missing folders
    /// are created.
    pub(crate) fn place(&self, path: &str, make: bool) -> Result<FilePlace, String> {
        let mut names = names(path)?;
        let Some(name) = names.pop() else { return Err(format!("`{path}` is the root, not a file")) };
        let mut at = self.again()?;
        for step in names {
            at = match openat(&at, step, FOLDER, Mode::empty()) {
                Err(Errno::ENOENT) if make => {
                    // Another process may have created it meanwhile; opening it will show that.
                    let _ = mkdirat(&at, step, Mode::from_bits_truncate(0o777));
                    openat(&at, step, FOLDER, Mode::empty()).map_err(|e| refused(&at, step, path, e))?
                }
                opened => opened.map_err(|e| refused(&at, step, path, e))?,
            };
        }
        Ok(FilePlace { parent: at, name: name.to_owned() })
    }

    /// A folder.
    pub(crate) fn folder(&self, path: &str) -> Result<Dir, String> {
        let opened = match names(path)?.is_empty() {
            true => self.again()?,
            false => {
                let FilePlace { parent, name } = self.place(path, false)?;
                openat(&parent, name.as_str(), FOLDER, Mode::empty()).map_err(|e| refused(&parent, &name, path, e))?
            }
        };
        Dir::from_fd(opened).map_err(|e| format!("cannot list `{path}`: {}", words(e)))
    }

    /// A handle of its own on the root.
    fn again(&self) -> Result<OwnedFd, String> {
        openat(&self.handle, ".", FOLDER, Mode::empty())
            .map_err(|e| format!("the root is no longer usable: {}", words(e)))
    }
}

/// Refuses to change what harn and git obey: below any `.git` and `.harn`, and `harn.toml`. Links lead nowhere below a root.
pub(crate) fn may_change(root: &Root, path: &str) -> Result<(), String> {
    let refused = |what: &str| Err(format!("`{path}` is refused: tools cannot change {what}"));
    if Path::new(&root.path).iter().any(|name| plainest(&name.to_string_lossy()) == ".git") {
        return refused("a `.git` folder");
    }
    for name in names(path)?.iter().flat_map(|name| name.split('\\')) {
        match plainest(name).as_str() {
            // `GIT~1` is the short name of `.git` on Windows file systems.
            ".git" | "git~1" => return refused("a `.git` folder"),
            ".harn" => return refused("a `.harn` folder"),
            "harn.toml" => return refused("a `harn.toml`"),
            _ => {}
        }
    }
    Ok(())
}

/// A name as file systems may compare it: without case, characters that have no width, streams, and dots or spaces at the end.
fn plainest(name: &str) -> String {
    let name = name.split(':').next().unwrap_or_default().trim_end_matches(['.', ' ']);
    let has_width = |c: &char| !matches!(*c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}');
    name.chars().filter(has_width).flat_map(char::to_lowercase).collect()
}

impl FilePlace {
    /// Returns the status of the file, links not followed; `None` if it does not exist.
    pub(crate) fn look(&self, path: &str) -> Result<Option<FileStat>, String> {
        match fstatat(&self.parent, self.name.as_str(), AtFlags::AT_SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::ENOENT) => Ok(None),
            Err(e) => Err(format!("cannot open `{path}`: {}", words(e))),
        }
    }

    /// Opens a regular file for reading. No other file is ever opened, so no call waits for a
    /// writer.
    pub(crate) fn open(&self, path: &str) -> Result<(File, FileStat), String> {
        match self.look(path)? {
            None => return Err(format!("cannot open `{path}`: the file does not exist")),
            Some(stat) => plain(&stat, path)?,
        }
        let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_NOCTTY | OFlag::O_CLOEXEC;
        let opened = openat(&self.parent, self.name.as_str(), flags, Mode::empty())
            .map_err(|e| refused(&self.parent, &self.name, path, e))?;
        let stat = fstat(&opened).map_err(|e| format!("cannot open `{path}`: {}", words(e)))?;
        plain(&stat, path)?;
        Ok((opened.into(), stat))
    }
}

/// Rejects everything that is not a regular file.
pub(crate) fn plain(stat: &FileStat, path: &str) -> Result<(), String> {
    match kind(stat) {
        SFlag::S_IFREG => Ok(()),
        SFlag::S_IFLNK => Err(format!("`{path}` is refused: it is a link, and tools do not follow links")),
        SFlag::S_IFDIR => Err(format!("`{path}` is a folder")),
        _ => Err(format!("`{path}` is not a file")),
    }
}

pub(crate) fn kind(stat: &FileStat) -> SFlag {
    SFlag::from_bits_truncate(stat.st_mode) & SFlag::S_IFMT
}

/// The steps of a path that stays below the root.
fn names(path: &str) -> Result<Vec<&str>, String> {
    let refused = |why: &str| Err(format!("`{}` is refused: {why}", path.escape_debug().take(80).collect::<String>()));
    if path.len() > LONGEST_PATH || path.split('/').any(|name| name.len() > LONGEST_NAME) {
        return refused("the path is too long");
    }
    if path.contains('\0') {
        return refused("the path contains a NUL character");
    }
    let drive = path.as_bytes().get(1) == Some(&b':') && path.starts_with(|c: char| c.is_ascii_alphabetic());
    if path.starts_with(['/', '\\']) || drive || path.split(['/', '\\']).any(|name| name == "..") {
        return refused("use a relative path inside the root, without `..`");
    }
    Ok(path.split('/').filter(|name| !name.is_empty() && *name != ".").collect())
}

fn refused(parent: &impl AsFd, name: &str, path: &str, e: Errno) -> String {
    let is_link =
        fstatat(parent.as_fd(), name, AtFlags::AT_SYMLINK_NOFOLLOW).is_ok_and(|stat| kind(&stat) == SFlag::S_IFLNK);
    match e {
        _ if is_link => format!("`{path}` is refused: `{name}` is a link, and tools do not follow links"),
        Errno::ENOTDIR => format!("cannot open `{path}`: `{name}` is not a folder"),
        e => format!("cannot open `{path}`: {}", words(e)),
    }
}

pub(crate) fn words(e: Errno) -> String {
    crate::system::reason(&std::io::Error::from(e), "file or folder")
}

/// Returns a file of at most `largest` bytes; `None` if it cannot be read or is larger.
pub(crate) fn small(root: &Root, path: &str, largest: u64) -> Option<Vec<u8>> {
    let (file, _) = root.place(path, false).and_then(|place| place.open(path)).ok()?;
    let mut bytes = Vec::new();
    file.take(largest + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= largest).then_some(bytes)
}

/// Returns a file of at most `largest` bytes, or the reason why it cannot be read.
pub(crate) fn small_bytes(root: &Root, path: &str, largest: u64) -> Result<Vec<u8>, String> {
    // It says what is wrong with the path.
    drop(root.place(path, false)?.open(path)?);
    small(root, path, largest).ok_or_else(|| format!("`{path}` is larger than {} KiB", largest >> 10))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_harn_and_git_obey_is_not_changed() {
        let root = Root::open(&std::env::temp_dir()).unwrap();
        for path in [
            ".git",
            ".git/config",
            "a/.git/hooks/post-checkout",
            ".GIT/config",
            ".Git",
            "./.git//config",
            ".git./config",
            ".git /config",
            ".git::$INDEX_ALLOCATION/config",
            ".g\u{200c}it/config",
            "git~1/config",
            "a\\.git\\config",
            "harn.toml",
            "sub/HARN.toml",
            "harn.toml.",
            ".harn/memory/x",
            ".HARN",
        ] {
            assert!(may_change(&root, path).is_err(), "{path}");
        }
        for path in
            [".gitignore", ".github/x.yml", "git/config", "my.git.txt", "harn.toml.txt", "a.harn", ".gitmodules"]
        {
            assert_eq!(may_change(&root, path), Ok(()), "{path}");
        }
    }
}
