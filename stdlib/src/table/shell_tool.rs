//! The standard tool that runs commands for agents: one program at a time, of those that are allowed, in one folder.

use crate::capability::Capability;
use crate::clock::RunClock;
use crate::confinement::Reach;
use crate::here;
use crate::options::{OptionSet, ShellToolOptions};
use crate::tool_value::native_tool;
use crate::world::World;
use base::call::{Answer, Outcome};
use base::data::Data;
use lang::value::Value;
use lang::vm::{Cx, Raise, RunCode};
use line::Rules;
use run::{Limits, run};
use runtime::message::{ToolCall, ToolSpec};
use runtime::seam::{Output, Tool, Turn};
use std::fs;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

mod git;
mod line;
mod run;

lang::builtins! { "" =>
    /// A tool `shell` that runs one command at a time in `root`, without a shell. `allow` lists the programs, each by its name or
    /// with its first arguments (`"git status"`). On Linux the kernel keeps it within `root`, the folders in `readable` and
    /// `writable`, and those of the system (Landlock); elsewhere its arguments are checked and nothing more.
    ///
    /// ```harn
    /// let shell = shell_tool({root: ".", allow: ["echo"]})
    /// shell.name // => "shell"
    /// ```
    plain "shell_tool(options: ShellToolOptions) -> dict" [caps = &[Capability::Process.right()]] shell_tool;
}

fn shell_tool(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let options = ShellToolOptions::read(cx, args, 0)?;
    let (rules, reach) = rules(&options, &*here::world(cx)?)?;
    let limits = Limits {
        timeout_ms: options.timeout_ms,
        most: options.max_output,
        env: options.env.iter().map(ToString::to_string).collect(),
    };
    let spec = spec(&options.name, &rules);
    Ok(native_tool(Rc::new(ShellTool { spec, rules, reach, limits, clock: here::world(cx)?.clock.clone() })))
}

fn rules(options: &ShellToolOptions, world: &World) -> Result<(Rules, Reach), Box<Raise>> {
    let wrong = |code, why: String, key: &str| Raise::error(code, why).about(0, format!("invalid `{key}`"));
    let folder = |path: &str, key: &str| {
        // The empty path is not a folder; it must not mean the base of relative paths.
        let place = if path.is_empty() { PathBuf::new() } else { world.path(path) };
        fs::canonicalize(place)
            .and_then(|path| if path.is_dir() { Ok(path) } else { Err(std::io::ErrorKind::NotADirectory.into()) })
            .map_err(|e| {
                let what = if key == "root" { "root" } else { "folder" };
                wrong(RunCode::Outside, format!("the {what} `{path}` cannot be used: {e}"), key)
            })
    };
    let root = folder(&options.root, "root")?;
    let folders = |paths: &[Arc<str>], key: &str| {
        paths.iter().map(|path| folder(path, key)).collect::<Result<Vec<_>, Box<Raise>>>()
    };
    let reach =
        Reach { readable: folders(&options.readable, "readable")?, writable: folders(&options.writable, "writable")? };
    let mut allow = Vec::new();
    for entry in &options.allow {
        let words = shell_words::split(entry).ok().filter(|words| !words.is_empty());
        let words = words
            .ok_or_else(|| wrong(RunCode::Value, format!("`{entry}` is not a command that can be allowed"), "allow"))?;
        allow.push(words);
    }
    if allow.is_empty() {
        let raise =
            wrong(RunCode::Value, "`allow` is empty, so the tool could not run any command".to_owned(), "allow");
        return Err(raise.help("list the programs: `allow: [\"ls\", \"git status\"]`"));
    }
    let also = reach.readable.iter().chain(&reach.writable).cloned().collect();
    Ok((Rules { root, also, allow }, reach))
}

fn spec(name: &str, rules: &Rules) -> ToolSpec {
    let description = format!(
        "Runs one command in the project folder and returns its output. The command is not run by a shell: pipes, \
        redirections, variables and wildcards do not work. Paths are relative to the folder. Allowed commands: {}.",
        rules.listed()
    );
    let command =
        Data::dict([("type", Data::from("string")), ("description", "The program and its arguments.".into())]);
    let parameters = Data::dict([
        ("type", Data::from("object")),
        ("properties", Data::dict([("command", command)])),
        ("required", Data::list(["command".into()])),
        ("additionalProperties", false.into()),
    ]);
    // One command may change what the next one reads.
    let annotations = Data::dict([
        ("kind", Data::from("execute")),
        ("permission", true.into()),
        ("root", rules.root.to_string_lossy().into_owned().into()),
        ("sequential", true.into()),
    ]);
    ToolSpec { annotations, ..ToolSpec::new(name, description, parameters) }
}

struct ShellTool {
    spec: ToolSpec,
    rules: Rules,
    reach: Reach,
    limits: Limits,
    clock: Rc<RunClock>,
}

impl Tool for ShellTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call<'a>(&'a self, turn: Turn<'a>, call: &'a ToolCall) -> Answer<'a, Outcome<Output>> {
        let words = match self.rules.read(call.arguments.get("command").as_str().unwrap_or_default()) {
            Ok(words) => words,
            Err(why) => return Answer::Now(Ok(Output::error(why))),
        };
        Answer::later(async move {
            let _outside = self.clock.outside();
            Ok(run(&self.rules.root, &self.reach, &words, &self.limits, turn.scope).await)
        })
    }
}
