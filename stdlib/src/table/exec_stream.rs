//! Programs whose output is read while they run.

use super::process::{ProgramCall, not_started, place, too_slow, unsuccessful};
use crate::capability::Capability;
use crate::clock::RunClock;
use crate::group::{ProcessGroup, exit_code};
use crate::lines::LineBuffer;
use crate::values::{ItemSource, ItemStream, NextItem};
use lang::value::Value;
use lang::vm::{Cx, Local, Raise, Wait};
use std::collections::VecDeque;
use std::future::pending;
use std::io;
use std::rc::Rc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStderr, ChildStdout};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, timeout_at};

lang::builtins! { "" =>
    /// Runs a program as `exec` does, and returns its output while it runs, as a stream of `{channel, text, code}`: a line each, whose
    /// `channel` is `"stdout"` or `"stderr"`, and at the end one with the channel `"exit"` and the exit code. Arguments and options are
    /// those of `exec`. A stream that is dropped ends the program, and all that it has started.
    ///
    /// ```harn
    /// let events = exec_stream("sh", "-c", "echo one; echo two; exit 3").to_list()
    /// events.filter({ event -> event.channel == "stdout" }).map({ event -> event.text }) // => ["one", "two"]
    /// events.last() // => {channel: "exit", code: 3, text: ""}
    /// ```
    waits "exec_stream(command: string, ...args) -> stream<{channel: string, text: string, code: int?}>" [caps = &[Capability::Process.right()]] exec_stream;
}

/// Lines that the error of a program contains.
const KEPT_LINES: usize = 10;

/// Bytes that are read at a time.
const PIECE: usize = 16 << 10;

/// A program and what it writes.
struct StreamedProgram {
    name: String,
    group: ProcessGroup,
    stdout: OutputChannel<ChildStdout>,
    stderr: OutputChannel<ChildStderr>,
    /// The standard input that is still to be written.
    input: Option<Local<()>>,
    clock: Rc<RunClock>,
    deadline: Option<(Instant, u64)>,
    /// Whether an exit code other than 0 is an error.
    check: bool,
    /// The last lines of standard error.
    last: VecDeque<String>,
    _place: Option<OwnedSemaphorePermit>,
}

/// One of the outputs of a program.
struct OutputChannel<R> {
    /// Absent at its end.
    reader: Option<R>,
    lines: LineBuffer,
    source: String,
}

impl<R: AsyncRead + Unpin> OutputChannel<R> {
    fn new(reader: Option<R>, name: &str, channel: &str) -> Self {
        let mut lines = LineBuffer::default();
        if reader.is_none() {
            lines.end();
        }
        Self { reader, lines, source: format!("the {channel} of `{name}`") }
    }

    /// Returns the next line that has come; invalid UTF-8 becomes U+FFFD, as for `exec`.
    fn line(&mut self) -> Result<Option<String>, Box<Raise>> {
        let line = self.lines.next_bytes(&self.source)?;
        Ok(line.map(|line| String::from_utf8_lossy(line).into_owned()))
    }

    /// Reads on. It waits for ever after the end.
    async fn read(&mut self) -> io::Result<()> {
        let Some(reader) = &mut self.reader else { return pending().await };
        let mut piece = vec![0; PIECE];
        match reader.read(&mut piece).await? {
            0 => {
                self.reader = None;
                self.lines.end();
            }
            length => self.lines.push(&piece[..length]),
        }
        Ok(())
    }
}

fn event(channel: &str, text: String, code: Value) -> Value {
    Value::record([("channel", Value::str(channel)), ("text", Value::from(text)), ("code", code)])
}

/// A program that is read.
struct ProgramOutput {
    /// Absent after the end.
    program: Option<StreamedProgram>,
}

