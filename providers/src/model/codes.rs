//! The codes of routes to models.

use base::codes;

codes! {
/// The codes of tools as routes offer them.
pub enum ToolCode {
    /// A tool that is left out.
    Skipped = "HARN-MCP-112", Warning {
        title: "tool of an MCP server left out",
        meaning: "The server describes a tool without a name, with a schema that cannot be used, or with one that is too \
            large for a request even after its references were inlined and its inner parts removed. The other tools \
            are offered. Ask the author of the server for a smaller schema, or name the tools that you need with the \
            key `tools` of the server.",
    },
}
}
