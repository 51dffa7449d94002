//! A server as a child process: one message on each line of standard input and output.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::time::Duration;

use base::call::LocalFuture;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::{Notify, mpsc};
use tokio::task::{AbortHandle, spawn_local};
use tokio::time::{Instant, sleep_until, timeout};

use crate::error::{McpError, McpErrorKind};
use crate::exchange::{Answered, Entered, Exchange, Taken};
use crate::lines::{Line, next_line};
use crate::stderr::StderrTail;

/// The largest message, in bytes.
pub(crate) const MAX_MESSAGE: usize = 16 << 20;
/// The number of messages that may wait for a server which does not read.
const MAX_UNREAD: usize = 64;
/// The number of messages that answer nothing which are read in a second. The rest waits in the pipe.
const MAX_UNASKED: u32 = 10_000;
/// The time that a program has to end after it has closed its output, and after its input was closed.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// A way to start the program of a server.
pub trait Launcher {
    /// Starts it.
    ///
    /// # Errors
    /// The reason why it does not start, as a phrase.
    fn launch(&self) -> Result<ServerProcess, String>;
}

/// A program that was started.
pub struct ServerProcess {
    /// Standard input.
    pub stdin: Box<dyn AsyncWrite + Unpin>,
    /// Standard output.
    pub stdout: Box<dyn AsyncRead + Unpin>,
    /// Standard error.
    pub stderr: Box<dyn AsyncRead + Unpin>,
    /// The program itself.
    pub process: Box<dyn RunningProcess>,
}

/// A running program. It ends when this is dropped, with all that it has started.
pub trait RunningProcess {
    /// Waits until it has ended by itself. Returns its exit code.
    fn wait(&mut self) -> LocalFuture<'_, io::Result<i64>>;
}

/// The end of a connection, once it has come.
#[derive(Default)]
pub(crate) struct EndState {
    error: RefCell<Option<McpError>>,
    ended: Notify,
}

impl EndState {
    pub(crate) fn error(&self) -> Option<McpError> {
        self.error.borrow().clone()
    }

    /// Sets the reason, if there is none yet, and fails all requests with it.
    pub(crate) fn set(&self, error: McpError, exchange: &Exchange) {
        let error = self.error.borrow_mut().get_or_insert(error).clone();
        exchange.fail_all(&error);
        self.ended.notify_waiters();
    }

    async fn wait(&self) {
        loop {
            let ended = self.ended.notified();
            if self.error.borrow().is_some() {
                return;
            }
            ended.await;
        }
    }
}

/// The connection to a program.
pub(crate) struct StdioLink {
    outgoing: RefCell<Option<mpsc::Sender<String>>>,
    process: SharedProcess,
    end: Rc<EndState>,
    tasks: [AbortHandle; 3],
}

/// The program, taken out by the task that waits for its end.
type SharedProcess = Rc<RefCell<Option<Box<dyn RunningProcess>>>>;

impl StdioLink {
    /// Takes over a program that was started.
    pub(crate) fn new(program: ServerProcess, exchange: &Rc<Exchange>) -> StdioLink {
        let (outgoing, lines) = mpsc::channel(MAX_UNREAD);
        let process: SharedProcess = Rc::new(RefCell::new(Some(program.process)));
        let (end, tail) = (Rc::<EndState>::default(), Rc::<StderrTail>::default());
        let reader = StdioReader {
            exchange: exchange.clone(),
            replies: outgoing.clone(),
            process: process.clone(),
            end: end.clone(),
            tail: tail.clone(),
        };
        let stderr = program.stderr;
        let tasks = [
            spawn_local(write(program.stdin, lines)).abort_handle(),
            spawn_local(reader.run(program.stdout)).abort_handle(),
            spawn_local(async move { tail.read(stderr).await }).abort_handle(),
        ];
        StdioLink { outgoing: RefCell::new(Some(outgoing)), process, end, tasks }
    }

    pub(crate) fn end(&self) -> &EndState {
        &self.end
    }

