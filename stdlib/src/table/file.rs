//! Files. Errors name a path as the script has written it. Only regular files are opened: a pipe or a device could make a
//! run wait for ever.
//!
//! Each operation exists twice. A run waits for it on the blocking pool ([`crate::disk`]); what the system has in memory is read
//! without a wait. A pack, which may not wait, and a run whose time does not follow the system's, which must happen again in the
//! same order, do it at once.

use crate::capability::Capability;
use crate::disk::{Disk, PART};
use crate::here;
use crate::world::World;
use base::files;
use lang::builtins::{PlainFn, Right, args};
use lang::value::{Str, Value};
use lang::vm::{Cx, Outcome, Raise, RunCode, Wait, take_over};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

const READ: &[Right] = &[Capability::FsRead.right()];
const WRITE: &[Right] = &[Capability::FsWrite.right()];

lang::builtins! { "" =>
    /// Returns the text of a regular file of at most 256 MiB.
    ///
    /// ```harn
    /// write_file("a.txt", "hello")
    /// read_file("a.txt") // => "hello"
    /// ```
    waits "read_file(path: string) -> string" [caps = READ] read_file;
    /// Writes a regular file, and replaces the one that was there.
    ///
    /// ```harn
    /// write_file("a.txt", "one\n")
    /// write_file("a.txt", "two\n")
    /// read_file("a.txt") // => "two\n"
    /// ```
    waits "write_file(path: string, text: string) -> nil" [caps = WRITE] write_file;
    /// Appends to a regular file, and creates it if it does not exist.
    ///
    /// ```harn
    /// append_file("a.log", "one\n")
    /// append_file("a.log", "two\n")
    /// read_file("a.log").lines() // => ["one", "two"]
    /// ```
    waits "append_file(path: string, text: string) -> nil" [caps = WRITE] append_file;
    /// Returns whether a path leads to a file or folder.
    ///
    /// ```harn
    /// file_exists("none.txt") // => false
    /// ```
    waits "file_exists(path: string) -> bool" [caps = READ] file_exists;
    /// Returns the names in a folder, in order.
    ///
    /// ```harn
    /// write_file("b.txt", "")
    /// write_file("a.txt", "")
    /// list_dir(".") // => ["a.txt", "b.txt"]
    /// ```
    waits "list_dir(path: string) -> list<string>" [caps = READ] list_dir;
    /// Makes a folder and those above it.
    ///
    /// ```harn
    /// mkdir("out/reports")
    /// list_dir("out") // => ["reports"]
    /// ```
    waits "mkdir(path: string) -> nil" [caps = WRITE] mkdir;
    /// Removes a file.
    ///
    /// ```harn
    /// write_file("a.txt", "")
    /// delete_file("a.txt")
    /// file_exists("a.txt") // => false
    /// ```
    waits "delete_file(path: string) -> nil" [caps = WRITE] delete_file;
    /// Joins paths with the system's separator. A path from the root replaces what is before it.
    ///
    /// ```harn
    /// path_join("docs", "guide", "a.md") // => "docs/guide/a.md"
    /// ```
    plain "path_join(...parts) -> string" path_join;
    /// Returns the system's folder for temporary files. `make_temp_dir` makes a new folder in it.
    ///
    /// ```harn
    /// temp_dir() == "" // => false
    /// ```
    plain "temp_dir() -> string" temp_dir;
}

/// The largest file that `read_file` reads, in bytes.
const MOST_READ: u64 = 256 << 20;

pub(super) fn failed(verb: &str, path: &str, e: &io::Error) -> Box<Raise> {
    let why = match e.kind() {
        io::ErrorKind::NotFound => "the file or folder does not exist".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => e.to_string(),
    };
    Raise::error(RunCode::Outside, format!("cannot {verb} `{path}`: {why}")).about(0, "").field("path", path)
}

/// Returns the path among the arguments. A pack of providers belongs to no run, and starts in the
/// process's working directory.
fn place(cx: &Cx<'_>, args: &[Value]) -> Result<PathBuf, Box<Raise>> {
    place_at(cx, args, 0)
}

/// Does the same for another argument.
pub(super) fn place_at(cx: &Cx<'_>, args: &[Value], i: usize) -> Result<PathBuf, Box<Raise>> {
    let path = args::str(args, i)?.as_str();
    Ok(cx.host::<World>().map_or_else(|| path.into(), |world| world.path(path)))
}

/// File operations for callers that may not wait.
pub(crate) const AT_ONCE: [(&str, PlainFn); 7] = [
    ("append_file", |cx, args| act_now(cx, args, Act::Append)),
    ("delete_file", |cx, args| act_now(cx, args, Act::Delete)),
    ("file_exists", |cx, args| act_now(cx, args, Act::Exists)),
    ("list_dir", |cx, args| act_now(cx, args, Act::List)),
    ("mkdir", |cx, args| act_now(cx, args, Act::MakeFolder)),
    ("read_file", read_now),
    ("write_file", |cx, args| act_now(cx, args, Act::Write)),
];