impl StreamedProgram {
    fn line(&mut self) -> Result<Option<Value>, Box<Raise>> {
        if let Some(text) = self.stdout.line()? {
            return Ok(Some(event("stdout", text, Value::Nil)));
        }
        let Some(text) = self.stderr.line()? else { return Ok(None) };
        if self.check {
            if self.last.len() == KEPT_LINES {
                self.last.pop_front();
            }
            self.last.push_back(text.clone());
        }
        Ok(Some(event("stderr", text, Value::Nil)))
    }

    /// Waits for a line, or for the end of the program: its exit code.
    async fn next(&mut self) -> Result<Result<Value, i64>, Box<Raise>> {
        loop {
            if let Some(line) = self.line()? {
                return Ok(Ok(line));
            }
            if self.stdout.reader.is_none() && self.stderr.reader.is_none() {
                let status = self.group.child.wait().await.map_err(|error| not_started(&self.name, &error))?;
                self.group.release();
                return Ok(Err(exit_code(status)));
            }
            let input = async {
                match &mut self.input {
                    Some(input) => input.await,
                    None => pending().await,
                }
            };
            let read = tokio::select! {
                read = self.stdout.read() => read,
                read = self.stderr.read() => read,
                () = input => {
                    self.input = None;
                    Ok(())
                }
            };
            read.map_err(|error| not_started(&self.name, &error))?;
        }
    }

    async fn next_in_time(&mut self) -> Result<Result<Value, i64>, Box<Raise>> {
        let Some((until, ms)) = self.deadline else { return self.next().await };
        match timeout_at(until, self.next()).await {
            Ok(next) => next,
            Err(_) => Err(too_slow(&self.name, ms)),
        }
    }
}

impl ItemSource for ProgramOutput {
    fn ready(&mut self) -> Option<NextItem> {
        let Some(program) = &mut self.program else { return Some(Ok(None)) };
        match program.line() {
            Ok(None) => None,
            Ok(line) => Some(Ok(line)),
            Err(raise) => {
                self.program = None;
                Some(Err(raise))
            }
        }
    }

    async fn next(&mut self) -> NextItem {
        let Some(program) = &mut self.program else { return Ok(None) };
        let _outside = program.clock.outside();
        let code = match program.next_in_time().await {
            Ok(Ok(line)) => return Ok(Some(line)),
            Ok(Err(code)) => code,
            Err(raise) => {
                // It ends the program.
                self.program = None;
                return Err(raise);
            }
        };
        let ended = self.program.take();
        match ended {
            Some(program) if program.check && code != 0 => {
                let lines: Vec<String> = program.last.into_iter().collect();
                Err(unsuccessful(&program.name, code, "", &lines.join("\n")))
            }
            _ => Ok(Some(event("exit", String::new(), Value::Int(code)))),
        }
    }
}

fn exec_stream(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let ProgramCall { name, mut command, world, settings } = ProgramCall::read(cx, args)?;
    let isolate = Rc::downgrade(cx.isolate);
    Ok(Wait::new(async move {
        let clock = world.clock.clone();
        let _outside = clock.outside();
        let place = place(&world, &isolate).await?;
        let mut group = ProcessGroup::start(&mut command, None).map_err(|error| not_started(&name, &error))?;
        let (stdin, stdout, stderr) = (group.child.stdin.take(), group.child.stdout.take(), group.child.stderr.take());
        let input = stdin.zip(settings.stdin).map(|(mut stdin, input)| -> Local<()> {
            Box::pin(async move {
                // A program that does not read to the end closes the pipe.
                let _ = stdin.write_all(&input).await;
            })
        });
        let program = StreamedProgram {
            stdout: OutputChannel::new(stdout, &name, "standard output"),
            stderr: OutputChannel::new(stderr, &name, "standard error"),
            name,
            group,
            input,
            clock: clock.clone(),
            deadline: settings.timeout_ms.map(|ms| (Instant::now() + Duration::from_millis(ms), ms)),
            check: settings.check,
            last: VecDeque::new(),
            _place: place,
        };
        Ok(ItemStream::value(ProgramOutput { program: Some(program) }))
    }))
}
