//! Opening files whose names come from outside: scripts, packs, settings, facts and paths that a script names.
//!
//! A name may lead to a pipe that nobody writes to, to a device that never ends, or to a socket. [`open`] and [`open_with`]
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

/// Opens a regular file as `options` say, or creates it if they do.
///
/// # Errors
/// As [`open`].
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
/// As [`open`], and `FileTooLarge`.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    read_open(&open(path)?, most)
}

/// Reads the rest of an open file, at most `most` bytes.
///
/// # Errors
/// The system's own, and `FileTooLarge`.
pub fn read_open(file: &File, most: u64) -> io::Result<Vec<u8>> {
    let length = file.metadata()?.len();
    let too_large = || io::Error::new(io::ErrorKind::FileTooLarge, format!("it is larger than {}", size(most)));
    if length > most {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(usize::try_from(length).unwrap_or(usize::MAX))?;
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(too_large()) } else { Ok(bytes) }
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
    use std::time::{Duration, Instant};

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
        let began = Instant::now();
        for (path, says) in [(pipe.as_path(), "named pipe"), (&socket, "socket"), (Path::new("/dev/zero"), "device")] {
            for error in [
                read(path, 10).unwrap_err(),
                open_with(OpenOptions::new().append(true).create(true), path).unwrap_err(),
                open_with(OpenOptions::new().write(true).truncate(true).create(true), path).unwrap_err(),
            ] {
                assert!(error.to_string().contains(says), "{error}");
            }
        }
        assert!(began.elapsed() < Duration::from_secs(1));
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
        // Reports no length and holds some.
        assert_eq!(read(Path::new("/proc/self/status"), 3).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        fs::remove_dir_all(folder).unwrap();
    }
}
