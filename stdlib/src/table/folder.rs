//! Files and folders as a whole: what they are, where they are, and how they are moved. Texts are in `file`.

use super::file::{failed, place_at, read_as, text, world_that_waits};
use crate::capability::Capability;
use crate::options::{GlobOptions, OptionSet, RemoveOptions, WalkOptions};
use globset::{GlobBuilder, GlobMatcher};
use lang::builtins::{Right, args, parse_json};
use lang::value::Value;
use lang::vm::{Cx, Raise, RunCode, Wait, take_over};
use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};

const READ: &[Right] = &[Capability::FsRead.right()];
const WRITE: &[Right] = &[Capability::FsWrite.right()];

lang::builtins! { "" =>
    /// Returns whether a path leads to a file or folder.
    ///
    /// ```harn
    /// exists("none.txt") // => false
    /// ```
    waits "exists(path: string) -> bool" [caps = READ] exists;
    /// Returns whether a path leads to a folder.
    ///
    /// ```harn
    /// make_dir("out")
    /// [is_dir("out"), is_dir("none")] // => [true, false]
    /// ```
    waits "is_dir(path: string) -> bool" [caps = READ] is_dir;
    /// Returns whether a path leads to a regular file.
    ///
    /// ```harn
    /// write_file("a.txt", "")
    /// [is_file("a.txt"), is_file(".")] // => [true, false]
    /// ```
    waits "is_file(path: string) -> bool" [caps = READ] is_file;
    /// Describes a file or folder: `{size, is_file, is_dir, is_link, modified, mode}`. `modified` is a moment, as of `now`.
    ///
    /// ```harn
    /// write_file("a.txt", "hello")
    /// let found = stat("a.txt")
    /// [found.size, found.is_file, found.modified > 0] // => [5, true, true]
    /// ```
    waits "stat(path: string) -> {size: int, is_file: bool, is_dir: bool, is_link: bool, modified: int, mode: int}" [caps = READ] stat;
    /// Returns the paths of the files and folders that match a pattern, in order: `*` and `?` match within a name, `**` any folders,
    /// `{a,b}` one of both. Names that begin with a point are matched only with `hidden`.
    ///
    /// ```harn
    /// make_dir("src/inner")
    /// write_file("src/a.rs", "")
    /// write_file("src/inner/b.rs", "")
    /// glob("src/**/*.rs") // => ["src/a.rs", "src/inner/b.rs"]
    /// ```
    waits "glob(pattern: string, options: GlobOptions = nil) -> list<string>" [caps = READ] glob;
    /// Returns the paths of the files in a folder and those below it, in order. With `dirs` also folders are returned, with `hidden`
    /// names that begin with a point; `depth` limits the levels. Links are not followed.
    ///
    /// ```harn
    /// make_dir("src/inner")
    /// write_file("src/a.rs", "")
    /// write_file("src/inner/b.rs", "")
    /// walk("src") // => ["src/a.rs", "src/inner/b.rs"]
    /// walk("src", {dirs: true, depth: 1}) // => ["src/a.rs", "src/inner"]
    /// ```
    waits "walk(path: string = \".\", options: WalkOptions = nil) -> list<string>" [caps = READ] walk;
    /// Copies a file, and replaces the one that was there.
    ///
    /// ```harn
    /// write_file("a.txt", "hello")
    /// copy_file("a.txt", "b.txt")
    /// read_file("b.txt") // => "hello"
    /// ```
    waits "copy_file(source: string, target: string) -> nil" [caps = &[Capability::FsRead.right(), Capability::FsWrite.right()]] copy_file;
    /// Renames or moves a file or folder, and replaces the file that was there.
    ///
    /// ```harn
    /// write_file("a.txt", "hello")
    /// rename_file("a.txt", "b.txt")
    /// list_dir(".") // => ["b.txt"]
    /// ```
    waits "rename_file(source: string, target: string) -> nil" [caps = WRITE] rename_file;
    /// Removes a file, a link or an empty folder; with `recursive` a folder with all that it contains.
    ///
    /// ```harn
    /// make_dir("out/inner")
    /// remove("out", {recursive: true})
    /// exists("out") // => false
    /// ```
    waits "remove(path: string, options: RemoveOptions = nil) -> nil" [caps = WRITE] remove;
    /// Makes a folder and those above it.
    ///
    /// ```harn
    /// make_dir("out/reports")
    /// is_dir("out/reports") // => true
    /// ```
    waits "make_dir(path: string) -> nil" [caps = WRITE] make_dir;
    /// Makes a new folder for temporary files, and returns its path. The script removes it.
    ///
    /// ```harn
    /// let folder = make_temp_dir()
    /// is_dir(folder) // => true
    /// remove(folder)
    /// ```
    waits "make_temp_dir(prefix: string = \"harn-\") -> string" [caps = WRITE] make_temp_dir;
    /// Returns the value that the JSON of a file stands for.
    ///
    /// ```harn
    /// write_file("a.json", "{\"n\": 1}")
    /// read_json("a.json") // => {n: 1}
    /// ```
    waits "read_json(path: string) -> any" [caps = READ] read_json;
    /// Writes a value to a file as JSON on several lines.
    ///
    /// ```harn
    /// write_json("a.json", {n: 1})
    /// read_file("a.json") // => "{\n  \"n\": 1\n}\n"
    /// ```
    waits "write_json(path: string, value: any) -> nil" [caps = WRITE] write_json;
    /// Returns the bytes of a file.
    ///
    /// ```harn
    /// write_file("a.txt", "hi")
    /// read_bytes("a.txt").to_list() // => [104, 105]
    /// ```
    waits "read_bytes(path: string) -> bytes" [caps = READ] read_bytes;
    /// Writes bytes to a file, and replaces the one that was there.
    ///
    /// ```harn
    /// write_bytes("a.bin", bytes_from_hex("00ff"))
    /// read_bytes("a.bin").to_list() // => [0, 255]
    /// ```
    waits "write_bytes(path: string, data: bytes | string) -> nil" [caps = WRITE] write_bytes;
    /// Writes a file in one step: another program sees the old text or the new one, also if the run is interrupted.
    ///
    /// ```harn
    /// write_atomic("a.txt", "hello")
    /// read_file("a.txt") // => "hello"
    /// ```
    waits "write_atomic(path: string, data: string | bytes) -> nil" [caps = WRITE] write_atomic;
}

