//! Standard input. A thread of its own reads it, so that other tasks go on while a line is awaited; it is started by the
//! first who asks.

use crate::codes::SystemCode;
use crate::here;
use crate::world::World;
use lang::value::Value;
use lang::vm::{Cx, Raise, Wait};
use std::cell::{Cell, OnceCell};
use std::io::{self, BufRead, Read};
use std::rc::Rc;
use std::sync::mpsc;
use tokio::sync::oneshot;

lang::builtins! { "" =>
    /// The next line of standard input without its line break; nil at its end.
    ///
    /// ```harn
    /// read_line() // => nil
    /// ```
    waits "read_line() -> string | nil" read_line;
    /// All of standard input that has not been read yet.
    ///
    /// ```harn
    /// read_stdin() // => ""
    /// ```
    waits "read_stdin() -> string" read_stdin;
}

/// Bytes of a line, and a sixteenth of what is read of all.
const MOST: u64 = 16 << 20;

#[derive(Clone, Copy)]
enum Wanted {
    Line,
    All,
}

/// The input, or `None` at its end.
type Answer = io::Result<Option<Vec<u8>>>;

/// Standard input of a run.
#[derive(Default)]
pub(crate) struct Input {
    /// Whether the script was read from it.
    is_script: Cell<bool>,
    reader: OnceCell<mpsc::Sender<(Wanted, oneshot::Sender<Answer>)>>,
}

impl Input {
    /// Returns the standard input of a run.
    pub(crate) fn of(world: &World) -> Rc<Input> {
        world.part(Input::default)
    }

    /// Marks it as read: it contained the script.
    pub(crate) fn was_script(&self) {
        self.is_script.set(true);
    }

    /// Reports a read of what contained the script: it would look like an empty input.
    fn check(&self) -> Result<(), Box<Raise>> {
        if !self.is_script.get() {
            return Ok(());
        }
        let message = "cannot read standard input: it contained the script; save the script in a file";
        Err(Raise::error(SystemCode::Input, message))
    }

    fn ask(&self, wanted: Wanted) -> oneshot::Receiver<Answer> {
        let (tell, answer) = oneshot::channel();
        let reader = self.reader.get_or_init(|| {
            let (asks, asked) = mpsc::channel();
            // Without a thread there is no answer, which the caller notices.
            let _ = std::thread::Builder::new().name("stdin".to_owned()).spawn(move || serve(&asked));
            asks
        });
        let _ = reader.send((wanted, tell));
        answer
    }
}

fn serve(asked: &mpsc::Receiver<(Wanted, oneshot::Sender<Answer>)>) {
    // What was read for someone who has gone away is for the next one.
    let mut kept = Vec::new();
    while let Ok((wanted, tell)) = asked.recv() {
        let answer = read(wanted, std::mem::take(&mut kept));
        if let Err(Ok(Some(unheard))) = tell.send(answer) {
            kept = unheard;
        }
    }
}

fn read(wanted: Wanted, mut bytes: Vec<u8>) -> Answer {
    let input = io::stdin().lock();
    match wanted {
        Wanted::Line if bytes.contains(&b'\n') => Ok(Some(bytes)),
        Wanted::Line => {
            input.take(MOST + 1).read_until(b'\n', &mut bytes)?;
            Ok((!bytes.is_empty()).then_some(bytes))
        }
        Wanted::All => {
            input.take(16 * MOST + 1).read_to_end(&mut bytes)?;
            Ok(Some(bytes))
        }
    }
}

fn text(answer: Result<Answer, oneshot::error::RecvError>, most: u64) -> Result<Option<String>, Box<Raise>> {
    let failed = |why: String| Raise::error(SystemCode::Input, format!("cannot read standard input: {why}"));
    let bytes =
        answer.map_err(|_| failed("could not start a thread".to_owned()))?.map_err(|e| failed(e.to_string()))?;
    let Some(bytes) = bytes else { return Ok(None) };
    if bytes.len() as u64 > most {
        let message = format!("standard input holds more than {} MiB at once", most >> 20);
        return Err(Raise::error(SystemCode::TooMuch, message).field("category", "too_large"));
    }
    String::from_utf8(bytes).map(Some).map_err(|e| {
        failed(format!("it is not UTF-8 text: byte {} does not start a character", e.utf8_error().valid_up_to()))
    })
}

fn read_line(cx: &mut Cx<'_>, _: &mut [Value]) -> Result<Wait, Box<Raise>> {
    line(&here::world(cx)?)
}

/// Reads the next line, as `read_line` returns it.
pub(super) fn line(world: &Rc<World>) -> Result<Wait, Box<Raise>> {
    let input = Input::of(world);
    input.check()?;
    let (world, answer) = (world.clone(), input.ask(Wanted::Line));
    Ok(Wait::new(async move {
        let _outside = world.clock.outside();
        Ok(match text(answer.await, MOST)? {
            None => Value::Nil,
            Some(mut line) => {
                if line.ends_with('\n') {
                    line.pop();
                    if line.ends_with('\r') {
                        line.pop();
                    }
                }
                Value::from(line)
            }
        })
    }))
}

fn read_stdin(cx: &mut Cx<'_>, _: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let world = here::world(cx)?;
    let input = Input::of(&world);
    input.check()?;
    let answer = input.ask(Wanted::All);
    Ok(Wait::new(async move {
        let _outside = world.clock.outside();
        Ok(Value::from(text(answer.await, 16 * MOST)?.unwrap_or_default()))
    }))
}
