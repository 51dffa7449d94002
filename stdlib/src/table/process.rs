//! Other programs.

use crate::Capability;
use crate::group::{ProcessGroup, exit_code};
use crate::here;
use crate::system;
use lang::builtins::args;
use lang::value::Value;
use lang::vm::{Cx, Raise, Wait};
use std::process::Stdio;
use std::rc::Rc;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Command;

lang::builtins! { "" =>
    /// Runs a program to its end, without a shell: `{ok, code, stdout, stderr}`. Its standard input is empty. At most 64 run at
    /// a time; further calls wait.
    waits "exec(command: string, ...args) -> {ok: bool, code: int, stdout: string, stderr: string, ...}" [caps = &[Capability::Process.right()]] exec;
}

/// Programs of one run at a time: each has to be found and ended when the run ends before it.
pub(crate) const MOST_PROGRAMS: usize = 64;
/// Bytes of standard output, and of standard error, that are kept.
const MOST_OUTPUT: usize = 16 << 20;

fn exec(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let name = args::str(args, 0)?.to_string();
    let mut command = Command::new(&name);
    for i in 1..args.len() {
        command.arg(args::str(args, i)?.as_str());
    }
    cx.check_room(0)?;
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let world = here::world(cx)?;
    if let Some(cwd) = &world.parameters.cwd {
        command.current_dir(cwd);
    }
    let outside = world.clock.outside();
    let (places, isolate) = (world.services.programs.clone(), Rc::downgrade(cx.isolate));
    Ok(Wait::new(async move {
        let _outside = outside;
        let _place = places.acquire_owned().await;
        // Tasks that began in time may get here after it: what they start would have to be ended again.
        isolate.upgrade().map_or(Ok(()), |isolate| isolate.check_begin())?;
        let mut group = ProcessGroup::start(&mut command, None).map_err(|e| not_started(&name, &e))?;
        let (stdout, stderr) = (group.child.stdout.take(), group.child.stderr.take());
        let (out, err) = tokio::try_join!(output(&name, stdout), output(&name, stderr))?;
        let status = group.child.wait().await.map_err(|e| not_started(&name, &e))?;
        group.release();
        Ok(Value::record([
            ("ok", Value::Bool(status.success())),
            ("code", Value::Int(exit_code(status))),
            ("stdout", Value::from(text(out))),
            ("stderr", Value::from(text(err))),
        ]))
    }))
}

async fn output(name: &str, stream: Option<impl AsyncRead + Unpin>) -> Result<Vec<u8>, Box<Raise>> {
    let mut bytes = Vec::new();
    let Some(stream) = stream else { return Ok(bytes) };
    let most = u64::try_from(MOST_OUTPUT).unwrap_or(u64::MAX);
    stream.take(most + 1).read_to_end(&mut bytes).await.map_err(|e| not_started(name, &e))?;
    if bytes.len() > MOST_OUTPUT {
        let message = format!("`{name}` wrote more than {} MiB", MOST_OUTPUT >> 20);
        return Err(Raise::error(system::SystemCode::TooMuch, message)
            .field("category", "too_large")
            .help("redirect its output to a file, and read the part that you need"));
    }
    Ok(bytes)
}

/// Decodes a program's output; invalid UTF-8 becomes U+FFFD.
fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned())
}

fn not_started(name: &str, e: &std::io::Error) -> Box<Raise> {
    let raise =
        Raise::error(system::SystemCode::NotStarted, format!("cannot run `{name}`: {}", system::reason(e, "program")))
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
