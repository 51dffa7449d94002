//! Libraries for agents in Python, installed with pinned versions under the target folder.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A library.
pub(crate) struct Python {
    title: &'static str,
    program: &'static str,
    python: PathBuf,
}

/// The libraries: their names, and the programs in `peers`.
const ALL: &[(&str, &str)] = &[("pydantic-ai", "pydantic_ai_loop.py"), ("langgraph", "langgraph_loop.py")];

impl Python {
    /// Returns the wanted Python libraries, or the reason why they cannot run.
    pub(crate) fn all(wanted: impl Fn(&str) -> bool) -> Result<Vec<Python>, String> {
        let asked: Vec<_> = ALL.iter().filter(|(name, _)| wanted(name)).collect();
        if asked.is_empty() {
            return Ok(Vec::new());
        }
        let python = installed()?;
        Ok(asked.into_iter().map(|(title, program)| Python { title, program, python: python.clone() }).collect())
    }

    /// Its name.
    pub(crate) fn title(&self) -> &str {
        self.title
    }

    /// The process that does the job with so many turns.
    pub(crate) fn command(&self, turns: usize) -> Command {
        let mut command = Command::new(&self.python);
        command.arg("-B").arg(peers().join(self.program)).arg(turns.to_string());
        command.env("LANGSMITH_TRACING", "false").env("LANGCHAIN_TRACING_V2", "false");
        command
    }
}

fn peers() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/agent/peers")
}

/// The interpreter that has them. One bench at a time installs, and only what is not there.
fn installed() -> Result<PathBuf, String> {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("agent-peers");
    let said = |error: std::io::Error| format!("the peers cannot be installed: {error}");
    std::fs::create_dir_all(&dir).map_err(said)?;
    let lock = File::create(dir.join("lock")).map_err(said)?;
    lock.lock().map_err(said)?;
    let (python, done) = (dir.join("env/bin/python"), dir.join("installed.txt"));
    let list = peers().join("requirements.txt");
    let wanted = std::fs::read_to_string(&list).map_err(said)?;
    if std::fs::read_to_string(&done).is_ok_and(|there| there == wanted) {
        return Ok(python);
    }
    finish(Command::new("python3").args(["-m", "venv", "--clear"]).arg(dir.join("env")))?;
    finish(Command::new(&python).args(["-m", "pip", "install", "--quiet", "--requirement"]).arg(&list))?;
    std::fs::write(&done, wanted).map_err(said)?;
    Ok(python)
}

fn finish(command: &mut Command) -> Result<(), String> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| format!("python3 cannot be run: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success() { Ok(()) } else { Err(format!("the peers cannot be installed: {}", said.trim())) }
}
