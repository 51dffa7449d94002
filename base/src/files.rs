//! Opening files whose names come from outside: scripts, packs, settings, facts and paths that a script names.
//!
//! A name may refer to a pipe without a writer, to a device that never ends, or to a socket. [`open`] and [`open_with`]
//! accept regular files only and never wait for another process; [`read`] also limits the size, whatever length the
//! system reports (files of `/proc` report 0).

use std::fs::{self, File, FileType, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use nix::libc::{EISDIR, O_CLOEXEC, O_NOCTTY, O_NONBLOCK};

/// Opens a regular file for reading.
///
/// # Errors
/// The system's own, or `InvalidInput` if the path leads to a pipe, a socket or a device.
pub fn open(path: &Path) -> io::Result<File> {
    open_with(OpenOptions::new().read(true), path)
}

/// Opens or creates a regular file according to `options`.
///
/// # Errors
/// See [`open`].
pub fn open_with(options: &OpenOptions, path: &Path) -> io::Result<File> {
    // Opening a device can have effects of its own, so the type is checked before as well as after.
    if let Ok(found) = fs::metadata(path) {
        regular(&found)?;
    }
    let file = options.clone().custom_flags(O_NONBLOCK | O_CLOEXEC | O_NOCTTY).open(path)?;
    regular(&file.metadata()?)?;
    Ok(file)
}

/// Reads a regular file of at most `most` bytes.
///
/// # Errors
/// See [`open`]; also fails with `FileTooLarge`.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    read_open(&open(path)?, most)
}

/// Reads the rest of an open file, at most `most` bytes.
///
/// # Errors
/// The system's own, and `FileTooLarge`.
pub fn read_open(file: &File, most: u64) -> io::Result<Vec<u8>> {
    let length = file.metadata()?.len();
    if length > most {
        return Err(too_large(most));
    }
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(usize::try_from(length).unwrap_or(usize::MAX))?;
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(too_large(most)) } else { Ok(bytes) }
}

/// Reads into the room that `bytes` has left, at most `most` bytes, without making more room. Returns whether the file ended.
///
/// # Errors
/// The system's own.
pub fn read_part(file: &File, bytes: &mut Vec<u8>, most: usize) -> io::Result<bool> {
    let room = (bytes.capacity() - bytes.len()).min(most);
    let read = file.take(room as u64).read_to_end(bytes)?;
    Ok(read < room)
}

/// Reads a regular file of at most `most` bytes if the system has its path and its whole text in memory: never waits
/// for a disk or a server. Returns `None` also for all unreadable files, so that [`open`] reports the reason.
#[cfg(target_os = "linux")]
#[must_use]
pub fn read_cached(path: &Path, most: usize) -> Option<Vec<u8>> {
    use rustix::fs::{AtFlags, FileType, OFlags, StatxFlags, statx};
    use rustix::io::{IoSliceMut, ReadWriteFlags, preadv2};

    let length = |file: &rustix::fd::OwnedFd| {
        // Use the system's cached metadata, without asking a server.
        let flags = AtFlags::EMPTY_PATH | AtFlags::STATX_DONT_SYNC;
        let found = statx(file, "", flags, StatxFlags::TYPE | StatxFlags::SIZE).ok()?;
        let is_file = FileType::from_raw_mode(found.stx_mode.into()) == FileType::RegularFile;
        usize::try_from(found.stx_size).ok().filter(|length| is_file && (1..=most).contains(length))
    };
    // Opening a device can have effects of its own, so the type is checked before as well as after.
    length(&open_cached(path, OFlags::PATH)?)?;
    let file = open_cached(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY)?;
    let length = length(&file)?;
    let mut bytes = vec![0; length + 1];
    let read = preadv2(&file, &mut [IoSliceMut::new(&mut bytes)], 0, ReadWriteFlags::NOWAIT).ok()?;
    bytes.truncate(read);
    // A shorter file is not fully in memory, and a longer one has changed.
    (read == length).then_some(bytes)
}

/// Returns whether the system knows from memory that the path exists. `false` may mean that it would have to check.
#[cfg(target_os = "linux")]
#[must_use]
pub fn exists_cached(path: &Path) -> bool {
    open_cached(path, rustix::fs::OFlags::PATH).is_some()
}

#[cfg(target_os = "linux")]
fn open_cached(path: &Path, flags: rustix::fs::OFlags) -> Option<rustix::fd::OwnedFd> {
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
    openat2(CWD, path, flags | OFlags::CLOEXEC, Mode::empty(), ResolveFlags::CACHED).ok()
}

