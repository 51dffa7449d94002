//! Starts the built command with nothing of the person's environment, so that keys, colours and history of the machine
//! change nothing.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::wait::ended;

/// The result of running the command.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// The exit code; nothing when a signal ended it.
    pub(crate) code: Option<i32>,
    /// Standard output.
    pub(crate) out: String,
    /// Standard error.
    pub(crate) err: String,
}

impl Outcome {
    /// Returns the number of printed diagnostics of a severity.
    pub(crate) fn drawn(&self, severity: &str) -> usize {
        self.err.lines().filter(|line| line.starts_with(&format!("{severity}["))).count()
    }
}

/// The root of the repository.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A folder of its own for a test, made anew. It fails if another test has a folder of this name: one would delete the files of
/// the other.
pub(crate) fn scratch(name: &str) -> PathBuf {
    static OWNERS: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());
    // The thread of a test has its path as its name.
    if let Some(test) = thread::current().name().filter(|test| test.contains("::")) {
        let mut owners = OWNERS.lock().unwrap_or_else(PoisonError::into_inner);
        let owner = owners.entry(name.to_owned()).or_insert_with(|| test.to_owned()).clone();
        drop(owners);
        assert_eq!(owner, test, "two tests have the scratch folder `{name}`");
    }
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).unwrap();
    dir
}

/// Runs `harn` at the root of the repository.
pub(crate) fn harn<S: AsRef<str>>(args: &[S]) -> Outcome {
    harn_with_input(args, b"", &[])
}

/// Runs the command with standard input and an extended environment; an empty value removes a
/// variable.
pub(crate) fn harn_with_input<S: AsRef<str>>(args: &[S], input: &[u8], env: &[(&str, &str)]) -> Outcome {
    harn_in(root(), args, input, env)
}

/// Runs the command like [`harn_with_input`] in another folder.
pub(crate) fn harn_in<S: AsRef<str>>(folder: &Path, args: &[S], input: &[u8], env: &[(&str, &str)]) -> Outcome {
    let mut command = Command::new(env!("CARGO_BIN_EXE_harn"));
    command.args(args.iter().map(AsRef::as_ref)).current_dir(folder);
    let memory = memory();
    command.env_clear().envs(environment()).env("HARN_MEMORY_ROOT", &memory);
    for (name, value) in env {
        if value.is_empty() {
            command.env_remove(name)
        } else {
            command.env(name, value)
        };
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    // A command that leaves early closes its end: no failure of the test.
    thread::spawn(move || stdin.write_all(&input));
    let out = read(child.stdout.take().unwrap());
    let err = read(child.stderr.take().unwrap());
    let code = ended(&mut child, |_| ());
    // There is none where nothing was stored.
    let _ = std::fs::remove_dir_all(memory);
    Outcome { code, out: out.join().unwrap(), err: err.join().unwrap() }
}

/// The environment of a run, but for the folder of its facts.
pub(crate) fn environment() -> Vec<(&'static str, OsString)> {
    let mut variables = vec![("HARN_LLM_PROVIDER", "mock".into()), ("HARN_CONFIG_HOME", config().into())];
    // Scripts that start `harn` as a server start this one.
    let own = Path::new(env!("CARGO_BIN_EXE_harn")).parent().map(Path::to_path_buf);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = own.into_iter().chain(std::env::split_paths(&path));
    variables.extend(std::env::join_paths(folders).ok().map(|path| ("PATH", path)));
    variables
}

/// The folder of settings in which [`trust`] records what it trusts, in place of the person's own.
pub(crate) fn config() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("config")
}

/// Trusts the `harn.toml` of a folder as a person does.
pub(crate) fn trust(folder: &Path) {
    let outcome = harn(&["trust", folder.to_str().unwrap()]);
    assert_eq!((outcome.code, outcome.err.as_str()), (Some(0), ""), "{}", outcome.out);
}

/// A folder for the facts of one run, so that it begins without any.
fn memory() -> PathBuf {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("memory-{}-{number}", std::process::id()))
}

fn read(mut from: impl Read + Send + 'static) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    })
}
