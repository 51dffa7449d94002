//! [`PermissionScope`]: the later calls that a lasting answer covers.

use std::fmt;
use std::sync::Arc;

use base::data::Data;
use runtime::message::{ToolCall, ToolSpec};

/// The maximum length of a word or folder in a scope, in bytes.
const MAX_NAME: usize = 200;
/// Characters that join or redirect commands, substitute text, or hide a word. An answer for the first word of such a
/// line would also cover programs that the user was not asked about.
const SHELL_SYNTAX: &[char] =
    &[';', '|', '&', '$', '`', '<', '>', '(', ')', '{', '}', '\n', '\r', '\\', '\'', '"', '='];

/// The later calls of a tool that a lasting answer covers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum PermissionScope {
    /// Every call.
    Tool {
        /// The tool.
        tool: Arc<str>,
    },
    /// Calls whose command begins with a given word.
    Command {
        /// The tool.
        tool: Arc<str>,
        /// The word, which names a program.
        word: Arc<str>,
    },
    /// Calls for files directly in a folder; its subfolders are not covered.
    Folder {
        /// The tool.
        tool: Arc<str>,
        /// The folder, relative to the tool's root.
        folder: Arc<str>,
    },
    /// Calls with the same arguments.
    Exact {
        /// The tool.
        tool: Arc<str>,
        /// The arguments as JSON.
        arguments: Arc<str>,
    },
}

impl PermissionScope {
    /// Returns the scope of a call: the first word for tools that run commands, the folder for tools that change files.
    #[must_use]
    pub fn of(spec: &ToolSpec, call: &ToolCall) -> PermissionScope {
        let tool = spec.name.clone();
        let exact = |tool| PermissionScope::Exact { tool, arguments: call.arguments.to_json().into() };
        let kind = spec.annotations.get("kind").as_str();
        let kind = kind.or(match &*tool {
            "shell" => Some("execute"),
            "write_file" | "edit_file" => Some("edit"),
            _ => None,
        });
        match kind {
            Some("execute") => match call.arguments.get("command").as_str().and_then(first_word) {
                Some(word) => PermissionScope::Command { tool, word: word.into() },
                None => exact(tool),
            },
            Some("edit" | "delete") => match call.arguments.get("path") {
                Data::Nil => PermissionScope::Tool { tool },
                path => match path.as_str().and_then(folder_of) {
                    Some(folder) => PermissionScope::Folder { tool, folder: folder.into() },
                    None => exact(tool),
                },
            },
            _ => PermissionScope::Tool { tool },
        }
    }

    /// Converts the scope to data for records.
    pub(crate) fn to_data(&self) -> Data {
        match self {
            PermissionScope::Tool { tool } => Data::dict([("tool", tool.into())]),
            PermissionScope::Command { tool, word } => Data::dict([("tool", tool.into()), ("command", word.into())]),
            PermissionScope::Folder { tool, folder } => Data::dict([("tool", tool.into()), ("folder", folder.into())]),
            PermissionScope::Exact { tool, arguments } => {
                Data::dict([("tool", tool.into()), ("arguments", arguments.into())])
            }
        }
    }
}

/// Formats the scope for an option's label, after "Always allow".
impl fmt::Display for PermissionScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PermissionScope::Tool { tool } => write!(f, "`{tool}`"),
            PermissionScope::Command { tool, word } => write!(f, "`{tool}` for commands that start with `{word}`"),
            PermissionScope::Folder { tool, folder } => write!(f, "`{tool}` in the folder `{folder}`"),
            PermissionScope::Exact { tool, .. } => write!(f, "`{tool}` with exactly these arguments"),
        }
    }
}

fn first_word(command: &str) -> Option<&str> {
    if command.contains(SHELL_SYNTAX) {
        return None;
    }
    command.split_whitespace().next().filter(|word| word.len() <= MAX_NAME)
}

/// Returns the folder of a file in a normal form.
fn folder_of(path: &str) -> Option<String> {
    let names: Vec<&str> = path.split('/').filter(|name| !name.is_empty() && *name != ".").collect();
    let (_, folders) = names.split_last()?;
    if names.contains(&"..") || path.contains(['\\', '`']) || path.contains(char::is_control) {
        return None;
    }
    let start = if path.starts_with('/') { "/" } else { "" };
    let folder = match (folders, start) {
        ([], "") => ".".to_owned(),
        _ => format!("{start}{}", folders.join("/")),
    };
    (folder.len() <= MAX_NAME).then_some(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(tool: &str, annotations: &str, arguments: &str) -> String {
        let mut spec = ToolSpec::new(tool, "", Data::Nil);
        spec.annotations = Data::from_json(annotations).unwrap();
        let call = ToolCall::new("c", tool, Data::from_json(arguments).unwrap());
        PermissionScope::of(&spec, &call).to_string()
    }

    #[test]
    fn a_command_is_covered_by_its_first_word_and_a_line_of_several_by_itself() {
        let of = |command: &str| {
            label("run", r#"{"kind":"execute"}"#, &Data::dict([("command", Data::from(command))]).to_json())
        };
        assert_eq!(of("  ls -l a"), "`run` for commands that start with `ls`");
        assert_eq!(label("shell", "null", r#"{"command":"rm x"}"#), "`shell` for commands that start with `rm`");
        for line in ["ls; rm x", "ls && rm x", "ls | sh", "ls $(rm x)", "ls `rm x`", "ls\nrm x", "X=1 rm", "'ls' x", ""]
        {
            assert_eq!(of(line), "`run` with exactly these arguments", "{line}");
        }
    }

    #[test]
    fn a_change_of_a_file_is_covered_by_its_folder() {
        let of = |path: &str| label("write_file", "null", &Data::dict([("path", Data::from(path))]).to_json());
        assert_eq!(of("a.txt"), "`write_file` in the folder `.`");
        assert_eq!((of("a/b/c.txt"), of("./a//b/d")), (of("a/b/x"), "`write_file` in the folder `a/b`".to_owned()));
        assert_eq!(of("/etc/x"), "`write_file` in the folder `/etc`");
        assert_eq!(of("a/../b"), "`write_file` with exactly these arguments");
        assert_eq!(label("pay", "null", "{}"), "`pay`");
    }
}