/// Returns `None`: other systems cannot report their cache.
#[cfg(not(target_os = "linux"))]
#[must_use]
pub fn read_cached(_: &Path, _: usize) -> Option<Vec<u8>> {
    None
}

/// Checks for a file like [`read_cached`].
#[cfg(not(target_os = "linux"))]
#[must_use]
pub fn exists_cached(_: &Path) -> bool {
    false
}

/// Returns the error for a file of more than `most` bytes.
#[must_use]
pub fn too_large(most: u64) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, format!("it is larger than {}", size(most)))
}

fn regular(found: &Metadata) -> io::Result<()> {
    if found.is_file() {
        return Ok(());
    }
    if found.is_dir() {
        return Err(io::Error::from_raw_os_error(EISDIR));
    }
    let message = format!("it is a {}, not a regular file", kind(found.file_type()));
    Err(io::Error::new(io::ErrorKind::InvalidInput, message))
}

fn kind(found: FileType) -> &'static str {
    match found {
        _ if found.is_fifo() => "named pipe",
        _ if found.is_socket() => "socket",
        _ => "device",
    }
}

fn size(bytes: u64) -> String {
    match bytes {
        _ if bytes >= 1 << 20 && bytes.is_multiple_of(1 << 20) => format!("{} MiB", bytes >> 20),
        _ if bytes >= 1 << 10 && bytes.is_multiple_of(1 << 10) => format!("{} KiB", bytes >> 10),
        _ => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::stat::Mode;

    fn scratch(name: &str) -> std::path::PathBuf {
        let folder = std::env::temp_dir().join(format!("harn-files-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn pipes_devices_and_sockets_are_refused_at_once() {
        let folder = scratch("kinds");
        let pipe = folder.join("pipe");
        nix::unistd::mkfifo(&pipe, Mode::S_IRWXU).unwrap();
        let socket = folder.join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        for (path, says) in [(pipe.as_path(), "named pipe"), (&socket, "socket"), (Path::new("/dev/zero"), "device")] {
            for error in [
                read(path, 10).unwrap_err(),
                open_with(OpenOptions::new().append(true).create(true), path).unwrap_err(),
                open_with(OpenOptions::new().write(true).truncate(true).create(true), path).unwrap_err(),
            ] {
                assert!(error.to_string().contains(says), "{error}");
            }
        }
        assert_eq!(read(&folder, 10).unwrap_err().kind(), io::ErrorKind::IsADirectory);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn the_size_is_limited_whatever_length_is_reported() {
        let folder = scratch("sizes");
        let file = folder.join("file");
        fs::write(&file, "0123456789").unwrap();
        assert_eq!(read(&file, 10).unwrap(), b"0123456789");
        let error = read(&file, 9).unwrap_err();
        assert_eq!(
            (error.kind(), error.to_string().as_str()),
            (io::ErrorKind::FileTooLarge, "it is larger than 9 bytes")
        );
        // Files in `/proc` report no length and have content.
        assert_eq!(read(Path::new("/proc/self/status"), 3).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn only_small_regular_files_are_read_from_memory() {
        let folder = scratch("cached");
        let (file, pipe) = (folder.join("file"), folder.join("pipe"));
        fs::write(&file, "0123456789").unwrap();
        nix::unistd::mkfifo(&pipe, Mode::S_IRWXU).unwrap();
        // The file need not be cached, but if it is, the text is the same.
        assert!(read_cached(&file, 10).is_none_or(|bytes| bytes == b"0123456789"));
        assert_eq!(read_cached(&file, 9), None);
        for path in [&pipe, &folder, &folder.join("none"), Path::new("/dev/zero"), Path::new("/proc/self/status")] {
            assert_eq!(read_cached(path, 10_000), None, "{}", path.display());
        }
        assert!(!exists_cached(&folder.join("none")));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_part_fills_the_room_and_makes_no_more() {
        let folder = scratch("parts");
        let path = folder.join("file");
        fs::write(&path, "0123456789").unwrap();
        let file = open(&path).unwrap();
        let mut bytes = Vec::with_capacity(11);
        let room = bytes.capacity();
        assert!(!read_part(&file, &mut bytes, 4).unwrap());
        assert!(!read_part(&file, &mut bytes, 4).unwrap());
        assert!(read_part(&file, &mut bytes, 4).unwrap());
        assert_eq!((bytes.as_slice(), bytes.capacity()), (&b"0123456789"[..], room));
        fs::remove_dir_all(folder).unwrap();
    }
}
