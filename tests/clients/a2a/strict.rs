//! The SDKs' own types, asked in processes of Python that live as long as the tests: `tests/a2a/python/*/check.py`.

use crate::harn::root;
use crate::packages::python;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, OnceLock};

/// A generation of the SDKs' types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Types {
    /// Protobuf, of version 1.0.
    V1,
    /// Pydantic, of version 0.3.
    V03,
}

impl Types {
    /// The folder below `tests/a2a/python`.
    pub(super) fn folder(self) -> &'static str {
        match self {
            Types::V1 => "v1",
            Types::V03 => "v03",
        }
    }

    /// Python with the SDK.
    pub(super) fn python(self) -> Command {
        let requirements = format!("tests/a2a/python/{}/requirements.txt", self.folder());
        let mut command = Command::new(python(&format!("a2a-python-{}", self.folder()), &requirements));
        command.arg("-B");
        command
    }

    /// Returns the problem of a value that should be of this type, or `None` if it is valid.
    pub(super) fn problem(self, name: &str, value: &Value) -> Option<String> {
        static CHECKERS: [OnceLock<Mutex<Checker>>; 2] = [OnceLock::new(), OnceLock::new()];
        let checker = CHECKERS[self as usize].get_or_init(|| Mutex::new(Checker::start(self)));
        let mut checker = checker.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        checker.ask(&json!({"type": name, "value": value}))
    }
}

/// A process that says what is wrong with values, a line for each. It ends when its input does.
struct Checker {
    _child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Checker {
    fn start(types: Types) -> Checker {
        let script = root().join("tests/a2a/python").join(types.folder()).join("check.py");
        let mut child = types.python().arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Checker { _child: child, stdin, stdout }
    }

    fn ask(&mut self, row: &Value) -> Option<String> {
        writeln!(self.stdin, "{row}").unwrap();
        self.stdin.flush().unwrap();
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        match serde_json::from_str(&line).unwrap_or_else(|error| panic!("the check has failed: {error}")) {
            Value::Null => None,
            problem => Some(problem.as_str().unwrap_or_default().to_owned()),
        }
    }
}
