//! Standard file tools for agents: they cannot leave their root.

use super::tool::registry_of;
use crate::convert::to_value;
use lang::builtins::{Capability, args};
use lang::value::{Dict, HostBox, HostObject, Str, Value};
use lang::vm::{Cx, Raise, codes};
use runtime::data::Data;
use runtime::message::{ToolCall, ToolSpec};
use runtime::seam::{Answer, Outcome, Output, Tool, Turn};
use std::any::Any;
use std::fmt::Write;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

lang::builtins! { "" =>
    /// A registry with `read_file` and `list_files`, both kept inside `root`.
    plain "file_tools(options: {root: string}) -> dict" [caps = &[Capability::FsRead]] file_tools;
}

/// A tool that is not written in the language, as the handler of a tool's dict.
pub(super) struct NativeTool {
    pub(super) tool: Rc<dyn Tool>,
}

impl HostObject for NativeTool {
    fn type_name(&self) -> &'static str {
        "tool handler"
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The dict of a tool that is not written in the language.
pub(super) fn native_tool(tool: Rc<dyn Tool>) -> Value {
    let mut dict = to_value(&tool.spec().to_data()).as_dict().cloned().unwrap_or_default();
    dict.insert(Str::new("_type"), Value::str("tool"));
    dict.insert(Str::new("handler"), HostBox::value(NativeTool { tool }));
    Value::dict(dict)
}

/// The largest file that a tool reads.
const LARGEST: u64 = 16 << 20;

fn file_tools(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let root = args::dict(args, 0)?.get_str("root").and_then(Value::as_str).unwrap_or("").to_owned();
    let canonical = fs::canonicalize(&root).map_err(|e| {
        Raise::error(codes::OUTSIDE, format!("the root `{root}` cannot be used: {e}")).about(0, "`root` is at fault")
    })?;
    let mut tools = Dict::new();
    for kind in [Kind::Read, Kind::List] {
        let tool = FileTool { spec: kind.spec(), kind, root: canonical.clone() };
        tools.insert(Str::new(kind.name()), native_tool(Rc::new(tool)));
    }
    Ok(registry_of(tools))
}

#[derive(Clone, Copy)]
enum Kind {
    Read,
    List,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Read => "read_file",
            Self::List => "list_files",
        }
    }

    fn spec(self) -> ToolSpec {
        let (description, path) = match self {
            Self::Read => ("Reads a text file.", "The file, relative to the root."),
            Self::List => {
                ("Lists a folder: one name per line, folders end in a slash.", "The folder; `.` is the root.")
            }
        };
        let property = Data::dict([("type", Data::from("string")), ("description", path.into())]);
        let parameters = Data::dict([
            ("type", Data::from("object")),
            ("properties", Data::dict([("path", property)])),
            ("required", Data::list([Data::from("path")])),
        ]);
        ToolSpec::new(self.name(), description, parameters)
    }
}

struct FileTool {
    spec: ToolSpec,
    kind: Kind,
    root: PathBuf,
}

impl Tool for FileTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call<'a>(&'a self, _: Turn<'a>, call: &'a ToolCall) -> Answer<'a, Outcome<Output>> {
        let result = match call.arguments.get("path").as_str() {
            Some(path) => inside(&self.root, path).and_then(|at| match self.kind {
                Kind::Read => read(&at, path),
                Kind::List => list(&at, path),
            }),
            None => Err("`path` is missing".to_owned()),
        };
        Answer::Now(Ok(match result {
            Ok(text) => Output::of(Data::from(text)),
            Err(why) => Output::error(why),
        }))
    }
}

/// Where `path` leads inside `root`. Links are followed first, so that one that leads out is refused.
fn inside(root: &Path, path: &str) -> Result<PathBuf, String> {
    let relative = Path::new(path);
    if relative.components().any(|c| !matches!(c, Component::Normal(_) | Component::CurDir)) {
        return Err(format!("`{path}` is refused: give a path inside the root, without `..` and not absolute"));
    }
    let at = fs::canonicalize(root.join(relative)).map_err(|e| format!("cannot open `{path}`: {e}"))?;
    if at.starts_with(root) { Ok(at) } else { Err(format!("`{path}` is refused: it leads out of the root")) }
}

fn read(at: &Path, path: &str) -> Result<String, String> {
    let meta = fs::metadata(at).map_err(|e| format!("cannot read `{path}`: {e}"))?;
    if !meta.is_file() {
        return Err(format!("`{path}` is not a file"));
    }
    if meta.len() > LARGEST {
        return Err(format!("`{path}` is larger than {LARGEST} bytes"));
    }
    let bytes = fs::read(at).map_err(|e| format!("cannot read `{path}`: {e}"))?;
    String::from_utf8(bytes).map_err(|_| format!("`{path}` is not UTF-8 text"))
}

fn list(at: &Path, path: &str) -> Result<String, String> {
    let entries = fs::read_dir(at).map_err(|e| format!("cannot list `{path}`: {e}"))?;
    let mut names: Vec<String> = entries
        .filter_map(Result::ok)
        .map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            if entry.path().is_dir() { format!("{name}/") } else { name }
        })
        .collect();
    names.sort();
    Ok(names.iter().fold(String::new(), |mut text, name| {
        let _ = writeln!(text, "{name}");
        text
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_path_leads_out() {
        let root = std::env::temp_dir().join(format!("harn-file-tools-{}", std::process::id()));
        fs::create_dir_all(root.join("in/sub")).unwrap();
        fs::write(root.join("out.txt"), "secret").unwrap();
        fs::write(root.join("in/a.txt"), "a").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(root.join("out.txt"), root.join("in/link")).unwrap();
        let inner = fs::canonicalize(root.join("in")).unwrap();
        assert!(inside(&inner, "a.txt").is_ok());
        assert!(inside(&inner, "./sub").is_ok());
        for path in ["../out.txt", "/etc/passwd", "sub/../../out.txt", "link"] {
            assert!(inside(&inner, path).is_err(), "{path}");
        }
        fs::remove_dir_all(root).unwrap();
    }
}