/// Temporary folders of one name in a process.
const MOST_TEMPORARY: usize = 10_000;

/// Entries that a walk through folders returns at most, and folders inside of one another.
const MOST_ENTRIES: usize = 200_000;
const DEEPEST: usize = 100;

/// Runs an operation on files, whose first argument is the path for errors.
fn operate<T: Send + 'static>(
    cx: &Cx<'_>,
    args: &[Value],
    (verb, changes): (&'static str, bool),
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
    to_value: impl FnOnce(T) -> Value + 'static,
) -> Result<Wait, Box<Raise>> {
    let path = args::str(args, 0)?.clone();
    let Some(world) = world_that_waits(cx) else {
        return Ok(Wait::ready(work().map(to_value).map_err(|error| failed(verb, &path, &error))));
    };
    Ok(Wait::new(async move {
        let mut turn = world.services.disk.turn(changes).await;
        let ((), found) = turn.run((), move |()| work()).await.map_err(|error| failed(verb, &path, &error))?;
        Ok(to_value(found))
    }))
}

/// The operation `verb` changes files.
fn change(
    cx: &Cx<'_>,
    args: &[Value],
    verb: &'static str,
    work: impl FnOnce() -> io::Result<()> + Send + 'static,
) -> Result<Wait, Box<Raise>> {
    operate(cx, args, (verb, true), work, |()| Value::Nil)
}

