; Made of editors/tree-sitter-harn/queries/highlights.scm by `UPDATE=1 cargo test --test system editors`.

; Where two patterns fit, the later and more special one is meant to win.

; Comments

(comment) @comment
(block_comment) @comment
(doc_comment) @comment.doc
((block_comment) @comment.doc
  (#match? @comment.doc "^/[*][*][^*/]"))
(shebang) @keyword.directive

; Code in a string is not part of its text.

(interpolation
  value: (_) @embedded)

; Literals

(string) @string
(raw_string) @string
(escape_sequence) @string.escape
(interpolation
  "${" @punctuation.special
  "}" @punctuation.special)
(integer) @number
(duration) @number
(float) @number
(boolean) @boolean
(nil) @constant

; Keywords

[
  "let"
  "const"
  "var"
  "defer"
  "extends"
  "override"
  "pub"
  "with"
  "where"
  "as"
  "in"
  "not"
  "to"
  "exclusive"
  "description"
] @keyword

[
  "fn"
  "gen"
  "pipeline"
  "tool"
  "test"
] @keyword.function

[
  "struct"
  "enum"
  "interface"
  "impl"
  "type"
] @keyword.type

[
  "import"
  "from"
] @keyword.import

[
  "if"
  "else"
  "match"
  "guard"
  "require"
] @keyword.conditional

[
  "for"
  "while"
  "retry"
  (break)
  (continue)
] @keyword.repeat

[
  "parallel"
  "each"
  "settle"
  "spawn"
  "deadline"
  "mutex"
  "select"
  "timeout"
  "default"
] @keyword.coroutine

[
  "return"
  "yield"
  "emit"
] @keyword.return

[
  "try"
  "try*"
  "catch"
  "finally"
  "throw"
] @keyword.exception

(attribute
  "@" @attribute
  name: (identifier) @attribute)

; Operators and brackets

[
  "="
  "+="
  "-="
  "*="
  "/="
  "%="
  "||"
  "&&"
  "=="
  "!="
  "<"
  "<="
  ">"
  ">="
  "+"
  "-"
  "??"
  "*"
  "/"
  "%"
  "**"
  "!"
  "|>"
  "|"
  "?"
  "..."
  "->"
] @operator

[
  "("
  ")"
  "["
  "?["
  "]"
  "{"
  "}"
] @punctuation.bracket

[
  ","
  ";"
  ":"
  "."
  "?."
] @punctuation.delimiter

(type_arguments
  [
    "<"
    ">"
  ] @punctuation.bracket)
(type_parameters
  [
    "<"
    ">"
  ] @punctuation.bracket)
(variant_pattern
  "." @punctuation.delimiter)

; Names

(binding
  (identifier) @variable)
(parameter
  pattern: (binding
    (identifier) @variable.parameter))
((identifier) @variable.special
  (#eq? @variable.special "self"))
(placeholder) @variable.special
(wildcard) @variable.special

(property_identifier) @property
(shorthand
  (identifier) @property)

(type_identifier) @type
((type_identifier) @type.builtin
  (#any-of? @type.builtin
    "any" "bool" "bytes" "channel" "dict" "duration" "float" "generator" "int" "iter" "list" "never" "nil" "pair"
    "range" "set" "stream" "string" "task" "unknown"))

(call_expression
  function: (identifier) @function.call)
(call_expression
  function: (field_expression
    name: (property_identifier) @function.method.call))
(pipe_expression
  right: (identifier) @function.call)

((call_expression
  function: (identifier) @constructor)
  (#match? @constructor "^[A-Z]"))
(variant
  name: (identifier) @constructor)
(variant_pattern
  name: (identifier) @constructor)

(function_declaration
  name: (identifier) @function)
(method_signature
  name: (identifier) @function.method)
(pipeline_declaration
  name: (identifier) @function)
(pipeline_declaration
  base: (identifier) @function)
(tool_declaration
  name: (identifier) @function)
(import_name
  (identifier) @variable)
(select_arm
  name: (identifier) @variable)
(catch_clause
  name: (identifier) @variable)
