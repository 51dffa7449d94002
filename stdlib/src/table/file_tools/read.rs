//! Reading a file, listing a folder.

use crate::confined_folder::{self, Root};
use base::data::Data;
use nix::dir::Type;
use std::fmt::Write;
use std::io::Read;
use std::sync::Arc;

/// The largest file that a tool reads, in bytes.
pub(super) const LARGEST: u64 = 16 << 20;
/// The maximum number of names in a list, and its maximum depth.
const MOST_NAMES: usize = 2_000;
const DEEPEST: usize = 32;

/// The text of a file, or some of its lines.
pub(super) fn file(root: &Root, path: &str, arguments: &Data) -> Result<String, String> {
    let text = text(root, path)?;
    let line = |key: &str| arguments.get(key).as_int().and_then(|n| usize::try_from(n).ok());
    let (first, last) = (line("first_line"), line("last_line"));
    if first.is_none() && last.is_none() {
        return Ok(text);
    }
    let (first, last) = (first.unwrap_or(1), last.unwrap_or(usize::MAX));
    if last < first {
        return Err(format!("`last_line` ({last}) is before `first_line` ({first})"));
    }
    let lines: String = text.split_inclusive('\n').skip(first - 1).take((last - first).saturating_add(1)).collect();
    if lines.is_empty() {
        return Err(format!("`{path}` has only {} lines", text.lines().count()));
    }
    Ok(lines)
}

/// The text of a file.
pub(super) fn text(root: &Root, path: &str) -> Result<String, String> {
    String::from_utf8(bytes(root, path)?).map_err(|_| format!("`{path}` is not UTF-8 text"))
}

/// Returns the current content of a file to be written, if it is text; `None` if there is no such
/// file.
pub(super) fn present(root: &Root, path: &str) -> Result<Option<Arc<str>>, String> {
    // A folder above it may be missing. What else is wrong with the path, the write reports.
    let Ok(place) = root.place(path, false) else { return Ok(None) };
    if place.look(path)?.is_none() {
        return Ok(None);
    }
    Ok(Some(String::from_utf8_lossy(&bytes(root, path)?).into()))
}

fn bytes(root: &Root, path: &str) -> Result<Vec<u8>, String> {
    let (file, stat) = root.place(path, false)?.open(path)?;
    if u64::try_from(stat.st_size).unwrap_or(0) > LARGEST {
        return Err(format!("`{path}` is larger than {} MiB", LARGEST >> 20));
    }
    let mut bytes = Vec::new();
    // It may grow while it is read.
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|e| format!("cannot read `{path}`: {e}"))?;
    if bytes.len() as u64 > LARGEST {
        return Err(format!("`{path}` is larger than {} MiB", LARGEST >> 20));
    }
    Ok(bytes)
}

/// The names in a folder, sorted; whether there are more.
pub(super) fn folder(
    root: &Root,
    path: &str,
    recursive: bool,
    given_up: &super::GivenUp,
) -> Result<(String, bool), String> {
    let mut out = String::new();
    let mut count = 0;
    let mut open = vec![(String::new(), 0)];
    while let Some((below, depth)) = open.pop() {
        given_up.check()?;
        let mut inner = Vec::new();
        let listed = match entries(root, &joined(path, &below)) {
            Ok(listed) => listed,
            // One folder that may not be read does not end the list.
            Err(_) if depth > 0 => continue,
            Err(why) => return Err(why),
        };
        for (name, is_folder) in listed {
            if count == MOST_NAMES {
                let _ = write!(out, "[more than {MOST_NAMES} names; list a subfolder]");
                return Ok((out, true));
            }
            count += 1;
            let name = joined(&below, &name);
            let _ = writeln!(out, "{name}{}", if is_folder { "/" } else { "" });
            if is_folder && recursive && depth < DEEPEST {
                inner.push((name, depth + 1));
            }
        }
        open.extend(inner.into_iter().rev());
    }
    Ok((out, false))
}

/// The names in a folder in order, and whether each is a folder.
pub(super) fn entries(root: &Root, path: &str) -> Result<Vec<(String, bool)>, String> {
    let mut names = Vec::new();
    for entry in root.folder(path)?.iter() {
        let entry = entry.map_err(|e| format!("cannot list `{path}`: {}", confined_folder::words(e)))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name == "." || name == ".." {
            continue;
        }
        let is_folder = match entry.file_type() {
            Some(kind) => kind == Type::Directory,
            // Some file systems do not say.
            None => root.folder(&joined(path, &name)).is_ok(),
        };
        names.push((name, is_folder));
    }
    names.sort();
    Ok(names)
}

pub(super) fn joined(folder: &str, name: &str) -> String {
    match (folder, name) {
        ("" | ".", name) => name.to_owned(),
        (folder, "") => folder.to_owned(),
        (folder, name) => format!("{}/{name}", folder.trim_end_matches('/')),
    }
}