/// The largest file that is read without a wait if the system has it in memory, in bytes: a copy of it takes a thread some
/// milliseconds at most. A first wait makes the process one of several threads, in which each allocation costs more.
const READ_AT_ONCE: usize = 8 << 20;

/// The limit for a run with less memory left: a copy takes less time than a wait.
const READ_AT_ONCE_IN_LITTLE: usize = 128 << 10;

/// The world of a run that can wait for its files.
pub(super) fn world_that_waits(cx: &Cx<'_>) -> Option<Rc<World>> {
    here::world(cx).ok().filter(|world| world.clock.follows_system())
}

fn read_file(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    read_as(cx, args, |_, path, bytes| text(path, bytes))
}

/// Reads the file that the first argument names. `read_as` makes a value of its content, and gets the path for errors.
pub(super) fn read_as(
    cx: &Cx<'_>,
    args: &[Value],
    read_as: impl FnOnce(&Cx<'_>, &str, Vec<u8>) -> Outcome + 'static,
) -> Result<Wait, Box<Raise>> {
    let Some(world) = world_that_waits(cx) else {
        return read_at_once(cx, args, read_as).map(|text| Wait::ready(Ok(text)));
    };
    let place = place(cx, args)?;
    let path = args::str(args, 0)?.clone();
    // The text is made of the bytes, so that there are two copies for a moment.
    let has_room = cx.check_copy(2 * READ_AT_ONCE).is_ok();
    let most = if has_room { READ_AT_ONCE } else { READ_AT_ONCE_IN_LITTLE };
    if world.services.disk.is_quiet()
        && let Some(bytes) = files::read_cached(&place, most)
    {
        cx.check_size(Some(bytes.len()))?;
        return read_as(cx, &path, bytes).map(|value| Wait::ready(Ok(value)));
    }
    let (isolate, context) = (cx.isolate.clone(), cx.context.clone());
    Ok(Wait::new(async move {
        let cx = Cx { isolate: &isolate, context: &context };
        let bytes = read_on_pool(&cx, &world.services.disk, &path, place).await?;
        read_as(&cx, &path, bytes)
    }))
}

async fn read_on_pool(cx: &Cx<'_>, disk: &Disk, path: &str, place: PathBuf) -> Result<Vec<u8>, Box<Raise>> {
    let failed = |e: io::Error| failed("read", path, &e);
    let room = |e: std::collections::TryReserveError| failed(e.into());
    let mut turn = disk.turn(false).await;
    let open = |place: &mut PathBuf| files::open(place).and_then(|file| Ok((file.metadata()?.len(), file)));
    let (_place, (length, mut file)) = turn.run(place, open).await.map_err(failed)?;
    cx.check_size(usize::try_from(length).ok())?;
    if length > MOST_READ {
        return Err(failed(files::too_large(MOST_READ)));
    }
    let mut bytes = Vec::new();
    // One more, so that the end is seen.
    bytes.try_reserve_exact(usize::try_from(length).unwrap_or(usize::MAX).saturating_add(1)).map_err(room)?;
    loop {
        let ended;
        let read = |state: &mut (File, Vec<u8>)| files::read_part(&state.0, &mut state.1, PART);
        ((file, bytes), ended) = turn.run((file, bytes), read).await.map_err(failed)?;
        if bytes.len() as u64 > MOST_READ {
            return Err(failed(files::too_large(MOST_READ)));
        }
        if ended {
            return Ok(bytes);
        }
        if bytes.len() == bytes.capacity() {
            // It has grown, or its length was not known.
            let more = bytes.len().max(64 << 10);
            cx.check_size(bytes.len().checked_add(more))?;
            bytes.try_reserve_exact(more).map_err(room)?;
        }
    }
}

fn read_now(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    read_at_once(cx, args, |_, path, bytes| text(path, bytes))
}

fn read_at_once(cx: &Cx<'_>, args: &[Value], read_as: impl FnOnce(&Cx<'_>, &str, Vec<u8>) -> Outcome) -> Outcome {
    let (path, place) = (args::str(args, 0)?, place(cx, args)?);
    let file = files::open(&place).map_err(|e| failed("read", path, &e))?;
    let size = file.metadata().map_err(|e| failed("read", path, &e))?.len();
    cx.check_size(usize::try_from(size).ok())?;
    let bytes = files::read_open(&file, MOST_READ).map_err(|e| failed("read", path, &e))?;
    read_as(cx, path, bytes)
}

pub(super) fn text(path: &str, bytes: Vec<u8>) -> Outcome {
    String::from_utf8(bytes).map(Value::from).map_err(|e| {
        let at = e.utf8_error().valid_up_to();
        Raise::error(RunCode::Outside, format!("`{path}` is not UTF-8 text: byte {at} does not start a character"))
            .about(0, "")
    })
}

/// An operation other than reading.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Act {
    Write,
    Append,
    Exists,
    List,
    MakeFolder,
    Delete,
}

/// The result of an operation.
enum FileOperationResult {
    Nothing,
    Is(bool),
    Names(Vec<String>),
    /// The file to be written to.
    File(File),
}

