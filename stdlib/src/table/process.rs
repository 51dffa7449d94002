//! Other programs.

use crate::capability::Capability;
use crate::codes::SystemCode;
use crate::group::{ProcessGroup, exit_code};
use crate::here;
use crate::options::{ExecOptions, OptionSet};
use crate::system;
use crate::world::World;
use lang::builtins::args;
use lang::value::{Dict, Value, article};
use lang::vm::{Cx, Isolate, Raise, RunCode, Wait};
use std::process::Stdio;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::Semaphore;
use tokio::time::timeout;

lang::builtins! { "" =>
    /// Runs a program to its end, without a shell: `{ok, success, code, stdout, stderr}`. Arguments are strings and lists of strings.
    /// A dict after them has options: `cwd`, `stdin` (a string or bytes, else it is empty), `env` (variables; nil removes one),
    /// `timeout` (a duration), and `check`, which makes an exit code other than 0 an error. At most 64 programs run at a time; further
    /// calls wait.
    ///
    /// ```harn
    /// let r = exec("sh", "-c", "echo $NAME; exit 3", {env: {NAME: "a"}})
    /// [r.ok, r.code, r.stdout] // => [false, 3, "a\n"]
    /// exec("cat", {stdin: "text"}).stdout // => "text"
    /// ```
    waits "exec(command: string, ...args) -> {ok: bool, success: bool, code: int, stdout: string, stderr: string, ...}" [caps = &[Capability::Process.right()]] exec;
}

/// Programs of one run at a time: each has to be found and ended when the run ends before it.
const MOST_PROGRAMS: usize = 64;

/// The places of the programs that a run has started.
struct Programs(Arc<Semaphore>);

impl Default for Programs {
    fn default() -> Programs {
        Programs(Arc::new(Semaphore::new(MOST_PROGRAMS)))
    }
}

/// Bytes of standard output, and of standard error, that are kept.
const MOST_OUTPUT: usize = 16 << 20;

/// Settings of a program, beside its arguments.
#[derive(Default)]
pub(super) struct ProgramRun {
    pub(super) stdin: Option<Vec<u8>>,
    pub(super) timeout_ms: Option<u64>,
    pub(super) check: bool,
}

/// Adds an argument, or those of a list.
fn add_arguments(command: &mut Command, args: &[Value], i: usize) -> Result<(), Box<Raise>> {
    if let Value::List(several) = &args[i] {
        for (at, argument) in several.items.iter().enumerate() {
            let Value::Str(text) = argument else {
                let found = article(argument.type_name());
                let message = format!("expected a list of strings, found {found} at index {at}");
                return Err(Raise::error(RunCode::Type, message).about(i, ""));
            };
            command.arg(text.as_str());
        }
        return Ok(());
    }
    command.arg(args::str(args, i)?.as_str());
    Ok(())
}

/// Reads the options in an argument, and sets those that the command knows.
fn options(
    cx: &Cx<'_>,
    world: &World,
    command: &mut Command,
    args: &[Value],
    i: usize,
) -> Result<ProgramRun, Box<Raise>> {
    let wrong = |key: &str, message: String| Raise::error(RunCode::Type, message).about(i, format!("invalid `{key}`"));
    let given = ExecOptions::read(cx, args, i)?;
    if let Some(cwd) = &given.cwd {
        command.current_dir(world.path(cwd));
    }
    let variables = match &given.env {
        None => None,
        Some(Value::Dict(variables)) => Some(&variables.dict),
        Some(other) => {
            return Err(wrong("env", format!("`env` must be a dict, found {}", article(other.type_name()))));
        }
    };
    for (name, value) in variables.into_iter().flat_map(Dict::iter) {
        if name.is_empty() || name.contains(['=', '\0']) {
            return Err(wrong("env", "the name of an environment variable is not empty and has no `=`".to_owned()));
        }
        match value {
            Value::Nil => command.env_remove(name.as_str()),
            Value::Str(text) => command.env(name.as_str(), text.as_str()),
            other => {
                let found = article(other.type_name());
                let message = format!("environment variables are strings, found {found} for `{}`", name.as_str());
                return Err(wrong("env", message));
            }
        };
    }
    let stdin = match &given.stdin {
        None => None,
        Some(Value::Str(text)) => Some(text.as_bytes().to_vec()),
        Some(Value::Bytes(bytes)) => Some(bytes.to_vec()),
        Some(other) => {
            let message = format!("`stdin` must be a string or bytes, found {}", article(other.type_name()));
            return Err(wrong("stdin", message));
        }
    };
    Ok(ProgramRun { stdin, timeout_ms: given.timeout, check: given.check })
}

/// A program that a call wants to run.
pub(super) struct ProgramCall {
    pub(super) name: String,
    pub(super) command: Command,
    pub(super) world: Rc<World>,
    pub(super) settings: ProgramRun,
}

impl ProgramCall {
    /// Reads the arguments of `exec`.
    pub(super) fn read(cx: &Cx<'_>, args: &[Value]) -> Result<Self, Box<Raise>> {
        let name = args::str(args, 0)?.to_string();
        let mut command = Command::new(&name);
        cx.check_room(0)?;
        let world = here::world(cx)?;
        if let Some(cwd) = &world.parameters.cwd {
            command.current_dir(cwd);
        }
        let mut end = args.len();
        let mut settings = ProgramRun::default();
        if end > 1 && matches!(args[end - 1], Value::Dict(_)) {
            end -= 1;
            settings = options(cx, &world, &mut command, args, end)?;
        }
        for i in 1..end {
            add_arguments(&mut command, args, i)?;
        }
        let stdin = if settings.stdin.is_some() { Stdio::piped() } else { Stdio::null() };
        command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        Ok(Self { name, command, world, settings })
    }
}

