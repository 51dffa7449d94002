; Made of editors/tree-sitter-harn/queries/highlights.scm by `UPDATE=1 cargo test --test system editors`.

; Where two patterns fit, the later and more special one is meant to win.

; Comments

(comment) @comment
(block_comment) @comment
(doc_comment) @comment.block.documentation
((block_comment) @comment.block.documentation
  (#match? @comment.block.documentation "^/[*][*][^*/]"))
(shebang) @keyword.directive

; Code in a string is not part of its text.

(interpolation
  value: (_) @variable)

; Literals

(string) @string
(raw_string) @string
(escape_sequence) @constant.character.escape
(interpolation
  "${" @punctuation.special
  "}" @punctuation.special)
(integer) @constant.numeric.integer
(duration) @constant.numeric.integer
(float) @constant.numeric.float
(boolean) @constant.builtin.boolean
(nil) @constant.builtin

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
] @keyword.storage.type

[
  "import"
  "from"
] @keyword.control.import

[
  "if"
  "else"
  "match"
  "guard"
  "require"
] @keyword.control.conditional

[
  "for"
  "while"
  "retry"
  (break)
  (continue)
] @keyword.control.repeat

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
] @keyword.control

[
  "return"
  "yield"
  "emit"
] @keyword.control.return

[
  "try"
  "try*"
  "catch"
  "finally"
  "throw"
] @keyword.control.exception

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
((identifier) @variable.builtin
  (#eq? @variable.builtin "self"))
(placeholder) @variable.builtin
(wildcard) @variable.builtin

(property_identifier) @variable.other.member
(shorthand
  (identifier) @variable.other.member)

(type_identifier) @type
((type_identifier) @type.builtin
  (#any-of? @type.builtin
    "any" "bool" "bytes" "channel" "dict" "duration" "float" "generator" "int" "iter" "list" "never" "nil" "pair"
    "range" "set" "stream" "string" "task" "unknown"))

(call_expression
  function: (identifier) @function)
(call_expression
  function: (field_expression
    name: (property_identifier) @function.method))
(pipe_expression
  right: (identifier) @function)

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
