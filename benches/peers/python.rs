//! CPython.

use crate::peer::{Peer, answers};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// CPython.
pub(crate) struct Python {
    /// The interpreter itself: `python3` may be a script that looks for it.
    executable: Option<PathBuf>,
}

impl Python {
    /// The one that `python3` starts.
    pub(crate) fn find() -> Self {
        let script = "import sys; print(sys.executable)";
        let output = Command::new("python3").args(["-c", script]).stdin(Stdio::null()).output().ok();
        let output = output.filter(|o| o.status.success());
        Self { executable: output.map(|o| String::from_utf8_lossy(&o.stdout).trim().into()) }
    }

    fn start(&self) -> Command {
        Command::new(self.executable.as_deref().unwrap_or(Path::new("python3")))
    }

    fn clocked(&self, work: &str) -> Command {
        let mut command = self.start();
        command.arg("-c").arg(format!(
            "import sys, time\nt = time.process_time()\n{work}\nsys.stderr.write(str((time.process_time() - t) * 1000))"
        ));
        command
    }
}

impl Peer for Python {
    fn name(&self) -> String {
        "python3".to_owned()
    }

    fn is_here(&self) -> bool {
        self.executable.is_some()
    }

    fn ending(&self) -> &'static str {
        "py"
    }

    fn timed(&self, program: &Path, input: Option<&Path>) -> Command {
        let path = program.display().to_string();
        let mut command = self.clocked(&format!("exec(compile(open({path:?}).read(), {path:?}, 'exec'), {{}})"));
        command.args(input);
        command
    }

    fn plain(&self, file: &Path) -> Option<Command> {
        let mut command = self.start();
        command.arg(file);
        Some(command)
    }

    fn read_only(&self, source: &Path) -> Option<Command> {
        let path = source.display().to_string();
        Some(self.clocked(&format!("compile(open({path:?}).read(), {path:?}, 'exec')")))
    }

    fn front(&self, source: &Path) -> Option<Command> {
        let mut command = self.start();
        command.arg("-c").arg(format!(
            "import ast, resource, sys, time\n\
             peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n\
             text, before, t = open({:?}).read(), peak(), time.process_time()\n\
             tree = ast.parse(text)\n\
             sys.stderr.write(str((time.process_time() - t) * 1000))\n\
             print(peak() - before)",
            source.display().to_string()
        ));
        Some(command)
    }

    /// With ruff, where it is on the path: the CPU time of its process.
    fn format(&self, source: &Path) -> Option<Command> {
        if !answers("ruff", "--version") {
            return None;
        }
        let mut command = self.start();
        command.arg("-c").arg(format!(
            "import resource, subprocess, sys\n\
             command = ['ruff', 'format', '--isolated', '--quiet', '--stdin-filename', 'a.py', '-']\n\
             subprocess.run(command, stdin=open({:?}), stdout=subprocess.DEVNULL, check=True)\n\
             used = resource.getrusage(resource.RUSAGE_CHILDREN)\n\
             sys.stderr.write(str((used.ru_utime + used.ru_stime) * 1000))",
            source.display().to_string()
        ));
        Some(command)
    }
}
