//! Writing a file: all of it or nothing.

use crate::confined_folder::{FilePlace, Root, plain, words};
use nix::errno::Errno;
use nix::fcntl::{OFlag, openat, renameat};
use nix::sys::stat::{Mode, fchmod};
use nix::unistd::{UnlinkatFlags, unlinkat};
use std::fs::File;
use std::io::Write;
use std::os::fd::AsFd;

/// Puts a text in a file's place, and makes the folders above it.
pub(super) fn whole_file(root: &Root, path: &str, text: &str) -> Result<String, String> {
    let place = root.place(path, true)?;
    let is_new = place.look(path)?.is_none();
    put(&place, path, text)?;
    Ok(format!("{} `{path}`, {} bytes", if is_new { "wrote the new file" } else { "wrote" }, text.len()))
}

/// Writes beside the file and puts that in its place, so that who reads sees the old text or the new one. The file keeps its
/// mode.
pub(super) fn put(place: &FilePlace, path: &str, text: &str) -> Result<(), String> {
    let before = place.look(path)?;
    before.as_ref().map_or(Ok(()), |stat| plain(stat, path))?;
    let (name, mut file) = beside(place).map_err(|e| format!("cannot write `{path}`: {}", words(e)))?;
    let mut write = || -> std::io::Result<()> {
        if let Some(stat) = before {
            fchmod(file.as_fd(), Mode::from_bits_truncate(stat.st_mode))?;
        }
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        Ok(renameat(&place.parent, name.as_str(), &place.parent, place.name.as_str())?)
    };
    write().map_err(|e| {
        // It holds nothing that anybody has seen.
        let _ = unlinkat(&place.parent, name.as_str(), UnlinkatFlags::NoRemoveDir);
        format!("cannot write `{path}`: {}", crate::system::reason(&e, "folder"))
    })
}

/// Creates a new file with an unused name.
fn beside(place: &FilePlace) -> Result<(String, File), Errno> {
    let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    for n in 0..100_u32 {
        let name = format!(".harn-{}-{n}.tmp", std::process::id());
        match openat(&place.parent, name.as_str(), flags, Mode::from_bits_truncate(0o666)) {
            Ok(opened) => return Ok((name, opened.into())),
            Err(Errno::EEXIST) => {}
            Err(e) => return Err(e),
        }
    }
    Err(Errno::EEXIST)
}