/// Waits until a further program may run.
pub(super) async fn place(world: &World, isolate: &Weak<Isolate>) -> Result<Option<OwnedSemaphorePermit>, Box<Raise>> {
    let place = world.part(Programs::default).0.clone().acquire_owned().await.ok();
    // Tasks that began in time may get here after it: what they start would have to be ended again.
    isolate.upgrade().map_or(Ok(()), |isolate| isolate.check_begin())?;
    Ok(place)
}

fn exec(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let ProgramCall { name, command, world, settings: wanted } = ProgramCall::read(cx, args)?;
    let (outside, isolate) = (world.clock.outside(), Rc::downgrade(cx.isolate));
    Ok(Wait::new(async move {
        let _outside = outside;
        let _place = place(&world, &isolate).await?;
        let ended = finished(&name, command, wanted.stdin);
        let (code, out, err) = match wanted.timeout_ms {
            None => ended.await?,
            Some(ms) => timeout(Duration::from_millis(ms), ended).await.map_err(|_| too_slow(&name, ms))??,
        };
        let (stdout, stderr) = (text(out), text(err));
        if wanted.check && code != 0 {
            return Err(unsuccessful(&name, code, &stdout, &stderr));
        }
        Ok(Value::record([
            ("ok", Value::Bool(code == 0)),
            ("success", Value::Bool(code == 0)),
            ("code", Value::Int(code)),
            ("stdout", Value::from(stdout)),
            ("stderr", Value::from(stderr)),
        ]))
    }))
}

/// Runs a program to its end: exit code, output, errors. When this is dropped, the program ends.
async fn finished(
    name: &str,
    mut command: Command,
    input: Option<Vec<u8>>,
) -> Result<(i64, Vec<u8>, Vec<u8>), Box<Raise>> {
    let mut group = ProcessGroup::start(&mut command, None).map_err(|e| not_started(name, &e))?;
    let (stdin, stdout, stderr) = (group.child.stdin.take(), group.child.stdout.take(), group.child.stderr.take());
    let write = async {
        if let (Some(mut stdin), Some(input)) = (stdin, input) {
            // A program that does not read to the end closes the pipe.
            let _ = stdin.write_all(&input).await;
        }
        Ok(())
    };
    let (out, err, ()) = tokio::try_join!(output(name, stdout), output(name, stderr), write)?;
    let status = group.child.wait().await.map_err(|e| not_started(name, &e))?;
    group.release();
    Ok((exit_code(status), out, err))
}

pub(super) fn too_slow(name: &str, ms: u64) -> Box<Raise> {
    Raise::error(SystemCode::Late, format!("`{name}` timed out after {}", args::duration_text(ms)))
        .field("category", "timeout")
        .field("command", name)
        .help("allow more time with the option `timeout`")
}

/// The error of a program that failed, with the last lines that it wrote.
pub(super) fn unsuccessful(name: &str, code: i64, stdout: &str, stderr: &str) -> Box<Raise> {
    const LINES: usize = 10;
    let written = if stderr.trim().is_empty() { stdout } else { stderr };
    let lines: Vec<&str> = written.trim_end().lines().collect();
    let last = lines[lines.len().saturating_sub(LINES)..].join("\n");
    let raise = Raise::error(SystemCode::Failed, format!("`{name}` failed with exit code {code}"))
        .field("command", name)
        .field("exit_code", code)
        .field("stdout", stdout)
        .field("stderr", stderr);
    if last.is_empty() { raise } else { raise.note(format!("it wrote\n{last}")) }
}

async fn output(name: &str, stream: Option<impl AsyncRead + Unpin>) -> Result<Vec<u8>, Box<Raise>> {
    let mut bytes = Vec::new();
    let Some(stream) = stream else { return Ok(bytes) };
    let most = u64::try_from(MOST_OUTPUT).unwrap_or(u64::MAX);
    stream.take(most + 1).read_to_end(&mut bytes).await.map_err(|e| not_started(name, &e))?;
    if bytes.len() > MOST_OUTPUT {
        let message = format!("`{name}` wrote more than {} MiB", MOST_OUTPUT >> 20);
        return Err(Raise::error(SystemCode::TooMuch, message)
            .field("category", "too_large")
            .help("redirect its output to a file, and read the part that you need"));
    }
    Ok(bytes)
}

/// Decodes a program's output; invalid UTF-8 becomes U+FFFD.
fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned())
}

pub(super) fn not_started(name: &str, e: &std::io::Error) -> Box<Raise> {
    let raise = Raise::error(SystemCode::NotStarted, format!("cannot run `{name}`: {}", system::reason(e, "program")))
        .field("command", name);
    // The most common slip: a line for a shell.
    match name.split_once(' ') {
        Some((program, _)) => raise.help(format!(
            "pass each argument separately: `exec(\"{program}\", …)`; for a shell command use `exec(\"sh\", \
            \"-c\", …)`"
        )),
        None => raise,
    }
}