/// The kind of what a path leads to, false for a path that leads nowhere.
fn kind(cx: &Cx<'_>, args: &[Value], is: fn(&Metadata) -> bool) -> Result<Wait, Box<Raise>> {
    let place = place_at(cx, args, 0)?;
    let work = move || match fs::metadata(place) {
        Ok(found) => Ok(is(&found)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(false),
        Err(error) => Err(error),
    };
    operate(cx, args, ("look at", false), work, Value::Bool)
}

fn exists(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    kind(cx, args, |_| true)
}

fn is_dir(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    kind(cx, args, Metadata::is_dir)
}

fn is_file(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    kind(cx, args, Metadata::is_file)
}

fn stat(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let place = place_at(cx, args, 0)?;
    let work = move || Ok((fs::metadata(&place)?, fs::symlink_metadata(&place)?.is_symlink()));
    operate(cx, args, ("look at", false), work, |(found, is_link)| described(&found, is_link))
}

fn described(found: &Metadata, is_link: bool) -> Value {
    let moment = |time: io::Result<SystemTime>| {
        let since = time.ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
        Value::Int(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    };
    #[cfg(unix)]
    let mode = i64::from(std::os::unix::fs::MetadataExt::mode(found) & 0o7777);
    #[cfg(not(unix))]
    let mode = if found.permissions().readonly() { 0o444 } else { 0o644 };
    Value::record([
        ("size", Value::Int(i64::try_from(found.len()).unwrap_or(i64::MAX))),
        ("is_file", Value::Bool(found.is_file())),
        ("is_dir", Value::Bool(found.is_dir())),
        ("is_link", Value::Bool(is_link)),
        ("modified", moment(found.modified())),
        ("mode", Value::Int(mode)),
    ])
}

/// A walk through folders.
struct FolderWalk {
    hidden: bool,
    dirs: bool,
    depth: usize,
    /// The paths that are returned; all if absent.
    matcher: Option<GlobMatcher>,
}

impl FolderWalk {
    /// Returns the paths below a folder, as they begin with `start`, in order.
    fn run(&self, folder: &Path, start: &Path) -> io::Result<Vec<String>> {
        let mut found = Vec::new();
        self.visit(folder, start, 1, &mut found)?;
        found.sort();
        Ok(found)
    }

    fn visit(&self, folder: &Path, start: &Path, level: usize, found: &mut Vec<String>) -> io::Result<()> {
        if level > self.depth.min(DEEPEST) {
            return Ok(());
        }
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            // A folder below that cannot be read does not end the walk.
            Err(_) if level > 1 => return Ok(()),
            Err(error) => return Err(error),
        };
        for entry in entries.filter_map(Result::ok) {
            let name = entry.file_name();
            if !self.hidden && name.to_string_lossy().starts_with('.') {
                continue;
            }
            let path = start.join(&name);
            let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let is_wanted = self.matcher.as_ref().is_none_or(|matcher| matcher.is_match(&path));
            if is_wanted && (self.dirs || !is_dir) {
                if found.len() == MOST_ENTRIES {
                    return Err(io::Error::other(format!("there are more than {MOST_ENTRIES} entries")));
                }
                found.push(path.to_string_lossy().into_owned());
            }
            if is_dir {
                self.visit(&entry.path(), &path, level + 1, found)?;
            }
        }
        Ok(())
    }
}

/// Paths that another thread has made.
fn paths(paths: Vec<String>) -> Value {
    take_over(paths.capacity() * size_of::<String>() + paths.iter().map(String::capacity).sum::<usize>());
    Value::from(paths)
}

fn glob(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let pattern = args::str(args, 0)?;
    let GlobOptions { hidden } = GlobOptions::read(cx, args, 1)?;
    // A pattern is compiled to an automaton, and longer ones are mistakes.
    if pattern.len() > 4096 {
        return Err(Raise::error(RunCode::Value, "pattern longer than 4096 bytes").about(0, ""));
    }
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    let matcher = GlobBuilder::new(pattern)
        .literal_separator(true)
        .build()
        .map_err(|error| Raise::error(RunCode::Value, format!("invalid pattern: {}", error.kind())).about(0, ""))?;
    // The walk begins in the folder up to the first special character.
    let special = pattern.find(['*', '?', '[', '{']).unwrap_or(pattern.len());
    let start = pattern[..special].rfind('/').map_or("", |at| &pattern[..=at]);
    let levels = pattern[start.len()..].matches('/').count() + 1;
    let walk = FolderWalk {
        hidden: hidden || pattern.starts_with('.') || pattern.contains("/."),
        dirs: true,
        depth: if pattern.contains("**") || pattern.contains('{') { DEEPEST } else { levels },
        matcher: Some(matcher.compile_matcher()),
    };
    let folder = place_at(cx, &[Value::str(if start.is_empty() { "." } else { start })], 0)?;
    let start = PathBuf::from(start);
    let work = move || match walk.run(&folder, &start) {
        // A folder that is not there has no matches.
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(Vec::new()),
        found => found,
    };
    operate(cx, args, ("list", false), work, paths)
}

fn walk(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    if args[0].is_nil() {
        args[0] = Value::str(".");
    }
    let WalkOptions { dirs, hidden, depth } = WalkOptions::read(cx, args, 1)?;
    let walk = FolderWalk { hidden, dirs, depth: depth.unwrap_or(DEEPEST), matcher: None };
    let folder = place_at(cx, args, 0)?;
    let start = match args::str(args, 0)?.as_str() {
        "." => PathBuf::new(),
        path => PathBuf::from(path),
    };
    operate(cx, args, ("list", false), move || walk.run(&folder, &start), paths)
}

fn copy_file(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let (from, to) = (place_at(cx, args, 0)?, place_at(cx, args, 1)?);
    change(cx, args, "copy", move || {
        // Only regular files: a pipe could make the run wait for ever.
        drop(base::files::open(&from)?);
        fs::copy(from, to).map(drop)
    })
}

fn rename_file(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let (from, to) = (place_at(cx, args, 0)?, place_at(cx, args, 1)?);
    change(cx, args, "rename", move || fs::rename(from, to))
}

fn remove(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let RemoveOptions { recursive } = RemoveOptions::read(cx, args, 1)?;
    let place = place_at(cx, args, 0)?;
    change(cx, args, "remove", move || match fs::symlink_metadata(&place)?.is_dir() {
        true if recursive => fs::remove_dir_all(place),
        true => fs::remove_dir(place),
        false => fs::remove_file(place),
    })
}

fn make_dir(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let place = place_at(cx, args, 0)?;
    change(cx, args, "make", move || fs::create_dir_all(place))
}

fn make_temp_dir(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    if args[0].is_nil() {
        args[0] = Value::str("harn-");
    }
    let prefix = args::str(args, 0)?;
    if prefix.len() > 100 || prefix.contains('/') {
        return Err(Raise::error(RunCode::Value, "expected a prefix of at most 100 bytes without `/`").about(0, ""));
    }
    // A run with a seed makes the same names again, so the process is a part of them; another run of the process may have one.
    let random = cx.isolate.host().random();
    let name = format!("{}{:x}-{random:016x}", prefix.as_str(), std::process::id());
    let work = move || {
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        let mut place = std::env::temp_dir().join(&name);
        for number in 1.. {
            match builder.create(&place) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < MOST_TEMPORARY => {
                    place.set_file_name(format!("{name}-{number}"));
                }
                made => {
                    made?;
                    break;
                }
            }
        }
        Ok(place.to_string_lossy().into_owned())
    };
    operate(cx, args, ("make", true), work, Value::from)
}

