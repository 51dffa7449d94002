//! The catalogue of schemas.

use lang::codes;

codes! {
/// The codes of schemas.
pub(crate) enum SchemaCode {
    /// A schema that is none.
    Schema = "HARN-TOL-001", Error {
        title: "invalid schema",
        meaning: "`parameters` and `returns` of a tool, and `output_schema`, are JSON Schema, or a dict of names \
            and Harn types: `{path: \"string\", lines: \"list<int>?\"}`. The schema is checked when the tool is \
            defined, so that a mistake is found before a model is called.",
        fails: "tool_define(tool_registry(), \"look\", \"Looks at a file.\", {\n  handler: { args -> args.path },\n  parameters: \
                {path: \"strng\"},\n})\n",
        mended: "tool_define(tool_registry(), \"look\", \"Looks at a file.\", {\n  handler: { args -> args.path },\n  parameters: \
                 {path: \"string\"},\n})\n",
    },
}
}
