; Scopes

(source_file) @local.scope
(block) @local.scope
(block_expression) @local.scope
(closure) @local.scope
(function_expression) @local.scope
(function_declaration) @local.scope
(method_signature) @local.scope
(pipeline_declaration) @local.scope
(tool_declaration) @local.scope
(for_statement) @local.scope
(match_arm) @local.scope
(catch_clause) @local.scope
(select_arm) @local.scope

; Definitions

(binding
  (identifier) @local.definition)
(rest_pattern
  name: (identifier) @local.definition)
(field_pattern
  name: (property_identifier) @local.definition
  !pattern)
(catch_clause
  name: (identifier) @local.definition)
(select_arm
  name: (identifier) @local.definition)
(import_name
  name: (identifier) @local.definition
  !alias)
(import_name
  alias: (identifier) @local.definition)

; References

(identifier) @local.reference
