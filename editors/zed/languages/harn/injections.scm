; Made of editors/tree-sitter-harn/queries/injections.scm by `UPDATE=1 cargo test --test system editors`.

; The pattern of a regular expression is the first argument of these builtins.
((call_expression
  function: (identifier) @_function
  arguments: (arguments
    .
    [
      (string
        (string_text) @injection.content)
      (raw_string
        (string_text) @injection.content)
    ]))
  (#any-of? @_function "regex_match" "regex_replace" "regex_captures")
  (#set! injection.language "regex"))

; Text that is parsed as JSON.
((call_expression
  function: (identifier) @_function
  arguments: (arguments
    .
    [
      (string
        (string_text) @injection.content)
      (raw_string
        (string_text) @injection.content)
    ]))
  (#eq? @_function "json_parse")
  (#set! injection.language "json"))

((comment) @injection.content
  (#set! injection.language "comment"))
((block_comment) @injection.content
  (#set! injection.language "comment"))
