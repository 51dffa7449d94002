//! Files. Errors name a path as the script has written it. Only regular files are opened: a pipe or a device could make a
//! run wait for ever, and these rows answer at once, so that packs can have them.

use crate::world::World;
use lang::builtins::{Capability, args};
use lang::value::Value;
use lang::vm::{Cx, Raise, codes};
use runtime::files;
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

const READ: &[Capability] = &[Capability::FsRead];
const WRITE: &[Capability] = &[Capability::FsWrite];

lang::builtins! { "" =>
    /// The text of a regular file of at most 256 MiB.
    plain "read_file(path: string) -> string" [caps = READ] read_file;
    /// Writes a regular file, replacing what was there.
    plain "write_file(path: string, text: string) -> nil" [caps = WRITE] write_file;
    /// Appends to a regular file.
    plain "append_file(path: string, text: string) -> nil" [caps = WRITE] append_file;
    /// Whether a path leads to anything.
    plain "file_exists(path: string) -> bool" [caps = READ] file_exists;
    /// The names in a folder, in order.
    plain "list_dir(path: string) -> list<string>" [caps = READ] list_dir;
    /// Makes a folder and those above it.
    plain "mkdir(path: string) -> nil" [caps = WRITE] mkdir;
    /// Removes a file.
    plain "delete_file(path: string) -> nil" [caps = WRITE] delete_file;
    /// Paths joined with the system's separator.
    plain "path_join(...parts) -> string" path_join;
    /// The system's folder for temporary files.
    plain "temp_dir() -> string" temp_dir;
}

/// The largest file that `read_file` reads, in bytes.
const MOST_READ: u64 = 256 << 20;

fn failed(verb: &str, path: &str, e: &io::Error) -> Box<Raise> {
    let why = match e.kind() {
        io::ErrorKind::NotFound => "there is no such file or folder".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => e.to_string(),
    };
    Raise::error(codes::OUTSIDE, format!("cannot {verb} `{path}`: {why}")).about(0, "").field("path", path)
}

/// Where the path among the arguments leads to. A pack of providers belongs to no run, and begins where the process is.
fn place(cx: &Cx<'_>, args: &[Value]) -> Result<PathBuf, Box<Raise>> {
    let path = args::str(args, 0)?.as_str();
    Ok(cx.host::<World>().map_or_else(|| path.into(), |world| world.path(path)))
}

fn read_file(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let (path, place) = (args::str(args, 0)?, place(cx, args)?);
    let file = files::open(&place).map_err(|e| failed("read", path, &e))?;
    let size = file.metadata().map_err(|e| failed("read", path, &e))?.len();
    cx.check_size(usize::try_from(size).ok())?;
    let bytes = files::read_open(&file, MOST_READ).map_err(|e| failed("read", path, &e))?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Value::from(text)),
        Err(e) => {
            let at = e.utf8_error().valid_up_to();
            Err(Raise::error(codes::OUTSIDE, format!("`{path}` is not UTF-8 text: byte {at} begins no character"))
                .about(0, ""))
        }
    }
}

fn write_file(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let (path, place) = (args::str(args, 0)?, place(cx, args)?);
    let text = args::str(args, 1)?;
    let file = files::open_with(fs::OpenOptions::new().write(true).truncate(true).create(true), &place);
    file.and_then(|mut f| f.write_all(text.as_bytes())).map_err(|e| failed("write", path, &e))?;
    Ok(Value::Nil)
}

fn append_file(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let (path, place) = (args::str(args, 0)?, place(cx, args)?);
    let text = args::str(args, 1)?;
    let file = files::open_with(fs::OpenOptions::new().append(true).create(true), &place);
    file.and_then(|mut f| f.write_all(text.as_bytes())).map_err(|e| failed("append to", path, &e))?;
    Ok(Value::Nil)
}

fn file_exists(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(Value::Bool(place(cx, args)?.exists()))
}

fn list_dir(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let (path, place) = (args::str(args, 0)?, place(cx, args)?);
    let entries = fs::read_dir(place).map_err(|e| failed("list", path, &e))?;
    let mut names: Vec<String> =
        entries.filter_map(Result::ok).map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    Ok(Value::from(names))
}

fn mkdir(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let (path, place) = (args::str(args, 0)?, place(cx, args)?);
    fs::create_dir_all(place).map_err(|e| failed("make", path, &e))?;
    Ok(Value::Nil)
}

fn delete_file(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let (path, place) = (args::str(args, 0)?, place(cx, args)?);
    fs::remove_file(place).map_err(|e| failed("delete", path, &e))?;
    Ok(Value::Nil)
}

fn path_join(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let mut path = std::path::PathBuf::new();
    for i in 0..args.len() {
        path.push(args::str(args, i)?.as_str());
    }
    Ok(Value::from(path.to_string_lossy().into_owned()))
}

fn temp_dir(_: &mut Cx<'_>, _: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(Value::from(std::env::temp_dir().to_string_lossy().into_owned()))
}
