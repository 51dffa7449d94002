//! Lines of a file, read as they are needed.

use super::file::{failed, place_at, world_that_waits};
use crate::capability::Capability;
use crate::lines::LineBuffer;
use crate::values::{ItemSource, ItemStream, NextItem};
use crate::world::World;
use base::files;
use lang::builtins::{Right, args};
use lang::value::{Str, Value};
use lang::vm::{Cx, Raise, Wait};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::rc::Rc;
use std::sync::Arc;

const READ: &[Right] = &[Capability::FsRead.right()];

lang::builtins! { "" =>
    /// Reads the lines of a text file, without their ends, as a stream: the file is read as the lines are needed, so it may be larger
    /// than the memory. `.to_list()` reads all of them. The file is closed with the stream.
    ///
    /// ```harn
    /// write_file("a.txt", "one\ntwo\n")
    /// read_lines("a.txt").to_list() // => ["one", "two"]
    /// read_lines("a.txt").filter({ line -> line.starts_with("t") }).first() // => "two"
    /// ```
    waits "read_lines(path: string) -> stream<string>" [caps = READ] read_lines;
}

/// Bytes that are read at a time.
const PIECE: usize = 64 << 10;

/// The lines of an open file.
struct OpenFileLines {
    file: Arc<File>,
    path: Str,
    /// The path, for errors.
    name: String,
    /// The bytes that were read.
    offset: u64,
    lines: LineBuffer,
    /// The world of a run that waits for its files.
    world: Option<Rc<World>>,
}

fn read_piece(file: &File, piece: &mut [u8], offset: u64) -> io::Result<usize> {
    loop {
        match file.read_at(piece, offset) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}

impl OpenFileLines {
    /// Reads on. A wait that is given up reads the same bytes again.
    async fn read_on(&mut self) -> Result<(), Box<Raise>> {
        let (offset, mut piece) = (self.offset, vec![0; PIECE]);
        let failed = |error: io::Error| failed("read", &self.path, &error);
        let length = match &self.world {
            None => read_piece(&self.file, &mut piece, offset).map_err(failed)?,
            Some(world) => {
                let mut turn = world.services.disk.turn(false).await;
                let work = move |(file, piece): &mut (Arc<File>, Vec<u8>)| read_piece(file, piece, offset);
                let length;
                ((_, piece), length) = turn.run((self.file.clone(), piece), work).await.map_err(failed)?;
                length
            }
        };
        self.offset += length as u64;
        match length {
            0 => self.lines.end(),
            _ => self.lines.push(&piece[..length]),
        }
        Ok(())
    }
}

impl ItemSource for OpenFileLines {
    fn ready(&mut self) -> Option<NextItem> {
        match self.lines.next(&self.name) {
            Ok(None) => self.lines.is_over().then_some(Ok(None)),
            Ok(Some(line)) => Some(Ok(Some(Value::from(line)))),
            Err(raise) => Some(Err(raise.field("path", self.path.as_str()))),
        }
    }

    async fn next(&mut self) -> NextItem {
        loop {
            if let Some(next) = self.ready() {
                return next;
            }
            self.read_on().await?;
        }
    }
}

fn read_lines(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let place = place_at(cx, args, 0)?;
    let path = args::str(args, 0)?.clone();
    let world = world_that_waits(cx);
    let stream = |file: File, path: Str, world: Option<Rc<World>>| {
        let (file, name, lines) = (Arc::new(file), format!("`{path}`"), LineBuffer::default());
        ItemStream::value(OpenFileLines { file, path, name, offset: 0, lines, world })
    };
    let Some(world) = world else {
        let opened = files::open(&place).map_err(|error| failed("read", &path, &error));
        return Ok(Wait::ready(opened.map(|file| stream(file, path, None))));
    };
    Ok(Wait::new(async move {
        let mut turn = world.services.disk.turn(false).await;
        let opened = turn.run(place, |place| files::open(place)).await;
        drop(turn);
        let (_, file) = opened.map_err(|error| failed("read", &path, &error))?;
        Ok(stream(file, path, Some(world)))
    }))
}