impl Act {
    fn verb(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Append => "append to",
            Self::Exists => "look at",
            Self::List => "list",
            Self::MakeFolder => "make",
            Self::Delete => "delete",
        }
    }

    fn changes(self) -> bool {
        !matches!(self, Self::Exists | Self::List)
    }

    /// Does it; a file is only opened.
    fn run(self, place: &Path) -> io::Result<FileOperationResult> {
        let open = |options: &fs::OpenOptions| files::open_with(options, place).map(FileOperationResult::File);
        match self {
            Self::Write => open(fs::OpenOptions::new().write(true).truncate(true).create(true)),
            Self::Append => open(fs::OpenOptions::new().append(true).create(true)),
            Self::Exists => Ok(FileOperationResult::Is(place.exists())),
            Self::List => names(place).map(FileOperationResult::Names),
            Self::MakeFolder => fs::create_dir_all(place).map(|()| FileOperationResult::Nothing),
            Self::Delete => fs::remove_file(place).map(|()| FileOperationResult::Nothing),
        }
    }
}

fn names(place: &Path) -> io::Result<Vec<String>> {
    let mut names: Vec<String> =
        fs::read_dir(place)?.filter_map(Result::ok).map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    Ok(names)
}

fn act_now(cx: &mut Cx<'_>, args: &mut [Value], act: Act) -> Outcome {
    let (path, place) = (args::str(args, 0)?, place(cx, args)?);
    let failed = |e: io::Error| failed(act.verb(), path, &e);
    Ok(match act.run(&place).map_err(failed)? {
        FileOperationResult::Nothing => Value::Nil,
        FileOperationResult::Is(there) => Value::Bool(there),
        FileOperationResult::Names(names) => Value::from(names),
        FileOperationResult::File(mut file) => {
            file.write_all(args::str(args, 1)?.as_bytes()).map_err(failed)?;
            Value::Nil
        }
    })
}

fn act(cx: &mut Cx<'_>, args: &mut [Value], act: Act) -> Result<Wait, Box<Raise>> {
    let Some(world) = world_that_waits(cx) else { return act_now(cx, args, act).map(|value| Wait::ready(Ok(value))) };
    let place = place(cx, args)?;
    let path = args::str(args, 0)?.clone();
    let text = match act {
        Act::Write | Act::Append => args::str(args, 1)?.clone(),
        _ => Str::new(""),
    };
    if act == Act::Exists && world.services.disk.is_quiet() && files::exists_cached(&place) {
        return Ok(Wait::ready(Ok(Value::Bool(true))));
    }
    cx.check_room(text.len().min(PART))?;
    Ok(Wait::new(async move {
        act_on_pool(&world.services.disk, act, place, &text).await.map_err(|e| failed(act.verb(), &path, &e))
    }))
}

async fn act_on_pool(disk: &Disk, act: Act, place: PathBuf, text: &str) -> io::Result<Value> {
    let mut turn = disk.turn(act.changes()).await;
    let mut parts = text.as_bytes().chunks(PART).map(<[u8]>::to_vec);
    // Most texts are one part: no second step for it.
    let first = (place, parts.next().unwrap_or_default());
    let (_first, found) = turn
        .run(first, move |(place, part)| {
            let mut found = act.run(place)?;
            if let FileOperationResult::File(file) = &mut found {
                file.write_all(part)?;
            }
            Ok(found)
        })
        .await?;
    Ok(match found {
        FileOperationResult::Nothing => Value::Nil,
        FileOperationResult::Is(there) => Value::Bool(there),
        FileOperationResult::Names(names) => {
            take_over(names.capacity() * size_of::<String>() + names.iter().map(String::capacity).sum::<usize>());
            Value::from(names)
        }
        FileOperationResult::File(mut file) => {
            for part in parts {
                let written;
                ((file, _), written) =
                    turn.run((file, part), |(file, part): &mut (File, Vec<u8>)| file.write_all(part)).await?;
                let () = written;
            }
            Value::Nil
        }
    })
}

fn write_file(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    act(cx, args, Act::Write)
}

fn append_file(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    act(cx, args, Act::Append)
}

fn file_exists(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    act(cx, args, Act::Exists)
}

fn list_dir(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    act(cx, args, Act::List)
}

fn mkdir(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    act(cx, args, Act::MakeFolder)
}

fn delete_file(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    act(cx, args, Act::Delete)
}

fn path_join(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let mut bytes = 0_usize;
    for i in 0..args.len() {
        bytes = bytes.saturating_add(args::str(args, i)?.len() + 1);
    }
    // The path, and its text.
    cx.check_size(Some(bytes.saturating_mul(2)))?;
    cx.charge_part(bytes, 16);
    let mut path = std::path::PathBuf::with_capacity(bytes);
    for i in 0..args.len() {
        path.push(args::str(args, i)?.as_str());
    }
    Ok(Value::from(path.to_string_lossy().into_owned()))
}

fn temp_dir(_: &mut Cx<'_>, _: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(Value::from(std::env::temp_dir().to_string_lossy().into_owned()))
}