    /// Sends a request and waits for its answer.
    pub(crate) async fn exchange(&self, text: String, entered: Entered) -> Answered {
        let sender = self.outgoing.borrow().clone();
        let sent = match sender {
            Some(sender) => sender.send(text).await.is_ok(),
            None => false,
        };
        let answered = if sent || self.end.error().is_some() { entered.answer.await.ok() } else { None };
        answered.unwrap_or_else(|| {
            // The reader reports the end soon, with the reason.
            let unknown = || McpError::new(McpErrorKind::Ended, "the MCP server does not read its input");
            Err(self.end.error().unwrap_or_else(unknown))
        })
    }

    /// Sends a message that has no answer. It is dropped if the server does not read.
    pub(crate) fn send(&self, text: String) {
        if let Some(outgoing) = &*self.outgoing.borrow() {
            let _ = outgoing.try_send(text);
        }
    }

    /// Closes the input of the program and gives it time to end.
    pub(crate) async fn close(&self) {
        self.outgoing.borrow_mut().take();
        self.tasks[0].abort();
        let _ = timeout(LAST_WORDS, self.end.wait()).await;
    }
}

impl Drop for StdioLink {
    fn drop(&mut self) {
        self.tasks.iter().for_each(AbortHandle::abort);
        // At once, and not only when the runtime drops the task.
        drop(self.process.borrow_mut().take());
    }
}

async fn write(mut stdin: Box<dyn AsyncWrite + Unpin>, mut lines: mpsc::Receiver<String>) {
    while let Some(mut line) = lines.recv().await {
        line.push('\n');
        // A program that closed its input is about to end, which the reader sees.
        if stdin.write_all(line.as_bytes()).await.is_err() || stdin.flush().await.is_err() {
            return;
        }
    }
}

struct StdioReader {
    exchange: Rc<Exchange>,
    replies: mpsc::Sender<String>,
    process: SharedProcess,
    end: Rc<EndState>,
    tail: Rc<StderrTail>,
}

impl StdioReader {
    async fn run(self, stdout: Box<dyn AsyncRead + Unpin>) {
        let mut reader = BufReader::with_capacity(16 << 10, stdout);
        let mut line = Vec::new();
        let (mut unasked, mut since) = (0, Instant::now());
        loop {
            match next_line(&mut reader, &mut line, MAX_MESSAGE).await {
                Line::Whole => {}
                Line::TooLong => return self.too_long(),
                Line::End => return self.ended().await,
            }
            match self.exchange.take(&line) {
                Taken::Answer => continue,
                // Servers print what they should not: log lines, a greeting.
                Taken::Quiet | Taken::Invalid(_) => {}
                Taken::Reply(text) => drop(self.replies.try_send(text)),
            }
            // A large message must not keep its memory.
            if line.capacity() > 1 << 20 {
                line = Vec::new();
            }
            unasked += 1;
            if unasked >= MAX_UNASKED {
                sleep_until(since + Duration::from_secs(1)).await;
                (unasked, since) = (0, Instant::now());
            } else if since.elapsed() > Duration::from_secs(1) {
                (unasked, since) = (1, Instant::now());
            }
        }
    }

    fn too_long(self) {
        let name = &self.exchange.name;
        let message =
            format!("MCP server `{name}` sent a message larger than {} MiB and was stopped", MAX_MESSAGE >> 20);
        self.process.borrow_mut().take();
        let error = McpError::new(McpErrorKind::TooLarge, message).help("ask the server for less at a time");
        self.end.set(error, &self.exchange);
    }

    /// Reports the end: the exit code, the last lines of standard error, and output that was not a message.
    async fn ended(self) {
        let process = self.process.borrow_mut().take();
        let code = match process {
            Some(mut process) => timeout(LAST_WORDS, process.wait()).await.ok().and_then(Result::ok),
            None => None,
        };
        // What the program wrote last may not be read yet. A child of it can keep the stream open.
        let _ = timeout(LAST_WORDS, self.tail.ended()).await;
        let name = &self.exchange.name;
        let mut message = match code {
            Some(code) => format!("MCP server `{name}` ended with exit code {code}"),
            None => format!("MCP server `{name}` closed its output and was stopped"),
        };
        message.push_str(&self.exchange.strange());
        let error = McpError { stderr: self.tail.text(), ..McpError::new(McpErrorKind::Ended, message) };
        self.end.set(error, &self.exchange);
    }
}
