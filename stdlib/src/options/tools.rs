//! Options of tools.

use super::{Count, Ms, Text, Texts};

options! {
    /// Options of `shell_tool`.
    ShellToolOptions {
        root: Text = required, "The existing folder that commands run in.";
        allow: Texts = required, "The programs, each by its name or with its first arguments.";
        name: Text = "shell", "The name of the tool.";
        timeout_ms: Ms = 120000, "Timeout of a command, in milliseconds.";
        max_output: Count<usize> = 65536, "Limit of the output, in bytes; for standard output and standard error each.";
        env: Texts = [], "Names of variables that a command gets.";
        readable: Texts = [], "Folders outside of `root` that commands can read.";
        writable: Texts = [], "Folders outside of `root` that commands can read and change.";
    }
}

lang::option_tables! {
    /// A registry of tools, as `tool_registry` returns it.
    pub(crate) TOOL_REGISTRY: "ToolRegistry" (open) {
        tools: "dict" = required, "The tools, by name.";
    }

    /// A tool.
    pub(crate) TOOL_ENTRY: "ToolEntry" (open) {
        handler: "any" = required, "The function that a call of the tool calls.";
    }

    /// The definition of a tool.
    pub(crate) TOOL_DEFINITION: "ToolDefinition" {
        handler: "fn(any) -> any" = required, "Function that gets the arguments as a dict.";
        parameters: "any", "The arguments: a type, JSON Schema, or a dict of names and types.";
        returns: "any", "The result, in the same forms.";
        annotations: "ToolAnnotations" = {}, "Facts about the tool for hosts and loops.";
    }

    /// Annotations of a tool. Further keys are kept.
    pub(crate) TOOL_ANNOTATIONS: "ToolAnnotations" (open) {
        title: "string", "The displayed name.";
        kind: "\"read\" | \"search\" | \"think\" | \"fetch\" | \"edit\" | \"delete\" | \"move\" | \"execute\" | \"other\"", "Kind of the tool.";
        permission: "bool | string" = false, "Ask the user before the tool runs. A text is the reason.";
        sequential: "bool" = false, "Run no other tool at the same time.";
        timeout_ms: "positive", "Timeout of one call, in milliseconds.";
        read_only: "bool" = false, "Whether the tool changes nothing.";
        defer_loading: "bool" = false, "Whether a loop offers the tool only after a search of the model.";
        root: "string", "The folder that the tool works in.";
    }
}