fn read_json(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    read_as(cx, args, |cx, path, bytes| {
        // Values are larger than their texts.
        cx.check_room(bytes.len().saturating_mul(4))?;
        cx.charge(bytes.len(), 4);
        let value = text(path, bytes)?;
        parse_json(value.as_str().unwrap_or_default()).map_err(|mut raise| {
            raise.message = format!("cannot read `{path}`: {}", raise.message);
            raise.about(0, "").field("path", path)
        })
    })
}

fn write_json(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let mut text = lang::builtins::json_text_pretty(&args[1]).map_err(|raise| raise.about(1, ""))?;
    text.push('\n');
    cx.charge(text.len(), 2);
    cx.check_size(Some(text.len()))?;
    write(cx, args, text.into_bytes(), false)
}

fn read_bytes(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    read_as(cx, args, |_, _, bytes| Ok(Value::Bytes(Rc::new(bytes))))
}

/// The bytes of an argument, or of its text.
fn data(cx: &Cx<'_>, args: &[Value], i: usize) -> Result<Vec<u8>, Box<Raise>> {
    let data = match &args[i] {
        Value::Str(text) => text.as_bytes(),
        Value::Bytes(bytes) => bytes,
        _ => return Err(args::mismatch(args, i, "a string or bytes")),
    };
    cx.charge_part(data.len(), 16);
    cx.check_copy(data.len())?;
    Ok(data.to_vec())
}

fn write_bytes(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let data = data(cx, args, 1)?;
    write(cx, args, data, false)
}

fn write_atomic(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let data = data(cx, args, 1)?;
    write(cx, args, data, true)
}

fn write(cx: &Cx<'_>, args: &[Value], data: Vec<u8>, in_one_step: bool) -> Result<Wait, Box<Raise>> {
    let place = place_at(cx, args, 0)?;
    let random = cx.isolate.host().random();
    let options = || {
        let mut options = fs::OpenOptions::new();
        options.write(true).truncate(true).create(true);
        options
    };
    change(cx, args, "write", move || {
        if !in_one_step {
            return base::files::open_with(&options(), &place)?.write_all(&data);
        }
        let name = place.file_name().ok_or_else(|| io::Error::from(io::ErrorKind::IsADirectory))?;
        let name = format!(".{}.{:x}-{random:x}.new", name.to_string_lossy(), std::process::id());
        let new = place.with_file_name(name);
        let replaced = File::create_new(&new)
            .and_then(|mut file| {
                if let Ok(old) = fs::metadata(&place) {
                    file.set_permissions(old.permissions())?;
                }
                file.write_all(&data)?;
                file.sync_all()
            })
            .and_then(|()| fs::rename(&new, &place));
        if replaced.is_err() {
            let _ = fs::remove_file(&new);
        }
        replaced
    })
}
